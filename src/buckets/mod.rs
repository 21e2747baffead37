//! Object stores: S3 and everything that speaks its protocol, Google Cloud Storage, Azure Blob Storage.
//!
//! The clients of the stores, of the crate `object_store`, send their requests with the HTTP client of `registry`, so its proxies,
//! certificates and limits apply. The user's environment says how the stores are reached and which credentials they get.

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
