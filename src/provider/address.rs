//! Provider source addresses: `[HOST/]NAMESPACE/TYPE`, or `TYPE` alone.
//!
//! The host defaults to the engine's registry, and the namespace to `hashicorp`. Namespace and type are each normalized like
//! one DNS label with the IDNA lookup profile and stored in Unicode, so `T/P` and `t/ｐ` (full-width) become `t/p`. Lock files
//! never contain built-in providers, which are part of the engine, or legacy providers, whose namespace is `-`.

use std::fmt;

use idna::uts46::{AsciiDenyList, Hyphens, Uts46};

use super::error::{AddressError, AddressProblem};
use super::{Engine, Hostname};

/// The default namespace, for a source that consists only of a type.
const DEFAULT_NAMESPACE: &str = "hashicorp";
/// The namespace of addresses from old Terraform versions without namespaces.
const LEGACY_NAMESPACE: &str = "-";
/// The namespace of providers that are part of the engine, on the engine's own host.
const BUILT_IN_NAMESPACE: &str = "builtin";
/// The host of built-in providers, in Terraform and OpenTofu.
const BUILT_IN_HOST: &str = "terraform.io";
/// The host of built-in providers that exist in OpenTofu only.
const TOFU_BUILT_IN_HOST: &str = "opentofu.org";
/// The ASCII characters that are invalid in a namespace: those that STD3 forbids, except `_`.
const DENIED_IN_NAMESPACE: AsciiDenyList =
    AsciiDenyList::new(true, "!\"#$%&'()*+,/:;<=>?@[\\]^`{|}~");
/// Repository name prefixes that users mistake for part of the type. Longer ones come first. The prefixes with an engine are rejected
/// only by that engine.
const REDUNDANT_PREFIXES: [(&str, Option<Engine>); 4] = [
    ("terraform-provider-", None),
    ("terraform-", None),
    ("opentofu-provider-", Some(Engine::Tofu)),
    ("opentofu-", Some(Engine::Tofu)),
];

/// A complete, normalized address. Addresses are ordered by host (in its ASCII form), namespace and type, as in a lock file.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct ProviderAddr {
    pub hostname: Hostname,
    /// The publisher, in Unicode.
    pub namespace: String,
    /// The provider's name within the namespace, in Unicode.
    pub type_name: String,
}

impl ProviderAddr {
    /// Parses the `source` of a required provider.
    pub fn parse(source: &str, engine: Engine) -> Result<Self, AddressError> {
        parse_source(source, engine).map_err(|problem| AddressError {
            source_text: source.to_owned(),
            problem,
        })
    }

    /// Returns the address of a provider that is declared with a local name but no `source`. The name `terraform` means the
    /// engine's built-in provider.
    pub fn implied(local_name: &str, engine: Engine) -> Result<Self, AddressError> {
        let build = || {
            let type_name = normalize_part(local_name)?;
            let (host, namespace) = match type_name.as_str() {
                "terraform" => (BUILT_IN_HOST, BUILT_IN_NAMESPACE),
                _ => (engine.default_host(), DEFAULT_NAMESPACE),
            };
            Ok(Self {
                hostname: Hostname::parse(host)?,
                namespace: namespace.to_owned(),
                type_name,
            })
        };
        build().map_err(|problem| AddressError {
            source_text: local_name.to_owned(),
            problem,
        })
    }

    /// Whether the provider is part of the engine.
    pub fn is_built_in(&self, engine: Engine) -> bool {
        let host = self.hostname.as_ascii();
        self.namespace == BUILT_IN_NAMESPACE
            && (host == BUILT_IN_HOST || (engine == Engine::Tofu && host == TOFU_BUILT_IN_HOST))
    }

    /// Whether this is a legacy address, as in Terraform versions without namespaces. The engine ignores such providers. They exist
    /// only on the engine's default host.
    pub fn is_legacy(&self, engine: Engine) -> bool {
        self.namespace == LEGACY_NAMESPACE && self.hostname.as_ascii() == engine.default_host()
    }

    /// Whether the engine records the provider in a lock file.
    pub fn is_lockable(&self, engine: Engine) -> bool {
        !self.is_built_in(engine) && !self.is_legacy(engine)
    }
}

