//! The blocks and arguments of Terragrunt's configuration files.

/// The arguments and blocks that a body may contain.
pub(super) struct BodySchema {
    /// The names of the arguments; `None` allows all names.
    pub(super) arguments: Option<&'static [&'static str]>,
    pub(super) required: &'static [&'static str],
    pub(super) blocks: &'static [BlockSchema],
}

impl BodySchema {
    /// Returns the names of the arguments of blocks of a kind.
    pub(super) fn arguments_of(&self, kind: &str) -> &'static [&'static str] {
        let block = self.blocks.iter().find(|block| block.kind == kind);
        block
            .and_then(|block| block.body.arguments)
            .unwrap_or_default()
    }
}

pub(super) struct BlockSchema {
    pub(super) kind: &'static str,
    pub(super) has_label: bool,
    /// Whether the body may have several blocks of this kind.
    pub(super) repeats: bool,
    pub(super) body: &'static BodySchema,
}

const fn single(kind: &'static str, body: &'static BodySchema) -> BlockSchema {
    BlockSchema {
        kind,
        has_label: false,
        repeats: false,
        body,
    }
}

const fn labeled(kind: &'static str, body: &'static BodySchema) -> BlockSchema {
    BlockSchema {
        kind,
        has_label: true,
        repeats: true,
        body,
    }
}

const fn body(
    arguments: &'static [&'static str],
    required: &'static [&'static str],
    blocks: &'static [BlockSchema],
) -> BodySchema {
    BodySchema {
        arguments: Some(arguments),
        required,
        blocks,
    }
}

/// The schema of a body with arguments of any name, such as a `locals` block or a values file.
pub(super) static ANY_ARGUMENTS: BodySchema = BodySchema {
    arguments: None,
    required: &[],
    blocks: &[],
};

/// The schema of a configuration file.
#[rustfmt::skip]
pub(super) static FILE: BodySchema = body(
    &[
        "download_dir", "generate", "iam_assume_role_duration", "iam_assume_role_session_name", "iam_role", "iam_web_identity_token",
        "inputs", "prevent_destroy", "remote_state", "terraform_binary", "terraform_version_constraint", "terragrunt_version_constraint",
    ],
    &[],
    &[
        single("catalog", &CATALOG),
        single("dependencies", &DEPENDENCIES),
        labeled("dependency", &DEPENDENCY),
        single("engine", &ENGINE),
        single("errors", &ERRORS),
        single("exclude", &EXCLUDE),
        labeled("feature", &FEATURE),
        labeled("generate", &GENERATE),
        labeled("include", &INCLUDE),
        single("locals", &ANY_ARGUMENTS),
        single("remote_state", &REMOTE_STATE),
        single("terraform", &TERRAFORM),
    ],
);

static CATALOG: BodySchema = body(
    &["default_template", "no_hooks", "no_shell", "urls"],
    &["urls"],
    &[],
);
static DEPENDENCIES: BodySchema = body(&["paths"], &["paths"], &[]);
#[rustfmt::skip]
static DEPENDENCY: BodySchema = body(
    &[
        "config_path", "enabled", "mock_outputs", "mock_outputs_allowed_terraform_commands", "mock_outputs_merge_strategy_with_state",
        "mock_outputs_merge_with_state", "skip_outputs",
    ],
    &["config_path"],
    &[],
);
static ENGINE: BodySchema = body(&["meta", "source", "type", "version"], &["source"], &[]);
static ERRORS: BodySchema = body(
    &[],
    &[],
    &[labeled("ignore", &IGNORE), labeled("retry", &RETRY)],
);
static IGNORE: BodySchema = body(
    &["ignorable_errors", "message", "signals"],
    &["ignorable_errors"],
    &[],
);
static RETRY: BodySchema = body(
    &["max_attempts", "retryable_errors", "sleep_interval_sec"],
    &["max_attempts", "retryable_errors", "sleep_interval_sec"],
    &[],
);
static EXCLUDE: BodySchema = body(
    &["actions", "exclude_dependencies", "if", "no_run"],
    &["actions", "if"],
    &[],
);
static FEATURE: BodySchema = body(&["default"], &["default"], &[]);
#[rustfmt::skip]
static GENERATE: BodySchema = body(
    &["comment_prefix", "contents", "disable", "disable_signature", "hcl_fmt", "if_disabled", "if_exists", "mutable", "path"],
    &["contents", "if_exists", "path"],
    &[],
);
static INCLUDE: BodySchema = body(&["expose", "merge_strategy", "path"], &["path"], &[]);
#[rustfmt::skip]
static REMOTE_STATE: BodySchema = body(
    &["backend", "config", "disable_dependency_optimization", "disable_init", "encryption", "generate"],
    &["backend", "config"],
    &[],
);
#[rustfmt::skip]
pub(super) static TERRAFORM: BodySchema = body(
    &["copy_terraform_lock_file", "exclude_from_copy", "include_in_copy", "mutable", "source", "update_source_with_cas", "version"],
    &[],
    &[
        labeled("after_hook", &HOOK),
        labeled("before_hook", &HOOK),
        labeled("error_hook", &ERROR_HOOK),
        labeled("extra_arguments", &EXTRA_ARGUMENTS),
    ],
);
static HOOK: BodySchema = body(
    &[
        "commands",
        "execute",
        "if",
        "run_on_error",
        "suppress_stdout",
        "working_dir",
    ],
    &["commands", "execute"],
    &[],
);
static ERROR_HOOK: BodySchema = body(
    &[
        "commands",
        "execute",
        "on_errors",
        "suppress_stdout",
        "working_dir",
    ],
    &["commands", "execute", "on_errors"],
    &[],
);
static EXTRA_ARGUMENTS: BodySchema = body(
    &[
        "arguments",
        "commands",
        "env_vars",
        "optional_var_files",
        "required_var_files",
    ],
    &["commands"],
    &[],
);
