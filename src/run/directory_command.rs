//! The common structure of the commands that process directories: `lock`, `verify`, `list` and `mirror`.
//!
//! [`run`] reads all directories, surveys them together, processes them concurrently, and reports the results. Each command
//! implements these steps. An error in one directory does not stop the work on the others.

use std::sync::Arc;
use std::time::Instant;

use anyhow::Context as _;
use tokio::task::JoinSet;

use crate::modules::Fetcher;
use crate::printer::Printer;
use crate::settings::TreeSettings;

use super::CommandError;
use super::read::{self, ReadDirectory};
use super::session::Session;

/// The maximum number of concurrent tasks. Each waiting task takes a few kilobytes of memory. Most tasks wait for packages, and
/// far fewer packages than this are downloaded at the same time.
const MAX_TASKS: usize = 1024;

/// The steps of a command that processes directories.
pub(super) trait DirectoryCommand: Send + Sync + Sized + 'static {
    /// The data that the command determines from all directories before it processes the first one.
    type Survey: Send + Sync + 'static;
    type Outcome: Send + 'static;
    type Report;

    /// The message that is printed after Ctrl-C or SIGTERM. It describes the state of the files on disk.
    const INTERRUPTED: &'static str;

    fn tree(&self) -> &TreeSettings;

    /// Surveys all directories before `work_on` is called. May block. An error ends the run.
    fn survey(&self, directories: &[ReadDirectory]) -> Result<Self::Survey, CommandError>;

    /// Processes one directory. The future may be dropped at any await point and must never leave a partially written file.
    fn work_on(
        &self,
        directory: ReadDirectory,
        survey: &Self::Survey,
    ) -> impl Future<Output = Self::Outcome> + Send;

    /// Completes the work once all directories are processed, and builds the report. `outcomes` are in no particular order.
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
    let (directories, survey) = reading.await.context("cannot read the directories")??;
    let survey = Arc::new(survey);
    let outcomes = map_bounded(directories, |directory| {
        let (command, survey) = (Arc::clone(&command), Arc::clone(&survey));
        async move { command.work_on(directory, &survey).await }
    })
    .await?;
    command.report(outcomes, &survey, started).await
}

/// Runs `work` for every item, in at most [`MAX_TASKS`] tasks at once. Results are in the order in which the tasks finish.
pub(super) async fn map_bounded<I, T, F>(
    items: impl IntoIterator<Item = I>,
    work: impl Fn(I) -> F,
) -> anyhow::Result<Vec<T>>
where
    T: Send + 'static,
    F: Future<Output = T> + Send + 'static,
{
    let mut waiting = items.into_iter();
    let mut done = Vec::new();
    // Dropping the set cancels the tasks.
    let mut tasks = JoinSet::new();
    loop {
        while tasks.len() < MAX_TASKS
            && let Some(item) = waiting.next()
        {
            tasks.spawn(work(item));
        }
        match tasks.join_next().await {
            Some(result) => done.push(result.context("cannot finish a task")?),
            None => return Ok(done),
        }
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;
    use std::sync::atomic::{AtomicUsize, Ordering};

    use super::*;

    #[tokio::test]
    async fn every_item_is_processed_and_the_limit_holds() {
        let (now, most) = (Arc::new(AtomicUsize::new(0)), Arc::new(AtomicUsize::new(0)));
        let work = |number: usize| {
            let (now, most) = (Arc::clone(&now), Arc::clone(&most));
            async move {
                most.fetch_max(now.fetch_add(1, Ordering::SeqCst) + 1, Ordering::SeqCst);
                tokio::task::yield_now().await;
                now.fetch_sub(1, Ordering::SeqCst);
                number
            }
        };
        let mut done = map_bounded(0..5 * MAX_TASKS, work).await.unwrap();
        done.sort_unstable();
        assert!(done.into_iter().eq(0..5 * MAX_TASKS));
        assert_eq!(most.load(Ordering::SeqCst), MAX_TASKS);
    }

    #[tokio::test]
    async fn a_panic_in_a_task_is_reported() {
        let panic = |text: &'static str| async move { panic!("{text}") };
        let work = map_bounded::<_, (), _>(["oh"], panic).await;
        let error = format!("{:#}", work.unwrap_err());
        assert!(error.starts_with("cannot finish a task: task "), "{error}");
        assert!(error.ends_with("panicked with message \"oh\""), "{error}");
    }
}
