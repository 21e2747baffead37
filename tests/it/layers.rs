//! The layering test: one crate gives no compiler help, so this reads the sources and fails on an edge upward or sideways
//! between rooms, and on an outside crate used outside its room.
//!
//! The layers are those that `src/lib.rs` draws. A room uses rooms below it, never beside or above; within the row of the
//! command line only `run` may use the others, but for the edges in [`BESIDE`].

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};

/// The rooms, row by row from the bottom. `span` lies under `provider`, whose errors point at places.
const ROWS: [&[&str]; 11] = [
    &["code", "display"],
    &["span", "redacted_url", "once_map"],
    &["provider"],
    &[
        "access",
        "package",
        "syntax",
        "cli_config",
        "reporter",
        "owner",
        "parallel",
    ],
    &["mirror", "diagnostic"],
    &["config", "registry", "lockfile", "cache", "git"],
    &["walk"],
    &["locking", "modules"],
    &["options"],
    COMMAND,
    &["main"],
];

/// The row of the command line.
const COMMAND: &[&str] = &["cli", "settings", "run", "printer", "progress"];

/// Edges within the row of the command line, beside those of `run`: arguments become settings.
const BESIDE: [(&str, &str); 1] = [("settings", "cli")];

/// Outside crates, and doors to the process, with the rooms that may name them.
const HOMES: [(&str, &[&str]); 13] = [
    ("reqwest::", &["registry"]),
    ("clap::", &["cli", "options", "main"]),
    ("clap_complete::", &["cli"]),
    ("clap_mangen::", &["cli"]),
    ("toml::", &["options", "settings"]),
    ("pgp::", &["package"]),
    ("zip::", &["package"]),
    ("hcl::", &["syntax"]),
    ("indicatif::", &["progress"]),
    ("anyhow::", &["run", "main"]),
    ("env::var", &["settings", "printer", "main"]),
    ("env::args", &["settings", "main"]),
    ("env::current_dir", &["settings", "main"]),
];

/// One source file: its room, its path for messages, and its code without comments.
struct Source {
    room: String,
    path: String,
    code: String,
}

fn sources() -> Vec<Source> {
    let base = Path::new(env!("CARGO_MANIFEST_DIR")).join("src");
    let mut files = Vec::new();
    collect(&base, &mut files);
    files.sort();
    files.iter().map(|path| read(&base, path)).collect()
}

fn collect(directory: &Path, files: &mut Vec<PathBuf>) {
    for entry in fs::read_dir(directory).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            collect(&path, files);
        } else if path.extension().is_some_and(|extension| extension == "rs") {
            files.push(path);
        }
    }
}

fn read(base: &Path, path: &Path) -> Source {
    let relative = path.strip_prefix(base).unwrap();
    let first = relative.components().next().unwrap();
    let room = first
        .as_os_str()
        .to_str()
        .unwrap()
        .trim_end_matches(".rs")
        .to_owned();
    let text = fs::read_to_string(path).unwrap();
    let code = text
        .lines()
        .filter(|line| !line.trim_start().starts_with("//"));
    let code = code.flat_map(|line| [line, "\n"]).collect();
    Source {
        room,
        path: relative.display().to_string(),
        code,
    }
}

/// The first names after each `prefix` path in `code`: `crate::a::B` and `use crate::{a::B, c}` name `a` and `c`.
fn first_names(code: &str, prefix: &str) -> BTreeSet<String> {
    let mut names = BTreeSet::new();
    for rest in mentions(code, prefix) {
        match rest.strip_prefix('{') {
            Some(list) => names.extend(list_heads(list)),
            None => names.extend(head(rest)),
        }
    }
    names
}

/// What follows each `prefix` in `code` that is not the tail of a longer word.
fn mentions<'a>(code: &'a str, prefix: &'a str) -> impl Iterator<Item = &'a str> {
    let word = |last: char| last.is_alphanumeric() || last == '_';
    code.match_indices(prefix)
        .filter(move |(position, _)| !code[..*position].ends_with(word))
        .map(|(position, _)| &code[position + prefix.len()..])
}

/// The first names of the items of a `use` list, up to its closing brace.
fn list_heads(list: &str) -> Vec<String> {
    let (mut depth, mut start, mut heads) = (0, 0, Vec::new());
    for (position, character) in list.char_indices() {
        match character {
            '{' => depth += 1,
            '}' if depth > 0 => depth -= 1,
            ',' | '}' if depth == 0 => {
                heads.extend(head(list[start..position].trim_start()));
                start = position + 1;
                if character == '}' {
                    break;
                }
            }
            _ => {}
        }
    }
    heads
}

fn head(path: &str) -> Option<String> {
    let end = path
        .find(|next: char| !next.is_alphanumeric() && next != '_')
        .unwrap_or(path.len());
    (end > 0).then(|| path[..end].to_owned())
}

fn row(room: &str) -> Option<usize> {
    ROWS.iter().position(|rooms| rooms.contains(&room))
}

fn may_use(from: &str, to: &str) -> bool {
    let beside = from == "run" && COMMAND.contains(&to) || BESIDE.contains(&(from, to));
    from == to || row(to) < row(from) || beside
}

#[test]
fn rooms_use_only_what_lies_below_them() {
    let mut faults = Vec::new();
    for source in sources().iter().filter(|source| source.room != "lib") {
        if row(&source.room).is_none() {
            faults.push(format!(
                "{}: this room has no row in the layer table",
                source.path
            ));
        }
        let mut used = first_names(&source.code, "crate::");
        used.extend(first_names(&source.code, "tflock::"));
        for room in used
            .iter()
            .filter(|room| row(room).is_some() && !may_use(&source.room, room))
        {
            faults.push(format!(
                "{}: `{}` must not use `{room}`",
                source.path, source.room
            ));
        }
    }
    assert!(faults.is_empty(), "\n{}", faults.join("\n"));
}

#[test]
fn outside_crates_stay_in_their_rooms() {
    let mut faults = Vec::new();
    for source in sources() {
        for (name, homes) in HOMES {
            let named = mentions(&source.code, name).next().is_some();
            if named && !homes.contains(&source.room.as_str()) {
                faults.push(format!(
                    "{}: `{name}` belongs to {}",
                    source.path,
                    homes.join(", ")
                ));
            }
        }
    }
    assert!(faults.is_empty(), "\n{}", faults.join("\n"));
}

#[test]
fn the_reader_finds_edges_in_every_form() {
    for (code, expected) in [
        ("use crate::provider::{Hash, Version};", vec!["provider"]),
        (
            "use crate::{config, lockfile::{Locks, parse}, span::Span};",
            vec!["config", "lockfile", "span"],
        ),
        ("let x = crate::registry::Client::new();", vec!["registry"]),
        ("pub(crate) fn f() {}", vec![]),
        ("use mycrate::locking;", vec![]),
    ] {
        let found: Vec<_> = first_names(code, "crate::").into_iter().collect();
        assert_eq!(found, expected, "{code}");
    }
    assert!(may_use("run", "printer") && may_use("settings", "cli") && may_use("locking", "span"));
    assert!(
        !may_use("printer", "run")
            && !may_use("config", "lockfile")
            && !may_use("span", "provider")
    );
}
