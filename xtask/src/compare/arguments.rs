//! The arguments of `cargo xtask compare`.

use std::path::PathBuf;

use super::case::{CaseKind, ToolEngine};
use crate::tflock::project;

pub(crate) const USAGE: &str = "cargo xtask compare [--seed N] [--cases N] [--kind KIND,...] [--only N,...] \
[--engine terraform|tofu] [--jobs N] [--out DIR] [--again]";

/// What to compare.
pub(super) struct CompareArguments {
    pub(super) seed: u64,
    /// The number of cases of each kind.
    pub(super) cases: u64,
    pub(super) kinds: Vec<CaseKind>,
    /// The numbers of the cases to run and show. If empty, all cases without a result are run.
    pub(super) only: Vec<u64>,
    pub(super) engines: Vec<ToolEngine>,
    pub(super) jobs: usize,
    /// The directory of results.
    pub(super) out: PathBuf,
    /// Whether to run the cases again that differed.
    pub(super) again: bool,
}

impl CompareArguments {
    /// Parses the arguments after `compare`. Returns `None` if they are invalid.
    pub(super) fn parse(words: &[&str]) -> Option<Self> {
        let mut parsed = Self {
            seed: 1,
            cases: 100,
            kinds: CaseKind::ALL.to_vec(),
            only: Vec::new(),
            engines: ToolEngine::ALL.to_vec(),
            jobs: 2,
            out: project().join("target/compare"),
            again: false,
        };
        let mut words = words.iter();
        while let Some(&word) = words.next() {
            if word == "--again" {
                parsed.again = true;
                continue;
            }
            parsed.set(word, words.next()?)?;
        }
        Some(parsed)
    }

    fn set(&mut self, option: &str, value: &str) -> Option<()> {
        let engine = |name| {
            ToolEngine::ALL
                .into_iter()
                .find(|engine| engine.name() == name)
        };
        match option {
            "--seed" => self.seed = value.parse().ok()?,
            "--cases" => self.cases = value.parse().ok()?,
            "--kind" => {
                self.kinds = value
                    .split(',')
                    .map(CaseKind::parse)
                    .collect::<Option<_>>()?
            }
            "--only" => {
                self.only = value
                    .split(',')
                    .map(|text| text.parse().ok())
                    .collect::<Option<_>>()?
            }
            "--engine" => self.engines = vec![engine(value)?],
            "--jobs" => self.jobs = value.parse().ok().filter(|&jobs| jobs > 0)?,
            "--out" => self.out = value.into(),
            _ => return None,
        }
        Some(())
    }
}
