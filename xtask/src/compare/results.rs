//! The file of results, which makes runs resumable.

use std::collections::BTreeMap;
use std::fs::{self, File, OpenOptions};
use std::io::Write as _;
use std::path::Path;
use std::sync::Mutex;

use super::case::CaseKind;
use super::verdict::Verdict;

/// The tool with its version, the kind of a case, and the number of the case.
pub(super) type ResultKey = (String, CaseKind, u64);

/// The verdicts so far, in memory and in a file to which each new verdict is appended.
pub(super) struct CompareResults {
    known: BTreeMap<ResultKey, Verdict>,
    file: Mutex<File>,
}

impl CompareResults {
    /// Reads the results of earlier runs. Later lines replace earlier ones.
    pub(super) fn open(path: &Path) -> Self {
        let text = fs::read_to_string(path).unwrap_or_default();
        let known = text.lines().filter_map(parse).collect();
        let file = OpenOptions::new().create(true).append(true).open(path);
        let file = Mutex::new(file.expect("the directory of results is writable"));
        Self { known, file }
    }

    /// Returns the verdict of an earlier run.
    pub(super) fn get(&self, key: &ResultKey) -> Option<&Verdict> {
        self.known.get(key)
    }

    pub(super) fn iter(&self) -> impl Iterator<Item = (&ResultKey, &Verdict)> {
        self.known.iter()
    }

    /// Appends a verdict to the file.
    pub(super) fn record(&self, (tool, kind, number): &ResultKey, verdict: &Verdict) {
        let (word, text) = verdict.words();
        let line = format!(
            "{tool}\t{}\t{number}\t{word}\t{}\n",
            kind.name(),
            text.replace('\t', " ")
        );
        let mut file = self.file.lock().expect("not poisoned");
        file.write_all(line.as_bytes())
            .expect("the file of results is writable");
    }
}

fn parse(line: &str) -> Option<(ResultKey, Verdict)> {
    let columns: Vec<_> = line.split('\t').collect();
    let [tool, kind, number, word, text] = columns[..] else {
        return None;
    };
    let key = (
        tool.to_owned(),
        CaseKind::parse(kind)?,
        number.parse().ok()?,
    );
    Some((key, Verdict::parse(word, text)?))
}
