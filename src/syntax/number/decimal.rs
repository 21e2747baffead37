//! Conversion between numbers and decimal text.

use std::fmt;

use num_bigint::BigUint;

use super::{LITERAL, MAX_DECIMAL_EXPONENT, Number, signed};

/// The number of decimal digits that are computed to print a number. They suffice, because 512 bits have 155 digits.
const DECIDING_DIGITS: i64 = 170;

/// The number of bits in one decimal digit, as a fraction that is slightly too small: log2(10) is about 3.3219.
const BITS_PER_DIGIT: (i64, i64) = (332, 100);

/// The maximum number of digits in a literal. Longer literals are errors, because every digit affects rounding and none can be ignored.
const MAX_DIGITS: usize = 4000;

impl Number {
    /// Parses a decimal number with an optional sign, such as `-1.5e3` or `.5`. `None` if it is invalid, too large, or too small.
    /// As in Go, the exponent `p3` stands for a power of two.
    pub fn parse(text: &str) -> Option<Self> {
        if let Some((digits, exponent)) = text.split_once(['p', 'P']) {
            let exponent = exponent.parse().ok()?;
            let is_decimal = !digits.contains(['e', 'E']);
            return Self::parse(digits)
                .filter(|_| is_decimal)?
                .shifted(exponent);
        }
        let (negative, text) = signed(text);
        let (digits, exponent) = text.split_once(['e', 'E']).unwrap_or((text, "0"));
        let (whole, fraction) = digits.split_once('.').unwrap_or((digits, ""));
        let is_decimal = |text: &str| text.bytes().all(|byte| byte.is_ascii_digit());
        let is_empty = whole.is_empty() && fraction.is_empty();
        if is_empty || !is_decimal(whole) || !is_decimal(fraction) {
            return None;
        }
        let (whole, fraction) = (
            whole.trim_start_matches('0'),
            fraction.trim_end_matches('0'),
        );
        if whole.len() + fraction.len() > MAX_DIGITS {
            return None;
        }
        let exponent: i64 = exponent.parse().ok()?;
        let mantissa = [whole, fraction].concat();
        let exponent = exponent.checked_sub(i64::try_from(fraction.len()).ok()?)?;
        let (mantissa, exponent) = match mantissa.trim_end_matches('0') {
            "" => return Some(Self::zero(negative, LITERAL)),
            short => (
                short,
                exponent + i64::try_from(mantissa.len() - short.len()).ok()?,
            ),
        };
        let magnitude = exponent + i64::try_from(mantissa.trim_start_matches('0').len()).ok()?;
        if magnitude.abs() > MAX_DECIMAL_EXPONENT {
            return None;
        }
        let mantissa = BigUint::parse_bytes(mantissa.as_bytes(), 10)?;
        let power = BigUint::from(5_u8).pow(u32::try_from(exponent.unsigned_abs()).ok()?);
        if exponent >= 0 {
            return Self::rounded(negative, mantissa * power, exponent, LITERAL);
        }
        let bits = u64::from(LITERAL) + 2 + power.bits();
        let shift = bits.saturating_sub(mantissa.bits());
        let dividend = mantissa << shift;
        let quotient = &dividend / &power;
        let has_rest = &quotient * &power != dividend;
        let mantissa = (quotient << 1_u8) + u32::from(has_rest);
        let exponent = exponent - i64::try_from(shift).ok()? - 1;
        Self::rounded(negative, mantissa, exponent, LITERAL)
    }

    /// Returns the number multiplied by `2^exponent`.
    fn shifted(self, exponent: i64) -> Option<Self> {
        if self.is_zero() {
            return Some(self);
        }
        let exponent = i64::from(self.exponent) + i64::from(i32::try_from(exponent).ok()?);
        Self::rounded(self.negative, self.mantissa, exponent, self.precision)
    }

    /// Returns the approximate length, in bytes, of the number written out with all its digits.
    pub(in crate::syntax) fn text_length(&self) -> usize {
        let bits = self.mantissa.bits() + u64::from(self.exponent.unsigned_abs());
        let digits = i64::try_from(bits).unwrap_or(i64::MAX) / BITS_PER_DIGIT.0 * BITS_PER_DIGIT.1;
        usize::try_from(digits).unwrap_or(usize::MAX)
    }

    /// Returns the shortest decimal digits for which this is the nearest number of its precision, and the position of the decimal
    /// point.
    fn shortest(&self) -> (Vec<u8>, i64) {
        let bits = i64::try_from(self.mantissa.bits()).unwrap_or(i64::MAX);
        let spare = i64::from(self.precision) - bits;
        if self.exponent >= 0 && i64::from(self.exponent) <= spare {
            return DecimalDigits::of(&self.mantissa, self.exponent.into()).trimmed();
        }
        // `middle` has one bit more than the precision, so `middle - 1` and `middle + 1` are the midpoints between this number and the
        // adjacent representable ones.
        let shift = u64::try_from(spare + 1).unwrap_or(0);
        let middle = &self.mantissa << shift;
        let exponent = i64::from(self.exponent) - spare - 1;
        let digits = DecimalDigits::of(&middle, exponent);
        let lower = DecimalDigits::of(&(&middle - 1_u8), exponent);
        let upper = DecimalDigits::of(&(&middle + 1_u8), exponent);
        // Text exactly half way between two numbers is parsed as the one with the even mantissa.
        digits.shorten(&lower, &upper, !middle.bit(1))
    }
}

