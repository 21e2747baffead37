//! Decodes a parsed file into settings. Block and attribute names are case-insensitive; labels and map keys are case-sensitive.
//!
//! As in HCL 1, `a "b" { ... }`, `a = { b = { ... } }` and `a { b { ... } }` are equivalent.

use std::collections::BTreeMap;
use std::path::Path;

use crate::cli_config::config::{CredentialsBlock, HelperBlock, HostBlock, RegistryProtocols};
use crate::cli_config::installation::{self, ProviderInstallation};
use crate::cli_config::oci::{OciCredentialsBlock, OciDefaultsBlock};
use crate::cli_config::tree::{ConfigTree, ConfigValue, Item, ItemKey, SpannedValue};
use crate::cli_config::{CliConfigError, parse};
use crate::provider::{Engine, Hostname};
use crate::span::{Place, Span};

#[derive(Debug, Default)]
pub(super) struct FileSettings {
    pub(super) hosts: BTreeMap<Hostname, HostBlock>,
    pub(super) credentials: BTreeMap<Hostname, CredentialsBlock>,
    pub(super) helpers: Vec<HelperBlock>,
    pub(super) installations: Vec<ProviderInstallation>,
    pub(super) plugin_cache_dir: Option<String>,
    pub(super) registry_protocols: RegistryProtocols,
    pub(super) oci_credentials: Vec<OciCredentialsBlock>,
    pub(super) oci_defaults: Vec<OciDefaultsBlock>,
    pub(super) errors: Vec<CliConfigError>,
}

pub(super) struct LabelledBlock {
    pub(super) label: ItemKey,
    pub(super) body: Vec<Item>,
}

/// Decodes one file. The result contains all valid settings, and the errors in the invalid ones.
pub(super) fn decode(path: &Path, text: &[u8], engine: Option<Engine>) -> FileSettings {
    let mut decoder = FileDecoder {
        source: ConfigSource { path, text },
        is_json: false,
        out: FileSettings::default(),
    };
    match decoder.source.tree() {
        Ok(tree) => {
            decoder.is_json = tree.is_json;
            decoder.file(&tree);
            installation::decode(&tree, decoder.source, engine, &mut decoder.out);
            if engine != Some(Engine::Terraform) {
                decoder.oci(&tree.items);
            }
        }
        Err(error) => decoder.out.errors.push(error),
    }
    decoder.out
}

#[derive(Clone, Copy)]
pub(super) struct ConfigSource<'a> {
    pub(super) path: &'a Path,
    pub(super) text: &'a [u8],
}

impl ConfigSource<'_> {
    /// Returns the position of a span without its source line, because any line may contain a token.
    pub(super) fn place(self, span: Span) -> Place {
        Place {
            source_line: None,
            ..Place::in_text(self.path, self.text, span)
        }
    }

    pub(super) fn wrong_kind(
        self,
        setting: &str,
        wanted: &'static str,
        found: &SpannedValue,
    ) -> CliConfigError {
        CliConfigError::WrongKind {
            place: Box::new(self.place(found.span)),
            setting: setting.to_owned(),
            wanted,
            found: found.value.kind(),
        }
    }

    /// Decodes a list of strings. Numbers are accepted as strings.
    pub(super) fn strings(
        self,
        setting: &str,
        node: &SpannedValue,
    ) -> Result<Vec<String>, CliConfigError> {
        let wrong_kind = |node: &SpannedValue| self.wrong_kind(setting, "a list of strings", node);
        let ConfigValue::List(elements) = &node.value else {
            return Err(wrong_kind(node));
        };
        let text = |element: &SpannedValue| {
            let text = text_of(&element.value).ok_or_else(|| wrong_kind(element))?;
            Ok(text.to_owned())
        };
        elements.iter().map(text).collect()
    }

    fn tree(self) -> Result<ConfigTree, CliConfigError> {
        let syntax = |problem: String, span| CliConfigError::Syntax {
            place: Box::new(self.place(span)),
            problem,
        };
        let text = std::str::from_utf8(self.text).map_err(|error| {
            let at = error.valid_up_to();
            syntax(
                format!("invalid UTF-8 after the first {at} bytes"),
                Span::new(at, at + 1),
            )
        })?;
        if text.starts_with('\u{feff}') {
            return Err(syntax(
                "the file must not begin with a byte order mark".to_owned(),
                Span::new(0, 3),
            ));
        }
        parse::parse(text).map_err(|error| syntax(error.problem, error.span))
    }
}

pub(super) struct FileDecoder<'a> {
    pub(super) source: ConfigSource<'a>,
    is_json: bool,
    pub(super) out: FileSettings,
}

