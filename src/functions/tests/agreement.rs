//! Values that Terraform 1.15.9 and OpenTofu 1.12.6 both compute, found by comparing random expressions with both programs.

use super::value;

/// Compares the value of each expression with its JSON. Each line has the form `expression => JSON`.
#[track_caller]
fn encode(rows: &str) {
    for row in rows.trim().lines().map(str::trim) {
        let (expression, expected) = row.split_once(" => ").unwrap();
        let found = value(&format!("jsonencode({expression})"));
        assert_eq!(found, Ok(expected.into()), "{expression}");
    }
}

#[track_caller]
fn fail(expressions: &str) {
    for expression in expressions.trim().lines().map(str::trim) {
        let found = value(expression);
        assert!(found.is_err(), "{expression}: {found:?}");
    }
}

#[test]
fn text_is_normalized() {
    encode(
        r#"
        length("e\u0301") => 1
        join("", ["e", "\u0301"]) == "\u00e9" => true
        "${"e"}\u0301" == "\u00e9" => true
        { "e\u0301" = 1 }["\u00e9"] => 1
        keys({ "e\u0301" = 1, "\u00e9" = 2 }) => ["é"]
        { "\u00e9" = 1 }.e\u0301 => 1
        jsondecode("{\"e\u0301\": 1}")["\u00e9"] => 1
        csvdecode("e\u0301\n1")[0]["\u00e9"] => "1"
        sha256("e\u0301") == sha256("\u00e9") => true
        base64encode("A\u030a") => "w4U="
        replace("e\u0301", "e", "a") => "é"
        split("", "e\u0301") => ["é"]
        format("%5s|", "e\u0323\u0307") => "    ẹ̇|"
        "#
        .replace(".e\\u0301", ".e\u{301}")
        .as_str(),
    );
}

#[test]
fn numbers_have_512_bits() {
    encode(
        r#"
        1 / 3 * 3 == 1 => true
        0.1 + 0.2 => 0.3
        [-0, 0 * -1, floor(-0), ceil(-0.5), -0 == 0, "${-0}"] => [-0,-0,0,0,true,-0]
        5 % 0 => 5
        [-7 % 3, 5.5 % 2] => [-1,1.5]
        12345678901234567890 * 98765432109876543210 => 1219326311370217952237463801111263526900
        length([1]) / length([1, 2, 3]) => 0.33333333333333333334
        pow(0.1, 1) * pow(0.1, 1) => 0.0100000000000000011102230246251566
        [pow(0.1, 2), pow(2, -1), pow(4, 0.5), pow(2, 54)] => [0.010000000000000002,0.5,2,18014398509481984]
        jsondecode("[12345678901234567890123, 0.1, 1.10, -0, 1E400]")[0] => 12345678901234567890123
        jsondecode("[1.0000000000000000000001, -0, 1E2]") => [1.0000000000000000000001,-0,100]
        yamldecode("[18446744073709551616, 1.10000000000000000000000001]") => [18446744073709551616,1.10000000000000000000000001]
        [tonumber(".5"), tonumber("1."), "1e3" + 0] => [0.5,1,1000]
        [tonumber("1p3"), tonumber("+1.5P+3"), tonumber(".5p-2"), tonumber("-0p99999999999"), "1.p3" + 0] => [8,12,0.125,-0,8]
        [pow(-0, 0.5), pow(-0, 1), pow(-0, 2), pow(-0, 3)] => [0,-0,0,-0]
        parseint("123456789012345678901234567890", 10) => 123456789012345678901234567890
        [max(-0, 0), min(0, -0), abs(-0)] => [-0,0,0]
        range(0, 1, 0.25) => [0,0.25,0.5,0.75]
        [range(0.5), range(-0.5), range(1, 2, "0.5")] => [[0],[0],[1,1.5]]
        range(0, 1, 0.1)[7] * 10 == 7 => false
        format("%05d", 18446744073709551616) => "18446744073709551616"
        format("%24d|%-24d|%024d", -18446744073709551616, 18446744073709551616, -18446744073709551616) => "   -18446744073709551616|18446744073709551616    |-00018446744073709551616"
        format("%d %s", pow(2, 70), pow(2, 70)) => "1180591620717411303424 1180591620717411300000"
        formatlist("%03d", [-0, -7, "18446744073709551616"]) => ["000","-07","18446744073709551616"]
        "#,
    );
    fail(
        r#"
        tonumber("1_0")
        tonumber("1p")
        tonumber("p3")
        tonumber("1e3p2")
        tonumber("1p3p3")
        tonumber("0x1p3")
        tonumber("1p3_0")
        tonumber("0p99999999999999999999")
        tonumber("1p99999999999")
        tonumber("")
        parseint(12, 10)
        range(1, 2, -0.5)
        format("%d", 1.5)
        "#,
    );
}

