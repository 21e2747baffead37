//! Git never uses a directory of the tree as its repository, so no program from the tree's configuration is run.
//!
//! An attacker can commit `HEAD`, `objects/`, `refs/` and `config`, which turn their parent directory into a bare
//! repository. Each attack runs with the installed git and with a git that ignores `safe.bareRepository`, as versions
//! before 2.38 do.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Duration;

use tempfile::TempDir;
use tflock_test_support::{
    Misbehave, Outcome, Program, TestContext, TlsRegistry, git, git_commit_all, git_with_input,
    require_or_skip, send_signal, wait_until, write_script,
};

use crate::TFLOCK;
use crate::modules::binary::call;

/// A repository of modules, a tree with a trap, and a git that logs its commands.
struct GitSite {
    context: TestContext,
    /// A directory outside the tree with programs, canaries, the log and the modules.
    outside: TempDir,
    /// The value of `PATH` that selects the git of this test.
    path: String,
}

/// How git treats `safe.bareRepository`.
#[derive(Clone, Copy, Debug)]
enum Git {
    Installed,
    IgnoresBareRepositorySetting,
}

const BOTH: [Git; 2] = [Git::Installed, Git::IgnoresBareRepositorySetting];

/// The first run fetches the modules. The second looks up their commits.
const LOCK_TWICE: [&str; 2] = [
    "lock --platform linux_amd64 .",
    "lock --check --platform linux_amd64 .",
];

/// Logs the working directory, the number of files in it and the arguments. Replaces one setting.
const LOGGING_GIT: &str = r#"
printf '%s|%s|%s\n' "$PWD" "$(ls -A | wc -l)" "$*" >> 'LOG'
for argument do
  shift
  case $argument in
    safe.bareRepository=*) set -- "$@" "REPLACEMENT" ;;
    *) set -- "$@" "$argument" ;;
  esac
done
exec 'REAL' "$@"
"#;

impl GitSite {
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
        let script = LOGGING_GIT
            .replace("LOG", log.to_str().unwrap())
            .replace("REPLACEMENT", replacement)
            .replace("REAL", real.to_str().unwrap());
        write_script(&outside.path().join("bin/git"), &script);
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

    /// Creates a repository with a branch and a submodule.
    fn publish_modules(&self) {
        let (sub, modules) = (self.outside("sub"), self.outside("modules"));
        for directory in [&sub, &modules] {
            git(directory, "init --quiet --initial-branch=main .");
            fs::write(directory.join("main.tf"), "").unwrap();
        }
        git_commit_all(&sub);
        let add = format!("submodule --quiet add file://{} sub", sub.display());
        git(&modules, &add);
        git_commit_all(&modules);
    }

    fn outside(&self, name: &str) -> PathBuf {
        self.outside.path().join(name)
    }

    fn modules_url(&self) -> String {
        format!("file://{}", self.outside("modules").display())
    }

    /// Writes a root module that calls modules in every supported way.
    fn call_modules(&self, directory: &str) {
        let commit = git(&self.outside("modules"), "rev-parse HEAD");
        let short = &commit[..9];
        let references = ["", "?ref=main", "?ref=COMMIT", "?ref=SHORT"].iter();
        let calls = references.enumerate().map(|(index, reference)| {
            let reference = reference.replace("COMMIT", &commit).replace("SHORT", short);
            let url = self.modules_url();
            call(
                &format!("m{index}"),
                &format!("git::{url}//sub{reference}"),
                "",
            )
        });
        let text: String = calls.collect();
        self.context.write(&format!("{directory}/main.tf"), text);
    }

    /// Turns `directory` into a bare repository, as a pull request can.
    fn lay_trap(&self, directory: &str, config: &str) {
        let path = |name: &str| format!("{directory}/{name}");
        self.context.write(&path("HEAD"), "ref: refs/heads/main\n");
        self.context.write(&path("objects/keep"), "");
        self.context.write(&path("refs/keep"), "");
        let head = "[core]\n\trepositoryformatversion = 0\n\tbare = true\n";
        let attributes = "* filter=evil diff=evil merge=evil\n";
        self.context
            .write(&path("config"), format!("{head}{config}"))
            .write(&path(".gitattributes"), attributes);
    }

