//! Evaluates a configuration file and the files that it includes. See docs/rules/terragrunt.md.
//!
//! The parts are evaluated in the same order as in Terragrunt: values, `include`, `feature`, `locals`, everything else. The included files,
//! called parents, are merged last.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;
use std::rc::Rc;
use std::sync::Arc;

use crate::access::AccessError;
use crate::config::{EnvironmentValue, clean};
use crate::syntax::{EvalProblem, Value};

use super::error::{Failure, Outcome};
use super::evaluated_config::EvaluatedConfig;
use super::file_context::{Evaluated, FileContext, Include, MergeStrategy, Traced};
use super::merge::merge;
use super::origins::{Origin, Origins};
use super::schema::FILE;
use super::shared_files::SharedAccess;
use super::unit_config_file::{ConfigBlock, Setting, UnitConfigFile};
use super::unit_run::UnitRun;
use super::{AUTOINCLUDE_FILE, UnitError};

/// The maximum number of `include` blocks in a file.
const MAX_INCLUDES: usize = 256;

/// How a file takes part in the configuration of a unit.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum FileRole<'a> {
    /// The file of a unit, or a file that an expression reads.
    Unit,
    /// A file that the unit in this directory includes.
    Parent(&'a Path),
    /// A `terragrunt.autoinclude.hcl`.
    AutoInclude,
}

/// Evaluates the file at `path`. `file` is the parsed file if the caller has already parsed it.
pub(super) fn evaluate_file(
    unit: &UnitRun<'_>,
    path: &Path,
    file: Option<Arc<UnitConfigFile>>,
    role: FileRole<'_>,
) -> Outcome<EvaluatedConfig> {
    let file = match file {
        Some(file) => file,
        None => unit.load(path, &FILE, None)?,
    };
    check_source(&file)?;
    let child = match role {
        FileRole::Parent(child) => Some(child),
        FileRole::Unit | FileRole::AutoInclude => None,
    };
    let context = FileContext::new(unit, Arc::clone(&file), child)?;
    let includes = read_includes(&context, role)?;
    let _ = context.includes.set(includes);
    evaluate_features(&context)?;
    for include in context
        .includes()
        .iter()
        .filter(|include| include.is_exposed)
    {
        parent_config(&context, include)?;
    }
    evaluate_locals(&context)?;
    let _ = context.dependencies.set(dependency_labels(&context)?);
    let mut config = EvaluatedConfig::evaluate(&context, &file)?;
    check_dependencies(&context, &config)?;
    config.features = own_features(&context)?;
    let locals = config_locals(&context);
    if role != FileRole::AutoInclude {
        config = merge_autoinclude(&context, config)?;
    }
    for include in context.includes().iter().rev() {
        let parent = parent_config(&context, include)?;
        if include.strategy != MergeStrategy::None {
            config = merge((*parent).clone(), config, include.strategy)?;
        }
    }
    config.locals = locals;
    Ok(config)
}

/// Checks that the source does not mention the outputs of other units, which Terragrunt rejects before it evaluates anything.
fn check_source(file: &UnitConfigFile) -> Outcome<()> {
    let terraform = file.body.block("terraform");
    let source = terraform.and_then(|block| block.body.setting("source"));
    let Some(source) = source.filter(|source| !source.value.is_json()) else {
        return Ok(());
    };
    let mut references = source.tree()?.references.iter();
    if references.any(|(root, _)| root == "dependency") {
        let message = "`terraform.source` cannot refer to `dependency`";
        return Err(UnitError::invalid(source.place(), message).into());
    }
    Ok(())
}

