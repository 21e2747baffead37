//! Modules in Mercurial repositories. The tests run the real `hg`, and are skipped if it is missing.

use std::fmt::Write as _;
use std::fs;
use std::io::{BufRead as _, BufReader};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use serde_json::Value;
use tempfile::TempDir;
use tflock_test_support::{
    FakeRegistry, Identity, Misbehave, TestAuthority, assert_contains, require_or_skip, table,
};

use super::ModuleSite;
use super::recorded::{expected, files_below};
use crate::conformance::{cases, report};

/// Returns the program that tests use: a script that logs its arguments, if the test wrote one.
pub(super) fn program(home: &Path) -> PathBuf {
    let script = home.join("counting-hg");
    if script.exists() { script } else { "hg".into() }
}

/// Returns the file with the certificate of the servers' authority.
pub(super) fn authority(home: &Path) -> String {
    home.join("authority.pem").display().to_string()
}

/// Repositories in one directory.
struct Repositories {
    directory: TempDir,
    /// The date of the next commit, in seconds since 1970. It determines the commit's hash.
    date: u32,
}

impl Repositories {
    /// Returns `None` if `hg` is not on PATH.
    fn create() -> Option<Self> {
        require_or_skip("hg", false)?;
        Some(Self {
            directory: TempDir::new().unwrap(),
            date: 0,
        })
    }

    /// Creates a repository with one commit of `main.tf`.
    fn with(name: &str, text: &str) -> Option<Self> {
        let mut repositories = Self::create()?;
        repositories.init(name, &[("main.tf", text)]);
        Some(repositories)
    }

    fn path(&self, name: &str) -> PathBuf {
        self.directory.path().join(name)
    }

    fn source(&self, name: &str) -> String {
        format!("hg::{}", self.path(name).display())
    }

    /// Runs `hg` in a repository without any configuration. Returns the trimmed standard output.
    #[track_caller]
    fn hg(&self, name: &str, arguments: &[&str]) -> String {
        let output = Command::new("hg")
            .args(arguments)
            .current_dir(self.path(name))
            .env("HGRCPATH", "")
            .env("HGPLAIN", "1")
            .env("HGUSER", "t <t@t.test>")
            .stdin(Stdio::null())
            .output()
            .unwrap();
        let errors = String::from_utf8_lossy(&output.stderr);
        assert!(output.status.success(), "hg {arguments:?}: {errors}");
        String::from_utf8_lossy(&output.stdout).trim().to_owned()
    }

    /// Creates a repository with one commit, unless there are no files.
    fn init(&mut self, name: &str, files: &[(&str, &str)]) {
        self.hg("", &["init", name]);
        if !files.is_empty() {
            self.commit(name, files);
        }
    }

    /// Writes files and commits them. Returns the hash of the commit.
    fn commit(&mut self, name: &str, files: &[(&str, &str)]) -> String {
        for (path, text) in files {
            let path = self.path(name).join(path);
            fs::create_dir_all(path.parent().unwrap()).unwrap();
            fs::write(path, text).unwrap();
        }
        let date = format!("--date={} 0", self.date);
        self.date += 1;
        self.hg(
            name,
            &["commit", "--addremove", "--quiet", "--message=x", &date],
        );
        self.hg(name, &["identify", "--id", "--debug"])
    }

    /// Commits a subrepository as a line of `.hgsub`, without cloning it. Its commit does not exist.
    fn import_subrepository(&self, name: &str, line: &str) {
        let state = format!("{MISSING} lib");
        let mut patch = "# HG changeset patch\n# User t\n# Date 0 0\n\nx\n".to_owned();
        for (file, line) in [(".hgsub", line), (".hgsubstate", &state)] {
            writeln!(patch, "diff --git a/{file} b/{file}\nnew file mode 100644").unwrap();
            writeln!(
                patch,
                "--- /dev/null\n+++ b/{file}\n@@ -0,0 +1,1 @@\n+{line}"
            )
            .unwrap();
        }
        let file = self.path("patch");
        fs::write(&file, patch).unwrap();
        let allowed = "--config=subrepos.git:allowed=true";
        let file = file.to_str().unwrap();
        self.hg(name, &["import", allowed, "--bypass", file]);
    }
}

/// A commit that does not exist.
const MISSING: &str = "0123456789012345678901234567890123456789";

