//! One run of a program with bounds: time, memory, and how much of what it writes is kept.

use std::io;
use std::ops::ControlFlow;
use std::process::{Command, ExitStatus, Stdio};
use std::time::Duration;

use tokio::io::{AsyncRead, AsyncReadExt as _, AsyncWriteExt as _};
use tokio::process::ChildStdin;

use super::containment::{ProcessGroup, isolate};

/// The most time for one run. The largest module repositories take a minute on a slow line.
pub const GIT_TIMEOUT: Duration = Duration::from_secs(600);

/// How much of the end of standard error is kept: messages repeat its last lines, and servers may write without an end.
pub const MAX_ERROR_TEXT: usize = 64 << 10;

/// The most bytes of standard output that are collected: the paths of some million files.
pub const MAX_OUTPUT: usize = 256 << 20;

/// As many characters of what git wrote are repeated in an error.
const MAX_MESSAGE: usize = 300;

/// As much is read at once.
const CHUNK: usize = 64 << 10;

/// Takes a part of what a program writes, and says whether it wants more.
pub type Taker<'a> = dyn FnMut(&[u8]) -> ControlFlow<()> + Send + 'a;

/// How a program ended.
#[derive(Debug)]
pub struct Finished {
    /// The exit code.
    pub status: ExitStatus,
    /// What it wrote; empty if it was passed on.
    pub output: Vec<u8>,
    /// The end of its standard error.
    pub errors: Vec<u8>,
}

impl Finished {
    /// The first line of its standard error for an error message, or its exit code.
    pub(super) fn message(&self) -> String {
        let text = String::from_utf8_lossy(&self.errors);
        let line = text.lines().find(|line| !line.trim().is_empty());
        line.map_or_else(
            || self.status.to_string(),
            |line| {
                let visible = line.chars().filter(|character| !character.is_control());
                visible.take(MAX_MESSAGE).collect()
            },
        )
    }
}

/// Why a run has no result. All of its processes are killed by then.
#[derive(Debug, thiserror::Error)]
pub enum RunError {
    /// The program does not start, or the connection with it breaks.
    #[error(transparent)]
    System(#[from] io::Error),
    /// The caller wants no more of its output.
    #[error("git was stopped")]
    Stopped,
    /// It does not end.
    #[error("git did not end within {} s", GIT_TIMEOUT.as_secs())]
    Timeout,
    /// It writes more than it should.
    #[error("git wrote more than {limit} bytes, the most that are read")]
    TooMuchOutput {
        /// The limit.
        limit: usize,
    },
}

/// Runs a program to its end, and collects at most `limit` bytes of its output.
pub async fn run(command: Command, input: Vec<u8>, limit: usize) -> Result<Finished, RunError> {
    let mut output = Vec::new();
    let mut collect = |bytes: &[u8]| {
        output.extend_from_slice(bytes);
        if output.len() > limit {
            return ControlFlow::Break(());
        }
        ControlFlow::Continue(())
    };
    match run_into(command, input, &mut collect).await {
        Err(RunError::Stopped) => Err(RunError::TooMuchOutput { limit }),
        finished => Ok(Finished {
            output,
            ..finished?
        }),
    }
}

/// Like [`run`], for callers that have no runtime.
pub(super) fn run_blocking(command: Command, input: Vec<u8>) -> Result<Finished, RunError> {
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build()?;
    runtime.block_on(run(command, input, MAX_OUTPUT))
}

/// Runs a program to its end and passes its output on as it comes, until `take` wants no more.
pub async fn run_into(
    mut command: Command,
    input: Vec<u8>,
    take: &mut Taker<'_>,
) -> Result<Finished, RunError> {
    isolate(&mut command);
    let mut command = tokio::process::Command::from(command);
    command
        .stdin(if input.is_empty() {
            Stdio::null()
        } else {
            Stdio::piped()
        })
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .kill_on_drop(true);
    let mut child = command.spawn()?;
    let group = ProcessGroup::of(&child);
    let (stdin, stdout, stderr) = (child.stdin.take(), child.stdout.take(), child.stderr.take());
    let work = async {
        tokio::try_join!(
            feed(stdin, &input),
            pass_on(stdout, take),
            async { Ok(tail(stderr).await?) },
            async { Ok(child.wait().await?) },
        )
    };
    let ((), (), errors, status) = tokio::time::timeout(GIT_TIMEOUT, work)
        .await
        .map_err(|_elapsed| RunError::Timeout)??;
    group.release();
    Ok(Finished {
        status,
        output: Vec::new(),
        errors,
    })
}

/// Writes to a program, which need not read all of it: its status tells what it makes of that.
async fn feed(pipe: Option<ChildStdin>, input: &[u8]) -> Result<(), RunError> {
    if let Some(mut pipe) = pipe {
        let _ = pipe.write_all(input).await;
    }
    Ok(())
}

async fn pass_on(
    pipe: Option<impl AsyncRead + Unpin>,
    take: &mut Taker<'_>,
) -> Result<(), RunError> {
    let Some(mut pipe) = pipe else { return Ok(()) };
    let mut chunk = vec![0; CHUNK];
    loop {
        let count = pipe.read(&mut chunk).await?;
        if count == 0 {
            return Ok(());
        }
        if take(&chunk[..count]).is_break() {
            return Err(RunError::Stopped);
        }
    }
}

/// The last [`MAX_ERROR_TEXT`] bytes.
async fn tail(pipe: Option<impl AsyncRead + Unpin>) -> io::Result<Vec<u8>> {
    let Some(mut pipe) = pipe else {
        return Ok(Vec::new());
    };
    let mut kept = Vec::new();
    while pipe.read_buf(&mut kept).await? > 0 {
        if kept.len() >= 2 * MAX_ERROR_TEXT {
            kept.drain(..kept.len() - MAX_ERROR_TEXT);
        }
    }
    kept.drain(..kept.len().saturating_sub(MAX_ERROR_TEXT));
    Ok(kept)
}

#[cfg(all(test, unix))]
mod tests {
    use super::*;

