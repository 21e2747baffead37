//! The only door to standard output and standard error.
//!
//! Reports go to stdout; messages, failures and progress go to stderr. A reader that went away (a closed pipe) ends the
//! output quietly.

use std::io::{self, IsTerminal as _};

use crate::diagnostic::Diagnostic;

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

    /// A part of the report, as it stands. Nothing when quiet.
    pub fn report(&self, text: &str) {
        if !self.quiet {
            write_to(&mut io::stdout().lock(), text);
        }
    }

    /// A document for programs, also when quiet: whoever asks for one reads it.
    pub fn document(&self, text: &str) {
        write_to(&mut io::stdout().lock(), text);
    }

    /// A line for the user beside the report. Nothing when quiet.
    pub fn message(&self, text: &str) {
        if !self.quiet {
            write_to(&mut io::stderr().lock(), &format!("{text}\n"));
        }
    }

    /// Warnings are messages, errors are shown also when quiet.
    pub fn diagnostic(&self, diagnostic: &Diagnostic) {
        if !self.quiet || diagnostic.is_error() {
            let text = diagnostic.render(self.stderr_styled);
            write_to(&mut io::stderr().lock(), &format!("{text}\n"));
        }
    }
}

fn write_to(stream: &mut impl io::Write, text: &str) {
    // A closed pipe is the reader's wish, and there is nowhere left to report any other failure to.
    let _ = stream
        .write_all(text.as_bytes())
        .and_then(|()| stream.flush());
}
