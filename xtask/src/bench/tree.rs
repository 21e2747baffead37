//! A monorepo of 1,000 and of 10,000 root modules that are locked already: what a run costs that has nothing to do.

use std::fmt::Write as _;
use std::fs;
use std::path::Path;

use tflock_test_support::ProviderSpec;

use super::fixture::Fixture;
use super::measure::{Row, once, table};

/// The providers of each root module.
const PROVIDERS: [&str; 3] = ["acme/cloud", "acme/secrets", "acme/random"];
/// The resources of each, in turns of the providers.
const RESOURCES: usize = 20;
const PLATFORMS: [&str; 3] = ["linux_amd64", "darwin_arm64", "windows_amd64"];
/// Root modules of the small tree and of the large one.
const SIZES: [usize; 2] = [1_000, 10_000];

pub(super) fn run(tflock: &Path) {
    let rows: Vec<Row> = SIZES
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

/// A tree of this size, unchanged since it was locked; and with every lock file gone, where the cache knows all.
fn measured(tflock: &Path, size: usize) -> [Row; 2] {
    let spec = |name| {
        let spec = ProviderSpec::new(name).versions(["1.0.0"]);
        spec.platforms(PLATFORMS).payload(1_000_000)
    };
    let fixture = Fixture::new(&PROVIDERS.map(spec));
    fs::create_dir_all(fixture.path("work/.git")).expect("the tree is ours");
    for number in 0..size {
        lay_out(
            &fixture,
            &format!("teams/t{:02}/stack{number:05}", number % 50),
        );
    }
    let log = fixture.registry.log();
    once(fixture.cold(tflock, &PLATFORMS));
    let unchanged = Row::counted(&format!("{size} directories, unchanged"), log, || {
        fixture.again(tflock, &PLATFORMS)
    });
    let anew = Row::counted(&format!("{size} lock files written anew"), log, || {
        fixture.remove_lock_files();
        fixture.again(tflock, &PLATFORMS)
    });
    [unchanged, anew]
}

/// One root module, in three files as people write them.
fn lay_out(fixture: &Fixture, directory: &str) {
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
