//! `--untrusted`: what a stranger's configuration can access.

use std::sync::Arc;

use tflock_test_support::{
    DEFAULT_HOSTS, FakeRegistry, Hit, Outcome, Program, ProviderSpec, TestContext, git,
    git_commit_all, table,
};

use crate::TFLOCK;
use crate::modules::binary::{call, publish_module, requiring, with_modules};

/// A secret that must not be sent.
const SECRET: &str = "XSECRETX";

/// A registry for the hosts `registry.terraform.io`, `evil.test` and `modules.test`, and a tree with the directories
/// `good` and `bad`.
struct UntrustedSite {
    registry: FakeRegistry,
    context: TestContext,
}

impl UntrustedSite {
    fn with(bad: &str) -> Self {
        let mut registry = FakeRegistry::start();
        registry.publish(ProviderSpec::new("acme/anvil").hosts(DEFAULT_HOSTS));
        registry.publish(ProviderSpec::new("acme/bolt").hosts(["evil.test"]));
        let module = requiring("acme/anvil", ">= 1.0");
        publish_module(&registry, "acme/net/any", "1.0.0", &[("main.tf", &module)]);
        let context = TestContext::new(TFLOCK, &registry);
        context.set_cli_config(&with_modules(&registry));
        context.require("good", &[("acme/anvil", "")]);
        context.write("bad/main.tf", bad.replace("{URL}", &registry.url("")));
        Self { registry, context }
    }

    fn lock(&self, options: &str) -> Program {
        let fixed = "lock --platform linux_amd64 good bad";
        let port = self.registry.port().to_string();
        let options = options.replace("{PORT}", &port);
        let mut program = self.context.command(&format!("{fixed} {options}"));
        for host in ["evil_test", "modules_test", "127_0_0_1"] {
            program = program.env(&format!("TF_TOKEN_{host}"), SECRET);
        }
        program
    }

    /// Runs `lock` on both directories. Checks that `good` is always locked, and `bad` only if the expected code is 0.
    #[track_caller]
    fn run(&self, options: &str, code: i32) -> Outcome {
        let outcome = self.lock(options).run().expect_code(code);
        assert!(self.context.lock_file("good").is_some(), "{outcome}");
        let is_locked = self.context.lock_file("bad").is_some();
        assert_eq!(is_locked, code == 0, "{outcome}");
        outcome
    }

    /// Returns whether a path with this prefix was requested.
    fn was_requested(&self, start: &str) -> bool {
        let hits = self.registry.log().hits();
        hits.iter().any(|hit| hit.request.path.starts_with(start))
    }

    fn sent_secrets(&self) -> bool {
        let hits = self.registry.log().hits();
        hits.iter().any(|hit| format!("{hit:?}").contains(SECRET))
    }
}

#[test]
fn requests_are_sent_only_to_hosts_that_the_user_allows() {
    let evil_provider = requiring("evil.test/acme/bolt", ">= 1.0");
    let registry_module = call("net", "modules.test/acme/net/any", "1.0.0");
    let archive = call("net", "{URL}/files/acme/net/any.zip", "");
    let page = call("net", "{URL}/page", "");
    let git = call("net", "git::https://evil.test/r.git", "");
    let mercurial = call("net", "hg::ssh://hg@evil.test/r.hg", "");
    let public = "--allow-host=registry.terraform.io";
    for (bad, path, refused, can_be_allowed) in [
        (&evil_provider, "/evil.test/", "evil.test", true),
        (&registry_module, "/modules/", "modules.test", true),
        (&archive, "/files/", "127.0.0.1:{PORT}", true),
        (&page, "/page", "127.0.0.1:{PORT}", false),
        (&git, "/r.git", "evil.test", false),
        (&mercurial, "/r.hg", "evil.test", false),
    ] {
        let site = UntrustedSite::with(bad);
        let outcome = site.run("--untrusted", 1);
        let host = refused.replace("{PORT}", "[PORT]");
        let message = format!("host `{host}` is not allowed with `--untrusted`");
        outcome.assert_stderr(&message);
        outcome.assert_stderr(&format!("--allow-host {host}"));
        assert!(!site.was_requested(path), "{bad}");
        assert!(!site.sent_secrets(), "{bad}");
        if can_be_allowed {
            site.run(&format!("--untrusted {public} --allow-host={refused}"), 0);
            assert!(site.was_requested(path), "{bad}");
        }
    }
}

