//! Credentials of an index are never printed, logged or cached, and never sent to a host that a redirect names.

use std::fs;

use tflock_test_support::{FakeRegistry, Misbehave, Outcome, check_rows};

use super::{IndexFixture, start, warnings};

/// The secret part of every credential.
const SECRET: &str = "XSECRETX";

/// An environment that describes an index. `SERVER` stands for the address of a server on loopback.
type Cloud = &'static [(&'static str, &'static str)];

const S3: Cloud = &[
    ("TFLOCK_INDEX", "s3://fleet/team"),
    ("AWS_ENDPOINT_URL", "SERVER"),
    ("AWS_REGION", "eu-central-1"),
    ("AWS_ACCESS_KEY_ID", "XSECRETXID"),
    ("AWS_SECRET_ACCESS_KEY", "XSECRETXKEY"),
    ("AWS_SESSION_TOKEN", "XSECRETXTOKEN"),
];

const AZURE_KEY: Cloud = &[
    ("TFLOCK_INDEX", "az://fleet/team"),
    ("AZURE_STORAGE_ENDPOINT", "SERVER/account"),
    ("AZURE_STORAGE_ACCOUNT_NAME", "account"),
    ("AZURE_STORAGE_ACCOUNT_KEY", "WFNFQ1JFVFg="),
];

const AZURE_SIGNED_URL: Cloud = &[
    ("TFLOCK_INDEX", "az://fleet/team"),
    ("AZURE_STORAGE_ENDPOINT", "SERVER/account"),
    ("AZURE_STORAGE_ACCOUNT_NAME", "account"),
    ("AZURE_STORAGE_SAS_KEY", "sv=2024-01-01&sp=r&sig=XSECRETX"),
];

/// A web server has no credentials of its own. Those in netrc are for registries.
const WEB: Cloud = &[("TFLOCK_INDEX", "SERVER/index")];

/// Environments with credentials that a client cannot parse.
const BROKEN: [Cloud; 4] = [
    &[
        ("TFLOCK_INDEX", "az://fleet/team"),
        ("AZURE_STORAGE_ACCOUNT_NAME", "account"),
        ("AZURE_STORAGE_ACCOUNT_KEY", "XSECRETX!"),
    ],
    &[
        ("TFLOCK_INDEX", "gs://fleet/team"),
        (
            "GOOGLE_SERVICE_ACCOUNT_KEY",
            "{\"private_key\": \"XSECRETX\"}",
        ),
    ],
    &[
        ("TFLOCK_INDEX", "gs://fleet/team"),
        ("GOOGLE_SERVICE_ACCOUNT_KEY", "XSECRETX"),
    ],
    &[
        ("TFLOCK_INDEX", "s3://fleet/team"),
        (
            "AWS_ENDPOINT_URL",
            "http://user:XSECRETX@127.0.0.1:1/?sig=XSECRETX",
        ),
        ("AWS_ACCESS_KEY_ID", "id"),
        ("AWS_SECRET_ACCESS_KEY", "XSECRETX"),
    ],
];

const FAULTS: [&str; 10] = [
    "times=0",
    "status=401",
    "status=403",
    "status=404",
    "status=500",
    "html",
    "reset",
    "cut=3",
    "redirect=ELSEWHERE/x",
    "redirect=http://user:XSECRETX@index.invalid/x?sig=XSECRETX",
];

/// Runs `lock` with everything logged, and looks for secrets in the output and in the cache.
fn run(fixture: &IndexFixture, cloud: Cloud, server: &FakeRegistry, options: &str) -> Outcome {
    let line = format!("lock -v --platform linux_amd64,darwin_arm64 a {options}");
    let netrc = format!("machine 127.0.0.1 login user password {SECRET}\n");
    fixture.context.write("netrc", netrc);
    let command = fixture
        .command(&line)
        .env("NETRC", fixture.context.path("netrc"))
        .env("TFLOCK_LOG", "trace")
        .env("TFLOCK_INDEX_SIGNING_KEY", fixture.signer.secret_text());
    let command = cloud.iter().fold(command, |command, (name, value)| {
        command.env(name, value.replace("SERVER", &server.url("")))
    });
    let outcome = command.run().expect_success();
    let signing_key = fixture.signer.secret_text();
    // The second text is Base64 of `user:XSECRETX`, and the third one of `XSECRETX`.
    for secret in [SECRET, "dXNlcjpYU0VDUkVUWA", "WFNFQ1JFVFg", &*signing_key] {
        for text in [&outcome.stdout, &outcome.stderr] {
            let line = text.lines().find(|line| line.contains(secret));
            assert_eq!(line, None, "{cloud:?}");
        }
        for entry in walkdir::WalkDir::new(fixture.context.cache()) {
            let entry = entry.unwrap();
            let content = entry
                .file_type()
                .is_file()
                .then(|| fs::read(entry.path()).unwrap());
            let content = String::from_utf8_lossy(&content.unwrap_or_default()).into_owned();
            assert!(!content.contains(secret), "{}", entry.path().display());
        }
    }
    outcome
}

#[test]
fn credentials_are_not_shown_stored_or_sent_elsewhere() {
    let mut rows = Vec::new();
    for cloud in [S3, AZURE_KEY, AZURE_SIGNED_URL, WEB] {
        rows.extend(FAULTS.map(|fault| (cloud, fault)));
    }
    check_rows(rows, |(cloud, fault)| {
        let (fixture, server, elsewhere) = (start(), FakeRegistry::start(), FakeRegistry::start());
        let rule = fault.replace("ELSEWHERE", &elsewhere.url(""));
        server.misbehave(Misbehave::on("*").rule(&rule));
        // tflock cannot write to a web server.
        let options = if cloud == WEB { "" } else { "--index-push" };
        let outcome = run(&fixture, cloud, &server, options);
        assert!(server.log().total() > 0, "{outcome}");
        assert!(warnings(&outcome) <= 2, "{outcome}");
        assert_eq!(fixture.downloads(), 2, "{outcome}");
        let mut hits = elsewhere.log().hits();
        assert!(cloud == WEB || hits.is_empty(), "{outcome}");
        if cloud == WEB {
            hits.extend(server.log().hits());
        }
        for hit in hits {
            assert_eq!(hit.request.header("authorization"), None, "{outcome}");
        }
    });
}

#[test]
fn credentials_that_cannot_be_parsed_are_not_shown() {
    check_rows(BROKEN, |cloud| {
        let (fixture, server) = (start(), FakeRegistry::start());
        let outcome = run(&fixture, cloud, &server, "");
        assert_eq!(
            (fixture.downloads(), warnings(&outcome)),
            (2, 1),
            "{outcome}"
        );
    });
}
