//! Every fault at every kind of request: each ends in the stated outcome, within bounded time.
//!
//! `cargo test --test it registry::faults -- --nocapture` prints the table. `once` means that the fault happens to the first
//! request only, `ever` to all. What the bytes of lists, signatures and packages prove is tested where they are verified.

use std::fmt::Write as _;
use std::time::{Duration, Instant};

use serde_json::json;
use tflock::registry::{ByteLimit, NetworkMirror, RegistryClient};
use tflock_test_support::{Document, FakeRegistry, Misbehave, Response, TestAuthority};
use url::Url;

use super::{Waits, address, client, linux, outcome, trusting, version};

/// No single fault may take longer than this, with timeouts of 200 ms and waits that do not take place.
const MAX_TIME: Duration = Duration::from_secs(10);

/// What is asked for.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Kind {
    Discovery,
    Versions,
    Download,
    List,
    Package,
    Index,
}

const KINDS: [Kind; 6] = [
    Kind::Discovery,
    Kind::Versions,
    Kind::Download,
    Kind::List,
    Kind::Package,
    Kind::Index,
];

impl Kind {
    const fn path(self) -> &'static str {
        match self {
            Self::Discovery => "/.well-known/terraform.json",
            Self::Versions => "/v1/acme/ledger/versions",
            Self::Download => "/v1/acme/ledger/1.0.0/download/linux/amd64",
            Self::List => "/files/sums",
            Self::Package => "/files/x.zip",
            Self::Index => "/mirror/*/index.json",
        }
    }

    const fn is_json(self) -> bool {
        !matches!(self, Self::List | Self::Package)
    }
}