#[test]
fn yaml_blocks_end_with_their_last_line() {
    encode(
        r#"
        yamldecode("|\n a") => "a"
        yamldecode("|\n a\n") => "a\n"
        yamldecode("|\n a\n ") => "a\n"
        yamldecode("|\n a\n  ") => "a\n "
        yamldecode("|+\n  a\n  \n ") => "a\n\n"
        yamldecode("a: >\n  x\n  y\n\n  z") => {"a":"x y\nz"}
        yamldecode("a: |\r\n  x\r\n  y") => {"a":"x\ny"}
        yamldecode("- |\n  x\n# c") => ["x\n"]
        yamldecode("- |\n x\n- b") => ["x\n","b"]
        yamldecode("[]\n") => []
        [yamldecode("|"), yamldecode("a: |-\n  ~\n"), yamldecode("|\n 1")] => [null,{"a":null},"1"]
        "#,
    );
}

#[test]
fn yaml_lines_after_a_block_start_without_a_tab() {
    encode(
        r#"
        yamldecode("a: |\n  x\n  \ty\n") => {"a":"x\n\ty\n"}
        yamldecode("a: |\n  x\nb: [1,\n\t2]") => {"a":"x\n","b":[1,2]}
        "#,
    );
    fail(
        r#"
        yamldecode("a: |\n  x\n\t")
        yamldecode("a: |\n  x\n\t# c")
        yamldecode("a: |\n  x\n\n\t# c\nb: 1")
        yamldecode("a: |+\n  x\n\t\n")
        yamldecode("|\n x\n\t\n")
        "#,
    );
}

#[test]
fn other_tabs_in_yaml() {
    encode(
        r#"
        yamldecode("a: \tb\t\nc: d\t# x") => {"a":"b","c":"d"}
        yamldecode("[\n\ta,\tb\t]") => ["a","b"]
        yamldecode("a\n\tb") => "a b"
        "#,
    );
    fail(
        r#"
        yamldecode("a: b\n\tc: d")
        yamldecode("a:\n\t b")
        yamldecode("a:\t- b")
        yamldecode("-\t- b")
        "#,
    );
    // The tools refuse these.
    encode(
        r#"
        yamldecode("-\tb") => ["b"]
        yamldecode("- \tb") => ["b"]
        yamldecode("\ta: b") => {"a":"b"}
        yamldecode("a:\n \tb") => {"a":"b"}
        yamldecode("a: b\n\t# x\nc: d") => {"a":"b","c":"d"}
        "#,
    );
    // The tools accept these.
    fail(
        r#"
        yamldecode("a:\tb")
        yamldecode("{a:\tb}")
        yamldecode("a: \"x\n\ty\"")
        "#,
    );
}

#[test]
fn branches_of_a_conditional_have_one_type() {
    encode(
        r#"
        true ? [1] : ["a", "b"] => ["1"]
        true ? [1] : ["a"] => ["1"]
        true ? { a = 1 } : { b = "x" } => {"a":"1"}
        true ? { a = 1, b = "x" } : { a = "y" } => {"a":"1","b":"x"}
        true ? { a = 1, b = true } : { a = "y", b = false } => {"a":"1","b":true}
        true ? tolist([1]) : ["a"] => ["1"]
        true ? toset([2, 1]) : ["a"] => [1,2]
        true ? tomap({ a = 1 }) : { a = "x" } => {"a":"1"}
        [true ? [] : ["a"], true ? null : [1], true ? 1 : null] => [[],null,1]
        (true ? [1] : [1, 2]) == tolist([1]) => true
        (true ? [1] : [2]) == [1] => true
        "#,
    );
    fail(
        r#"
        true ? 1 : true
        true ? "a" : [1]
        true ? [1, true] : [1]
        true ? {} : []
        "#,
    );
}