    /// A shell command that creates a canary file.
    fn canary(&self, name: &str) -> String {
        format!("touch {}/{name}", self.outside("canaries").display())
    }

    /// The configuration of the trap, with every setting that makes git run a program.
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
        let program = self.context.command(arguments).env("PATH", &self.path);
        let program = program.env("GIT_CONFIG_NOSYSTEM", "1");
        program.current_dir(self.context.path(directory))
    }

    /// Locks a root module that calls a repository outside the tree. The run must fail.
    fn fail_to_lock(&self, repository: &str) -> (Outcome, Duration, u64) {
        let url = format!("git::file://{}", self.outside(repository).display());
        self.context.write("root/main.tf", call("m", &url, ""));
        let program = self.tflock("root", "lock --platform linux_amd64 .");
        let (outcome, cost) = program.measure();
        (outcome.expect_code(1), cost.wall, cost.peak_memory)
    }

    fn lock_twice(&self, directory: &str) {
        for arguments in LOCK_TWICE {
            self.run(directory, arguments).expect_success();
        }
    }

    fn assert_untouched(&self, what: &str) {
        let canaries = fs::read_dir(self.outside("canaries")).unwrap();
        let names: Vec<_> = canaries.map(|entry| entry.unwrap().file_name()).collect();
        assert!(names.is_empty(), "{what}: {names:?}");
    }

    /// The runs of git: the working directory, the number of files in it, and the arguments.
    fn git_runs(&self) -> Vec<[String; 3]> {
        let log = fs::read_to_string(self.outside("git.log")).unwrap_or_default();
        let fields = |line: &str| {
            let mut fields = line.splitn(3, '|').map(str::to_owned);
            std::array::from_fn(|_| fields.next().unwrap_or_default())
        };
        log.lines().map(fields).collect()
    }
}

/// Creates an empty bare repository.
fn bare(site: &GitSite, name: &str) -> PathBuf {
    let directory = site.outside(name);
    fs::create_dir(&directory).unwrap();
    git(&directory, "init --quiet --bare --initial-branch=main .");
    directory
}

/// Runs git with this standard input.
fn git_with(directory: &Path, arguments: &str, input: &str) -> String {
    let file = directory.join("input");
    fs::write(&file, input).unwrap();
    git_with_input(directory, arguments, fs::File::open(&file).unwrap())
}

/// Commits a tree to the branch `main`. The tree is given as lines for `git mktree`.
fn commit_tree(repository: &Path, tree: &str) -> String {
    let tree = git_with(repository, "mktree --missing", tree);
    let commit = git(repository, &format!("commit-tree -m x {tree}"));
    git(repository, &format!("update-ref refs/heads/main {commit}"));
    commit
}

/// Commits a tree in which each of these paths is a submodule at `commit` of the repository at `url`.
fn commit_submodules(repository: &Path, paths: &[&str], url: &str, commit: &str) -> String {
    let setting = |path| format!("[submodule \"{path}\"]\n\tpath = {path}\n\turl = {url}\n");
    let settings: String = paths.iter().map(setting).collect();
    let link = |path| format!("160000 commit {commit}\t{path}\n");
    let links: String = paths.iter().map(link).collect();
    let file = git_with(repository, "hash-object -w --stdin", &settings);
    let tree = format!("100644 blob {file}\t.gitmodules\n{links}");
    commit_tree(repository, &tree)
}

/// A tree of 10^8 paths: at each of eight levels, the tree contains the next one ten times.
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

/// Settings of the trap that would redirect git or make it fail.
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

/// Commands that query the user's own repository.
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
            // Git compares files with changed times with the committed content, which runs filters.
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

/// The `.git` of a copied tree may be an empty directory. Git would then use the bare repository next to it.
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

