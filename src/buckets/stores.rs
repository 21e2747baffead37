//! Reads and writes small objects.

use std::sync::Arc;

use bytes::Bytes;
use object_store::aws::AmazonS3Builder;
use object_store::azure::{AzureConfigKey, MicrosoftAzureBuilder};
use object_store::gcp::{GcpCredential, GoogleCloudStorageBuilder};
use object_store::path::Path;
use object_store::{
    ObjectStore, ObjectStoreExt as _, PutMode, PutPayload, StaticCredentialProvider,
};

use super::cloud::Cloud;
use super::error::{BucketError, is_bucket_missing};
use super::settings::StoreSettings;

/// The environment variable with the address of a Google Cloud Storage emulator. Google's client libraries read it, too.
pub(super) const GOOGLE_EMULATOR: &str = "STORAGE_EMULATOR_HOST";

/// Configures a builder with the variables that it knows, and with tflock's HTTP client.
macro_rules! configured {
    ($builder:expr, $settings:expr, $variables:expr) => {{
        let variables: Vec<&(String, String)> = $variables.into_iter().collect();
        variables
            .into_iter()
            .fold($builder, |builder, (name, value)| {
                match name.to_ascii_lowercase().parse() {
                    Ok(key) => builder.with_config(key, value),
                    Err(_) => builder,
                }
            })
            .with_http_connector($crate::buckets::http_service::ExchangeConnector(
                $settings.exchange.clone(),
            ))
            .with_retry(object_store::RetryConfig {
                max_retries: 0,
                ..object_store::RetryConfig::default()
            })
    }};
}
pub(super) use configured;

/// A bucket or container. Clones share connections.
#[derive(Clone)]
pub struct Bucket(Arc<dyn ObjectStore>);

impl Bucket {
    /// Prepares access to a bucket without sending a request.
    pub fn open(cloud: Cloud, name: &str, settings: &StoreSettings) -> Result<Self, BucketError> {
        let store: Result<Arc<dyn ObjectStore>, object_store::Error> = match cloud {
            Cloud::S3 => {
                let variables = settings.amazon_variables(false)?;
                configured!(AmazonS3Builder::new(), settings, &variables)
                    .with_bucket_name(name)
                    .build()
                    .map(|store| Arc::new(store) as _)
            }
            Cloud::GoogleCloud => emulated(
                configured!(
                    GoogleCloudStorageBuilder::new(),
                    settings,
                    settings.named("GOOGLE_")
                ),
                settings.variable(GOOGLE_EMULATOR),
            )
            .with_bucket_name(name)
            .build()
            .map(|store| Arc::new(store) as _),
            Cloud::Azure => {
                configured!(official_azure(settings), settings, settings.named("AZURE_"))
                    .with_container_name(name)
                    .build()
                    .map(|store| Arc::new(store) as _)
            }
        };
        store
            .map(Self)
            .map_err(|error| BucketError::environment(&error))
    }

    /// Returns the content of an object, or `None` if it does not exist.
    pub async fn read(&self, key: &str) -> Result<Option<Bytes>, BucketError> {
        let path = Path::from(key);
        let read = async { self.0.get(&path).await?.bytes().await };
        match read.await {
            Ok(content) => Ok(Some(content)),
            Err(error) if is_bucket_missing(&error) => Err(BucketError::NoBucket),
            Err(object_store::Error::NotFound { .. }) => Ok(None),
            Err(error) => Err(BucketError::of(&error)),
        }
    }

    /// Creates an object. Returns false if it exists.
    pub async fn create(&self, key: &str, content: String) -> Result<bool, BucketError> {
        let (path, content) = (Path::from(key), PutPayload::from(content));
        match self
            .0
            .put_opts(&path, content, PutMode::Create.into())
            .await
        {
            Ok(_) => Ok(true),
            Err(
                object_store::Error::AlreadyExists { .. }
                | object_store::Error::Precondition { .. },
            ) => Ok(false),
            Err(error) => Err(BucketError::of(&error)),
        }
    }

    /// Creates an object or replaces it.
    pub async fn replace(&self, key: &str, content: String) -> Result<(), BucketError> {
        let put = self
            .0
            .put(&Path::from(key), PutPayload::from(content))
            .await;
        put.map(|_| ()).map_err(|error| BucketError::of(&error))
    }
}

/// If `host` is set, sends requests to the emulator at this address, without credentials.
fn emulated(builder: GoogleCloudStorageBuilder, host: Option<&str>) -> GoogleCloudStorageBuilder {
    let Some(host) = host else {
        return builder;
    };
    let bearer = String::new();
    builder
        .with_base_url(&emulator_url(host))
        // Without a credential provider, `object_store` would request credentials from the machine's metadata service before it writes.
        .with_credentials(Arc::new(StaticCredentialProvider::new(GcpCredential {
            bearer,
        })))
        .with_skip_signature(true)
}

/// Returns the URL of an emulator, whose scheme may be missing.
pub(super) fn emulator_url(host: &str) -> String {
    let scheme = if host.contains("://") { "" } else { "http://" };
    format!("{scheme}{}", host.trim_end_matches('/'))
}

