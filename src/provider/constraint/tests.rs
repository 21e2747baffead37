//! The verified tables of versions and constraints, and properties of the canonical form.

use proptest::prelude::*;

use super::*;
use crate::provider::error::{ConstraintProblem, VersionProblem};
use crate::provider::newest;
use crate::span::Explain;

/// The versions on offer wherever no others are named.
const OFFER: &str = "0.9.0 1.0.0-alpha 1.0.0-beta.2 1.0.0-beta.11 1.0.0-rc1 1.0.0 1.0.1 1.1.0 1.2.0-beta1 1.2.0 1.2.3 1.10.0 \
                     2.0.0-beta1 2.0.0 2.1.0 3.0.0-beta1 3.0.0-beta2";

fn constraints(text: &str) -> VersionConstraints {
    match text {
        "(absent)" => VersionConstraints::default(),
        _ => VersionConstraints::parse(text)
            .unwrap_or_else(|error| panic!("{error}: {}", error.problem)),
    }
}

/// What is selected from a list separated by spaces; "none" if nothing is.
fn select(offer: &str, text: &str) -> String {
    let offer: Vec<Version> = offer
        .split_whitespace()
        .map(|version| Version::parse(version).unwrap())
        .collect();
    newest(&offer, &constraints(text)).map_or_else(|| "none".into(), Version::to_string)
}

/// Constraint, selected version and canonical form, as recorded with Terraform 1.11.4 and OpenTofu 1.12.6.
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
    // "Also"
    ("~> 1.0.0+a", "1.0.1", "~> 1.0.0+a"),
    ("~> 1+a", "1.10.0", "~> 1.0+a"),
    ("> 1.0.0-rc1, <= 1.0.0", "1.0.0", "> 1.0.0-rc1, <= 1.0.0"),
    ("1.0-alpha", "1.0.0-alpha", "1.0.0-alpha"),
    ("!=1.0.0-beta", "2.1.0", "!= 1.0.0-beta"),
    // Section 2, "odd but accepted" and line ends
    ("1.0.0-.a", "none", "1.0.0-.a"),
    ("1.0.0--a", "none", "1.0.0--a"),
    (">= 1.0.0-", "2.1.0", ">= 1.0.0"),
    ("1,0", "none", "0.0.0, 1.0.0"),
    (">= 1.0\n, < 2", "1.10.0", ">= 1.0.0, < 2.0.0"),
    ("1.0\u{c}", "1.0.0", "1.0.0"),
    // "Other lists"
    ("~> 1, ~> 1.0, ~> 1.0.0", "1.0.1", "~> 1.0.0, ~> 1.0"),
    (">= 1, > 0, > 0.0", "2.1.0", "> 0.0.0, >= 1.0.0"),
    // Section 5: the order of metadata
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
        assert_eq!(
            constraints(text).to_string(),
            *canonical,
            "form of {text:?}"
        );
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
        ("0.0.0+x", "0.0.0+x", "0.0.0+x"), // Terraform; OpenTofu asks `names_only_zero`
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
        // A prerelease of the first version that `~>` excludes lies below it.
        ("1.2.0 1.3.0-beta", "1.3.0-beta, ~> 1.2.0", "1.3.0-beta"),
        ("1.2.0 2.0.0-beta", "2.0.0-beta, ~> 1.2", "2.0.0-beta"),
        ("1.2.0 1.3.0 2.0.0", "~> 1.2.0", "1.2.0"),
        ("1.2.0 1.3.0 2.0.0", "~> 1.2", "1.3.0"),
        // The root wants `~> 2.0`, a child `< 2.0`.
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
        ("0.0.0, >= 0, < 5", true), // whatever ranges stand beside it
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
fn ceilings_at_the_end_of_the_numbers_exclude_nothing() {
    let max = u64::MAX;
    let version = Version::parse(&format!("{max}.{max}.{max}")).unwrap();
    for text in [format!("~> {max}.{max}.0"), format!("~> {max}.0")] {
        assert!(
            VersionConstraints::parse_canonical(&text)
                .unwrap()
                .allows(&version),
            "{text}"
        );
    }
}

/// The span and the problem of what is refused.
fn refused(text: &str) -> (String, ConstraintProblem) {
    let error = VersionConstraints::parse(text).expect_err(text);
    assert_eq!(error.text, text);
    (
        text[error.span.start..error.span.end].to_owned(),
        error.problem,
    )
}

