//! What the two parsers refuse, where, and what next.

use super::*;

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
