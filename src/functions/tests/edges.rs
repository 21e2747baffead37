//! Edge cases of functions: limits, empty strings, unusual numbers of arguments.

use std::path::Path;

use super::{Engine, EvalProblem, Functions, Value, decoding::decoded, give, value};

#[test]
fn ranges_count_up_and_down() {
    give(
        r"
        range(3) => [0, 1, 2]
        range(-2) => [0, -1]
        range(1, 3) => [1, 2]
        range(3, 1) => [3, 2]
        range(2, 2) => []
        range(3, 0, -1) => [3, 2, 1]
        range(0, 5, 2) => [0, 2, 4]
        range(2, 2, 0) => []
        range(2, 2, -1) => []
        length(range(1024)) => 1024
        length(range(0, -1024)) => 1024
        ",
    );
    for call in [
        "range(1025)",
        "range(1, 3, -1)",
        "range(3, 1, 1)",
        "range(1, 3, 0)",
        "range(3, 1, 0)",
        "range()",
    ] {
        assert!(value(call).is_err(), "{call}");
    }
}

#[test]
fn lists_and_texts_at_their_ends() {
    give(
        r#"
        one([]) => null
        lookup({ a = "b" }, "a") => "b"
        lookup({ a = "b" }, "c", "d") => "d"
        alltrue([true, true]) && alltrue([]) => true
        alltrue([true, false]) || anytrue([]) => false
        anytrue([false, true]) => true
        one(["a"]) => "a"
        basename("") => "."
        basename("/") => "/"
        basename("a/b//") => "b"
        substr("hello", 0, 2) => "he"
        abs(-1) + abs(0) + abs(2) => 3
        length(setproduct(range(128), range(128))) => 16384
        length(setproduct(range(128), range(64), ["x", "y"])) => 16384
        substr("hello", 5, 1) => ""
        substr("hello", 1, 0) => ""
        length(indent(1000, "\n")) => 1001
        length(format("%1000s", "a")) => 1000
        "#,
    );
    for call in [
        "tolist([1, true])",
        r#"toset([[1], "a"])"#,
        "toset([[1], 1])",
        "toset([[1], true])",
        "tomap({ a = 1, b = true })",
        "coalesce(1, true)",
        "distinct([1, true])",
        "compact([[1]])",
        r#"formatlist("%s", [1, 2], ["a"])"#,
        r#"formatlist("%s", [1], [])"#,
        "signum(0.5)",
        r#"one(["a", "b"])"#,
        r#"lookup({ a = "b" }, "c")"#,
        r#"alltrue(["x"])"#,
        r#"indent(1001, "\n")"#,
        r#"format("%1001s", "a")"#,
        "setproduct(range(128), range(129))",
        "setproduct(range(128), range(256))",
    ] {
        assert!(value(call).is_err(), "{call}");
    }
}

#[test]
fn failures_say_why() {
    let rows = r#"
        upper([]) => a string is required, but this is a list
        floor("x") => a number is required, but this is a string
        element([1], 0.5) => a whole number is required
        keys([]) => a map is required, but this is a list
        concat("a") => a list is required, but this is a string
        length(1) => a list, a map or a string is required, but this is a number
        alltrue(["x"]) => an element cannot be converted
        indent(-1, "") => the number must not be negative
        indent(1001, "\n") => the indentation is limited to 1000 spaces
        coalesce(null, "") => all arguments are null or empty
        coalescelist([]) => all lists are empty
        element([], 0) => the list is empty
        sum([]) => the list is empty
        index([null], null) => the value must not be null
        index([1], 2) => the value is not in the list
        lookup({}, "c") => there is no key `c`
        one([1, 2]) => the list has more than one element
        range(1, 3, -1) => the step is zero or leads away from the end
        range(1025) => a range can have at most 1024 elements
        slice([1], 0, 2) => the start or the end is outside the list
        zipmap([1], []) => the number of keys differs from the number of values
        toset([1, true]) => the values have no common type
        parseint("1", 1) => the base must be between 2 and 62
        tonumber("x") => the value cannot be converted
        regex("a", "b") => the pattern does not match
        csvdecode("") => the line with the column names is missing
        csvdecode("a,a") => there are two columns named `a`
        csvdecode("a\n1,2") => incorrect number of fields in a line: expected 1, found 2
        format("%s") => the format has more verbs than there are values
        format("", 1) => the format has fewer verbs than there are values
        format("%") => a verb is missing after `%`
        format("%1001s", 1) => the width is limited to 1000
        formatlist("%s%s", [1], [1, 2]) => the lists differ in length
        yamldecode("null: 1") => a key cannot be null
        yamldecode("<<: 1") => a number cannot be merged into a mapping
        templatestring("$${a}", {}) => the template has no variable `a`
    "#;
    for row in rows.trim().lines() {
        let (call, expected) = row.trim().split_once(" => ").unwrap();
        let found = value(call).unwrap_err().to_string();
        assert!(found.ends_with(&format!("failed: {expected}")), "{found}");
    }
}

