//! Typed access to an XML element that knows where it stands.

use std::ops::Range;

use nalgebra::Vector3;
use roxmltree::{Attribute, Document, Node};

use crate::description::reader::suggestion;
use crate::description::{DescriptionError, Problem};

const XACRO: &str = "expand it first: `xacro robot.xacro > robot.urdf`";

/// Parses a document.
pub(super) fn parse(text: &str) -> Result<Document<'_>, DescriptionError> {
    Document::parse(text).map_err(|error| {
        let position = error.pos();
        let at = offset(text, position.row, position.col);
        // The position is shown as everywhere else.
        let message = error.to_string();
        let place = format!(" at {position}");
        let (problem, help) = match error {
            roxmltree::Error::UnknownNamespace(prefix, _) if prefix == "xacro" => {
                (Problem::Xacro("xacro".to_owned()), Some(XACRO))
            }
            _ => (Problem::Syntax(message.replace(&place, "")), None),
        };
        DescriptionError {
            problem,
            path: String::new(),
            span: at..at,
            help: help.map(str::to_owned),
        }
    })
}

/// The byte at a line and a column that count characters from 1.
fn offset(text: &str, row: u32, column: u32) -> usize {
    let lines = text.split_inclusive('\n').take(row as usize - 1);
    let start: usize = lines.map(str::len).sum();
    let rest = &text[start.min(text.len())..];
    let within = rest.char_indices().nth(column as usize - 1);
    start + within.map_or(rest.len(), |(byte, _)| byte)
}

/// An element with its path, such as `joint[elbow].axis`.
#[derive(Clone)]
pub(super) struct Element<'a> {
    node: Node<'a, 'a>,
    path: String,
}

impl<'a> Element<'a> {
    /// The root of a document, which must have this name.
    pub fn root(document: &'a Document<'a>, name: &str) -> Result<Self, DescriptionError> {
        let node = document.root_element();
        let found = node.tag_name().name();
        let root = Self {
            node,
            path: String::new(),
        };
        for node in document.descendants().filter(Node::is_element) {
            let space = node.tag_name().namespace();
            if space.is_some_and(|uri| uri.contains("xacro")) {
                let tag = format!("xacro:{}", node.tag_name().name());
                let element = Self {
                    node,
                    path: String::new(),
                };
                return Err(element.error(Problem::Xacro(tag)).helped(Some(XACRO)));
            }
        }
        if found == name {
            return Ok(root);
        }
        let problem = Problem::OutOfRange {
            expected: format!("<{name}>"),
            found: format!("<{found}>"),
        };
        let help = (found == "sdf").then_some("this is SDF, not URDF");
        Err(root.error(problem).helped(help))
    }

    /// The elements of this name directly below, each called by its own name.
    pub fn named(&self, tag: &'static str) -> Result<Vec<(&'a str, Self)>, DescriptionError> {
        let mut elements = Vec::new();
        for node in self.elements(tag) {
            let mut element = Self {
                node,
                path: self.join(tag),
            };
            let name = element.attribute("name")?.value();
            element.path = self.join(&format!("{tag}[{name}]"));
            elements.push((name, element));
        }
        Ok(elements)
    }

    /// The only element of this name directly below, if there is one.
    pub fn child(&self, tag: &str) -> Result<Option<Self>, DescriptionError> {
        let mut found = self.elements(tag).map(|node| Self {
            node,
            path: self.join(tag),
        });
        let first = found.next();
        match found.next() {
            Some(second) => Err(second.error(Problem::RepeatedElement(tag.to_owned()))),
            None => Ok(first),
        }
    }

    /// The only element of this name directly below.
    pub fn required(&self, tag: &str) -> Result<Self, DescriptionError> {
        self.child(tag)?
            .ok_or_else(|| self.error(Problem::MissingElement(tag.to_owned())))
    }

    /// The names of the elements directly below that are not among these, each with the one it is most like.
    pub fn others(&self, known: &[&str]) -> Vec<(&'a str, Option<String>)> {
        let children = self.node.children().filter(Node::is_element);
        let names = children.map(|node| node.tag_name().name());
        names
            .filter(|name| !known.contains(name))
            .map(|name| (name, suggestion(name, known)))
            .collect()
    }

