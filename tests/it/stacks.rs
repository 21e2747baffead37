//! Terraform Stacks: a stack is locked for the providers that it and its embedded stacks declare.

use tflock_test_support::{
    FakeRegistry, Outcome, ProviderSpec, TestContext, assert_contains, table,
};

use crate::TFLOCK;

fn start() -> (FakeRegistry, TestContext) {
    let mut registry = FakeRegistry::start();
    for source in ["acme/anvil", "acme/rivet", "acme/bolt"] {
        registry.publish(ProviderSpec::new(source).versions(["1.0.0", "2.0.0"]));
    }
    let context = TestContext::new(TFLOCK, &registry);
    (registry, context)
}

fn lock(context: &TestContext, options: &str) -> Outcome {
    context.run(&format!("lock --platform linux_amd64 {options}"))
}

/// Returns the locked providers of a directory with their versions and constraints.
fn locked(context: &TestContext, directory: &str) -> String {
    let text = context.lock_file(directory).unwrap_or_default();
    let quoted = |line: &str| line.split('"').nth(1).unwrap_or_default().to_owned();
    let mut words = Vec::new();
    for line in text.lines().filter(|line| !line.starts_with('#')) {
        match line.trim_start() {
            line if line.starts_with("provider ") => {
                words.push(quoted(line).rsplit('/').next().unwrap().to_owned());
            }
            line if line.starts_with("version ") => words.push(quoted(line)),
            line if line.starts_with("constraints ") => words.push(format!("({})", quoted(line))),
            _ => {}
        }
    }
    words.join(" ")
}

const STACK: &str = r#"
    -- stack/providers.tfcomponent.hcl --
    required_providers {
      anvil = {
        source  = "acme/anvil"
        version = "~> 1.0"
      }
    }
    provider "anvil" "main" {
      for_each = var.regions
      config { region = each.value }
    }
    -- stack/components.tfcomponent.hcl --
    component "network" {
      source    = "./network"
      inputs    = { cidr = var.cidr }
      providers = { anvil = provider.anvil.main["eu"] }
    }
    stack "inner" {
      source = "./inner"
    }
    -- stack/deployments.tfdeploy.hcl --
    deployment "production" { inputs = {} }
    -- stack/network/main.tf --
    terraform {
      required_providers {
        anvil = { source = "acme/anvil" }
        bolt  = { source = "acme/bolt" }
      }
    }
    -- stack/inner/inner.tfstack.hcl --
    required_providers {
      anvil = {
        source  = "acme/anvil"
        version = ">= 1.0"
      }
      rivet = {
        source  = "acme/rivet"
        version = "2.0.0"
      }
    }
    -- stack/inner/more.tfcomponent.json --
    {"component": {"c": {"source": "./c"}}}
"#;

/// A stack declares the providers of its components itself, so their modules are not read.
#[test]
fn a_stack_is_locked_for_the_providers_that_it_declares() {
    let (_registry, context) = start();
    context.write_tree(STACK);
    lock(&context, "stack").expect_success();
    let expected = "anvil 1.0.0 (>= 1.0.0, ~> 1.0) rivet 2.0.0 (2.0.0)";
    assert_eq!(locked(&context, "stack"), expected);
    context
        .run("verify --platform linux_amd64 stack")
        .expect_success();
    lock(&context, "--check stack").expect_success();
}

/// With `-r`, stacks are found, and neither their components nor embedded stacks get lock files.
#[test]
fn a_walk_finds_stacks_but_not_what_they_call() {
    let (_registry, context) = start();
    context.write_tree(STACK);
    context.write(".git/HEAD", "");
    lock(&context, "-r .").expect_success();
    let found = ["stack", "stack/inner", "stack/network"]
        .map(|directory| context.lock_file(directory).is_some());
    assert_eq!(found, [true, false, false]);
}

/// The columns: the content of the only file of the stack, and the error.
const ERRORS: &str = r#"
    required_providers { anvil = { source = "acme/anvil" } }              | a required provider of a stack must have a `version`
    required_providers { anvil = "~> 1.0" }                               | a required provider of a stack must have a `source`
    required_providers { anvil = { source = "a/b/c/d", version = "1" } }  | invalid provider address
    required_providers { anvil = { source = "acme/anvil", version = "x" } } | invalid version constraint
    required_providers {}\nrequired_providers {}                          | a module can have only one `required_providers` block
    stack "s" { source = "git::https://git.example/s.git" }               | its `source` is not a local path, and tflock fetches no stacks
    stack "s" { source = "../../outside" }                                | its directory is outside the repository
    stack "s" { source = "./gone" }                                       | cannot read the directory
    required_providers {                                                  | unclosed
"#;

#[test]
fn invalid_and_unsupported_stacks_are_refused() {
    let (_registry, context) = start();
    context.write(".git/HEAD", "");
    std::fs::create_dir(context.path("../outside")).unwrap();
    for [text, error] in table(ERRORS) {
        let text = text.replace("\\n", "\n");
        context.write("a/main.tfcomponent.hcl", format!("{text}\n"));
        let outcome = lock(&context, "a").expect_code(1);
        assert_contains(&outcome.stderr, error);
        assert_contains(&outcome.stderr, "a/");
        assert_eq!(context.lock_file("a"), None, "{text}");
    }
}

/// `terraform providers lock` writes a lock file without entries for a stack. tflock never does.
#[test]
fn a_stack_never_gets_a_lock_file_without_entries() {
    let (_registry, context) = start();
    context.write(
        "a/main.tfcomponent.hcl",
        "component \"c\" { source = \"./c\" }\n",
    );
    for options in ["a", "--create always a", "--engine tofu a", "-r ."] {
        lock(&context, options).expect_success();
        assert_eq!(context.lock_file("a"), None, "{options}");
    }
}

/// With `--missing-module warn`, what is known is locked.
#[test]
fn stacks_from_other_sources_can_be_left_out() {
    let (_registry, context) = start();
    context.write_tree(STACK);
    let call = "stack \"other\" { source = \"app.example/team/other\" }\n";
    context.write("stack/other.tfcomponent.hcl", call);
    lock(&context, "stack").expect_code(1);
    let outcome = lock(&context, "--missing-module warn stack").expect_success();
    outcome.assert_stderr("warning: cannot read the embedded stack");
    assert!(locked(&context, "stack").starts_with("anvil 1.0.0"));
}
