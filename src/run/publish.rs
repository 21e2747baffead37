//! Writes the report of `lock` and `verify` to stdout and, for GitHub Actions, to the job summary.

use std::fs::OpenOptions;
use std::io::{self, Write as _};
use std::path::Path;

use crate::cli::FormatArg;
use crate::diagnostic::{Code, Diagnostic};
use crate::printer::Printer;
use crate::settings::ReportSettings;

use super::report::{Base, RunReport};

/// Publishes the report of a run that ends with `exit_code`. Errors and warnings also go to stderr, except with the format
/// `github`, which already shows them as annotations in the same log.
pub(super) fn publish(
    report: &RunReport,
    exit_code: u8,
    settings: &ReportSettings,
    printer: Printer,
) {
    let base = Base {
        working_directory: settings.working_directory.clone(),
        root: settings.root.clone(),
    };
    match settings.format {
        FormatArg::Text => printer.report(&report.text(printer.verbosity)),
        FormatArg::Json => printer.json(&report.json()),
        FormatArg::Sarif => printer.json(&report.sarif(&base, exit_code)),
        FormatArg::Github => {
            printer.document(&report.github(&base));
            if let Some(path) = &settings.step_summary
                && let Err(error) = append(path, &report.github_summary())
            {
                let text = format!(
                    "cannot write the job summary to `{}`: {error}",
                    path.display()
                );
                printer.diagnostic(&Diagnostic::warning(Code::Failure, text, None));
            }
            return;
        }
    }
    for diagnostic in report.diagnostics() {
        printer.diagnostic(&diagnostic);
    }
}

/// Appends `text` to a file, because a step may run tflock several times.
fn append(path: &Path, text: &str) -> io::Result<()> {
    let mut file = OpenOptions::new().create(true).append(true).open(path)?;
    file.write_all(text.as_bytes())
}
