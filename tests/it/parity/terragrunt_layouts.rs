//! Three usual layouts of repositories with Terragrunt units, written for this project. Each has more than 30 units.

use std::fmt::Write as _;

use tflock_test_support::{FakeRegistry, TestContext, git, git_commit_all};

use crate::modules::binary::{publish_module, requiring};

/// A repository in the tree of a context.
pub(super) struct Layout {
    pub(super) name: &'static str,
    /// Writes the repository to a directory.
    pub(super) write: fn(&LayoutSite<'_>),
    pub(super) units: usize,
}

/// Where a layout is written, and where its modules come from.
pub(super) struct LayoutSite<'a> {
    pub(super) context: &'a TestContext,
    pub(super) registry: &'a FakeRegistry,
    pub(super) directory: &'a str,
    /// The host of the module registry.
    pub(super) host: &'a str,
}

pub(super) const LAYOUTS: [Layout; 3] = [
    Layout {
        name: "one-root",
        write: one_root,
        units: 36,
    },
    Layout {
        name: "catalog",
        write: catalog,
        units: 33,
    },
    Layout {
        name: "environments",
        write: environments,
        units: 32,
    },
];

/// The providers of all layouts.
pub(super) const PROVIDERS: [&str; 4] = ["acme/cloud", "acme/dns", "acme/queue", "acme/secrets"];

impl LayoutSite<'_> {
    fn write(&self, path: &str, text: impl AsRef<str>) -> &Self {
        let path = format!("{}/{path}", self.directory);
        self.context.write(&path, text.as_ref());
        self
    }

    fn unit(&self, directory: &str, text: impl AsRef<str>) -> &Self {
        self.write(&format!("live/{directory}/terragrunt.hcl"), text)
    }

    fn module(&self, name: &str, text: impl AsRef<str>) -> &Self {
        let variable = "variable \"name\" {\n  type = string\n}\n";
        let path = format!("modules/{name}/main.tf");
        self.write(&path, text.as_ref().to_owned() + variable)
    }

    fn make_repository(&self) {
        git(&self.context.path(self.directory), "init --quiet");
    }
}

/// Returns an `include` block.
fn include(label: &str, path: &str, more: &str) -> String {
    format!("include \"{label}\" {{\n  path = {path}\n{more}}}\n")
}

fn include_root() -> String {
    include("root", "find_in_parent_folders(\"root.hcl\")", "")
}

/// Returns the `terraform` block and the inputs of a unit.
fn source(expression: &str, name: &str) -> String {
    format!("terraform {{\n  source = \"{expression}\"\n}}\ninputs = {{\n  name = \"{name}\"\n}}\n")
}

/// One `root.hcl` generates the providers of all units, which use the modules of the same repository.
fn one_root(site: &LayoutSite<'_>) {
    site.write(
        "root.hcl",
        r#"locals {
  parts       = split("/", path_relative_to_include())
  environment = local.parts[1]
  common      = yamldecode(file("common.yaml"))
}
generate "provider" {
  path      = "provider.tf"
  if_exists = "overwrite_terragrunt"
  contents  = <<-EOF
    provider "cloud" {
      region = "${local.environment}-${local.common.region}"
    }
    %{ if local.environment == "prod" }
    provider "secrets" {
      address = "https://secrets.test/${local.environment}"
    }
    %{ endif }
  EOF
}
generate "versions" {
  path      = "versions_override.tf"
  if_exists = "overwrite"
  contents  = <<-EOF
    terraform {
      required_providers {
        cloud = {
          source  = "acme/cloud"
          version = "${local.common.cloud}"
        }
        secrets = {
          source = "acme/secrets"
        }
      }
    }
  EOF
}
remote_state {
  backend = "local"
  generate = {
    path      = "backend.tf"
    if_exists = "overwrite_terragrunt"
  }
  config = {
    path = "${get_terragrunt_dir()}/terraform.tfstate"
  }
}
"#,
    )
    .write("common.yaml", "region: eu\ncloud: \"~> 1.0\"\n");
    site.module("queue", requiring("acme/queue", "1.0.0"))
        .module("job", requiring("acme/queue", ">= 1.0"));
    // The module that the web module calls needs its variable.
    let web = requiring("acme/dns", ">= 1.0, < 2.0");
    site.module(
        "web",
        web + "module \"q\" {\n  source = \"../queue\"\n  name   = var.name\n}\n",
    );
    for environment in ["dev", "stage", "prod"] {
        for number in 0..12 {
            let module = ["web", "queue", "job"][number % 3];
            let name = format!("app{number:02}");
            let path = format!("${{get_repo_root()}}/modules//{module}");
            let mut text = include_root() + &source(&path, &name);
            if number > 0 {
                text += "dependency \"first\" {\n  config_path  = \"../app00\"\n  mock_outputs = { id = \"x\" }\n}\n";
            }
            site.unit(&format!("{environment}/{name}"), text);
        }
    }
    site.make_repository();
}

