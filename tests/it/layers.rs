//! The layering test: one crate gives no compiler help, so this reads the sources and fails on an edge upward or sideways
//! between rooms, and on an outside crate used outside its room.
//!
//! The layers are those that `src/lib.rs` draws. A room uses rooms below it, never beside or above; within row 4 only
//! `run` may use the others, but for the edges in [`BESIDE`].

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};

/// Every room, with its row.
const LAYERS: [(&str, u8); 17] = [
    ("main", 5),
    ("cli", 4),
    ("settings", 4),
    ("run", 4),
    ("printer", 4),
    ("diagnostic", 4),
    ("progress", 4),
    ("locking", 3),
    ("config", 2),
    ("registry", 2),
    ("lockfile", 2),
    ("package", 1),
    ("syntax", 1),
    ("cli_config", 1),
    ("reporter", 1),
    ("provider", 0),
    ("span", 0),
];

/// Outside crates (and what is like one), with the rooms that may name them.
const HOMES: [(&str, &[&str]); 8] = [
    ("reqwest", &["registry"]),
    ("clap", &["cli", "main"]),
    ("pgp", &["package"]),
    ("zip", &["package"]),
    ("hcl", &["syntax"]),
    ("indicatif", &["progress"]),
    ("anyhow", &["run", "main"]),
    ("std::env", &["settings", "printer", "main"]),
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
    for (position, _) in code.match_indices(prefix) {
        let inside_a_word =
            code[..position].ends_with(|last: char| last.is_alphanumeric() || last == '_');
        if inside_a_word {
            continue;
        }
        let rest = &code[position + prefix.len()..];
        match rest.strip_prefix('{') {
            Some(list) => names.extend(list_heads(list)),
            None => names.extend(head(rest)),
        }
    }
    names
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

fn row(room: &str) -> Option<u8> {
    LAYERS
        .iter()
        .find(|(name, _)| *name == room)
        .map(|(_, row)| *row)
}

/// Edges within row 4, beside those of `run`: arguments become settings, and the printer renders diagnostics.
const BESIDE: [(&str, &str); 2] = [("settings", "cli"), ("printer", "diagnostic")];

fn may_use(from: &str, to: &str) -> bool {
    let within_four = row(from) == Some(4) && row(to) == Some(4);
    from == to
        || row(to) < row(from)
        || within_four && (from == "run" || BESIDE.contains(&(from, to)))
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
            let named = !first_names(&source.code, &format!("{name}::")).is_empty();
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
