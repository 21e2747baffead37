//! Git never takes a directory of the tree for a repository: no program is run that the tree's content configures.
//!
//! A stranger can commit `HEAD`, `objects/`, `refs/` and `config`, which make a bare repository of the directory beside them.
//! Each attack runs with the git of this machine and with one that ignores `safe.bareRepository`, as git did before 2.38.

use std::fs;
use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};
use std::process::Command;

use tempfile::TempDir;
use tflock_test_support::{Outcome, TestContext, require_or_skip};

use crate::TFLOCK;

/// A repository of modules, a tree with a trap, and a git that notes what it is asked.
struct Site {
    context: TestContext,
    /// Programs, canaries, the log and the modules; no part of the tree.
    outside: TempDir,
    /// The variable `PATH` that finds the git of this test.
    path: String,
}

/// What git does with `safe.bareRepository`.
#[derive(Clone, Copy, Debug)]
enum Git {
    Installed,
    IgnoresBareRepositorySetting,
}

const BOTH: [Git; 2] = [Git::Installed, Git::IgnoresBareRepositorySetting];

impl Site {
    fn start(git: Git) -> Self {
        let outside = TempDir::with_prefix("tflock-outside").unwrap();
        for directory in ["bin", "canaries", "sub", "modules"] {
            fs::create_dir(outside.path().join(directory)).unwrap();
        }
        let real = require_or_skip("git", true).unwrap();
        let replacement = match git {
            Git::Installed => "$argument",
            Git::IgnoresBareRepositorySetting => "tflock.test=true",
        };
        let log = outside.path().join("git.log");
        let script = format!(
            "#!/bin/sh\nprintf '%s|%s|%s\\n' \"$PWD\" \"$(ls -A | wc -l)\" \"$*\" >> '{}'\nfor argument do\n  shift\n  case \
             $argument in\n    safe.bareRepository=*) set -- \"$@\" \"{replacement}\" ;;\n    *) set -- \"$@\" \"$argument\" ;;\n  \
             esac\ndone\nexec '{}' \"$@\"\n",
            log.display(),
            real.display()
        );
        program(&outside.path().join("bin/git"), &script);
        let rest = std::env::var("PATH").unwrap();
        let path = format!("{}:{rest}", outside.path().join("bin").display());
        let site = Self {
            context: TestContext::offline(TFLOCK),
            outside,
            path,
        };
        site.publish_modules();
        site
    }

    /// One repository with a branch and a submodule.
    fn publish_modules(&self) {
        let (sub, modules) = (self.outside("sub"), self.outside("modules"));
        for directory in [&sub, &modules] {
            git(directory, "init --quiet --initial-branch=main .");
            fs::write(directory.join("main.tf"), "").unwrap();
        }
        git(&sub, "add .");
        git(&sub, "commit --quiet --message=x");
        let add = format!("submodule --quiet add file://{} sub", sub.display());
        git(&modules, &add);
        git(&modules, "add .");
        git(&modules, "commit --quiet --message=x");
    }

    fn outside(&self, name: &str) -> PathBuf {
        self.outside.path().join(name)
    }

    fn modules_url(&self) -> String {
        format!("file://{}", self.outside("modules").display())
    }

    /// Writes a root module that has modules fetched by each way that there is.
    fn call_modules(&self, directory: &str) {
        let commit = git(&self.outside("modules"), "rev-parse HEAD");
        let references = [
            String::new(),
            "?ref=main".to_owned(),
            format!("?ref={commit}"),
            format!("?ref={}", &commit[..9]),
        ];
        let calls = references.iter().enumerate().map(|(index, reference)| {
            let url = self.modules_url();
            format!("module \"m{index}\" {{\n  source = \"git::{url}//sub{reference}\"\n}}\n")
        });
        let text: String = calls.collect();
        self.context.write(&format!("{directory}/main.tf"), text);
    }

    /// Makes a bare repository of `directory`, as a pull request can.
    fn lay_trap(&self, directory: &str, config: &str) {
        let path = |name: &str| format!("{directory}/{name}");
        self.context.write(&path("HEAD"), "ref: refs/heads/main\n");
        self.context.write(&path("objects/keep"), "");
        self.context.write(&path("refs/keep"), "");
        let head = "[core]\n\trepositoryformatversion = 0\n\tbare = true\n";
        self.context
            .write(&path("config"), format!("{head}{config}"));
        self.context.write(
            &path(".gitattributes"),
            "* filter=evil diff=evil merge=evil\n",
        );
    }

    /// A shell command that leaves a canary.
    fn canary(&self, name: &str) -> String {
        format!("touch {}/{name}", self.outside("canaries").display())
    }

