//! Symbolic links in what git checked out: none may lead out of the package, where other files of this machine are.
//!
//! A link that would be read as configuration fails the module; others are removed, since repositories hold links for many
//! purposes that no module cares about. Links that lead nowhere are left: whoever reads them fails.

use std::fs;
use std::io;
use std::path::Path;

use crate::redacted_url::RedactedUrl;

use super::error::ModuleError;

/// What the tools read of a module directory.
const CONFIGURATION: [&str; 8] = [
    ".tf",
    ".tf.json",
    ".tofu",
    ".tofu.json",
    ".tftest.hcl",
    ".tftest.json",
    ".tofutest.hcl",
    ".tofutest.json",
];

/// Looks at everything below `root`, a real path. `address` is for messages.
pub(super) fn confine(root: &Path, address: &RedactedUrl) -> Result<(), ModuleError> {
    let mut waiting = vec![root.to_path_buf()];
    while let Some(directory) = waiting.pop() {
        let failed = |source: io::Error| ModuleError::Disk {
            path: directory.clone(),
            source,
        };
        for entry in fs::read_dir(&directory).map_err(failed)? {
            let entry = entry.map_err(failed)?;
            let kind = entry.file_type().map_err(failed)?;
            if kind.is_dir() {
                waiting.push(entry.path());
            } else if kind.is_symlink() && leads_out(root, &entry.path()) {
                let path = entry.path();
                if is_configuration(&path) {
                    let inner = path.strip_prefix(root).unwrap_or(&path);
                    return Err(ModuleError::Escapes {
                        address: address.clone(),
                        path: inner.display().to_string(),
                    });
                }
                fs::remove_file(&path).map_err(failed)?;
            }
        }
    }
    Ok(())
}

fn leads_out(root: &Path, link: &Path) -> bool {
    fs::canonicalize(link).is_ok_and(|target| !target.starts_with(root))
}

fn is_configuration(path: &Path) -> bool {
    let name = path.file_name().and_then(|name| name.to_str());
    name.is_some_and(|name| CONFIGURATION.iter().any(|ending| name.ends_with(ending)))
}

#[cfg(all(test, unix))]
mod tests {
    use std::os::unix::fs::symlink;

    use super::*;

    #[test]
    fn links_lead_to_the_package_or_are_gone() {
        let (package, other) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
        let root = package.path().canonicalize().unwrap();
        fs::write(other.path().join("secret.tf"), "").unwrap();
        fs::create_dir_all(root.join("a/b")).unwrap();
        fs::write(root.join("a/real.tf"), "").unwrap();
        symlink("../real.tf", root.join("a/b/in.tf")).unwrap();
        symlink(other.path(), root.join("a/b/out")).unwrap();
        symlink("/nowhere/at/all", root.join("dangling.tf")).unwrap();
        confine(&root, &RedactedUrl::parse("x")).unwrap();
        let is_there = |path: &str| root.join(path).symlink_metadata().is_ok();
        assert!(is_there("a/b/in.tf") && is_there("dangling.tf") && !is_there("a/b/out"));

        symlink(other.path().join("secret.tf"), root.join("a/b/out.tf")).unwrap();
        let error = confine(&root, &RedactedUrl::parse("x"))
            .unwrap_err()
            .to_string();
        assert_eq!(error, "`a/b/out.tf` in `x` leads out of the module package");
    }
}
