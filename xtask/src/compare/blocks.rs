//! Random blocks of a module.

use super::names::{local_name, resource_type, unique};
use super::random::Random;
use super::source_text::{Literal, Node};
use super::{constraints, sources};

/// The names that the blocks of a module declare, so that other blocks can refer to them.
#[derive(Default)]
pub(super) struct Declared {
    /// The type and name of each resource.
    pub(super) resources: Vec<(String, String)>,
    /// The local names in `required_providers`.
    pub(super) providers: Vec<String>,
    /// The names of `provider` blocks with an alias.
    pub(super) aliases: Vec<String>,
    /// The probability of mistakes, in percent.
    odd: usize,
    count: usize,
}

impl Declared {
    pub(super) fn with_mistakes(odd: usize) -> Self {
        Self {
            odd,
            ..Self::default()
        }
    }

    pub(super) fn unique(&mut self, random: &mut Random) -> String {
        self.count += 1;
        unique(random, self.count)
    }

    /// Returns the local name of a provider, which is usually declared.
    fn provider(&self, random: &mut Random) -> String {
        if self.providers.is_empty() || random.chance(40) {
            return local_name(random, self.odd).to_owned();
        }
        random.pick(&self.providers)
    }
}

/// Returns a `required_providers` block.
pub(super) fn required_providers(random: &mut Random, declared: &mut Declared) -> Node {
    let mut entries = Vec::new();
    for _ in 0..random.between(0, 4) {
        let name = local_name(random, declared.odd);
        if declared.providers.iter().any(|known| known == name) && !random.chance(declared.odd) {
            continue;
        }
        declared.providers.push(name.to_owned());
        entries.push(Node::argument(
            name,
            requirement(random, name, declared.odd),
        ));
        if random.chance(5) {
            entries.push(comment(random));
        }
    }
    Node::block("required_providers", &[], entries)
}

fn requirement(random: &mut Random, name: &str, odd: usize) -> Literal {
    if random.chance(15) {
        return legacy_requirement(random, odd);
    }
    let mut entries = Vec::new();
    if random.chance(75) {
        let source = Literal::text(sources::provider(random, odd));
        entries.push(("source".to_owned(), source));
    }
    if random.chance(60) {
        let version = Literal::text(version(random, odd));
        entries.push(("version".to_owned(), version));
    }
    if random.chance(12) {
        let alias = Literal::reference(format!(
            "{name}.{}",
            random.pick(&["x", "null", "Y", "true"])
        ));
        entries.push((
            "configuration_aliases".to_owned(),
            Literal::List(vec![alias]),
        ));
    }
    if random.chance(odd) {
        let odd = ["versions", "SOURCE", "alias", "//", "source", "version"];
        entries.push((random.pick(&odd).to_owned(), Literal::text("x")));
    }
    random.shuffle(&mut entries);
    Literal::Object(entries)
}

fn legacy_requirement(random: &mut Random, odd: usize) -> Literal {
    match random.below(12) {
        0 if odd > 0 => Literal::plain(random.pick(&["1", "2.0", "null", "true", "-1", "1e0"])),
        1 => Literal::Code("\"${1}.0\"".into(), "\"${1}.0\"".into()),
        2 => Literal::Code("true ? \">= 1\" : \"2\"".into(), "\">= 1\"".into()),
        3 => Literal::Code("<<EOT\n~> 1.0\nEOT\n".into(), "\"~> 1.0\\n\"".into()),
        4 if odd > 0 => Literal::List(vec![Literal::text("1.0")]),
        _ => Literal::text(version(random, odd)),
    }
}

/// Returns a constraint, usually one that fits all others.
fn version(random: &mut Random, odd: usize) -> String {
    let fitting = [
        ">= 0.9",
        "~> 2.0",
        "> 1, < 3",
        "!= 1.0.0",
        "<= 2.1.0",
        "!=2.1,>=1.1",
        "2.0.0",
    ];
    if random.chance(odd * 2) {
        return constraints::constraint(random, odd);
    }
    random.pick(&fitting).to_owned()
}

/// Returns the value of a `provider` argument.
fn provider_argument(random: &mut Random, declared: &Declared) -> Literal {
    let name = declared.provider(random);
    let odd = declared.odd;
    let alias = random.pick(&["a", "a", "null", "B", "é"]);
    match random.below(24) {
        0 => Literal::text(name),
        1 => Literal::text(format!("{name}.{alias}")),
        2 => Literal::reference(format!("{name}.{alias}[\"x\"]")),
        3 if random.chance(odd * 10) => Literal::reference(format!("{name}[0]")),
        4 if random.chance(odd * 10) => Literal::reference(format!("({name}.{alias})")),
        5 if random.chance(odd * 10) => Literal::reference(format!("{name}.{alias}.c")),
        6 if random.chance(odd * 10) => Literal::expression(format!("{name}.{alias}")),
        7 if random.chance(odd * 10) => Literal::text(random.pick(&["", "a b", ".", "a.", "1.a"])),
        8..=15 => Literal::reference(format!("{name}.{alias}")),
        _ => Literal::reference(name),
    }
}

