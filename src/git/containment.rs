//! What git and its children may take of the machine, and how all of them are ended.
//!
//! On Unix they are a process group of their own. On Linux each may have [`MAX_MEMORY`] of private memory; files that git maps,
//! such as packs, do not count. Elsewhere only git itself is ended, and its memory has no limit.

use std::process::Command;

use tokio::process::Child;

/// The most private memory of each process in bytes. Git holds the largest module repositories in some hundred megabytes.
pub const MAX_MEMORY: u64 = 4 << 30;

/// Makes the child that is to be started the first of a process group.
pub(super) fn isolate(command: &mut Command) {
    #[cfg(unix)]
    {
        use std::os::unix::process::CommandExt as _;
        command.process_group(0);
    }
    #[cfg(not(unix))]
    let _ = command;
}

/// The process group of a child. All of it is killed unless the child has ended by itself.
pub(super) struct ProcessGroup {
    #[cfg(unix)]
    leader: Option<rustix::process::Pid>,
}

impl ProcessGroup {
    /// Limits the memory of a child that [`isolate`] prepared, and takes charge of its group.
    pub(super) fn of(child: &Child) -> Self {
        #[cfg(unix)]
        {
            let leader = child.id().and_then(|id| i32::try_from(id).ok());
            let leader = leader.and_then(rustix::process::Pid::from_raw);
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

    /// Leaves the group alone from now on: its first process has ended, so that its number may soon be another's. What it
    /// left behind is meant to stay, such as a cache of credentials.
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
            // A group that is gone needs no signal.
            let _ = rustix::process::kill_process_group(leader, rustix::process::Signal::KILL);
        }
    }
}

#[cfg(target_os = "linux")]
mod memory {
    use std::fs;

    use rustix::process::{Pid, Resource, Rlimit, getrlimit, prlimit};

    use super::MAX_MEMORY;

    /// Limits a process that has just been started. Children that it has already must have been started before the limit,
    /// which all later ones inherit.
    pub(super) fn limit(process: Pid) {
        let inherited = getrlimit(Resource::Data);
        let lower =
            |limit: Option<u64>| Some(limit.map_or(MAX_MEMORY, |limit| limit.min(MAX_MEMORY)));
        let limit_to = Rlimit {
            current: lower(inherited.current),
            maximum: lower(inherited.maximum),
        };
        // The process may have ended.
        let _ = prlimit(Some(process), Resource::Data, limit_to);
        children(process).into_iter().for_each(limit);
    }

    fn children(process: Pid) -> Vec<Pid> {
        let id = process.as_raw_nonzero();
        let text = fs::read_to_string(format!("/proc/{id}/task/{id}/children"));
        let text = text.unwrap_or_default();
        let ids = text.split_whitespace().filter_map(|id| id.parse().ok());
        ids.filter_map(Pid::from_raw).collect()
    }
}
