//! Reduces a case to the parts that show its difference.

use super::case::{GeneratedCase, ToolEngine};
use super::site::CompareSite;
use super::verdict::{Verdict, judge};

/// The maximum number of smaller cases to run.
const ATTEMPTS: usize = 60;

/// Removes files and parts of files while the difference stays the same.
pub(super) fn minimize(
    site: &CompareSite,
    case: &GeneratedCase,
    engine: ToolEngine,
    verdict: &Verdict,
) -> GeneratedCase {
    let mut smallest = case.clone();
    let mut attempts = 0;
    let mut number = 0;
    while let Some(smaller) = without(&smallest, number) {
        if attempts == ATTEMPTS {
            break;
        }
        attempts += 1;
        let found = judge(smaller.operation, engine, &site.run(&smaller, engine));
        if found.is_like(verdict) {
            smallest = smaller;
        } else {
            number += 1;
        }
    }
    smallest
}

/// Returns the case without the part with this number, or `None` if there is no such part. Each file is a part. The parts of its
/// content follow it, and the values of variables are last.
fn without(case: &GeneratedCase, mut number: usize) -> Option<GeneratedCase> {
    let mut smaller = case.clone();
    for (index, file) in case.files.iter().enumerate() {
        if number == 0 {
            smaller.files.remove(index);
            return Some(smaller);
        }
        number -= 1;
        let parts = file.parts();
        if number < parts {
            smaller.files[index] = file.without(number);
            return Some(smaller);
        }
        number -= parts;
    }
    if number < case.values.len() {
        smaller.values.remove(number);
        return Some(smaller);
    }
    None
}
