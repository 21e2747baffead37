//! Converts an evaluated configuration to an object: the value of `include` and the result of `read_terragrunt_config`.

use std::collections::BTreeMap;

use crate::syntax::Value;

use super::evaluated_config::{EvaluatedConfig, Settings, TerraformSection};
use super::origins::Origins;
use super::schema::TERRAFORM;

/// The arguments that are empty strings if they are not set.
const STRINGS: [&str; 7] = [
    "download_dir",
    "iam_assume_role_session_name",
    "iam_role",
    "iam_web_identity_token",
    "terraform_binary",
    "terraform_version_constraint",
    "terragrunt_version_constraint",
];

/// Returns an object with the content of a configuration, and the origins of all its values.
pub(super) fn config_value(config: &EvaluatedConfig) -> (Value, Origins) {
    let mut writer = ValueWriter::default();
    let mut entries = writer.entries(&config.settings);
    for name in STRINGS {
        entries.entry(name.to_owned()).or_insert_with(|| "".into());
    }
    for name in [
        "dependencies",
        "iam_assume_role_duration",
        "inputs",
        "locals",
    ] {
        entries.entry(name.to_owned()).or_default();
    }
    for (kind, section) in &config.sections {
        let section = writer.entries(section);
        entries.insert((*kind).to_owned(), Value::Object(section));
    }
    if let Some(terraform) = &config.terraform {
        entries.insert("terraform".to_owned(), writer.terraform(terraform));
    }
    let dependencies = config.dependencies.iter().map(|(label, settings)| {
        let mut entries = writer.entries(settings);
        entries.insert("name".to_owned(), label.as_str().into());
        entries.insert("outputs".to_owned(), Value::Unknown);
        (label.clone(), Value::Object(entries))
    });
    entries.insert(
        "dependency".to_owned(),
        Value::Object(dependencies.collect()),
    );
    let features = config.features.iter().map(|(name, default)| {
        writer.origins.join(&default.origins);
        let entries = [
            ("name", name.as_str().into()),
            ("default", plain(&default.value)),
        ];
        (name.clone(), object(entries))
    });
    entries.insert("feature".to_owned(), Value::Object(features.collect()));
    entries.insert("generate".to_owned(), writer.generate(config));
    if let Some(inputs) = &config.inputs {
        writer.origins.join(&inputs.origins);
        entries.insert("inputs".to_owned(), plain(&inputs.value));
    }
    if let Some(locals) = &config.locals {
        writer.origins.join(&locals.origins);
        entries.insert("locals".to_owned(), plain(&locals.value));
    }
    (Value::Object(entries), writer.origins)
}

#[derive(Default)]
struct ValueWriter {
    origins: Origins,
}

impl ValueWriter {
    fn entries(&mut self, settings: &Settings) -> BTreeMap<String, Value> {
        let entries = settings.iter().map(|(name, setting)| {
            self.origins.join(&setting.origins);
            (name.clone(), plain(&setting.value))
        });
        entries.collect()
    }

    fn terraform(&mut self, terraform: &TerraformSection) -> Value {
        let mut entries = self.entries(&terraform.settings);
        for name in [
            "source",
            "include_in_copy",
            "exclude_from_copy",
            "copy_terraform_lock_file",
        ] {
            entries.entry(name.to_owned()).or_default();
        }
        for kind in ["extra_arguments", "before_hook", "after_hook", "error_hook"] {
            let blocks = terraform.blocks.iter().filter(|block| block.kind == kind);
            let blocks = blocks.map(|block| {
                let mut entries = self.entries(&block.settings);
                entries.insert("name".to_owned(), block.label.as_str().into());
                for name in TERRAFORM.arguments_of(kind) {
                    entries.entry((*name).to_owned()).or_default();
                }
                (block.label.clone(), Value::Object(entries))
            });
            let blocks = Value::Object(blocks.collect());
            entries.insert(kind.to_owned(), blocks);
        }
        Value::Object(entries)
    }

    fn generate(&mut self, config: &EvaluatedConfig) -> Value {
        const DEFAULTS: [(&str, &str); 2] = [("comment_prefix", "# "), ("if_disabled", "skip")];
        const FLAGS: [&str; 2] = ["disable", "disable_signature"];
        const NAMES: [&str; 3] = ["path", "if_exists", "contents"];
        let generate = config.generate.iter().map(|(label, generate)| {
            let mut entries = BTreeMap::new();
            let names = NAMES.iter().chain(&FLAGS).copied();
            for name in names.chain(DEFAULTS.map(|(name, _)| name)) {
                if let Some(setting) = generate.setting(name) {
                    self.origins.join(&setting.origins);
                    entries.insert(name.to_owned(), plain(&setting.value));
                }
            }
            for (name, default) in DEFAULTS {
                entries
                    .entry(name.to_owned())
                    .or_insert_with(|| default.into());
            }
            for name in FLAGS {
                entries.entry(name.to_owned()).or_insert(Value::Bool(false));
            }
            for name in ["hcl_fmt", "mutable"] {
                entries.entry(name.to_owned()).or_default();
            }
            (label.clone(), Value::Object(entries))
        });
        Value::Object(generate.collect())
    }
}

fn object<const N: usize>(entries: [(&str, Value); N]) -> Value {
    Value::Object(entries.map(|(name, value)| (name.to_owned(), value)).into())
}

/// Converts lists and sets to tuples, and maps to objects.
fn plain(value: &Value) -> Value {
    match value {
        Value::List(elements) | Value::Set(elements) | Value::Tuple(elements) => {
            Value::Tuple(elements.iter().map(plain).collect())
        }
        Value::Map(entries) | Value::Object(entries) => {
            let entries = entries.iter();
            Value::Object(
                entries
                    .map(|(key, value)| (key.clone(), plain(value)))
                    .collect(),
            )
        }
        Value::Sensitive(_) => Value::Unknown,
        other => other.clone(),
    }
}
