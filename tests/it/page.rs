//! Tests the page written by `tflock list --format html` in a real browser: what it shows, how it filters and sorts,
//! and that it sends no request.
//!
//! The page keeps its filters in its URL, so the test only loads the page and lets the browser print the resulting
//! document. The test is skipped if Chromium is not on PATH. With `TFLOCK_REQUIRE_BROWSER=1`, it fails instead.

use std::path::{Path, PathBuf};
use std::process::Command;

use tflock_test_support::TestContext;

use crate::list::site;

#[expect(
    clippy::print_stderr,
    reason = "the reason for a skipped test is printed"
)]
fn chromium() -> Option<PathBuf> {
    let names = ["chromium", "chromium-browser", "google-chrome"];
    let path = std::env::var_os("PATH")?;
    let found = std::env::split_paths(&path)
        .flat_map(|directory| names.map(|name| directory.join(name)))
        .find(|program| program.is_file());
    if found.is_none() {
        let required = std::env::var_os("TFLOCK_REQUIRE_BROWSER").is_some();
        assert!(!required, "Chromium is not on PATH");
        eprintln!("skipped: Chromium is not on PATH");
    }
    found
}

/// Loads the page with this URL fragment and returns the document after its script has run. Fails if the browser logs a
/// script error or a request that the page's content security policy blocks.
fn load(browser: &Path, context: &TestContext, fragment: &str) -> String {
    let page = context.path("page.html");
    let output = Command::new(browser)
        .args(["--headless", "--no-sandbox", "--disable-gpu"])
        .args(["--disable-background-networking", "--enable-logging=stderr"])
        .args(["--virtual-time-budget=3000", "--dump-dom"])
        .arg(format!(
            "--user-data-dir={}",
            context.path("../browser").display()
        ))
        .arg(format!("file://{}#{fragment}", page.display()))
        .output()
        .unwrap();
    let log = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{log}");
    assert!(!log.contains("CONSOLE"), "{log}");
    String::from_utf8(output.stdout).unwrap()
}

/// Returns the directories in the rows, in their order.
fn rows(document: &str) -> Vec<&str> {
    let parts = document.split("<th class=\"path\" scope=\"row\" title=\"");
    parts
        .skip(1)
        .map(|part| part.split('"').next().unwrap())
        .collect()
}

#[test]
fn the_page_filters_and_sorts_in_a_browser_without_requests() {
    let Some(browser) = chromium() else {
        return;
    };
    let (_registry, context) = site();
    // If this name were not escaped, it would be markup.
    let hostile = "stacks/<img src=x onerror=alert(1)>";
    context.require(hostile, &[("acme/bolt", "")]);
    let list = "list -r --format html .";
    let outcome = context.run(list).expect_success();
    context.write("page.html", outcome.stdout);

    let all = load(&browser, &context, "");
    let expected = [
        "old/attic",
        "stacks/&lt;img src=x onerror=alert(1)&gt;",
        "stacks/locked",
        "stacks/new",
        "stacks/tofu",
        "units/only",
    ];
    let shown: Vec<String> = rows(&all)
        .iter()
        .map(|row| row.replace('<', "&lt;").replace('>', "&gt;"))
        .collect();
    assert_eq!(shown, expected);
    assert!(!all.contains("<img"), "{all}");
    let cell = "aria-label=\"acme/anvil in stacks/locked: 1.0.0, outdated\"";
    assert!(all.contains(cell), "{all}");
    assert!(all.contains("6 root directories, 5 providers"), "{all}");

    let rows_with = |fragment: &str| {
        let document = load(&browser, &context, fragment);
        let rows = rows(&document).into_iter();
        rows.map(str::to_owned).collect::<Vec<_>>()
    };
    assert_eq!(
        rows_with("state=outdated&directory=stacks"),
        ["stacks/locked"]
    );
    assert_eq!(rows_with("provider=vise"), ["stacks/new"]);
    // This directory has an outdated provider, one that is not locked, and one that is not required.
    assert_eq!(rows_with("order=drift")[0], "stacks/locked");
}
