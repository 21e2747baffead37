//! The `provider_installation` block: the sources of providers for `init`, in order.
//!
//! Its form is stricter than the rest of the language: outside of JSON, neither the block nor its methods may have labels or
//! `=`, and the names of methods are case-sensitive. Invalid methods are left out.

use std::path::PathBuf;

use crate::cli_config::CliConfigError;
use crate::cli_config::decode::{ConfigSource, FileSettings, named, text_of};
use crate::cli_config::pattern::{Pattern, Selector};
use crate::cli_config::tree::{ConfigTree, ConfigValue, Item, SpannedValue};
use crate::provider::{Engine, ProviderAddr};
use crate::span::{Place, Span};

/// A `provider_installation` block.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ProviderInstallation {
    /// The methods in the order in which they are tried.
    pub methods: Vec<Method>,
    /// The entries of `dev_overrides`.
    pub dev_overrides: Vec<DevOverride>,
    /// Where the block begins.
    pub place: Place,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Method {
    /// Where packages come from.
    pub kind: MethodKind,
    /// The providers that the method applies to.
    pub selector: Selector,
    /// OpenTofu's `download_retry_count`.
    pub download_retry_count: Option<i64>,
    /// Where the block begins.
    pub place: Place,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub enum MethodKind {
    /// The origin registry of each provider.
    Direct,
    /// A directory of packages.
    FilesystemMirror {
        /// Its path, as written.
        path: PathBuf,
    },
    /// A mirror server.
    NetworkMirror {
        /// Its base URL, as written.
        url: String,
        /// OpenTofu's `trust_all_hashes`.
        trust_all_hashes: bool,
    },
    /// OpenTofu's OCI registry.
    OciMirror {
        /// The template, as written.
        repository_template: String,
    },
}

/// One entry of `dev_overrides`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DevOverride {
    /// The provider source, as written.
    pub source: String,
    /// The directory, as written.
    pub directory: PathBuf,
}

/// Decodes all `provider_installation` blocks of a file.
pub(super) fn decode(tree: &ConfigTree, source: ConfigSource<'_>, out: &mut FileSettings) {
    let mut reader = InstallationDecoder {
        source,
        is_json: tree.is_json,
        out,
    };
    for item in tree
        .items
        .iter()
        .filter(|item| item.keys[0].text == "provider_installation")
    {
        reader.block(item);
    }
}

struct InstallationDecoder<'a> {
    source: ConfigSource<'a>,
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

    /// The bodies of a block. In JSON, a list of objects has several.
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
            self.fail(
                name.span,
                format!("`{}` is a block and takes no `=`", name.text),
            );
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
                dev_overrides: Vec::new(),
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
                self.overrides(block, arguments);
            } else {
                self.fail(
                    name.span,
                    "`dev_overrides` must come before all other methods",
                );
            }
            return;
        }
        let kind = self.kind(name.text.as_str(), name.span, arguments);
        let include = self.patterns(arguments, "include");
        let exclude = self.patterns(arguments, "exclude");
        if let (Some(kind), Some(include), Some(exclude)) = (kind, include, exclude) {
            block.methods.push(Method {
                kind,
                selector: Selector { include, exclude },
                download_retry_count: named(arguments, "download_retry_count")
                    .last()
                    .and_then(|item| text_of(&item.value.value)?.parse().ok()),
                place: self.source.place(name.span),
            });
        }
    }

    fn kind(&mut self, name: &str, span: Span, arguments: &[Item]) -> Option<MethodKind> {
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
            "oci_mirror" => {
                let repository_template = self
                    .required(name, span, arguments, "repository_template")?
                    .0;
                Some(MethodKind::OciMirror {
                    repository_template,
                })
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
        let item = named(arguments, name).last();
        let text =
            item.and_then(|item| Some((text_of(&item.value.value)?.to_owned(), item.value.span)));
        let text = text.filter(|(text, _)| !text.is_empty());
        if text.is_none() {
            self.fail(span, format!("a `{method}` block needs a string `{name}`"));
        }
        text
    }

    /// Parses patterns. `None` if one is invalid: a method without some of its patterns would apply to the wrong providers.
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
        let parsed = Pattern::parse(text);
        parsed
            .map_err(|source| {
                self.out.errors.push(CliConfigError::Pattern {
                    place: Box::new(self.source.place(node.span)),
                    pattern: text.to_owned(),
                    source,
                });
            })
            .ok()
    }

    fn overrides(&mut self, block: &mut ProviderInstallation, arguments: &[Item]) {
        for item in arguments {
            let key = &item.keys[0];
            if ProviderAddr::parse(&key.text, Engine::Terraform).is_err() {
                self.fail(
                    key.span,
                    format!("`{}` in `dev_overrides` is not a provider source", key.text),
                );
                continue;
            }
            let Some(directory) = text_of(&item.value.value) else {
                self.out.errors.push(
                    self.source
                        .wrong_kind(&key.text, "a directory", &item.value),
                );
                continue;
            };
            block.dev_overrides.push(DevOverride {
                source: key.text.clone(),
                directory: directory.into(),
            });
        }
    }
}

fn is_https(url: &str) -> bool {
    url::Url::parse(url).is_ok_and(|url| url.scheme() == "https" && url.host().is_some())
}
