//! The list as a table of Markdown, for pull requests and wikis.

use std::fmt::Write as _;

use crate::span::visible_name;

use super::text::short;
use super::{Entry, Listing, Provider};

const HEAD: &str = "\
| directory | what it is | provider | constraints | locked | newest allowed | newest |
| --- | --- | --- | --- | --- | --- | --- |
";

pub(super) fn render(listing: &Listing) -> String {
    let mut text = HEAD.to_owned();
    for entry in &listing.directories {
        if entry.providers.is_empty() {
            row(&mut text, entry, None);
        }
        for provider in &entry.providers {
            row(&mut text, entry, Some(provider));
        }
    }
    text
}

fn row(text: &mut String, entry: &Entry, provider: Option<&Provider>) {
    let engine = entry.engine.map(|(engine, _)| engine);
    let of = |part: fn(&Provider) -> &Option<String>| {
        let part = provider.and_then(|provider| part(provider).as_deref());
        part.map_or_else(String::new, code)
    };
    let cells = [
        code(&entry.path),
        cell(&entry.role.words()),
        provider.map_or_else(String::new, |found| code(&short(&found.address, engine))),
        of(|found| &found.constraints),
        of(|found| &found.locked),
        of(|found| &found.newest_allowed),
        of(|found| &found.newest),
    ];
    let _ = writeln!(text, "| {} |", cells.join(" | "));
}

/// Text that a table cannot take for its own.
fn cell(text: &str) -> String {
    text.replace('\\', "\\\\")
        .replace('|', "\\|")
        .replace(['\n', '\r'], " ")
}

fn code(text: &str) -> String {
    let text = visible_name(text).replace('|', "\\|").replace('`', " ");
    format!("`{text}`")
}
