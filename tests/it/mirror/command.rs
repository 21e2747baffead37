//! The `tflock mirror` command: what it downloads, verifies and removes, and whether `init` installs from the mirror.

use std::fs;
use std::path::{Path, PathBuf};

use serde_json::Value;
use tflock_test_support::{
    FakeRegistry, Misbehave, Outcome, ProviderSpec, TestContext, assert_described, git,
    git_commit_all, table,
};

use super::snapshot;
use crate::TFLOCK;

const PLATFORMS: &str = "linux_amd64,darwin_arm64";
const ANVIL: &str = "registry.terraform.io/acme/anvil";
const ZIP: &str = "registry.terraform.io/acme/anvil/terraform-provider-anvil_1.0.0_linux_amd64.zip";

/// Two root modules that are locked for two platforms.
struct MirrorFixture {
    registry: FakeRegistry,
    context: TestContext,
}

impl MirrorFixture {
    fn new() -> Self {
        let mut registry = FakeRegistry::start();
        registry.publish(ProviderSpec::new("acme/anvil").versions(["1.0.0", "1.1.0"]));
        registry.publish(ProviderSpec::new("acme/forge").versions(["5.2.0"]));
        registry.publish(ProviderSpec::new("h.test/finance/ledger").versions(["2.4.0"]));
        let context = TestContext::new(TFLOCK, &registry);
        context.require("stacks/a", &[("acme/anvil", "1.0.0"), ("acme/forge", "")]);
        context.require(
            "stacks/b",
            &[("acme/anvil", "1.0.0"), ("h.test/finance/ledger", "")],
        );
        let fixture = Self { registry, context };
        fixture.lock("stacks");
        fixture.registry.log().clear();
        fixture
    }

    /// Mirrors both root modules with these options.
    fn run(&self, options: &str) -> Outcome {
        let line = format!("mirror --platform {PLATFORMS} {options} mirror stacks");
        self.context.run(&line)
    }

    fn lock(&self, directory: &str) {
        let line = format!("lock -r --platform {PLATFORMS} {directory}");
        self.context.run(&line).expect_success();
    }

    /// Returns the JSON report of a run.
    fn report(&self, options: &str, code: i32) -> Value {
        let outcome = self.run(&format!("{options} --format json"));
        report(&outcome.expect_code(code))
    }

    fn mirror(&self) -> PathBuf {
        self.context.path("mirror")
    }

    fn zips_downloaded(&self) -> usize {
        let downloaded = self.registry.log().count("GET", "**.zip");
        self.registry.log().clear();
        downloaded
    }

    fn misbehave(&self, path: &str, change: impl FnOnce(Misbehave) -> Misbehave) {
        self.registry.misbehave(change(Misbehave::on(path)));
    }

    /// Returns the names next to the mirror, where a run could leave temporary files.
    fn beside(&self) -> Vec<String> {
        self.context.list(".")
    }
}

#[test]
fn each_package_is_downloaded_once_and_never_again() {
    let fixture = MirrorFixture::new();
    let outcome = fixture.run("").expect_success();
    let expected = "\
added     h.test/finance/ledger 2.4.0 (darwin_arm64, linux_amd64)
added     registry.terraform.io/acme/anvil 1.0.0 (darwin_arm64, linux_amd64)
added     registry.terraform.io/acme/forge 5.2.0 (darwin_arm64, linux_amd64)
2 directories, 6 packages: 6 added; ";
    assert!(outcome.stdout.starts_with(expected), "{outcome}");
    assert_eq!(fixture.zips_downloaded(), 6);
    let filled = snapshot(&fixture.mirror());
    fixture.run("--no-cache").expect_success();
    assert_eq!(fixture.registry.log().total(), 0, "no request is sent");
    assert_eq!(snapshot(&fixture.mirror()), filled);
    fixture.run("--check --offline").expect_success();
    assert_eq!(fixture.beside(), ["mirror", "stacks"]);
}

