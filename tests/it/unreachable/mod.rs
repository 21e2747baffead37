//! Errors of hosts that cannot be reached: they name the cause, the proxy and the certificates that tflock used, and a
//! step that fits the cause. `messages.txt` contains the complete error of each situation; `TFLOCK_RECORD=1` rewrites
//! it.

pub(crate) mod servers;

use std::fs;
use std::path::Path;

use regex::Regex;
use tflock_test_support::{
    Identity, Program, TestAuthority, TestContext, assert_contains, assert_recorded, check_rows,
};

use crate::TFLOCK;
use servers::{
    HANDSHAKE_FAILURE, PROTOCOL_VERSION, closed_port, listen, proxy, requiring_client_certificate,
    respond, respond_at_once, respond_with_tls,
};

/// A host that cannot be reached, and the environment in which tflock runs.
struct Situation {
    name: &'static str,
    /// The source of the required provider.
    host: String,
    variables: Vec<(&'static str, String)>,
    /// The address of the provider registry on this host, if a `host` block sets it.
    service: Option<String>,
}

impl Situation {
    /// A server on this port of this machine.
    fn local(name: &'static str, port: u16) -> Self {
        Self {
            name,
            host: format!("localhost:{port}"),
            variables: Vec::new(),
            service: None,
        }
    }

    /// The host `registry.test`, to which only a proxy at this address can connect.
    fn proxied(name: &'static str, proxy: String) -> Self {
        Self {
            host: "registry.test".to_owned(),
            variables: vec![("HTTPS_PROXY", proxy)],
            ..Self::local(name, 0)
        }
    }

    fn set(mut self, name: &'static str, value: impl AsRef<Path>) -> Self {
        let value = value.as_ref().display().to_string();
        self.variables.push((name, value));
        self
    }

    fn at(mut self, service: &str) -> Self {
        "registry.test".clone_into(&mut self.host);
        self.service = Some(service.to_owned());
        self
    }

