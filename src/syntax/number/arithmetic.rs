//! Arithmetic, rounded half to even.

use num_bigint::BigUint;

use super::Number;

impl Number {
    /// Returns both mantissas scaled to a common exponent, and that exponent.
    pub(super) fn aligned(&self, other: &Self) -> (BigUint, BigUint, i64) {
        let exponent = self.exponent.min(other.exponent);
        // The shifts are small, because exponents are limited.
        let scaled =
            |number: &Self| &number.mantissa << (number.exponent - exponent).unsigned_abs();
        (scaled(self), scaled(other), exponent.into())
    }

    /// Returns the sum. `None` if it is too large.
    pub fn plus(&self, other: &Self) -> Option<Self> {
        let precision = self.precision.max(other.precision);
        if self.is_zero() && other.is_zero() {
            return Some(Self::zero(self.negative && other.negative, precision));
        }
        let (left, right, exponent) = self.aligned(other);
        let (negative, sum) = if self.negative == other.negative {
            (self.negative, left + right)
        } else if left > right {
            (self.negative, left - right)
        } else {
            (other.negative && left < right, right - left)
        };
        Self::rounded(negative, sum, exponent, precision)
    }

    pub fn minus(&self, other: &Self) -> Option<Self> {
        self.plus(&other.negate())
    }

    pub fn negate(&self) -> Self {
        Self {
            negative: !self.negative,
            ..self.clone()
        }
    }

    /// Returns the product, which has up to 512 bits. `None` if it is too large or too small.
    pub fn times(&self, other: &Self) -> Option<Self> {
        let precision = self.precision.max(other.precision);
        let mantissa = &self.mantissa * &other.mantissa;
        let exponent = i64::from(self.exponent) + i64::from(other.exponent);
        let negative = self.negative != other.negative;
        let product = Self::rounded(negative, mantissa, exponent, super::LITERAL.max(precision))?;
        let needed = u16::try_from(product.mantissa.bits()).ok()?;
        Some(Self {
            precision: precision.max(needed),
            ..product
        })
    }

    /// Returns the quotient. `None` for a division by zero, and if the result is too large or too small.
    pub fn over(&self, other: &Self) -> Option<Self> {
        if other.is_zero() {
            return None;
        }
        let precision = self.precision.max(other.precision);
        // The quotient has at least two bits more than the precision. Another bit records whether there is a remainder.
        let bits = u64::from(precision) + 2 + other.mantissa.bits();
        let shift = bits.saturating_sub(self.mantissa.bits());
        let dividend = &self.mantissa << shift;
        let quotient = &dividend / &other.mantissa;
        let has_rest = &quotient * &other.mantissa != dividend;
        let exponent = i64::from(self.exponent) - i64::from(other.exponent);
        let exponent = exponent - i64::try_from(shift).ok()? - 1;
        let mantissa = (quotient << 1_u8) + u32::from(has_rest);
        let negative = self.negative != other.negative;
        Self::rounded(negative, mantissa, exponent, precision)
    }

    /// Returns the remainder of a division, with the sign of the dividend. As in Terraform, the remainder of a division by zero is
    /// the dividend, and each intermediate result is rounded.
    pub fn modulo(&self, other: &Self) -> Option<Self> {
        if other.is_zero() {
            return Some(self.clone());
        }
        let precision = self.precision;
        let round = |number: Self| {
            let Self {
                negative,
                mantissa,
                exponent,
                ..
            } = number;
            Self::rounded(negative, mantissa, exponent.into(), precision)
        };
        let whole = round(self.over(other)?.truncated())?;
        let multiple = round(other.times(&whole)?)?;
        round(self.minus(&multiple)?)
    }

    /// Returns the number without its fraction, in the same precision. A result of zero has no minus sign.
    fn truncated(&self) -> Self {
        let places = u64::try_from(-i64::from(self.exponent)).unwrap_or(0);
        let mantissa = &self.mantissa >> places;
        let exponent = self.exponent.max(0).into();
        Self::rounded(self.negative, mantissa, exponent, self.precision)
            .filter(|whole| !whole.is_zero())
            .unwrap_or(Self::zero(false, self.precision))
    }

    pub fn floor(&self) -> Option<Self> {
        let whole = self.truncated();
        if self.negative && !self.is_whole() {
            whole.minus(&Self::from(1))
        } else {
            Some(whole)
        }
    }

    pub fn ceil(&self) -> Option<Self> {
        let whole = self.truncated();
        if !self.negative && !self.is_whole() {
            whole.plus(&Self::from(1))
        } else {
            Some(whole)
        }
    }
}