/// The units use versions of modules in a registry and in a git repository.
fn catalog(site: &LayoutSite<'_>) {
    let git_directory = format!("{}/git/catalog", site.directory);
    let path = site.context.path(&git_directory);
    std::fs::create_dir_all(&path).unwrap();
    git(&path, "init --quiet --initial-branch=main");
    for (tag, constraint) in [("v1.0.0", "~> 1.0"), ("v2.0.0", ">= 2.0")] {
        let text = requiring("acme/queue", constraint) + "variable \"name\" {}\n";
        site.context
            .write(&format!("{git_directory}/modules/queue/main.tf"), text)
            .write(
                &format!("{git_directory}/modules/all/main.tf"),
                "variable \"name\" {}\nmodule \"queue\" {\n  source = \"../queue\"\n  name   = var.name\n}\n",
            );
        git_commit_all(&path);
        git(&path, &format!("tag {tag}"));
    }
    for (version, constraint) in [("1.0.0", "1.0.0"), ("1.1.0", "~> 1.1")] {
        let zone = requiring("acme/dns", constraint) + "variable \"name\" {}\n";
        let root = "variable \"name\" {}\nmodule \"zone\" {\n  source = \"./modules/zone\"\n  name   = var.name\n}\n";
        let module = format!("acme/zone{}/local", version.replace('.', ""));
        let files = [("main.tf", root), ("modules/zone/main.tf", zone.as_str())];
        publish_module(site.registry, &module, version, &files);
    }
    site.write(
        "root.hcl",
        r#"generate "provider" {
  path      = "provider.tf"
  if_exists = "overwrite_terragrunt"
  contents  = "provider \"cloud\" {}\n"
}
generate "versions" {
  path      = "versions_override.tf"
  if_exists = "overwrite_terragrunt"
  contents  = <<-EOF
    terraform {
      required_providers {
        cloud = {
          source = "acme/cloud"
        }
      }
    }
  EOF
}
"#,
    );
    let repository = format!("git::file://{}", path.display());
    let zone = |version: &str, inside: &str| {
        let digits = version.replace('.', "");
        format!(
            "tfr://{}/acme/zone{digits}/local{inside}?version={version}",
            site.host
        )
    };
    let sources = [
        format!("{repository}//modules/queue?ref=v1.0.0"),
        format!("{repository}//modules/queue?ref=v2.0.0"),
        format!("{repository}//modules/all?ref=v1.0.0"),
        format!("{repository}//modules/all"),
        zone("1.0.0", ""),
        zone("1.1.0", ""),
        zone("1.0.0", "//modules/zone"),
    ];
    for number in 0..33 {
        let name = format!("unit{number:02}");
        let text = include_root() + &source(&sources[number % sources.len()], &name);
        site.unit(&format!("region{}/{name}", number % 3), text);
    }
    site.make_repository();
}

/// The files of each environment and region, which the root reads, decide the versions. Common files hold the sources.
fn environments(site: &LayoutSite<'_>) {
    site.write(
        "root.hcl",
        r#"locals {
  account = read_terragrunt_config(find_in_parent_folders("account.hcl"))
  region  = read_terragrunt_config(find_in_parent_folders("region.hcl"))
  env     = read_terragrunt_config(find_in_parent_folders("env.hcl", "none.hcl"), { locals = { cloud = ">= 1.0" } })
}
generate "provider" {
  path      = "provider_override.tf"
  if_exists = "overwrite"
  contents  = <<EOF
terraform {
  required_providers {
    cloud = {
      source  = "acme/cloud"
      version = "${local.env.locals.cloud}"
    }
  }
}
EOF
}
generate "settings" {
  path      = "settings.tf"
  if_exists = "overwrite"
  contents  = <<EOF
provider "cloud" {
  region  = "${local.region.locals.name}"
  account = "${local.account.locals.id}"
}
EOF
}
inputs = merge(local.account.locals, local.region.locals)
"#,
    );
    for (name, provider) in [("app", "acme/dns"), ("store", "acme/secrets")] {
        let mut common = String::new();
        // Writing to a string cannot fail.
        let _ = write!(
            common,
            "locals {{\n  env  = read_terragrunt_config(find_in_parent_folders(\"account.hcl\"))\n  base = \
             \"${{dirname(find_in_parent_folders(\"root.hcl\"))}}/modules\"\n}}\ninputs = {{\n  name = \"{name}-${{local.env.locals.id}}\"\n}}\n"
        );
        site.write(&format!("_common/{name}.hcl"), common);
        site.module(name, requiring(provider, "~> 1.0"));
    }
    for (account, id) in [("nonprod", "1"), ("prod", "2")] {
        let locals = format!("locals {{\n  id = \"{id}\"\n}}\n");
        site.write(&format!("live/{account}/account.hcl"), locals);
        for region in ["eu", "us"] {
            let locals = format!("locals {{\n  name = \"{region}\"\n}}\n");
            site.write(&format!("live/{account}/{region}/region.hcl"), locals);
            for (env, cloud) in [("blue", Some("~> 1.0")), ("green", None)] {
                let directory = format!("{account}/{region}/{env}");
                if let Some(cloud) = cloud {
                    let locals = format!("locals {{\n  cloud = \"{cloud}\"\n}}\n");
                    site.write(&format!("live/{directory}/env.hcl"), locals);
                }
                for number in 0..4 {
                    let name = ["app", "store"][number % 2];
                    let path = format!(
                        "\"${{dirname(find_in_parent_folders(\"root.hcl\"))}}/_common/{name}.hcl\""
                    );
                    let text = include_root()
                        + &include("common", &path, "  expose = true\n")
                        + &format!(
                            "terraform {{\n  source = \"${{include.common.locals.base}}//{name}\"\n}}\n"
                        );
                    site.unit(&format!("{directory}/{name}{number}"), text);
                }
            }
        }
    }
    site.make_repository();
}
