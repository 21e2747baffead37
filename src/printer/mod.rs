//! All output to stdout and stderr.
//!
//! Reports go to stdout. Messages, errors and progress go to stderr. If the reader closes the pipe, the rest of the output is
//! dropped without an error. Text for people is escaped so that CI systems do not execute parts of it (see `harmless`).

pub(crate) mod harmless;

use std::io::{self, IsTerminal as _};
use std::sync::OnceLock;

use crate::diagnostic::Diagnostic;

/// The first error that occurred when writing to stdout. It is static because all printers of the process share stdout.
static STDOUT_ERROR: OnceLock<io::Error> = OnceLock::new();

#[derive(Clone, Copy, Debug)]
pub struct Printer {
    /// Print only errors and documents.
    pub quiet: bool,
    /// The number of `-v` options. Above 0, reports contain details.
    pub verbosity: u8,
    /// Whether text on stdout may contain ANSI colors.
    pub stdout_styled: bool,
    /// Whether text on stderr may contain ANSI colors.
    pub stderr_styled: bool,
}

impl Printer {
    /// Creates a printer. If `styled` is `None`, a stream gets colors if it is a terminal.
    pub fn new(quiet: bool, verbosity: u8, styled: Option<bool>) -> Self {
        Self {
            quiet,
            verbosity,
            stdout_styled: styled.unwrap_or_else(|| io::stdout().is_terminal()),
            stderr_styled: styled.unwrap_or_else(|| io::stderr().is_terminal()),
        }
    }

    pub fn stderr_is_terminal() -> bool {
        io::stderr().is_terminal()
    }

    /// Prints a command-line error if it contains text that must be escaped. Returns whether it printed the error.
    pub fn escaped_usage(usage: &str) -> bool {
        let harmless = harmless::text(usage, false);
        let is_escaped = harmless != usage;
        if is_escaped {
            print_line(harmless.trim_end(), false);
        }
        is_escaped
    }

    /// Prints a part of the report to stdout, unless quiet.
    pub fn report(&self, text: &str) {
        if !self.quiet {
            self.text(text);
        }
    }

    /// Prints text to stdout, even if quiet.
    pub fn text(&self, text: &str) {
        self.document(&harmless::text(text, self.stdout_styled));
    }

    /// Prints a JSON document to stdout, even if quiet.
    pub fn json(&self, document: &str) {
        self.document(&harmless::json(document));
    }

    /// Prints a document for programs to stdout without escaping it, even if quiet.
    pub fn document(&self, text: &str) {
        if let Err(error) = write_to(&mut io::stdout().lock(), text)
            // The reader, for example `head`, closed the pipe on purpose.
            && error.kind() != io::ErrorKind::BrokenPipe
        {
            // Only the first error is kept, because later ones follow from it.
            let _ = STDOUT_ERROR.set(error);
        }
    }

    /// Returns the first error that occurred when writing to stdout, for example because the disk is full.
    pub fn stdout_error() -> Option<&'static io::Error> {
        STDOUT_ERROR.get()
    }

    /// Prints a message to stderr, unless quiet.
    pub fn message(&self, text: &str) {
        if !self.quiet {
            print_line(text, self.stderr_styled);
        }
    }

    /// Prints a diagnostic to stderr. If quiet, only errors are printed.
    pub fn diagnostic(&self, diagnostic: &Diagnostic) {
        if !self.quiet || diagnostic.is_error() {
            print_line(&diagnostic.render(self.stderr_styled), self.stderr_styled);
        }
    }
}

/// A writer for log lines that escapes them and writes them to stderr.
#[derive(Clone, Copy, Debug, Default)]
pub struct LogWriter;

impl io::Write for LogWriter {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let text = String::from_utf8_lossy(bytes);
        write_to(&mut io::stderr().lock(), &harmless::text(&text, true))?;
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

/// Writes text and a line break to stderr.
fn print_line(text: &str, styled: bool) {
    let line = format!("{text}\n");
    // A failure to write to stderr cannot be reported anywhere.
    let _ = write_to(&mut io::stderr().lock(), &harmless::text(&line, styled));
}

fn write_to(stream: &mut impl io::Write, text: &str) -> io::Result<()> {
    stream.write_all(text.as_bytes())?;
    stream.flush()
}
