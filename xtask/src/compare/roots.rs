//! Random root modules: several files, overrides, both syntaxes, nested local modules, tests.

use super::blocks::{self, Declared};
use super::case::GeneratedCase;
use super::random::Random;
use super::source_text::{CaseFile, Literal, Node};

const NAMES: [&str; 6] = [
    "main.tf",
    "main.tf.json",
    "versions.tf",
    "a.tf",
    "b.tf.json",
    "z.tf",
];
const ODD_NAMES: [&str; 12] = [
    "main.tofu",
    "a.tofu",
    "main.tofu.json",
    ".hidden.tf",
    "b.tf~",
    "#c.tf",
    "#d.tf#",
    "x.TF",
    "é.tf",
    "x.tfvars",
    "a b.tf",
    "tf",
];
const OVERRIDES: [&str; 5] = [
    "override.tf",
    "x_override.tf",
    "override.tf.json",
    "y_override.tf.json",
    "_override.tf",
];

pub(super) fn generate(random: &mut Random) -> GeneratedCase {
    let mut files = Vec::new();
    let odd = random.pick(&[0, 0, 0, 2, 5]);
    module(random, "", 0, odd, &mut files);
    if random.chance(6) {
        test_file(random, odd, &mut files);
    }
    GeneratedCase::new(files)
}

/// Adds the files of a module and of those that it calls.
fn module(
    random: &mut Random,
    directory: &str,
    depth: usize,
    odd: usize,
    files: &mut Vec<CaseFile>,
) {
    let mut declared = Declared::with_mistakes(odd);
    let mut own: Vec<CaseFile> = Vec::new();
    for _ in 0..random.pick(&[1, 1, 1, 2, 3]) {
        let name = random.pick_odd(&NAMES, 8, &ODD_NAMES);
        let path = format!("{directory}{name}");
        if own.iter().all(|file| file.path != path) {
            let mut file = CaseFile::new(path, Vec::new());
            file.crlf = random.chance(4);
            own.push(file);
        }
    }
    let mut nodes = Vec::new();
    if random.chance(75) {
        let required = blocks::required_providers(random, &mut declared);
        nodes.push(Node::block("terraform", &[], vec![required]));
    }
    for _ in 0..random.between(0, 5) {
        nodes.push(blocks::any(random, &mut declared, depth == 0));
    }
    for index in 0..random.pick(&[0, 0, 0, 1, 2]).min(2 - depth.min(2)) {
        let name = format!("{}{index}", random.pick(&["m", "null", "M", "é"]));
        nodes.push(call(random, &name));
        module(
            random,
            &format!("{directory}{name}/"),
            depth + 1,
            odd,
            files,
        );
    }
    random.shuffle(&mut nodes);
    for node in nodes {
        let index = random.below(own.len());
        own[index].nodes.push(node);
    }
    if random.chance(25) {
        own.push(override_file(random, directory, odd, &mut declared));
    }
    files.extend(own);
}

fn call(random: &mut Random, name: &str) -> Node {
    let mut body = vec![Node::argument("source", Literal::text(format!("./{name}")))];
    match random.below(12) {
        0 => body.push(Node::argument("count", Literal::plain("0"))),
        1 => body.push(Node::argument(
            "for_each",
            Literal::expression("toset([\"a\"])"),
        )),
        2 => {
            let passed = ("foo".to_owned(), Literal::reference("foo"));
            body.push(Node::argument("providers", Literal::Object(vec![passed])));
        }
        3 => body.push(Node::argument("depends_on", Literal::List(Vec::new()))),
        _ => {}
    }
    Node::block("module", &[name], body)
}

fn override_file(
    random: &mut Random,
    directory: &str,
    odd: usize,
    declared: &mut Declared,
) -> CaseFile {
    let mut nodes = Vec::new();
    for _ in 0..random.between(1, 2) {
        let known = declared.resources.clone();
        match random.below(6) {
            0..=2 if !known.is_empty() => {
                let (kind, name) = random.pick(&known);
                let names = ["null", "foo", "null.a", "bar.b", "true.x"];
                let provider = Literal::reference(random.pick(&names));
                nodes.push(Node::block(
                    "resource",
                    &[&kind, &name],
                    vec![Node::argument("provider", provider)],
                ));
            }
            3 => nodes.push(blocks::any(random, declared, directory.is_empty())),
            _ => {
                let required =
                    blocks::required_providers(random, &mut Declared::with_mistakes(odd));
                nodes.push(Node::block("terraform", &[], vec![required]));
            }
        }
    }
    CaseFile::new(format!("{directory}{}", random.pick(&OVERRIDES)), nodes)
}

/// Adds a test file with a run that calls a module.
fn test_file(random: &mut Random, odd: usize, files: &mut Vec<CaseFile>) {
    let source = Node::argument("source", Literal::text("./setup"));
    let run = Node::block(
        "run",
        &["setup"],
        vec![Node::block("module", &[], vec![source])],
    );
    let path = random.pick(&[
        "main.tftest.hcl",
        "tests/main.tftest.hcl",
        "tests/x.tftest.json",
    ]);
    files.push(CaseFile::new(path, vec![run]));
    let mut declared = Declared::with_mistakes(odd);
    let nodes = (0..2)
        .map(|_| blocks::any(random, &mut declared, false))
        .collect();
    files.push(CaseFile::new("setup/main.tf", nodes));
}
