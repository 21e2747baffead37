//! Addresses of objects in S3 and Google Cloud Storage, as go-getter reads them. See section 8 of docs/rules/config.md.

use url::{Url, form_urlencoded};

use super::file_path::decode;
use super::invalid;
use crate::buckets::{AddressKeys, AmazonDomain, ObjectAddress, ObjectService, S3Access};
use crate::modules::ModuleError;

/// The region if an address does not name one.
const DEFAULT_REGION: &str = "us-east-1";

/// Parses `https://s3-REGION.amazonaws.com/BUCKET/KEY`, `https://BUCKET.s3-REGION.amazonaws.com/KEY`,
/// `https://BUCKET.s3.REGION.amazonaws.com/KEY`, or `https://HOST/BUCKET/KEY` on another server.
pub(super) fn parse_s3(url: &Url) -> Result<ObjectAddress, ModuleError> {
    let refused = |problem| Err(invalid(url.as_str(), problem));
    let path = decoded_path(url)?;
    let host = url.host_str().unwrap_or_default();
    if !matches!(url.scheme(), "https" | "http") {
        return refused("an address in S3 must have the form `s3::https://...`");
    }
    let parameter = |name: &str| find_parameter(url, name);
    let access = |region: String| S3Access {
        region,
        profile: parameter("aws_profile").filter(|profile| !profile.is_empty()),
        keys: address_keys(url),
    };
    let Some((names, domain)) = AmazonDomain::split(host) else {
        let (bucket, key) = split_bucket(&path, url)?;
        let region = parameter("region").filter(|region| !region.is_empty());
        let region = region.unwrap_or_else(|| DEFAULT_REGION.to_owned());
        let origin = Url::parse(&url.origin().ascii_serialization());
        let origin = origin.map_err(|_opaque| invalid(url.as_str(), "it is not a valid URL"))?;
        return Ok(ObjectAddress {
            service: ObjectService::Compatible(access(region), origin),
            bucket,
            key,
            version: parameter("version"),
        });
    };
    let names: Vec<&str> = names.split('.').collect();
    let (region, bucket, key) = match names[..] {
        ["s3", _] => {
            return refused(
                "Terraform and OpenTofu read `s3` as the name of the bucket; write `s3-REGION.` instead of `s3.REGION.`",
            );
        }
        [service] => {
            let (bucket, key) = split_bucket(&path, url)?;
            (region_of(service), bucket, key)
        }
        [bucket, service] => (region_of(service), bucket.to_owned(), path),
        [bucket, _, region] => (region.to_owned(), bucket.to_owned(), path),
        _ => return refused("its host has too many parts before the domain of AWS"),
    };
    let region = match (region.as_str(), names.len()) {
        ("", 1) => DEFAULT_REGION.to_owned(),
        ("", _) => return refused("its host does not name a region"),
        _ => region,
    };
    if region.starts_with('-')
        || !region
            .bytes()
            .all(|byte| byte.is_ascii_alphanumeric() || byte == b'-')
    {
        return refused("its host does not name a region");
    }
    Ok(ObjectAddress {
        service: ObjectService::Amazon(access(region), domain),
        bucket,
        key,
        version: parameter("version"),
    })
}

/// Parses `https://www.googleapis.com/storage/v1/BUCKET/KEY#GENERATION`.
pub(super) fn parse_gcs(url: &Url) -> Result<ObjectAddress, ModuleError> {
    let path = decoded_path(url)?;
    let host = url.host_str().unwrap_or_default();
    let is_google = host.ends_with(".googleapis.com") && host.split('.').count() == 3;
    let mut parts = path.splitn(4, '/').skip(2);
    let (Some(bucket), Some(key), true) = (parts.next(), parts.next(), is_google) else {
        return Err(invalid(
            url.as_str(),
            "an address in Google Cloud Storage must have the form `gcs::https://www.googleapis.com/storage/v1/BUCKET/KEY`",
        ));
    };
    let version = url.fragment().filter(|text| !text.is_empty());
    if version.is_some_and(|text| !text.bytes().all(|byte| byte.is_ascii_digit())) {
        return Err(invalid(
            url.as_str(),
            "the generation after `#` is not a number",
        ));
    }
    Ok(ObjectAddress {
        service: ObjectService::Google,
        bucket: bucket.to_owned(),
        key: key.to_owned(),
        version: version.map(str::to_owned),
    })
}

/// Returns the region in a name such as `s3-eu-west-1`. Empty if the name contains none.
fn region_of(service: &str) -> String {
    let rest = service.strip_prefix("s3-").unwrap_or(service);
    rest.strip_prefix("s3").unwrap_or(rest).to_owned()
}

fn split_bucket(path: &str, url: &Url) -> Result<(String, String), ModuleError> {
    let (bucket, key) = path
        .split_once('/')
        .filter(|(bucket, _)| !bucket.is_empty())
        .ok_or_else(|| invalid(url.as_str(), "it does not name a bucket and an object"))?;
    Ok((bucket.to_owned(), key.to_owned()))
}

/// Returns the decoded path without its first slash.
fn decoded_path(url: &Url) -> Result<String, ModuleError> {
    let path = url.path().strip_prefix('/').unwrap_or_default();
    let path = decode(path).and_then(|bytes| String::from_utf8(bytes).ok());
    let path = path.filter(|path| !path.contains(char::is_control));
    path.ok_or_else(|| invalid(url.as_str(), "its path is not printable text"))
}

