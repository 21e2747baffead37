//! The environment variables of git.
//!
//! CI systems pass tokens to git in `GIT_CONFIG_*`.

use crate::subprocess::InheritedVariable;
use crate::subprocess::VariableContent::{CertificatePath, ConfigurationPath, Other};

/// The variables that git inherits in addition to those that every program inherits.
pub(super) const INHERITED: [InheritedVariable; 13] = [
    ("GIT_SSH", Other, true),
    ("GIT_SSH_COMMAND", Other, true),
    ("GIT_SSH_VARIANT", Other, false),
    ("GIT_SSL_CAINFO", CertificatePath, false),
    ("GIT_SSL_CAPATH", CertificatePath, false),
    ("GIT_SSL_CERT", CertificatePath, true),
    ("GIT_SSL_KEY", CertificatePath, true),
    ("GIT_SSL_VERSION", Other, false),
    ("CURL_CA_BUNDLE", CertificatePath, false),
    ("GIT_EXEC_PATH", ConfigurationPath, false),
    ("GIT_CONFIG_GLOBAL", ConfigurationPath, false),
    ("GIT_CONFIG_SYSTEM", ConfigurationPath, false),
    ("GIT_CONFIG_NOSYSTEM", Other, false),
];

/// The prefixes of inherited variables that set git configuration, which may contain credentials.
pub(super) const CONFIGURATION_PREFIXES: [&str; 3] =
    ["GIT_CONFIG_COUNT", "GIT_CONFIG_KEY_", "GIT_CONFIG_VALUE_"];

/// The variables that git always gets, regardless of the caller's environment.
pub(super) const FIXED: [(&str, &str); 8] = [
    ("GIT_TERMINAL_PROMPT", "0"),
    ("GIT_ASKPASS", ""),
    ("SSH_ASKPASS_REQUIRE", "never"),
    ("GIT_TEMPLATE_DIR", ""),
    ("GIT_LFS_SKIP_SMUDGE", "1"),
    ("GIT_NO_LAZY_FETCH", "1"),
    ("GCM_INTERACTIVE", "never"),
    ("LC_ALL", "C"),
];
