//! Recognizes common problems in the messages of git and ssh, which are in English because git runs with `LC_ALL=C`.

use crate::subprocess::{ProcessOutput, SshProblem, find_sign};

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
    /// The proxy rejects the connection.
    Proxy,
    Certificate,
    /// The server's certificate has expired, or is not valid yet.
    CertificateTime,
    /// The server's certificate is not valid for its host name.
    CertificateName,
    /// Git cannot read the file with trusted certificates.
    CertificateFile,
    /// The server does not use TLS.
    NoTls,
    /// The server responds with an error that may be temporary.
    ServerError,
    /// The ssh program is missing.
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
    /// The repository has a format that this version of git does not support.
    Format,
    /// The git configuration is invalid.
    Configuration,
}

/// Parts of messages, each with the problem that it indicates. Earlier entries take precedence: the messages of later ones can also be
/// consequences of other problems.
const SIGNS: [(&str, GitProblem); 70] = {
    use GitProblem as Problem;
    [
        ("Could not resolve host", Problem::UnknownHost),
        ("Could not resolve proxy", Problem::Proxy),
        ("CONNECT tunnel failed", Problem::Proxy),
        ("from proxy after CONNECT", Problem::Proxy),
        ("returned error: 407", Problem::Proxy),
        ("certificate has expired", Problem::CertificateTime),
        ("certificate is not yet valid", Problem::CertificateTime),
        ("target host name", Problem::CertificateName),
        ("Problem with the SSL CA cert", Problem::CertificateFile),
        ("error setting certificate", Problem::CertificateFile),
        ("SSL certificate problem", Problem::Certificate),
        ("certificate verification failed", Problem::Certificate),
        ("unexpected TLS packet", Problem::NoTls),
        ("wrong version number", Problem::NoTls),
        ("Connection refused", Problem::Unreachable),
        ("Connection timed out", Problem::Unreachable),
        ("Operation timed out", Problem::Unreachable),
        ("Connection closed by", Problem::Unreachable),
        ("Connection reset by", Problem::Unreachable),
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
        ("access denied", Problem::Credentials),
        ("DENIED by ", Problem::Credentials),
        ("remote: Unauthorized", Problem::Credentials),
        ("SAML SSO", Problem::Credentials),
        ("returned error: 404", Problem::NoRepository),
        ("returned error: 410", Problem::NoRepository),
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
        // If the repository is on this machine, both the client and the server report this error, in any order.
        (
            "upload-pack: aborting due to possible repository corruption",
            Problem::Damaged,
        ),
        ("repository corruption", Problem::Damaged),
        ("bad object", Problem::Damaged),
        ("does not match index", Problem::Damaged),
        (".idx is too small", Problem::Damaged),
        // With a repository on this machine, two processes report this, too.
        ("git upload-pack: not our ref", Problem::Damaged),
        ("upload-pack: not our ref", Problem::Damaged),
        ("bad signature", Problem::Damaged),
        ("index file corrupt", Problem::Damaged),
        ("unable to read tree", Problem::Damaged),
        ("did not send all necessary objects", Problem::Damaged),
        ("Expected git repo version", Problem::Format),
        ("unknown repository extension", Problem::Format),
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
        ("' does not exist", Problem::NoRepository),
        ("does not exist or you do not have", Problem::NoRepository),
        ("is this a git repository?", Problem::NoRepository),
    ]
};

/// The hint for each problem.
const HINTS: [(GitProblem, &str); 22] = {
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
            "check that the address is correct and that this user can read the repository: servers hide private repositories in this way",
        ),
        (
            Problem::UnknownReference,
            "correct `ref`: the repository has no branch, tag or commit of this name",
        ),
        (
            Problem::UnknownHost,
            "check the spelling of the host name; if the host can be reached only through a proxy, set `https_proxy`, which git \
             uses for https but not for ssh",
        ),
        (
            Problem::Unreachable,
            "check the address and whether this machine can reach the server; if it can be reached only through a proxy, set \
             `https_proxy`, which git uses for https but not for ssh",
        ),
        (
            Problem::Proxy,
            "check the address and the credentials in `https_proxy` or in `http.proxy` of the git configuration, and whether the proxy \
             allows this host",
        ),
        (
            Problem::Certificate,
            "if your company issued the certificate, add its CA certificate to the system's store, or set `GIT_SSL_CAINFO` to its path; \
             otherwise check whether the certificate has expired",
        ),
        (
            Problem::CertificateTime,
            "renew the certificate of the server, or correct the clock of this machine",
        ),
        (
            Problem::CertificateName,
            "use a host name for which the certificate is valid, or install a certificate for this host name on the server",
        ),
        (
            Problem::CertificateFile,
            "correct `GIT_SSL_CAINFO` or `http.sslCAInfo` in the git configuration: git cannot read the file that it names",
        ),
        (
            Problem::NoTls,
            "correct the port in the address: the server does not use TLS on this one",
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
            Problem::Format,
            "install a newer version of git: the repository has a format that this version does not support",
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
        find_sign(message, &SIGNS)
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

    /// Messages of git with either TLS library, of ssh and of servers.
    #[test]
    fn messages_have_their_problem() {
        use GitProblem as Problem;
        for (message, expected) in [
            ("CONNECT tunnel failed, response 407", Problem::Proxy),
            (
                "Received HTTP code 407 from proxy after CONNECT",
                Problem::Proxy,
            ),
            ("Could not resolve proxy: proxy.test", Problem::Proxy),
            (
                "SSL: certificate subject name (a) does not match target host name 'b'",
                Problem::CertificateName,
            ),
            (
                "SSL: no alternative certificate subject name matches target host name 'b'",
                Problem::CertificateName,
            ),
            (
                "SSL certificate problem: certificate has expired",
                Problem::CertificateTime,
            ),
            (
                "SSL certificate problem: unable to get local issuer certificate",
                Problem::Certificate,
            ),
            (
                "Problem with the SSL CA cert (path? access rights?)",
                Problem::CertificateFile,
            ),
            (
                "error setting certificate file: /missing.pem",
                Problem::CertificateFile,
            ),
            (
                "gnutls_handshake() failed: An unexpected TLS packet was received.",
                Problem::NoTls,
            ),
            (
                "OpenSSL/3.0.13: error:0A00010B:SSL routines::wrong version number",
                Problem::NoTls,
            ),
            (
                "The requested URL returned error: 410",
                Problem::NoRepository,
            ),
            (
                "fatal: https://h.test/r/info/refs not valid: is this a git repository?",
                Problem::NoRepository,
            ),
            (
                "fatal: repository '/r/nothing' does not exist",
                Problem::NoRepository,
            ),
            (
                "remote: TF401019: The Git repository with name or identifier r does not exist or you do not have permissions for the \
                 operation you are attempting.",
                Problem::NoRepository,
            ),
            (
                "ERROR: The `acme' organization has enabled or enforced SAML SSO.",
                Problem::Credentials,
            ),
            ("FATAL: R any r u DENIED by fallthru", Problem::Credentials),
            (
                "error: packfile ./objects/pack/p.pack does not match index",
                Problem::Damaged,
            ),
            (
                "fatal: remote error: upload-pack: not our ref 0123",
                Problem::Damaged,
            ),
            (
                "Load key \"/root/.ssh/id\": error in libcrypto\ngit@h.test: Permission denied (publickey).",
                Problem::Ssh(SshProblem::KeyFile),
            ),
        ] {
            let found = GitProblem::find(message).map(|(problem, _)| problem);
            assert_eq!(found, Some(expected), "{message}");
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
