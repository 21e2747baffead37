//! Words from which names, types and references are built.

use super::random::Random;

/// Ordinary names.
pub(super) const USUAL: [&str; 7] = ["foo", "bar", "acme", "null", "p-q", "aws", "tls"];

/// Names that look like keywords or references, or that are not normalized.
pub(super) const ODD: [&str; 26] = [
    "null",
    "true",
    "false",
    "var",
    "local",
    "each",
    "self",
    "data",
    "module",
    "path",
    "count",
    "terraform",
    "tofu",
    "Foo",
    "FOO",
    "é",
    "e\u{301}",
    "E\u{301}x",
    "ｐ",
    "p_q",
    "_x",
    "x-",
    "x--y",
    "for",
    "if",
    "ß",
];

/// Names that the tools accept although they look like something else.
const KEYWORDS: [&str; 10] = [
    "null", "true", "false", "var", "local", "each", "data", "for", "é", "path",
];

/// Returns the local name of a provider. In `odd` percent of the cases, the name is not normalized.
pub(super) fn local_name(random: &mut Random, odd: usize) -> &'static str {
    let usual = random.pick_odd(&USUAL, 15, &KEYWORDS);
    random.pick_odd(&[usual], odd * 3, &ODD)
}

/// Returns the type of a resource.
pub(super) fn resource_type(random: &mut Random, odd: usize) -> String {
    let name = local_name(random, odd);
    match random.below(8) {
        0 => name.to_owned(),
        1 => format!("{name}_a_b"),
        2 => format!("{}_thing", capitalized(name)),
        3 if random.chance(20) => format!("{name}-thing"),
        _ => format!("{name}_thing"),
    }
}

fn capitalized(name: &str) -> String {
    let mut characters = name.chars();
    let first = characters.next().into_iter().flat_map(char::to_uppercase);
    first.chain(characters).collect()
}

/// Returns a name that is used only once in a module.
pub(super) fn unique(random: &mut Random, number: usize) -> String {
    match random.below(12) {
        0 => format!("null{number}"),
        1 => format!("N{number}"),
        2 => format!("é{number}"),
        3 => format!("a-{number}"),
        _ => format!("n{number}"),
    }
}
