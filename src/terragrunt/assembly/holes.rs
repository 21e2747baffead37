//! Finds out whether the unknown parts of a generated file, its holes, leave the requirements of a unit unknown. See section 6 of
//! docs/rules/terragrunt.md.
//!
//! The text is parsed with a marker in place of each hole. A hole is harmless if its marker is in the value of an argument that affects
//! neither which provider is required, nor its version, nor the source of a module.

use std::collections::BTreeSet;
use std::path::Path;

use serde_json::Value as Json;

use crate::syntax::{Body, SourceFile, TextOrigin};
use crate::terragrunt::Hole;

/// The maximum number of holes in a file. If a file has more, the requirements count as unknown.
const MAX_HOLES: usize = 256;

/// Returns the first hole on which the requirements depend, if there is one.
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
    // If the file is valid, the marker of several unknown lines is in a value or in a comment. The unknown lines could end a comment.
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
    /// The markers found inside values so far.
    in_values: BTreeSet<&'h str>,
    decisive: Option<&'h Hole>,
}

impl HoleSearch<'_> {
    /// Visits the name of an argument, a block or a property, or a label. Requirements always depend on a hole in it.
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
