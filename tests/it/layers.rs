//! Checks the layers of the crate. The compiler does not check them, so this test reads the source files. It fails if a
//! module uses another module in the same or a higher layer, or an external crate reserved for other modules.
//!
//! The layers are those in `src/lib.rs`. Only the command-line layer has exceptions: `run` may use all other modules of
//! that layer, and [`EDGES_WITHIN_COMMAND_LINE`] lists the remaining ones.

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};

/// The modules of each layer, from lowest to highest. `span` is below `provider`, whose errors contain locations.
const LAYERS: [&[&str]; 13] = [
    &["code", "display"],
    &["span", "redacted_url", "once_map"],
    &["provider"],
    &["syntax", "oci"],
    &[
        "access",
        "package",
        "cli_config",
        "reporter",
        "temporary_file",
        "parallel",
        "subprocess",
    ],
    &["mirror", "diagnostic", "functions"],
    &[
        "config",
        "registry",
        "lockfile",
        "cache",
        "git",
        "mercurial",
    ],
    &["buckets"],
    &["index", "terragrunt"],
    &["walk", "locking", "modules"],
    &["options"],
    COMMAND_LINE,
    &["main"],
];

/// The command-line layer.
const COMMAND_LINE: &[&str] = &["cli", "settings", "run", "printer", "progress"];

/// Permitted uses within the command-line layer, as (user, used module), in addition to those of `run`.
const EDGES_WITHIN_COMMAND_LINE: [(&str, &str); 1] = [("settings", "cli")];

/// External crates and functions that read the process environment, with the modules that may use them.
const OWNERS: [(&str, &[&str]); 15] = [
    ("reqwest::", &["registry"]),
    ("object_store::", &["buckets"]),
    ("ring::signature::", &["index"]),
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

/// A source file: its top-level module, its path for messages, and its code without comments.
struct Source {
    module: String,
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
    let module = first
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
        module,
        path: relative.display().to_string(),
        code,
    }
}

/// Returns the first name in each path after `prefix`: for the prefix `crate::`, `a` and `c` in `crate::a::B` and `use
/// crate::{a::B, c}`.
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

/// Returns the code after each occurrence of `prefix` that is not the end of a longer word.
fn mentions<'a>(code: &'a str, prefix: &'a str) -> impl Iterator<Item = &'a str> {
    let word = |last: char| last.is_alphanumeric() || last == '_';
    code.match_indices(prefix)
        .filter(move |(position, _)| !code[..*position].ends_with(word))
        .map(|(position, _)| &code[position + prefix.len()..])
}

/// Returns the first name of each item in a `use` list, up to its closing brace.
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

fn layer(module: &str) -> Option<usize> {
    LAYERS.iter().position(|modules| modules.contains(&module))
}

fn may_use(from: &str, to: &str) -> bool {
    let beside = from == "run" && COMMAND_LINE.contains(&to)
        || EDGES_WITHIN_COMMAND_LINE.contains(&(from, to));
    from == to || layer(to) < layer(from) || beside
}

#[test]
fn modules_use_only_lower_layers() {
    let mut faults = Vec::new();
    for source in sources().iter().filter(|source| source.module != "lib") {
        if layer(&source.module).is_none() {
            faults.push(format!(
                "{}: this module is missing in the table of layers",
                source.path
            ));
        }
        let mut used = first_names(&source.code, "crate::");
        used.extend(first_names(&source.code, "tflock::"));
        for module in used
            .iter()
            .filter(|module| layer(module).is_some() && !may_use(&source.module, module))
        {
            faults.push(format!(
                "{}: `{}` must not use `{module}`",
                source.path, source.module
            ));
        }
    }
    assert!(faults.is_empty(), "\n{}", faults.join("\n"));
}

#[test]
fn external_crates_are_used_only_in_their_modules() {
    let mut faults = Vec::new();
    for source in sources() {
        for (name, owners) in OWNERS {
            let named = mentions(&source.code, name).next().is_some();
            if named && !owners.contains(&source.module.as_str()) {
                faults.push(format!(
                    "{}: `{name}` belongs to {}",
                    source.path,
                    owners.join(", ")
                ));
            }
        }
    }
    assert!(faults.is_empty(), "\n{}", faults.join("\n"));
}

#[test]
fn uses_are_found_in_every_form() {
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
