//! The disk cache saves requests and never changes a lock file.

mod command;
mod damage;
mod processes;
mod trust;

use std::fs;
use std::path::{Path, PathBuf};

use tflock_test_support::{FakeRegistry, Outcome, ProviderSpec, TestContext, table};

use crate::TFLOCK;

const PLATFORMS: &str = "linux_amd64,darwin_arm64";

/// Starts a registry with two providers in three versions each, and creates an empty tree.
fn start() -> (FakeRegistry, TestContext) {
    let mut registry = FakeRegistry::start();
    for source in ["acme/anvil", "registry.example/acme/bolt"] {
        registry.publish(ProviderSpec::new(source).versions(["1.0.0", "1.1.0", "2.0.0"]));
    }
    let context = TestContext::new(TFLOCK, &registry);
    (registry, context)
}

/// Runs `tflock lock` with these options and paths, separated by spaces.
fn lock(context: &TestContext, options: &str) -> Outcome {
    context.run(&format!("lock --platform {PLATFORMS} {options}"))
}

/// Returns all cache files below `kind`, or all cache files if `kind` is empty.
fn entries(context: &TestContext, kind: &str) -> Vec<PathBuf> {
    fn collect(directory: &Path, files: &mut Vec<PathBuf>) {
        for entry in fs::read_dir(directory).into_iter().flatten() {
            let path = entry.unwrap().path();
            if path.is_dir() {
                collect(&path, files);
            } else {
                files.push(path);
            }
        }
    }
    let mut files = Vec::new();
    collect(&context.cache().join("v1").join(kind), &mut files);
    files.sort();
    files
}

/// Returns the number of requests of each kind since the last call: `versions download sums sig zip`.
fn request_counts(registry: &FakeRegistry) -> [usize; 5] {
    let patterns = ["*/versions", "*/download/*", "*SUMS", "*SUMS.sig", "*.zip"];
    let counts = patterns.map(|pattern| registry.log().count("GET", pattern));
    assert_eq!(counts.iter().sum::<usize>(), registry.log().total());
    registry.log().clear();
    counts
}

const NOTHING: [usize; 5] = [0; 5];

#[test]
fn immutable_documents_are_not_requested_again() {
    let (registry, context) = start();
    let both = [
        ("acme/anvil", "~> 1.0"),
        ("registry.example/acme/bolt", "1.0.0"),
    ];
    for directory in ["a", "b/c"] {
        context.require(directory, &both);
    }
    let cold = lock(&context, "-r -v").expect_success();
    assert_eq!(
        request_counts(&registry),
        [2, 4, 2, 2, 4],
        "each document is requested once"
    );
    let locked = context.lock_file("a");
    let modified = context.lock_file_modified("a");

    let warm = lock(&context, "-r -v").expect_success();
    assert_eq!(request_counts(&registry), NOTHING);
    assert_eq!(
        context.lock_file_modified("a"),
        modified,
        "the file is not written"
    );
    let signed = |outcome: &Outcome| outcome.stdout.contains("signed by");
    assert!(signed(&cold) && signed(&warm), "{warm}");

    // The cache key contains the engine, because registries may answer each tool differently.
    context.require("t", &[("registry.example/acme/bolt", "1.0.0")]);
    lock(&context, "t --engine tofu").expect_success();
    assert_eq!(request_counts(&registry), [1, 2, 1, 1, 0]);

    // Without the registry, everything comes from the cache.
    drop(registry);
    lock(&context, "-r").expect_success();
    assert_eq!(context.lock_file("a"), locked);
}

