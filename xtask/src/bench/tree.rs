//! Monorepos with 1,000 and 10,000 root modules that are already locked: the cost of a run without changes.

use std::fmt::Write as _;
use std::fs;
use std::path::Path;

use tflock_test_support::ProviderSpec;

use super::fixture::BenchFixture;
use super::measure::{BenchRow, once, table};

/// The providers that each root module requires.
pub(super) const PROVIDERS: [&str; 3] = ["acme/cloud", "acme/secrets", "acme/random"];
/// The number of resources in each root module, evenly distributed over the providers.
const RESOURCES: usize = 20;
pub(super) const PLATFORMS: [&str; 3] = ["linux_amd64", "darwin_arm64", "windows_amd64"];
/// The numbers of root modules in the two trees.
const SIZES: [usize; 2] = [1_000, 10_000];

pub(super) fn run(tflock: &Path) {
    let rows: Vec<BenchRow> = SIZES
        .into_iter()
        .flat_map(|size| measured(tflock, size))
        .collect();
    let title = format!(
        "monorepos of root modules with {} providers and {RESOURCES} resources each, {} platforms",
        PROVIDERS.len(),
        PLATFORMS.len()
    );
    table(&title, &rows);
}

/// Measures a tree of this size: first with all lock files in place, then without lock files but with a warm cache.
fn measured(tflock: &Path, size: usize) -> [BenchRow; 2] {
    let spec = |name| {
        let spec = ProviderSpec::new(name).versions(["1.0.0"]);
        spec.platforms(PLATFORMS).payload(1_000_000)
    };
    let fixture = BenchFixture::new(&PROVIDERS.map(spec));
    fs::create_dir_all(fixture.path("work/.git")).expect("the tree is writable");
    for number in 0..size {
        lay_out(
            &fixture,
            &format!("teams/t{:02}/stack{number:05}", number % 50),
        );
    }
    let log = fixture.registry.log();
    once(fixture.cold(tflock, &PLATFORMS));
    let unchanged = BenchRow::counted(&format!("{size} directories, unchanged"), log, || {
        fixture.again(tflock, &PLATFORMS)
    });
    let anew = BenchRow::counted(&format!("{size} lock files written anew"), log, || {
        fixture.remove_lock_files();
        fixture.again(tflock, &PLATFORMS)
    });
    [unchanged, anew]
}

/// Writes a root module that consists of three files.
pub(super) fn lay_out(fixture: &BenchFixture, directory: &str) {
    fixture.require(directory, &PROVIDERS.map(|source| (source, "1.0.0")));
    let mut resources = String::new();
    for number in 0..RESOURCES {
        let provider = number % PROVIDERS.len();
        // Writing to a string cannot fail.
        let _ = write!(
            resources,
            "resource \"p{provider}_thing\" \"r{number}\" {{\n  provider = p{provider}\n  name     = \"${{var.name}}-{number}\"\n  \
             tags = {{\n    team  = var.team\n    stack = \"{directory}\"\n  }}\n\n  lifecycle {{\n    prevent_destroy = true\n  \
             }}\n}}\n\n"
        );
    }
    fixture.write(&format!("{directory}/resources.tf"), &resources);
    let variables = "variable \"name\" {\n  type = string\n}\n\nvariable \"team\" {\n  type    = string\n  default = \"core\"\n}\n";
    fixture.write(&format!("{directory}/variables.tf"), variables);
}
