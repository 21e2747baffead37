//! Compares the values of expressions. One run of `console` evaluates many of them.

use std::fs::File;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use tflock::functions::evaluate_alone;
use tflock::provider::Engine;
use tflock::syntax::Value;

use super::case::ToolEngine;
use super::site::CompareSite;
use super::verdict::ToolResult;

/// The value of an expression that fails while it is evaluated.
const FAILED: &str = "!";

/// The number of expressions in one run.
pub(super) const BATCH: usize = 40;

/// Evaluates expressions with the real tool and with tflock.
pub(super) fn evaluate(
    site: &CompareSite,
    texts: &[String],
    engine: ToolEngine,
) -> Vec<[ToolResult; 2]> {
    let wrapped: Vec<_> = texts
        .iter()
        .map(|text| format!("try(jsonencode({text}), \"{FAILED}\")"))
        .collect();
    let tool = evaluate_with_tool(site, &wrapped, engine);
    let own = wrapped.iter().map(|text| evaluate_here(text, engine));
    tool.into_iter()
        .zip(own)
        .map(|(tool, own)| [tool, own])
        .collect()
}

fn evaluate_here(text: &str, engine: ToolEngine) -> ToolResult {
    let engine = match engine {
        ToolEngine::Terraform => Engine::Terraform,
        ToolEngine::Tofu => Engine::Tofu,
    };
    match evaluate_alone(text, engine) {
        // The value does not show why it differs, so rows of `tolerated.txt` match the expression.
        Ok(Value::String(lock)) => ToolResult {
            message: text.to_owned(),
            ..accepted(lock)
        },
        Ok(value) => refused(format!("the value is {}", value.type_name())),
        Err(fault) => refused(format!("error: {:?}", fault.problem)),
    }
}

/// Runs `console` on all expressions. If that fails, runs it on each half, so that one error does not hide other values.
fn evaluate_with_tool(site: &CompareSite, texts: &[String], engine: ToolEngine) -> Vec<ToolResult> {
    let locals = texts.iter().enumerate();
    let locals: String = locals
        .map(|(index, text)| format!("  v{index} = {text}\n"))
        .collect();
    site.write_for_tool("main.tf", &format!("locals {{\n{locals}}}\n"));
    let names: Vec<_> = (0..texts.len())
        .map(|index| format!("local.v{index}"))
        .collect();
    let question = format!("base64encode(jsonencode([{}]))\n", names.join(", "));
    let question = site.write_for_tool("question", &question);
    let question = File::open(question).expect("the file was written");
    let outcome = site.tool(engine, &["console"], &[]).stdin(question).run();
    if let Some(values) = outcome
        .code
        .filter(|&code| code == 0)
        .and_then(|_| decoded(&outcome.stdout))
    {
        return values.into_iter().map(accepted).collect();
    }
    if texts.len() == 1 {
        return vec![refused(format!("{}{}", outcome.stdout, outcome.stderr))];
    }
    let (first, second) = texts.split_at(texts.len() / 2);
    let mut results = evaluate_with_tool(site, first, engine);
    results.extend(evaluate_with_tool(site, second, engine));
    results
}

/// Decodes what `console` prints: a JSON list of strings in base64, in which no character needs an escape.
fn decoded(printed: &str) -> Option<Vec<String>> {
    let json = STANDARD.decode(printed.trim().trim_matches('"')).ok()?;
    serde_json::from_slice(&json).ok()
}

fn accepted(lock: String) -> ToolResult {
    ToolResult {
        accepted: true,
        lock,
        ..ToolResult::default()
    }
}

fn refused(message: String) -> ToolResult {
    ToolResult {
        message,
        ..ToolResult::default()
    }
}
