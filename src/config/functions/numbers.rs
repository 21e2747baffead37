//! Functions of numbers.

use crate::syntax::{Number, Value};

use super::{Failure, Function, Outcome, arity, integer, list, number};

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
            let [argument] = arguments else {
                return Err(arity());
            };
            Ok(Number::from(integer(argument)?.signum()).into())
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

/// Terraform computes powers in binary floating point. That is exact for whole numbers, halves, quarters and so on down to this,
/// within its digits.
const SMALLEST_PART: i64 = 1 << 20;

/// Whole exponents that are not negative, and exact results; all others are those of binary floating point.
fn power(arguments: &[Value]) -> Outcome {
    let [base, exponent] = arguments else {
        return Err(arity());
    };
    let base = number(base)?;
    let exponent = number(exponent)?.to_integer();
    let exponent = exponent.filter(|exponent| (0..=MAX_POWER).contains(exponent));
    let exponent = exponent.ok_or(Failure::Unsupported)?;
    let result = (0..exponent).try_fold(Number::from(1), |result, _| result.times(base));
    let fits = |whole: Option<i64>| {
        whole.is_some_and(|whole| whole.unsigned_abs() <= 1 << f64::MANTISSA_DIGITS)
    };
    let exact = |number: &Number| {
        let parts = number.times(Number::from(SMALLEST_PART));
        fits(number.to_integer()) || fits(parts.and_then(Number::to_integer))
    };
    let result = result.filter(|result| exact(&base) && exact(result));
    result.map(Value::from).ok_or(Failure::Unsupported)
}
