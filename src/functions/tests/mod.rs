//! Compares the results of function calls with those in Terraform.

mod agreement;
mod decoding;
mod edges;

use std::path::Path;
use std::rc::Rc;
use std::sync::Arc;

use super::Functions;
use crate::provider::Engine;
use crate::syntax::{EvalBudget, EvalProblem, Value};

fn budget() -> Rc<EvalBudget> {
    Rc::new(EvalBudget::of_root(Arc::default()))
}

fn value(text: &str) -> Result<Value, EvalProblem> {
    super::evaluate_alone(text, Engine::Terraform).map_err(|fault| fault.problem)
}

/// Turns lists and sets into tuples, and maps into objects, because constants have these types.
pub(super) fn plain(value: Value) -> Value {
    match value {
        Value::List(elements) | Value::Set(elements) | Value::Tuple(elements) => {
            Value::Tuple(elements.into_iter().map(plain).collect())
        }
        Value::Map(entries) | Value::Object(entries) => {
            let entries = entries.into_iter();
            Value::Object(entries.map(|(key, value)| (key, plain(value))).collect())
        }
        other => other,
    }
}

/// Compares each call with a constant. Each line has the form `call => constant`.
#[track_caller]
fn give(rows: &str) {
    let lines = rows.lines().map(str::trim);
    for row in lines.filter(|line| !line.is_empty() && !line.starts_with("//")) {
        let (call, expected) = row.split_once(" => ").unwrap();
        let expected = value(expected).unwrap();
        assert_eq!(value(call).map(plain), Ok(plain(expected)), "{call}");
    }
}

#[test]
fn functions_of_text() {
    give(
        r#"
        lower("ÀB") => "àb"
        upper("ab") => "AB"
        title("hello world") => "Hello World"
        title("don't a_b 1a x–y a\u00a0b") => "Don'T A_b 1a X–y A\u00a0B"
        // Each letter is mapped to a single letter. The title case of some letters differs from their upper case.
        upper("straße ŉ ﬁ ǆ ᾳ ᾀ ı ა") => "STRAßE ŉ ﬁ Ǆ ᾼ ᾈ I Ა"
        upper("ᾈ ᾯ") => "ᾈ ᾯ"
        lower("İ ΑΣ ẞ ǅ ᾼ") => "i ασ ß ǆ ᾳ"
        title("ǆ ß ﬁ ΐ ᾳ") => "ǅ ß ﬁ ΐ ᾼ"
        title("ǉ ǌ ǳ ა ῃ ῳ") => "ǈ ǋ ǲ ა ῌ ῼ"
        strrev("é👨\u200d👩\u200d👧a") => "a👨\u200d👩\u200d👧é"
        substr("👨\u200d👩bc", 0, 2) => "👨\u200d👩b"
        regex("\\d+", "a12") => "12"
        regex(".", "é") => "é"
        // With a negative offset, the length 0 means up to the end.
        [for at in [-9, -3, -1, 0, 1, 5] : substr("hello", at, 0)] => ["hello", "llo", "o", "", "", ""]
        trimspace(" a\n") => "a"
        chomp("a\r\n") => "a"
        trim("?!a?!", "!?") => "a"
        trimprefix("v1", "v") => "1"
        trimsuffix("a.git", ".git") => "a"
        strrev("abc") => "cba"
        startswith("abc", "ab") && endswith("abc", "bc") && strcontains("abc", "b") => true
        split(",", "a,b") => ["a", "b"]
        split(",", "") => [""]
        join("-", ["a", 1], ["b"]) => "a-1-b"
        replace("a.b.c", ".", "/") => "a/b/c"
        replace("a1b2", "/[0-9]/", "-") => "a-b-"
        substr("hello", 1, 3) => "ell"
        substr("hello", -3, -1) => "llo"
        indent(2, "a\nb") => "a\n  b"
        format("%s-%03d-%5s|%-3s|%%|%v|%q", "a", 7, "b", "c", true, "d") => "a-007-    b|c  |%|true|\"d\""
        formatlist("%s/%s", "a", ["b", "c"]) => ["a/b", "a/c"]
        regex("([a-z]+)-([0-9]+)", "ab-12") => ["ab", "12"]
        regex("(?P<x>b)", "abc").x => "b"
        regexall("[0-9]", "1a2") => ["1", "2"]
        base64decode(base64encode("é")) => "é"
        sha256("a") => "ca978112ca1bbdcafac231b39a23dc4da786eff8147c4e72b9807785afee48bb"
        urlencode("a b/é") => "a+b%2F%C3%A9"
        tostring(1.0) => "1"
        tonumber("2.50") => 2.5
        tobool("true") => true
        tostring(null) => null
        "#,
    );
}

