//! The paths of the CLI configuration, by engine and operating system. The files need not exist.
//!
//! Terraform reads `~/.terraformrc` and `~/.terraform.d`, or on Windows `terraform.rc` and `terraform.d` in `%APPDATA%`. OpenTofu
//! first looks for `~/.tofurc` (on Windows `tofu.rc`), then for the same files as Terraform. If a file or directory is not found,
//! OpenTofu on Unix falls back to `opentofu/tofurc` or `opentofu` in `$XDG_CONFIG_HOME`, if that is set. `TF_CLI_CONFIG_FILE`, or
//! else `TERRAFORM_CONFIG`, replaces both file and directory.

use std::path::{Path, PathBuf};

use crate::provider::{Engine, Platform};

/// The operating system and the environment variables that determine the paths. An empty variable counts as unset.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ConfigEnvironment {
    /// Whether the paths for Windows are used.
    pub is_windows: bool,
    /// `HOME`, or the account's home directory if `HOME` is unset or empty.
    pub home: Option<PathBuf>,
    pub app_data: Option<PathBuf>,
    pub xdg_config_home: Option<PathBuf>,
    pub xdg_data_home: Option<PathBuf>,
    pub cli_config_file: Option<PathBuf>,
    /// `TERRAFORM_CONFIG`, the old name of `TF_CLI_CONFIG_FILE`.
    pub terraform_config: Option<PathBuf>,
}

/// The files and directories to read.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Places {
    /// Only this file. It is reported if it does not exist.
    Named {
        file: PathBuf,
        variable: &'static str,
    },
    /// The first of `files` that exists, and all configuration files in the first of `directories` that exists.
    Default {
        files: Vec<PathBuf>,
        directories: Vec<PathBuf>,
    },
}

impl ConfigEnvironment {
    /// Returns the files and directories that an engine reads.
    pub fn places(&self, engine: Engine) -> Places {
        let overrides = [
            (&self.cli_config_file, "TF_CLI_CONFIG_FILE"),
            (&self.terraform_config, "TERRAFORM_CONFIG"),
        ];
        for (file, variable) in overrides {
            if let Some(file) = set(file.as_ref()) {
                let file = file.to_path_buf();
                return Places::Named { file, variable };
            }
        }
        let mut files = Vec::new();
        if let Some(base) = self.base() {
            let names: &[&str] = match (engine, self.is_windows) {
                (Engine::Terraform, false) => &[".terraformrc"],
                (Engine::Tofu, false) => &[".tofurc", ".terraformrc"],
                (Engine::Terraform, true) => &["terraform.rc"],
                (Engine::Tofu, true) => &["tofu.rc", "terraform.rc"],
            };
            files.extend(names.iter().map(|name| base.join(name)));
        }
        files.extend(self.xdg(engine).map(|base| base.join("tofurc")));
        Places::Default {
            files,
            directories: self.directories(engine),
        }
    }

    /// Returns the candidates for the configuration directory.
    fn directories(&self, engine: Engine) -> Vec<PathBuf> {
        let name = if self.is_windows {
            "terraform.d"
        } else {
            ".terraform.d"
        };
        let mut directories: Vec<PathBuf> =
            self.base().iter().map(|base| base.join(name)).collect();
        directories.extend(self.xdg(engine));
        directories
    }

    /// Returns the directories that may contain programs such as credentials helpers, in search order.
    pub fn plugin_directories(&self, engine: Engine, platform: &Platform) -> Vec<PathBuf> {
        let plugins = self.own_plugin_directories(engine).into_iter();
        let with_platform = plugins.flat_map(|directory| {
            let of_platform = directory.join(platform.to_string());
            [directory, of_platform]
        });
        with_platform.collect()
    }

    /// Returns the plugin directories in the user's configuration and data directories.
    fn own_plugin_directories(&self, engine: Engine) -> Vec<PathBuf> {
        let data = set(self.xdg_data_home.as_ref()).filter(|_| engine == Engine::Tofu);
        let bases = self.directories(engine).into_iter().take(1);
        let bases = bases.chain(data.map(|data| data.join("opentofu")));
        bases.map(|base| base.join("plugins")).collect()
    }

    /// Returns the directories from which `init` takes packages if there is no `provider_installation` block, in search order.
    pub fn implied_mirrors(&self, engine: Engine, working_directory: &Path) -> Vec<PathBuf> {
        let mut mirrors = vec![working_directory.join("terraform.d").join("plugins")];
        mirrors.extend(self.own_plugin_directories(engine));
        if !self.is_windows {
            let data = set(self.xdg_data_home.as_ref());
            let home = || Some(set(self.home.as_ref())?.join(".local").join("share"));
            let data = data.map(Path::to_path_buf).or_else(home);
            mirrors.extend(data.map(|data| data.join("terraform").join("plugins")));
            let system = ["/usr/local/share", "/usr/share"].map(Path::new);
            mirrors.extend(system.map(|data| data.join("terraform").join("plugins")));
        }
        mirrors
    }

    fn base(&self) -> Option<&Path> {
        set(if self.is_windows {
            self.app_data.as_ref()
        } else {
            self.home.as_ref()
        })
    }

