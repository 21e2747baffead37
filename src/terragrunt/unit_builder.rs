//! Converts the merged configuration of a unit to a [`Unit`]. Checks that the values on which the requirements depend are known.

use std::collections::BTreeMap;

use crate::syntax::Value;

use super::error::Outcome;
use super::evaluated_config::{EvaluatedConfig, Generate, LabeledBlock, Settings};
use super::evaluation::known_text;
use super::file_context::Evaluated;
use super::unit_run::UnitRun;
use super::{
    ExtraArguments, GeneratedFile, IfDisabled, IfExists, TextWithHoles, Unit, UnitError, UnitSource,
};

/// The command of the engine that reads and writes the lock file.
const COMMAND: &str = "init";

/// A pseudo-command of Terragrunt, whose hooks run before `init`.
const READ_CONFIG: &str = "terragrunt-read-config";

/// The maximum length of a glob, in bytes.
const MAX_GLOB: usize = 4096;

pub(super) fn build_unit(run: &UnitRun<'_>, config: &EvaluatedConfig) -> Outcome<Unit> {
    let mut unit = Unit {
        copies_lock_file: true,
        never_runs: config.sections.get("exclude").is_some_and(prevents_runs),
        ..Unit::default()
    };
    if let Some(terraform) = &config.terraform {
        let settings = &terraform.settings;
        unit.source = source(run, settings)?;
        unit.included_in_copy = globs(run, settings, "include_in_copy")?;
        unit.excluded_from_copy = globs(run, settings, "exclude_from_copy")?;
        let copies = settings.get("copy_terraform_lock_file");
        unit.copies_lock_file = copies.is_none_or(|copies| copies.value.to_bool() != Some(false));
        let blocks_of = |kind: &'static str| {
            let blocks = terraform.blocks.iter();
            blocks.filter(move |block| block.kind == kind)
        };
        let arguments = blocks_of("extra_arguments").filter(|block| has_command(block, &[COMMAND]));
        unit.init_arguments = arguments.map(extra_arguments).collect();
        let before = blocks_of("before_hook")
            .filter(|block| has_command(block, &[COMMAND, "init-from-module", READ_CONFIG]));
        let after = blocks_of("after_hook")
            .filter(|block| has_command(block, &["init-from-module", READ_CONFIG]));
        unit.hooks_before_init = before
            .chain(after)
            .map(|block| block.range.place())
            .collect();
    }
    for (label, generate) in &config.generate {
        unit.generated.push(generated_file(run, label, generate)?);
    }
    unit.backend = backend(run, config)?;
    if let Some(inputs) = &config.inputs {
        match &inputs.value {
            Value::Object(entries) | Value::Map(entries) => unit.inputs.clone_from(entries),
            Value::Null => {}
            value if value.is_unknown() => unit.has_unknown_inputs = true,
            _ => return Err(inputs.invalid("`inputs` must be an object")),
        }
    }
    if let Some(binary) = config.settings.get("terraform_binary")
        && !binary.value.is_unknown()
    {
        unit.terraform_binary = binary.value.to_text().filter(|binary| !binary.is_empty());
    }
    Ok(unit)
}

fn source(run: &UnitRun<'_>, settings: &Settings) -> Outcome<Option<UnitSource>> {
    let Some(source) = settings
        .get("source")
        .filter(|source| source.value != Value::Null)
    else {
        return Ok(None);
    };
    let text = known_text(run, source, "`terraform.source`")?;
    Ok((!matches!(&*text, "" | ".")).then(|| UnitSource {
        text,
        place: source.written.place(),
        hidden: source.origins.hidden_names(),
    }))
}