/// What should come of it. The text must be in the error.
enum Expected {
    Recovers,
    Fails(&'static str),
}

use Expected::{Fails, Recovers};

/// One fault: its name, the rule, whether it happens once, and the outcome by kind.
struct Fault {
    name: &'static str,
    rule: fn(&str) -> Misbehave,
    once: bool,
    expected: fn(Kind) -> Expected,
}

const fn fault(
    name: &'static str,
    rule: fn(&str) -> Misbehave,
    once: bool,
    expected: fn(Kind) -> Expected,
) -> Fault {
    Fault {
        name,
        rule,
        once,
        expected,
    }
}

fn refused(kind: Kind, elsewhere: &'static str) -> Expected {
    match kind {
        Kind::Versions | Kind::Download | Kind::Index => Fails("requires credentials"),
        _ => Fails(elsewhere),
    }
}

fn missing(kind: Kind) -> Expected {
    Fails(match kind {
        Kind::Discovery => "does not offer a provider registry",
        Kind::Versions => "has no provider",
        Kind::Download => "has no package for",
        Kind::Index => "does not have provider",
        Kind::List | Kind::Package => "404 Not Found",
    })
}

/// Bodies that are no answer of the protocol are what they are where bytes are asked for.
fn unreadable(kind: Kind) -> Expected {
    if kind.is_json() {
        Fails("the answer is not what the protocol asks for")
    } else {
        Recovers
    }
}

fn web_page(kind: Kind) -> Expected {
    match kind {
        Kind::Discovery | Kind::Index => Fails("the content type is `text/html`"),
        other => unreadable(other),
    }
}

fn endless(kind: Kind) -> Expected {
    Fails(match kind {
        Kind::Discovery => "limit for discovery documents",
        Kind::List => "limit of this test",
        Kind::Package => "limit for packages",
        _ => "limit for registry answers",
    })
}

fn json_text(text: &'static str) -> Response {
    let mut response = Response::status(200).body(text);
    response.headers = vec![("Content-Type".to_owned(), "application/json".to_owned())];
    response
}

const FAULTS: &[Fault] = &[
    fault(
        "429 once",
        |path| Misbehave::on(path).status(429),
        true,
        |_| Recovers,
    ),
    fault(
        "429 once, Retry-After",
        |path| Misbehave::on(path).status(429).retry_after("5"),
        true,
        |_| Recovers,
    ),
    fault(
        "429 ever",
        |path| Misbehave::on(path).status(429),
        false,
        |_| Fails("429 Too Many Requests"),
    ),
    fault(
        "500 once",
        |path| Misbehave::on(path).status(500),
        true,
        |_| Recovers,
    ),
    fault(
        "500 ever",
        |path| Misbehave::on(path).status(500),
        false,
        |_| Fails("500 Internal Server Error"),
    ),
    fault(
        "502 once",
        |path| Misbehave::on(path).status(502),
        true,
        |_| Recovers,
    ),
    fault(
        "503 once",
        |path| Misbehave::on(path).status(503),
        true,
        |_| Recovers,
    ),
    fault(
        "503 ever",
        |path| Misbehave::on(path).status(503),
        false,
        |_| Fails("503 Service Unavailable"),
    ),
    fault(
        "501 ever",
        |path| Misbehave::on(path).status(501),
        false,
        |_| Fails("501 Not Implemented"),
    ),
    fault(
        "423 ever",
        |path| Misbehave::on(path).status(423),
        false,
        |_| Fails("423 Locked"),
    ),
    fault(
        "404 ever",
        |path| Misbehave::on(path).status(404),
        false,
        missing,
    ),
    fault(
        "401 ever",
        |path| Misbehave::on(path).status(401),
        false,
        |kind| refused(kind, "401 Unauthorized"),
    ),
    fault(
        "403 ever",
        |path| Misbehave::on(path).status(403),
        false,
        |kind| refused(kind, "403 Forbidden"),
    ),
    fault(
        "201 ever",
        |path| Misbehave::on(path).status(201),
        false,
        |_| Fails("201 Created"),
    ),
    fault(
        "204 ever",
        |path| Misbehave::on(path).status(204),
        false,
        |_| Fails("204 No Content"),
    ),
    fault(
        "206 unasked",
        |path| Misbehave::on(path).status(206),
        false,
        |_| Fails("206 Partial Content"),
    ),
    fault(
        "304 unasked",
        |path| Misbehave::on(path).status(304),
        false,
        |_| Fails("304 Not Modified"),
    ),
    fault(
        "400 ever",
        |path| Misbehave::on(path).status(400),
        false,
        |_| Fails("400 Bad Request"),
    ),
    fault(
        "407 ever",
        |path| Misbehave::on(path).status(407),
        false,
        |_| Fails("407 Proxy Authentication Required"),
    ),
    fault(
        "418 ever",
        |path| Misbehave::on(path).status(418),
        false,
        |_| Fails("418 I'm a teapot"),
    ),
    fault(
        "599 ever",
        |path| Misbehave::on(path).status(599),
        false,
        |_| Fails("with status 599"),
    ),
    fault(
        "reset once",
        |path| Misbehave::on(path).reset(),
        true,
        |_| Recovers,
    ),
    fault(
        "reset ever",
        |path| Misbehave::on(path).reset(),
        false,
        |_| Fails("cannot connect to the server"),
    ),
    fault(
        "cut at 0 once",
        |path| Misbehave::on(path).cut(0),
        true,
        |_| Recovers,
    ),
    fault(
        "cut at 1 once",
        |path| Misbehave::on(path).cut(1),
        true,
        |_| Recovers,
    ),
    fault(
        "cut at 10 once",
        |path| Misbehave::on(path).cut(10),
        true,
        |_| Recovers,
    ),
    fault(
        "cut at 10 ever",
        |path| Misbehave::on(path).cut(10),
        false,
        |kind| match kind {
            // Ten bytes with each of four tries.
            Kind::Package => Fails("the answer broke off after 40 bytes"),
            _ => Fails("the answer broke off after"),
        },
    ),
    fault(
        "cut chunked once",
        |path| Misbehave::on(path).chunked().cut(10),
        true,
        |_| Recovers,
    ),
    fault(
        "chunked",
        |path| Misbehave::on(path).chunked(),
        false,
        |_| Recovers,
    ),
    fault(
        "hang once",
        |path| Misbehave::on(path).hang(),
        true,
        |_| Recovers,
    ),
    fault(
        "hang ever",
        |path| Misbehave::on(path).hang(),
        false,
        |_| Fails("no complete answer within"),
    ),
    fault(
        "stall once",
        |path| Misbehave::on(path).stall(10),
        true,
        |_| Recovers,
    ),
    fault(
        "stall ever",
        |path| Misbehave::on(path).stall(10),
        false,
        |kind| match kind {
            Kind::Package => Fails("nothing arrived for"),
            _ => Fails("no complete answer within"),
        },
    ),
    fault(
        "slow drip",
        |path| Misbehave::on(path).drip(1, Duration::from_millis(50)),
        false,
        |kind| match kind {
            Kind::Package => Fails("less than 1024 bytes arrived within"),
            _ => Fails("no complete answer within"),
        },
    ),
    fault(
        "length too long once",
        |path| Misbehave::on(path).content_length(5000),
        true,
        |kind| match kind {
            Kind::Package => Fails("could not be resumed"),
            _ => Recovers,
        },
    ),
    fault(
        "length of 5 GB",
        |path| Misbehave::on(path).content_length(5_000_000_000),
        false,
        endless,
    ),
    fault(
        "web page",
        |path| Misbehave::on(path).html(),
        false,
        web_page,
    ),
    fault(
        "empty body",
        |path| Misbehave::on(path).respond(json_text("")),
        false,
        unreadable,
    ),
    fault(
        "no JSON",
        |path| Misbehave::on(path).respond(json_text("nonsense")),
        false,
        unreadable,
    ),
    fault(
        "half a JSON",
        |path| Misbehave::on(path).respond(json_text("{\"versions\":[{")),
        false,
        unreadable,
    ),
    fault(
        "byte order mark",
        |path| Misbehave::on(path).respond(json_text("\u{feff}{}")),
        false,
        unreadable,
    ),
    fault(
        "JSON list",
        |path| Misbehave::on(path).respond(json_text("[]")),
        false,
        unreadable,
    ),
    fault(
        "bad gzip",
        |path| Misbehave::on(path).header("Content-Encoding", "gzip"),
        false,
        |kind| match kind {
            Kind::Package => Fails("the answer is not encoded as it says"),
            _ => Fails("the answer broke off after 0 bytes"),
        },
    ),
    fault(
        "redirect loop",
        |path| Misbehave::on(path).redirect("?again"),
        false,
        |_| Fails("redirects"),
    ),
    fault(
        "redirect to ftp",
        |path| Misbehave::on(path).redirect("ftp://h.test/x"),
        false,
        |_| Fails("`ftp://h.test/x`, which is no http or https address"),
    ),
    fault(
        "redirect to nothing",
        |path| Misbehave::on(path).redirect("https://[x"),
        false,
        |_| Fails("an unreadable address"),
    ),
    fault(
        "redirect without target",
        |path| Misbehave::on(path).status(302),
        false,
        |_| Fails("302 Found"),
    ),
    fault(
        "redirect to http",
        |path| Misbehave::on(path).redirect("http://h.invalid/x"),
        false,
        |kind| match kind {
            Kind::List | Kind::Package => Fails("cannot connect to the server"),
            _ => Fails("would be fetched over plain http"),
        },
    ),
];

struct Site {
    registry: FakeRegistry,
    client: RegistryClient,
    host: String,
}

impl Site {
    fn start(authority: &TestAuthority) -> Self {
        let mut registry = FakeRegistry::start();
        let host = registry.serve_tls(authority);
        let files = format!("https://{host}/files");
        let description = json!({"os": "linux", "arch": "amd64", "filename": "x.zip", "download_url": format!("{files}/x.zip"),
            "shasum": "00".repeat(32), "shasums_url": format!("{files}/sums"), "shasums_signature_url": format!("{files}/sums")});
        let list = json!({"versions": [{"version": "1.0.0"}]});
        registry.serve(
            &format!("/{host}/.well-known/terraform.json"),
            Document::json(&json!({"providers.v1": "/v1/"})),
        );
        registry.serve(
            &format!("/{host}/v1/acme/ledger/versions"),
            Document::json(&list),
        );
        registry.serve(
            &format!("/{host}/v1/acme/ledger/1.0.0/download/linux/amd64"),
            Document::json(&description),
        );
        registry.serve("/files/sums", Document::octets("s".repeat(100)));
        registry.serve("/files/x.zip", Document::octets("z".repeat(1000)));
        registry.serve(
            &format!("/mirror/{host}/acme/ledger/index.json"),
            Document::json(&json!({"versions": {"1.0.0": {}}})),
        );
        let mut settings = trusting(authority, &Waits::default());
        settings.request_timeout = Some(Duration::from_millis(200));
        settings.http.stall_timeout = Duration::from_millis(200);
        settings.engine = tflock::provider::Engine::Tofu; // its discovery obeys the timeout
        Self {
            registry,
            client: client(settings),
            host,
        }
    }

