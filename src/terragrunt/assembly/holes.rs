//! Decides whether the unknown parts of a generated file leave the requirements of a unit unknown: docs/rules/terragrunt.md 6.
//!
//! The text is parsed with a marker in each hole. A hole is harmless if it is inside the value of an argument that decides neither
//! which provider is required, nor its version, nor where a module comes from.

use std::collections::BTreeSet;
use std::path::Path;

use serde_json::Value as Json;

use crate::syntax::{Body, SourceFile, TextOrigin};
use crate::terragrunt::Hole;

/// The maximum number of unknown parts in a file. With more, its requirements count as unknown.
const MAX_HOLES: usize = 256;

/// Returns a hole on which the requirements depend.
pub(super) fn decisive_hole<'h>(
    path: &Path,
    text: &str,
    holes: &'h [Hole],
    origin: &TextOrigin,
) -> Option<&'h Hole> {
    let first = holes.first()?;
    if holes.len() > MAX_HOLES {
        return Some(first);
    }
    let Ok(file) = SourceFile::parse_generated(path, text.as_bytes().to_vec(), origin) else {
        return Some(first);
    };
    let mut search = HoleSearch {
        holes,
        in_values: BTreeSet::new(),
        decisive: None,
    };
    if path
        .extension()
        .is_some_and(|extension| extension == "json")
    {
        match serde_json::from_str(text) {
            Ok(json) => search.visit_json(&json, &mut Vec::new()),
            Err(_unusual) => return Some(first),
        }
    } else {
        search.visit_body(&file.body(), "");
    }
    // Lines that are neither in a value nor an error are comments. Several unknown lines could end the comment.
    let is_outside = |hole: &&Hole| hole.is_block && !search.in_values.contains(&*hole.marker);
    search.decisive.or_else(|| holes.iter().find(is_outside))
}

/// The arguments on which requirements depend, by the kind of their block.
const DECISIVE: [(&str, &[&str]); 8] = [
    ("module", &["source", "version"]),
    ("provider", &["version", "alias"]),
    ("resource", &["provider"]),
    ("data", &["provider"]),
    ("ephemeral", &["provider"]),
    ("list", &["provider"]),
    ("action", &["provider"]),
    ("import", &["to", "provider"]),
];

fn is_decisive(kind: &str, argument: &str) -> bool {
    let arguments = DECISIVE.iter().find(|(block, _)| *block == kind);
    kind == "required_providers"
        || arguments.is_some_and(|(_, arguments)| arguments.contains(&argument))
}

struct HoleSearch<'h> {
    holes: &'h [Hole],
    /// The markers inside values.
    in_values: BTreeSet<&'h str>,
    decisive: Option<&'h Hole>,
}

impl HoleSearch<'_> {
    /// Visits a text that decides which providers are required.
    fn visit_name(&mut self, text: &str) {
        let mut found = self.holes.iter().filter(|hole| text.contains(&hole.marker));
        self.decisive = self.decisive.or(found.next());
    }

    fn visit_value<'m>(
        &mut self,
        kind: &str,
        argument: &str,
        markers: impl Iterator<Item = &'m str>,
    ) {
        for marker in markers {
            let hole = self.holes.iter().find(|hole| hole.marker == marker);
            self.in_values.extend(hole.map(|hole| &*hole.marker));
            if is_decisive(kind, argument) {
                self.decisive = self.decisive.or(hole);
            }
        }
    }

    fn visit_body(&mut self, body: &Body<'_>, kind: &str) {
        for argument in body.arguments().unwrap_or_default() {
            self.visit_name(argument.name());
            self.visit_value(kind, argument.name(), argument.value().markers());
        }
        for block in body.native_blocks() {
            self.visit_name(block.kind());
            for label in block.labels() {
                self.visit_name(&label.text);
            }
            self.visit_body(block.body(), block.kind());
        }
    }

    /// Visits a JSON value. `keys` are the names of the properties that lead to it.
    fn visit_json<'j>(&mut self, value: &'j Json, keys: &mut Vec<&'j str>) {
        match value {
            Json::Object(properties) => {
                for (key, value) in properties {
                    self.visit_name(key);
                    keys.push(key);
                    self.visit_json(value, keys);
                    keys.pop();
                }
            }
            Json::Array(elements) => {
                for element in elements {
                    self.visit_json(element, keys);
                }
            }
            Json::String(text) => {
                let is_required = keys.contains(&"required_providers");
                let kind = keys.first().copied().unwrap_or_default();
                let kind = if is_required {
                    "required_providers"
                } else {
                    kind
                };
                let argument = keys.last().copied().unwrap_or_default();
                let holes = self.holes.iter();
                let markers = holes.map(|hole| &*hole.marker);
                self.visit_value(
                    kind,
                    argument,
                    markers.filter(|marker| text.contains(marker)),
                );
            }
            Json::Null | Json::Bool(_) | Json::Number(_) => {}
        }
    }
}
