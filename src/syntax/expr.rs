//! Expressions as trees.
//!
//! Only the few expressions that tflock needs become trees; the rest of a file is checked and forgotten.

use crate::span::Span;

use super::number::Number;

/// How deep a tree may be. Reading is not bounded by it, only what is evaluated: expressions that people write have a few
/// levels, and this many fit on the 2 MB stack of a thread in any build.
pub const MAX_DEPTH: usize = 200;

/// How long the text of a tree may be: each byte can take fifty in the tree.
pub const MAX_EXPRESSION: usize = 512 << 10;

/// An expression and where it stands.
#[derive(Clone, Debug, PartialEq)]
pub struct Expr {
    /// Its bytes.
    pub span: Span,
    /// What it is.
    pub kind: ExprKind,
    /// How deep it is, 1 for a leaf; at most [`MAX_DEPTH`].
    pub(super) depth: usize,
}

/// The forms of expressions.
#[derive(Clone, Debug, PartialEq)]
pub enum ExprKind {
    /// `null`.
    Null,
    /// `true`, `false`.
    Bool(bool),
    /// `1.5`.
    Number(Number),
    /// A string, a heredoc, or a bare template.
    Template(Vec<TemplatePart>),
    /// A name alone, the start of a traversal.
    Variable(String),
    /// `value.name`.
    Attribute(Box<Expr>, String),
    /// `value[key]`, and `value.0`.
    Index(Box<Expr>, Box<Expr>),
    /// `value[*]...`: the second expression for each element of the first, which is [`ExprKind::Item`] in it.
    Splat(Box<Expr>, Box<Expr>),
    /// The element at hand in a splat.
    Item,
    /// `name(arguments...)`.
    Call(FunctionCall),
    /// `(value)`.
    Parentheses(Box<Expr>),
    /// `[a, b]`.
    Tuple(Vec<Expr>),
    /// `{ key = value }`.
    Object(Vec<ObjectEntry>),
    /// `-a`, `!a`.
    Unary(UnaryOperator, Box<Expr>),
    /// `a + b`.
    Binary(BinaryOperator, Box<Expr>, Box<Expr>),
    /// `condition ? yes : no`.
    Conditional(Box<[Expr; 3]>),
    /// `[for ...]`, `{for ...}`.
    For(Box<ForExpr>),
}

/// A part of a template.
#[derive(Clone, Debug, PartialEq)]
pub enum TemplatePart {
    /// Text as it is.
    Text(String),
    /// `${value}`.
    Value(Expr),
    /// `%{ if condition }...%{ else }...%{ endif }`.
    If {
        /// What decides.
        condition: Expr,
        /// Before `else`.
        yes: Vec<Self>,
        /// After `else`.
        no: Vec<Self>,
    },
    /// `%{ for ... }...%{ endfor }`.
    For {
        /// The variable for keys.
        key: Option<String>,
        /// The variable for values.
        value: String,
        /// What is iterated.
        collection: Expr,
        /// What is repeated.
        body: Vec<Self>,
    },
}

/// A call of a function.
#[derive(Clone, Debug, PartialEq)]
pub struct FunctionCall {
    /// Its name, with namespaces.
    pub name: String,
    /// The place of the name.
    pub name_span: Span,
    /// What is passed.
    pub arguments: Vec<Expr>,
    /// Whether the last argument is a list of arguments (`...`).
    pub expand: bool,
}

/// An entry of an object.
#[derive(Clone, Debug, PartialEq)]
pub struct ObjectEntry {
    /// Its key; a bare name is the key itself ([`Expr::as_key`]).
    pub key: Expr,
    /// Its value.
    pub value: Expr,
}

/// A `for` expression.
#[derive(Clone, Debug, PartialEq)]
pub struct ForExpr {
    /// The variable for keys.
    pub key_name: Option<String>,
    /// The variable for values.
    pub value_name: String,
    /// What is iterated.
    pub collection: Expr,
    /// The key of each entry, where an object is made.
    pub key: Option<Expr>,
    /// The value of each element or entry.
    pub value: Expr,
    /// What filters.
    pub condition: Option<Expr>,
    /// Whether values of one key are gathered in a list (`...`).
    pub grouped: bool,
}

/// Operators before a value.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum UnaryOperator {
    /// `-`.
    Negate,
    /// `!`.
    Not,
}

/// Operators between values.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[expect(missing_docs, reason = "each is called what it does")]
pub enum BinaryOperator {
    Or,
    And,
    Equal,
    NotEqual,
    Less,
    LessOrEqual,
    Greater,
    GreaterOrEqual,
    Add,
    Subtract,
    Multiply,
    Divide,
    Modulo,
}

impl BinaryOperator {
    /// Higher binds stronger; all associate to the left.
    pub(super) const fn precedence(self) -> u8 {
        match self {
            Self::Or => 1,
            Self::And => 2,
            Self::Equal | Self::NotEqual => 3,
            Self::Less | Self::LessOrEqual | Self::Greater | Self::GreaterOrEqual => 4,
            Self::Add | Self::Subtract => 5,
            Self::Multiply | Self::Divide | Self::Modulo => 6,
        }
    }
}

impl Expr {
    /// How deep the tree is, 1 for a leaf.
    pub const fn depth(&self) -> usize {
        self.depth
    }

    /// The text of a string literal: a template that is text only.
    pub fn as_text(&self) -> Option<String> {
        let ExprKind::Template(parts) = &self.kind else {
            return None;
        };
        parts
            .iter()
            .try_fold(String::new(), |text, part| match part {
                TemplatePart::Text(more) => Some(text + more),
                _ => None,
            })
    }

    /// The names of a plain traversal, `a.b.c`: a variable and attributes, nothing else.
    pub fn as_names(&self) -> Option<Vec<&str>> {
        let mut names = Vec::new();
        let mut expr = self;
        loop {
            match &expr.kind {
                ExprKind::Attribute(source, name) => {
                    names.push(name.as_str());
                    expr = source;
                }
                ExprKind::Variable(name) => {
                    names.push(name);
                    names.reverse();
                    return Some(names);
                }
                _ => return None,
            }
        }
    }

    /// The key that a bare name stands for where a key is expected. Constants such as `true` are keys by their name too.
    pub fn as_key(&self) -> Option<&str> {
        match &self.kind {
            ExprKind::Variable(name) => Some(name),
            ExprKind::Bool(true) => Some("true"),
            ExprKind::Bool(false) => Some("false"),
            ExprKind::Null => Some("null"),
            _ => None,
        }
    }
}