/// Entries that an earlier trusted run cached are not used for forbidden hosts.
#[test]
fn the_cache_does_not_circumvent_the_restrictions() {
    for bad in [
        call("net", "modules.test/acme/net/any", "1.0.0"),
        call("net", "{URL}/files/acme/net/any.zip", ""),
    ] {
        let site = UntrustedSite::with(&bad);
        site.run("", 0);
        site.context.remove_lock_file("bad");
        let outcome = site.run("--untrusted", 1);
        outcome.assert_stderr("is not allowed");
    }
}

/// The variable has the same effect as the option, for pipelines with a fixed command line.
#[test]
fn the_variable_has_the_effect_of_the_option() {
    let site = UntrustedSite::with(&requiring("evil.test/acme/bolt", ">= 1.0"));
    for [options, value, code, message] in table(
        "
                              | 1     | 1 | host `evil.test` is not allowed
                              | maybe | 2 | expected `1` or `0`
        --allow-host evil.test | 0    | 2 | cannot use `--allow-host` without `--untrusted`
        ",
    ) {
        let lock = site.lock(options).env("TFLOCK_UNTRUSTED", value);
        let outcome = lock.run().expect_code(code.parse().unwrap());
        outcome.assert_stderr(message);
    }
}

/// Passwords from netrc are sent only to allowed hosts, not to a server that a configuration or a registry names.
#[test]
fn netrc_applies_to_allowed_hosts_only() {
    let site = UntrustedSite::with(&call("net", "modules.test/acme/net/any", "1.0.0"));
    let netrc = site.context.path("../home/.netrc");
    let text = format!(
        "machine 127.0.0.1:{} login u password {SECRET}\n",
        site.registry.port()
    );
    std::fs::write(netrc, text).unwrap();
    let hosts = "--allow-host=registry.terraform.io,modules.test";
    let authorized = |site: &UntrustedSite| {
        let hits = site.registry.log().hits();
        let is_authorized = |hit: &&Arc<Hit>| {
            let shown = format!("{hit:?}").to_lowercase();
            hit.request.path.starts_with("/files/") && shown.contains("basic ")
        };
        hits.iter().filter(is_authorized).count()
    };
    site.run(&format!("--untrusted {hosts}"), 0);
    assert!(site.was_requested("/files/"));
    assert_eq!(authorized(&site), 0);
    site.context.remove_lock_file("bad");
    let server = "--allow-host=127.0.0.1:{PORT}";
    site.run(&format!("--untrusted --no-cache {hosts} {server}"), 0);
    assert_eq!(authorized(&site), 1);
}

/// `init` and `--source config` use unsigned packages from `terraform.d/plugins` in the working directory. An untrusted
/// run does not use them.
#[test]
fn packages_in_the_tree_are_not_used() {
    let site = UntrustedSite::with(&requiring("acme/anvil", ">= 1.0"));
    let package =
        "registry.terraform.io/acme/anvil/1.0.0/linux_amd64/terraform-provider-anvil_v1.0.0";
    site.context
        .write(&format!("terraform.d/plugins/{package}"), "altered");
    let genuine = site.registry.fill("{h1:acme/anvil:1.0.0:linux_amd64}");
    for (options, is_genuine) in [
        ("--source=config", false),
        ("--source=config --untrusted", true),
    ] {
        site.run(options, 0);
        let locked = site.context.lock_file("bad").unwrap();
        assert_eq!(locked.contains(&genuine), is_genuine, "{options}\n{locked}");
        for directory in ["good", "bad"] {
            site.context.remove_lock_file(directory);
        }
    }
}

/// Commits the tree, as if it had been checked out from a repository.
fn commit(site: &UntrustedSite) {
    let work = site.context.work();
    if !site.context.path(".git").exists() {
        git(&work, "init --quiet --initial-branch=main");
    }
    git_commit_all(&work);
}

