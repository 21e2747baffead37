//! Random files in native syntax: valid files from a grammar, and damaged files in which text is removed or inserted.
//!
//! Damaged files contain no directives: hcl-edit parses the text in them differently, which would hide all other
//! differences.

use proptest::collection::vec;
use proptest::prelude::*;
use proptest::sample::select;

/// Text that is inserted at random positions.
const PIECES: &[&str] = &[
    "a", "for", "in", "if", "true", "null", "1", ".5", "\"", "\"x\"", "${", "~", "}", "{", "[",
    "]", "(", ")", "=", "==", "=>", ":", "::", ",", ".", "...", "?", "!", "*", "/", "%", "+", "-",
    "<", "&&", "|", "\n", "\r\n", " ", "\t", "# c\n", "//", "/* c */", "/*", "<<E\n", "\nE\n", "é",
    "$${", "\\", "\\n", "\\u00e9", "[*]", ".*", ".0", "f(", "'", ";",
];

/// Generates files that the grammar allows.
pub(super) fn proper() -> impl Strategy<Value = String> {
    body(true)
}

/// Generates files with one to three edits, which may make them invalid.
pub(super) fn damaged() -> impl Strategy<Value = String> {
    (body(false), vec(edit(), 1..4)).prop_map(|(text, edits)| {
        edits
            .into_iter()
            .fold(text, |text, edit| apply(&text, edit))
    })
}

