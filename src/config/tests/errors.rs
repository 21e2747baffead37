//! Tests the codes, places and hints of errors.

use super::super::VariableOption;
use super::{ConfigError, Engine, ReadOptions, Tree, requires};
use crate::span::Explain as _;

/// Returns the first error in a tree, or the first missing module.
fn error(files: &[(&str, &str)], engine: Engine) -> std::sync::Arc<ConfigError> {
    let result = Tree::new(files).read(&ReadOptions::new(engine));
    result.unwrap_err().swap_remove(0)
}

const MANIFEST: &str = ".terraform/modules/modules.json";
const AGAIN: &str = "run `init` or `get` in this directory again";

#[test]
fn codes_places_and_hints() {
    let called = "module \"m\" {\n  source = \"acme/dns/any\"\n  version = \"~> 1.0\"\n}\n";
    let record = |source: &str, version: &str| {
        format!(
            "{{\"Modules\":[{{\"Key\":\"m\",\"Source\":\"{source}\",\"Version\":\"{version}\",\"Dir\":\"m\"}}]}}"
        )
    };
    let installed = [
        record("registry.opentofu.org/acme/dns/any", "1.0.0"),
        record("registry.opentofu.org/acme/other/any", "1.0.0"),
        record("example.com/acme/dns/any", "1.0.0"),
        record("acme/dns/any", "2.0.0"),
    ];
    let by = |index: usize| [("main.tf", called), (MANIFEST, installed[index].as_str())];
    let tofu = "`tofu init` wrote `modules.json` in this directory; run `terraform init`, or choose `--engine tofu`";
    let version = "terraform {\n  required_providers {\n    p = \"=> 1.0\"\n  }\n}\n";
    let source = "terraform {\n  required_providers {\n    p = { source = \"https://h.test/a/p\" }\n  }\n}\n";
    let unknown = "variable \"v\" {}\nmodule \"m\" {\n  source = \"./${var.v}\"\n}\n";
    let list = "module \"m\" {\n  source = [\"./m\"]\n}\n";
    let run = "run \"r\" {\n  module {\n    source = \"git::https://h/r\"\n  }\n}\n";
    for (files, code, line, hint) in [
        (
            &[("main.tf", "a = 'b'\n")][..],
            "syntax",
            Some(1),
            Some("write strings in double quotes"),
        ),
        (
            &[("main.tf", version)],
            "invalid-constraint",
            Some(3),
            Some("write `>=`"),
        ),
        (
            &[("main.tf", source)],
            "configuration",
            Some(3),
            Some("write a source as `HOST/NAMESPACE/TYPE`, without `https://`"),
        ),
        (
            &[("main.tf", "resource \"q_x\" {\n}\n")],
            "configuration",
            Some(1),
            None,
        ),
        (
            &[("main.tf", "module \"m\" {\n  source = \"./m\"\n}\n")],
            "module-unavailable",
            Some(1),
            None,
        ),
        (
            &[("main.tf", called)],
            "module-unavailable",
            Some(1),
            Some("run `init` or `get` in this directory first"),
        ),
        (&by(0), "module-unavailable", Some(1), Some(tofu)),
        (&by(1), "module-unavailable", Some(1), Some(AGAIN)),
        (&by(2), "module-unavailable", Some(1), Some(AGAIN)),
        (&by(3), "module-unavailable", Some(1), Some(AGAIN)),
        (
            &[("main.tf", ""), ("main.tftest.hcl", run)],
            "module-unavailable",
            Some(2),
            None,
        ),
        (
            &[("main.tf", unknown)],
            "configuration",
            Some(3),
            Some("use only values known before apply, such as variables with `const = true`"),
        ),
        (&[("main.tf", list)], "configuration", Some(2), None),
    ] {
        let error = error(files, Engine::Terraform);
        let found = (
            error.code().id(),
            error.place().map(|place| place.line),
            error.hint(),
        );
        assert_eq!(found, (code, line, hint.map(str::to_owned)), "{error}");
    }
}

