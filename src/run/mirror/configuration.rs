//! The CLI configuration that makes Terraform and OpenTofu install providers from the mirror.
//!
//! The `filesystem_mirror` or `oci_mirror` block includes the mirrored providers by name, and the `direct` block excludes the same names. Without
//! the exclusion, `init` would also query the registries and install newer versions from there.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write as _;
use std::path::{Path, PathBuf};
use std::{fs, io};

use crate::access::{LinkError, confine};
use crate::mirror::{self, MirrorDirectory, MirrorError};
use crate::oci::UriTemplate;
use crate::provider::ProviderAddr;

/// The first line of the files that tflock may replace.
const MARK: &str = "# Written by `tflock mirror --cli-config`, which replaces this file.\n";

/// Returns the configuration for the current content of the mirror.
pub(super) fn text(
    directory: &MirrorDirectory,
    working_directory: &Path,
) -> Result<String, MirrorError> {
    let base = directory.base();
    let listed = mirror::list(base).map_err(|source| MirrorError::Read {
        path: base.to_path_buf(),
        source,
    })?;
    let mut providers: Vec<ProviderAddr> = listed
        .into_iter()
        .map(|listed| listed.id.provider)
        .collect();
    providers.sort();
    providers.dedup();
    let path = fs::canonicalize(base).unwrap_or_else(|_| working_directory.join(base));
    Ok(render(&path, &providers))
}

/// Writes the file. If it exists and was not written by tflock, leaves it unchanged and returns its real path.
pub(super) fn write(path: &Path, text: &str) -> Result<Option<PathBuf>, MirrorError> {
    let failed = |source| MirrorError::Write {
        path: path.to_path_buf(),
        source,
    };
    let refused = |error| match error {
        LinkError::Read(error) => error,
        error => io::Error::other(error),
    };
    let path = &confine(path).map_err(refused).map_err(failed)?;
    let text = format!("{MARK}{text}");
    match fs::read_to_string(path) {
        Ok(old) if old == text => return Ok(None),
        Ok(old) if !old.starts_with(MARK) => return Ok(Some(path.clone())),
        Err(error) if error.kind() == io::ErrorKind::InvalidData => {
            return Ok(Some(path.clone()));
        }
        Err(error) if error.kind() != io::ErrorKind::NotFound => return Err(failed(error)),
        _ => {}
    }
    fs::write(path, text).map_err(failed)?;
    Ok(None)
}

fn render(base: &Path, providers: &[ProviderAddr]) -> String {
    let path = quoted(&base.to_string_lossy());
    let all: Vec<_> = providers.iter().collect();
    let mut text = String::from("provider_installation {\n");
    if !providers.is_empty() {
        let include = list("include", &all);
        let _ = write!(
            text,
            "  filesystem_mirror {{\n    path = {path}\n{include}  }}\n"
        );
    }
    text + &direct(&all)
}

/// Returns the configuration of a mirror in an OCI registry that has these providers.
///
/// OpenTofu allows a template without `hostname`, `namespace` or `type` only if all providers of the block have the same value
/// for it, so each value gets its own block.
pub(super) fn text_for_registry(
    template: &UriTemplate,
    providers: &BTreeSet<ProviderAddr>,
) -> String {
    let part = |name: &str, value: &str| {
        let is_fixed = !template.has_variable(name);
        is_fixed.then(|| value.to_owned())
    };
    let mut blocks: BTreeMap<_, Vec<&ProviderAddr>> = BTreeMap::new();
    for provider in providers {
        let parts = [
            part("hostname", provider.hostname.as_ascii()),
            part("namespace", &provider.namespace),
            part("type", &provider.type_name),
        ];
        blocks.entry(parts).or_default().push(provider);
    }
    let mut text = String::from("provider_installation {\n");
    for block in blocks.values() {
        let (template, include) = (template.to_hcl(), list("include", block));
        let _ = write!(
            text,
            "  oci_mirror {{\n    repository_template = {template}\n{include}  }}\n"
        );
    }
    text + &direct(&providers.iter().collect::<Vec<_>>())
}

/// Returns the block for all other providers, and the end of the configuration.
fn direct(mirrored: &[&ProviderAddr]) -> String {
    format!("  direct {{\n{}  }}\n}}\n", list("exclude", mirrored))
}

fn list(name: &str, providers: &[&ProviderAddr]) -> String {
    let names = providers
        .iter()
        .map(|provider| format!("      {}", quoted(&provider.to_string())));
    let names: Vec<String> = names.collect();
    match names.as_slice() {
        // Only `exclude` can be empty. An empty `include` would mean all providers.
        [] => format!("    {name} = []\n"),
        names => format!("    {name} = [\n{},\n    ]\n", names.join(",\n")),
    }
}

/// Formats an HCL string, in which `\` and `"` are escaped.
fn quoted(text: &str) -> String {
    format!("\"{}\"", text.replace('\\', "\\\\").replace('"', "\\\""))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::provider::Engine;

    fn providers(sources: &[&str]) -> Vec<ProviderAddr> {
        let parse = |source: &&str| ProviderAddr::parse(source, Engine::Terraform).unwrap();
        sources.iter().map(parse).collect()
    }

    #[test]
    fn registries_exclude_what_the_mirror_includes() {
        let text = render(
            Path::new("/srv/a \"b\""),
            &providers(&["acme/anvil", "bücher.test/a/b"]),
        );
        let expected = r#"provider_installation {
  filesystem_mirror {
    path = "/srv/a \"b\""
    include = [
      "registry.terraform.io/acme/anvil",
      "bücher.test/a/b",
    ]
  }
  direct {
    exclude = [
      "registry.terraform.io/acme/anvil",
      "bücher.test/a/b",
    ]
  }
}
"#;
        assert_eq!(text, expected);
    }

    /// A mirror without `include` would apply to all providers.
    #[test]
    fn an_empty_mirror_is_not_named() {
        let text = render(Path::new("/srv"), &[]);
        assert_eq!(
            text,
            "provider_installation {\n  direct {\n    exclude = []\n  }\n}\n"
        );
    }

    #[test]
    fn each_value_of_a_missing_variable_gets_its_own_block() {
        let template = UriTemplate::parse("h.test/{namespace}/x-{type}").unwrap();
        let providers = providers(&["acme/anvil", "r.test/a/b", "acme/rope"]);
        let text = text_for_registry(&template, &providers.into_iter().collect());
        let expected = r#"provider_installation {
  oci_mirror {
    repository_template = "h.test/${namespace}/x-${type}"
    include = [
      "r.test/a/b",
    ]
  }
  oci_mirror {
    repository_template = "h.test/${namespace}/x-${type}"
    include = [
      "registry.terraform.io/acme/anvil",
      "registry.terraform.io/acme/rope",
    ]
  }
  direct {
    exclude = [
      "r.test/a/b",
      "registry.terraform.io/acme/anvil",
      "registry.terraform.io/acme/rope",
    ]
  }
}
"#;
        assert_eq!(text, expected);
    }

    #[test]
    fn only_files_of_tflock_are_replaced() {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("a.tfrc");
        assert_eq!(write(&path, "one").unwrap(), None);
        assert_eq!(write(&path, "two").unwrap(), None);
        assert_eq!(fs::read_to_string(&path).unwrap(), format!("{MARK}two"));
        for own in ["credentials \"h\" {}\n".as_bytes(), b"\xff"] {
            fs::write(&path, own).unwrap();
            assert_eq!(write(&path, "three").unwrap(), Some(path.clone()));
            assert_eq!(fs::read(&path).unwrap(), own);
        }
    }
}
