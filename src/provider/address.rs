//! Provider source addresses: `[HOST/]NAMESPACE/TYPE`, or `TYPE` alone.
//!
//! The parts that a user leaves out are filled in: the host is the engine's default registry, the namespace `hashicorp`.
//! Namespace and type are each processed as one DNS label with the IDNA lookup profile and kept in Unicode, so that `T/P`
//! and `t/ｐ` are `t/p`. A few addresses are special: built-in providers are part of the engine, legacy ones (namespace
//! `-`) were never migrated; neither is ever locked.

use std::fmt;

use idna::uts46::{AsciiDenyList, Hyphens, Uts46};

use super::error::{AddressError, AddressProblem};
use super::{Engine, Hostname};

/// The namespace of a source that names none.
const DEFAULT_NAMESPACE: &str = "hashicorp";
/// The namespace of addresses from before namespaces.
const LEGACY_NAMESPACE: &str = "-";
/// The namespace of providers that are part of the engine, on the engine's own host.
const BUILT_IN_NAMESPACE: &str = "builtin";
/// The host of built-in providers, in both engines.
const BUILT_IN_HOST: &str = "terraform.io";
/// The host of built-in providers that only OpenTofu knows.
const TOFU_BUILT_IN_HOST: &str = "opentofu.org";
/// Prefixes of repository names, which users take for a part of the type; the longer one first.
const REDUNDANT_PREFIXES: [&str; 2] = ["terraform-provider-", "terraform-"];

/// A complete, normalized address. Ordered field by field, the host by its ASCII form: this is the order of a lock file.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct ProviderAddr {
    /// The registry the provider comes from.
    pub hostname: Hostname,
    /// The publisher, in Unicode.
    pub namespace: String,
    /// The provider's name within the namespace, in Unicode.
    pub type_name: String,
}

impl ProviderAddr {
    /// Reads the `source` of a required provider.
    pub fn parse(source: &str, engine: Engine) -> Result<Self, AddressError> {
        parse_source(source, engine).map_err(|problem| AddressError {
            source_text: source.to_owned(),
            problem,
        })
    }

    /// The address that a local name stands for where no `source` is given. The name `terraform` is the engine's own
    /// built-in provider.
    pub fn implied(local_name: &str, engine: Engine) -> Result<Self, AddressError> {
        let (host, namespace) = match local_name {
            "terraform" => (BUILT_IN_HOST, BUILT_IN_NAMESPACE),
            _ => (engine.default_host(), DEFAULT_NAMESPACE),
        };
        let build = || {
            Ok(Self {
                hostname: Hostname::parse(host)?,
                namespace: namespace.to_owned(),
                type_name: normalize_part(local_name)?,
            })
        };
        build().map_err(|problem| AddressError {
            source_text: local_name.to_owned(),
            problem,
        })
    }

    /// Whether the provider is part of the engine itself.
    pub fn is_built_in(&self, engine: Engine) -> bool {
        let host = self.hostname.as_ascii();
        self.namespace == BUILT_IN_NAMESPACE
            && (host == BUILT_IN_HOST || (engine == Engine::Tofu && host == TOFU_BUILT_IN_HOST))
    }

