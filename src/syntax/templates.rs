//! From the flat pieces of a template to its parts: trimming, indentation, directives.

use super::expr::{Expr, Part};
use super::parser::sink::Trim;

/// A piece of a template in the order of the text.
pub(super) enum Piece {
    Text(String),
    Value(Expr, Trim),
    If(Expr, Trim),
    Else(Trim),
    EndIf(Trim),
    For {
        key: Option<String>,
        value: String,
        collection: Expr,
        trim: Trim,
    },
    EndFor(Trim),
}

impl Piece {
    const fn trim(&self) -> Option<Trim> {
        match self {
            Self::Text(_) => None,
            Self::Value(_, trim) | Self::If(_, trim) | Self::Else(trim) | Self::EndIf(trim) => {
                Some(*trim)
            }
            Self::For { trim, .. } | Self::EndFor(trim) => Some(*trim),
        }
    }
}

/// The parts of a template. `flush` removes the common indentation, as `<<-` asks.
pub(super) fn assemble(mut pieces: Vec<Piece>, flush: bool) -> Vec<Part> {
    trim(&mut pieces);
    if flush {
        remove_indentation(&mut pieces);
    }
    nest(pieces)
}

/// `~` takes the blanks of the neighboring text: of its line before, and through the end of its line after.
fn trim(pieces: &mut [Piece]) {
    for at in 0..pieces.len() {
        let Some(trim) = pieces[at].trim() else {
            continue;
        };
        if trim.before
            && let Some(Piece::Text(text)) = at.checked_sub(1).map(|at| &mut pieces[at])
        {
            text.truncate(text.trim_end().len());
        }
        if trim.after
            && let Some(Piece::Text(text)) = pieces.get_mut(at + 1)
        {
            *text = text.trim_start().to_owned();
        }
    }
}

/// Removes as many blanks from the start of every line as the least indented one has; blank lines do not count.
fn remove_indentation(pieces: &mut [Piece]) {
    let mut least = usize::MAX;
    let mut starts = Vec::new();
    let mut line_start = true;
    for (at, piece) in pieces.iter().enumerate() {
        let Piece::Text(text) = piece else {
            if line_start {
                least = 0;
            }
            line_start = false;
            continue;
        };
        let content = text.trim_start();
        if line_start && !(content.is_empty() && text.ends_with('\n')) {
            least = least.min(text[..text.len() - content.len()].chars().count());
            starts.push(at);
        }
        line_start = text.ends_with('\n');
    }
    for at in starts {
        if let Piece::Text(text) = &mut pieces[at] {
            *text = text.chars().skip(least).collect();
        }
    }
}

/// A directive that waits for its end, with the parts around it.
struct Open {
    directive: Part,
    outer: Vec<Part>,
    in_else: bool,
}

/// Puts what stands between directives into them. The parser has checked that they are balanced.
fn nest(pieces: Vec<Piece>) -> Vec<Part> {
    let mut open: Vec<Open> = Vec::new();
    let mut parts: Vec<Part> = Vec::new();
    for piece in pieces {
        match piece {
            Piece::Text(text) => match parts.last_mut() {
                Some(Part::Text(before)) => before.push_str(&text),
                _ => parts.push(Part::Text(text)),
            },
            Piece::Value(value, _) => parts.push(Part::Value(value)),
            Piece::If(condition, _) => {
                let directive = Part::If {
                    condition,
                    yes: Vec::new(),
                    no: Vec::new(),
                };
                open.push(Open {
                    directive,
                    outer: std::mem::take(&mut parts),
                    in_else: false,
                });
            }
            Piece::For {
                key,
                value,
                collection,
                ..
            } => {
                let directive = Part::For {
                    key,
                    value,
                    collection,
                    body: Vec::new(),
                };
                open.push(Open {
                    directive,
                    outer: std::mem::take(&mut parts),
                    in_else: false,
                });
            }
            Piece::Else(_) => {
                if let Some(Open {
                    directive: Part::If { yes, .. },
                    in_else,
                    ..
                }) = open.last_mut()
                {
                    *yes = std::mem::take(&mut parts);
                    *in_else = true;
                }
            }
            Piece::EndIf(_) | Piece::EndFor(_) => {
                if let Some(closed) = open.pop() {
                    parts = close(closed, parts);
                }
            }
        }
    }
    parts
}

fn close(open: Open, inner: Vec<Part>) -> Vec<Part> {
    let Open {
        mut directive,
        outer: mut parts,
        in_else,
    } = open;
    match &mut directive {
        Part::If { yes, no, .. } => *(if in_else { no } else { yes }) = inner,
        Part::For { body, .. } => *body = inner,
        Part::Text(_) | Part::Value(_) => {}
    }
    parts.push(directive);
    parts
}
