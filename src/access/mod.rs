//! Limits which files the content of a repository can make tflock read.
//!
//! A pull request from a stranger controls every name, symlink and path in its tree, so three rules apply:
//!
//! - [`open_regular`] and [`open_listed`] open regular files only. They never block on a pipe and never open a device.
//! - [`ReadAccess`] confines paths in the configuration, such as the argument of `file()`, to the repository.
//! - [`confine`] and [`open_confined`] apply to paths on the command line and to files with fixed names: a symlink inside the
//!   repository must not point outside it.

mod confine;
mod open;
mod read_access;
mod read_rules;
mod repository_root;
#[cfg(test)]
mod tests;

pub use confine::{
    LinkError, confine, enclosing_tree, leaves_repository, open_confined, resolve_link,
};
pub use open::{open_listed, open_regular, read_limited};
pub use read_access::{AccessError, ReadAccess};
pub use read_rules::{FileList, ReadRules};
pub use repository_root::{find_repository, repository_root};
