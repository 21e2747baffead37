//! The list as an HTML page: style, script and the JSON document in one file that needs no network access.
//!
//! The page's script inserts the content of the document as text, never as markup. The content security policy allows only this
//! style and this script, by their digests, and no requests. Names in a configuration therefore cannot become code.

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use sha2::{Digest as _, Sha256};

use super::{DirectoryList, json};
use crate::printer::harmless;

const PAGE: &str = include_str!("page.html");
const STYLE: &str = include_str!("page.css");
const SCRIPT: &str = include_str!("page.js");

pub(super) fn render(listing: &DirectoryList) -> String {
    let policy = format!(
        "default-src 'none'; style-src '{}'; script-src '{}'; base-uri 'none'; form-action 'none'",
        source_hash(STYLE),
        source_hash(SCRIPT)
    );
    let data = inert(&harmless::json(&json::document(listing).to_string()));
    let parts = [
        ("policy", policy.as_str()),
        ("style", STYLE),
        ("data", &data),
        ("script", SCRIPT),
    ];
    let mut page = String::with_capacity(PAGE.len() + STYLE.len() + SCRIPT.len() + data.len());
    let mut rest = PAGE;
    for (name, content) in parts {
        let marker = format!("{{{{{name}}}}}");
        // The template contains the markers in this order. Inserted content is not searched for markers.
        if let Some((before, after)) = rest.split_once(&marker) {
            page.push_str(before);
            page.push_str(content);
            rest = after;
        }
    }
    page.push_str(rest);
    page
}

/// Returns the source expression that allows an inline style or script in the content security policy.
fn source_hash(text: &str) -> String {
    format!(
        "sha256-{}",
        STANDARD.encode(Sha256::digest(text.as_bytes()))
    )
}

/// Escapes JSON so that it cannot end the HTML element that contains it.
fn inert(json: &str) -> String {
    json.replace('<', "\\u003c")
        .replace('>', "\\u003e")
        .replace('&', "\\u0026")
}

#[cfg(test)]
mod tests {
    use super::super::{ListedDirectory, Role};
    use super::*;

    #[test]
    fn a_name_cannot_end_the_data() {
        let listing = DirectoryList {
            directories: vec![ListedDirectory {
                path: "</script><script>alert(1)//{{script}}".to_owned(),
                role: Role::Failed,
                engine: None,
                providers: Vec::new(),
            }],
            diagnostics: Vec::new(),
        };
        let page = render(&listing);
        assert_eq!(page.matches("</script>").count(), 2);
        assert_eq!(page.matches("<script").count(), 2);
        assert!(page.contains(r"\u003c/script\u003e\u003cscript\u003ealert(1)//{{script}}"));
        assert!(page.contains("default-src 'none'; style-src 'sha256-"));
        assert!(page.trim_end().ends_with("</html>"));
    }

    #[test]
    fn the_page_loads_nothing_from_elsewhere() {
        for text in [PAGE, STYLE, SCRIPT] {
            for word in [
                "http:", "https:", "//cdn", "url(", "@import", "src=", "fetch(",
            ] {
                assert!(!text.contains(word), "{word}");
            }
        }
    }
}
