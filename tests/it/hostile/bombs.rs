//! Small configurations that would take a large amount of memory or time to read or evaluate.

use tflock_test_support::table;

/// How a bomb is built.
enum BombContent {
    /// An expression used as the source of a module. It can use the locals in [`BASE`].
    Source(&'static str),
    /// A chain of locals in which each local uses the previous one (`@`). The last one is the source of a module.
    Chain {
        length: usize,
        first: &'static str,
        next: &'static str,
    },
    /// Files in the directory and below it.
    Files(fn() -> Vec<(String, String)>),
}

/// A bomb, with part of the expected error.
pub(super) struct Bomb {
    pub(super) name: &'static str,
    pub(super) error: &'static str,
    content: BombContent,
}

/// The usual error. In a run with many bombs, the budget of the whole run may be exhausted first.
const BUDGET: &str = "evaluation exceeds";
const TOO_MANY: &str = "this file contains more than";
const TOO_DEEP: &str = "the nesting in this file is deeper than";
const TOO_LONG: &str = "the limit for configuration files";

/// Locals for the expressions of [`BombContent::Source`]: 64 KiB of text in one line and in many lines, a thousand
/// numbers, and a thousand names made from them.
const BASE: &str = r#"locals {
  list  = range(1000)
  names = [for i in local.list : "name-${i}"]
  map   = { for name in local.names : name => name }
  text  = join("", [for i in local.list : "0123456789abcdefghijklmnopqrstuvwxyz0123456789abcdefghijklmnopqr"])
  as    = join("", [for i in local.list : "aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa"])
  lines = join("\n", local.names)
  loops = "%%{ for i in l }%%{ for j in l }%%{ for k in l }$${k}%%{ endfor }%%{ endfor }%%{ endfor }"
}
"#;

/// The columns: the name, the number of locals, the first local, and each later local.
const CHAINS: &str = r#"
    doubled text             | 40 | "xxxxxxxx"         | "${@}${@}"
    doubled list             | 40 | [1, 2]             | concat(@, @)
    doubled tree of lists    | 40 | [1]                | [@, @]
    doubled tree of objects  | 40 | {}                 | { l = @, r = @ }
    doubled by join          | 40 | "xxxxxxxx"         | join("", [@, @])
    doubled by format        | 40 | "xxxxxxxx"         | format("%s%s", @, @)
    doubled by replace       | 40 | "xxxxxxxx"         | replace(@, "x", "xx")
    doubled by a pattern     | 40 | "xxxxxxxx"         | replace(@, "/(x+)/", "$1$1")
    doubled by merging       | 40 | { a = "x" }        | merge({ for k, v in @ : "${k}a" => v }, { for k, v in @ : "${k}b" => v })
    doubled by a template    | 40 | "xxxxxxxx"         | templatestring(local.twice, { t = @ })
    doubled by flatten       | 40 | [1, 2]             | flatten([@, @])
    doubled by setproduct    | 40 | ["a", "b"]         | [for pair in setproduct(@, [1, 2]) : join("", pair)]
    quoted again and again   | 40 | "\"\\"             | jsonencode(@)
    escaped for HTML         | 25 | "<<<<<<<<"         | jsonencode("<${@}<${@}")
    base64 of base64         | 60 | "xxxxxxxxxxxxxxxx" | base64encode(@)
    encoded for addresses    | 30 | "////////"         | urlencode("${@}/${@}")
    indented again and again | 40 | "\n\n\n\n"         | indent(1000, "${@}\n")
"#;