    /// Locks a directory that needs the host. Returns the error.
    fn error(&self) -> String {
        let context = TestContext::offline(TFLOCK);
        if let Some(service) = &self.service {
            let services = format!("services = {{ \"providers.v1\" = \"{service}\" }}");
            context.set_cli_config(&format!("host \"{}\" {{ {services} }}\n", self.host));
        }
        context.require("a", &[(&format!("{}/acme/anvil", self.host), "")]);
        let run = context
            .command("lock --platform linux_amd64 a")
            .env("TF_REGISTRY_DISCOVERY_RETRY", "1")
            .env("TF_REGISTRY_CLIENT_TIMEOUT", "1");
        let set = |run: Program, (name, value): &(&str, String)| run.env(name, value);
        let run = self.variables.iter().fold(run, set);
        constant(&run.run().expect_code(1).stderr)
    }
}

/// Replaces ports, times, paths of temporary files and texts of the operating system.
fn constant(text: &str) -> String {
    let temporary = regex::escape(&std::env::temp_dir().display().to_string());
    let file = format!("`{temporary}/[^`]*\\.(pem|certificates)`");
    let rows = [
        (r"(localhost|\d+\.0\.0\.\d|proxy\.invalid):\d+", "$1:[PORT]"),
        (r"attempts, [0-9.]+ s", "attempts, [TIME] s"),
        (&file, "`[TEMPORARY].$1`"),
        (r"cannot be resolved: .*", "cannot be resolved: [TEXT]"),
        (r"machine says .* GMT", "machine says [NOW]"),
    ];
    rows.iter().fold(text.to_owned(), |text, (pattern, shown)| {
        Regex::new(pattern)
            .unwrap()
            .replace_all(&text, *shown)
            .into_owned()
    })
}

/// Servers whose certificate or TLS version tflock does not accept.
fn tls_situations(authority: &TestAuthority) -> Vec<Situation> {
    let trusted = authority.certificate_file();
    let tls = |name, identity: &Identity| {
        let port = respond_with_tls(authority.server_config_for(identity));
        Situation::local(name, port).set("SSL_CERT_FILE", trusted)
    };
    let localhost = || Identity::named("localhost");
    let stranger = TestAuthority::create();
    let strange = |name| {
        let port = respond_with_tls(stranger.server_config(&["localhost"]));
        Situation::local(name, port)
    };
    let at_once = |name, response| Situation::local(name, respond_at_once(response));
    let demanding = respond_with_tls(requiring_client_certificate(authority));
    let directory = tempfile::TempDir::with_suffix(".certificates")
        .unwrap()
        .keep();
    let trusting = tempfile::TempDir::with_suffix(".certificates")
        .unwrap()
        .keep();
    fs::copy(trusted, trusting.join("authority.pem")).unwrap();
    let no_certificate = trusting.join("key.pem");
    fs::write(&no_certificate, "-----BEGIN PRIVATE KEY-----\n").unwrap();
    vec![
        tls(
            "expired certificate",
            &localhost().valid((2020, 1, 2), (2021, 3, 4)),
        ),
        tls(
            "certificate of the future",
            &localhost().valid((2120, 1, 2), (2121, 3, 4)),
        ),
        tls(
            "certificate for other names",
            &Identity::named("one.test").and("*.two.test"),
        ),
        tls("certificate without names", &Identity::nameless()),
        strange("unknown authority, SSL_CERT_FILE").set("SSL_CERT_FILE", trusted),
        strange("unknown authority, SSL_CERT_FILE is missing")
            .set("SSL_CERT_FILE", "/missing/x.pem"),
        strange("unknown authority, SSL_CERT_FILE has no certificate")
            .set("SSL_CERT_FILE", no_certificate)
            .set("SSL_CERT_DIR", trusting),
        strange("unknown authority, SSL_CERT_DIR").set("SSL_CERT_DIR", directory),
        Situation::local(
            "authority as server",
            respond_with_tls(authority.own_server_config()),
        )
        .set("SSL_CERT_FILE", trusted),
        Situation::local("client certificate required", demanding).set("SSL_CERT_FILE", trusted),
        at_once("old TLS version", PROTOCOL_VERSION),
        at_once("no common cipher suite", HANDSHAKE_FAILURE),
        at_once(
            "plain http on the port for https",
            b"HTTP/1.1 400 Bad Request\r\n\r\n",
        ),
        Situation::local("closed during the handshake", listen(|_| Ok(()))),
    ]
}

fn plain_situations(authority: &TestAuthority) -> Vec<Situation> {
    let tls = respond_with_tls(authority.server_config(&["localhost"]));
    let nowhere = Situation {
        host: "nowhere.invalid".to_owned(),
        ..Situation::local("unknown host", 0)
    };
    let redirect = |target: &str| {
        let head = format!("HTTP/1.1 302 Found\r\nLocation: {target}\r\nContent-Length: 0\r\n");
        let port = respond(format!("{head}Connection: close\r\n\r\n"));
        format!("http://127.0.0.1:{port}/v1/")
    };
    let at = |name, service: &str| Situation::local(name, 0).at(service);
    let elsewhere = format!("http://127.0.0.1:{}/elsewhere", closed_port());
    vec![
        Situation::local("refused", closed_port()),
        at(
            "refused by another machine",
            &format!("http://0.0.0.0:{}/v1/", closed_port()),
        ),
        nowhere,
        at(
            "https on the port for http",
            &format!("http://localhost:{tls}/v1/"),
        ),
        at(
            "silent",
            &format!(
                "http://localhost:{}/v1/",
                listen(|_| {
                    std::thread::sleep(std::time::Duration::from_secs(60));
                    Ok(())
                })
            ),
        ),
        at("redirect loop", &redirect("/login")),
        at("redirect to a closed port", &redirect(&elsewhere)),
    ]
}

fn proxy_situations(authority: &TestAuthority) -> Vec<Situation> {
    let url = |port: u16| format!("http://127.0.0.1:{port}");
    let intercepting = respond_with_tls(TestAuthority::create().server_config(&["registry.test"]));
    let proxied = |name, port| Situation::proxied(name, url(port));
    let closed = closed_port();
    let with_password = format!(
        "http://user:XSECRETX@127.0.0.1:{}",
        proxy(closed, Some("other"))
    );
    let mut plain = Situation::proxied("proxy needs credentials, http", String::new());
    plain.variables = vec![("http_proxy", url(proxy(closed, Some("credentials"))))];
    vec![
        proxied(
            "proxy needs credentials",
            proxy(closed, Some("credentials")),
        ),
        Situation::proxied("proxy rejects credentials", with_password),
        plain.at("http://registry.test/v1/"),
        proxied("proxy refuses connections", closed),
        Situation::proxied("unknown proxy", "http://proxy.invalid:8080".to_owned()),
        proxied("proxy cannot reach the server", proxy(closed, None)),
        proxied("proxy with its own authority", proxy(intercepting, None))
            .set("SSL_CERT_FILE", authority.certificate_file()),
        Situation::proxied(
            "https for a proxy with http",
            format!(
                "https://127.0.0.1:{}",
                respond_at_once(b"HTTP/1.1 400 Bad Request\r\n\r\n")
            ),
        ),
        Situation::proxied(
            "socks proxy refuses connections",
            format!("socks5h://127.0.0.1:{closed}"),
        ),
        Situation::proxied(
            "proxy that is a web server",
            url(respond(b"HTTP/1.1 405 Method Not Allowed\r\n\r\n".to_vec())),
        ),
    ]
}

#[test]
fn errors_name_the_cause_the_proxy_and_the_certificates() {
    let authority = TestAuthority::create();
    let mut situations = tls_situations(&authority);
    situations.extend(plain_situations(&authority));
    situations.extend(proxy_situations(&authority));
    let found = std::sync::Mutex::new(vec![String::new(); situations.len()]);
    check_rows(situations.iter().enumerate(), |(index, situation)| {
        let text = format!("== {} ==\n{}\n", situation.name, situation.error());
        found.lock().unwrap()[index] = text;
    });
    let found = found.into_inner().unwrap().concat();
    assert!(!found.contains("XSECRETX"), "{found}");
    let file = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/it/unreachable/messages.txt");
    assert_recorded(&file, &found);
}

/// The system's certificates are in different places on different systems.
#[test]
fn errors_name_the_certificates_of_the_system() {
    let port = respond_with_tls(TestAuthority::create().server_config(&["localhost"]));
    let situation = Situation::local("system", port)
        .set("SSL_CERT_FILE", "")
        .set("SSL_CERT_DIR", "");
    let error = situation.error();
    let origins = [
        "authorities: Mozilla's list",
        " in `/etc/",
        " in `/usr/",
        "of the operating system",
    ];
    assert!(
        origins.iter().any(|origin| error.contains(origin)),
        "{error}"
    );
    assert_contains(
        &error,
        "add its CA certificate to the system's store, or set `SSL_CERT_FILE` to its path",
    );
}
