//! Renders the config file. Comments in it name the paths where the clues were found.

use std::fmt::Write as _;

use crate::provider::Engine;

use super::clues::{CluePlaces, Clues};

const HEADER: &str = "\
# Settings of tflock for this repository, written by `tflock init`. `tflock config` shows the effect.

# Every platform on which your team and your CI system run `init`.
";

/// Renders the text of the file. Paths in comments are harmless, because line breaks and other control characters in them are
/// escaped.
pub(super) fn render(clues: &Clues) -> String {
    let platforms = clues.platforms.iter();
    let platforms = platforms.map(|(platform, places)| (format!("\"{platform}\""), places));
    let mut text = HEADER.to_owned();
    write_list(&mut text, "platforms", platforms.collect());
    if let Some((count, place)) = &clues.hashed_platforms
        && *count > clues.platforms.len()
    {
        let _ = writeln!(
            text,
            "# Incomplete: {place} has `h1` hashes for {count} platforms, which it does not name."
        );
    }
    if !clues.ignored_names.is_empty() {
        text.push_str(
            "\n# Directories that need no lock files. Hidden ones such as .terraform are always skipped.\n",
        );
        let names = clues.ignored_names.iter();
        let patterns = names.map(|(name, places)| (format!("'(^|/){name}(/|$)'"), places));
        write_list(&mut text, "ignore-paths", patterns.collect());
    }
    for (name, places) in &clues.locked_names {
        let _ = writeln!(
            text,
            "\n# Not ignored, because of a lock file: directories named {name} ({places})"
        );
    }
    write_engine(&mut text, clues);
    text
}

/// Sets `engine` if the repository uses only OpenTofu. If it uses both engines, a comment lists the clues, and tflock detects the
/// engine of each directory. Terraform is the default.
fn write_engine(text: &mut String, clues: &Clues) {
    let mut engines = clues.engines.iter();
    match (engines.next(), engines.next()) {
        (Some((Engine::Tofu, places)), None) => {
            let _ = writeln!(text, "\n# {places}\nengine = \"tofu\"");
        }
        (Some(_), Some(_)) => {
            text.push_str(
                "\n# Terraform and OpenTofu are both in use, so tflock detects the engine of each directory:\n",
            );
            for (engine, places) in &clues.engines {
                let _ = writeln!(text, "#   {}: {places}", engine.program());
            }
        }
        _ => {}
    }
}

/// Writes an array with one value per line. A comment after each value names the paths where its clue was found.
fn write_list(text: &mut String, key: &str, values: Vec<(String, &CluePlaces)>) {
    let width = values.iter().map(|(value, _)| value.len()).max();
    let width = width.unwrap_or_default() + ",".len();
    let _ = writeln!(text, "{key} = [");
    for (value, places) in values {
        let value = value + ",";
        let _ = writeln!(text, "    {value:<width$} # {places}");
    }
    text.push_str("]\n");
}