/// Returns a block that requires a provider.
fn requiring(random: &mut Random, declared: &mut Declared, keyword: &str) -> Node {
    let kind = resource_type(random, declared.odd);
    let name = declared.unique(random);
    let mut body = Vec::new();
    if random.chance(35) {
        body.push(Node::argument(
            "provider",
            provider_argument(random, declared),
        ));
    }
    match random.below(14) {
        0 => body.push(Node::argument("count", Literal::plain("2"))),
        1 => body.push(Node::argument(
            "for_each",
            Literal::expression("toset([\"a\"])"),
        )),
        2 => body.push(Node::argument("text", heredoc(random))),
        3 if keyword == "resource" => {
            body.push(Node::block("provisioner", &["local-exec"], Vec::new()))
        }
        4 if keyword == "resource" => {
            let argument = Node::argument("create_before_destroy", Literal::plain("true"));
            body.push(Node::block("lifecycle", &[], vec![argument]));
        }
        5 => body.push(Node::argument(
            "x",
            Literal::template("a${upper(\"b\")}%{ if true }c%{ endif }"),
        )),
        6 => body.push(comment(random)),
        _ => {}
    }
    if keyword == "resource" {
        declared.resources.push((kind.clone(), name.clone()));
    }
    Node::block(keyword, &[&kind, &name], body)
}

/// Removes `count` and `for_each`, which data blocks inside `check` blocks may not have.
fn without_repetition(mut data: Node) -> Node {
    if let Node::Block { body, .. } = &mut data {
        let repeats = |node: &Node| match node {
            Node::Argument { key, .. } => key == "count" || key == "for_each",
            _ => false,
        };
        body.retain(|node| !repeats(node));
    }
    data
}

fn heredoc(random: &mut Random) -> Literal {
    let word = random.pick(&["EOT", "E-T", "eot", "É"]);
    let dash = random.pick(&["", "-"]);
    let native = format!("<<{dash}{word}\n  a ${{1 + 1}} \"}}\n  # no comment\n{word}\n");
    Literal::Code(native, "\"a\"".to_owned())
}

/// Returns a block of any kind, for a root module or for a called one.
pub(super) fn any(random: &mut Random, declared: &mut Declared, is_root: bool) -> Node {
    match random.below(26) {
        0..=7 => requiring(random, declared, "resource"),
        8..=10 => requiring(random, declared, "data"),
        11 => requiring(random, declared, "ephemeral"),
        12 => requiring(random, declared, "action"),
        13..=15 => provider_block(random, declared),
        16 => {
            let data = without_repetition(requiring(random, declared, "data"));
            Node::block("check", &[&declared.unique(random)], vec![data, assert()])
        }
        17 | 18 if is_root || random.chance(declared.odd) => import(random, declared),
        19 => moved(random, declared),
        20 => removed(random, declared),
        21 => variable(random, declared),
        22 => output(random, declared),
        23 => terraform(random, declared),
        24 => text(random, declared.odd),
        _ => Node::block(
            "locals",
            &[],
            vec![Node::argument(&declared.unique(random), Literal::text("é"))],
        ),
    }
}

fn provider_block(random: &mut Random, declared: &mut Declared) -> Node {
    let name = declared.provider(random);
    let mut body = Vec::new();
    if random.chance(60) || declared.aliases.contains(&name) {
        let alias = declared.unique(random);
        body.push(Node::argument("alias", Literal::text(alias)));
    }
    if random.chance(25) {
        let version = Literal::text(version(random, declared.odd));
        body.push(Node::argument("version", version));
    }
    match random.below(30) {
        0..=2 if declared.odd == 0 => {}
        0 => body.push(Node::argument(
            "for_each",
            Literal::expression("toset([\"x\"])"),
        )),
        1 => body.push(Node::argument("source", Literal::text("x"))),
        2 => body.push(Node::argument("count", Literal::plain("1"))),
        3 => body.push(Node::argument("version", Literal::plain("null"))),
        4 => body.push(Node::argument("features", Literal::Object(Vec::new()))),
        _ => {}
    }
    declared.aliases.push(name.clone());
    Node::block("provider", &[&name], body)
}

fn assert() -> Node {
    let body = vec![
        Node::argument("condition", Literal::expression("path.module != \"\"")),
        Node::argument("error_message", Literal::text("x")),
    ];
    Node::block("assert", &[], body)
}

