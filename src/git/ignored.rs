//! Which files git ignores, and by which line of which file.

use std::io::{self, Write as _};
use std::path::{Path, PathBuf};
use std::process::Stdio;

use super::environment::GitSettings;

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
    let mut command = settings.command("", Some(repository));
    command
        .args(["check-ignore", "--verbose", "-z", "--stdin"])
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped());
    let mut child = command.spawn()?;
    let mut asked = Vec::new();
    for file in files {
        asked.extend(file.as_os_str().as_encoded_bytes());
        asked.push(0);
    }
    let stdin = child.stdin.take();
    // Git answers while it is asked: both pipes have to move.
    let writer =
        std::thread::spawn(move || stdin.map_or(Ok(()), |mut pipe| pipe.write_all(&asked)));
    let output = child.wait_with_output()?;
    // A pipe that broke is told by the status.
    drop(writer.join());
    // 1: none is ignored.
    if !matches!(output.status.code(), Some(0 | 1)) {
        let message = String::from_utf8_lossy(&output.stderr);
        let first = message.lines().next().unwrap_or_default().trim();
        return Err(io::Error::other(first.to_owned()));
    }
    Ok(read(&output.stdout))
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
