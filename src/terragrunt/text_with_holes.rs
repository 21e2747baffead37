//! Text with unknown parts, called holes.

use std::collections::BTreeSet;

use crate::syntax::{HOLE_END, HOLE_START};

/// Text in which a marker stands for each unknown part. A marker consists of lower-case letters and occurs only once.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct TextWithHoles {
    pub text: String,
    /// The unknown parts, in the order of their markers in the text.
    pub holes: Vec<Hole>,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Hole {
    pub marker: String,
    /// The origins of the unknown value, such as "`dependency.vpc.outputs`".
    pub origins: String,
    /// Whether the unknown part can consist of any number of lines. Otherwise, it is a single value.
    pub is_block: bool,
}

impl TextWithHoles {
    /// Replaces the holes in the text of an evaluated string with markers. In this text, a hole starts with `HOLE_START` and ends with
    /// `HOLE_END`.
    pub fn of(text: &str) -> Self {
        let mut result = Self::default();
        let stem = marker_stem(text);
        let mut rest = text;
        while let Some((before, tail)) = rest.split_once(HOLE_START) {
            let (origins, after) = tail.split_once(HOLE_END).unwrap_or((tail, ""));
            let (is_block, origins) = match origins.strip_prefix(BLOCK) {
                Some(origins) => (true, origins),
                None => (false, origins),
            };
            let marker = format!("{stem}{}q", letters(result.holes.len()));
            result.text.push_str(before);
            result.text.push_str(&marker);
            result.holes.push(Hole {
                marker,
                origins: origins.to_owned(),
                is_block,
            });
            rest = after;
        }
        result.text.push_str(rest);
        result
    }

    pub const fn is_known(&self) -> bool {
        self.holes.is_empty()
    }
}

/// The first character in a hole that can stand for any number of lines.
pub(super) const BLOCK: char = '\u{1}';

/// Returns the start of all markers: `unknown`, one or more `x`, and `q`. The number of `x` is chosen so that it does not occur in `text`.
fn marker_stem(text: &str) -> String {
    let taken: BTreeSet<usize> = text
        .match_indices("unknown")
        .map(|(at, word)| {
            let after = &text[at + word.len()..];
            after.len() - after.trim_start_matches('x').len()
        })
        .collect();
    let free = (1..=taken.len() + 1)
        .find(|count| !taken.contains(count))
        .unwrap_or(1);
    format!("unknown{}q", "x".repeat(free))
}

/// Writes a number with letters instead of digits.
fn letters(number: usize) -> String {
    let digit = |digit: u8| char::from(b'a' + (digit - b'0'));
    number.to_string().bytes().map(digit).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn holes_become_markers_that_do_not_occur_in_the_text() {
        let text =
            format!("a = \"{HOLE_START}one{HOLE_END}\"\nunknownxq {HOLE_START}\u{1}two{HOLE_END}");
        let found = TextWithHoles::of(&text);
        assert_eq!(found.text, "a = \"unknownxxqaq\"\nunknownxq unknownxxqbq");
        let holes: Vec<_> = found
            .holes
            .iter()
            .map(|hole| (&*hole.marker, &*hole.origins, hole.is_block))
            .collect();
        assert_eq!(
            holes,
            [
                ("unknownxxqaq", "one", false),
                ("unknownxxqbq", "two", true)
            ]
        );
    }
}
