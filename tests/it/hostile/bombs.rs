//! Configurations that take far more memory or time to evaluate or read than to write.

/// What a bomb is made of.
pub(super) enum Made {
    /// An expression that becomes the source of a module, with the locals of [`BASE`].
    Source(&'static str),
    /// As many locals as are said, each made of the one before (`@`); the first is the text, and the last the source.
    Chain(usize, &'static str, &'static str),
    /// The files of the directory and those below it.
    Files(fn() -> Vec<(String, String)>),
}

/// A bomb, and what its error says.
pub(super) struct Bomb {
    pub(super) name: &'static str,
    pub(super) made: Made,
    pub(super) says: &'static str,
}

/// What nearly all say. The run's budget is the one that is used up first where many of them meet.
pub(super) const BUDGET: &str = "evaluation takes more than";

/// What expressions of [`Made::Source`] can use: 64 KiB of text in one line and in many, a thousand numbers and their texts.
const BASE: &str = r#"locals {
  list  = range(1000)
  names = [for i in local.list : "name-${i}"]
  map   = { for name in local.names : name => name }
  text  = join("", [for i in local.list : "0123456789abcdefghijklmnopqrstuvwxyz0123456789abcdefghijklmnopqr"])
  as    = join("", [for i in local.list : "aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa"])
  lines = join("\n", local.names)
}
"#;

const fn source(name: &'static str, expression: &'static str) -> Bomb {
    Bomb {
        name,
        made: Made::Source(expression),
        says: BUDGET,
    }
}

const fn chain(name: &'static str, length: usize, first: &'static str, next: &'static str) -> Bomb {
    Bomb {
        name,
        made: Made::Chain(length, first, next),
        says: BUDGET,
    }
}

const fn files(
    name: &'static str,
    says: &'static str,
    made: fn() -> Vec<(String, String)>,
) -> Bomb {
    Bomb {
        name,
        made: Made::Files(made),
        says,
    }
}