#[test]
fn digests() {
    give(
        r#"
        md5("a") => "0cc175b9c0f1b6a831c399e269772661"
        md5(1) => "c4ca4238a0b923820dcc509a6f75849b"
        sha1("a") => "86f7e437faa5a7fce15d1ddcb9eaeaea377667b8"
        substr(sha512("a"), 0, 12) => "1f40fc92da24"
        base64sha256("a") => "ypeBEsobvcr6wjGzmiPcTaeG7/gUfE5yuYB3ha/uSLs="
        substr(base64sha512("a"), 0, 12) => "H0D8ktokFpR1"
        uuidv5("dns", "www.terraform.io") => "a5008fae-b28c-5ba5-96cd-82b4c53552d6"
        uuidv5("x500", "CN=Example,C=GB") => "84e09961-4aa4-57f8-95b7-03edb1073253"
        uuidv5("6ba7b810-9dad-11d1-80b4-00c04fd430c8", "a") => "4f3f2898-69e3-5a0d-820a-c4e87987dbce"
        "#,
    );
}

#[test]
fn functions_of_collections() {
    give(
        r#"
        setproduct(["a", "b"], ["c", "d"]) => [["a", "c"], ["a", "d"], ["b", "c"], ["b", "d"]]
        setproduct([], ["c"]) => []
        matchkeys(["x", "y", "z"], ["a", "b", "a"], ["a"]) => ["x", "z"]
        chunklist([1, 2, 3], 2) => [[1, 2], [3]]
        chunklist([1], 0) => [[1]]
        transpose({ a = ["x", "y"], b = ["x"] }) => { x = ["a", "b"], y = ["a"] }
        length([1, 2]) + length({ a = 1 }) + length("é") => 4
        coalesce(null, "", "a") => "a"
        coalescelist([], [1]) => [1]
        compact(["a", "", null]) => ["a"]
        compact([1, null, true]) => ["1", "true"]
        // The values are converted to a common type.
        coalesce(null, 1, "x") => "1"
        tolist([1, null, "a", true]) => ["1", null, "a", "true"]
        tomap({ a = 1, b = "x" }) => { a = "1", b = "x" }
        [tolist(null), toset(null), tomap(null)] => [null, null, null]
        toset([null, 1, "1", "a"]) => ["1", "a", null]
        distinct([1, "1"]) => ["1"]
        chunklist([1, "a"], 1) => [["1"], ["a"]]
        setproduct([1], ["b", true]) => [[1, "b"], [1, "true"]]
        setunion([1], ["b"]) => ["1", "b"]
        setintersection([3, 1], ["b", 1, true]) => ["1"]
        setsubtract([1, 2], ["1"]) => ["2"]
        matchkeys(["a"], ["1"], [1]) => ["a"]
        [alltrue([true, null]), anytrue([null])] => [false, false]
        concat([1], [2, 3]) => [1, 2, 3]
        contains([1, 2], 2) => true
        distinct([1, 2, 1]) => [1, 2]
        element([1, 2, 3], 4) => 2
        flatten([[1], [[2], 3]]) => [1, 2, 3]
        index(["a", "b"], "b") => 1
        keys({ b = 1, a = 2 }) => ["a", "b"]
        values({ b = 1, a = 2 }) => [2, 1]
        lookup({ a = 1 }, "b", 2) => 2
        merge({ a = 1, b = 1 }, null, { a = 2 }) => { a = 2, b = 1 }
        one([]) => null
        range(1, 7, 3) => [1, 4]
        range(-2) => [0, -1]
        reverse([1, 2]) => [2, 1]
        slice([1, 2, 3], 1, 3) => [2, 3]
        sort(["b", "a"]) => ["a", "b"]
        toset(["b", "a", "b"]) => ["a", "b"]
        zipmap(["a"], [1]) => { a = 1 }
        alltrue([]) && !anytrue([]) => true
        setunion([1], [2, 1]) => [1, 2]
        setintersection([1, 2], [2, 3]) => [2]
        setsubtract([1, 2], [2]) => [1]
        "#,
    );
}

