//! Suggestions for mistyped words.

/// The maximum number of letters in which a mistyped word may differ from a suggestion.
const MAX_EDITS: usize = 2;

/// Common platforms, for suggestions only. Any other platform is valid too.
const COMMON_PLATFORMS: &str = "
    darwin_amd64 darwin_arm64
    freebsd_386 freebsd_amd64 freebsd_arm freebsd_arm64
    linux_386 linux_amd64 linux_arm linux_arm64
    openbsd_amd64
    windows_386 windows_amd64 windows_arm64
";

/// Returns the word in `known` that is most similar to `text`. Case and `_` instead of `-` do not count as differences. At most
/// two letters may differ, and fewer than half of the letters of the known word.
pub fn nearest<'a>(text: &str, known: impl IntoIterator<Item = &'a str>) -> Option<&'a str> {
    let plain = |text: &str| text.to_lowercase().replace('_', "-");
    let text = plain(text);
    known
        .into_iter()
        .map(|word| (strsim::osa_distance(&text, &plain(word)), word))
        .filter(|(edits, word)| *edits <= MAX_EDITS && edits * 2 < word.len())
        .min_by_key(|(edits, _)| *edits)
        .map(|(_, word)| word)
}

/// Suggests a platform for an invalid one such as `linux-amd64`, `linux/arm64`, `macos_arm64` or `linux_x86_64`.
pub(super) fn platform_hint(text: &str) -> Option<String> {
    let text = text
        .to_lowercase()
        .replace("x86_64", "amd64")
        .replace("aarch64", "arm64")
        .replace("macos", "darwin")
        .replace("win64", "windows_amd64")
        .replace(['-', '/', ' '], "_");
    let platform = nearest(&text, COMMON_PLATFORMS.split_whitespace())?;
    Some(format!("did you mean `{platform}`?"))
}

/// Formats words as a list: `a`, `b` and `c`, each in backticks.
pub fn quoted_list(words: &[&str]) -> String {
    let quoted: Vec<String> = words.iter().map(|word| format!("`{word}`")).collect();
    match quoted.split_last() {
        Some((last, [])) => last.clone(),
        Some((last, others)) => format!("{} and {last}", others.join(", ")),
        None => String::new(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn similar_words_are_suggested() {
        let known = [
            "platforms",
            "prune",
            "ignore-paths",
            "missing-module",
            "jobs",
        ];
        for row in [
            "platform | platforms",
            "IGNORE_PATHS | ignore-paths",
            "missing-modul | missing-module",
            "purne | prune",
            "job | jobs",
            "x | none",
            "colour | none",
        ] {
            let (text, expected) = row.split_once(" | ").unwrap();
            assert_eq!(nearest(text, known).unwrap_or("none"), expected, "{text}");
        }
    }
}
