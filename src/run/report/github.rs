//! The report for GitHub Actions: a job summary in Markdown and one workflow command per diagnostic, which GitHub shows as an
//! annotation at the file and line.
//!
//! GitHub shows only the first ten errors, warnings and notices of a step, so identical diagnostics become one command, and
//! errors come first. Apart from the counts, nothing else goes to stdout, because GitHub might run a line that contains a name
//! from the repository as a command. See <https://docs.github.com/actions/reference/workflow-commands-for-github-actions>.

use std::fmt::Write as _;
use std::path::Path;

use super::annotations::{annotations, lines};
use super::{RunReport, summary};
use crate::diagnostic::{Diagnostic, Severity, unite};
use crate::display::shown_path;
use crate::printer::harmless;
use crate::settings::RepositoryPaths;

/// The maximum size of a job summary, in bytes. GitHub rejects step summaries that are larger than 1 MiB.
const MAX_SUMMARY_BYTES: usize = 900 << 10;

/// The maximum number of directories that an annotation names. Any further directories are only counted.
const MAX_NAMED: usize = 20;

/// Renders the workflow commands and the counts.
pub(in crate::run) fn render(report: &RunReport, paths: &RepositoryPaths) -> String {
    let mut out = String::new();
    for annotation in unite(annotations(report)) {
        let properties: Vec<String> = properties(&annotation, paths)
            .into_iter()
            .map(|(name, value)| format!("{name}={}", property(&value)))
            .collect();
        let _ = writeln!(
            out,
            "::{} {}::{}",
            annotation.severity.name(),
            properties.join(","),
            data(&message(&annotation))
        );
    }
    out.push_str(&summary::summary(report));
    out
}

fn properties(annotation: &Diagnostic, paths: &RepositoryPaths) -> Vec<(&'static str, String)> {
    let mut properties = Vec::new();
    if let Some(place) = &annotation.place {
        properties.push(("file", file(&place.path, paths)));
        if place.line > 0 {
            properties.push(("line", place.line.to_string()));
            properties.push(("col", place.column.to_string()));
            let end = place.column + place.width;
            properties.push(("endColumn", end.to_string()));
        }
    }
    properties.push(("title", annotation.code.title()));
    properties
}

fn file(path: &Path, paths: &RepositoryPaths) -> String {
    shown_path(
        &paths
            .relative_to_root(path)
            .unwrap_or_else(|| path.to_path_buf()),
    )
}

/// Returns the text of the annotation, followed by the directories if there are several.
fn message(annotation: &Diagnostic) -> String {
    let mut message = lines(annotation).join("\n");
    if annotation.directories.len() > 1 {
        let directories = annotation.directories.iter().take(MAX_NAMED);
        let names: Vec<String> = directories.map(|directory| shown_path(directory)).collect();
        let _ = write!(message, "\nin {}", names.join(", "));
        let more = annotation.directories.len() - names.len();
        if more > 0 {
            let _ = write!(message, " and {more} more");
        }
    }
    message
}

/// Escapes the text of a command: a line break would end it, and `%` begins an escape.
fn data(text: &str) -> String {
    let text = harmless::text(text, false);
    text.replace('%', "%25").replace('\n', "%0A")
}

/// Escapes the value of a property of a command. A comma or a colon would end the value, too.
fn property(text: &str) -> String {
    data(text).replace(':', "%3A").replace(',', "%2C")
}

/// Renders the job summary: the counts, then errors, warnings and changed lock files.
pub(in crate::run) fn job_summary(report: &RunReport) -> String {
    let mut out = format!("### tflock {}\n\n", report.command);
    let counts = report.counts().into_iter();
    let (names, numbers): (Vec<String>, Vec<String>) = counts
        .map(|(name, count)| (name, count.to_string()))
        .unzip();
    if names.is_empty() {
        out.push_str("No directories.\n");
        return out;
    }
    let _ = writeln!(out, "| {} |", names.join(" | "));
    let _ = writeln!(out, "|{}", " ---: |".repeat(names.len()));
    let _ = writeln!(out, "| {} |\n", numbers.join(" | "));
    let mut rest = unite(annotations(report)).into_iter();
    for annotation in rest.by_ref() {
        let item = item(&annotation);
        if out.len() + item.len() > MAX_SUMMARY_BYTES {
            let _ = writeln!(out, "- and {} more", rest.count() + 1);
            break;
        }
        out.push_str(&item);
    }
    out
}