#[test]
fn functions_of_numbers_files_and_templates() {
    give(
        r#"
        pow(2, 10) + pow(2.5, 2) + pow(0, 0) => 1031.25
        pow(2, 53) => 9007199254740992
        [signum(-3), signum(0), signum(9)] => [-1, 0, 1]
        issensitive(sensitive(1)) && !issensitive("a") => true
        ephemeralasnull(1) => 1
        abs(-1) + floor(1.5) + ceil(1.2) + signum(-7) => 3
        max(1, 3, 2) - min(4, 2) => 1
        sum([1, 2.5]) => 3.5
        parseint("ff", 16) => 255
        jsondecode("{\"a\": [1, null, true]}").a => [1, null, true]
        jsonencode({ "<&>" = [true, null, "\u2028\u2029", 100000000000000000000] }) => "{\"\\u003c\\u0026\\u003e\":[true,null,\"\\u2028\\u2029\",100000000000000000000]}"
        formatlist("%v", [0, 999999.5, -1000000, 1234567.5, 0.0001, -0.00001, 0.00012, 123456789012345678901]) => ["0", "999999.5", "-1e+06", "1.2345675e+06", "0.0001", "-1e-05", "0.00012", "1.23456789012345678901e+20"]
        formatlist("%v", [10, 100000, 0.000012, 1000000000000, 20.05]) => ["10", "100000", "1.2e-05", "1e+12", "20.05"]
        format("%s %v", 1000000, [1000000]) => "1000000 [1000000]"
        format("%q %v", "<", ["a", 1]) => "\"\\u003c\" [\"a\",1]"
        jsonencode({ a = [1.5, "x"] }) => "{\"a\":[1.5,\"x\"]}"
        basename("a/b/") => "b"
        dirname("a/b/c") => "a/b"
        dirname("a") => "."
        templatestring("x$${a}", { a = 1 }) => "x1"
        fileexists("no/such/file") => false
        "#,
    );
}

#[test]
fn calls_that_fail() {
    for call in [
        "lower()",
        "lower([])",
        "join(\",\", \"a\")",
        "element([], 0)",
        "lookup({}, \"a\")",
        "one([1, 2])",
        "range(100000)",
        "regex(\"(\", \"a\")",
        "regex(\"x\", \"a\")",
        "format(\"%s\")",
        "format(\"a\", 1)",
        "format(\"%9999999s\", 1)",
        "sum([])",
        "jsondecode(\"{\")",
        "base64decode(\"?\")",
        "parseint(\"z\", 10)",
        "file(\"no/such/file\")",
        "index([1], 2)",
        "slice([1], 0, 2)",
        "zipmap([\"a\"], [])",
        "tonumber(\"x\")",
        "coalesce(null)",
        "indent(100000, \"\\n\")",
        "issensitive()",
        "setproduct([1])",
        "matchkeys([1], [1, 2], [1])",
        "transpose([])",
        "uuidv5(\"dns\")",
        "csvdecode(\"\")",
        "csvdecode(\"a,b\\n1\\n\")",
        "csvdecode(\"a,a\\n1,2\")",
        "csvdecode(\"a\\nx\\\"y\")",
        "csvdecode(\"a\\n\\\"x\\\"y\")",
        "csvdecode(\"a\\n\\\"x\")",
        "yamldecode(\"\")",
        "yamldecode(\"# only\")",
        "yamldecode(\"a: 1\\n---\\nb: 2\")",
        "yamldecode(\"- &a [*a]\")",
        "yamldecode(\"a: *nope\")",
        "yamldecode(\"a: - b\")",
        "yamldecode(\"null: 1\")",
        "yamldecode(\"[a]: 1\")",
        "yamldecode(\"<<: [{a: 1}]\")",
        "templatestring(\"$${b}\", {})",
        "templatestring(\"$${templatestring(\\\"x\\\", {})}\", {})",
    ] {
        assert!(
            matches!(
                value(call),
                Err(EvalProblem::Function { .. } | EvalProblem::File { .. })
            ),
            "{call}: {:?}",
            value(call)
        );
    }
    for call in [
        "cidrhost(\"10.0.0.0/8\", 1)",
        "format(\"%x\", 1)",
        "log(8, 2)",
        "pow(4, 0.25)",
        r#"regex("\\w", "é")"#,
        r#"regexall("[[:alpha:]]", "é")"#,
        r#"replace("é", "/\\W/", "")"#,
        "uuidv5(\"{6ba7b810-9dad-11d1-80b4-00c04fd430c8}\", \"a\")",
        "yamldecode(\"a: .inf\")",
        "yamldecode(\"a: 2001-1-1\")",
        "yamldecode(\"a: !foo 1\")",
    ] {
        assert!(
            matches!(value(call), Err(EvalProblem::UnsupportedFunction(_))),
            "{call}: {:?}",
            value(call)
        );
    }
    assert!(matches!(
        value("nofunc()"),
        Err(EvalProblem::NoSuchFunction(_))
    ));
    for call in [
        "uuid()",
        "timestamp()",
        "lower(timestamp())",
        "provider::a::b(1)",
    ] {
        assert_eq!(value(call), Ok(Value::Unknown), "{call}");
    }
}

