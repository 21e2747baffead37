//! Parity with `terraform providers mirror` and `tofu providers mirror`: the same files with the same bytes, after every
//! one of several runs into the same directory.
//!
//! What the tools wrote is recorded in `testdata/mirror/TOOL/TREE.txt`, so that tflock is held to it where they are not
//! installed; where they are, they are run as well. `TFLOCK_RECORD=1` writes the records anew.

use std::fmt::Write as _;
use std::fs;
use std::path::{Path, PathBuf};

use tflock_test_support::{
    FakeRegistry, ProviderSpec, RawEntry, RawZip, TestContext, terraform_on_path, tofu_on_path,
};

use super::snapshot;
use crate::TFLOCK;

const LINUX: &str = "linux_amd64";
const MAC: &str = "darwin_arm64";
const WINDOWS: &str = "windows_amd64";

/// One run: what is required, and the platforms that are asked for.
type Run = (
    &'static [(&'static str, &'static str)],
    &'static [&'static str],
);

/// Runs into one directory, one after the other.
struct Tree {
    name: &'static str,
    runs: &'static [Run],
    /// What somebody has put there before the last run, given the directory of `acme/anvil`.
    by_hand: Option<fn(&Path)>,
    /// Whether OpenTofu's tree is the same too; if not, why.
    tofu: Result<(), &'static str>,
}

const ANVIL: (&str, &str) = ("acme/anvil", "1.0.0");
const ANVIL_1_1: (&str, &str) = ("acme/anvil", "1.1.0");
const FORGE: (&str, &str) = ("acme/forge", "5.2.0");
const LEDGER: (&str, &str) = ("h.test/finance/ledger", "2.4.0");

/// OpenTofu 1.12.6 gives the digest of one version's zip to another's.
const WRONG_DIGEST: Result<(), &str> = Err("tofu publishes the digest of another version");

const TREES: [Tree; 24] = [
    tree("one-package", &[(&[ANVIL], &[LINUX])]),
    tree("three-platforms", &[(&[ANVIL], &[LINUX, MAC, WINDOWS])]),
    tree("another-platform-only", &[(&[ANVIL], &[WINDOWS])]),
    tree(
        "three-providers",
        &[(&[ANVIL, FORGE, LEDGER], &[LINUX, MAC])],
    ),
    tree("another-host", &[(&[LEDGER], &[LINUX])]),
    tree(
        "unicode-host",
        &[(&[("bücher.test/a/b", "1.0.0")], &[LINUX, MAC])],
    ),
    tree(
        "same-names-on-two-hosts",
        &[(&[ANVIL, ("h.test/acme/bolt", "1.0.0")], &[LINUX])],
    ),
    tree(
        "prerelease-and-metadata",
        &[(&[("acme/anvil", "2.0.0-rc.1+build.7")], &[LINUX, MAC])],
    ),
    tree(
        "entries-for-directories",
        &[(&[("acme/dirs", "1.0.0")], &[LINUX])],
    ),
    tree("a-name-twice", &[(&[("acme/twice", "1.0.0")], &[LINUX])]),
    tree("stored-entries", &[(&[("acme/stored", "1.0.0")], &[LINUX])]),
    tree(
        "streamed-entries",
        &[(&[("acme/streamed", "1.0.0")], &[LINUX])],
    ),
    tree(
        "the-same-run-again",
        &[
            (&[ANVIL, FORGE], &[LINUX, MAC]),
            (&[ANVIL, FORGE], &[LINUX, MAC]),
        ],
    ),
    tree(
        "a-platform-is-added",
        &[
            (&[ANVIL], &[LINUX]),
            (&[ANVIL], &[MAC]),
            (&[ANVIL], &[WINDOWS]),
        ],
    ),
    tree(
        "a-platform-joins",
        &[(&[ANVIL], &[LINUX]), (&[ANVIL], &[LINUX, MAC])],
    ),
    tree(
        "a-provider-is-added",
        &[(&[ANVIL], &[LINUX]), (&[ANVIL, FORGE], &[LINUX])],
    ),
    tree(
        "a-provider-is-dropped",
        &[(&[ANVIL, FORGE], &[LINUX, MAC]), (&[FORGE], &[LINUX])],
    ),
    tree(
        "a-provider-comes-back",
        &[
            (&[ANVIL], &[LINUX]),
            (&[FORGE], &[LINUX]),
            (&[ANVIL], &[LINUX]),
        ],
    ),
    tree(
        "versions-for-different-platforms",
        &[(&[ANVIL], &[LINUX]), (&[ANVIL_1_1], &[MAC])],
    ),
    Tree {
        tofu: WRONG_DIGEST,
        ..tree(
            "a-version-moves",
            &[(&[ANVIL], &[LINUX, MAC]), (&[ANVIL_1_1], &[LINUX])],
        )
    },
    Tree {
        tofu: WRONG_DIGEST,
        ..tree(
            "back-and-forth",
            &[
                (&[ANVIL], &[LINUX]),
                (&[ANVIL_1_1], &[LINUX]),
                (&[ANVIL], &[LINUX, MAC]),
            ],
        )
    },
    Tree {
        by_hand: Some(other_spellings),
        tofu: WRONG_DIGEST,
        ..tree(
            "zips-by-hand",
            &[(&[ANVIL], &[LINUX]), (&[ANVIL], &[LINUX])],
        )
    },
    Tree {
        by_hand: Some(other_files),
        ..tree("other-files", &[(&[ANVIL], &[LINUX]), (&[ANVIL], &[LINUX])])
    },
    Tree {
        by_hand: Some(damage),
        ..tree(
            "a-damaged-zip",
            &[(&[ANVIL], &[LINUX]), (&[ANVIL], &[LINUX])],
        )
    },
];

