//! Runs a program with limits on time, memory and output.

use std::io;
use std::ops::ControlFlow;
use std::process::{Command, ExitStatus, Stdio};
use std::time::Duration;

use tokio::io::{AsyncRead, AsyncReadExt as _, AsyncWriteExt as _};
use tokio::process::ChildStdin;

use super::containment::{ProcessGroup, isolate};

/// The time limit for one command. The largest module repositories take a minute on a slow connection.
pub const PROCESS_TIMEOUT: Duration = Duration::from_secs(600);

/// The number of bytes to retain from the end of standard error. Error messages quote only the last lines, and a server can send any
/// number of lines.
pub const MAX_ERROR_TEXT: usize = 64 << 10;

/// The maximum number of bytes of standard output to collect: enough for the paths of a few million files.
pub const MAX_OUTPUT: usize = 256 << 20;

const BUFFER_BYTES: usize = 64 << 10;

/// Receives standard output as it arrives. [`ControlFlow::Break`] kills the program.
pub type OutputSink<'a> = dyn FnMut(&[u8]) -> ControlFlow<()> + Send + 'a;

/// The result of a program that has exited.
#[derive(Debug)]
pub struct ProcessOutput {
    pub status: ExitStatus,
    /// The program's standard output; empty if a sink received it.
    pub stdout: Vec<u8>,
    /// The end of the program's standard error.
    pub stderr: Vec<u8>,
}

/// The reason why a program could not run to its end. All of its processes are killed.
#[derive(Debug, thiserror::Error)]
pub enum RunError {
    /// The program does not start, or a pipe to it breaks.
    #[error(transparent)]
    System(#[from] io::Error),
    /// The program exceeds [`PROCESS_TIMEOUT`].
    #[error("it did not finish within {} s", PROCESS_TIMEOUT.as_secs())]
    Timeout,
    /// The program writes too much to standard output.
    #[error("its output exceeds the limit of {limit} bytes")]
    TooMuchOutput { limit: usize },
}

/// Runs a program and collects its standard output. Fails if the output exceeds `limit` bytes.
pub async fn run_collecting(
    command: Command,
    input: Vec<u8>,
    limit: usize,
) -> Result<ProcessOutput, RunError> {
    let mut stdout = Vec::new();
    let mut collect = |bytes: &[u8]| {
        stdout.extend_from_slice(bytes);
        if stdout.len() > limit {
            return ControlFlow::Break(());
        }
        ControlFlow::Continue(())
    };
    match run_streaming(command, input, &mut collect).await? {
        Some(output) => Ok(ProcessOutput { stdout, ..output }),
        None => Err(RunError::TooMuchOutput { limit }),
    }
}

/// Does the same as [`run_collecting`] with the limit [`MAX_OUTPUT`], for callers outside an asynchronous runtime.
pub fn run_blocking(command: Command, input: Vec<u8>) -> Result<ProcessOutput, RunError> {
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build()?;
    runtime.block_on(run_collecting(command, input, MAX_OUTPUT))
}

/// Runs a program and passes its standard output to `sink`. Returns `None` if the sink stopped the program.
pub async fn run_streaming(
    mut command: Command,
    input: Vec<u8>,
    sink: &mut OutputSink<'_>,
) -> Result<Option<ProcessOutput>, RunError> {
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
    let group = ProcessGroup::contain(&child);
    let (stdin, stdout, stderr) = (child.stdin.take(), child.stdout.take(), child.stderr.take());
    let run = async {
        tokio::try_join!(
            async {
                write_input(stdin, &input).await;
                Ok(())
            },
            stream(stdout, sink),
            async { Ok(read_end(stderr).await?) },
            async { Ok(child.wait().await?) },
        )
    };
    let ended = tokio::time::timeout(PROCESS_TIMEOUT, run)
        .await
        .map_err(|_elapsed| RunError::Timeout)?;
    let (stderr, status) = match ended {
        Ok(((), (), stderr, status)) => (stderr, status),
        Err(StreamError::Stopped) => return Ok(None),
        Err(StreamError::System(error)) => return Err(error.into()),
    };
    group.release();
    Ok(Some(ProcessOutput {
        status,
        stdout: Vec::new(),
        stderr,
    }))
}

/// The reason why reading from a program ended early.
enum StreamError {
    /// The sink stopped the program.
    Stopped,
    System(io::Error),
}

impl From<io::Error> for StreamError {
    fn from(error: io::Error) -> Self {
        Self::System(error)
    }
}

/// Writes the input. Errors are ignored, because the program need not read all input, and its exit status shows whether it succeeded.
async fn write_input(pipe: Option<ChildStdin>, input: &[u8]) {
    if let Some(mut pipe) = pipe {
        let _ = pipe.write_all(input).await;
    }
}

async fn stream(
    pipe: Option<impl AsyncRead + Unpin>,
    sink: &mut OutputSink<'_>,
) -> Result<(), StreamError> {
    let Some(mut pipe) = pipe else { return Ok(()) };
    let mut buffer = vec![0; BUFFER_BYTES];
    loop {
        let count = pipe.read(&mut buffer).await?;
        if count == 0 {
            return Ok(());
        }
        if sink(&buffer[..count]).is_break() {
            return Err(StreamError::Stopped);
        }
    }
}

/// Reads the pipe to its end, and returns the last [`MAX_ERROR_TEXT`] bytes.
async fn read_end(pipe: Option<impl AsyncRead + Unpin>) -> io::Result<Vec<u8>> {
    let Some(mut pipe) = pipe else {
        return Ok(Vec::new());
    };
    let mut end = Vec::new();
    while pipe.read_buf(&mut end).await? > 0 {
        if end.len() >= 2 * MAX_ERROR_TEXT {
            end.drain(..end.len() - MAX_ERROR_TEXT);
        }
    }
    end.drain(..end.len().saturating_sub(MAX_ERROR_TEXT));
    Ok(end)
}

#[cfg(test)]
#[cfg(unix)]
mod tests {
    use super::*;