/// The columns: the case, the constraint, the locked version, the options, and the number of requests with a warm cache
/// for version lists, descriptions, checksum lists, signatures and packages.
const ROWS: &str = "
    unchanged                           | ~> 1.0         | 1.0.0 |                          | 0 0 0 0 0
    no constraint                       |                | 1.0.0 |                          | 0 0 0 0 0
    locked by the other directory only  | 1.0.0          |       |                          | 0 0 0 0 0
    exact and more                      | >= 0.9, = 1.0.0 |      |                          | 0 0 0 0 0
    a pin that moved                    | 1.0.0          | 2.0.0 |                          | 0 0 0 0 0
    a choice of several                 | ~> 1.0.0       |       |                          | 1 2 1 1 0
    a pin that was never locked         | 1.1.0          |       |                          | 1 2 1 1 2
    a version that no longer fits       | ~> 1.0.0       | 2.0.0 |                          | 1 2 1 1 0
    an upgrade                          | ~> 1.0.0       | 1.0.0 | --upgrade                | 1 2 1 1 0
    refresh                             | ~> 1.0         | 1.0.0 | --refresh                | 1 2 1 1 0
    no cache                            | ~> 1.0         | 1.0.0 | --no-cache               | 1 2 1 1 2
    check                               | 1.0.0          | 1.0.0 | --check                  | 0 0 0 0 0
    another platform                    | ~> 1.0         | 1.0.0 | --platform windows_amd64 | 1 3 1 1 1
";

#[test]
fn only_changeable_documents_are_requested() {
    let (registry, context) = start();
    for version in ["1.0.0", "2.0.0"] {
        let directory = format!("locked/{version}");
        context.require(&directory, &[("acme/anvil", version)]);
        lock(&context, &directory).expect_success();
    }
    let keep = context.path("cache-as-it-was");
    copy(&context.cache(), &keep);
    registry.log().clear();
    for (number, row) in table(ROWS).into_iter().enumerate() {
        let [name, constraint, version, options, expected] = row;
        let lay_out = |directory: &str| {
            context.require(directory, &[("acme/anvil", constraint)]);
            if !version.is_empty() {
                let locked = context.lock_file(&format!("locked/{version}"));
                context.write_lock_file(directory, locked.unwrap());
            }
        };
        let warm = format!("warm/{number}");
        lay_out(&warm);
        lock(&context, &format!("{options} {warm}")).expect_success();
        let requests = request_counts(&registry).map(|count| count.to_string());
        assert_eq!(requests.join(" "), expected, "{name}");

        // A run without the cache must write the same file.
        let cold = format!("cold/{number}");
        lay_out(&cold);
        let options = options.replace("--refresh", "--no-cache");
        lock(&context, &format!("{options} {cold}")).expect_success();
        let written = [&warm, &cold].map(|directory| context.lock_file(directory));
        assert_eq!(written[0], written[1], "{name}");
        fs::remove_dir_all(context.cache()).unwrap();
        copy(&keep, &context.cache());
        registry.log().clear();
    }
}

/// Copies a cache directory, including the modes of its directories.
fn copy(from: &Path, to: &Path) {
    fs::create_dir(to).unwrap();
    fs::set_permissions(to, fs::metadata(from).unwrap().permissions()).unwrap();
    for entry in fs::read_dir(from).unwrap() {
        let path = entry.unwrap().path();
        let target = to.join(path.file_name().unwrap());
        if path.is_dir() {
            copy(&path, &target);
        } else {
            fs::copy(path, target).unwrap();
        }
    }
}

/// Every run prints the registry's warnings, even if they come from the cache.
#[test]
fn warnings_of_the_registry_are_printed_from_the_cache_as_well() {
    let mut registry = FakeRegistry::start();
    let spec = ProviderSpec::new("acme/anvil").versions(["1.0.0", "not-one"]);
    registry.publish(spec.warning("use acme/hammer"));
    let context = TestContext::new(TFLOCK, &registry);
    context.require("a", &[("acme/anvil", "1.0.0")]);
    let cold = lock(&context, "a").expect_success();
    registry.log().clear();
    let warm = lock(&context, "a").expect_success();
    assert_eq!(request_counts(&registry), NOTHING);
    for text in ["use acme/hammer", "not-one"] {
        cold.assert_stderr(text);
        warm.assert_stderr(text);
    }
}

