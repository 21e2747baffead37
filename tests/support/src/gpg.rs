//! Keys and signatures that `gpg` creates, independently of the OpenPGP crate that tflock uses.

use std::io::Write as _;
use std::path::Path;
use std::process::{Command, Stdio};
use std::sync::Arc;

use tempfile::TempDir;

use crate::key::TestSigner;
use crate::tool::skip;

/// A key ring in a temporary directory.
#[derive(Debug, Clone)]
pub struct GpgHome(Arc<TempDir>);

impl GpgHome {
    /// Creates an empty key ring. Prints a message and returns `None` if `gpg` is not on PATH.
    pub fn create() -> Option<Self> {
        let version = Command::new("gpg")
            .arg("--version")
            .stdout(Stdio::null())
            .status();
        if !version.is_ok_and(|status| status.success()) {
            skip("gpg is not on PATH");
            return None;
        }
        // gpg creates sockets in this directory, and socket paths must be short.
        let home = tempfile::Builder::new()
            .prefix("gpg")
            .tempdir()
            .expect("a temporary directory");
        Some(Self(Arc::new(home)))
    }

    /// Creates a key. `algorithm` and `expiry` are arguments of `gpg --quick-generate-key`. The expiry `0` means never.
    pub fn key(&self, algorithm: &str, expiry: &str) -> TestSigner {
        let user = format!("{algorithm} <{algorithm}@tflock.example>");
        self.run(
            &[
                "--passphrase",
                "",
                "--quick-generate-key",
                &user,
                algorithm,
                "sign",
                expiry,
            ],
            b"",
        );
        let selector = format!("={user}");
        let armor = self.run(
            &["--armor", "--no-emit-version", "--export", &selector],
            b"",
        );
        let listing = self.run(&["--with-colons", "--list-keys", &selector], b"");
        let listing = String::from_utf8(listing).expect("gpg lists keys in ASCII");
        let key_id = listing
            .lines()
            .find_map(|line| line.strip_prefix("pub:")?.split(':').nth(3))
            .expect("gpg lists the key that it created")
            .to_owned();
        let (home, signer) = (self.clone(), key_id.clone());
        let armor = String::from_utf8(armor).expect("armor is ASCII");
        TestSigner::custom(&armor, &key_id, move |document| {
            home.run(
                &["--local-user", &signer, "--detach-sign", "--output", "-"],
                document,
            )
        })
    }

    /// Returns the directory of the key ring, for other commands.
    pub fn path(&self) -> &Path {
        self.0.path()
    }

    /// Runs `gpg` with this key ring and returns its standard output.
    pub fn run(&self, arguments: &[&str], input: &[u8]) -> Vec<u8> {
        let mut child = Command::new("gpg")
            .args([
                "--batch",
                "--yes",
                "--quiet",
                "--pinentry-mode",
                "loopback",
                "--homedir",
            ])
            .arg(self.path())
            .args(arguments)
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .expect("gpg is on PATH");
        let mut stdin = child.stdin.take().expect("stdin is a pipe");
        stdin.write_all(input).expect("gpg reads its input");
        drop(stdin);
        let output = child.wait_with_output().expect("gpg exits");
        let errors = String::from_utf8_lossy(&output.stderr);
        assert!(output.status.success(), "gpg {arguments:?}: {errors}");
        output.stdout
    }
}
