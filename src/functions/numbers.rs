//! Number functions.

use crate::syntax::{Number, Value};

use super::{FunctionError, FunctionResult, integer, list, number, text};

pub(super) fn abs(value: &Value) -> FunctionResult {
    let number = number(value)?;
    Ok(if number.has_minus() {
        number.negate()
    } else {
        number
    }
    .into())
}

pub(super) fn floor(value: &Value) -> FunctionResult {
    supported(number(value)?.floor())
}

pub(super) fn ceil(value: &Value) -> FunctionResult {
    supported(number(value)?.ceil())
}

pub(super) fn signum(value: &Value) -> FunctionResult {
    Ok(Number::from(integer(value)?.signum()).into())
}

/// Returns the greatest number; of equal ones, the first.
pub(super) fn max(values: &[Value]) -> FunctionResult {
    let greater = |first: Number, next| if next > first { next } else { first };
    supported(numbers(values)?.into_iter().reduce(greater))
}

/// Returns the smallest number; of equal ones, the first.
pub(super) fn min(values: &[Value]) -> FunctionResult {
    let smaller = |first: Number, next| if next < first { next } else { first };
    supported(numbers(values)?.into_iter().reduce(smaller))
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
    let add = |total: Number, number| total.plus(number);
    supported(rest.iter().try_fold(first.clone(), add))
}

/// Implements `pow(base, exponent)` with `f64`, multiplying in the same order as Go. Fractional exponents other than one half need
/// logarithms, whose last digit depends on the implementation.
pub(super) fn power(base: &Value, exponent: &Value) -> FunctionResult {
    let (base, exponent) = (number(base)?.to_f64(), number(exponent)?);
    let halves = exponent
        .plus(&exponent)
        .and_then(|twice| twice.to_integer());
    let power = match (exponent.to_integer(), halves) {
        (Some(whole), _) => powers(base, whole.unsigned_abs()),
        // As in Go, the result for -0 has no minus sign.
        (None, Some(-1 | 1)) => base.sqrt().abs(),
        _ => return Err(FunctionError::Unsupported),
    };
    let result = if exponent < Number::from(0) {
        1.0 / power
    } else {
        power
    };
    // Go uses a larger exponent range for intermediate results, so an overflow or underflow here could give a different result.
    let is_exact = power.is_finite() && !result.is_subnormal();
    supported(Number::from_f64(result).filter(|_| is_exact))
}

/// Computes `base` to the power of `exponent` by repeated squaring.
fn powers(base: f64, exponent: u64) -> f64 {
    let (mut square, mut product, mut rest) = (base, 1.0, exponent);
    while rest > 0 {
        if rest % 2 == 1 {
            product *= square;
        }
        square *= square;
        rest /= 2;
    }
    product
}

/// Implements `parseint(text, base)`.
pub(super) fn parse_int(digits: &Value, base: &Value) -> FunctionResult {
    let Value::String(_) = digits else {
        return Err(super::wrong_type("a string", digits));
    };
    let base = u32::try_from(integer(base)?)
        .ok()
        .filter(|base| (2..=62).contains(base))
        .ok_or("the base must be between 2 and 62")?;
    if base > 36 {
        return Err(FunctionError::Unsupported);
    }
    let number = Number::parse_whole(&text(digits)?, base);
    let number = number.ok_or("not a valid number in this base")?;
    Ok(number.into())
}