fn globs(run: &UnitRun<'_>, settings: &Settings, name: &str) -> Outcome<Vec<String>> {
    let Some(setting) = settings
        .get(name)
        .filter(|setting| setting.value != Value::Null)
    else {
        return Ok(Vec::new());
    };
    if setting.value.has_unknown() {
        return Err(setting.unknown(&format!("`terraform.{name}`"), run));
    }
    let globs = setting.value.elements();
    let globs = globs.and_then(|globs| globs.iter().map(Value::to_text).collect());
    let globs: Vec<String> =
        globs.ok_or_else(|| setting.invalid(format!("`{name}` must be a list of strings")))?;
    if globs.iter().any(|glob| glob.len() > MAX_GLOB) {
        let message = format!("`{name}` contains a glob of more than {MAX_GLOB} bytes");
        return Err(setting.invalid(message));
    }
    Ok(globs)
}

/// Whether a block has one of these commands. A list with unknown elements counts as a match.
fn has_command(block: &LabeledBlock, names: &[&str]) -> bool {
    let Some(commands) = block.settings.get("commands") else {
        return false;
    };
    match commands.value.elements() {
        Some(elements) => elements.iter().any(|element| {
            element.is_unknown()
                || element
                    .to_text()
                    .is_some_and(|name| names.contains(&&*name))
        }),
        None => commands.value.is_unknown(),
    }
}

fn extra_arguments(block: &LabeledBlock) -> ExtraArguments {
    let text = |value: &Value| value.to_text().filter(|_| !value.is_unknown());
    let list = |name: &str| match block.settings.get(name).map(|setting| &setting.value) {
        None | Some(Value::Null) => Vec::new(),
        Some(value) => match value.elements() {
            Some(elements) => elements.iter().map(text).collect(),
            None => vec![None],
        },
    };
    let environment = block
        .settings
        .get("env_vars")
        .and_then(|setting| setting.value.entries());
    let environment = environment.into_iter().flatten();
    ExtraArguments {
        arguments: list("arguments"),
        required_variable_files: list("required_var_files"),
        optional_variable_files: list("optional_var_files"),
        environment: environment
            .map(|(name, value)| (name.clone(), text(value)))
            .collect(),
        place: Some(block.range.place()),
    }
}

/// Whether an `exclude` block prevents `init` from running.
fn prevents_runs(exclude: &Settings) -> bool {
    let is_true = |name: &str| {
        let setting = exclude.get(name);
        setting.is_some_and(|setting| setting.value.to_bool() == Some(true))
    };
    let actions = exclude
        .get("actions")
        .and_then(|actions| actions.value.elements());
    let matches_init = |action: &Value| {
        let action = action.to_text().unwrap_or_default().to_lowercase();
        matches!(&*action, "init" | "all" | "all_except_output")
    };
    is_true("if") && is_true("no_run") && actions.is_some_and(|list| list.iter().any(matches_init))
}

fn generated_file(run: &UnitRun<'_>, label: &str, generate: &Generate) -> Outcome<GeneratedFile> {
    let name = |setting: &str| format!("`{setting}` of the `generate` block `{label}`");
    let missing = |setting: &str| {
        let message = format!("{} is missing", name(setting));
        UnitError::invalid(generate.place(), message)
    };
    let known = |setting: &str| -> Outcome<Option<String>> {
        let value = generate
            .setting(setting)
            .filter(|found| found.value != Value::Null);
        value
            .map(|value| known_text(run, &value, &name(setting)))
            .transpose()
    };
    let flag = |setting: &str| -> Outcome<bool> {
        Ok(known(setting)?.is_some_and(|flag| matches!(&*flag, "true" | "1")))
    };
    let path = generate.setting("path").ok_or_else(|| missing("path"))?;
    let exists = generate
        .setting("if_exists")
        .ok_or_else(|| missing("if_exists"))?;
    let is_disabled = flag("disable")?;
    let contents = generate
        .setting("contents")
        .ok_or_else(|| missing("contents"))?;
    let mut origins = path.origins.clone();
    origins.join(&contents.origins);
    Ok(GeneratedFile {
        label: label.to_owned(),
        path: known("path")?.ok_or_else(|| missing("path"))?,
        if_exists: if_exists(run, &exists)?,
        is_disabled,
        if_disabled: if_disabled(run, generate.setting("if_disabled").as_ref())?,
        contents: text_with_holes(run, &contents, is_disabled, &name("contents"))?,
        comment_prefix: known("comment_prefix")?.unwrap_or_else(|| "# ".to_owned()),
        has_signature: !flag("disable_signature")?,
        place: generate.place(),
        hidden: origins.hidden_names(),
    })
}

