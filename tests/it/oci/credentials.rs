//! Credentials for OCI registries: where they come from, and which server gets them.

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use tflock_test_support::{
    FakeOciRegistry, Misbehave, OCI_PASSWORD, OCI_USER, OciAccess, Outcome, check_rows,
    write_script,
};

use super::OciSite;

const LINUX: &str = "--platform linux_amd64";

/// A password that no message, log or file of tflock may contain. It is wrong.
const WRONG: &str = "XSECRETX";

fn block(site: &OciSite, path: &str, arguments: &str) -> String {
    format!(
        "oci_credentials \"{}{path}\" {{\n{arguments}\n}}\n",
        site.registry.host()
    )
}

fn password(password: &str) -> String {
    format!("  username = \"{OCI_USER}\"\n  password = \"{password}\"")
}

fn home(site: &OciSite, file: &str) -> std::path::PathBuf {
    site.context
        .work()
        .parent()
        .unwrap()
        .join("home")
        .join(file)
}

/// Writes a credentials helper into a directory, which the test adds to `PATH`. It appends its input to a file.
fn write_helper(site: &OciSite, name: &str, output: &str) -> std::path::PathBuf {
    let programs = site.context.work().parent().unwrap().join("share");
    let log = programs.join("asked");
    let script = format!(
        "read line || true; echo \"$1 $line\" >> '{}'\n{output}\n",
        log.display()
    );
    write_script(&programs.join(format!("docker-credential-{name}")), &script);
    programs
}

fn answer(user: &str, secret: &str) -> String {
    format!("echo '{{\"ServerURL\":\"\",\"Username\":\"{user}\",\"Secret\":\"{secret}\"}}'")
}

fn assert_silent(outcome: &Outcome) {
    for text in [&outcome.stdout, &outcome.stderr] {
        assert!(
            !text.contains(WRONG) && !text.contains(OCI_PASSWORD),
            "{outcome}"
        );
        let encoded = STANDARD.encode(format!("{OCI_USER}:{OCI_PASSWORD}"));
        assert!(
            !text.contains(&encoded) && !text.contains("token-for-"),
            "{outcome}"
        );
    }
}

/// All ways of access, with the requests of a run that has the right credentials.
#[test]
fn every_way_to_identify() {
    let once = [
        "GET manifests/1.1.0 200",
        "GET manifests/sha256 200",
        "GET blobs/sha256 200",
    ];
    for (access, first) in [
        (OciAccess::Anonymous, &["GET tags/list 200"][..]),
        (
            OciAccess::Basic,
            &["GET tags/list 401", "GET tags/list 200"],
        ),
        (
            OciAccess::Token,
            &["GET tags/list 401", "GET /token 200", "GET tags/list 200"],
        ),
        (
            OciAccess::AnonymousToken,
            &["GET tags/list 401", "GET /token 200", "GET tags/list 200"],
        ),
    ] {
        let site = OciSite::start();
        site.registry.require(access);
        let needs_password = matches!(access, OciAccess::Basic | OciAccess::Token);
        if needs_password {
            site.context
                .set_cli_config(&block(&site, "", &password(OCI_PASSWORD)));
        }
        let outcome = site
            .lock(LINUX)
            .env("TFLOCK_LOG", "trace")
            .run()
            .expect_success();
        assert_silent(&outcome);
        for hit in site.registry.log().hits() {
            let sent = hit.request.header("authorization").unwrap_or_default();
            let is_token = hit.request.path == "/token";
            assert_eq!(
                sent.starts_with("Basic "),
                needs_password && (is_token || access == OciAccess::Basic && hit.status() == 200)
            );
            if is_token {
                let query = hit.request.query.clone().unwrap_or_default();
                assert_eq!(
                    query,
                    "service=oci&scope=repository%3Amirror%2Facme%2Fanvil%3Apull"
                );
            }
        }
        let expected: Vec<_> = first.iter().chain(&once).copied().collect();
        assert_eq!(site.requests(), expected, "{access:?}");
    }
}

/// Which of several sources applies, and what a run says about rejected credentials.
#[test]
fn the_most_specific_source_applies() {
    let (right, wrong) = (password(OCI_PASSWORD), password(WRONG));
    let (right, wrong) = (right.as_str(), wrong.as_str());
    let rows = [
        ("a block for the registry", vec![("", right)], "locked"),
        (
            "a block for a path",
            vec![("", wrong), ("/mirror", right)],
            "locked",
        ),
        (
            "a block for a longer path",
            vec![("/mirror/acme/anvil", right), ("/mirror", wrong)],
            "locked",
        ),
        (
            "a block for another path",
            vec![("/mirror/acm", right)],
            "requires credentials",
        ),
        (
            "the wrong password",
            vec![("", wrong)],
            "rejected the credentials from the `oci_credentials` block at ",
        ),
        (
            "an access token for a registry with passwords",
            vec![("", "access_token = \"x\"\nrefresh_token = \"y\"")],
            "requires credentials",
        ),
    ];
    check_rows(rows, |(name, blocks, expected)| {
        let site = OciSite::start();
        site.registry.require(OciAccess::Basic);
        let blocks: Vec<_> = blocks
            .iter()
            .map(|(path, arguments)| block(&site, path, arguments))
            .collect();
        site.context.set_cli_config(&blocks.concat());
        check(&site.lock(LINUX).run(), expected, name);
    });
}

