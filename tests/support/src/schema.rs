//! Checks JSON documents against their schemas.

use serde_json::{Value, json};

/// Fails unless `value` matches `schema`. Supports only the part of JSON Schema that tflock's schemas use. Unlike JSON
/// Schema, it rejects fields that the schema does not mention.
#[track_caller]
pub fn assert_described(value: &Value, schema: &Value) {
    check(value, schema, schema, "");
}

#[track_caller]
fn check(value: &Value, schema: &Value, root: &Value, path: &str) {
    if let Some(reference) = schema["$ref"].as_str() {
        let target = root.pointer(reference.trim_start_matches('#'));
        let target = target.unwrap_or_else(|| panic!("{path}: no {reference}"));
        return check(value, target, root, path);
    }
    if let Some([null, other]) = schema["anyOf"].as_array().map(Vec::as_slice) {
        assert_eq!(null["type"], "null");
        if !value.is_null() {
            check(value, other, root, path);
        }
        return;
    }
    if let Some(allowed) = schema["enum"].as_array() {
        assert!(allowed.contains(value), "{path}: {value}");
        return;
    }
    if let Some(constant) = schema.get("const") {
        assert_eq!(value, constant, "{path}");
        return;
    }
    let types = schema["type"].as_array().cloned();
    let types = types.unwrap_or_else(|| vec![schema["type"].clone()]);
    let kind = kind(value, &types);
    assert!(
        types.contains(&json!(kind)),
        "{path}: {value} is not of {types:?}"
    );
    for (index, item) in value.as_array().into_iter().flatten().enumerate() {
        check(item, &schema["items"], root, &format!("{path}/{index}"));
    }
    let Some(object) = value.as_object() else {
        return;
    };
    for name in schema["required"].as_array().into_iter().flatten() {
        let is_there = name.as_str().is_some_and(|name| object.contains_key(name));
        assert!(is_there, "{path}: no {name}");
    }
    for (name, item) in object {
        let property = schema["properties"].get(name);
        let property = property.unwrap_or_else(|| panic!("{path}: `{name}` is not described"));
        check(item, property, root, &format!("{path}/{name}"));
    }
}

/// Returns the type of a value. The type of an integer is `number` if `types` contains `number`.
fn kind(value: &Value, types: &[Value]) -> &'static str {
    match value {
        Value::Null => "null",
        Value::Bool(_) => "boolean",
        Value::Number(number) if number.is_u64() && !types.contains(&json!("number")) => "integer",
        Value::Number(_) => "number",
        Value::String(_) => "string",
        Value::Array(_) => "array",
        Value::Object(_) => "object",
    }
}