/// The columns: the name of a call in [`call_named`], the options, the exit code without `--untrusted`, and the error
/// with it. An empty error means that the run succeeds.
const REACHED: &str = "
    tracked file   |                       | 0 |
    untracked file |                       | 0 | git does not track it, and `--untrusted` allows only tracked files
    untracked file | --allow-read=bad      | 0 |
    fileexists     |                       | 0 | git does not track it, and `--untrusted` allows only tracked files
    variable       |                       | 0 | not known before apply
    variable       | --allow-env=TF_VAR_v  | 0 |
    workspace      |                       | 0 | the source `./missing` of module `m` points outside
    outside        |                       | 0 | outside the repository, which `--untrusted` does not allow
    link           |                       | 0 | outside the repository, which `--untrusted` does not allow
    git outside    |                       | 1 | outside the repository, which `--untrusted` does not allow
    git link       |                       | 1 | outside the repository, which `--untrusted` does not allow
    git alternates |                       | 1 | outside the repository, which `--untrusted` does not allow
    hg outside     |                       | 1 | outside the repository, which `--untrusted` does not allow
    hg share       |                       | 1 | outside the repository, which `--untrusted` does not allow
    list outside   |                       | 1 | outside the repository, which `--untrusted` does not allow
    installed      |                       | 0 | host `evil.test` is not allowed
";

/// Returns a call whose source depends on the named file, variable or module. If it depends on a condition, the source
/// is `./module` if the condition is true, and otherwise a missing directory.
fn call_named(name: &str, root: &str) -> String {
    let condition = match name {
        "tracked file" => "file(\"name\") == \"tracked\"",
        "untracked file" => "file(\"untracked\") == \"s\"",
        "fileexists" => "fileexists(\"untracked\")",
        "variable" => "var.v == \"s\"",
        "workspace" => "terraform.workspace == \"s\"",
        "outside" => return call("m", "../../outside", ""),
        "link" => return call("m", "./link", ""),
        "git outside" => {
            let source = format!("git::file://{root}/outside-repository");
            return call("m", &source, "");
        }
        "git link" => {
            let source = format!("git::file://{root}/repository/bad/link/../outside-repository");
            return call("m", &source, "");
        }
        "git alternates" => {
            let source = format!("git::file://{root}/repository/bad/bare");
            return call("m", &source, "");
        }
        "hg outside" => {
            let source = format!("hg::file://{root}/outside-repository");
            return call("m", &source, "");
        }
        "hg share" => {
            let source = format!("hg::file://{root}/repository/bad/share");
            return call("m", &source, "");
        }
        "list outside" => {
            let archive = format!("file://{root}/repository/bad/m.zip");
            let source = format!("{archive}?checksum=file:file://{root}/outside/SUMS");
            return call("m", &source, "");
        }
        _ => return call("m", "evil.test/acme/net/any", "1.0.0"),
    };
    let source = format!("{condition} ? \"./module\" : \"./missing\"");
    let variable = "variable \"v\" {\n  default = \"\"\n}\n";
    format!("{variable}module \"m\" {{\n  source = {source}\n}}\n")
}

const REACHED_FILES: [(&str, &str); 12] = [
    ("bad/bare/HEAD", "ref: refs/heads/main\n"),
    (
        "bad/bare/refs/heads/main",
        "0000000000000000000000000000000000000001\n",
    ),
    ("bad/bare/objects/pack/none", ""),
    // The objects of this repository would be read from another one.
    ("bad/bare/objects/info/alternates", "/nowhere/objects\n"),
    // The history of this repository would be read from another one.
    ("bad/share/.hg/requires", "shared\n"),
    ("bad/share/.hg/sharedpath", "/nowhere"),
    ("bad/name", "tracked"),
    ("bad/module/main.tf", ""),
    ("bad/.terraform/environment", "s"),
    ("bad/.terraform/modules/m/main.tf", ""),
    (
        "bad/.terraform/modules/modules.json",
        r#"{"Modules": [{"Key": "m", "Source": "evil.test/acme/net/any", "Version": "1.0.0", "Dir": ".terraform/modules/m"}]}"#,
    ),
    ("../outside/main.tf", ""),
];

