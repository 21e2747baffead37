//! `repository_template` of an `oci_mirror` block: an HCL template for the OCI repository of a provider.

use std::cell::RefCell;
use std::collections::BTreeSet;
use std::rc::Rc;

use crate::cli_config::pattern::Pattern;
use crate::oci::RepositoryAddress;
use crate::provider::{Engine, ProviderAddr};
use crate::syntax::{self, EvalBudget, EvalProblem, EvalScope, Value};

/// The names that a template can refer to.
const NAMES: [&str; 3] = ["hostname", "namespace", "type"];

/// A template such as `ghcr.io/acme/${namespace}-${type}`, whose syntax and names are valid.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RepositoryTemplate(String);

/// The values of the names to which a template for `provider` can refer. `used` collects those to which it does refer.
struct TemplateNames<'a> {
    provider: &'a ProviderAddr,
    used: RefCell<BTreeSet<String>>,
}

impl RepositoryTemplate {
    /// Parses a template. It must refer to each part of an address that `include` does not fix to one value, because several providers
    /// would otherwise have the same repository.
    pub(super) fn parse(text: &str, include: &[Pattern]) -> Result<Self, String> {
        let example =
            ProviderAddr::parse("example.com/example-namespace/example-type", Engine::Tofu);
        let example = example.expect("the example is valid");
        let template = Self(text.to_owned());
        let (_, used) = template.evaluate(&example)?;
        for (name, is_fixed) in NAMES
            .into_iter()
            .zip(Pattern::fixed_parts(include, Engine::Tofu))
        {
            if !is_fixed && !used.contains(name) {
                return Err(format!(
                    "it must contain `${{{name}}}`, unless `include` has exactly one {name}"
                ));
            }
        }
        template.expand(&example)?;
        Ok(template)
    }

    /// Returns the repository of a provider.
    pub fn expand(&self, provider: &ProviderAddr) -> Result<RepositoryAddress, String> {
        let (text, _) = self.evaluate(provider)?;
        RepositoryAddress::parse(&text).map_err(|error| error.to_string())
    }

    /// Returns the text for a provider, and the names to which the template refers.
    fn evaluate(&self, provider: &ProviderAddr) -> Result<(String, BTreeSet<String>), String> {
        let expression =
            syntax::parse_template(&self.0).map_err(|fault| fault.problem.to_string())?;
        let scope = TemplateNames {
            provider,
            used: RefCell::default(),
        };
        let problem = |fault: syntax::EvalFault| fault.problem.to_string();
        syntax::check_references(&expression, &scope).map_err(problem)?;
        let value = syntax::evaluate(&expression, &scope).map_err(problem)?;
        let text = value.to_text().ok_or_else(|| {
            format!(
                "a string is required, but its value is {}",
                value.type_name()
            )
        })?;
        Ok((text, scope.used.into_inner()))
    }
}

impl EvalScope for TemplateNames<'_> {
    fn reference(&self, root: &str, attribute: Option<&str>) -> Result<Rc<Value>, EvalProblem> {
        let value = match root {
            "hostname" => self.provider.hostname.as_ascii(),
            "namespace" => &self.provider.namespace,
            "type" => &self.provider.type_name,
            _ => {
                return Err(EvalProblem::Reference(format!(
                    "`{root}` is not available: only `hostname`, `namespace` and `type` are"
                )));
            }
        };
        if attribute.is_some() {
            return Err(EvalProblem::Reference(format!(
                "`{root}` is a string, which has no attributes"
            )));
        }
        self.used.borrow_mut().insert(root.to_owned());
        Ok(Rc::new(Value::from(value)))
    }

    fn budget(&self) -> Option<&EvalBudget> {
        None
    }

    fn check_function(&self, name: &str) -> Result<(), EvalProblem> {
        Err(EvalProblem::CallsNotAllowed(name.to_owned()))
    }

    fn call(&self, name: &str, _: &[Value]) -> Result<Value, EvalProblem> {
        Err(EvalProblem::CallsNotAllowed(name.to_owned()))
    }
}