fn parse_source(source: &str, engine: Engine) -> Result<ProviderAddr, AddressProblem> {
    let parts: Vec<&str> = source.split('/').collect();
    if parts.iter().any(|part| part.is_empty()) {
        return Err(AddressProblem::EmptyPart);
    }
    let (host, namespace, type_name) = match parts[..] {
        [type_name] => (engine.default_host(), DEFAULT_NAMESPACE, type_name),
        [namespace, type_name] => (engine.default_host(), namespace, type_name),
        [host, namespace, type_name] => (host, namespace, type_name),
        _ => return Err(AddressProblem::TooManyParts(parts.len())),
    };
    let hostname = Hostname::parse(host)?;
    let namespace = if namespace == LEGACY_NAMESPACE {
        check_legacy_host(&hostname, engine)?;
        namespace.to_owned()
    } else {
        normalize_namespace(namespace, engine)?
    };
    let type_name = normalize_part(type_name)?;
    let is_refused = |(prefix, only): &(&str, Option<Engine>)| {
        only.is_none_or(|only| only == engine) && type_name.starts_with(prefix)
    };
    // Terraform and OpenTofu accept a redundant prefix in a source without a namespace, and then cannot read the lock file that they
    // write.
    if let Some((prefix, _)) = REDUNDANT_PREFIXES.into_iter().find(is_refused) {
        return Err(AddressProblem::RedundantPrefix {
            suggestion: suggest(&parts[..parts.len() - 1], &type_name[prefix.len()..]),
            prefix,
        });
    }
    Ok(ProviderAddr {
        hostname,
        namespace,
        type_name,
    })
}

/// Returns the source without the redundant prefix, or `None` if the type consists only of the prefix.
fn suggest(before: &[&str], type_name: &str) -> Option<String> {
    let mut parts = before.to_vec();
    parts.push(type_name);
    (!type_name.is_empty()).then(|| parts.join("/"))
}

fn check_legacy_host(hostname: &Hostname, engine: Engine) -> Result<(), AddressProblem> {
    if hostname.as_ascii() == engine.default_host() {
        return Ok(());
    }
    Err(AddressProblem::LegacyHost {
        host: hostname.clone(),
        default: engine.default_host(),
    })
}

/// Normalizes a namespace. Since Terraform 1.16, a namespace may contain underscores, but not as its first or last character. OpenTofu
/// permits none.
fn normalize_namespace(namespace: &str, engine: Engine) -> Result<String, AddressProblem> {
    if engine == Engine::Tofu {
        return normalize_part(namespace);
    }
    let is_valid = |name: &str| !name.starts_with('_') && !name.ends_with('_');
    let normalized = normalize_label(namespace, DENIED_IN_NAMESPACE);
    let valid = normalized.filter(|name| is_valid(namespace) && is_valid(name));
    valid.ok_or_else(|| {
        if namespace.contains('_') {
            AddressProblem::BadNamespace(namespace.to_owned())
        } else {
            AddressProblem::BadPart(namespace.to_owned())
        }
    })
}

/// Normalizes a type, or a namespace by the rules of OpenTofu.
fn normalize_part(part: &str) -> Result<String, AddressProblem> {
    normalize_label(part, AsciiDenyList::STD3)
        .ok_or_else(|| AddressProblem::BadPart(part.to_owned()))
}

/// Normalizes a namespace or type. `None` if it is invalid. Dots and double hyphens are invalid both before and after the mapping.
/// Terraform and OpenTofu do not check again after the mapping, so full-width characters can make them write an address that they
/// cannot read.
fn normalize_label(part: &str, denied: AsciiDenyList) -> Option<String> {
    let is_valid = |part: &str| !part.is_empty() && !part.contains('.') && !part.contains("--");
    if !is_valid(part) {
        return None;
    }
    let (unicode, valid) =
        Uts46::new().to_unicode(part.as_bytes(), denied, Hyphens::CheckFirstLast);
    (valid.is_ok() && is_valid(&unicode)).then(|| unicode.into_owned())
}