/// The columns: the name of a change in [`damage`], and the report line for `acme/anvil` (`@`).
const DAMAGES: &str = "
    zip missing              | missing   @
    bit flipped              | damaged   @: the lock file records different hashes
    zip empty                | damaged   @:
    zip is a directory       | damaged   @:
    index.json missing       | unlisted  @: there is no `index.json`
    version not in the index | unlisted  @: `index.json` does not list 1.0.0
    1.0.0.json missing       | unlisted  @: there is no `1.0.0.json`
    1.0.0.json invalid       | unlisted  @: cannot read `1.0.0.json`:
    other hash in 1.0.0.json | unlisted  @: `1.0.0.json` has a different hash
    hash without a scheme    | unlisted  @: `1.0.0.json` has an invalid hash
    other platform           | unlisted  @: `1.0.0.json` does not list `linux_amd64`
    other file name          | unlisted  @: `1.0.0.json` names a different file for `linux_amd64`
";

fn damage(mirror: &Path, name: &str) {
    let (zip, anvil) = (mirror.join(ZIP), mirror.join(ANVIL));
    let (index, archives) = (anvil.join("index.json"), anvil.join("1.0.0.json"));
    let write = |path: &Path, text: &str| fs::write(path, text).unwrap();
    let edit = |path: &Path, from: &str, to: &str| {
        write(path, &fs::read_to_string(path).unwrap().replace(from, to));
    };
    let remove = |path: &Path| fs::remove_file(path).unwrap();
    match name {
        "zip missing" => remove(&zip),
        "bit flipped" => {
            let mut bytes = fs::read(&zip).unwrap();
            bytes[40] ^= 1;
            fs::write(zip, bytes).unwrap();
        }
        "zip empty" => write(&zip, ""),
        "zip is a directory" => {
            remove(&zip);
            fs::create_dir_all(zip.join("x")).unwrap();
        }
        "index.json missing" => remove(&index),
        "version not in the index" => write(&index, "{\"versions\":{\"9.0.0\":{}}}"),
        "1.0.0.json missing" => remove(&archives),
        "1.0.0.json invalid" => write(&archives, "{"),
        "other hash in 1.0.0.json" => edit(&archives, "h1:", "h1:A"),
        "hash without a scheme" => edit(&archives, "h1:", "h1-"),
        "other platform" => edit(&archives, "\"linux_amd64\":", "\"plan9_386\":"),
        "other file name" => edit(&archives, "terraform-provider-", "provider-"),
        _ => panic!("no damage is named `{name}`"),
    }
}

#[test]
fn missing_and_damaged_packages_are_found_and_repaired() {
    let fixture = MirrorFixture::new();
    fixture.run("").expect_success();
    let whole = snapshot(&fixture.mirror());
    for [name, expected] in table(DAMAGES) {
        damage(&fixture.mirror(), name);
        let before = snapshot(&fixture.mirror());
        let outcome = fixture.run("--check").expect_code(3);
        let package = format!("{ANVIL} 1.0.0 (linux_amd64)");
        let is_whole_line = !expected.ends_with(':');
        let end = if is_whole_line { "\n" } else { " " };
        outcome.assert_stdout(&(expected.replace('@', &package) + end));
        assert_eq!(snapshot(&fixture.mirror()), before, "{name}");
        fixture.run("").expect_success();
        assert_eq!(snapshot(&fixture.mirror()), whole, "{name}");
        fixture.run("--check").expect_success();
    }
    assert_eq!(fixture.beside(), ["mirror", "stacks"]);
}

/// The columns: what is changed, and the error.
const INVALID: &str = "
    a package       | does not match the checksum its registry promised
    a checksum list | signature
    the lock file   | the lock file records different hashes
";

#[test]
fn only_verified_packages_are_written() {
    let fixture = MirrorFixture::new();
    let locked = fixture.context.lock_file("stacks/a").unwrap();
    for [changed, error] in table(INVALID) {
        match changed {
            "a package" => fixture.misbehave("**anvil_1.0.0_linux_amd64.zip", |rule| rule.flip(50)),
            "a checksum list" => fixture.misbehave("**anvil_1.0.0_SHA256SUMS", |rule| {
                rule.replace("darwin", "darwjn")
            }),
            _ => {
                let text = locked.replace("zh:", "zh:0").replace("h1:", "h1:0");
                fixture.context.write_lock_file("stacks/a", text);
            }
        }
        let mirror = "mirror --no-cache --platform linux_amd64 mirror stacks/a";
        let outcome = fixture.context.run(mirror).expect_code(1);
        outcome.assert_stderr(error);
        assert!(!fixture.mirror().join(ZIP).exists(), "{changed}");
        fixture.registry.behave();
        fixture.context.write_lock_file("stacks/a", &locked);
    }
    assert_eq!(fixture.beside(), ["mirror", "stacks"]);
}

