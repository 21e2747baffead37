//! Recognizes common problems in the messages of ssh.

use super::find_sign;

/// The cause of a failed ssh connection.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SshProblem {
    /// The key of the server is unknown.
    UnknownHostKey,
    /// The key of the server differs from the one in `known_hosts`.
    ChangedHostKey,
    /// A file with a key of the user is invalid, or other users may read it.
    KeyFile,
    /// The server accepts none of the user's keys.
    Key,
}

/// Parts of messages, each with the problem that it indicates. Earlier entries take precedence.
const SIGNS: [(&str, SshProblem); 4] = [
    (
        "REMOTE HOST IDENTIFICATION HAS CHANGED",
        SshProblem::ChangedHostKey,
    ),
    ("Host key verification failed", SshProblem::UnknownHostKey),
    ("Load key \"", SshProblem::KeyFile),
    ("Permission denied (", SshProblem::Key),
];

impl SshProblem {
    /// Finds the problem, and the line of the message that shows it.
    pub fn find(message: &str) -> Option<(Self, &str)> {
        find_sign(message, &SIGNS)
    }

    /// Returns the next step for the user.
    pub const fn hint(self) -> &'static str {
        match self {
            Self::UnknownHostKey => {
                "connect once with `ssh`, or add the server's key to `known_hosts` with `ssh-keyscan`, after comparing it with the key \
                 that the server's operator publishes"
            }
            Self::ChangedHostKey => {
                "find out from the server's operator whether its key changed before you replace it in `known_hosts`: another server may \
                 intercept the connection"
            }
            Self::KeyFile => {
                "correct the key file that the message names: it must contain a private key, and only its owner may read it (`chmod 600`)"
            }
            Self::Key => {
                "add an ssh key that may read the repository to this user's agent or `~/.ssh`; ssh runs without prompts, so the key must \
                 not require a passphrase outside the agent"
            }
        }
    }
}
