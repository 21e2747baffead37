//! Finds the files that git ignores, and the patterns that match them.

use std::io;
use std::path::{Path, PathBuf};

use super::error::GitError;
use super::problem::GitProblem;
use super::repository::Repository;
use super::settings::GitSettings;

/// A file that git ignores.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct IgnoredFile {
    /// The path of the file, as requested.
    pub file: PathBuf,
    /// The file that contains the pattern, relative to the repository root or absolute.
    pub source: PathBuf,
    /// The line number of the pattern, starting at 1.
    pub line: usize,
    pub pattern: String,
}

/// Returns the `files` that git ignores and does not track. Their paths are absolute, or relative to the root of `repository`. A
/// single git process checks all of them.
pub fn find_ignored(
    settings: &GitSettings,
    repository: &Path,
    files: &[PathBuf],
) -> io::Result<Vec<IgnoredFile>> {
    let mut input = Vec::new();
    for file in files {
        input.extend(file.as_os_str().as_encoded_bytes());
        input.push(0);
    }
    let output = Repository::open(settings, repository)
        .and_then(|git| git.run("check-ignore", &["--verbose", "-z", "--stdin"], input))
        .map_err(|error| match error {
            GitError::Program { source, .. } => source,
            error => io::Error::other(error),
        })?;
    // The exit status is 1 if no file is ignored.
    if !matches!(output.status.code(), Some(0 | 1)) {
        return Err(io::Error::other(GitProblem::describe(&output).1));
    }
    Ok(parse(&output.stdout))
}

/// Parses records of four fields (source, line, pattern and path), each field terminated by NUL. Omits files that match a pattern with `!`,
/// because git does not ignore them.
fn parse(output: &[u8]) -> Vec<IgnoredFile> {
    let fields: Vec<String> = output
        .split(|byte| *byte == 0)
        .map(|bytes| String::from_utf8_lossy(bytes).into_owned())
        .collect();
    fields
        .chunks_exact(4)
        .filter(|fields| !fields[2].starts_with('!'))
        .map(|fields| IgnoredFile {
            source: fields[0].clone().into(),
            line: fields[1].parse().unwrap_or(1),
            pattern: fields[2].clone(),
            file: fields[3].clone().into(),
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn output_is_parsed_and_files_included_again_are_omitted() {
        let output = b".gitignore\x002\x00*.hcl\x00a/.terraform.lock.hcl\x00\
.gitignore\x003\x00!keep/*.hcl\x00keep/.terraform.lock.hcl\x00";
        let expected = IgnoredFile {
            file: "a/.terraform.lock.hcl".into(),
            source: ".gitignore".into(),
            line: 2,
            pattern: "*.hcl".to_owned(),
        };
        assert_eq!(parse(output), [expected]);
        assert_eq!(parse(b""), []);
    }
}
