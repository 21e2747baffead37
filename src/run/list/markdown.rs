//! The list as a Markdown table, for pull requests and wikis.

use std::fmt::Write as _;

use crate::display::visible_name;

use super::text::short;
use super::{DirectoryList, ListedDirectory, ListedProvider};

const HEAD: &str = "\
| directory | what it is | provider | constraints | locked | newest allowed | newest |
| --- | --- | --- | --- | --- | --- | --- |
";

pub(super) fn render(listing: &DirectoryList) -> String {
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

fn row(text: &mut String, entry: &ListedDirectory, provider: Option<&ListedProvider>) {
    let engine = entry.engine.map(|found| found.engine);
    let field = |field: fn(&ListedProvider) -> &Option<String>| {
        provider
            .and_then(|provider| field(provider).as_deref())
            .map_or_else(String::new, code)
    };
    let cells = [
        code(&entry.path),
        cell(&entry.role.describe()),
        provider.map_or_else(String::new, |found| code(&short(&found.address, engine))),
        field(|found| &found.constraints),
        field(|found| &found.locked),
        field(|found| &found.newest_allowed),
        field(|found| &found.newest),
    ];
    let _ = writeln!(text, "| {} |", cells.join(" | "));
}

/// Escapes Markdown. Backticks are kept, because tflock's own descriptions use them.
fn cell(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for character in visible_name(text).chars() {
        match character {
            '&' => out.push_str("&amp;"),
            '<' => out.push_str("&lt;"),
            '\\' | '|' | '*' | '_' | '[' | ']' | '~' | '@' => {
                out.extend(['\\', character]);
            }
            _ => out.push(character),
        }
    }
    out
}

/// Formats a name as a code span. In a table, `|` must be escaped as `\|`. A `|` that follows a backslash is written as `\u{7c}`
/// instead, because the two backslashes would cancel each other out.
fn code(text: &str) -> String {
    let escaped = visible_name(text)
        .replace('`', " ")
        .replace("\\|", "\\\\u{7c}")
        .replace('|', "\\|");
    format!("`{escaped}`")
}
