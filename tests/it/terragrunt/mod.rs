//! Terragrunt units in the commands of tflock. The recorded cases are in `conformance::terragrunt`.

mod changed;
mod commands;
mod creation;
mod environment;
pub(crate) mod unknown;

use tflock_test_support::{FakeRegistry, Outcome, ProviderSpec, TestContext, git};

use crate::TFLOCK;

/// A repository with two units that use the module `net`, which calls `dns`. They include `root.hcl`, which reads `env.hcl`
/// beside it and generates a provider.
const TREE: &str = r#"
    -- .tflock.toml --
    platforms = ["linux_amd64"]
    -- root.hcl --
    locals {
      env = read_terragrunt_config("${get_parent_terragrunt_dir()}/env.hcl")
    }
    generate "provider" {
      path      = "provider.tf"
      if_exists = "overwrite"
      contents  = "provider \"${local.env.locals.name}\" {}"
    }
    -- env.hcl --
    locals {
      name = "bolt"
    }
    -- live/a/terragrunt.hcl --
    include "root" {
      path = find_in_parent_folders("root.hcl")
    }
    terraform {
      source = "../../modules//net"
    }
    -- live/b/terragrunt.hcl --
    include "root" {
      path = find_in_parent_folders("root.hcl")
    }
    terraform {
      source = "../../modules//net"
    }
    -- modules/net/main.tf --
    terraform {
      required_providers {
        anvil = {
          source  = "acme/anvil"
          version = "~> 1.0"
        }
      }
    }
    module "dns" {
      source = "../dns"
    }
    -- modules/dns/main.tf --
    resource "rivet_x" "x" {}
"#;

/// A repository with units, and a registry that has their providers.
struct UnitRepository {
    _registry: FakeRegistry,
    context: TestContext,
}

impl UnitRepository {
    /// Creates the repository, with further files or other content of the same files.
    fn with(more: &str) -> Self {
        let mut registry = FakeRegistry::start();
        for name in ["acme/anvil", "hashicorp/bolt", "hashicorp/rivet"] {
            registry.publish(ProviderSpec::new(name).versions(["1.0.0", "1.1.0", "2.0.0"]));
        }
        let context = TestContext::new(TFLOCK, &registry);
        context.write_tree(TREE).write_tree(more);
        git(&context.work(), "init --quiet --initial-branch=main");
        Self {
            _registry: registry,
            context,
        }
    }

    fn new() -> Self {
        Self::with("")
    }

    #[track_caller]
    fn run(&self, line: &str) -> Outcome {
        self.context.run(line)
    }

    /// Returns the names and versions of the entries in a lock file: `anvil 1.1.0, bolt 2.0.0`. `None` if the file does not exist.
    fn locked(&self, directory: &str) -> Option<String> {
        let text = self.context.lock_file(directory)?;
        let value = |line: &str| line.split('"').nth(1).map(str::to_owned);
        let mut entries = Vec::new();
        for line in text.lines() {
            if line.starts_with("provider ") {
                let address = value(line).unwrap();
                entries.push(address.rsplit('/').next().unwrap().to_owned());
            } else if line.starts_with("  version ") {
                let entry = entries.last_mut().unwrap();
                *entry = format!("{entry} {}", value(line).unwrap());
            }
        }
        Some(entries.join(", "))
    }
}

const LOCKED: &str = "anvil 1.1.0, bolt 2.0.0, rivet 2.0.0";
