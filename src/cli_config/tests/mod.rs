//! Tests of whole CLI configuration files: the syntax of their blocks, merging, and errors.

mod hosts;
mod installation;
mod oci;

use std::path::Path;

use super::*;
use crate::provider::{Engine, Hostname, ProviderAddr};
use crate::span::Explain as _;

fn build(files: &[&str]) -> (CliConfig, Vec<String>) {
    let mut builder = Builder::default();
    for (index, text) in files.iter().enumerate() {
        builder.add(Path::new(&format!("{index}.tfrc")), text.as_bytes());
    }
    let (config, errors) = builder.finish();
    let errors = errors.iter().map(|error| match error.place() {
        Some(place) => format!("{place}: {error}"),
        None => error.to_string(),
    });
    (config, errors.collect())
}

fn host(text: &str) -> Hostname {
    Hostname::parse(text).expect("a host")
}

#[test]
fn files_are_merged_by_the_rules_of_each_setting() {
    let (config, errors) = build(&[
        "plugin_cache_dir = \"\"\ncredentials \"h.test\" { token = \"1\" }\nhost \"h.test\" { services { a = \"1\" } }",
        "plugin_cache_dir = \"/one\"\nhost \"h.test\" { services { b = \"2\" } }\nregistry_protocols { retry_count = 0 }",
        "plugin_cache_dir = \"/two\"\ncredentials \"h.test\" {}\nplugin_cache_may_break_dependency_lock_file = true",
        "registry_protocols { retry_count = 5 request_timeout_seconds = 7 }\nplugin_cache_may_break_dependency_lock_file = false",
    ]);
    assert_eq!(errors, [""; 0]);
    assert_eq!(config.plugin_cache_dir.as_deref(), Some("/one"));
    assert_eq!(config.credentials[&host("h.test")].token, None);
    assert!(config.hosts[&host("h.test")].services.keys().eq(["b"]));
    assert_eq!(config.registry_protocols.retry_count, Some(0));
    assert_eq!(config.registry_protocols.request_timeout_seconds, Some(7));
}

#[test]
fn helpers_count_once() {
    let (config, errors) = build(&[
        "credentials_helper \"a\" {\n args = [\"x\", 5]\n}",
        "credentials_helper \"b\" {}",
    ]);
    let helper = config.credentials_helper.expect("a helper");
    assert_eq!(
        (helper.name.as_str(), helper.args),
        ("a", vec!["x".to_owned(), "5".to_owned()])
    );
    assert_eq!(
        errors,
        ["1.tfrc:1:20: only the first `credentials_helper` block is used; it is at 0.tfrc:1:20"]
    );
}

#[test]
fn a_broken_file_loses_everything_and_a_broken_setting_only_itself() {
    let good = "credentials \"h.test\" { token = \"t\" }\n";
    let (config, errors) = build(&[&format!("{good}x = ["), good]);
    assert_eq!(config.credentials.len(), 1);
    assert_eq!(
        errors,
        [
            "0.tfrc:2:6: cannot parse the CLI configuration: expected a value, found the end of the file"
        ]
    );
    let rows = [
        (
            "plugin_cache_dir = []",
            "`plugin_cache_dir` must be a string, not a list",
        ),
        (
            "plugin_cache_may_break_dependency_lock_file = \"true\"",
            "`plugin_cache_may_break_dependency_lock_file` must be `true` or `false`, not a string",
        ),
        (
            "host \"a.test\" { services = [{}] }",
            "`services` must be an object, not a list",
        ),
        (
            "host \"b_!\" {}",
            "`b_!` is not a valid host name, so this `host` block is ignored",
        ),
        (
            "credentials_helper \"a\" { args = \"x\" }",
            "`args` must be a list of strings, not a string",
        ),
        (
            "registry_protocols { retry_count = \"x\" }",
            "`retry_count` must be an integer, not a string",
        ),
    ];
    for (text, expected) in rows {
        let (config, errors) = build(&[&format!("{text}\n{good}")]);
        assert_eq!(config.credentials.len(), 1, "{text}");
        assert_eq!(errors.len(), 1, "{text}: {errors:?}");
        assert!(errors[0].ends_with(expected), "{text}: {errors:?}");
    }
}

#[test]
fn a_byte_order_mark_and_broken_text_are_errors() {
    for text in [&b"\xef\xbb\xbfx = 1"[..], b"# \xff"] {
        let mut builder = Builder::default();
        builder.add(Path::new("a"), text);
        assert!(matches!(
            builder.finish().1[..],
            [CliConfigError::Syntax { .. }]
        ));
    }
}
