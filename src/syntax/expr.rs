//! Expression trees.

use crate::span::Span;

use super::number::Number;

/// The maximum depth of a tree. The parser does not recurse, but evaluation does: this many levels fit on a thread's 2 MB stack
/// in any build. Handwritten expressions have a few levels.
pub const MAX_DEPTH: usize = 200;

/// The maximum length, in bytes, of an expression that is parsed into a tree. A tree can take 50 times as much memory as its text.
pub const MAX_EXPRESSION: usize = 512 << 10;

/// An expression and its source range.
#[derive(Clone, Debug, PartialEq)]
pub struct Expr {
    pub span: Span,
    pub kind: ExprKind,
    /// The depth of the tree: 1 for a leaf, at most [`MAX_DEPTH`].
    pub(super) depth: usize,
}

#[derive(Clone, Debug, PartialEq)]
pub enum ExprKind {
    Null,
    Bool(bool),
    /// `1.5`.
    Number(Number),
    /// A string, a heredoc, or a bare template.
    Template(Vec<TemplatePart>),
    /// A name, either alone or at the start of a traversal.
    Variable(String),
    /// `value.name`.
    Attribute(Box<Expr>, String),
    /// `value[key]` or `value.0`.
    Index(Box<Expr>, Box<Expr>),
    /// `value[*]...`: evaluates the second expression for each element of the first. [`ExprKind::Item`] is the element.
    Splat(Box<Expr>, Box<Expr>),
    /// The current element of a splat.
    Item,
    /// `name(arguments...)`.
    Call(FunctionCall),
    /// `(value)`.
    Parentheses(Box<Expr>),
    /// `[a, b]`.
    Tuple(Vec<Expr>),
    /// `{ key = value }`.
    Object(Vec<ObjectEntry>),
    /// `-a` or `!a`.
    Unary(UnaryOperator, Box<Expr>),
    /// `a + b`.
    Binary(BinaryOperator, Box<Expr>, Box<Expr>),
    /// `condition ? yes : no`.
    Conditional(Box<[Expr; 3]>),
    /// `[for ...]` or `{for ...}`.
    For(Box<ForExpr>),
}

#[derive(Clone, Debug, PartialEq)]
pub enum TemplatePart {
    /// Literal text.
    Text(String),
    /// `${value}`.
    Value(Expr),
    /// `%{ if condition }...%{ else }...%{ endif }`.
    If {
        condition: Expr,
        yes: Vec<Self>,
        no: Vec<Self>,
    },
    /// `%{ for ... }...%{ endfor }`.
    For {
        variables: ForVariables,
        collection: Expr,
        body: Vec<Self>,
    },
}

/// The variable names of a `for` expression or directive.
#[derive(Clone, Debug, PartialEq)]
pub struct ForVariables {
    pub key: Option<String>,
    pub value: String,
}

#[derive(Clone, Debug, PartialEq)]
pub struct FunctionCall {
    /// The name with its namespaces, such as `core::upper`.
    pub name: String,
    pub name_span: Span,
    pub arguments: Vec<Expr>,
    /// Whether the last argument is expanded into several (`...`).
    pub expand: bool,
}

#[derive(Clone, Debug, PartialEq)]
pub struct ObjectEntry {
    /// The key. A bare name is the key itself, not a variable.
    pub key: Expr,
    pub value: Expr,
}

/// A `for` expression.
#[derive(Clone, Debug, PartialEq)]
pub struct ForExpr {
    pub variables: ForVariables,
    pub collection: Expr,
    /// The key of each entry, if the result is an object.
    pub key: Option<Expr>,
    pub value: Expr,
    pub condition: Option<Expr>,
    /// Whether values with the same key are grouped into a list (`...`).
    pub grouped: bool,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum UnaryOperator {
    /// `-`.
    Negate,
    /// `!`.
    Not,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
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
    /// Returns the precedence. Operators of higher precedence bind more tightly; all are left-associative.
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
    pub const fn depth(&self) -> usize {
        self.depth
    }

    /// Whether this is a reference: a name, or a part of its value, such as `local.a[0].b`.
    pub fn is_reference(&self) -> bool {
        match &self.kind {
            ExprKind::Variable(_) => true,
            ExprKind::Attribute(source, _)
            | ExprKind::Index(source, _)
            | ExprKind::Splat(source, _) => source.is_reference(),
            _ => false,
        }
    }

    /// Returns the text if this is a string literal: a template without interpolations and directives.
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

    /// Returns the names in a reference without indexes, such as `a.b.c`. The first name may be a keyword: `null.a` refers to the
    /// provider `null`. `None` for all other expressions.
    pub fn as_names(&self) -> Option<Vec<&str>> {
        let mut names = Vec::new();
        let mut expr = self;
        while let ExprKind::Attribute(source, name) = &expr.kind {
            names.push(name.as_str());
            expr = source;
        }
        names.push(expr.as_bare_name()?);
        names.reverse();
        Some(names)
    }

    /// Returns the name if this is a bare name. Keywords such as `true` count as names, as they do in an object key or at the start of
    /// a reference.
    pub fn as_bare_name(&self) -> Option<&str> {
        match &self.kind {
            ExprKind::Variable(name) => Some(name),
            ExprKind::Bool(true) => Some("true"),
            ExprKind::Bool(false) => Some("false"),
            ExprKind::Null => Some("null"),
            _ => None,
        }
    }
}
