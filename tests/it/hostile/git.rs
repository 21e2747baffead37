//! Git never takes a directory of the tree for a repository: no program is run that the tree's content configures.
//!
//! A stranger can commit `HEAD`, `objects/`, `refs/` and `config`, which make a bare repository of the directory beside them.
//! Each attack runs with the git of this machine and with one that ignores `safe.bareRepository`, as git did before 2.38.

use std::fs;
use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::{Duration, Instant};

use tempfile::TempDir;
use tflock_test_support::{
    FakeRegistry, Misbehave, Outcome, Program, TestAuthority, TestContext, require_or_skip,
};

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
        self.tflock(directory, arguments).run()
    }

    fn tflock(&self, directory: &str, arguments: &str) -> Program {
        let program = self.context.command(arguments);
        let program = program
            .env("PATH", &self.path)
            .env("GIT_CONFIG_NOSYSTEM", "1");
        program.current_dir(self.context.path(directory))
    }

    /// Locks a root module that calls a repository outside of the tree; it is to fail.
    fn fail_to_lock(&self, repository: &str) -> (Outcome, Duration, u64) {
        let url = format!("git::file://{}", self.outside(repository).display());
        let call = format!("module \"m\" {{\n  source = \"{url}\"\n}}\n");
        self.context.write("root/main.tf", call);
        let program = self.tflock("root", "lock --platform linux_amd64 .");
        let (outcome, cost) = program.measure();
        (outcome.expect_code(1), cost.wall, cost.peak_memory)
    }

    /// Puts a script in the place of git.
    fn replace_git(&self, script: &str) {
        program(&self.outside("bin/git"), &format!("#!/bin/sh\n{script}\n"));
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

/// Makes an empty bare repository.
fn bare(site: &Site, name: &str) -> PathBuf {
    let directory = site.outside(name);
    fs::create_dir(&directory).unwrap();
    git(&directory, "init --quiet --bare --initial-branch=main .");
    directory
}

/// Runs git with this input.
fn git_with(directory: &Path, arguments: &str, input: &str) -> String {
    let file = directory.join("input");
    fs::write(&file, input).unwrap();
    let output = Command::new("git")
        .args(["-c", "user.name=t", "-c", "user.email=t@t.test"])
        .args(arguments.split_whitespace())
        .current_dir(directory)
        .stdin(fs::File::open(&file).unwrap())
        .output()
        .unwrap();
    let errors = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "git {arguments}: {errors}");
    String::from_utf8_lossy(&output.stdout).trim().to_owned()
}

/// Commits a tree, given as lines for `git mktree`, to the branch `main`.
fn commit_tree(repository: &Path, tree: &str) -> String {
    let tree = git_with(repository, "mktree --missing", tree);
    let commit = git(repository, &format!("commit-tree -m x {tree}"));
    git(repository, &format!("update-ref refs/heads/main {commit}"));
    commit
}

