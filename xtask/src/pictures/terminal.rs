//! Draws terminal output as SVG: text with ANSI color sequences, readable in a light and a dark theme.

use std::fmt::Write as _;

use super::escaped;

/// The width of a character and the height of a line, in pixels.
const CELL: (f64, f64) = (8.4, 19.0);

/// The space around the text, in pixels.
const MARGIN: f64 = 18.0;

/// The height of the title bar, in pixels.
const TITLE: f64 = 22.0;

const STYLE: &str = "\
text{font:14px ui-monospace,SFMono-Regular,Menlo,Consolas,'DejaVu Sans Mono',monospace;white-space:pre;fill:#1f2328}
rect{fill:#f6f8fa;stroke:#d0d7de}circle{fill:#d0d7de}.bold{font-weight:600}.dim{fill:#59636e}.red{fill:#b3261e}.green{fill:#116329}
.yellow{fill:#7d4e00}.blue{fill:#0550ae}.cyan{fill:#1b5e70}
@media (prefers-color-scheme:dark){text{fill:#e6edf3}rect{fill:#161b22;stroke:#30363d}circle{fill:#30363d}.dim{fill:#9198a1}
.red{fill:#ff938a}.green{fill:#7ee787}.yellow{fill:#e3b341}.blue{fill:#79c0ff}.cyan{fill:#76e3ea}}";

/// Returns a picture of a terminal that shows these lines and is `columns` wide.
pub(super) fn draw(lines: &[String], columns: usize) -> String {
    let (cell_width, cell_height) = CELL;
    let width = 2.0 * MARGIN + cell_width * to_f64(columns);
    let height = 2.0 * MARGIN + TITLE + cell_height * to_f64(lines.len());
    let mut svg = format!(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 {width:.0} {height:.0}\" width=\"{width:.0}\" \
         height=\"{height:.0}\" role=\"img\">\n<style>{STYLE}</style>\n<rect x=\"0.5\" y=\"0.5\" width=\"{:.0}\" \
         height=\"{:.0}\" rx=\"8\"/>\n",
        width - 1.0,
        height - 1.0
    );
    for button in 0..3_u8 {
        let x = MARGIN + 4.0 + 18.0 * f64::from(button);
        let _ = writeln!(svg, "<circle cx=\"{x}\" cy=\"{MARGIN}\" r=\"5.5\"/>");
    }
    for (index, line) in lines.iter().enumerate() {
        let y = MARGIN + TITLE + cell_height * (to_f64(index) + 0.75);
        svg.push_str(&draw_line(line, y));
    }
    svg.push_str("</svg>\n");
    svg
}

/// Draws a line with a fixed length, so that columns are aligned in any font.
fn draw_line(line: &str, y: f64) -> String {
    let runs = runs(line);
    let columns: usize = runs.iter().map(|run| run.text.chars().count()).sum();
    if columns == 0 {
        return String::new();
    }
    let length = CELL.0 * to_f64(columns);
    let mut svg = format!(
        "<text x=\"{MARGIN}\" y=\"{y:.1}\" textLength=\"{length:.1}\" xml:space=\"preserve\">"
    );
    for run in runs {
        let text = escaped(&run.text);
        if run.classes.is_empty() {
            svg.push_str(&text);
        } else {
            let classes = run.classes.join(" ");
            let _ = write!(svg, "<tspan class=\"{classes}\">{text}</tspan>");
        }
    }
    svg.push_str("</text>\n");
    svg
}

/// Text with one style.
#[derive(Debug, Default, PartialEq)]
struct StyledText {
    text: String,
    classes: Vec<&'static str>,
}

/// Splits a line at its escape sequences, `ESC [ NUMBERS m`.
fn runs(line: &str) -> Vec<StyledText> {
    let mut runs = Vec::new();
    let mut classes: Vec<&'static str> = Vec::new();
    for (index, part) in line.split("\u{1b}[").enumerate() {
        let text = match part.split_once('m') {
            Some((numbers, text)) if index > 0 => {
                for number in numbers.split(';') {
                    match class(number) {
                        Some(class) => classes.push(class),
                        None => classes.clear(),
                    }
                }
                text
            }
            _ => part,
        };
        if !text.is_empty() {
            runs.push(StyledText {
                text: text.to_owned(),
                classes: classes.clone(),
            });
        }
    }
    runs
}

/// Returns the CSS class for a number in an escape sequence, or `None` for a number that resets the style.
fn class(number: &str) -> Option<&'static str> {
    Some(match number {
        "1" => "bold",
        "2" => "dim",
        "31" | "91" => "red",
        "32" | "92" => "green",
        "33" | "93" => "yellow",
        "34" | "94" => "blue",
        "36" | "96" => "cyan",
        _ => return None,
    })
}

#[expect(
    clippy::cast_precision_loss,
    reason = "a picture has few lines and columns"
)]
const fn to_f64(count: usize) -> f64 {
    count as f64
}

#[cfg(test)]
mod tests {
    use super::*;

    fn run(text: &str, classes: &[&'static str]) -> StyledText {
        StyledText {
            text: text.to_owned(),
            classes: classes.to_vec(),
        }
    }

    #[test]
    fn escape_sequences_become_classes() {
        let line = "\u{1b}[1m\u{1b}[31merror\u{1b}[0m: a [m] b";
        assert_eq!(
            runs(line),
            [run("error", &["bold", "red"]), run(": a [m] b", &[])]
        );
        assert_eq!(runs("plain"), [run("plain", &[])]);
    }

    #[test]
    fn text_is_not_markup() {
        let svg = draw(&["a <b> & c".to_owned()], 10);
        assert!(svg.contains("a &lt;b&gt; &amp; c"), "{svg}");
    }
}