#[test]
fn some_functions_are_known_to_one_engine_only() {
    let tofu = Functions::new(Path::new("."), Engine::Tofu, budget());
    let decoded = tofu.call("urldecode", &["a%20b+c%C3%A9".into()]);
    assert_eq!(decoded, Ok("a b cé".into()));
    assert!(tofu.call("urldecode", &["%2".into()]).is_err());
    let unsupported = EvalProblem::UnsupportedFunction("cidrcontains".to_owned());
    assert_eq!(tofu.check("cidrcontains"), Err(unsupported));
    for name in ["timestamp", "uuid", "bcrypt"] {
        assert!(
            matches!(tofu.call(name, &[]), Ok(Value::String(_))),
            "{name}"
        );
    }
    for name in ["urldecode", "cidrcontains", "base64gunzip"] {
        let terraform = Functions::new(Path::new("."), Engine::Terraform, budget());
        let unknown = EvalProblem::NoSuchFunction(name.to_owned());
        assert_eq!(terraform.call(name, &[]), Err(unknown));
    }
}

/// The functions that `terraform metadata functions` (1.11.4) and `tofu metadata functions` (1.12.6) list, without `core::`.
const FUNCTIONS: &str = "abs abspath alltrue anytrue base64decode base64encode base64gunzip base64gzip base64sha256 \
     base64sha512 basename bcrypt can ceil chomp chunklist cidrcontains cidrhost cidrnetmask cidrsubnet \
     cidrsubnets coalesce coalescelist compact concat contains csvdecode dirname distinct element \
     endswith ephemeralasnull file filebase64 filebase64sha256 filebase64sha512 fileexists filemd5 \
     fileset filesha1 filesha256 filesha512 flatten floor format formatdate formatlist indent index \
     issensitive join jsondecode jsonencode keys length log lookup lower matchkeys max md5 merge min \
     nonsensitive one parseint pathexpand plantimestamp pow range regex regexall replace reverse \
     rsadecrypt sensitive setintersection setproduct setsubtract setunion sha1 sha256 sha512 signum slice \
     sort split startswith strcontains strrev substr sum templatefile templatestring textdecodebase64 \
     textencodebase64 timeadd timecmp timestamp title tobool tolist tomap tonumber toset tostring \
     transpose trim trimprefix trimspace trimsuffix try upper urldecode urlencode uuid uuidv5 values \
     yamldecode yamlencode zipmap";

