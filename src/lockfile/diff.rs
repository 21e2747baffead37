//! The unified diff between the old and the new content of a lock file.

use std::path::Path;

use similar::TextDiff;

use crate::display::shown_path;

/// The number of unchanged lines shown around a change.
const CONTEXT_LINES: usize = 3;

/// Returns the difference as `diff -u` prints it, or an empty string if the contents are identical. Without old content, the
/// old name is `/dev/null`. Bytes that are not UTF-8 become replacement characters.
pub fn unified_diff(path: &Path, old: Option<&[u8]>, new: &[u8]) -> String {
    let old_text = String::from_utf8_lossy(old.unwrap_or_default());
    let new_text = String::from_utf8_lossy(new);
    // The path has `/` on every system, because tools that apply diffs expect it.
    let shown = shown_path(path);
    let old_name = if old.is_some() { &shown } else { "/dev/null" };
    TextDiff::from_lines(&old_text, &new_text)
        .unified_diff()
        .context_radius(CONTEXT_LINES)
        .header(old_name, &shown)
        .to_string()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn diff(old: Option<&str>, new: &str) -> String {
        unified_diff(
            Path::new("a/.terraform.lock.hcl"),
            old.map(str::as_bytes),
            new.as_bytes(),
        )
    }

    #[test]
    fn changes_are_shown_with_their_surroundings() {
        let old = "1\n2\n3\n4\n5\n6\n7\n8\n";
        let expected = "--- a/.terraform.lock.hcl\n+++ a/.terraform.lock.hcl\n@@ -2,7 +2,7 @@\n 2\n 3\n 4\n-5\n+five\n 6\n 7\n 8\n";
        assert_eq!(diff(Some(old), &old.replace('5', "five")), expected);
        assert_eq!(diff(Some(old), old), "");
    }

    #[test]
    fn a_new_file_is_compared_with_nothing() {
        let expected = "--- /dev/null\n+++ a/.terraform.lock.hcl\n@@ -0,0 +1,2 @@\n+1\n+2\n";
        assert_eq!(diff(None, "1\n2\n"), expected);
    }

    #[test]
    fn line_ends_and_a_missing_last_one_are_differences() {
        let expected = "--- a/.terraform.lock.hcl\n+++ a/.terraform.lock.hcl\n@@ -1,2 +1,2 @@\n-1\r\n-2\n\\ No newline at end of file\n+1\n+2\n";
        assert_eq!(diff(Some("1\r\n2"), "1\n2\n"), expected);
    }
}
