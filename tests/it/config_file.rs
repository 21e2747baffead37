//! `.tflock.toml` and `tflock config`: which config files apply to a directory, and which setting takes precedence.

use tflock_test_support::{FakeRegistry, ProviderSpec, TestContext, assert_contains, table};

use crate::TFLOCK;

/// Creates a repository with a config file that requests two platforms, and a nested one that requests a different one.
fn start() -> (FakeRegistry, TestContext) {
    let mut registry = FakeRegistry::start();
    registry.publish(ProviderSpec::new("acme/anvil").versions(["1.0.0", "1.1.0"]));
    let context = TestContext::new(TFLOCK, &registry);
    for directory in ["repo/live/a", "repo/live/b", "repo/lab/c", "repo/old/d"] {
        context.require(directory, &[("acme/anvil", "1.0.0")]);
    }
    context.write_tree(
        r#"
        -- repo/.git/HEAD --
        -- repo/.tflock.toml --
        platforms = ["linux_amd64", "darwin_arm64"]
        ignore-paths = ["^old/"]
        -- repo/lab/.tflock.toml --
        platforms = ["windows_amd64"]
        create = "always"
        "#,
    );
    (registry, context)
}

/// Returns the platforms for which a lock file has an `h1` hash, such as `darwin linux`.
fn platforms(registry: &FakeRegistry, context: &TestContext, directory: &str) -> String {
    let Some(text) = context.lock_file(directory) else {
        return "no file".to_owned();
    };
    let all = ["darwin_arm64", "linux_amd64", "windows_amd64"];
    let h1 = |platform: &str| &registry.package("acme/anvil", "1.0.0", platform).h1;
    let has = |platform: &&str| text.contains(h1(platform));
    let names = all.into_iter().filter(has);
    let names: Vec<&str> = names.filter_map(|name| name.split('_').next()).collect();
    names.join(" ")
}

#[test]
fn the_nearest_file_applies_and_the_command_line_takes_precedence() {
    // `-r` starts at PATH, whose config file applies to all directories below it. Patterns on the command line replace
    // those in the file. Directories named on the command line are never skipped.
    for [from, arguments, live, lab, old] in table(
        "
        repo        | -r .                                       | darwin linux | darwin linux | no file
        repo        | -r                                         | darwin linux | darwin linux | no file
        repo/live   | -r .                                       | darwin linux | no file      | no file
        repo/live/a | . ../../lab/c                              | darwin linux | windows      | no file
        .           | repo/live/a repo/lab/c                     | darwin linux | windows      | no file
        repo        | live/a/main.tf lab/c/main.tf old/d/main.tf | darwin linux | windows      | no file
        repo        | -r --platform linux_amd64 .                | linux        | linux        | no file
        repo        | -r -i lab .                                | darwin linux | no file      | darwin linux
        repo        | old/d                                      | no file      | no file      | darwin linux
        ",
    ) {
        let (registry, context) = start();
        let lock = context.command(&format!("lock {arguments}"));
        lock.current_dir(context.path(from)).run().expect_success();
        let found = ["repo/live/a", "repo/lab/c", "repo/old/d"];
        let found = found.map(|directory| platforms(&registry, &context, directory));
        assert_eq!(found, [live, lab, old], "{from}: {arguments}");
    }
}

#[test]
fn files_above_or_outside_the_repository_do_not_apply() {
    let (_registry, context) = start();
    context.write(".tflock.toml", "nonsense = 1\n");
    context.write("loose/b/main.tf", "");
    for (path, code) in [("repo/live/a", 0), ("loose/b", 0), (".", 2)] {
        context.run(&format!("config {path}")).expect_code(code);
    }
}

