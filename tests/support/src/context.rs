//! A temporary tree of configurations in which programs are run.

use std::fs;
use std::path::{Path, PathBuf};
use std::time::SystemTime;

use tempfile::TempDir;

use crate::fixture;
use crate::program::{Outcome, Program};
use crate::registry::FakeRegistry;
use crate::tool::{terraform_on_path, tofu_on_path};

const LOCK_FILE: &str = ".terraform.lock.hcl";

/// A temporary tree with the directories `repository` (the configurations, and the working directory of programs),
/// `home` and `cache`.
pub struct TestContext {
    root: TempDir,
    tflock: PathBuf,
    filters: Vec<(String, String)>,
}

impl TestContext {
    /// Creates an empty tree with a CLI configuration that redirects all hosts to `registry`. `tflock` is the binary
    /// under test: `env!("CARGO_BIN_EXE_tflock")`.
    pub fn new(tflock: impl Into<PathBuf>, registry: &FakeRegistry) -> Self {
        let mut context = Self::offline(tflock);
        context.set_cli_config(&registry.cli_config());
        context
            .filters
            .push((format!(":{}", registry.port()), ":[PORT]".to_owned()));
        context
    }

    /// Creates an empty tree with an empty CLI configuration.
    pub fn offline(tflock: impl Into<PathBuf>) -> Self {
        let root = TempDir::with_prefix("tflock-test").expect("a temporary directory");
        for part in ["repository", "home", "cache", "share", "certificates"] {
            fs::create_dir(root.path().join(part)).expect("the temporary directory is writable");
        }
        let shown = fs::canonicalize(root.path()).expect("the temporary directory exists");
        let mut filters = vec![(shown.display().to_string(), "[ROOT]".to_owned())];
        filters.push((root.path().display().to_string(), "[ROOT]".to_owned()));
        let context = Self {
            root,
            tflock: tflock.into(),
            filters,
        };
        context.set_cli_config("");
        fs::write(context.root.path().join("home/none.pem"), "").expect("the tree is writable");
        context
    }

    /// Replaces the CLI configuration.
    pub fn set_cli_config(&self, text: &str) {
        fs::write(self.root.path().join("home/terraform.rc"), text).expect("the tree is writable");
    }

    /// Returns the directory with the configurations.
    pub fn work(&self) -> PathBuf {
        self.root.path().join("repository")
    }

    /// Returns the path of `relative` below [`TestContext::work`].
    pub fn path(&self, relative: &str) -> PathBuf {
        self.work().join(relative)
    }

    /// Returns the directory of tflock's disk cache.
    pub fn cache(&self) -> PathBuf {
        self.root.path().join("cache")
    }

    /// Writes a file and creates its parent directories.
    pub fn write(&self, relative: &str, text: impl AsRef<[u8]>) -> &Self {
        let path = self.path(relative);
        let parent = path.parent().expect("a file below `work` has a parent");
        fs::create_dir_all(parent).expect("the tree is writable");
        fs::write(path, text).expect("the tree is writable");
        self
    }

    /// Writes a `DIRECTORY/main.tf` that requires providers, given as `(source, constraint)`. An empty constraint is
    /// omitted. The local name of each provider is its type.
    pub fn require(&self, directory: &str, providers: &[(&str, &str)]) -> &Self {
        let entry = |(source, constraint): &(&str, &str)| {
            let local_name = source.rsplit('/').next().expect("a split has a last part");
            let version = match *constraint {
                "" => String::new(),
                constraint => format!(", version = \"{constraint}\""),
            };
            format!("    {local_name} = {{ source = \"{source}\"{version} }}\n")
        };
        let entries = providers.iter().map(entry).collect::<Vec<_>>().concat();
        let text = format!("terraform {{\n  required_providers {{\n{entries}  }}\n}}\n");
        self.write(&format!("{directory}/main.tf"), text)
    }

    /// Writes the files of a tree. Each file begins with a line `-- path --`. The indentation of the first such line is
    /// removed from every line.
    pub fn write_tree(&self, tree: &str) -> &Self {
        for (path, text) in fixture::files(tree) {
            self.write(path, text);
        }
        self
    }

    /// Copies a tree into `work`.
    pub fn copy(&self, from: &Path, relative: &str) -> &Self {
        copy_tree(from, &self.path(relative));
        self
    }

    #[track_caller]
    pub fn read(&self, relative: &str) -> String {
        let path = self.path(relative);
        fs::read_to_string(&path).unwrap_or_else(|error| panic!("{}: {error}", path.display()))
    }

    /// Returns the lock file of a directory, if there is one.
    pub fn lock_file(&self, directory: &str) -> Option<String> {
        fs::read_to_string(self.path(directory).join(LOCK_FILE)).ok()
    }

    pub fn write_lock_file(&self, directory: &str, text: impl AsRef<[u8]>) -> &Self {
        self.write(&format!("{directory}/{LOCK_FILE}"), text)
    }

    #[track_caller]
    pub fn remove_lock_file(&self, directory: &str) -> &Self {
        let path = self.path(directory).join(LOCK_FILE);
        fs::remove_file(path).expect("the lock file exists");
        self
    }