/// Creates the repositories of the recorded cases. Returns the first commit of `repo`.
fn record_repositories(all: &mut Repositories) -> String {
    all.init(
        "repo",
        &[("main.tf", "# one\n"), ("sub/main.tf", "# sub\n")],
    );
    let first = all.hg("repo", &["identify", "--id", "--debug"]);
    all.hg("repo", &["tag", "--date=9 0", "v1"]);
    all.hg("repo", &["tag", "--date=9 0", "--rev=0", "odd name (1)-x"]);
    all.hg("repo", &["branch", "--quiet", "feature"]);
    all.commit("repo", &[("main.tf", "# two\n")]);
    all.hg("repo", &["bookmark", "--rev=.", "mark"]);
    all.hg("repo", &["update", "--quiet", "default"]);
    all.commit("repo", &[("main.tf", "# three\n")]);
    all.hg("", &["clone", "--quiet", "repo", "with blank"]);
    all.init("empty", &[]);
    all.init("closed", &[("main.tf", "# open\n")]);
    all.hg(
        "closed",
        &["commit", "--close-branch", "--message=x", "--date=4 0"],
    );
    all.date += 1;
    all.init("other", &[]);
    all.hg("other", &["branch", "--quiet", "x"]);
    all.commit("other", &[("main.tf", "# x\n")]);
    all.init("bookmarked", &[("main.tf", "# first\n")]);
    all.hg("bookmarked", &["bookmark", "--inactive", "@"]);
    all.commit("bookmarked", &[("main.tf", "# second\n")]);
    all.init("inner", &[("main.tf", "# inner\n")]);
    all.hg("", &["init", "outer"]);
    all.hg("", &["clone", "--quiet", "inner", "outer/lib"]);
    all.commit(
        "outer",
        &[(".hgsub", "lib = ../inner\n"), ("main.tf", "# outer\n")],
    );
    all.hg("", &["init", "nested"]);
    all.hg("", &["clone", "--quiet", "outer", "nested/deep"]);
    all.commit(
        "nested",
        &[(".hgsub", "deep = ../outer\n"), ("main.tf", "# nested\n")],
    );
    first
}

#[test]
fn sources_are_those_of_the_tools() {
    let Some(mut all) = Repositories::create() else {
        return;
    };
    let first = record_repositories(&mut all);
    let site = ModuleSite::start();
    let base = all.directory.path().to_str().unwrap();
    let cases = cases("module-mercurial.jsonl");
    let mut differences = Vec::new();
    for case in &cases {
        let source = case["source"].as_str().unwrap();
        let located = source
            .replace("BASE", base)
            .replace("COMMIT", &first)
            .replace("SHORT", &first[..9]);
        let found = site.fetch(&located, None);
        let found_files = found.as_deref().ok().map(files_below);
        if found_files != expected(case) {
            differences.push(format!("{source}: found {found:?} {found_files:?}"));
        }
        if let (Err(error), Some(own)) = (found, case.pointer("/tflock/error")) {
            assert_contains(&error, own.as_str().unwrap_or_default());
        }
    }
    assert!(cases.iter().any(|case| case["tofu"] != Value::Null));
    report(&differences, cases.len());
}

/// Neither repositories nor users can make Mercurial run a program: it ignores the configuration of both.
#[test]
fn no_hook_or_extension_is_run() {
    let Some(all) = Repositories::with("repo", "x") else {
        return;
    };
    let site = ModuleSite::start();
    let marker = site.marker();
    let marker = marker.display();
    let extension = all.path("evil.py");
    let python = format!("open('{marker}', 'w').close()\n");
    fs::write(&extension, python).unwrap();
    let mut configuration = format!("[extensions]\nevil = {}\n[hooks]\n", extension.display());
    for hook in ["outgoing", "preoutgoing", "incoming", "update", "pre-clone"] {
        writeln!(configuration, "{hook} = touch {marker}").unwrap();
    }
    fs::write(all.path("repo/.hg/hgrc"), &configuration).unwrap();
    fs::write(site.home.path().join(".hgrc"), &configuration).unwrap();
    assert_eq!(site.text(&all.source("repo")), "x");
    assert!(!site.marker().exists());
    // Without this protection, the repository does run its programs.
    let second = all.path("second");
    all.hg("", &["clone", "--quiet", "repo", second.to_str().unwrap()]);
    assert!(site.marker().exists());
}

