//! Modules in git repositories.

use std::fs;
use std::path::{Path, PathBuf};
use std::thread;

use tempfile::TempDir;
use tflock_test_support::{FakeRegistry, assert_contains, table};

use super::ModuleSite;

/// A git repository on this machine.
pub(super) struct ModuleRepository {
    directory: TempDir,
}

impl ModuleRepository {
    pub(super) fn create() -> Self {
        let repository = Self {
            directory: TempDir::new().unwrap(),
        };
        repository.git("init --quiet --initial-branch=main");
        repository
    }

    pub(super) fn path(&self) -> &Path {
        self.directory.path()
    }

    pub(super) fn url(&self) -> String {
        format!("git::file://{}", self.path().display())
    }

    pub(super) fn git(&self, line: &str) -> String {
        tflock_test_support::git(self.path(), line)
    }

    pub(super) fn write(&self, path: &str, text: &str) -> &Self {
        let path = self.path().join(path);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, text).unwrap();
        self
    }

    /// Commits all files and returns the commit's hash.
    pub(super) fn commit(&self) -> String {
        tflock_test_support::git_commit_all(self.path());
        self.git("rev-parse HEAD")
    }
}

#[test]
fn references_and_subdirectories() {
    let repository = ModuleRepository::create();
    let first = repository.write("main.tf", "first").commit();
    repository.git("tag light");
    let second = repository.write("main.tf", "second").commit();
    repository.git("tag --annotate --message=x v1.0");
    repository.git("checkout --quiet -b feature/x");
    repository
        .write("main.tf", "branch")
        .write("modules/net/main.tf", "net")
        .commit();
    repository.git("tag 20240101");
    repository.git("checkout --quiet main");
    repository.write("main.tf", "newest").commit();

    let site = ModuleSite::start();
    let url = repository.url();
    for [rest, expected] in table(
        "
                                     | newest
        ?ref=main                    | newest
        ?ref=light                   | first
        ?ref=v1.0                    | second
        ?ref=feature/x               | branch
        ?ref=20240101                | branch
        ?ref=FIRST                   | first
        ?ref=SHORT                   | second
        ?ref=v1.0&depth=3            | second
        //modules/net?ref=feature/x  | net
        //*/n[a-f]t?ref=feature/x    | net
        ",
    ) {
        let reference = rest.replace("FIRST", &first).replace("SHORT", &second[..9]);
        assert_eq!(site.text(&format!("{url}{reference}")), expected, "{rest}");
    }
    let directory = site.fetch(&url, None).unwrap();
    assert!(!directory.join(".git").exists());
    let plain = url.strip_prefix("git::").unwrap();
    for [rest, expected] in table(
        "
        ?ref=nope                                     | git cannot fetch `nope` from `URL`
        ?ref=0123456789012345678901234567890123456789 | git cannot fetch `0123
        ?ref=abcdef0                                  | git cannot fetch `abcdef0`
        //nope                                        | `URL` has no directory `nope`
        -gone                                         | git cannot fetch the default branch from `URL-gone`:
        ",
    ) {
        let expected = expected.replace("URL", plain);
        let found = site.text(&format!("{url}{rest}"));
        assert!(found.starts_with(&expected), "{rest}: {found}");
    }
}

#[test]
fn each_repository_is_fetched_once() {
    let repository = ModuleRepository::create();
    repository
        .write("a/main.tf", "a")
        .write("b/main.tf", "b")
        .commit();
    repository.git("tag v1");
    let (site, url) = (ModuleSite::start(), repository.url());
    thread::scope(|scope| {
        for index in 0..50 {
            let (site, url) = (&site, &url);
            scope.spawn(move || {
                let name = ["a", "b"][index % 2];
                assert_eq!(site.text(&format!("{url}//{name}?ref=v1")), name);
                let missing = site.text(&format!("{url}?ref=nope"));
                assert_contains(&missing, "git cannot fetch");
            });
        }
    });
    let mut runs = site.git_runs();
    runs.retain(|run| run.contains(" -- file://"));
    assert_eq!(runs.len(), 2, "{runs:#?}");
}

#[test]
fn no_hook_is_run() {
    let repository = ModuleRepository::create();
    repository.write("main.tf", "x").commit();
    let site = ModuleSite::start();
    let hooks = site.home.path().join("template/hooks");
    fs::create_dir_all(&hooks).unwrap();
    let hook = hooks.join("post-checkout");
    let script = format!("#!/bin/sh\ntouch {}\n", site.marker().display());
    fs::write(&hook, script).unwrap();
    executable(&hook);
    let config = format!(
        "[init]\n\ttemplateDir = {}\n[core]\n\thooksPath = {}\n",
        hooks.parent().unwrap().display(),
        hooks.display()
    );
    fs::write(site.home.path().join(".gitconfig"), config).unwrap();
    assert_eq!(site.text(&repository.url()), "x");
    assert!(!site.marker().exists());
}

#[cfg(unix)]
fn executable(path: &Path) {
    use std::os::unix::fs::PermissionsExt as _;

    fs::set_permissions(path, fs::Permissions::from_mode(0o755)).unwrap();
}

#[cfg(not(unix))]
fn executable(_path: &Path) {}

#[test]
fn url_rewrites_of_the_user_cannot_select_another_protocol() {
    let repository = ModuleRepository::create();
    repository.write("main.tf", "x").commit();
    let site = ModuleSite::start();
    let config = format!(
        "[url \"ext::sh -c touch% {} \"]\n\tinsteadOf = https://g.test/\n[url \"file://{}\"]\n\tinsteadOf = \
         file:///alias\n[protocol]\n\tallow = always\n",
        site.marker().display(),
        repository.path().display()
    );
    fs::write(site.home.path().join(".gitconfig"), config).unwrap();
    let refused = site.text("git::https://g.test/r");
    assert!(refused.contains("transport 'ext' not allowed"), "{refused}");
    assert!(!site.marker().exists());
    // The user's git configuration applies.
    assert_eq!(site.text("git::file:///alias"), "x");
    let path = repository.path().display();
    let local = format!("[url \"file://{path}\"]\n\tinsteadOf = https://g.test/\n");
    fs::write(site.home.path().join(".gitconfig"), local).unwrap();
    let refused = site.text("git::https://g.test/other");
    assert_contains(&refused, "transport 'file' not allowed");
}

#[test]
fn submodules_are_fetched_by_the_allowed_protocols() {
    let (inner, outer) = (ModuleRepository::create(), ModuleRepository::create());
    inner.write("main.tf", "inner").commit();
    outer.write("main.tf", "outer");
    let path = inner.path().display();
    outer.git(&format!("submodule --quiet add -- {path} sub"));
    let url = format!("file://{}", inner.path().display());
    let set = "config --file .gitmodules submodule.sub.url";
    outer.git(&format!("{set} {url}"));
    let good = outer.commit();
    let site = ModuleSite::start();
    let source = outer.url();
    assert_eq!(site.text(&format!("{source}//sub?ref={good}")), "inner");

    let bad = format!("ext::sh -c touch% {}", site.marker().display());
    let modules = format!("[submodule \"sub\"]\n\tpath = sub\n\turl = {bad}\n");
    outer.write(".gitmodules", &modules);
    outer.commit();
    let refused = site.text(&source);
    assert_contains(&refused, "cannot fetch submodule `sub` of `file://");
    assert!(!site.marker().exists());
}

#[cfg(unix)]
#[test]
fn links_lead_to_the_repository_only() {
    let secret: PathBuf = PathBuf::from("/etc/passwd");
    let repository = ModuleRepository::create();
    repository.write("real/main.tf", "x");
    std::os::unix::fs::symlink("real", repository.path().join("inside")).unwrap();
    std::os::unix::fs::symlink("/etc", repository.path().join("outside")).unwrap();
    let first = repository.commit();
    std::os::unix::fs::symlink(&secret, repository.path().join("evil.tf")).unwrap();
    repository.commit();
    let (site, url) = (ModuleSite::start(), repository.url());
    assert_eq!(site.text(&format!("{url}//inside?ref={first}")), "x");
    let gone = site.text(&format!("{url}//outside?ref={first}"));
    assert!(gone.contains("has no directory `outside`"), "{gone}");
    let refused = site.text(&url);
    assert_contains(&refused, "`evil.tf` in");
    assert_contains(&refused, "points outside the module package");
}

#[test]
fn repositories_may_not_be_larger_than_the_limit() {
    let repository = ModuleRepository::create();
    repository.write("main.tf", "x").commit();
    let small = 1 << 20;
    let site = ModuleSite::with(FakeRegistry::start(), "", small);
    assert_eq!(site.text(&repository.url()), "x");
    repository
        .write("movie", &"0123456789abcdef".repeat(1 << 17))
        .commit();
    let refused = site.text(&format!("{}?ref=main", repository.url()));
    assert!(
        refused.contains("larger than the limit of 1048576 bytes"),
        "{refused}"
    );
}

#[test]
fn waiting_fetches_fail_when_a_run_is_stopped() {
    let site = ModuleSite::start();
    let program = site.home.path().join("counting-git");
    let log = site.home.path().join("git.log");
    let log = log.display();
    let script = format!("#!/bin/sh\necho started >> '{log}'\nexec sleep 600\n");
    fs::write(program, script).unwrap();
    let text = thread::scope(|scope| {
        let waiting = scope.spawn(|| site.text("git::https://g.test/r"));
        while site.git_runs().is_empty() {
            thread::yield_now();
        }
        site.runtime.block_on(site.fetcher.stop());
        waiting.join().unwrap()
    });
    assert_eq!(text, "the run was interrupted");
    // Later fetches fail without starting git.
    assert_eq!(site.text("git::https://g.test/other"), text);
    assert_eq!(site.git_runs().len(), 1);
}
