//! Registry responses: statuses, redirects, retries and contents. Each row is tested with tflock and, if it is
//! installed, with Terraform.

use std::io::{BufRead as _, BufReader, Write as _};

use tflock_test_support::{
    FakeRegistry, Misbehave, ProviderSpec, TestContext, check_rows, table, terraform_on_path,
};

use crate::TFLOCK;

/// The expected result of a row.
#[derive(Clone, Copy, PartialEq, Debug)]
enum ResponseEnding {
    /// Both programs write the lock file.
    Locked,
    /// Both programs fail.
    Refused,
    /// Terraform fails at once, but tflock retries the request or resumes the download. The content is verified in both
    /// cases.
    OnlyTflock,
}

use ResponseEnding::{Locked, OnlyTflock, Refused};

const VERSIONS: &str = "*/acme/anvil/versions";
const DOWNLOAD: &str = "*/download/linux/amd64";
const PACKAGE: &str = "*_linux_amd64.zip";

/// Statuses, redirects and retries for every kind of request. The columns: the name, the path, the rule and the result.
const STATUSES: &str = "
    versions 404                 | */acme/anvil/versions  | status=404                       | Refused
    versions 401                 | */acme/anvil/versions  | status=401                       | Refused
    versions 204                 | */acme/anvil/versions  | status=204                       | Refused
    versions 501 once            | */acme/anvil/versions  | status=501 times=1               | Refused
    versions 503 once            | */acme/anvil/versions  | status=503 times=1               | Locked
    versions 429 once            | */acme/anvil/versions  | status=429 retry_after=1 times=1 | Locked
    versions reset once          | */acme/anvil/versions  | reset times=1                    | Locked
    versions redirected          | */acme/anvil/versions  | redirect=versions times=1        | Locked
    versions redirected forever  | */acme/anvil/versions  | redirect=versions                | Refused
    download 404                 | */download/linux/amd64 | status=404                       | Refused
    download 403                 | */download/linux/amd64 | status=403                       | Refused
    download 502 once            | */download/linux/amd64 | status=502 times=1               | Locked
    list 404                     | *_SHA256SUMS           | status=404                       | Refused
    list 500 once                | *_SHA256SUMS           | status=500 times=1               | Locked
    list is a web page           | *_SHA256SUMS           | html                             | Refused
    signature 410                | *_SHA256SUMS.sig       | status=410                       | Refused
    signature 504 once           | *_SHA256SUMS.sig       | status=504 times=1               | Locked
    package 404                  | *_linux_amd64.zip      | status=404                       | Refused
    package 503 once             | *_linux_amd64.zip      | method=GET status=503 times=1    | OnlyTflock
    package cut once             | *_linux_amd64.zip      | method=GET cut=5000 times=1      | OnlyTflock
    package always cut           | *_linux_amd64.zip      | method=GET cut=5000 no_ranges    | Refused
    package in chunks            | *_linux_amd64.zip      | chunked                          | Locked
    list changed                 | *_SHA256SUMS           | flip=0                           | Refused
    signature changed            | *_SHA256SUMS.sig       | flip=40                          | Refused
    package changed              | *_linux_amd64.zip      | flip=40                          | Refused
";

fn statuses() -> Vec<(&'static str, Misbehave, ResponseEnding)> {
    let row = |[name, path, rule, ending]: [&'static str; 4]| {
        let endings = [Locked, Refused, OnlyTflock];
        let is_named = |value: &ResponseEnding| format!("{value:?}") == ending;
        let ending = endings.into_iter().find(is_named).unwrap();
        (name, Misbehave::on(path).rule(rule), ending)
    };
    table(STATUSES).into_iter().map(row).collect()
}

