//! Which files the content of a repository may make tflock read.
//!
//! A pull request from a stranger controls every name, link and path in its tree, so three rules apply:
//!
//! - [`open_regular`] and [`open_listed`] open regular files only. They never block on a pipe and never open a device.
//! - [`ReadAccess`] confines paths that configuration contains, such as the argument of `file()`, to the repository.
//! - [`confine`] and [`open_confined`] apply to paths on the command line and to files with fixed names: a link inside the
//!   repository must not lead out of it.

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
pub use open::{open_listed, open_regular};
pub use read_access::{AccessError, ReadAccess};
pub use read_rules::{FileList, ReadRules};
pub use repository_root::{find_repository, repository_root};
