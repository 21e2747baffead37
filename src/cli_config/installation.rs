//! The `provider_installation` block: the sources from which `init` installs providers, in order.
//!
//! Its syntax is stricter than the rest of the language: except in JSON, the block and its methods must not have labels or `=`.
//! Method names are case-sensitive. Invalid methods are omitted.

use std::path::PathBuf;

use crate::cli_config::CliConfigError;
use crate::cli_config::decode::{ConfigSource, FileSettings, named, text_of};
use crate::cli_config::pattern::{Pattern, Selector};
use crate::cli_config::repository_template::RepositoryTemplate;
use crate::cli_config::tree::{ConfigTree, ConfigValue, Item, SpannedValue};
use crate::provider::{Engine, ProviderAddr};
use crate::span::{Place, Span};

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ProviderInstallation {
    /// The methods in the order in which they are tried.
    pub methods: Vec<Method>,
    pub place: Place,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Method {
    pub kind: MethodKind,
    pub selector: Selector,
    pub place: Place,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub enum MethodKind {
    /// The origin registry of each provider.
    Direct,
    /// A directory of packages. The path is as written in the file.
    FilesystemMirror { path: PathBuf },
    NetworkMirror {
        /// The base URL, as written in the file.
        url: String,
        trust_all_hashes: bool,
    },
    /// Repositories in OCI registries (OpenTofu only).
    OciMirror(RepositoryTemplate),
}

/// Decodes all `provider_installation` blocks of a file.
pub(super) fn decode(
    tree: &ConfigTree,
    source: ConfigSource<'_>,
    engine: Option<Engine>,
    out: &mut FileSettings,
) {
    let mut decoder = InstallationDecoder {
        source,
        engine,
        is_json: tree.is_json,
        out,
    };
    let name = "provider_installation";
    let blocks = tree.items.iter().filter(|item| item.keys[0].text == name);
    blocks.for_each(|item| decoder.block(item));
}

struct InstallationDecoder<'a> {
    source: ConfigSource<'a>,
    /// The engine whose methods are allowed; `None` allows the methods of both engines.
    engine: Option<Engine>,
    is_json: bool,
    out: &'a mut FileSettings,
}

impl InstallationDecoder<'_> {
    fn fail(&mut self, span: Span, problem: impl Into<String>) {
        self.out.errors.push(CliConfigError::Installation {
            place: Box::new(self.source.place(span)),
            problem: problem.into(),
        });
    }

    /// Returns the bodies of a block. In JSON, a list of objects has several bodies.
    fn bodies<'t>(&mut self, item: &'t Item) -> Vec<&'t [Item]> {
        let name = &item.keys[0];
        if let Some(label) = item.keys.get(1) {
            self.fail(
                label.span,
                format!("a `{}` block takes no labels", name.text),
            );
            return Vec::new();
        }
        if item.assigned {
            self.fail(name.span, format!("a `{}` block takes no `=`", name.text));
            return Vec::new();
        }
        match &item.value.value {
            ConfigValue::Object(items) => vec![items],
            ConfigValue::List(elements) if self.is_json => {
                let objects = elements.iter().filter_map(|element| match &element.value {
                    ConfigValue::Object(items) => Some(items.as_slice()),
                    _ => None,
                });
                objects.collect()
            }
            _ => {
                self.fail(item.value.span, format!("`{}` must be a block", name.text));
                Vec::new()
            }
        }
    }

    fn block(&mut self, item: &Item) {
        for body in self.bodies(item) {
            let mut block = ProviderInstallation {
                methods: Vec::new(),
                place: self.source.place(item.keys[0].span),
            };
            for method in body {
                for arguments in self.bodies(method) {
                    self.method(&mut block, method, arguments);
                }
            }
            self.out.installations.push(block);
        }
    }

    fn method(&mut self, block: &mut ProviderInstallation, item: &Item, arguments: &[Item]) {
        let name = &item.keys[0];
        if name.text == "dev_overrides" {
            if block.methods.is_empty() {
                self.check_overrides(arguments);
            } else {
                self.fail(
                    name.span,
                    "`dev_overrides` must come before all other methods",
                );
            }
            return;
        }
        let include = self.patterns(arguments, "include");
        let exclude = self.patterns(arguments, "exclude");
        let included = include.as_deref().unwrap_or_default();
        let kind = self.kind(name.text.as_str(), name.span, arguments, included);
        if let (Some(kind), Some(include), Some(exclude)) = (kind, include, exclude) {
            block.methods.push(Method {
                kind,
                selector: Selector { include, exclude },
                place: self.source.place(name.span),
            });
        }
    }

    fn kind(
        &mut self,
        name: &str,
        span: Span,
        arguments: &[Item],
        include: &[Pattern],
    ) -> Option<MethodKind> {
        match name {
            "direct" => Some(MethodKind::Direct),
            "filesystem_mirror" => {
                let path = self.required(name, span, arguments, "path")?.0.into();
                Some(MethodKind::FilesystemMirror { path })
            }
            "network_mirror" => {
                let (url, at) = self.required(name, span, arguments, "url")?;
                if !is_https(&url) {
                    self.fail(
                        at,
                        "the `url` of a network mirror must begin with `https://` and name a host",
                    );
                    return None;
                }
                let trust = named(arguments, "trust_all_hashes").last();
                let trust_all_hashes =
                    trust.is_some_and(|item| item.value.value == ConfigValue::Bool(true));
                Some(MethodKind::NetworkMirror {
                    url,
                    trust_all_hashes,
                })
            }
            "oci_mirror" if self.engine != Some(Engine::Terraform) => {
                let (text, at) = self.required(name, span, arguments, "repository_template")?;
                match RepositoryTemplate::parse(&text, include) {
                    Ok(template) => Some(MethodKind::OciMirror(template)),
                    Err(problem) => {
                        let problem = format!("the `repository_template` is invalid: {problem}");
                        self.fail(at, problem);
                        None
                    }
                }
            }
            "oci_mirror" => {
                self.fail(span, "Terraform has no installation method `oci_mirror`");
                None
            }
            _ => {
                self.fail(
                    span,
                    format!("`{name}` is not a provider installation method"),
                );
                None
            }
        }
    }

    fn required(
        &mut self,
        method: &str,
        span: Span,
        arguments: &[Item],
        name: &str,
    ) -> Option<(String, Span)> {
        if let Some(item) = named(arguments, name).last()
            && let Some(text) = text_of(&item.value.value).filter(|text| !text.is_empty())
        {
            return Some((text.to_owned(), item.value.span));
        }
        self.fail(span, format!("a `{method}` block needs a string `{name}`"));
        None
    }

    /// Parses patterns. Returns `None` if one is invalid, because a method with an incomplete list would apply to the wrong providers.
    fn patterns(&mut self, arguments: &[Item], name: &str) -> Option<Vec<Pattern>> {
        let mut patterns = Some(Vec::new());
        for item in named(arguments, name) {
            let texts = match self.source.strings(name, &item.value) {
                Ok(texts) => texts,
                Err(error) => {
                    self.out.errors.push(error);
                    return None;
                }
            };
            patterns = texts
                .iter()
                .map(|text| self.pattern(text, &item.value))
                .collect();
        }
        patterns
    }

    fn pattern(&mut self, text: &str, node: &SpannedValue) -> Option<Pattern> {
        let error = |source| CliConfigError::Pattern {
            place: Box::new(self.source.place(node.span)),
            pattern: text.to_owned(),
            source,
        };
        let parsed = Pattern::parse(text).map_err(error);
        parsed.map_err(|error| self.out.errors.push(error)).ok()
    }

    /// Reports invalid `dev_overrides`. Valid ones are ignored.
    fn check_overrides(&mut self, arguments: &[Item]) {
        for item in arguments {
            let key = &item.keys[0];
            if ProviderAddr::parse(&key.text, Engine::Terraform).is_err() {
                self.fail(
                    key.span,
                    format!("`{}` in `dev_overrides` is not a provider source", key.text),
                );
                continue;
            }
            if text_of(&item.value.value).is_none() {
                let error = self
                    .source
                    .wrong_kind(&key.text, "a directory", &item.value);
                self.out.errors.push(error);
            }
        }
    }
}

fn is_https(url: &str) -> bool {
    url::Url::parse(url).is_ok_and(|url| url.scheme() == "https" && url.host().is_some())
}