/// The columns: the name and the expression.
const SOURCES: &str = r#"
    loops in loops                   | [for i in local.list : [for j in local.list : [for k in local.list : i]]][0][0][0]
    loops that keep nothing          | [for i in local.list : [for j in local.list : [for k in local.list : k if false]]]
    loops that group                 | { for i in local.list : i => [for j in local.list : { for k in local.list : j => k... }]... }
    objects in loops                 | [for i in local.list : [for j in local.list : { a = { b = { c = j } } }]]
    a splat in a loop                | [for i in local.list : local.names[*][*]]
    a loop in a template             | "%{ for i in local.list }%{ for j in local.list }%{ for k in local.list }x%{ endfor }%{ endfor }%{ endfor }"
    an empty loop in a template      | "%{ for i in local.list }%{ for j in local.list }%{ for k in local.list }%{ endfor }%{ endfor }%{ endfor }"
    a template that loops            | templatestring(local.loops, { l = local.list })
    the same list in many places     | [for i in local.list : local.list]
    the same text in many places     | [for i in local.list : local.text]
    a long separator                 | join(local.text, local.names)
    wide columns                     | [for i in local.list : format(join("", [for j in local.list : "%1000s"]), local.names...)]
    a list in a format               | [for i in local.list : format("%v", [for j in local.list : local.names])]
    a format for each element        | formatlist("%s%s%s%s", local.text, local.names, local.text, local.text)
    a text between letters           | replace(local.text, "", local.text)
    a text for each letter           | replace(local.as, "a", local.text)
    a text for each match            | replace(local.as, "/a/", local.text)
    a group many times               | replace(local.as, "/(a+)/", join("", [for i in local.list : "$1"]))
    matches that look ahead          | [for i in local.list : regexall("a*b|a", local.as)]
    many groups                      | [for i in local.list : regexall("(((((a)))))", local.as)]
    many patterns                    | [for i in local.list : can(regex("(a{${i}}b?){900}", local.as))]
    patterns of classes              | [for i in local.list : can(regex("[^${i}][^b][^c]\\w\\w\\w\\w\\w\\w\\w\\w", local.as))]
    letters of a text                | [for i in local.list : split("", local.text)]
    parts of a text                  | [for i in local.list : split("a", local.as)]
    a product of texts               | setproduct([local.text, local.as], local.names)
    a product of lists               | [for i in local.list : setproduct(slice(local.list, 0, 100), slice(local.list, 0, 100))]
    maps merged in a loop            | [for i in local.list : merge(local.map, { i = i })]
    maps made in a loop              | [for i in local.list : zipmap(local.names, local.list)]
    chunks of one                    | [for i in local.list : chunklist(local.list, 1)]
    a transposed map                 | transpose({ for i in local.list : "${local.text}${i}" => local.names })
    numbers with many digits         | [for i in local.list : join("", [for j in local.list : 1e999])]
    products of long numbers         | [for i in local.list : [for j in local.list : 1 / 3 * i / 7 * 11 / 13 * 17 / 19]]
    long numbers as text             | [for i in local.list : length(join("", [for j in local.list : jsonencode(1e-999 / 7)]))]
    a set of long numbers            | [for i in local.list : length(toset([for j in local.list : [j / 7]]))]
    long numbers that are compared   | [for i in local.list : contains([for j in local.list : pow(1.5, 1) / (j + 3)], 0.1)]
    numbers of JSON                  | [for i in local.list : length(jsondecode("[${join(",", [for j in local.list : "1e-999"])}]"))]
    types of branches                | [for i in local.list : length(true ? [for j in local.list : [j]] : [for j in local.list : ["x"]])]
    types of elements                | [for i in local.list : length(tolist([for j in local.list : { "${j}" = j }]))]
    distinct values                  | distinct(flatten([for i in range(100) : [for j in local.list : "${i}-${j}"]]))
    differences of sets              | [for i in local.list : setsubtract(local.names, local.list)]
    keys that match                  | [for i in local.list : matchkeys(local.names, local.names, local.names)]
    sorted in a loop                 | [for i in local.list : sort(local.names)]
    letters reversed                 | [for i in local.list : strrev(title(upper(local.text)))]
    a part of a long text            | [for i in local.list : substr(local.text, i, 1)]
    letters that are trimmed         | [for i in local.list : trim(local.as, "${local.lines}a")]
    digests of a long text           | [for i in local.list : sha512(local.text)]
    an object as JSON                | [for i in local.list : jsonencode(local.map)]
    arrays in JSON                   | [for i in local.list : jsondecode("[${join(",", [for j in local.list : "[[],[],[],[]]"])}]")]
    objects in JSON                  | [for i in local.list : jsondecode("[${join(",", [for j in local.list : "{\"a\":{\"b\":{}}}"])}]")]
    aliases of a long text           | yamldecode("a: &a ${local.text}\nb: [${join(", ", [for i in local.list : "*a"])}]")
    anchors in anchors               | [for i in local.list : yamldecode("${join("", [for j in range(90) : "&a${j} ["])}${join(",", local.list)}${join("", [for j in range(90) : "]"])}")]
    a column with a long name        | csvdecode("${local.text}\n${local.lines}\n")
    many columns                     | [for i in local.list : csvdecode(join(",", local.names))]
    empty fields                     | [for i in local.list : csvdecode("a,b\n${join("", [for j in local.list : ",\n"])}")]
    tried                            | try([for i in local.list : [for j in local.list : [for k in local.list : i]]], "./good")
    loops in can                     | can([for i in local.list : [for j in local.list : [for k in local.list : i]]]) ? "./good" : "./good"
    not chosen                       | true ? "./good" : [for i in local.list : [for j in local.list : [for k in local.list : i]]]
