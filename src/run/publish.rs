//! Writes the report of `lock` and `verify` to stdout and, for GitHub Actions, to the job summary.

use std::fs::OpenOptions;
use std::io::{self, Write as _};
use std::path::Path;

use crate::cli::FormatArg;
use crate::diagnostic::{Code, Diagnostic};
use crate::printer::Printer;
use crate::settings::ReportSettings;

use super::A_DIRECTORY_FAILED;
use super::report::{Fate, RunReport, github, json, sarif, text};

/// Publishes the report and returns the exit code: `code`, unless a directory failed. Errors and warnings also go to stderr,
/// except with the format `github`, which already shows them as annotations in the same log.
pub(super) fn publish(
    report: &RunReport,
    code: u8,
    settings: &ReportSettings,
    printer: Printer,
) -> u8 {
    let exit_code = match report.count(Fate::Failed) {
        0 => code,
        _ => A_DIRECTORY_FAILED,
    };
    match settings.format {
        FormatArg::Text => printer.report(&text::render(report, printer.verbosity)),
        FormatArg::Json => printer.json(&json::render(report)),
        FormatArg::Sarif => printer.json(&sarif::render(report, &settings.paths, exit_code)),
        FormatArg::Github => {
            printer.document(&github::render(report, &settings.paths));
            if let Some(path) = &settings.step_summary
                && let Err(error) = append(path, &github::job_summary(report))
            {
                let message = format!(
                    "cannot write the job summary to `{}`: {error}",
                    path.display()
                );
                printer.diagnostic(&Diagnostic::warning(Code::Failure, message, None));
            }
            return exit_code;
        }
    }
    for diagnostic in report.diagnostics() {
        printer.diagnostic(&diagnostic);
    }
    exit_code
}

/// Appends `text` to a file. A step may run tflock several times, so earlier summaries must be kept.
fn append(path: &Path, text: &str) -> io::Result<()> {
    let mut file = OpenOptions::new().create(true).append(true).open(path)?;
    file.write_all(text.as_bytes())
}
