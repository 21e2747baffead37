//! The environment variables that git inherits from the caller.
//!
//! Git inherits the variables that it needs to start, to reach servers, and to authenticate. CI systems pass tokens to git in
//! `GIT_CONFIG_*`.

use VariableContent::{CertificatePath, ConfigurationPath, Other};

/// The kind of value that a variable has.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum VariableContent {
    /// The path of configuration or programs. If the path is inside the tree, an attacker could have written what is there.
    ConfigurationPath,
    /// The path of certificates. Users may keep certificates in the tree.
    CertificatePath,
    Other,
}

/// The inherited variables: the name, the kind of value, and whether the value gives access to credentials, at least indirectly.
const INHERITED: [(&str, VariableContent, bool); 38] = [
    ("PATH", Other, false),
    ("PATHEXT", Other, false),
    ("SYSTEMROOT", Other, false),
    ("HOME", ConfigurationPath, true),
    ("HOMEDRIVE", Other, true),
    ("HOMEPATH", Other, true),
    ("USERPROFILE", ConfigurationPath, true),
    ("APPDATA", ConfigurationPath, true),
    ("LOCALAPPDATA", ConfigurationPath, true),
    ("PROGRAMDATA", ConfigurationPath, false),
    ("USER", Other, false),
    ("USERNAME", Other, false),
    ("LOGNAME", Other, false),
    ("TMPDIR", Other, false),
    ("TEMP", Other, false),
    ("TMP", Other, false),
    ("XDG_CONFIG_HOME", ConfigurationPath, true),
    ("XDG_RUNTIME_DIR", Other, true),
    ("XDG_CACHE_HOME", Other, true),
    ("DBUS_SESSION_BUS_ADDRESS", Other, true),
    ("SSH_AUTH_SOCK", Other, true),
    ("SSH_AGENT_PID", Other, true),
    ("GIT_SSH", Other, true),
    ("GIT_SSH_COMMAND", Other, true),
    ("GIT_SSH_VARIANT", Other, false),
    ("GIT_SSL_CAINFO", CertificatePath, false),
    ("GIT_SSL_CAPATH", CertificatePath, false),
    ("GIT_SSL_CERT", CertificatePath, true),
    ("GIT_SSL_KEY", CertificatePath, true),
    ("GIT_SSL_VERSION", Other, false),
    ("SSL_CERT_FILE", CertificatePath, false),
    ("SSL_CERT_DIR", CertificatePath, false),
    ("CURL_CA_BUNDLE", CertificatePath, false),
    ("NETRC", ConfigurationPath, true),
    ("GIT_EXEC_PATH", ConfigurationPath, false),
    ("GIT_CONFIG_GLOBAL", ConfigurationPath, false),
    ("GIT_CONFIG_SYSTEM", ConfigurationPath, false),
    ("GIT_CONFIG_NOSYSTEM", Other, false),
];

/// The prefixes of inherited variables that set git configuration, which may contain credentials.
const CONFIGURATION_PREFIXES: [&str; 3] =
    ["GIT_CONFIG_COUNT", "GIT_CONFIG_KEY_", "GIT_CONFIG_VALUE_"];

/// The suffix of proxy variables, which are inherited.
const PROXY_SUFFIX: &str = "_PROXY";

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

/// Whether git inherits the variable `name`, ignoring case.
pub(super) fn is_inherited(name: &str) -> bool {
    let name = name.to_ascii_uppercase();
    find(&name).is_some() || sets_configuration(&name) || name.ends_with(PROXY_SUFFIX)
}

/// Whether the variable `name` contains credentials or gives access to them.
pub(super) fn leads_to_credentials(name: &str) -> bool {
    let name = name.to_ascii_uppercase();
    sets_configuration(&name) || find(&name).is_some_and(|(_, is_credential)| is_credential)
}

pub(super) fn content_of(name: &str) -> VariableContent {
    find(&name.to_ascii_uppercase()).map_or(Other, |(content, _)| content)
}

fn find(name: &str) -> Option<(VariableContent, bool)> {
    INHERITED
        .iter()
        .find(|(inherited, ..)| *inherited == name)
        .map(|&(_, content, is_credential)| (content, is_credential))
}

fn sets_configuration(name: &str) -> bool {
    CONFIGURATION_PREFIXES
        .iter()
        .any(|prefix| name.starts_with(prefix))
}