"#;

/// Aliases that a YAML parser without limits would expand.
const ALIASES: &str = r#"yamldecode(join("\n", concat(["a0: &a0 [x, x, x, x, x, x, x, x, x]"], [for i in range(1, 10) : "a${i}: &a${i} [${join(", ", [for j in range(9) : "*a${i - 1}"])}]"])))"#;

pub(super) fn bombs() -> Vec<Bomb> {
    let bomb = |name, content| Bomb {
        name,
        error: BUDGET,
        content,
    };
    let chains = table(CHAINS)
        .into_iter()
        .map(|[name, length, first, next]| {
            let length = length.parse().unwrap();
            bomb(
                name,
                BombContent::Chain {
                    length,
                    first,
                    next,
                },
            )
        });
    let sources = table(SOURCES)
        .into_iter()
        .map(|[name, expression]| bomb(name, BombContent::Source(expression)));
    let aliases = Bomb {
        error: "the function `yamldecode` is not supported",
        ..bomb("aliases of aliases", BombContent::Source(ALIASES))
    };
    let files = FILES.into_iter().map(|(name, error, files)| Bomb {
        name,
        error,
        content: BombContent::Files(files),
    });
    chains
        .chain(sources)
        .chain([aliases])
        .chain(files)
        .collect()
}

impl Bomb {
    /// Returns the files of the directory with this bomb.
    pub(super) fn files(&self) -> Vec<(String, String)> {
        match self.content {
            BombContent::Source(expression) => main(&format!("{BASE}{}", call(expression))),
            BombContent::Chain {
                length,
                first,
                next,
            } => {
                let local = |at: usize| match at {
                    0 => format!("  a0 = {first}\n"),
                    at => format!(
                        "  a{at} = {}\n",
                        next.replace('@', &format!("local.a{}", at - 1))
                    ),
                };
                let locals: String = (0..length).map(local).collect();
                let last = format!("jsonencode(local.a{})", length - 1);
                let twice = r#"  twice = "$${t}$${t}""#;
                main(&format!("locals {{\n{twice}\n{locals}}}\n{}", call(&last)))
            }
            BombContent::Files(files) => files(),
        }
    }
}

fn call(source: &str) -> String {
    format!("module \"m\" {{\n  source = {source}\n}}\n")
}

fn file(name: &str, text: impl Into<String>) -> (String, String) {
    (name.to_owned(), text.into())
}

fn main(text: &str) -> Vec<(String, String)> {
    vec![file("main.tf", text)]
}

/// Returns a module with a variable `v` and a call from `source`, and a file that sets the variable to `value`.
fn variable(constraint: &str, source: &str, name: &str, value: &str) -> Vec<(String, String)> {
    let variable = format!("variable \"v\" {{\n  const = true\n  type  = {constraint}\n}}\n");
    vec![file("main.tf", variable + &call(source)), file(name, value)]
}

/// A declaration of the variable `v` without a type.
const VARIABLE: &str = "variable \"v\" {\n  const = true\n}\n";

