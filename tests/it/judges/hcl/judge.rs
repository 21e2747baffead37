//! The outline of a file as hcl-edit parses it.

use hcl_edit::expr::{
    BinaryOperator, Expression, ForExpr, FuncCall, Object, ObjectKey, Traversal, TraversalOperator,
    UnaryOperator,
};
use hcl_edit::structure::{Block, Body, Structure};
use hcl_edit::template::{Directive, Element, Strip, Template};

use super::outline::{self, Text};

/// Returns the outline of `text`, or the error of hcl-edit.
pub(super) fn outline(text: &str) -> Result<String, String> {
    let body = hcl_edit::parser::parse_body(text).map_err(|error| error.to_string())?;
    Ok(outline_of(&body))
}

/// Returns the outline of a body. Arguments come before blocks, because tflock's parser keeps them in separate lists.
fn outline_of(body: &Body) -> String {
    let arguments = body.iter().filter_map(Structure::as_attribute);
    let arguments = arguments.map(|argument| (argument.key.to_string(), value(&argument.value)));
    let blocks = body.iter().filter_map(Structure::as_block);
    outline::body(arguments, blocks.map(block))
}

fn block(block: &Block) -> String {
    let labels = block.labels.iter().map(|label| label.as_str().to_owned());
    outline::block(&block.ident, labels, &outline_of(&block.body))
}

fn value(expression: &Expression) -> String {
    match expression {
        Expression::Null(_) => "null".to_owned(),
        Expression::Bool(value) => value.to_string(),
        Expression::Number(number) => outline::number(&number.value().to_string()),
        Expression::String(text) => outline::template([Text::Plain(text.to_string())]),
        Expression::Array(array) => outline::list("tuple", array.iter().map(value)),
        Expression::Object(object) => entries(object),
        Expression::StringTemplate(template) => {
            outline::template(parts(template.iter(), Strip::None))
        }
        Expression::HeredocTemplate(heredoc) => {
            outline::template(parts(heredoc.template.iter(), Strip::None))
        }
        Expression::Parenthesis(inner) => outline::list("parentheses", [value(inner.inner())]),
        Expression::Variable(name) => outline::variable(name),
        Expression::Conditional(it) => {
            let operands = [&it.cond_expr, &it.true_expr, &it.false_expr];
            outline::list("conditional", operands.map(value))
        }
        Expression::FuncCall(call) => call_of(call),
        Expression::Traversal(traversal) => traverse(traversal),
        Expression::UnaryOp(it) => outline::unary(unary(*it.operator.value()), value(&it.expr)),
        Expression::BinaryOp(it) => {
            let operands = [value(&it.lhs_expr), value(&it.rhs_expr)];
            outline::list(binary(*it.operator.value()), operands)
        }
        Expression::ForExpr(it) => for_expression(it),
    }
}

fn entries(object: &Object) -> String {
    let entries = object.iter().map(|(key, entry)| {
        let key = match key {
            ObjectKey::Ident(name) => outline::key(name),
            // As keys, `null`, `true` and `false` are names.
            ObjectKey::Expression(key @ (Expression::Null(_) | Expression::Bool(_))) => {
                outline::key(&value(key))
            }
            ObjectKey::Expression(key) => value(key),
        };
        outline::list("entry", [key, value(entry.expr())])
    });
    outline::list("object", entries)
}

fn call_of(call: &FuncCall) -> String {
    let namespaces = call.name.namespace.iter().map(|name| name.as_str());
    let names: Vec<&str> = namespaces.chain([call.name.name.as_str()]).collect();
    let arguments = call.args.iter().map(value);
    outline::call(&names.join("::"), call.args.expand_final(), arguments)
}

fn traverse(traversal: &Traversal) -> String {
    let operators = traversal.operators.iter();
    operators.fold(value(&traversal.expr), |source, operator| {
        match operator.value() {
            TraversalOperator::AttrSplat(_) | TraversalOperator::FullSplat(_) => {
                outline::splat(&source)
            }
            TraversalOperator::GetAttr(name) => outline::attribute(source, name),
            TraversalOperator::Index(key) => outline::list("index", [source, value(key)]),
            TraversalOperator::LegacyIndex(key) => {
                outline::list("index", [source, outline::number(&key.to_string())])
            }
        }
    })
}

