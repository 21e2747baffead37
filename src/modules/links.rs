//! Checks the symlinks in repositories. They must not point outside the package to other files on this machine.
//!
//! If a configuration file is such a symlink, fetching the module fails. Other symlinks that point outside the package are removed,
//! because modules do not need them. Dangling symlinks are kept, because reading them fails.

use std::fs;
use std::path::Path;

use crate::config::{has_configuration_extension, is_test_file};
use crate::redacted_url::RedactedUrl;

use super::{ModuleError, disk};

/// Checks all symlinks below `root`, a path without symlinks. `address` is used in error messages.
pub(super) fn confine(root: &Path, address: &RedactedUrl) -> Result<(), ModuleError> {
    let leads_out =
        |link: &Path| fs::canonicalize(link).is_ok_and(|target| !target.starts_with(root));
    let mut waiting = vec![root.to_path_buf()];
    while let Some(directory) = waiting.pop() {
        let failed = disk(&directory);
        for entry in fs::read_dir(&directory).map_err(failed)? {
            let entry = entry.map_err(failed)?;
            let kind = entry.file_type().map_err(failed)?;
            if kind.is_dir() {
                waiting.push(entry.path());
            } else if kind.is_symlink() && leads_out(&entry.path()) {
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

fn is_configuration(path: &Path) -> bool {
    let name = path.file_name().and_then(|name| name.to_str());
    name.is_some_and(|name| has_configuration_extension(name) || is_test_file(name))
}

#[cfg(test)]
#[cfg(unix)]
mod tests {
    use std::os::unix::fs::symlink;

    use super::*;

    #[test]
    fn symlinks_that_point_outside_the_package_are_removed_or_errors() {
        let (package, other) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
        let root = package.path().canonicalize().unwrap();
        fs::write(other.path().join("secret.tf"), "").unwrap();
        fs::create_dir_all(root.join("a/b")).unwrap();
        fs::write(root.join("a/real.tf"), "").unwrap();
        symlink("../real.tf", root.join("a/b/in.tf")).unwrap();
        symlink(other.path(), root.join("a/b/out")).unwrap();
        symlink("/nowhere/at/all", root.join("dangling.tf")).unwrap();
        let address = RedactedUrl::parse("x");
        confine(&root, &address).unwrap();
        let is_there = |path: &str| root.join(path).symlink_metadata().is_ok();
        assert!(is_there("a/b/in.tf") && is_there("dangling.tf") && !is_there("a/b/out"));

        symlink(other.path().join("secret.tf"), root.join("a/b/out.tf")).unwrap();
        let error = confine(&root, &address).unwrap_err().to_string();
        assert_eq!(
            error,
            "`a/b/out.tf` in `x` points outside the module package"
        );
    }
}
