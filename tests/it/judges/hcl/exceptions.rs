//! Files that hcl-edit and tflock parse differently. In each case, Terraform and OpenTofu agree with tflock.

use regex::Regex;

use super::{Disagreement, Judgment, judge, ours};

/// A known difference in how the two parse files that hcl-edit accepts.
pub(super) struct HclException {
    /// What hcl-edit does differently.
    pub(super) reason: &'static str,
    /// The smallest file with this difference.
    pub(super) example: &'static str,
    /// How to recognize such a file: by tflock's error or by the file's text.
    pub(super) sign: DifferenceSign,
}

pub(super) enum DifferenceSign {
    /// tflock rejects the file with an error that begins with this text.
    Refusal(&'static str),
    /// The text matches this pattern.
    Pattern(&'static str),
}

impl HclException {
    /// Returns whether this exception explains the difference.
    pub(super) fn applies(&self, text: &str, both: &Disagreement) -> bool {
        match self.sign {
            DifferenceSign::Refusal(problem) => {
                matches!(&both.ours, Err(refusal) if refusal.starts_with(problem))
            }
            DifferenceSign::Pattern(pattern) => Regex::new(pattern).unwrap().is_match(text),
        }
    }
}

/// All differences found so far in generated and recorded files.
pub(super) const EXCEPTIONS: &[HclException] = &[
    HclException {
        reason: "a quoted string may continue on the next line",
        example: "a = \"x\ny\"\n",
        sign: DifferenceSign::Refusal("MultiLineString"),
    },
    HclException {
        reason: "a carriage return need not be followed by a line feed",
        example: "a {}\n\rb {}\n",
        sign: DifferenceSign::Refusal("InvalidCharacter('\\r')"),
    },
    HclException {
        reason: "`.0.0` is two indexes, not one number",
        example: "a = b.0.0\n",
        sign: DifferenceSign::Refusal("ChainedLegacyIndex"),
    },
    HclException {
        reason: "a number ends before the first character that cannot continue it, even if that character occurs in other numbers",
        example: "a = 2.E-1\n",
        sign: DifferenceSign::Pattern(r"[0-9]\.[eE][-+]?[0-9]|[0-9]\.[0-9]+\.[0-9]"),
    },
    HclException {
        reason: "an operator on the next line continues a tuple",
        example: "a = [1]\n- 2\n",
        sign: DifferenceSign::Refusal("ItemRequired"),
    },
    HclException {
        reason: "`.*` may follow `.*`",
        example: "a = b.*.c.*.d\n",
        sign: DifferenceSign::Refusal("AttributeNameRequired"),
    },
    HclException {
        reason: "`in` and `if` need not be followed by a space",
        example: "a = [for v inb : v]\n",
        sign: DifferenceSign::Refusal("InvalidFor"),
    },
    HclException {
        reason: "a heredoc needs a line before its end marker",
        example: "a = <<E\nE\nb = <<E\nE\n",
        sign: DifferenceSign::Pattern(r"<<-?[A-Z]+\r?\n[ \t]*[A-Z]"),
    },
    HclException {
        reason: "with `<<-`, spaces after `${...}` count as the indentation of a line",
        example: "a = <<-E\n    y ${a}\nx\nE\n",
        sign: DifferenceSign::Pattern(r"(?s)<<-.*[$%]\{"),
    },
    HclException {
        reason: "`~` in a heredoc strips more than the rest of its line",
        example: "a = <<E\nx\n\n${~ b}\nE\n",
        sign: DifferenceSign::Pattern(r"(?s)<<.*~"),
    },
    HclException {
        reason: "text between directives has no escape sequences, and a quote does not end it",
        example: "a = \"%{ if b }\\n%{ endif }\"\n",
        sign: DifferenceSign::Pattern(r"%\{"),
    },
];

/// Returns whether hcl-edit rejects a duplicate object key. tflock parses it, because evaluation rejects it.
pub(super) fn is_repeated_key(both: &Disagreement) -> bool {
    matches!((&both.judge, &both.ours), (Err(refusal), Ok(_)) if refusal.contains("redefined object key"))
}

/// Each example shows a difference, and the exception it belongs to explains that difference.
#[test]
fn every_exception_example_shows_its_difference() {
    for exception in EXCEPTIONS {
        let Judgment::Different(both) = judge(exception.example) else {
            panic!("the parsers now agree: {}", exception.reason);
        };
        assert!(
            exception.applies(exception.example, &both),
            "{}: {both:#?}",
            exception.reason
        );
    }
}

/// Files that hcl-edit rejects but Terraform accepts. The comparison skips them. `src/syntax/mod.rs` lists them.
#[test]
fn files_that_hcl_edit_refuses() {
    for (text, reason) in [
        ("a = { b = 1, b = 2 }\n", "duplicate keys"),
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