fn read_includes(context: &FileContext<'_>, role: FileRole<'_>) -> Outcome<Vec<Include>> {
    let mut includes: Vec<Include> = Vec::new();
    let file = Arc::clone(&context.file);
    for block in file.body.blocks_of("include") {
        if matches!(role, FileRole::Parent(_)) {
            let message = "an included file cannot include other files";
            return Err(UnitError::invalid(block.range.place(), message).into());
        }
        if includes.len() == MAX_INCLUDES {
            let message = format!("the file has more than {MAX_INCLUDES} `include` blocks");
            return Err(UnitError::invalid(block.range.place(), message).into());
        }
        if includes.iter().any(|known| known.label == block.label) {
            let message = format!("the `include` block `{}` already exists", block.label);
            return Err(UnitError::invalid(block.range.place(), message).into());
        }
        includes.push(read_include(context, block)?);
    }
    Ok(includes)
}

fn read_include(context: &FileContext<'_>, block: &ConfigBlock) -> Outcome<Include> {
    let setting = |name: &str| {
        block
            .body
            .setting(name)
            .map(|setting| context.evaluate(setting))
    };
    let path = setting("path").transpose()?;
    let strategy = setting("merge_strategy").transpose()?;
    let expose = setting("expose").transpose()?;
    let Some(path) = path else {
        let message = "the argument `path` is missing";
        return Err(UnitError::invalid(block.range.place(), message).into());
    };
    let what = "the `path` of an `include` block";
    let text = known_text(context.unit, &path, what)?;
    if text.is_empty() {
        return Err(path.invalid("the `path` of an `include` block is empty"));
    }
    let strategy = match &strategy {
        None => MergeStrategy::Shallow,
        Some(strategy) => match &*known_text(context.unit, strategy, "the `merge_strategy`")? {
            "no_merge" => MergeStrategy::None,
            "shallow" | "" => MergeStrategy::Shallow,
            "deep" => MergeStrategy::Deep,
            _ => {
                let message = "`merge_strategy` must be `no_merge`, `shallow` or `deep`";
                return Err(strategy.invalid(message));
            }
        },
    };
    let is_exposed = expose.is_some_and(|expose| expose.value.to_bool() == Some(true));
    let full = clean(&context.directory().join(text));
    context.unit.reader.record_parent(&full);
    Ok(Include::new(
        &block.label,
        full,
        (strategy, is_exposed),
        path.written,
    ))
}

/// Returns the text of a value that must be known. `what` names the value in messages.
pub(super) fn known_text(unit: &UnitRun<'_>, evaluated: &Evaluated, what: &str) -> Outcome<String> {
    if evaluated.value.is_unknown() {
        return Err(evaluated.unknown(what, unit));
    }
    let text = evaluated.value.to_text();
    text.ok_or_else(|| evaluated.invalid(format!("{what} must be a string")))
}

/// Evaluates a parent in the context of the unit. Later calls return the same result.
fn parent_config(context: &FileContext<'_>, include: &Include) -> Outcome<Rc<EvaluatedConfig>> {
    if let Some(config) = include.config.get() {
        return Ok(Rc::clone(config));
    }
    let place = || include.written.place();
    if include
        .path
        .extension()
        .is_some_and(|extension| extension == "json")
    {
        let message = "an included file must not be in JSON syntax";
        return Err(UnitError::invalid(place(), message).into());
    }
    let unit = context.unit;
    let file = unit.load(&include.path, &FILE, Some(&include.written))?;
    let role = FileRole::Parent(context.directory());
    let evaluated = unit.nested(8, || evaluate_file(unit, &include.path, Some(file), role));
    let too_deep = |problem: EvalProblem| UnitError::invalid(place(), problem.to_string());
    let config = Rc::new(evaluated.map_err(too_deep)??);
    Ok(Rc::clone(include.config.get_or_init(|| config)))
}

/// Evaluates the defaults of the features of the file and its parents. `TG_FEATURE` takes precedence.
fn evaluate_features(context: &FileContext<'_>) -> Outcome<()> {
    let mut features = BTreeMap::new();
    for include in context.includes() {
        let has_features = include.strategy != MergeStrategy::None
            && parent_file(context, include)?
                .body
                .block("feature")
                .is_some();
        if has_features {
            for (name, feature) in &parent_config(context, include)?.features {
                features.insert(name.clone(), traced(feature));
            }
        }
    }
    for (name, feature) in own_features(context)? {
        features.insert(name, traced(&feature));
    }
    override_features(context.unit, &mut features);
    let _ = context.features.set(features);
    Ok(())
}

