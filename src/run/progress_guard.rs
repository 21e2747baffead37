//! Shows progress from the start of a command, because reading settings and evaluating `--changed` and `--callers` can take
//! seconds in a large repository.

use std::sync::Arc;

use crate::printer::Printer;
use crate::progress::ProgressBars;
use crate::reporter::Reporter;
use crate::settings::OutputSettings;

/// The progress display of a command. Dropping it clears the display.
pub(super) struct ProgressGuard {
    /// `None` if no progress is shown.
    bars: Option<Arc<ProgressBars>>,
    printer: Printer,
}

/// Reports long waits on stderr, and nothing else.
struct WaitReporter(Printer);

impl Reporter for WaitReporter {
    fn waiting(&self, message: &str) {
        self.0.message(message);
    }
}

impl ProgressGuard {
    /// Draws the first line immediately if stderr is a terminal and the settings allow progress.
    pub(super) fn show(output: OutputSettings) -> Self {
        let is_shown = output.progress && Printer::stderr_is_terminal();
        Self {
            bars: is_shown.then(|| Arc::new(ProgressBars::on_stderr())),
            printer: Printer::new(output.quiet, output.verbosity, output.styled),
        }
    }

    pub(super) fn reporter(&self) -> Arc<dyn Reporter> {
        match &self.bars {
            Some(bars) => Arc::clone(bars) as Arc<dyn Reporter>,
            None => Arc::new(WaitReporter(self.printer)),
        }
    }

    /// Hides the progress display while `print` writes to the terminal.
    pub(super) fn suspend(&self, print: impl FnOnce()) {
        match &self.bars {
            Some(bars) => bars.suspend(print),
            None => print(),
        }
    }
}

impl Drop for ProgressGuard {
    fn drop(&mut self) {
        if let Some(bars) = &self.bars {
            bars.clear();
        }
    }
}