#[test]
fn assumptions_of_tofu_are_checked() {
    // `-` stands for an error.
    let rows = r#"
        assumeequal("a", "a") => "a"
        assumeequal(1, "1") => "1"
        assumeequal("true", true) => true
        assumeequal(["1", "a"], [1, "a"]) => [1, "a"]
        assumeequal(["a", "a"], toset(["a"])) => ["a"]
        assumeequal({ a = 1, b = 2 }, { a = "1" }) => { a = "1" }
        assumeequal({ a = 1 }, { a = 1, b = 2 }) => -
        assumeequal(null, null) => null
        assumeequal("a", null) => -
        assumeequal(null, "a") => -
        assumeequal([null], ["a"]) => -
        assumeequal("a", "b") => -
        assumeequal([], "b") => -
        assumeequal(sensitive("a"), "a") => "a"
        assumenotnull([]) => []
        assumenotnull(null) => -
        assumestringprefix("./m", "./") => "./m"
        assumestringprefix("./m", "x/") => -
        // The last letter of the prefix does not count, because the value might combine it with another character.
        assumestringprefix("./m", "./n") => "./m"
        assumestringprefix("./m", "./xy") => -
        // The known value is shorter than the prefix.
        assumestringprefix("./m", "./m/n/") => "./m"
        assumestringprefix(12, 1) => "12"
        assumestringprefix(null, "a") => null
        assumestringprefix("a", null) => -
        assumelistlength([1, "a"], 2, 2) => ["1", "a"]
        assumelistlength(["a"], "1", 2) => ["a"]
        assumelistlength(["a"], -1, 1) => ["a"]
        assumelistlength(["a"], 0.5, 1) => -
        assumelistlength(["a"], 2, 3) => -
        assumelistlength(null, 0, 1) => -
        assumelistlength("a", 0, 1) => -
        assumelistlengthmin(["a"], 1) => ["a"]
        assumelistlengthmin(["a"], 2) => -
        assumelistlengthmax(["a"], 9223372036854775806) => ["a"]
        assumelistlengthmax(["a"], 9223372036854775807) => -
        assumelistlengthmax(["a"], 0) => -
        assumelistlengthmax(["a"], null) => -
        assumesetlength(["a", "a"], 1, 1) => ["a"]
        assumesetlengthmin(["a", "a"], 2) => -
        assumesetlengthmax(["a", "a"], 1) => ["a"]
        assumemaplength({ a = 1, b = "x" }, 2, 2) => { a = "1", b = "x" }
        assumemaplengthmin({ a = 1 }, 2) => -
        assumemaplengthmax({ a = 1 }, 1) => { a = 1 }
        assumemaplength([1], 1, 1) => -
    "#;
    let lines = rows.lines().map(str::trim);
    for row in lines.filter(|line| !line.is_empty() && !line.starts_with("//")) {
        let (call, expected) = row.split_once(" => ").unwrap();
        let found = super::evaluate_alone(call, Engine::Tofu).ok();
        let expected =
            (expected != "-").then(|| super::evaluate_alone(expected, Engine::Tofu).unwrap());
        assert_eq!(found.map(plain), expected.map(plain), "{call}");
        let error = value(call).unwrap_err();
        assert!(
            matches!(error, EvalProblem::NoSuchFunction(_)),
            "{call}: {error}"
        );
    }
}

#[test]
fn the_table_is_sorted_by_name() {
    assert!(super::table::FUNCTIONS.is_sorted_by_key(|function| function.name));
}

#[test]
fn a_wrong_number_of_arguments_names_the_right_one() {
    for (call, expected) in [
        ("lower()", "too few arguments: expected 1, found 0"),
        (
            "issensitive(1, 2)",
            "too many arguments: expected 1, found 2",
        ),
        ("trim(1)", "too few arguments: expected 2, found 1"),
        (
            "slice([], 0, 1, 2)",
            "too many arguments: expected 3, found 4",
        ),
        ("lookup({})", "too few arguments: expected 2 to 3, found 1"),
        (
            "range(1, 2, 3, 4)",
            "too many arguments: expected 1 to 3, found 4",
        ),
        ("max()", "too few arguments: expected at least 1, found 0"),
        (
            "setproduct([1])",
            "too few arguments: expected at least 2, found 1",
        ),
    ] {
        let message = value(call).unwrap_err().to_string();
        assert!(
            message.ends_with(&format!("failed: {expected}")),
            "{message}"
        );
    }
}

#[test]
fn every_function_of_the_tools_is_supported_or_listed_as_unsupported() {
    let functions = Functions::new(Path::new("."), Engine::Tofu, budget());
    let unknown = |name: &&str| {
        // OpenTofu lists this function, but rejects it in module sources.
        let refused = *name == "plantimestamp";
        functions.find(name).is_err() && !refused
    };
    let unknown: Vec<&str> = FUNCTIONS.split_whitespace().filter(unknown).collect();
    assert!(unknown.is_empty(), "{unknown:?}");
}
