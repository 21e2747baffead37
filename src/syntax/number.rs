//! Exact decimal numbers.
//!
//! Terraform computes with 512-bit binary floating-point numbers and prints the shortest decimal. For numbers that occur in
//! configurations, exact decimals print the same, without a big-number library: `1.10` prints as `1.1`, `0.1 + 0.2` as `0.3`,
//! and `1e3` as `1000`.

use std::cmp::Ordering;
use std::fmt;

/// The number `mantissa * 10^exponent`, normalized: the mantissa does not end in zero.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Number {
    mantissa: i128,
    exponent: i32,
}

/// The maximum absolute value of the exponent. Numbers beyond it are errors, because printing them takes memory; no version,
/// port or count has a thousand digits.
const MAX_EXPONENT: i32 = 1000;

/// The number of digits after the decimal point in an inexact quotient.
const DIVISION_DIGITS: i32 = 20;

/// Whether `text` is a number literal.
pub(super) fn is_number(text: &[u8]) -> bool {
    let digits = |text: &[u8]| text.iter().take_while(|byte| byte.is_ascii_digit()).count();
    let whole = digits(text);
    let mut rest = &text[whole..];
    if let [b'.', tail @ ..] = rest {
        rest = &tail[digits(tail)..];
    }
    if let [b'e' | b'E', tail @ ..] = rest {
        let tail = tail
            .strip_prefix(b"+")
            .or(tail.strip_prefix(b"-"))
            .unwrap_or(tail);
        rest = if digits(tail) > 0 {
            &tail[digits(tail)..]
        } else {
            tail
        };
    }
    whole > 0 && rest.is_empty() && text.last() != Some(&b'.')
}

impl Number {
    pub const ZERO: Self = Self {
        mantissa: 0,
        exponent: 0,
    };

    /// Normalizes `mantissa * 10^exponent`. Returns `None` if the exponent is out of range.
    fn new(mantissa: i128, exponent: i32) -> Option<Self> {
        if mantissa == 0 {
            return Some(Self::ZERO);
        }
        let (mut mantissa, mut exponent) = (mantissa, exponent);
        while mantissa % 10 == 0 {
            mantissa /= 10;
            exponent += 1;
        }
        (exponent.abs() <= MAX_EXPONENT).then_some(Self { mantissa, exponent })
    }

    /// Parses a literal with an optional sign. Returns `None` for an invalid literal or one with more than 38 digits.
    pub fn parse(text: &str) -> Option<Self> {
        let (negative, digits) = match text.strip_prefix('-') {
            Some(rest) => (true, rest),
            None => (false, text.strip_prefix('+').unwrap_or(text)),
        };
        if !is_number(digits.as_bytes()) {
            return None;
        }
        let (number, exponent) = digits.split_once(['e', 'E']).unwrap_or((digits, "0"));
        let (whole, fraction) = number.split_once('.').unwrap_or((number, ""));
        let fraction = fraction.trim_end_matches('0');
        let mantissa: i128 = format!("{whole}{fraction}").parse().ok()?;
        let exponent: i32 = exponent.parse().ok()?;
        let shift = i32::try_from(fraction.len()).ok()?;
        Self::new(
            if negative { -mantissa } else { mantissa },
            exponent.checked_sub(shift)?,
        )
    }

    /// Converts to an integer. Returns `None` for fractions and for numbers that are out of range.
    pub fn to_integer(self) -> Option<i64> {
        let factor = 10_i128.checked_pow(u32::try_from(self.exponent).ok()?)?;
        i64::try_from(self.mantissa.checked_mul(factor)?).ok()
    }

    /// Returns the approximate length, in bytes, of the number written out with all its digits.
    pub(super) fn text_length(self) -> usize {
        let digits = self.mantissa.unsigned_abs().checked_ilog10().unwrap_or(0);
        usize::try_from(digits + self.exponent.unsigned_abs()).unwrap_or(usize::MAX)
    }

    /// Returns the power of ten of the first digit.
    fn magnitude(self) -> i64 {
        i64::from(self.exponent)
            + i64::from(self.mantissa.unsigned_abs().checked_ilog10().unwrap_or(0))
    }

    /// Returns both mantissas scaled to a common exponent, and that exponent. `None` if a mantissa overflows.
    fn align(self, other: Self) -> Option<(i128, i128, i32)> {
        let exponent = self.exponent.min(other.exponent);
        let scale = |number: Self| {
            let factor = 10_i128.checked_pow(u32::try_from(number.exponent - exponent).ok()?)?;
            number.mantissa.checked_mul(factor)
        };
        Some((scale(self)?, scale(other)?, exponent))
    }

    pub fn plus(self, other: Self) -> Option<Self> {
        let (left, right, exponent) = self.align(other)?;
        Self::new(left.checked_add(right)?, exponent)
    }

