//! Functions of text.

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use regex::{Regex, RegexBuilder};
use unicode_segmentation::UnicodeSegmentation as _;

use crate::syntax::{EvalBudget, Exceeded, Number, Value};

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
        "trim" => trim,
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
        "split" => split,
        "join" => join,
        "replace" => replace,
        "substr" => substr,
        "indent" => indent,
        "format" => |functions, arguments| {
            super::templates::format(arguments, &functions.budget).map(Value::String)
        },
        "regex" => |functions, arguments| regex(arguments, &functions.budget),
        "regexall" => |functions, arguments| regex_all(arguments, &functions.budget),
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

/// Each letter is looked for among those that are trimmed.
fn trim(functions: &Functions, arguments: &[Value]) -> Outcome {
    let [whole, set] = arguments else {
        return Err(arity());
    };
    let (whole, set) = (text(whole)?, text(set)?);
    let steps = whole.len().saturating_mul(1 + set.len() / BYTES_OF_STEP);
    functions.budget.steps(steps / BYTES_OF_STEP)?;
    let trimmed = whole.trim_matches(|letter| set.contains(letter));
    Ok(trimmed.into())
}

/// How many bytes are looked at in the time of a step.
const BYTES_OF_STEP: usize = 16;

fn split(functions: &Functions, arguments: &[Value]) -> Outcome {
    let [separator, whole] = arguments else {
        return Err(arity());
    };
    let (separator, whole) = (text(separator)?, text(whole)?);
    let parts = if separator.is_empty() {
        whole.len()
    } else {
        whole.matches(&separator).count() + 1
    };
    functions.budget.room_for(parts, whole.len())?;
    if separator.is_empty() {
        let letters = whole.chars().map(|letter| letter.to_string().into());
        return Ok(Value::Tuple(letters.collect()));
    }
    if whole.is_empty() {
        return Ok(Value::Tuple(vec!["".into()]));
    }
    Ok(Value::Tuple(
        whole.split(&separator).map(Value::from).collect(),
    ))
}

fn join(functions: &Functions, arguments: &[Value]) -> Outcome {
    let (separator, lists) = arguments.split_first().ok_or_else(arity)?;
    let separator = text(separator)?;
    let mut joined = String::new();
    let mut is_first = true;
    for elements in lists {
        for element in list(elements)? {
            if !std::mem::take(&mut is_first) {
                joined.push_str(&separator);
            }
            joined.push_str(&text(element)?);
            functions.budget.room_for(0, joined.len())?;
        }
    }
    Ok(joined.into())
}

/// A pattern between slashes is a regular expression.
fn replace(functions: &Functions, arguments: &[Value]) -> Outcome {
    let [whole, pattern, new] = arguments else {
        return Err(arity());
    };
    let (whole, pattern, new) = (text(whole)?, text(pattern)?, text(new)?);
    let budget = &functions.budget;
    let expression = pattern.strip_prefix('/');
    if let Some(pattern) = expression.and_then(|rest| rest.strip_suffix('/')) {
        return replace_matches(&compile(pattern, &whole, budget)?, &whole, &new, budget);
    }
    let matches = whole.matches(&pattern).count();
    let bytes = matches.saturating_mul(new.len());
    budget.room_for(0, bytes.saturating_add(whole.len()))?;
    Ok(whole.replace(&pattern, &new).into())
}

/// `new` may name groups of each match, several times.
fn replace_matches(pattern: &Regex, whole: &str, new: &str, budget: &EvalBudget) -> Outcome {
    let names = new.matches('$').count();
    let mut replaced = String::new();
    let mut end = 0;
    for found in pattern.captures_iter(whole) {
        let Some(all) = found.get(0) else {
            continue;
        };
        pay_for_match(&found, whole.len() - all.start(), budget)?;
        let bytes = names.saturating_mul(all.len()).saturating_add(new.len());
        let between = all.start() - end + replaced.len();
        budget.room_for(0, bytes.saturating_add(between))?;
        replaced.push_str(&whole[end..all.start()]);
        found.expand(new, &mut replaced);
        end = all.end();
    }
    replaced.push_str(&whole[end..]);
    Ok(replaced.into())
}