const fn tree(name: &'static str, runs: &'static [Run]) -> Tree {
    Tree {
        name,
        runs,
        by_hand: None,
        tofu: Ok(()),
    }
}

/// Zips whose names are read but not written: a short version, capitals, another part.
fn other_spellings(directory: &Path) {
    let zip = directory.join("terraform-provider-anvil_1.0.0_linux_amd64.zip");
    for name in [
        "Terraform-Provider-Anvil_0.9_linux_amd64.ZIP",
        "terraform-provider-anvil_0.9.1_linux_amd64_by_hand.zip",
    ] {
        fs::copy(&zip, directory.join(name)).unwrap();
    }
}

/// What is no zip of the provider: an unpacked package, the index of a version that is gone, a note.
fn other_files(directory: &Path) {
    let unpacked = directory.join("0.9.0/linux_amd64");
    fs::create_dir_all(&unpacked).unwrap();
    fs::write(unpacked.join("terraform-provider-anvil"), "exe").unwrap();
    fs::write(directory.join("0.8.0.json"), "{\"archives\":{}}").unwrap();
    fs::write(
        directory.join("terraform-provider-bolt_1.0.0_linux_amd64.zip"),
        "zip",
    )
    .unwrap();
}

fn damage(directory: &Path) {
    let zip = directory.join("terraform-provider-anvil_1.0.0_linux_amd64.zip");
    fs::write(zip, "PK").unwrap();
}

fn registry() -> FakeRegistry {
    let both = ["registry.terraform.io", "registry.opentofu.org"];
    let mut registry = FakeRegistry::start();
    let anvil = ProviderSpec::new("acme/anvil").versions(["1.0.0", "1.1.0", "2.0.0-rc.1+build.7"]);
    registry.publish(anvil.hosts(both));
    registry.publish(
        ProviderSpec::new("acme/forge")
            .versions(["5.2.0"])
            .hosts(both),
    );
    registry.publish(ProviderSpec::new("h.test/finance/ledger").versions(["2.4.0"]));
    registry.publish(ProviderSpec::new("h.test/acme/bolt"));
    registry.publish(ProviderSpec::new("bücher.test/a/b"));
    let exe = |name: &str| {
        let name = format!("terraform-provider-{name}_v1.0.0");
        RawEntry::deflated(name, "exe").mode(0o100_755)
    };
    for (name, entries) in [
        (
            "dirs",
            vec![
                RawEntry::directory("d/"),
                RawEntry::deflated("d/a", "A"),
                exe("dirs"),
            ],
        ),
        (
            "twice",
            vec![
                RawEntry::stored("a", "1"),
                exe("twice"),
                RawEntry::stored("a", "2"),
            ],
        ),
        ("stored", vec![RawEntry::stored("a", "1"), exe("stored")]),
        (
            "streamed",
            vec![RawEntry::streamed("a", "1"), exe("streamed")],
        ),
    ] {
        let spec = ProviderSpec::new(&format!("acme/{name}")).platforms([LINUX]);
        let zip = RawZip::of(entries).to_bytes();
        registry.publish(spec.archive("1.0.0", LINUX, zip).hosts(both));
    }
    registry
}

/// What the files of a mirror are, as the records have it.
fn shown(base: &Path) -> String {
    let mut text = String::new();
    for (name, content) in snapshot(base) {
        let _ = writeln!(text, "== {name}\n{content}");
    }
    text
}

fn record(tool: &str, tree: &Tree) -> PathBuf {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    root.join(format!("testdata/mirror/{tool}/{}.txt", tree.name))
}

#[test]
fn the_tree_is_the_one_that_terraform_writes() {
    compare("terraform", terraform_on_path().is_some(), |_| Ok(()));
}

#[test]
fn the_tree_is_the_one_that_tofu_writes() {
    compare("tofu", tofu_on_path().is_some(), |tree| tree.tofu);
}

fn compare(tool: &str, is_installed: bool, is_same: impl Fn(&Tree) -> Result<(), &'static str>) {
    let registry = registry();
    let context = TestContext::new(TFLOCK, &registry);
    let records = std::env::var("TFLOCK_RECORD").is_ok_and(|value| value == "1");
    for tree in TREES.iter().filter(|tree| is_same(tree).is_ok()) {
        let mut expected = String::new();
        let mut found = String::new();
        for (number, (requires, platforms)) in tree.runs.iter().enumerate() {
            let is_last = number + 1 == tree.runs.len();
            let work = format!("{}/work", tree.name);
            let _ = fs::remove_file(context.path(&work).join(".terraform.lock.hcl"));
            context.require(&work, requires);
            let platforms = platforms.join(",");
            let lock = ["lock", "--engine", tool, "--platform", &platforms, &work];
            context.tflock(lock).run().expect_success();
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
                run_tool(tool, &context, &work, &platforms, &mirror("theirs"));
                let _ = write!(
                    expected,
                    "# run {}\n{}",
                    number + 1,
                    shown(&mirror("theirs"))
                );
            }
            let ours = mirror("ours").display().to_string();
            let arguments = [
                "mirror",
                "--engine",
                tool,
                "--platform",
                &platforms,
                &ours,
                &work,
            ];
            context.tflock(arguments).run().expect_success();
            let _ = write!(found, "# run {}\n{}", number + 1, shown(&mirror("ours")));
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
    let mut arguments = vec!["providers".to_owned(), "mirror".to_owned()];
    arguments.extend(
        platforms
            .split(',')
            .map(|platform| format!("-platform={platform}")),
    );
    arguments.push(mirror.display().to_string());
    let arguments = arguments.iter().map(String::as_str);
    let program = match tool {
        "tofu" => context.tofu(work, arguments),
        _ => context.terraform(work, arguments),
    };
    program.unwrap().run().expect_success();
}
