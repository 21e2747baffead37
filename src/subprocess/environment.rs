//! The environment variables that programs inherit from the caller. They need them to start, to reach servers, and to authenticate.

use VariableContent::{CertificatePath, ConfigurationPath, Other};

/// The kind of value that a variable has.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum VariableContent {
    /// The path of configuration or programs. If the path is inside the tree, the files may come from an attacker.
    ConfigurationPath,
    /// The path of certificates. Users may keep certificates in the tree.
    CertificatePath,
    Other,
}

/// An inherited variable: the name, the kind of value, and whether the value gives access to credentials, at least indirectly.
pub type InheritedVariable = (&'static str, VariableContent, bool);

/// The variables that every program inherits.
pub(super) const COMMON: [InheritedVariable; 25] = [
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
    ("SSL_CERT_FILE", CertificatePath, false),
    ("SSL_CERT_DIR", CertificatePath, false),
    ("NETRC", ConfigurationPath, true),
];

/// The suffix of proxy variables, which are inherited.
pub(super) const PROXY_SUFFIX: &str = "_PROXY";
