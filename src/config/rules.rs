//! What differs between the engines, gathered in one place.

use crate::provider::Engine;

/// The engine's rules where they differ in more than a name, in one place.
pub(super) trait EngineRules {
    /// `.tofu` and `.tofu.json` files are read.
    fn reads_tofu_files(self) -> bool;
    /// `action` blocks require a provider.
    fn has_actions(self) -> bool;
    /// A `provider` block may have `for_each`, and references to it an index.
    fn has_provider_for_each(self) -> bool;
    /// Every `import` block of the root module requires a provider, whatever it imports.
    fn counts_all_imports(self) -> bool;
    /// An `ephemeral` block in an override file overrides; else it is ignored.
    fn overrides_ephemeral(self) -> bool;
    /// `provider` blocks in test files require their provider.
    fn counts_test_providers(self) -> bool;
    /// A `removed` block in an override file is an error; else it is ignored.
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