fn parent_file(context: &FileContext<'_>, include: &Include) -> Outcome<Arc<UnitConfigFile>> {
    let written = Some(&include.written);
    Ok(context.unit.load(&include.path, &FILE, written)?)
}

fn traced(evaluated: &Evaluated) -> Traced {
    Traced {
        value: Rc::new(evaluated.value.clone()),
        origins: evaluated.origins.clone(),
    }
}

fn own_features(context: &FileContext<'_>) -> Outcome<BTreeMap<String, Evaluated>> {
    let blocks = context.file.body.blocks_of("feature");
    let evaluate = |block: &ConfigBlock| {
        let default = block.body.setting("default")?;
        Some(
            context
                .evaluate(default)
                .map(|value| (block.label.clone(), value)),
        )
    };
    blocks.filter_map(evaluate).collect()
}

/// Applies `TG_FEATURE`, such as `name=value,other=value`.
fn override_features(unit: &UnitRun<'_>, features: &mut BTreeMap<String, Traced>) {
    const NAME: &str = "TG_FEATURE";
    match unit.environment(NAME) {
        None => {}
        Some(EnvironmentValue::Withheld) => {
            for feature in features.values_mut() {
                feature.value = Rc::new(Value::Unknown);
                feature
                    .origins
                    .unknown
                    .insert(Origin::Variable(NAME.to_owned()));
            }
        }
        Some(EnvironmentValue::Known(text)) => {
            for (name, given) in text.split(',').filter_map(|pair| pair.split_once('=')) {
                let known = features.entry(name.trim().to_owned()).or_default();
                let given = Value::from(given);
                known.value = Rc::new(match *known.value {
                    Value::Bool(_) => given.to_bool().map_or(Value::Unknown, Value::Bool),
                    _ => given,
                });
                known
                    .origins
                    .hidden
                    .insert(Origin::Variable(NAME.to_owned()));
            }
        }
    }
}

/// Evaluates the `locals` block. Each local is evaluated after all locals to which its expression refers, even in branches that are not
/// taken.
fn evaluate_locals(context: &FileContext<'_>) -> Outcome<()> {
    *context.locals.borrow_mut() = Some(BTreeMap::new());
    let file = Arc::clone(&context.file);
    let Some(block) = file.body.block("locals") else {
        return Ok(());
    };
    let mut waiting: Vec<&Setting> = block.body.settings.iter().collect();
    while !waiting.is_empty() {
        let before = waiting.len();
        let mut left = Vec::new();
        for setting in waiting {
            if blocking_name(context, setting)?.is_some() {
                left.push(setting);
                continue;
            }
            let local = traced(&context.evaluate(setting)?);
            if let Some(locals) = &mut *context.locals.borrow_mut() {
                locals.insert(setting.name.clone(), local);
            }
        }
        if left.len() == before {
            return Err(unresolved_local(context, &left)?);
        }
        waiting = left;
    }
    Ok(())
}

/// Returns the first name in the expression of a local that is not available yet.
fn blocking_name(context: &FileContext<'_>, setting: &Setting) -> Outcome<Option<String>> {
    let references = &setting.tree()?.references;
    let exceeded = |budget| context.unit.exceeded(setting.place(), budget);
    context
        .unit
        .budget
        .steps(1 + references.len())
        .map_err(exceeded)?;
    let locals = context.locals.borrow();
    let is_ready = |name: &str| {
        locals
            .as_ref()
            .is_some_and(|locals| locals.contains_key(name))
    };
    let blocking = references
        .iter()
        .find_map(|(root, name)| match (root.as_str(), name) {
            ("include" | "feature" | "values", _) => None,
            ("local", Some(name)) if is_ready(name) => None,
            ("local", Some(name)) => Some(format!("local.{name}")),
            _ => Some(root.clone()),
        });
    Ok(blocking)
}

