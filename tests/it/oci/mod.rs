//! OCI registries: providers, with `--oci-mirror` and `oci_mirror` in the CLI configuration, pushing, and modules (docs/rules/oci.md).
//!
//! | topic | file |
//! | --- | --- |
//! | versions, packages, and what is recorded | `mirror` |
//! | artifacts that are refused | `artifacts` |
//! | credentials: where they come from, and which server gets them | `credentials` |
//! | `tflock mirror oci://...` | `push` |
//! | modules | `modules` |
//! | recorded configurations | `recorded` |

mod artifacts;
mod credentials;
mod mirror;
mod modules;
mod push;
mod recorded;

use std::collections::BTreeMap;

use tflock_test_support::{
    FakeOciRegistry, PackageFacts, Program, ProviderSpec, TestAuthority, TestContext,
};

use crate::TFLOCK;

/// The repository of the provider acme/anvil.
const ANVIL: &str = "mirror/acme/anvil";

/// An OCI registry with the provider acme/anvil, and a directory that requires it.
struct OciSite {
    registry: FakeOciRegistry,
    authority: TestAuthority,
    context: TestContext,
    facts: BTreeMap<(String, String), PackageFacts>,
}

impl OciSite {
    fn start() -> Self {
        Self::with(&ProviderSpec::new("acme/anvil").versions(["1.0.0", "1.1.0"]))
    }

    fn with(spec: &ProviderSpec) -> Self {
        let authority = TestAuthority::create();
        let registry = FakeOciRegistry::start(&authority);
        let facts = registry.publish(ANVIL, spec);
        let context = TestContext::offline(TFLOCK);
        context.require("a", &[("acme/anvil", "")]);
        Self {
            registry,
            authority,
            context,
            facts,
        }
    }

    /// Writes a CLI configuration whose only installation method is the mirror.
    fn configure(&self, other_blocks: &str) {
        let host = self.registry.host();
        self.context.set_cli_config(&format!(
            "provider_installation {{\n  oci_mirror {{\n    repository_template = \"{host}/mirror/${{namespace}}/${{type}}\"\n    \
             include = [\"registry.opentofu.org/*/*\"]\n  }}\n}}\n{other_blocks}\n"
        ));
    }

    /// Returns a command that locks with OpenTofu's rules and `--oci-mirror`.
    fn lock(&self, options: &str) -> Program {
        let template = format!("{}/mirror/{{namespace}}/{{type}}", self.registry.host());
        self.command(&format!(
            "lock --engine tofu --oci-mirror {template} {options} a"
        ))
    }

    /// Returns a command that locks with OpenTofu's rules and the methods of the CLI configuration.
    fn lock_configured(&self, options: &str) -> Program {
        self.command(&format!("lock --engine tofu --source config {options} a"))
    }

    fn command(&self, line: &str) -> Program {
        let certificate = self.authority.certificate_file();
        self.context.command(line).env("SSL_CERT_FILE", certificate)
    }

    fn facts(&self, version: &str, platform: &str) -> &PackageFacts {
        &self.facts[&(version.to_owned(), platform.to_owned())]
    }

    /// Returns the requests so far, as `METHOD PATH STATUS`, and forgets them.
    fn requests(&self) -> Vec<String> {
        let log = self.registry.log();
        let hits = log.hits();
        let lines = hits.iter().map(|hit| {
            let path = hit.request.path.replace("/v2/mirror/acme/anvil/", "");
            let path = path.split(':').next().unwrap_or_default().to_owned();
            format!("{} {path} {}", hit.request.method, hit.status())
        });
        let lines = lines.collect();
        log.clear();
        lines
    }
}
