//! Parses config files. Only the first mistake in a file is reported.

use std::borrow::Cow;
use std::ops::Range;
use std::path::Path;

use toml::Spanned;
use toml::de::DeTable;

use crate::locking::Signers;
use crate::options::{RejectedValue, Rejection, Sourced, TomlValue, ValueOrigin, strings};
use crate::span::{Place, Span};

use super::{ConfigFile, ConfigFileError};

/// Parses the content of a config file. Messages refer to the file as `shown`.
pub(super) fn parse(shown: &Path, bytes: &[u8]) -> Result<ConfigFile, ConfigFileError> {
    let text = std::str::from_utf8(bytes).map_err(|error| {
        let end = error.valid_up_to();
        ConfigFileError::Syntax {
            problem: "it is not UTF-8".to_owned(),
            place: Box::new(Place::in_text(shown, bytes, Span::new(end, end))),
        }
    })?;
    let source = ConfigText { shown, text };
    let table = DeTable::parse(text).map_err(|error| ConfigFileError::Syntax {
        problem: error.message().to_owned(),
        place: Box::new(source.place(error.span().unwrap_or_default())),
    })?;
    let mut file = ConfigFile {
        shown: shown.to_path_buf(),
        ..ConfigFile::default()
    };
    for (key, value) in in_order(table.get_ref()) {
        source.set(&mut file, key, value)?;
    }
    Ok(file)
}

/// Returns the entries of a table in the order in which they are written. The parser sorts them by key.
fn in_order<'t, 'a>(table: &'t DeTable<'a>) -> Vec<(&'t Spanned<Cow<'a, str>>, &'t TomlValue<'a>)> {
    let mut entries: Vec<_> = table.iter().collect();
    entries.sort_by_key(|(key, _)| key.span().start);
    entries
}

/// A config file that is being decoded, and its path as shown in messages.
struct ConfigText<'a> {
    shown: &'a Path,
    text: &'a str,
}

impl ConfigText<'_> {
    fn place(&self, range: Range<usize>) -> Place {
        let span = Span::new(range.start, range.end);
        Place::in_text(self.shown, self.text.as_bytes(), span)
    }

    fn set(
        &self,
        file: &mut ConfigFile,
        key: &Spanned<Cow<'_, str>>,
        value: &TomlValue<'_>,
    ) -> Result<(), ConfigFileError> {
        let place = self.place(key.span());
        let name = key.get_ref();
        let origin = ValueOrigin::File(place.clone());
        if name == "signers" {
            let value = self.signers(value)?;
            file.signers = Some(Sourced { value, origin });
            return Ok(());
        }
        let is_known = file.options.set(name, value, origin);
        if is_known.map_err(|rejected| self.error(name, rejected))? {
            return Ok(());
        }
        let (key, place) = (name.to_string(), Box::new(place));
        Err(match key.to_lowercase() {
            lower if lower.starts_with("index") => ConfigFileError::Index { key, place },
            _ => ConfigFileError::UnknownKey { key, place },
        })
    }

    fn signers(&self, value: &TomlValue<'_>) -> Result<Signers, ConfigFileError> {
        let table = value.get_ref().as_table().ok_or_else(|| {
            let rejected = RejectedValue::wrong_type(value, "a table, as in `[signers]`");
            self.error("signers", rejected)
        })?;
        let mut signers = Signers::default();
        for (pattern, fingerprints) in in_order(table) {
            let texts = strings(fingerprints)
                .map_err(|rejected| self.error(pattern.get_ref(), rejected))?
                .into_iter()
                .map(|(text, _)| text);
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

    fn error(&self, key: &str, rejected: RejectedValue) -> ConfigFileError {
        let RejectedValue { span, rejection } = rejected;
        let key = key.to_owned();
        let text = self.text.get(span.clone()).unwrap_or_default().to_owned();
        let place = Box::new(self.place(span));
        match rejection {
            Rejection::Type { expected, found } => ConfigFileError::Type {
                key,
                expected,
                found,
                place,
            },
            Rejection::Invalid(source) => ConfigFileError::Value {
                key,
                text,
                source,
                place,
            },
            Rejection::LoosensTrust => ConfigFileError::LoosensTrust { key, text, place },
        }
    }
}
