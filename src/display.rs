//! How messages write counts.

use std::fmt::Display;

/// Formats a count with its noun in the singular or plural, for example `1 entry`.
pub fn counted<N: Copy + Display + PartialEq + From<u8>>(
    count: N,
    one: &str,
    many: &str,
) -> String {
    format!("{count} {}", if count == N::from(1) { one } else { many })
}