    fn shell(script: &str) -> Command {
        let mut command = Command::new("sh");
        command.args(["-c", script]);
        command
    }

    #[test]
    fn the_end_of_standard_error_is_retained() {
        let noise = "head -c 3000000 /dev/zero | tr '\\0' x >&2; echo end >&2; echo out; exit 3";
        let finished = run_blocking(shell(noise), Vec::new()).unwrap();
        assert_eq!(finished.status.code(), Some(3));
        assert_eq!(finished.stdout, b"out\n");
        assert_eq!(finished.stderr.len(), MAX_ERROR_TEXT);
        assert!(finished.stderr.ends_with(b"xend\n"));
    }

    #[test]
    fn input_need_not_be_read_and_arrives_unchanged() {
        let input = vec![b'x'; 1 << 20];
        let copied = run_blocking(shell("cat"), input.clone()).unwrap();
        assert_eq!(copied.stdout, input);
        let unread = run_blocking(shell("exit 0"), input).unwrap();
        assert!(unread.status.success());
    }

    #[test]
    fn too_much_output_kills_all_processes() {
        let directory = tempfile::tempdir().unwrap();
        let pid = directory.path().join("pid");
        let script = format!("sleep 600 & echo $! > '{}'; yes", pid.display());
        let runtime = tokio::runtime::Builder::new_current_thread()
            .enable_all()
            .build()
            .unwrap();
        let error = runtime
            .block_on(run_collecting(shell(&script), Vec::new(), 1 << 20))
            .unwrap_err();
        assert_eq!(
            error.to_string(),
            "its output exceeds the limit of 1048576 bytes"
        );
        let child = std::fs::read_to_string(pid).unwrap();
        wait_for_end(child.trim());
    }

    /// Waits until a process has exited. A zombie counts as exited, because it may never be reaped.
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
        assert_eq!(String::from_utf8_lossy(&finished.stdout), expected);
    }
}
