//! The `tflock config` command: prints the effective settings and their sources.

use std::fmt::Write as _;

use crate::cli::LockArgs;
use crate::display::{shown_path, visible_name};
use crate::options::{OptionRow, ValueOrigin};
use crate::settings::{Environment, PathGroup, cache_directory, effective_options};

use super::{CommandError, DONE, Invocation};

/// Environment variables that tflock reads and whose values are not secret.
const SHOWN_VARIABLES: &str = "
    CI HOME NETRC NO_COLOR NO_PROXY SSL_CERT_DIR SSL_CERT_FILE
    OPENTOFU_ENFORCE_GPG_EXPIRATION OPENTOFU_ENFORCE_GPG_VALIDATION
    TERRAFORM_CONFIG TF_CLI_CONFIG_FILE TF_DATA_DIR TF_PLUGIN_CACHE_DIR TF_WORKSPACE
    TF_PROVIDER_DOWNLOAD_RETRY TF_REGISTRY_CLIENT_TIMEOUT TF_REGISTRY_DISCOVERY_RETRY
    TFLOCK_CACHE_DIR TFLOCK_LOG
";

/// Prefixes of environment variables that are listed without their values, because the values may be secret.
const HIDDEN_VARIABLES: [&str; 6] = [
    "ALL_PROXY",
    "HTTPS_PROXY",
    "HTTP_PROXY",
    "TFLOCK_INDEX",
    "TFREGISTRY_BASE_URL",
    "TF_TOKEN_",
];

pub(super) fn command(args: &LockArgs, invocation: Invocation<'_>) -> Result<u8, CommandError> {
    let environment = invocation.environment;
    let groups = effective_options(args, environment)?;
    let mut text = String::new();
    for group in &groups {
        write_group(group, &mut text);
        text.push('\n');
    }
    let cache =
        cache_directory(environment).map_or_else(|| "none".to_owned(), |path| shown_path(&path));
    let _ = writeln!(text, "cache\n  {cache}\n");
    write_environment(environment, &mut text);
    invocation.printer.text(&text);
    Ok(DONE)
}

fn write_group(group: &PathGroup, text: &mut String) {
    let paths: Vec<String> = group.paths.iter().map(|path| shown_path(path)).collect();
    let mut files = group.files.iter().map(|file| shown_path(&file.shown));
    let nearest = files.next();
    let nearest = nearest.as_deref().unwrap_or("no config file");
    let _ = writeln!(text, "{}: governed by {nearest}", paths.join(", "));
    for file in files {
        let _ = writeln!(text, "  and by {file}");
    }
    let mut rows = group.options.rows();
    rows.extend(signer_rows(group));
    let widest =
        |cell: fn(&OptionRow) -> &str| rows.iter().map(|row| cell(row).chars().count()).max();
    let key_width = widest(|row| row.key).unwrap_or_default();
    let value_width = widest(|row| &row.value).unwrap_or_default();
    for OptionRow { key, value, origin } in &rows {
        let _ = writeln!(
            text,
            "  {key:<key_width$}  {value:<value_width$}  # {origin}"
        );
    }
}

/// Returns one row for each provider pattern in `[signers]`.
fn signer_rows(group: &PathGroup) -> Vec<OptionRow> {
    let row = |value, origin| OptionRow {
        key: "signers",
        value,
        origin,
    };
    let mut rows = Vec::new();
    for signers in group.files.iter().filter_map(|file| file.signers.as_ref()) {
        for pin in signers.value.pins() {
            let keys: Vec<String> = pin.fingerprints.iter().map(ToString::to_string).collect();
            let keys = if keys.is_empty() {
                "none".to_owned()
            } else {
                keys.join(", ")
            };
            let place = pin.place.clone();
            let origin = place.map_or(signers.origin.clone(), ValueOrigin::File);
            rows.push(row(format!("{}: {keys}", pin.pattern), origin));
        }
    }
    if rows.is_empty() {
        rows.push(row("any".to_owned(), ValueOrigin::Default));
    }
    rows
}

fn write_environment(environment: &Environment, text: &mut String) {
    text.push_str("environment\n");
    for (name, value) in environment.iter().filter(|(_, value)| !value.is_empty()) {
        let upper = name.to_ascii_uppercase();
        if SHOWN_VARIABLES
            .split_whitespace()
            .any(|shown| shown == upper)
        {
            let _ = writeln!(text, "  {name}={}", visible_name(value));
        } else if HIDDEN_VARIABLES
            .iter()
            .any(|known| upper.starts_with(known))
        {
            let _ = writeln!(text, "  {name} is set");
        }
    }
}
