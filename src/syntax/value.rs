//! Expression values, and conversions between primitive types that follow Terraform's rules.

use std::borrow::Cow;
use std::collections::BTreeMap;

use icu_normalizer::ComposingNormalizerBorrowed;

use super::number::Number;

/// The value of an expression. Text is in Unicode normalization form C, as in Terraform: `From` normalizes it.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub enum Value {
    #[default]
    Null,
    Bool(bool),
    Number(Number),
    String(String),
    /// Elements of one type, in order.
    List(Vec<Self>),
    /// Unique elements of one type. [`Value::set`] creates a set and determines the order of its elements.
    Set(Vec<Self>),
    /// Values of one type by key.
    Map(BTreeMap<String, Self>),
    /// Elements in order, such as `[1, "a"]`.
    Tuple(Vec<Self>),
    /// Attributes by name, such as `{ a = 1, b = "x" }`.
    Object(BTreeMap<String, Self>),
    /// A value that is known only during a Terraform run.
    Unknown,
    /// A value that must not be shown and must not become part of an address. Values computed from it count as unknown.
    Sensitive(Box<Self>),
}

/// The start of a hole. A hole is a placeholder for unknown text in a string, and contains a description of the text's origin. Its
/// first and last characters are Unicode noncharacters, which no text contains.
pub const HOLE_START: char = '\u{FDD0}';

/// The end of a hole.
pub const HOLE_END: char = '\u{FDD1}';

/// The additional cost of a non-empty object, in values: a map allocates memory for several entries at once.
pub(super) const MAP_VALUES: usize = 10;

/// The maximum length, in bytes, at which a number's text takes no more memory than the number itself.
const SHORT_NUMBER: usize = 48;

impl Value {
    /// Returns the type with its article, for messages.
    pub const fn type_name(&self) -> &'static str {
        match self {
            Self::Null => "null",
            Self::Bool(_) => "a boolean",
            Self::Number(_) => "a number",
            Self::String(_) => "a string",
            Self::List(_) | Self::Tuple(_) => "a list",
            Self::Set(_) => "a set",
            Self::Map(_) => "a map",
            Self::Object(_) => "an object",
            Self::Unknown => "not known before apply",
            Self::Sensitive(_) => "sensitive",
        }
    }

    /// Returns the elements of a list, set or tuple.
    pub fn elements(&self) -> Option<&[Self]> {
        match self {
            Self::List(elements) | Self::Set(elements) | Self::Tuple(elements) => Some(elements),
            _ => None,
        }
    }

    /// Returns the entries of a map or object.
    pub const fn entries(&self) -> Option<&BTreeMap<String, Self>> {
        match self {
            Self::Map(entries) | Self::Object(entries) => Some(entries),
            _ => None,
        }
    }

    /// Converts to a string: numbers in decimal, booleans as words. Returns `None` for null, collections and unknown values.
    pub fn to_text(&self) -> Option<String> {
        match self {
            Self::String(text) => Some(text.clone()),
            Self::Number(number) => Some(number.to_string()),
            Self::Bool(value) => Some(value.to_string()),
            _ => None,
        }
    }

    /// Converts to a number. A string converts if it is a number literal.
    pub fn to_number(&self) -> Option<Number> {
        match self {
            Self::Number(number) => Some(number.clone()),
            Self::String(text) => Number::parse(text),
            _ => None,
        }
    }

    /// Converts to a boolean. The strings `true`, `false`, `1` and `0` convert.
    pub fn to_bool(&self) -> Option<bool> {
        match self {
            Self::Bool(value) => Some(*value),
            Self::String(text) => match text.as_str() {
                "true" | "1" => Some(true),
                "false" | "0" => Some(false),
                _ => None,
            },
            _ => None,
        }
    }

    /// Returns the approximate memory cost, in values and in bytes of text, including nested values.
    pub fn cost(&self) -> (usize, usize) {
        let mut cost = (0, 0);
        self.add_cost(&mut cost);
        cost
    }

    fn add_cost(&self, cost: &mut (usize, usize)) {
        cost.0 += 1;
        match self {
            Self::String(text) => cost.1 += text.len(),
            // This is the cost of the text to which the number may be converted.
            Self::Number(number) => cost.1 += number.text_length() / SHORT_NUMBER * SHORT_NUMBER,
            Self::List(elements) | Self::Set(elements) | Self::Tuple(elements) => {
                for element in elements {
                    element.add_cost(cost);
                }
            }
            Self::Map(entries) | Self::Object(entries) if !entries.is_empty() => {
                cost.0 += MAP_VALUES;
                for (key, value) in entries {
                    cost.0 += 1;
                    cost.1 += key.len();
                    value.add_cost(cost);
                }
            }
            Self::Sensitive(inner) => inner.add_cost(cost),
            _ => {}
        }
    }

    /// Returns the total number of digits in the long numbers of this value, including nested ones. Computing with long numbers and
    /// writing them takes time.
    pub fn digits(&self) -> usize {
        match self {
            Self::Number(number) => {
                let length = number.text_length();
                if length > SHORT_NUMBER { length } else { 0 }
            }
            Self::List(elements) | Self::Set(elements) | Self::Tuple(elements) => {
                elements.iter().map(Self::digits).sum()
            }
            Self::Map(entries) | Self::Object(entries) => entries.values().map(Self::digits).sum(),
            _ => 0,
        }
    }

    /// Whether the value is unknown, sensitive, or a string with a hole.
    pub fn is_unknown(&self) -> bool {
        match self {
            Self::Unknown | Self::Sensitive(_) => true,
            Self::String(text) => text.contains(HOLE_START),
            _ => false,
        }
    }

    /// Whether the value or a nested value is unknown.
    pub fn has_unknown(&self) -> bool {
        match self {
            Self::List(elements) | Self::Set(elements) | Self::Tuple(elements) => {
                elements.iter().any(Self::has_unknown)
            }
            Self::Map(entries) | Self::Object(entries) => entries.values().any(Self::has_unknown),
            single => single.is_unknown(),
        }
    }
}

/// Composes characters, such as a letter and an accent that follows it.
pub fn normalized(text: &str) -> Cow<'_, str> {
    ComposingNormalizerBorrowed::new_nfc().normalize(text)
}

impl From<&str> for Value {
    fn from(text: &str) -> Self {
        Self::String(normalized(text).into_owned())
    }
}

impl From<String> for Value {
    fn from(text: String) -> Self {
        match normalized(&text) {
            Cow::Borrowed(_) => Self::String(text),
            Cow::Owned(composed) => Self::String(composed),
        }
    }
}

impl From<bool> for Value {
    fn from(value: bool) -> Self {
        Self::Bool(value)
    }
}

impl From<Number> for Value {
    fn from(number: Number) -> Self {
        Self::Number(number)
    }
}
