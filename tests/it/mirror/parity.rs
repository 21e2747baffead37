//! Parity with `terraform providers mirror` and `tofu providers mirror`: after each of several runs into one directory,
//! the files that tflock wrote are identical to theirs.
//!
//! `testdata/mirror/TOOL/TREE.txt` records what the tools wrote, so they need not be installed. If they are, their
//! current output is compared too. `TFLOCK_RECORD=1` writes the records again.

use std::fmt::Write as _;
use std::fs;
use std::path::{Path, PathBuf};

use tflock_test_support::{
    DEFAULT_HOSTS, FakeRegistry, ProviderSpec, RawEntry, RawZip, TestContext, is_recording, table,
    terraform_on_path, tofu_on_path,
};

use super::snapshot;
use crate::TFLOCK;

const LINUX: &str = "linux_amd64";

/// Several runs that write to one directory.
struct MirrorTree {
    name: &'static str,
    /// The requirements and the requested platforms of each run.
    runs: Vec<(Vec<(&'static str, &'static str)>, String)>,
    /// Makes the user's changes before the last run. The argument is the directory of `acme/anvil`.
    by_hand: Option<fn(&Path)>,
    /// Whether OpenTofu writes the same files. OpenTofu 1.12.6 sometimes records the digest of a different version's
    /// zip.
    is_same_in_tofu: bool,
}

/// The columns: the name, the runs as `PROVIDERS for PLATFORMS`, and special conditions.
const TREES: &str = "
    one-package                      | anvil for linux |
    three-platforms                  | anvil for linux,mac,windows |
    another-platform-only            | anvil for windows |
    three-providers                  | anvil forge ledger for linux,mac |
    another-host                     | ledger for linux |
    unicode-host                     | bücher.test/a/b@1.0.0 for linux,mac |
    same-names-on-two-hosts          | anvil h.test/acme/bolt@1.0.0 for linux |
    prerelease-and-metadata          | acme/anvil@2.0.0-rc.1+build.7 for linux,mac |
    entries-for-directories          | acme/dirs@1.0.0 for linux |
    a-name-twice                     | acme/twice@1.0.0 for linux |
    stored-entries                   | acme/stored@1.0.0 for linux |
    streamed-entries                 | acme/streamed@1.0.0 for linux |
    the-same-run-again               | anvil forge for linux,mac; anvil forge for linux,mac |
    a-platform-is-added              | anvil for linux; anvil for mac; anvil for windows |
    a-platform-joins                 | anvil for linux; anvil for linux,mac |
    a-provider-is-added              | anvil for linux; anvil forge for linux |
    a-provider-is-dropped            | anvil forge for linux,mac; forge for linux |
    a-provider-comes-back            | anvil for linux; forge for linux; anvil for linux |
    versions-for-different-platforms | anvil for linux; acme/anvil@1.1.0 for mac |
    a-version-moves                  | anvil for linux,mac; acme/anvil@1.1.0 for linux | tofu differs
    back-and-forth                   | anvil for linux; acme/anvil@1.1.0 for linux; anvil for linux,mac | tofu differs
    zips-by-hand                     | anvil for linux; anvil for linux | other spellings, tofu differs
    other-files                      | anvil for linux; anvil for linux | other files
    a-damaged-zip                    | anvil for linux; anvil for linux | damage
";

fn trees() -> Vec<MirrorTree> {
    let requirement = |text: &'static str| match text {
        "anvil" => ("acme/anvil", "1.0.0"),
        "forge" => ("acme/forge", "5.2.0"),
        "ledger" => ("h.test/finance/ledger", "2.4.0"),
        _ => text.split_once('@').unwrap(),
    };
    let run = |text: &'static str| {
        let (providers, platforms) = text.split_once(" for ").unwrap();
        let platforms = platforms
            .replace("linux", LINUX)
            .replace("mac", "darwin_arm64");
        let providers = providers.split(' ').map(requirement);
        (
            providers.collect(),
            platforms.replace("windows", "windows_amd64"),
        )
    };
    let tree = |[name, runs, special]: [&'static str; 3]| MirrorTree {
        name,
        runs: runs.split("; ").map(run).collect(),
        by_hand: match special.split(',').next() {
            Some("other spellings") => Some(other_spellings),
            Some("other files") => Some(other_files),
            Some("damage") => Some(damage),
            _ => None,
        },
        is_same_in_tofu: !special.contains("tofu differs"),
    };
    table(TREES).into_iter().map(tree).collect()
}

/// Copies a zip to names that the tools read but do not write: a short version, capitals, an additional part.
fn other_spellings(directory: &Path) {
    let zip = directory.join("terraform-provider-anvil_1.0.0_linux_amd64.zip");
    for name in [
        "Terraform-Provider-Anvil_0.9_linux_amd64.ZIP",
        "terraform-provider-anvil_0.9.1_linux_amd64_by_hand.zip",
    ] {
        fs::copy(&zip, directory.join(name)).unwrap();
    }
}

/// Creates files that are not zips of the provider: an unpacked package, the index of a removed version, and a zip of a
/// different provider.
fn other_files(directory: &Path) {
    let unpacked = directory.join("0.9.0/linux_amd64");
    fs::create_dir_all(&unpacked).unwrap();
    fs::write(unpacked.join("terraform-provider-anvil"), "exe").unwrap();
    fs::write(directory.join("0.8.0.json"), "{\"archives\":{}}").unwrap();
    let bolt = directory.join("terraform-provider-bolt_1.0.0_linux_amd64.zip");
    fs::write(bolt, "zip").unwrap();
}

