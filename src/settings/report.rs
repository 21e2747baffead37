//! The settings for the report of a run.

use std::path::{Path, PathBuf};

use crate::access::repository_root;
use crate::cli::{FormatArg, ReportArgs};
use crate::config::clean;

use super::Environment;

#[derive(Clone, Debug)]
pub struct ReportSettings {
    pub format: FormatArg,
    pub paths: RepositoryPaths,
    /// The file for the job summary of GitHub Actions. `None` if no summary is requested.
    pub step_summary: Option<PathBuf>,
}

/// Converts the paths in a report to paths relative to the repository root, as GitHub and code scanning expect.
#[derive(Clone, Debug)]
pub struct RepositoryPaths {
    /// The absolute path of the directory to which the paths in a report are relative.
    pub working_directory: PathBuf,
    /// The repository root, absolute.
    pub root: PathBuf,
}

impl ReportSettings {
    /// Merges the command line and the environment. GitHub Actions sets `GITHUB_WORKSPACE` to the repository root.
    pub fn resolve(args: &ReportArgs, environment: &Environment) -> Self {
        let path = |name: &str| environment.non_empty(name).map(PathBuf::from);
        let working_directory = environment.working_directory.clone();
        let workspace = path("GITHUB_WORKSPACE").filter(|root| working_directory.starts_with(root));
        let root = workspace.unwrap_or_else(|| repository_root(&working_directory));
        Self {
            format: args.format.unwrap_or(FormatArg::Text),
            paths: RepositoryPaths {
                working_directory,
                root,
            },
            step_summary: path("GITHUB_STEP_SUMMARY"),
        }
    }
}

impl RepositoryPaths {
    /// Returns `path` relative to the repository root. `None` if it is outside the repository.
    pub fn relative_to_root(&self, path: &Path) -> Option<PathBuf> {
        let absolute = clean(&self.working_directory.join(path));
        let relative = absolute.strip_prefix(clean(&self.root)).ok()?;
        Some(relative.to_path_buf())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn files_are_named_from_the_root_of_the_repository() {
        let paths = RepositoryPaths {
            working_directory: "/repo/stacks".into(),
            root: "/repo".into(),
        };
        let rows = [
            ("a/main.tf", Some("stacks/a/main.tf")),
            ("../modules/./m/main.tf", Some("modules/m/main.tf")),
            ("/repo/x", Some("x")),
            ("../../elsewhere", None),
        ];
        for (path, expected) in rows {
            let relative = paths.relative_to_root(path.as_ref());
            assert_eq!(relative.as_deref(), expected.map(Path::new), "{path}");
        }
    }
}
