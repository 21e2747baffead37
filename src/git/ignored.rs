//! Which files git ignores, and by which line of which file.

use std::io;
use std::path::{Path, PathBuf};

use super::environment::GitSettings;
use super::process::run_blocking;
use super::repository::Repository;

/// A file that git ignores.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Ignored {
    /// The file, as it was asked for.
    pub file: PathBuf,
    /// The file with the pattern, as git names it: from the top of the repository, or absolute.
    pub source: PathBuf,
    /// The line of the pattern, from 1.
    pub line: usize,
    /// The pattern.
    pub pattern: String,
}

/// The files, given from the top of `repository` or absolute, that git ignores there and does not track. One process,
/// however many files there are.
pub fn ignored(
    settings: &GitSettings,
    repository: &Path,
    files: &[PathBuf],
) -> io::Result<Vec<Ignored>> {
    let repository = Repository::open(settings, repository).map_err(io::Error::other)?;
    let mut command = repository.command(settings)?;
    command.args(["check-ignore", "--verbose", "-z", "--stdin"]);
    let mut asked = Vec::new();
    for file in files {
        asked.extend(file.as_os_str().as_encoded_bytes());
        asked.push(0);
    }
    let finished = run_blocking(command, asked).map_err(io::Error::other)?;
    // 1: none is ignored.
    if !matches!(finished.status.code(), Some(0 | 1)) {
        return Err(io::Error::other(finished.message()));
    }
    Ok(read(&finished.output))
}

/// Reads quadruples: source, line, pattern, path, each ended by NUL. A pattern that begins with `!` takes a file back in.
fn read(answer: &[u8]) -> Vec<Ignored> {
    let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
    let fields: Vec<String> = answer.split(|byte| *byte == 0).map(text).collect();
    let quadruples = fields.chunks_exact(4);
    let ignored = quadruples.filter(|fields| !fields[2].starts_with('!'));
    ignored
        .map(|fields| Ignored {
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
    fn answers_are_read_and_what_is_taken_back_in_is_left_out() {
        let answer = b".gitignore\x002\x00*.hcl\x00a/.terraform.lock.hcl\x00\
.gitignore\x003\x00!keep/*.hcl\x00keep/.terraform.lock.hcl\x00";
        let expected = Ignored {
            file: "a/.terraform.lock.hcl".into(),
            source: ".gitignore".into(),
            line: 2,
            pattern: "*.hcl".to_owned(),
        };
        assert_eq!(read(answer), [expected]);
        assert_eq!(read(b""), []);
    }
}