/// Which files and modules a configuration can access with and without `--untrusted`.
#[test]
fn configurations_reach_what_git_tracks() {
    for [name, options, code, error] in table(REACHED) {
        let site = UntrustedSite::with("");
        for (path, text) in REACHED_FILES {
            site.context.write(path, text);
        }
        let root = site.context.path("..").canonicalize().unwrap();
        let bad = call_named(name, root.to_str().unwrap());
        let text = requiring("acme/anvil", ">= 1.0") + &bad;
        site.context.write("bad/main.tofu", text);
        std::fs::remove_file(site.context.path("bad/main.tf")).unwrap();
        #[cfg(unix)]
        site.context.link("../../outside", "bad/link");
        commit(&site);
        site.context.write("bad/untracked", "s");
        let run = |mode: &str, code: i32| {
            let options = format!("{options} {mode} --engine=tofu --create=always");
            let program = site.lock(&options).env("TF_VAR_v", "s");
            program.run().expect_code(code)
        };
        if options.is_empty() {
            run("", code.parse().unwrap());
        }
        let outcome = run("--untrusted", i32::from(!error.is_empty()));
        outcome.assert_stderr(error);
    }
}

/// The author of a pull request can change `.tflock.toml`. The committed content applies, and the changed content can
/// only add restrictions.
#[test]
fn config_files_of_the_tree_can_only_add_restrictions() {
    let no_signers = "[signers]\n\"*/*\" = []\n";
    let [warn, error] = ["warn", "error"].map(|value| format!("missing-module = \"{value}\"\n"));
    let (warn, error) = (warn.as_str(), error.as_str());
    for (before, now, named, code) in [
        // Only the changed file has settings.
        (None, "ignore-paths = [\"bad\"]\n", None, 1),
        (None, warn, None, 1),
        (None, "create = \"never\"\n", None, 1),
        // The committed file has settings.
        (Some(no_signers), "", None, 1),
        (Some(warn), "", None, 0),
        (Some(warn), error, None, 1),
        // A file named on the command line has settings.
        (None, "", Some(warn), 0),
        (None, "", Some(no_signers), 1),
    ] {
        let bad = requiring("acme/anvil", ">= 1.0") + &call("m", "evil.test/acme/net/any", "");
        let site = UntrustedSite::with(&bad);
        if let Some(text) = before {
            site.context.write(".tflock.toml", text);
        }
        commit(&site);
        site.context.write(".tflock.toml", now);
        for directory in ["good", "bad"] {
            let file = format!("{directory}/main.tf");
            let changed = site.context.read(&file) + "\n# changed\n";
            site.context.write(&file, changed);
        }
        let mut options = "--untrusted --changed=HEAD".to_owned();
        if let Some(text) = named {
            site.context.write("../home/trusted.toml", text);
            options += " --config=../home/trusted.toml";
        }
        let outcome = site.lock(&options).run();
        let case = format!("{before:?} {now:?} {named:?}");
        assert_eq!(outcome.code, Some(code), "{case}\n{outcome}");
    }
}

/// A deleted file with `[signers]` still applies, even if it lies between PATH and the directory.
#[test]
fn deleted_config_files_still_count() {
    let site = UntrustedSite::with(&requiring("acme/anvil", ">= 1.0"));
    site.context
        .write("bad/.tflock.toml", "[signers]\n\"*/*\" = []\n");
    commit(&site);
    std::fs::remove_file(site.context.path("bad/.tflock.toml")).unwrap();
    let lock = "lock -r --platform=linux_amd64 --changed=HEAD";
    let outcome = site.context.run(&format!("{lock} --untrusted"));
    let outcome = outcome.expect_code(1);
    outcome.assert_stderr("HEAD:bad/.tflock.toml:2:1");
    assert!(site.context.lock_file("bad").is_none());
    site.context.run(lock).expect_success();
    assert!(site.context.lock_file("bad").is_some());
}
