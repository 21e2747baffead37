//! The action installs only the requested release, and only after checking its checksum.

use std::process::Command;

use tempfile::TempDir;
use tflock_test_support::{Document, Misbehave, TlsRegistry, assert_contains, sha256_hex};

use super::workflow::{Ended, Node, Runner, can_run, step};
use crate::TFLOCK;

const LINUX: &str = "tflock-x86_64-unknown-linux-musl.tar.gz";
const RELEASES: &str = "/acme/tflock/releases/download/v1.2.3";

/// An HTTPS server that offers releases.
struct Releases(TlsRegistry);

impl Releases {
    fn start() -> Self {
        Self(TlsRegistry::start())
    }

    /// Publishes `archive`, whose program starts the binary under test, together with its checksum. Returns the
    /// checksum.
    fn publish(&self, archive: &str) -> String {
        let bytes = archive_of_tflock(archive.contains("windows"));
        let sum = sha256_hex(&bytes);
        self.serve(archive, &bytes);
        let other = "0".repeat(64);
        let sums = format!("{other}  tflock-other.tar.gz\n{sum}  {archive}\n");
        self.serve("SHA256SUMS", sums.as_bytes());
        sum
    }

    fn serve(&self, name: &str, bytes: &[u8]) {
        let path = format!("{RELEASES}/{name}");
        self.0.registry.serve(&path, Document::octets(bytes));
    }

    fn runner(&self) -> Runner {
        let authority = self.0.authority.certificate_file();
        Runner::new()
            .with("CURL_CA_BUNDLE", authority.to_str().unwrap())
            .means("inputs.version", "")
            .means("inputs.checksum", "")
            .means("github.action_path", "/nowhere")
            .means("github.action_ref", "v1.2.3")
            .means("github.action_repository", "acme/tflock")
            .means("github.server_url", &format!("https://{}", self.0.host))
    }
}

/// Packs an archive as the release workflow does. Its program only starts the binary under test.
fn archive_of_tflock(zip: bool) -> Vec<u8> {
    let root = TempDir::new().unwrap();
    let program = format!("#!/bin/sh\nexec {TFLOCK} \"$@\"\n");
    std::fs::write(root.path().join("tflock"), program).unwrap();
    let pack = if zip {
        "zip -q archive tflock && mv archive.zip archive"
    } else {
        "tar -czf archive ./tflock"
    };
    let status = Command::new("sh")
        .args(["-c", &format!("chmod +x tflock && {pack}")])
        .current_dir(root.path())
        .status();
    assert!(status.unwrap().success());
    std::fs::read(root.path().join("archive")).unwrap()
}

fn install(runner: &Runner) -> Ended {
    let action = Node::read("action.yml");
    runner.run(step(action.at("runs/steps"), "Install tflock"), "workspace")
}

/// Configures a runner to install a release, given the checksum of its archive.
type SelectRelease = fn(&str, Runner) -> Runner;

#[test]
fn a_release_is_installed_by_its_checksum() {
    if !can_run(&["bash", "curl", "tar", "sha256sum"]) {
        return;
    }
    let prepares: [(&str, SelectRelease); 3] = [
        ("the release that the action is pinned to", |_, runner| {
            runner
        }),
        ("the requested release", |_, runner| {
            let runner = runner.means("inputs.version", "v1.2.3");
            runner.means("github.action_ref", "main")
        }),
        ("a checksum that the workflow pins", |sum, runner| {
            runner.means("inputs.checksum", sum)
        }),
    ];
    for (what, prepare) in prepares {
        let releases = Releases::start();
        let sum = releases.publish(LINUX);
        let runner = prepare(&sum, releases.runner());
        if what.contains("pins") {
            releases
                .0
                .registry
                .remove(&format!("{RELEASES}/SHA256SUMS"));
        }
        let ended = install(&runner);
        assert_eq!(ended.code, Some(0), "{what}: {}", ended.output);
        let version = format!("tflock {}", env!("CARGO_PKG_VERSION"));
        assert_eq!(runner.outputs()["version"], version, "{what}");
        let directory = runner.path("temp/tflock-bin");
        let path = runner.read("temp/GITHUB_PATH");
        assert_eq!(path.trim(), directory.to_str().unwrap());
        let cache = runner.path("temp/tflock-cache");
        let variable = format!("TFLOCK_CACHE_DIR={}\n", cache.display());
        assert_eq!(runner.read("temp/GITHUB_ENV"), variable);
    }
}

