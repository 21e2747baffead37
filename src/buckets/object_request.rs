//! Prepares requests for the objects in module addresses: determines the URL and the credentials.
//!
//! The user's credentials go to the hosts of the cloud, and to an endpoint that the user's environment names. A server that only an
//! address names gets none of them, and an address cannot choose one of the user's profiles.

use std::time::Duration;

use http::Method;
use object_store::aws::{AmazonS3, AmazonS3Builder};
use object_store::gcp::GoogleCloudStorageBuilder;
use object_store::path::Path;
use object_store::signer::{SignedUrlOptions, Signer as _};
use url::Url;

use super::error::BucketError;
use super::object_address::{AddressKeys, ObjectAddress, ObjectService, S3Access};
use super::settings::StoreSettings;
use super::stores::{GOOGLE_EMULATOR, configured, emulator_url};

/// How long a signature is valid. An interrupted download can be resumed during this time.
const VALIDITY: Duration = Duration::from_secs(60 * 60);

/// The time limit for getting credentials.
const MAX_WAIT: Duration = Duration::from_secs(10);

/// The environment variables that can contain the endpoint of S3. The first variable that is set applies.
const AMAZON_ENDPOINTS: [&str; 3] = ["AWS_ENDPOINT_URL_S3", "AWS_ENDPOINT_URL", "AWS_ENDPOINT"];

const GOOGLE_ENDPOINT: &str = "https://storage.googleapis.com";

/// A request for an object or a list of objects.
#[derive(Clone)]
pub struct ObjectRequest {
    /// The URL, which may contain a signature.
    pub url: Url,
    /// The value of the header `Authorization`.
    pub authorization: Option<String>,
    /// Whether the user allows plain http.
    pub plain_http: bool,
    /// The origin of a server that gets no credentials because only the address names it.
    pub unknown_server: Option<String>,
}

impl StoreSettings {
    /// Prepares the request for the object. `with_credentials` is false if the user does not trust the address.
    pub async fn request_object(
        &self,
        object: &ObjectAddress,
        with_credentials: bool,
    ) -> Result<ObjectRequest, BucketError> {
        let version = object.version.as_deref();
        let name = match object.service {
            ObjectService::Google => "generation",
            _ => "versionId",
        };
        let query: Vec<_> = version.map(|version| (name, version)).into_iter().collect();
        self.request(object, &object.key, &query, with_credentials)
            .await
    }

    /// Prepares the request for the list of objects whose keys start with `prefix`. `page` is the token of the page; `None` for the
    /// first page.
    pub async fn request_list(
        &self,
        object: &ObjectAddress,
        prefix: &str,
        page: Option<&str>,
        with_credentials: bool,
    ) -> Result<ObjectRequest, BucketError> {
        let mut query = vec![("list-type", "2"), ("prefix", prefix)];
        query.extend(page.map(|page| ("continuation-token", page)));
        self.request(object, "", &query, with_credentials).await
    }

    async fn request(
        &self,
        object: &ObjectAddress,
        key: &str,
        query: &[(&str, &str)],
        with_credentials: bool,
    ) -> Result<ObjectRequest, BucketError> {
        let access = match &object.service {
            ObjectService::Amazon(access, _) | ObjectService::Compatible(access, _) => access,
            ObjectService::Google => {
                return self.google(object, key, query, with_credentials).await;
            }
        };
        if let Some(profile) = &access.profile
            && self.variable("AWS_PROFILE") != Some(profile)
        {
            return Err(BucketError::ChosenProfile(profile.clone()));
        }
        let (endpoint, is_known) = self.endpoint(&object.service);
        let is_unsigned = self.variable("AWS_SKIP_SIGNATURE") == Some("true");
        let plain_http = is_known && self.variable("AWS_ALLOW_HTTP") == Some("true");
        let bucket = match &access.keys {
            Some(keys) => Some(self.with_address_keys(keys, &access.region)),
            None if is_known && with_credentials && !is_unsigned => {
                Some(self.with_own_keys(access)?)
            }
            None => None,
        };
        let Some(bucket) = bucket else {
            let unknown_server = (!is_known).then(|| endpoint.trim_end_matches('/').to_owned());
            return Ok(ObjectRequest {
                url: plain_url(&endpoint, &object.bucket, key, query)?,
                authorization: None,
                plain_http,
                unknown_server,
            });
        };
        let bucket = bucket
            .with_bucket_name(&object.bucket)
            .with_endpoint(endpoint)
            .with_allow_http(true)
            .with_virtual_hosted_style_request(false);
        let bucket = bucket.build();
        let bucket = bucket.map_err(|error| BucketError::environment(&error))?;
        Ok(ObjectRequest {
            url: sign(&bucket, key, query).await?,
            authorization: None,
            plain_http,
            unknown_server: None,
        })
    }

