//! The reasons why a hash index cannot be used.

use std::io;
use std::sync::Arc;

use super::record::RecordError;
use crate::registry::{CauseText, RequestFault};

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
    #[error("no answer within {seconds} s")]
    Slow { seconds: u64 },
    /// The index has a record for the package, but it does not count.
    #[error("the record `{path}` does not count")]
    Record {
        path: String,
        #[source]
        source: RecordError,
    },
}
