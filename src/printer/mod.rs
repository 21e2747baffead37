//! The only door to standard output and standard error.
//!
//! Reports go to stdout; messages, failures and progress go to stderr. A reader that went away (a closed pipe) ends the
//! output quietly. Nothing that is printed for people can be taken for a command of a log (see `harmless`).

pub(crate) mod harmless;

use std::io::{self, IsTerminal as _};
use std::sync::OnceLock;

use crate::diagnostic::Diagnostic;

/// Why standard output could not be written, the first time. The process has one, and so there is one answer.
static REPORT_TROUBLE: OnceLock<io::Error> = OnceLock::new();

/// Where and how much is printed.
#[derive(Clone, Copy, Debug)]
pub struct Printer {
    /// Only failures.
    pub quiet: bool,
    /// 0: the usual; 1 and more: details.
    pub verbosity: u8,
    /// ANSI colors on stdout.
    pub stdout_styled: bool,
    /// ANSI colors on stderr.
    pub stderr_styled: bool,
}

impl Printer {
    /// A printer; `styled` decides about colors, or where it is `None` the terminal does.
    pub fn new(quiet: bool, verbosity: u8, styled: Option<bool>) -> Self {
        Self {
            quiet,
            verbosity,
            stdout_styled: styled.unwrap_or_else(|| io::stdout().is_terminal()),
            stderr_styled: styled.unwrap_or_else(|| io::stderr().is_terminal()),
        }
    }

    /// Whether a person looks at stderr.
    pub fn stderr_is_terminal() -> bool {
        io::stderr().is_terminal()
    }

    /// Says what is wrong with the command line if that quotes something that has to be escaped. Whether it did.
    pub fn escaped_usage(usage: &str) -> bool {
        let harmless = harmless::text(usage, false);
        let is_escaped = harmless != usage;
        if is_escaped {
            tell(harmless.trim_end(), false);
        }
        is_escaped
    }

    /// A part of the report. Nothing when quiet.
    pub fn report(&self, text: &str) {
        if !self.quiet {
            self.text(text);
        }
    }

    /// Text on stdout, also when quiet.
    pub fn text(&self, text: &str) {
        self.document(&harmless::text(text, self.stdout_styled));
    }

    /// A JSON document, also when quiet: whoever asks for one reads it.
    pub fn json(&self, document: &str) {
        self.document(&harmless::json(document));
    }

    /// Another document for programs, as it stands, also when quiet.
    pub fn document(&self, text: &str) {
        if let Err(error) = write_to(&mut io::stdout().lock(), text)
            // A closed pipe is the reader's wish.
            && error.kind() != io::ErrorKind::BrokenPipe
        {
            // Only the first failure counts: the rest follows from it.
            let _ = REPORT_TROUBLE.set(error);
        }
    }

    /// Why the report did not reach standard output whole: a full disk, and the like.
    pub fn report_trouble() -> Option<&'static io::Error> {
        REPORT_TROUBLE.get()
    }

    /// A line for the user beside the report. Nothing when quiet.
    pub fn message(&self, text: &str) {
        if !self.quiet {
            tell(text, self.stderr_styled);
        }
    }

    /// Warnings are messages, errors are shown also when quiet.
    pub fn diagnostic(&self, diagnostic: &Diagnostic) {
        if !self.quiet || diagnostic.is_error() {
            tell(&diagnostic.render(self.stderr_styled), self.stderr_styled);
        }
    }
}

/// Standard error for a log: each write is a part of it.
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

/// Says it on stderr, followed by a line break.
fn tell(text: &str, styled: bool) {
    let line = format!("{text}\n");
    // There is nowhere left to report a failure to.
    let _ = write_to(&mut io::stderr().lock(), &harmless::text(&line, styled));
}

fn write_to(stream: &mut impl io::Write, text: &str) -> io::Result<()> {
    stream.write_all(text.as_bytes())?;
    stream.flush()
}