    pub const fn negate(self) -> Self {
        Self {
            mantissa: -self.mantissa,
            exponent: self.exponent,
        }
    }

    pub fn times(self, other: Self) -> Option<Self> {
        Self::new(
            self.mantissa.checked_mul(other.mantissa)?,
            self.exponent + other.exponent,
        )
    }

    /// Returns the quotient, exact if it has few digits and otherwise rounded towards zero. `None` for a division by zero or an
    /// overflow.
    pub fn over(self, other: Self) -> Option<Self> {
        let (left, right, _) = self.align(other)?;
        let mut quotient = left.checked_div(right)?;
        let mut rest = left % right;
        let mut exponent = 0;
        while rest != 0 && exponent > -DIVISION_DIGITS {
            rest = rest.checked_mul(10)?;
            quotient = quotient.checked_mul(10)?.checked_add(rest / right)?;
            rest %= right;
            exponent -= 1;
        }
        Self::new(quotient, exponent)
    }

    /// Returns the remainder of a division, with the sign of the dividend. `None` for a division by zero or an overflow.
    pub fn modulo(self, other: Self) -> Option<Self> {
        let (left, right, exponent) = self.align(other)?;
        Self::new(left.checked_rem(right)?, exponent)
    }

    pub fn floor(self) -> Option<Self> {
        if self.exponent >= 0 {
            return Some(self);
        }
        let Some(factor) = 10_i128.checked_pow(self.exponent.unsigned_abs()) else {
            return Self::new(if self.mantissa < 0 { -1 } else { 0 }, 0);
        };
        Self::new(self.mantissa.div_euclid(factor), 0)
    }
}

impl From<i64> for Number {
    fn from(value: i64) -> Self {
        Self::new(i128::from(value), 0).unwrap_or(Self::ZERO)
    }
}

impl Ord for Number {
    fn cmp(&self, other: &Self) -> Ordering {
        if let Some((left, right, _)) = self.align(*other) {
            return left.cmp(&right);
        }
        // The numbers differ by many orders of magnitude: compare the signs, then the magnitudes.
        let sign = self.mantissa.signum();
        sign.cmp(&other.mantissa.signum()).then_with(|| {
            let order = self.magnitude().cmp(&other.magnitude());
            if sign < 0 { order.reverse() } else { order }
        })
    }
}

impl PartialOrd for Number {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl fmt::Display for Number {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.mantissa < 0 {
            f.write_str("-")?;
        }
        let digits = self.mantissa.unsigned_abs().to_string();
        if self.exponent >= 0 {
            let zeros = usize::try_from(self.exponent).unwrap_or(0);
            return write!(f, "{digits}{}", "0".repeat(zeros));
        }
        let places = self.exponent.unsigned_abs() as usize;
        let padded = format!("{digits:0>width$}", width = places + 1);
        let (whole, fraction) = padded.split_at(padded.len() - places);
        write!(f, "{whole}.{fraction}")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn number(text: &str) -> Number {
        Number::parse(text).expect(text)
    }

    #[test]
    fn numbers_print_as_terraform_prints_them() {
        for (text, printed) in [
            ("1", "1"),
            ("1.0", "1"),
            ("1.10", "1.1"),
            ("007", "7"),
            ("0.05", "0.05"),
            ("1e3", "1000"),
            ("1.5e-2", "0.015"),
            ("-0", "0"),
            ("-2.50", "-2.5"),
            ("12345678901234567890", "12345678901234567890"),
        ] {
            assert_eq!(number(text).to_string(), printed, "{text}");
        }
    }

    #[test]
    fn invalid_numbers_are_rejected() {
        for text in [
            "",
            ".5",
            "1.2.3",
            "1e",
            "1.",
            "x",
            "0x1",
            "--1",
            "1_000",
            "1e999999999999",
        ] {
            assert_eq!(Number::parse(text), None, "{text}");
        }
    }

    #[test]
    fn arithmetic_is_exact() {
        assert_eq!(number("0.1").plus(number("0.2")), Some(number("0.3")));
        assert_eq!(number("7").over(number("2")), Some(number("3.5")));
        assert_eq!(number("-7").modulo(number("3")), Some(number("-1")));
        assert_eq!(number("1.5").times(number("-4")), Some(number("-6")));
        assert_eq!(number("1").over(Number::ZERO), None);
        assert_eq!(
            number("10").over(number("3")).and_then(Number::floor),
            Some(number("3"))
        );
        assert_eq!(number("-0.5").floor(), Some(number("-1")));
        assert!(number("1e40") > number("2e-40") && number("-1e40") < number("-2e-40"));
        assert_eq!(
            (number("3.0").to_integer(), number("3.5").to_integer()),
            (Some(3), None)
        );
    }
}