/// A tree of 10^8 paths: each of eight levels names the one below ten times.
fn bomb(repository: &Path, kind: &str, object: &str) -> String {
    let mut entry = format!("{kind} {object}");
    for level in 0..8 {
        let lines: Vec<String> = (0..10).map(|name| format!("{entry}\t{name}\n")).collect();
        let lines = lines.concat();
        if level == 7 {
            return lines;
        }
        entry = format!("040000 tree {}", git_with(repository, "mktree", &lines));
    }
    unreachable!("the last level returns")
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
        let site = Site::start(Git::IgnoresBareRepositorySetting);
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

#[test]
fn a_credential_helper_of_the_tree_is_not_asked() {
    for git in BOTH {
        let authority = TestAuthority::create();
        let mut registry = FakeRegistry::start();
        let host = registry.serve_tls(&authority);
        registry.misbehave(
            Misbehave::on("**")
                .status(401)
                .header("WWW-Authenticate", "Basic realm=x"),
        );
        let site = Site::start(git);
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

/// Commands that ask git about the user's own repository.
const ABOUT_CHANGES: [&str; 4] = [
    "lock --check --changed .",
    "lock --check --changed=HEAD .",
    "lock --check --changed=evil .",
    "verify .",
];

#[test]
fn the_users_repository_is_asked_and_no_other() {
    for kind in BOTH {
        for (trap, directory) in [(".", "."), ("a", "a"), ("a", "a/b")] {
            let site = Site::start(kind);
            git(&site.context.work(), "init --quiet --initial-branch=main .");
            site.lay_trap(trap, &site.config());
            site.context.write(&format!("{directory}/main.tf"), "");
            git(&site.context.work(), "add --all");
            git(&site.context.work(), "commit --quiet --message=x");
            git(&site.context.work(), "remote add origin .");
            git(&site.context.work(), "fetch --quiet origin");
            // Files whose times differ are compared with what was committed, through filters.
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

/// The `.git` of a copied tree can be an empty directory. Then git takes the directory beside it.
#[test]
fn what_lies_beside_a_broken_repository_is_none() {
    for kind in BOTH {
        let site = Site::start(kind);
        let work = site.context.work();
        git(&work, "init --quiet --initial-branch=main .");
        let attributes = "* filter=evil diff=evil\n";
        site.context.write(".gitattributes", attributes);
        site.context.write("main.tf", "");
        git(&work, "add --all");
        git(&work, "commit --quiet --message=x");
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
                outcome.assert_stderr("is in no git repository");
            }
        }
    }
}

#[test]
fn every_run_starts_in_an_empty_directory_and_names_its_repository() {
    let site = Site::start(Git::Installed);
    site.lay_trap("a", "");
    site.call_modules("a");
    git(&site.context.work(), "init --quiet --initial-branch=main .");
    git(&site.context.work(), "add --all");
    git(&site.context.work(), "commit --quiet --message=x");
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

/// `HOME` and its like can be directories of the tree: GitLab's project directory, or `.`.
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
        let site = Site::start(Git::Installed);
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
        for arguments in [
            "lock --platform linux_amd64 .",
            "lock --check --platform linux_amd64 .",
        ] {
            let program = site.tflock(".", arguments).env(name, &value);
            program
                .env_remove("GIT_CONFIG_NOSYSTEM")
                .run()
                .expect_success();
        }
        site.assert_untouched(&format!("{name}={value}"));
    }
}

/// Attributes of a repository choose among the programs that the user has for files.
#[test]
fn attributes_of_a_module_run_no_filter_of_the_user() {
    let site = Site::start(Git::Installed);
    for directory in ["sub", "modules"] {
        let directory = site.outside(directory);
        fs::write(directory.join(".gitattributes"), "* filter=evil\n").unwrap();
        git(&directory, "add .");
        git(&directory, "commit --quiet --message=attributes");
    }
    let home = site.context.work().join("../home/.gitconfig");
    let smudge = site.canary("filter");
    fs::write(
        home,
        format!("[filter \"evil\"]\n\tsmudge = {smudge}; cat\n"),
    )
    .unwrap();
    site.call_modules("root");
    let outcome = site.run("root", "lock --platform linux_amd64 .");
    site.assert_untouched("attributes");
    outcome.expect_success();
}

/// A repository of the tree is served by a process of this machine, which reads its configuration: git fetched what a partial
/// clone lacks from where that says, up to 2.45.0.
#[test]
fn a_repository_of_the_tree_is_served_without_programs_of_its_own() {
    for kind in BOTH {
        for through in ["", "submodule"] {
            let site = Site::start(kind);
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
                let text = format!("[submodule \"s\"]\n\tpath = s\n\turl = {url}\n");
                let file = git_with(&outer, "hash-object -w --stdin", &text);
                let tree = format!("100644 blob {file}\t.gitmodules\n160000 commit {commit}\ts\n");
                commit_tree(&outer, &tree);
                url = format!("file://{}", outer.display());
            }
            for reference in [
                String::new(),
                format!("?ref={commit}"),
                format!("?ref={}", &commit[..8]),
            ] {
                let call = format!("module \"m\" {{\n  source = \"git::{url}{reference}\"\n}}\n");
                site.context.write("root/main.tf", call);
                site.run("root", "lock --platform linux_amd64 .")
                    .expect_code(1);
                site.assert_untouched(&format!("{kind:?} {through}{reference}"));
            }
        }
    }
}

#[test]
fn trees_with_too_many_paths_are_refused_before_they_are_checked_out() {
    let site = Site::start(Git::Installed);
    let files = bare(&site, "files");
    let blob = git_with(&files, "hash-object -w --stdin", "x");
    let top = bomb(&files, "100644 blob", &blob);
    let commit = commit_tree(&files, &top);
    let directories = bare(&site, "directories");
    let empty = git_with(&directories, "mktree", "");
    let top = bomb(&directories, "040000 tree", &empty);
    commit_tree(&directories, &top);
    let outer = bare(&site, "outer");
    let text = format!(
        "[submodule \"s\"]\n\tpath = s\n\turl = file://{}\n",
        files.display()
    );
    let file = git_with(&outer, "hash-object -w --stdin", &text);
    commit_tree(
        &outer,
        &format!("100644 blob {file}\t.gitmodules\n160000 commit {commit}\ts\n"),
    );
    for repository in ["files", "directories", "outer"] {
        let (outcome, wall, _) = site.fail_to_lock(repository);
        let message = "has more than 500000 files and directories, the most that are accepted";
        assert!(outcome.stderr.contains(message), "{repository}: {outcome}");
        assert!(wall < Duration::from_secs(20), "{repository}: {wall:?}");
    }
}

/// Each commit has two submodules, which are the same repository one commit earlier.
#[test]
fn submodules_do_not_multiply_without_an_end() {
    let site = Site::start(Git::Installed);
    let repository = bare(&site, "many");
    let url = format!("file://{}", repository.display());
    let settings: String = ["a", "b"]
        .map(|path| format!("[submodule \"{path}\"]\n\tpath = {path}\n\turl = {url}\n"))
        .concat();
    let file = git_with(&repository, "hash-object -w --stdin", &settings);
    let mut commit = commit_tree(&repository, "");
    for _ in 0..12 {
        let link = |path: &str| format!("160000 commit {commit}\t{path}\n");
        let tree = format!(
            "100644 blob {file}\t.gitmodules\n{}{}",
            link("a"),
            link("b")
        );
        commit = commit_tree(&repository, &tree);
    }
    fs::remove_file(site.outside("bin/git")).unwrap();
    let (outcome, ..) = site.fail_to_lock("many");
    let message = "leads to more than 100 submodules, the most that are fetched";
    outcome.assert_stderr(message);
}

#[test]
fn what_git_writes_takes_no_memory() {
    let site = Site::start(Git::Installed);
    for (script, message) in [
        (
            "head -c 400000000 /dev/zero | tr '\\0' x >&2; echo >&2; echo fatal: the end >&2; exit 128",
            "fatal: the end",
        ),
        (
            "yes",
            "with more than 1048576 bytes, the most that are read",
        ),
        (
            "echo 'fatal: Out of memory, malloc failed (tried to allocate 9 bytes)' >&2; exit 128",
            "4294967296 bytes are the most that it may use",
        ),
    ] {
        site.replace_git(script);
        let (outcome, wall, memory) = site.fail_to_lock("modules");
        assert!(outcome.stderr.contains(message), "{script}: {outcome}");
        assert!(memory < 200 << 20, "{script}: {memory}");
        assert!(wall < Duration::from_secs(30), "{script}: {wall:?}");
    }
}

/// A helper that outlives git is ended with it.
#[test]
fn an_interrupt_ends_what_git_has_started() {
    let site = Site::start(Git::Installed);
    let pid = site.outside("pid");
    site.replace_git(&format!("sleep 600 & echo $! > '{}'; wait", pid.display()));
    site.call_modules("root");
    let mut child = site.tflock("root", "lock --platform linux_amd64 .").spawn();
    let started = || fs::read_to_string(&pid).unwrap_or_default();
    wait_for(|| started().ends_with('\n'));
    let kill = |arguments: [&str; 2]| {
        Command::new("kill")
            .args(arguments)
            .output()
            .unwrap()
            .status
    };
    assert!(kill(["-INT", &child.id().to_string()]).success());
    assert_eq!(child.wait().unwrap().code(), Some(130));
    let helper = started();
    let state = || {
        let shown = Command::new("ps")
            .args(["-o", "stat=", "-p", helper.trim()])
            .output()
            .unwrap();
        String::from_utf8_lossy(&shown.stdout).trim().to_owned()
    };
    // An orphan may stay as a zombie until it is waited for.
    wait_for(|| state().is_empty() || state().starts_with('Z'));
}

fn wait_for(holds: impl Fn() -> bool) {
    let start = Instant::now();
    while !holds() {
        assert!(
            start.elapsed() < Duration::from_secs(60),
            "it never happened"
        );
        std::thread::sleep(Duration::from_millis(5));
    }
}
