//! Functions of text.

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use regex::Regex;
use unicode_segmentation::UnicodeSegmentation as _;

use crate::syntax::{Number, Value};

use super::{Failure, Function, Functions, Outcome, arity, integer, letters, list, position, text};

pub(super) fn find(name: &str) -> Option<Function> {
    Some(match name {
        "lower" => |_, arguments| map(arguments, |text| text.chars().map(letters::lower).collect()),
        "upper" => |_, arguments| map(arguments, |text| text.chars().map(letters::upper).collect()),
        "title" => |_, arguments| map(arguments, letters::title),
        "trimspace" => |_, arguments| map(arguments, |text| text.trim().to_owned()),
        "chomp" => |_, arguments| {
            map(arguments, |text| {
                text.trim_end_matches(['\n', '\r']).to_owned()
            })
        },
        "strrev" => |_, arguments| map(arguments, |text| text.graphemes(true).rev().collect()),
        "trim" => |_, arguments| {
            two(arguments, |text, set| {
                text.trim_matches(|letter| set.contains(letter))
                    .to_owned()
                    .into()
            })
        },
        "trimprefix" => |_, arguments| {
            two(arguments, |text, end| {
                text.strip_prefix(end).unwrap_or(text).into()
            })
        },
        "trimsuffix" => |_, arguments| {
            two(arguments, |text, end| {
                text.strip_suffix(end).unwrap_or(text).into()
            })
        },
        "startswith" => |_, arguments| two(arguments, |text, end| text.starts_with(end).into()),
        "endswith" => |_, arguments| two(arguments, |text, end| text.ends_with(end).into()),
        "strcontains" => |_, arguments| two(arguments, |text, part| text.contains(part).into()),
        "split" => |_, arguments| two(arguments, split),
        "join" => join,
        "replace" => replace,
        "substr" => substr,
        "indent" => indent,
        "format" => |_, arguments| super::templates::format(arguments).map(Value::String),
        "regex" => |_, arguments| regex(arguments),
        "regexall" => |_, arguments| regex_all(arguments),
        "base64encode" => |_, arguments| map(arguments, |text| STANDARD.encode(text)),
        "base64decode" => |_, arguments| base64_decode(arguments),
        "urlencode" => |_, arguments| map(arguments, url_encode),
        "urldecode" => |_, arguments| url_decode(arguments),
        "tostring" => |_, arguments| convert(arguments, |value| value.to_text().map(Value::String)),
        "tonumber" => {
            |_, arguments| convert(arguments, |value| value.to_number().map(Value::Number))
        }
        "tobool" => |_, arguments| convert(arguments, |value| value.to_bool().map(Value::Bool)),
        _ => return None,
    })
}

fn map(arguments: &[Value], change: impl FnOnce(&str) -> String) -> Outcome {
    match arguments {
        [argument] => Ok(change(&text(argument)?).into()),
        _ => Err(arity()),
    }
}

fn two(arguments: &[Value], change: impl FnOnce(&str, &str) -> Value) -> Outcome {
    match arguments {
        [first, second] => Ok(change(&text(first)?, &text(second)?)),
        _ => Err(arity()),
    }
}

fn convert(arguments: &[Value], change: impl FnOnce(&Value) -> Option<Value>) -> Outcome {
    match arguments {
        [Value::Null] => Ok(Value::Null),
        [argument] => change(argument).ok_or_else(|| "the value does not convert".into()),
        _ => Err(arity()),
    }
}

fn split(separator: &str, text: &str) -> Value {
    if separator.is_empty() {
        return Value::Tuple(
            text.chars()
                .map(|letter| letter.to_string().into())
                .collect(),
        );
    }
    if text.is_empty() {
        return Value::Tuple(vec!["".into()]);
    }
    Value::Tuple(text.split(separator).map(Value::from).collect())
}

fn join(_: &Functions, arguments: &[Value]) -> Outcome {
    let (separator, lists) = arguments.split_first().ok_or_else(arity)?;
    let mut parts = Vec::new();
    for elements in lists {
        for element in list(elements)? {
            parts.push(text(element)?);
        }
    }
    Ok(parts.join(&text(separator)?).into())
}

/// A pattern between slashes is a regular expression.
fn replace(_: &Functions, arguments: &[Value]) -> Outcome {
    let [whole, pattern, new] = arguments else {
        return Err(arity());
    };
    let (whole, pattern, new) = (text(whole)?, text(pattern)?, text(new)?);
    match pattern
        .strip_prefix('/')
        .and_then(|rest| rest.strip_suffix('/'))
    {
        Some(pattern) => Ok(compile(pattern, &whole)?
            .replace_all(&whole, new.as_str())
            .into_owned()
            .into()),
        None => Ok(whole.replace(&pattern, &new).into()),
    }
}

/// `\w`, `\d`, `\s` and `\b` mean letters, digits and spaces of ASCII in Go, and all that there are here: that matters for other
/// texts only.
fn compile(pattern: &str, whole: &str) -> Result<Regex, Failure> {
    let has_class = pattern.contains("[:") || CLASSES.iter().any(|class| pattern.contains(class));
    if has_class && !whole.is_ascii() {
        return Err(Failure::Unsupported);
    }
    Regex::new(pattern).map_err(|error| {
        format!("`{pattern}` is no regular expression that is known here: {error}").into()
    })
}