#[test]
fn a_logical_operand_can_decide_alone() {
    encode(
        r"
        [null || true, true || null, null && true, true && null, null && null] => [true,true,false,false,false]
        [true || [][0], [][0] || true, false && [][0], [][0] && null] => [true,true,false,false]
        ",
    );
    fail(
        r#"
        null || false
        null || null
        true || "x"
        "x" || true
        null && 1
        true && [][0]
        "#,
    );
}

#[test]
fn lists_sets_and_tuples_differ() {
    encode(
        r#"
        [[1] == tolist([1]), { a = 1 } == tomap({ a = 1 }), toset([2, 1]) == toset([1, 2])] => [false,false,true]
        [contains([1, null], 1), contains([null], "a"), contains(["1"], 1)] => [true,false,false]
        [for key, element in toset(["b", "a"]) : key] => ["a","b"]
        lookup(tomap({ a = "x" }), "b", 1) => "1"
        [lookup({ a = "x" }, "b", 1), lookup({}, "b", null), lookup({ a = null }, "a", 1)] => [1,null,null]
        toset([1, "a", true]) => ["1","a","true"]
        toset([[1], ["a"]]) => [["1"],["a"]]
        toset([{ a = 1 }, { b = 2 }]) => [{"a":1},{"b":2}]
        toset([[1], [1, 2]]) => [[1,2],[1]]
        [toset([true, false]), toset([10, 9.5, 9]), toset(["b", null, "a"])] => [[false,true],[9,9.5,10],["a","b",null]]
        toset([["b", 2], ["a", 10], ["b", 10]]) => [["a",10],["b",10],["b",2]]
        tolist([{ a = 1 }, { a = "x", b = 2 }]) => [{"a":"1"},{"a":"x","b":"2"}]
        tomap({ a = [1, 2], b = null }) => {"a":[1,2],"b":null}
        concat(tolist([1]), tolist(["a"])) => ["1","a"]
        concat([1], ["a"]) => [1,"a"]
        merge(tomap({ a = 1 }), { b = "x" }) => {"a":1,"b":"x"}
        setproduct(toset([2, 1]), ["b", "a"]) => [[1,"a"],[1,"b"],[2,"a"],[2,"b"]]
        reverse(toset(["b", "a"])) => ["b","a"]
        [coalesce(null, [1], [2]), coalesce([1], ["a"])] => [[1],["1"]]
        zipmap(["a", "b"], tolist([1, "x"])) => {"a":"1","b":"x"}
        tolist(["a"])[*] == tolist(["a"]) => true
        indent(5000, "a") => "a"
        "#,
    );
    fail(
        r#"
        index(["a", null], null)
        toset(["a"])[0]
        element(toset(["a"]), 0)
        slice(toset(["a"]), 0, 1)
        concat(toset(["a"]), ["b"])
        coalescelist(toset(["a"]), ["b"])
        zipmap(["a"], toset([1]))
        lookup(tomap({ a = "x" }), "a", [])
        toset([1, true])
        tolist([null, { a = 1 }])
        alltrue([1])
        concat()
        setunion()
        "#,
    );
}

#[test]
fn numbers_that_are_too_large_are_errors() {
    for expression in [
        "1 / 0",
        "1e999 * 1e999",
        "1e-999 * 1e-999",
        "tonumber(\"1e999999999\")",
        "tonumber(\"1e-999999999\")",
    ] {
        assert!(value(expression).is_err(), "{expression}");
    }
    // tflock does not support these numbers, and uses the installed module.
    for expression in [
        "jsondecode(\"1e999999999\")",
        "jsondecode(\"[1e-999999999]\")",
        "yamldecode(\"1e999999999\")",
        "pow(10, 400)",
        "pow(2, -1074)",
        "pow(0, -1)",
        "pow(1e200, -2)",
        "parseint(\"Zz\", 62)",
    ] {
        let found = value(expression).unwrap_err().to_string();
        assert!(found.ends_with("is not supported"), "{expression}: {found}");
    }
}