    /// Whether the address is one from before namespaces, which the engine drops silently. Only the engine's default host
    /// can have them.
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
        normalize_part(namespace)?
    };
    let type_name = normalize_part(type_name)?;
    if let Some(prefix) = REDUNDANT_PREFIXES
        .iter()
        .find(|prefix| type_name.starts_with(**prefix))
    {
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

/// The source without the redundant prefix, if anything is left of the type.
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

/// A namespace or type in its normal form. Dots and doubled hyphens are refused before the mapping, and again after it:
/// the engines miss full-width ones there, and then write an address that they do not read.
fn normalize_part(part: &str) -> Result<String, AddressProblem> {
    let bad = || AddressProblem::BadPart(part.to_owned());
    let plain = |part: &str| !part.contains('.') && !part.contains("--");
    if part.is_empty() || !plain(part) {
        return Err(bad());
    }
    let (unicode, valid) = Uts46::new().to_unicode(
        part.as_bytes(),
        AsciiDenyList::STD3,
        Hyphens::CheckFirstLast,
    );
    if valid.is_err() || unicode.is_empty() || !plain(&unicode) {
        return Err(bad());
    }
    Ok(unicode.into_owned())
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

    /// The address as shown, with `DEFAULT` for the engine's own host.
    fn shown(source: &str, engine: Engine) -> String {
        let address = ProviderAddr::parse(source, engine)
            .unwrap_or_else(|error| panic!("{error}: {}", error.problem));
        address
            .to_string()
            .replace(engine.default_host(), "DEFAULT")
    }

    #[test]
    fn sources_have_a_normal_form() {
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
            ("terraform", "DEFAULT/hashicorp/terraform"), // as a source an ordinary provider
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
        assert_eq!(
            shown(&format!("t/{long}"), Engine::Terraform),
            format!("DEFAULT/t/{long}")
        );
        for source in [
            "Registry.Terraform.IO/T/P",
            "registry.terraform.io:443/t/p",
            "registry.terraform.io:0443/t/p",
        ] {
            assert_eq!(shown(source, Engine::Terraform), "DEFAULT/t/p");
            assert_eq!(shown(source, Engine::Tofu), "registry.terraform.io/t/p");
        }
    }

    #[test]
    fn what_is_no_source() {
        use AddressProblem::{BadPart, EmptyPart, Hostname, RedundantPrefix, TooManyParts};
        let bad = |part: &str| BadPart(part.into());
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
            ("t/a－－b", bad("a－－b")), // likewise with full-width hyphens
            ("t/\u{ad}", bad("\u{ad}")), // nothing is left
            ("t_x/p", bad("t_x")),
            ("--/p", bad("--")),
            ("-/-", bad("-")),
            ("t/terraform-p", redundant("terraform-", "t/p")),
            (
                "t/terraform-provider-p",
                redundant("terraform-provider-", "t/p"),
            ),
            (
                "h.example/T/Terraform-P",
                redundant("terraform-", "h.example/T/p"),
            ),
            (
                "xn--caf-dma.com/t/p",
                Hostname(HostnameError::Punycode("xn--caf-dma".into())),
            ),
            ("a..b/t/p", Hostname(HostnameError::EmptyLabel)),
            (
                "h:99999/t/p",
                Hostname(HostnameError::BadPort("99999".into())),
            ),
            ("h:/t/p", Hostname(HostnameError::BadPort(String::new()))),
            ("h:x/t/p", Hostname(HostnameError::BadPort("x".into()))),
            ("[::1]/t/p", Hostname(HostnameError::BadPort(":1]".into()))),
        ] {
            for engine in BOTH {
                let error = ProviderAddr::parse(source, engine).expect_err(source);
                assert_eq!(error.problem, problem, "{source}");
                assert_eq!(error.source_text, source);
            }
        }
    }

    #[test]
    fn errors_name_the_source_the_cause_and_a_way_out() {
        for (source, cause, hint) in [
            (
                "https://h/t/p",
                "a source address has no empty parts",
                Some("a source is `HOST/NAMESPACE/TYPE`, without `https://`"),
            ),
            (
                "t/terraform-p",
                "the type must not start with `terraform-`",
                Some("write `t/p`"),
            ),
            (
                "t/terraform-provider-p",
                "the type must not start with `terraform-provider-`",
                Some("write `t/p`"),
            ),
            (
                "registry.terraform.io/t",
                "`registry.terraform.io` must consist of letters, digits and single inner hyphens",
                Some("a source with a host has three parts: `HOST/NAMESPACE/TYPE`"),
            ),
            (
                "h/t/p.q",
                "`p.q` must consist of letters, digits and single inner hyphens",
                None,
            ),
            (
                "t/p_q",
                "`p_q` must consist of letters, digits and single inner hyphens",
                None,
            ),
            ("h:x/t/p", "`x` is not a port between 0 and 65535", None),
            (
                "example.com/-/p",
                "the namespace `-` exists on `registry.terraform.io` only, not on `example.com`",
                None,
            ),
        ] {
            let error = ProviderAddr::parse(source, Engine::Terraform).expect_err(source);
            assert_eq!(
                error.to_string(),
                format!("cannot read provider source address `{source}`")
            );
            assert_eq!(
                (error.problem.to_string().as_str(), error.hint().as_deref()),
                (cause, hint),
                "{source}"
            );
        }
        let prefix_alone = ProviderAddr::parse("t/terraform-provider-terraform-p", Engine::Tofu)
            .expect_err("prefix");
        assert_eq!(
            prefix_alone.hint().as_deref(),
            Some("write `t/terraform-p`")
        );
    }

    #[test]
    fn some_addresses_are_never_locked() {
        // (source, built in for Terraform, for OpenTofu)
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
                assert_eq!(
                    address.is_built_in(engine),
                    expected,
                    "{source} in {engine}"
                );
                assert_eq!(
                    address.is_lockable(engine),
                    !expected,
                    "{source} in {engine}"
                );
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
            for source in [
                "-/p".to_owned(),
                format!("{}:443/-/p", engine.default_host()),
            ] {
                let address = ProviderAddr::parse(&source, engine).unwrap();
                assert!(address.is_legacy(engine) && !address.is_lockable(engine));
                assert!(!address.is_legacy(other));
            }
            for host in [other.default_host(), "example.com"] {
                let error = ProviderAddr::parse(&format!("{host}/-/p"), engine).expect_err(host);
                assert!(
                    matches!(error.problem, AddressProblem::LegacyHost { .. }),
                    "{host}"
                );
            }
        }
    }

    #[test]
    fn local_names_imply_addresses() {
        for engine in BOTH {
            let implied = |name| ProviderAddr::implied(name, engine).unwrap();
            assert!(implied("terraform").is_built_in(engine));
            assert_eq!(
                implied("terraform").to_string(),
                "terraform.io/builtin/terraform"
            );
            assert_eq!(
                implied("tofu"),
                ProviderAddr::parse("hashicorp/tofu", engine).unwrap()
            );
            assert_eq!(implied("AWS"), ProviderAddr::parse("aws", engine).unwrap());
            // Only a written source is checked for the prefix.
            assert_eq!(implied("terraform-x").type_name, "terraform-x");
            for name in ["", "a_b", "a.b", "-a"] {
                let error = ProviderAddr::implied(name, engine).expect_err(name);
                assert_eq!(error.problem, AddressProblem::BadPart(name.into()));
            }
        }
    }

    #[test]
    fn addresses_sort_field_by_field() {
        // The order that both engines were seen to write.
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
        fn a_shown_address_reads_as_itself(source in "([a-zé0-9.-]{1,8}(:[0-9]{1,4})?/)?[A-Za-zßéÉ。ｐ0-9-]{1,6}/[a-zÜא0-9-]{1,6}") {
            for engine in BOTH {
                if let Ok(address) = ProviderAddr::parse(&source, engine) {
                    prop_assert_eq!(&ProviderAddr::parse(&address.to_string(), engine).unwrap(), &address);
                }
            }
        }
    }
}
