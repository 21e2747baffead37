//! The neutral form `head(item, item)` in which the results of the two parsers are compared.
//!
//! It hides differences between the two syntax trees that do not affect the meaning.

/// A part of a template.
pub(super) enum Text {
    /// Literal text.
    Plain(String),
    /// The outline of an interpolation or directive.
    Sequence(String),
}

/// The parts of a `for` expression.
pub(super) struct For<'a> {
    pub(super) key_name: Option<&'a str>,
    pub(super) value_name: &'a str,
    pub(super) collection: String,
    pub(super) key: Option<String>,
    pub(super) value: String,
    pub(super) condition: Option<String>,
    pub(super) grouped: bool,
}

pub(super) fn list(head: &str, items: impl IntoIterator<Item = String>) -> String {
    let items: Vec<String> = items.into_iter().collect();
    format!("{head}({})", items.join(", "))
}

pub(super) fn body(
    arguments: impl Iterator<Item = (String, String)>,
    blocks: impl Iterator<Item = String>,
) -> String {
    let arguments = arguments.map(|(name, value)| format!("{} = {value}", name.trim()));
    list("body", arguments.chain(blocks))
}

pub(super) fn block(kind: &str, labels: impl Iterator<Item = String>, body: &str) -> String {
    let labels: Vec<String> = labels.map(|label| format!(" {label:?}")).collect();
    format!("{kind}{} {body}", labels.concat())
}

/// Returns a number. hcl-edit reads `-1` as one number, tflock's parser as an operator and a number.
pub(super) fn number(digits: &str) -> String {
    match digits.strip_prefix('-') {
        Some(digits) => unary("-", number(digits)),
        None => digits
            .parse::<f64>()
            .map_or_else(|_| digits.to_owned(), |number| number.to_string()),
    }
}

/// Returns a unary operation. hcl-edit reads `-0` as `0`.
pub(super) fn unary(operator: &str, operand: String) -> String {
    if operator == "-" && operand == "0" {
        operand
    } else {
        list(operator, [operand])
    }
}

pub(super) fn variable(name: &str) -> String {
    format!("variable {name}")
}

/// Returns an identifier used as an object key.
pub(super) fn key(name: &str) -> String {
    format!("key {name}")
}

pub(super) fn attribute(source: String, name: &str) -> String {
    list("attribute", [source, name.to_owned()])
}

/// Returns a splat, written `[*]` or `.*`.
pub(super) fn splat(source: &str) -> String {
    format!("splat({source})")
}

pub(super) fn call(name: &str, expand: bool, arguments: impl Iterator<Item = String>) -> String {
    let dots = if expand { " ..." } else { "" };
    list(&format!("call {name}{dots}"), arguments)
}

pub(super) fn for_expression(it: For<'_>) -> String {
    let grouped = if it.grouped { " ..." } else { "" };
    let names = [it.key_name.unwrap_or("-"), it.value_name].map(str::to_owned);
    let condition = it.condition.unwrap_or_else(|| "-".to_owned());
    let key = it.key.unwrap_or_else(|| "-".to_owned());
    let parts = names
        .into_iter()
        .chain([it.collection, key, it.value, condition]);
    list(&format!("for{grouped}"), parts)
}

pub(super) fn for_directive(
    key: Option<&str>,
    value: &str,
    collection: String,
    body: String,
) -> String {
    let names = [key.unwrap_or("-"), value].map(str::to_owned);
    list("for", names.into_iter().chain([collection, body]))
}

/// Returns a string or heredoc. Adjacent literal texts are joined, and empty ones are dropped.
pub(super) fn template(parts: impl IntoIterator<Item = Text>) -> String {
    let mut items: Vec<String> = Vec::new();
    let mut plain = String::new();
    for part in parts {
        match part {
            Text::Plain(text) => plain.push_str(&text),
            Text::Sequence(sequence) => {
                flush(&mut plain, &mut items);
                items.push(sequence);
            }
        }
    }
    flush(&mut plain, &mut items);
    list("text", items)
}

fn flush(plain: &mut String, items: &mut Vec<String>) {
    if !plain.is_empty() {
        items.push(format!("{plain:?}"));
        plain.clear();
    }
}