#[test]
fn offline_errors_name_what_is_missing() {
    let (registry, context) = start();
    context.require("known", &[("acme/anvil", "~> 1.0")]);
    context.require("pinned", &[("acme/anvil", "1.1.0")]);
    lock(&context, "known").expect_success();
    drop(registry);
    lock(&context, "--offline known pinned").expect_success();

    for [directory, constraint, options, message] in table(
        "
        fresh     | ~> 1.0 |                          | only its registry can list its versions
        unknown   | 1.0.0  |                          | the cache does not have version 1.0.0 for `linux_amd64`, `darwin_arm64`
        platform  | 1.1.0  | --platform windows_amd64 | the cache does not have version 1.1.0 for `windows_amd64`
        upgrade   | 1.1.0  | --upgrade                | only its registry can list its versions
        cacheless | 1.1.0  | --no-cache               | the cache does not have version 1.1.0 for `linux_amd64`, `darwin_arm64`
        ",
    ) {
        context.require(directory, &[("acme/anvil", constraint)]);
        let outcome = lock(&context, &format!("--offline {options} {directory} known"));
        let outcome = outcome.expect_code(1);
        for text in [
            message,
            "but `--offline` forbids network access",
            "hint: run the command once without `--offline`",
        ] {
            outcome.assert_stderr(text);
        }
        assert_eq!(context.lock_file(directory), None);
    }
    let foreign = format!("\"h1:{}=\"", "A".repeat(43));
    let known = context.lock_file("known").unwrap();
    let start = known.find("    \"h1:").unwrap();
    let end = known.rfind("  ]").unwrap();
    context.require("foreign", &[("acme/anvil", "~> 1.0")]);
    let text = format!("{}    {foreign},\n{}", &known[..start], &known[end..]);
    context.write_lock_file("foreign", &text);
    let outcome = lock(&context, "--offline foreign").expect_code(1);
    let message = "the cached packages of version 1.1.0 do not match the lock file";
    outcome.assert_stderr(message);
    assert_eq!(context.lock_file("foreign"), Some(text));

    for options in ["--refresh --offline", "--refresh --no-cache"] {
        lock(&context, options).expect_code(2);
    }
}

/// Hashes that no registry publishes are reported and replaced in the same way with and without a cache.
#[test]
fn foreign_hashes_have_the_same_result_with_a_cache() {
    let (registry, context) = start();
    context.require("full", &[("acme/anvil", "1.0.0")]);
    lock(&context, "full").expect_success();
    let foreign_h1 = format!("\"h1:{}=\"", "A".repeat(43));
    let foreign_zh = format!("\"zh:{}\"", "a".repeat(64));
    let windows = registry.fill("\"{h1:acme/anvil:1.0.0:windows_amd64}\"");
    let linux = registry.fill("\"{h1:acme/anvil:1.0.0:linux_amd64}\"");
    let recorded: [&[&str]; 4] = [
        &[&foreign_h1],
        &[&foreign_zh],
        &[&windows],
        &[&linux, &foreign_zh],
    ];
    for (number, hashes) in recorded.iter().enumerate() {
        let lines = format!("    {},\n", hashes.join(",\n    "));
        let old = format!(
            "provider \"registry.terraform.io/acme/anvil\" {{\n  version     = \"1.0.0\"\n  constraints = \
             \"1.0.0\"\n  hashes = [\n{lines}  ]\n}}\n"
        );
        for mismatch in ["error", "add", "replace"] {
            let directory = format!("{number}/{mismatch}");
            context.require(&directory, &[("acme/anvil", "1.0.0")]);
            let outcome = |options: &str| {
                context.write_lock_file(&directory, &old);
                let options = format!("--mismatch {mismatch} {options} {directory}");
                let Outcome { code, stderr, .. } = lock(&context, &options);
                (code, stderr, context.lock_file(&directory))
            };
            let (warm, cold) = (outcome(""), outcome("--no-cache"));
            assert_eq!(warm, cold, "{hashes:?} {mismatch}");
        }
    }
}
