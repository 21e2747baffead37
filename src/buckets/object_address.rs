//! Addresses of objects, as module sources name them.

use std::fmt;

use url::Url;

/// An object, or all objects below a prefix.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct ObjectAddress {
    pub service: ObjectService,
    pub bucket: String,
    /// The name of the object, or the prefix. It is not encoded.
    pub key: String,
    /// The version or generation of the object. `None` for the current one.
    pub version: Option<String>,
}

/// The server of a bucket.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum ObjectService {
    Amazon(S3Access, AmazonDomain),
    /// A server other than Amazon's that uses the S3 protocol, at this origin.
    Compatible(S3Access, Url),
    Google,
}

/// The parts of an S3 address that determine how to access the object.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct S3Access {
    pub region: String,
    /// The name of a profile of the user.
    pub profile: Option<String>,
    pub keys: Option<AddressKeys>,
}

/// The domain of an AWS partition, such as `amazonaws.com.cn`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct AmazonDomain(&'static str);

/// Credentials that are part of an address, so everyone who can read the configuration knows them.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct AddressKeys {
    pub id: String,
    pub secret: String,
    pub token: Option<String>,
}

impl fmt::Debug for AddressKeys {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("AddressKeys")
    }
}

impl AmazonDomain {
    /// The domains that Terraform's and OpenTofu's S3 client knows.
    const ALL: [Self; 7] = [
        Self("amazonaws.com"),
        Self("amazonaws.com.cn"),
        Self("amazonaws.eu"),
        Self("c2s.ic.gov"),
        Self("sc2s.sgov.gov"),
        Self("cloud.adc-e.uk"),
        Self("csp.hci.ic.gov"),
    ];

    /// Splits a host name into the part before an AWS domain, and that domain. `None` if the host is not in an AWS domain.
    pub fn split(host: &str) -> Option<(&str, Self)> {
        Self::ALL.into_iter().find_map(|domain| {
            let names = host.strip_suffix(domain.0)?.strip_suffix('.')?;
            Some((names, domain))
        })
    }

    pub(super) fn endpoint(self, region: &str) -> String {
        format!("https://s3.{region}.{}", self.0)
    }
}
