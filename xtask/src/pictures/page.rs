//! Screenshots of the page that `tflock list --format html` writes, in a light and a dark theme, made with Chromium.

use std::path::Path;
use std::process::Command;

use tflock_test_support::{FakeRegistry, ProviderSpec, TestContext, table};

/// The size of the window. Pictures have twice as many pixels in each direction.
const WINDOW: &str = "1120,770";

/// The themes, with the number by which Chromium selects each.
const THEMES: [(&str, u8); 2] = [("dark", 0), ("light", 1)];

/// Providers with their versions, oldest first.
const PROVIDERS: [(&str, &[&str]); 6] = [
    ("hashicorp/aws", &["5.99.0", "5.100.0", "6.2.0"]),
    ("hashicorp/google", &["6.40.0", "6.43.0"]),
    ("hashicorp/kubernetes", &["2.36.0", "2.37.1"]),
    ("hashicorp/null", &["3.2.1", "3.2.4"]),
    ("hashicorp/random", &["3.6.0", "3.7.2"]),
    ("acme/forge", &["5.1.0", "5.2.0", "6.0.0"]),
];

/// The columns: a directory, a required provider, its constraints, and the locked version, which is empty if the
/// provider is not locked.
const REQUIREMENTS: &str = "
    platform/cluster  | hashicorp/aws        | ~> 5.0        | 5.100.0
    platform/cluster  | hashicorp/kubernetes | ~> 2.30       | 2.36.0
    platform/dns      | hashicorp/aws        | >= 5.0        | 6.2.0
    platform/dns      | hashicorp/random     | ~> 3.0        | 3.7.2
    platform/network  | hashicorp/aws        | ~> 5.0        | 5.99.0
    platform/network  | hashicorp/null       | ~> 3.0        | 3.2.4
    stacks/analytics  | hashicorp/google     | ~> 6.0        | 6.43.0
    stacks/analytics  | hashicorp/random     | ~> 3.0        | 3.6.0
    stacks/billing    | acme/forge           | >= 5.1, < 6.0 | 5.2.0
    stacks/billing    | hashicorp/aws        | ~> 5.99       | 5.100.0
    stacks/edge       | acme/forge           | >= 5.1        |
    stacks/payments   | acme/forge           | ~> 6.0        | 5.1.0
    stacks/payments   | hashicorp/aws        | ~> 5.0        | 5.100.0
    stacks/search     | hashicorp/google     | ~> 6.0        | 6.40.0
    stacks/search     | hashicorp/kubernetes | ~> 2.30       | 2.37.1
    stacks/warehouse  | hashicorp/google     | ~> 6.0        | 6.43.0
    stacks/warehouse  | hashicorp/null       | ~> 3.0        | 3.2.4
";

/// Creates `list-light.png` and `list-dark.png` in `directory`.
pub(super) fn photograph(tflock: &Path, directory: &Path) {
    let Some(browser) = tflock_test_support::require_or_skip("chromium", false) else {
        return;
    };
    let mut registry = FakeRegistry::start();
    for (source, versions) in PROVIDERS {
        registry.publish(ProviderSpec::new(source).versions(versions.iter().copied()));
    }
    let context = TestContext::new(tflock, &registry);
    lay_out(&context);
    let list = context.tflock(["list", "-r", "--format", "html", "."]);
    context.write("page.html", list.run().expect_success().stdout);
    for (theme, number) in THEMES {
        let picture = directory.join(format!("list-{theme}.png"));
        shoot(&browser, &context, number, &picture);
        super::report(&picture);
    }
}

/// Creates lock files with the versions in [`REQUIREMENTS`], and then changes the constraints so that the page shows differences.
fn lay_out(context: &TestContext) {
    context.write(".git/HEAD", "ref: refs/heads/main\n");
    let rows: Vec<[&str; 4]> = table(REQUIREMENTS);
    for rows in rows.chunk_by(|[left, ..], [right, ..]| left == right) {
        let directory = rows[0][0];
        let locked = rows.iter().filter(|[.., version]| !version.is_empty());
        let locked: Vec<_> = locked
            .map(|&[_, source, _, version]| (source, version))
            .collect();
        if !locked.is_empty() {
            context.require(directory, &locked);
            context.tflock(["lock", directory]).run().expect_success();
        }
        let required = rows
            .iter()
            .map(|&[_, source, constraints, _]| (source, constraints));
        context.require(directory, &required.collect::<Vec<_>>());
    }
}

fn shoot(browser: &Path, context: &TestContext, theme: u8, picture: &Path) {
    let output = Command::new(browser)
        .args([
            "--headless",
            "--no-sandbox",
            "--disable-gpu",
            "--hide-scrollbars",
        ])
        .args([
            "--disable-background-networking",
            "--virtual-time-budget=3000",
        ])
        .arg("--force-device-scale-factor=2")
        .arg(format!("--window-size={WINDOW}"))
        .arg(format!("--blink-settings=preferredColorScheme={theme}"))
        .arg(format!(
            "--user-data-dir={}",
            context.path("../browser").display()
        ))
        .arg(format!("--screenshot={}", picture.display()))
        .arg(format!("file://{}", context.path("page.html").display()))
        .output()
        .expect("Chromium can be started");
    assert!(
        output.status.success(),
        "{}",
        String::from_utf8_lossy(&output.stderr)
    );
}
