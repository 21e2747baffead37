//! An index in a bucket of an object store: S3 and everything that speaks its protocol, Google Cloud Storage, Azure Blob Storage.

use std::error::Error;
use std::sync::Arc;

use bytes::Bytes;
use object_store::aws::AmazonS3Builder;
use object_store::azure::{AzureConfigKey, MicrosoftAzureBuilder};
use object_store::gcp::{GcpCredential, GoogleCloudStorageBuilder};
use object_store::path::Path;
use object_store::{
    ObjectStore, ObjectStoreExt as _, PutMode, PutPayload, RetryConfig, StaticCredentialProvider,
};

use super::address::Cloud;
use super::error::IndexError;
use super::http_service::ExchangeConnector;
use super::store::StoreSettings;
use crate::registry::{CauseText, RequestFault};

/// The address of an emulator of Google Cloud Storage, as Google's client libraries know it.
const GOOGLE_EMULATOR: &str = "STORAGE_EMULATOR_HOST";

/// In the message about a file with Google's credentials whose type `object_store` does not know.
const UNKNOWN_CREDENTIALS: &str = "expected `service_account` or `authorized_user`";

/// The codes in responses to requests for objects in a bucket or container that does not exist.
const MISSING_BUCKET: [&str; 2] = [
    "<Code>NoSuchBucket</Code>",
    "<Code>ContainerNotFound</Code>",
];

/// Applies the variables with this prefix that the builder knows.
macro_rules! configured {
    ($builder:expr, $settings:expr, $prefix:literal) => {{
        let variables = $settings.variables.iter();
        let named = variables.filter(|(name, _)| name.starts_with($prefix));
        named
            .fold($builder, |builder, (name, value)| {
                match name.to_ascii_lowercase().parse() {
                    Ok(key) => builder.with_config(key, value),
                    Err(_) => builder,
                }
            })
            .with_http_connector(ExchangeConnector($settings.exchange.clone()))
            .with_retry(RetryConfig {
                max_retries: 0,
                ..RetryConfig::default()
            })
    }};
}

/// Prepares the access to a bucket without sending a request.
pub(super) fn open(
    cloud: Cloud,
    bucket: &str,
    settings: &StoreSettings,
) -> Result<Arc<dyn ObjectStore>, IndexError> {
    let store: Result<Arc<dyn ObjectStore>, object_store::Error> = match cloud {
        Cloud::S3 => configured!(AmazonS3Builder::new(), settings, "AWS_")
            .with_bucket_name(bucket)
            .build()
            .map(|store| Arc::new(store) as _),
        Cloud::GoogleCloud => emulated(
            configured!(GoogleCloudStorageBuilder::new(), settings, "GOOGLE_"),
            settings.variable(GOOGLE_EMULATOR),
        )
        .with_bucket_name(bucket)
        .build()
        .map(|store| Arc::new(store) as _),
        Cloud::Azure => configured!(official_azure(settings), settings, "AZURE_")
            .with_container_name(bucket)
            .build()
            .map(|store| Arc::new(store) as _),
    };
    store.map_err(|error| {
        let cause = error.source().unwrap_or(&error);
        if cause.to_string().contains(UNKNOWN_CREDENTIALS) {
            return IndexError::CredentialType;
        }
        IndexError::Environment(without_values(cause))
    })
}

/// Sends requests without credentials to the emulator at `host`, if it is set.
fn emulated(builder: GoogleCloudStorageBuilder, host: Option<&str>) -> GoogleCloudStorageBuilder {
    let Some(host) = host else {
        return builder;
    };
    let scheme = if host.contains("://") { "" } else { "http://" };
    let bearer = String::new();
    builder
        .with_base_url(&format!("{scheme}{}", host.trim_end_matches('/')))
        // Without credentials, `object_store` would ask the machine for them before it writes.
        .with_credentials(Arc::new(StaticCredentialProvider::new(GcpCredential {
            bearer,
        })))
        .with_skip_signature(true)
}