    /// An attribute, if it is there.
    pub fn get(&self, name: &str) -> Result<Option<Value<'a>>, DescriptionError> {
        let Some(attribute) = self.node.attribute_node(name) else {
            return Ok(None);
        };
        let value = Value {
            attribute,
            path: self.join(name),
        };
        if ["${", "$("].iter().any(|mark| value.value().contains(mark)) {
            let problem = Problem::Xacro(value.value().to_owned());
            return Err(value.error(problem).helped(Some(XACRO)));
        }
        Ok(Some(value))
    }

    /// An attribute that must be there.
    pub fn attribute(&self, name: &str) -> Result<Value<'a>, DescriptionError> {
        self.get(name)?
            .ok_or_else(|| self.error(Problem::MissingAttribute(name.to_owned())))
    }

    /// A vector; zero if the attribute is not there.
    pub fn vector_or_zero(&self, name: &str) -> Result<Vector3<f64>, DescriptionError> {
        match self.get(name)? {
            Some(value) => value.vector(),
            None => Ok(Vector3::zeros()),
        }
    }

    /// A number that need not be there.
    pub fn number(&self, name: &str) -> Result<Option<f64>, DescriptionError> {
        self.get(name)?.map(|value| value.number()).transpose()
    }

    /// An error about the element.
    pub fn error(&self, problem: impl Into<Problem>) -> DescriptionError {
        let range = self.node.range();
        // Its start tag alone: an element can be as long as the file.
        let text = &self.node.document().input_text()[range.clone()];
        let end = text
            .find('>')
            .map_or(range.end, |end| range.start + end + 1);
        DescriptionError {
            problem: problem.into(),
            path: self.path.clone(),
            span: range.start..end,
            help: None,
        }
    }

    fn elements(&self, tag: &str) -> impl Iterator<Item = Node<'a, 'a>> + use<'a, '_> {
        let tag = tag.to_owned();
        self.node
            .children()
            .filter(move |node| node.is_element() && node.tag_name().name() == tag)
    }

    fn join(&self, name: &str) -> String {
        if self.path.is_empty() {
            name.to_owned()
        } else {
            format!("{}.{name}", self.path)
        }
    }
}

/// The value of an attribute.
pub(super) struct Value<'a> {
    attribute: Attribute<'a, 'a>,
    path: String,
}

impl<'a> Value<'a> {
    /// Its text.
    pub fn value(&self) -> &'a str {
        self.attribute.value()
    }

    /// A finite number.
    pub fn number(&self) -> Result<f64, DescriptionError> {
        self.parse(self.value())
    }

    /// A number that may be infinite.
    pub fn number_or_infinite(&self) -> Result<f64, DescriptionError> {
        match self.value().trim().parse::<f64>() {
            Ok(number) if number.is_infinite() => Ok(number),
            _ => self.number(),
        }
    }

    /// Three numbers with space between them.
    pub fn vector(&self) -> Result<Vector3<f64>, DescriptionError> {
        let words: Vec<&str> = self.value().split_whitespace().collect();
        let [x, y, z] = words.as_slice() else {
            return Err(self.error(Problem::WrongLength {
                expected: 3,
                found: words.len(),
            }));
        };
        Ok(Vector3::new(self.parse(x)?, self.parse(y)?, self.parse(z)?))
    }

    fn parse(&self, word: &str) -> Result<f64, DescriptionError> {
        match word.trim().parse::<f64>() {
            Ok(number) if number.is_finite() => Ok(number),
            Ok(number) => Err(self.error(Problem::NotFinite(number.to_string()))),
            Err(_) => Err(self.error(Problem::WrongType {
                expected: "a number".to_owned(),
                found: format!("`{word}`"),
            })),
        }
    }

    /// An error about the value.
    pub fn error(&self, problem: impl Into<Problem>) -> DescriptionError {
        DescriptionError {
            problem: problem.into(),
            path: self.path.clone(),
            span: self.place(),
            help: None,
        }
    }

    fn place(&self) -> Range<usize> {
        self.attribute.range_value()
    }
}
