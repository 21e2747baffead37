//! A virtual directory of a package's unpacked files: a map from paths to digests.
//!
//! Terraform unpacks a zip and hashes the files that are then on disk. The virtual directory therefore behaves like a file system to
//! which the entries are written in order: missing parents are created, a later file replaces an earlier one with the same path, and
//! a file and a directory with the same path are an error. Directories are not hashed.

use std::collections::BTreeMap;
use std::ops::Bound;

use crate::package::PackageError;
use crate::package::entry_path::{EntryPath, shown};
use crate::package::h1::h1;
use crate::provider::{Digest, Hash};

/// The files and the explicit directories of a package. Implied parents are not stored, so that memory use does not grow with the
/// depth of paths.
///
/// The keys are paths in which NUL, which no path contains, replaces `/`. In this order, a path is directly followed by everything
/// below it, so the two neighbors of a path reveal whether a file and a directory collide.
#[derive(Debug, Default)]
pub(crate) struct PackageTree {
    nodes: BTreeMap<Vec<u8>, TreeNode>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum TreeNode {
    Directory,
    File(Digest),
}

/// The separator in keys. It sorts before all bytes of names.
const SEPARATOR: u8 = 0;

impl PackageTree {
    /// Adds a directory. Does nothing for the root, which always exists.
    pub(crate) fn add_directory(&mut self, path: &EntryPath) -> Result<(), PackageError> {
        if path.is_root() {
            return Ok(());
        }
        self.insert(path, TreeNode::Directory)
    }

    /// Adds a file, or replaces an existing one.
    pub(crate) fn add_file(
        &mut self,
        path: &EntryPath,
        content: Digest,
    ) -> Result<(), PackageError> {
        if path.is_root() {
            return Err(PackageError::FileAtRoot);
        }
        self.insert(path, TreeNode::File(content))
    }

    fn insert(&mut self, path: &EntryPath, node: TreeNode) -> Result<(), PackageError> {
        let key = key(path.as_bytes());
        let is_file = matches!(node, TreeNode::File(_));
        let collides = match self.nodes.get(&key) {
            Some(TreeNode::File(_)) => !is_file,
            Some(TreeNode::Directory) => is_file,
            None => self.is_below_file(&key) || (is_file && self.has_below(&key)),
        };
        if collides {
            let path = shown(path.as_bytes());
            return Err(PackageError::FileAndDirectory { path });
        }
        self.nodes.insert(key, node);
        Ok(())
    }

    /// Whether one of the parents is a file. If so, it is the nearest key before this one, because nothing can be below a file.
    fn is_below_file(&self, key: &[u8]) -> bool {
        let mut before = self
            .nodes
            .range::<[u8], _>((Bound::Unbounded, Bound::Excluded(key)));
        let nearest = before.next_back();
        nearest.is_some_and(|(other, node)| *node != TreeNode::Directory && is_below(key, other))
    }

    fn has_below(&self, key: &[u8]) -> bool {
        let mut after = self
            .nodes
            .range::<[u8], _>((Bound::Excluded(key), Bound::Unbounded));
        after.next().is_some_and(|(other, _)| is_below(other, key))
    }

