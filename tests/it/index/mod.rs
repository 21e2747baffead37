//! The hash index: `--index` and its companions, against directories, web servers and a real S3 server.

mod attacks;
mod checking;
mod concurrency;
mod failures;
mod filling;
mod init;
mod keys;
mod reading;
pub(crate) mod s3;
mod secrets;
#[cfg(unix)]
mod special_files;
mod writing;

use std::fs;
use std::path::PathBuf;

use tempfile::TempDir;
use tflock::index::{HashRecord, RecordKey, SignedNote, SignerKey};
use tflock::package::PackageHashes;
use tflock::provider::{Digest, Hash};
use tflock_test_support::{FakeRegistry, Outcome, Program, ProviderSpec, TestContext};

use crate::TFLOCK;

const PLATFORMS: [&str; 2] = ["darwin_arm64", "linux_amd64"];

const LOCK: &str = "lock --platform linux_amd64,darwin_arm64 --no-cache";

/// Every package that is requested.
const PACKAGES: &str = "*.zip";

/// A registry with acme/anvil, two directories that require it, and an index outside of the repository.
struct IndexFixture {
    registry: FakeRegistry,
    context: TestContext,
    /// Contains the index and the keys.
    base: TempDir,
    signer: SignerKey,
}

fn start() -> IndexFixture {
    let spec = ProviderSpec::new("acme/anvil").platforms(PLATFORMS);
    let registry = FakeRegistry::with(spec.versions(["1.0.0"]));
    let context = TestContext::new(TFLOCK, &registry);
    context.require("a", &[("acme/anvil", "1.0.0")]);
    context.require("b", &[("acme/anvil", "")]);
    context.write(".git/HEAD", "");
    let fixture = IndexFixture {
        registry,
        context,
        base: tempfile::tempdir().unwrap(),
        signer: SignerKey::generate("example.com/index").unwrap(),
    };
    fs::create_dir(fixture.directory()).unwrap();
    fixture
}

impl IndexFixture {
    fn directory(&self) -> PathBuf {
        self.base.path().join("index")
    }

    fn url(&self) -> String {
        format!("file://{}", self.directory().display())
    }

    /// Returns the command with the index and the trusted key in the environment.
    fn command(&self, line: &str) -> Program {
        let command = self.context.command(line).env("TFLOCK_INDEX", self.url());
        command.env("TFLOCK_INDEX_KEYS", self.signer.verifier().to_string())
    }

    /// Fills the index in a run that downloads both packages, and returns the lock file of that run.
    fn fill(&self) -> String {
        let push = self.command(&format!("{LOCK} a --index-push"));
        let push = push.env("TFLOCK_INDEX_SIGNING_KEY", self.signer.secret_text());
        push.run()
            .expect_success()
            .assert_stdout("added 2 records to the index\n");
        self.forget()
    }

    /// Removes the lock file of `a` and the log of requests, and returns the lock file.
    fn forget(&self) -> String {
        let lock_file = self.context.lock_file("a").unwrap();
        self.context.remove_lock_file("a");
        self.registry.log().clear();
        lock_file
    }

    /// Runs `lock` with the index and checks that the lock file of `a` is `expected`.
    fn expect_lock(&self, line: &str, expected: &str) -> Outcome {
        let outcome = self.command(line).run().expect_success();
        assert_eq!(
            self.context.lock_file("a").as_deref(),
            Some(expected),
            "{outcome}"
        );
        outcome
    }

    fn downloads(&self) -> usize {
        self.registry.log().count("GET", PACKAGES)
    }

    fn key(&self, platform: &str) -> RecordKey {
        let facts = self.registry.package("acme/anvil", "1.0.0", platform);
        RecordKey {
            zh: Digest::parse_hex(facts.shasum()).unwrap(),
            type_name: "anvil".to_owned(),
        }
    }

    fn file(&self, platform: &str) -> PathBuf {
        self.directory().join(self.key(platform).path())
    }

    /// Returns a record with a false `h1` hash.
    fn false_record(&self, platform: &str) -> HashRecord {
        let RecordKey { zh, type_name } = self.key(platform);
        let stored = fs::read(self.file(platform)).unwrap();
        let note = SignedNote::parse(&stored).unwrap();
        let hashes = HashRecord::parse(note.text()).unwrap().hashes;
        assert_eq!(hashes.zh, zh);
        HashRecord {
            type_name,
            hashes: PackageHashes {
                h1: Hash::h1(Digest::new([7; 32])),
                ..hashes
            },
        }
    }

    fn write_record(&self, platform: &str, record: &impl ToString) {
        fs::write(self.file(platform), record.to_string()).unwrap();
    }
}

/// Returns the number of warnings about an index.
fn warnings(outcome: &Outcome) -> usize {
    outcome.stderr.matches("warning: ").count()
}