#[test]
fn marks_and_unknown_values() {
    let secret = Value::Sensitive(Box::new("a".into()));
    assert_eq!(value(r#"sensitive("a")"#), Ok(secret.clone()));
    assert_eq!(value(r#"sensitive(sensitive("a"))"#), Ok(secret));
    assert_eq!(value(r#"issensitive(sensitive("a"))"#), Ok(true.into()));
    assert_eq!(value(r#"issensitive("a")"#), Ok(false.into()));
    assert_eq!(value("issensitive(uuid())"), Ok(Value::Unknown));
}

#[test]
fn files_are_hashed_and_rendered() {
    let directory = tempfile::tempdir().unwrap();
    std::fs::write(directory.path().join("a.txt"), "a").unwrap();
    std::fs::write(directory.path().join("hello.tftpl"), "${a}${b}").unwrap();
    let functions = Functions::new(directory.path(), Engine::Terraform, super::budget());
    let call = |name: &str, arguments: &[Value]| functions.call(name, arguments);
    let digest = "ca978112ca1bbdcafac231b39a23dc4da786eff8147c4e72b9807785afee48bb";
    assert_eq!(call("filesha256", &["a.txt".into()]), Ok(digest.into()));
    assert!(call("filesha256", &["a.txt".into(), "b".into()]).is_err());
    let values = value(r#"{ a = "1", b = "2" }"#).unwrap();
    let rendered = call("templatefile", &["hello.tftpl".into(), values]);
    assert_eq!(rendered, Ok("12".into()));
    assert!(call("templatefile", &["hello.tftpl".into()]).is_err());
}

#[test]
fn yaml_has_limits() {
    let unsupported = Err(EvalProblem::UnsupportedFunction("yamldecode".to_owned()));
    for (open, close) in [("[", "]"), ("{a: ", "}")] {
        let nested = |depth: usize| open.repeat(depth) + "x" + &close.repeat(depth);
        assert!(decoded("yamldecode", &nested(100)).is_ok());
        assert_eq!(decoded("yamldecode", &nested(101)), unsupported, "{open}");
    }
    let nested_keys = "{".repeat(150) + "a" + &"}".repeat(150);
    assert_eq!(decoded("yamldecode", &nested_keys), unsupported);
    for (length, is_fine) in [(1 << 20, true), ((1 << 20) + 1, false)] {
        let found = decoded("yamldecode", &"x".repeat(length));
        assert_eq!(found.is_ok(), is_fine, "{length}");
    }
    for (values, is_fine) in [(65_535, true), (65_536, false)] {
        let found = decoded("yamldecode", &format!("[{}]", "x,".repeat(values)));
        assert_eq!(found.is_ok(), is_fine, "{values} values and their list");
    }
    // Forty aliases of a small collection are within the limit.
    for collection in ["[x, x]", "{a: x, b: x}"] {
        let text = format!("- &a {collection}\n{}", "- *a\n".repeat(40));
        assert!(decoded("yamldecode", &text).is_ok(), "{collection}");
    }
    // Each alias counts as many values as its target contains.
    let big = |collection: &str| {
        let entries: Vec<String> = (0..1000)
            .map(|at| collection.replace('#', &at.to_string()))
            .collect();
        entries.join(", ")
    };
    for collection in [format!("[{}]", big("x")), format!("{{{}}}", big("k#: x"))] {
        let text = |times: usize| format!("- &a {collection}\n{}", "- *a\n".repeat(times));
        assert!(decoded("yamldecode", &text(50)).is_ok());
        assert_eq!(decoded("yamldecode", &text(70)), unsupported);
    }
}

#[test]
fn only_the_string_tag_of_yaml_is_supported() {
    let unsupported = Err(EvalProblem::UnsupportedFunction("yamldecode".to_owned()));
    assert_eq!(decoded("yamldecode", "!!str 1"), Ok("1".into()));
    for text in ["!!int 1", "!str 1", "!!map {}"] {
        assert_eq!(decoded("yamldecode", text), unsupported, "{text}");
    }
    // A date is unsupported. The other strings only resemble dates or numbers.
    assert_eq!(decoded("yamldecode", "2001-1-1"), unsupported);
    for text in [
        "201-1-1", "2001-x-1", "2001-1-x", "2001-1", "x-1-1", "0x", "0xg", "0o8",
    ] {
        assert_eq!(decoded("yamldecode", text), Ok(text.into()), "{text}");
    }
}

#[test]
fn invalid_keys_of_yaml_have_a_reason() {
    for (text, expected) in [
        ("~: 1", "a key cannot be null"),
        ("[a]: 1", "a key must be a string"),
        ("", "the text contains no document"),
        ("a\n---\nb", "the text contains more than one document"),
    ] {
        let found = decoded("yamldecode", text).unwrap_err().to_string();
        assert!(found.ends_with(expected), "{text}: {found}");
    }
}

#[test]
fn only_canonical_identifiers_are_supported() {
    for namespace in [
        "a".repeat(36),
        "6ba7b810-9dad-11d1-80b4-00c04fd430cg".to_owned(),
    ] {
        let functions = Functions::new(Path::new("."), Engine::Terraform, super::budget());
        let found = functions.call("uuidv5", &[namespace.as_str().into(), "a".into()]);
        let unsupported = EvalProblem::UnsupportedFunction("uuidv5".to_owned());
        assert_eq!(found, Err(unsupported), "{namespace}");
    }
}