/// Applies the variables of Azure's own programs that `object_store` does not know.
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

/// Returns what a name in a connection string means. Other names, such as those of queues, do not matter.
fn connection_key(name: &str) -> Option<AzureConfigKey> {
    match name {
        "AccountName" => Some(AzureConfigKey::AccountName),
        "AccountKey" => Some(AzureConfigKey::AccessKey),
        "BlobEndpoint" => Some(AzureConfigKey::Endpoint),
        "SharedAccessSignature" => Some(AzureConfigKey::SasKey),
        _ => None,
    }
}

/// Returns the content of an object, or `None` if it does not exist.
pub(super) async fn read(
    store: &dyn ObjectStore,
    path: &Path,
) -> Result<Option<Bytes>, IndexError> {
    let read = async { store.get(path).await?.bytes().await };
    match read.await {
        Ok(content) => Ok(Some(content)),
        Err(error) if is_bucket_missing(&error) => Err(IndexError::NoBucket),
        Err(object_store::Error::NotFound { .. }) => Ok(None),
        Err(error) => Err(classify(&error)),
    }
}

/// Creates an object. Returns false if it exists.
pub(super) async fn create(
    store: &dyn ObjectStore,
    path: &Path,
    content: String,
) -> Result<bool, IndexError> {
    let content = PutPayload::from(content);
    match store.put_opts(path, content, PutMode::Create.into()).await {
        Ok(_) => Ok(true),
        Err(
            object_store::Error::AlreadyExists { .. } | object_store::Error::Precondition { .. },
        ) => Ok(false),
        Err(error) => Err(classify(&error)),
    }
}

/// Creates an object or replaces it.
pub(super) async fn replace(
    store: &dyn ObjectStore,
    path: &Path,
    content: String,
) -> Result<(), IndexError> {
    let put = store.put(path, PutPayload::from(content)).await;
    put.map(|_| ()).map_err(|error| classify(&error))
}

/// Finds the cause in the chain of errors. The messages of the object store itself are not shown: they contain response bodies.
fn classify(error: &object_store::Error) -> IndexError {
    let mut layer: Option<&(dyn Error + 'static)> = Some(error);
    while let Some(current) = layer {
        if let Some(fault) = current.downcast_ref::<RequestFault>() {
            return IndexError::Request(fault.clone());
        }
        layer = current.source();
    }
    if is_bucket_missing(error) {
        return IndexError::NoBucket;
    }
    let mut innermost: &dyn Error = error;
    while let Some(source) = innermost.source() {
        innermost = source;
    }
    IndexError::Store(without_values(innermost))
}

/// Whether an object is missing because its bucket or container is. Some servers send the same response in both cases.
fn is_bucket_missing(error: &object_store::Error) -> bool {
    let object_store::Error::NotFound { source, .. } = error else {
        return false;
    };
    // The message of the source contains the response.
    let response = source.to_string();
    MISSING_BUCKET.iter().any(|code| response.contains(code))
}

/// Returns the beginning of a message, up to the first value or cause: both may contain text from a variable, a key file or a response.
fn without_values(error: &dyn Error) -> CauseText {
    let text = error.to_string();
    let end = text
        .find([':', '"', '\'', '`', '{', '<'])
        .unwrap_or(text.len());
    CauseText::text(text[..end].trim_end())
}

#[cfg(test)]
mod tests {
    use object_store::gcp::GoogleConfigKey;

    use super::*;
    use crate::index::store::tests::settings;

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
            let opened = open(Cloud::GoogleCloud, "bucket", &settings);
            let error = opened.map(|_| ()).unwrap_err();
            let found = matches!(error, IndexError::CredentialType);
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
        let store = open(Cloud::GoogleCloud, "bucket", &settings).unwrap();
        let error = read(&*store, &Path::from("v1/00")).await.unwrap_err();
        let is_refused = matches!(error, IndexError::Request(RequestFault::PlainHttp(_)));
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
