//! The `yamldecode` function, with the same results as in Terraform.
//!
//! `saphyr_parser` parses the structure. Unquoted scalars follow YAML 1.1 for null, booleans and times, and YAML 1.2 for numbers
//! (`017` is seventeen, `0o17` is fifteen, `1_000` and `0b1` are strings).

use std::collections::{BTreeMap, HashMap};

use saphyr_parser::{Event, Parser, ScalarStyle, Span, StrInput};

use crate::syntax::{EvalBudget, Number, Value};

use super::{FunctionError, FunctionResult, Functions, text};

/// The maximum length of the text, in bytes. Real lists of modules and versions are a few kilobytes long.
const MAX_BYTES: usize = 1 << 20;

const MAX_DEPTH: usize = 100;

/// The maximum number of values in a document, including the copies that aliases create. Aliases of aliases grow exponentially.
const MAX_VALUES: usize = 1 << 16;

const NULLS: [&str; 5] = ["", "~", "null", "Null", "NULL"];
const TRUE: [&str; 11] = [
    "y", "Y", "yes", "Yes", "YES", "true", "True", "TRUE", "on", "On", "ON",
];
const FALSE: [&str; 11] = [
    "n", "N", "no", "No", "NO", "false", "False", "FALSE", "off", "Off", "OFF",
];

/// The key whose value is merged into the mapping.
const MERGE: &str = "<<";

pub(super) fn decode(functions: &Functions, value: &Value) -> FunctionResult {
    let text = text(value)?;
    if text.len() > MAX_BYTES {
        return Err(FunctionError::Unsupported);
    }
    let mut decoder = YamlDecoder {
        text: &text,
        parser: Parser::new_from_str(&text),
        anchors: HashMap::new(),
        value_count: 0,
        budget: &functions.budget,
    };
    decoder.document()
}

struct YamlDecoder<'a> {
    text: &'a str,
    parser: Parser<'a, StrInput<'a>>,
    /// The complete values that have an anchor, by the number of the anchor in the parser.
    anchors: HashMap<usize, Value>,
    value_count: usize,
    budget: &'a EvalBudget,
}

impl<'a> YamlDecoder<'a> {
    fn next(&mut self) -> Result<Event<'a>, FunctionError> {
        match self.parser.next_event() {
            Some(Ok((Event::Scalar(text, style, anchor, tag), span))) if is_block(style) => {
                self.check_tabs(span)?;
                // If the text ends within a line of a block scalar, the parser adds a line feed. It is removed here.
                let (first, last) = (span.start.col(), span.end.col());
                let added = last > 0 && last >= first && text.ends_with('\n');
                let text = text[..text.len() - usize::from(added)].to_owned();
                Ok(Event::Scalar(text.into(), style, anchor, tag))
            }
            Some(Ok((event, _))) => Ok(event),
            Some(Err(error)) => Err(format!("not valid YAML: {error}").into()),
            None => Ok(Event::StreamEnd),
        }
    }

    /// Rejects a block scalar if one of its lines, or the line after it, starts with a tab. The parser accepts some of these.
    fn check_tabs(&self, block: Span) -> Result<(), FunctionError> {
        let (first, last) = (block.start.line(), block.end.line());
        let mut lines = self.text.lines().skip(first).take(last - first);
        if lines.any(|line| line.starts_with('\t')) {
            return Err("not valid YAML: a line of a block scalar starts with a tab".into());
        }
        Ok(())
    }

    fn document(&mut self) -> FunctionResult {
        loop {
            match self.next()? {
                Event::DocumentStart(_) => break,
                Event::StreamEnd => return Err("the text contains no document".into()),
                _ => {}
            }
        }
        let first = self.next()?;
        let value = self.value(first, 0)?;
        loop {
            match self.next()? {
                Event::StreamEnd => return Ok(value),
                Event::DocumentStart(_) => {
                    return Err("the text contains more than one document".into());
                }
                _ => {}
            }
        }
    }

    fn value(&mut self, event: Event<'a>, depth: usize) -> FunctionResult {
        if depth > MAX_DEPTH {
            return Err(FunctionError::Unsupported);
        }
        let (anchor, value) = match event {
            Event::Alias(anchor) => {
                let value = self.anchors.get(&anchor);
                let value = value.ok_or("an alias refers to a value that contains it")?;
                self.budget.value(value)?;
                let value = value.clone();
                self.count(tree_size(&value))?;
                return Ok(value);
            }
            Event::Scalar(text, style, anchor, tag) => {
                let is_text = match tag.as_deref() {
                    // A block scalar can be null, but not a number or a boolean.
                    None if is_block(style) => !NULLS.contains(&&*text),
                    None => style != ScalarStyle::Plain,
                    Some(tag) if tag.is_yaml_core_schema() && tag.suffix == "str" => true,
                    Some(_) => return Err(FunctionError::Unsupported),
                };
                let value = if is_text {
                    text.as_ref().into()
                } else {
                    plain(&text)?
                };
                (anchor, value)
            }
            Event::SequenceStart(anchor, None) => (anchor, self.sequence(depth)?),
            Event::MappingStart(anchor, None) => (anchor, self.mapping(depth)?),
            // This is a collection with a tag. It cannot be an unexpected end, because the parser rejects such text.
            _ => return Err(FunctionError::Unsupported),
        };
        self.count(1)?;
        self.budget.steps(1)?;
        if anchor != 0 {
            self.budget.value(&value)?;
            self.anchors.insert(anchor, value.clone());
        }
        Ok(value)
    }

    fn count(&mut self, values: usize) -> Result<(), FunctionError> {
        self.value_count += values;
        if self.value_count > MAX_VALUES {
            return Err(FunctionError::Unsupported);
        }
        Ok(())
    }

    fn sequence(&mut self, depth: usize) -> FunctionResult {
        let mut elements = Vec::new();
        loop {
            match self.next()? {
                Event::SequenceEnd => return Ok(Value::Tuple(elements)),
                event => elements.push(self.value(event, depth + 1)?),
            }
        }
    }

    /// Decodes a mapping. If a key is repeated, even in a merged mapping, the last value takes precedence.
    fn mapping(&mut self, depth: usize) -> FunctionResult {
        let mut entries = BTreeMap::new();
        self.budget.room_for(self.value_count, 0)?;
        loop {
            let key = match self.next()? {
                Event::MappingEnd => return Ok(Value::Object(entries)),
                event => self.value(event, depth + 1)?,
            };
            let key = match key.to_text() {
                Some(key) => key,
                None if key == Value::Null => return Err("a key cannot be null".into()),
                None => return Err("a key must be a string".into()),
            };
            let event = self.next()?;
            let value = self.value(event, depth + 1)?;
            match value {
                Value::Object(merged) if key == MERGE => entries.extend(merged),
                other if key == MERGE => {
                    let message = format!("{} cannot be merged into a mapping", other.type_name());
                    return Err(message.into());
                }
                value => drop(entries.insert(key, value)),
            }
        }
    }
}

