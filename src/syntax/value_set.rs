//! Sets. Their elements are unique and have a fixed order, in which they are joined, printed and converted to lists.

use std::fmt::Write as _;

use super::number::Number;
use super::value::Value;

impl Value {
    /// Creates a set. Booleans, numbers and strings are sorted by value, other elements by their encoding, and null is last.
    pub fn set(mut elements: Vec<Self>) -> Self {
        elements.sort_by_cached_key(|element| match element {
            Self::Number(number) => (false, Some(number.clone()), String::new()),
            Self::String(text) => (false, None, text.clone()),
            other => (*other == Self::Null, None, encoding(other)),
        });
        // Equal elements are adjacent, except fractions that print the same but differ in later digits.
        elements.dedup();
        Self::Set(elements)
    }
}

/// Returns the text by which Terraform sorts elements that are neither strings nor numbers.
fn encoding(value: &Value) -> String {
    let mut text = String::new();
    encode(value, &mut text);
    text
}

fn encode(value: &Value, text: &mut String) {
    let mut all = |open: char, elements: &[Value], close: char| {
        text.push(open);
        for element in elements {
            encode(element, text);
            text.push(';');
        }
        text.push(close);
    };
    match value {
        Value::Null => text.push('~'),
        Value::Unknown | Value::Sensitive(_) => text.push('?'),
        Value::Bool(value) => text.push(if *value { 'T' } else { 'F' }),
        Value::Number(number) => text.push_str(&ten_digits(number)),
        Value::String(value) => quote(value, text),
        Value::List(elements) | Value::Set(elements) => all('[', elements, ']'),
        Value::Tuple(elements) => all('<', elements, '>'),
        Value::Object(entries) => {
            text.push('<');
            for value in entries.values() {
                encode(value, text);
                text.push(';');
            }
            text.push('>');
        }
        Value::Map(entries) => {
            text.push('{');
            for (key, value) in entries {
                quote(key, text);
                text.push(':');
                encode(value, text);
                text.push(';');
            }
            text.push('}');
        }
    }
}

fn quote(value: &str, text: &mut String) {
    text.push('"');
    for letter in value.chars() {
        match letter {
            '"' | '\\' => text.extend(['\\', letter]),
            '\n' => text.push_str("\\n"),
            '\r' => text.push_str("\\r"),
            '\t' => text.push_str("\\t"),
            other => text.push(other),
        }
    }
    text.push('"');
}

/// Writes a number with at most ten digits, with an exponent if it is very large or very small.
fn ten_digits(number: &Number) -> String {
    let plain = number.to_string();
    let (mantissa, exponent) = match format!("{:.9e}", number.to_f64()).split_once('e') {
        Some((mantissa, exponent)) => (mantissa.to_owned(), exponent.parse::<i32>().unwrap_or(0)),
        None => return plain,
    };
    let mantissa = mantissa.trim_end_matches('0').trim_end_matches('.');
    let mut text = String::new();
    let written = if (-4..10).contains(&exponent) {
        let places = usize::try_from(9 - exponent).unwrap_or(0);
        let rounded = format!("{:.places$}", number.to_f64());
        let short = rounded.trim_end_matches('0').trim_end_matches('.');
        write!(
            text,
            "{}",
            if rounded.contains('.') {
                short
            } else {
                &rounded
            }
        )
    } else {
        let sign = if exponent < 0 { '-' } else { '+' };
        write!(text, "{mantissa}e{sign}{:02}", exponent.unsigned_abs())
    };
    written.map_or(plain, |()| text)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_encoded_with_ten_digits() {
        for (number, expected) in [
            ("1", "1"),
            ("-10", "-10"),
            ("0.1", "0.1"),
            ("1234567890", "1234567890"),
            ("12345678901", "1.23456789e+10"),
            ("0.00001", "1e-05"),
            ("1e100", "1e+100"),
            ("0.12345678912345", "0.1234567891"),
        ] {
            assert_eq!(ten_digits(&Number::parse(number).unwrap()), expected);
        }
    }
}
