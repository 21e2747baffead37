//! Formats counts, paths and names for messages.

use std::borrow::Cow;
use std::fmt::Display;
use std::path::{MAIN_SEPARATOR, Path};
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use httpdate::HttpDate;

/// Formats a count with its noun in the singular or plural, for example `1 entry`.
pub fn counted<N: Copy + Display + PartialEq + From<u8>>(
    count: N,
    one: &str,
    many: &str,
) -> String {
    format!("{count} {}", if count == N::from(1) { one } else { many })
}

/// Formats a time, for example `Thu, 04 Mar 2021 00:00:00 GMT`. Times before 1970 or after 9999 are clamped to that range.
pub fn date(time: SystemTime) -> HttpDate {
    const LAST: Duration = Duration::from_secs(253_402_300_799);
    let since = time.duration_since(UNIX_EPOCH).unwrap_or_default();
    HttpDate::from(UNIX_EPOCH + since.min(LAST))
}

/// Formats items in backticks, separated by commas.
pub fn quoted<T: Display>(items: impl IntoIterator<Item = T>) -> String {
    let quoted: Vec<String> = items.into_iter().map(|item| format!("`{item}`")).collect();
    quoted.join(", ")
}

/// Formats a path for people: like [`portable_path`], but with deceptive characters escaped.
pub fn shown_path(path: &Path) -> String {
    visible_name(&portable_path(path)).into_owned()
}

/// Formats a path for programs: with `/` as the separator on every system, and `.` for the empty path.
pub fn portable_path(path: &Path) -> String {
    if path.as_os_str().is_empty() {
        return ".".to_owned();
    }
    let text = path.to_string_lossy();
    if MAIN_SEPARATOR == '/' {
        text.into_owned()
    } else {
        text.replace(MAIN_SEPARATOR, "/")
    }
}

/// Escapes deceptive characters in the name of a file or directory. The author of a repository chooses these names, and they must
/// not control the terminal, start new lines, or change the direction of text.
pub fn visible_name(name: &str) -> Cow<'_, str> {
    if !name.contains(is_deceptive) {
        return Cow::Borrowed(name);
    }
    let mut shown = String::with_capacity(name.len());
    for character in name.chars() {
        if is_deceptive(character) {
            shown.extend(character.escape_default());
        } else {
            shown.push(character);
        }
    }
    Cow::Owned(shown)
}

/// Whether a character can disguise a name: a control character, a line separator, an invisible character, or one that changes
/// the direction of text.
pub fn is_deceptive(character: char) -> bool {
    character.is_control()
        || matches!(
            character,
            '\u{ad}'
                | '\u{34f}'
                | '\u{61c}'
                | '\u{115f}'
                | '\u{1160}'
                | '\u{17b4}'
                | '\u{17b5}'
                | '\u{180b}'..='\u{180f}'
                | '\u{200b}'..='\u{200f}'
                | '\u{2028}'..='\u{202e}'
                | '\u{2060}'..='\u{206f}'
                | '\u{3164}'
                | '\u{feff}'
                | '\u{ffa0}'
                | '\u{fff0}'..='\u{fffb}'
                | '\u{1bca0}'..='\u{1bca3}'
                | '\u{1d173}'..='\u{1d17a}'
                | '\u{e0000}'..='\u{e00ff}'
                | '\u{e01f0}'..='\u{e0fff}'
        )
}