fn check(outcome: &Outcome, expected: &str, name: &str) {
    assert_silent(outcome);
    let is_right = match expected {
        "locked" => outcome.code == Some(0),
        text => outcome.code == Some(1) && outcome.stderr.contains(text),
    };
    assert!(is_right, "{name}: {expected}\n{outcome}");
}

/// The files of Docker and Podman, in their order, and the block that replaces them.
#[test]
fn files_of_docker_and_podman() {
    let podman = "run/containers/auth.json";
    let config = "config/containers/auth.json";
    let docker = ".docker/config.json";
    for (right, wrong, defaults, expected) in [
        (docker, "", "", "locked"),
        (".dockercfg", "", "", "locked"),
        (podman, docker, "", "locked"),
        (config, docker, "", "locked"),
        (podman, config, "", "locked"),
        (docker, ".dockercfg", "", "locked"),
        (docker, podman, "", "rejected the credentials from `"),
        (
            docker,
            "",
            "discover_ambient_credentials = false",
            "requires credentials",
        ),
        (
            docker,
            "",
            "docker_style_config_files = []",
            "requires credentials",
        ),
        (
            "other.json",
            docker,
            "docker_style_config_files = [\"other.json\"]",
            "locked",
        ),
        (
            docker,
            "",
            "docker_style_config_files = [\"missing.json\"]",
            "cannot read `",
        ),
        (docker, "", "discover_ambient_credentials = 5", "locked"),
    ] {
        let site = OciSite::start();
        site.registry.require(OciAccess::Basic);
        site.registry.write_auth_file(&home(&site, right));
        if !wrong.is_empty() {
            let path = home(&site, wrong);
            site.registry.write_auth_file(&path);
            let encoded = STANDARD.encode(format!("{OCI_USER}:{OCI_PASSWORD}"));
            let other = STANDARD.encode(format!("{OCI_USER}:{WRONG}"));
            let text = std::fs::read_to_string(&path)
                .unwrap()
                .replace(&encoded, &other);
            std::fs::write(&path, text).unwrap();
        }
        if !defaults.is_empty() {
            site.context
                .set_cli_config(&format!("oci_default_credentials {{\n  {defaults}\n}}\n"));
        }
        let run = site.lock(LINUX).env("HOME", home(&site, ""));
        let run = run.env("XDG_RUNTIME_DIR", home(&site, "run"));
        let run = run.env("XDG_CONFIG_HOME", home(&site, "config"));
        check(&run.run(), expected, &format!("{right} {wrong} {defaults}"));
    }
}

#[cfg(unix)]
#[test]
fn helper_programs() {
    let not_found = "echo 'credentials not found in native keychain'; exit 1";
    let right = answer(OCI_USER, OCI_PASSWORD);
    let blocks = "oci_credentials \"HOST\" {\n  docker_credentials_helper = \"x\"\n}\n";
    let defaults = "oci_default_credentials {\n  docker_credentials_helper = \"x\"\n}\n";
    let file = r#"{"credHelpers":{"HOST":"x"}}"#;
    let store = r#"{"auths":{"HOST":{}},"credsStore":"x"}"#;
    let rows = [
        (blocks, "", right.clone(), "locked"),
        (defaults, "", right.clone(), "locked"),
        ("", file, right.clone(), "locked"),
        ("", store, right.clone(), "locked"),
        (
            blocks,
            "",
            answer(OCI_USER, WRONG),
            "rejected the credentials from the `oci_credentials` block",
        ),
        (blocks, "", not_found.to_owned(), "requires credentials"),
        (
            blocks,
            "",
            "echo broken >&2; exit 2".to_owned(),
            "docker-credential-x` failed: broken",
        ),
        (
            blocks,
            "",
            format!("echo {WRONG}"),
            "did not write the expected JSON object",
        ),
        (
            blocks,
            "",
            answer("<token>", WRONG),
            "returned an identity token, not a user name and password",
        ),
        (
            "",
            r#"{"credHelpers":{"HOST":"y"}}"#,
            right,
            "there is no program `docker-credential-y` in `PATH`",
        ),
    ];
    check_rows(rows, |(config, file, output, expected)| {
        let site = OciSite::start();
        let with_host = |text: &str| text.replace("HOST", site.registry.host());
        site.registry.require(OciAccess::Token);
        site.context.set_cli_config(&with_host(config));
        let docker = home(&site, ".docker/config.json");
        std::fs::create_dir_all(docker.parent().unwrap()).unwrap();
        std::fs::write(docker, with_host(file)).unwrap();
        let programs = write_helper(&site, "x", &output);
        let path = format!("{}:/usr/bin:/bin", programs.display());
        let run = site
            .lock(LINUX)
            .env("PATH", path)
            .env("HOME", home(&site, ""));
        check(&run.run(), expected, &output);
        let asked = std::fs::read_to_string(programs.join("asked")).unwrap_or_default();
        let line = format!("get https://{}\n", site.registry.host());
        assert!(
            asked == line || asked.is_empty() && expected.contains("no program"),
            "{asked}"
        );
    });
}