    /// Returns the endpoint of a server with the protocol of S3, and whether it may get the user's credentials.
    fn endpoint(&self, service: &ObjectService) -> (String, bool) {
        let mut names = AMAZON_ENDPOINTS.into_iter();
        let own = names.find_map(|name| self.variable(name));
        match service {
            ObjectService::Amazon(access, domain) => {
                let own = own.map(str::to_owned);
                (own.unwrap_or_else(|| domain.endpoint(&access.region)), true)
            }
            ObjectService::Compatible(_, origin) => {
                let own = own.and_then(|own| Url::parse(own).ok());
                let is_own = own.is_some_and(|own| own.origin() == origin.origin());
                (origin.to_string(), is_own)
            }
            ObjectService::Google => (GOOGLE_ENDPOINT.to_owned(), true),
        }
    }

    fn with_address_keys(&self, keys: &AddressKeys, region: &str) -> AmazonS3Builder {
        let bucket = configured!(AmazonS3Builder::new(), self, []);
        let bucket = bucket
            .with_region(region)
            .with_access_key_id(&keys.id)
            .with_secret_access_key(&keys.secret);
        match &keys.token {
            Some(token) => bucket.with_token(token),
            None => bucket,
        }
    }

    /// Applies the user's credentials. The region comes from the address, unless the address names a profile that has a region.
    fn with_own_keys(&self, access: &S3Access) -> Result<AmazonS3Builder, BucketError> {
        let mut variables = self.amazon_variables(access.profile.is_some())?;
        variables.retain(|(name, _)| !AMAZON_ENDPOINTS.contains(&name.as_str()));
        let bucket = configured!(AmazonS3Builder::new(), self, &variables);
        let has_region = variables.iter().any(|(name, _)| name == "AWS_REGION");
        Ok(if access.profile.is_some() && has_region {
            bucket
        } else {
            bucket.with_region(&access.region)
        })
    }

    async fn google(
        &self,
        object: &ObjectAddress,
        key: &str,
        query: &[(&str, &str)],
        with_credentials: bool,
    ) -> Result<ObjectRequest, BucketError> {
        let emulator = self.variable(GOOGLE_EMULATOR).map(emulator_url);
        let is_unsigned = self.variable("GOOGLE_SKIP_SIGNATURE") == Some("true");
        let bearer = match self.variable("GOOGLE_OAUTH_ACCESS_TOKEN") {
            _ if emulator.is_some() || is_unsigned || !with_credentials => None,
            Some(token) => Some(token.to_owned()),
            None => Some(self.google_token(&object.bucket).await?),
        };
        let is_emulator = emulator.is_some();
        let endpoint = emulator.unwrap_or_else(|| GOOGLE_ENDPOINT.to_owned());
        Ok(ObjectRequest {
            url: plain_url(&endpoint, &object.bucket, key, query)?,
            authorization: bearer.map(|bearer| format!("Bearer {bearer}")),
            plain_http: is_emulator,
            unknown_server: None,
        })
    }

    async fn google_token(&self, bucket: &str) -> Result<String, BucketError> {
        let store = configured!(
            GoogleCloudStorageBuilder::new(),
            self,
            self.named("GOOGLE_")
        );
        let store = store.with_bucket_name(bucket).build();
        let store = store.map_err(|error| BucketError::environment(&error))?;
        let credential = tokio::time::timeout(MAX_WAIT, store.credentials().get_credential());
        match credential.await {
            Ok(Ok(credential)) => Ok(credential.bearer.clone()),
            Ok(Err(error)) => Err(BucketError::credentials(&error)),
            Err(_elapsed) => Err(BucketError::NoCredentials),
        }
    }
}

