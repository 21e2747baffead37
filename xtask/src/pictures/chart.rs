//! The bar chart in README.md: the seconds that complete runs take, on a logarithmic scale.

use std::fmt::Write as _;

use super::escaped;

/// A kind of run, with the seconds that each program takes.
struct ChartRun {
    title: &'static str,
    bars: &'static [(&'static str, f64)],
}

/// The figures in `docs/speed.md`. A test compares them with that page.
const RUNS: [ChartRun; 4] = [
    ChartRun {
        title: "hashicorp/aws 5.100.0, one platform",
        bars: &[("tflock", 0.73), ("terraform", 3.17)],
    },
    ChartRun {
        title: "40 directories, 4 providers, 3 platforms, cold",
        bars: &[("tflock", 0.74), ("tfupdate", 3.12), ("terraform", 145.0)],
    },
    ChartRun {
        title: "the same, warm",
        bars: &[("tflock", 0.02), ("terraform", 145.0)],
    },
    ChartRun {
        title: "mirror of 20 directories, 4 providers, 3 platforms",
        bars: &[("tflock mirror", 0.75), ("terraform", 58.7)],
    },
];

const WIDTH: f64 = 720.0;

/// The horizontal position at which bars begin, and the maximum length of a bar, in pixels.
const BARS: (f64, f64) = (120.0, 540.0);

/// The ends of the scale, as powers of ten: 0.01 s and 1,000 s.
const SCALE: (f64, f64) = (-2.0, 3.0);

const BAR_HEIGHT: f64 = 20.0;

/// The note below the chart.
const NOTE: &str =
    "Logarithmic scale. The 145 s of terraform are measured with 3 directories, times 40 / 3.";

const STYLE: &str = "\
text{font:13px system-ui,-apple-system,'Segoe UI','DejaVu Sans',sans-serif;fill:#1f2328}.title{font-weight:600}.axis{fill:#59636e}
.label{text-anchor:end}.tick{text-anchor:middle}line{stroke:#d0d7de}.bar{fill:#8c959f}.ours{fill:#7b42bc}
@media (prefers-color-scheme:dark){text{fill:#e6edf3}.axis{fill:#9198a1}line{stroke:#30363d}.bar{fill:#6e7681}.ours{fill:#a371f7}}";

/// Returns the chart as SVG.
pub(super) fn draw() -> String {
    let mut body = String::new();
    let mut y = 18.0;
    for run in &RUNS {
        let _ = writeln!(
            body,
            "<text class=\"title\" x=\"0\" y=\"{y}\">{}</text>",
            escaped(run.title)
        );
        y += 8.0;
        for (program, seconds) in run.bars {
            body.push_str(&bar(program, *seconds, y));
            y += BAR_HEIGHT + 4.0;
        }
        y += 22.0;
    }
    let height = y + 36.0;
    let _ = writeln!(
        body,
        "<text class=\"axis\" x=\"0\" y=\"{}\">{NOTE}</text>",
        height - 6.0
    );
    format!(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 {WIDTH} {height}\" width=\"{WIDTH}\" height=\"{height}\" \
         role=\"img\">\n<style>{STYLE}</style>\n{}{body}</svg>\n",
        axis(height)
    )
}

fn bar(program: &str, seconds: f64, y: f64) -> String {
    let (start, _) = BARS;
    let length = position(seconds) - start;
    let class = if program.starts_with("tflock") {
        "ours"
    } else {
        "bar"
    };
    let base = y + BAR_HEIGHT - 5.5;
    let mut svg = String::new();
    let _ = writeln!(
        svg,
        "<text class=\"label\" x=\"{}\" y=\"{base}\">{}</text>",
        start - 8.0,
        escaped(program)
    );
    let _ = writeln!(
        svg,
        "<rect class=\"{class}\" x=\"{start}\" y=\"{y}\" width=\"{length:.1}\" height=\"{BAR_HEIGHT}\" rx=\"3\"/>"
    );
    let _ = writeln!(
        svg,
        "<text x=\"{:.1}\" y=\"{base}\">{seconds} s</text>",
        start + length + 8.0
    );
    svg
}

/// Returns the horizontal position for a time.
fn position(seconds: f64) -> f64 {
    let (start, length) = BARS;
    let (low, high) = SCALE;
    start + length * (seconds.log10() - low) / (high - low)
}

fn axis(height: f64) -> String {
    let mut svg = String::new();
    let (bottom, base) = (height - 40.0, height - 26.0);
    for (seconds, label) in [
        (0.01, "0.01"),
        (0.1, "0.1"),
        (1.0, "1"),
        (10.0, "10"),
        (100.0, "100"),
    ] {
        let x = position(seconds);
        let _ = writeln!(
            svg,
            "<line x1=\"{x:.1}\" y1=\"26\" x2=\"{x:.1}\" y2=\"{bottom}\"/>"
        );
        let _ = writeln!(
            svg,
            "<text class=\"axis tick\" x=\"{x:.1}\" y=\"{base}\">{label} s</text>"
        );
    }
    svg
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_figures_are_those_of_the_page() {
        let page = include_str!("../../../docs/speed.md");
        for (program, seconds) in RUNS.iter().flat_map(|run| run.bars) {
            assert!(page.contains(&format!("{seconds} s")), "{program}");
        }
    }

    #[test]
    fn bars_grow_by_powers_of_ten() {
        let step = position(1.0) - position(0.1);
        assert!((position(10.0) - position(1.0) - step).abs() < 1e-9);
        assert!((position(0.01) - BARS.0).abs() < 1e-9);
    }
}
