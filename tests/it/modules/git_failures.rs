//! Errors of git: they quote the line that shows the cause, and the hint fits it. The repositories, git and the https server are
//! real; ssh is a script with the messages of the real ssh, except where it cannot connect. `git_failures.txt` contains the
//! complete error of each situation; `TFLOCK_RECORD=1` rewrites it.

use std::fs;
use std::net::TcpListener;
use std::path::{Path, PathBuf};

use regex::Regex;
use tflock_test_support::{
    Document, FakeRegistry, Misbehave, Program, TestAuthority, TestContext, assert_recorded,
    check_rows, git, git_commit_all, git_with_input, write_script,
};

use super::binary::call;
use super::git::ModuleRepository;
use crate::TFLOCK;

/// Messages of OpenSSH.
const HOST_KEY: &str = "No ED25519 host key is known for git.test and you have requested strict checking.\nHost key verification failed.";
const CHANGED_KEY: &str =
    "@    WARNING: REMOTE HOST IDENTIFICATION HAS CHANGED!     @\nHost key verification failed.";
const NO_KEY: &str = "git@git.test: Permission denied (publickey).";
const NO_REPOSITORY: &str = "ERROR: Repository not found.";
const KEY_FILE: &str =
    "Load key \"/key\": bad permissions\ngit@git.test: Permission denied (publickey).";
const CLOSED: &str = "kex_exchange_identification: Connection closed by remote host\nConnection closed by 192.0.2.1 port 22";
/// A message that tflock does not know.
const HOST_KEY_TYPE: &str = "Unable to negotiate with 192.0.2.1 port 22: no matching host key type found. Their offer: ssh-rsa";

/// A source that git cannot fetch, and the environment in which tflock runs.
struct Situation {
    name: &'static str,
    source: String,
    variables: Vec<(&'static str, String)>,
}

impl Situation {
    fn new(name: &'static str, source: impl Into<String>) -> Self {
        Self {
            name,
            source: source.into(),
            variables: Vec::new(),
        }
    }

    fn set(mut self, name: &'static str, value: impl Into<String>) -> Self {
        self.variables.push((name, value.into()));
        self
    }

