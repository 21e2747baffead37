//! Git never uses a directory in the tree as its repository, so it never runs a program that the tree configures.
//!
//! An attacker can commit `HEAD`, `objects/`, `refs/` and `config`, which turn their parent directory into a bare
//! repository. Each attack is tried with the installed git and with a git that ignores `safe.bareRepository`, as
//! versions before 2.38 do.

mod limits;
mod site;

use std::fs;

use tflock_test_support::{Misbehave, Outcome, TlsRegistry, git, git_commit_all};

use crate::modules::binary::call;
use site::{BOTH, Git, GitSite, LOCK_TWICE, bare, commit_submodules, commit_tree};

#[test]
fn modules_are_fetched_from_a_hostile_directory() {
    for git in BOTH {
        for (trap, root) in [("a", "a"), ("a", "a/b/c"), (".", ".")] {
            let site = GitSite::start(git);
            site.lay_trap(trap, &site.config());
            site.call_modules(root);
            site.lock_twice(root);
            site.assert_untouched(&format!("{git:?}, {root} in {trap}"));
        }
    }
}

/// Settings in the trap must neither redirect git nor make it fail.
#[test]
fn settings_of_a_hostile_directory_have_no_effect() {
    for config in [
        "[url \"file:///nowhere/\"]\n\tinsteadOf = file:///\n",
        "[url \"https://127.0.0.1:1/\"]\n\tinsteadOf = file:///\n",
        "[protocol]\n\tallow = never\n",
        "[extensions]\n\tunknown = true\n[core]\n\trepositoryformatversion = 1\n",
        "[core]\n\tworktree = /nowhere\n",
        "[include]\n\tpath = config\n",
        "[broken",
    ] {
        let site = GitSite::start(Git::IgnoresBareRepositorySetting);
        site.lay_trap("a", config);
        site.call_modules("a");
        let fetches = |outcome: Outcome| {
            outcome.expect_success();
            let runs = site.git_runs();
            let is_fetch =
                |[_, _, run]: &&[String; 3]| run.contains(" clone ") || run.contains(" fetch ");
            runs.iter().filter(is_fetch).count()
        };
        let first = fetches(site.run("a", "lock --platform linux_amd64 ."));
        let second = fetches(site.run("a", "lock --check --platform linux_amd64 ."));
        assert_eq!(first, second, "{config}: nothing is fetched again");
    }
}

#[test]
fn a_credential_helper_of_the_tree_is_not_run() {
    for git in BOTH {
        let TlsRegistry {
            registry,
            authority,
            host,
        } = TlsRegistry::start();
        let rule = Misbehave::on("**").status(401);
        registry.misbehave(rule.header("WWW-Authenticate", "Basic realm=x"));
        let site = GitSite::start(git);
        let config = format!(
            "[url \"https://{host}/\"]\n\tinsteadOf = file:///\n[http]\n\tsslCAInfo = {}\n[credential]\n\thelper = !{}\n",
            authority.certificate_file().display(),
            site.canary("credential")
        );
        site.lay_trap("a", &config);
        site.call_modules("a");
        site.lock_twice("a");
        site.assert_untouched(&format!("{git:?}"));
        assert_eq!(registry.log().total(), 0, "{git:?}");
    }
}

/// Commands that query the repository that contains the working directory.
const ABOUT_CHANGES: [&str; 4] = [
    "lock --check --changed .",
    "lock --check --changed=HEAD .",
    "lock --check --changed=evil .",
    "verify .",
];

#[test]
fn only_the_users_repository_is_queried() {
    for kind in BOTH {
        for (trap, directory) in [(".", "."), ("a", "a"), ("a", "a/b")] {
            let site = GitSite::start(kind);
            git(&site.context.work(), "init --quiet --initial-branch=main .");
            site.lay_trap(trap, &site.config());
            site.context.write(&format!("{directory}/main.tf"), "");
            git_commit_all(&site.context.work());
            git(&site.context.work(), "remote add origin .");
            git(&site.context.work(), "fetch --quiet origin");
            // A new modification time makes git compare the file with the commit, which runs filters.
            site.context.write(&format!("{trap}/objects/keep"), "x");
            for arguments in ABOUT_CHANGES {
                let outcome = site.run(directory, arguments);
                let expected = if arguments.contains("evil") { 2 } else { 0 };
                outcome.expect_code(expected);
                site.assert_untouched(&format!("{kind:?}, {arguments} in {directory}"));
            }
        }
    }
}

/// A copied tree may have an empty `.git` directory. Git would then use the bare repository next to it.
#[test]
fn files_next_to_a_broken_repository_are_not_a_repository() {
    for kind in BOTH {
        let site = GitSite::start(kind);
        let work = site.context.work();
        git(&work, "init --quiet --initial-branch=main .");
        let attributes = "* filter=evil diff=evil\n";
        site.context.write(".gitattributes", attributes);
        site.context.write("main.tf", "");
        git_commit_all(&work);
        for entry in fs::read_dir(work.join(".git")).unwrap() {
            let entry = entry.unwrap();
            fs::rename(entry.path(), work.join(entry.file_name())).unwrap();
        }
        let core = "[core]\n\trepositoryformatversion = 0\n\tbare = false\n\tworktree = .\n";
        site.context
            .write("config", format!("{core}{}", site.config()));
        site.context.write("main.tf", "# changed\n");
        for arguments in ABOUT_CHANGES {
            let outcome = site.run(".", arguments);
            site.assert_untouched(&format!("{kind:?}, {arguments}"));
            if arguments.contains("--changed") {
                let outcome = outcome.expect_code(2);
                outcome.assert_stderr("cannot find a git repository");
            }
        }
    }
}