#[test]
fn a_broken_body_is_resumed() {
    let fixture = MirrorFixture::new();
    let rule = Misbehave::on("**anvil_1.0.0_linux_amd64.zip").times(1);
    fixture.registry.misbehave(rule.cut(300));
    fixture.run("").expect_success();
    let resumed = fixture.registry.log().hits().into_iter().filter(|hit| {
        hit.request.path.ends_with("anvil_1.0.0_linux_amd64.zip")
            && hit.request.header("range").is_some()
    });
    assert_eq!(resumed.count(), 1);
    fixture.run("--check").expect_success();
}

#[test]
fn one_pass_updates_locks_and_mirror() {
    let fixture = MirrorFixture::new();
    for directory in ["stacks/a", "stacks/b"] {
        fixture.context.remove_lock_file(directory);
    }
    fixture
        .context
        .require("stacks/a", &[("acme/anvil", "1.1.0"), ("acme/forge", "")]);
    fixture.run("--lock --no-cache").expect_success();
    assert_eq!(fixture.zips_downloaded(), 8);
    let lock = fixture.context.lock_file("stacks/a").unwrap();
    assert!(lock.contains("1.1.0"), "{lock}");
    fixture.run("--check").expect_success();
    fixture.run("--lock --no-cache").expect_success();
    assert_eq!(fixture.zips_downloaded(), 0, "the mirror already has them");
    fixture.run("--lock").expect_success();
    assert_eq!(fixture.zips_downloaded(), 0);
    let verify = format!("lock -r --check --platform {PLATFORMS} stacks");
    fixture.context.run(&verify).expect_success();
}

#[test]
fn a_warm_cache_does_not_keep_a_zip_from_being_downloaded() {
    let fixture = MirrorFixture::new();
    fixture.run("").expect_success();
    assert_eq!(fixture.zips_downloaded(), 6);
    fs::remove_dir_all(fixture.mirror()).unwrap();
    fixture.run("").expect_success();
    assert_eq!(fixture.zips_downloaded(), 6);
    fixture.run("--check").expect_success();
}

#[test]
fn only_unneeded_packages_are_pruned() {
    let fixture = MirrorFixture::new();
    fixture.run("").expect_success();
    let wanted = snapshot(&fixture.mirror());
    fixture
        .context
        .require("stacks/a", &[("acme/anvil", "1.1.0"), ("acme/forge", "")]);
    fixture.lock("stacks/a");
    let by_hand = "by-hand.test/a/b/1.0.0/linux_amd64";
    let by_hand = format!("mirror/{by_hand}/terraform-provider-b");
    fixture.context.write(&by_hand, "exe");
    fixture.context.write("mirror/README", "ours");
    fixture.run("").expect_success();
    let moved = snapshot(&fixture.mirror());

    // The other directory still requires 1.0.0, but it is not part of this run.
    let part = format!("mirror --prune --platform {PLATFORMS} mirror stacks/a");
    let outcome = fixture.context.run(&part).expect_success();
    outcome.assert_stdout(&format!(
        "pruned    {ANVIL} 1.0.0 (darwin_arm64, linux_amd64)\n"
    ));
    let left: Vec<String> = snapshot(&fixture.mirror()).into_keys().collect();
    let is_old = |name: &str| name.contains("anvil_1.0.0") || name.ends_with("anvil/1.0.0.json");
    let expected = moved.into_keys().filter(|name| !is_old(name));
    // Packages of h.test remain, because this lock file contains no provider of that host.
    assert_eq!(left, expected.collect::<Vec<_>>());
    let index = fs::read_to_string(fixture.mirror().join(ANVIL).join("index.json")).unwrap();
    assert_eq!(index, "{\n  \"versions\": {\n    \"1.1.0\": {}\n  }\n}");

    fixture
        .context
        .require("stacks/a", &[("acme/anvil", "1.0.0"), ("acme/forge", "")]);
    fixture.lock("stacks/a");
    fixture.run("--prune=all").expect_success();
    let mut left = snapshot(&fixture.mirror());
    assert!(
        left.remove("README").is_some(),
        "files other than packages remain"
    );
    assert_eq!(left, wanted);
    assert!(!fixture.mirror().join("by-hand.test").exists());
    assert_eq!(fixture.beside(), ["mirror", "stacks"]);
}