/// Escapes in regular expressions that mean less in Go.
const CLASSES: [&str; 8] = ["\\w", "\\W", "\\d", "\\D", "\\s", "\\S", "\\b", "\\B"];

fn regex(arguments: &[Value]) -> Outcome {
    let [pattern, whole] = arguments else {
        return Err(arity());
    };
    let whole = text(whole)?;
    let pattern = compile(&text(pattern)?, &whole)?;
    let found = pattern
        .captures(&whole)
        .ok_or("the pattern does not match")?;
    Ok(captured(&pattern, &found))
}

fn regex_all(arguments: &[Value]) -> Outcome {
    let [pattern, whole] = arguments else {
        return Err(arity());
    };
    let whole = text(whole)?;
    let pattern = compile(&text(pattern)?, &whole)?;
    Ok(Value::Tuple(
        pattern
            .captures_iter(&whole)
            .map(|found| captured(&pattern, &found))
            .collect(),
    ))
}

/// The match, its groups in order, or its named groups.
fn captured(pattern: &Regex, found: &regex::Captures<'_>) -> Value {
    let value =
        |group: Option<regex::Match<'_>>| group.map_or(Value::Null, |group| group.as_str().into());
    let names: Vec<&str> = pattern.capture_names().flatten().collect();
    if !names.is_empty() {
        return Value::Object(
            names
                .iter()
                .map(|name| ((*name).to_owned(), value(found.name(name))))
                .collect(),
        );
    }
    match found.len() {
        1 => value(found.get(0)),
        groups => Value::Tuple((1..groups).map(|at| value(found.get(at))).collect()),
    }
}

fn substr(_: &Functions, arguments: &[Value]) -> Outcome {
    let [whole, offset, length] = arguments else {
        return Err(arity());
    };
    let whole = text(whole)?;
    let letters: Vec<&str> = whole.graphemes(true).collect();
    let offset = integer(offset)?;
    let count = super::size(letters.len());
    let start = if offset < 0 {
        (count + offset).max(0)
    } else {
        offset.min(count)
    };
    let end = match integer(length)? {
        length if length < 0 => count,
        // Counted from the end, nothing is taken for everything.
        0 if offset < 0 => count,
        length => start.saturating_add(length).min(count),
    };
    let (start, end) = (
        usize::try_from(start).unwrap_or(0),
        usize::try_from(end).unwrap_or(0),
    );
    Ok(letters[start..end].concat().into())
}

fn indent(_: &Functions, arguments: &[Value]) -> Outcome {
    let [spaces, whole] = arguments else {
        return Err(arity());
    };
    let spaces = position(spaces)?;
    if spaces > MAX_INDENT {
        return Err("it indents by a thousand spaces at most".into());
    }
    Ok(text(whole)?
        .replace('\n', &format!("\n{}", " ".repeat(spaces)))
        .into())
}

/// Text must not be made to grow without bounds.
const MAX_INDENT: usize = 1000;

fn base64_decode(arguments: &[Value]) -> Outcome {
    let [argument] = arguments else {
        return Err(arity());
    };
    let bytes = STANDARD
        .decode(text(argument)?)
        .map_err(|error| format!("this is no base64: {error}"))?;
    String::from_utf8(bytes)
        .map(Value::String)
        .map_err(|error| format!("the bytes are no UTF-8: {error}").into())
}

fn url_encode(text: &str) -> String {
    let encode = |byte: u8| match byte {
        b'A'..=b'Z' | b'a'..=b'z' | b'0'..=b'9' | b'-' | b'_' | b'.' | b'~' => {
            char::from(byte).to_string()
        }
        b' ' => "+".to_owned(),
        _ => format!("%{byte:02X}"),
    };
    text.bytes().map(encode).collect()
}

/// `%XX` is a byte and `+` a space; a percent sign means nothing else.
fn url_decode(arguments: &[Value]) -> Outcome {
    let [argument] = arguments else {
        return Err(arity());
    };
    let whole = text(argument)?;
    let mut parts = whole.split('%');
    let mut bytes = parts
        .next()
        .unwrap_or_default()
        .replace('+', " ")
        .into_bytes();
    for part in parts {
        let digits = part
            .get(..2)
            .filter(|digits| digits.bytes().all(|byte| byte.is_ascii_hexdigit()));
        let digits = digits.ok_or("two digits are missing after `%`")?;
        let byte = u8::from_str_radix(digits, 16)
            .map_err(|error| format!("`%{digits}` is no byte: {error}"))?;
        bytes.push(byte);
        bytes.extend_from_slice(part[2..].replace('+', " ").as_bytes());
    }
    String::from_utf8(bytes)
        .map(Value::String)
        .map_err(|error| format!("the bytes are no UTF-8: {error}").into())
}

/// `parseint(text, base)`.
pub(super) fn parse_int(arguments: &[Value]) -> Outcome {
    let [digits, base] = arguments else {
        return Err(arity());
    };
    let base = u32::try_from(integer(base)?)
        .ok()
        .filter(|base| (2..=36).contains(base))
        .ok_or("the base is 2 to 36")?;
    let value = i64::from_str_radix(&text(digits)?, base)
        .map_err(|error| format!("this is no number in that base: {error}"))?;
    Ok(Number::from(value).into())
}
