//! A report goes where its format belongs: stdout, and for GitHub Actions the job summary.

use std::fs::OpenOptions;
use std::io::{self, Write as _};
use std::path::Path;

use crate::cli::FormatArg;
use crate::diagnostic::{Code, Diagnostic};
use crate::printer::Printer;
use crate::settings::ReportSettings;

use super::report::{Base, RunReport};

/// Shows the report of a run that ends with `exit_code`. What went wrong and what should be known is told on stderr as well,
/// unless the format is one that turns it into annotations of the same log.
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

/// A step may run tflock several times: each adds its part.
fn append(path: &Path, text: &str) -> io::Result<()> {
    let mut file = OpenOptions::new().create(true).append(true).open(path)?;
    file.write_all(text.as_bytes())
}
