//! Lists the tree of a commit before it is checked out, and checks it against the limits.
//!
//! A small repository can contain a huge tree: if each tree object contains the next one ten times, eight levels have 10^8 paths but take
//! only a few kilobytes. Git holds all paths in memory before it writes the first file.

use crate::git::GitTarget;
use crate::modules::ModuleError;

use super::runner::GitRunner;
use crate::modules::repository::{Excess, MAX_REPOSITORY_ENTRIES};

/// The maximum length of a record, in bytes. File systems do not support paths this long.
const MAX_RECORD: usize = 64 << 10;

/// A tree entry that refers to a commit of a submodule.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Gitlink {
    /// The path of the submodule's directory, as bytes printed by git.
    pub(super) path: Vec<u8>,
    pub(super) commit: String,
}

/// Returns the submodules of a commit, and fails if the commit has too many files or bytes.
pub(super) async fn list_submodules(
    git: &GitRunner<'_>,
    target: GitTarget<'_>,
    commit: &str,
) -> Result<Vec<Gitlink>, ModuleError> {
    let mut listing = TreeListing {
        bytes_left: git.limits.max_bytes,
        ..TreeListing::default()
    };
    let list = ["ls-tree", "-r", "-t", "-l", "-z", "--full-tree", commit];
    let mut parse = |bytes: &[u8]| {
        let parsed = listing.parse(bytes);
        parsed.map_err(|excess| git.exceeded(excess))
    };
    git.run_streaming(target, &list, &mut parse).await?;
    Ok(listing.submodules)
}

/// A parser for `MODE TYPE OBJECT SIZE<TAB>PATH` records, each terminated by NUL, whose bytes arrive in chunks.
#[derive(Default)]
struct TreeListing {
    submodules: Vec<Gitlink>,
    /// The first bytes of a record that has not arrived completely.
    incomplete: Vec<u8>,
    entries: usize,
    bytes_left: u64,
}

impl TreeListing {
    fn parse(&mut self, bytes: &[u8]) -> Result<(), Excess> {
        let mut records = bytes.split(|byte| *byte == 0);
        let last = records.next_back().unwrap_or_default();
        for end in records {
            self.incomplete.extend_from_slice(end);
            let record = std::mem::take(&mut self.incomplete);
            self.add(&record)?;
        }
        self.incomplete.extend_from_slice(last);
        if self.incomplete.len() > MAX_RECORD {
            return Err(Excess::Entries);
        }
        Ok(())
    }

    fn add(&mut self, record: &[u8]) -> Result<(), Excess> {
        self.entries += 1;
        if self.entries > MAX_REPOSITORY_ENTRIES {
            return Err(Excess::Entries);
        }
        let Some(tab) = record.iter().position(|byte| *byte == b'\t') else {
            return Ok(());
        };
        let text = String::from_utf8_lossy(&record[..tab]);
        let fields: Vec<&str> = text.split_ascii_whitespace().collect();
        let &[_mode, kind, object, size, ..] = &fields[..] else {
            return Ok(());
        };
        if kind == "commit" {
            self.submodules.push(Gitlink {
                path: record[tab + 1..].to_vec(),
                commit: object.to_owned(),
            });
        }
        self.bytes_left = self
            .bytes_left
            .checked_sub(size.parse().unwrap_or(0))
            .ok_or(Excess::Bytes)?;
        Ok(())
    }
}
