//! Parses the source of a unit. See section 4 of docs/rules/terragrunt.md.
//!
//! Terragrunt reads sources like module sources, with three differences: any text that is not an address is a path, `tfr://` names
//! a module in a registry, and web addresses of code hosts are git repositories.

use std::path::{Path, PathBuf};

use crate::config::{
    ModuleSource, RegistrySource, SourceError, clean, clean_subdirectory, split_subdirectory,
};
use crate::provider::{Engine, Hostname, ModuleVersion, ModuleVersionConstraints};

/// Where the files of a unit's root module come from.
#[derive(Debug)]
pub(super) enum ParsedSource {
    Local {
        /// The directory to copy, relative to the unit or absolute.
        package: PathBuf,
        /// The root module in the package. Empty for the package itself.
        root: PathBuf,
    },
    Remote(ModuleSource, Option<ModuleVersionConstraints>),
}

#[derive(Debug, thiserror::Error)]
pub(super) enum SourceProblem {
    #[error(transparent)]
    Source(#[from] SourceError),
    #[error(
        "an address in a registry has the form `tfr://HOST/NAMESPACE/NAME/SYSTEM?version=VERSION`"
    )]
    Registry,
    #[error("`version` must be an exact version, but it is `{0}`")]
    Version(String),
}

/// The hosts whose web addresses are git repositories.
const CODE_HOSTS: [&str; 3] = ["github.com/", "gitlab.com/", "bitbucket.org/"];

/// Parses a source. `default_host` is the registry of addresses without a host.
pub(super) fn parse(
    text: &str,
    engine: Engine,
    default_host: &str,
) -> Result<ParsedSource, SourceProblem> {
    if let Some(address) = text.strip_prefix("tfr://") {
        let (source, versions) = registry(address, default_host)?;
        return Ok(ParsedSource::Remote(source, versions));
    }
    match ModuleSource::parse(&code_host(text), engine) {
        Ok(source @ ModuleSource::Remote(_)) if local_path(&source).is_none() => {
            Ok(ParsedSource::Remote(source, None))
        }
        Err(error @ SourceError::SubdirectoryEscapes(_)) => Err(error.into()),
        _ => local(text),
    }
}

/// Returns the path of a remote source that is a `file://` URL without a getter.
fn local_path(source: &ModuleSource) -> Option<&str> {
    match source {
        ModuleSource::Remote(address) => address.strip_prefix("file://"),
        ModuleSource::Local(_) | ModuleSource::Registry(_) => None,
    }
}

/// Converts the web address of a repository on a code host to its shorthand, and completes the shorthand of GitLab.
fn code_host(text: &str) -> String {
    let web = ["https://", "http://"];
    let short = web.iter().find_map(|scheme| text.strip_prefix(scheme));
    let short = short.unwrap_or(text);
    let Some(host) = CODE_HOSTS.into_iter().find(|host| short.starts_with(host)) else {
        return text.to_owned();
    };
    if host != "gitlab.com/" {
        return short.to_owned();
    }
    let (address, query) = short.split_at(short.find('?').unwrap_or(short.len()));
    let (repository, below) = address.split_once("//").unwrap_or((address, ""));
    let repository = repository.trim_end_matches('/').trim_end_matches(".git");
    let below = if below.is_empty() {
        String::new()
    } else {
        format!("//{below}")
    };
    format!("git::https://{repository}.git{below}{query}")
}

fn local(text: &str) -> Result<ParsedSource, SourceProblem> {
    let path = text.strip_prefix("file://").unwrap_or(text);
    let path = path.split('?').next().unwrap_or_default();
    let (package, below) = path.split_once("//").unwrap_or((path, ""));
    let root = clean_subdirectory(below.trim_matches('/'))?;
    let root = root.filter(|root| root != ".").unwrap_or_default();
    let package = if package.is_empty() && path.starts_with('/') {
        Path::new("/")
    } else {
        Path::new(package)
    };
    Ok(ParsedSource::Local {
        package: clean(package),
        root: root.into(),
    })
}

