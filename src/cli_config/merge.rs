//! Several files into one configuration: the main file first, then those of the directory in name order.

use std::path::Path;

use crate::cli_config::decode::{self, FileSettings};
use crate::cli_config::{CliConfig, CliConfigError};

/// Joins files in the order in which they are added.
///
/// `host` and `credentials`: the later label wins. `plugin_cache_dir` and `registry_protocols`: the first value wins.
/// `provider_installation` and `credentials_helper`: the first block counts, each further one is an error.
#[derive(Debug, Default)]
pub struct Builder {
    config: CliConfig,
    errors: Vec<CliConfigError>,
}

impl Builder {
    /// Adds what the file at `path` says; `text` is its content.
    pub fn add(&mut self, path: &Path, text: &[u8]) {
        let file = decode::decode(path, text);
        self.errors.extend(file.errors.iter().cloned());
        self.merge(file);
    }

    /// Adds an error that came up before a file could be read.
    pub fn fail(&mut self, error: CliConfigError) {
        self.errors.push(error);
    }

    /// The configuration, and what is wrong with it.
    pub fn finish(self) -> (CliConfig, Vec<CliConfigError>) {
        (self.config, self.errors)
    }

    fn merge(&mut self, file: FileSettings) {
        let config = &mut self.config;
        config.hosts.extend(file.hosts);
        config.credentials.extend(file.credentials);
        if config.plugin_cache.dir.is_none() {
            config.plugin_cache.dir = file.plugin_cache_dir.filter(|dir| !dir.value.is_empty());
        }
        config.plugin_cache.may_break_lock_file |= file.may_break_lock_file;
        let protocols = &mut config.registry_protocols;
        let new = &file.registry_protocols;
        protocols.retry_count = protocols.retry_count.or(new.retry_count);
        protocols.request_timeout_seconds = protocols
            .request_timeout_seconds
            .or(new.request_timeout_seconds);
        let errors = &mut self.errors;
        keep_first(
            &mut config.credentials_helper,
            file.helpers,
            "credentials_helper",
            |block| &block.place,
            errors,
        );
        keep_first(
            &mut config.provider_installation,
            file.installations,
            "provider_installation",
            |block| &block.place,
            errors,
        );
    }
}

fn keep_first<T>(
    kept: &mut Option<T>,
    found: Vec<T>,
    block: &'static str,
    place: impl Fn(&T) -> &crate::span::Place,
    errors: &mut Vec<CliConfigError>,
) {
    for new in found {
        match kept {
            None => *kept = Some(new),
            Some(first) => errors.push(CliConfigError::Repeated {
                place: Box::new(place(&new).clone()),
                block,
                first: Box::new(place(first).clone()),
            }),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::cli_config::MethodKind;
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

    /// The services of `h.test`, as `id=value`.
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
            // The later block wins as a whole.
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
    fn secrets_do_not_show() {
        let (config, _) = build(&[r#"credentials "h.test" { token = "secret" }"#]);
        assert!(!format!("{config:?}").contains("secret"));
        let mut builder = Builder::default();
        builder.add(
            Path::new("a"),
            br#"credentials "h.test" { token = "secret" } }"#,
        );
        assert!(!format!("{:?}", builder.finish()).contains("secret"));
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
        assert_eq!(
            config.plugin_cache.dir.map(|dir| dir.value).as_deref(),
            Some("/one")
        );
        assert!(config.plugin_cache.may_break_lock_file);
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
            ["1.tfrc:1:20: only the first `credentials_helper` block counts; it is in 0.tfrc:1:20"]
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
                "`b_!` is no host name, so this `host` block does not count",
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

    /// The methods by name, and the errors.
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
            MethodKind::OciMirror { .. } => "oci",
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
                "oci_mirror { repository_template = \"x/${namespace}/${type}\" }",
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
            ("direct = {}", &[], "`direct` is a block and takes no `=`"),
            (
                "direct {} foo = 1",
                &["direct"],
                "`foo` is a block and takes no `=`",
            ),
            (
                "DIRECT {}",
                &[],
                "`DIRECT` is no provider installation method",
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
                "`a/b/c/d` in `dev_overrides` is no provider source",
            ),
            (
                "direct { include = \"a/b\" }",
                &[],
                "`include` must be a list of strings, not a string",
            ),
            (
                "direct { INCLUDE = [\"*/x\"] }",
                &[],
                "`*/x` is no pattern for provider addresses",
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
            ["0.tfrc:1:1: `provider_installation` is a block and takes no `=`"]
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
}
