//! The list as a table of Markdown, for pull requests and wikis.

use std::fmt::Write as _;

use crate::span::visible_name;

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
    let engine = entry.engine.map(|(engine, _)| engine);
    let of = |part: fn(&ListedProvider) -> &Option<String>| {
        let part = provider.and_then(|provider| part(provider).as_deref());
        part.map_or_else(String::new, code)
    };
    let cells = [
        code(&entry.path),
        cell(&entry.role.describe()),
        provider.map_or_else(String::new, |found| code(&short(&found.address, engine))),
        of(|found| &found.constraints),
        of(|found| &found.locked),
        of(|found| &found.newest_allowed),
        of(|found| &found.newest),
    ];
    let _ = writeln!(text, "| {} |", cells.join(" | "));
}

/// Text that no Markdown takes for its own. Backticks are left to what tflock says itself.
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

/// A name as code. A backslash before `|` would give the latter its meaning back.
fn code(text: &str) -> String {
    let text = visible_name(text).replace('`', " ");
    let text = text.replace("\\|", "\\\\u{7c}").replace('|', "\\|");
    format!("`{text}`")
}
