//! Tests of the fields of the JSON document and of its schema.

use serde_json::{Value, json};
use tflock_test_support::assert_described;

use super::super::samples::{added, address, directory, moved, report};
use super::*;
use crate::diagnostic::{Code, Diagnostic};
use crate::span::{Place, Span};

fn document(report: &RunReport) -> Value {
    serde_json::from_str(&render(report)).unwrap()
}

#[test]
fn hashes_have_an_origin() {
    let moved = moved("acme/anvil", "3.1.1", "3.2.1");
    let report = report(vec![directory("stacks/a", Fate::Updated, vec![moved])]);
    let provider = document(&report)["directories"][0]["providers"][0].clone();
    assert_eq!(provider["version"], json!({"old": "3.1.1", "new": "3.2.1"}));
    let expected = json!({
        "added": [
            {"hash": "h1:linux", "from": "package", "platform": "linux_amd64", "index_key": null},
            {"hash": "zh:b", "from": "list", "platform": null, "index_key": null},
        ],
        "removed": [{"hash": "h1:old", "from": "old-lock", "platform": null, "index_key": null}],
        "kept": 2,
    });
    assert_eq!(provider["hashes"], expected);
    let signer = json!({
        "key_id": "34365D9472D7468F",
        "fingerprint": "C874011F0AB405110D02105534365D9472D7468F",
        "tier": "hashicorp",
        "expired": "key",
    });
    assert_eq!(provider["packages"][1]["signer"], signer);
    assert_eq!(provider["packages"][1]["bytes"], 12_345);
}

#[test]
fn missing_values_before_and_after_are_null() {
    let new = added("acme/anvil", "3.2.1");
    let mut gone = added("acme/bolt", "1.0.0");
    let Some(Change::Added(lock)) = gone.change else {
        panic!("the sample is an added provider")
    };
    gone.change = Some(Change::Removed(lock));
    let mut same = added("acme/cog", "2.0.0");
    same.change = None;
    let report = report(vec![directory("", Fate::Updated, vec![new, gone, same])]);
    let document = document(&report);
    assert_eq!(
        document["directories"][0]["lock_file"],
        ".terraform.lock.hcl"
    );
    let providers = document["directories"][0]["providers"].as_array().unwrap();
    let rows = [
        (
            "added",
            json!({"old": null, "new": "3.2.1"}),
            json!({"old": null, "new": "~> 3.0"}),
        ),
        (
            "removed",
            json!({"old": "1.0.0", "new": null}),
            json!({"old": "~> 3.0", "new": null}),
        ),
        (
            "unchanged",
            json!({"old": "2.0.0", "new": "2.0.0"}),
            json!({"old": "~> 3.0", "new": "~> 3.0"}),
        ),
    ];
    for (provider, (status, version, constraints)) in providers.iter().zip(rows) {
        assert_eq!(provider["status"], status);
        assert_eq!(provider["version"], version);
        assert_eq!(provider["constraints"], constraints);
    }
    let reported = &providers[0]["hashes"]["added"][2];
    assert_eq!(reported["from"], "registry-packages", "{reported}");
}

#[test]
fn diagnostics_have_code_file_line_and_hint() {
    let place = Place::in_text("a/main.tf".as_ref(), b"x\n  y\n", Span::new(4, 5));
    let mut failed = directory("a", Fate::Failed, Vec::new());
    let warning = Diagnostic::warning(Code::Registry, "mind this", None).at(Some(place));
    failed.diagnostics.push(warning);
    let expected = json!([{
        "severity": "warning", "code": "registry", "message": "mind this", "causes": [], "hint": null,
        "file": "a/main.tf", "line": 2, "column": 3,
    }]);
    let document = document(&report(vec![failed]));
    assert_eq!(document["directories"][0]["diagnostics"], expected);
    assert_eq!(document["directories"][0]["engine"], Value::Null);
    assert_eq!(document["summary"]["failed"], 1);
}

#[test]
fn the_schema_describes_every_field() {
    let schema: Value = serde_json::from_str(include_str!("report-1.schema.json")).unwrap();
    let mut failed = directory("b", Fate::Failed, Vec::new());
    failed
        .diagnostics
        .push(Diagnostic::warning(Code::Registry, "x", None));
    let mut providers = vec![moved("acme/anvil", "1.0.0", "1.1.0")];
    for voucher in [
        Voucher::Nothing,
        Voucher::Unsigned,
        Voucher::MirrorHashes,
        Voucher::Report(None),
    ] {
        let mut unsigned = added("acme/bolt", "1.0.0");
        unsigned.address = address("example.com/acme/bolt");
        for record in unsigned.packages.values_mut() {
            let mut plain = (**record).clone();
            (plain.voucher, plain.size) = (voucher.clone(), None);
            *record = plain.into();
        }
        providers.push(unsigned);
    }
    let mut updated = directory("a", Fate::Updated, providers);
    updated.moved_modules.push(MovedModule {
        call: "net.vpc".to_owned(),
        from: "3.1.0".to_owned(),
        to: "3.2.0".to_owned(),
    });
    let report = report(vec![updated, failed]);
    assert_described(&document(&report), &schema);
}