    /// Computes the `h1` hash of the files. The executable of the provider must be among them.
    pub(crate) fn hash(&self, type_name: &str) -> Result<Hash, PackageError> {
        let files = self.nodes.iter().filter_map(|(key, node)| match node {
            TreeNode::File(content) => Some((path(key), *content)),
            TreeNode::Directory => None,
        });
        hash_files(files.collect(), type_name)
    }
}

/// Computes the `h1` hash of files by path. The executable of the provider must be among them.
pub(crate) fn hash_files(
    mut files: Vec<(Vec<u8>, Digest)>,
    type_name: &str,
) -> Result<Hash, PackageError> {
    files.sort_unstable();
    if !files.iter().any(|(path, _)| is_executable(path, type_name)) {
        let type_name = type_name.to_owned();
        return Err(PackageError::NoExecutable { type_name });
    }
    if let Some((path, _)) = files.iter().find(|(path, _)| path.contains(&b'\n')) {
        return Err(PackageError::NewlineInName { name: shown(path) });
    }
    Ok(h1(files
        .iter()
        .map(|(path, content)| (path.as_slice(), *content))))
}

fn key(path: &[u8]) -> Vec<u8> {
    replace(path, b'/', SEPARATOR)
}

fn path(key: &[u8]) -> Vec<u8> {
    replace(key, SEPARATOR, b'/')
}

fn replace(bytes: &[u8], from: u8, to: u8) -> Vec<u8> {
    bytes
        .iter()
        .map(|byte| if *byte == from { to } else { *byte })
        .collect()
}

/// Whether `key` is the key of a path below `parent`.
fn is_below(key: &[u8], parent: &[u8]) -> bool {
    key.strip_prefix(parent)
        .is_some_and(|rest| rest.first() == Some(&SEPARATOR))
}

/// Whether a path is that of the provider's executable: a file at the top level named `terraform-provider-TYPE`, optionally
/// followed by `_` or `.` and any text. Mode bits do not matter.
fn is_executable(path: &[u8], type_name: &str) -> bool {
    let rest = path
        .strip_prefix(b"terraform-provider-")
        .and_then(|rest| rest.strip_prefix(type_name.as_bytes()));
    rest.is_some_and(|rest| {
        matches!(rest.first(), None | Some(b'_' | b'.')) && !rest.contains(&b'/')
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::package::h1::sha256;

    const EXE: &str = "terraform-provider-p";

    /// The name of an entry, and the content if it is a file; `None` for a directory.
    type Entry<'a> = (&'a str, Option<&'a str>);

    /// Unpacks the entries and hashes the result.
    fn unpack(entries: &[Entry<'_>]) -> Result<String, PackageError> {
        let mut tree = PackageTree::default();
        for (name, content) in entries {
            let path = EntryPath::new(name.as_bytes())?;
            match content {
                Some(content) => tree.add_file(&path, sha256(content.as_bytes()))?,
                None => tree.add_directory(&path)?,
            }
        }
        tree.hash("p").map(|hash| hash.to_string())
    }

    /// Computes the hash of files, which must be sorted by name.
    fn plain(files: &[(&str, &str)]) -> String {
        let lines = files
            .iter()
            .map(|(name, content)| (name.as_bytes(), sha256(content.as_bytes())));
        h1(lines).to_string()
    }

    #[test]
    fn directories_are_not_hashed() {
        let exe = (EXE, Some("exe"));
        let expected = Ok(plain(&[(EXE, "exe")]));
        for directory in ["d/", "./", "/", "", "d/e/f", "."] {
            assert_eq!(unpack(&[exe, (directory, None)]), expected, "{directory}");
            assert_eq!(unpack(&[(directory, None), exe]), expected, "{directory}");
        }
        let repeated = [("a", None), ("a/", None), ("a/b", None), ("a", None), exe];
        assert_eq!(unpack(&repeated), expected);
    }

    #[test]
    fn the_last_of_equal_paths_wins() {
        let expected = Ok(plain(&[("a", "2"), (EXE, "exe")]));
        for again in ["a", "./a", "/a", "a/."] {
            let entries = [(EXE, Some("exe")), ("a", Some("1")), (again, Some("2"))];
            assert_eq!(unpack(&entries), expected, "{again}");
        }
    }

    #[test]
    fn files_are_sorted_by_the_bytes_of_their_whole_paths() {
        let names = [
            "B",
            "a-b",
            "a.b",
            "a/b",
            "a/b-c",
            "a0",
            "b",
            EXE,
            "\u{ffff}",
            "\u{1f600}",
        ];
        let expected = Ok(plain(&names.map(|name| (name, name))));
        let mut entries = names.map(|name| (name, Some(name)));
        assert_eq!(unpack(&entries), expected);
        entries.reverse();
        assert_eq!(unpack(&entries), expected);
    }

    #[test]
    fn case_and_unicode_form_are_significant() {
        let names = ["A", "a", "e\u{301}", EXE, "\u{e9}"];
        let expected = Ok(plain(&names.map(|name| (name, name))));
        assert_eq!(unpack(&names.map(|name| (name, Some(name)))), expected);
    }

    #[test]
    fn a_file_and_a_directory_at_one_path_collide_in_any_order() {
        let some = Some("x");
        let cases: [(&[Entry<'_>], &str); 11] = [
            (&[("a", some), ("a/b", some)], "a/b"),
            (&[("a/b", some), ("a", some)], "a"),
            (&[("a/", None), ("a", some)], "a"),
            (&[("a", some), ("a/", None)], "a"),
            (&[("a", some), ("a/b/c", some)], "a/b/c"),
            (&[("a/b/c", some), ("a", some)], "a"),
            (&[("a/b/c", some), ("a/b", some)], "a/b"),
            (&[("a", some), ("a/b", None)], "a/b"),
            (&[("a/b", None), ("a", some)], "a"),
            (
                &[("a", some), ("a-b", some), ("a.b", some), ("a/b", some)],
                "a/b",
            ),
            (
                &[("a-b", some), ("a/b", some), ("a0", some), ("a", some)],
                "a",
            ),
        ];
        for (entries, at) in cases {
            let path = at.to_owned();
            let refused = Err(PackageError::FileAndDirectory { path });
            assert_eq!(unpack(entries), refused, "{entries:?}");
        }
    }

    #[test]
    fn similar_names_do_not_collide() {
        let some = Some("x");
        for [one, two] in [
            [("a-b", some), ("a", some)],
            [("a", some), ("a-b/c", some)],
            [("a\u{1}b", some), ("a", some)],
            [("ab/c", some), ("a", some)],
            [("a/b", some), ("a/bc", None)],
            [("a/b", some), ("a/c", some)],
            [("a", None), ("a/b", some)],
            [("a/b", some), ("a", None)],
        ] {
            assert!(unpack(&[one, two, (EXE, some)]).is_ok(), "{one:?}, {two:?}");
        }
    }

    #[test]
    fn a_file_cannot_be_the_root() {
        for name in ["", ".", "./.", "//"] {
            let refused = Err(PackageError::FileAtRoot);
            assert_eq!(unpack(&[(name, Some("x"))]), refused, "{name}");
        }
    }

    #[test]
    fn a_line_feed_is_an_error_in_files_only() {
        let exe = (EXE, Some("exe"));
        let name = "a\\nb".to_owned();
        let refused = Err(PackageError::NewlineInName { name });
        assert_eq!(unpack(&[exe, ("a\nb", Some("x"))]), refused);
        assert!(unpack(&[exe, ("a\nb", None)]).is_ok());
        assert!(unpack(&[exe, ("a\rb", Some("x"))]).is_ok());
    }

    #[test]
    fn the_executable_is_a_file_at_the_top_with_the_name_of_the_type() {
        for rest in ["", ".exe", ".txt", "_v1.0.0_x5", "_", "."] {
            let name = format!("{EXE}{rest}");
            assert!(unpack(&[(&name, Some("exe"))]).is_ok(), "{name}");
        }
        let others = "terraform-provider-p-x terraform-provider-px terraform-provider-p0 terraform-provider-p/x \
             terraform-provider-p_x/y terraform-provider-q terraform-provider- Terraform-provider-p sub/terraform-provider-p p";
        for name in others.split(' ') {
            let type_name = "p".to_owned();
            let refused = Err(PackageError::NoExecutable { type_name });
            assert_eq!(unpack(&[(name, Some("exe"))]), refused, "{name}");
        }
        assert!(
            unpack(&[(EXE, None)]).is_err(),
            "a directory is not executable"
        );
    }

    /// The expected values were computed with Terraform.
    #[test]
    fn reference_values() {
        let exe = ("terraform-provider-p_v1.0.0", Some("exe"));
        let cases: [(&[Entry<'_>], &str); 9] = [
            (&[exe], "h1:Oj1eh1N9nbm"),
            (&[exe, ("d/", None)], "h1:Oj1eh1N9nbm"),
            (
                &[("./terraform-provider-p_v1.0.0", Some("exe"))],
                "h1:Oj1eh1N9nbm",
            ),
            (&[exe, ("./a", Some("A"))], "h1:qwVEqsVWe9+"),
            (
                &[exe, ("a", Some("1")), ("./a", Some("2"))],
                "h1:5jSDaZqLR7z",
            ),
            (&[exe, ("a//b", Some("A"))], "h1:1s2QzI0YtIC"),
            (&[exe, ("a\\b", Some("A"))], "h1:8fT9HazCPkl"),
            (&[exe, ("link", Some("a/b"))], "h1:0erW47WWRRw"),
            (&[exe, ("a", Some(""))], "h1:iPYo+Thd/dC"),
        ];
        for (entries, starts_with) in cases {
            let hash = unpack(entries).expect("a proper package");
            assert!(hash.starts_with(starts_with), "{entries:?}: {hash}");
        }
    }
}
