//! One command, run several times: medians of wall time, CPU time and peak memory.

use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use wait4::Wait4;

/// What a command costs.
#[derive(Clone, Copy, Debug, Default)]
pub struct Cost {
    /// From start to end.
    pub wall: Duration,
    /// User and system time of all its threads.
    pub cpu: Duration,
    /// Peak resident memory in bytes.
    pub memory: u64,
}

/// How often each command is run.
pub fn runs() -> usize {
    let asked = std::env::var("TFLOCK_BENCH_RUNS");
    asked.ok().and_then(|text| text.parse().ok()).unwrap_or(5)
}

/// Runs the command that `make` prepares, as often as [`runs`] says, and takes the median of each figure. `make` undoes what
/// the run before has left.
pub fn median(mut make: impl FnMut() -> Command) -> Cost {
    let costs: Vec<Cost> = (0..runs()).map(|_| once(make())).collect();
    let middle = |key: fn(&Cost) -> u128| {
        let mut values: Vec<u128> = costs.iter().map(key).collect();
        values.sort_unstable();
        values[values.len() / 2]
    };
    let nanos = |value: u128| Duration::from_nanos(u64::try_from(value).expect("a benchmark ends"));
    Cost {
        wall: nanos(middle(|cost| cost.wall.as_nanos())),
        cpu: nanos(middle(|cost| cost.cpu.as_nanos())),
        memory: u64::try_from(middle(|cost| u128::from(cost.memory))).expect("memory has a limit"),
    }
}

/// Runs a command once. A failure ends the benchmark: its figures would mean nothing.
pub fn once(mut command: Command) -> Cost {
    command
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .stderr(Stdio::piped());
    let started = Instant::now();
    let mut child = command
        .spawn()
        .unwrap_or_else(|error| panic!("{command:?}: {error}"));
    let mut errors = child.stderr.take().expect("a pipe was asked for");
    let reader = std::thread::spawn(move || {
        let mut text = String::new();
        // What is not text is of no use to the reader of a failure.
        let _ = std::io::Read::read_to_string(&mut errors, &mut text);
        text
    });
    let used = child.wait4().expect("the child is ours");
    let wall = started.elapsed();
    let errors = reader.join().expect("reading does not panic");
    assert!(used.status.success(), "{command:?} failed:\n{errors}");
    Cost {
        wall,
        cpu: used.rusage.utime + used.rusage.stime,
        memory: used.rusage.maxrss,
    }
}

/// A table on stdout: what, wall, CPU, memory, and the ratio to the first row.
pub fn table(title: &str, rows: &[(String, Cost)]) {
    println!("\n{title} (medians of {} runs)\n", runs());
    println!("| what | wall s | CPU s | peak MB | wall, ratio |");
    println!("| --- | ---: | ---: | ---: | ---: |");
    let first = rows
        .first()
        .map_or(1.0, |(_, cost)| cost.wall.as_secs_f64());
    for (name, cost) in rows {
        println!(
            "| {name} | {:.3} | {:.3} | {:.1} | {:.2} |",
            cost.wall.as_secs_f64(),
            cost.cpu.as_secs_f64(),
            cost.memory as f64 / 1e6,
            cost.wall.as_secs_f64() / first,
        );
    }
}
