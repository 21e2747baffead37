//! Shows that a command is alive from its first moment: settings, a working set and `--callers` may take seconds in a large
//! repository, and nobody should look at an empty terminal for that long.

use std::sync::Arc;

use crate::printer::Printer;
use crate::progress::ProgressBars;
use crate::reporter::{self, Reporter};
use crate::settings::OutputSettings;

/// The progress of a command, for as long as it works. Dropped, it leaves the terminal clean.
pub(super) struct Alive(Option<Arc<ProgressBars>>);

impl Alive {
    /// Draws the first line now, if somebody looks at a terminal and wants to see it.
    pub(super) fn show(output: OutputSettings) -> Self {
        let wanted = output.progress && Printer::stderr_is_terminal();
        Self(wanted.then(|| Arc::new(ProgressBars::on_stderr())))
    }

    /// Whom the core tells what it does.
    pub(super) fn reporter(&self) -> Arc<dyn Reporter> {
        match &self.0 {
            Some(bars) => Arc::clone(bars) as Arc<dyn Reporter>,
            None => reporter::silent(),
        }
    }

    /// Lets `print` write on lines of its own, with the progress below them.
    pub(super) fn aside(&self, print: impl FnOnce()) {
        match &self.0 {
            Some(bars) => bars.aside(print),
            None => print(),
        }
    }
}

impl Drop for Alive {
    fn drop(&mut self) {
        if let Some(bars) = &self.0 {
            bars.clear();
        }
    }
}