    async fn ask(&self, kind: Kind) -> String {
        let provider = address(&format!("{}/acme/ledger", self.host));
        let url = |path: &str| Url::parse(&format!("https://{}{path}", self.host)).unwrap();
        let limit = ByteLimit {
            name: "limit of this test",
            bytes: 10_000,
        };
        match kind {
            Kind::Discovery | Kind::Versions => outcome(self.client.versions(&provider).await),
            Kind::Download => outcome(
                self.client
                    .package_meta(&provider, &version("1.0.0"), &linux())
                    .await,
            ),
            Kind::List => outcome(self.client.document(&url("/files/sums"), limit).await),
            Kind::Package => outcome(self.fetch(&url("/files/x.zip")).await),
            Kind::Index => {
                let base = format!("https://{}/mirror/", self.host);
                let mirror = NetworkMirror::new(self.client.clone(), &base, None).unwrap();
                outcome(mirror.versions(&provider).await)
            }
        }
    }

    async fn fetch(&self, url: &Url) -> Result<(), tflock::registry::RegistryError> {
        let mut download = self.client.download(url).await?;
        while download.chunk().await?.is_some() {}
        Ok(())
    }
}

/// Asks under one fault: what came of it, and whether that is what should.
async fn try_fault(authority: &TestAuthority, fault: &Fault, kind: Kind) -> (String, bool) {
    let site = Site::start(authority);
    let rule = (fault.rule)(kind.path());
    site.registry
        .misbehave(if fault.once { rule.times(1) } else { rule });
    let started = Instant::now();
    let found = site.ask(kind).await;
    let in_time = started.elapsed() < MAX_TIME;
    let right = match (fault.expected)(kind) {
        Recovers => found == "ok",
        Fails(text) => found.contains(text),
    };
    (found, right && in_time)
}

#[tokio::test(flavor = "multi_thread")]
#[expect(clippy::print_stderr, reason = "the table is for people")]
async fn every_fault_at_every_request() {
    let authority = TestAuthority::create();
    let (mut table, mut wrong, mut count) = (String::new(), String::new(), 0);
    for fault in FAULTS {
        let tries = KINDS.map(|kind| try_fault(&authority, fault, kind));
        let found = futures_util::future::join_all(tries).await;
        for (kind, (found, right)) in KINDS.iter().zip(found) {
            let last = found.rsplit(": ").next().unwrap_or_default();
            writeln!(table, "{:24} {:10} {last}", fault.name, format!("{kind:?}")).unwrap();
            if !right {
                writeln!(wrong, "{} {kind:?}: {found}", fault.name).unwrap();
            }
            count += 1;
        }
    }
    eprintln!(
        "{table}{count} combinations of {} faults and {} requests",
        FAULTS.len(),
        KINDS.len()
    );
    assert!(wrong.is_empty(), "\n{wrong}");
}

#[tokio::test(flavor = "multi_thread")]
async fn one_request_in_twenty_may_fail() {
    let registry = FakeRegistry::start();
    let names: Vec<_> = (0..20).map(|index| format!("p{index}")).collect();
    for name in &names {
        let base = format!("/registry.terraform.io/v1/providers/acme/{name}");
        registry.serve(
            &format!("{base}/versions"),
            Document::json(&json!({"versions": [{"version": "1.0.0"}]})),
        );
        registry.serve(
            &format!("/files/{name}"),
            Document::octets(vec![7; 100_000]),
        );
    }
    // Each rule spoils one request; the requests between two of them are those that go well.
    for failure in 0..10 {
        let rule = match failure % 3 {
            0 => Misbehave::on("*").reset(),
            1 => Misbehave::on("*").status(503),
            _ => Misbehave::on("*").cut(10),
        };
        registry.misbehave(rule.skip(failure * 2).times(1));
    }
    let client = client(super::configured(&registry, &Waits::default()));
    let jobs = names.iter().map(|name| {
        let (client, registry) = (&client, &registry);
        async move {
            client
                .versions(&address(&format!("acme/{name}")))
                .await
                .unwrap();
            let url = Url::parse(&registry.url(&format!("/files/{name}"))).unwrap();
            let mut download = client.download(&url).await.unwrap();
            let mut size = 0;
            while let Some(piece) = download.chunk().await.unwrap() {
                size += piece.len();
            }
            size
        }
    });
    let sizes = futures_util::future::join_all(jobs).await;
    assert!(sizes.iter().all(|&size| size == 100_000), "{sizes:?}");
    let files = registry.log().bytes("/files/*");
    assert!(
        files < 20 * 100_000 + 1000,
        "no package came whole more than once: {files} bytes"
    );
}
