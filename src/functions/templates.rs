//! Functions that convert values to text: `format`, JSON, templates.

use std::collections::BTreeMap;
use std::rc::Rc;

use serde_json::value::RawValue;
use unicode_segmentation::UnicodeSegmentation as _;

use crate::provider::Engine;
use crate::syntax::{
    self, EvalBudget, EvalProblem, EvalScope, Exceeded, Number, Value, ValueType, normalized,
};

use super::{FunctionError, FunctionResult, Functions, NOT_WHOLE, list, number, text};

pub(super) fn json_decode(functions: &Functions, value: &Value) -> FunctionResult {
    let text = text(value)?;
    functions.budget.room_for(json_values(&text), text.len())?;
    let json = serde_json::from_str(&text).map_err(|error| format!("not valid JSON: {error}"))?;
    from_json(json, functions, 0)
}

/// Implements `format(pattern, value, ...)` with widths and the verbs `%s`, `%d`, `%v`, `%q` and `%%`.
pub(super) fn format(arguments: &[Value], budget: &EvalBudget) -> Result<String, FunctionError> {
    let (pattern, mut values) = arguments.split_first().ok_or(FunctionError::Unsupported)?;
    let pattern = text(pattern)?;
    let mut result = String::new();
    let mut rest = pattern.as_str();
    while let Some((before, tail)) = rest.split_once('%') {
        result.push_str(before);
        let length = tail
            .find(|letter: char| !(letter.is_ascii_digit() || matches!(letter, '-' | '+')))
            .unwrap_or(tail.len());
        let flags = &tail[..length];
        let verb = tail[length..]
            .chars()
            .next()
            .ok_or("a verb is missing after `%`")?;
        rest = &tail[length + verb.len_utf8()..];
        if verb == '%' {
            result.push('%');
            continue;
        }
        let (value, others) = values
            .split_first()
            .ok_or("the format has more verbs than there are values")?;
        values = others;
        result.push_str(&padded(flags, verb, value, budget)?);
        budget.room_for(0, result.len())?;
    }
    result.push_str(rest);
    if values.is_empty() {
        Ok(result)
    } else {
        Err("the format has fewer verbs than there are values".into())
    }
}

/// The maximum width. It prevents small configurations from creating huge strings.
const MAX_WIDTH: usize = 1000;

fn padded(
    flags: &str,
    verb: char,
    value: &Value,
    budget: &EvalBudget,
) -> Result<String, FunctionError> {
    let shown = match verb {
        's' => text(value)?,
        'd' => number(value)?.whole_digits().ok_or(NOT_WHOLE)?,
        'v' => general(value, budget)?,
        'q' => to_json(&Value::String(text(value)?), budget)?,
        _ => return Err(FunctionError::Unsupported),
    };
    if flags.contains('+') {
        return Err(FunctionError::Unsupported);
    }
    let left = flags.starts_with('-');
    let digits = flags.trim_start_matches('-');
    let width: usize = if digits.is_empty() {
        0
    } else {
        digits
            .parse()
            .map_err(|error| format!("`{digits}` is not a valid width: {error}"))?
    };
    if width > MAX_WIDTH {
        return Err("the width is limited to 1000".into());
    }
    // A letter with its accents counts as one character.
    let missing = width.saturating_sub(shown.graphemes(true).count());
    let (spaces, zeros) = (" ".repeat(missing), "0".repeat(missing));
    Ok(
        match (left, digits.starts_with('0'), shown.strip_prefix('-')) {
            (true, ..) => shown + &spaces,
            (false, true, Some(positive)) => format!("-{zeros}{positive}"),
            (false, true, None) => zeros + &shown,
            (false, false, _) => spaces + &shown,
        },
    )
}

/// Formats a value for `%v`. Numbers of one million or more, and those below 0.0001, are written with an exponent.
fn general(value: &Value, budget: &EvalBudget) -> Result<String, Exceeded> {
    let plain = match value.to_text() {
        Some(text) => text,
        None => to_json(value, budget)?,
    };
    if !matches!(value, Value::Number(_)) {
        return Ok(plain);
    }
    let (sign, unsigned) = plain
        .strip_prefix('-')
        .map_or(("", &*plain), |rest| ("-", rest));
    let (whole, fraction) = unsigned.split_once('.').unwrap_or((unsigned, ""));
    let zeros = fraction.len() - fraction.trim_start_matches('0').len();
    let exponent = if whole == "0" {
        -super::to_i64(zeros) - 1
    } else {
        super::to_i64(whole.len()) - 1
    };
    let digits = [whole, fraction].concat();
    let digits = digits.trim_matches('0');
    if digits.is_empty() || (-4..6).contains(&exponent) {
        return Ok(plain);
    }
    let (first, rest) = digits.split_at(1);
    let point = if rest.is_empty() { "" } else { "." };
    let direction = if exponent < 0 { '-' } else { '+' };
    let exponent = exponent.unsigned_abs();
    Ok(format!(
        "{sign}{first}{point}{rest}e{direction}{exponent:02}"
    ))
}

