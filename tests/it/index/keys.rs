//! Which keys and indexes can be named, and where.

use std::fs;

use tflock::index::SignerKey;

use super::{LOCK, start, warnings};

#[test]
fn a_key_is_given_as_text_or_as_a_file() {
    let fixture = start();
    let expected = fixture.fill();
    let verifier = fixture.signer.verifier().to_string();
    let file = fixture.base.path().join("trusted.pub");
    fs::write(&file, format!("{verifier}\n")).unwrap();
    for key in [verifier.as_str(), file.to_str().unwrap()] {
        for line in [
            format!("{LOCK} a --index-key {key}"),
            format!("{LOCK} a --index-key other+00000000+x --index-key {key}"),
        ] {
            let is_right = !line.contains("other");
            let command = fixture
                .context
                .command(&line)
                .env("TFLOCK_INDEX", fixture.url());
            command.run().expect_code(if is_right { 0 } else { 2 });
        }
        let command = fixture.command(&format!("{LOCK} a"));
        let other = SignerKey::generate("other").unwrap().verifier().to_string();
        command
            .env("TFLOCK_INDEX_KEYS", format!("{other}, {key}"))
            .run()
            .expect_success();
        assert_eq!(fixture.downloads(), 0, "{key}");
        assert_eq!(fixture.forget(), expected);
    }
}

#[test]
fn an_index_without_a_trusted_key_is_not_read() {
    let fixture = start();
    let expected = fixture.fill();
    let run = fixture.context.command(&format!("{LOCK} a"));
    let outcome = run
        .env("TFLOCK_INDEX", "http://127.0.0.1:1/")
        .run()
        .expect_success();
    outcome.assert_stderr("warning: the hash index was not read, because no key is trusted");
    assert_eq!(
        (fixture.downloads(), warnings(&outcome)),
        (2, 1),
        "{outcome}"
    );
    assert_eq!(fixture.context.lock_file("a").unwrap(), expected);
}

#[test]
fn a_key_file_in_the_repository_is_refused() {
    let fixture = start();
    let verifier = fixture.signer.verifier().to_string();
    fixture.context.write("keys/index.pub", &verifier);
    fixture
        .context
        .write("keys/index.key", fixture.signer.secret_text());
    let outcome = fixture
        .command(&format!("{LOCK} a --index-key keys/index.pub"))
        .run()
        .expect_code(2);
    outcome.assert_stderr(
        "cannot use the key file `keys/index.pub` of `--index-key`: it is inside the repository",
    );
    #[cfg(unix)]
    {
        let link = fixture.base.path().join("link.pub");
        std::os::unix::fs::symlink(fixture.context.path("keys/index.pub"), &link).unwrap();
        let arguments = format!("{LOCK} a --index-key {}", link.display());
        fixture
            .command(&arguments)
            .run()
            .expect_code(2)
            .assert_stderr("inside the repository");
    }
    let push = fixture.command(&format!("{LOCK} a --index-push"));
    let outcome = push
        .env("TFLOCK_INDEX_SIGNING_KEY", "keys/index.key")
        .run()
        .expect_code(2);
    outcome.assert_stderr("`TFLOCK_INDEX_SIGNING_KEY`: it is inside the repository");
    assert_eq!(fixture.registry.log().total(), 0);
}

#[test]
fn a_config_file_cannot_name_an_index_or_a_key() {
    for key in ["index", "index-key", "index-keys", "index_push"] {
        let fixture = start();
        fixture
            .context
            .write(".tflock.toml", format!("{key} = \"x\"\n"));
        let outcome = fixture.command(&format!("{LOCK} a")).run().expect_code(2);
        outcome.assert_stderr(&format!(
            "cannot use `{key}`: config files cannot choose a hash index or the keys that it trusts"
        ));
        outcome.assert_stderr(".tflock.toml:1");
        assert_eq!(fixture.registry.log().total(), 0);
    }
}

