//! Verified tables of versions and constraints, and properties of the canonical form.

mod properties;
mod refusals;

use super::*;
use crate::provider::error::{ConstraintProblem, VersionProblem};
use crate::provider::newest;
use crate::span::Explain;

/// The available versions in most tests.
const OFFER: &str = "0.9.0 1.0.0-alpha 1.0.0-beta.2 1.0.0-beta.11 1.0.0-rc1 1.0.0 1.0.1 1.1.0 1.2.0-beta1 1.2.0 1.2.3 1.10.0 \
                     2.0.0-beta1 2.0.0 2.1.0 3.0.0-beta1 3.0.0-beta2";

fn constraints(text: &str) -> VersionConstraints {
    match text {
        "(absent)" => VersionConstraints::default(),
        _ => VersionConstraints::parse(text)
            .unwrap_or_else(|error| panic!("{error}: {}", error.problem)),
    }
}

/// Returns the version selected from `offer`, a list separated by spaces, or "none".
fn select(offer: &str, text: &str) -> String {
    let offer: Vec<Version> = offer
        .split_whitespace()
        .map(|version| Version::parse(version).unwrap())
        .collect();
    newest(&offer, &constraints(text)).map_or_else(|| "none".into(), Version::to_string)
}

/// Constraint, selected version and canonical form, recorded with Terraform 1.11.4 and OpenTofu 1.12.6.
const VERIFIED: &[(&str, &str, &str)] = &[
    ("(absent)", "2.1.0", ""),
    ("1.0.0", "1.0.0", "1.0.0"),
    ("= 1.0.0", "1.0.0", "1.0.0"),
    ("=1.0.0", "1.0.0", "1.0.0"),
    ("  = 1.0.0  ", "1.0.0", "1.0.0"),
    ("1", "1.0.0", "1.0.0"),
    ("1.2", "1.2.0", "1.2.0"),
    ("01.0.0", "1.0.0", "1.0.0"),
    ("1.00.0", "1.0.0", "1.0.0"),
    ("1.0.0-", "1.0.0", "1.0.0"),
    ("\t1.0.0", "1.0.0", "1.0.0"),
    ("1.0.0\n", "1.0.0", "1.0.0"),
    ("~> 1.0", "1.10.0", "~> 1.0"),
    ("~>1.0", "1.10.0", "~> 1.0"),
    ("~> 1", "1.10.0", "~> 1.0"),
    ("~> 0", "0.9.0", "~> 0.0"),
    ("~> 0.9", "0.9.0", "~> 0.9"),
    ("~> 0.9.0", "0.9.0", "~> 0.9.0"),
    ("~> 1.2.0", "1.2.3", "~> 1.2.0"),
    ("~> 1.2.3", "1.2.3", "~> 1.2.3"),
    ("~> 1.0.0", "1.0.1", "~> 1.0.0"),
    ("~> 1.10", "1.10.0", "~> 1.10"),
    ("~> 2.0.0-beta1", "2.0.0", "~> 2.0.0-beta1"),
    ("~> 1.0.0-beta.2", "1.0.1", "~> 1.0.0-beta.2"),
    ("~> 1.2.0-beta1", "1.2.3", "~> 1.2.0-beta1"),
    ("~> 1.0-beta", "1.10.0", "~> 1.0-beta"),
    ("~> 1-beta1", "1.10.0", "~> 1.0-beta1"),
    ("~> 3.0.0-beta1", "none", "~> 3.0.0-beta1"),
    (">= 1.0", "2.1.0", ">= 1.0.0"),
    (">=1.0.0", "2.1.0", ">= 1.0.0"),
    (">=1.0.0 ", "2.1.0", ">= 1.0.0"),
    (">= 0", "2.1.0", ">= 0.0.0"),
    (">= 1, < 2", "1.10.0", ">= 1.0.0, < 2.0.0"),
    ("< 2.0.0, >= 1.0.0", "1.10.0", ">= 1.0.0, < 2.0.0"),
    (">= 1.0,< 2.0", "1.10.0", ">= 1.0.0, < 2.0.0"),
    (">= 1.0 , < 2.0", "1.10.0", ">= 1.0.0, < 2.0.0"),
    (">= 1.0.0, >= 1.0, >= 1", "2.1.0", ">= 1.0.0"),
    ("> 1.0", "2.1.0", "> 1.0.0"),
    ("> 1", "2.1.0", "> 1.0.0"),
    ("> 1.0.1", "2.1.0", "> 1.0.1"),
    ("> 2.1.0", "none", "> 2.1.0"),
    ("<= 1", "1.0.0", "<= 1.0.0"),
    ("<= 1.0.0", "1.0.0", "<= 1.0.0"),
    ("< 1.0.0", "0.9.0", "< 1.0.0"),
    ("< 3.0.0-beta2", "2.1.0", "< 3.0.0-beta2"),
    ("!= 2.1.0", "2.0.0", "!= 2.1.0"),
    ("!=2.1", "2.0.0", "!= 2.1.0"),
    ("!= 2.1.0, != 2.0.0", "1.10.0", "!= 2.0.0, != 2.1.0"),
    ("!= 0.0.0", "2.1.0", "!= 0.0.0"),
    (
        ">= 1.0, != 1.10.0, < 2",
        "1.2.3",
        ">= 1.0.0, != 1.10.0, < 2.0.0",
    ),
    ("~>1.0,!=1.10.0", "1.2.3", "~> 1.0, != 1.10.0"),
    ("~> 1.0, ~> 1.1", "1.10.0", "~> 1.0, ~> 1.1"),
    ("3.0.0-beta1", "3.0.0-beta1", "3.0.0-beta1"),
    ("= 3.0.0-beta2", "3.0.0-beta2", "3.0.0-beta2"),
    ("= 1.0.0-BETA.2", "none", "1.0.0-BETA.2"),
    (">= 3.0.0-beta1", "none", ">= 3.0.0-beta1"),
    (">= 1.0.0-beta.2", "2.1.0", ">= 1.0.0-beta.2"),
    (">= 1-beta", "2.1.0", ">= 1.0.0-beta"),
    (
        ">= 1.0.0-beta.2, < 1.0.0",
        "none",
        ">= 1.0.0-beta.2, < 1.0.0",
    ),
    (
        "<= 2.0.0-beta1, >= 2.0.0-beta1",
        "none",
        ">= 2.0.0-beta1, <= 2.0.0-beta1",
    ),
    (
        "3.0.0-beta1, >= 3.0.0-alpha",
        "3.0.0-beta1",
        ">= 3.0.0-alpha, 3.0.0-beta1",
    ),
    (
        ">= 1.0, 1.2.0-beta1",
        "1.2.0-beta1",
        ">= 1.0.0, 1.2.0-beta1",
    ),
    (
        "3.0.0-beta1, != 3.0.0-beta1",
        "none",
        "3.0.0-beta1, != 3.0.0-beta1",
    ),
    (
        ">= 1.0.0-beta.11, 1.0.0-beta.2",
        "none",
        "1.0.0-beta.2, >= 1.0.0-beta.11",
    ),
    ("1.0.0-rc1, 1.0.0-rc1", "1.0.0-rc1", "1.0.0-rc1"),
    (
        "2.0.0, ~> 2.0, >= 2.0.0, <= 2.0.0, ~> 2.0.0",
        "2.0.0",
        ">= 2.0.0, 2.0.0, ~> 2.0.0, ~> 2.0, <= 2.0.0",
    ),
    (
        ">= 0.9, ~> 1.0, < 3, <= 2, > 0, != 1.0, = 1.10.0",
        "1.10.0",
        "> 0.0.0, >= 0.9.0, ~> 1.0, != 1.0.0, 1.10.0, <= 2.0.0, < 3.0.0",
    ),
    ("!= 3.0, ~> 3, < 4", "none", "~> 3.0, != 3.0.0, < 4.0.0"),
    (">= 1.0.0+meta", "2.1.0", ">= 1.0.0+meta"),
    ("= 1.0.0+meta", "none", "1.0.0+meta"),
    ("0", "none", "0.0.0"),
    ("0.0.0", "none", "0.0.0"),
    ("9223372036854775807.0.0", "none", "9223372036854775807.0.0"),
    // Metadata and prereleases in ranges
    ("~> 1.0.0+a", "1.0.1", "~> 1.0.0+a"),
    ("~> 1+a", "1.10.0", "~> 1.0+a"),
    ("> 1.0.0-rc1, <= 1.0.0", "1.0.0", "> 1.0.0-rc1, <= 1.0.0"),
    ("1.0-alpha", "1.0.0-alpha", "1.0.0-alpha"),
    ("!=1.0.0-beta", "2.1.0", "!= 1.0.0-beta"),
    // Unusual forms that the engines accept, and line ends
    ("1.0.0-.a", "none", "1.0.0-.a"),
    ("1.0.0--a", "none", "1.0.0--a"),
    (">= 1.0.0-", "2.1.0", ">= 1.0.0"),
    ("1,0", "none", "0.0.0, 1.0.0"),
    (">= 1.0\n, < 2", "1.10.0", ">= 1.0.0, < 2.0.0"),
    ("1.0\u{c}", "1.0.0", "1.0.0"),
    // Redundant constraints
    ("~> 1, ~> 1.0, ~> 1.0.0", "1.0.1", "~> 1.0.0, ~> 1.0"),
    (">= 1, > 0, > 0.0", "2.1.0", "> 0.0.0, >= 1.0.0"),
    // The order of metadata
    (
        ">= 1+a.1, >= 1+b, >= 1+a, >= 1+10, >= 1+9, >= 1",
        "2.1.0",
        ">= 1.0.0, >= 1.0.0+9, >= 1.0.0+10, >= 1.0.0+a, >= 1.0.0+b, >= 1.0.0+a.1",
    ),
];