fn for_expression(it: &ForExpr) -> String {
    outline::for_expression(outline::For {
        key_name: it.intro.key_var.as_ref().map(|name| name.as_str()),
        value_name: &it.intro.value_var,
        collection: value(&it.intro.collection_expr),
        key: it.key_expr.as_ref().map(value),
        value: value(&it.value_expr),
        condition: it.cond.as_ref().map(|condition| value(&condition.expr)),
        grouped: it.grouping,
    })
}

/// Returns the parts of a template. hcl-edit keeps white space next to a `~`, so this function removes it. At the
/// edges, it strips the beginning if `around.strip_end()` is true, and the end if `around.strip_start()` is true.
fn parts<'a>(elements: impl Iterator<Item = &'a Element>, around: Strip) -> Vec<Text> {
    let elements: Vec<&Element> = elements.collect();
    let part = |at: usize| match elements[at] {
        Element::Literal(text) => {
            let before = at.checked_sub(1).map(|at| strip_of(elements[at]).1);
            let after = elements.get(at + 1).map(|next| strip_of(next).0);
            let mut text = text.as_str();
            if before.unwrap_or(around.strip_end()) {
                text = text.trim_start();
            }
            if after.unwrap_or(around.strip_start()) {
                text = text.trim_end();
            }
            Text::Plain(text.to_owned())
        }
        Element::Interpolation(it) => Text::Sequence(outline::list("value", [value(&it.expr)])),
        Element::Directive(directive) => Text::Sequence(directive_of(directive)),
    };
    (0..elements.len()).map(part).collect()
}

/// Returns whether an element strips the text before it, and whether it strips the text after it.
fn strip_of(element: &Element) -> (bool, bool) {
    match element {
        Element::Literal(_) => (false, false),
        Element::Interpolation(it) => (it.strip.strip_start(), it.strip.strip_end()),
        Element::Directive(directive) => match &**directive {
            Directive::If(it) => (
                it.if_expr.strip.strip_start(),
                it.endif_expr.strip.strip_end(),
            ),
            Directive::For(it) => (
                it.for_expr.strip.strip_start(),
                it.endfor_expr.strip.strip_end(),
            ),
        },
    }
}

fn directive_of(directive: &Directive) -> String {
    match directive {
        Directive::If(it) => {
            let end = it.endif_expr.strip;
            let middle = it.else_expr.as_ref().map_or(end, |it| it.strip);
            let yes = inner(&it.if_expr.template, it.if_expr.strip, middle);
            let no = it
                .else_expr
                .as_ref()
                .map(|it| inner(&it.template, it.strip, end));
            let no = no.unwrap_or_else(|| outline::template([]));
            outline::list("if", [value(&it.if_expr.cond_expr), yes, no])
        }
        Directive::For(it) => {
            let key = it.for_expr.key_var.as_ref().map(|name| name.as_str());
            let collection = value(&it.for_expr.collection_expr);
            let body = inner(
                &it.for_expr.template,
                it.for_expr.strip,
                it.endfor_expr.strip,
            );
            outline::for_directive(key, &it.for_expr.value_var, collection, body)
        }
    }
}

/// Returns the outline of the template between two directives.
fn inner(template: &Template, before: Strip, after: Strip) -> String {
    let around = Strip::from((after.strip_start(), before.strip_end()));
    outline::template(parts(template.iter(), around))
}

const fn unary(operator: UnaryOperator) -> &'static str {
    match operator {
        UnaryOperator::Neg => "-",
        UnaryOperator::Not => "!",
    }
}

const fn binary(operator: BinaryOperator) -> &'static str {
    match operator {
        BinaryOperator::Eq => "==",
        BinaryOperator::NotEq => "!=",
        BinaryOperator::LessEq => "<=",
        BinaryOperator::GreaterEq => ">=",
        BinaryOperator::Less => "<",
        BinaryOperator::Greater => ">",
        BinaryOperator::Plus => "+",
        BinaryOperator::Minus => "-",
        BinaryOperator::Mul => "*",
        BinaryOperator::Div => "/",
        BinaryOperator::Mod => "%",
        BinaryOperator::And => "&&",
        BinaryOperator::Or => "||",
    }
}
