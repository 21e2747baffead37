//! Compares the results of the real tool and of tflock.

use super::case::{Operation, ToolEngine};

/// The result of one program.
#[derive(Clone, Debug, Default)]
pub(super) struct ToolResult {
    pub(super) accepted: bool,
    /// Whether the program ended in an unusual way, such as a panic.
    pub(super) crashed: bool,
    /// The lock file, or the value of an expression.
    pub(super) lock: String,
    /// Everything that the program printed. For a value of tflock: the expression.
    pub(super) message: String,
}

impl ToolResult {
    /// Returns the first line of the first error.
    pub(super) fn headline(&self) -> String {
        if self.crashed {
            return "crash".to_owned();
        }
        let after = |start: &str| self.message.split_once(start).map(|(_, rest)| rest);
        let error = after("Error: ")
            .or_else(|| after("error: "))
            .unwrap_or(&self.message);
        error.lines().next().unwrap_or_default().trim().to_owned()
    }

    /// Returns the message on one line, without the frame around errors.
    fn flat_message(&self) -> String {
        let text = self.message.replace(['│', '╷', '╵'], " ");
        text.split_whitespace().collect::<Vec<_>>().join(" ")
    }
}

/// How a case ended.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Verdict {
    /// Both programs accept the case, and the results are the same.
    Same,
    /// Both programs refuse the case: the first line of the real tool's error.
    BothRefuse(String),
    /// Only one of the programs deliberately reports an error, so the difference is accepted. Contains the part of the message that
    /// identifies the error.
    Tolerated(String),
    /// Both accept the case, and the results differ.
    ResultsDiffer,
    /// Only the real tool refuses the case: the first line of its error.
    OnlyToolRefuses(String),
    /// Only tflock refuses the case: the first line of its error.
    OnlyTflockRefuses(String),
    TflockCrashed,
}

impl Verdict {
    pub(super) fn is_difference(&self) -> bool {
        !matches!(self, Self::Same | Self::BothRefuse(_) | Self::Tolerated(_))
    }

    /// Returns the name of the verdict and the text that it contains, for the file of results.
    pub(super) fn words(&self) -> (&'static str, &str) {
        match self {
            Self::Same => ("same", ""),
            Self::BothRefuse(headline) => ("both-refuse", headline),
            Self::Tolerated(reason) => ("tolerated", reason),
            Self::ResultsDiffer => ("results-differ", ""),
            Self::OnlyToolRefuses(headline) => ("only-tool-refuses", headline),
            Self::OnlyTflockRefuses(headline) => ("only-tflock-refuses", headline),
            Self::TflockCrashed => ("tflock-crashed", ""),
        }
    }

    /// Parses the name and text that [`Verdict::words`] returned.
    pub(super) fn parse(word: &str, text: &str) -> Option<Self> {
        let text = text.to_owned();
        Some(match word {
            "same" => Self::Same,
            "both-refuse" => Self::BothRefuse(text),
            "tolerated" => Self::Tolerated(text),
            "results-differ" => Self::ResultsDiffer,
            "only-tool-refuses" => Self::OnlyToolRefuses(text),
            "only-tflock-refuses" => Self::OnlyTflockRefuses(text),
            "tflock-crashed" => Self::TflockCrashed,
            _ => return None,
        })
    }

    /// Returns whether two verdicts show the same difference, apart from names in messages.
    pub(super) fn is_like(&self, other: &Self) -> bool {
        let (own, others) = (self.words(), other.words());
        own.0 == others.0 && without_names(own.1) == without_names(others.1)
    }
}

/// Returns the parts of a message outside of quotes.
fn without_names(message: &str) -> String {
    message.split(['`', '"']).step_by(2).collect()
}

/// Compares the results of the real tool and of tflock.
pub(super) fn judge(
    operation: Operation,
    engine: ToolEngine,
    results: &[ToolResult; 2],
) -> Verdict {
    let [tool, tflock] = results;
    match (tool.accepted, tflock.accepted) {
        _ if tflock.crashed => Verdict::TflockCrashed,
        (true, true)
            if comparable(operation, &tool.lock) == comparable(operation, &tflock.lock) =>
        {
            Verdict::Same
        }
        (true, true) => match tolerated("tflock", tflock) {
            Some(reason) => Verdict::Tolerated(reason),
            None => Verdict::ResultsDiffer,
        },
        (false, false) if operation == Operation::Lock && !same_constraints(tool, tflock) => {
            Verdict::ResultsDiffer
        }
        (false, false) => Verdict::BothRefuse(tool.headline()),
        (true, false) => match tolerated("tflock", tflock) {
            Some(reason) => Verdict::Tolerated(reason),
            None => Verdict::OnlyTflockRefuses(tflock.headline()),
        },
        (false, true) => match tolerated(engine.name(), tool) {
            Some(reason) => Verdict::Tolerated(reason),
            None => Verdict::OnlyToolRefuses(tool.headline()),
        },
    }
}

/// Returns whether both messages show the same canonical constraints. True unless both say that no version matches.
fn same_constraints(tool: &ToolResult, tflock: &ToolResult) -> bool {
    let (tool, tflock) = (tool.flat_message(), tflock.flat_message());
    let Some((_, constraints)) = tool.split_once("match the given constraints ") else {
        return true;
    };
    let constraints = constraints.split(" - ").next().unwrap_or_default();
    let constraints = constraints.trim_end_matches('.');
    let own = "match the constraints `";
    !tflock.contains(own) || tflock.contains(&format!("{own}{constraints}`"))
}

/// Returns the part of a lock file on which the tools must agree after an operation. Header, comments and constraints are left out
/// for `init`, which does not write a file if only these would change.
fn comparable(operation: Operation, lock: &str) -> String {
    if operation == Operation::Lock {
        return lock.to_owned();
    }
    let is_relevant = |line: &&str| {
        let line = line.trim();
        !line.is_empty() && !line.starts_with(['#', '/']) && !line.starts_with("constraints")
    };
    let lines = lock.lines().filter(is_relevant);
    let words = lines.map(|line| line.split_whitespace().collect::<Vec<_>>().join(" ") + "\n");
    words.collect()
}

/// The errors that only one of the programs deliberately reports. Each line has the program (`both` means both real tools), a part of
/// the message, and the reason.
const TOLERATED: &str = include_str!("tolerated.txt");

fn tolerated(program: &str, result: &ToolResult) -> Option<String> {
    let message = result.flat_message();
    let rows = TOLERATED.lines().filter(|line| !line.starts_with("//"));
    let mut rows = rows.filter_map(|line| {
        let mut columns = line.split('|').map(str::trim);
        Some((columns.next()?, columns.next()?, columns.next()?))
    });
    rows.find_map(|(programs, part, _)| {
        let applies = programs == program || (programs == "both" && program != "tflock");
        (applies && message.contains(part)).then(|| part.to_owned())
    })
}