#[test]
fn what_both_parsers_refuse() {
    use ConstraintProblem::{Empty, Spacing, UnknownOperator};
    use VersionProblem::{NoNumber, NumberTooLarge, Prefix, TooManyNumbers, Unexpected};
    let operator = |text: &str| UnknownOperator(text.into());
    let no_number = |text: &str| ConstraintProblem::from(NoNumber(text.into()));
    let unexpected = |text: &str| ConstraintProblem::from(Unexpected(text.into()));
    for (text, marked, problem) in [
        // The first parser
        ("", "", Empty),
        (",", "", Empty),
        ("1.0,", "", Empty),
        ("1.0,,2.0", "", Empty),
        (" ", " ", Empty),
        ("1.*", ".*", unexpected(".*")),
        ("*", "*", no_number("*")),
        ("x", "x", no_number("x")),
        ("1.x", ".x", unexpected(".x")),
        ("^1.0", "^", operator("^")),
        ("~1.0", "~", operator("~")),
        ("=> 1", "=>", operator("=>")),
        ("== 1", "==", operator("==")),
        ("! 1", "!", operator("!")),
        (">= 1 < 2", "< 2", unexpected("< 2")),
        ("1 - 2", "- 2", unexpected("- 2")),
        ("1 || 2", "|| 2", unexpected("|| 2")),
        ("||", "||", operator("||")),
        ("1.0.0+", "+", unexpected("+")),
        ("1.0.0-beta_1", "_1", unexpected("_1")),
        ("latest", "latest", no_number("latest")),
        ("1.", ".", unexpected(".")),
        (".1", ".1", no_number(".1")),
        ("1..0", "..0", unexpected("..0")),
        (">= -1", "-1", no_number("-1")),
        (">= +1", "+1", no_number("+1")),
        ("1.0.0-a..b", "..b", unexpected("..b")),
        ("1.0.0-a.", ".", unexpected(".")),
        ("1.0\u{a0}", "\u{a0}", unexpected("\u{a0}")), // a no-break space
        ("1.0\u{b}", "\u{b}", unexpected("\u{b}")),    // a vertical tab
        (">=", "", ConstraintProblem::from(VersionProblem::Empty)),
        (">= 1.0, ~> 3.x.y", ".x.y", unexpected(".x.y")),
        (
            "9223372036854775808.0.0",
            "9223372036854775808",
            NumberTooLarge("9223372036854775808".into()).into(),
        ),
        // The second parser
        ("=  1.0", "  ", Spacing),
        ("=\t1.0", "\t", Spacing),
        ("1.0, ~>  1.0", "  ", Spacing),
        ("v1.0", "v1.0", Prefix.into()),
        (">= 2, >= v1.0", "v1.0", Prefix.into()),
        ("1.2.3.4", ".4", TooManyNumbers.into()),
        ("~> 1.0.0.0", ".0", TooManyNumbers.into()),
        ("1.0.0beta1", "beta1", unexpected("beta1")),
        ("1.0.0-a~b", "~b", unexpected("~b")),
        ("1e3", "e3", unexpected("e3")),
        ("0x1", "x1", unexpected("x1")),
        ("1.0.0-+a", "+a", unexpected("+a")),
    ] {
        assert_eq!(refused(text), (marked.to_owned(), problem), "{text:?}");
    }
}

#[test]
fn lock_files_have_the_canonical_form_only() {
    for text in [
        "",
        ">= 1.0.0",
        "1.0.0",
        "~> 1.0",
        "~> 1.0-beta",
        ">= 1.0.0-a..b",
        ">= 18446744073709551615.0.0",
    ] {
        assert_eq!(
            VersionConstraints::parse_canonical(text)
                .unwrap()
                .to_string(),
            text
        );
    }
    // (text, its canonical form), or none where it cannot be read at all.
    for (text, canonical) in [
        (">= 1.0", Some(">= 1.0.0")),
        (" >= 1.0.0", Some(">= 1.0.0")),
        ("= 1.0.0", Some("1.0.0")),
        (">= 1.0.0+", Some(">= 1.0.0")),
        (">= 1.0.0 , < 2.0.0", Some(">= 1.0.0, < 2.0.0")),
        ("< 2.0.0, >= 1.0.0", Some(">= 1.0.0, < 2.0.0")),
        (">= 1.0.0, >= 1.0.0", Some(">= 1.0.0")),
        ("1", Some("1.0.0")),
        ("1.0.0-01, >= 1.0.0-1", Some(">= 1.0.0-1, 1.0.0-01")),
        (
            ">= 1.0.0-.a, >= 1.0.0-0, >= 1.0.0--",
            Some(">= 1.0.0-0, >= 1.0.0--, >= 1.0.0-.a"),
        ),
        (
            ">= 1.0.0-..1, >= 1.0.0-.1",
            Some(">= 1.0.0-.1, >= 1.0.0-..1"),
        ),
        (">= 1.0.0,", None),
        ("abc", None),
        ("1.*", None),
        ("^1.0", None),
        (">= v1.0.0", None),
        (">= 18446744073709551616.0.0", None), // crashes both engines
    ] {
        let problem = VersionConstraints::parse_canonical(text)
            .expect_err(text)
            .problem;
        let found = match problem {
            ConstraintProblem::NotCanonical { canonical } => Some(canonical),
            _ => None,
        };
        assert_eq!(found.as_deref(), canonical, "{text:?}");
    }
}

