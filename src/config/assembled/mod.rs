//! Root modules that are assembled in memory: directories laid over each other, and generated files.
//!
//! An assembled module has no directory of its own on disk. Its files form a [`FileTree`], and the root module is one of the directories in
//! this tree. For a file on disk, messages show the path on disk. For a generated file, they show the position of the configuration that
//! defines its text.

mod file_tree;
mod tree_layer;

pub use file_tree::{FileTree, GeneratedText, TreeEntry, TreeFile};
pub use tree_layer::{FileSelection, TreeLayer};

use std::path::PathBuf;
use std::sync::Arc;

/// A root module in a tree of files.
#[derive(Clone, Debug)]
pub struct AssembledModule {
    /// The existing directory for which the module is assembled, as the user writes it. The lock file of the module is in this
    /// directory, and the module may read the files of its repository.
    pub directory: PathBuf,
    /// The path of the root module in the tree.
    pub root: PathBuf,
    pub files: Arc<FileTree>,
}