/// The position of an edit, the number of removed characters, and the inserted text.
type Edit = (prop::sample::Index, usize, &'static str);

fn edit() -> impl Strategy<Value = Edit> {
    let piece = prop_oneof![1 => Just(""), 2 => select(PIECES)];
    (any::<prop::sample::Index>(), 0..3_usize, piece)
}

fn apply(text: &str, (place, removed, inserted): Edit) -> String {
    let at = place.index(text.chars().count() + 1);
    let mut edited: String = text.chars().take(at).collect();
    edited.push_str(inserted);
    edited.extend(text.chars().skip(at + removed));
    edited
}

fn body(directives: bool) -> impl Strategy<Value = String> {
    let line = prop_oneof![
        4 => argument(directives),
        1 => Just("# comment\n".to_owned()),
        1 => Just("\n".to_owned()),
        1 => Just("/* more\nlines */\n".to_owned()),
    ];
    let nested = line.prop_recursive(3, 16, 4, |inner| {
        let head = (identifier(), vec(label(), 0..3));
        let block = (head, vec(inner, 0..4), any::<bool>());
        block.prop_map(|((kind, labels), lines, comment)| {
            let comment = if comment { " // c" } else { "" };
            format!(
                "{kind} {}{{{comment}\n{}}}\n",
                labels.concat(),
                lines.concat()
            )
        })
    });
    let one_line = (identifier(), identifier(), leaf())
        .prop_map(|(kind, name, value)| format!("{kind} {{ {name} = {value} }}\n"));
    vec(prop_oneof![4 => nested, 1 => one_line], 0..4).prop_map(|items| items.concat())
}

fn label() -> impl Strategy<Value = String> {
    prop_oneof![
        select(
            &[
                "\"l\" ",
                "\"a\\\"b\" ",
                "\"\\u00e9\\n\" ",
                "\"\" ",
                "\"$\" "
            ][..]
        )
        .prop_map(str::to_owned),
        identifier().prop_map(|name| format!("{name} ")),
    ]
}

fn argument(directives: bool) -> impl Strategy<Value = String> {
    let value = prop_oneof![6 => expression(directives).boxed(), 1 => heredoc(directives).boxed()];
    let equals = select(&[" = ", "=", "\t=  ", " = /* c */ "][..]);
    // Argument names are unique. Duplicate names are an error in both parsers, which would hide all other differences.
    let name = (identifier(), 0..1_000_u32).prop_map(|(name, number)| format!("{name}_{number}"));
    (name, equals, value).prop_map(|(name, equals, value)| format!("{name}{equals}{value}\n"))
}

fn identifier() -> impl Strategy<Value = String> {
    let names = [
        "a", "b-c", "é", "_x", "for", "null", "true", "in", "if", "x9", "A",
    ];
    select(names.to_vec()).prop_map(str::to_owned)
}

fn leaf() -> impl Strategy<Value = String> {
    let leaves = [
        "null",
        "true",
        "false",
        "0",
        "12",
        "1.50",
        "1e3",
        "2.5E-1",
        "\"\"",
        "\"x y\"",
        "\"\\t\\\"\\\\é\\U0001f600\"",
        "\"$${a} %%{b} $ % $$ {\"",
        "[]",
        "{}",
        "f()",
    ];
    prop_oneof![2 => select(leaves.to_vec()).prop_map(str::to_owned), 1 => variable()]
}

fn variable() -> impl Strategy<Value = String> {
    select(vec!["a", "var", "each", "b-c", "é"]).prop_map(str::to_owned)
}

fn expression(directives: bool) -> impl Strategy<Value = String> {
    leaf().prop_recursive(4, 24, 4, move |inner| {
        let some = move || inner.clone();
        prop_oneof![
            2 => (some(), traversal(some())).prop_map(|(source, rest)| format!("{}{rest}", operand(&source))),
            2 => (some(), operator(), some()).prop_map(|(left, sign, right)| format!("{left}{sign}{right}")),
            1 => (select(vec!["-", "!", "- ", "!-"]), some()).prop_map(|(sign, it)| format!("{sign}{it}")),
            1 => (some(), some(), some()).prop_map(|(c, yes, no)| format!("{c} ? {yes} : {no}")),
            1 => some().prop_map(|it| format!("({it})")),
            1 => (gap(), some(), gap()).prop_map(|(before, it, after)| format!("({before}{it}{after})")),
            1 => vec((gap(), some(), gap()), 1..4).prop_map(|items| format!("[{}]", separated(items, ","))),
            1 => vec(entry(some()), 1..4).prop_map(|entries| format!("{{\n{}}}", entries.concat())),
            1 => vec(entry(some()), 1..3).prop_map(|entries| one_line_object(&entries)),
            1 => call(some()),
            1 => for_expression(some()),
            2 => vec(template_part(some(), directives), 1..4).prop_map(|parts| format!("\"{}\"", parts.concat())),
        ]
    })
}

/// Returns `text` in a form that can be followed by `.b` or `[0]`.
fn operand(text: &str) -> String {
    let is_name = text
        .chars()
        .all(|letter| letter.is_alphanumeric() || letter == '_');
    if is_name && !text.starts_with(|first: char| first.is_ascii_digit()) {
        text.to_owned()
    } else {
        format!("({text})")
    }
}

fn traversal(
    inner: impl Strategy<Value = String> + Clone + 'static,
) -> impl Strategy<Value = String> {
    let step = prop_oneof![
        3 => select(vec![".b", ".b-c", "[*].b", "[*][0]", " . b", "[\"k\"]"]).prop_map(str::to_owned),
        1 => (gap(), inner, gap()).prop_map(|(before, it, after)| format!("[{before}{it}{after}]")),
    ];
    // These steps occur at most once, at the end: `.*` cannot follow `.*`, and `.0.0` would contain the number 0.0.
    let legacy = select(vec!["", "", ".*", ".*.b", ".0", ".0.b"]);
    (vec(step, 1..4), legacy).prop_map(|(steps, legacy)| steps.concat() + legacy)
}

fn operator() -> impl Strategy<Value = String> {
    let signs = [
        "==", "!=", "<", "<=", ">", ">=", "+", "-", "*", "/", "%", "&&", "||",
    ];
    (select(signs.to_vec()), any::<bool>()).prop_map(|(sign, spaced)| {
        // Without spaces, a hyphen may be part of the preceding name.
        if spaced || sign == "-" {
            format!(" {sign} ")
        } else {
            sign.to_owned()
        }
    })
}

/// Generates white space and comments that are allowed between brackets.
fn gap() -> impl Strategy<Value = String> {
    select(vec![
        "", "", " ", "\n", "\r\n", "\t", " # c\n", " // c\n", "/* c */",
    ])
    .prop_map(str::to_owned)
}

fn separated(items: Vec<(String, String, String)>, by: &str) -> String {
    let items: Vec<String> = items
        .into_iter()
        .map(|(before, it, after)| before + &it + &after)
        .collect();
    items.join(by)
}

fn key(inner: impl Strategy<Value = String>) -> impl Strategy<Value = String> {
    prop_oneof![
        3 => identifier(),
        1 => select(vec!["\"k\"", "\"a ${b}\"", "1", "a.b", "f(1)"]).prop_map(str::to_owned),
        1 => inner.prop_map(|it| format!("({it})")),
    ]
}

fn entry(inner: impl Strategy<Value = String> + Clone + 'static) -> impl Strategy<Value = String> {
    let sign = select(vec![" = ", ":", "=", " : "]);
    let end = select(vec!["\n", ",\n", " # c\n", ", // c\n", "\r\n"]);
    // An unquoted key `for` would start a `for` expression.
    let key = key(inner.clone()).prop_map(|key| if key == "for" { "four".to_owned() } else { key });
    (key, sign, inner, end).prop_map(|(key, sign, value, end)| format!("{key}{sign}{value}{end}"))
}

fn one_line_object(entries: &[String]) -> String {
    let entries: Vec<&str> = entries
        .iter()
        .map(|entry| entry.trim_end().trim_end_matches(','))
        .collect();
    let is_plain = entries
        .iter()
        .all(|entry| !entry.contains(['\n', '#']) && !entry.contains("//"));
    if is_plain {
        format!("{{ {} }}", entries.join(", "))
    } else {
        "{}".to_owned()
    }
}

fn call(inner: impl Strategy<Value = String> + Clone + 'static) -> impl Strategy<Value = String> {
    let name = select(vec!["f", "b-c", "provider::x::f", "core::f"]);
    let end = select(vec!["", "", ",", "...", " ...\n", "\n"]);
    (name, vec((gap(), inner, gap()), 1..3), end)
        .prop_map(|(name, arguments, end)| format!("{name}({}{end})", separated(arguments, ",")))
}

fn for_expression(
    inner: impl Strategy<Value = String> + Clone + 'static,
) -> impl Strategy<Value = String> {
    let names = select(vec!["v", "k, v", "k,v"]);
    let condition = prop_oneof![2 => Just(String::new()), 1 => inner.clone().prop_map(|it| format!(" if {it}"))];
    let fields = (
        names,
        inner.clone(),
        inner.clone(),
        inner,
        condition,
        any::<[bool; 2]>(),
    );
    fields.prop_map(
        |(names, collection, key, value, condition, [object, grouped])| {
            if !object {
                return format!("[for {names} in {collection} : {value}{condition}]");
            }
            let dots = if grouped { "..." } else { "" };
            format!("{{for {names} in {collection} : {key} => {value}{dots}{condition}}}")
        },
    )
}

fn template_part(
    inner: impl Strategy<Value = String> + Clone + 'static,
    directives: bool,
) -> impl Strategy<Value = String> {
    let mark = || select(vec!["", "", "~"]);
    let marks = || (mark(), mark());
    let text = || select(vec!["", "x", " ", " x ", "é"]);
    let escaped = select(vec!["\\n", "\\\"", "$${", "$ ", "% "]);
    let interpolation = (marks(), inner.clone(), text())
        .prop_map(|((before, after), it, text)| format!("${{{before}{it}{after}}}{text}"));
    let condition = (
        inner.clone(),
        marks(),
        marks(),
        (text(), text()),
        any::<bool>(),
    )
        .prop_map(|(it, (a, b), (c, d), (yes, no), has_else)| {
            let otherwise = if has_else {
                format!("%{{{c} else {b}}}{no}")
            } else {
                String::new()
            };
            format!("%{{{a} if {it} {b}}}{yes}{otherwise}%{{{c} endif {d}}}")
        });
    let repetition = (select(vec!["v", "k, v"]), inner, marks(), text()).prop_map(
        |(names, it, (a, b), text)| format!("%{{{a} for {names} in {it} {b}}}{text}%{{ endfor }}"),
    );
    let frequency = u32::from(directives);
    prop_oneof![
        3 => text().prop_map(str::to_owned),
        1 => escaped.prop_map(str::to_owned),
        3 => interpolation,
        frequency => condition,
        frequency => repetition,
    ]
}

fn heredoc(directives: bool) -> impl Strategy<Value = String> {
    let line = select(vec![
        "x", "  y", "\tz", "", "$${a}", "\\n \"", "x E", "é", "$", "    y",
    ]);
    // Not used in `<<-` heredocs, because hcl-edit removes the wrong amount of indentation next to these sequences.
    let sequence = select(vec![
        "${a}",
        "    y ${a}",
        "x ${~ a} y ${a ~} z",
        "  ${a.b} c",
        "    ${f({ a = \"}\" })}",
    ]);
    let directive = select(vec![
        "%{ if a }b%{ endif }",
        "  %{ for v in a }\n  ${v}\n  %{ endfor }",
        "%{ if a }\nb\n%{ else }\nc\n%{ endif }",
    ]);
    let frequency = u32::from(directives);
    let any = prop_oneof![6 => line.clone(), 2 => sequence, frequency => directive];
    let plain = vec(any, 1..5).prop_map(|lines| ("", lines, ""));
    let flush =
        (vec(line, 1..5), select(vec!["", "  "])).prop_map(|(lines, indent)| ("-", lines, indent));
    prop_oneof![plain, flush].prop_map(|(dash, lines, indent)| {
        let lines = lines
            .iter()
            .fold(String::new(), |text, line| text + line + "\n");
        format!("<<{dash}E\n{lines}{indent}E")
    })
}
