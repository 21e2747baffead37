//! Recognizes common problems in the messages of Mercurial, which are in English because it runs with `LC_ALL=C`.

use crate::subprocess::{SshProblem, find_sign};

/// The cause of a failed Mercurial command.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum HgProblem {
    Ssh(SshProblem),
    /// The server requires credentials, or rejects those in the address.
    Credentials,
    /// The server has no such repository, or hides it from this user.
    NoRepository,
    /// The repository has no such revision, or the abbreviated hash is ambiguous.
    UnknownRevision,
    UnknownHost,
    Unreachable,
    Certificate,
    /// The server responds with an error that may be temporary.
    ServerError,
    DiskFull,
    /// The repository requires an extension or a newer version.
    Requirement,
    /// Objects of the repository are missing or damaged.
    Damaged,
}

/// Parts of messages, each with the problem that it indicates. Earlier entries take precedence: the messages of later ones can also be
/// consequences of other problems.
const SIGNS: [(&str, HgProblem); 31] = {
    use HgProblem as Problem;
    [
        ("Could not resolve host", Problem::UnknownHost),
        ("Name or service not known", Problem::UnknownHost),
        ("name resolution", Problem::UnknownHost),
        ("nodename nor servname", Problem::UnknownHost),
        ("getaddrinfo failed", Problem::UnknownHost),
        ("certificate verify failed", Problem::Certificate),
        ("certificate error", Problem::Certificate),
        ("server certificate", Problem::Certificate),
        ("unable to verify security", Problem::Certificate),
        ("onnection refused", Problem::Unreachable),
        ("timed out", Problem::Unreachable),
        ("Network is unreachable", Problem::Unreachable),
        ("No route to host", Problem::Unreachable),
        ("http authorization required", Problem::Credentials),
        ("authorization failed", Problem::Credentials),
        ("HTTP Error 401", Problem::Credentials),
        ("HTTP Error 403", Problem::Credentials),
        ("HTTP Error 404", Problem::NoRepository),
        ("HTTP Error 410", Problem::NoRepository),
        ("HTTP Error 429", Problem::ServerError),
        ("HTTP Error 5", Problem::ServerError),
        ("No space left on device", Problem::DiskFull),
        ("Disk quota exceeded", Problem::DiskFull),
        ("unknown revision ", Problem::UnknownRevision),
        ("ambiguous identifier", Problem::UnknownRevision),
        ("requires features unknown", Problem::Requirement),
        ("remote error:", Problem::Requirement),
        ("integrity check failed", Problem::Damaged),
        ("no match found", Problem::Damaged),
        (" not found", Problem::NoRepository),
        ("no suitable response from remote", Problem::NoRepository),
    ]
};

impl HgProblem {
    /// Finds the problem, and the line of the message that shows it.
    pub fn find(message: &str) -> Option<(Self, &str)> {
        if let Some((problem, line)) = SshProblem::find(message) {
            return Some((Self::Ssh(problem), line));
        }
        find_sign(message, &SIGNS)
    }

    /// Returns the next step for the user.
    pub const fn hint(self) -> &'static str {
        match self {
            Self::Ssh(problem) => problem.hint(),
            Self::Credentials => {
                "use an address with `ssh://`: Mercurial runs without its configuration, so over https it has only the credentials in \
                 the address"
            }
            Self::NoRepository => {
                "check that the address is correct and that this user can read the repository; an ssh server must have `hg` in its `PATH`"
            }
            Self::UnknownRevision => {
                "correct `rev`: it must be one branch, tag, bookmark or commit of the repository, not a revset"
            }
            Self::UnknownHost => {
                "check the spelling of the host name; if the host can be reached only through a proxy, set `http_proxy`, \
                 which Mercurial uses for https but not for ssh"
            }
            Self::Unreachable => {
                "check the address and whether this machine can reach the server; if it can be reached only through a proxy, set \
                 `http_proxy`, which Mercurial uses for https but not for ssh"
            }
            Self::Certificate => {
                "if your company issued the certificate, add its CA certificate to the system's store, or set `SSL_CERT_FILE` to its \
                 path"
            }
            Self::ServerError => "try again later: the server is overloaded or out of order",
            Self::DiskFull => {
                "free space on the disk, or set `TFLOCK_CACHE_DIR` to a different one"
            }
            Self::Requirement => {
                "install a newer version of Mercurial; repositories that require an extension are not supported"
            }
            Self::Damaged => {
                "run `hg verify` in the repository on the server, and repair it or clone it again"
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_line_with_the_cause_is_found() {
        const SSH: &str = "remote: hg@h.test: Permission denied (publickey).\r\nabort: no suitable response from remote hg\n";
        for (message, expected) in [
            (
                SSH,
                Some((
                    HgProblem::Ssh(SshProblem::Key),
                    "remote: hg@h.test: Permission denied (publickey).",
                )),
            ),
            (
                "abort: repository /srv/r not found\n",
                Some((
                    HgProblem::NoRepository,
                    "abort: repository /srv/r not found",
                )),
            ),
            ("abort: something else", None),
        ] {
            assert_eq!(HgProblem::find(message), expected, "{message}");
        }
    }
}
