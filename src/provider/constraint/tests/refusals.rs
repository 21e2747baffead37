//! Invalid constraints: the span, the problem and the hint of each error.

use super::*;

/// Returns the invalid part of a constraint, and the problem.
fn refused(text: &str) -> (String, ConstraintProblem) {
    let error = VersionConstraints::parse(text).expect_err(text);
    assert_eq!(error.text, text);
    (
        text[error.span.start..error.span.end].to_owned(),
        error.problem,
    )
}

#[test]
fn invalid_constraints_are_errors() {
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
fn lock_files_must_have_the_canonical_form() {
    let canonical = "|>= 1.0.0|1.0.0|~> 1.0|~> 1.0-beta|>= 1.0.0-a..b|>= 18446744073709551615.0.0";
    for text in canonical.split('|') {
        let parsed = VersionConstraints::parse_canonical(text).unwrap();
        assert_eq!(parsed.to_string(), text);
    }
    // Columns: text; its canonical form, or `None` if it is invalid.
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
        let error = VersionConstraints::parse_canonical(text).expect_err(text);
        let found = match error.problem {
            ConstraintProblem::NotCanonical { canonical } => Some(canonical),
            _ => None,
        };
        assert_eq!(found.as_deref(), canonical, "{text:?}");
    }
}

#[test]
fn errors_of_the_second_parser_have_spans() {
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
fn errors_have_a_cause_and_a_hint() {
    for row in [
        ">= 1.2, ~> 3.x.y # `.x.y` is not allowed there in a version # there are no wildcards: `~> 1.2` allows every 1.x from 1.2.0 on, \
         `~> 1.2.0` every 1.2.x",
        "v1 # a version must not start with `v` # omit the `v`",
        "^1 # `^` is not an operator # write `~>`",
        "==1 # `==` is not an operator # write `=`",
        "=>1 # `=>` is not an operator # write `>=`",
        "=<1 # `=<` is not an operator # write `<=`",
        "<>1 # `<>` is not an operator # write `!=`",
        "|1 # `|` is not an operator # ",
        ">= 1 < 2 # `< 2` is not allowed there in a version # separate constraints with commas",
        "1 || 2 # `|| 2` is not allowed there in a version # alternatives are not supported: a version must satisfy all constraints",
        "latest # expected a number instead of `latest` # omit the constraint to allow every version",
        "1 é # `é` is not allowed there in a version # ",
        "1\u{a0} # `\\u{a0}` is not allowed there in a version # ", // escaped, because a no-break space looks like a space
        "=  1 # the operator and the version must be separated by at most one space # ",
        "1.0, # a constraint is missing # ",
        ">=  # a version number is missing # ",
    ] {
        let [text, cause, hint] = row.split(" # ").collect::<Vec<_>>()[..] else {
            panic!("{row}");
        };
        let error = VersionConstraints::parse(text).expect_err(text);
        let message = format!("cannot read version constraint `{text}`");
        assert_eq!(error.to_string(), message);
        assert_eq!(error.problem.to_string(), cause, "{text}");
        assert_eq!(error.hint().unwrap_or_default(), hint, "{text}");
    }
    let error = VersionConstraints::parse_canonical(">= 1").expect_err("not canonical");
    assert_eq!(
        error.problem.to_string(),
        "in a lock file, it must be written `>= 1.0.0`"
    );
}
