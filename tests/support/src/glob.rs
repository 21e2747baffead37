//! Patterns for request paths: `*` matches any text including slashes, and every other character matches itself.

/// Returns whether `pattern` matches all of `text`.
pub(crate) fn matches(pattern: &str, text: &str) -> bool {
    let Some((head, rest)) = pattern.split_once('*') else {
        return pattern == text;
    };
    let Some(mut remaining) = text.strip_prefix(head) else {
        return false;
    };
    loop {
        if matches(rest, remaining) {
            return true;
        }
        let mut characters = remaining.chars();
        if characters.next().is_none() {
            return false;
        }
        remaining = characters.as_str();
    }
}

#[cfg(test)]
mod tests {
    use super::matches;

    #[test]
    fn a_star_matches_any_text() {
        for (pattern, text, expected) in [
            ("/a/b", "/a/b", true),
            ("/a/b", "/a/bc", false),
            ("*SHA256SUMS", "/h/files/x_SHA256SUMS", true),
            ("*SHA256SUMS", "/h/files/x_SHA256SUMS.sig", false),
            ("*/versions", "/versions", true),
            ("*linux*zip", "/x_linux_amd64.zip", true),
            ("*", "", true),
        ] {
            assert_eq!(matches(pattern, text), expected, "{pattern} {text}");
        }
    }
}