#[test]
fn values_of_the_file_apply_until_they_are_removed() {
    let (_registry, context) = start();
    let entries = || {
        let text = context.lock_file("repo/live/a").unwrap_or_default();
        text.matches("provider \"").count()
    };
    let lock = |options: &str| {
        let line = format!("lock repo/live/a {options}");
        context.run(&line).expect_success()
    };
    lock("");
    context.write("repo/live/a/main.tf", "");
    let prune = "platforms = [\"linux_amd64\"]\nprune = true\n";
    context.write("repo/.tflock.toml", prune);
    lock("--no-prune");
    assert_eq!(entries(), 1);
    lock("");
    assert_eq!(entries(), 0);
    context.require("repo/live/a", &[("acme/anvil", "1.0.0")]);
    context.write("repo/.tflock.toml", "create = \"never\"\n");
    context.remove_lock_file("repo/live/a");
    lock("");
    assert_eq!(context.lock_file("repo/live/a"), None);
    lock("--create always");
    assert_eq!(entries(), 1);
}

#[test]
fn pinned_signers_refuse_a_key_that_the_file_does_not_name() {
    let (_registry, context) = start();
    let key = "0".repeat(40);
    let text = format!("platforms = [\"linux_amd64\"]\n[signers]\n\"acme/*\" = [\"{key}\"]\n");
    context.write("repo/.tflock.toml", text);
    let outcome = context.run("lock repo/live/a").expect_code(1);
    for part in [
        "is signed by key",
        "`[signers]` (repo/.tflock.toml:3:1) pins `acme/*` to key 0000",
    ] {
        assert_contains(&outcome.stderr.replace('\\', "/"), part);
    }
    assert_eq!(context.lock_file("repo/live/a"), None);
}