/// Each row contains the text of `main.tf` or of a manifest, and part of the message.
#[test]
fn messages() {
    let remote = "module \"m\" {\n source = \"acme/dns/any\"\n version = \"1.0.0\"\n}\n";
    for (text, expected) in [
        (
            "module \"m\" {\n}\n",
            "main.tf:1:8: a `module` block must have a `source`",
        ),
        (
            "module \"m\" {\n source = \"./\"\n}\n",
            "main.tf:1:8: module `m` is recursive: `",
        ),
        (
            "module \"m\" {\n source = \"./\"\n}\n",
            "` calls itself, directly or through other modules",
        ),
        (
            "module \"m\" {\n source = \"./m\"\n}\n",
            "main.tf:1:8: cannot read the directory `",
        ),
        (
            "module \"m\" {\n source = []\n}\n",
            "main.tf:2:11: `source` of module `m` must be a string, but it is a list",
        ),
        (
            "action \"q_x\" \"a\" {\n other = 1\n}\n",
            "main.tf:2:2: `other` is not allowed in an `action` block",
        ),
        (
            "{",
            "modules.json`: EOF while parsing an object at line 1 column 1",
        ),
        (
            r#"{"Modules":1}"#,
            "cannot read the manifest of installed modules `",
        ),
        (
            r#"{"Modules":[{"Key":"a"},{"Key":"a"}]}"#,
            "modules.json`: it contains the key `a` twice",
        ),
        (
            r#"{"Modules":[{"Key":"a","Version":"x"}]}"#,
            "modules.json`: it has the invalid version `x` for `a`",
        ),
        (
            r#"{"Modules":[{"Key":"m","Source":"acme/other/any"}]}"#,
            "module `m` is installed from `acme/other/any`, but the configuration requires `registry.terraform.io/acme/dns/any`",
        ),
        (
            r#"{"Modules":[{"Key":"m","Source":"acme/dns/any","Version":"2.0.0"}]}"#,
            "version `2.0.0` of module `m` is installed, but the configuration requires `1.0.0`",
        ),
    ] {
        let files = if text.starts_with('{') {
            vec![("main.tf", remote), (MANIFEST, text)]
        } else {
            vec![("main.tf", text)]
        };
        let found = requires(&files, Engine::Terraform).unwrap_err();
        assert!(found.contains(expected), "{found}");
    }
    let run = "run \"r\" {\n module {\n  source = \"git::https://h/r\"\n }\n}\n";
    let found = requires(&[("main.tf", ""), ("main.tftest.hcl", run)], Engine::Tofu).unwrap_err();
    let expected = "a test can run only modules from a local directory or a registry, but `git::https://h/r` is neither";
    assert!(found.ends_with(expected), "{found}");
}

#[test]
fn directories_and_files_that_cannot_be_read() {
    let options = ReadOptions::new(Engine::Terraform);
    let missing = super::read_root(
        std::path::Path::new("/nonexistent/directory"),
        &options,
        &super::ModuleCache::new(),
        None,
    );
    let error = missing.unwrap_err().swap_remove(0);
    assert_eq!(
        (error.code().id(), error.place()),
        ("unreadable-file", None)
    );
}

#[test]
fn a_directory_with_the_name_of_a_file_is_an_error() {
    let call = "module \"m\" {\n  source = \"acme/dns/any\"\n}\n";
    let files = [("main.tf", call), (".terraform/modules/modules.json/x", "")];
    let found = error(&files, Engine::Terraform).to_string();
    assert!(found.starts_with("cannot get module `m`"), "{found}");

    let dynamic = "variable \"v\" {}\nmodule \"m\" {\n  source = \"./${var.v}\"\n}\n";
    let tree = Tree::new(&[
        ("main.tf", dynamic),
        ("terraform.tfvars/x", ""),
        ("m/x", ""),
    ]);
    let mut options = ReadOptions::new(Engine::Tofu);
    let (name, text) = ("v".to_owned(), "m".to_owned());
    options.variables.push(VariableOption::Value { name, text });
    let error = tree.read(&options).unwrap_err().swap_remove(0);
    let message = "terraform.tfvars`: it is not a regular file";
    assert!(error.to_string().contains(message), "{error}");
}

#[test]
fn an_invalid_module_is_reported_once() {
    let calls = "module \"a\" {\n  source = \"./m\"\n}\nmodule \"b\" {\n  source = \"./m\"\n}\n";
    // The same error at two places is reported twice.
    let broken = "provider \"P\" {\n}\nprovider \"P\" {\n  alias = \"x\"\n}\n";
    let tree = Tree::new(&[("main.tf", calls), ("m/main.tf", broken)]);
    let errors = tree.read(&ReadOptions::new(Engine::Terraform)).unwrap_err();
    let lines: Vec<usize> = errors
        .iter()
        .map(|error| error.place().unwrap().line)
        .collect();
    assert_eq!(lines, [1, 3]);
}