/// Renders an annotation as a list item whose lines are separated by `<br>`.
fn item(annotation: &Diagnostic) -> String {
    let sign = match annotation.severity {
        Severity::Error => "❌",
        Severity::Warning => "⚠️",
        Severity::Notice => "✏️",
    };
    let message = message(annotation);
    let lines = harmless::text(&message, false);
    let lines: Vec<String> = lines.lines().map(markdown).collect();
    let place = annotation
        .place
        .as_ref()
        .map(|place| place.without_source().to_string());
    let place = code_span(&place.unwrap_or_default().replace('\\', "/"));
    format!("- {sign} {place}: {}\n", lines.join("<br>"))
}

/// Escapes Markdown, except for code in single backticks. If the number of backticks is odd, or if some are adjacent, all of them
/// are escaped: Markdown only pairs runs of equal length, so the code spans could end in unexpected places.
fn markdown(text: &str) -> String {
    let has_code = !text.contains("``") && text.matches('`').count().is_multiple_of(2);
    let mut out = String::with_capacity(text.len());
    let mut in_code = false;
    for char in text.chars() {
        match char {
            '`' if has_code => in_code = !in_code,
            '<' if !in_code => {
                out.push_str("&lt;");
                continue;
            }
            '`' | '*' | '_' | '[' | ']' | '#' | '|' | '~' | '\\' | '@' if !in_code => {
                out.push('\\');
            }
            _ => {}
        }
        out.push(char);
    }
    out
}

/// Formats a code span. Backticks in the text become apostrophes, and line breaks become spaces.
fn code_span(text: &str) -> String {
    format!("`{}`", text.replace('`', "'").replace(['\n', '\r'], " "))
}

#[cfg(test)]
mod tests {
    use super::super::samples::{added, directory, moved, report};
    use super::super::{DirectoryReport, Fate};
    use super::*;
    use crate::diagnostic::Code;
    use crate::span::{Place, Span};

    fn paths() -> RepositoryPaths {
        RepositoryPaths {
            working_directory: "/repo/live".into(),
            root: "/repo".into(),
        }
    }

    fn warned(path: &str, message: &str) -> DirectoryReport {
        let mut warned = directory(path, Fate::Failed, Vec::new());
        let file = format!("{path}/a,b:c.tf");
        let place = Place::in_text(file.as_ref(), b"x\n  yz\n", Span::new(4, 6));
        let warning = Diagnostic::warning(Code::Registry, message, Some(path.as_ref()));
        warned.diagnostics.push(warning.at(Some(place)));
        warned
    }

    #[test]
    fn annotations_become_commands_with_everything_escaped() {
        let report = report(vec![
            warned("a", "100%\nsure: yes, really"),
            warned("b", "100%\nsure: yes, really"),
            directory(
                "c",
                Fate::Updated,
                vec![moved("acme/anvil", "1.0.0", "1.1.0")],
            ),
        ]);
        let expected = "\
::warning file=live/a/a%2Cb%3Ac.tf,line=2,col=3,endColumn=5,title=registry::100%25%0Asure: yes, really%0Ain a, b
::notice file=live/c/.terraform.lock.hcl,title=lock-file-drift::lock file changed%0Aacme/anvil 1.0.0 -> 1.1.0
";
        let rendered = render(&report, &paths());
        let (commands, counts) = rendered.split_at(expected.len());
        assert_eq!(commands, expected);
        assert!(counts.starts_with("3 directories: "), "{counts}");
        assert_eq!(counts.lines().count(), 1);
    }

    #[test]
    fn a_check_reports_changes_as_errors() {
        let mut report = report(vec![directory(
            "a",
            Fate::Created,
            vec![added("acme/anvil", "1.0.0")],
        )]);
        report.check = true;
        let rendered = render(&report, &paths());
        assert!(rendered.starts_with("::error file=live/a/"), "{rendered}");
        assert!(rendered.contains("::lock file would be created%0Aacme/anvil 1.0.0"));
    }

    #[test]
    fn the_summary_is_markdown_that_names_cannot_break() {
        let report = report(vec![
            warned("a|b`", "look at <img> *here* and `x|<y>`"),
            directory("c", Fate::Unchanged, Vec::new()),
        ]);
        let expected = "\
### tflock lock

| unchanged | failed |
| ---: | ---: |
| 1 | 1 |

- ⚠️ `a|b'/a,b:c.tf:2:3`: look at &lt;img> \\*here\\* and `x|<y>`
";
        assert_eq!(job_summary(&report), expected);
    }

    #[test]
    fn a_summary_stays_below_the_limit_of_github() {
        let many = (0..9_000).map(|number| warned(&format!("d{number}"), &"x".repeat(number)));
        let summary = job_summary(&report(many.take(3_000).collect()));
        assert!(summary.len() <= MAX_SUMMARY_BYTES + 100);
        let last = summary.lines().last().unwrap();
        assert!(
            last.starts_with("- and ") && last.ends_with(" more"),
            "{last}"
        );
    }
}
