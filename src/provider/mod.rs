//! Vocabulary: the words of the field as types. Pure: no files, no network, no clock.

mod engine;

pub use engine::Engine;
