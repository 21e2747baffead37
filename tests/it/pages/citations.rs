//! Checks that comments cite pages and sections that exist.

use std::fs;

use super::{repository, sources_below};

/// Returns the citations in comments, such as `docs/rules/config.md 8`: the page, and the section if there is one.
fn citations(text: &str) -> Vec<(String, Option<&str>)> {
    let parts = text.split("docs/").skip(1);
    let cited = parts.filter_map(|part| {
        let (path, rest) = part.split_once(".md")?;
        let is_path = path
            .bytes()
            .all(|byte| byte.is_ascii_lowercase() || b"/-".contains(&byte));
        let word = rest.strip_prefix(' ').unwrap_or_default();
        let end = word.find(|letter: char| !letter.is_ascii_digit());
        let section = &word[..end.unwrap_or(word.len())];
        is_path.then(|| {
            (
                format!("docs/{path}.md"),
                Some(section).filter(|section| !section.is_empty()),
            )
        })
    });
    cited.collect()
}

#[test]
fn comments_cite_pages_and_sections_that_exist() {
    let exceptions = "testdata/conformance/config-exceptions.txt";
    let mut sources = vec![repository().join(exceptions)];
    for directory in ["src", "tests/it", "tests/support/src", "xtask/src"] {
        sources_below(&repository().join(directory), &mut sources);
    }
    for source in sources {
        let text = fs::read_to_string(&source).unwrap();
        let comments = text.lines().filter(|line| line.contains("//"));
        for (page, section) in comments.flat_map(citations) {
            let place = format!("{}: {page} {section:?}", source.display());
            let page = fs::read_to_string(repository().join(&page));
            let page = page.unwrap_or_else(|error| panic!("{place}: {error}"));
            let heading = section.map(|section| format!("\n## {section}. "));
            let is_there = heading.is_none_or(|heading| page.contains(&heading));
            assert!(is_there, "{place}");
        }
    }
}

#[test]
fn citations_have_a_page_and_perhaps_a_section() {
    let expected = [
        ("docs/rules/config.md", Some("8")),
        ("docs/security.md", None),
    ];
    let expected = expected.map(|(page, section)| (page.to_owned(), section));
    assert_eq!(
        citations("see docs/rules/config.md 8, docs/security.md."),
        expected
    );
}