/// Applies the variables that Azure's own programs read, but `object_store` does not.
fn official_azure(settings: &StoreSettings) -> MicrosoftAzureBuilder {
    let connection = settings.variable("AZURE_STORAGE_CONNECTION_STRING");
    let parts = connection.unwrap_or_default().split(';');
    let parts = parts.filter_map(|part| part.split_once('='));
    let parts = parts.filter_map(|(name, value)| Some((connection_key(name.trim())?, value)));
    let variables = [
        ("AZURE_STORAGE_ACCOUNT", AzureConfigKey::AccountName),
        ("AZURE_STORAGE_KEY", AzureConfigKey::AccessKey),
    ];
    let variables = variables
        .into_iter()
        .filter_map(|(name, key)| Some((key, settings.variable(name)?)));
    parts
        .chain(variables)
        .fold(MicrosoftAzureBuilder::new(), |builder, (key, value)| {
            builder.with_config(key, value)
        })
}

/// Returns the setting for a name in a connection string. `None` for names without effect on blobs, such as those of queues.
fn connection_key(name: &str) -> Option<AzureConfigKey> {
    match name {
        "AccountName" => Some(AzureConfigKey::AccountName),
        "AccountKey" => Some(AzureConfigKey::AccessKey),
        "BlobEndpoint" => Some(AzureConfigKey::Endpoint),
        "SharedAccessSignature" => Some(AzureConfigKey::SasKey),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use object_store::gcp::GoogleConfigKey;

    use super::*;
    use crate::buckets::settings::tests::settings;
    use crate::registry::RequestFault;

    /// Returns the value of an option that the variables of Azure's programs set.
    fn azure(variables: &[(&str, &str)], key: AzureConfigKey) -> Option<String> {
        official_azure(&settings(variables)).get_config_value(&key)
    }

    #[test]
    fn variables_of_azures_own_programs() {
        let connection = "DefaultEndpointsProtocol=http;AccountName=a;AccountKey=a2V5PT0=;\
                          BlobEndpoint=http://127.0.0.1:10000/a;QueueEndpoint=http://127.0.0.1:10001/a;";
        let connection = [("AZURE_STORAGE_CONNECTION_STRING", connection)];
        let sas = [(
            "AZURE_STORAGE_CONNECTION_STRING",
            "SharedAccessSignature=sv=1&sig=b",
        )];
        let names = [
            ("AZURE_STORAGE_ACCOUNT", "a"),
            ("AZURE_STORAGE_KEY", "a2V5"),
        ];
        for (variables, key, expected) in [
            (&connection[..], AzureConfigKey::AccountName, "a"),
            (&connection, AzureConfigKey::AccessKey, "a2V5PT0="),
            (
                &connection,
                AzureConfigKey::Endpoint,
                "http://127.0.0.1:10000/a",
            ),
            (&sas, AzureConfigKey::SasKey, "sv=1&sig=b"),
            (&names, AzureConfigKey::AccountName, "a"),
            (&names, AzureConfigKey::AccessKey, "a2V5"),
        ] {
            let value = azure(variables, key);
            assert_eq!(value.as_deref(), Some(expected), "{key:?}");
        }
        assert_eq!(azure(&[], AzureConfigKey::AccountName), None);
    }

    #[test]
    fn other_types_of_credentials_are_named_as_unsupported() {
        let file = tempfile::NamedTempFile::new().unwrap();
        let path = file.path().to_str().unwrap();
        for (content, is_type) in [
            (r#"{"type": "external_account", "audience": "a"}"#, true),
            (r#"{"type": "impersonated_service_account"}"#, true),
            (r#"{"type": "service_account"}"#, false),
            ("nonsense", false),
        ] {
            std::fs::write(path, content).unwrap();
            let settings = settings(&[("GOOGLE_APPLICATION_CREDENTIALS", path)]);
            let opened = Bucket::open(Cloud::GoogleCloud, "bucket", &settings);
            let error = opened.map(|_| ()).unwrap_err();
            let found = matches!(error, BucketError::CredentialType);
            assert_eq!(found, is_type, "{content}: {error:?}");
            assert!(error.hint().is_some());
        }
    }

    #[tokio::test]
    async fn tokens_are_not_sent_over_plain_http() {
        let settings = settings(&[
            ("GOOGLE_BASE_URL", "http://192.0.2.1"),
            ("GOOGLE_BEARER_TOKEN", "secret"),
        ]);
        let bucket = Bucket::open(Cloud::GoogleCloud, "bucket", &settings).unwrap();
        let error = bucket.read("v1/00").await.unwrap_err();
        let is_refused = matches!(error, BucketError::Request(RequestFault::PlainHttp(_)));
        assert!(is_refused, "{error:?}");
    }

    #[test]
    fn the_emulator_of_google_cloud_storage() {
        for (host, expected) in [
            ("127.0.0.1:4443", "http://127.0.0.1:4443"),
            ("https://localhost:4443/", "https://localhost:4443"),
        ] {
            let builder = emulated(GoogleCloudStorageBuilder::new(), Some(host));
            let value = builder.get_config_value(&GoogleConfigKey::BaseUrl);
            assert_eq!(value.as_deref(), Some(expected));
        }
        let builder = emulated(GoogleCloudStorageBuilder::new(), None);
        assert_eq!(builder.get_config_value(&GoogleConfigKey::BaseUrl), None);
    }
}