#[test]
fn every_run_starts_in_an_empty_directory_and_names_its_repository() {
    let site = GitSite::start(Git::Installed);
    site.lay_trap("a", "");
    site.call_modules("a");
    git(&site.context.work(), "init --quiet --initial-branch=main .");
    git_commit_all(&site.context.work());
    site.lock_twice("a");
    for arguments in ABOUT_CHANGES {
        site.run("a", arguments);
    }
    let mut commands = std::collections::BTreeSet::new();
    for [directory, entries, run] in site.git_runs() {
        assert_eq!(entries, "0", "{directory}: {run}");
        assert!(run.starts_with("-c safe.bareRepository=explicit "), "{run}");
        let words: Vec<&str> = run.split(' ').collect();
        let after_settings = words.chunks(2).position(|pair| pair[0] != "-c").unwrap() * 2;
        let rest = &words[after_settings..];
        let (["--git-dir", _, "--work-tree", _, command, ..]
        | ["--git-dir", _, command, ..]
        | ["-C", _, command @ "rev-parse", ..]
        | [command @ ("clone" | "init"), ..]) = rest
        else {
            panic!("{run}")
        };
        commands.insert((*command).to_owned());
    }
    let expected = "check-ignore checkout clone config diff fetch init ls-files ls-remote ls-tree merge-base rev-parse \
                    symbolic-ref";
    assert_eq!(Vec::from_iter(commands).join(" "), expected);
}

/// `HOME` and similar variables may name a directory in the tree, such as GitLab's project directory or `.`.
#[test]
fn a_home_directory_inside_the_tree_configures_nothing() {
    for (name, value) in [
        ("HOME", "."),
        ("HOME", ""),
        ("XDG_CONFIG_HOME", ""),
        ("GIT_CONFIG_GLOBAL", "/.gitconfig"),
        ("GIT_CONFIG_SYSTEM", "/.gitconfig"),
        ("GIT_CONFIG_GLOBAL", "link"),
    ] {
        let site = GitSite::start(Git::Installed);
        git(&site.context.work(), "init --quiet --initial-branch=main .");
        for path in [".gitconfig", "git/config"] {
            site.context.write(path, site.config());
        }
        std::os::unix::fs::symlink(".gitconfig", site.context.path("link")).unwrap();
        site.call_modules(".");
        let value = match value {
            "." | "link" => value.to_owned(),
            rest => format!("{}{rest}", site.context.work().display()),
        };
        for arguments in LOCK_TWICE {
            let program = site.tflock(".", arguments).env(name, &value);
            let program = program.env_remove("GIT_CONFIG_NOSYSTEM");
            program.run().expect_success();
        }
        site.assert_untouched(&format!("{name}={value}"));
    }
}

/// A repository's attributes may select programs from the user's git configuration.
#[test]
fn attributes_of_a_module_run_no_filter_of_the_user() {
    let site = GitSite::start(Git::Installed);
    for directory in ["sub", "modules"] {
        let directory = site.outside(directory);
        fs::write(directory.join(".gitattributes"), "* filter=evil\n").unwrap();
        git_commit_all(&directory);
    }
    let home = site.context.work().join("../home/.gitconfig");
    let smudge = site.canary("filter");
    let filter = format!("[filter \"evil\"]\n\tsmudge = {smudge}; cat\n");
    fs::write(home, filter).unwrap();
    site.call_modules("root");
    let outcome = site.run("root", "lock --platform linux_amd64 .");
    site.assert_untouched("attributes");
    outcome.expect_success();
}

/// When git fetches from a repository in the tree, a local git process serves it and reads its configuration. Up to
/// version 2.45.0, that process fetched the missing objects of a partial clone from the remote in that configuration.
#[test]
fn a_repository_of_the_tree_is_served_without_running_its_programs() {
    for kind in BOTH {
        for through in ["", "submodule"] {
            let site = GitSite::start(kind);
            let evil = site.context.path("evil");
            fs::create_dir(&evil).unwrap();
            git(&evil, "init --quiet --bare --initial-branch=main .");
            let missing = "1234567890123456789012345678901234567890";
            let commit = commit_tree(&evil, &format!("100644 blob {missing}\tmain.tf\n"));
            let config = format!(
                "[core]\n\trepositoryformatversion = 1\n\tbare = true\n[extensions]\n\tpartialClone = evil\n[remote \"evil\"]\n\t\
                 url = file:///x\n\tpromisor = true\n\tuploadpack = {}; false\n{}",
                site.canary("promisor"),
                site.config()
            );
            fs::write(evil.join("config"), config).unwrap();
            let mut url = format!("file://{}", evil.display());
            if through == "submodule" {
                let outer = bare(&site, "outer");
                commit_submodules(&outer, &["s"], &url, &commit);
                url = format!("file://{}", outer.display());
            }
            for end in ["", &commit, &commit[..8]] {
                let reference = if end.is_empty() {
                    String::new()
                } else {
                    format!("?ref={end}")
                };
                let source = format!("git::{url}{reference}");
                site.context.write("root/main.tf", call("m", &source, ""));
                let lock = site.run("root", "lock --platform linux_amd64 .");
                lock.expect_code(1);
                site.assert_untouched(&format!("{kind:?} {through}{reference}"));
            }
        }
    }
}
