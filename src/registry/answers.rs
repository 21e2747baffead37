//! Answers of registries and mirrors, with what is needed to say what is wrong with them.

use std::time::SystemTime;

use bytes::Bytes;
use reqwest::StatusCode;
use reqwest::header::{HeaderMap, LAST_MODIFIED};
use url::Url;

use crate::registry::discovery::ServiceUrl;
use crate::registry::error::RegistryError;
use crate::registry::fault::{Fault, RequestError};
use crate::registry::fetch::Answer;
use crate::registry::metadata::AnswerError;
use crate::registry::wire;

/// A document, and when its server last changed it.
#[derive(Clone)]
pub(super) struct Document {
    pub(super) body: Bytes,
    pub(super) modified: Option<SystemTime>,
}

/// What a server says of the age of a document.
pub(super) fn modified(headers: &HeaderMap) -> Option<SystemTime> {
    let date = headers.get(LAST_MODIFIED)?.to_str().ok()?;
    httpdate::parse_http_date(date).ok()
}

/// An answer of a mirror, or the lack of one.
pub(super) struct MirrorAnswer {
    pub(super) answer: Result<Answer, RequestError>,
    pub(super) with_token: bool,
}

/// An answer of a registry, with the way to it.
pub(super) struct ServiceAnswer {
    pub(super) answer: Answer,
    /// What was asked, before redirects.
    pub(super) url: Url,
    pub(super) service: ServiceUrl,
}

impl ServiceAnswer {
    /// The body as JSON.
    pub(super) fn json<'a, T: serde::Deserialize<'a>>(&'a self) -> Result<T, RequestError> {
        wire::read(self.body()?)
            .map_err(|error: serde_json::Error| self.refused(self.answer.json_fault(&error)))
    }

    /// The body, which some statuses do not have.
    pub(super) fn body(&self) -> Result<&[u8], RequestError> {
        match self.answer.status {
            StatusCode::NO_CONTENT => Err(self.refused(self.answer.status_fault())),
            _ => Ok(&self.answer.body),
        }
    }

    /// The error of a body that is no answer.
    pub(super) fn unusable(
        &self,
        error: AnswerError,
        failed: impl Fn(RequestError) -> RegistryError,
    ) -> RegistryError {
        match error {
            AnswerError::Json(error) => failed(self.refused(self.answer.json_fault(&error))),
            AnswerError::Content(error) => *error,
        }
    }

    /// The request with what is wrong with its answer.
    pub(super) fn refused(&self, fault: Fault) -> RequestError {
        RequestError {
            configured: self.service.configured.clone(),
            ..self.answer.refused(&self.url, fault)
        }
    }
}
