//! Number functions.

use crate::syntax::{Number, Value};

use super::{FunctionError, FunctionResult, integer, list, number, text};

pub(super) fn abs(value: &Value) -> FunctionResult {
    let number = number(value)?;
    let is_negative = number < Number::ZERO;
    Ok(if is_negative { number.negate() } else { number }.into())
}

pub(super) fn floor(value: &Value) -> FunctionResult {
    supported(number(value)?.floor())
}

pub(super) fn ceil(value: &Value) -> FunctionResult {
    supported(number(value)?.negate().floor().map(Number::negate))
}

pub(super) fn signum(value: &Value) -> FunctionResult {
    Ok(Number::from(integer(value)?.signum()).into())
}

pub(super) fn max(values: &[Value]) -> FunctionResult {
    supported(numbers(values)?.into_iter().max())
}

pub(super) fn min(values: &[Value]) -> FunctionResult {
    supported(numbers(values)?.into_iter().min())
}

/// Converts a number to a value. `None` stands for a number with more digits than tflock supports.
fn supported(number: Option<Number>) -> FunctionResult {
    number.map(Value::from).ok_or(FunctionError::Unsupported)
}

fn numbers(values: &[Value]) -> Result<Vec<Number>, FunctionError> {
    values.iter().map(number).collect()
}

pub(super) fn sum(value: &Value) -> FunctionResult {
    let numbers = numbers(list(value)?)?;
    let (first, rest) = numbers.split_first().ok_or("the list is empty")?;
    let add = |total: Number, number: &Number| total.plus(*number);
    supported(rest.iter().try_fold(*first, add))
}

/// The maximum exponent. With a larger one, even a power of two has more digits than a number can have.
const MAX_POWER: i64 = 127;

/// Terraform computes powers in binary floating point, which is exact for multiples of 1 / `FRACTION_LIMIT` that fit into its
/// mantissa.
const FRACTION_LIMIT: i64 = 1 << 20;

/// Implements `pow(base, exponent)` for whole, non-negative exponents if the result is exact in binary floating point.
pub(super) fn power(base: &Value, exponent: &Value) -> FunctionResult {
    let base = number(base)?;
    let exponent = number(exponent)?
        .to_integer()
        .filter(|exponent| (0..=MAX_POWER).contains(exponent))
        .ok_or(FunctionError::Unsupported)?;
    let result = (0..exponent).try_fold(Number::from(1), |result, _| result.times(base));
    let fits = |whole: Option<i64>| {
        whole.is_some_and(|whole| whole.unsigned_abs() <= 1 << f64::MANTISSA_DIGITS)
    };
    let is_exact = |number: &Number| {
        let parts = number.times(Number::from(FRACTION_LIMIT));
        fits(number.to_integer()) || fits(parts.and_then(Number::to_integer))
    };
    supported(result.filter(|result| is_exact(&base) && is_exact(result)))
}

/// Implements `parseint(text, base)`.
pub(super) fn parse_int(digits: &Value, base: &Value) -> FunctionResult {
    let base = u32::try_from(integer(base)?)
        .ok()
        .filter(|base| (2..=36).contains(base))
        .ok_or("the base must be between 2 and 36")?;
    let value = i64::from_str_radix(&text(digits)?, base)
        .map_err(|error| format!("not a valid number in this base: {error}"))?;
    Ok(Number::from(value).into())
}
