//! Test cases written as text: trees of files, tables, and parts of messages.

use std::env;
use std::error::Error;
use std::fs;
use std::iter;
use std::path::Path;

/// Splits a tree into its files. Each file begins with a line `-- path --`, and the lines after it are its content. The
/// indentation of the first such line is removed from every line.
pub(crate) fn files(tree: &str) -> Vec<(&str, String)> {
    let tree = tree.trim_start_matches('\n');
    let indent = tree.len() - tree.trim_start_matches(' ').len();
    let mut files: Vec<(&str, String)> = Vec::new();
    for line in tree.lines() {
        let line = line.get(indent..).unwrap_or_default();
        let header = line
            .strip_prefix("-- ")
            .and_then(|rest| rest.strip_suffix(" --"));
        match (header, files.last_mut()) {
            (Some(path), _) => files.push((path, String::new())),
            (None, Some((_, text))) => {
                text.push_str(line);
                text.push('\n');
            }
            (None, None) => panic!("`{line}` precedes the first header of a tree"),
        }
    }
    files
}

/// Splits a table into rows: one row per line, with ` | ` between the cells. Blank lines are skipped.
///
/// # Panics
///
/// If a row does not have `N` cells.
#[track_caller]
pub fn table<const N: usize>(text: &str) -> Vec<[&str; N]> {
    let rows = text.lines().filter(|line| !line.trim().is_empty());
    let mut table = Vec::new();
    for row in rows {
        let (cells, empty_end) = match row.strip_suffix(" |") {
            Some(cells) => (cells, Some("")),
            None => (row, None),
        };
        let cells = cells.split(" | ").chain(empty_end).map(str::trim);
        let cells: Result<[&str; N], _> = cells.collect::<Vec<_>>().try_into();
        table.push(cells.unwrap_or_else(|_| panic!("`{row}` does not have {N} cells")));
    }
    table
}

/// Replaces each `\n` in a cell with a newline.
pub fn multiline(cell: &str) -> String {
    cell.replace("\\n", "\n")
}

/// Fails the test and prints the whole text unless it contains `part`.
#[track_caller]
pub fn assert_contains(text: &str, part: &str) {
    assert!(text.contains(part), "`{part}` is missing in:\n{text}");
}

/// Fails the test and prints the whole text unless it starts with `start`.
#[track_caller]
pub fn assert_starts(text: &str, start: &str) {
    assert!(
        text.starts_with(start),
        "`{start}` is not the start of:\n{text}"
    );
}

/// Fails the test and prints the whole text unless it ends with `end`.
#[track_caller]
pub fn assert_ends(text: &str, end: &str) {
    assert!(text.ends_with(end), "`{end}` is not the end of:\n{text}");
}

/// Returns an error and its causes in one line.
pub fn error_chain(error: &dyn Error) -> String {
    let causes = iter::successors(error.source(), |cause| (*cause).source());
    causes.fold(error.to_string(), |text, cause| format!("{text}: {cause}"))
}

/// Returns whether tests that compare with recorded results of the real tools record them again (`TFLOCK_RECORD=1`).
pub fn is_recording() -> bool {
    env::var("TFLOCK_RECORD").is_ok_and(|value| value == "1")
}

/// Compares `found` with the content of a file. With `TFLOCK_RECORD=1`, writes the file instead.
#[track_caller]
pub fn assert_recorded(file: &Path, found: &str) {
    if is_recording() {
        fs::write(file, found).expect("the repository is writable");
        return;
    }
    let recorded = fs::read_to_string(file).expect("the file was recorded");
    if recorded == found {
        return;
    }
    let differs = |(recorded, found): &(&str, &str)| recorded != found;
    let mut lines = recorded.lines().zip(found.lines());
    let first = lines.find(differs);
    panic!("{} differs: {first:#?}\n{found}", file.display());
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_tree_is_its_files() {
        let tree = "
            -- a/main.tf --
            module \"m\" {
              source = \"./b\"
            }

            -- empty --
        ";
        let module = "module \"m\" {\n  source = \"./b\"\n}\n\n".to_owned();
        assert_eq!(files(tree)[0], ("a/main.tf", module));
        assert_eq!(files(tree)[1].0, "empty");
        assert_eq!(files(tree).len(), 2);
    }

    #[test]
    fn a_table_is_its_rows() {
        let text = "
            a  | b c |
               | d   | e
        ";
        assert_eq!(table(text), [["a", "b c", ""], ["", "d", "e"]]);
        assert_eq!(multiline(r"a\nb"), "a\nb");
    }
}
