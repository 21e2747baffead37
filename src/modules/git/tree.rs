//! What is in a commit, before any of it is checked out.
//!
//! A tree that names the same tree ten times, which again names one ten times, has 10^8 paths after eight levels and takes a
//! few kilobytes. Git holds all paths in memory before it writes the first file.

use std::ops::ControlFlow;

use crate::git::Scope;
use crate::modules::error::ModuleError;

use super::program::{Failure, Git, MAX_REPOSITORY_ENTRIES};

/// The longest record that is read: no file system takes a path as long as this.
const MAX_RECORD: usize = 64 << 10;

/// What is of interest in a commit.
#[derive(Debug, Default, PartialEq, Eq)]
pub(super) struct Tree {
    /// Where other repositories belong, and at which commit.
    pub(super) submodules: Vec<Gitlink>,
}

/// The place of another repository.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Gitlink {
    /// The path of its directory, as git has it.
    pub(super) path: Vec<u8>,
    /// Its commit.
    pub(super) commit: String,
}

/// Lists a commit, and fails if it has more than may be checked out.
pub(super) async fn inspect(
    git: &Git<'_>,
    scope: Scope<'_>,
    commit: &str,
) -> Result<Tree, ModuleError> {
    let mut reader = Reader::new(git.bounds.max_bytes);
    let list = ["ls-tree", "-r", "-t", "-l", "-z", "--full-tree", commit];
    let mut read = |bytes: &[u8]| reader.read(bytes);
    let listed = git.run_into(scope, &list, &[], &mut read).await;
    match (listed, reader.problem) {
        (Ok(()), _) => Ok(reader.tree),
        (Err(Failure::Module(error)), _) => Err(error),
        (Err(Failure::Stopped), Some(Problem::Bytes)) => Err(git.too_large()),
        (Err(Failure::Stopped), _) => Err(git.too_many_entries()),
    }
}

/// What there is too much of.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Problem {
    Bytes,
    Entries,
}

/// Reads `MODE TYPE OBJECT SIZE<TAB>PATH`, each ended by NUL, as it comes.
struct Reader {
    tree: Tree,
    /// The beginning of a record.
    rest: Vec<u8>,
    entries: usize,
    /// How many bytes may follow.
    bytes_left: u64,
    problem: Option<Problem>,
}

impl Reader {
    fn new(max_bytes: u64) -> Self {
        Self {
            tree: Tree::default(),
            rest: Vec::new(),
            entries: 0,
            bytes_left: max_bytes,
            problem: None,
        }
    }

    fn read(&mut self, bytes: &[u8]) -> ControlFlow<()> {
        let mut records = bytes.split(|byte| *byte == 0);
        // What follows the last NUL is the beginning of a record.
        let last = records.next_back().unwrap_or_default();
        for end in records {
            self.rest.extend_from_slice(end);
            let record = std::mem::take(&mut self.rest);
            self.problem = self.count(&record);
            if self.problem.is_some() {
                return ControlFlow::Break(());
            }
        }
        self.rest.extend_from_slice(last);
        if self.rest.len() > MAX_RECORD {
            return ControlFlow::Break(());
        }
        ControlFlow::Continue(())
    }

    fn count(&mut self, record: &[u8]) -> Option<Problem> {
        self.entries += 1;
        if self.entries > MAX_REPOSITORY_ENTRIES {
            return Some(Problem::Entries);
        }
        let tab = record.iter().position(|byte| *byte == b'\t')?;
        let fields = String::from_utf8_lossy(&record[..tab]);
        let mut fields = fields.split_ascii_whitespace().skip(1);
        let (kind, object, size) = (fields.next()?, fields.next()?, fields.next()?);
        if kind == "commit" {
            self.tree.submodules.push(Gitlink {
                path: record[tab + 1..].to_vec(),
                commit: object.to_owned(),
            });
        }
        match self.bytes_left.checked_sub(size.parse().unwrap_or(0)) {
            Some(left) => self.bytes_left = left,
            None => return Some(Problem::Bytes),
        }
        None
    }
}
