//! Limits the memory of a program and its child processes, and kills all of them if a command is aborted.
//!
//! On Unix, the processes form a process group. On Linux, each process may use [`MAX_MEMORY`] bytes of private memory; mapped files,
//! such as packs, do not count. On other systems memory is unlimited, and on Windows only the program itself is killed.

use std::process::Command;

use tokio::process::Child;

/// The maximum private memory of each process, in bytes. Git and Mercurial need a few hundred megabytes for the largest module
/// repositories.
pub const MAX_MEMORY: u64 = 4 << 30;

/// Configures `command` to start its process as the leader of a new process group.
pub(super) fn isolate(command: &mut Command) {
    #[cfg(unix)]
    {
        use std::os::unix::process::CommandExt as _;
        command.process_group(0);
    }
    #[cfg(not(unix))]
    let _ = command;
}

/// The process group of a child process. Dropping this value kills the whole group, unless it was released.
pub(super) struct ProcessGroup {
    #[cfg(unix)]
    leader: Option<rustix::process::Pid>,
}

impl ProcessGroup {
    /// Limits the memory of a child process that was started with an [`isolate`]d command, and takes ownership of its group.
    pub(super) fn contain(child: &Child) -> Self {
        #[cfg(unix)]
        {
            let id = child.id().and_then(|id| i32::try_from(id).ok());
            let leader = id.and_then(rustix::process::Pid::from_raw);
            #[cfg(target_os = "linux")]
            leader.into_iter().for_each(memory::limit);
            Self { leader }
        }
        #[cfg(not(unix))]
        {
            let _ = child;
            Self {}
        }
    }

    /// Gives up ownership without killing the group. Call this when the leader has exited, because the system may reuse its process
    /// ID. Processes that the leader left running, such as a credential cache, should continue to run.
    pub(super) fn release(mut self) {
        #[cfg(unix)]
        {
            self.leader = None;
        }
        #[cfg(not(unix))]
        let _ = &mut self;
    }
}

#[cfg(unix)]
impl Drop for ProcessGroup {
    fn drop(&mut self) {
        if let Some(leader) = self.leader {
            // This fails if all processes of the group have exited.
            let _ = rustix::process::kill_process_group(leader, rustix::process::Signal::KILL);
        }
    }
}

#[cfg(target_os = "linux")]
mod memory {
    use std::fs;

    use rustix::process::{Pid, Resource, Rlimit, getrlimit, prlimit};

    use super::MAX_MEMORY;

    /// Limits the memory of a process that has just started, and of its existing children. Later children inherit the limit.
    pub(super) fn limit(process: Pid) {
        let inherited = getrlimit(Resource::Data);
        let lower =
            |limit: Option<u64>| Some(limit.map_or(MAX_MEMORY, |limit| limit.min(MAX_MEMORY)));
        let lowered = Rlimit {
            current: lower(inherited.current),
            maximum: lower(inherited.maximum),
        };
        // This fails if the process has exited.
        let _ = prlimit(Some(process), Resource::Data, lowered);
        children(process).into_iter().for_each(limit);
    }

    fn children(process: Pid) -> Vec<Pid> {
        let id = process.as_raw_nonzero();
        fs::read_to_string(format!("/proc/{id}/task/{id}/children"))
            .unwrap_or_default()
            .split_whitespace()
            .filter_map(|id| id.parse().ok())
            .filter_map(Pid::from_raw)
            .collect()
    }
}
