//! Values of variables. See section 7 of docs/rules/terragrunt.md.

use super::*;
use crate::config::VariableOption;
use crate::syntax::Value;
use crate::terragrunt::ExtraArguments;

const DYNAMIC: &str = "variable \"which\" {\n type = string\n const = true\n default = \"d\"\n}\nmodule \"s\" {\n source = \"./${var.which}\"\n}\n";

/// A module whose source is `which`, and a directory for each of its values.
fn dynamic(files: &[(&str, &str)]) -> Repository {
    let modules = ["a", "b", "c", "d"].map(|name| {
        let path = format!("modules/m/{name}/main.tf");
        (path, format!("resource \"{name}_x\" \"x\" {{}}\n"))
    });
    let modules = modules.iter().map(|(path, text)| (&**path, &**text));
    let module = [("modules/m/main.tf", DYNAMIC)];
    let files: Vec<_> = modules.chain(module).chain(files.iter().copied()).collect();
    Repository::new("../../modules/m", &files)
}

fn input(unit: &mut Unit, value: Value) {
    unit.inputs.insert("which".to_owned(), value);
}

fn arguments(block: ExtraArguments) -> impl FnOnce(&mut Unit) {
    |unit| unit.init_arguments = vec![block]
}

fn some(texts: &[&str]) -> Vec<Option<String>> {
    texts.iter().map(|text| Some((*text).to_owned())).collect()
}

#[test]
fn inputs_are_the_weakest_values() {
    let tfvars = [("live/app/terraform.tfvars", "which = \"c\"\n")];
    assert_eq!(dynamic(&[]).requires().as_deref(), Ok("d"));
    let unit = dynamic(&[]).with(|unit| input(unit, "a".into()));
    assert_eq!(unit.requires().as_deref(), Ok("a"));
    let mut unit = dynamic(&[]).with(|unit| input(unit, "a".into()));
    let value = EnvironmentValue::Known("b".to_owned());
    unit.options.environment.insert("which".to_owned(), value);
    assert_eq!(unit.requires().as_deref(), Ok("b"));
    let unit = dynamic(&tfvars).with(|unit| input(unit, "a".into()));
    assert_eq!(unit.requires().as_deref(), Ok("c"));
    let unit = dynamic(&[]).with(|unit| input(unit, Value::Null));
    let found = unit.requires().unwrap_err();
    assert!(found.ends_with("but this is null"), "{found}");
}

#[test]
fn inputs_become_text() {
    let list = |values: &[&str]| Value::List(values.iter().map(|text| (*text).into()).collect());
    for (value, expected) in [
        (Value::from("a${b}"), Some("a${b}")),
        (Value::Bool(true), Some("true")),
        (
            list(&["a", "${b}", "$${c}"]),
            Some("[\"a\",\"$${b}\",\"$${c}\"]"),
        ),
        (
            Value::Object([("a".to_owned(), Value::Null)].into()),
            Some("{\"a\":null}"),
        ),
        (Value::Unknown, None),
        (Value::Tuple(vec![Value::Unknown]), None),
        (Value::String("a\u{FDD0}x\u{FDD1}".to_owned()), None),
    ] {
        let unit = dynamic(&[]).with(|unit| input(unit, value.clone()));
        let mut options = unit.assemble().unwrap().options;
        let expected = match expected {
            Some(text) => EnvironmentValue::Known(text.to_owned()),
            None => EnvironmentValue::Withheld,
        };
        assert_eq!(
            options.environment.remove("which"),
            Some(expected),
            "{value:?}"
        );
    }
}

#[test]
fn unknown_inputs_matter_only_to_module_sources() {
    let expected = "modules/m/main.tf:7: cannot determine what the unit requires: the source of a module depends on a value that is unknown before Terragrunt runs";
    let unit = dynamic(&[]).with(|unit| input(unit, Value::Unknown));
    assert_eq!(unit.requires(), Err(expected.to_owned()));
    let unit = dynamic(&[]).with(|unit| unit.has_unknown_inputs = true);
    assert_eq!(unit.requires(), Err(expected.to_owned()));
    let unit = Repository::new("../../modules/m", &[("modules/m/main.tf", M)]);
    let unit = unit.with(|unit| unit.has_unknown_inputs = true);
    assert_eq!(unit.requires().as_deref(), Ok("m"));
}

