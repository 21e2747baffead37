//! Object stores: S3 and compatible servers, Google Cloud Storage, and Azure Blob Storage.
//!
//! The crate `object_store` provides the clients. They send their requests with the HTTP client of `registry`, so its proxies,
//! certificates and limits apply. The user's environment determines how to reach the stores and which credentials to send.

mod aws_profile;
mod cloud;
mod error;
mod http_service;
mod object_address;
mod object_list;
mod object_request;
mod settings;
mod stores;

#[cfg(test)]
pub(crate) use settings::tests;

pub use cloud::Cloud;
pub use error::BucketError;
pub use object_address::{AddressKeys, AmazonDomain, ObjectAddress, ObjectService, S3Access};
pub use object_list::{ListedObject, ObjectList};
pub use object_request::ObjectRequest;
pub use settings::{CloudEnvironment, StoreSettings};
pub use stores::Bucket;
