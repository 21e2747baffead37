//! The reasons why a hash index cannot be used.

use std::io;
use std::sync::Arc;

use super::address::IndexAddress;
use super::key::KeyName;
use super::record::RecordError;
use crate::buckets::BucketError;
use crate::code::Code;
use crate::package::AuthenticityError;
use crate::registry::RequestFault;
use crate::span::Explain;

/// A failed access to an index. It can be cloned, because it is remembered for the rest of a run.
#[derive(Clone, Debug, thiserror::Error)]
pub enum IndexError {
    #[error(transparent)]
    Bucket(#[from] BucketError),
    /// A request to a web server failed.
    #[error(transparent)]
    Request(#[from] RequestFault),
    #[error("cannot read the file")]
    ReadFile(#[source] Arc<io::Error>),
    #[error("cannot write the file")]
    WriteFile(#[source] Arc<io::Error>),
    #[error("the record is larger than {limit} bytes")]
    TooLarge { limit: u64 },
    #[error("tflock cannot write to an index on a web server")]
    ReadOnly,
    #[error(
        "it is too slow: tflock waits at most 4 s for one record, and at most 10 s for slow records in the whole run"
    )]
    Slow,
    /// The index has a record for the package, but tflock rejects it.
    #[error("the record `{path}` cannot be used")]
    Record {
        path: String,
        #[source]
        source: RecordError,
    },
}

/// A problem with an index that never fails a run.
#[derive(Clone, Debug, thiserror::Error)]
pub enum IndexWarning {
    #[error("the hash index was not read, because no key is trusted")]
    NoKey,
    #[error("cannot read the hash index `{address}`; it was not used for some packages")]
    Read {
        address: IndexAddress,
        #[source]
        source: IndexError,
    },
    /// A record with a trusted signature contradicts the registry.
    #[error(
        "a record of the hash index, signed by the trusted key `{key}`, contradicts the registry; the package was downloaded instead"
    )]
    Contradiction {
        key: KeyName,
        /// The path of the record in the index.
        path: String,
        #[source]
        source: AuthenticityError,
    },
    #[error("cannot write to the hash index `{address}`; some records are missing")]
    Write {
        address: IndexAddress,
        #[source]
        source: IndexError,
    },
}

impl Explain for IndexWarning {
    fn code(&self) -> Code {
        Code::Index
    }

    fn hint(&self) -> Option<String> {
        match self {
            Self::NoKey => Some(
                "use `--index-key` or `TFLOCK_INDEX_KEYS` to name the key that signs the records of the index"
                    .to_owned(),
            ),
            Self::Contradiction { path, .. } => Some(advise_removal(path)),
            Self::Read { source, .. } => source.hint(),
            Self::Write { source, .. } => source.write_hint(),
        }
    }
}

impl IndexWarning {
    /// Returns the index that failed. `None` if the problem does not concern a particular index.
    pub const fn address(&self) -> Option<&IndexAddress> {
        match self {
            Self::NoKey | Self::Contradiction { .. } => None,
            Self::Read { address, .. } | Self::Write { address, .. } => Some(address),
        }
    }
}

impl IndexError {
    pub fn hint(&self) -> Option<String> {
        match self {
            Self::Request(RequestFault::Status {
                status: 401 | 403, ..
            }) => Some(
                "let the server deliver records without credentials: tflock sends none to an index on a web server"
                    .to_owned(),
            ),
            Self::Bucket(BucketError::Request(RequestFault::Status {
                status: 401 | 403, ..
            })) => Some(
                "set credentials that may use the index, such as `AWS_ACCESS_KEY_ID`; without the permission `s3:ListBucket`, \
                 S3 also responds with 403 if a record is missing"
                    .to_owned(),
            ),
            Self::Request(fault) => fault.hint(None),
            Self::Bucket(error) => error.hint(),
            _ => None,
        }
    }

    /// Returns the hint about a failed attempt to write.
    pub fn write_hint(&self) -> Option<String> {
        match self {
            Self::Bucket(BucketError::Request(RequestFault::Status {
                status: 401 | 403, ..
            })) => Some(
                "set credentials that may write to the index, such as `AWS_ACCESS_KEY_ID`; S3 requires the permission `s3:PutObject`"
                    .to_owned(),
            ),
            _ => self.hint(),
        }
    }
}

/// Returns the hint about a false record at `path` that a trusted key signed.
pub fn advise_removal(path: &str) -> String {
    format!("stop trusting the key, find out who has it, and remove the record `{path}`")
}