fn unresolved_local(context: &FileContext<'_>, left: &[&Setting]) -> Outcome<Failure> {
    let waiting: BTreeSet<String> = left
        .iter()
        .map(|setting| format!("local.{}", setting.name))
        .collect();
    let mut circular = None;
    for setting in left {
        let Some(name) = blocking_name(context, setting)? else {
            continue;
        };
        if waiting.contains(&name) {
            circular.get_or_insert((setting, name));
            continue;
        }
        let message = if name.starts_with("local.") {
            format!("there is no `{name}`")
        } else {
            format!(
                "locals can refer to `local`, `include`, `feature` and `values`, but not to `{name}`"
            )
        };
        return Ok(UnitError::invalid(setting.place(), message).into());
    }
    let (place, name) = match circular {
        Some((setting, name)) => (setting.place(), name),
        None => (context.file.place(), String::new()),
    };
    let message = format!("this local depends on itself through `{name}`");
    Ok(UnitError::invalid(place, message).into())
}

fn config_locals(context: &FileContext<'_>) -> Option<Traced> {
    let locals = context.locals.borrow();
    let locals = locals.as_ref().filter(|locals| !locals.is_empty())?;
    let mut origins = Origins::default();
    let mut entries = BTreeMap::new();
    for (name, local) in locals {
        origins.join(&local.origins);
        entries.insert(name.clone(), (*local.value).clone());
    }
    let value = Rc::new(Value::Object(entries));
    Some(Traced { value, origins })
}

/// Returns the labels of the `dependency` blocks of the file and its parents.
fn dependency_labels(context: &FileContext<'_>) -> Outcome<BTreeSet<String>> {
    let mut labels = BTreeSet::new();
    let mut add = |file: &UnitConfigFile| {
        let blocks = file.body.blocks_of("dependency");
        labels.extend(blocks.map(|block| block.label.clone()));
    };
    add(&context.file);
    for include in context.includes() {
        add(&*parent_file(context, include)?);
    }
    Ok(labels)
}

/// Checks that the directories in `dependencies` exist.
fn check_dependencies(context: &FileContext<'_>, config: &EvaluatedConfig) -> Outcome<()> {
    let section = config.sections.get("dependencies");
    let Some(paths) = section.and_then(|section| section.get("paths")) else {
        return Ok(());
    };
    for path in paths.value.elements().unwrap_or_default() {
        let Some(path) = path.to_text().filter(|_| !path.is_unknown()) else {
            continue;
        };
        let full = clean(&context.directory().join(&path));
        // The error must not reveal whether a directory outside the repository exists.
        let is_missing = match context.unit.access.rules.resolve(&full) {
            Ok(real) => !real.is_dir(),
            Err(error) => matches!(error, AccessError::Read(_)),
        };
        if is_missing {
            return Err(paths.invalid("a directory in `dependencies.paths` does not exist"));
        }
    }
    Ok(())
}

/// Merges the `terragrunt.autoinclude.hcl` beside the file into its configuration.
fn merge_autoinclude(
    context: &FileContext<'_>,
    config: EvaluatedConfig,
) -> Outcome<EvaluatedConfig> {
    let unit = context.unit;
    let path = context.file.directory().join(AUTOINCLUDE_FILE);
    if context.file.path == path || !SharedAccess::has_entry(&path) {
        unit.record_read(path);
        return Ok(config);
    }
    let evaluated = unit.nested(8, || {
        evaluate_file(unit, &path, None, FileRole::AutoInclude)
    });
    let too_deep =
        |problem: EvalProblem| UnitError::invalid(context.file.place(), problem.to_string());
    merge(
        config,
        evaluated.map_err(too_deep)??,
        MergeStrategy::Shallow,
    )
}
