//! String functions.

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use regex::{Regex, RegexBuilder};
use unicode_segmentation::UnicodeSegmentation as _;

use crate::syntax::{EvalBudget, Exceeded, Value, ValueType};

use super::{FunctionError, FunctionResult, Functions, integer, letters, size, text};

pub(super) fn map(value: &Value, change: fn(&str) -> String) -> FunctionResult {
    Ok(change(&text(value)?).into())
}

pub(super) fn test(first: &Value, second: &Value, test: fn(&str, &str) -> bool) -> FunctionResult {
    Ok(test(&text(first)?, &text(second)?).into())
}

pub(super) fn lower(text: &str) -> String {
    text.chars().map(letters::lower).collect()
}

pub(super) fn upper(text: &str) -> String {
    text.chars().map(letters::upper).collect()
}

pub(super) fn reverse(text: &str) -> String {
    text.graphemes(true).rev().collect()
}

pub(super) fn trim_prefix(whole: &Value, prefix: &Value) -> FunctionResult {
    let whole = text(whole)?;
    Ok(whole.strip_prefix(&text(prefix)?).unwrap_or(&whole).into())
}

pub(super) fn trim_suffix(whole: &Value, suffix: &Value) -> FunctionResult {
    let whole = text(whole)?;
    Ok(whole.strip_suffix(&text(suffix)?).unwrap_or(&whole).into())
}

pub(super) fn trim(functions: &Functions, whole: &Value, set: &Value) -> FunctionResult {
    let (whole, set) = (text(whole)?, text(set)?);
    // Each letter of `whole` is compared with each letter of `set`.
    let steps = whole.len().saturating_mul(1 + set.len() / BYTES_PER_STEP);
    functions.budget.steps(steps / BYTES_PER_STEP)?;
    let trimmed = whole.trim_matches(|letter| set.contains(letter));
    Ok(trimmed.into())
}

/// The number of bytes that can be scanned in the time of one budget step.
const BYTES_PER_STEP: usize = 16;

pub(super) fn split(functions: &Functions, separator: &Value, whole: &Value) -> FunctionResult {
    let (separator, whole) = (text(separator)?, text(whole)?);
    let parts = if separator.is_empty() {
        whole.len()
    } else {
        whole.matches(&separator).count() + 1
    };
    functions.budget.room_for(parts, whole.len())?;
    if separator.is_empty() {
        let letters = whole.chars().map(|letter| letter.to_string().into());
        return Ok(Value::List(letters.collect()));
    }
    if whole.is_empty() {
        return Ok(Value::List(vec!["".into()]));
    }
    let parts = whole.split(&separator).map(Value::from);
    Ok(Value::List(parts.collect()))
}

/// Implements `join(separator, list, ...)`.
pub(super) fn join(functions: &Functions, arguments: &[Value]) -> FunctionResult {
    let separator = text(&arguments[0])?;
    let mut joined = String::new();
    let mut is_first = true;
    for elements in &arguments[1..] {
        for element in functions.list_of(elements, ValueType::String)? {
            if !std::mem::take(&mut is_first) {
                joined.push_str(&separator);
            }
            joined.push_str(&text(&element)?);
            functions.budget.room_for(0, joined.len())?;
        }
    }
    Ok(joined.into())
}

