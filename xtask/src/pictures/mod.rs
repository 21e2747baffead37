//! `cargo xtask pictures` creates the documentation's pictures from the actual output of tflock.

mod chart;
mod page;
mod session;
mod terminal;

use std::fs;
use std::path::Path;

use crate::tflock;

/// Creates all pictures in `docs/pictures`.
pub(crate) fn run() {
    let tflock = tflock::build();
    let directory = tflock::project().join("docs/pictures");
    fs::create_dir_all(&directory).expect("the project is writable");
    write(&directory.join("session.svg"), &session::draw(&tflock));
    write(&directory.join("speed.svg"), &chart::draw());
    page::photograph(&tflock, &directory);
}

fn write(path: &Path, text: &str) {
    fs::write(path, text).expect("the project is writable");
    report(path);
}

#[expect(clippy::print_stdout, reason = "the task prints what it created")]
fn report(path: &Path) {
    println!("{}", path.display());
}

/// Escapes text for use in an XML element.
fn escaped(text: &str) -> String {
    let text = text.replace('&', "&amp;").replace('<', "&lt;");
    text.replace('>', "&gt;")
}
