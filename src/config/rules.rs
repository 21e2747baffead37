//! The rules in which Terraform and OpenTofu differ.

use crate::provider::Engine;

/// The rules in which the engines differ.
pub(super) trait EngineRules {
    /// Whether `.tofu` and `.tofu.json` files are read.
    fn reads_tofu_files(self) -> bool;
    /// Whether `action` blocks require a provider.
    fn has_actions(self) -> bool;
    /// Whether a `provider` block may have `for_each`, and references to it an index.
    fn has_provider_for_each(self) -> bool;
    /// Whether each `import` block of the root module requires a provider, no matter what it imports.
    fn counts_all_imports(self) -> bool;
    /// Whether `ephemeral` blocks in override files override; otherwise they are ignored.
    fn overrides_ephemeral(self) -> bool;
    /// Whether `provider` blocks in test files require their provider.
    fn counts_test_providers(self) -> bool;
    /// Whether a `removed` block in an override file is an error; otherwise it is ignored.
    fn refuses_removed_override(self) -> bool;
}

impl EngineRules for Engine {
    fn reads_tofu_files(self) -> bool {
        self == Self::Tofu
    }

    fn has_actions(self) -> bool {
        self == Self::Terraform
    }

    fn has_provider_for_each(self) -> bool {
        self == Self::Tofu
    }

    fn counts_all_imports(self) -> bool {
        self == Self::Tofu
    }

    fn overrides_ephemeral(self) -> bool {
        self == Self::Tofu
    }

    fn counts_test_providers(self) -> bool {
        self == Self::Tofu
    }

    fn refuses_removed_override(self) -> bool {
        self == Self::Tofu
    }
}
