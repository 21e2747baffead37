//! The skeleton of the commands that work on directories: `lock`, `verify`, `list` and `mirror`.
//!
//! [`run`] reads all directories, surveys them together, works on them concurrently, and reports. A command implements the
//! steps. An error in one directory does not stop the others.

use std::sync::Arc;
use std::time::Instant;

use anyhow::Context as _;

use crate::modules::Fetcher;
use crate::printer::Printer;
use crate::settings::TreeSettings;

use super::CommandError;
use super::concurrency::map_bounded;
use super::read::{self, ReadDirectory};
use super::session::Session;

/// The steps of one command.
pub(super) trait DirectoryCommand: Send + Sync + Sized + 'static {
    /// What the command determines from all directories together before it works on the first one.
    type Survey: Send + Sync + 'static;
    /// The result for one directory.
    type Outcome: Send + 'static;
    /// The result of the run.
    type Report;

    /// The message after Ctrl-C or SIGTERM. It describes the state of the files on disk.
    const INTERRUPTED: &'static str;

    fn tree(&self) -> &TreeSettings;

    /// Surveys all directories. It may block. An error ends the run before `work_on` is called.
    fn survey(&self, directories: &[ReadDirectory]) -> Result<Self::Survey, CommandError>;

    /// Works on one directory. The future may be dropped at any await point and must never leave a partly written file.
    fn work_on(
        &self,
        directory: ReadDirectory,
        survey: &Self::Survey,
    ) -> impl Future<Output = Self::Outcome> + Send;

    /// Completes the work after all directories and builds the report. `outcomes` are in no particular order.
    fn report(
        self: Arc<Self>,
        outcomes: Vec<Self::Outcome>,
        survey: &Self::Survey,
        started: Instant,
    ) -> impl Future<Output = Result<Self::Report, CommandError>>;

    /// Prints the report and returns the exit code.
    fn publish(&self, report: &Self::Report, printer: Printer) -> u8;
}

/// Runs a command in a session and returns its exit code.
pub(super) fn run<C: DirectoryCommand>(session: Session, command: C) -> Result<u8, CommandError> {
    let (command, printer) = (Arc::new(command), session.printer);
    let work = work(Arc::clone(&command), Arc::clone(&session.fetcher));
    let publish = |report| command.publish(&report, printer);
    session.run(work, publish, C::INTERRUPTED)
}

async fn work<C: DirectoryCommand>(
    command: Arc<C>,
    fetcher: Arc<Fetcher>,
) -> Result<C::Report, CommandError> {
    let started = Instant::now();
    let reading = {
        let command = Arc::clone(&command);
        tokio::task::spawn_blocking(move || {
            let directories = read::read_directories(command.tree(), &fetcher);
            let survey = command.survey(&directories)?;
            Ok::<_, CommandError>((directories, survey))
        })
    };
    let (directories, survey) = reading.await.context("reading the directories stopped")??;
    let survey = Arc::new(survey);
    let outcomes = map_bounded(directories, |directory| {
        let (command, survey) = (Arc::clone(&command), Arc::clone(&survey));
        async move { command.work_on(directory, &survey).await }
    })
    .await?;
    command.report(outcomes, &survey, started).await
}
