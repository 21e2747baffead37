//! The report for GitHub Actions: one workflow command per remark, which becomes an annotation of its file and line, and a
//! job summary in Markdown.
//!
//! GitHub shows the first ten errors, warnings and notices of a step, so remarks that say the same are one command, and
//! the heavy ones come first. Nothing else goes to stdout but the sums: a line that held a name from the repository could
//! be taken for a command. See <https://docs.github.com/actions/reference/workflow-commands-for-github-actions>.

use std::fmt::Write as _;
use std::path::Path;

use super::remark::{Base, Level, Remark, merged, remarks};
use super::{RunReport, named, rules, sums};
use crate::printer::harmless;

/// The most bytes of a summary; GitHub refuses a step's summaries above 1 MiB.
const MAX_SUMMARY_BYTES: usize = 900 << 10;

/// How many directories a remark names before it only counts them.
const MAX_NAMED: usize = 20;

/// The workflow commands and the sums.
pub(super) fn render(report: &RunReport, base: &Base) -> String {
    let mut out = String::new();
    for remark in merged(remarks(report)) {
        let command = match remark.level {
            Level::Error => "error",
            Level::Warning => "warning",
            Level::Notice => "notice",
        };
        let properties: Vec<String> = properties(&remark, base)
            .into_iter()
            .map(|(name, value)| format!("{name}={}", property(&value)))
            .collect();
        let _ = writeln!(
            out,
            "::{command} {}::{}",
            properties.join(","),
            data(&message(&remark))
        );
    }
    out.push_str(&sums::sums(report));
    out
}

fn properties(remark: &Remark, base: &Base) -> Vec<(&'static str, String)> {
    let place = &remark.place;
    let mut properties = vec![("file", file(&place.path, base))];
    if place.line > 0 {
        properties.push(("line", place.line.to_string()));
        properties.push(("col", place.column.to_string()));
        let end = place.column + place.width;
        properties.push(("endColumn", end.to_string()));
    }
    properties.push(("title", rules::rule(remark.code).title()));
    properties
}

fn file(path: &Path, base: &Base) -> String {
    named(&base.relative(path).unwrap_or_else(|| path.to_path_buf()))
}

/// The message with its details, and the directories where there are several.
fn message(remark: &Remark) -> String {
    let mut message = remark.message.clone();
    for detail in remark.all_details() {
        let _ = write!(message, "\n{detail}");
    }
    if remark.directories.len() > 1 {
        let named = remark.directories.iter().take(MAX_NAMED);
        let named: Vec<String> = named.map(|directory| super::named(directory)).collect();
        let _ = write!(message, "\nin {}", named.join(", "));
        let more = remark.directories.len() - named.len();
        if more > 0 {
            let _ = write!(message, " and {more} more");
        }
    }
    message
}

/// The text of a command: a line break would end it, and `%` introduces an escape.
fn data(text: &str) -> String {
    let text = harmless::text(text, false);
    text.replace('%', "%25").replace('\n', "%0A")
}

/// The value of a property, which a comma or colon would end as well.
fn property(text: &str) -> String {
    data(text).replace(':', "%3A").replace(',', "%2C")
}

/// The job summary: counts, then what failed, what should be known and what changed.
pub(super) fn summary(report: &RunReport) -> String {
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
    let mut left = merged(remarks(report)).into_iter();
    for remark in left.by_ref() {
        let item = item(&remark);
        if out.len() + item.len() > MAX_SUMMARY_BYTES {
            let _ = writeln!(out, "- and {} more", left.count() + 1);
            break;
        }
        out.push_str(&item);
    }
    out
}

/// A list item, with the places and details folded below it where there are many.
fn item(remark: &Remark) -> String {
    let sign = match remark.level {
        Level::Error => "❌",
        Level::Warning => "⚠️",
        Level::Notice => "✏️",
    };
    let message = message(remark);
    let lines = harmless::text(&message, false);
    let lines: Vec<String> = lines.lines().map(markdown).collect();
    let place = remark.place.without_source();
    format!(
        "- {sign} {}: {}\n",
        code_span(&place.to_string().replace('\\', "/")),
        lines.join("<br>")
    )
}

/// Text in which only backticks keep a meaning, and those only if they pair: Markdown pairs runs of the same length, so in
/// other texts the end of the code would not be where it seems.
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

/// A name as code, whatever is in it.
fn code_span(text: &str) -> String {
    format!("`{}`", text.replace('`', "'").replace(['\n', '\r'], " "))
}

#[cfg(test)]
mod tests {
    use super::super::samples::{added, directory, moved, report};
    use super::super::{DirectoryReport, Fate};
    use super::*;
    use crate::diagnostic::Diagnostic;
    use crate::span::{Place, Span};

    fn base() -> Base {
        Base {
            working_directory: "/repo/live".into(),
            root: "/repo".into(),
        }
    }

    fn warned(path: &str, message: &str) -> DirectoryReport {
        let mut warned = directory(path, Fate::Failed, Vec::new());
        let file = format!("{path}/a,b:c.tf");
        let place = Place::in_text(file.as_ref(), b"x\n  yz\n", Span::new(4, 6));
        let warning = Diagnostic::warning("registry", message, Some(path.as_ref()));
        warned.diagnostics.push(warning.at(Some(place)));
        warned
    }

    #[test]
    fn remarks_become_commands_with_everything_escaped() {
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
        let rendered = render(&report, &base());
        let (commands, sums) = rendered.split_at(expected.len());
        assert_eq!(commands, expected);
        assert!(sums.starts_with("3 directories: "), "{sums}");
        assert_eq!(sums.lines().count(), 1);
    }

    #[test]
    fn a_check_makes_errors_of_drift() {
        let mut report = report(vec![directory(
            "a",
            Fate::Created,
            vec![added("acme/anvil", "1.0.0")],
        )]);
        report.check = true;
        let rendered = render(&report, &base());
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
        assert_eq!(summary(&report), expected);
    }

    #[test]
    fn a_summary_stays_below_what_github_takes() {
        let many = (0..9_000).map(|number| warned(&format!("d{number}"), &"x".repeat(number)));
        let summary = summary(&report(many.take(3_000).collect()));
        assert!(summary.len() <= MAX_SUMMARY_BYTES + 100);
        let last = summary.lines().last().unwrap();
        assert!(
            last.starts_with("- and ") && last.ends_with(" more"),
            "{last}"
        );
    }
}
