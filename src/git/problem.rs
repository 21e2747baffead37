//! Recognizes common problems in the messages of git and ssh, which are in English because git runs with `LC_ALL=C`.

use crate::subprocess::{ProcessOutput, SshProblem};

/// The maximum number of characters of standard error in an error message.
const MAX_MESSAGE: usize = 300;

/// The cause of a failed git command.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum GitProblem {
    Ssh(SshProblem),
    /// The https server requires credentials, and git has none for it.
    NoCredentials,
    /// The https server rejects the credentials that git sent.
    Credentials,
    /// The server has no such repository, or hides it from this user.
    NoRepository,
    /// The repository has no such branch, tag or commit.
    UnknownReference,
    UnknownHost,
    Unreachable,
    Certificate,
    /// The server responds with an error that may be temporary.
    ServerError,
    /// The program for ssh connections is missing.
    NoSsh,
    Protocol,
    /// The server cannot send a part of the history.
    NoShallow,
    /// A repository on this machine belongs to a different user.
    Owner,
    DiskFull,
    /// This system cannot store the names of the files.
    FileNames,
    /// The repository lacks objects, or objects are damaged.
    Damaged,
    /// The git configuration is invalid.
    Configuration,
}

/// Parts of messages with the problems that they indicate. An earlier one takes precedence: the later ones may also follow from it.
const SIGNS: [(&str, GitProblem); 43] = {
    use GitProblem as Problem;
    [
        ("Could not resolve host", Problem::UnknownHost),
        ("SSL certificate problem", Problem::Certificate),
        ("certificate verification failed", Problem::Certificate),
        ("Connection refused", Problem::Unreachable),
        ("Connection timed out", Problem::Unreachable),
        ("Operation timed out", Problem::Unreachable),
        ("Network is unreachable", Problem::Unreachable),
        ("No route to host", Problem::Unreachable),
        ("Failed to connect to", Problem::Unreachable),
        ("Could not connect to server", Problem::Unreachable),
        ("could not read Username", Problem::NoCredentials),
        ("could not read Password", Problem::NoCredentials),
        ("Authentication failed", Problem::Credentials),
        ("returned error: 401", Problem::Credentials),
        ("returned error: 403", Problem::Credentials),
        ("not allowed to download", Problem::Credentials),
        ("returned error: 404", Problem::NoRepository),
        ("returned error: 429", Problem::ServerError),
        ("returned error: 5", Problem::ServerError),
        ("fatal: cannot run ", Problem::NoSsh),
        ("' not allowed", Problem::Protocol),
        ("does not support shallow", Problem::NoShallow),
        ("dubious ownership", Problem::Owner),
        ("No space left on device", Problem::DiskFull),
        ("Disk quota exceeded", Problem::DiskFull),
        ("File name too long", Problem::FileNames),
        ("invalid path", Problem::FileNames),
        ("is corrupt", Problem::Damaged),
        // With a repository on this machine, two processes report this, in any order.
        (
            "upload-pack: aborting due to possible repository corruption",
            Problem::Damaged,
        ),
        ("repository corruption", Problem::Damaged),
        ("bad object", Problem::Damaged),
        ("bad signature", Problem::Damaged),
        ("index file corrupt", Problem::Damaged),
        ("unable to read tree", Problem::Damaged),
        ("did not send all necessary objects", Problem::Damaged),
        ("bad config line", Problem::Configuration),
        ("Remote branch ", Problem::UnknownReference),
        ("couldn't find remote ref", Problem::UnknownReference),
        ("Needed a single revision", Problem::UnknownReference),
        ("Repository not found", Problem::NoRepository),
        ("could not be found", Problem::NoRepository),
        (
            "does not appear to be a git repository",
            Problem::NoRepository,
        ),
        ("' not found", Problem::NoRepository),
    ]
};