/// The columns: the arguments, the value of `TFLOCK_INDEX_SIGNING_KEY`, and the message. `KEY` stands for a signing key.
const REFUSED: [(&str, &str, &str); 12] = [
    ("--index index", "", "cannot use the hash index `index`"),
    (
        "--index ftp://h/",
        "",
        "the scheme must be s3, gs, az, https or file",
    ),
    (
        "--index http://h.test/",
        "",
        "plain http is allowed only on this machine",
    ),
    (
        "--index https://u:secret@h.test/",
        "",
        "cannot use the hash index `https://h.test/`",
    ),
    (
        "--index-key name+00000000+x",
        "",
        "cannot use the key in `--index-key`",
    ),
    (
        "--index-key missing.pub",
        "",
        "cannot read the key file `missing.pub` of `--index-key`",
    ),
    (
        "--index-key KEY",
        "",
        "it is a signing key, which must stay secret",
    ),
    ("--index-push", "", "`TFLOCK_INDEX_SIGNING_KEY` is not set"),
    (
        "--index-push",
        "PRIVATE+KEY+x",
        "cannot use the key in `TFLOCK_INDEX_SIGNING_KEY`",
    ),
    (
        "--index-push --index https://h.test/",
        "KEY",
        "tflock cannot write to a web server",
    ),
    ("--index-audit 0", "", "invalid value '0'"),
    ("--index-audit 5 --no-download", "", "cannot be used with"),
];

#[test]
fn invalid_options_are_refused_without_showing_secrets() {
    let fixture = start();
    let secret = fixture.signer.secret_text();
    for (arguments, signing_key, message) in REFUSED {
        let arguments = arguments.replace("KEY", &secret);
        let command = fixture.command(&format!("{LOCK} a {arguments}"));
        let signing_key = match signing_key {
            "KEY" => secret.as_str(),
            other => other,
        };
        let outcome = command
            .env("TFLOCK_INDEX_SIGNING_KEY", signing_key)
            .run()
            .expect_code(2);
        outcome.assert_stderr(message);
        for hidden in ["secret@", &secret[secret.len() - 30..]] {
            assert!(!outcome.stderr.contains(hidden), "{arguments}\n{outcome}");
        }
    }
    assert_eq!(fixture.registry.log().total(), 0);
}

#[test]
fn an_index_is_required_to_push() {
    let fixture = start();
    let push = fixture.context.command(&format!("{LOCK} a --index-push"));
    let push = push.env("TFLOCK_INDEX_SIGNING_KEY", fixture.signer.secret_text());
    push.run()
        .expect_code(2)
        .assert_stderr("cannot use `--index-push`: no index is set");
}

#[test]
fn keygen_writes_two_files_and_replaces_none() {
    let fixture = start();
    let context = &fixture.context;
    let outcome = context
        .run("index keygen example.com/team")
        .expect_success();
    let public = context.read("example.com-team.pub");
    let secret = context.read("example.com-team.key");
    let key = SignerKey::parse(&secret).unwrap();
    assert_eq!(public, format!("{}\n", key.verifier()));
    outcome.assert_stdout(&public);
    assert!(!outcome.stdout.contains("PRIVATE"), "{outcome}");
    #[cfg(unix)]
    {
        use std::os::unix::fs::PermissionsExt as _;
        let file = context.path("example.com-team.key").metadata().unwrap();
        assert_eq!(file.permissions().mode() & 0o777, 0o600);
    }
    let again = context.run("index keygen example.com/team").expect_code(2);
    again.assert_stderr("cannot write the key file `example.com-team.key`");
    assert_eq!(context.read("example.com-team.key"), secret);
    for name in ["a+b", "'a b'"] {
        let outcome = context
            .tflock(["index", "keygen", name.trim_matches('\'')])
            .run()
            .expect_code(2);
        outcome.assert_stderr("the name is invalid");
    }
}
