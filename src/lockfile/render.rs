//! Renders [`Locks`] as bytes.
//!
//! The layout is that of Terraform and OpenTofu, byte for byte. The code is handwritten, because no general HCL printer
//! produces this layout.
//!
//! - Two header lines, which name the engine's `init`; nothing else differs between Terraform and OpenTofu.
//! - Blocks in the order of [`ProviderAddr`](crate::provider::ProviderAddr), each after an empty line.
//! - `version`, `constraints` and `hashes` in this order; the last two only if not empty. The equals signs of the first
//!   two line up; that of `hashes`, which spans several lines, does not.
//! - One hash per line, sorted by bytes, each with a comma. Line endings are `\n` on every platform.

use std::fmt::Write as _;

use super::{Locks, ProviderLock};
use crate::provider::{Engine, ProviderAddr};

/// Returns the two lines at the start of every lock file.
pub(super) fn header(engine: Engine) -> String {
    format!(
        "# This file is maintained automatically by \"{engine} init\".\n\
         # Manual edits may be lost in future updates.\n"
    )
}

impl Locks {
    /// Returns the content of the file, as `engine` writes it.
    pub fn render(&self, engine: Engine) -> String {
        let mut out = header(engine);
        for (address, lock) in &self.providers {
            push_block(&mut out, address, lock);
        }
        out
    }
}

fn push_block(out: &mut String, address: &ProviderAddr, lock: &ProviderLock) {
    out.push_str("\nprovider ");
    push_quoted(out, &address.to_string());
    // The spaces align the equals signs.
    let version = if lock.constraints.is_empty() {
        " {\n  version = "
    } else {
        " {\n  version     = "
    };
    out.push_str(version);
    push_quoted(out, &lock.version.to_string());
    if !lock.constraints.is_empty() {
        out.push_str("\n  constraints = ");
        push_quoted(out, &lock.constraints.to_string());
    }
    if !lock.hashes.is_empty() {
        out.push_str("\n  hashes = [\n");
        for hash in &lock.hashes {
            out.push_str("    ");
            push_quoted(out, hash.as_str());
            out.push_str(",\n");
        }
        out.push_str("  ]");
    }
    out.push_str("\n}\n");
}

/// Appends a quoted string literal. The first character of a template introducer is doubled, and unprintable characters are
/// escaped.
fn push_quoted(out: &mut String, text: &str) {
    out.push('"');
    if text.bytes().all(is_plain) {
        out.push_str(text);
    } else {
        push_escaped(out, text);
    }
    out.push('"');
}

fn push_escaped(out: &mut String, text: &str) {
    let mut chars = text.chars().peekable();
    while let Some(char) = chars.next() {
        match char {
            '\n' => out.push_str("\\n"),
            '\r' => out.push_str("\\r"),
            '\t' => out.push_str("\\t"),
            '"' | '\\' => out.extend(['\\', char]),
            '$' | '%' if chars.peek() == Some(&'{') => out.extend([char, char]),
            _ if is_printable(char) => out.push(char),
            _ => push_code_point(out, u32::from(char)),
        }
    }
}

/// Whether a byte never needs an escape. Everything that tflock computes consists of such bytes.
fn is_plain(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || b" !+,-./:<=>~".contains(&byte)
}

fn push_code_point(out: &mut String, code: u32) {
    // Writing to a string cannot fail.
    let _ = match u16::try_from(code) {
        Ok(short) => write!(out, "\\u{short:04x}"),
        Err(_) => write!(out, "\\U{code:08x}"),
    };
}

/// Whether a character is a letter, mark, number, punctuation, symbol or the ASCII space. `escape_debug` leaves exactly these
/// characters unchanged, except marks at the start of a string, so a letter is put before the character.
fn is_printable(char: char) -> bool {
    if char.is_ascii() {
        return char == ' ' || char.is_ascii_graphic();
    }
    ['x', char].iter().collect::<String>().escape_debug().nth(1) == Some(char)
}

#[cfg(test)]
mod tests {
    use super::super::tests::locks;
    use super::*;

    #[test]
    fn the_header_names_the_engine() {
        assert_eq!(
            Locks::default().render(Engine::Terraform),
            "# This file is maintained automatically by \"terraform init\".\n\
             # Manual edits may be lost in future updates.\n"
        );
        assert_eq!(
            Locks::default().render(Engine::Tofu),
            "# This file is maintained automatically by \"tofu init\".\n\
             # Manual edits may be lost in future updates.\n"
        );
    }

    #[test]
    fn blocks_have_a_fixed_layout() {
        let locks = locks(&[
            ("acme/bolt", "0.3.0", "", "h1:c="),
            (
                "acme/anvil",
                "2.4.1",
                ">= 2.0.0, < 3.0.0",
                "zh:b xx:y h1:a= ZH:z zh:b",
            ),
            ("acme/cog", "1.0.0", "~> 1.0", ""), // entries that are carried over may have no hashes
        ]);
        let expected = r#"
provider "registry.terraform.io/acme/anvil" {
  version     = "2.4.1"
  constraints = ">= 2.0.0, < 3.0.0"
  hashes = [
    "ZH:z",
    "h1:a=",
    "xx:y",
    "zh:b",
  ]
}

provider "registry.terraform.io/acme/bolt" {
  version = "0.3.0"
  hashes = [
    "h1:c=",
  ]
}

provider "registry.terraform.io/acme/cog" {
  version     = "1.0.0"
  constraints = "~> 1.0"
}
"#;
        for engine in [Engine::Terraform, Engine::Tofu] {
            assert_eq!(locks.render(engine), header(engine) + expected);
        }
    }

    #[test]
    fn blocks_are_sorted_by_field_and_hosts_by_their_ascii_form() {
        let sorted = [
            "1.example/a/b",
            "example.com/a/b",
            "example.com/a/b-c",
            "example.com/a-b/c",
            "example.com/a1/b2",
            "example.com/ab/a",
            "example.com:8080/a/a",
            "registry.terraform.io/a/a",
            "bücher.example/a/a", // xn--...
            "zzz.example/a/a",
        ];
        let mut rows = sorted.map(|source| (source, "1.0.0", "", ""));
        rows.reverse();
        let rendered = locks(&rows).render(Engine::Terraform);
        let blocks: Vec<&str> = rendered
            .lines()
            .filter_map(|line| line.strip_prefix("provider \"")?.strip_suffix("\" {"))
            .collect();
        assert_eq!(blocks, sorted);
    }

    #[test]
    fn strings_are_escaped_where_they_must_be() {
        for (text, quoted) in [
            ("h1:x\n", r#""h1:x\n""#),
            ("a:\r\t", r#""a:\r\t""#),
            ("a:\"\\", r#""a:\"\\""#),
            ("a:${x}%{y}", r#""a:$${x}%%{y}""#),
            ("$ $$ % %% { $", r#""$ $$ % %% { $""#),
            ("$$${ %%%{", r#""$$$${ %%%%{""#),
            ("é😀e\u{301} -", "\"é😀e\u{301} -\""), // combining marks are printable
            ("\u{301}", "\"\u{301}\""),
            (
                "\u{1}\u{7f}\u{a0}\u{ad}\u{200b}\u{e000}\u{378}",
                r#""\u0001\u007f\u00a0\u00ad\u200b\ue000\u0378""#,
            ),
            ("\u{e0001}", r#""\U000e0001""#),
        ] {
            let mut out = String::new();
            push_quoted(&mut out, text);
            assert_eq!(out, quoted, "{text:?}");
        }
    }
}