/// The decimal digits of a number. They are exact, or cut off after [`DECIDING_DIGITS`] and followed by a 1 if the rest is not zero.
struct DecimalDigits {
    digits: Vec<u8>,
    /// The number of digits before the decimal point; negative if zeros follow the point.
    point: i64,
}

impl DecimalDigits {
    /// Returns the digits of `mantissa * 2^exponent`.
    fn of(mantissa: &BigUint, exponent: i64) -> Self {
        let Some(places) = u64::try_from(-exponent).ok().filter(|places| *places > 0) else {
            let whole = mantissa << exponent.unsigned_abs();
            return Self::new(&whole, 0, false);
        };
        let bits = i64::try_from(mantissa.bits()).unwrap_or(i64::MAX) + exponent;
        let magnitude = bits * BITS_PER_DIGIT.1 / BITS_PER_DIGIT.0;
        let scale = (DECIDING_DIGITS - magnitude).clamp(0, -exponent);
        let scale = u32::try_from(scale).unwrap_or(0);
        let scaled = mantissa * BigUint::from(5_u8).pow(scale);
        let cut = places - u64::from(scale);
        let has_rest = scaled.trailing_zeros().is_some_and(|zeros| zeros < cut);
        Self::new(&(scaled >> cut), scale.into(), has_rest)
    }

    /// Creates the digits of `scaled / 10^places`.
    fn new(scaled: &BigUint, places: i64, has_rest: bool) -> Self {
        let mut digits = scaled.to_string().into_bytes();
        let point = i64::try_from(digits.len()).unwrap_or(i64::MAX) - places;
        if has_rest {
            digits.push(b'1');
        }
        Self { digits, point }
    }

    fn trimmed(mut self) -> (Vec<u8>, i64) {
        while self.digits.last() == Some(&b'0') {
            self.digits.pop();
        }
        (self.digits, self.point)
    }

    /// Returns the fewest digits whose value lies between `lower` and `upper`. If `inclusive`, the value may also equal one of them.
    fn shorten(mut self, lower: &Self, upper: &Self, inclusive: bool) -> (Vec<u8>, i64) {
        let (point, count) = (self.point, self.digits.len());
        // The index of the same decimal position in a limit, which can have one digit more or less before the point.
        let index = |limit: &Self, at: usize| {
            usize::try_from(i64::try_from(at).unwrap_or(i64::MAX) + limit.point - point).ok()
        };
        let digit = |limit: &Self, at: usize| {
            let digit = index(limit, at).and_then(|at| limit.digits.get(at));
            digit.copied().unwrap_or(b'0')
        };
        let is_last = |limit: &Self, at: usize| {
            let rest = index(limit, at + 1).and_then(|next| limit.digits.get(next..));
            rest.is_none_or(|rest| rest.iter().all(|digit| *digit == b'0'))
        };
        for at in 0..count {
            let own = self.digits[at];
            let (low, high) = (digit(lower, at), digit(upper, at));
            let down = low != own || inclusive && is_last(lower, at);
            let up = own != high && (inclusive || own + 1 < high || !is_last(upper, at));
            let next = digit(&self, at + 1);
            let is_half = next == b'5' && is_last(&self, at + 1);
            let round_up = match (down, up) {
                (false, false) => continue,
                (true, true) if is_half => own % 2 == 1,
                (true, true) => next >= b'5',
                (down, _) => !down,
            };
            self.digits.truncate(at + 1);
            if round_up {
                self.increment();
            }
            break;
        }
        self.trimmed()
    }

    /// Adds one to the last digit.
    fn increment(&mut self) {
        while let Some(last) = self.digits.pop() {
            if last < b'9' {
                self.digits.push(last + 1);
                return;
            }
        }
        self.digits.push(b'1');
        self.point += 1;
    }
}

/// Writes all digits, without an exponent.
impl fmt::Display for Number {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.negative {
            f.write_str("-")?;
        }
        if self.is_zero() {
            return f.write_str("0");
        }
        let (digits, point) = self.shortest();
        let digits = String::from_utf8_lossy(&digits);
        let places = usize::try_from(point.unsigned_abs()).unwrap_or(0);
        if point <= 0 {
            return write!(f, "0.{:0>width$}", digits, width = digits.len() + places);
        }
        match digits.split_at_checked(places) {
            Some((whole, "")) => f.write_str(whole),
            Some((whole, fraction)) => write!(f, "{whole}.{fraction}"),
            None => write!(f, "{digits:0<places$}"),
        }
    }
}
