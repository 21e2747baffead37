//! Parsed configuration files of Terragrunt.

use std::path::{Path, PathBuf};
use std::sync::OnceLock;

use crate::span::Place;
use crate::syntax::{
    self, Argument, ArgumentValue, Block, Body, EvalBudget, EvalProblem, EvalScope, Expr,
    SourceFile, SourceRange, Strings, SyntaxError, Value,
};

use super::UnitError;
use super::schema::{BlockSchema, BodySchema};

/// A parsed file, which units can share.
#[derive(Debug)]
pub(super) struct UnitConfigFile {
    /// The absolute path.
    pub(super) path: PathBuf,
    pub(super) body: ConfigBody,
    source: SourceFile,
}

#[derive(Debug)]
pub(super) struct ConfigBody {
    pub(super) settings: Vec<Setting>,
    pub(super) blocks: Vec<ConfigBlock>,
}

#[derive(Debug)]
pub(super) struct ConfigBlock {
    pub(super) kind: &'static str,
    /// An empty string if the block has no label.
    pub(super) label: String,
    pub(super) range: SourceRange,
    pub(super) body: ConfigBody,
}

/// An argument. Its syntax tree is built when it is first evaluated.
#[derive(Debug)]
pub(super) struct Setting {
    pub(super) name: String,
    pub(super) value: ArgumentValue,
    tree: OnceLock<Result<SettingTree, SyntaxError>>,
}

#[derive(Debug)]
pub(super) struct SettingTree {
    pub(super) expression: Expr,
    /// The variables to which the expression refers, each with its first attribute, in order. Variables that the expression itself declares
    /// are omitted.
    pub(super) references: Vec<(String, Option<String>)>,
}

impl UnitConfigFile {
    /// Parses `text`. Messages show the path `shown`.
    pub(super) fn parse(
        path: &Path,
        shown: PathBuf,
        text: Vec<u8>,
        schema: &'static BodySchema,
    ) -> Result<Self, UnitError> {
        let source = SourceFile::parse(shown, text)?;
        Ok(Self {
            path: path.to_path_buf(),
            body: ConfigBody::of(&source.body(), schema, None)?,
            source,
        })
    }

    /// Returns the position of the whole file.
    pub(super) fn place(&self) -> Place {
        Place::file(self.source.path())
    }

    pub(super) fn directory(&self) -> &Path {
        self.path.parent().unwrap_or(&self.path)
    }
}

impl ConfigBody {
    fn of(
        body: &Body<'_>,
        schema: &'static BodySchema,
        owner: Option<&SourceRange>,
    ) -> Result<Self, UnitError> {
        let blocks = Self::blocks(body, schema)?;
        let is_block = |name: &str| blocks.iter().any(|block| block.kind == name);
        let arguments = if schema.blocks.is_empty() {
            body.arguments()?
        } else {
            body.mixed_arguments()?
        };
        let settings: Vec<Setting> = arguments
            .into_iter()
            .filter(|argument| !(argument.value().is_json() && is_block(argument.name())))
            .map(|argument| Setting::of(&argument))
            .collect();
        let result = Self { settings, blocks };
        result.check(body, schema, owner)?;
        Ok(result)
    }

    fn blocks(body: &Body<'_>, schema: &'static BodySchema) -> Result<Vec<ConfigBlock>, UnitError> {
        let mut found = Vec::new();
        for kind in schema.blocks {
            let blocks = kind.find_in(body)?;
            for (at, block) in blocks.iter().enumerate() {
                if at > 0 && !kind.repeats {
                    let message = format!("only one `{}` block is allowed", kind.kind);
                    return Err(UnitError::invalid(block.place(), message));
                }
                found.push(kind.parse(block)?);
            }
        }
        Ok(found)
    }

    /// Checks the names of arguments and blocks.
    fn check(
        &self,
        body: &Body<'_>,
        schema: &BodySchema,
        owner: Option<&SourceRange>,
    ) -> Result<(), UnitError> {
        for block in body.native_blocks() {
            if !schema.blocks.iter().any(|known| known.kind == block.kind()) {
                let message = format!("`{}` blocks are not allowed here", block.kind());
                return Err(UnitError::invalid(block.place(), message));
            }
        }
        if let Some(allowed) = schema.arguments
            && let Some(unknown) = self
                .settings
                .iter()
                .find(|setting| !allowed.contains(&setting.name.as_str()))
        {
            let message = format!("Terragrunt has no argument `{}` here", unknown.name);
            return Err(UnitError::invalid(unknown.value.place(), message));
        }
        let missing = |name: &&&str| self.setting(name).is_none();
        match (schema.required.iter().find(missing), owner) {
            (Some(name), Some(owner)) => {
                let message = format!("the argument `{name}` is missing");
                Err(UnitError::invalid(owner.place(), message))
            }
            _ => Ok(()),
        }
    }

