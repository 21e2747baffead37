//! The `tflock cache` command: prints the directory and the size of the disk cache, and removes entries.

use std::fmt::Write as _;
use std::path::Path;
use std::time::{Duration, SystemTime};

use crate::cache::{self, CacheArea, CacheError, DiskCache, EntryUsage};
use crate::cli::CacheCommand;
use crate::diagnostic::Diagnostic;
use crate::display::{counted, visible_name};
use crate::printer::Printer;
use crate::settings::cache_directory;

use super::report::bytes;
use super::{CommandError, DONE, Invocation};

const SECONDS_PER_DAY: u64 = 24 * 60 * 60;

pub(super) fn command(
    command: &CacheCommand,
    invocation: Invocation<'_>,
) -> Result<u8, CommandError> {
    let printer = invocation.printer;
    let directory = cache_directory(invocation.environment).ok_or(CacheError::NoPlace)?;
    match command {
        CacheCommand::Dir => {
            printer.report(&format!("{}\n", visible_name(&directory.to_string_lossy())));
        }
        CacheCommand::Info => info(&directory, printer),
        CacheCommand::Clean { older_than } => {
            let freed = cache::clean(&directory, older_than.map(days_ago))?;
            printer.report(&format!("removed {}\n", amount(freed)));
        }
    }
    Ok(DONE)
}

/// Returns the time `days` days ago, or the Unix epoch if the clock cannot represent it.
fn days_ago(days: u32) -> SystemTime {
    let age = Duration::from_secs(u64::from(days) * SECONDS_PER_DAY);
    let then = SystemTime::now().checked_sub(age);
    then.unwrap_or(SystemTime::UNIX_EPOCH)
}

/// Prints the cache directory, the number and size of the entries in each cache area, and the total.
fn info(directory: &Path, printer: Printer) {
    let mut text = format!("{}\n", visible_name(&directory.to_string_lossy()));
    let mut total = EntryUsage::default();
    for (kind, usage) in cache::usage(directory) {
        // Writing to a string cannot fail.
        let _ = writeln!(text, "  {:<28}{}", describe(kind), amount(usage));
        total += usage;
    }
    let _ = writeln!(text, "  {:<28}{}", "total", amount(total));
    printer.report(&text);
    if let Err(error) = DiskCache::inspect(directory) {
        printer.diagnostic(&Diagnostic::caution(&error));
    }
}

const fn describe(kind: CacheArea) -> &'static str {
    match kind {
        CacheArea::Hashes => "package hashes",
        CacheArea::Answers => "signed checksum lists",
        CacheArea::IndexRecords => "records of a hash index",
        CacheArea::Modules => "modules",
    }
}

/// Formats a number of entries and their size, for example `2 entries, 1.0 kB`.
fn amount(usage: EntryUsage) -> String {
    let entries = counted(usage.entries, "entry", "entries");
    format!("{entries}, {}", bytes(usage.bytes))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sizes_and_counts_are_readable() {
        let rows = [
            (0, 0, "0 entries, 0 bytes"),
            (1, 999, "1 entry, 999 bytes"),
            (2, 1_000, "2 entries, 1.0 kB"),
            (2, 1_999_999, "2 entries, 1.9 MB"),
            (2, 34_560_000_000, "2 entries, 34.5 GB"),
        ];
        for (entries, bytes, expected) in rows {
            assert_eq!(amount(EntryUsage { entries, bytes }), expected);
        }
    }

    #[test]
    fn more_days_ago_is_earlier() {
        assert!(days_ago(1) < SystemTime::now());
        assert!(days_ago(36_500) < days_ago(1));
    }
}
