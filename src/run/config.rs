//! `tflock config`: what is in force, and who said it.

use std::fmt::Write as _;
use std::path::Path;

use crate::cli::LockArgs;
use crate::locking::{Mismatch, Missing};
use crate::printer::Printer;
use crate::provider::Platform;
use crate::settings::{self, Create, Environment, InForce, Origin};
use crate::span::visible_name;

use super::DONE;
use super::session::Refused;

/// Variables that tflock heeds and whose values are no secrets.
const SHOWN_VARIABLES: [&str; 19] = [
    "CI",
    "HOME",
    "NETRC",
    "NO_COLOR",
    "NO_PROXY",
    "OPENTOFU_ENFORCE_GPG_EXPIRATION",
    "OPENTOFU_ENFORCE_GPG_VALIDATION",
    "SSL_CERT_DIR",
    "SSL_CERT_FILE",
    "TERRAFORM_CONFIG",
    "TFLOCK_CACHE_DIR",
    "TFLOCK_LOG",
    "TF_CLI_CONFIG_FILE",
    "TF_DATA_DIR",
    "TF_PLUGIN_CACHE_DIR",
    "TF_PROVIDER_DOWNLOAD_RETRY",
    "TF_REGISTRY_CLIENT_TIMEOUT",
    "TF_REGISTRY_DISCOVERY_RETRY",
    "TF_WORKSPACE",
];

/// Others, of which only the names are told: values may be secrets or hold one. The last letters are a beginning.
const HIDDEN_VARIABLES: [&str; 5] = [
    "ALL_PROXY",
    "HTTPS_PROXY",
    "HTTP_PROXY",
    "TFREGISTRY_BASE_URL",
    "TF_TOKEN_",
];

/// Runs `tflock config`.
pub(super) fn command(
    args: &LockArgs,
    environment: &Environment,
    printer: Printer,
) -> anyhow::Result<u8> {
    let typed = settings::typed(args);
    let areas = settings::config_files(&typed, environment).and_then(|config_files| {
        InForce::resolve(&typed, environment, &Platform::current(), &config_files)
    });
    let areas = areas.map_err(|error| Refused::because(&error))?;
    let mut text = String::new();
    for area in &areas {
        area_text(area, &mut text);
        text.push('\n');
    }
    let cache = settings::cache_directory(environment);
    let cache = cache.map_or_else(|| "none".to_owned(), |path| shown(&path));
    let _ = writeln!(text, "cache\n  {cache}\n");
    environment_text(environment, &mut text);
    printer.text(&text);
    Ok(DONE)
}

/// One value: its key, what it is, who said it.
struct Row(&'static str, String, Origin);

fn area_text(area: &InForce, text: &mut String) {
    let paths: Vec<String> = area.paths.iter().map(|path| shown(path)).collect();
    let paths = paths.join(", ");
    let mut files = area.files.iter().map(|file| shown(file));
    let nearest = files.next();
    let nearest = nearest.as_deref().unwrap_or("no config file");
    let _ = writeln!(text, "{paths}: governed by {nearest}");
    for file in files {
        let _ = writeln!(text, "  and by {file}");
    }
    let rows = rows(area);
    let widest = |cell: fn(&Row) -> &str| rows.iter().map(|row| cell(row).chars().count()).max();
    let key_width = widest(|row| row.0).unwrap_or_default();
    let value_width = widest(|row| &row.1).unwrap_or_default();
    for Row(key, value, origin) in &rows {
        let _ = writeln!(
            text,
            "  {key:<key_width$}  {value:<value_width$}  # {origin}"
        );
    }
}

fn shown(path: &Path) -> String {
    visible_name(&path.to_string_lossy()).into_owned()
}

fn rows(area: &InForce) -> Vec<Row> {
    let list = |items: Vec<String>| {
        if items.is_empty() {
            "none".to_owned()
        } else {
            items.join(", ")
        }
    };
    let platforms = area.platforms.value.iter().map(ToString::to_string);
    let patterns = area.ignore_paths.value.iter();
    let patterns = patterns.map(|rule| format!("`{}`", visible_name(rule.as_str())));
    let missing = |missing: Missing| match missing {
        Missing::Error => "error".to_owned(),
        Missing::Warn => "warn".to_owned(),
    };
    let engine = area.engine.value.map_or("auto", |engine| engine.program());
    let mut rows = vec![
        Row(
            "platforms",
            list(platforms.collect()),
            area.platforms.origin.clone(),
        ),
        Row(
            "ignore-paths",
            list(patterns.collect()),
            area.ignore_paths.origin.clone(),
        ),
        Row(
            "create",
            create(area.create.value).to_owned(),
            area.create.origin.clone(),
        ),
        Row("engine", engine.to_owned(), area.engine.origin.clone()),
        Row(
            "missing-platform",
            missing(area.missing_platform.value),
            area.missing_platform.origin.clone(),
        ),
        Row(
            "missing-module",
            missing(area.missing_module.value),
            area.missing_module.origin.clone(),
        ),
        Row(
            "mismatch",
            mismatch(area.mismatch.value).to_owned(),
            area.mismatch.origin.clone(),
        ),
        Row(
            "prune",
            area.prune.value.to_string(),
            area.prune.origin.clone(),
        ),
        Row(
            "jobs",
            area.jobs.value.to_string(),
            area.jobs.origin.clone(),
        ),
    ];
    let before = rows.len();
    for signers in &area.signers {
        for (pattern, fingerprints, place) in signers.value.pins() {
            let keys = fingerprints.iter().map(ToString::to_string).collect();
            let origin = place.cloned().map_or(signers.origin.clone(), Origin::File);
            rows.push(Row("signers", format!("{pattern}: {}", list(keys)), origin));
        }
    }
    if rows.len() == before {
        rows.push(Row("signers", "any".to_owned(), Origin::Default));
    }
    rows
}

const fn create(create: Create) -> &'static str {
    match create {
        Create::Auto => "auto",
        Create::Always => "always",
        Create::Never => "never",
    }
}

const fn mismatch(mismatch: Mismatch) -> &'static str {
    match mismatch {
        Mismatch::Error => "error",
        Mismatch::Add => "add",
        Mismatch::Replace => "replace",
    }
}

fn environment_text(environment: &Environment, text: &mut String) {
    text.push_str("environment\n");
    for (name, value) in environment.iter().filter(|(_, value)| !value.is_empty()) {
        let upper = name.to_ascii_uppercase();
        if SHOWN_VARIABLES.contains(&upper.as_str()) {
            let _ = writeln!(text, "  {name}={}", visible_name(value));
        } else if HIDDEN_VARIABLES
            .iter()
            .any(|known| upper.starts_with(known))
        {
            let _ = writeln!(text, "  {name} is set");
        }
    }
}
