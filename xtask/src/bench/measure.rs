//! Runs a command several times and computes the medians of wall time, CPU time and peak memory.

use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use tflock_test_support::Log;
use wait4::Wait4;

/// The cost of a command.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Cost {
    pub(super) wall: Duration,
    /// The user and system time of all threads.
    pub(super) cpu: Duration,
    /// Peak resident memory in bytes.
    pub(super) memory: u64,
    /// The number of requests that the registry received.
    pub(super) requests: u64,
    /// The total bytes of the response bodies.
    pub(super) bytes: u64,
}

pub(super) struct BenchRow {
    pub(super) name: String,
    pub(super) cost: Cost,
}

impl BenchRow {
    /// Runs the command that `make` returns [`runs`] times, and takes the median of each figure. `make` must also remove the results
    /// of the previous run.
    pub(super) fn of(name: &str, mut make: impl FnMut() -> Command) -> Self {
        let costs: Vec<Cost> = (0..runs()).map(|_| once(make())).collect();
        Self::median(name, &costs)
    }

    /// Like [`BenchRow::of`], but includes the requests and bytes in the registry's log.
    pub(super) fn counted(name: &str, log: &Log, mut make: impl FnMut() -> Command) -> Self {
        let costs: Vec<Cost> = (0..runs()).map(|_| counted(log, make())).collect();
        Self::median(name, &costs)
    }

    /// Takes the median of each figure.
    pub(super) fn median(name: &str, costs: &[Cost]) -> Self {
        Self {
            name: name.to_owned(),
            cost: median(costs),
        }
    }
}

/// Runs a command once, like [`once`], and includes the requests and bytes in the registry's log.
pub(super) fn counted(log: &Log, command: Command) -> Cost {
    log.clear();
    let cost = once(command);
    Cost {
        requests: log.total() as u64,
        bytes: log.bytes("*"),
        ..cost
    }
}

fn median(costs: &[Cost]) -> Cost {
    let middle = |key: fn(&Cost) -> u64| {
        let mut values: Vec<u64> = costs.iter().map(key).collect();
        values.sort_unstable();
        values[values.len() / 2]
    };
    Cost {
        wall: Duration::from_nanos(middle(|cost| nanoseconds(cost.wall))),
        cpu: Duration::from_nanos(middle(|cost| nanoseconds(cost.cpu))),
        memory: middle(|cost| cost.memory),
        requests: middle(|cost| cost.requests),
        bytes: middle(|cost| cost.bytes),
    }
}

fn nanoseconds(duration: Duration) -> u64 {
    u64::try_from(duration.as_nanos()).expect("a benchmark is short")
}

/// Returns how many times each command is run.
pub(super) fn runs() -> usize {
    let runs = std::env::var("TFLOCK_BENCH_RUNS");
    runs.ok().and_then(|text| text.parse().ok()).unwrap_or(5)
}

/// Runs a command once. Aborts the benchmark if the command fails, because the figures would be meaningless.
pub(super) fn once(mut command: Command) -> Cost {
    command
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .stderr(Stdio::piped());
    let started = Instant::now();
    let mut child = command
        .spawn()
        .unwrap_or_else(|error| panic!("{command:?}: {error}"));
    let mut errors = child.stderr.take().expect("standard error is a pipe");
    let reader = std::thread::spawn(move || {
        let mut text = String::new();
        // If reading fails, the message lacks the rest of the error output.
        let _ = std::io::Read::read_to_string(&mut errors, &mut text);
        text
    });
    let used = child.wait4().expect("the child was not waited for");
    let wall = started.elapsed();
    let errors = reader.join().expect("reading does not panic");
    assert!(used.status.success(), "{command:?} failed:\n{errors}");
    Cost {
        wall,
        cpu: used.rusage.utime + used.rusage.stime,
        memory: used.rusage.maxrss,
        ..Cost::default()
    }
}

/// Prints a table with the ratio of each wall time to that of the first row.
pub(super) fn table(title: &str, rows: &[BenchRow]) {
    println!("\n{title} (medians of {} runs)\n", runs());
    println!("| what | wall s | ratio | CPU s | peak MB | requests | MB |");
    println!("| --- | ---: | ---: | ---: | ---: | ---: | ---: |");
    let first = rows.first().map_or(1.0, |row| row.cost.wall.as_secs_f64());
    for BenchRow { name, cost } in rows {
        println!(
            "| {name} | {:.3} | {:.2} | {:.3} | {:.1} | {} | {:.1} |",
            cost.wall.as_secs_f64(),
            cost.wall.as_secs_f64() / first,
            cost.cpu.as_secs_f64(),
            cost.memory as f64 / 1e6,
            cost.requests,
            cost.bytes as f64 / 1e6,
        );
    }
}
