//! `tflock mirror`: what it writes, keeps, checks and removes, and that other processes can read the mirror during a
//! run.

mod command;
mod parity;
mod processes;

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;

use tflock_test_support::sha256_hex;

/// Returns all files below a directory with their permissions. Small files are represented by their text, zips by their
/// digest and symlinks by their target.
fn snapshot(base: &Path) -> BTreeMap<String, String> {
    let mut files = BTreeMap::new();
    collect(base, "", &mut files);
    files
}

fn collect(base: &Path, inside: &str, files: &mut BTreeMap<String, String>) {
    for entry in fs::read_dir(base.join(inside)).into_iter().flatten() {
        let entry = entry.unwrap();
        let name = entry.file_name().into_string().unwrap();
        let name = if inside.is_empty() {
            name
        } else {
            format!("{inside}/{name}")
        };
        let kind = entry.file_type().unwrap();
        if kind.is_dir() {
            collect(base, &name, files);
        } else if kind.is_symlink() {
            let target = fs::read_link(entry.path()).unwrap();
            files.insert(name, format!("-> {}", target.display()));
        } else {
            let bytes = fs::read(entry.path()).unwrap();
            let text = if Path::new(&name)
                .extension()
                .is_some_and(|end| end == "json")
            {
                String::from_utf8(bytes).unwrap()
            } else {
                format!("sha256 {}", sha256_hex(&bytes))
            };
            files.insert(name, format!("{}{text}", mode(&entry.path())));
        }
    }
}

#[cfg(unix)]
fn mode(path: &Path) -> String {
    use std::os::unix::fs::PermissionsExt as _;

    format!(
        "{:03o} ",
        fs::metadata(path).unwrap().permissions().mode() & 0o7777
    )
}

#[cfg(not(unix))]
fn mode(_path: &Path) -> String {
    "644 ".to_owned()
}
