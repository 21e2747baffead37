//! Finds the module calls in a directory whose configuration is invalid, for example because of a syntax error.
//!
//! A called module gets no lock file, even while its caller is invalid. Only sources that are literal strings are found.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

use super::module_files::{is_configuration, list, read};

/// Returns the real paths of the local modules that the files in `directory` name. Files that cannot be read are skipped.
pub fn literal_local_sources(directory: &Path) -> BTreeSet<PathBuf> {
    let names = list(directory).unwrap_or_default().into_iter();
    let files = names.filter(|(name, is_directory)| !is_directory && is_configuration(name));
    let texts = files.filter_map(|(name, _)| read(&directory.join(name)).ok());
    let mut found = BTreeSet::new();
    for text in texts {
        let text = String::from_utf8_lossy(&text);
        let paths = local_sources(&text).map(|source| directory.join(source));
        found.extend(paths.filter_map(|path| path.canonicalize().ok()));
    }
    found
}

/// Returns the values of all arguments and properties called `source` that are local paths.
fn local_sources(text: &str) -> impl Iterator<Item = &str> {
    let word = "source";
    let after = text
        .match_indices(word)
        .map(move |(at, _)| &text[at + word.len()..]);
    after.filter_map(|rest| {
        let rest = rest.strip_prefix('"').unwrap_or(rest).trim_start();
        let value = rest.strip_prefix(['=', ':'])?.trim_start();
        let (source, _) = value.strip_prefix('"')?.split_once('"')?;
        (source.starts_with("./") || source.starts_with("../")).then_some(source)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sources_are_found_in_invalid_text() {
        let text = "
            module \"a\" { source = \"./a\"
            module \"b\" {
              source=\"../b\" # cut off
            {\"module\": {\"c\": {\"source\": \"../../c\"}}
            module \"d\" { source = \"acme/d/aws\" }
            data_source = \"\" sources = [\"./e\"] source = var.f source = \"./g
        ";
        let found: Vec<&str> = local_sources(text).collect();
        assert_eq!(found, ["./a", "../b", "../../c"]);
    }
}