/// Implements `formatlist`, which applies `format` to each element of the lists among the arguments.
pub(super) fn format_list(functions: &Functions, arguments: &[Value]) -> FunctionResult {
    let budget = &functions.budget;
    let lengths = arguments
        .iter()
        .skip(1)
        .filter_map(|argument| list(argument).ok())
        .map(<[Value]>::len);
    let count = lengths.clone().next().unwrap_or(1);
    if lengths.clone().any(|length| length != count) {
        return Err("the lists differ in length".into());
    }
    let pick = |argument: &Value, at: usize| match argument.elements() {
        Some(elements) => elements.get(at).cloned().unwrap_or(Value::Null),
        None => argument.clone(),
    };
    let mut rows = Vec::new();
    let mut bytes = 0_usize;
    for at in 0..count {
        budget.steps(arguments.len())?;
        let row = arguments.iter().map(|argument| pick(argument, at));
        let row = format(&row.collect::<Vec<_>>(), budget)?;
        bytes += row.len();
        budget.room_for(rows.len(), bytes)?;
        // Arguments that are not lists are copied into every row.
        budget.steps(row.len() / BYTES_PER_STEP)?;
        rows.push(row.into());
    }
    Ok(Value::List(rows))
}

/// The number of bytes that can be copied in the time of one budget step.
const BYTES_PER_STEP: usize = 16;

/// Encodes a value as JSON as Go does: without spaces, with all digits of numbers, and with escapes for characters that are
/// special in HTML or JavaScript.
pub(super) fn to_json(value: &Value, budget: &EvalBudget) -> Result<String, Exceeded> {
    let mut json = String::new();
    write_json(value, &mut json, budget)?;
    Ok(json)
}

fn write_json(value: &Value, json: &mut String, budget: &EvalBudget) -> Result<(), Exceeded> {
    match value {
        Value::Null | Value::Unknown | Value::Sensitive(_) => json.push_str("null"),
        Value::Bool(value) => json.push_str(if *value { "true" } else { "false" }),
        Value::Number(number) => json.push_str(&number.to_string()),
        Value::String(text) => json.push_str(&quoted(text)),
        Value::List(elements) | Value::Set(elements) | Value::Tuple(elements) => {
            json.push('[');
            for (at, element) in elements.iter().enumerate() {
                json.push_str(if at == 0 { "" } else { "," });
                write_json(element, json, budget)?;
            }
            json.push(']');
        }
        Value::Map(entries) | Value::Object(entries) => {
            json.push('{');
            for (at, (key, value)) in entries.iter().enumerate() {
                json.push_str(if at == 0 { "" } else { "," });
                json.push_str(&quoted(key));
                json.push(':');
                write_json(value, json, budget)?;
            }
            json.push('}');
        }
    }
    budget.room_for(0, json.len())
}

fn quoted(text: &str) -> String {
    let text = serde_json::Value::from(text).to_string();
    let escape = |text: String, (letter, escaped): (char, &str)| {
        if text.contains(letter) {
            text.replace(letter, escaped)
        } else {
            text
        }
    };
    GO_ESCAPES.into_iter().fold(text, escape)
}

/// Characters that Go escapes although JSON does not require it.
const GO_ESCAPES: [(char, &str); 5] = [
    ('<', "\\u003c"),
    ('>', "\\u003e"),
    ('&', "\\u0026"),
    ('\u{2028}', "\\u2028"),
    ('\u{2029}', "\\u2029"),
];

/// Returns an upper bound for the memory of the values in a JSON text. The unit is one value of the budget, which takes about 100
/// bytes.
fn json_values(text: &str) -> usize {
    let weight = |byte: u8| match byte {
        b'{' => MAP_WEIGHT,
        b',' | b':' | b'[' => 2,
        _ => 0,
    };
    text.bytes().map(weight).sum()
}

/// The memory of a map, in the same unit. Each map exists twice: as decoded by serde_json, and as a value.
const MAP_WEIGHT: usize = 20;

/// The maximum depth of JSON. Each level scans the text of the levels below it again.
const MAX_DEPTH: usize = 128;

