//! The hash index: signed records of package hashes that a whole fleet of machines shares.
//!
//! A [`HashRecord`] says which hashes a zip has as the package of a provider. It is stored as a [`SignedNote`] under a path that
//! depends only on the zip's digest and the provider's type, so it is written once and never changes. A record proves nothing by
//! itself. It counts only if a key that the user trusts signed it, and only for a zip whose digest is in a registry's signed list.
//!
//! `docs/reference/index-format.md` specifies keys, notes, records and paths.

mod address;
mod directory;
mod error;
mod guard;
mod key;
mod note;
mod reader;
mod record;
mod store;
mod writer;

pub use address::{AddressFault, IndexAddress};
pub use error::{IndexError, IndexWarning, advise_removal};
pub use guard::LostTime;
pub use key::{KeyError, KeyName, SignerKey, VerifierKey};
pub use note::{MAX_NOTE_BYTES, NoteError, SignedNote};
pub use reader::{IndexAnswer, IndexReader};
pub use record::{HashRecord, RecordError, RecordKey, TrustedRecord};
pub use store::IndexStore;
pub use writer::IndexWriter;
