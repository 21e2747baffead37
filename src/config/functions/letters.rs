//! Letters in the other case, as Go maps them: each letter to one letter, whatever stands beside it. Rust follows the full rules
//! of Unicode instead, where `ß` becomes two letters and the last sigma of a word another one.

/// As `upper()` has it.
pub(super) fn upper(letter: char) -> char {
    let mut upper = letter.to_uppercase();
    match (upper.next(), upper.next(), letter) {
        (Some(only), None, _) => only,
        // Vowels with an iota below: the full rules write it beside them.
        (_, _, '\u{1f80}'..='\u{1faf}') => moved(letter, u32::from(letter) | 8),
        (_, _, '\u{1fb3}' | '\u{1fc3}' | '\u{1ff3}') => moved(letter, u32::from(letter) + 9),
        _ => letter,
    }
}

/// As `lower()` has it.
pub(super) fn lower(letter: char) -> char {
    // The only one that the full rules write as two, `İ`, keeps its dot by being an `i`.
    letter.to_lowercase().next().unwrap_or(letter)
}

/// The first letter of each word as in a title, as `title()` has it.
pub(super) fn title(text: &str) -> String {
    let mut begins = true;
    let change = |letter: char| {
        let changed = if begins { title_letter(letter) } else { letter };
        begins = ends_word(letter);
        changed
    };
    text.chars().map(change).collect()
}

fn title_letter(letter: char) -> char {
    match letter {
        '\u{1c4}'..='\u{1c6}' => '\u{1c5}',
        '\u{1c7}'..='\u{1c9}' => '\u{1c8}',
        '\u{1ca}'..='\u{1cc}' => '\u{1cb}',
        '\u{1f1}'..='\u{1f3}' => '\u{1f2}',
        // Georgian has capitals for whole words only.
        '\u{10d0}'..='\u{10ff}' => letter,
        _ => upper(letter),
    }
}

/// Go's `strings.Title`: of ASCII all but letters, digits and the underscore ends a word, of the rest only spaces do.
fn ends_word(letter: char) -> bool {
    if letter.is_ascii() {
        !(letter.is_ascii_alphanumeric() || letter == '_')
    } else {
        letter.is_whitespace()
    }
}

fn moved(letter: char, code: u32) -> char {
    char::from_u32(code).unwrap_or(letter)
}