#[test]
fn faults_that_only_the_second_parser_finds_have_places_too() {
    for (text, marked) in [
        (
            ">= 1.0.0, >= 18446744073709551616.0",
            "18446744073709551616",
        ),
        (">= 1.0.0, ~> 1.2.3.4", ".4"),
        (" abc", "abc"),
        ("1.0, 1.", "."),
        ("1.0, ", ""),
    ] {
        let error = VersionConstraints::parse_canonical(text).expect_err(text);
        assert_eq!(&text[error.span.start..error.span.end], marked, "{text}");
    }
}

#[test]
fn errors_say_what_and_why_and_what_next() {
    for (text, cause, hint) in [
        (
            ">= 1.2, ~> 3.x.y",
            "`.x.y` cannot stand there in a version",
            Some(
                "there are no wildcards: `~> 1.2` allows every 1.x from 1.2.0 on, `~> 1.2.0` every 1.2.x",
            ),
        ),
        (
            "v1",
            "a version has no prefix `v`",
            Some("leave out the `v`"),
        ),
        ("^1", "`^` is not an operator", Some("write `~>`")),
        ("==1", "`==` is not an operator", Some("write `=`")),
        ("=>1", "`=>` is not an operator", Some("write `>=`")),
        ("=<1", "`=<` is not an operator", Some("write `<=`")),
        ("<>1", "`<>` is not an operator", Some("write `!=`")),
        ("|1", "`|` is not an operator", None),
        (
            ">= 1 < 2",
            "`< 2` cannot stand there in a version",
            Some("separate constraints with commas"),
        ),
        (
            "1 || 2",
            "`|| 2` cannot stand there in a version",
            Some("there is no way to write alternatives: all constraints must hold"),
        ),
        (
            "latest",
            "a number is needed in place of `latest`",
            Some("to allow every version, leave the constraint out"),
        ),
        ("1 é", "`é` cannot stand there in a version", None),
        // Spelled out, or nobody would see it.
        ("1\u{a0}", "`\\u{a0}` cannot stand there in a version", None),
        (
            "=  1",
            "only a single space may stand between operator and version",
            None,
        ),
        ("1.0,", "a constraint is missing", None),
        (">= ", "a version number is missing", None),
    ] {
        let error = VersionConstraints::parse(text).expect_err(text);
        assert_eq!(
            error.to_string(),
            format!("cannot read version constraint `{text}`")
        );
        let source = std::error::Error::source(&error).expect("has a cause");
        assert_eq!(
            (source.to_string().as_str(), error.hint().as_deref()),
            (cause, hint),
            "{text}"
        );
    }
    let error = VersionConstraints::parse_canonical(">= 1").expect_err("not canonical");
    assert_eq!(
        error.problem.to_string(),
        "in a lock file it must be written `>= 1.0.0`"
    );
}

/// Text that both parsers take, in all its spellings.
fn spelled() -> impl Strategy<Value = String> {
    let piece = "(|=|= |!=|> |>= |<|<= |~>|~> )(0|[1-9]|01|10)(\\.[0-3]){0,2}(-[a-c0-9]{1,2}(\\.[a0-9]{1,2}){0,2})?(\\+[a0-9]{1,2})?";
    proptest::collection::vec(piece, 1..5).prop_map(|pieces| pieces.join(" , "))
}

fn constraint() -> impl Strategy<Value = Constraint> {
    spelled().prop_map(|text| constraints(&text).iter().next().expect("not empty").clone())
}

proptest! {
    #[test]
    fn the_canonical_form_is_a_fixed_point(text in spelled()) {
        let parsed = VersionConstraints::parse(&text).unwrap();
        let canonical = parsed.to_string();
        prop_assert_eq!(&VersionConstraints::parse(&canonical).unwrap(), &parsed);
        prop_assert_eq!(&VersionConstraints::parse_canonical(&canonical).unwrap(), &parsed);
        prop_assert_eq!(VersionConstraints::parse(&canonical).unwrap().to_string(), canonical);
    }

    #[test]
    fn merging_is_joining_with_commas(one in spelled(), two in spelled()) {
        let mut merged = constraints(&one);
        merged.merge(&constraints(&two));
        prop_assert_eq!(merged, constraints(&format!("{two},{one}")));
    }

    #[test]
    fn the_order_of_constraints_is_total(a in constraint(), b in constraint(), c in constraint()) {
        prop_assert_eq!(a.cmp(&b), b.cmp(&a).reverse());
        prop_assert_eq!(a.cmp(&b) == Ordering::Equal, a == b);
        if a <= b && b <= c {
            prop_assert!(a <= c);
        }
    }

    #[test]
    fn no_text_makes_the_parsers_panic(text in "[ \t\n=!<>~^|,v0-9a-c.+*é\u{a0}-]{0,24}") {
        for parse in [VersionConstraints::parse, VersionConstraints::parse_canonical] {
            if let Err(error) = parse(&text) {
                prop_assert!(text.get(error.span.start..error.span.end).is_some(), "{:?}", error.span);
            }
        }
    }
}
