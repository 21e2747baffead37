//! A tree with a trap, a git that logs its commands, and repositories outside the tree.

use std::fs;
use std::path::{Path, PathBuf};
use std::time::Duration;

use tempfile::TempDir;
use tflock_test_support::{
    Outcome, Program, TestContext, git, git_commit_all, git_with_input, require_or_skip,
    write_script,
};

use crate::TFLOCK;
use crate::modules::binary::call;

/// A tree with a trap, a repository of modules outside it, and a git that logs its commands.
pub(super) struct GitSite {
    pub(super) context: TestContext,
    /// A directory outside the tree that contains programs, canaries, the log and the modules.
    outside: TempDir,
    /// The value of `PATH` with which tflock finds the git of this test.
    path: String,
}

/// The git under test, by how it treats `safe.bareRepository`.
#[derive(Clone, Copy, Debug)]
pub(super) enum Git {
    Installed,
    IgnoresBareRepositorySetting,
}

pub(super) const BOTH: [Git; 2] = [Git::Installed, Git::IgnoresBareRepositorySetting];

/// The first run fetches the modules. The second looks up their commits.
pub(super) const LOCK_TWICE: [&str; 2] = [
    "lock --platform linux_amd64 .",
    "lock --check --platform linux_amd64 .",
];

/// Logs the working directory, the number of files in it and the arguments, and replaces one setting.
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
    pub(super) fn start(git: Git) -> Self {
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

    pub(super) fn outside(&self, name: &str) -> PathBuf {
        self.outside.path().join(name)
    }

    pub(super) fn modules_url(&self) -> String {
        format!("file://{}", self.outside("modules").display())
    }

    /// Writes a root module that calls modules in every supported way.
    pub(super) fn call_modules(&self, directory: &str) {
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

    /// Turns `directory` into a bare repository, as a pull request could do.
    pub(super) fn lay_trap(&self, directory: &str, config: &str) {
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

    /// Returns a shell command that creates a canary file.
    pub(super) fn canary(&self, name: &str) -> String {
        format!("touch {}/{name}", self.outside("canaries").display())
    }

    /// Returns the configuration of the trap, which contains every setting that makes git run a program.
    pub(super) fn config(&self) -> String {
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

    pub(super) fn run(&self, directory: &str, arguments: &str) -> Outcome {
        self.tflock(directory, arguments).run()
    }

    pub(super) fn tflock(&self, directory: &str, arguments: &str) -> Program {
        let program = self.context.command(arguments).env("PATH", &self.path);
        let program = program.env("GIT_CONFIG_NOSYSTEM", "1");
        program.current_dir(self.context.path(directory))
    }

    /// Locks a root module that calls a module in a repository outside the tree. The run must fail.
    pub(super) fn fail_to_lock(&self, repository: &str) -> (Outcome, Duration, u64) {
        let url = format!("git::file://{}", self.outside(repository).display());
        self.context.write("root/main.tf", call("m", &url, ""));
        let program = self.tflock("root", "lock --platform linux_amd64 .");
        let (outcome, cost) = program.measure();
        (outcome.expect_code(1), cost.wall, cost.peak_memory)
    }

    pub(super) fn lock_twice(&self, directory: &str) {
        for arguments in LOCK_TWICE {
            self.run(directory, arguments).expect_success();
        }
    }

    pub(super) fn assert_untouched(&self, what: &str) {
        let canaries = fs::read_dir(self.outside("canaries")).unwrap();
        let names: Vec<_> = canaries.map(|entry| entry.unwrap().file_name()).collect();
        assert!(names.is_empty(), "{what}: {names:?}");
    }

    /// Returns the runs of git: the working directory, the number of files in it, and the arguments.
    pub(super) fn git_runs(&self) -> Vec<[String; 3]> {
        let log = fs::read_to_string(self.outside("git.log")).unwrap_or_default();
        let fields = |line: &str| {
            let mut fields = line.splitn(3, '|').map(str::to_owned);
            std::array::from_fn(|_| fields.next().unwrap_or_default())
        };
        log.lines().map(fields).collect()
    }
}

/// Creates an empty bare repository.
pub(super) fn bare(site: &GitSite, name: &str) -> PathBuf {
    let directory = site.outside(name);
    fs::create_dir(&directory).unwrap();
    git(&directory, "init --quiet --bare --initial-branch=main .");
    directory
}

/// Runs git with `input` as its standard input.
pub(super) fn git_with(directory: &Path, arguments: &str, input: &str) -> String {
    let file = directory.join("input");
    fs::write(&file, input).unwrap();
    git_with_input(directory, arguments, fs::File::open(&file).unwrap())
}

/// Commits a tree, given as lines for `git mktree`, to the branch `main`.
pub(super) fn commit_tree(repository: &Path, tree: &str) -> String {
    let tree = git_with(repository, "mktree --missing", tree);
    let commit = git(repository, &format!("commit-tree -m x {tree}"));
    git(repository, &format!("update-ref refs/heads/main {commit}"));
    commit
}

/// Commits a tree in which each of `paths` is a submodule at `commit` of the repository at `url`.
pub(super) fn commit_submodules(
    repository: &Path,
    paths: &[&str],
    url: &str,
    commit: &str,
) -> String {
    let setting = |path| format!("[submodule \"{path}\"]\n\tpath = {path}\n\turl = {url}\n");
    let settings: String = paths.iter().map(setting).collect();
    let link = |path| format!("160000 commit {commit}\t{path}\n");
    let links: String = paths.iter().map(link).collect();
    let file = git_with(repository, "hash-object -w --stdin", &settings);
    let tree = format!("100644 blob {file}\t.gitmodules\n{links}");
    commit_tree(repository, &tree)
}
