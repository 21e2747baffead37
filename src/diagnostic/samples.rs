//! A diagnostic for the tests of this module.

use super::*;

#[derive(Debug, thiserror::Error)]
#[error("`~>` needs a number in every part")]
struct Cause;

#[derive(Debug, thiserror::Error)]
#[error("cannot read version constraint `>= 1.2, ~> 3.x.y`")]
struct SampleError {
    place: Option<Place>,
    source: Cause,
}

impl Explain for SampleError {
    fn place(&self) -> Option<&Place> {
        self.place.as_ref()
    }

    fn hint(&self) -> Option<String> {
        Some("write a number.".to_owned())
    }
}

pub(super) fn diagnostic(place: Option<Place>, directory: &str) -> Diagnostic {
    let source = Cause;
    Diagnostic::of(&SampleError { place, source }, Path::new(directory))
}