    /// Creates a symlink with this target.
    #[cfg(unix)]
    pub fn link(&self, target: impl AsRef<Path>, relative: &str) -> &Self {
        std::os::unix::fs::symlink(target, self.path(relative)).expect("the tree is writable");
        self
    }

    /// Returns the modification time of a directory's lock file.
    pub fn lock_file_modified(&self, directory: &str) -> SystemTime {
        let metadata = fs::metadata(self.path(directory).join(LOCK_FILE));
        metadata
            .and_then(|metadata| metadata.modified())
            .expect("the lock file exists")
    }

    /// Returns the sorted names in a directory.
    pub fn list(&self, directory: &str) -> Vec<String> {
        let entries = fs::read_dir(self.path(directory)).expect("the directory exists");
        let name = |entry: Result<fs::DirEntry, _>| entry.map(|entry| entry.file_name());
        let mut names: Vec<_> = entries
            .map(|entry| {
                name(entry)
                    .expect("the directory is accessible")
                    .to_string_lossy()
                    .into_owned()
            })
            .collect();
        names.sort();
        names
    }

    /// Returns a command that runs the binary under test in `work` with these arguments.
    pub fn tflock<'a>(&self, arguments: impl IntoIterator<Item = &'a str>) -> Program {
        self.program(&self.tflock)
            .env("TFLOCK_CACHE_DIR", self.cache())
            .env("NO_COLOR", "1")
            .args(arguments)
    }

    /// Returns a command that runs the binary under test in `work`. Spaces in `line` separate the arguments.
    pub fn command(&self, line: &str) -> Program {
        self.tflock(line.split_whitespace())
    }

    /// Runs the binary under test in `work`. Spaces in `line` separate the arguments.
    pub fn run(&self, line: &str) -> Outcome {
        self.command(line).run()
    }

    /// Returns a command that runs `terraform` in `directory` with an empty data directory; see [`terraform_on_path`].
    pub fn terraform<'a>(
        &self,
        directory: &str,
        arguments: impl IntoIterator<Item = &'a str>,
    ) -> Option<Program> {
        terraform_on_path().map(|path| self.tool(&path, directory, arguments))
    }

    /// Returns a command that runs the real `tofu` in the same way.
    pub fn tofu<'a>(
        &self,
        directory: &str,
        arguments: impl IntoIterator<Item = &'a str>,
    ) -> Option<Program> {
        tofu_on_path().map(|path| self.tool(&path, directory, arguments))
    }

    /// Returns a command that runs `terraform` or `tofu`, whichever `engine` names.
    pub fn engine<'a>(
        &self,
        engine: &str,
        directory: &str,
        arguments: impl IntoIterator<Item = &'a str>,
    ) -> Option<Program> {
        match engine {
            "tofu" => self.tofu(directory, arguments),
            _ => self.terraform(directory, arguments),
        }
    }

    fn tool<'a>(
        &self,
        path: &Path,
        directory: &str,
        arguments: impl IntoIterator<Item = &'a str>,
    ) -> Program {
        let data = TempDir::with_prefix_in("data", self.root.path()).expect("the tree is writable");
        self.program(path)
            .env("CHECKPOINT_DISABLE", "1")
            .env("TF_IN_AUTOMATION", "1")
            .env("TF_DATA_DIR", data.keep())
            .current_dir(self.path(directory))
            .args(arguments)
    }

    /// Returns a command that runs another program in `directory`.
    pub fn other(&self, path: &Path, directory: &str) -> Program {
        self.program(path).current_dir(self.path(directory))
    }

    fn program(&self, path: &Path) -> Program {
        let root = self.root.path();
        let mut program = Program::new(path, self.filters.clone())
            .env("HOME", root.join("home"))
            .env("USERPROFILE", root.join("home"))
            .env("APPDATA", root.join("home"))
            // The tools search for implied mirrors in this directory.
            .env("XDG_DATA_DIRS", root.join("share"))
            .env("TF_CLI_CONFIG_FILE", root.join("home/terraform.rc"))
            // Decoding the system's certificates would take half the time of a short run.
            .env("SSL_CERT_FILE", root.join("home/none.pem"))
            .env("SSL_CERT_DIR", root.join("certificates"))
            .current_dir(self.work());
        // Windows needs these variables to open sockets and temporary files.
        for name in ["PATH", "SystemRoot", "TEMP", "TMP"] {
            if let Some(value) = std::env::var_os(name) {
                program = program.env(name, value);
            }
        }
        program
    }
}

/// Copies a tree of directories and regular files.
fn copy_tree(from: &Path, to: &Path) {
    fs::create_dir_all(to).expect("the tree is writable");
    for entry in fs::read_dir(from).unwrap_or_else(|error| panic!("{}: {error}", from.display())) {
        let entry = entry.expect("test data is readable");
        let target = to.join(entry.file_name());
        if entry.path().is_dir() {
            copy_tree(&entry.path(), &target);
        } else {
            fs::copy(entry.path(), target).expect("test data is readable");
        }
    }
}
