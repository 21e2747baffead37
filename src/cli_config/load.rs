//! Reads the files that [`places`](crate::cli_config::places) names.

use std::fs;
use std::io::{self, Read};
use std::path::Path;
use std::sync::Arc;

use crate::cli_config::places::{ConfigEnvironment, Places, is_config_file};
use crate::cli_config::{Builder, CliConfig, CliConfigError};
use crate::provider::Engine;

/// The maximum size of a file, in bytes. Typical files are a few kilobytes long. The limit saves memory if a path names the wrong file.
const MAX_FILE_SIZE: u64 = 1024 * 1024;

/// Reads and merges all files of the CLI configuration. Only a file named by an environment variable must exist. Returns all valid
/// settings, and the errors in the others.
pub fn load(environment: &ConfigEnvironment, engine: Engine) -> (CliConfig, Vec<CliConfigError>) {
    let mut builder = Builder::for_engine(engine);
    match environment.places(engine) {
        Places::Named { file, variable } => {
            if !builder.add_file(&file) {
                builder.fail(CliConfigError::Missing {
                    path: file,
                    variable,
                });
            }
        }
        Places::Default { files, directories } => {
            for file in files {
                if builder.add_file(&file) {
                    break;
                }
            }
            if let Some(directory) = directories.iter().find(|directory| directory.is_dir()) {
                builder.add_directory(directory);
            }
        }
    }
    builder.finish()
}

impl Builder {
    /// Adds a file. Returns whether it exists, even if it cannot be read.
    fn add_file(&mut self, path: &Path) -> bool {
        match read(path) {
            Ok(text) if text.len() as u64 > MAX_FILE_SIZE => {
                self.fail(CliConfigError::TooLarge {
                    path: path.to_path_buf(),
                    limit: MAX_FILE_SIZE,
                });
            }
            Ok(text) => self.add(path, &text),
            Err(error) if error.kind() == io::ErrorKind::NotFound => return false,
            Err(source) => self.fail_to_read(path, source),
        }
        true
    }

    fn add_directory(&mut self, directory: &Path) {
        let entries =
            match fs::read_dir(directory).and_then(Iterator::collect::<io::Result<Vec<_>>>) {
                Ok(entries) => entries,
                Err(source) => return self.fail_to_read(directory, source),
            };
        let mut names: Vec<_> = entries.iter().map(fs::DirEntry::file_name).collect();
        names.sort();
        for name in names {
            if name.to_str().is_some_and(is_config_file) {
                self.add_file(&directory.join(name));
            }
        }
    }

    fn fail_to_read(&mut self, path: &Path, source: io::Error) {
        self.fail(CliConfigError::Read {
            path: path.to_path_buf(),
            source: Arc::new(source),
        });
    }
}

/// Reads a file, but at most one byte more than the limit, so that the caller can recognize a file that is too large.
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

    /// Creates the files in a temporary home directory. Each contains its own name as a token.
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

    fn token(config: &CliConfig) -> &str {
        let block = config
            .credentials
            .get(&Hostname::parse("h.test").expect("a host"));
        block
            .and_then(|block| block.token.as_deref())
            .unwrap_or("none")
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
            let (config, errors) = load(&environment(home.path()), engine);
            assert!(errors.is_empty());
            assert_eq!(token(&config), cells[2], "{row}");
        }
    }

    #[test]
    fn a_named_file_replaces_the_others_and_may_be_missing() {
        let home = home(&[".terraformrc", ".terraform.d/a.tfrc", "named"]);
        let named = |name: &str| ConfigEnvironment {
            cli_config_file: Some(home.path().join(name)),
            ..environment(home.path())
        };
        let (config, _) = load(&named("named"), Engine::Terraform);
        assert_eq!(token(&config), "named");
        let (config, errors) = load(&named("none"), Engine::Terraform);
        assert_eq!(token(&config), "none");
        assert!(matches!(errors[..], [CliConfigError::Missing { .. }]));
    }

    #[test]
    fn unreadable_files_are_errors() {
        let home = home(&[".terraformrc/x"]);
        let (_, errors) = load(&environment(home.path()), Engine::Terraform);
        assert!(matches!(errors[..], [CliConfigError::Read { .. }]));
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
        let (_, errors) = load(&environment, Engine::Terraform);
        assert!(matches!(errors[..], [CliConfigError::TooLarge { .. }]));
    }
}