/// A stranger's pull request must not bring its own helper, even if `PATH` has a directory of the repository.
#[cfg(unix)]
#[test]
fn helpers_in_an_untrusted_repository_are_not_run() {
    for (untrusted, expected) in [
        ("", "locked"),
        (
            "--untrusted",
            "there is no program `docker-credential-x` in `PATH`",
        ),
    ] {
        let site = OciSite::start();
        site.registry.require(OciAccess::Token);
        site.context
            .set_cli_config("oci_default_credentials {\n  docker_credentials_helper = \"x\"\n}\n");
        let programs = site.context.path("bin");
        std::fs::create_dir_all(&programs).unwrap();
        write_script(
            &programs.join("docker-credential-x"),
            &answer(OCI_USER, OCI_PASSWORD),
        );
        let path = format!("{}:/usr/bin:/bin", programs.display());
        let run = site.lock(&format!("{LINUX} {untrusted}")).env("PATH", path);
        check(&run.run(), expected, untrusted);
    }
}

/// The challenge of a registry may name any server as the one that issues tokens.
#[test]
fn token_servers_on_other_hosts() {
    // the address of the token server, whether it gets the password, and the expected result
    for (realm, gets_password, expected) in [
        ("https://localhost:PORT/token", true, "locked"),
        (
            "https://127.0.0.1:PORT/token",
            false,
            "it is an address in a private network",
        ),
        (
            "http://localhost:PORT/token",
            false,
            "it does not begin with `https://`",
        ),
        ("token", false, "it is not a valid URL"),
        (
            "https://other.invalid/token",
            false,
            "cannot get a token for OCI repository",
        ),
    ] {
        let site = OciSite::start();
        let other = FakeOciRegistry::start(&site.authority);
        other.require(OciAccess::Token);
        site.registry.require(OciAccess::Token);
        let port = other.host().rsplit(':').next().unwrap().to_owned();
        site.registry.set_realm(&realm.replace("PORT", &port));
        site.context
            .set_cli_config(&block(&site, "", &password(OCI_PASSWORD)));
        let run = site.lock(LINUX).env("TF_REGISTRY_DISCOVERY_RETRY", "1");
        check(&run.run(), expected, realm);
        let hits = other.log().hits();
        assert_eq!(
            hits.iter()
                .any(|hit| hit.request.header("authorization").is_some()),
            gets_password,
            "{realm}"
        );
    }
}

/// GitLab, for example, has its token server on a parent domain of its registry: `docker login` for the registry is enough.
#[test]
fn a_token_server_that_gets_the_password_needs_no_block() {
    let site = OciSite::start();
    let other = FakeOciRegistry::start(&site.authority);
    other.require(OciAccess::Token);
    site.registry.require(OciAccess::Token);
    site.registry
        .set_realm(&format!("https://{}/token", other.host()));
    let host = site.registry.host();
    let refused = site.lock(LINUX).run().expect_code(1);
    refused.assert_stderr(&format!("log in with `docker login {host}`"));
}

/// Many registries redirect blobs to a storage service, with a signature in the address.
#[test]
fn storage_hosts_get_no_credentials() {
    for access in [OciAccess::Basic, OciAccess::Token] {
        let site = OciSite::start();
        site.registry.require(access);
        site.context
            .set_cli_config(&block(&site, "", &password(OCI_PASSWORD)));
        let storage = FakeOciRegistry::start(&site.authority);
        let digest = format!("sha256:{}", site.facts("1.1.0", "linux_amd64").shasum());
        let target = format!(
            "https://{}/v2/x/blobs/{digest}?signature=XSECRETX",
            storage.host()
        );
        site.registry
            .misbehave(Misbehave::on("*/blobs/*").redirect(&target));
        // The storage service does not have the blob, and asks for a password.
        storage.misbehave(
            Misbehave::on("*")
                .times(1)
                .status(401)
                .header("WWW-Authenticate", "Basic realm=x"),
        );
        let outcome = site.lock(LINUX).run();
        check(
            &outcome,
            "401 Unauthorized",
            "a challenge of the storage service",
        );
        let length = site.facts("1.1.0", "linux_amd64").size;
        let body = tflock_test_support::ResponseBody::Zeros(length);
        storage.put_blob_as("x", &digest, body);
        check(
            &site.lock(LINUX).run(),
            "the registry sent content with the digest",
            "another blob",
        );
        let hits = storage.log().hits();
        assert_eq!(hits.len(), 2);
        for hit in hits {
            assert_eq!(hit.request.header("authorization"), None);
        }
    }
}