#[test]
fn arguments_of_init_set_variables() {
    let block = ExtraArguments::default;
    let files = [
        ("live/app/v.tfvars", "which = \"b\"\n"),
        ("common.tfvars", "which = \"c\"\n"),
        ("modules/m/m.tfvars", "which = \"c\"\n"),
    ];
    for (block, expected) in [
        (
            ExtraArguments {
                arguments: some(&["-var", "which=a"]),
                ..block()
            },
            "a",
        ),
        (
            ExtraArguments {
                arguments: some(&["-var=which=a", "-upgrade"]),
                ..block()
            },
            "a",
        ),
        (
            ExtraArguments {
                arguments: some(&["-var-file=v.tfvars"]),
                ..block()
            },
            "b",
        ),
        (
            ExtraArguments {
                required_variable_files: some(&["v.tfvars"]),
                ..block()
            },
            "b",
        ),
        (
            ExtraArguments {
                optional_variable_files: some(&["v.tfvars", "none.tfvars"]),
                ..block()
            },
            "b",
        ),
        (
            ExtraArguments {
                optional_variable_files: some(&["m.tfvars"]),
                ..block()
            },
            "d",
        ),
        (
            ExtraArguments {
                required_variable_files: some(&["m.tfvars"]),
                ..block()
            },
            "c",
        ),
        (
            ExtraArguments {
                optional_variable_files: some(&["ROOT/common.tfvars"]),
                ..block()
            },
            "c",
        ),
        (
            ExtraArguments {
                environment: [("TF_VAR_which".to_owned(), Some("c".to_owned()))].into(),
                ..block()
            },
            "c",
        ),
    ] {
        let mut unit = dynamic(&files).with(arguments(block));
        let root = unit.tree.path().to_str().unwrap().to_owned();
        for file in &mut unit.unit.init_arguments[0].optional_variable_files {
            *file = file.as_ref().map(|file| file.replace("ROOT", &root));
        }
        assert_eq!(
            unit.requires().as_deref(),
            Ok(expected),
            "{:?}",
            unit.unit.init_arguments
        );
    }
}

#[test]
fn the_command_line_takes_precedence_over_arguments_of_init() {
    let mut unit = dynamic(&[]).with(arguments(ExtraArguments {
        arguments: some(&["-var", "which=a"]),
        ..ExtraArguments::default()
    }));
    unit.options.variables = vec![VariableOption::Value {
        name: "which".to_owned(),
        text: "b".to_owned(),
    }];
    assert_eq!(unit.requires().as_deref(), Ok("b"));
}

#[test]
fn unknown_arguments_and_unreadable_files() {
    let unknown = "modules/m/main.tf:7: cannot determine what the unit requires: the source of a module depends on a value that is unknown before Terragrunt runs";
    let block = || ExtraArguments {
        place: Some(place(Path::new("live/app"), 9)),
        ..ExtraArguments::default()
    };
    for (block, expected) in [
        (
            ExtraArguments {
                arguments: vec![None],
                ..block()
            },
            unknown,
        ),
        (
            ExtraArguments {
                arguments: vec![Some("-var".to_owned()), None],
                ..block()
            },
            unknown,
        ),
        (
            ExtraArguments {
                optional_variable_files: vec![None],
                ..block()
            },
            unknown,
        ),
        (
            ExtraArguments {
                required_variable_files: some(&["none.tfvars"]),
                ..block()
            },
            "live/app/terragrunt.hcl:9: cannot read the variable file `none.tfvars` of `extra_arguments`: the file does not exist",
        ),
        (
            ExtraArguments {
                required_variable_files: some(&["/etc/passwd"]),
                ..block()
            },
            "live/app/terragrunt.hcl:9: cannot read the variable file `/etc/passwd` of `extra_arguments`: it is outside of the repository",
        ),
    ] {
        let unit = dynamic(&[]).with(arguments(block));
        assert_eq!(unit.requires(), Err(expected.to_owned()));
    }
}
