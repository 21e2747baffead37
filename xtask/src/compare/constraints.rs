//! Random version constraints and lists of versions.

use super::case::GeneratedCase;
use super::random::Random;
use super::source_text::{CaseFile, Literal, Node};

const OPERATORS: [&str; 9] = ["", "=", "!=", ">", ">=", "<", "<=", "~>", "~>"];
const ODD_OPERATORS: [&str; 10] = ["==", "=>", "=<", "~", "^", "><", "~>=", "!", ">>", "= ="];
const SPACES: [&str; 3] = ["", " ", " "];
const ODD_SPACES: [&str; 7] = ["  ", "\t", "\n", "\u{a0}", "\r\n", "   ", "\u{2009}"];
const NUMBERS: [&str; 7] = ["0", "1", "1", "2", "2", "3", "10"];
const ODD_NUMBERS: [&str; 12] = [
    "01",
    "00",
    "x",
    "*",
    "-1",
    "",
    "4294967296",
    "9223372036854775807",
    "9223372036854775808",
    "18446744073709551616",
    "１",
    "1e3",
];
const PRERELEASES: [&str; 12] = [
    "beta1", "beta.2", "beta.11", "rc1", "alpha", "0", "01", "1.2", "a-b", "BETA", "-", "rc.1.x",
];
const METADATA: [&str; 6] = ["a", "1", "build.7", "01", "a-b", "A"];

/// Returns a version, usually a valid one.
pub(super) fn version(random: &mut Random, odd: usize) -> String {
    let count = random.pick_odd(&[1, 2, 3, 3, 3], odd, &[0, 4, 5]);
    let numbers: Vec<_> = (0..count)
        .map(|_| random.pick_odd(&NUMBERS, odd, &ODD_NUMBERS))
        .collect();
    let mut text = numbers.join(".");
    if random.chance(20) {
        text.push('-');
        text.push_str(random.pick_odd(&PRERELEASES, odd, &["", "_", "é", "a..b", ".", "a b", "~"]));
    }
    if random.chance(8) {
        text.push('+');
        text.push_str(random.pick_odd(&METADATA, odd, &["", "_", "a+b", "é"]));
    }
    if random.chance(odd) {
        text.insert_str(0, random.pick(&["v", "V", "v.", " v"]));
    }
    text
}

/// Returns a constraint string, usually a valid one.
pub(super) fn constraint(random: &mut Random, odd: usize) -> String {
    let count = random.pick(&[1, 1, 1, 2, 2, 3, 4]);
    let mut text = String::new();
    for index in 0..count {
        if index > 0 {
            let comma = random.pick_odd(&[",", ", ", ", ", " , "], odd, &[",,", " ", ";", " || "]);
            text.push_str(comma);
        }
        text.push_str(&space(random, odd / 3));
        text.push_str(random.pick_odd(&OPERATORS, odd / 2, &ODD_OPERATORS));
        text.push_str(&space(random, odd / 3));
        text.push_str(&version(random, odd / 2));
    }
    if random.chance(odd) {
        text.push_str(random.pick(&[",", " ", "\n", "\t", ".", "-", "+", "x", "\u{a0}", "  "]));
    }
    text
}

fn space(random: &mut Random, odd: usize) -> String {
    random.pick_odd(&SPACES, odd, &ODD_SPACES).to_owned()
}

/// Returns the versions that a mirror offers. At least one is a release.
pub(super) fn versions(random: &mut Random) -> Vec<String> {
    let count = random.between(2, 10);
    let mut versions: Vec<String> = (0..count).map(|_| offered(random)).collect();
    versions.push(random.pick(&["1.0.0", "2.0.0", "1.10.0"]).to_owned());
    if random.chance(30) {
        versions.push(
            random
                .pick(&["v3.0.0", "3", "3.0", "x", "4.0.0.0", "03.0.0"])
                .to_owned(),
        );
    }
    versions.sort();
    // The tools treat versions that differ only in metadata as equal, and select any of them.
    versions.dedup_by_key(|text| text.split('+').next().map(str::to_owned));
    random.shuffle(&mut versions);
    versions
}

fn offered(random: &mut Random) -> String {
    let numbers: Vec<_> = (0..3).map(|_| random.pick(&NUMBERS)).collect();
    let mut text = numbers.join(".");
    if random.chance(35) {
        text.push('-');
        text.push_str(random.pick(&PRERELEASES));
    }
    if random.chance(10) {
        text.push('+');
        text.push_str(random.pick(&METADATA));
    }
    text
}

/// Creates a root module that has up to three constraints for one provider.
pub(super) fn generate(random: &mut Random) -> GeneratedCase {
    let versions = versions(random);
    let odd = random.pick(&[0, 0, 0, 2, 10, 25]);
    let mut entries = Vec::new();
    for name in ["a", "b"] {
        if name == "a" || random.chance(20) {
            let mut text = constraint(random, odd);
            if random.chance(40) {
                let operator = random.pick(&OPERATORS);
                text = format!("{operator} {}", random.pick(&versions));
            }
            entries.push(Node::argument(name, entry(text)));
        }
    }
    let block = Node::block("required_providers", &[], entries);
    let mut nodes = vec![Node::block("terraform", &[], vec![block])];
    if random.chance(15) {
        let version = Node::argument("version", Literal::text(constraint(random, odd)));
        nodes.push(Node::block("provider", &["a"], vec![version]));
    }
    let path = random.pick_odd(&["main.tf"], 20, &["main.tf.json"]);
    let mut case = GeneratedCase::new(vec![CaseFile::new(path, nodes)]);
    case.versions = versions;
    case
}

fn entry(constraint: String) -> Literal {
    let source = ("source".to_owned(), Literal::text("acme/one"));
    Literal::Object(vec![
        source,
        ("version".to_owned(), Literal::text(constraint)),
    ])
}