/// Parses the part of a `tfr` address after the scheme. Without a version, the newest release applies.
fn registry(
    address: &str,
    default_host: &str,
) -> Result<(ModuleSource, Option<ModuleVersionConstraints>), SourceProblem> {
    let (address, query) = address.split_once('?').unwrap_or((address, ""));
    let (host, path) = address.split_once('/').ok_or(SourceProblem::Registry)?;
    let (module, subdirectory) = split_subdirectory(path);
    let [namespace, name, system] = module.split('/').collect::<Vec<_>>()[..] else {
        return Err(SourceProblem::Registry);
    };
    if [namespace, name, system].contains(&"") {
        return Err(SourceProblem::Registry);
    }
    let host = if host.is_empty() { default_host } else { host };
    let source = RegistrySource {
        host: Hostname::parse(host).map_err(|_invalid| SourceProblem::Registry)?,
        namespace: namespace.to_owned(),
        name: name.to_owned(),
        system: system.to_owned(),
        subdirectory: clean_subdirectory(subdirectory)?,
    };
    Ok((ModuleSource::Registry(source), version(query)?))
}

fn version(query: &str) -> Result<Option<ModuleVersionConstraints>, SourceProblem> {
    let mut parameters = query.split('&');
    let Some(text) = parameters.find_map(|parameter| parameter.strip_prefix("version=")) else {
        return Ok(None);
    };
    let invalid = || SourceProblem::Version(text.to_owned());
    ModuleVersion::parse(text).map_err(|_invalid| invalid())?;
    let versions = ModuleVersionConstraints::parse(text).map_err(|_invalid| invalid())?;
    Ok(Some(versions))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn describe(text: &str) -> String {
        match parse(text, Engine::Terraform, "default.test") {
            Ok(ParsedSource::Local { package, root }) => {
                format!("{} + {}", package.display(), root.display())
            }
            Ok(ParsedSource::Remote(source, versions)) => match versions {
                Some(versions) => format!("{source} {versions}"),
                None => source.to_string(),
            },
            Err(error) => error.to_string(),
        }
    }

    #[test]
    fn sources_are_paths_unless_they_are_addresses() {
        for (text, expected) in [
            (".", ". + "),
            ("../m", "../m + "),
            ("m", "m + "),
            ("a/b/c", "a/b/c + "),
            ("../../modules//m", "../../modules + m"),
            ("../../modules//m/", "../../modules + m"),
            ("../../modules///m", "../../modules + m"),
            ("../m//.", "../m + "),
            ("../m?ref=v1", "../m + "),
            ("/srv/m//a/../b", "/srv/m + b"),
            ("file:///srv//m?x=y", "/srv + m"),
            (
                "../m//../x",
                "the subdirectory `../x` points outside the module package",
            ),
            (
                "github.com/o/r//m?ref=v1",
                "git::https://github.com/o/r.git//m?ref=v1",
            ),
            (
                "https://github.com/o/r//m?ref=v1",
                "git::https://github.com/o/r.git//m?ref=v1",
            ),
            (
                "gitlab.com/g/s/r//m?ref=v1",
                "git::https://gitlab.com/g/s/r.git//m?ref=v1",
            ),
            (
                "git@github.com:o/r.git//m",
                "git::ssh://git@github.com/o/r.git//m",
            ),
            (
                "git::file:///srv/r//m?ref=v1",
                "git::file:///srv/r//m?ref=v1",
            ),
            ("https://h.test/m.zip//m", "https://h.test/m.zip//m"),
            ("s3::https://h.test/b/m.zip", "s3::https://h.test/b/m.zip"),
            (
                "tfr://h.test/n/m/s//sub?version=1.2.3",
                "h.test/n/m/s//sub 1.2.3",
            ),
            ("tfr:///n/m/s?version=1.2.3", "default.test/n/m/s 1.2.3"),
            ("tfr://h.test/n/m/s", "h.test/n/m/s"),
            (
                "tfr://h.test/n/m/s?version=~>1.0",
                "`version` must be an exact version, but it is `~>1.0`",
            ),
            (
                "tfr://h.test/n/m?version=1.0.0",
                "an address in a registry has the form `tfr://HOST/NAMESPACE/NAME/SYSTEM?version=VERSION`",
            ),
        ] {
            assert_eq!(describe(text), expected, "{text}");
        }
    }
}