fn is_block(style: ScalarStyle) -> bool {
    matches!(style, ScalarStyle::Literal | ScalarStyle::Folded)
}

fn tree_size(value: &Value) -> usize {
    let inner: usize = match value {
        Value::Tuple(elements) => elements.iter().map(tree_size).sum(),
        Value::Object(entries) => entries.values().map(tree_size).sum(),
        _ => 0,
    };
    1 + inner
}

/// Returns the value of an unquoted scalar.
fn plain(word: &str) -> FunctionResult {
    if NULLS.contains(&word) {
        return Ok(Value::Null);
    }
    if TRUE.contains(&word) || FALSE.contains(&word) {
        return Ok(TRUE.contains(&word).into());
    }
    for (prefix, base) in [("0x", 16), ("0o", 8)] {
        if let Some(digits) = word.strip_prefix(prefix)
            && !digits.is_empty()
            && digits.chars().all(|digit| digit.is_digit(base))
        {
            let number =
                i64::from_str_radix(digits, base).map_err(|_big| FunctionError::Unsupported)?;
            return Ok(Number::from(number).into());
        }
    }
    if is_decimal(word) {
        // `.5` and `1.` are numbers in YAML, but `Number::parse` requires digits on both sides of the decimal point.
        let (sign, digits) = match word.strip_prefix('-') {
            Some(digits) => ("-", digits),
            None => ("", word.strip_prefix('+').unwrap_or(word)),
        };
        let literal = format!(
            "{sign}0{}",
            digits.replacen(".e", "e", 1).replacen(".E", "e", 1)
        );
        let number = Number::parse(literal.trim_end_matches('.'));
        return number.map(Value::Number).ok_or(FunctionError::Unsupported);
    }
    if is_special_number(word) || is_date(word) {
        return Err(FunctionError::Unsupported);
    }
    Ok(word.into())
}

/// Whether a word consists of digits with an optional sign, decimal point and exponent.
fn is_decimal(word: &str) -> bool {
    let unsigned = word.strip_prefix(['-', '+']).unwrap_or(word);
    let (number, exponent) = match unsigned.split_once(['e', 'E']) {
        Some((number, exponent)) => (number, Some(exponent)),
        None => (unsigned, None),
    };
    let is_digits = |text: &str| text.bytes().all(|byte| byte.is_ascii_digit());
    let (whole, fraction) = number.split_once('.').unwrap_or((number, ""));
    let exponent = exponent.map(|exponent| exponent.strip_prefix(['-', '+']).unwrap_or(exponent));
    is_digits(whole)
        && is_digits(fraction)
        && !(whole.is_empty() && fraction.is_empty())
        && exponent.is_none_or(|exponent| !exponent.is_empty() && is_digits(exponent))
}

/// Whether a word is infinity or not-a-number, which addresses and versions never contain.
fn is_special_number(word: &str) -> bool {
    let unsigned = word.strip_prefix(['-', '+']).unwrap_or(word);
    [".inf", ".Inf", ".INF", ".nan", ".NaN", ".NAN"].contains(&unsigned)
}

/// Whether a word starts with a date. Terraform converts dates and times to a different format.
fn is_date(word: &str) -> bool {
    let mut parts = word.splitn(3, '-');
    let mut is_number = |lengths: std::ops::RangeInclusive<usize>| {
        parts.next().is_some_and(|part| {
            let digits = part.bytes().take_while(u8::is_ascii_digit).count();
            lengths.contains(&digits)
        })
    };
    is_number(4..=4) && is_number(1..=2) && is_number(1..=2)
}