impl fmt::Display for ProviderAddr {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}/{}/{}", self.hostname, self.namespace, self.type_name)
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::provider::HostnameError;
    use crate::span::Explain;

    const BOTH: [Engine; 2] = [Engine::Terraform, Engine::Tofu];

    /// Parses a source and displays the address, with `DEFAULT` for the engine's default host.
    fn shown(source: &str, engine: Engine) -> String {
        let address = ProviderAddr::parse(source, engine)
            .unwrap_or_else(|error| panic!("{error}: {}", error.problem));
        address
            .to_string()
            .replace(engine.default_host(), "DEFAULT")
    }

    #[test]
    fn sources_are_normalized() {
        for (source, expected) in [
            ("p", "DEFAULT/hashicorp/p"),
            ("P", "DEFAULT/hashicorp/p"),
            ("T/p", "DEFAULT/t/p"),
            ("t/P", "DEFAULT/t/p"),
            ("t/ｐ", "DEFAULT/t/p"), // full-width
            ("t/É", "DEFAULT/t/é"),
            ("t/e\u{301}", "DEFAULT/t/é"), // decomposed
            ("t/ß", "DEFAULT/t/ß"),
            ("t/a\u{ad}b", "DEFAULT/t/ab"), // a soft hyphen disappears
            ("t/xn-a", "DEFAULT/t/xn-a"),
            ("host:8080/t/p", "host:8080/t/p"),
            ("localhost/t/p", "localhost/t/p"),
            ("127.0.0.1/t/p", "127.0.0.1/t/p"),
            ("bücher.example/t/p", "bücher.example/t/p"),
            ("terraform", "DEFAULT/hashicorp/terraform"), // an ordinary provider when written as a source
            ("hashicorp/terraform", "DEFAULT/hashicorp/terraform"),
            ("terraform-provider-t/p", "DEFAULT/terraform-provider-t/p"), // only types are checked
            ("tofu_x".trim_end_matches("_x"), "DEFAULT/hashicorp/tofu"),
            ("-/p", "DEFAULT/-/p"),
            ("t/1x", "DEFAULT/t/1x"),
        ] {
            for engine in BOTH {
                assert_eq!(shown(source, engine), expected, "{source}");
            }
        }
        let long = "a".repeat(64);
        let found = shown(&format!("t/{long}"), Engine::Terraform);
        assert_eq!(found, format!("DEFAULT/t/{long}"));
        for host in [
            "Registry.Terraform.IO",
            "registry.terraform.io:443",
            "registry.terraform.io:0443",
        ] {
            let source = &format!("{host}/T/P");
            assert_eq!(shown(source, Engine::Terraform), "DEFAULT/t/p");
            assert_eq!(shown(source, Engine::Tofu), "registry.terraform.io/t/p");
        }
    }

    #[test]
    fn invalid_sources_are_errors() {
        use AddressProblem::{BadPart, EmptyPart, Hostname, RedundantPrefix, TooManyParts};
        let bad = |part: &str| BadPart(part.into());
        let bad_port = |port: &str| Hostname(HostnameError::BadPort(port.into()));
        let punycode = Hostname(HostnameError::Punycode("xn--caf-dma".into()));
        let redundant = |prefix, suggestion: &str| RedundantPrefix {
            prefix,
            suggestion: Some(suggestion.into()),
        };
        for (source, problem) in [
            ("", EmptyPart),
            ("t/p/", EmptyPart),
            ("/t/p", EmptyPart),
            ("t//p", EmptyPart),
            ("https://h/t/p", EmptyPart),
            ("a/b/c/d", TooManyParts(4)),
            ("registry.terraform.io/t", bad("registry.terraform.io")),
            ("t/p_q", bad("p_q")),
            ("t/p.q", bad("p.q")),
            ("t/p--q", bad("p--q")),
            ("t/-p", bad("-p")),
            ("t/p-", bad("p-")),
            ("t/p ", bad("p ")),
            ("t/a\u{200d}b", bad("a\u{200d}b")), // a zero-width joiner
            ("t/xn--dma", bad("xn--dma")),
            ("t/a。b", bad("a。b")), // maps to a dot: the engines write an address that they cannot read
            ("t/a－－b", bad("a－－b")), // maps to hyphens, with the same result
            ("t/\u{ad}", bad("\u{ad}")), // maps to the empty string
            ("--/p", bad("--")),
            ("-/-", bad("-")),
            ("t/terraform-p", redundant("terraform-", "t/p")),
            ("terraform-p", redundant("terraform-", "p")),
            (
                "t/terraform-provider-p",
                redundant("terraform-provider-", "t/p"),
            ),
            (
                "h.test/T/Terraform-P",
                redundant("terraform-", "h.test/T/p"),
            ),
            ("xn--caf-dma.com/t/p", punycode),
            ("a..b/t/p", Hostname(HostnameError::EmptyLabel)),
            ("h:99999/t/p", bad_port("99999")),
            ("h:/t/p", bad_port("")),
            ("h:x/t/p", bad_port("x")),
            ("[::1]/t/p", bad_port(":1]")),
        ] {
            for engine in BOTH {
                let error = ProviderAddr::parse(source, engine).expect_err(source);
                assert_eq!(error.problem, problem, "{source}");
                assert_eq!(error.source_text, source);
            }
        }
    }

    #[test]
    fn tofu_also_refuses_its_own_name_as_a_prefix() {
        for (source, prefix) in [
            ("t/opentofu-p", "opentofu-"),
            ("t/opentofu-provider-p", "opentofu-provider-"),
            ("opentofu-p", "opentofu-"),
        ] {
            assert!(
                ProviderAddr::parse(source, Engine::Terraform).is_ok(),
                "{source}"
            );
            let error = ProviderAddr::parse(source, Engine::Tofu).expect_err(source);
            let message = format!("the type must not start with `{prefix}`");
            assert_eq!(error.problem.to_string(), message, "{source}");
        }
        assert!(ProviderAddr::parse("t/opentofu", Engine::Tofu).is_ok());
    }

    #[test]
    fn terraform_allows_underscores_inside_a_namespace() {
        for (source, expected) in [
            ("t_x/p", "DEFAULT/t_x/p"),
            ("T_X/p", "DEFAULT/t_x/p"),
            ("h.test/a__b/p", "h.test/a__b/p"),
            ("a_-b/p", "DEFAULT/a_-b/p"),
            ("a-_b/p", "DEFAULT/a-_b/p"),
            ("1_2/p", "DEFAULT/1_2/p"),
            ("t_É/p", "DEFAULT/t_é/p"),
            ("t＿x/p", "DEFAULT/t_x/p"), // full-width
        ] {
            assert_eq!(shown(source, Engine::Terraform), expected, "{source}");
            let error = ProviderAddr::parse(source, Engine::Tofu).expect_err(source);
            assert!(
                matches!(error.problem, AddressProblem::BadPart(_)),
                "{source}"
            );
        }
        // The full-width underscore at the start and the digit in parentheses map to names that Terraform writes but cannot read.
        for namespace in [
            "_x", "x_", "_", "a_b--c", "a_b.c", "t_x!", "a-_", "-_a", "xn--a_b", "a_=", "＿x",
            "t_⑴",
        ] {
            let source = format!("{namespace}/p");
            assert!(
                ProviderAddr::parse(&source, Engine::Terraform).is_err(),
                "{source}"
            );
        }
        let error = ProviderAddr::parse("t_x/p_q", Engine::Terraform).expect_err("a type");
        assert_eq!(error.problem, AddressProblem::BadPart("p_q".into()));
    }

    #[test]
    fn errors_have_the_source_the_cause_and_a_hint() {
        let rows = [
            "https://h/t/p|a source address must not have empty parts|write a source as `HOST/NAMESPACE/TYPE`, without `https://`",
            "t/terraform-p|the type must not start with `terraform-`|write `t/p`",
            "t/terraform-provider-p|the type must not start with `terraform-provider-`|write `t/p`",
            "t/terraform-provider-terraform-p|the type must not start with `terraform-provider-`|write `t/terraform-p`",
            "h.test/t|`h.test` must consist of letters, digits and single inner hyphens|to include a host, write three parts: \
             `HOST/NAMESPACE/TYPE`",
            "h/t/p.q|`p.q` must consist of letters, digits and single inner hyphens|",
            "t/p_q|`p_q` must consist of letters, digits and single inner hyphens|",
            "_t/p|`_t` must consist of letters, digits, single inner hyphens and inner underscores|",
            "h:x/t/p|`x` is not a valid port (0 to 65535)|",
            "example.com/-/p|the namespace `-` exists only on `registry.terraform.io`, not on `example.com`|",
        ];
        for row in rows {
            let [source, cause, hint] = row.split('|').collect::<Vec<_>>()[..] else {
                panic!("{row}");
            };
            let error = ProviderAddr::parse(source, Engine::Terraform).expect_err(source);
            let message = format!("cannot read provider source address `{source}`");
            assert_eq!(error.to_string(), message);
            assert_eq!(error.problem.to_string(), cause);
            assert_eq!(error.hint().unwrap_or_default(), hint, "{source}");
        }
    }

    #[test]
    fn some_addresses_are_never_locked() {
        // Columns: source; whether it is built in for Terraform; for OpenTofu.
        for (source, terraform, tofu) in [
            ("terraform.io/builtin/terraform", true, true),
            ("terraform.io/Builtin/foo", true, true),
            ("opentofu.org/builtin/foo", false, true),
            ("terraform.io/t/foo", false, false),
            ("example.com/builtin/foo", false, false),
            ("builtin/foo", false, false),
            ("opentofu.org/t/foo", false, false),
        ] {
            for (engine, expected) in [(Engine::Terraform, terraform), (Engine::Tofu, tofu)] {
                let address = ProviderAddr::parse(source, engine).unwrap();
                let found = (address.is_built_in(engine), address.is_lockable(engine));
                assert_eq!(found, (expected, !expected), "{source} in {engine}");
                assert!(!address.is_legacy(engine));
            }
        }
    }

    #[test]
    fn legacy_addresses_belong_to_the_default_host() {
        for (engine, other) in [
            (Engine::Terraform, Engine::Tofu),
            (Engine::Tofu, Engine::Terraform),
        ] {
            let with_port = format!("{}:443/-/p", engine.default_host());
            for source in ["-/p".to_owned(), with_port] {
                let address = ProviderAddr::parse(&source, engine).unwrap();
                assert!(address.is_legacy(engine) && !address.is_lockable(engine));
                assert!(!address.is_legacy(other));
            }
            for host in [other.default_host(), "example.com"] {
                let error = ProviderAddr::parse(&format!("{host}/-/p"), engine).expect_err(host);
                let is_expected = matches!(error.problem, AddressProblem::LegacyHost { .. });
                assert!(is_expected, "{host}");
            }
        }
    }

    #[test]
    fn local_names_imply_addresses() {
        for engine in BOTH {
            let implied = |name| ProviderAddr::implied(name, engine).unwrap();
            assert!(implied("terraform").is_built_in(engine));
            assert_eq!(implied("Terraform"), implied("terraform"));
            let parsed = |source| ProviderAddr::parse(source, engine).unwrap();
            let built_in = "terraform.io/builtin/terraform";
            assert_eq!(implied("terraform").to_string(), built_in);
            assert_eq!(implied("tofu"), parsed("hashicorp/tofu"));
            assert_eq!(implied("AWS"), parsed("aws"));
            // The prefix is an error only in an explicit source.
            assert_eq!(implied("terraform-x").type_name, "terraform-x");
            for name in ["", "a_b", "a.b", "-a"] {
                let error = ProviderAddr::implied(name, engine).expect_err(name);
                assert_eq!(error.problem, AddressProblem::BadPart(name.into()));
            }
        }
    }

    #[test]
    fn addresses_sort_field_by_field() {
        // Both engines write entries in this order.
        let sorted = [
            "1.example/a/b",
            "example.com/a/b",
            "example.com/a/b-c",
            "example.com/a-b/c",
            "example.com/a1/b2",
            "example.com/ab/a",
            "example.com:8080/a/a",
            "registry.terraform.io/a/a",
            "bücher.example/a/a",
            "zzz.example/a/a",
        ]
        .map(|source| ProviderAddr::parse(source, Engine::Terraform).unwrap());
        assert!(sorted.is_sorted());
    }

    proptest! {
        #[test]
        fn a_displayed_address_parses_to_itself(source in "([a-zé0-9.-]{1,8}(:[0-9]{1,4})?/)?[A-Za-zßéÉ。ｐ＿_0-9-]{1,6}/[a-zÜא0-9-]{1,6}") {
            for engine in BOTH {
                if let Ok(address) = ProviderAddr::parse(&source, engine) {
                    prop_assert_eq!(&ProviderAddr::parse(&address.to_string(), engine).unwrap(), &address);
                }
            }
        }
    }
}
