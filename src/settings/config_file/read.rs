//! From the text of a config file to its values. The first thing wrong in the order of the text is told.

use std::ops::Range;
use std::path::Path;

use regex::Regex;
use toml::Spanned;
use toml::de::{DeTable, DeValue};

use crate::locking::{Mismatch, Missing, Signers};
use crate::provider::{Engine, Platform};
use crate::settings::sourced::{Origin, Sourced};
use crate::settings::{Create, MAX_JOBS};
use crate::span::{Place, Span};

use super::{ConfigFile, ConfigFileError, ValueError};

type Value<'a> = Spanned<DeValue<'a>>;

/// Reads the text of the file that messages call `shown`.
pub(super) fn parse(shown: &Path, bytes: &[u8]) -> Result<ConfigFile, ConfigFileError> {
    let text = std::str::from_utf8(bytes).map_err(|error| {
        let end = error.valid_up_to();
        ConfigFileError::Syntax {
            problem: "it is not UTF-8".to_owned(),
            place: Box::new(Place::in_text(shown, bytes, Span::new(end, end))),
        }
    })?;
    let reader = Reader { shown, text };
    let table = DeTable::parse(text).map_err(|error| ConfigFileError::Syntax {
        problem: error.message().to_owned(),
        place: Box::new(reader.place(error.span().unwrap_or_default())),
    })?;
    let mut file = ConfigFile {
        shown: shown.to_path_buf(),
        ..ConfigFile::default()
    };
    for (key, value) in in_order(table.get_ref()) {
        reader.key(&mut file, key.get_ref(), key.span(), value)?;
    }
    Ok(file)
}

/// The entries as they are written; the parser sorts them.
fn in_order<'t, 'a>(
    table: &'t DeTable<'a>,
) -> Vec<(&'t Spanned<std::borrow::Cow<'a, str>>, &'t Value<'a>)> {
    let mut entries: Vec<_> = table.iter().collect();
    entries.sort_by_key(|(key, _)| key.span().start);
    entries
}

struct Reader<'a> {
    shown: &'a Path,
    text: &'a str,
}