#[cfg(unix)]
#[test]
fn every_run_starts_in_a_neutral_directory_without_configuration() {
    let Some(all) = Repositories::with("repo", "x") else {
        return;
    };
    let mut site = ModuleSite::start();
    counting(
        &site,
        "$(pwd -P) $(ls -A) [$HGRCPATH] $HGRCSKIPREPO $HGPLAIN",
    );
    site.run_again(false);
    assert_eq!(site.text(&all.source("repo")), "x");
    let runs = runs(&site);
    let commands: Vec<&str> = runs
        .iter()
        .map(|run| {
            let (directory, rest) = run.split_once(' ').unwrap();
            assert!(directory.contains("/tflock-run-"), "{run}");
            let rest = rest.strip_prefix(".hg [] 1 1 --noninteractive ").unwrap();
            let mut words = rest.split(' ');
            words
                .find(|word| ["version", "clone", "log", "archive"].contains(word))
                .unwrap()
        })
        .collect();
    assert_eq!(commands, ["version", "clone", "log", "archive"]);
    let clone = runs.iter().find(|run| run.contains(" clone ")).unwrap();
    assert_contains(clone, "--noupdate --pull -- file://");
}

/// Makes the next runs of the site log `text` and the arguments of each run of `hg`.
#[cfg(unix)]
fn counting(site: &ModuleSite, text: &str) {
    let (script, log) = (site.home.path().join("counting-hg"), hg_log(site));
    let commands = format!("echo \"{text} $*\" >> '{}'\nexec hg \"$@\"", log.display());
    tflock_test_support::write_script(&script, &commands);
}

#[cfg(unix)]
fn hg_log(site: &ModuleSite) -> PathBuf {
    site.home.path().join("hg.log")
}

/// Returns the logged runs since the last call.
#[cfg(unix)]
fn runs(site: &ModuleSite) -> Vec<String> {
    let text = fs::read_to_string(hg_log(site)).unwrap_or_default();
    fs::remove_file(hg_log(site)).ok();
    text.lines().map(str::to_owned).collect()
}

#[cfg(unix)]
#[test]
fn branches_and_tags_are_looked_up_and_commits_are_not() {
    let Some(mut all) = Repositories::with("repo", "first") else {
        return;
    };
    let first = all.hg("repo", &["identify", "--id", "--debug"]);
    all.hg("repo", &["tag", "v1"]);
    let source = all.source("repo");
    let sources = [
        (format!("{source}?rev={first}"), 0, "first"),
        (format!("{source}?rev=v1"), 1, "first"),
        (format!("{source}?rev=default"), 1, "second"),
        (source, 1, "second"),
    ];
    let mut site = ModuleSite::start();
    counting(&site, "");
    for (source, lookups, _) in &sources {
        site.run_again(false);
        assert_eq!(site.text(source), "first", "{source}");
        runs(&site);
        site.run_again(false);
        assert_eq!(site.text(source), "first", "{source}");
        let runs = runs(&site);
        let count = |command: &str| runs.iter().filter(|run| run.contains(command)).count();
        assert_eq!((count(" identify "), runs.len()), (*lookups, *lookups));
        site.run_again(true);
        assert_eq!(site.text(source), "first", "{source}");
    }
    all.commit("repo", &[("main.tf", "second")]);
    for (source, _, expected) in &sources {
        site.run_again(false);
        assert_eq!(site.text(source), *expected, "{source}");
    }
}

/// A running `hg serve`.
struct Server {
    child: Child,
    url: String,
}

