//! Remote modules without `init`: from a source, as a configuration has it, to a directory with its files.
//!
//! A module registry turns a version constraint into an address (`fetcher`); an address is read once (`address`) and names a git
//! repository (`git`), an archive on the web (`archive`, `checksum`), a directory of this machine, or a web page that names
//! another address. What arrives is kept in the disk cache (`kept`) or lies in a temporary directory of the run, and
//! `subdirectory` finds the module in it. Which versions a root module had is remembered as well (`chosen`).
//!
//! Sources come from whoever may open a pull request. So git may use three protocols and runs without prompts, hooks and the
//! caller's environment; archives and repositories cannot place or name anything outside of their directory; and all that
//! arrives has a limit.

mod address;
mod archive;
mod checksum;
mod chosen;
mod confinement;
mod error;
mod fetcher;
mod git;
mod kept;
mod links;
mod subdirectory;
mod versions;

pub use archive::MAX_ARCHIVE_BYTES;
pub use error::{ModuleError, TarError};
pub use fetcher::Fetcher;
pub use git::{MAX_REPOSITORY_BYTES, MAX_REPOSITORY_ENTRIES, MAX_SUBMODULES};
