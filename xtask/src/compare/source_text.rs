//! The files of a case, as trees of blocks and arguments. A tree can be written in both syntaxes, and parts of it can be removed.

/// The value of an argument.
#[derive(Clone, Debug)]
pub(super) enum Literal {
    /// A string without templates.
    Text(String),
    /// An expression in native syntax, and the JSON value for it.
    Code(String, String),
    List(Vec<Self>),
    Object(Vec<(String, Self)>),
}

impl Literal {
    pub(super) fn text(text: impl Into<String>) -> Self {
        Self::Text(text.into())
    }

    /// Creates a reference. In JSON, it is a plain string.
    pub(super) fn reference(code: impl Into<String>) -> Self {
        let code = code.into();
        let json = json_string(&code);
        Self::Code(code, json)
    }

    /// Creates a literal that is the same in both syntaxes: a number, `true`, `false` or `null`.
    pub(super) fn plain(code: impl Into<String>) -> Self {
        let code = code.into();
        Self::Code(code.clone(), code)
    }

    /// Creates an expression. In JSON, it is a string with a template.
    pub(super) fn expression(code: impl Into<String>) -> Self {
        let code = code.into();
        let json = json_string(&format!("${{{code}}}"));
        Self::Code(code, json)
    }

    /// Creates a string with templates.
    pub(super) fn template(text: impl Into<String>) -> Self {
        let text = text.into();
        let json = json_string(&text);
        Self::Code(format!("\"{text}\""), json)
    }

    fn native(&self) -> String {
        match self {
            Self::Text(text) => native_string(text),
            Self::Code(code, _) => code.clone(),
            Self::List(items) => {
                let items: Vec<_> = items.iter().map(Self::native).collect();
                format!("[{}]", items.join(", "))
            }
            Self::Object(entries) => {
                let entry = |(key, value): &(String, Self)| format!("{key} = {}", value.native());
                let entries: Vec<_> = entries.iter().map(entry).collect();
                format!("{{ {} }}", entries.join(", "))
            }
        }
    }

    fn json(&self) -> String {
        match self {
            Self::Text(text) => json_string(text),
            Self::Code(_, json) => json.clone(),
            Self::List(items) => {
                let items: Vec<_> = items.iter().map(Self::json).collect();
                format!("[{}]", items.join(", "))
            }
            Self::Object(entries) => {
                let entry = |(key, value): &(String, Self)| {
                    format!("{}: {}", json_string(key), value.json())
                };
                let entries: Vec<_> = entries.iter().map(entry).collect();
                format!("{{{}}}", entries.join(", "))
            }
        }
    }
}

/// A part of a file.
#[derive(Clone, Debug)]
pub(super) enum Node {
    Argument {
        key: String,
        value: Literal,
    },
    Block {
        keyword: String,
        labels: Vec<String>,
        body: Vec<Self>,
    },
    /// Native text, such as a comment or a line of a file in another format. Files in JSON syntax omit it.
    Text(String),
}

impl Node {
    pub(super) fn argument(key: &str, value: Literal) -> Self {
        let key = key.to_owned();
        Self::Argument { key, value }
    }

    pub(super) fn block(keyword: &str, labels: &[&str], body: Vec<Self>) -> Self {
        Self::Block {
            keyword: keyword.to_owned(),
            labels: labels.iter().map(|&label| label.to_owned()).collect(),
            body,
        }
    }

    fn write_native(&self, indent: usize, text: &mut String) {
        let margin = "  ".repeat(indent);
        match self {
            Self::Argument { key, value } => {
                text.push_str(&format!("{margin}{key} = {}\n", value.native()));
            }
            Self::Block {
                keyword,
                labels,
                body,
            } => {
                let labels = labels
                    .iter()
                    .map(|label| format!(" {}", native_string(label)));
                let labels: String = labels.collect();
                text.push_str(&format!("{margin}{keyword}{labels} {{\n"));
                for node in body {
                    node.write_native(indent + 1, text);
                }
                text.push_str(&format!("{margin}}}\n"));
            }
            Self::Text(own) => text.push_str(own),
        }
    }