    /// The configuration of the trap: everything that makes git run a program.
    fn config(&self) -> String {
        let canary = |name: &str| self.canary(name);
        let url = self.modules_url();
        [
            format!("[remote \"{url}\"]\n\tuploadpack = {}; git-upload-pack\n", canary("uploadpack")),
            format!("[remote \"origin\"]\n\turl = {url}\n\tuploadpack = {}; git-upload-pack\n", canary("origin")),
            format!("[credential]\n\thelper = !{}\n", canary("credential")),
            format!(
                "[core]\n\tsshCommand = {0}ssh\n\tfsmonitor = {0}fsmonitor\n\tpager = {0}pager\n\teditor = {0}editor\n\taskPass = \
                 {0}askpass\n\tgitProxy = {0}proxy\n\talternateRefsCommand = {0}refs\n\thooksPath = hooks\n",
                canary("core-")
            ),
            format!("[alias]\n\tls-remote = !{0}\n\tclone = !{0}\n\tdiff = !{0}\n", canary("alias")),
            format!("[diff]\n\texternal = {0}\n[diff \"evil\"]\n\tcommand = {0}\n\ttextconv = {0}\n", canary("diff")),
            format!(
                "[filter \"evil\"]\n\tclean = {0}; cat\n\tsmudge = {0}; cat\n\tprocess = {0}\n",
                canary("filter")
            ),
            format!("[pager]\n\tdiff = {0}\n\tls-remote = {0}\n", canary("pager")),
            format!("[uploadpack]\n\tpackObjectsHook = {}\n", canary("pack")),
            "[protocol]\n\tallow = always\n".to_owned(),
        ]
        .concat()
    }

    /// Runs tflock in `directory`.
    fn run(&self, directory: &str, arguments: &str) -> Outcome {
        let program = self.context.tflock(arguments.split_whitespace());
        let program = program
            .env("PATH", &self.path)
            .env("GIT_CONFIG_NOSYSTEM", "1");
        program.current_dir(self.context.path(directory)).run()
    }

    /// Every way that git is run for modules: fetched by the first run, looked up by the second.
    fn lock_twice(&self, directory: &str) {
        for arguments in [
            "lock --platform linux_amd64 .",
            "lock --check --platform linux_amd64 .",
        ] {
            self.run(directory, arguments).expect_success();
        }
    }

    fn assert_untouched(&self, what: &str) {
        let canaries = fs::read_dir(self.outside("canaries")).unwrap();
        let names: Vec<_> = canaries.map(|entry| entry.unwrap().file_name()).collect();
        assert!(names.is_empty(), "{what}: {names:?}");
    }

    /// The runs of git: the working directory, how many files it has, and the arguments.
    fn git_runs(&self) -> Vec<[String; 3]> {
        let log = fs::read_to_string(self.outside("git.log")).unwrap_or_default();
        let fields = |line: &str| {
            let mut fields = line.splitn(3, '|').map(str::to_owned);
            std::array::from_fn(|_| fields.next().unwrap_or_default())
        };
        log.lines().map(fields).collect()
    }
}

fn program(path: &Path, script: &str) {
    fs::write(path, script).unwrap();
    fs::set_permissions(path, fs::Permissions::from_mode(0o755)).unwrap();
}

/// Runs git as the user who prepares a test.
fn git(directory: &Path, arguments: &str) -> String {
    let output = Command::new("git")
        .args(["-c", "user.name=t", "-c", "user.email=t@t.test"])
        .args(["-c", "protocol.file.allow=always"])
        .args(arguments.split_whitespace())
        .current_dir(directory)
        .env("GIT_CONFIG_GLOBAL", "/dev/null")
        .env("GIT_CONFIG_NOSYSTEM", "1")
        .output()
        .unwrap();
    let errors = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "git {arguments}: {errors}");
    String::from_utf8_lossy(&output.stdout).trim().to_owned()
}

#[test]
fn modules_are_fetched_from_a_hostile_directory() {
    for git in BOTH {
        for (trap, root) in [("a", "a"), ("a", "a/b/c"), (".", ".")] {
            let site = Site::start(git);
            site.lay_trap(trap, &site.config());
            site.call_modules(root);
            site.lock_twice(root);
            site.assert_untouched(&format!("{git:?}, {root} in {trap}"));
        }
    }
}

/// Settings of the trap that would send git elsewhere, or stop it.
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
        for git in BOTH {
            let site = Site::start(git);
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
            assert_eq!(
                first, second,
                "{config}: the second run believes `ls-remote`"
            );
        }
    }
}
