//! Where hcl-edit and our parser disagree. Terraform and OpenTofu are on our side each time.

use regex::Regex;

use super::{Disagreement, Judgment, judge, ours};

/// A way to disagree about a file that hcl-edit parses.
pub(super) struct Exception {
    /// What hcl-edit does otherwise.
    pub(super) reason: &'static str,
    /// The smallest file that shows it.
    pub(super) example: &'static str,
    /// Our refusal of such files, or a pattern of their text.
    pub(super) sign: Sign,
}

pub(super) enum Sign {
    /// We refuse the file, with a problem that begins with this.
    Refusal(&'static str),
    /// The text matches this.
    Pattern(&'static str),
}

impl Exception {
    /// Whether the disagreement may be of this kind.
    pub(super) fn applies(&self, text: &str, both: &Disagreement) -> bool {
        match self.sign {
            Sign::Refusal(problem) => {
                matches!(&both.ours, Err(refusal) if refusal.starts_with(problem))
            }
            Sign::Pattern(pattern) => Regex::new(pattern).unwrap().is_match(text),
        }
    }
}

/// All that generated and recorded files have shown.
pub(super) const EXCEPTIONS: &[Exception] = &[
    Exception {
        reason: "a quoted string goes on after the end of its line",
        example: "a = \"x\ny\"\n",
        sign: Sign::Refusal("MultiLineString"),
    },
    Exception {
        reason: "a carriage return may stand alone",
        example: "a {}\n\rb {}\n",
        sign: Sign::Refusal("InvalidCharacter('\\r')"),
    },
    Exception {
        reason: "`.0.0` is two indexes, not one number",
        example: "a = b.0.0\n",
        sign: Sign::Refusal("ChainedLegacyIndex"),
    },
    Exception {
        reason: "a number ends where the next character could not go on, not at the last one that numbers may have",
        example: "a = 2.E-1\n",
        sign: Sign::Pattern(r"[0-9]\.[eE][-+]?[0-9]|[0-9]\.[0-9]+\.[0-9]"),
    },
    Exception {
        reason: "an operator on the next line continues a tuple",
        example: "a = [1]\n- 2\n",
        sign: Sign::Refusal("ItemRequired"),
    },
    Exception {
        reason: "`.*` may follow another one",
        example: "a = b.*.c.*.d\n",
        sign: Sign::Refusal("AttributeNameRequired"),
    },
    Exception {
        reason: "`in` and `if` need no space behind them",
        example: "a = [for v inb : v]\n",
        sign: Sign::Refusal("InvalidFor"),
    },
    Exception {
        reason: "a heredoc needs a line before its end marker",
        example: "a = <<E\nE\nb = <<E\nE\n",
        sign: Sign::Pattern(r"<<-?[A-Z]+\r?\n[ \t]*[A-Z]"),
    },
    Exception {
        reason: "`<<-` takes the indentation of texts after a sequence for that of a line",
        example: "a = <<-E\n    y ${a}\nx\nE\n",
        sign: Sign::Pattern(r"(?s)<<-.*[$%]\{"),
    },
    Exception {
        reason: "`~` in a heredoc takes more than the rest of one line",
        example: "a = <<E\nx\n\n${~ b}\nE\n",
        sign: Sign::Pattern(r"(?s)<<.*~"),
    },
    Exception {
        reason: "text in directives has no escapes and no end, even within quotes",
        example: "a = \"%{ if b }\\n%{ endif }\"\n",
        sign: Sign::Pattern(r"%\{"),
    },
];

/// We accept objects with equal keys: it is for the evaluation to refuse them.
pub(super) fn is_repeated_key(both: &Disagreement) -> bool {
    matches!((&both.judge, &both.ours), (Err(refusal), Ok(_)) if refusal.contains("redefined object key"))
}

/// The examples are exceptions, and each is covered by its own sign.
#[test]
fn every_exception_is_one() {
    for exception in EXCEPTIONS {
        let Judgment::Different(both) = judge(exception.example) else {
            panic!("no disagreement any more: {}", exception.reason);
        };
        assert!(
            exception.applies(exception.example, &both),
            "{}: {both:#?}",
            exception.reason
        );
    }
}

/// Not the judge's business: what it refuses and Terraform accepts. `src/syntax/mod.rs` names them.
#[test]
fn files_that_hcl_edit_refuses() {
    for (text, reason) in [
        ("a = { b = 1, b = 2 }\n", "equal keys"),
        ("\u{feff}a = 1\n", "a byte order mark"),
        (
            "a = { for k, v in b : k => v\n+ 1 }\n",
            "a line feed around an operator in `{for}`",
        ),
        ("a = <<E\nx\n E y\nE\n", "text after an end marker"),
    ] {
        assert!(matches!(judge(text), Judgment::Refused(_)), "{reason}");
        assert!(
            ours::outline(text).is_ok(),
            "{reason}: {:?}",
            ours::outline(text)
        );
    }
}
