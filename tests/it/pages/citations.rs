//! Checks that comments cite pages and sections that exist.

use std::fs;
use std::sync::LazyLock;

use regex::Regex;

use super::{repository, sources_below};

/// A page, after the numbers of its sections if the citation names any.
static CITATION: LazyLock<Regex> = LazyLock::new(|| {
    let sections = r"(?:sections? (?<sections>[0-9]+(?:(?:, | and | to )[0-9]+)*) of )?";
    Regex::new(&format!(r"{sections}(?<page>docs/[a-z/-]+\.md)")).unwrap()
});

/// Returns the text of the comments, without the marks and line breaks.
fn comment_text(source: &str) -> String {
    let comments = source.lines().filter_map(|line| {
        let (_, comment) = line.split_once("//")?;
        Some(comment.trim_start_matches(['/', '!']).trim())
    });
    comments.collect::<Vec<_>>().join(" ")
}

/// Returns the citations in a text: the page, and the numbers of its sections. `4 to 7` counts as 4 and 7.
fn citations(text: &str) -> Vec<(&str, Vec<&str>)> {
    let cited = CITATION.captures_iter(text).map(|citation| {
        let sections = citation.name("sections").map_or("", |found| found.as_str());
        let numbers = sections.split(|letter: char| !letter.is_ascii_digit());
        let page = citation.name("page").map_or("", |found| found.as_str());
        (page, numbers.filter(|number| !number.is_empty()).collect())
    });
    cited.collect()
}

#[test]
fn comments_cite_pages_and_sections_that_exist() {
    let mut sources = Vec::new();
    for exceptions in ["config-exceptions.txt", "terragrunt-exceptions.txt"] {
        sources.push(repository().join("testdata/conformance").join(exceptions));
    }
    for directory in ["src", "tests/it", "tests/support/src", "xtask/src"] {
        sources_below(&repository().join(directory), &mut sources);
    }
    let mut sections_seen = 0;
    for source in sources {
        let text = comment_text(&fs::read_to_string(&source).unwrap());
        for (page, sections) in citations(&text) {
            let place = format!("{}: {page} {sections:?}", source.display());
            let page = fs::read_to_string(repository().join(page));
            let page = page.unwrap_or_else(|error| panic!("{place}: {error}"));
            for section in sections {
                assert!(page.contains(&format!("\n## {section}. ")), "{place}");
                sections_seen += 1;
            }
        }
    }
    assert!(sections_seen > 20, "only {sections_seen} sections");
}

#[test]
fn citations_have_a_page_and_perhaps_sections() {
    let comments = "\
        //! See section 8 of\n\
        //! docs/rules/config.md, docs/security.md.\n\
        code(); // sections 2, 4 and 5 of docs/rules/oci.md\n";
    let expected = [
        ("docs/rules/config.md", vec!["8"]),
        ("docs/security.md", vec![]),
        ("docs/rules/oci.md", vec!["2", "4", "5"]),
    ];
    assert_eq!(citations(&comment_text(comments)), expected);
}
