//! Random root modules whose module sources depend on variables, locals and functions.

use super::case::GeneratedCase;
use super::random::Random;
use super::source_text::{CaseFile, Literal, Node};
use super::values::{self, ValueType};

const DIRECTORIES: [&str; 4] = ["a", "b", "c", "é"];

/// Returns the directory that an expression in a module source is to select.
fn directory(random: &mut Random) -> String {
    random.pick(&DIRECTORIES).to_owned()
}

pub(super) fn generate(random: &mut Random) -> GeneratedCase {
    let mut files = Vec::new();
    for name in DIRECTORIES {
        let provider = name.replace('é', "e");
        let data = Node::block("data", &[&format!("{provider}_x"), "y"], Vec::new());
        files.push(CaseFile::new(format!("{name}/main.tf"), vec![data]));
    }
    let path = random.pick(&["main.tf", "main.tf", "main.tf", "main.tf.json"]);
    let mut nodes = Vec::new();
    for name in ["v", "w"] {
        nodes.push(variable(random, name));
    }
    nodes.push(locals(random));
    for index in 0..random.between(1, 2) {
        let source = Node::argument("source", source(random));
        nodes.push(Node::block("module", &[&format!("m{index}")], vec![source]));
    }
    files.push(CaseFile::new(path, nodes));
    if random.chance(35) {
        nested(random, &mut files);
    }
    let mut case = GeneratedCase::new(files);
    give_values(random, &mut case);
    case
}

fn variable(random: &mut Random, name: &str) -> Node {
    let mut body = Vec::new();
    if random.chance(90) {
        body.push(Node::argument("const", Literal::plain("true")));
    }
    if random.chance(92) {
        let default = match random.below(30) {
            0 => Literal::plain("null"),
            1 => Literal::List(vec![Literal::text(directory(random))]),
            2 => Literal::plain("1"),
            _ => Literal::text(directory(random)),
        };
        body.push(Node::argument("default", default));
    }
    if random.chance(50) {
        let types = ["string", "any", "string"];
        let odd = [
            "list(string)",
            "number",
            "bool",
            "map(string)",
            "object({})",
            "set(any)",
        ];
        body.push(Node::argument(
            "type",
            Literal::reference(random.pick_odd(&types, 8, &odd)),
        ));
    }
    if random.chance(12) {
        body.push(Node::argument(
            "nullable",
            Literal::plain(random.pick(&["true", "false"])),
        ));
    }
    if random.chance(4) {
        body.push(Node::argument("sensitive", Literal::plain("true")));
    }
    Node::block("variable", &[name], body)
}

fn locals(random: &mut Random) -> Node {
    let simple = random.pick(&[
        "var.v",
        "\"a\"",
        "lower(\"B\")",
        "try(var.w, \"c\")",
        "coalesce(var.w, \"b\")",
    ]);
    let complex = values::expression(random, ValueType::Number, 2);
    let list = random.pick(&[
        "[\"a\", \"b\", \"c\"]",
        "tolist([var.v, \"a\"])",
        "{ a = \"b\" }",
        "toset([\"c\"])",
    ]);
    let body = vec![
        Node::argument("l", Literal::expression(simple)),
        Node::argument("n", Literal::expression(complex)),
        Node::argument("list", Literal::expression(list)),
    ];
    Node::block("locals", &[], body)
}

fn source(random: &mut Random) -> Literal {
    let number = values::expression(random, ValueType::Number, 2);
    let sources = [
        "./${var.v}".to_owned(),
        "./${local.l}".to_owned(),
        "./${local.list[0]}".to_owned(),
        "./${var.v == var.w ? \"a\" : \"b\"}".to_owned(),
        "${path.module}/${var.v}".to_owned(),
        "./${var.v}/../${local.l}".to_owned(),
        "./${element([\"a\", \"b\", \"c\"], try(abs(floor(local.n)) % 3, 0))}".to_owned(),
        format!("./${{element([\"a\", \"b\", \"c\", \"é\"], try(abs(floor({number})) % 4, 0))}}"),
        "./${lookup({ a = \"b\" }, var.v, \"c\")}".to_owned(),
        "%{ if var.v == \"a\" }./a%{ else }./b%{ endif }".to_owned(),
        "./${join(\"\", [for x in [\"a\", \"b\"] : x if x == var.v])}".to_owned(),
        "./${var.w}".to_owned(),
        "./${try(var.v.x, \"b\")}".to_owned(),
        "./${trimspace(var.v)}".to_owned(),
        "./${var.v[0]}".to_owned(),
        "./e\u{301}".to_owned(),
    ];
    Literal::template(random.pick(&sources))
}

/// Adds a module that passes a value on to a module that it calls.
fn nested(random: &mut Random, files: &mut Vec<CaseFile>) {
    let name = directory(random);
    let value = random.pick(&["var.v", "local.l", "\"a\"", "var.w", "upper(\"a\")", "null"]);
    let body = vec![
        Node::argument("source", Literal::text("./p")),
        Node::argument("x", Literal::expression(value)),
    ];
    files.push(CaseFile::new(
        "p.tf",
        vec![Node::block("module", &["p"], body)],
    ));
    let mut body = vec![Node::argument("const", Literal::plain("true"))];
    if random.chance(50) {
        body.push(Node::argument("default", Literal::text(name)));
    }
    let variable = Node::block("variable", &["x"], body);
    let source = Node::argument("source", Literal::template("../${lower(var.x)}"));
    let call = Node::block("module", &["q"], vec![source]);
    files.push(CaseFile::new("p/main.tf", vec![variable, call]));
}

/// Adds files and options that give values to the variables.
fn give_values(random: &mut Random, case: &mut GeneratedCase) {
    for name in [
        "terraform.tfvars",
        "a.auto.tfvars",
        "terraform.tfvars.json",
        "b.auto.tfvars.json",
    ] {
        if random.chance(15) {
            let text = assignment(random, name.ends_with(".json"));
            case.files.push(CaseFile::of_lines(name, &text));
        }
    }
    for number in 0..random.pick(&[0, 0, 1, 2, 3]) {
        if random.chance(40) {
            let name = format!("extra{number}.tfvars");
            let text = assignment(random, false);
            case.files.push(CaseFile::of_lines(&*name, &text));
            case.values.push(format!("-var-file={name}"));
        } else {
            let name = random.pick_odd(&["v", "w"], 4, &["nope", "v ", ""]);
            case.values
                .push(format!("-var={name}={}", directory(random)));
        }
    }
}

fn assignment(random: &mut Random, is_json: bool) -> String {
    let name = random.pick_odd(&["v", "w"], 5, &["nope", "é"]);
    let value = directory(random);
    if is_json {
        return format!("{{\"{name}\": \"{value}\"}}\n");
    }
    match random.below(20) {
        0 => format!("{name} = [\"{value}\"]\n"),
        1 => format!("{name} = upper(\"{value}\")\n"),
        2 => format!("{name} = \n"),
        3 => format!("{name} = null\n"),
        4 => format!("{name} = \"${{\"{value}\"}}\"\n"),
        5 => format!("{name} = <<E\n{value}\nE\n"),
        6 => format!("# {name}\n{name} = true\n"),
        _ => format!("{name} = \"{value}\"\n"),
    }
}
