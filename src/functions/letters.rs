//! Converts letters to upper and lower case as in Go, which maps each letter to a single letter regardless of its neighbors. Rust
//! follows the full Unicode rules, by which `ß` becomes two letters and the last sigma of a word has its own form.

pub(super) fn upper(letter: char) -> char {
    let mut upper = letter.to_uppercase();
    match (upper.next(), upper.next(), letter) {
        (Some(only), None, _) => only,
        // For Greek vowels with an iota subscript, the full rules write the iota as a separate letter.
        (_, _, '\u{1f80}'..='\u{1faf}') => char_or(letter, u32::from(letter) | 8),
        (_, _, '\u{1fb3}' | '\u{1fc3}' | '\u{1ff3}') => char_or(letter, u32::from(letter) + 9),
        _ => letter,
    }
}

pub(super) fn lower(letter: char) -> char {
    // `İ` is the only letter that the full rules map to two characters: `i` and a combining dot above. Go drops the dot.
    letter.to_lowercase().next().unwrap_or(letter)
}

/// Capitalizes the first letter of each word.
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
        // Georgian uses capital letters only for whole words.
        '\u{10d0}'..='\u{10ff}' => letter,
        _ => upper(letter),
    }
}

/// Whether a word ends at this letter, as in Go's `strings.Title`: at ASCII characters other than letters, digits and `_`, and at all
/// spaces.
fn ends_word(letter: char) -> bool {
    if letter.is_ascii() {
        !(letter.is_ascii_alphanumeric() || letter == '_')
    } else {
        letter.is_whitespace()
    }
}

fn char_or(letter: char, code: u32) -> char {
    char::from_u32(code).unwrap_or(letter)
}
