//! Numbers as in Terraform: binary floating point with a mantissa of up to 512 bits, rounded half to even.
//!
//! Literals and text have 512 bits, lengths and indexes 64, and results of `f64` functions 53. The result of an operation has the
//! precision of its more precise operand. `1 / 3 * 3` is `1`, and `0.1 + 0.2` prints as `0.3`.

mod arithmetic;
mod decimal;

use std::cmp::Ordering;

use num_bigint::BigUint;

/// The number `mantissa * 2^exponent`. The mantissa is odd, or zero with the exponent zero.
#[derive(Clone, Debug)]
pub struct Number {
    /// Whether the number has a minus sign. Zero can have one, too, and then prints as `-0`.
    negative: bool,
    mantissa: BigUint,
    exponent: i32,
    /// The number of bits to which results are rounded.
    precision: u16,
}

/// The precision of literals.
const LITERAL: u16 = 512;

/// The precision of lengths, indexes and other whole numbers of a machine word.
const WORD: u16 = 64;

/// The precision of the results of functions that compute with `f64`.
const DOUBLE: u16 = 53;

/// The maximum absolute value of a decimal exponent. Numbers beyond it are errors, because printing them takes memory; no version,
/// port or count has a thousand digits.
const MAX_DECIMAL_EXPONENT: i64 = 1000;

/// The maximum distance of a digit from the binary point, in bits: about `MAX_DECIMAL_EXPONENT` decimal digits.
const MAX_BITS: i64 = 3400;

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
    /// Rounds `mantissa * 2^exponent` to `precision` bits. `None` if the result is too large or too small.
    fn rounded(negative: bool, mantissa: BigUint, exponent: i64, precision: u16) -> Option<Self> {
        let (mut mantissa, mut exponent) = (mantissa, exponent);
        let excess = mantissa.bits().saturating_sub(u64::from(precision));
        if let Some(below) = excess.checked_sub(1) {
            let zeros = mantissa.trailing_zeros().unwrap_or(0);
            let is_up = mantissa.bit(below) && (zeros < below || mantissa.bit(excess));
            mantissa >>= excess;
            mantissa += u32::from(is_up);
            exponent += i64::try_from(excess).ok()?;
        }
        let Some(zeros) = mantissa.trailing_zeros() else {
            return Some(Self::zero(negative, precision));
        };
        mantissa >>= zeros;
        exponent += i64::try_from(zeros).ok()?;
        let highest = exponent + i64::try_from(mantissa.bits()).ok()?;
        if highest.abs() > MAX_BITS {
            return None;
        }
        let exponent = i32::try_from(exponent).ok()?;
        Some(Self {
            negative,
            mantissa,
            exponent,
            precision,
        })
    }

    const fn zero(negative: bool, precision: u16) -> Self {
        Self {
            negative,
            mantissa: BigUint::ZERO,
            exponent: 0,
            precision,
        }
    }

    fn is_zero(&self) -> bool {
        self.mantissa == BigUint::ZERO
    }

    /// Whether the number has a minus sign, even if it is zero.
    pub const fn has_minus(&self) -> bool {
        self.negative
    }

    fn is_whole(&self) -> bool {
        self.exponent >= 0
    }

    /// Converts to an integer. Returns `None` for fractions and for numbers that are out of range.
    pub fn to_integer(&self) -> Option<i64> {
        let shift = u32::try_from(self.exponent)
            .ok()
            .filter(|shift| *shift < 64)?;
        let magnitude = i128::from(u64::try_from(&self.mantissa).ok()?) << shift;
        i64::try_from(if self.negative { -magnitude } else { magnitude }).ok()
    }

    /// Returns all decimal digits of a whole number, or `None` for a fraction. For a large number, `Display` writes only the shortest
    /// digits and then zeros.
    pub fn whole_digits(&self) -> Option<String> {
        let shift = u32::try_from(self.exponent).ok()?;
        let sign = if self.negative && !self.is_zero() {
            "-"
        } else {
            ""
        };
        Some(format!("{sign}{}", &self.mantissa << shift))
    }

    /// Converts to the nearest `f64`.
    pub fn to_f64(&self) -> f64 {
        self.to_string().parse().unwrap_or(f64::NAN)
    }

    /// Converts a result of a function that computes with `f64`. `None` if it is infinite or not a number.
    pub fn from_f64(value: f64) -> Option<Self> {
        let bits = value.to_bits();
        let fraction = bits & ((1 << 52) - 1);
        let (mantissa, exponent) = match i64::try_from(bits >> 52 & 0x7ff).ok()? {
            0x7ff => return None,
            0 => (fraction, -1074),
            exponent => (fraction | 1 << 52, exponent - 1075),
        };
        Self::rounded(value.is_sign_negative(), mantissa.into(), exponent, DOUBLE)
    }

    /// Parses the digits of a whole number in a base from 2 to 36.
    pub fn parse_whole(text: &str, base: u32) -> Option<Self> {
        let (negative, digits) = signed(text);
        // `parse_bytes` would also accept `_` between digits and a sign, which are invalid here.
        if digits.is_empty() || !digits.chars().all(|digit| digit.is_digit(base)) {
            return None;
        }
        let mantissa = BigUint::parse_bytes(digits.as_bytes(), base)?;
        let precision = u16::try_from(mantissa.bits()).ok()?.max(WORD);
        let negative = negative && mantissa != BigUint::ZERO;
        Self::rounded(negative, mantissa, 0, precision)
    }
}

/// Splits off a sign. Returns whether it is a minus.
fn signed(text: &str) -> (bool, &str) {
    match text.strip_prefix('-') {
        Some(digits) => (true, digits),
        None => (false, text.strip_prefix('+').unwrap_or(text)),
    }
}

impl From<i64> for Number {
    fn from(value: i64) -> Self {
        let negative = value < 0;
        Self::rounded(negative, value.unsigned_abs().into(), 0, WORD)
            .unwrap_or(Self::zero(negative, WORD))
    }
}

impl Ord for Number {
    fn cmp(&self, other: &Self) -> Ordering {
        let sign = |number: &Self| match (number.is_zero(), number.negative) {
            (true, _) => 0,
            (false, negative) => 1 - 2 * i32::from(negative),
        };
        let order = || {
            let (left, right, _) = self.aligned(other);
            left.cmp(&right)
        };
        match sign(self).cmp(&sign(other)) {
            Ordering::Equal if sign(self) < 0 => order().reverse(),
            Ordering::Equal => order(),
            different => different,
        }
    }
}

impl PartialOrd for Number {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

/// Fractions are equal if they print the same: 0.1 with 53 bits equals 0.1 with 512 bits.
impl PartialEq for Number {
    fn eq(&self, other: &Self) -> bool {
        if self.mantissa == other.mantissa && self.exponent == other.exponent {
            return self.negative == other.negative || self.is_zero();
        }
        let may_be_equal = self.precision != other.precision && self.negative == other.negative;
        may_be_equal
            && !self.is_whole()
            && !other.is_whole()
            && self.to_string() == other.to_string()
    }
}

impl Eq for Number {}

#[cfg(test)]
mod tests;
