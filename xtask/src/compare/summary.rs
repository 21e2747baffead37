//! Prints the number of cases of each kind and verdict.

use std::collections::BTreeMap;
use std::path::Path;
use std::process::ExitCode;

use super::results::CompareResults;

/// Prints the counts of all results and the messages of the differences. Fails if there are differences.
pub(super) fn print(results: &CompareResults, directory: &Path) -> ExitCode {
    let mut counts: BTreeMap<_, BTreeMap<_, usize>> = BTreeMap::new();
    let mut reasons: BTreeMap<_, usize> = BTreeMap::new();
    let mut differences = 0;
    for ((tool, kind, _), verdict) in results.iter() {
        let (word, text) = verdict.words();
        *counts
            .entry((tool, kind))
            .or_default()
            .entry(word)
            .or_default() += 1;
        if !text.is_empty() && word != "both-refuse" {
            *reasons.entry((tool, word, text)).or_default() += 1;
        }
        differences += usize::from(verdict.is_difference());
    }
    for ((tool, kind), counts) in counts {
        let total: usize = counts.values().sum();
        let counts: Vec<_> = counts
            .iter()
            .map(|(word, count)| format!("{word} {count}"))
            .collect();
        println!(
            "{tool:18} {:12} {total:6}: {}",
            kind.name(),
            counts.join(", ")
        );
    }
    for ((tool, word, text), count) in reasons {
        println!("{tool:18} {word} {count}: {text}");
    }
    println!("{differences} differences in {}", directory.display());
    if differences > 0 {
        ExitCode::FAILURE
    } else {
        ExitCode::SUCCESS
    }
}
