//! Tests of the blocks for OCI registries.

use super::*;
use crate::oci::CredentialSource;

#[test]
fn repository_templates() {
    let anvil = ProviderAddr::parse("h.test:8080/acme/anvil", Engine::Tofu).expect("an address");
    for (template, include, expected) in [
        (
            "r.test/${hostname}/x",
            "\"*/*/*\"",
            "it must contain `${namespace}`, unless `include` has exactly one namespace",
        ),
        (
            "r.test/${hostname}/${namespace}",
            "",
            "it must contain `${type}`, unless `include` has exactly one type",
        ),
        (
            "r.test/${namespace}/${type}",
            "",
            "it must contain `${hostname}`, unless `include` has exactly one hostname",
        ),
        (
            "r.test/${namespace}/${type}",
            "\"acme/*\", \"registry.opentofu.org/*/*\"",
            "r.test/acme/anvil",
        ),
        (
            "r.test/${namespace}/${type}",
            "\"acme/*\", \"h.test/*/*\"",
            "it must contain `${hostname}`",
        ),
        ("r.test/x", "\"acme/anvil\"", "r.test/x"),
        (
            "r.test/%{ if namespace == \\\"acme\\\" }own%{ else }${namespace}%{ endif }/${type}",
            "\"acme/*\"",
            "r.test/own/anvil",
        ),
        (
            "${hostname}/${namespace}/${type}",
            "",
            "h.test:8080/acme/anvil",
        ),
        (
            "r.test/${hostname}/${namespace}/${type}",
            "",
            "`h.test:8080/acme/anvil` is not a valid repository name",
        ),
        (
            "r.test/${name}/${type}",
            "\"acme/*\"",
            "`name` is not available: only `hostname`, `namespace` and `type` are",
        ),
        (
            "r.test/${upper(type)}",
            "\"acme/*\"",
            "function calls are not allowed here, but `upper()` is one",
        ),
        (
            "r.test/${type.x}",
            "\"acme/*\"",
            "`type` is a string, which has no attributes",
        ),
        (
            "r.test/${type",
            "\"acme/*\"",
            "cannot parse the CLI configuration",
        ),
        (
            "https://r.test/${type}",
            "\"acme/*\"",
            "`https:` is not a valid registry",
        ),
        (
            "r.test/${type}:latest",
            "\"acme/*\"",
            "`example-type:latest` is not a valid repository name",
        ),
        (
            "${type}",
            "\"acme/*\"",
            "`example-type` has no repository name after the registry",
        ),
        (
            "",
            "",
            "a `oci_mirror` block needs a string `repository_template`",
        ),
    ] {
        let (config, errors) = build(&[&format!(
            "provider_installation {{\n oci_mirror {{\n repository_template = \"{template}\"\n include = [{include}]\n}}\n}}"
        )]);
        let block = config.provider_installation;
        let methods = block.map(|block| block.methods).unwrap_or_default();
        let found = match methods.first().map(|method| &method.kind) {
            Some(MethodKind::OciMirror(template)) => match template.expand(&anvil) {
                Ok(address) => address.to_string(),
                Err(problem) => problem,
            },
            _ => errors.concat(),
        };
        assert!(found.contains(expected), "{template}: {found}");
    }
}

#[test]
fn credentials_blocks() {
    let one_group = "it must set `username` and `password`, or `access_token` and `refresh_token`, or `docker_credentials_helper`";
    let no_name = "`docker_credentials_helper` must be the part of a program name after `docker-credential-`, without a directory";
    for (label, arguments, expected) in [
        ("h.test", "username = \"u\"\npassword = \"p\"", ""),
        ("h.test:5000/a/b", "username = \"u\"\npassword = \"\"", ""),
        ("h.test", "access_token = \"a\"\nrefresh_token = \"\"", ""),
        ("h.test", "docker_credentials_helper = \"osxkeychain\"", ""),
        ("h.test", "", one_group),
        ("h.test", "username = \"u\"", one_group),
        ("h.test", "username = \"\"\npassword = \"p\"", one_group),
        ("h.test", "access_token = \"a\"", one_group),
        (
            "h.test",
            "username = \"u\"\npassword = \"p\"\naccess_token = \"a\"\nrefresh_token = \"r\"",
            one_group,
        ),
        (
            "h.test",
            "username = []\npassword = \"p\"",
            "`username` must be a string, not a list",
        ),
        ("h.test", "docker_credentials_helper = \"a/b\"", no_name),
        ("h.test", "docker_credentials_helper = \"\"", no_name),
        (
            "h.test/a",
            "docker_credentials_helper = \"x\"",
            "`docker_credentials_helper` needs a label without a path, because a helper has credentials for whole registries",
        ),
        (
            "https://h.test",
            "username = \"u\"\npassword = \"p\"",
            "`https:` is not a valid registry: it must be a host name with an optional port",
        ),
    ] {
        let block = format!("oci_credentials \"{label}\" {{\n{arguments}\n}}");
        let (config, errors) = build(&[&block]);
        let expected = match expected {
            "" => String::new(),
            problem => format!("0.tfrc:1:17: this `oci_credentials` block is ignored: {problem}"),
        };
        assert_eq!(errors.concat(), expected, "{block}");
        assert_eq!(
            config.oci_credentials.len(),
            usize::from(expected.is_empty())
        );
    }
}

#[test]
fn repeated_blocks_and_json() {
    let (config, errors) = build(&[
        "oci_credentials \"h.test\" {\n docker_credentials_helper = \"a\"\n}\noci_default_credentials {\n docker_credentials_helper = \"x\"\n}",
        "oci_credentials \"h.test\" {\n docker_credentials_helper = \"b\"\n}\noci_default_credentials {\n discover_ambient_credentials = false\n}",
        r#"{"oci_credentials": {"h.test/a": {"username": "u", "password": "p"}}, "oci_default_credentials": {}}"#,
    ]);
    let first = &config.oci_credentials[0];
    assert_eq!(first.source, CredentialSource::Helper("a".to_owned()));
    assert_eq!(config.oci_credentials.len(), 2);
    assert_eq!(
        config.oci_defaults.expect("a block").helper.as_deref(),
        Some("x")
    );
    assert_eq!(
        errors,
        [
            "1.tfrc:1:17: only the first `oci_credentials` block is used; it is at 0.tfrc:1:17",
            "1.tfrc:4:1: only the first `oci_default_credentials` block is used; it is at 0.tfrc:4:1",
            "2.tfrc:1:71: only the first `oci_default_credentials` block is used; it is at 0.tfrc:4:1",
        ]
    );
    for (body, expected) in [
        (
            "discover_ambient_credentials = false\ndocker_style_config_files = []",
            "`docker_style_config_files` has no effect if `discover_ambient_credentials` is `false`",
        ),
        (
            "discover_ambient_credentials = \"no\"",
            "`discover_ambient_credentials` must be `true` or `false`",
        ),
        (
            "docker_style_config_files = \"x\"",
            "`docker_style_config_files` must be a list of strings, not a string",
        ),
        ("docker_credentials_helper = \"a/b\"", "without a directory"),
    ] {
        let (config, errors) = build(&[&format!("oci_default_credentials {{\n{body}\n}}")]);
        assert!(config.oci_defaults.is_none());
        assert!(errors.concat().contains(expected), "{body}: {errors:?}");
    }
    let (config, _) = build(&[
        "oci_default_credentials {\n docker_style_config_files = [\"x.json\", \"/y.json\"]\n}",
    ]);
    let files = config.oci_defaults.expect("a block").files.expect("files");
    assert_eq!(files, [Path::new("x.json"), Path::new("/y.json")]);
}
