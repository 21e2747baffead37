//! Extracts error messages from the standard error of git and Mercurial, without secrets.

use crate::redacted_url::{RedactedUrl, redact_line};
use crate::subprocess::ProcessOutput;

/// The maximum number of lines of standard error in an error message.
const MAX_MESSAGE_LINES: usize = 3;

/// The maximum length of a line, in characters.
const MAX_LINE: usize = 400;

/// The lines that git prints after each failed connection, whatever the cause.
const AFTER_FAILURES: [&str; 3] = [
    "fatal: Could not read from remote repository.",
    "Please make sure you have the correct access rights",
    "and the repository exists.",
];

/// Returns the problem that `find` recognizes, and the line of standard error that shows it. If the problem is unknown, returns the last
/// lines that say something about the cause or, if standard error is empty, the exit status. The text contains no control characters, and
/// no user information in `url` and other URLs.
pub(in crate::modules) fn describe_failure<P>(
    output: &ProcessOutput,
    url: &str,
    find: impl Fn(&str) -> Option<(P, &str)>,
) -> (Option<P>, String) {
    let text =
        String::from_utf8_lossy(&output.stderr).replace(url, &RedactedUrl::parse(url).to_string());
    if let Some((problem, line)) = find(&text) {
        return (Some(problem), visible_line(line));
    }
    let message = last_lines(&text);
    if message.is_empty() {
        return (None, output.status.to_string());
    }
    (None, message)
}

/// Returns the last lines, without those that git always adds unless there are no others.
fn last_lines(text: &str) -> String {
    let all: Vec<String> = text
        .lines()
        .map(|line| visible_line(line.trim()))
        .filter(|line| !line.is_empty())
        .collect();
    let is_cause = |line: &&String| !AFTER_FAILURES.contains(&line.as_str());
    let causes: Vec<_> = all.iter().filter(is_cause).cloned().collect();
    let lines = if causes.is_empty() { all } else { causes };
    lines[lines.len().saturating_sub(MAX_MESSAGE_LINES)..].join("; ")
}

/// Whether the program, or one of its helpers, ran out of memory.
pub(in crate::modules) fn is_out_of_memory(stderr: &[u8]) -> bool {
    let text = String::from_utf8_lossy(stderr).to_lowercase();
    ["out of memory", "cannot allocate memory", "malloc failed"]
        .iter()
        .any(|sign| text.contains(sign))
}

/// Returns the beginning of a line, without control characters and without user information in URLs.
fn visible_line(line: &str) -> String {
    let visible = line.chars().filter(|character| !character.is_control());
    redact_line(&visible.take(MAX_LINE).collect::<String>())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn messages_contain_no_secrets_and_no_control_characters() {
        for (line, expected) in [
            (
                "at 'https://u:p@g.test/r/': no",
                "at 'https://g.test/r/': no",
            ),
            ("remote: \u{1b}[31mred\u{7}", "remote: [31mred"),
        ] {
            assert_eq!(visible_line(line), expected);
        }
        assert_eq!(visible_line(&"x".repeat(999)).len(), MAX_LINE);
    }

    #[test]
    fn the_cause_is_shown_instead_of_what_git_always_adds() {
        let after = AFTER_FAILURES.join("\n");
        for (text, expected) in [
            (
                format!("bash: git-upload-pack: command not found\n{after}"),
                "bash: git-upload-pack: command not found",
            ),
            (format!("1\n2\n3\n4\n\n{after}"), "2; 3; 4"),
            (after.clone(), &AFTER_FAILURES.join("; ")),
            ("\n".to_owned(), ""),
        ] {
            assert_eq!(last_lines(&text), expected);
        }
    }

    #[test]
    fn exhausted_memory_is_recognized() {
        const MALLOC: &str = "fatal: Out of memory, malloc failed (tried to allocate 65536 bytes)";
        for (text, expected) in [
            (MALLOC, true),
            ("fatal: mmap failed: Cannot allocate memory", true),
            ("fatal: repository 'x' does not exist", false),
        ] {
            assert_eq!(is_out_of_memory(text.as_bytes()), expected, "{text}");
        }
    }
}