#[test]
fn a_mistake_in_the_file_stops_the_run_with_its_line() {
    let (registry, context) = start();
    let mistake = "jobs = 4\nplatform = [\"linux_amd64\"]\n";
    context.write("repo/.tflock.toml", mistake);
    let lock = context.command("lock -r .");
    let outcome = lock.current_dir(context.path("repo/live/a")).run();
    let outcome = outcome.expect_code(2);
    let expected = "\
error: `platform` is not a valid key in `.tflock.toml`
 --> ../../.tflock.toml:2:1
  |
2 | platform = [\"linux_amd64\"]
  | ^^^^^^^^

hint: did you mean `platforms`?

";
    assert_eq!(outcome.stderr.replace('\\', "/"), expected);
    assert_eq!(registry.log().total(), 0);
}

/// Fails unless `text` contains this line. The spaces between words may differ.
#[track_caller]
fn assert_line(text: &str, line: &str) {
    let is_it = |found: &str| found.split_whitespace().eq(line.split_whitespace());
    assert!(text.lines().any(is_it), "`{line}` is missing in:\n{text}");
}

#[test]
fn config_shows_effective_values_and_their_sources() {
    let (_registry, context) = start();
    let base = "https://user:secret@registry.opentofu.org/";
    let outcome = context
        .command("config --create never repo/lab repo/live/a repo/live")
        .env("TFREGISTRY_BASE_URL", base)
        .env("TF_TOKEN_example_com", "secret")
        .env("TF_WORKSPACE", "blue")
        .run()
        .expect_success();
    let shown = outcome.stdout.replace('\\', "/");
    for line in [
        "repo/lab: governed by repo/lab/.tflock.toml",
        "  platforms         windows_amd64              # repo/lab/.tflock.toml:1:1",
        "repo/live/a, repo/live: governed by repo/.tflock.toml",
        "  platforms         linux_amd64, darwin_arm64  # repo/.tflock.toml:1:1",
        "  ignore-paths      `^old/`                    # repo/.tflock.toml:2:1",
        "  create            never                      # command line",
        "  engine            tofu                       # environment: TFREGISTRY_BASE_URL",
        "  jobs              8                          # default",
        "  TFREGISTRY_BASE_URL is set",
        "  TF_TOKEN_example_com is set",
        "  TF_WORKSPACE=blue",
    ] {
        assert_line(&shown, line);
    }
    assert!(!shown.contains("secret"), "{shown}");
}

/// The columns: the config files in the repository root, in `lab` and in `lab/c`, and the effective value for
/// `repo/lab/c` with the place that sets it.
#[test]
fn each_key_combines_the_files_by_its_own_rule() {
    for [top, lab, nearest, expected] in table(
        r#"
        create = "never"            |                              |                           | create never # repo/.tflock.toml:1:1
        create = "never"            | create = "always"            |                           | create always # repo/lab/.tflock.toml:1:1
        engine = "tofu"             |                              | engine = "auto"           | engine auto # repo/lab/c/.tflock.toml:1:1
        platforms = ["linux_arm64"] | prune = true                 |                           | platforms linux_arm64 # repo/.tflock.toml:1:1
        prune = false               | prune = true                 |                           | prune true # repo/lab/.tflock.toml:1:1
        ignore-paths = ["^a/"]      | ignore-paths = ["^b/"]       |                           | ignore-paths `^b/` # repo/lab/.tflock.toml:1:1
        jobs = 2                    | jobs = 200                   |                           | jobs 2 # repo/.tflock.toml:1:1
        jobs = 20                   |                              | jobs = 3                  | jobs 3 # repo/lab/c/.tflock.toml:1:1
        missing-module = "error"    | missing-module = "warn"      |                           | missing-module error # repo/.tflock.toml:1:1
        missing-platform = "warn"   | missing-platform = "error"   | missing-platform = "warn" | missing-platform error # repo/lab/.tflock.toml:1:1
        missing-platform = "warn"   |                              | missing-platform = "warn" | missing-platform warn # repo/lab/c/.tflock.toml:1:1
        signers = {}                |                              |                           | signers any # default
        "#,
    ) {
        let (_registry, context) = start();
        for (directory, text) in [("repo", top), ("repo/lab", lab), ("repo/lab/c", nearest)] {
            context.write(&format!("{directory}/.tflock.toml"), text);
        }
        let outcome = context.run("config repo/lab/c").expect_success();
        let shown = outcome.stdout.replace('\\', "/");
        assert_line(&shown, expected);
    }
}

#[test]
fn config_shows_the_signers_of_each_file() {
    let (_registry, context) = start();
    let pin = |pattern: &str, digit: &str| {
        format!("[signers]\n\"{pattern}\" = [\"{}\"]\n", digit.repeat(40))
    };
    context.write("repo/.tflock.toml", pin("acme/*", "1"));
    context.write("repo/lab/.tflock.toml", "");
    context.write("repo/lab/c/.tflock.toml", pin("acme/anvil", "2"));
    let outcome = context.run("config repo/lab/c").expect_success();
    let shown = outcome.stdout.replace('\\', "/");
    let expected = "\
repo/lab/c: governed by repo/lab/c/.tflock.toml
  and by repo/lab/.tflock.toml
  and by repo/.tflock.toml
";
    assert!(shown.starts_with(expected), "{shown}");
    for (pattern, digit, file) in [("acme/anvil", "2", "repo/lab/c"), ("acme/*", "1", "repo")] {
        let key = digit.repeat(40);
        assert_line(
            &shown,
            &format!("signers {pattern}: {key} # {file}/.tflock.toml:2:1"),
        );
    }
}

/// The patterns in a config file remain relative to that file if a nearer file sets other keys.
#[test]
fn ignored_paths_are_relative_to_the_file_that_names_them() {
    let (registry, context) = start();
    let text = "platforms = [\"linux_amd64\"]\nignore-paths = [\"^lab/c$\"]\n";
    context.write("repo/.tflock.toml", text);
    context.write("repo/lab/.tflock.toml", "create = \"always\"\n");
    context.require("repo/lab/lab/c", &[("acme/anvil", "1.0.0")]);
    let lock = context.command("lock -r .");
    let outcome = lock.current_dir(context.path("repo/lab")).run();
    outcome.expect_success();
    let found = ["repo/lab/c", "repo/lab/lab/c"];
    let found = found.map(|directory| platforms(&registry, &context, directory));
    assert_eq!(found, ["no file", "linux"]);
}
