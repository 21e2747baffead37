//! Assembles templates from flat lists of pieces: trims whitespace, removes indentation, and nests directives.

use super::expr::{Expr, TemplatePart};
use super::parser::sink::Trim;

/// A piece of a template. The pieces of a template form a flat list in source order.
pub(super) enum TemplatePiece {
    Text(String),
    Value(Expr, Trim),
    /// `%{ if }` or `%{ for }`. Its nested parts are still empty; [`nest`] moves them into it.
    Open(TemplatePart, Trim),
    Else(Trim),
    /// `%{ endif }` or `%{ endfor }`.
    End(Trim),
}

impl TemplatePiece {
    const fn trim(&self) -> Option<Trim> {
        match self {
            Self::Text(_) => None,
            Self::Value(_, trim) | Self::Open(_, trim) | Self::Else(trim) | Self::End(trim) => {
                Some(*trim)
            }
        }
    }
}

/// Assembles the parts of a template. If `flush` is set, as in heredocs with `<<-`, the common indentation is removed.
pub(super) fn assemble(mut pieces: Vec<TemplatePiece>, flush: bool) -> Vec<TemplatePart> {
    trim(&mut pieces);
    if flush {
        remove_indentation(&mut pieces);
    }
    nest(pieces)
}

/// Applies `~`, which removes whitespace from the adjacent piece of text. A piece of text never spans more than one line.
fn trim(pieces: &mut [TemplatePiece]) {
    for at in 0..pieces.len() {
        let Some(trim) = pieces[at].trim() else {
            continue;
        };
        if trim.before
            && let Some(TemplatePiece::Text(text)) = at.checked_sub(1).map(|at| &mut pieces[at])
        {
            text.truncate(text.trim_end().len());
        }
        if trim.after
            && let Some(TemplatePiece::Text(text)) = pieces.get_mut(at + 1)
        {
            *text = text.trim_start().to_owned();
        }
    }
}

/// Removes the indentation of the least indented line from every line. Blank lines are ignored.
fn remove_indentation(pieces: &mut [TemplatePiece]) {
    let mut least = usize::MAX;
    let mut starts = Vec::new();
    let mut line_start = true;
    for (at, piece) in pieces.iter().enumerate() {
        let TemplatePiece::Text(text) = piece else {
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
        if let TemplatePiece::Text(text) = &mut pieces[at] {
            *text = text.chars().skip(least).collect();
        }
    }
}

/// A directive whose `endif` or `endfor` has not been reached yet.
struct UnclosedDirective {
    directive: TemplatePart,
    /// The parts before the directive.
    outer: Vec<TemplatePart>,
    in_else: bool,
}

impl UnclosedDirective {
    fn set_parts(&mut self, parts: Vec<TemplatePart>) {
        match &mut self.directive {
            TemplatePart::If { yes, no, .. } => *(if self.in_else { no } else { yes }) = parts,
            TemplatePart::For { body, .. } => *body = parts,
            TemplatePart::Text(_) | TemplatePart::Value(_) => {}
        }
    }
}

/// Moves the pieces between a directive and its end into the directive. The parser has already checked that directives are
/// balanced.
fn nest(pieces: Vec<TemplatePiece>) -> Vec<TemplatePart> {
    let mut unclosed: Vec<UnclosedDirective> = Vec::new();
    let mut parts: Vec<TemplatePart> = Vec::new();
    for piece in pieces {
        match piece {
            TemplatePiece::Text(text) => match parts.last_mut() {
                Some(TemplatePart::Text(before)) => before.push_str(&text),
                _ => parts.push(TemplatePart::Text(text)),
            },
            TemplatePiece::Value(value, _) => parts.push(TemplatePart::Value(value)),
            TemplatePiece::Open(directive, _) => unclosed.push(UnclosedDirective {
                directive,
                outer: std::mem::take(&mut parts),
                in_else: false,
            }),
            TemplatePiece::Else(_) => {
                if let Some(innermost) = unclosed.last_mut() {
                    innermost.set_parts(std::mem::take(&mut parts));
                    innermost.in_else = true;
                }
            }
            TemplatePiece::End(_) => {
                if let Some(mut innermost) = unclosed.pop() {
                    innermost.set_parts(parts);
                    parts = innermost.outer;
                    parts.push(innermost.directive);
                }
            }
        }
    }
    parts
}