impl Drop for Server {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

impl Server {
    /// Serves a repository at `localhost`, with TLS if there is a certificate.
    fn start(repository: &Path, certificate: Option<&Path>) -> Self {
        let mut command = Command::new("hg");
        command
            .args(["serve", "--address=localhost", "--port=0", "--print-url"])
            .args(["--accesslog=/dev/null", "--errorlog=/dev/null"])
            .env("HGRCPATH", "")
            .current_dir(repository)
            .stdout(Stdio::piped())
            .stderr(Stdio::null());
        if let Some(file) = certificate {
            command.arg(format!("--certificate={}", file.display()));
        }
        let mut child = command.spawn().unwrap();
        let mut line = String::new();
        let mut output = BufReader::new(child.stdout.take().unwrap());
        output.read_line(&mut line).unwrap();
        let port = line.trim().trim_end_matches('/').rsplit(':').next();
        let scheme = certificate.map_or("http", |_| "https");
        let url = format!("{scheme}://localhost:{}", port.unwrap_or_default());
        Self { child, url }
    }
}

/// Writes the private key and the certificate of a server.
fn write_certificate(authority: &TestAuthority, file: &Path) {
    let (chain, key) = authority.issue(&Identity::named("localhost"));
    let mut text = String::new();
    let mut add = |kind: &str, bytes: &[u8]| {
        let encoded = STANDARD.encode(bytes);
        writeln!(
            text,
            "-----BEGIN {kind}-----\n{encoded}\n-----END {kind}-----"
        )
        .unwrap();
    };
    add("PRIVATE KEY", key.secret_der());
    for certificate in &chain {
        add("CERTIFICATE", certificate);
    }
    fs::write(file, text).unwrap();
}

#[test]
fn https_servers_and_their_redirects() {
    let Some(all) = Repositories::with("repo", "x") else {
        return;
    };
    let authority = TestAuthority::create();
    let certificate = all.path("server.pem");
    write_certificate(&authority, &certificate);
    let secure = Server::start(&all.path("repo"), Some(&certificate));
    let plain = Server::start(&all.path("repo"), None);
    let mut registry = FakeRegistry::start();
    let host = registry.serve_tls(&authority);
    for (name, target) in [("secure", &secure.url), ("plain", &plain.url)] {
        let location = format!("{target}/?cmd=capabilities");
        let rule = Misbehave::on(&format!("/{name}/**")).status(302);
        registry.misbehave(rule.header("Location", &location));
    }
    for status in [401, 404, 503] {
        let rule = Misbehave::on(&format!("/{status}/**")).status(status);
        registry.misbehave(rule.header("WWW-Authenticate", "Basic realm=x"));
    }
    let mut site = ModuleSite::with_cli_config(registry, "");
    let unknown = site.explained(&format!("hg::{}", secure.url));
    assert_contains(&unknown, "set `SSL_CERT_FILE`");
    let file = fs::read(authority.certificate_file()).unwrap();
    fs::write(super::mercurial::authority(site.home.path()), file).unwrap();
    for _ in 0..2 {
        site.run_again(false);
        assert_eq!(site.text(&format!("hg::{}", secure.url)), "x");
        assert_eq!(site.text(&format!("hg::{}?rev=tip", secure.url)), "x");
    }
    assert_eq!(site.text(&format!("hg::https://{host}/secure/r")), "x");
    let refused = site.explained(&format!("hg::https://{host}/plain/r"));
    let expected = format!(
        "`{}/` uses the protocol `http`, but hg may use only",
        plain.url
    );
    assert_contains(&refused, &expected);
    for [status, hint] in table(
        "
        401 | use an address with `ssh://`
        404 | check that the address is correct
        503 | try again later
        ",
    ) {
        let secret = format!("hg::https://user:XSECRETX@{host}/{status}/r");
        let refused = site.explained(&secret);
        assert_contains(&refused, hint);
        assert!(!refused.contains("XSECRETX"), "{refused}");
    }
}

/// Each row: what follows the address of the repository, and parts of the error and its hint.
const FAILURES: &str = "
    repo?rev=nope  | hg cannot fetch `nope` from `file://BASE/repo`: abort: unknown revision 'nope' | (correct `rev`
    missing        | hg cannot fetch the default branch from `file://BASE/missing`: abort: repository | (check that the address
    shaped         | : abort: repository requires features unknown to this Mercurial: evil | (install a newer version of Mercurial
    foreign        | `file://BASE/foreign` has subrepositories of git or Subversion | (run `init` or `get` in this directory first
    lost           | cannot fetch submodule `lib` of `file://BASE/lost`: hg cannot fetch `0123 | (push the commit to the repository of the submodule
";

#[test]
fn failures_quote_their_cause_and_have_a_hint() {
    let Some(mut all) = Repositories::with("repo", "x") else {
        return;
    };
    all.init("shaped", &[("main.tf", "x")]);
    let requirements = all.path("shaped/.hg/requires");
    let text = fs::read_to_string(&requirements).unwrap();
    fs::write(requirements, text + "evil\n").unwrap();
    for (name, source) in [("foreign", "[git]../repo"), ("lost", "../repo")] {
        all.init(name, &[("main.tf", "x")]);
        all.import_subrepository(name, &format!("lib = {source}"));
    }
    let site = ModuleSite::start();
    let base = all.directory.path().to_str().unwrap();
    for [rest, error, hint] in table(FAILURES) {
        let found = site.explained(&all.source(rest));
        assert_contains(&found, &error.replace("BASE", base));
        assert_contains(&found, hint);
    }
}