/// Returns responses with unusual or invalid content: the name, the rule and the result.
fn answers() -> Vec<(&'static str, Misbehave, ResponseEnding)> {
    let on = Misbehave::on;
    let append = |text: &'static str| move |body: Vec<u8>| [&body, text.as_bytes()].concat();
    let prepend = |text: &'static str| move |body: Vec<u8>| [text.as_bytes(), &body].concat();
    let protocols = |list: &str| on(DOWNLOAD).replace("[\"5.0\"]", list);
    let versions = || on(VERSIONS);
    let page = versions().header("Content-Type", "text/html");
    let renamed = |to: &str| versions().replace("\"versions\"", to);
    let other = on(DOWNLOAD).replace("\"amd64\"", "\"arm64\"");
    let file = on(DOWNLOAD).replace("\"terraform-provider-", "\"./terraform-provider-");
    let no_keys = on(DOWNLOAD).replace("gpg_public_keys", "other_keys");
    let packed = on(PACKAGE).rewrite(|body| gzip(&body));
    let packed = packed.header("Content-Encoding", "gzip");
    let appended = versions().rewrite(append(" and so on"));
    vec![
        ("text after the versions", appended, Locked),
        (
            "byte order mark",
            versions().rewrite(prepend("\u{feff}")),
            Refused,
        ),
        ("versions as a web page", page, Locked),
        ("key in capitals", renamed("\"VERSIONS\""), Locked),
        ("no versions", renamed("\"other\""), Refused),
        ("other architecture", other, Refused),
        ("no protocols", protocols("[]"), Locked),
        ("protocol of the future", protocols("[\"7.0\"]"), Refused),
        (
            "one protocol of two",
            protocols("[\"4.0\",\"6.3\"]"),
            Locked,
        ),
        ("unreadable protocol", protocols("[\"five\"]"), Refused),
        ("no keys", no_keys, Refused),
        ("name not in the list", file, Refused),
        ("package compressed for transfer", packed, Locked),
    ]
}

fn gzip(body: &[u8]) -> Vec<u8> {
    let mut encoder = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::fast());
    encoder.write_all(body).unwrap();
    encoder.finish().unwrap()
}

fn start() -> (FakeRegistry, TestContext) {
    let spec = ProviderSpec::new("acme/anvil").platforms(["linux_amd64"]);
    let registry = FakeRegistry::with(spec.payload(50_000));
    let context = TestContext::new(TFLOCK, &registry);
    (registry, context)
}

#[test]
fn responses_have_the_same_result_as_with_terraform() {
    let with_terraform = terraform_on_path().is_some();
    let rows = statuses().into_iter().chain(answers());
    check_rows(rows, |(name, rule, ending)| {
        let (registry, context) = start();
        registry.misbehave(rule.clone());
        let ours = lock_with_tflock("tflock", &context);
        assert_eq!(ours.is_some(), ending != Refused, "{name}: {ours:?}");
        if with_terraform {
            registry.behave();
            registry.misbehave(rule);
            let theirs = lock_with_terraform("terraform", &context);
            let expected = ours.filter(|_| ending == Locked);
            assert_eq!(theirs, expected, "{name}: terraform");
        }
    });
}

fn lock_with_tflock(directory: &str, context: &TestContext) -> Option<String> {
    context.require(directory, &[("acme/anvil", "")]);
    context.run(&format!(
        "lock --no-cache --platform linux_amd64 {directory}"
    ));
    context.lock_file(directory)
}

/// Without a terminal, too, the line appears when the wait begins.
#[test]
fn a_long_wait_is_reported_at_once() {
    let (registry, context) = start();
    context.require("a", &[("acme/anvil", "")]);
    let rule = Misbehave::on(VERSIONS).status(429);
    registry.misbehave(rule.retry_after("3600").times(1));
    let arguments = "lock --platform linux_amd64 --format json a";
    let mut child = context.command(arguments).spawn_piped();
    let mut line = String::new();
    let mut stderr = BufReader::new(child.stderr.take().unwrap());
    stderr.read_line(&mut line).unwrap();
    let is_running = child.try_wait().unwrap().is_none();
    child.kill().unwrap();
    let stdout = child.wait_with_output().unwrap().stdout;
    let expected = format!(
        "waiting: `{}` asks for a wait of 3600 s, because the server responded with 429 Too Many Requests; tflock waits 60 s, its limit, and tries \
         again\n",
        registry.url("")
    );
    assert_eq!(line, expected);
    assert!(is_running);
    assert_eq!(String::from_utf8_lossy(&stdout), "");
}

#[test]
fn reports_of_waits_do_not_change_the_json_document() {
    for (quiet, expected) in [("", 1), ("--quiet", 0)] {
        let (registry, context) = start();
        context.require("a", &[("acme/anvil", "")]);
        let rule = Misbehave::on(VERSIONS).status(503);
        registry.misbehave(rule.retry_after("5").times(1));
        let arguments = format!("lock --platform linux_amd64 --format json {quiet} a");
        let outcome = context.run(&arguments).expect_success();
        assert_eq!(outcome.json()["command"], "lock");
        let found = outcome.stderr.matches("waiting: ").count();
        assert_eq!(found, expected, "{outcome}");
    }
}

/// Runs Terraform and returns the lock file, or `None` if the run failed.
fn lock_with_terraform(directory: &str, context: &TestContext) -> Option<String> {
    context.require(directory, &[("acme/anvil", "")]);
    let lock = ["providers", "lock", "-platform=linux_amd64"];
    let terraform = context.terraform(directory, lock);
    terraform.expect("terraform was found").run();
    context.lock_file(directory)
}