    /// Returns a property of a JSON object. Keys may be repeated, because the tools merge them.
    fn json(&self) -> Option<String> {
        match self {
            Self::Argument { key, value } => {
                Some(format!("{}: {}", json_string(key), value.json()))
            }
            Self::Block {
                keyword,
                labels,
                body,
            } => {
                let body: Vec<_> = body.iter().filter_map(Self::json).collect();
                let mut value = format!("{{{}}}", body.join(", "));
                for label in labels.iter().rev() {
                    value = format!("{{{}: {value}}}", json_string(label));
                }
                Some(format!("{}: {value}", json_string(keyword)))
            }
            Self::Text(_) => None,
        }
    }

    /// Counts this node and all nodes inside it.
    fn count(&self) -> usize {
        match self {
            Self::Block { body, .. } => 1 + count(body),
            _ => 1,
        }
    }
}

fn count(nodes: &[Node]) -> usize {
    nodes.iter().map(Node::count).sum()
}

/// Removes the node with this number, counted from the first one. Returns whether it exists.
fn remove(nodes: &mut Vec<Node>, number: &mut usize) -> bool {
    for index in 0..nodes.len() {
        if *number == 0 {
            nodes.remove(index);
            return true;
        }
        *number -= 1;
        if let Node::Block { body, .. } = &mut nodes[index]
            && remove(body, number)
        {
            return true;
        }
    }
    false
}

/// A file of a case.
#[derive(Clone, Debug)]
pub(super) struct CaseFile {
    /// The path relative to the root module. Names that end in `.json` have JSON syntax.
    pub(super) path: String,
    pub(super) nodes: Vec<Node>,
    /// Whether lines end in CRLF.
    pub(super) crlf: bool,
}

impl CaseFile {
    pub(super) fn new(path: impl Into<String>, nodes: Vec<Node>) -> Self {
        Self {
            path: path.into(),
            nodes,
            crlf: false,
        }
    }

    /// Creates a file with these lines.
    pub(super) fn of_lines(path: impl Into<String>, text: &str) -> Self {
        let lines = text.split_inclusive('\n');
        let nodes = lines.map(|line| Node::Text(line.to_owned())).collect();
        Self::new(path, nodes)
    }

    pub(super) fn content(&self) -> String {
        let mut nodes = self.nodes.iter();
        let is_text = nodes.all(|node| matches!(node, Node::Text(_))) && !self.nodes.is_empty();
        if self.path.ends_with(".json") && !is_text {
            let properties: Vec<_> = self.nodes.iter().filter_map(Node::json).collect();
            return format!("{{\n  {}\n}}\n", properties.join(",\n  "));
        }
        let mut text = String::new();
        for node in &self.nodes {
            node.write_native(0, &mut text);
        }
        if self.crlf {
            text = text.replace('\n', "\r\n");
        }
        text
    }

    /// Returns the number of parts that can be removed.
    pub(super) fn parts(&self) -> usize {
        count(&self.nodes)
    }

    /// Returns the file without the part with this number.
    pub(super) fn without(&self, mut number: usize) -> Self {
        let mut file = self.clone();
        remove(&mut file.nodes, &mut number);
        file
    }
}

/// Returns a string literal of the native syntax.
pub(super) fn native_string(text: &str) -> String {
    let mut escaped = String::new();
    for character in text.chars() {
        match character {
            '\n' => escaped.push_str("\\n"),
            '\r' => escaped.push_str("\\r"),
            '\t' => escaped.push_str("\\t"),
            '"' => escaped.push_str("\\\""),
            '\\' => escaped.push_str("\\\\"),
            _ => escaped.push(character),
        }
    }
    let escaped = escaped.replace("${", "$${").replace("%{", "%%{");
    format!("\"{escaped}\"")
}

/// Returns a string literal of JSON.
pub(super) fn json_string(text: &str) -> String {
    serde_json::Value::from(text).to_string()
}
