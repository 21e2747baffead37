//! The list as text: one line per directory, and below it one line per provider, in columns.

use std::fmt::Write as _;

use crate::display::{counted, visible_name};
use crate::provider::{Engine, ProviderAddr};

use super::{DirectoryList, ListedDirectory, ListedProvider, Role, VersionState};

const TITLES: [&str; 5] = ["DIRECTORY", "CONSTRAINTS", "LOCKED", "ALLOWED", "NEWEST"];

/// The text of a cell without a value.
const EMPTY_CELL: &str = "-";

/// The maximum width of a column, in characters. Longer text runs into the next column.
const MAX_COLUMN_WIDTH: usize = 40;

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
    text.push_str(&summary(listing));
    text
}

/// Returns the cells of a directory's line. The role starts in the second column and may extend over the following columns.
fn directory(entry: &ListedDirectory) -> [String; 5] {
    let mut role = entry.role.describe();
    if let (Some(found), Role::Root { .. }) = (entry.engine, &entry.role) {
        let _ = write!(role, "; {}, {}", found.engine, found.reason.describe());
    }
    [
        visible_name(&entry.path).into_owned(),
        role,
        String::new(),
        String::new(),
        String::new(),
    ]
}

fn provider(found: &ListedProvider, entry: &ListedDirectory) -> [String; 5] {
    let cell = |text: &Option<String>| text.clone().unwrap_or_else(|| EMPTY_CELL.to_owned());
    let engine = entry.engine.map(|found| found.engine);
    let mut newest = cell(&found.newest);
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
        cell(&found.constraints),
        cell(&found.locked),
        cell(&found.newest_allowed),
        newest,
    ]
}

/// Returns the address without the engine's default host.
pub(super) fn short(address: &ProviderAddr, engine: Option<Engine>) -> String {
    let text = address.to_string();
    let prefix = engine.map(|engine| format!("{}/", engine.default_host()));
    match prefix.and_then(|prefix| text.strip_prefix(&prefix).map(str::to_owned)) {
        Some(short) => short,
        None => text,
    }
}

fn widths(lines: &[[String; 5]]) -> [usize; 5] {
    let mut widths = [0; 5];
    for cells in lines {
        // A directory's line has only two cells. The second may be long, so only the first counts for the column width.
        let columns = if cells[2].is_empty() { 1 } else { cells.len() };
        for (cell, width) in cells.iter().zip(&mut widths).take(columns) {
            *width = (*width).max(cell.chars().count().min(MAX_COLUMN_WIDTH));
        }
    }
    widths
}

/// Returns the number of directories in each role, and the number of outdated and out-of-range versions.
fn summary(listing: &DirectoryList) -> String {
    let directories = &listing.directories;
    let with_role = |has_role: fn(&Role) -> bool| {
        let matching = directories.iter().filter(|entry| has_role(&entry.role));
        matching.count()
    };
    let in_state = |state| {
        let providers = directories.iter().flat_map(|entry| &entry.providers);
        providers.filter(|found| found.state == state).count()
    };
    let outdated = in_state(VersionState::Outdated);
    let out_of_range = in_state(VersionState::OutOfRange);
    let roots = with_role(|role| matches!(role, Role::Root { .. }));
    let modules = with_role(|role| matches!(role, Role::Module { .. }));
    let without_providers = with_role(|role| matches!(role, Role::RequiresNothing));
    let unconfigured = with_role(|role| matches!(role, Role::Unconfigured));
    let parents = with_role(|role| matches!(role, Role::Parent));
    let templates = with_role(|role| matches!(role, Role::Template));
    let unknown = with_role(|role| matches!(role, Role::Unknown));
    let ignored = with_role(|role| matches!(role, Role::Ignored));
    let failed = with_role(|role| matches!(role, Role::Failed));
    let counts = [
        (roots, "root", "roots"),
        (modules, "module", "modules"),
        (without_providers, "without providers", "without providers"),
        (
            unconfigured,
            "without configuration",
            "without configuration",
        ),
        (parents, "parent", "parents"),
        (templates, "template", "templates"),
        (unknown, "unknown", "unknown"),
        (ignored, "ignored", "ignored"),
        (failed, "failed", "failed"),
        (outdated, "version outdated", "versions outdated"),
        (
            out_of_range,
            "version out of range",
            "versions out of range",
        ),
    ];
    let counts = counts.into_iter().filter(|(count, ..)| *count > 0);
    let parts: Vec<String> = counts
        .map(|(count, one, many)| counted(count, one, many))
        .collect();
    if parts.is_empty() {
        return "no module directories found\n".to_owned();
    }
    format!("{}\n", parts.join(", "))
}
