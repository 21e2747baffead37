//! Functions that make text of values: `format`, JSON, and templates.

use crate::syntax::{self, EvalProblem, Number, Scope, Value};

use super::{Failure, Function, Functions, Outcome, arity, integer, list, text};

pub(super) fn find(name: &str) -> Option<Function> {
    Some(match name {
        "formatlist" => |_, arguments| format_list(arguments),
        "jsonencode" => |_, arguments| match arguments {
            [value] => Ok(to_json(value).into()),
            _ => Err(arity()),
        },
        "jsondecode" => |_, arguments| match arguments {
            [value] => {
                let json = serde_json::from_str(&text(value)?)
                    .map_err(|error| format!("this is no JSON: {error}"))?;
                from_json(&json).ok_or(Failure::Unsupported)
            }
            _ => Err(arity()),
        },
        "yamldecode" => |_, arguments| match arguments {
            [argument] => super::yaml::decode(&text(argument)?),
            _ => Err(arity()),
        },
        "templatestring" => |functions, arguments| match arguments {
            [template, variables] => render(functions, &text(template)?, variables),
            _ => Err(arity()),
        },
        "templatefile" => |functions, arguments| match arguments {
            [path, variables] => render(functions, &functions.read_text(path)?, variables),
            _ => Err(arity()),
        },
        _ => return None,
    })
}

/// The verbs `%s`, `%d`, `%v`, `%q` and `%%`, with widths for numbers and text.
pub(super) fn format(arguments: &[Value]) -> Result<String, Failure> {
    let (pattern, mut values) = arguments.split_first().ok_or_else(arity)?;
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
            .ok_or("there are not enough arguments")?;
        values = others;
        result.push_str(&padded(flags, verb, value)?);
    }
    result.push_str(rest);
    if values.is_empty() {
        Ok(result)
    } else {
        Err("there are too many arguments".into())
    }
}

/// Text must not be made to grow without bounds.
const MAX_WIDTH: usize = 1000;

fn padded(flags: &str, verb: char, value: &Value) -> Result<String, Failure> {
    let shown = match verb {
        's' => text(value)?,
        'd' => integer(value)?.to_string(),
        'v' => general(value),
        'q' => to_json(&Value::String(text(value)?)),
        _ => return Err(Failure::Unsupported),
    };
    if flags.contains('+') {
        return Err(Failure::Unsupported);
    }
    let left = flags.starts_with('-');
    let digits = flags.trim_start_matches('-');
    let width: usize = if digits.is_empty() {
        0
    } else {
        digits
            .parse()
            .map_err(|error| format!("`{digits}` is no width: {error}"))?
    };
    if width > MAX_WIDTH {
        return Err("the width is a thousand at most".into());
    }
    Ok(match (left, digits.starts_with('0')) {
        (true, _) => format!("{shown:<width$}"),
        (false, true) => match shown.strip_prefix('-') {
            Some(positive) => format!("-{positive:0>width$}", width = width.saturating_sub(1)),
            None => format!("{shown:0>width$}"),
        },
        (false, false) => format!("{shown:>width$}"),
    })
}

/// A value as `%v` shows it: numbers from a million on, and very small ones, with an exponent.
fn general(value: &Value) -> String {
    let plain = value.to_text().unwrap_or_else(|| to_json(value));
    if !matches!(value, Value::Number(_)) {
        return plain;
    }
    let (sign, unsigned) = plain
        .strip_prefix('-')
        .map_or(("", &*plain), |rest| ("-", rest));
    let (whole, fraction) = unsigned.split_once('.').unwrap_or((unsigned, ""));
    let zeros = fraction.len() - fraction.trim_start_matches('0').len();
    let exponent = if whole == "0" {
        -super::size(zeros) - 1
    } else {
        super::size(whole.len()) - 1
    };
    let digits = [whole, fraction].concat();
    let digits = digits.trim_matches('0');
    if digits.is_empty() || (-4..6).contains(&exponent) {
        return plain;
    }
    let (first, rest) = digits.split_at(1);
    let point = if rest.is_empty() { "" } else { "." };
    let direction = if exponent < 0 { '-' } else { '+' };
    let exponent = exponent.unsigned_abs();
    format!("{sign}{first}{point}{rest}e{direction}{exponent:02}")
}