impl Reader<'_> {
    fn place(&self, range: Range<usize>) -> Place {
        let span = Span::new(range.start, range.end);
        Place::in_text(self.shown, self.text.as_bytes(), span)
    }

    fn key(
        &self,
        file: &mut ConfigFile,
        key: &str,
        range: Range<usize>,
        value: &Value<'_>,
    ) -> Result<(), ConfigFileError> {
        let place = self.place(range.clone());
        match key {
            "platforms" => file.platforms = said(place, self.platforms(value)?),
            "ignore-paths" => file.ignore_paths = said(place, self.patterns(value)?),
            "create" => file.create = said(place, self.create(value)?),
            "engine" => file.engine = said(place, self.engine(value)?),
            "missing-platform" => {
                file.missing_platform = said(place, self.missing("missing-platform", value)?);
            }
            "missing-module" => {
                file.missing_module = said(place, self.missing("missing-module", value)?);
            }
            "mismatch" => file.mismatch = said(place, self.mismatch(value)?),
            "prune" => file.prune = said(place, self.truth("prune", value)?),
            "jobs" => file.jobs = said(place, self.jobs(value)?),
            "signers" => file.signers = said(place, self.signers(value)?),
            _ => {
                return Err(ConfigFileError::UnknownKey {
                    key: key.to_owned(),
                    place: Box::new(place),
                });
            }
        }
        Ok(())
    }

    fn platforms(&self, value: &Value<'_>) -> Result<Vec<Platform>, ConfigFileError> {
        const KEY: &str = "platforms";
        let texts = self.strings(KEY, value)?;
        if texts.is_empty() {
            return Err(self.wrong(KEY, value, ValueError::Empty));
        }
        let mut platforms = Vec::new();
        for (text, item) in texts {
            let platform =
                Platform::parse(text).map_err(|error| self.wrong(KEY, item, error.into()))?;
            if !platforms.contains(&platform) {
                platforms.push(platform);
            }
        }
        Ok(platforms)
    }

    fn patterns(&self, value: &Value<'_>) -> Result<Vec<Regex>, ConfigFileError> {
        const KEY: &str = "ignore-paths";
        let texts = self.strings(KEY, value)?.into_iter();
        let patterns = texts.map(|(text, item)| {
            let wrong = |error| self.wrong(KEY, item, ValueError::Pattern(Box::new(error)));
            Regex::new(text).map_err(wrong)
        });
        patterns.collect()
    }

    fn create(&self, value: &Value<'_>) -> Result<Create, ConfigFileError> {
        let words = [
            ("auto", Create::Auto),
            ("always", Create::Always),
            ("never", Create::Never),
        ];
        self.word("create", value, &words)
    }

    fn engine(&self, value: &Value<'_>) -> Result<Option<Engine>, ConfigFileError> {
        let words = [
            ("auto", None),
            ("terraform", Some(Engine::Terraform)),
            ("tofu", Some(Engine::Tofu)),
        ];
        self.word("engine", value, &words)
    }

    fn missing(&self, key: &'static str, value: &Value<'_>) -> Result<Missing, ConfigFileError> {
        let words = [("error", Missing::Error), ("warn", Missing::Warn)];
        self.word(key, value, &words)
    }

    fn mismatch(&self, value: &Value<'_>) -> Result<Mismatch, ConfigFileError> {
        match value.get_ref().as_str() {
            Some(text @ ("add" | "replace")) => Err(ConfigFileError::LoosensTrust {
                text: text.to_owned(),
                place: Box::new(self.place(value.span())),
            }),
            _ => self.word("mismatch", value, &[("error", Mismatch::Error)]),
        }
    }

    fn truth(&self, key: &'static str, value: &Value<'_>) -> Result<bool, ConfigFileError> {
        let truth = value.get_ref().as_bool();
        truth.ok_or_else(|| self.type_error(key, "true or false", value))
    }

    fn jobs(&self, value: &Value<'_>) -> Result<u16, ConfigFileError> {
        const KEY: &str = "jobs";
        let number = value.get_ref().as_integer();
        let number = number.ok_or_else(|| self.type_error(KEY, "a whole number", value))?;
        u16::from_str_radix(number.as_str(), number.radix())
            .ok()
            .filter(|jobs| (1..=MAX_JOBS).contains(jobs))
            .ok_or_else(|| self.wrong(KEY, value, ValueError::Range(MAX_JOBS)))
    }

    fn signers(&self, value: &Value<'_>) -> Result<Signers, ConfigFileError> {
        let expected = "a table, as `[signers]`";
        let table = value.get_ref().as_table();
        let table = table.ok_or_else(|| self.type_error("signers", expected, value))?;
        let mut signers = Signers::default();
        for (pattern, fingerprints) in in_order(table) {
            let texts = self.strings(pattern.get_ref(), fingerprints)?;
            let texts = texts.into_iter().map(|(text, _)| text);
            let place = self.place(pattern.span());
            signers
                .pin(pattern.get_ref(), texts, Some(place.clone()))
                .map_err(|source| ConfigFileError::Signers {
                    source,
                    place: Box::new(place),
                })?;
        }
        Ok(signers)
    }

    /// The strings of an array, each with its value for messages.
    fn strings<'v>(
        &self,
        key: &str,
        value: &'v Value<'_>,
    ) -> Result<Vec<(&'v str, &'v Value<'v>)>, ConfigFileError> {
        let expected = "a list of strings, as `[\"...\"]`";
        let items = value.get_ref().as_array();
        let items = items.ok_or_else(|| self.type_error(key, expected, value))?;
        let string = |item: &'v Value<'v>| {
            let text = item.get_ref().as_str();
            let text = text.ok_or_else(|| self.type_error(key, expected, item))?;
            Ok((text, item))
        };
        items.iter().map(string).collect()
    }

    fn word<T: Copy>(
        &self,
        key: &'static str,
        value: &Value<'_>,
        words: &[(&'static str, T)],
    ) -> Result<T, ConfigFileError> {
        let text = value.get_ref().as_str();
        let text = text.ok_or_else(|| self.type_error(key, "a string", value))?;
        let known = words.iter().find(|(word, _)| *word == text);
        known.map(|(_, meaning)| *meaning).ok_or_else(|| {
            let words = words.iter().map(|(word, _)| *word).collect();
            self.wrong(key, value, ValueError::Word(words))
        })
    }

    fn wrong(&self, key: &'static str, value: &Value<'_>, source: ValueError) -> ConfigFileError {
        ConfigFileError::Value {
            key,
            text: self.text.get(value.span()).unwrap_or_default().to_owned(),
            source,
            place: Box::new(self.place(value.span())),
        }
    }

    fn type_error(&self, key: &str, expected: &'static str, value: &Value<'_>) -> ConfigFileError {
        ConfigFileError::Type {
            key: key.to_owned(),
            expected,
            found: match value.get_ref() {
                DeValue::String(_) => "a string",
                DeValue::Integer(_) => "a number",
                DeValue::Float(_) => "a fraction",
                DeValue::Boolean(_) => "true or false",
                DeValue::Datetime(_) => "a date",
                DeValue::Array(_) => "a list",
                DeValue::Table(_) => "a table",
            },
            place: Box::new(self.place(value.span())),
        }
    }
}

#[expect(
    clippy::unnecessary_wraps,
    reason = "all fields of a config file are optional"
)]
fn said<T>(place: Place, value: T) -> Option<Sourced<T>> {
    Some(Sourced {
        value,
        origin: Origin::File(place),
    })
}
