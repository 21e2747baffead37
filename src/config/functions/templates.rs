//! Functions that make text of values: `format`, JSON, and templates.

use crate::syntax::{self, EvalProblem, Number, Scope, Value};

use super::{Failure, Function, Functions, Outcome, arity, integer, list, text};

pub(super) fn find(name: &str) -> Option<Function> {
    Some(match name {
        "formatlist" => |_, arguments| format_list(arguments),
        "jsonencode" => |_, arguments| match arguments {
            [value] => Ok(to_json(value).to_string().into()),
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
        'v' => value
            .to_text()
            .unwrap_or_else(|| to_json(value).to_string()),
        'q' => to_json(&Value::String(text(value)?)).to_string(),
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

/// `format` for each element of the lists among the arguments.
fn format_list(arguments: &[Value]) -> Outcome {
    let lengths = arguments
        .iter()
        .skip(1)
        .filter_map(|argument| list(argument).ok())
        .map(<[Value]>::len);
    let count = lengths.min().unwrap_or(1);
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

fn to_json(value: &Value) -> serde_json::Value {
    match value {
        Value::Null | Value::Unknown | Value::Sensitive(_) => serde_json::Value::Null,
        Value::Bool(value) => (*value).into(),
        Value::Number(number) => number
            .to_string()
            .parse()
            .unwrap_or(serde_json::Value::Null),
        Value::String(text) => text.clone().into(),
        Value::Tuple(elements) => elements.iter().map(to_json).collect(),
        Value::Object(entries) => entries
            .iter()
            .map(|(key, value)| (key.clone(), to_json(value)))
            .collect(),
    }
}

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