/// The next step for the user.
const HINTS: [(GitProblem, &str); 16] = {
    use GitProblem as Problem;
    [
        (
            Problem::NoCredentials,
            "configure a git credential helper for this host, or a token with `url.<base>.insteadOf`: git runs without prompts",
        ),
        (
            Problem::Credentials,
            "check that the credentials that git has for this host are valid and may read the repository",
        ),
        (
            Problem::NoRepository,
            "check the address, and that this user may read the repository: servers hide private repositories in this way",
        ),
        (
            Problem::UnknownReference,
            "correct `ref`: the repository has no branch, tag or commit of this name",
        ),
        (
            Problem::UnknownHost,
            "check the spelling of the host name; if only a proxy can reach the host, set `https_proxy`, which git uses for https but not \
             for ssh",
        ),
        (
            Problem::Unreachable,
            "check the address and whether this machine can reach the server; if only a proxy can, set `https_proxy`, which git uses for \
             https but not for ssh",
        ),
        (
            Problem::Certificate,
            "if your company issued the certificate, add its CA certificate to the system's store, or set `GIT_SSL_CAINFO` to its path",
        ),
        (
            Problem::ServerError,
            "try again later: the server is overloaded or out of order",
        ),
        (
            Problem::NoSsh,
            "install ssh, or correct `GIT_SSH_COMMAND`, `GIT_SSH` or `core.sshCommand`",
        ),
        (
            Problem::Protocol,
            "use an address with `https://` or `ssh://`, and check `url.<base>.insteadOf` in the git configuration",
        ),
        (
            Problem::NoShallow,
            "use a server that supports git's smart protocol",
        ),
        (
            Problem::Owner,
            "if you trust the repository, add its path to `safe.directory` in the git configuration, or run tflock as its owner",
        ),
        (
            Problem::DiskFull,
            "free space on the disk, or set `TFLOCK_CACHE_DIR` to a different one",
        ),
        (
            Problem::FileNames,
            "rename the files in the repository: this system cannot store files with these names",
        ),
        (
            Problem::Damaged,
            "run `git fsck` in the repository that git reads, and repair it or clone it again",
        ),
        (
            Problem::Configuration,
            "correct the file of the git configuration that the message names",
        ),
    ]
};

impl GitProblem {
    /// Finds the problem, and the line of the message that shows it.
    pub fn find(message: &str) -> Option<(Self, &str)> {
        if let Some((problem, line)) = SshProblem::find(message) {
            return Some((Self::Ssh(problem), line));
        }
        SIGNS.iter().find_map(|(sign, problem)| {
            let line = message.lines().find(|line| line.contains(sign))?;
            Some((*problem, line.trim()))
        })
    }

    /// Returns the problem of a failed command, and the line of standard error that shows it. If the problem is unknown, this is the
    /// first line or, if standard error is empty, the exit status.
    pub(super) fn describe(output: &ProcessOutput) -> (Option<Self>, String) {
        let text = String::from_utf8_lossy(&output.stderr);
        let visible = |line: &str| {
            let visible = line.chars().filter(|character| !character.is_control());
            visible.take(MAX_MESSAGE).collect()
        };
        if let Some((problem, line)) = Self::find(&text) {
            return (Some(problem), visible(line));
        }
        let first = text.lines().find(|line| !line.trim().is_empty());
        (
            None,
            first.map_or_else(|| output.status.to_string(), visible),
        )
    }

    /// Returns the next step for the user.
    pub fn hint(self) -> Option<&'static str> {
        if let Self::Ssh(problem) = self {
            return Some(problem.hint());
        }
        let row = HINTS.iter().find(|(problem, _)| *problem == self);
        row.map(|(_, hint)| *hint)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_line_with_the_cause_is_found() {
        const SSH: &str = "git@h.test: Permission denied (publickey).\r\nfatal: Could not read from remote repository.\n\nPlease make \
                           sure you have the correct access rights\nand the repository exists.\n";
        for (message, expected) in [
            (
                SSH,
                Some((
                    GitProblem::Ssh(SshProblem::Key),
                    "git@h.test: Permission denied (publickey).",
                )),
            ),
            ("fatal: not a git repository: '/x'", None),
            ("", None),
        ] {
            assert_eq!(GitProblem::find(message), expected, "{message}");
        }
    }

    #[test]
    fn every_problem_has_one_hint() {
        for (sign, problem) in SIGNS {
            let hints = HINTS.iter().filter(|(other, _)| *other == problem);
            assert_eq!(hints.count(), 1, "{sign}");
        }
    }
}
