//! The list as JSON. `docs/reference/json.md` describes the document.

use serde_json::{Value, json};

use super::DirectoryList;

/// The version of the document format. Every change to the format increases it, except for new keys and for new values of
/// `state`, `role`, `reason` and `engine_reason`.
const VERSION: u32 = 1;

pub(super) fn render(listing: &DirectoryList) -> String {
    format!("{:#}\n", document(listing))
}

pub(super) fn document(listing: &DirectoryList) -> Value {
    json!({ "version": VERSION, "directories": listing.directories })
}
