//! Evaluates the recorded units, and compares the result with what `terragrunt render` printed.

use serde_json::Value as Json;

use super::super::TextWithHoles;
use super::*;

fn cases() -> Vec<Json> {
    let directory = Path::new(env!("CARGO_MANIFEST_DIR")).join("testdata/conformance");
    let read = |name| fs::read_to_string(directory.join(name)).unwrap();
    let text = read("terragrunt.jsonl") + &read("terragrunt-more.jsonl");
    text.lines()
        .map(|line| serde_json::from_str(line).unwrap())
        .collect()
}

fn text(value: &Json) -> &str {
    value.as_str().unwrap_or_default()
}

/// Lays out the files of a case, and reads its unit.
fn evaluate(case: &Json) -> (Tree, Result<UnitOutcome, Vec<UnitError>>) {
    let tree = Tree::new();
    let root = tree.root().display().to_string();
    for (path, content) in case["files"].as_object().unwrap() {
        let path = format!("repo/{path}");
        match content.as_str() {
            Some(text) => tree.write(&path, &text.replace("@ROOT@", &root)),
            None => tree.make_directory(&path),
        }
    }
    if let Some(repository) = case["repo"].as_str() {
        tree.make_directory(&format!("repo/{repository}/.git"));
    }
    let environment = case["env"].as_object().into_iter().flatten();
    let environment: Vec<_> = environment
        .map(|(name, value)| (&**name, text(value)))
        .collect();
    let unit = tree.root().join("repo").join(text(&case["unit"]));
    let outcome = tree.reader(&environment).read(&unit);
    (tree, outcome)
}

/// Whether `found` is the expected text, where holes stand for any text.
fn matches(found: &TextWithHoles, expected: &str) -> bool {
    let pieces = found.holes.iter().scan(&*found.text, |rest, hole| {
        let (before, after) = rest.split_once(&hole.marker)?;
        *rest = after;
        Some(before)
    });
    let pieces: Vec<&str> = pieces.collect();
    let mut rest = expected;
    for piece in &pieces {
        match rest.split_once(piece) {
            Some((_, after)) => rest = after,
            None => return false,
        }
    }
    match found.holes.last() {
        None => found.text == expected,
        Some(last) => found
            .text
            .rsplit_once(&last.marker)
            .is_some_and(|(_, end)| rest.ends_with(end)),
    }
}

/// Compares a unit with the output of `terragrunt render`. Returns the first difference.
fn difference(unit: &Unit, render: &Json, root: &str) -> Option<String> {
    let shown = |text: &str| text.replace(root, "@ROOT@");
    let source = unit.source.as_ref().map_or("", |source| &source.text);
    if render["source"].is_string() && shown(source) != text(&render["source"]) {
        return Some(format!("source: {}", shown(source)));
    }
    let mut generated = render["generate"].as_object().into_iter().flatten();
    generated.find_map(|(label, expected)| {
        let found = unit.generated.iter().find(|file| file.label == *label);
        let is_same = found.is_some_and(|file| {
            let contents = TextWithHoles {
                text: shown(&file.contents.text),
                ..file.contents.clone()
            };
            shown(&file.path) == text(&expected["path"])
                && matches(&contents, text(&expected["contents"]))
        });
        (!is_same).then(|| format!("generate {label}: {found:?}"))
    })
}

/// The first words of the names of cases whose errors come from evaluation.
const EVALUATION: [&str; 13] = [
    "dependencies",
    "dependency",
    "feature",
    "function",
    "hooks",
    "include",
    "json",
    "locals",
    "removed",
    "skip",
    "syntax error",
    "unknown",
    "values",
];

#[test]
fn units_have_the_recorded_content() {
    let mut faults = Vec::new();
    for case in cases() {
        let name = text(&case["name"]);
        // `pre` generates the unit, and `TG_CONFIG` names another file.
        if !case["pre"].is_null() || name.contains("TG_CONFIG") {
            continue;
        }
        let (tree, outcome) = evaluate(&case);
        let root = tree.root().display().to_string();
        let has_error = !case["terraform"]["error"].is_null();
        let is_evaluated = EVALUATION.iter().any(|group| name.starts_with(group));
        let fault = match &outcome {
            Ok(UnitOutcome::Known(unit)) if has_error => (is_evaluated && case["tflock"].is_null())
                .then(|| format!("known: {:?}", unit.source)),
            Ok(UnitOutcome::Known(unit)) => difference(unit, &case["render"], &root),
            _ if has_error => None,
            Ok(UnitOutcome::Unknown(unknown)) => Some(unknown.to_string()),
            Ok(UnitOutcome::Template { .. }) => Some("a template".to_owned()),
            Err(errors) => Some(described(errors)),
        };
        faults.extend(fault.map(|fault| format!("{name}: {fault}")));
    }
    assert!(faults.is_empty(), "{}", faults.join("\n"));
}