fn text_with_holes(
    run: &UnitRun<'_>,
    contents: &Evaluated,
    is_disabled: bool,
    what: &str,
) -> Outcome<TextWithHoles> {
    match &contents.value {
        Value::String(text) => Ok(TextWithHoles::of(text)),
        Value::Unknown | Value::Sensitive(_) if is_disabled => Ok(TextWithHoles::default()),
        Value::Unknown | Value::Sensitive(_) => Err(contents.unknown(what, run)),
        other => match other.to_text() {
            Some(text) => Ok(TextWithHoles::of(&text)),
            None => Err(contents.invalid(format!("{what} must be a string"))),
        },
    }
}

fn if_exists(run: &UnitRun<'_>, setting: &Evaluated) -> Outcome<IfExists> {
    Ok(match &*known_text(run, setting, "`if_exists`")? {
        "overwrite" => IfExists::Overwrite,
        "overwrite_terragrunt" => IfExists::OverwriteTerragrunt,
        "skip" => IfExists::Skip,
        "error" => IfExists::Fail,
        _ => {
            let message =
                "`if_exists` must be `overwrite`, `overwrite_terragrunt`, `skip` or `error`";
            return Err(setting.invalid(message));
        }
    })
}

fn if_disabled(run: &UnitRun<'_>, setting: Option<&Evaluated>) -> Outcome<IfDisabled> {
    let Some(setting) = setting.filter(|setting| setting.value != Value::Null) else {
        return Ok(IfDisabled::default());
    };
    Ok(match &*known_text(run, setting, "`if_disabled`")? {
        "remove" => IfDisabled::Remove,
        "remove_terragrunt" => IfDisabled::RemoveTerragrunt,
        "skip" => IfDisabled::Skip,
        _ => {
            let message = "`if_disabled` must be `remove`, `remove_terragrunt` or `skip`";
            return Err(setting.invalid(message));
        }
    })
}

/// Returns the file of `remote_state.generate`.
fn backend(run: &UnitRun<'_>, config: &EvaluatedConfig) -> Outcome<Option<GeneratedFile>> {
    let part = |name: &str| {
        if let Some(section) = config.sections.get("remote_state") {
            return section.get(name).cloned();
        }
        let argument = config.settings.get("remote_state")?;
        let value = argument.value.entries()?.get(name)?.clone();
        Some(Evaluated {
            value,
            ..argument.clone()
        })
    };
    let Some(generate) = part("generate").filter(|generate| generate.value != Value::Null) else {
        return Ok(None);
    };
    let empty = BTreeMap::new();
    let entries = match &generate.value {
        value if value.is_unknown() => {
            return Err(generate.unknown("`remote_state.generate`", run));
        }
        value => value.entries().unwrap_or(&empty),
    };
    let entry = |name: &str| {
        let value = entries.get(name).cloned();
        let missing = || generate.invalid(format!("`remote_state.generate` has no `{name}`"));
        let value = value.ok_or_else(missing)?;
        Ok::<_, super::error::Failure>(Evaluated {
            value,
            ..generate.clone()
        })
    };
    Ok(Some(GeneratedFile {
        label: "remote_state".to_owned(),
        path: known_text(run, &entry("path")?, "the path of `remote_state.generate`")?,
        if_exists: if_exists(run, &entry("if_exists")?)?,
        is_disabled: false,
        if_disabled: IfDisabled::default(),
        contents: TextWithHoles::default(),
        comment_prefix: "# ".to_owned(),
        has_signature: true,
        place: generate.written.place(),
        hidden: generate.origins.hidden_names(),
    }))
}
