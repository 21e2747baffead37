//! Finds and decodes the content of quoted strings in HCL 1 and JSON.
//!
//! The CLI configuration has no interpolation: `${...}` is kept as written, including any quotes and line breaks. Inside `${...}`,
//! only `\"` is decoded.

/// Returns the part of `text` before the quote that ends the string. `None` if there is no such quote.
pub(super) fn quoted(text: &str) -> Option<&str> {
    let mut braces = 0_usize;
    let mut previous = ' ';
    let mut escaped = false;
    for (at, c) in text.char_indices() {
        if escaped {
            escaped = false;
            previous = ' ';
            continue;
        }
        match c {
            '\\' => escaped = true,
            '"' if braces == 0 => return Some(&text[..at]),
            '\n' if braces == 0 => return None,
            '{' if braces > 0 || previous == '$' => braces += 1,
            '}' if braces > 0 => braces -= 1,
            _ => {}
        }
        previous = c;
    }
    None
}

/// Decodes the escape sequences in a string, except those inside `${...}`. The error is the offset of an unknown escape sequence.
pub(super) fn unescape(raw: &str) -> Result<String, usize> {
    let mut out = String::with_capacity(raw.len());
    let mut at = 0;
    while let Some(c) = raw[at..].chars().next() {
        if raw[at..].starts_with("${") {
            let length = interpolation(&raw[at..]);
            out.push_str(&raw[at..at + length].replace("\\\"", "\""));
            at += length;
        } else if c == '\\' {
            let (decoded, length) = escape(&raw[at + 1..]).ok_or(at)?;
            out.push(decoded);
            at += 1 + length;
        } else {
            out.push(c);
            at += c.len_utf8();
        }
    }
    Ok(out)
}

/// Returns the length, in bytes, of the `${...}` at the start of `text`.
fn interpolation(text: &str) -> usize {
    let mut braces = 0_usize;
    for (at, c) in text.char_indices() {
        match c {
            '{' => braces += 1,
            '}' if braces == 1 => return at + 1,
            '}' => braces = braces.saturating_sub(1),
            _ => {}
        }
    }
    text.len()
}

/// Decodes the text after a backslash. Returns the character, and the length of the escape sequence in bytes. `\/` comes from JSON.
fn escape(text: &str) -> Option<(char, usize)> {
    let kind = text.chars().next()?;
    let simple = match kind {
        'a' => '\u{7}',
        'b' => '\u{8}',
        'f' => '\u{c}',
        'n' => '\n',
        'r' => '\r',
        't' => '\t',
        'v' => '\u{b}',
        '\\' | '"' | '/' => kind,
        'x' => return numeric(text, 1, 2, 16),
        'u' => return utf16(text),
        'U' => return numeric(text, 1, 8, 16),
        '0'..='7' => return numeric(text, 0, 3, 8),
        _ => return None,
    };
    Some((simple, 1))
}

fn numeric(text: &str, skip: usize, digits: usize, radix: u32) -> Option<(char, usize)> {
    let end = skip + digits;
    let code = text.get(skip..end)?;
    if !code.chars().all(|c| c.is_digit(radix)) {
        return None;
    }
    let code = u32::from_str_radix(code, radix).ok()?;
    Some((char::from_u32(code)?, end))
}

/// Decodes `uXXXX`, or a surrogate pair of two such escapes, as in JSON. A lone surrogate becomes U+FFFD.
fn utf16(text: &str) -> Option<(char, usize)> {
    let unit = |text: &str| {
        let code = text.strip_prefix('u')?.get(..4)?;
        let hex = code.chars().all(|c| c.is_ascii_hexdigit());
        u16::from_str_radix(code, 16).ok().filter(|_| hex)
    };
    let first = unit(text)?;
    let second = text
        .get(5..)
        .and_then(|rest| rest.strip_prefix('\\'))
        .and_then(unit);
    let units = [first, second.unwrap_or(0)];
    match char::decode_utf16(units).next()? {
        Ok(c) if c.len_utf16() == 2 => Some((c, 11)),
        Ok(c) => Some((c, 5)),
        Err(_) => Some((char::REPLACEMENT_CHARACTER, 5)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn strings_end_at_the_first_quote_outside_an_interpolation() {
        for (text, expected) in [
            (r#"a" b"#, Some("a")),
            (r#"a\"b" c"#, Some(r#"a\"b"#)),
            (r#"${x "q" {} }" c"#, Some(r#"${x "q" {} }"#)),
            ("${\n}\" c", Some("${\n}")),
            ("{\" c", Some("{")),
            ("a\nb\"", None),
            ("a", None),
            ("a\\\"", None),
        ] {
            assert_eq!(quoted(text), expected, "{text}");
        }
    }

    #[test]
    fn escapes_are_decoded_outside_interpolations() {
        for (raw, expected) in [
            (r"a\u0041\x41\101\U00000041", Ok("aAAAA")),
            (r#"\n\t\r\\\"\/"#, Ok("\n\t\r\\\"/")),
            (r"\ud83d\ude00", Ok("😀")),
            (r"\ud83d.", Ok("\u{fffd}.")),
            (r#"${a\nb \"c\"}\n"#, Ok("${a\\nb \"c\"}\n")),
            (r"ab\q", Err(2)),
            (r"\u00g0", Err(0)),
            (r"\x+1", Err(0)),
            (r"\9", Err(0)),
        ] {
            assert_eq!(
                unescape(raw).as_deref().map_err(|at| *at),
                expected,
                "{raw}"
            );
        }
    }
}