#[test]
fn without_lock_files_nothing_is_pruned() {
    let fixture = MirrorFixture::new();
    fixture.run("").expect_success();
    let filled = snapshot(&fixture.mirror());
    fixture.context.require("empty", &[("acme/anvil", "")]);
    let wrong = "mirror --prune=all mirror empty";
    let outcome = fixture.context.run(wrong).expect_success();
    outcome.assert_stderr("there is no lock file below these paths");
    fixture.context.write_lock_file("broken", "provider {");
    let broken = "mirror --prune=all mirror stacks/a broken";
    let outcome = fixture.context.run(broken).expect_code(1);
    outcome.assert_stderr("nothing was pruned");
    assert_eq!(snapshot(&fixture.mirror()), filled);
}

/// Returns a lock file without its `zh` hashes.
fn without_zh(lock: &str) -> String {
    let lines = lock.lines().filter(|line| !line.contains("\"zh:"));
    lines.flat_map(|line| [line, "\n"]).collect()
}

#[test]
fn a_platform_that_was_never_locked_is_refused() {
    let fixture = MirrorFixture::new();
    let text = fixture.context.lock_file("stacks/a").unwrap();
    fixture
        .context
        .write_lock_file("stacks/a", without_zh(&text));
    for [line, message] in table(
        "
        mirror --platform windows_amd64 mirror stacks/a                   | add its hashes with `--lock`
        mirror --layout unpacked --platform windows_amd64 mirror stacks/b | records no `h1` for this platform
        mirror --platform plan9_amd64 mirror stacks/a                     | --missing-platform warn
        ",
    ) {
        fixture.context.run(line).expect_code(1).assert_stderr(message);
    }
    let warn = "mirror --platform plan9_amd64 --missing-platform warn mirror stacks/a";
    fixture.context.run(warn).expect_success();
}

#[test]
fn init_installs_from_the_configuration_that_is_printed() {
    let fixture = MirrorFixture::new();
    let outcome = fixture.run("--cli-config -").expect_success();
    let expected = "\
provider_installation {
  filesystem_mirror {
    path = \"[ROOT]/repository/mirror\"
    include = [
      \"h.test/finance/ledger\",
      \"registry.terraform.io/acme/anvil\",
      \"registry.terraform.io/acme/forge\",
    ]
  }
  direct {
    exclude = [
      \"h.test/finance/ledger\",
      \"registry.terraform.io/acme/anvil\",
      \"registry.terraform.io/acme/forge\",
    ]
  }
}
";
    assert_eq!(outcome.stdout, expected);
    for layout in ["packed", "unpacked"] {
        for options in ["--cli-config providers.tfrc", "--check"] {
            let outcome = fixture.run(&format!("--layout {layout} {options}"));
            let is_told = outcome
                .stderr
                .contains("`TF_CLI_CONFIG_FILE` to the path of `providers.tfrc`");
            assert_eq!(is_told, options != "--check", "{outcome}");
            outcome.expect_success();
        }
        for directory in ["stacks/a", "stacks/b"] {
            let Some(init) = fixture.context.terraform(directory, ["init", "-no-color"]) else {
                return;
            };
            fixture.registry.log().clear();
            let before = fixture.context.lock_file(directory);
            let configuration = fixture.context.path("providers.tfrc");
            let init = init.env("TF_CLI_CONFIG_FILE", configuration);
            init.run().expect_success();
            let after = fixture.context.lock_file(directory);
            assert_eq!(after, before, "{layout} {directory}");
            assert_eq!(fixture.registry.log().total(), 0, "{layout} {directory}");
        }
        fs::remove_dir_all(fixture.mirror()).unwrap();
    }
}

