//! `yamldecode`: what Terraform makes of a YAML document.
//!
//! A crate finds the structure of the text; which values its plain words have follows Terraform: those of YAML 1.1 for nothing,
//! booleans and times, of YAML 1.2 for numbers (`017` is seventeen, `0o17` is fifteen, `1_000` and `0b1` are text).

use std::collections::{BTreeMap, HashMap};

use saphyr_parser::{Event, Parser, ScalarStyle, StrInput};

use crate::syntax::{EvalBudget, Number, Value};

use super::{Failure, Outcome};

/// A longer text is left to the tools: lists of modules and versions have some kilobytes.
const MAX_BYTES: usize = 1 << 20;

/// How deep collections may be in each other.
const MAX_DEPTH: usize = 100;

/// How many values a document may have. Aliases repeat what they stand for, and those of aliases multiply.
const MAX_VALUES: usize = 1 << 16;

const NOTHING: [&str; 5] = ["", "~", "null", "Null", "NULL"];
const TRUE: [&str; 11] = [
    "y", "Y", "yes", "Yes", "YES", "true", "True", "TRUE", "on", "On", "ON",
];
const FALSE: [&str; 11] = [
    "n", "N", "no", "No", "NO", "false", "False", "FALSE", "off", "Off", "OFF",
];

/// The key whose value is merged into its mapping.
const MERGE: &str = "<<";

pub(super) fn decode(text: &str, budget: &EvalBudget) -> Outcome {
    if text.len() > MAX_BYTES {
        return Err(Failure::Unsupported);
    }
    let mut reader = Reader {
        parser: Parser::new_from_str(text),
        anchors: HashMap::new(),
        values: 0,
        budget,
    };
    reader.document()
}

struct Reader<'a> {
    parser: Parser<'a, StrInput<'a>>,
    /// By the number that the crate gives an anchor. One whose value is not complete yet is not there.
    anchors: HashMap<usize, Value>,
    values: usize,
    budget: &'a EvalBudget,
}

impl<'a> Reader<'a> {
    fn next(&mut self) -> Result<Event<'a>, Failure> {
        match self.parser.next_event() {
            Some(Ok((event, _))) => Ok(event),
            Some(Err(error)) => Err(format!("this is no YAML: {error}").into()),
            None => Ok(Event::StreamEnd),
        }
    }

    /// The only document of the text.
    fn document(&mut self) -> Outcome {
        loop {
            match self.next()? {
                Event::DocumentStart(_) => break,
                Event::StreamEnd => return Err("there is no document in this text".into()),
                _ => {}
            }
        }
        let first = self.next()?;
        let value = self.value(first, 0)?;
        loop {
            match self.next()? {
                Event::StreamEnd => return Ok(value),
                Event::DocumentStart(_) => {
                    return Err("there is more than one document in this text".into());
                }
                _ => {}
            }
        }
    }

    fn value(&mut self, event: Event<'a>, depth: usize) -> Outcome {
        if depth > MAX_DEPTH {
            return Err(Failure::Unsupported);
        }
        let (anchor, value) = match event {
            Event::Alias(anchor) => {
                let value = self.anchors.get(&anchor);
                let value = value.ok_or("an alias stands within what it stands for")?;
                self.budget.value(value)?;
                let value = value.clone();
                self.count(size(&value))?;
                return Ok(value);
            }
            Event::Scalar(text, style, anchor, tag) => {
                let is_text = match tag.as_deref() {
                    None => style != ScalarStyle::Plain,
                    Some(tag) if tag.is_yaml_core_schema() && tag.suffix == "str" => true,
                    Some(_) => return Err(Failure::Unsupported),
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
            // What is left are tags of collections, and ends without a start, which the crate reports itself.
            _ => return Err(Failure::Unsupported),
        };
        self.count(1)?;
        self.budget.steps(1)?;
        if anchor != 0 {
            self.budget.value(&value)?;
            self.anchors.insert(anchor, value.clone());
        }
        Ok(value)
    }

    fn count(&mut self, values: usize) -> Result<(), Failure> {
        self.values += values;
        if self.values > MAX_VALUES {
            return Err(Failure::Unsupported);
        }
        Ok(())
    }

    fn sequence(&mut self, depth: usize) -> Outcome {
        let mut elements = Vec::new();
        loop {
            match self.next()? {
                Event::SequenceEnd => return Ok(Value::Tuple(elements)),
                event => elements.push(self.value(event, depth + 1)?),
            }
        }
    }

    /// Of equal keys the last counts, those that are merged in among them.
    fn mapping(&mut self, depth: usize) -> Outcome {
        let mut entries = BTreeMap::new();
        self.budget.room_for(self.values, 0)?;
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

/// How many values there are in a value, itself included.
fn size(value: &Value) -> usize {
    let inner: usize = match value {
        Value::Tuple(elements) => elements.iter().map(size).sum(),
        Value::Object(entries) => entries.values().map(size).sum(),
        _ => 0,
    };
    1 + inner
}

/// The value of a word without quotes.
fn plain(word: &str) -> Outcome {
    if NOTHING.contains(&word) {
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
            let number = i64::from_str_radix(digits, base).map_err(|_big| Failure::Unsupported)?;
            return Ok(Number::from(number).into());
        }
    }
    if is_decimal(word) {
        // `.5` and `1.` are numbers here, and no literals.
        let (sign, digits) = match word.strip_prefix('-') {
            Some(digits) => ("-", digits),
            None => ("", word.strip_prefix('+').unwrap_or(word)),
        };
        let literal = format!(
            "{sign}0{}",
            digits.replacen(".e", "e", 1).replacen(".E", "e", 1)
        );
        let number = Number::parse(literal.trim_end_matches('.'));
        return number.map(Value::Number).ok_or(Failure::Unsupported);
    }
    if is_special_number(word) || is_date(word) {
        return Err(Failure::Unsupported);
    }
    Ok(word.into())
}

/// Digits, perhaps with a sign, a point and an exponent.
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

/// Infinity and what is no number: no address has them.
fn is_special_number(word: &str) -> bool {
    let unsigned = word.strip_prefix(['-', '+']).unwrap_or(word);
    [".inf", ".Inf", ".INF", ".nan", ".NaN", ".NAN"].contains(&unsigned)
}

/// The beginning of a point in time, which Terraform writes in a form of its own.
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
