//! The rules that differ between Terraform and OpenTofu.

use crate::provider::Engine;

impl Engine {
    /// Whether the engine reads `.tofu` and `.tofu.json` files.
    pub(super) fn reads_tofu_files(self) -> bool {
        self == Self::Tofu
    }

    /// Whether `action` blocks require a provider.
    pub(super) fn has_actions(self) -> bool {
        self == Self::Terraform
    }

    /// Whether a `provider` block may have `for_each`, and references to the block may have an index.
    pub(super) fn has_provider_for_each(self) -> bool {
        self == Self::Tofu
    }

    /// Whether each `import` block in the root module requires a provider, regardless of what it imports.
    pub(super) fn counts_all_imports(self) -> bool {
        self == Self::Tofu
    }

    /// Whether the target of an `import` block may start with a keyword, such as `null.a` for a resource of type `null`.
    pub(super) fn imports_keyword_types(self) -> bool {
        self == Self::Terraform
    }

    /// Whether called modules may have `import` blocks, as in Terraform 1.16. Each module then maps their local names itself.
    pub(super) fn allows_imports_in_called_modules(self) -> bool {
        self == Self::Terraform
    }

    /// Whether the target of an `import` block may start with `resource.`. Without this prefix, some resource types would be parsed as
    /// another kind of reference.
    pub(super) fn has_resource_prefix(self) -> bool {
        self == Self::Terraform
    }

    /// Whether the value of a declared variable in a variable file must be constant even if no expression needs it. `is_const` says whether
    /// the variable has `const = true`.
    pub(super) fn checks_unneeded_value(self, is_const: bool) -> bool {
        is_const || self == Self::Terraform
    }

    /// Whether a provider can store the state, which is an experiment of Terraform 1.16.
    pub(super) fn has_state_stores(self) -> bool {
        self == Self::Terraform
    }

    /// Whether `ephemeral` blocks in override files have an effect; otherwise they are ignored.
    pub(super) fn overrides_ephemeral(self) -> bool {
        self == Self::Tofu
    }

    /// Whether a `provider` block in a test file requires its provider.
    pub(super) fn counts_test_providers(self) -> bool {
        self == Self::Tofu
    }

    /// Whether a `removed` block in an override file is an error; otherwise it is ignored.
    pub(super) fn refuses_removed_override(self) -> bool {
        self == Self::Tofu
    }
}
