//! The settings of the disk cache.

use std::path::PathBuf;

use crate::cli::CacheArgs;

use super::Environment;

/// The name of tflock's directory in the system's cache directory.
const DIRECTORY: &str = "tflock";

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CacheSettings {
    pub usage: CacheUsage,
    /// The cache directory. `None` if the environment does not determine one.
    pub directory: Option<PathBuf>,
    /// Whether requests are forbidden (`--offline`).
    pub offline: bool,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CacheUsage {
    /// Do not use the cache (`--no-cache`).
    None,
    /// Use only entries that can never become outdated (`--refresh`).
    Refresh,
    /// Use all entries.
    All,
}

impl CacheSettings {
    pub fn resolve(args: &CacheArgs, environment: &Environment) -> Self {
        Self {
            usage: match (args.no_cache, args.refresh) {
                (true, _) => CacheUsage::None,
                (false, true) => CacheUsage::Refresh,
                (false, false) => CacheUsage::All,
            },
            directory: cache_directory(environment),
            offline: args.offline,
        }
    }
}

/// Returns `TFLOCK_CACHE_DIR`, or `tflock` in the system's cache directory.
pub fn cache_directory(environment: &Environment) -> Option<PathBuf> {
    if let Some(named) = environment.non_empty("TFLOCK_CACHE_DIR") {
        return Some(environment.working_directory.join(named));
    }
    let caches = if cfg!(windows) {
        environment.non_empty("LOCALAPPDATA").map(PathBuf::from)
    } else if cfg!(target_os = "macos") {
        environment.home().map(|home| home.join("Library/Caches"))
    } else {
        xdg_caches(environment)
    };
    Some(caches?.join(DIRECTORY))
}

/// Returns the XDG cache directory. As the XDG specification requires, a relative path is ignored.
fn xdg_caches(environment: &Environment) -> Option<PathBuf> {
    let named = environment.non_empty("XDG_CACHE_HOME").map(PathBuf::from);
    let named = named.filter(|path| path.is_absolute());
    named.or_else(|| environment.home().map(|home| home.join(".cache")))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn environment(variables: &[(&str, &str)]) -> Environment {
        let variables = variables.iter();
        let variables = variables.map(|(name, value)| (name.into(), value.into()));
        Environment::new(variables, "/here".into())
    }

    #[cfg(all(unix, not(target_os = "macos")))]
    #[test]
    fn the_directory_is_configured_or_the_system_default() {
        for row in [
            "TFLOCK_CACHE_DIR=/c XDG_CACHE_HOME=/x | /c",
            "TFLOCK_CACHE_DIR=c | /here/c",
            "TFLOCK_CACHE_DIR= XDG_CACHE_HOME=/x | /x/tflock",
            "XDG_CACHE_HOME=x HOME=/h | /h/.cache/tflock",
            "XDG_CACHE_HOME= HOME=/h | /h/.cache/tflock",
            "HOME=/h | /h/.cache/tflock",
        ] {
            let (variables, expected) = row.split_once(" | ").unwrap();
            let variables = variables.split(' ').filter_map(|text| text.split_once('='));
            let found = cache_directory(&environment(&variables.collect::<Vec<_>>()));
            assert_eq!(found, Some(PathBuf::from(expected)), "{row}");
        }
    }

    #[test]
    fn options_select_how_the_cache_is_used() {
        let rows = [
            (false, false, CacheUsage::All),
            (false, true, CacheUsage::Refresh),
            (true, false, CacheUsage::None),
        ];
        for (no_cache, refresh, expected) in rows {
            let args = CacheArgs {
                refresh,
                no_cache,
                offline: false,
            };
            let settings = CacheSettings::resolve(&args, &environment(&[]));
            assert_eq!((settings.usage, settings.offline), (expected, false));
        }
    }
}