#[test]
fn a_configuration_of_the_user_is_never_rewritten() {
    let fixture = MirrorFixture::new();
    let own = "credentials \"h.test\" {}\n";
    fixture.context.write("own.tfrc", own);
    let outcome = fixture.run("--cli-config own.tfrc").expect_success();
    outcome.assert_stderr("and was left unchanged");
    outcome.assert_stderr("exclude = [");
    assert_eq!(fixture.context.read("own.tfrc"), own);
}

/// tflock unpacks the same files with the same modes as `init` does into a plugin cache.
#[test]
#[cfg(unix)]
fn an_unpacked_package_is_what_init_unpacks() {
    use std::os::unix::fs::PermissionsExt as _;

    use tflock_test_support::{RawEntry, RawZip};

    let mut registry = FakeRegistry::start();
    let mut entries = vec![
        RawEntry::directory("d/").mode(0o040_700),
        RawEntry::deflated("d/a", "A").mode(0o100_640),
        RawEntry::deflated("e/f", "F"),
        RawEntry::stored("link", "d/a").mode(0o120_777),
        RawEntry::deflated("terraform-provider-modes_v1.0.0", "exe").mode(0o100_755),
        RawEntry::stored("twice", "1").mode(0o100_444),
        RawEntry::stored("twice", "2").mode(0o100_444),
    ];
    for mode in [0o400, 0o444, 0o600, 0o666, 0o777, 0o4755, 0o1777] {
        entries.push(RawEntry::stored(format!("m{mode:o}"), "x").mode(0o100_000 | mode));
    }
    let dos = |name: &str, attributes| RawEntry {
        made_by: 20,
        attributes,
        ..RawEntry::stored(name, "x")
    };
    entries.extend([dos("read-only", 1), dos("plain", 0)]);
    let spec = ProviderSpec::new("acme/modes").platforms(["linux_amd64"]);
    registry.publish(spec.archive("1.0.0", "linux_amd64", RawZip::of(entries).to_bytes()));
    let context = TestContext::new(TFLOCK, &registry);
    context.require("a", &[("acme/modes", "")]);
    for line in [
        "lock --platform linux_amd64 a",
        "mirror --layout unpacked --platform linux_amd64 mirror a",
        "mirror --layout unpacked --platform linux_amd64 --check mirror a",
    ] {
        context.run(line).expect_success();
    }
    let package = "mirror/registry.terraform.io/acme/modes/1.0.0/linux_amd64";
    let executable = context
        .path(package)
        .join("terraform-provider-modes_v1.0.0");
    fs::set_permissions(executable, fs::Permissions::from_mode(0o644)).unwrap();
    let check = "mirror --layout unpacked --platform linux_amd64 --check mirror a";
    let outcome = context.run(check).expect_code(3);
    outcome.assert_stdout("its executable lacks the execute permission");
    let repair = "mirror --layout unpacked --platform linux_amd64 mirror a";
    context.run(repair).expect_success();
    fs::create_dir(context.path("cache")).unwrap();
    let Some(init) = context.terraform("a", ["init", "-no-color"]) else {
        return;
    };
    let init = init.env("TF_PLUGIN_CACHE_DIR", context.path("cache"));
    init.run().expect_success();
    let ours = snapshot(&context.path("mirror"));
    assert_eq!(ours, snapshot(&context.path("cache")));
    assert!(ours.len() > 10);
}

/// Returns the JSON report, checked against its schema.
fn report(outcome: &Outcome) -> Value {
    let schema = include_str!("../../../src/run/mirror/mirror-1.schema.json");
    let report = outcome.json();
    assert_described(&report, &serde_json::from_str(schema).unwrap());
    report
}

