//! What somebody probably meant.

/// As many letters may be wrong in a word that is still taken for another.
const MAX_EDITS: usize = 2;

/// The word among `known` that `typed` is nearest to, if it is near: the same but for case and `_` for `-`, or at most two
/// letters off, which for short words must be the smaller part.
pub(super) fn nearest<'a>(
    typed: &str,
    known: impl IntoIterator<Item = &'a str>,
) -> Option<&'a str> {
    let plain = |text: &str| text.to_lowercase().replace('_', "-");
    let typed = plain(typed);
    known
        .into_iter()
        .map(|word| (strsim::osa_distance(&typed, &plain(word)), word))
        .filter(|(edits, word)| *edits <= MAX_EDITS && edits * 2 < word.len())
        .min_by_key(|(edits, _)| *edits)
        .map(|(_, word)| word)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn near_words_are_suggested() {
        let known = [
            "platforms",
            "prune",
            "ignore-paths",
            "missing-module",
            "jobs",
        ];
        for (typed, expected) in [
            ("platform", Some("platforms")),
            ("IGNORE_PATHS", Some("ignore-paths")),
            ("missing-modul", Some("missing-module")),
            ("purne", Some("prune")),
            ("job", Some("jobs")),
            ("x", None),
            ("colour", None),
        ] {
            assert_eq!(nearest(typed, known), expected, "{typed}");
        }
    }
}
