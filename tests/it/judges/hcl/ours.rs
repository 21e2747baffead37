//! The outline of a file as tflock parses it.

use tflock::syntax::{
    BinaryOperator, Block, Body, Expr, ExprKind, ForExpr, ObjectEntry, SourceFile, Strings,
    TemplatePart, UnaryOperator,
};

use super::outline::{self, Text};

/// Returns the outline of `text`, or the error of tflock's parser.
pub(super) fn outline(text: &str) -> Result<String, String> {
    let file = SourceFile::parse("main.tf", text.as_bytes().to_vec());
    let file = file.map_err(|error| format!("{:?}", error.problem))?;
    Ok(outline_of(&file.body()))
}

fn outline_of(body: &Body<'_>) -> String {
    let arguments = body.arguments().expect("native syntax").into_iter();
    let arguments = arguments.map(|argument| {
        let expression = argument
            .value()
            .tree(Strings::Plain)
            .expect("the generator does not nest deeply");
        (argument.name().to_owned(), value(&expression))
    });
    outline::body(arguments, body.native_blocks().map(|it| block(&it)))
}

fn block(block: &Block<'_>) -> String {
    let labels = block.labels().iter().map(|label| label.text.clone());
    outline::block(block.kind(), labels, &outline_of(block.body()))
}

fn value(expression: &Expr) -> String {
    use outline::list;
    match &expression.kind {
        ExprKind::Null => "null".to_owned(),
        ExprKind::Bool(value) => value.to_string(),
        ExprKind::Number(number) => outline::number(&number.to_string()),
        ExprKind::Template(parts) => template(parts),
        ExprKind::Variable(name) => outline::variable(name),
        ExprKind::Attribute(source, name) => outline::attribute(value(source), name),
        ExprKind::Index(source, key) => list("index", [value(source), value(key)]),
        // `each` starts with the item, which is replaced with the outline of the splat.
        ExprKind::Splat(source, each) => {
            value(each).replacen(ITEM, &outline::splat(&value(source)), 1)
        }
        ExprKind::Item => ITEM.to_owned(),
        ExprKind::Call(call) => {
            outline::call(&call.name, call.expand, call.arguments.iter().map(value))
        }
        ExprKind::Parentheses(inner) => list("parentheses", [value(inner)]),
        ExprKind::Tuple(elements) => list("tuple", elements.iter().map(value)),
        ExprKind::Object(entries) => list("object", entries.iter().map(entry)),
        ExprKind::Unary(operator, operand) => outline::unary(unary(*operator), value(operand)),
        ExprKind::Binary(operator, left, right) => {
            list(binary(*operator), [value(left), value(right)])
        }
        ExprKind::Conditional(operands) => list("conditional", operands.iter().map(value)),
        ExprKind::For(it) => for_expression(it),
    }
}

/// A placeholder for [`ExprKind::Item`] until the surrounding splat is known. No generated text contains it.
const ITEM: &str = "\u{0}item";

fn entry(entry: &ObjectEntry) -> String {
    let key = entry
        .key
        .as_bare_name()
        .map_or_else(|| value(&entry.key), outline::key);
    outline::list("entry", [key, value(&entry.value)])
}

fn for_expression(it: &ForExpr) -> String {
    outline::for_expression(outline::For {
        key_name: it.variables.key.as_deref(),
        value_name: &it.variables.value,
        collection: value(&it.collection),
        key: it.key.as_ref().map(value),
        value: value(&it.value),
        condition: it.condition.as_ref().map(value),
        grouped: it.grouped,
    })
}

fn template(parts: &[TemplatePart]) -> String {
    outline::template(parts.iter().map(part))
}

fn part(part: &TemplatePart) -> Text {
    Text::Sequence(match part {
        TemplatePart::Text(text) => return Text::Plain(text.clone()),
        TemplatePart::Value(it) => outline::list("value", [value(it)]),
        TemplatePart::If { condition, yes, no } => {
            outline::list("if", [value(condition), template(yes), template(no)])
        }
        TemplatePart::For {
            variables,
            collection,
            body,
        } => {
            let (key, name) = (variables.key.as_deref(), &variables.value);
            outline::for_directive(key, name, value(collection), template(body))
        }
    })
}

const fn unary(operator: UnaryOperator) -> &'static str {
    match operator {
        UnaryOperator::Negate => "-",
        UnaryOperator::Not => "!",
    }
}

const fn binary(operator: BinaryOperator) -> &'static str {
    match operator {
        BinaryOperator::Or => "||",
        BinaryOperator::And => "&&",
        BinaryOperator::Equal => "==",
        BinaryOperator::NotEqual => "!=",
        BinaryOperator::Less => "<",
        BinaryOperator::LessOrEqual => "<=",
        BinaryOperator::Greater => ">",
        BinaryOperator::GreaterOrEqual => ">=",
        BinaryOperator::Add => "+",
        BinaryOperator::Subtract => "-",
        BinaryOperator::Multiply => "*",
        BinaryOperator::Divide => "/",
        BinaryOperator::Modulo => "%",
    }
}