#[test]
fn every_runner_gets_the_archive_of_its_platform() {
    if !can_run(&["bash", "curl", "tar", "sha256sum", "zip", "unzip"]) {
        return;
    }
    for (os, arch, archive) in [
        ("Linux", "X64", LINUX),
        ("Linux", "ARM64", "tflock-aarch64-unknown-linux-musl.tar.gz"),
        ("macOS", "X64", "tflock-x86_64-apple-darwin.tar.gz"),
        ("macOS", "ARM64", "tflock-aarch64-apple-darwin.tar.gz"),
        ("Windows", "X64", "tflock-x86_64-pc-windows-msvc.zip"),
    ] {
        let releases = Releases::start();
        releases.publish(archive);
        let runner = releases.runner().with("RUNNER_OS", os);
        let runner = runner.with("RUNNER_ARCH", arch);
        install(&runner).expect_code(0);
        assert_contains(&runner.outputs()["version"], "tflock ");
        let requested = releases.0.registry.log().counts("*").into_keys();
        let expected = ["SHA256SUMS", archive].map(|name| format!("{RELEASES}/{name}"));
        assert_eq!(requested.collect::<Vec<_>>(), expected);
    }
}

/// `shasum` replaces `sha256sum` on systems without it, such as macOS.
#[test]
fn shasum_is_enough() {
    let needed = "bash curl tar gzip awk mkdir sh shasum";
    if !can_run(&["bash", "curl", "tar", "sha256sum", "shasum"]) {
        return;
    }
    let releases = Releases::start();
    releases.publish(LINUX);
    let runner = releases.runner();
    let programs = runner.path("programs");
    std::fs::create_dir(&programs).unwrap();
    let path = std::env::var_os("PATH").unwrap();
    for name in needed.split(' ') {
        let mut found = std::env::split_paths(&path).map(|directory| directory.join(name));
        let found = found.find(|file| file.is_file());
        std::os::unix::fs::symlink(found.unwrap(), programs.join(name)).unwrap();
    }
    install(&runner.with("PATH", programs.to_str().unwrap())).expect_code(0);
}

const NO_BUILD: &str =
    "::error title=tflock::releases do not support Linux on RISCV64; use `version: source`";

/// Prepares an installation that must fail.
type BreakRelease = fn(&Releases, Runner) -> Runner;

#[test]
fn nothing_else_is_installed() {
    if !can_run(&["bash", "curl", "tar", "sha256sum"]) {
        return;
    }
    let cases: [(&str, BreakRelease); 7] = [
        ("but should be 0000", |releases, runner| {
            let sums = format!("{}  {LINUX}\n", "0".repeat(64));
            releases.serve("SHA256SUMS", sums.as_bytes());
            runner
        }),
        ("but should be 1111", |_, runner| {
            runner.means("inputs.checksum", &"1".repeat(64))
        }),
        ("but should be in SHA256SUMS", |releases, runner| {
            releases.serve("SHA256SUMS", b"");
            runner
        }),
        ("cannot download https://", |releases, runner| {
            releases
                .0
                .registry
                .remove(&format!("{RELEASES}/SHA256SUMS"));
            runner
        }),
        ("check that release v1.2.3 exists", |releases, runner| {
            releases.0.registry.remove(&format!("{RELEASES}/{LINUX}"));
            runner
        }),
        // A redirect from https to http.
        ("cannot download https://", |releases, runner| {
            let plain = releases.0.registry.url(&format!("{RELEASES}/{LINUX}"));
            let rule = Misbehave::on(&format!("*{LINUX}")).redirect(&plain);
            releases.0.registry.misbehave(rule);
            runner
        }),
        (NO_BUILD, |_, runner| runner.with("RUNNER_ARCH", "RISCV64")),
    ];
    for (message, prepare) in cases {
        let releases = Releases::start();
        releases.publish(LINUX);
        let runner = prepare(&releases, releases.runner());
        let ended = install(&runner).expect_code(2);
        assert_contains(&ended.output, message);
        assert_contains(&ended.output, "::error title=tflock::");
        assert!(!runner.path("temp/tflock-bin/tflock").exists(), "{message}");
        assert_eq!(runner.read("temp/GITHUB_PATH"), "", "{message}");
    }
}