impl FileDecoder<'_> {
    fn file(&mut self, tree: &ConfigTree) {
        for block in self.blocks(&tree.items, "host") {
            self.host(&block);
        }
        for block in self.blocks(&tree.items, "credentials") {
            self.credentials(block);
        }
        for block in self.blocks(&tree.items, "credentials_helper") {
            self.helper(&block);
        }
        for item in &tree.items {
            self.attribute(item);
        }
    }

    /// Finds the blocks named `name`, whether their labels are written as labels or as nested keys.
    pub(super) fn blocks(&mut self, items: &[Item], name: &str) -> Vec<LabelledBlock> {
        let mut blocks = Vec::new();
        for item in named(items, name) {
            if let [_, label, rest @ ..] = item.keys.as_slice() {
                blocks.extend(self.block(label, rest, &item.value, name));
                continue;
            }
            for inner in self.body(&[], &item.value, name).unwrap_or_default() {
                if let [label, rest @ ..] = inner.keys.as_slice() {
                    blocks.extend(self.block(label, rest, &inner.value, name));
                }
            }
        }
        blocks
    }

    fn block(
        &mut self,
        label: &ItemKey,
        other_labels: &[ItemKey],
        node: &SpannedValue,
        name: &str,
    ) -> Option<LabelledBlock> {
        let body = self.body(other_labels, node, name)?;
        let label = label.clone();
        Some(LabelledBlock { label, body })
    }

    /// Returns the items of an object. Additional labels become nested items. In JSON, the objects of a list are merged into one.
    pub(super) fn body(
        &mut self,
        labels: &[ItemKey],
        node: &SpannedValue,
        setting: &str,
    ) -> Option<Vec<Item>> {
        if !labels.is_empty() {
            return Some(vec![Item {
                keys: labels.to_vec(),
                assigned: false,
                value: node.clone(),
            }]);
        }
        match &node.value {
            ConfigValue::Object(items) => Some(items.clone()),
            ConfigValue::List(elements) if self.is_json => {
                let bodies = elements
                    .iter()
                    .map(|element| self.body(&[], element, setting));
                Some(bodies.collect::<Option<Vec<_>>>()?.concat())
            }
            ConfigValue::Null => Some(Vec::new()),
            _ => {
                self.wrong(setting, "an object", node);
                None
            }
        }
    }

    fn label(&mut self, block: &'static str, label: &ItemKey) -> Option<Hostname> {
        let error = |source| CliConfigError::Label {
            place: Box::new(self.source.place(label.span)),
            block,
            label: label.text.clone(),
            source,
        };
        let parsed = Hostname::parse(&label.text).map_err(error);
        parsed.map_err(|error| self.out.errors.push(error)).ok()
    }

    fn host(&mut self, block: &LabelledBlock) {
        let Some(hostname) = self.label("host", &block.label) else {
            return;
        };
        let mut services = BTreeMap::new();
        for item in named(&block.body, "services") {
            let Some(entries) = self.body(&item.keys[1..], &item.value, "services") else {
                return;
            };
            for entry in entries {
                let value = match entry.value.value {
                    ConfigValue::String(url) if entry.keys.len() == 1 => Some(url),
                    ConfigValue::Null => Some(String::new()),
                    _ => None,
                };
                services.insert(entry.keys[0].text.clone(), value);
            }
        }
        let place = self.source.place(block.label.span);
        self.out
            .hosts
            .insert(hostname, HostBlock { services, place });
    }

    /// Adds a `credentials` block, and merges it with blocks that have the same label in the same file.
    fn credentials(&mut self, block: LabelledBlock) {
        let Some(hostname) = self.label("credentials", &block.label) else {
            return;
        };
        let entry = self.out.credentials.entry(hostname);
        let entry = entry.or_insert(CredentialsBlock { token: None });
        for item in block.body {
            match item.value.value {
                ConfigValue::String(token) if item.keys[0].text == "token" => {
                    entry.token = Some(token);
                }
                ConfigValue::Null if item.keys[0].text == "token" => {
                    entry.token = Some(String::new());
                }
                _ => {}
            }
        }
    }

    fn helper(&mut self, block: &LabelledBlock) {
        let mut args = Vec::new();
        for item in named(&block.body, "args") {
            match self.source.strings("args", &item.value) {
                Ok(strings) => args = strings,
                Err(error) => self.out.errors.push(error),
            }
        }
        self.out.helpers.push(HelperBlock {
            name: block.label.text.clone(),
            args,
            place: self.source.place(block.label.span),
        });
    }

    /// Decodes an attribute, or a block without labels.
    fn attribute(&mut self, item: &Item) {
        let name = item.keys[0].text.to_ascii_lowercase();
        match (name.as_str(), &item.value.value) {
            ("plugin_cache_dir", value) => match text_of(value) {
                Some(dir) => self.out.plugin_cache_dir = Some(dir.to_owned()),
                None => self.wrong(&name, "a string", &item.value),
            },
            ("plugin_cache_may_break_dependency_lock_file", ConfigValue::Bool(_)) => {}
            ("plugin_cache_may_break_dependency_lock_file", _) => {
                self.wrong(&name, "`true` or `false`", &item.value);
            }
            ("registry_protocols", ConfigValue::Object(items)) => {
                let retry_count = self.integer(items, "retry_count");
                let request_timeout_seconds = self.integer(items, "request_timeout_seconds");
                self.out.registry_protocols = RegistryProtocols {
                    retry_count,
                    request_timeout_seconds,
                };
            }
            _ => {}
        }
    }

    fn integer(&mut self, items: &[Item], name: &str) -> Option<i64> {
        let item = named(items, name).last()?;
        let number = text_of(&item.value.value).and_then(|text| text.parse().ok());
        if number.is_none() {
            self.wrong(name, "an integer", &item.value);
        }
        number
    }

    pub(super) fn wrong(&mut self, setting: &str, wanted: &'static str, found: &SpannedValue) {
        self.out
            .errors
            .push(self.source.wrong_kind(setting, wanted, found));
    }
}

/// Finds the items whose first key is `name`, ignoring case.
pub(super) fn named<'a>(items: &'a [Item], name: &str) -> impl Iterator<Item = &'a Item> {
    items
        .iter()
        .filter(move |item| item.keys[0].text.eq_ignore_ascii_case(name))
}

/// Returns the text of a string or number, or an empty string for `null`.
pub(super) fn text_of(value: &ConfigValue) -> Option<&str> {
    match value {
        ConfigValue::String(text) | ConfigValue::Number(text) => Some(text),
        ConfigValue::Null => Some(""),
        _ => None,
    }
}