/// The attributes of a repository may select programs from the user's git configuration.
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

/// A local process serves a repository of the tree and reads its configuration. Up to version 2.45.0, git fetched the
/// missing objects of a partial clone from the remote in that configuration.
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

#[test]
fn trees_with_too_many_paths_are_refused_before_they_are_checked_out() {
    let site = GitSite::start(Git::Installed);
    let files = bare(&site, "files");
    let blob = git_with(&files, "hash-object -w --stdin", "x");
    let top = bomb(&files, "100644 blob", &blob);
    let commit = commit_tree(&files, &top);
    let directories = bare(&site, "directories");
    let empty = git_with(&directories, "mktree", "");
    let top = bomb(&directories, "040000 tree", &empty);
    commit_tree(&directories, &top);
    let outer = bare(&site, "outer");
    let url = format!("file://{}", files.display());
    commit_submodules(&outer, &["s"], &url, &commit);
    for repository in ["files", "directories", "outer"] {
        let (outcome, wall, _) = site.fail_to_lock(repository);
        let message = "has more than 500000 files and directories, the most that are accepted";
        assert!(outcome.stderr.contains(message), "{repository}: {outcome}");
        assert!(wall < Duration::from_secs(20), "{repository}: {wall:?}");
    }
}

/// Each commit has two submodules, which both refer to the previous commit of the same repository.
#[test]
fn submodules_do_not_multiply_without_an_end() {
    let site = GitSite::start(Git::Installed);
    let repository = bare(&site, "many");
    let url = format!("file://{}", repository.display());
    let mut commit = commit_tree(&repository, "");
    for _ in 0..12 {
        commit = commit_submodules(&repository, &["a", "b"], &url, &commit);
    }
    fs::remove_file(site.outside("bin/git")).unwrap();
    let (outcome, ..) = site.fail_to_lock("many");
    let message = "leads to more than 100 submodules, the most that are fetched";
    outcome.assert_stderr(message);
}

#[test]
fn output_of_git_is_bounded_in_memory() {
    let site = GitSite::start(Git::Installed);
    let long_error =
        "head -c 400000000 /dev/zero | tr '\\0' x >&2; echo >&2; echo fatal: the end >&2; exit 128";
    let no_memory =
        "echo 'fatal: Out of memory, malloc failed (tried to allocate 9 bytes)' >&2; exit 128";
    for (script, message) in [
        (long_error, "fatal: the end"),
        ("yes", "wrote more than 1048576 bytes"),
        (no_memory, "each process may use 4294967296 bytes"),
    ] {
        write_script(&site.outside("bin/git"), script);
        let (outcome, wall, memory) = site.fail_to_lock("modules");
        assert!(outcome.stderr.contains(message), "{script}: {outcome}");
        assert!(memory < 200 << 20, "{script}: {memory}");
        assert!(wall < Duration::from_secs(30), "{script}: {wall:?}");
    }
}

/// A child process that outlives git is killed too.
#[test]
fn an_interrupt_kills_the_children_of_git() {
    let site = GitSite::start(Git::Installed);
    let pid = site.outside("pid");
    let script = format!("sleep 600 & echo $! > '{}'; wait", pid.display());
    write_script(&site.outside("bin/git"), &script);
    site.call_modules("root");
    let mut child = site.tflock("root", "lock --platform linux_amd64 .").spawn();
    let started = || fs::read_to_string(&pid).unwrap_or_default();
    wait_until(|| started().ends_with('\n'));
    assert!(send_signal("INT", &child.id().to_string()));
    assert_eq!(child.wait().unwrap().code(), Some(130));
    let helper = started();
    let arguments = ["-o", "stat=", "-p", helper.trim()];
    // An orphan may remain as a zombie.
    wait_until(|| {
        let state = Command::new("ps").args(arguments).output().unwrap().stdout;
        state.iter().all(u8::is_ascii_whitespace) || state.starts_with(b"Z")
    });
}