fn import(random: &mut Random, declared: &Declared) -> Node {
    let known = random
        .chance(30)
        .then(|| declared.resources.last().cloned())
        .flatten();
    let (kind, name) =
        known.unwrap_or_else(|| (resource_type(random, declared.odd), "other".to_owned()));
    let target = match random.below(12) {
        0 => format!("module.m.{kind}.{name}"),
        1 => format!("{kind}.{name}[0]"),
        2 => format!("{kind}.{name}[\"k\"]"),
        3 if random.chance(declared.odd * 10) => format!("data.{kind}.{name}"),
        4 if random.chance(declared.odd * 10) => kind,
        _ => format!("{kind}.{name}"),
    };
    let mut body = vec![Node::argument("to", Literal::reference(target))];
    if !random.chance(declared.odd * 3) {
        body.push(Node::argument("id", Literal::text("i")));
    }
    if random.chance(25) {
        body.push(Node::argument(
            "provider",
            provider_argument(random, declared),
        ));
    }
    Node::block("import", &[], body)
}

fn moved(random: &mut Random, declared: &Declared) -> Node {
    let kind = resource_type(random, declared.odd);
    let from = Node::argument("from", Literal::reference(format!("{kind}.a")));
    let to = Node::argument("to", Literal::reference(format!("{kind}.b")));
    Node::block("moved", &[], vec![from, to])
}

fn removed(random: &mut Random, declared: &Declared) -> Node {
    let from = Literal::reference(format!("{}.gone", resource_type(random, declared.odd)));
    let destroy = Node::argument("destroy", Literal::plain("false"));
    let lifecycle = Node::block("lifecycle", &[], vec![destroy]);
    Node::block(
        "removed",
        &[],
        vec![Node::argument("from", from), lifecycle],
    )
}

fn variable(random: &mut Random, declared: &mut Declared) -> Node {
    let mut body = vec![Node::argument("default", Literal::text("d"))];
    match random.below(6) {
        0 => body.push(Node::argument("type", Literal::reference("string"))),
        1 => body.push(Node::argument("nullable", Literal::plain("false"))),
        2 => body.push(Node::argument("const", Literal::plain("true"))),
        3 => body.push(Node::argument("sensitive", Literal::plain("true"))),
        _ => {}
    }
    Node::block("variable", &[&declared.unique(random)], body)
}

fn output(random: &mut Random, declared: &mut Declared) -> Node {
    let value = random.pick(&[
        "provider::foo::bar(1)",
        "nope.x.y",
        "1 + 1",
        "[for a in [1] : a]",
        "null",
    ]);
    let body = vec![Node::argument("value", Literal::expression(value))];
    Node::block("output", &[&declared.unique(random)], body)
}

fn terraform(random: &mut Random, declared: &mut Declared) -> Node {
    let node = match random.below(7) {
        0 => Node::argument("required_version", Literal::text(">= 0.13")),
        1 => Node::block(
            "provider_meta",
            &[local_name(random, declared.odd)],
            Vec::new(),
        ),
        2 => Node::block("backend", &["local"], Vec::new()),
        3 => Node::argument("experiments", Literal::List(Vec::new())),
        4 => required_providers(random, declared),
        _ => Node::argument("required_version", Literal::text("> 1.0")),
    };
    Node::block("terraform", &[], vec![node])
}

fn comment(random: &mut Random) -> Node {
    let comments = [
        "# a \"}\n",
        "// ${\n",
        "/* }\n<<EOT */\n",
        "\n\n",
        "#\n",
        "/**/ # é\n",
    ];
    Node::Text(random.pick(&comments).to_owned())
}

/// Returns a comment, or rarely a syntax error or an unusual block.
fn text(random: &mut Random, odd: usize) -> Node {
    if !random.chance(odd * 10) {
        return comment(random);
    }
    let texts = [
        "resource foo_x bar {}\n",
        "resource \"foo_x\" bar { count = 1 }\n",
        "data \"foo_x\" \"y\" { a = \"\\u00e9\" }\n",
        "resource \"foo_x\" {}\n",
        "resource \"foo_x\" \"a\" \"b\" {}\n",
        "resource \"foo_x\" \"${\"z\"}\" {}\n",
        "resource \"foo_x\" \"a b\" {}\n",
        "locals { a = }\n",
        "locals { a = \"${\" }\n",
        "locals {\n",
        "}\n",
        "zzz = 1\n",
        "locals { zz = 1, }\n",
        "locals { z1 = 1; }\n",
        "provider foo {}\n",
        "provider \"foo\" { alias = \"q\" \n version = \"1.0\" }\n",
        "locals { z2 = 0x10 }\n",
        "locals { z3 = a.*.b[*].c.0 }\n",
        "locals { z4 = {a:1,\"b\"=2,(\"c\")=3} }\n",
        "locals { z5 = 'x' }\n",
        "locals { z6 = 1 \n}locals{z7=2\n}\n",
        "unknown \"x\" {}\n",
        "terraform { required_providers { zz = {\n source = \"acme/zz\",\n version : \"1.0.0\" } } }\n",
        "\u{feff}",
        "\0",
    ];
    Node::Text(random.pick(&texts).to_owned())
}