fn damage(directory: &Path) {
    let zip = directory.join("terraform-provider-anvil_1.0.0_linux_amd64.zip");
    fs::write(zip, "PK").unwrap();
}

fn registry() -> FakeRegistry {
    let mut registry = FakeRegistry::start();
    let anvil = ProviderSpec::new("acme/anvil").versions(["1.0.0", "1.1.0", "2.0.0-rc.1+build.7"]);
    registry.publish(anvil.hosts(DEFAULT_HOSTS));
    let forge = ProviderSpec::new("acme/forge").versions(["5.2.0"]);
    registry.publish(forge.hosts(DEFAULT_HOSTS));
    registry.publish(ProviderSpec::new("h.test/finance/ledger").versions(["2.4.0"]));
    registry.publish(ProviderSpec::new("h.test/acme/bolt"));
    registry.publish(ProviderSpec::new("bücher.test/a/b"));
    let exe = |name: &str| {
        let name = format!("terraform-provider-{name}_v1.0.0");
        RawEntry::deflated(name, "exe").mode(0o100_755)
    };
    let [one, two] = ["1", "2"].map(|content| RawEntry::stored("a", content));
    let directory = RawEntry::directory("d/");
    let in_directory = RawEntry::deflated("d/a", "A");
    for (name, entries) in [
        ("dirs", vec![directory, in_directory, exe("dirs")]),
        ("twice", vec![one.clone(), exe("twice"), two]),
        ("stored", vec![one, exe("stored")]),
        (
            "streamed",
            vec![RawEntry::streamed("a", "1"), exe("streamed")],
        ),
    ] {
        let spec = ProviderSpec::new(&format!("acme/{name}")).platforms([LINUX]);
        let zip = RawZip::of(entries).to_bytes();
        registry.publish(spec.archive("1.0.0", LINUX, zip).hosts(DEFAULT_HOSTS));
    }
    registry
}

/// Returns a mirror as text: each file as `== NAME` and its content or digest. `testdata/mirror` has this format.
fn mirror_as_text(base: &Path) -> String {
    let mut text = String::new();
    for (name, content) in snapshot(base) {
        let _ = writeln!(text, "== {name}\n{content}");
    }
    text
}

fn record(tool: &str, tree: &MirrorTree) -> PathBuf {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    root.join(format!("testdata/mirror/{tool}/{}.txt", tree.name))
}

#[test]
fn the_tree_equals_that_of_terraform() {
    compare("terraform", terraform_on_path().is_some(), |_| true);
}

#[test]
fn the_tree_equals_that_of_tofu() {
    compare("tofu", tofu_on_path().is_some(), |tree| {
        tree.is_same_in_tofu
    });
}

fn compare(tool: &str, is_installed: bool, is_same: impl Fn(&MirrorTree) -> bool) {
    let registry = registry();
    let context = TestContext::new(TFLOCK, &registry);
    let records = is_recording();
    for tree in &trees() {
        if !is_same(tree) {
            continue;
        }
        let mut expected = String::new();
        let mut found = String::new();
        for (number, (requires, platforms)) in tree.runs.iter().enumerate() {
            let is_last = number + 1 == tree.runs.len();
            let work = format!("{}/work", tree.name);
            let _ = fs::remove_file(context.path(&work).join(".terraform.lock.hcl"));
            context.require(&work, requires);
            let options = format!("--engine {tool} --platform {platforms}");
            let lock = context.run(&format!("lock {options} {work}"));
            lock.expect_success();
            let mirror = |name: &str| context.path(&format!("{}/{name}", tree.name));
            if let (Some(by_hand), true) = (tree.by_hand, is_last) {
                for name in ["theirs", "ours"] {
                    let host = match tool {
                        "tofu" => "registry.opentofu.org",
                        _ => "registry.terraform.io",
                    };
                    let directory = mirror(name).join(host).join("acme/anvil");
                    if directory.exists() {
                        by_hand(&directory);
                    }
                }
            }
            if is_installed {
                run_tool(tool, &context, &work, platforms, &mirror("theirs"));
                let theirs = mirror_as_text(&mirror("theirs"));
                let _ = write!(expected, "# run {}\n{theirs}", number + 1);
            }
            let ours = mirror("ours");
            let mirror_run = context.run(&format!("mirror {options} {} {work}", ours.display()));
            mirror_run.expect_success();
            let _ = write!(found, "# run {}\n{}", number + 1, mirror_as_text(&ours));
        }
        if is_installed {
            assert_eq!(found, expected, "{tool}: {}", tree.name);
        }
        let path = record(tool, tree);
        if records && is_installed {
            fs::create_dir_all(path.parent().unwrap()).unwrap();
            fs::write(&path, &expected).unwrap();
        }
        let recorded = fs::read_to_string(&path).unwrap();
        assert_eq!(found, recorded, "{tool}, as recorded: {}", tree.name);
    }
}

fn run_tool(tool: &str, context: &TestContext, work: &str, platforms: &str, mirror: &Path) {
    let program = context.engine(tool, work, ["providers", "mirror"]);
    let platforms = platforms.split(',');
    let options = platforms.map(|platform| format!("-platform={platform}"));
    let program = program.unwrap().args(options).arg(mirror);
    program.run().expect_success();
}
