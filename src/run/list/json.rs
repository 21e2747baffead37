//! The list as JSON. `docs/reference/json.md` describes the document.

use serde_json::{Map, Value, json};

use super::{DirectoryList, ListedDirectory, ListedProvider, Role};

/// The version of the document. New keys, and new values of `state`, `role`, `reason` and `engine_reason`, do not increase it.
/// Any other change does.
const VERSION: u32 = 1;

pub(super) fn render(listing: &DirectoryList) -> String {
    format!("{:#}\n", document(listing))
}

pub(super) fn document(listing: &DirectoryList) -> Value {
    let directories: Vec<Value> = listing.directories.iter().map(directory).collect();
    json!({ "version": VERSION, "directories": directories })
}

fn directory(entry: &ListedDirectory) -> Value {
    let mut fields = Map::new();
    fields.insert("path".to_owned(), json!(entry.path));
    fields.insert("role".to_owned(), json!(entry.role.code()));
    match &entry.role {
        Role::Root(why) => drop(fields.insert("reason".to_owned(), json!(why.code()))),
        Role::Module { by, others } => {
            fields.insert("called_by".to_owned(), json!(by));
            fields.insert("other_callers".to_owned(), json!(others));
        }
        Role::RequiresNothing | Role::Ignored | Role::Failed => {}
    }
    if let Some((engine, reason)) = entry.engine {
        fields.insert("engine".to_owned(), json!(engine.to_string()));
        fields.insert("engine_reason".to_owned(), json!(reason.code()));
    }
    let providers: Vec<Value> = entry.providers.iter().map(provider).collect();
    fields.insert("providers".to_owned(), json!(providers));
    Value::Object(fields)
}

fn provider(found: &ListedProvider) -> Value {
    json!({
        "address": found.address.to_string(),
        "constraints": found.constraints,
        "locked": found.locked,
        "newest_allowed": found.newest_allowed,
        "newest": found.newest,
        "state": found.state.code(),
    })
}
