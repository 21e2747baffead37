//! Tests of `provider_installation` blocks, in HCL 1 and JSON.

use super::*;

/// Returns the names of the methods, and the errors.
fn methods(body: &str) -> (Vec<&'static str>, Vec<String>) {
    let (config, errors) = build(&[body]);
    let methods = config
        .provider_installation
        .map(|block| block.methods)
        .unwrap_or_default();
    let names = methods.iter().map(|method| match &method.kind {
        MethodKind::Direct => "direct",
        MethodKind::FilesystemMirror { .. } => "filesystem",
        MethodKind::NetworkMirror { .. } => "network",
        MethodKind::OciMirror(_) => "oci",
    });
    (names.collect(), errors)
}

#[test]
fn provider_installation_is_strict_about_its_form() {
    let rows: &[(&str, &[&str], &str)] = &[
        ("direct {}", &["direct"], ""),
        (
            "filesystem_mirror { path = \"/x\" unknown = 1 } direct { exclude = [\"a/b\"] }",
            &["filesystem", "direct"],
            "",
        ),
        (
            "network_mirror { url = \"https://a\" trust_all_hashes = true }",
            &["network"],
            "",
        ),
        (
            "oci_mirror { repository_template = \"x/${hostname}/${namespace}/${type}\" }",
            &["oci"],
            "",
        ),
        (
            "dev_overrides { \"a/b\" = \"/x\" } direct {}",
            &["direct"],
            "",
        ),
        ("", &[], ""),
        ("direct \"x\" {}", &[], "a `direct` block takes no labels"),
        ("direct = {}", &[], "a `direct` block takes no `=`"),
        (
            "direct {} foo = 1",
            &["direct"],
            "a `foo` block takes no `=`",
        ),
        (
            "DIRECT {}",
            &[],
            "`DIRECT` is not a provider installation method",
        ),
        (
            "filesystem_mirror {}",
            &[],
            "a `filesystem_mirror` block needs a string `path`",
        ),
        (
            "filesystem_mirror { path = \"\" } direct {}",
            &["direct"],
            "a `filesystem_mirror` block needs a string `path`",
        ),
        (
            "network_mirror { url = \"http://a/\" }",
            &[],
            "the `url` of a network mirror must begin with `https://` and name a host",
        ),
        (
            "direct {} dev_overrides {}",
            &["direct"],
            "`dev_overrides` must come before all other methods",
        ),
        (
            "dev_overrides { \"a/b/c/d\" = \"/x\" }",
            &[],
            "`a/b/c/d` in `dev_overrides` is not a provider source",
        ),
        (
            "direct { include = \"a/b\" }",
            &[],
            "`include` must be a list of strings, not a string",
        ),
        (
            "direct { INCLUDE = [\"*/x\"] }",
            &[],
            "`*/x` is not a valid provider pattern",
        ),
    ];
    for (body, expected, problem) in rows {
        let (found, errors) = methods(&format!("provider_installation {{ {body} }}"));
        assert_eq!(found, *expected, "{body}");
        match errors.first() {
            Some(error) => assert!(error.ends_with(problem), "{body}: {error}"),
            None => assert_eq!(*problem, "", "{body}"),
        }
    }
    let labelled = methods("provider_installation \"x\" { direct {} }");
    assert_eq!(
        labelled.1,
        ["0.tfrc:1:23: a `provider_installation` block takes no labels"]
    );
    let assigned = methods("provider_installation = { direct {} }");
    assert_eq!(
        assigned.1,
        ["0.tfrc:1:1: a `provider_installation` block takes no `=`"]
    );
    let twice = methods("provider_installation { direct {} }\nprovider_installation {}");
    assert_eq!((twice.0.len(), twice.1.len()), (1, 1));
}

#[test]
fn provider_installation_in_json() {
    let text = r#"{"provider_installation":[{"direct":[{"include":["a/b"]},{"exclude":["c/*"]}],"filesystem_mirror":{"path":"/x"}}]}"#;
    assert_eq!(
        methods(text),
        (vec!["direct", "direct", "filesystem"], Vec::new())
    );
    let (config, _) = build(&[text]);
    let methods = config.provider_installation.expect("a block").methods;
    let address = ProviderAddr::parse("c/d", Engine::Terraform).expect("an address");
    let matching: Vec<_> = methods
        .iter()
        .map(|method| method.selector.matches(&address, Engine::Terraform))
        .collect();
    assert_eq!(matching, [false, false, true]);
}
