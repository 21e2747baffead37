//! Tests of `host` and `credentials` blocks.

use super::*;

/// Returns the services of `h.test`, as `id=value`.
fn services(text: &str) -> Vec<String> {
    let (config, errors) = build(&[text]);
    assert!(errors.is_empty(), "{text}: {errors:?}");
    let services = config
        .hosts
        .get(&host("h.test"))
        .map(|block| block.services.clone());
    let shown = services
        .unwrap_or_default()
        .into_iter()
        .map(|(id, value)| match value {
            Some(value) => format!("{id}={value}"),
            None => format!("{id}!"),
        });
    shown.collect()
}

#[test]
fn host_blocks_in_all_their_forms() {
    let rows: &[(&str, &[&str])] = &[
        (
            r#"host "h.test" { services = { "providers.v1" = "x" } }"#,
            &["providers.v1=x"],
        ),
        (
            r#"host "h.test" { services { providers.v1 = "x" } }"#,
            &["providers.v1=x"],
        ),
        (
            r#"host = { "h.test" = { services { providers.v1 = "x" } } }"#,
            &["providers.v1=x"],
        ),
        (
            r#"host { h.test { services { providers.v1 = "x" } } }"#,
            &["providers.v1=x"],
        ),
        (
            r#"HOST "H.Test:443" { Services = { "providers.v1" = "x" } }"#,
            &["providers.v1=x"],
        ),
        (
            r#"{"host":{"h.test":{"services":{"providers.v1":"x"}}}}"#,
            &["providers.v1=x"],
        ),
        (
            r#"{"host":[{"h.test":[{"services":[{"providers.v1":"x"}]}]}]}"#,
            &["providers.v1=x"],
        ),
        (
            r#"host "h.test" { services { providers.v1 = "${x}" } }"#,
            &["providers.v1=${x}"],
        ),
        (
            "host \"h.test\" { services { providers.v1 = <<E\nx\nE\n} }",
            &["providers.v1=x\n"],
        ),
        (
            r#"host "h.test" { services { providers.v1 = 5 } }"#,
            &["providers.v1!"],
        ),
        (
            r#"host "h.test" "q" { services { providers.v1 = "x" } }"#,
            &[],
        ),
        (
            r#"host "h.test" { services { a = "x" } services { a = "y" b = "z" } }"#,
            &["a=y", "b=z"],
        ),
        // A later block replaces an earlier one completely.
        (
            r#"host "h.test" { services { a = "x" } } host "h.test" { services { b = "y" } }"#,
            &["b=y"],
        ),
        (
            r#"unknown "x" { y = [1] } other = 3 host "h.test" { services { a = "x" } z = 1 }"#,
            &["a=x"],
        ),
    ];
    for (text, expected) in rows {
        assert_eq!(services(text), *expected, "{text}");
    }
}

#[test]
fn credentials_blocks_in_all_their_forms() {
    let rows = [
        (r#"credentials "h.test" { token = "t" }"#, Some(Some("t"))),
        (
            r#"credentials = { "h.test" = { token = "t" } }"#,
            Some(Some("t")),
        ),
        (
            r#"{"credentials":{"h.test":{"token":"t"}}}"#,
            Some(Some("t")),
        ),
        (
            r#"{"credentials":{"h.test":{"token":null}}}"#,
            Some(Some("")),
        ),
        (r#"credentials "h.test" {}"#, Some(None)),
        (r#"credentials "h.test" { token = 12 }"#, Some(None)),
        (
            r#"credentials "h.test" { token = "$X ${y}" }"#,
            Some(Some("$X ${y}")),
        ),
        (
            r#"credentials "h.test" { token = "a" token = "b" }"#,
            Some(Some("b")),
        ),
        (
            r#"credentials "h.test" { token = "a" } credentials "h.test" {}"#,
            Some(Some("a")),
        ),
        (r#"credentials "x.test" { token = "t" }"#, None),
    ];
    for (text, expected) in rows {
        let (config, errors) = build(&[text]);
        let found = config
            .credentials
            .get(&host("h.test"))
            .map(|block| block.token.as_deref());
        assert_eq!((found, errors.len()), (expected, 0), "{text}");
    }
}

#[test]
fn secrets_are_not_shown() {
    let (config, _) = build(&[r#"credentials "h.test" { token = "secret" }"#]);
    assert!(!format!("{config:?}").contains("secret"));
    let mut builder = Builder::default();
    builder.add(
        Path::new("a"),
        br#"credentials "h.test" { token = "secret" } }"#,
    );
    assert!(!format!("{:?}", builder.finish()).contains("secret"));
}