/// Decodes JSON one level at a time. Numbers are parsed separately, because serde_json keeps fewer digits.
fn from_json(json: &RawValue, functions: &Functions, depth: usize) -> FunctionResult {
    let json = json.get();
    if depth > MAX_DEPTH {
        return Err(FunctionError::Unsupported);
    }
    functions.budget.steps(json.len() / BYTES_PER_STEP)?;
    let invalid = |error| FunctionError::from(format!("not valid JSON: {error}"));
    let inner = |json: &RawValue| from_json(json, functions, depth + 1);
    Ok(match json.as_bytes().first() {
        Some(b'[') => {
            let elements: Vec<&RawValue> = serde_json::from_str(json).map_err(invalid)?;
            Value::Tuple(elements.into_iter().map(inner).collect::<Result<_, _>>()?)
        }
        Some(b'{') => {
            let entries: BTreeMap<String, &RawValue> =
                serde_json::from_str(json).map_err(invalid)?;
            let entries = entries.into_iter();
            let entries =
                entries.map(|(key, value)| Ok((normalized(&key).into_owned(), inner(value)?)));
            Value::Object(entries.collect::<Result<_, FunctionError>>()?)
        }
        Some(b'"') => Value::from(serde_json::from_str::<String>(json).map_err(invalid)?),
        Some(b't') => Value::Bool(true),
        Some(b'f') => Value::Bool(false),
        Some(b'n') => Value::Null,
        _ => Number::parse(json)
            .ok_or(FunctionError::Unsupported)?
            .into(),
    })
}

/// Implements `templatestring`. In Terraform, the template must be a string and cannot read files, and the result is converted to a
/// string.
pub(super) fn render_text(
    functions: &Functions,
    template: &Value,
    variables: &Value,
) -> FunctionResult {
    match (functions.engine, template) {
        (Engine::Tofu, template) => render(functions, &text(template)?, variables),
        (Engine::Terraform, Value::String(template)) => {
            let rendered = render_as(functions, template, variables, false)?;
            if rendered == Value::Null {
                return Err("the result of the template is null".into());
            }
            functions.convert(&rendered, &ValueType::String)
        }
        (Engine::Terraform, other) => Err(super::wrong_type("a string", other)),
    }
}

/// Renders a template that may read files.
pub(super) fn render(functions: &Functions, template: &str, variables: &Value) -> FunctionResult {
    render_as(functions, template, variables, true)
}

/// Renders a template with `variables` as its only variables. A template cannot render another template.
fn render_as(
    functions: &Functions,
    template: &str,
    variables: &Value,
    may_read_files: bool,
) -> FunctionResult {
    let budget = &functions.budget;
    syntax::pay_for_tree(template.len(), budget)?;
    let tree = syntax::parse_template(template).map_err(|fault| fault.problem.to_string())?;
    let variables = match variables {
        Value::Map(entries) | Value::Object(entries) => {
            budget.value(variables)?;
            let shared = entries.iter();
            shared
                .map(|(name, value)| (name.as_str(), Rc::new(value.clone())))
                .collect()
        }
        _ => BTreeMap::new(),
    };
    let scope = TemplateScope {
        functions,
        may_read_files,
        variables,
    };
    let value =
        syntax::check_references(&tree, &scope).and_then(|()| syntax::evaluate(&tree, &scope));
    value.map_err(|fault| match fault.problem {
        EvalProblem::UnsupportedFunction(_) => FunctionError::Unsupported,
        EvalProblem::File {
            path, why, refusal, ..
        } => FunctionError::File { path, why, refusal },
        EvalProblem::Exceeded(exceeded) => exceeded.into(),
        problem => problem.to_string().into(),
    })
}

struct TemplateScope<'a> {
    functions: &'a Functions,
    may_read_files: bool,
    variables: BTreeMap<&'a str, Rc<Value>>,
}

impl EvalScope for TemplateScope<'_> {
    fn reference(&self, root: &str, attribute: Option<&str>) -> Result<Rc<Value>, EvalProblem> {
        let missing = || EvalProblem::Reference(format!("the template has no variable `{root}`"));
        let value = self.variables.get(root).ok_or_else(missing)?;
        match (attribute, &**value) {
            (None, _) => Ok(Rc::clone(value)),
            (Some(name), Value::Map(entries) | Value::Object(entries)) => {
                let field = entries.get(name).ok_or_else(missing)?;
                self.functions.budget.value(field)?;
                Ok(Rc::new(field.clone()))
            }
            (Some(_), _) => Err(missing()),
        }
    }

    fn budget(&self) -> Option<&EvalBudget> {
        Some(&self.functions.budget)
    }

    fn check_function(&self, name: &str) -> Result<(), EvalProblem> {
        if matches!(name, "templatefile" | "templatestring") {
            return Err(EvalProblem::NoSuchFunction(name.to_owned()));
        }
        self.functions.check(name)
    }

    fn call(&self, name: &str, arguments: &[Value]) -> Result<Value, EvalProblem> {
        if !self.may_read_files && Functions::reads_files(name) {
            let message = "the template of `templatestring` cannot read files".to_owned();
            let name = name.to_owned();
            return Err(EvalProblem::Function { name, message });
        }
        self.functions.call(name, arguments)
    }
}
