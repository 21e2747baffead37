//! The list as JSON. `docs/reference/json.md` describes the document.

use serde_json::{Value, json};

use super::DirectoryList;

/// The version of the document. New keys, and new values of `state`, `role`, `reason` and `engine_reason`, do not increase it.
/// Any other change does.
const VERSION: u32 = 1;

pub(super) fn render(listing: &DirectoryList) -> String {
    format!("{:#}\n", document(listing))
}

pub(super) fn document(listing: &DirectoryList) -> Value {
    json!({ "version": VERSION, "directories": listing.directories })
}
