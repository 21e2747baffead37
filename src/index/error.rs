//! The reasons why a hash index cannot be used.

use std::io;
use std::sync::Arc;

use super::address::IndexAddress;
use super::record::RecordError;
use crate::code::Code;
use crate::registry::{CauseText, RequestFault};
use crate::span::Explain;

/// A failed access to an index. It can be cloned, because it is remembered for the rest of a run.
#[derive(Clone, Debug, thiserror::Error)]
pub enum IndexError {
    /// The configuration in the environment is incomplete or invalid. The cause contains no values of variables.
    #[error("the environment does not describe the object store")]
    Environment(#[source] CauseText),
    #[error(transparent)]
    Request(#[from] RequestFault),
    /// Any other failure of an object store, such as a response that does not follow the protocol.
    #[error("the object store failed")]
    Store(#[source] CauseText),
    #[error("cannot read the file")]
    ReadFile(#[source] Arc<io::Error>),
    #[error("cannot write the file")]
    WriteFile(#[source] Arc<io::Error>),
    #[error("the record is larger than {limit} bytes")]
    TooLarge { limit: u64 },
    #[error("tflock cannot write to an index on a web server")]
    ReadOnly,
    #[error(
        "it is too slow: tflock waits at most 4 s for one record, and loses at most 10 s in the whole run"
    )]
    Slow,
    /// The index has a record for the package, but it does not count.
    #[error("the record `{path}` does not count")]
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
    #[error("cannot read the hash index `{address}`; packages were downloaded instead")]
    Read {
        address: IndexAddress,
        #[source]
        source: IndexError,
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
                "name the key that signs its records with `--index-key` or `TFLOCK_INDEX_KEYS`"
                    .to_owned(),
            ),
            Self::Read { source, .. } | Self::Write { source, .. } => source.hint(),
        }
    }
}

impl IndexWarning {
    /// Returns the index that failed.
    pub const fn address(&self) -> Option<&IndexAddress> {
        match self {
            Self::NoKey => None,
            Self::Read { address, .. } | Self::Write { address, .. } => Some(address),
        }
    }
}

impl IndexError {
    pub fn hint(&self) -> Option<String> {
        match self {
            Self::Request(fault) => fault.hint(None),
            Self::Environment(_) => Some(
                "set the variables of the cloud, such as `AWS_REGION`, `GOOGLE_SERVICE_ACCOUNT` or `AZURE_STORAGE_ACCOUNT_NAME`"
                    .to_owned(),
            ),
            _ => None,
        }
    }
}
