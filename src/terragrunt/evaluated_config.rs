//! The evaluated content of a configuration file, before and after it is merged with others.

use std::collections::BTreeMap;

use crate::span::Place;
use crate::syntax::{SourceRange, Value};

use super::error::Outcome;
use super::file_context::{Evaluated, FileContext, Traced};
use super::unit_config_file::{ConfigBlock, ConfigBody, UnitConfigFile};

/// The values of the arguments of a block by name.
pub(super) type Settings = BTreeMap<String, Evaluated>;

#[derive(Clone, Debug, Default)]
pub(super) struct EvaluatedConfig {
    /// The arguments of the file, except `inputs` and `generate`.
    pub(super) settings: Settings,
    /// The blocks without labels, except `locals` and `terraform`.
    pub(super) sections: BTreeMap<&'static str, Settings>,
    pub(super) terraform: Option<TerraformSection>,
    /// The `generate` blocks, and the entries of the `generate` argument, by label.
    pub(super) generate: BTreeMap<String, Generate>,
    pub(super) inputs: Option<Evaluated>,
    pub(super) features: BTreeMap<String, Evaluated>,
    /// The `dependency` blocks by label.
    pub(super) dependencies: BTreeMap<String, Settings>,
    pub(super) locals: Option<Traced>,
}

/// The `terraform` block.
#[derive(Clone, Debug, Default)]
pub(super) struct TerraformSection {
    pub(super) settings: Settings,
    /// The labeled blocks in order.
    pub(super) blocks: Vec<LabeledBlock>,
}

#[derive(Clone, Debug)]
pub(super) struct LabeledBlock {
    pub(super) kind: &'static str,
    pub(super) label: String,
    pub(super) range: SourceRange,
    pub(super) settings: Settings,
}

/// A `generate` block, or an entry of the `generate` argument.
#[derive(Clone, Debug)]
pub(super) enum Generate {
    Block {
        range: SourceRange,
        settings: Settings,
    },
    /// `argument` is the whole `generate` argument, with null as its value.
    Entry { value: Value, argument: Evaluated },
}

impl Generate {
    pub(super) fn place(&self) -> Place {
        match self {
            Self::Block { range, .. } => range.place(),
            Self::Entry { argument, .. } => argument.written.place(),
        }
    }

    /// Returns an argument of the block, or a property of the entry.
    pub(super) fn setting(&self, name: &str) -> Option<Evaluated> {
        match self {
            Self::Block { settings, .. } => settings.get(name).cloned(),
            Self::Entry { value, argument } => value.entries()?.get(name).map(|value| Evaluated {
                value: value.clone(),
                ..argument.clone()
            }),
        }
    }
}

impl EvaluatedConfig {
    /// Evaluates all settings of a file, except `include`, `feature` and `locals` blocks.
    pub(super) fn evaluate(context: &FileContext<'_>, file: &UnitConfigFile) -> Outcome<Self> {
        let mut config = Self::default();
        for setting in &file.body.settings {
            let evaluated = context.evaluate(setting)?;
            match setting.name.as_str() {
                "inputs" => config.inputs = Some(evaluated),
                "generate" => config.add_entries(&evaluated)?,
                name => drop(config.settings.insert(name.to_owned(), evaluated)),
            }
        }
        for block in &file.body.blocks {
            config.add_block(context, block)?;
        }
        Ok(config)
    }

    fn add_block(&mut self, context: &FileContext<'_>, block: &ConfigBlock) -> Outcome<()> {
        match block.kind {
            "include" | "feature" | "locals" => {}
            "terraform" => self.terraform = Some(TerraformSection::evaluate(context, &block.body)?),
            "generate" => {
                let settings = settings(context, &block.body)?;
                let range = block.range.clone();
                self.add_generate(&block.label, Generate::Block { range, settings })?;
            }
            "dependency" => {
                let settings = settings(context, &block.body)?;
                self.dependencies.insert(block.label.clone(), settings);
            }
            kind => {
                for inner in &block.body.blocks {
                    settings(context, &inner.body)?;
                }
                let own = settings(context, &block.body)?;
                self.sections.insert(kind, own);
            }
        }
        Ok(())
    }

    fn add_entries(&mut self, argument: &Evaluated) -> Outcome<()> {
        let entry = |value: &Value| Generate::Entry {
            value: value.clone(),
            argument: Evaluated {
                value: Value::Null,
                origins: argument.origins.clone(),
                written: argument.written.clone(),
            },
        };
        match &argument.value {
            Value::Object(entries) | Value::Map(entries) => {
                for (label, value) in entries {
                    self.add_generate(label, entry(value))?;
                }
                Ok(())
            }
            Value::Null => Ok(()),
            value => self.add_generate("", entry(value)),
        }
    }

    fn add_generate(&mut self, label: &str, generate: Generate) -> Outcome<()> {
        let place = generate.place();
        match self.generate.insert(label.to_owned(), generate) {
            None => Ok(()),
            Some(first) => Err(super::merge::duplicate_label(label, place, &first)),
        }
    }
}

impl TerraformSection {
    fn evaluate(context: &FileContext<'_>, body: &ConfigBody) -> Outcome<Self> {
        let blocks = body.blocks.iter().map(|block| {
            Ok(LabeledBlock {
                kind: block.kind,
                label: block.label.clone(),
                range: block.range.clone(),
                settings: settings(context, &block.body)?,
            })
        });
        Ok(Self {
            settings: settings(context, body)?,
            blocks: blocks.collect::<Outcome<_>>()?,
        })
    }
}

fn settings(context: &FileContext<'_>, body: &ConfigBody) -> Outcome<Settings> {
    let settings = body.settings.iter();
    settings
        .map(|setting| Ok((setting.name.clone(), context.evaluate(setting)?)))
        .collect()
}