/// Returns three nested loops over a thousand numbers. They do not use the locals in [`BASE`].
fn loops() -> String {
    let list = "1,".repeat(1000);
    format!("[for i in [{list}] : [for j in [{list}] : [for k in [{list}] : i]]]")
}

const MEGABYTE: usize = 1_000_000;

/// A bomb with its own files: the name, part of the error, and a function that returns the files.
type FileBomb = (&'static str, &'static str, fn() -> Vec<(String, String)>);

const FILES: [FileBomb; 25] = [
    ("a template file that loops", BUDGET, || {
        let loops =
            "%{ for i in l }%{ for j in l }%{ for k in l }${t}%{ endfor }%{ endfor }%{ endfor }";
        let call = call(r#"templatefile("loop.tpl", { l = local.list, t = local.text })"#);
        vec![
            file("main.tf", format!("{BASE}{call}")),
            file("loop.tpl", loops),
        ]
    }),
    ("long errors", BUDGET, || {
        let local = |at: usize| format!("  e{at} = {{}}[local.text]\n");
        let locals: String = (0..20_000).map(local).collect();
        let tried: Vec<String> = (0..20_000).map(|at| format!("local.e{at}")).collect();
        let tried = format!("try({}, local.text)", tried.join(", "));
        let tried = call(&format!("[for i in local.list : {tried}]"));
        main(&format!("{BASE}locals {{\n{locals}}}\n{tried}"))
    }),
    // Types and variables.
    ("defaults of a type", BUDGET, || {
        let constraint = format!(
            "list(object({{ a = optional(string, \"{}\") }}))",
            "0123456789".repeat(4)
        );
        let values = format!("v = [{}]\n", "{},".repeat(100_000));
        variable(&constraint, "var.v[0].a", "terraform.tfvars", &values)
    }),
    ("a long default of a type", BUDGET, || {
        let constraint = format!(
            "list(object({{ a = optional(string, \"{}\") }}))",
            "x".repeat(100_000)
        );
        let values = format!("v = [{}]\n", "{},".repeat(10_000));
        variable(&constraint, "var.v[0].a", "terraform.tfvars", &values)
    }),
    ("a long variable file", BUDGET, || {
        let values = format!("v = {{ a = {{ b = [{}] }} }}\n", "1,".repeat(5 * MEGABYTE));
        variable(
            "map(map(list(any)))",
            "var.v.a.b[0]",
            "a.auto.tfvars",
            &values,
        )
    }),
    ("a long variable file in JSON", TOO_MANY, || {
        let values = format!("{{\"v\": [{}1]}}\n", "1,".repeat(5 * MEGABYTE));
        variable("any", "var.v[0]", "terraform.tfvars.json", &values)
    }),
    ("a loop in a variable file", BUDGET, || {
        let values = format!("v = {}\n", loops());
        variable("any", "var.v[0]", "terraform.tfvars", &values)
    }),
    ("arguments that double", BUDGET, || {
        let call = |to: &str, value: &str| {
            format!("module \"m\" {{\n  source = \"{to}\"\n  v = {value}\n}}\n")
        };
        let level = |at: usize| {
            let to = format!("../m{}/${{substr(var.v, 0, 0)}}", at + 1);
            file(
                &format!("m{at}/main.tf"),
                format!("{VARIABLE}{}", call(&to, "\"${var.v}${var.v}\"")),
            )
        };
        let root = file("main.tf", call("./m0", "\"0123456789\""));
        (0..59).map(level).chain([root]).collect()
    }),
    ("calls in pairs with long arguments", BUDGET, || {
        let call = |name: &str, to: usize| {
            format!(
                "module \"{name}\" {{\n  source = \"../m{to}/${{substr(var.v, 0, 0)}}\"\n  v = \"x${{var.v}}\"\n}}\n"
            )
        };
        let level = |at: usize| {
            let calls = call("a", at + 1) + &call("b", at + 1);
            file(&format!("m{at}/main.tf"), format!("{VARIABLE}{calls}"))
        };
        let root = format!("{BASE}module \"m\" {{\n  source = \"./m0\"\n  v = local.text\n}}\n");
        (0..20).map(level).chain([file("main.tf", root)]).collect()
    }),
    // Long files.
    ("a long list", BUDGET, || {
        let list = "1,".repeat(5 * MEGABYTE);
        main(&format!(
            "locals {{\n  a = [{list}]\n}}\n{}",
            call("local.a[0]")
        ))
    }),
    ("a long text", BUDGET, || {
        main(&call(&format!("\"{}\"", "x".repeat(12 * MEGABYTE))))
    }),
    ("50 MB of text", TOO_LONG, || {
        main(&call(&format!("\"{}\"", "x".repeat(50 * MEGABYTE))))
    }),
    ("50 MB of a heredoc", TOO_LONG, || {
        let lines = "0123456789\n".repeat(5 * MEGABYTE);
        main(&call(&format!("<<EOT\n{lines}EOT\n")))
    }),
    ("50 MB of a list in JSON", TOO_LONG, || {
        let list = "1,".repeat(25 * MEGABYTE);
        let text = format!("{{\"locals\": {{\"a\": [{list}1]}}}}");
        vec![file("main.tf.json", text)]
    }),
    ("many blocks", TOO_MANY, || {
        main(&"a {}\n".repeat(3 * MEGABYTE))
    }),
    ("many arguments", TOO_MANY, || {
        let name =
            |at: usize| format!("{at:x}").replace(|letter: char| letter.is_ascii_digit(), "z");
        let arguments = (0..MEGABYTE + 200_000).map(|at| name(at) + "=1\n");
        main(&arguments.collect::<String>())
    }),
    ("deep blocks", TOO_DEEP, || {
        main(&"a {\n".repeat(3 * MEGABYTE))
    }),
    ("deep brackets", TOO_DEEP, || {
        main(&format!("a = {}", "[".repeat(15 * MEGABYTE)))
    }),
    ("deep arrays in JSON", TOO_DEEP, || {
        let text = format!("{{\"a\": {}", "[".repeat(15 * MEGABYTE));
        vec![file("main.tf.json", text)]
    }),
    ("many values in JSON", TOO_MANY, || {
        let text = format!("{{\"locals\": [{}{{}}]}}", "{\"a\":{}},".repeat(MEGABYTE));
        vec![file("main.tf.json", text)]
    }),
    ("templates in JSON", BUDGET, || {
        let local = |at: usize| format!("\"a{at}\": \"${{local.a{0}}}${{local.a{0}}}\"", at - 1);
        let locals: Vec<String> = (1..40).map(local).collect();
        let locals = format!(
            "\"locals\": {{\"a0\": \"xxxxxxxx\", {}}}",
            locals.join(", ")
        );
        let module = "\"module\": {\"m\": {\"source\": \"${local.a39}\"}}";
        vec![file("main.tf.json", format!("{{{locals}, {module}}}"))]
    }),
    // Expressions where a constant is expected.
    ("a loop as an alias", BUDGET, || {
        main(&format!(
            "provider \"anvil\" {{\n  alias = {}\n}}\n",
            loops()
        ))
    }),
    ("a loop as a version", BUDGET, || {
        let list = "1,".repeat(1000);
        let start: String = ["i", "j", "k"]
            .map(|name| format!("%{{ for {name} in [{list}] }}"))
            .concat();
        let version = format!("{start}x%{{ endfor }}%{{ endfor }}%{{ endfor }}");
        let anvil = format!(
            "anvil = {{\n      source  = \"acme/anvil\"\n      version = \"{version}\"\n    }}"
        );
        main(&format!(
            "terraform {{\n  required_providers {{\n    {anvil}\n  }}\n}}\n"
        ))
    }),
    ("a loop as the source of a test", BUDGET, || {
        let run = format!(
            "run \"r\" {{\n  module {{\n    source = {}\n  }}\n}}\n",
            loops()
        );
        vec![file("main.tf", ""), file("a.tftest.hcl", run)]
    }),
    ("a file again and again", BUDGET, || {
        let call = call(r#"[for i in local.list : filesha256("long.txt")]"#);
        vec![
            file("main.tf", format!("{BASE}{call}")),
            file("long.txt", "x".repeat(MEGABYTE)),
        ]
    }),
];
