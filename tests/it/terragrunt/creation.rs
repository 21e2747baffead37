//! Which directories of a repository with units get a lock file.

use super::{LOCKED, UnitRepository};

#[test]
fn units_get_lock_files_and_their_modules_and_parents_get_none() {
    let repository = UnitRepository::with(
        r#"
        -- old/terragrunt.hcl --
        generate "p" {
          path      = "p.tf"
          if_exists = "overwrite"
          contents  = "provider \"bolt\" {} # ${path_relative_to_include()}"
        }
        -- old/c/terragrunt.hcl --
        include {
          path = find_in_parent_folders()
        }
        terraform {
          source = "../../modules//dns"
        }
        "#,
    );
    repository.run("lock -r .").expect_success();
    for (directory, expected) in [
        ("live/a", Some(LOCKED)),
        ("live/b", Some(LOCKED)),
        ("old/c", Some("bolt 2.0.0, rivet 2.0.0")),
        ("old", None),
        ("modules/net", None),
        ("modules/dns", None),
        (".", None),
    ] {
        let found = repository.locked(directory);
        assert_eq!(found.as_deref(), expected, "{directory}");
    }
}

/// The callers are searched in the whole repository.
#[test]
fn a_run_on_the_modules_alone_creates_nothing() {
    let repository = UnitRepository::new();
    repository.run("lock -r modules").expect_success();
    assert_eq!(repository.locked("modules/net"), None);
    assert_eq!(repository.locked("modules/dns"), None);
    repository.run("lock modules/dns/main.tf").expect_success();
    assert_eq!(repository.locked("modules/dns"), None);
}

#[test]
fn a_parent_with_a_lock_file_is_a_unit() {
    let repository = UnitRepository::with(
        r#"
        -- old/terragrunt.hcl --
        terraform {
          source = "${dirname(find_in_parent_folders("root.hcl"))}/modules//dns"
        }
        -- old/.terraform.lock.hcl --
        -- old/c/terragrunt.hcl --
        include {
          path = find_in_parent_folders()
        }
        "#,
    );
    repository.run("lock -r old").expect_success();
    for directory in ["old", "old/c"] {
        let found = repository.locked(directory);
        assert_eq!(found.as_deref(), Some("rivet 2.0.0"), "{directory}");
    }
}

/// No lock file: the unit never runs, Terragrunt does not copy the file back, or a stack must set the values of the unit.
#[test]
fn units_that_keep_no_lock_file_get_none() {
    let repository = UnitRepository::with(
        r#"
        -- live/never/terragrunt.hcl --
        exclude {
          if      = true
          no_run  = true
          actions = ["all"]
        }
        terraform {
          source = "../../modules//dns"
        }
        -- live/kept/terragrunt.hcl --
        terraform {
          source                   = "../../modules//dns"
          copy_terraform_lock_file = false
        }
        -- catalog/dns/terragrunt.hcl --
        terraform {
          source = "../../modules//${values.module}"
        }
        -- live/.terragrunt-stack/dns/terragrunt.hcl --
        terraform {
          source = "../../../modules//${values.module}"
        }
        -- live/.terragrunt-stack/dns/terragrunt.values.hcl --
        module = "dns"
        "#,
    );
    repository.run("lock -r .").expect_success();
    for directory in ["live/never", "live/kept", "catalog/dns"] {
        assert_eq!(repository.locked(directory), None, "{directory}");
        repository
            .run(&format!("lock --create always {directory}"))
            .expect_success();
        assert_eq!(repository.locked(directory), None, "{directory}");
    }
    let generated = repository.locked("live/.terragrunt-stack/dns");
    assert_eq!(generated.as_deref(), Some("rivet 2.0.0"));
}

#[test]
fn create_never_and_check_write_nothing() {
    let repository = UnitRepository::new();
    repository.run("lock -r --create never .").expect_success();
    repository.run("lock -r --check .").expect_code(3);
    assert_eq!(repository.locked("live/a"), None);
}