    fn xdg(&self, engine: Engine) -> Option<PathBuf> {
        let applies = engine == Engine::Tofu && !self.is_windows;
        set(self.xdg_config_home.as_ref())
            .filter(|_| applies)
            .map(|base| base.join("opentofu"))
    }
}

fn set(path: Option<&PathBuf>) -> Option<&Path> {
    path.map(PathBuf::as_path)
        .filter(|path| !path.as_os_str().is_empty())
}

/// Whether a file with this name in the configuration directory is part of the configuration.
pub(super) fn is_config_file(name: &str) -> bool {
    let mut endings = [".tfrc", ".tfrc.json"].into_iter();
    endings.any(|ending| name.ends_with(ending))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn paths(texts: &[&str]) -> Vec<PathBuf> {
        texts.iter().map(PathBuf::from).collect()
    }

    #[test]
    fn each_engine_has_its_places() {
        let home = ConfigEnvironment {
            home: Some("/h".into()),
            ..ConfigEnvironment::default()
        };
        let xdg = ConfigEnvironment {
            xdg_config_home: Some("/x".into()),
            ..home.clone()
        };
        let rows: &[(&ConfigEnvironment, Engine, &[&str], &[&str])] = &[
            (
                &home,
                Engine::Terraform,
                &["/h/.terraformrc"],
                &["/h/.terraform.d"],
            ),
            (
                &xdg,
                Engine::Terraform,
                &["/h/.terraformrc"],
                &["/h/.terraform.d"],
            ),
            (
                &home,
                Engine::Tofu,
                &["/h/.tofurc", "/h/.terraformrc"],
                &["/h/.terraform.d"],
            ),
            (
                &xdg,
                Engine::Tofu,
                &["/h/.tofurc", "/h/.terraformrc", "/x/opentofu/tofurc"],
                &["/h/.terraform.d", "/x/opentofu"],
            ),
        ];
        for (environment, engine, files, directories) in rows {
            let expected = Places::Default {
                files: paths(files),
                directories: paths(directories),
            };
            assert_eq!(environment.places(*engine), expected);
        }
    }

    #[test]
    fn windows_keeps_them_in_appdata() {
        let windows = ConfigEnvironment {
            is_windows: true,
            app_data: Some("a".into()),
            xdg_config_home: Some("/x".into()),
            ..ConfigEnvironment::default()
        };
        let base = Path::new("a");
        let expected = Places::Default {
            files: vec![base.join("tofu.rc"), base.join("terraform.rc")],
            directories: vec![base.join("terraform.d")],
        };
        assert_eq!(windows.places(Engine::Tofu), expected);
    }

    #[test]
    fn a_named_file_replaces_everything_and_empty_is_unset() {
        let mut environment = ConfigEnvironment {
            home: Some("/h".into()),
            cli_config_file: Some("/c".into()),
            terraform_config: Some("/t".into()),
            ..ConfigEnvironment::default()
        };
        let named = |file: &str, variable| Places::Named {
            file: file.into(),
            variable,
        };
        assert_eq!(
            environment.places(Engine::Tofu),
            named("/c", "TF_CLI_CONFIG_FILE")
        );
        environment.cli_config_file = Some("".into());
        assert_eq!(
            environment.places(Engine::Tofu),
            named("/t", "TERRAFORM_CONFIG")
        );
        environment.terraform_config = None;
        assert!(matches!(
            environment.places(Engine::Tofu),
            Places::Default { .. }
        ));
    }

    #[test]
    fn helpers_are_looked_for_in_the_plugin_directories() {
        let environment = ConfigEnvironment {
            home: Some("/h".into()),
            xdg_data_home: Some("/d".into()),
            ..ConfigEnvironment::default()
        };
        let platform = Platform::parse("linux_amd64").expect("a platform");
        let expected = paths(&[
            "/h/.terraform.d/plugins",
            "/h/.terraform.d/plugins/linux_amd64",
        ]);
        assert_eq!(
            environment.plugin_directories(Engine::Terraform, &platform),
            expected
        );
        let more = paths(&["/d/opentofu/plugins", "/d/opentofu/plugins/linux_amd64"]);
        assert_eq!(
            environment.plugin_directories(Engine::Tofu, &platform),
            [expected, more].concat()
        );
    }

    #[test]
    fn implied_mirrors_begin_in_the_working_directory() {
        let environment = ConfigEnvironment {
            home: Some("/h".into()),
            ..ConfigEnvironment::default()
        };
        let expected = [
            "/w/terraform.d/plugins",
            "/h/.terraform.d/plugins",
            "/h/.local/share/terraform/plugins",
            "/usr/local/share/terraform/plugins",
            "/usr/share/terraform/plugins",
        ];
        let found = environment.implied_mirrors(Engine::Terraform, Path::new("/w"));
        assert_eq!(found, paths(&expected));
        let tofu = ConfigEnvironment {
            xdg_data_home: Some("/d".into()),
            ..environment
        };
        let found = tofu.implied_mirrors(Engine::Tofu, Path::new("/w"));
        assert_eq!(
            found[2..4],
            paths(&["/d/opentofu/plugins", "/d/terraform/plugins"])
        );
    }
}