/// A web server behind a redirect of a manifest gets no credentials either, and its challenge is not answered.
#[test]
fn redirects_of_documents_get_no_credentials() {
    for (path, expected) in [
        ("*/tags/list", "401 Unauthorized"),
        ("*/manifests/1.1.0", "401 Unauthorized"),
        ("/token", "401 Unauthorized"),
    ] {
        let site = OciSite::start();
        site.registry.require(OciAccess::Token);
        site.context
            .set_cli_config(&block(&site, "", &password(OCI_PASSWORD)));
        let elsewhere = FakeOciRegistry::start(&site.authority);
        elsewhere.require(OciAccess::Basic);
        let target = format!("https://{}/v2/x/tags/list", elsewhere.host());
        site.registry
            .misbehave(Misbehave::on(path).redirect(&target));
        let outcome = site.lock(LINUX).run();
        check(&outcome, expected, path);
        let hits = elsewhere.log().hits();
        assert!(!hits.is_empty());
        for hit in hits {
            assert_eq!(hit.request.header("authorization"), None, "{path}");
        }
    }
}

/// A token may expire while a run lasts.
#[test]
fn expired_tokens_are_renewed() {
    for path in ["*/manifests/sha256*", "*/blobs/*"] {
        let site = OciSite::start();
        site.registry.require(OciAccess::AnonymousToken);
        let challenge = format!(
            "Bearer realm=\"https://{}/token\",service=\"oci\"",
            site.registry.host()
        );
        site.registry.misbehave(
            Misbehave::on(path)
                .times(1)
                .status(401)
                .header("WWW-Authenticate", &challenge),
        );
        // The second token differs from the first, as real ones do.
        site.registry.misbehave(
            Misbehave::on("/token")
                .times(1)
                .replace("token-for-", "token-for-repository:x:pull+"),
        );
        site.lock(LINUX).run().expect_success();
        let tokens = site
            .requests()
            .iter()
            .filter(|line| line.starts_with("GET /token"))
            .count();
        assert_eq!(tokens, 2, "{path}");
    }
}

#[test]
fn statuses_of_registries() {
    for (path, status, expected) in [
        ("*/tags/list", 401, "requires credentials"),
        ("*/tags/list", 403, "requires credentials"),
        (
            "*/tags/list",
            404,
            "does not exist, so it does not have provider",
        ),
        ("*/tags/list", 429, "429 Too Many Requests"),
        ("*/manifests/1.1.0", 403, "requires credentials"),
        ("*/manifests/1.1.0", 404, "404 Not Found"),
        ("*/manifests/1.1.0", 500, "500 Internal Server Error"),
        ("*/manifests/sha256*", 401, "requires credentials"),
        ("*/blobs/*", 401, "requires credentials"),
        ("*/blobs/*", 403, "requires credentials"),
        ("*/blobs/*", 404, "404 Not Found"),
    ] {
        let site = OciSite::start();
        site.registry.misbehave(
            Misbehave::on(path)
                .status(status)
                .header("Retry-After", "0"),
        );
        let run = site
            .lock(LINUX)
            .env("TF_REGISTRY_DISCOVERY_RETRY", "1")
            .env("TF_PROVIDER_DOWNLOAD_RETRY", "1");
        check(&run.run(), expected, &format!("{path} {status}"));
    }
}

/// Only the registry that is named gets the credentials for it, not one with another port or a provider registry.
#[test]
fn other_registries_get_no_credentials() {
    let site = OciSite::start();
    let other = FakeOciRegistry::start(&site.authority);
    other.require(OciAccess::Basic);
    site.context
        .set_cli_config(&block(&site, "", &password(OCI_PASSWORD)));
    let template = format!("{}/mirror/{{namespace}}/{{type}}", other.host());
    let lock = format!("lock --engine tofu --oci-mirror {template} {LINUX} a");
    check(
        &site.command(&lock).run(),
        "requires credentials",
        "another registry",
    );
    assert!(
        other
            .log()
            .hits()
            .iter()
            .all(|hit| hit.request.header("authorization").is_none())
    );
}