/// Returns the URL of a presigned request, which needs no other credentials.
async fn sign(bucket: &AmazonS3, key: &str, query: &[(&str, &str)]) -> Result<Url, BucketError> {
    let path = Path::parse(key).ok().filter(|path| path.as_ref() == key);
    let path = path.ok_or_else(|| BucketError::Key(key.to_owned()))?;
    let options = SignedUrlOptions::default().with_query(query.iter().copied());
    let url = bucket.signed_url_opts(Method::GET, &path, VALIDITY, &options);
    match tokio::time::timeout(MAX_WAIT, url).await {
        Ok(Ok(url)) => Ok(url),
        Ok(Err(error)) => Err(BucketError::credentials(&error)),
        Err(_elapsed) => Err(BucketError::NoCredentials),
    }
}

/// Returns the URL of a request without a signature.
fn plain_url(
    endpoint: &str,
    bucket: &str,
    key: &str,
    query: &[(&str, &str)],
) -> Result<Url, BucketError> {
    let invalid = |_| BucketError::Endpoint;
    let mut url = Url::parse(endpoint).map_err(invalid)?;
    if key.split('/').any(|part| matches!(part, "." | "..")) {
        return Err(BucketError::Key(key.to_owned()));
    }
    let mut path = url
        .path_segments_mut()
        .map_err(|()| BucketError::Endpoint)?;
    path.pop_if_empty().push(bucket);
    if !key.is_empty() {
        path.extend(key.split('/'));
    }
    drop(path);
    if !query.is_empty() {
        url.query_pairs_mut().extend_pairs(query);
    }
    Ok(url)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::buckets::settings::tests::settings;

    fn google(version: Option<&str>) -> ObjectAddress {
        ObjectAddress {
            service: ObjectService::Google,
            bucket: "b".to_owned(),
            key: "a b/ö".to_owned(),
            version: version.map(str::to_owned),
        }
    }

    #[tokio::test]
    async fn tokens_go_to_google_only() {
        let token = ("GOOGLE_OAUTH_ACCESS_TOKEN", "secret");
        let emulator = ("STORAGE_EMULATOR_HOST", "192.0.2.1:4443");
        let at_google = "https://storage.googleapis.com/b/a%20b/%C3%B6";
        let at_emulator = "http://192.0.2.1:4443/b/a%20b/%C3%B6";
        for (variables, with_credentials, url, authorization) in [
            (vec![token], true, at_google, Some("Bearer secret")),
            (vec![token], false, at_google, None),
            (
                vec![token, ("GOOGLE_SKIP_SIGNATURE", "true")],
                true,
                at_google,
                None,
            ),
            (vec![token, emulator], true, at_emulator, None),
        ] {
            let settings = settings(&variables);
            let object = google(None);
            let request = settings.request_object(&object, with_credentials).await;
            let request = request.unwrap();
            assert_eq!(request.url.as_str(), url);
            assert_eq!(request.authorization.as_deref(), authorization);
        }
        let settings = settings(&[token]);
        let request = settings.request_object(&google(Some("7")), true).await;
        assert_eq!(request.unwrap().url.query(), Some("generation=7"));
        let object = google(None);
        let list = settings.request_list(&object, "a/", Some("p"), true);
        let list = list.await.unwrap();
        let expected =
            "https://storage.googleapis.com/b?list-type=2&prefix=a%2F&continuation-token=p";
        assert_eq!(list.url.as_str(), expected);
    }

    #[tokio::test]
    async fn without_credentials_no_request_is_prepared() {
        let domain = super::super::AmazonDomain::split("s3.amazonaws.com");
        let access = S3Access {
            region: "r".to_owned(),
            profile: None,
            keys: None,
        };
        let object = ObjectAddress {
            service: ObjectService::Amazon(access, domain.unwrap().1),
            ..google(None)
        };
        let disabled = settings(&[("AWS_EC2_METADATA_DISABLED", "true")]);
        let request = disabled.request_object(&object, true).await.map(|_| ());
        assert!(matches!(request, Err(BucketError::NoCredentials)));
        let request = disabled.request_object(&object, false).await.unwrap();
        assert_eq!(
            request.url.as_str(),
            "https://s3.r.amazonaws.com/b/a%20b/%C3%B6"
        );
    }
}
