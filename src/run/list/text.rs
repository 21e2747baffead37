//! The list for people: one line per directory, and one for each of its providers in columns.

use std::fmt::Write as _;

use crate::provider::{Engine, ProviderAddr};
use crate::span::visible_name;

use super::{DirectoryList, ListedDirectory, ListedProvider, Role, VersionState};

const TITLES: [&str; 5] = ["DIRECTORY", "CONSTRAINTS", "LOCKED", "ALLOWED", "NEWEST"];

/// What stands where there is nothing, or nothing is known.
const NOTHING: &str = "-";

/// Constraints longer than this do not push the other columns away.
const WIDEST: usize = 40;

pub(super) fn render(listing: &DirectoryList) -> String {
    let mut lines = vec![TITLES.map(str::to_owned)];
    for entry in &listing.directories {
        lines.push(directory(entry));
        lines.extend(entry.providers.iter().map(|found| provider(found, entry)));
    }
    let widths = widths(&lines);
    let mut text = String::new();
    for cells in &lines {
        let mut line = String::new();
        for (cell, width) in cells.iter().zip(widths) {
            let _ = write!(line, "{cell:<width$}  ");
        }
        let _ = writeln!(text, "{}", line.trim_end());
    }
    text.push_str(&sums(listing));
    text
}

/// A directory with its role in the second column; what follows that does not count for the widths of columns.
fn directory(entry: &ListedDirectory) -> [String; 5] {
    let mut words = entry.role.describe();
    if let (Some((engine, reason)), Role::Root(_)) = (entry.engine, &entry.role) {
        let _ = write!(words, "; {engine}, {}", reason.describe());
    }
    [
        visible_name(&entry.path).into_owned(),
        words,
        String::new(),
        String::new(),
        String::new(),
    ]
}

fn provider(found: &ListedProvider, entry: &ListedDirectory) -> [String; 5] {
    let or_nothing = |text: &Option<String>| text.clone().unwrap_or_else(|| NOTHING.to_owned());
    let engine = entry.engine.map(|(engine, _)| engine);
    let mut newest = or_nothing(&found.newest);
    match found.state {
        VersionState::OutOfRange => newest += "  (locked version out of range)",
        VersionState::NotRequired => newest += "  (not required)",
        VersionState::Current
        | VersionState::Outdated
        | VersionState::Fits
        | VersionState::NotLocked => {}
    }
    [
        format!("  {}", short(&found.address, engine)),
        or_nothing(&found.constraints),
        or_nothing(&found.locked),
        or_nothing(&found.newest_allowed),
        newest,
    ]
}

/// The address as short as the engine understands it.
pub(super) fn short(address: &ProviderAddr, engine: Option<Engine>) -> String {
    let text = address.to_string();
    let host = engine.map(|engine| format!("{}/", engine.default_host()));
    match host.and_then(|host| text.strip_prefix(&host).map(str::to_owned)) {
        Some(short) => short,
        None => text,
    }
}

fn widths(lines: &[[String; 5]]) -> [usize; 5] {
    let mut widths = [0; 5];
    for cells in lines {
        // The role of a directory runs on over the columns.
        let columns = if cells[2].is_empty() { 1 } else { cells.len() };
        for (cell, width) in cells.iter().zip(&mut widths).take(columns) {
            *width = (*width).max(cell.chars().count().min(WIDEST));
        }
    }
    widths
}

/// How many directories there are of each kind, and how their providers stand.
fn sums(listing: &DirectoryList) -> String {
    let directories = &listing.directories;
    let of_role = |code| {
        let count = directories.iter().filter(|entry| entry.role.code() == code);
        count.count()
    };
    let of_state = |state| {
        let providers = directories.iter().flat_map(|entry| &entry.providers);
        providers.filter(|found| found.state == state).count()
    };
    let parts = [
        (of_role("root"), "root", "roots"),
        (of_role("module"), "module", "modules"),
        (
            of_role("no-provider"),
            "without providers",
            "without providers",
        ),
        (of_role("ignored"), "ignored", "ignored"),
        (of_role("failed"), "failed", "failed"),
        (
            of_state(VersionState::Outdated),
            "version outdated",
            "versions outdated",
        ),
        (
            of_state(VersionState::OutOfRange),
            "version out of range",
            "versions out of range",
        ),
    ];
    let parts: Vec<String> = parts
        .into_iter()
        .filter(|(count, ..)| *count > 0)
        .map(|(count, one, many)| format!("{count} {}", if count == 1 { one } else { many }))
        .collect();
    if parts.is_empty() {
        return "no module directories here\n".to_owned();
    }
    format!("{}\n", parts.join(", "))
}
