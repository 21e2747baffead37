//! Rejected files: messages, places and hints.

use super::*;

/// Splits a table into its rows, `TEXT => ERROR`. `\n` in TEXT is a line break.
fn rows(table: &str) -> impl Iterator<Item = (String, &str)> {
    table.lines().map(|row| {
        let (text, error) = row.trim_start().split_once("=> ").unwrap();
        (text.trim_end_matches(' ').replace("\\n", "\n"), error)
    })
}

#[test]
fn faults_of_structure() {
    for (text, expected) in rows(
        r#"foo = 1\n => 1:1: unsupported argument: `foo` is not expected here
        provider = 1\n => 1:1: unsupported argument: `provider` is not expected here
        foo "x" {}\n => 1:1: unsupported block type: `foo` is not expected here
        module {}\n => 1:1: missing label: a `module` block must have one label
        module "a" "b" {}\n => 1:12: extraneous label: a `module` block must have only one label
        provider {\n version="1.0.0"\n}\n => 1:1: missing label: a `provider` block must have one label
        provider "a" "b" {}\n => 1:14: extraneous label: a `provider` block must have only one label
        provider "x" {\n => 1:14: unclosed configuration block: its closing brace is missing
        {"provider": {}} => 1:1: argument or block definition required here"#,
    ) {
        assert_eq!(errors(&text, Engine::Terraform), [expected], "{text}");
    }
    for (content, expected) in rows(
        r#"version = "1.0.0"\nfoo = 1 => 3:1: unsupported argument: `foo` is not expected here
        version = "1.0.0"\nfoo {} => 3:1: unsupported block type: `foo` is not expected here
        version = "1.0.0"\nversion = "1.0.0" => 3:1: attribute redefined: `version` was already set in this body"#,
    ) {
        assert_eq!(
            errors(block(&content), Engine::Terraform),
            [expected],
            "{content}"
        );
    }
    let nul = block("version = \"1.0.0\"") + "\0";
    assert_eq!(errors(nul, Engine::Terraform).len(), 1);
    assert_eq!(
        errors(b"# \xff\nfoo = \"\xff\"\n", Engine::Terraform).len(),
        1
    );
}

#[test]
fn faults_of_addresses() {
    for (label, expected) in rows(
        r"acme/a => non-normalized provider source address: it must be written `registry.terraform.io/acme/a`
        a => non-normalized provider source address: it must be written `registry.terraform.io/hashicorp/a`
        registry.terraform.io/Acme/a => non-normalized provider source address: it must be written `registry.terraform.io/acme/a`
        registry.terraform.io:443/acme/a => non-normalized provider source address: it must be written `registry.terraform.io/acme/a`
        terraform.io/builtin/foo => invalid provider source address: terraform does not lock `terraform.io/builtin/foo`
        registry.terraform.io/-/aws => invalid provider source address: terraform does not lock `registry.terraform.io/-/aws`
        registry.opentofu.org/-/aws => invalid provider source address: cannot read provider source address `registry.opentofu.org/-/aws`: the namespace `-` exists only on `registry.terraform.io`, not on `registry.opentofu.org`
        a b/c => invalid provider source address: cannot read provider source address `a b/c`: `a b` must consist of letters, digits and single inner hyphens
        xn--bcher-kva.example/a/b => invalid provider source address: cannot read provider source address `xn--bcher-kva.example/a/b`: `xn--bcher-kva` must be written in Unicode, not in Punycode",
    ) {
        let text = format!("provider \"{label}\" {{\n version = \"1.0.0\"\n}}\n");
        assert_eq!(
            errors(text, Engine::Terraform),
            [format!("1:10: {expected}")],
            "{label}"
        );
    }
    let bare = "provider foo {\n version = \"1.0.0\"\n}\n";
    assert_eq!(
        errors(bare, Engine::Terraform),
        [
            "1:10: non-normalized provider source address: it must be written `registry.terraform.io/hashicorp/foo`"
        ]
    );
    let idn = "provider \"bücher.example/a/b\" {\n version = \"1.0.0\"\n}\n";
    assert!(read(idn, Engine::Terraform).is_ok());
}

#[test]
fn built_in_and_legacy_addresses_differ_by_engine() {
    // (label, accepted by Terraform, accepted by OpenTofu)
    for (label, terraform, tofu) in [
        ("opentofu.org/builtin/foo", true, false),
        ("terraform.io/builtin/foo", false, false),
        ("registry.terraform.io/-/aws", false, false),
        ("registry.opentofu.org/-/aws", false, false),
        ("registry.terraform.io/hashicorp/aws", true, true),
    ] {
        let text = format!("provider \"{label}\" {{\n version = \"1.0.0\"\n}}\n");
        let readable = BOTH.map(|engine| read(&text, engine).is_ok());
        assert_eq!(readable, [terraform, tofu], "{label}");
    }
}

#[test]
fn faults_of_values() {
    for (content, expected) in rows(
        r#" => 1:1: missing required argument: a provider lock must have a `version`
        version = null => 2:11: missing required argument: a provider lock must have a `version`
        version = "" => 2:11: invalid provider version number: cannot read version ``: a version number is missing
        version = "1.0" => 2:11: invalid provider version number: it must be written `1.0.0`
        version = "01.0.0" => 2:11: invalid provider version number: it must be written `1.0.0`
        version = 1 => 2:11: invalid provider version number: it must be written `1.0.0`
        version = true => 2:11: invalid provider version number: cannot read version `true`: expected a number instead of `true`
        version = "v1.0.0" => 2:11: invalid provider version number: cannot read version `v1.0.0`: a version must not start with `v`
        version = " 1.0.0" => 2:11: invalid provider version number: cannot read version ` 1.0.0`: expected a number instead of ` 1.0.0`
        version = "1.0.99999999999999999999" => 2:11: invalid provider version number: cannot read version `1.0.99999999999999999999`: `99999999999999999999` is too large for a version number
        version = ["1.0.0"] => 2:11: unsuitable value type: expected a string, found a list
        version = var.x => 2:11: variables are not allowed here, but `var` is one
        version = true ? "1.0.0" : var.x => 2:28: variables are not allowed here, but `var` is one
        version = lower("1.0.0") => 2:11: function calls are not allowed here, but `lower()` is one"#,
    ) {
        assert_eq!(
            errors(block(&content), Engine::Terraform),
            [expected],
            "{content}"
        );
    }
}

#[test]
fn faults_of_constraints() {
    for (constraints, expected) in rows(
        r#"null => 3:15: unsuitable value type: expected a string, found null
        ">= 1.0" => 3:16: invalid provider version constraints: cannot read version constraint `>= 1.0`: in a lock file, it must be written `>= 1.0.0`
        "= 1.0.0" => 3:16: invalid provider version constraints: cannot read version constraint `= 1.0.0`: in a lock file, it must be written `1.0.0`
        ">= 1.0.0, abc" => 3:26: invalid provider version constraints: cannot read version constraint `>= 1.0.0, abc`: expected a number instead of `abc`
        "1.*" => 3:18: invalid provider version constraints: cannot read version constraint `1.*`: expected a number instead of `*`
        ">= v1.0.0" => 3:19: invalid provider version constraints: cannot read version constraint `>= v1.0.0`: a version must not start with `v`
        1 => 3:15: invalid provider version constraints: cannot read version constraint `1`: in a lock file, it must be written `1.0.0`
        "${"abc"}" => 3:15: invalid provider version constraints: cannot read version constraint `abc`: expected a number instead of `abc`"#,
    ) {
        let content = format!("version = \"1.0.0\"\nconstraints = {constraints}");
        assert_eq!(
            errors(block(&content), Engine::Terraform),
            [expected],
            "{constraints}"
        );
    }
}

#[test]
fn faults_of_hashes() {
    for (hashes, expected) in rows(
        r#"[] => 3:10: invalid provider hash set: `hashes` must contain at least one hash if it is set
        null => 3:10: invalid expression: `hashes` must be a list in brackets
        "h1:x" => 3:10: invalid expression: `hashes` must be a list in brackets
        (["h1:x"]) => 3:10: invalid expression: `hashes` must be a list in brackets
        [for x in ["h1:a"] : x] => 3:10: invalid expression: `hashes` must be a list in brackets
        { a = "h1:x" } => 3:10: invalid expression: `hashes` must be a list in brackets
        concat(["h1:x"]) => 3:10: invalid expression: `hashes` must be a list in brackets
        ["abc"] => 3:11: invalid provider hash string: invalid hash `abc`: expected a scheme, a colon and a value, as in `h1:...`
        ["h1:x", ":abc"] => 3:19: invalid provider hash string: invalid hash `:abc`: expected a scheme, a colon and a value, as in `h1:...`
        [""] => 3:11: invalid provider hash string: invalid hash ``: expected a scheme, a colon and a value, as in `h1:...`
        [1] => 3:11: invalid provider hash string: invalid hash `1`: expected a scheme, a colon and a value, as in `h1:...`
        [null] => 3:11: unsuitable value type: expected a string, found null
        [[]] => 3:11: unsuitable value type: expected a string, found a list
        [lower("h1:x")] => 3:11: function calls are not allowed here, but `lower()` is one"#,
    ) {
        let content = format!("version = \"1.0.0\"\nhashes = {hashes}");
        assert_eq!(
            errors(block(&content), Engine::Terraform),
            [expected],
            "{hashes}"
        );
    }
}

#[test]
fn all_errors_are_reported_in_the_order_of_the_text() {
    let good = block("version = \"1.0.0\"");
    let text = format!(
        "{good}{}{good}foo {{}}\n",
        block("version = \"1\"\nhashes = [\"x\", \"y\"]").replace("acme/a", "Acme/b")
    );
    let lines: Vec<String> = errors(text, Engine::Terraform)
        .iter()
        .map(|error| error.split(": ").take(2).collect::<Vec<_>>().join(": "))
        .collect();
    assert_eq!(
        lines,
        [
            "4:10: non-normalized provider source address",
            "5:11: invalid provider version number",
            "6:11: invalid provider hash string",
            "6:16: invalid provider hash string",
            "8:10: duplicate provider lock",
            "11:1: unsupported block type",
        ]
    );
    let twice = errors(format!("{good}{good}"), Engine::Terraform);
    assert_eq!(
        twice,
        [
            "4:10: duplicate provider lock: `registry.terraform.io/acme/a` was already locked on line 1"
        ]
    );
}

#[test]
fn unfinished_merges_are_recognized() {
    let text =
        block("<<<<<<< ours\nversion = \"1.0.0\"\n=======\nversion = \"1.1.0\"\n>>>>>>> theirs");
    let found = read(text, Engine::Terraform).expect_err("a merge");
    assert_eq!(
        (found[0].to_string().as_str(), found[0].place.line),
        ("unfinished merge: the lock file has conflict markers", 2)
    );
    assert_eq!((found[0].place.width, found.len()), (12, 1));
    assert!(found[0].hint().is_some());
    let text = block("version = \"1.0.0\"\n>>>>>>> theirs  ");
    let found = read(text, Engine::Terraform).expect_err("a merge");
    assert_eq!(found[0].problem, ParseProblem::ConflictMarker);
    assert_eq!((found[0].place.line, found[0].place.width), (3, 14));
}

#[test]
fn errors_have_the_hints_of_addresses() {
    let text = "provider \"t/terraform-p\" {\n version = \"1.0.0\"\n}\n";
    let found = read(text, Engine::Terraform).expect_err("a prefix");
    assert_eq!(found[0].hint().as_deref(), Some("write `t/p`"));
    assert_eq!(found[0].place().map(|place| place.line), Some(1));
    let found = read("foo {}", Engine::Terraform).expect_err("a block");
    assert_eq!(found[0].hint(), None);
}