    fn error(&self) -> String {
        let context = TestContext::offline(TFLOCK);
        context.write("a/main.tf", call("m", &self.source, ""));
        let run = context.command("lock --platform linux_amd64 a");
        let set = |run: Program, (name, value): &(&str, String)| run.env(name, value);
        let run = self.variables.iter().fold(run, set);
        constant(&run.run().expect_code(1).stderr)
    }
}

/// Replaces ports, paths of temporary directories, hashes of commits, and texts that depend on the versions of git and curl.
fn constant(text: &str) -> String {
    let temporary = regex::escape(&std::env::temp_dir().display().to_string());
    let directory = format!(r"{temporary}/[A-Za-z0-9.-]+");
    let rows = [
        (r"localhost:\d+", "localhost:[PORT]"),
        (r"port \d+", "port [PORT]"),
        (&directory, "[TEMPORARY]"),
        (r"\b[0-9a-f]{40}\b", "[COMMIT]"),
        (
            r"`: (fatal: unable to access '[^']*': )(Failed to connect|Could not resolve|.*certificate).*",
            "`: $1$2 [TEXT]",
        ),
        (r"(ssh: [^:\n]*: ).*", "$1[TEXT]"),
        (r"cannot run `[^`]*`", "cannot run `git`"),
    ];
    rows.iter().fold(text.to_owned(), |text, (pattern, shown)| {
        let pattern = Regex::new(pattern).unwrap();
        pattern.replace_all(&text, *shown).into_owned()
    })
}

/// Returns a command for `GIT_SSH_COMMAND` that prints `message` and fails like ssh.
fn failing_ssh(directory: &Path, number: usize, message: &str) -> String {
    let script = directory.join(format!("ssh{number}"));
    write_script(
        &script,
        &format!("cat >&2 <<'END'\n{message}\nEND\nexit 255"),
    );
    script.display().to_string()
}

fn ssh_situations(directory: &Path) -> Vec<Situation> {
    let source = "git::ssh://git@git.test/acme/net.git";
    let rows = [
        ("host key unknown", HOST_KEY),
        ("host key changed", CHANGED_KEY),
        ("ssh key not accepted", NO_KEY),
        ("not found over ssh", NO_REPOSITORY),
        ("ssh key file that ssh refuses", KEY_FILE),
        ("ssh connection closed", CLOSED),
        ("ssh with an old server", HOST_KEY_TYPE),
    ];
    let situation = |(number, (name, message)): (usize, (&'static str, &str))| {
        Situation::new(name, source).set("GIT_SSH_COMMAND", failing_ssh(directory, number, message))
    };
    let mut situations: Vec<_> = rows.into_iter().enumerate().map(situation).collect();
    let port = closed_port();
    situations.extend([
        Situation::new(
            "ssh refused",
            format!("git::ssh://git@localhost:{port}/acme/net.git"),
        ),
        Situation::new(
            "ssh to an unknown host",
            "git::ssh://git@nowhere.invalid/acme/net.git",
        ),
        Situation::new("ssh is missing", source).set("GIT_SSH_COMMAND", "/missing/ssh"),
    ]);
    situations
}

fn closed_port() -> u16 {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    listener.local_addr().unwrap().port()
}

/// Starts an https server that refuses requests for some repositories.
fn https_server(authority: &TestAuthority) -> (FakeRegistry, String) {
    let mut registry = FakeRegistry::start();
    let host = registry.serve_tls(authority);
    for status in [401, 403, 404, 500, 503] {
        let rule = Misbehave::on(&format!("/{status}/*")).status(status);
        registry.misbehave(rule.header("WWW-Authenticate", "Basic realm=\"git\""));
    }
    (registry, format!("git::https://{host}"))
}

fn https_situations(authority: &TestAuthority, url: &str) -> Vec<Situation> {
    let file = authority.certificate_file().display().to_string();
    let trusting = |name, source: String| Situation::new(name, source).set("GIT_SSL_CAINFO", &file);
    let with_user = url.replace("https://", "https://user:XSECRETX@");
    vec![
        trusting("https without credentials", format!("{url}/401/net.git")),
        trusting(
            "https with wrong credentials",
            format!("{with_user}/401/net.git"),
        ),
        trusting("https without permission", format!("{url}/403/net.git")),
        trusting("not found over https", format!("{url}/404/net.git")),
        trusting("https server out of order", format!("{url}/503/net.git")),
        Situation::new("unknown authority", format!("{url}/404/net.git")),
        Situation::new(
            "https refused",
            format!("git::https://localhost:{}/net.git", closed_port()),
        ),
        Situation::new(
            "https to an unknown host",
            "git::https://nowhere.invalid/net.git",
        ),
    ]
}

/// Repositories on this machine that lack something.
struct Repositories {
    whole: ModuleRepository,
    damaged: ModuleRepository,
    without_commit: ModuleRepository,
    newer_format: ModuleRepository,
    long_name: ModuleRepository,
    outer: ModuleRepository,
    lost_submodule: ModuleRepository,
    no_modules_entry: ModuleRepository,
    empty: ModuleRepository,
    shallow: PathBuf,
}

impl Repositories {
    fn create(directory: &Path) -> Self {
        let whole = ModuleRepository::create();
        whole.write("main.tf", "").commit();
        let first = whole.git("rev-parse HEAD");
        whole.write("main.tf", "# changed").commit();
        let clone = format!(
            "clone --quiet --depth=1 file://{} shallow",
            whole.path().display()
        );
        git(directory, &clone);
        let outer = ModuleRepository::create();
        let url = format!("file://{}", whole.path().display());
        let modules = format!("[submodule \"net\"]\n\tpath = net\n\turl = {url}\n");
        outer.write(".gitmodules", &modules);
        add_gitlink(&outer, "0123456789012345678901234567890123456789");
        let lost_submodule = ModuleRepository::create();
        let lost = directory.join("lost");
        let modules = modules.replace(&url, &lost.display().to_string());
        lost_submodule.write(".gitmodules", &modules);
        add_gitlink(&lost_submodule, &first);
        let no_modules_entry = ModuleRepository::create();
        no_modules_entry.write(".gitmodules", "");
        add_gitlink(&no_modules_entry, &first);
        Self {
            damaged: without_object("HEAD:main.tf"),
            without_commit: without_object("HEAD"),
            newer_format: of_newer_format(),
            long_name: with_long_name(),
            outer,
            lost_submodule,
            no_modules_entry,
            empty: ModuleRepository::create(),
            shallow: directory.join("shallow"),
            whole,
        }
    }

    fn situations(&self, directory: &Path) -> Vec<Situation> {
        let whole = self.whole.url();
        let first = self.whole.git("rev-parse HEAD~1");
        let shallow = format!("git::file://{}", self.shallow.display());
        let missing = format!("git::file://{}/missing", directory.display());
        vec![
            Situation::new("unknown branch", format!("{whole}?ref=nope")),
            Situation::new(
                "unknown commit",
                format!("{whole}?ref=0123456789012345678901234567890123456789"),
            ),
            Situation::new("unknown abbreviated commit", format!("{whole}?ref=abcdef0")),
            Situation::new(
                "commit that a shallow clone lacks",
                format!("{shallow}?ref={first}"),
            ),
            Situation::new("empty repository", self.empty.url()),
            Situation::new("not found on this machine", missing),
            Situation::new("damaged repository", self.damaged.url()),
            Situation::new(
                "repository without a commit that it names",
                self.without_commit.url(),
            ),
            Situation::new("repository of a newer format", self.newer_format.url()),
            Situation::new("file name that cannot be checked out", self.long_name.url()),
            Situation::new("submodule without its commit", self.outer.url()),
            Situation::new("submodule that does not exist", self.lost_submodule.url()),
            Situation::new("submodule without an address", self.no_modules_entry.url()),
            Situation::new("git is missing", whole).set("PATH", "/missing"),
        ]
    }
}

/// Commits a submodule `net` at this commit.
fn add_gitlink(repository: &ModuleRepository, commit: &str) {
    repository.git("add --all");
    repository.git(&format!(
        "update-index --add --cacheinfo 160000,{commit},net"
    ));
    repository.git("commit --quiet --message=x");
}

/// Creates a repository that lacks an object.
fn without_object(name: &str) -> ModuleRepository {
    let repository = ModuleRepository::create();
    repository.write("main.tf", "# lost").commit();
    let object = repository.git(&format!("rev-parse {name}"));
    let path = format!(".git/objects/{}/{}", &object[..2], &object[2..]);
    fs::remove_file(repository.path().join(path)).unwrap();
    repository
}

/// Creates a repository that no version of git can read.
fn of_newer_format() -> ModuleRepository {
    let repository = ModuleRepository::create();
    repository.write("main.tf", "").commit();
    repository.git("config core.repositoryformatversion 99");
    repository
}

/// Creates a repository with a file name that no file system can store.
fn with_long_name() -> ModuleRepository {
    let repository = ModuleRepository::create();
    repository.write("main.tf", "").commit();
    let object = repository.git("rev-parse HEAD:main.tf");
    let list = repository.path().join("list");
    fs::write(
        &list,
        format!("100644 blob {object}\t{}\n", "x".repeat(256)),
    )
    .unwrap();
    let input = fs::File::open(&list).unwrap();
    let tree = git_with_input(repository.path(), "mktree", input);
    let commit = repository.git(&format!("commit-tree -m x {tree}"));
    repository.git(&format!("update-ref refs/heads/main {commit}"));
    repository
}

#[test]
fn hints_fit_the_cause() {
    let directory = tempfile::TempDir::new().unwrap();
    let authority = TestAuthority::create();
    let (_registry, url) = https_server(&authority);
    let repositories = Repositories::create(directory.path());
    let mut situations = repositories.situations(directory.path());
    situations.extend(ssh_situations(directory.path()));
    situations.extend(https_situations(&authority, &url));
    let found = std::sync::Mutex::new(vec![String::new(); situations.len()]);
    check_rows(situations.iter().enumerate(), |(index, situation)| {
        let text = format!("== {} ==\n{}\n", situation.name, situation.error());
        found.lock().unwrap()[index] = text;
    });
    let found = found.into_inner().unwrap().concat();
    assert!(!found.contains("XSECRETX"), "{found}");
    let file = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/it/modules/git_failures.txt");
    assert_recorded(&file, &found);
}

/// Damages the repository in this directory.
type Damage = fn(&Path);

/// `--changed` reads the user's repository.
#[test]
fn hints_for_the_repository_of_the_user() {
    let damage_head = |top: &Path| {
        let head = git(top, "rev-parse HEAD");
        let object = top.join(format!(".git/objects/{}/{}", &head[..2], &head[2..]));
        fs::remove_file(object).unwrap();
    };
    let damage_index = |top: &Path| fs::write(top.join(".git/index"), "x".repeat(64)).unwrap();
    let damage_config = |top: &Path| fs::write(top.join(".git/config"), "[core\n").unwrap();
    let remove_head = |top: &Path| fs::remove_file(top.join(".git/HEAD")).unwrap();
    let rows: [(&str, Damage, &str, &str); 4] = [
        (
            "missing commit",
            damage_head,
            "cannot find the commit `HEAD` in",
            "hint: ",
        ),
        (
            "index",
            damage_index,
            "cannot run `git ",
            "hint: run `git fsck` in the repository",
        ),
        (
            "configuration",
            damage_config,
            "bad config line 1 in file",
            "hint: correct the file of the git configuration",
        ),
        (
            "no HEAD",
            remove_head,
            "cannot find a git repository that contains",
            "hint: omit `--changed`",
        ),
    ];
    for (name, damage, message, hint) in rows {
        let context = TestContext::offline(TFLOCK);
        context.write("a/main.tf", "");
        git(&context.work(), "init --quiet --initial-branch=main");
        git_commit_all(&context.work());
        damage(&context.work());
        let outcome = context.run("lock -r --changed=HEAD .");
        outcome.assert_stderr(message).assert_stderr(hint);
        assert_ne!(outcome.code, Some(0), "{name}");
    }
}

/// A web server without git's smart protocol cannot send a part of the history.
#[test]
fn servers_without_the_smart_protocol_send_the_full_history() {
    let repository = ModuleRepository::create();
    repository.write("main.tf", "").commit();
    repository.git("update-server-info");
    let authority = TestAuthority::create();
    let (registry, url) = https_server(&authority);
    serve_files(&registry, &repository.path().join(".git"), "/r.git");
    let context = TestContext::offline(TFLOCK);
    for reference in ["", "?ref=main"] {
        let source = format!("{url}/r.git{reference}");
        context.write("a/main.tf", call("m", &source, ""));
        let run = context.command("lock --no-cache --platform linux_amd64 a");
        let run = run.env("GIT_SSL_CAINFO", authority.certificate_file());
        run.run().expect_success();
    }
}

fn serve_files(registry: &FakeRegistry, directory: &Path, path: &str) {
    for entry in fs::read_dir(directory).unwrap() {
        let entry = entry.unwrap().path();
        let name = entry.file_name().unwrap().to_str().unwrap();
        let path = format!("{path}/{name}");
        if entry.is_dir() {
            serve_files(registry, &entry, &path);
        } else {
            registry.serve(&path, Document::octets(fs::read(&entry).unwrap()));
        }
    }
}
