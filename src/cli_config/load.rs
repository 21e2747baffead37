//! Reads the files that [`places`](crate::cli_config::places) names.

use std::fs;
use std::io::{self, Read};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use crate::cli_config::places::{ConfigEnvironment, Places, is_config_file};
use crate::cli_config::{Builder, CliConfig, CliConfigError};
use crate::provider::Engine;

/// The largest file that is read, in bytes. Real ones have a few kilobytes; a wrong path must not fill the memory.
const MAX_FILE_SIZE: u64 = 1024 * 1024;

/// The outcome of [`load`].
#[derive(Debug, Default)]
pub struct Loaded {
    /// The settings of all readable parts.
    pub config: CliConfig,
    /// The errors in all other parts.
    pub errors: Vec<CliConfigError>,
    /// The files that were read, in order.
    pub files: Vec<PathBuf>,
}

/// Reads and merges all files of the CLI configuration. Only the file that the environment names must exist.
pub fn load(environment: &ConfigEnvironment, engine: Engine) -> Loaded {
    let mut loader = Loader::default();
    match environment.places(engine) {
        Places::Named { file, variable } => {
            if !loader.file(&file) {
                loader.builder.fail(CliConfigError::Missing {
                    path: file,
                    variable,
                });
            }
        }
        Places::Default { files, directories } => {
            for file in files {
                if loader.file(&file) {
                    break;
                }
            }
            if let Some(directory) = directories.iter().find(|directory| directory.is_dir()) {
                loader.directory(directory);
            }
        }
    }
    let (config, errors) = loader.builder.finish();
    Loaded {
        config,
        errors,
        files: loader.files,
    }
}

#[derive(Default)]
struct Loader {
    builder: Builder,
    files: Vec<PathBuf>,
}

impl Loader {
    /// Adds a file. Returns whether it exists, readable or not.
    fn file(&mut self, path: &Path) -> bool {
        match read(path) {
            Ok(text) if text.len() as u64 > MAX_FILE_SIZE => {
                self.builder.fail(CliConfigError::TooLarge {
                    path: path.to_path_buf(),
                    limit: MAX_FILE_SIZE,
                });
            }
            Ok(text) => {
                self.builder.add(path, &text);
                self.files.push(path.to_path_buf());
            }
            Err(error) if error.kind() == io::ErrorKind::NotFound => return false,
            Err(source) => self.fail(path, source),
        }
        true
    }

    fn directory(&mut self, directory: &Path) {
        let entries =
            match fs::read_dir(directory).and_then(Iterator::collect::<io::Result<Vec<_>>>) {
                Ok(entries) => entries,
                Err(source) => return self.fail(directory, source),
            };
        let mut names: Vec<_> = entries.iter().map(fs::DirEntry::file_name).collect();
        names.sort();
        for name in names {
            if name.to_str().is_some_and(is_config_file) {
                self.file(&directory.join(name));
            }
        }
    }

    fn fail(&mut self, path: &Path, source: io::Error) {
        self.builder.fail(CliConfigError::Read {
            path: path.to_path_buf(),
            source: Arc::new(source),
        });
    }
}

/// Reads at most one byte more than the limit.
fn read(path: &Path) -> io::Result<Vec<u8>> {
    let mut text = Vec::new();
    fs::File::open(path)?
        .take(MAX_FILE_SIZE + 1)
        .read_to_end(&mut text)?;
    Ok(text)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::provider::Hostname;

    /// Creates the files. Each contains a token equal to its own name.
    fn home(files: &[&str]) -> tempfile::TempDir {
        let home = tempfile::tempdir().expect("a directory");
        for file in files {
            let path = home.path().join(file);
            fs::create_dir_all(path.parent().expect("below the home")).expect("a directory");
            let text = match file.strip_suffix(".json") {
                Some(_) => format!("{{\"credentials\":{{\"h.test\":{{\"token\":\"{file}\"}}}}}}"),
                None => format!("credentials \"h.test\" {{ token = \"{file}\" }}"),
            };
            fs::write(path, text).expect("a file");
        }
        home
    }

    fn environment(home: &Path) -> ConfigEnvironment {
        ConfigEnvironment {
            home: Some(home.to_path_buf()),
            xdg_config_home: Some(home.join("x")),
            ..ConfigEnvironment::default()
        }
    }

    #[test]
    fn the_last_file_takes_precedence() {
        // engine | files | the file whose token applies
        for row in [
            "terraform | | none",
            "terraform | .terraformrc | .terraformrc",
            "terraform | .terraformrc .tofurc | .terraformrc",
            "terraform | .terraformrc .terraform.d/b.tfrc .terraform.d/a.tfrc.json .terraform.d/c.txt | .terraform.d/b.tfrc",
            "terraform | .terraform.d/credentials.tfrc.json x/opentofu/z.tfrc | .terraform.d/credentials.tfrc.json",
            "tofu | .terraformrc | .terraformrc",
            "tofu | .terraformrc .tofurc | .tofurc",
            "tofu | x/opentofu/tofurc | x/opentofu/tofurc",
            "tofu | .tofurc x/opentofu/tofurc | .tofurc",
            "tofu | .tofurc x/opentofu/z.tfrc | x/opentofu/z.tfrc",
            "tofu | .terraform.d/a.tfrc x/opentofu/z.tfrc | .terraform.d/a.tfrc",
        ] {
            let cells: Vec<&str> = row.split('|').map(str::trim).collect();
            let engine = match cells[0] {
                "tofu" => Engine::Tofu,
                _ => Engine::Terraform,
            };
            let home = home(&cells[1].split_whitespace().collect::<Vec<_>>());
            let loaded = load(&environment(home.path()), engine);
            assert!(loaded.errors.is_empty());
            let host = Hostname::parse("h.test").expect("a host");
            let token = loaded
                .config
                .credentials
                .get(&host)
                .and_then(|block| block.token.as_deref());
            assert_eq!(token.unwrap_or("none"), cells[2], "{row}");
        }
    }

    #[test]
    fn a_named_file_replaces_the_others_and_may_be_missing() {
        let home = home(&[".terraformrc", ".terraform.d/a.tfrc", "named"]);
        let named = |name: &str| ConfigEnvironment {
            cli_config_file: Some(home.path().join(name)),
            ..environment(home.path())
        };
        let loaded = load(&named("named"), Engine::Terraform);
        assert_eq!(loaded.files, [home.path().join("named")]);
        let loaded = load(&named("none"), Engine::Terraform);
        assert!(loaded.files.is_empty());
        assert!(matches!(
            loaded.errors[..],
            [CliConfigError::Missing { .. }]
        ));
    }

    #[test]
    fn unreadable_files_are_errors() {
        let home = home(&[".terraformrc/x"]);
        let loaded = load(&environment(home.path()), Engine::Terraform);
        assert!(matches!(loaded.errors[..], [CliConfigError::Read { .. }]));
        let large = home.path().join("large");
        fs::write(
            &large,
            vec![b'#'; usize::try_from(MAX_FILE_SIZE).expect("small") + 1],
        )
        .expect("a file");
        let environment = ConfigEnvironment {
            cli_config_file: Some(large),
            ..ConfigEnvironment::default()
        };
        let loaded = load(&environment, Engine::Terraform);
        assert!(matches!(
            loaded.errors[..],
            [CliConfigError::TooLarge { .. }]
        ));
    }
}