    fn shell(script: &str) -> Command {
        let mut command = Command::new("sh");
        command.args(["-c", script]);
        command
    }

    #[test]
    fn the_end_of_standard_error_is_kept() {
        let noise = "head -c 3000000 /dev/zero | tr '\\0' x >&2; echo end >&2; echo out; exit 3";
        let finished = run_blocking(shell(noise), Vec::new()).unwrap();
        assert_eq!(finished.status.code(), Some(3));
        assert_eq!(finished.output, b"out\n");
        assert_eq!(finished.errors.len(), MAX_ERROR_TEXT);
        assert!(finished.errors.ends_with(b"xend\n"));
    }

    #[test]
    fn input_need_not_be_read_and_is_passed_on_as_it_is() {
        let input = vec![b'x'; 1 << 20];
        assert_eq!(
            run_blocking(shell("cat"), input.clone()).unwrap().output,
            input
        );
        assert!(
            run_blocking(shell("exit 0"), input)
                .unwrap()
                .status
                .success()
        );
    }

    #[test]
    fn too_much_output_ends_all_processes() {
        let directory = tempfile::tempdir().unwrap();
        let pid = directory.path().join("pid");
        let script = format!("sleep 600 & echo $! > '{}'; yes", pid.display());
        let runtime = tokio::runtime::Builder::new_current_thread()
            .enable_all()
            .build()
            .unwrap();
        let error = runtime
            .block_on(run(shell(&script), Vec::new(), 1 << 20))
            .unwrap_err();
        assert_eq!(
            error.to_string(),
            "git wrote more than 1048576 bytes, the most that are read"
        );
        let child = std::fs::read_to_string(pid).unwrap();
        wait_for_end(child.trim());
    }

    /// Orphans are reaped by another process, or stay zombies.
    fn wait_for_end(process: &str) {
        let is_alive = || {
            let state = Command::new("ps")
                .args(["-o", "stat=", "-p", process])
                .output()
                .unwrap();
            let state = String::from_utf8_lossy(&state.stdout).trim().to_owned();
            !state.is_empty() && !state.starts_with('Z')
        };
        let start = std::time::Instant::now();
        while is_alive() {
            assert!(
                start.elapsed() < Duration::from_secs(60),
                "{process} is alive"
            );
            std::thread::sleep(Duration::from_millis(5));
        }
    }

    #[cfg(target_os = "linux")]
    #[test]
    fn memory_is_limited_in_all_processes() {
        use super::super::containment::MAX_MEMORY;

        let script = "sleep 0.1; ulimit -d; sh -c 'ulimit -d'";
        let finished = run_blocking(shell(script), Vec::new()).unwrap();
        let limit = MAX_MEMORY >> 10;
        let expected = format!("{limit}\n{limit}\n");
        assert_eq!(String::from_utf8_lossy(&finished.output), expected);
    }
}
