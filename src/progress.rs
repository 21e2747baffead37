//! Progress on stderr: a spinner while directories are read, then one bar for each package that is being downloaded and one
//! for the total. The bars consist of ASCII characters, which every terminal can show.
//!
//! Progress is shown only if stderr is a terminal and tflock does not run in a CI system.

use std::collections::HashMap;
use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use indicatif::{MultiProgress, ProgressBar, ProgressDrawTarget, ProgressStyle};

use crate::display::visible_name;
use crate::parallel::lock;
use crate::reporter::{Reporter, TransferId};

/// Frames per second. A higher rate would overload slow terminals.
const REFRESH_HZ: u8 = 8;

/// The time between two steps of the spinner.
const TICK: Duration = Duration::from_millis(125);

pub struct ProgressBars {
    bars: MultiProgress,
    overall: ProgressBar,
    transfers: Mutex<HashMap<TransferId, ProgressBar>>,
    shown: AtomicBool,
}

impl ProgressBars {
    /// Draws the spinner on stderr. Bars replace it when the first download starts.
    pub fn on_stderr() -> Self {
        let bars = MultiProgress::with_draw_target(ProgressDrawTarget::stderr_with_hz(REFRESH_HZ));
        let overall =
            bars.add(ProgressBar::no_length().with_style(style("{spinner} {msg}  {elapsed}")));
        overall.set_message("reading directories, querying registries");
        overall.enable_steady_tick(TICK);
        Self {
            bars,
            overall,
            transfers: Mutex::default(),
            shown: AtomicBool::new(false),
        }
    }

    /// Hides the bars while `print` writes to the terminal.
    pub fn suspend(&self, print: impl FnOnce()) {
        self.bars.suspend(print);
    }

    pub fn clear(&self) {
        self.overall.finish_and_clear();
        for (_, bar) in lock(&self.transfers).drain() {
            bar.finish_and_clear();
        }
        // An error means that the terminal was closed.
        let _ = self.bars.clear();
    }

    fn show_overall(&self) {
        if !self.shown.swap(true, Ordering::Relaxed) {
            let bar = style("{bar:24.cyan} {pos}/{len} packages  {elapsed}, about {eta} left");
            self.overall.set_style(bar);
        }
    }
}

impl Reporter for ProgressBars {
    fn packages_planned(&self, packages: u64) {
        self.overall.set_length(packages);
    }

    fn transfer_started(&self, id: TransferId, label: &str, size: Option<u64>) {
        self.show_overall();
        let (bar, template) = match size {
            Some(size) => (
                ProgressBar::new(size),
                "  {msg:40!} {bar:16} {bytes:>10}/{total_bytes:10} {binary_bytes_per_sec}",
            ),
            None => (
                ProgressBar::no_length(),
                "  {msg:40!} {bytes} {binary_bytes_per_sec}",
            ),
        };
        let bar = self
            .bars
            .insert_before(&self.overall, bar.with_style(style(template)));
        bar.set_message(visible_name(label).into_owned());
        lock(&self.transfers).insert(id, bar);
    }

    fn transfer_advanced(&self, id: TransferId, bytes: u64) {
        if let Some(bar) = lock(&self.transfers).get(&id) {
            bar.inc(bytes);
        }
    }

    fn transfer_finished(&self, id: TransferId) {
        if let Some(bar) = lock(&self.transfers).remove(&id) {
            bar.finish_and_clear();
            self.bars.remove(&bar);
        }
    }

    fn package_finished(&self) {
        self.overall.inc(1);
    }

    fn retrying(&self, what: &str, why: &str, wait: Duration) {
        self.waiting(&format!(
            "{what}: {why}; trying again in {:.1} s",
            wait.as_secs_f64()
        ));
    }

    fn waiting(&self, message: &str) {
        // An error means that the terminal was closed.
        let _ = self.bars.println(visible_name(message));
    }
}

fn style(template: &str) -> ProgressStyle {
    ProgressStyle::with_template(template)
        .expect("the templates in this file are valid")
        .progress_chars("=> ")
        .tick_chars("|/-\\ ")
}