/// `\w`, `\d`, `\s` and `\b` mean letters, digits and spaces of ASCII in Go, and all that there are here: that matters for other
/// texts only.
fn compile(pattern: &str, whole: &str, budget: &EvalBudget) -> Result<Regex, Failure> {
    let has_class = pattern.contains("[:") || CLASSES.iter().any(|class| pattern.contains(class));
    if has_class && !whole.is_ascii() {
        return Err(Failure::Unsupported);
    }
    let weight = weight(pattern);
    budget.steps(weight.saturating_mul(1 + whole.len() / BYTES_OF_STEP))?;
    let compiled = RegexBuilder::new(pattern)
        .size_limit(MAX_PATTERN)
        .dfa_size_limit(MAX_PATTERN)
        .build();
    compiled.map_err(|error| {
        format!("`{pattern}` is no regular expression that is known here: {error}").into()
    })
}

/// The most memory that a regular expression takes.
const MAX_PATTERN: usize = 1 << 20;

/// The steps to compile a pattern, and to match it against a few letters: a repetition takes the room of all its turns, and a
/// class that of its letters in all scripts.
fn weight(pattern: &str) -> usize {
    let repeats = pattern.split('{').skip(1);
    let repeats = repeats.map(|tail| {
        let digits = tail.split('}').next().unwrap_or_default().split(',');
        let turns = digits.filter_map(|number| number.trim().parse::<usize>().ok());
        turns.max().unwrap_or(1).clamp(1, MAX_PATTERN)
    });
    let turns = repeats.fold(1_usize, usize::saturating_mul);
    let classes = pattern.matches('\\').count() + pattern.matches("[^").count();
    let classes = classes + pattern.matches("(?").count();
    let letters = pattern.len().saturating_add(classes * CLASS_WEIGHT);
    LEAST_WEIGHT + letters.saturating_mul(turns).min(MAX_PATTERN / 8)
}

/// A class of letters beside a letter.
const CLASS_WEIGHT: usize = 30;

/// The shortest pattern.
const LEAST_WEIGHT: usize = 50;

/// Takes the steps of one match: from where it begins up to the end of the text is what may have been looked at.
fn pay_for_match(
    found: &regex::Captures<'_>,
    rest: usize,
    budget: &EvalBudget,
) -> Result<(), Exceeded> {
    budget.steps(found.len() + rest / BYTES_OF_STEP)
}

/// Escapes in regular expressions that mean less in Go.
const CLASSES: [&str; 8] = ["\\w", "\\W", "\\d", "\\D", "\\s", "\\S", "\\b", "\\B"];

fn regex(arguments: &[Value], budget: &EvalBudget) -> Outcome {
    let [pattern, whole] = arguments else {
        return Err(arity());
    };
    let whole = text(whole)?;
    let pattern = compile(&text(pattern)?, &whole, budget)?;
    let found = pattern
        .captures(&whole)
        .ok_or("the pattern does not match")?;
    Ok(captured(&pattern, &found))
}

fn regex_all(arguments: &[Value], budget: &EvalBudget) -> Outcome {
    let [pattern, whole] = arguments else {
        return Err(arity());
    };
    let whole = text(whole)?;
    let pattern = compile(&text(pattern)?, &whole, budget)?;
    let mut matches = Vec::new();
    let (mut values, mut bytes) = (0_usize, 0_usize);
    for found in pattern.captures_iter(&whole) {
        let start = found.get(0).map_or(0, |all| all.start());
        pay_for_match(&found, whole.len() - start, budget)?;
        let value = captured(&pattern, &found);
        let (more_values, more_bytes) = value.cost();
        (values, bytes) = (values + more_values, bytes + more_bytes);
        budget.room_for(values, bytes)?;
        matches.push(value);
    }
    Ok(Value::Tuple(matches))
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
    let count = super::size(whole.graphemes(true).count());
    let offset = integer(offset)?;
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
    let letters = whole.graphemes(true).skip(start);
    Ok(letters
        .take(end.saturating_sub(start))
        .collect::<String>()
        .into())
}

fn indent(functions: &Functions, arguments: &[Value]) -> Outcome {
    let [spaces, whole] = arguments else {
        return Err(arity());
    };
    let spaces = position(spaces)?;
    if spaces > MAX_INDENT {
        return Err("it indents by a thousand spaces at most".into());
    }
    let whole = text(whole)?;
    let lines = whole.matches('\n').count();
    functions
        .budget
        .room_for(0, whole.len() + lines.saturating_mul(spaces))?;
    Ok(whole
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
