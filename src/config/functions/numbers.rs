//! Functions of numbers.

use crate::syntax::{Number, Value};

use super::{Failure, Function, Outcome, arity, list, number};

pub(super) fn find(name: &str) -> Option<Function> {
    Some(match name {
        "abs" => |_, arguments| {
            one(arguments, |number| {
                Some(if number < Number::ZERO {
                    number.negate()
                } else {
                    number
                })
            })
        },
        "floor" => |_, arguments| one(arguments, Number::floor),
        "ceil" => |_, arguments| {
            one(arguments, |number| {
                number.negate().floor().map(Number::negate)
            })
        },
        "signum" => |_, arguments| {
            one(arguments, |number| {
                Some(Number::from(number.cmp(&Number::ZERO) as i64))
            })
        },
        "max" => |_, arguments| {
            numbers(arguments)?
                .into_iter()
                .max()
                .map(Value::from)
                .ok_or_else(arity)
        },
        "min" => |_, arguments| {
            numbers(arguments)?
                .into_iter()
                .min()
                .map(Value::from)
                .ok_or_else(arity)
        },
        "pow" => |_, arguments| power(arguments),
        "sum" => |_, arguments| sum(arguments),
        "parseint" => |_, arguments| super::strings::parse_int(arguments),
        _ => return None,
    })
}

fn one(arguments: &[Value], change: impl FnOnce(Number) -> Option<Number>) -> Outcome {
    match arguments {
        [argument] => change(number(argument)?)
            .map(Value::from)
            .ok_or(Failure::Unsupported),
        _ => Err(arity()),
    }
}

fn numbers(arguments: &[Value]) -> Result<Vec<Number>, Failure> {
    arguments.iter().map(number).collect()
}

fn sum(arguments: &[Value]) -> Outcome {
    let [elements] = arguments else {
        return Err(arity());
    };
    let numbers = numbers(list(elements)?)?;
    let (first, rest) = numbers.split_first().ok_or("there is nothing to add")?;
    let total = rest
        .iter()
        .try_fold(*first, |total, number| total.plus(*number));
    total.map(Value::from).ok_or(Failure::Unsupported)
}

/// The largest exponent: with a base of two, what still fits the digits of a number.
const MAX_POWER: i64 = 127;

/// Whole exponents that are not negative; the roots and fractions of others are binary floating point.
fn power(arguments: &[Value]) -> Outcome {
    let [base, exponent] = arguments else {
        return Err(arity());
    };
    let base = number(base)?;
    let exponent = number(exponent)?.to_integer();
    let exponent = exponent.filter(|exponent| (0..=MAX_POWER).contains(exponent));
    let exponent = exponent.ok_or(Failure::Unsupported)?;
    let result = (0..exponent).try_fold(Number::from(1), |result, _| result.times(base));
    result.map(Value::from).ok_or(Failure::Unsupported)
}