#[test]
fn reports_for_programs_name_every_package() {
    let fixture = MirrorFixture::new();
    let first = fixture.report("", 0);
    let packages = first["packages"].as_array().unwrap();
    assert_eq!(packages.len(), 6);
    assert_eq!(packages[0]["state"], "added");
    assert_eq!(first["directories"][1]["path"], "stacks/b");
    let index = fixture.mirror().join("h.test/finance/ledger/index.json");
    fs::remove_file(fixture.mirror().join(ZIP)).unwrap();
    fs::remove_file(index).unwrap();
    let checked = fixture.report("--check", 3);
    let states = |state: &str| {
        let packages = checked["packages"].as_array().unwrap().iter();
        packages.filter(|package| package["state"] == state).count()
    };
    assert_eq!(["kept", "missing", "unlisted"].map(states), [0, 1, 2]);
    let mut packages = checked["packages"].as_array().unwrap().iter();
    let missing = packages.find(|package| package["state"] == "missing");
    assert_eq!(missing.unwrap()["path"], format!("mirror/{ZIP}"));
    // The schema also describes failures, repairs and removed packages.
    fixture.context.write_lock_file("stacks/b", "provider {");
    let failed = fixture.report("", 1);
    let diagnostic = &failed["directories"][1]["diagnostics"][0];
    assert_eq!(diagnostic["severity"], "error");
    fixture.context.write_lock_file("stacks/b", "");
    let pruned = fixture.report("--prune=all", 0);
    assert_eq!(pruned["pruned"].as_array().unwrap().len(), 2);
}

/// With `--changed`, only packages for changed directories are added. Packages of other lock files remain.
#[test]
fn a_working_set_limits_what_is_mirrored() {
    let fixture = MirrorFixture::new();
    let work = fixture.context.work();
    git(&work, "init --quiet");
    git_commit_all(&work);
    let nothing = fixture.report("--changed=HEAD", 0);
    assert_eq!(nothing["packages"], Value::Array(Vec::new()));
    assert_eq!(fixture.zips_downloaded(), 0);

    fixture
        .context
        .require("stacks/a", &[("acme/anvil", "1.1.0")]);
    fixture.lock("stacks/a");
    fixture.registry.log().clear();
    let changed = fixture.report("--changed=HEAD", 0);
    let versions = changed["packages"].as_array().unwrap().iter();
    let versions: Vec<String> = versions
        .map(|package| format!("{} {}", package["provider"], package["version"]).replace('"', ""))
        .collect();
    let forge = "registry.terraform.io/acme/forge 5.2.0";
    let anvil = format!("{ANVIL} 1.1.0");
    // The configuration no longer requires forge, but its entry remains in the lock file.
    assert_eq!(versions, [&anvil, &anvil, forge, forge]);
    assert_eq!(fixture.zips_downloaded(), 4);
    fixture.run("").expect_success();
    assert_eq!(fixture.zips_downloaded(), 4, "anvil 1.0.0 and ledger");
    let whole = snapshot(&fixture.mirror());
    // A run on only some of the directories does not know which packages the others need.
    let refused = fixture.run("--prune=all --changed=HEAD");
    let refused = refused.expect_code(2);
    refused.assert_stderr("cannot be used with '--changed");
    assert_eq!(snapshot(&fixture.mirror()), whole);
}

/// A package in the mirror is verified with its `zh` hash, or with its `h1` hash if the lock file has no `zh` hash. No
/// request is sent, and no other zip is accepted.
#[test]
fn packages_are_verified_by_the_hashes_of_the_lock_file() {
    let fixture = MirrorFixture::new();
    fixture.run("").expect_success();
    for directory in ["stacks/a", "stacks/b"] {
        let text = fixture.context.lock_file(directory).unwrap();
        fixture
            .context
            .write_lock_file(directory, without_zh(&text));
    }
    let whole = snapshot(&fixture.mirror());
    fixture.registry.log().clear();
    fixture.run("--no-cache").expect_success();
    assert_eq!(fixture.registry.log().total(), 0);
    assert_eq!(snapshot(&fixture.mirror()), whole);

    // A valid zip of a different provider.
    let forge = "registry.terraform.io/acme/forge/terraform-provider-forge_5.2.0_linux_amd64.zip";
    let zip = fixture.mirror().join(ZIP);
    fs::copy(fixture.mirror().join(forge), zip).unwrap();
    let outcome = fixture.run("--no-cache").expect_success();
    let text = "repaired  registry.terraform.io/acme/anvil 1.0.0 (linux_amd64)\n";
    outcome.assert_stdout(text);
    assert_eq!(snapshot(&fixture.mirror()), whole, "{outcome}");
}
