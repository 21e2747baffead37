//! Terragrunt units that are already locked, compared with plain root modules: the cost of a run without changes.

use std::fs;
use std::path::Path;

use tflock_test_support::ProviderSpec;

use super::fixture::BenchFixture;
use super::measure::{BenchRow, once, table};
use super::tree::{PLATFORMS, PROVIDERS, lay_out};

/// The number of units, and of root modules.
const DIRECTORIES: usize = 2_000;
/// The number of modules that the units use. Each has the files of one of the root modules.
const MODULES: usize = 20;

/// The configuration that all units include. It reads three files.
const ROOT: &str = r#"locals {
  account = read_terragrunt_config(find_in_parent_folders("account.hcl"))
  region  = read_terragrunt_config(find_in_parent_folders("region.hcl"))
  team    = read_terragrunt_config(find_in_parent_folders("team.hcl"))
  name    = replace(path_relative_to_include(), "/", "-")
}
generate "provider" {
  path      = "provider.tf"
  if_exists = "overwrite_terragrunt"
  contents  = <<-EOF
    provider "p0" {
      region  = "${local.region.locals.name}"
      account = "${local.account.locals.id}"
      tags    = { team = "${local.team.locals.name}", stack = "${local.name}" }
    }
  EOF
}
inputs = merge(local.account.locals, local.team.locals)
"#;

/// The `terragrunt.hcl` of a unit.
const UNIT: &str = r#"include "root" {
  path = find_in_parent_folders("root.hcl")
}
terraform {
  source = "../../..//modules/MODULE"
}
dependency "network" {
  config_path  = "../unit00000"
  mock_outputs = { id = "x" }
}
inputs = {
  name    = "UNIT"
  network = dependency.network.outputs.id
}
"#;

pub(super) fn run(tflock: &Path) {
    let rows = [
        measured(tflock, "root modules", root_modules),
        measured(tflock, "units", units),
    ];
    let title = format!(
        "{DIRECTORIES} root modules, and as many Terragrunt units that include one parent, unchanged"
    );
    table(&title, &rows);
}

/// Measures a run that changes nothing.
fn measured(tflock: &Path, name: &str, write: fn(&BenchFixture)) -> BenchRow {
    let spec = |name| {
        let spec = ProviderSpec::new(name).versions(["1.0.0"]);
        spec.platforms(PLATFORMS).payload(1_000_000)
    };
    let fixture = BenchFixture::new(&PROVIDERS.map(spec));
    fs::create_dir_all(fixture.path("work/.git")).expect("the tree is writable");
    write(&fixture);
    once(fixture.cold(tflock, &PLATFORMS));
    BenchRow::counted(
        &format!("{DIRECTORIES} {name}"),
        fixture.registry.log(),
        || fixture.again(tflock, &PLATFORMS),
    )
}

fn root_modules(fixture: &BenchFixture) {
    for number in 0..DIRECTORIES {
        let team = number % 50;
        lay_out(fixture, &format!("live/t{team:02}/stack{number:05}"));
    }
}

fn units(fixture: &BenchFixture) {
    // Without the option, an installed `tofu` would select OpenTofu's registry.
    fixture.write(".tflock.toml", "engine = \"terraform\"\n");
    fixture.write("root.hcl", ROOT);
    fixture.write("account.hcl", "locals {\n  id = \"1\"\n}\n");
    fixture.write("live/region.hcl", "locals {\n  name = \"eu\"\n}\n");
    for number in 0..MODULES {
        lay_out(fixture, &format!("modules/m{number:02}"));
    }
    for number in 0..DIRECTORIES {
        let (team, module) = (number % 50, number % MODULES);
        let text = UNIT
            .replace("MODULE", &format!("m{module:02}"))
            .replace("UNIT", &format!("unit{number:05}"));
        let team = format!("live/t{team:02}");
        let locals = format!("locals {{\n  name = \"{team}\"\n}}\n");
        fixture.write(&format!("{team}/team.hcl"), &locals);
        fixture.write(&format!("{team}/unit{number:05}/terragrunt.hcl"), &text);
    }
}