#[test]
fn verified_examples() {
    for (text, selected, canonical) in VERIFIED {
        assert_eq!(select(OFFER, text), *selected, "selected by {text:?}");
        let found = constraints(text).to_string();
        assert_eq!(found, *canonical, "form of {text:?}");
    }
}

#[test]
fn other_lists() {
    for (offer, text, selected) in [
        ("1.0.0 1.0.0+a 1.0.0+b", "= 1.0.0", "1.0.0"),
        ("1.0.0 1.0.0+a 1.0.0+b", "= 1.0.0+a", "1.0.0+a"),
        ("1.0.0 1.0.0+a 1.0.0+b", "!= 1.0.0+a, != 1.0.0+b", "1.0.0"),
        ("1.0.0 1.0.0+a 1.0.0+b", "< 1.0.0+zzz", "none"),
        ("1.0.0 1.0.0+a 1.0.0+b", "> 1.0.0+a", "none"),
        ("1.0.0 1.0.0+b 1.0.0+a", "(absent)", "1.0.0+b"), // the engines pick at random
        ("1.0.0+a 1.0.0+b", "1.0.0", "none"),
        ("1.0.0-beta1", "(absent)", "none"),
        ("0.0.0", "(absent)", "none"),
        ("0.0.0", "0.0.0", "none"),
        ("0.0.0", ">= 0", "none"),
        ("0.0.0+x", "0.0.0+x", "0.0.0+x"), // in Terraform; for OpenTofu see `names_only_zero`
        ("0.0.0-x", "0.0.0-x", "0.0.0-x"),
        ("2.0.0 2.0.0-rc.1", "2.0.0-rc.1, ~> 2.0", "none"),
        ("2.0.0 2.0.0-rc.1", "2.0.0-rc.1, ~> 2.0.0-rc", "2.0.0-rc.1"),
        ("2.0.0 2.0.0-rc.1", "2.0.0-rc.1, < 2.0.0", "2.0.0-rc.1"),
        (
            "1.1.0-alpha.1 1.1.0-rc",
            "1.1.0-alpha.1, > 1.1.0-rc",
            "1.1.0-alpha.1",
        ),
        ("1.1.0-01 1.1.0-1", "1.1.0-01, > 1.1.0-1", "1.1.0-01"),
        // A prerelease of the first release that `~>` excludes is below that release and therefore allowed.
        ("1.2.0 1.3.0-beta", "1.3.0-beta, ~> 1.2.0", "1.3.0-beta"),
        ("1.2.0 2.0.0-beta", "2.0.0-beta, ~> 1.2", "2.0.0-beta"),
        ("1.2.0 1.3.0 2.0.0", "~> 1.2.0", "1.2.0"),
        ("1.2.0 1.3.0 2.0.0", "~> 1.2", "1.3.0"),
        // The root module requires `~> 2.0`, a child module `< 2.0`.
        ("1.0.0 2.0.0", "~> 2.0, >= 1.0, < 2.0", "none"),
    ] {
        assert_eq!(select(offer, text), selected, "{text:?} of {offer}");
    }
}

#[test]
fn opentofu_has_its_own_error_for_zero() {
    for (text, expected) in [
        ("0.0.0", true),
        ("0", true),
        ("0.0.0+x", true),
        ("0.0.0, >= 0, < 5", true), // ranges do not matter
        ("0.0.0, 1.0.0", false),
        ("0.0.0-x", false),
        ("<= 0.0.0", false),
        ("1.0.0", false),
        ("(absent)", false),
    ] {
        assert_eq!(constraints(text).names_only_zero(), expected, "{text}");
    }
}

#[test]
fn ceilings_beyond_the_largest_number_exclude_nothing() {
    let max = u64::MAX;
    let version = Version::parse(&format!("{max}.{max}.{max}")).unwrap();
    for text in [format!("~> {max}.{max}.0"), format!("~> {max}.0")] {
        let parsed = VersionConstraints::parse_canonical(&text).unwrap();
        assert!(parsed.allows(&version), "{text}");
    }
}
