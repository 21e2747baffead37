//! Evaluates operators, following Terraform's conversions and its rules for unknown values.

use super::super::expr::{BinaryOperator, UnaryOperator};
use super::super::number::Number;
use super::super::value::Value;
use super::EvalProblem;

/// Evaluates `-a` and `!a`.
pub(super) fn unary(operator: UnaryOperator, operand: &Value) -> Result<Value, EvalProblem> {
    if operand.is_unknown() {
        return Ok(Value::Unknown);
    }
    match operator {
        UnaryOperator::Negate => number(operand).map(|number| number.negate().into()),
        UnaryOperator::Not => boolean(operand).map(|value| Value::Bool(!value)),
    }
}

/// Evaluates `a + b` and all other binary operators.
pub(super) fn binary(
    operator: BinaryOperator,
    left: &Value,
    right: &Value,
) -> Result<Value, EvalProblem> {
    use BinaryOperator as Op;
    match operator {
        Op::Equal | Op::NotEqual if left.has_unknown() || right.has_unknown() => Ok(Value::Unknown),
        Op::Equal => Ok(Value::Bool(left == right)),
        Op::NotEqual => Ok(Value::Bool(left != right)),
        _ if left.is_unknown() || right.is_unknown() => Ok(Value::Unknown),
        _ => arithmetic(operator, &number(left)?, &number(right)?),
    }
}

/// Evaluates `&&` or `||`. An operand is `None` if it could not be evaluated. Returns `None` if the result depends on such an operand,
/// because the other operand does not decide it alone. Other operands must be booleans, null or unknown. For `&&`, null counts as
/// false. For `||`, null counts as an operand that could not be evaluated.
pub(super) fn logical(
    operator: BinaryOperator,
    operands: [Option<&Value>; 2],
) -> Result<Option<Value>, EvalProblem> {
    let decides = operator == BinaryOperator::Or;
    let (mut settled, mut invalid, mut unknown) = (false, false, false);
    for operand in operands {
        match operand {
            Some(Value::Null) if !decides => settled = true,
            None | Some(Value::Null) => invalid = true,
            Some(value) if value.is_unknown() => unknown = true,
            Some(known) => settled |= boolean(known)? == decides,
        }
    }
    Ok(match (settled, invalid, unknown) {
        (true, ..) => Some(Value::Bool(decides)),
        (_, true, _) => None,
        (_, _, true) => Some(Value::Unknown),
        _ => Some(Value::Bool(!decides)),
    })
}

fn arithmetic(
    operator: BinaryOperator,
    left: &Number,
    right: &Number,
) -> Result<Value, EvalProblem> {
    use BinaryOperator as Op;
    let result = match operator {
        Op::Less => return Ok(Value::Bool(left < right)),
        Op::LessOrEqual => return Ok(Value::Bool(left <= right)),
        Op::Greater => return Ok(Value::Bool(left > right)),
        Op::GreaterOrEqual => return Ok(Value::Bool(left >= right)),
        Op::Add => left.plus(right),
        Op::Subtract => left.minus(right),
        Op::Multiply => left.times(right),
        Op::Divide => left.over(right),
        _ => left.modulo(right),
    };
    result.map(Value::Number).ok_or(EvalProblem::Arithmetic)
}

/// Returns the value as text, converted from a number or boolean if necessary.
pub(super) fn text(value: &Value) -> Result<String, EvalProblem> {
    value
        .to_text()
        .ok_or(EvalProblem::wrong_type("a string", value))
}

/// Returns a number, converted from a string if necessary.
pub(super) fn number(value: &Value) -> Result<Number, EvalProblem> {
    value
        .to_number()
        .ok_or(EvalProblem::wrong_type("a number", value))
}

/// Returns a boolean, converted from a string if necessary.
pub(super) fn boolean(value: &Value) -> Result<bool, EvalProblem> {
    value
        .to_bool()
        .ok_or(EvalProblem::wrong_type("a boolean", value))
}