impl Bomb {
    /// The files of its directory.
    pub(super) fn files(&self) -> Vec<(String, String)> {
        match &self.made {
            Made::Source(expression) => main(&format!("{BASE}{}", call(expression))),
            Made::Chain(length, first, next) => {
                let local = |at: usize| match at {
                    0 => format!("  a0 = {first}\n"),
                    at => format!(
                        "  a{at} = {}\n",
                        next.replace('@', &format!("local.a{}", at - 1))
                    ),
                };
                let locals: String = (0..*length).map(local).collect();
                let last = format!("jsonencode(local.a{})", length - 1);
                main(&format!("locals {{\n{locals}}}\n{}", call(&last)))
            }
            Made::Files(files) => files(),
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

const MEGABYTE: usize = 1_000_000;

pub(super) const BOMBS: &[Bomb] = &[
    // Locals that double the last.
    chain("doubled text", 40, r#""xxxxxxxx""#, r#""${@}${@}""#),
    chain("doubled list", 40, "[1, 2]", "concat(@, @)"),
    chain("doubled tree of lists", 40, "[1]", "[@, @]"),
    chain("doubled tree of objects", 40, "{}", "{ l = @, r = @ }"),
    chain(
        "doubled by join",
        40,
        r#""xxxxxxxx""#,
        r#"join("", [@, @])"#,
    ),
    chain(
        "doubled by format",
        40,
        r#""xxxxxxxx""#,
        r#"format("%s%s", @, @)"#,
    ),
    chain(
        "doubled by replace",
        40,
        r#""xxxxxxxx""#,
        r#"replace(@, "x", "xx")"#,
    ),
    chain(
        "doubled by a pattern",
        40,
        r#""xxxxxxxx""#,
        r#"replace(@, "/(x+)/", "$1$1")"#,
    ),
    chain(
        "doubled by merging",
        40,
        r#"{ a = "x" }"#,
        r#"merge({ for k, v in @ : "${k}a" => v }, { for k, v in @ : "${k}b" => v })"#,
    ),
    chain(
        "doubled by a template",
        40,
        r#""xxxxxxxx""#,
        r#"templatestring("$${t}$${t}", { t = @ })"#,
    ),
    chain("doubled by flatten", 40, "[1, 2]", "flatten([@, @])"),
    chain(
        "doubled by setproduct",
        40,
        r#"["a", "b"]"#,
        "[for pair in setproduct(@, [1, 2]) : join(\"\", pair)]",
    ),
    chain("quoted again and again", 40, r#""\"\\""#, "jsonencode(@)"),
    chain(
        "escaped for HTML",
        25,
        r#""<<<<<<<<""#,
        "jsonencode(\"<${@}<${@}\")",
    ),
    chain(
        "base64 of base64",
        60,
        r#""xxxxxxxxxxxxxxxx""#,
        "base64encode(@)",
    ),
    chain(
        "encoded for addresses",
        30,
        r#""////////""#,
        r#"urlencode("${@}/${@}")"#,
    ),
    chain(
        "indented again and again",
        40,
        r#""\n\n\n\n""#,
        r#"indent(1000, "${@}\n")"#,
    ),
    // Loops in loops.
    source(
        "loops in loops",
        "[for i in local.list : [for j in local.list : [for k in local.list : i]]][0][0][0]",
    ),
    source(
        "loops that keep nothing",
        "[for i in local.list : [for j in local.list : [for k in local.list : k if false]]]",
    ),
    source(
        "loops that group",
        "{ for i in local.list : i => [for j in local.list : { for k in local.list : j => k... }]... }",
    ),
    source(
        "objects in loops",
        "[for i in local.list : [for j in local.list : { a = { b = { c = j } } }]]",
    ),
    source(
        "a splat in a loop",
        "[for i in local.list : local.names[*][*]]",
    ),
    source(
        "a loop in a template",
        r#""%{ for i in local.list }%{ for j in local.list }%{ for k in local.list }x%{ endfor }%{ endfor }%{ endfor }""#,
    ),
    source(
        "an empty loop in a template",
        r#""%{ for i in local.list }%{ for j in local.list }%{ for k in local.list }%{ endfor }%{ endfor }%{ endfor }""#,
    ),
    source(
        "a template that loops",
        r#"templatestring("%%{ for i in l }%%{ for j in l }%%{ for k in l }$${k}%%{ endfor }%%{ endfor }%%{ endfor }", { l = local.list })"#,
    ),
    files("a template file that loops", BUDGET, || {
        let loops =
            "%{ for i in l }%{ for j in l }%{ for k in l }${t}%{ endfor }%{ endfor }%{ endfor }";
        let call = call(r#"templatefile("loop.tpl", { l = local.list, t = local.text })"#);
        vec![
            file("main.tf", format!("{BASE}{call}")),
            file("loop.tpl", loops),
        ]
    }),
    source(
        "the same list in many places",
        "[for i in local.list : local.list]",
    ),
    source(
        "the same text in many places",
        "[for i in local.list : local.text]",
    ),
    // Functions that make much of little.
    source("a long separator", "join(local.text, local.names)"),
    source(
        "wide columns",
        r#"[for i in local.list : format(join("", [for j in local.list : "%1000s"]), local.names...)]"#,
    ),
    source(
        "a list in a format",
        r#"[for i in local.list : format("%v", [for j in local.list : local.names])]"#,
    ),
    source(
        "a format for each element",
        r#"formatlist("%s%s%s%s", local.text, local.names, local.text, local.text)"#,
    ),
    source(
        "a text between letters",
        r#"replace(local.text, "", local.text)"#,
    ),
    source(
        "a text for each letter",
        r#"replace(local.as, "a", local.text)"#,
    ),
    source(
        "a text for each match",
        r#"replace(local.as, "/a/", local.text)"#,
    ),
    source(
        "a group many times",
        r#"replace(local.as, "/(a+)/", join("", [for i in local.list : "$1"]))"#,
    ),
    source(
        "matches that look ahead",
        r#"[for i in local.list : regexall("a*b|a", local.as)]"#,
    ),
    source(
        "many groups",
        r#"[for i in local.list : regexall("(((((a)))))", local.as)]"#,
    ),
    source(
        "many patterns",
        r#"[for i in local.list : can(regex("(a{${i}}b?){900}", local.as))]"#,
    ),
    source(
        "patterns of classes",
        r#"[for i in local.list : can(regex("[^${i}][^b][^c]\\w\\w\\w\\w\\w\\w\\w\\w", local.as))]"#,
    ),
    source(
        "letters of a text",
        r#"[for i in local.list : split("", local.text)]"#,
    ),
    source(
        "parts of a text",
        r#"[for i in local.list : split("a", local.as)]"#,
    ),
    source(
        "a product of texts",
        "setproduct([local.text, local.as], local.names)",
    ),
    source(
        "a product of lists",
        "[for i in local.list : setproduct(slice(local.list, 0, 100), slice(local.list, 0, 100))]",
    ),
    source(
        "maps merged in a loop",
        "[for i in local.list : merge(local.map, { i = i })]",
    ),
    source(
        "maps made in a loop",
        "[for i in local.list : zipmap(local.names, local.list)]",
    ),
    source(
        "chunks of one",
        "[for i in local.list : chunklist(local.list, 1)]",
    ),
    source(
        "a map turned around",
        "transpose({ for i in local.list : \"${local.text}${i}\" => local.names })",
    ),
    source(
        "numbers with many digits",
        r#"[for i in local.list : join("", [for j in local.list : 1e999])]"#,
    ),
    source(
        "distinct values",
        "distinct(flatten([for i in range(100) : [for j in local.list : \"${i}-${j}\"]]))",
    ),
    source(
        "sets without each other",
        "[for i in local.list : setsubtract(local.names, local.list)]",
    ),
    source(
        "keys that match",
        "[for i in local.list : matchkeys(local.names, local.names, local.names)]",
    ),
    source(
        "sorted in a loop",
        "[for i in local.list : sort(local.names)]",
    ),
    source(
        "letters reversed",
        "[for i in local.list : strrev(title(upper(local.text)))]",
    ),
    source(
        "a part of a long text",
        "[for i in local.list : substr(local.text, i, 1)]",
    ),
    source(
        "letters that are trimmed",
        r#"[for i in local.list : trim(local.as, "${local.lines}a")]"#,
    ),
    source(
        "digests of a long text",
        "[for i in local.list : sha512(local.text)]",
    ),
    source(
        "an object as JSON",
        "[for i in local.list : jsonencode(local.map)]",
    ),
    source(
        "arrays in JSON",
        r#"[for i in local.list : jsondecode("[${join(",", [for j in local.list : "[[],[],[],[]]"])}]")]"#,
    ),
    source(
        "objects in JSON",
        r#"[for i in local.list : jsondecode("[${join(",", [for j in local.list : "{\"a\":{\"b\":{}}}"])}]")]"#,
    ),
    Bomb {
        says: "the function `yamldecode` is not supported",
        ..source(
            "aliases of aliases",
            r#"yamldecode(join("\n", concat(["a0: &a0 [x, x, x, x, x, x, x, x, x]"], [for i in range(1, 10) : "a${i}: &a${i} [${join(", ", [for j in range(9) : "*a${i - 1}"])}]"])))"#,
        )
    },
    source(
        "aliases of a long text",
        r#"yamldecode("a: &a ${local.text}\nb: [${join(", ", [for i in local.list : "*a"])}]")"#,
    ),
    source(
        "anchors in anchors",
        r#"[for i in local.list : yamldecode("${join("", [for j in range(90) : "&a${j} ["])}${join(",", local.list)}${join("", [for j in range(90) : "]"])}")]"#,
    ),
    source(
        "a column with a long name",
        r#"csvdecode("${local.text}\n${local.lines}\n")"#,
    ),
    source(
        "many columns",
        r#"[for i in local.list : csvdecode(join(",", local.names))]"#,
    ),
    source(
        "empty fields",
        r#"[for i in local.list : csvdecode("a,b\n${join("", [for j in local.list : ",\n"])}")]"#,
    ),
    // What seems to be safe.
    source(
        "tried",
        r#"try([for i in local.list : [for j in local.list : [for k in local.list : i]]], "./good")"#,
    ),
    source(
        "asked whether it can be",
        r#"can([for i in local.list : [for j in local.list : [for k in local.list : i]]]) ? "./good" : "./good""#,
    ),
    source(
        "not chosen",
        r#"true ? "./good" : [for i in local.list : [for j in local.list : [for k in local.list : i]]]"#,
    ),
    files("long errors", BUDGET, || {
        let local = |at: usize| format!("  e{at} = {{}}[local.text]\n");
        let locals: String = (0..20_000).map(local).collect();
        let tried: Vec<String> = (0..20_000).map(|at| format!("local.e{at}")).collect();
        let tried = format!("try({}, local.text)", tried.join(", "));
        let tried = call(&format!("[for i in local.list : {tried}]"));
        main(&format!("{BASE}locals {{\n{locals}}}\n{tried}"))
    }),
    // Types and variables.
    files("defaults of a type", BUDGET, || {
        let variable = "variable \"v\" {\n  const = true\n  type  = list(object({ a = optional(string, \"0123456789012345678901234567890123456789\") }))\n}\n";
        let values = format!("v = [{}]\n", "{},".repeat(100_000));
        vec![
            file("main.tf", format!("{variable}{}", call("var.v[0].a"))),
            file("terraform.tfvars", values),
        ]
    }),
    files("a long default of a type", BUDGET, || {
        let long = "x".repeat(100_000);
        let variable = format!(
            "variable \"v\" {{\n  const = true\n  type  = list(object({{ a = optional(string, \"{long}\") }}))\n}}\n"
        );
        let values = format!("v = [{}]\n", "{},".repeat(10_000));
        vec![
            file("main.tf", format!("{variable}{}", call("var.v[0].a"))),
            file("terraform.tfvars", values),
        ]
    }),
    files("a long variable file", BUDGET, || {
        let variable = "variable \"v\" {\n  const = true\n  type  = map(map(list(any)))\n}\n";
        let values = format!("v = {{ a = {{ b = [{}] }} }}\n", "1,".repeat(5 * MEGABYTE));
        vec![
            file("main.tf", format!("{variable}{}", call("var.v.a.b[0]"))),
            file("a.auto.tfvars", values),
        ]
    }),
    files(
        "a long variable file in JSON",
        "this file has more than",
        || {
            let variable = "variable \"v\" {\n  const = true\n}\n";
            let values = format!("{{\"v\": [{}1]}}\n", "1,".repeat(5 * MEGABYTE));
            vec![
                file("main.tf", format!("{variable}{}", call("var.v[0]"))),
                file("terraform.tfvars.json", values),
            ]
        },
    ),
    files("a loop in a variable file", BUDGET, || {
        let variable = "variable \"v\" {\n  const = true\n}\n";
        let list = "1,".repeat(1000);
        let values =
            format!("v = [for i in [{list}] : [for j in [{list}] : [for k in [{list}] : i]]]\n");
        vec![
            file("main.tf", format!("{variable}{}", call("var.v[0]"))),
            file("terraform.tfvars", values),
        ]
    }),
    files("arguments that double", BUDGET, || {
        let variable = "variable \"v\" {\n  const = true\n}\n";
        let call = |to: &str, value: &str| {
            format!("module \"m\" {{\n  source = \"{to}\"\n  v = {value}\n}}\n")
        };
        let level = |at: usize| {
            let to = format!("../m{}/${{substr(var.v, 0, 0)}}", at + 1);
            file(
                &format!("m{at}/main.tf"),
                format!("{variable}{}", call(&to, "\"${var.v}${var.v}\"")),
            )
        };
        let root = file("main.tf", call("./m0", "\"0123456789\""));
        (0..59).map(level).chain([root]).collect()
    }),
    files("calls in pairs with long arguments", BUDGET, || {
        let variable = "variable \"v\" {\n  const = true\n}\n";
        let call = |name: &str, to: usize| {
            format!(
                "module \"{name}\" {{\n  source = \"../m{to}/${{substr(var.v, 0, 0)}}\"\n  v = \"x${{var.v}}\"\n}}\n"
            )
        };
        let level = |at: usize| {
            file(
                &format!("m{at}/main.tf"),
                format!("{variable}{}{}", call("a", at + 1), call("b", at + 1)),
            )
        };
        let root = format!("{BASE}module \"m\" {{\n  source = \"./m0\"\n  v = local.text\n}}\n");
        (0..20).map(level).chain([file("main.tf", root)]).collect()
    }),
    // Long files.
    files("a long list", BUDGET, || {
        main(&format!(
            "locals {{\n  a = [{}]\n}}\n{}",
            "1,".repeat(5 * MEGABYTE),
            call("local.a[0]")
        ))
    }),
    files("a long text", BUDGET, || {
        main(&call(&format!("\"{}\"", "x".repeat(12 * MEGABYTE))))
    }),
    files("50 MB of text", "the most that is read", || {
        main(&call(&format!("\"{}\"", "x".repeat(50 * MEGABYTE))))
    }),
    files("50 MB of a heredoc", "the most that is read", || {
        main(&call(&format!(
            "<<EOT\n{}EOT\n",
            "0123456789\n".repeat(5 * MEGABYTE)
        )))
    }),
    files("50 MB of a list in JSON", "the most that is read", || {
        vec![file(
            "main.tf.json",
            format!(
                "{{\"locals\": {{\"a\": [{}1]}}}}",
                "1,".repeat(25 * MEGABYTE)
            ),
        )]
    }),
    files("many blocks", "this file has more than", || {
        main(&"a {}\n".repeat(3 * MEGABYTE))
    }),
    files("many arguments", "this file has more than", || {
        main(
            &(0..MEGABYTE + 200_000)
                .map(|at| {
                    format!("{at:x}").replace(|letter: char| letter.is_ascii_digit(), "z") + "=1\n"
                })
                .collect::<String>(),
        )
    }),
    files("deep blocks", "this file is nested deeper than", || {
        main(&"a {\n".repeat(3 * MEGABYTE))
    }),
    files("deep brackets", "this file is nested deeper than", || {
        main(&format!("a = {}", "[".repeat(15 * MEGABYTE)))
    }),
    files(
        "deep arrays in JSON",
        "this file is nested deeper than",
        || {
            vec![file(
                "main.tf.json",
                format!("{{\"a\": {}", "[".repeat(15 * MEGABYTE)),
            )]
        },
    ),
    files("many values in JSON", "this file has more than", || {
        vec![file(
            "main.tf.json",
            format!("{{\"locals\": [{}{{}}]}}", "{\"a\":{}},".repeat(MEGABYTE)),
        )]
    }),
    files("templates in JSON", BUDGET, || {
        let locals: Vec<String> = (1..40)
            .map(|at| format!("\"a{at}\": \"${{local.a{0}}}${{local.a{0}}}\"", at - 1))
            .collect();
        let text = format!(
            "{{\"locals\": {{\"a0\": \"xxxxxxxx\", {}}}, \"module\": {{\"m\": {{\"source\": \"${{local.a39}}\"}}}}}}",
            locals.join(", ")
        );
        vec![file("main.tf.json", text)]
    }),
    // Constants.
    files("a loop as an alias", BUDGET, || {
        let list = "1,".repeat(1000);
        main(&format!(
            "provider \"anvil\" {{\n  alias = [for i in [{list}] : [for j in [{list}] : [for k in [{list}] : i]]]\n}}\n"
        ))
    }),
    files("a loop as a version", BUDGET, || {
        let list = "1,".repeat(1000);
        main(&format!(
            "terraform {{\n  required_providers {{\n    anvil = {{\n      source  = \"acme/anvil\"\n      version = \"%{{ for i in [{list}] }}%{{ for j in [{list}] }}%{{ for k in [{list}] }}x%{{ endfor }}%{{ endfor }}%{{ endfor }}\"\n    }}\n  }}\n}}\n"
        ))
    }),
    files("a loop as the source of a test", BUDGET, || {
        let list = "1,".repeat(1000);
        let run = format!(
            "run \"r\" {{\n  module {{\n    source = [for i in [{list}] : [for j in [{list}] : [for k in [{list}] : i]]]\n  }}\n}}\n"
        );
        vec![file("main.tf", ""), file("a.tftest.hcl", run)]
    }),
    files("a file again and again", BUDGET, || {
        let call = call(r#"[for i in local.list : filesha256("long.txt")]"#);
        vec![
            file("main.tf", format!("{BASE}{call}")),
            file("long.txt", "x".repeat(MEGABYTE)),
        ]
    }),
];