    pub(super) fn setting(&self, name: &str) -> Option<&Setting> {
        self.settings.iter().find(|setting| setting.name == name)
    }

    pub(super) fn blocks_of<'a>(&'a self, kind: &'a str) -> impl Iterator<Item = &'a ConfigBlock> {
        self.blocks.iter().filter(move |block| block.kind == kind)
    }

    pub(super) fn block(&self, kind: &str) -> Option<&ConfigBlock> {
        self.blocks.iter().find(|block| block.kind == kind)
    }
}

impl BlockSchema {
    fn find_in<'a>(&self, body: &Body<'a>) -> Result<Vec<Block<'a>>, UnitError> {
        let is_json = || -> Result<bool, UnitError> {
            let arguments = body.mixed_arguments()?;
            let named = |argument: &Argument<'_>| argument.name() == self.kind;
            Ok(arguments
                .iter()
                .any(|argument| named(argument) && argument.value().is_json()))
        };
        match self.kind {
            // In JSON, `generate` is an argument.
            "generate" if is_json()? => Ok(Vec::new()),
            // In JSON, an object with `path` is an `include` block without a label.
            "include" if is_json()? => {
                let bare = body.blocks(self.kind, 0)?;
                if bare.iter().any(|block| has_path(block.body())) {
                    Ok(bare)
                } else {
                    Ok(body.blocks(self.kind, 1)?)
                }
            }
            kind => Ok(body.blocks(kind, usize::from(self.has_label))?),
        }
    }

    fn parse(&self, block: &Block<'_>) -> Result<ConfigBlock, UnitError> {
        let is_bare_include = self.kind == "include" && block.labels().is_empty();
        let expected = usize::from(self.has_label && !is_bare_include);
        if block.labels().len() != expected {
            let message = format!(
                "incorrect number of labels for a `{}` block: expected {expected}, found {}",
                self.kind,
                block.labels().len()
            );
            return Err(UnitError::invalid(block.place(), message));
        }
        let range = block.range();
        Ok(ConfigBlock {
            kind: self.kind,
            label: block.label(0).to_owned(),
            body: ConfigBody::of(block.body(), self.body, Some(&range))?,
            range,
        })
    }
}

/// Whether the body of a JSON object has a property `path` that is a string.
fn has_path(body: &Body<'_>) -> bool {
    let path = body.value("path").ok().flatten();
    let tree = path.and_then(|path| path.tree(Strings::Plain).ok());
    tree.is_some_and(|tree| matches!(tree.kind, syntax::ExprKind::Template(_)))
}

impl Setting {
    fn of(argument: &Argument<'_>) -> Self {
        Self {
            name: argument.name().to_owned(),
            value: argument.value(),
            tree: OnceLock::new(),
        }
    }

    pub(super) fn tree(&self) -> Result<&SettingTree, UnitError> {
        let tree = self.tree.get_or_init(|| {
            let expression = self.value.tree(Strings::Templates)?;
            let references = references(&expression);
            Ok(SettingTree {
                expression,
                references,
            })
        });
        tree.as_ref()
            .map_err(|error| UnitError::from(error.clone()))
    }

    pub(super) fn place(&self) -> Place {
        self.value.place()
    }
}

fn references(expression: &Expr) -> Vec<(String, Option<String>)> {
    let found = ReferenceCollector::default();
    // This cannot fail, because the scope accepts all names.
    let _ = syntax::check_references(expression, &found);
    found.0.into_inner()
}

/// A scope that records the references in an expression.
#[derive(Default)]
struct ReferenceCollector(std::cell::RefCell<Vec<(String, Option<String>)>>);

impl EvalScope for ReferenceCollector {
    fn reference(
        &self,
        root: &str,
        attribute: Option<&str>,
    ) -> Result<std::rc::Rc<Value>, EvalProblem> {
        let reference = (root.to_owned(), attribute.map(str::to_owned));
        self.0.borrow_mut().push(reference);
        Ok(std::rc::Rc::default())
    }

    fn budget(&self) -> Option<&EvalBudget> {
        None
    }

    fn check_function(&self, _: &str) -> Result<(), EvalProblem> {
        Ok(())
    }

    fn call(&self, name: &str, _: &[Value]) -> Result<Value, EvalProblem> {
        Err(EvalProblem::CallsNotAllowed(name.to_owned()))
    }
}