/// Replaces all matches of `pattern`. If it is between slashes, it is a regular expression.
pub(super) fn replace(
    functions: &Functions,
    whole: &Value,
    pattern: &Value,
    new: &Value,
) -> FunctionResult {
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

/// Replaces all matches of a regular expression. `new` may refer to each group of a match several times.
fn replace_matches(pattern: &Regex, whole: &str, new: &str, budget: &EvalBudget) -> FunctionResult {
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

/// Compiles a pattern for matching it against `whole`. In Go, `\w`, `\d`, `\s` and `\b` match ASCII only; in Rust, they match all of
/// Unicode. Go and Rust agree on ASCII text. For other text, patterns that use these escapes are unsupported.
fn compile(pattern: &str, whole: &str, budget: &EvalBudget) -> Result<Regex, FunctionError> {
    let has_class = pattern.contains("[:") || CLASSES.iter().any(|class| pattern.contains(class));
    if has_class && !whole.is_ascii() {
        return Err(FunctionError::Unsupported);
    }
    let weight = weight(pattern);
    budget.steps(weight.saturating_mul(1 + whole.len() / BYTES_PER_STEP))?;
    let compiled = RegexBuilder::new(pattern)
        .size_limit(MAX_PATTERN)
        .dfa_size_limit(MAX_PATTERN)
        .build();
    compiled.map_err(|error| {
        format!("`{pattern}` is not a supported regular expression: {error}").into()
    })
}

/// The maximum memory for a compiled regular expression, in bytes.
const MAX_PATTERN: usize = 1 << 20;

/// Returns the number of budget steps for compiling a pattern and matching it against a few letters. Compilation copies the
/// repeated part of a repetition such as `{9}` that many times, and expands a character class to the ranges of all scripts.
fn weight(pattern: &str) -> usize {
    let turns_of = |tail: &str| {
        let digits = tail.split('}').next().unwrap_or_default().split(',');
        let turns = digits.filter_map(|number| number.trim().parse::<usize>().ok());
        turns.max().unwrap_or(1).clamp(1, MAX_PATTERN)
    };
    let repetitions = pattern.split('{').skip(1).map(turns_of);
    let turns = repetitions.fold(1_usize, usize::saturating_mul);
    let classes = ["\\", "[^", "(?"].map(|class| pattern.matches(class).count());
    let classes: usize = classes.iter().sum();
    let letters = pattern.len().saturating_add(classes * CLASS_WEIGHT);
    MIN_WEIGHT + letters.saturating_mul(turns).min(MAX_PATTERN / 8)
}

/// The weight of a character class. A single letter has the weight 1.
const CLASS_WEIGHT: usize = 30;

const MIN_WEIGHT: usize = 50;

/// Charges the budget for one match. The search may have scanned the text from the start of the match to the end, which is `rest` bytes
/// long.
fn pay_for_match(
    found: &regex::Captures<'_>,
    rest: usize,
    budget: &EvalBudget,
) -> Result<(), Exceeded> {
    budget.steps(found.len() + rest / BYTES_PER_STEP)
}

/// Regex escapes that match fewer characters in Go (ASCII only) than in Rust.
const CLASSES: [&str; 8] = ["\\w", "\\W", "\\d", "\\D", "\\s", "\\S", "\\b", "\\B"];

pub(super) fn regex(functions: &Functions, pattern: &Value, whole: &Value) -> FunctionResult {
    let whole = text(whole)?;
    let pattern = compile(&text(pattern)?, &whole, &functions.budget)?;
    let found = pattern
        .captures(&whole)
        .ok_or("the pattern does not match")?;
    Ok(captured(&pattern, &found))
}

pub(super) fn regex_all(functions: &Functions, pattern: &Value, whole: &Value) -> FunctionResult {
    let budget = &functions.budget;
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
    Ok(Value::List(matches))
}

/// Returns the value of a match: an object of its named groups, a list of its groups, or the matched text.
fn captured(pattern: &Regex, found: &regex::Captures<'_>) -> Value {
    let value =
        |group: Option<regex::Match<'_>>| group.map_or(Value::Null, |group| group.as_str().into());
    let mut names = pattern.capture_names().flatten().peekable();
    if names.peek().is_some() {
        let group = |name: &str| (name.to_owned(), value(found.name(name)));
        return Value::Object(names.map(group).collect());
    }
    match found.len() {
        1 => value(found.get(0)),
        groups => Value::Tuple((1..groups).map(|at| value(found.get(at))).collect()),
    }
}

/// Implements `substr(text, offset, length)`, which counts in grapheme clusters.
pub(super) fn substr(whole: &Value, offset: &Value, length: &Value) -> FunctionResult {
    let whole = text(whole)?;
    let count = super::to_i64(whole.graphemes(true).count());
    let offset = integer(offset)?;
    let start = if offset < 0 {
        (count + offset).max(0)
    } else {
        offset.min(count)
    };
    let end = match integer(length)? {
        length if length < 0 => count,
        // As in Terraform, with a negative offset, a length of zero means everything up to the end.
        0 if offset < 0 => count,
        length => start.saturating_add(length).min(count),
    };
    let start_index = usize::try_from(start).unwrap_or(0);
    let taken = usize::try_from(end - start).unwrap_or(0);
    let part: String = whole
        .graphemes(true)
        .skip(start_index)
        .take(taken)
        .collect();
    Ok(part.into())
}

pub(super) fn indent(functions: &Functions, spaces: &Value, whole: &Value) -> FunctionResult {
    let spaces = size(spaces)?;
    let whole = text(whole)?;
    let lines = whole.matches('\n').count();
    if lines == 0 {
        return Ok(whole.into());
    }
    if spaces > MAX_INDENT {
        return Err("the indentation is limited to 1000 spaces".into());
    }
    functions
        .budget
        .room_for(0, whole.len() + lines.saturating_mul(spaces))?;
    Ok(whole
        .replace('\n', &format!("\n{}", " ".repeat(spaces)))
        .into())
}

/// The maximum number of spaces to indent by. It prevents small configurations from creating huge strings.
const MAX_INDENT: usize = 1000;

pub(super) fn base64_decode(value: &Value) -> FunctionResult {
    let bytes = STANDARD
        .decode(text(value)?)
        .map_err(|error| format!("not valid base64: {error}"))?;
    utf8(bytes)
}

fn utf8(bytes: Vec<u8>) -> FunctionResult {
    String::from_utf8(bytes)
        .map(Value::from)
        .map_err(|error| format!("the bytes are not valid UTF-8: {error}").into())
}

pub(super) fn url_encode(text: &str) -> String {
    let encode = |byte: u8| match byte {
        b'A'..=b'Z' | b'a'..=b'z' | b'0'..=b'9' | b'-' | b'_' | b'.' | b'~' => {
            char::from(byte).to_string()
        }
        b' ' => "+".to_owned(),
        _ => format!("%{byte:02X}"),
    };
    text.bytes().map(encode).collect()
}

/// Decodes `%XX` to a byte and `+` to a space. Any other use of `%` is an error.
pub(super) fn url_decode(value: &Value) -> FunctionResult {
    let whole = text(value)?;
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
        let digits = digits.ok_or("two hexadecimal digits must follow `%`")?;
        let byte = u8::from_str_radix(digits, 16)
            .map_err(|error| format!("`%{digits}` is not a byte: {error}"))?;
        bytes.push(byte);
        bytes.extend_from_slice(part[2..].replace('+', " ").as_bytes());
    }
    utf8(bytes)
}