fn address_keys(url: &Url) -> Option<AddressKeys> {
    let names = [
        "aws_access_key_id",
        "aws_access_key_secret",
        "aws_access_token",
    ];
    let [id, secret, token] = names.map(|name| find_parameter(url, name));
    if id.is_none() && secret.is_none() && token.is_none() {
        return None;
    }
    Some(AddressKeys {
        id: id.unwrap_or_default(),
        secret: secret.unwrap_or_default(),
        token: token.filter(|token| !token.is_empty()),
    })
}

fn find_parameter(url: &Url, name: &str) -> Option<String> {
    let mut parameters = form_urlencoded::parse(url.query().unwrap_or_default().as_bytes());
    let (_, value) = parameters.find(|(found, _)| found == name)?;
    Some(value.into_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parsed(text: &str) -> String {
        let (getter, url) = text.split_once("::").unwrap();
        let url = Url::parse(url).unwrap();
        let parse = if getter == "s3" { parse_s3 } else { parse_gcs };
        let object = match parse(&url) {
            Ok(object) => object,
            Err(error) => return error.to_string().split(": ").nth(1).unwrap().to_owned(),
        };
        let service = match object.service {
            ObjectService::Amazon(access, domain) => format!("{domain:?} {}", access.region),
            ObjectService::Compatible(access, origin) => format!("{origin} {}", access.region),
            ObjectService::Google => "google".to_owned(),
        };
        let version = object.version.unwrap_or_default();
        format!("{service} {} {} {version}", object.bucket, object.key)
    }

    #[test]
    fn addresses_are_read_as_by_go_getter() {
        let amazon = |rest: &str| format!("AmazonDomain(\"amazonaws.com\") {rest}");
        let china = |rest: &str| format!("AmazonDomain(\"amazonaws.com.cn\") {rest}");
        let other = |text: &str| text.to_owned();
        for (text, expected) in [
            (
                "s3::https://s3.amazonaws.com/b/k/m.zip",
                amazon("us-east-1 b k/m.zip "),
            ),
            (
                "s3::https://s3-eu-west-1.amazonaws.com/b/m.zip?version=x",
                amazon("eu-west-1 b m.zip x"),
            ),
            (
                "s3::https://b.s3-eu-west-1.amazonaws.com/k/m.zip",
                amazon("eu-west-1 b k/m.zip "),
            ),
            (
                "s3::https://b.s3.eu-west-1.amazonaws.com/m.zip",
                amazon("eu-west-1 b m.zip "),
            ),
            (
                "s3::https://s3-cn-north-1.amazonaws.com.cn/b/m.zip",
                china("cn-north-1 b m.zip "),
            ),
            ("s3::https://s3.amazonaws.com/b/", amazon("us-east-1 b  ")),
            (
                "s3::https://s3.amazonaws.com/b/%C3%B6+%25%20",
                amazon("us-east-1 b ö+%  "),
            ),
            (
                "s3::http://127.0.0.1:9000/b/m.zip?region=r",
                other("http://127.0.0.1:9000/ r b m.zip "),
            ),
            (
                "s3::https://minio.test/b/k?version=2",
                other("https://minio.test/ us-east-1 b k 2"),
            ),
            (
                "s3::https://evilamazonaws.com/b/k",
                other("https://evilamazonaws.com/ us-east-1 b k "),
            ),
            (
                "gcs::https://www.googleapis.com/storage/v1/b/k/m.zip",
                other("google b k/m.zip "),
            ),
            (
                "gcs::https://storage.googleapis.com/storage/v1/b/m.zip#12",
                other("google b m.zip 12"),
            ),
        ] {
            assert_eq!(parsed(text), expected, "{text}");
        }
        for (text, expected) in [
            (
                "s3::https://s3.eu-west-1.amazonaws.com/b/k",
                "Terraform and OpenTofu read `s3` as",
            ),
            (
                "s3::https://b.s3.amazonaws.com/k",
                "its host does not name a region",
            ),
            (
                "s3::https://a.b.s3.eu-west-1.amazonaws.com/k",
                "its host has too many parts",
            ),
            (
                "s3::https://b.s3.%2E.amazonaws.com/k",
                "its host has too many parts",
            ),
            (
                "s3::https://s3.amazonaws.com/b",
                "it does not name a bucket and an object",
            ),
            (
                "s3::https://h.test//k",
                "it does not name a bucket and an object",
            ),
            ("s3::s3://b/k", "an address in S3 must have the form"),
            ("s3::https://h.test/b/%FF", "its path is not printable text"),
            ("s3::https://h.test/b/%0a", "its path is not printable text"),
            (
                "gcs::https://evil.test/storage/v1/b/k",
                "an address in Google Cloud Storage must",
            ),
            (
                "gcs::https://a.b.googleapis.com/storage/v1/b/k",
                "an address in Google Cloud",
            ),
            (
                "gcs::https://www.googleapis.com/storage/v1/b",
                "an address in Google Cloud",
            ),
            (
                "gcs::https://www.googleapis.com/storage/v1/b/k#x",
                "the generation after `#` is",
            ),
        ] {
            let found = parsed(text);
            assert!(found.starts_with(expected), "{text}: {found}");
        }
    }

    #[test]
    fn credentials_in_addresses_are_not_shown() {
        let url = "https://h.test/b/k?aws_access_key_id=i&aws_access_key_secret=verysecret&aws_access_token=t";
        let object = parse_s3(&Url::parse(url).unwrap()).unwrap();
        let shown = format!("{object:?}");
        assert!(
            shown.contains("AddressKeys") && !shown.contains("verysecret"),
            "{shown}"
        );
    }
}