/// `format` for each element of the lists among the arguments.
fn format_list(arguments: &[Value]) -> Outcome {
    let lengths = arguments
        .iter()
        .skip(1)
        .filter_map(|argument| list(argument).ok())
        .map(<[Value]>::len);
    let count = lengths.clone().next().unwrap_or(1);
    if lengths.clone().any(|length| length != count) {
        return Err("the lists are not equally long".into());
    }
    let pick = |argument: &Value, at: usize| match argument {
        Value::Tuple(elements) => elements.get(at).cloned().unwrap_or(Value::Null),
        other => other.clone(),
    };
    let rows = (0..count).map(|at| {
        let row: Vec<Value> = arguments
            .iter()
            .map(|argument| pick(argument, at))
            .collect();
        format(&row).map(Value::String)
    });
    rows.collect::<Result<_, _>>().map(Value::Tuple)
}

/// JSON as Go writes it: no spaces, numbers with all their digits, and no letter that HTML or JavaScript would take for its own.
fn to_json(value: &Value) -> String {
    let quoted = |text: &str| {
        let text = serde_json::Value::from(text).to_string();
        let escape = |text: String, (letter, escaped): (char, &str)| text.replace(letter, escaped);
        NOT_IN_JSON.into_iter().fold(text, escape)
    };
    match value {
        Value::Null | Value::Unknown | Value::Sensitive(_) => "null".to_owned(),
        Value::Bool(value) => value.to_string(),
        Value::Number(number) => number.to_string(),
        Value::String(text) => quoted(text),
        Value::Tuple(elements) => {
            let elements: Vec<String> = elements.iter().map(to_json).collect();
            format!("[{}]", elements.join(","))
        }
        Value::Object(entries) => {
            let entries = entries.iter();
            let entries: Vec<String> = entries
                .map(|(key, value)| format!("{}:{}", quoted(key), to_json(value)))
                .collect();
            format!("{{{}}}", entries.join(","))
        }
    }
}

/// What Go writes as escapes though JSON would not need it.
const NOT_IN_JSON: [(char, &str); 5] = [
    ('<', "\\u003c"),
    ('>', "\\u003e"),
    ('&', "\\u0026"),
    ('\u{2028}', "\\u2028"),
    ('\u{2029}', "\\u2029"),
];

/// serde_json bounds the depth.
fn from_json(json: &serde_json::Value) -> Option<Value> {
    Some(match json {
        serde_json::Value::Null => Value::Null,
        serde_json::Value::Bool(value) => Value::Bool(*value),
        serde_json::Value::Number(number) => Value::Number(Number::parse(&number.to_string())?),
        serde_json::Value::String(text) => text.as_str().into(),
        serde_json::Value::Array(elements) => {
            Value::Tuple(elements.iter().map(from_json).collect::<Option<_>>()?)
        }
        serde_json::Value::Object(entries) => {
            let entries = entries
                .iter()
                .map(|(key, value)| Some((key.clone(), from_json(value)?)));
            Value::Object(entries.collect::<Option<_>>()?)
        }
    })
}

/// A template with its own variables. It cannot render another template.
fn render(functions: &Functions, template: &str, variables: &Value) -> Outcome {
    let tree = syntax::parse_template(template).map_err(|fault| fault.problem.to_string())?;
    let scope = TemplateScope {
        functions,
        variables,
    };
    let value =
        syntax::check_references(&tree, &scope).and_then(|()| syntax::evaluate(&tree, &scope));
    value.map_err(|fault| match fault.problem {
        EvalProblem::UnsupportedFunction(_) => Failure::Unsupported,
        EvalProblem::File {
            path, why, refusal, ..
        } => Failure::File { path, why, refusal },
        problem => problem.to_string().into(),
    })
}

struct TemplateScope<'a> {
    functions: &'a Functions,
    variables: &'a Value,
}

impl Scope for TemplateScope<'_> {
    fn reference(&self, root: &str, attribute: Option<&str>) -> Result<Value, EvalProblem> {
        let field = |value: &Value, name: &str| match value {
            Value::Object(entries) => entries.get(name).cloned(),
            _ => None,
        };
        let value = field(self.variables, root).and_then(|value| match attribute {
            Some(name) => field(&value, name),
            None => Some(value),
        });
        value
            .ok_or_else(|| EvalProblem::Reference(format!("the template has no variable `{root}`")))
    }

    fn check_function(&self, name: &str) -> Result<(), EvalProblem> {
        if matches!(name, "templatefile" | "templatestring") {
            return Err(EvalProblem::NoSuchFunction(name.to_owned()));
        }
        self.functions.check(name)
    }

    fn call(&self, name: &str, arguments: &[Value]) -> Result<Value, EvalProblem> {
        self.functions.call(name, arguments)
    }
}
