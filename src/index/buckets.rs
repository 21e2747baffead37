//! An index in a bucket of an object store: S3 and everything that speaks its protocol, Google Cloud Storage, Azure Blob Storage.

use std::error::Error;
use std::sync::Arc;

use bytes::Bytes;
use object_store::aws::AmazonS3Builder;
use object_store::azure::MicrosoftAzureBuilder;
use object_store::gcp::GoogleCloudStorageBuilder;
use object_store::path::Path;
use object_store::{ObjectStore, ObjectStoreExt as _, PutMode, PutPayload, RetryConfig};

use super::address::Cloud;
use super::error::IndexError;
use super::http_service::ExchangeConnector;
use super::store::StoreSettings;
use crate::registry::{CauseText, RequestFault};

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
        Cloud::GoogleCloud => configured!(GoogleCloudStorageBuilder::new(), settings, "GOOGLE_")
            .with_bucket_name(bucket)
            .build()
            .map(|store| Arc::new(store) as _),
        Cloud::Azure => configured!(MicrosoftAzureBuilder::new(), settings, "AZURE_")
            .with_container_name(bucket)
            .build()
            .map(|store| Arc::new(store) as _),
    };
    store.map_err(|error| IndexError::Environment(without_values(error.source().unwrap_or(&error))))
}

/// Returns the content of an object, or `None` if it does not exist.
pub(super) async fn read(
    store: &dyn ObjectStore,
    path: &Path,
) -> Result<Option<Bytes>, IndexError> {
    let read = async { store.get(path).await?.bytes().await };
    match read.await {
        Ok(content) => Ok(Some(content)),
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
    let mut innermost: &dyn Error = error;
    while let Some(source) = innermost.source() {
        innermost = source;
    }
    IndexError::Store(without_values(innermost))
}

/// Returns the beginning of a message, up to the first value or cause: both may contain text from a variable, a key file or a response.
fn without_values(error: &dyn Error) -> CauseText {
    let text = error.to_string();
    let end = text
        .find([':', '"', '\'', '`', '{', '<'])
        .unwrap_or(text.len());
    CauseText::text(text[..end].trim_end())
}
