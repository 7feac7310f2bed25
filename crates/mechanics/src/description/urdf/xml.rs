//! Typed access to an XML element that knows where it stands.

use std::ops::Range;

use nalgebra::Vector3;
use roxmltree::{Attribute, Document, Node};

use crate::description::{DescriptionError, Problem};

const XACRO: &str = "expand it first: `xacro robot.xacro > robot.urdf`";

/// Parses a document.
pub(super) fn parse(text: &str) -> Result<Document<'_>, DescriptionError> {
    Document::parse(text).map_err(|error| {
        let position = error.pos();
        let (problem, at, help) = match &error {
            roxmltree::Error::NoRootNode => {
                (Problem::MissingElement("robot".to_owned()), end(text), None)
            }
            roxmltree::Error::UnclosedRootNode | roxmltree::Error::UnexpectedEndOfStream => {
                let problem =
                    Problem::Syntax("the document ends before its elements are closed".to_owned());
                (problem, end(text), None)
            }
            other => {
                let at = offset(text, position.row, position.col);
                match other {
                    roxmltree::Error::UnknownNamespace(prefix, _) if prefix == "xacro" => {
                        (Problem::Xacro("xacro".to_owned()), at, Some(XACRO))
                    }
                    // The position is shown as everywhere else.
                    _ => (
                        Problem::Syntax(error.to_string().replace(&format!(" at {position}"), "")),
                        at,
                        None,
                    ),
                }
            }
        };
        DescriptionError {
            problem,
            path: String::new(),
            span: at..at,
            help: help.map(str::to_owned),
        }
    })
}

/// The byte after the last character that is not space: where something is missing.
fn end(text: &str) -> usize {
    text.trim_end().len()
}

/// The byte at a line and a column that count characters from 1.
fn offset(text: &str, row: u32, column: u32) -> usize {
    let lines = text.split_inclusive('\n').take(row as usize - 1);
    let start: usize = lines.map(str::len).sum();
    let rest = &text[start.min(text.len())..];
    let within = rest.char_indices().nth(column as usize - 1);
    start + within.map_or(rest.len(), |(byte, _)| byte)
}

/// A version of the format.
#[derive(Clone, Copy, PartialEq, PartialOrd)]
pub(super) struct Version(u32, u32);

impl Version {
    /// Of a file that does not say.
    const DEFAULT: Self = Self(1, 0);
    /// Has `quat_xyzw`.
    pub const QUATERNIONS: Self = Self(1, 1);
    /// Wants both limits of a position. The newest one.
    pub const BOTH_LIMITS: Self = Self(1, 2);

    /// `x.y`
    fn read(value: &Value<'_>) -> Result<Self, DescriptionError> {
        let parts = value.value().trim().split_once('.');
        let parts = parts.and_then(|(x, y)| Some(Self(x.parse().ok()?, y.parse().ok()?)));
        let known = parts.filter(|v| (Self::DEFAULT..=Self::BOTH_LIMITS).contains(v));
        known.ok_or_else(|| {
            value.error(Problem::OutOfRange {
                expected: "a version of URDF: `1.0`, `1.1` or `1.2`".to_owned(),
                found: format!("`{}`", value.value()),
            })
        })
    }
}

/// An element with its path, such as `joint[elbow].axis`.
#[derive(Clone)]
pub(super) struct Element<'a> {
    node: Node<'a, 'a>,
    path: String,
    version: Version,
}

impl<'a> Element<'a> {
    /// The root of a document, which must have this name.
    pub fn root(document: &'a Document<'a>, name: &str) -> Result<Self, DescriptionError> {
        let found = document.root_element().tag_name().name();
        let root = |node| Self {
            node,
            path: String::new(),
            version: Version::DEFAULT,
        };
        for node in document.descendants().filter(Node::is_element) {
            let space = node.tag_name().namespace();
            if space.is_some_and(|uri| uri.contains("xacro")) {
                let tag = format!("xacro:{}", node.tag_name().name());
                let error = root(node).error(Problem::Xacro(tag));
                return Err(error.helped(Some(XACRO)));
            }
        }
        let mut root = root(document.root_element());
        if found == name {
            if let Some(value) = root.get("version")? {
                root.version = Version::read(&value)?;
            }
            return Ok(root);
        }
        let problem = Problem::OutOfRange {
            expected: format!("<{name}>"),
            found: format!("<{found}>"),
        };
        let help = match found {
            "sdf" => Some("this is SDF, not URDF"),
            "mujoco" => Some("this is MJCF, not URDF: convert it, or describe the system in TOML"),
            _ => None,
        };
        Err(root.error(problem).helped(help))
    }

    /// The elements of this name directly below, each called by its own name.
    pub fn named(&self, tag: &'static str) -> Result<Vec<(&'a str, Self)>, DescriptionError> {
        let mut elements = Vec::new();
        for mut element in self.elements(tag) {
            let name = element.attribute("name")?.value();
            element.path = self.join(&format!("{tag}[{name}]"));
            elements.push((name, element));
        }
        Ok(elements)
    }

    /// The only element of this name directly below, if there is one.
    pub fn child(&self, tag: &'static str) -> Result<Option<Self>, DescriptionError> {
        let mut found = self.elements(tag);
        let first = found.next();
        match found.next() {
            Some(second) => Err(second.error(Problem::RepeatedElement(tag.to_owned()))),
            None => Ok(first),
        }
    }

    /// The only element of this name directly below.
    pub fn required(&self, tag: &'static str) -> Result<Self, DescriptionError> {
        self.child(tag)?
            .ok_or_else(|| self.error(Problem::MissingElement(tag.to_owned())))
    }

    /// The version of the format that the file is written in.
    pub fn version(&self) -> Version {
        self.version
    }

    /// Its name.
    pub fn tag(&self) -> &'a str {
        self.node.tag_name().name()
    }

    /// The elements directly below.
    pub fn children(&self) -> impl Iterator<Item = Self> + use<'a, '_> {
        let nodes = self.node.children().filter(Node::is_element);
        nodes.map(|node| Self {
            node,
            path: self.join(node.tag_name().name()),
            version: self.version,
        })
    }

    /// The names of its attributes, those of other namespaces left out.
    pub fn attributes(&self) -> impl Iterator<Item = &'a str> + use<'a> {
        let own = self.node.attributes().filter(|a| a.namespace().is_none());
        own.map(|attribute| attribute.name())
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

    fn elements(&self, tag: &'static str) -> impl Iterator<Item = Self> + use<'a, '_> {
        self.children().filter(move |child| child.tag() == tag)
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
        Ok(self.numbers::<3>()?.into())
    }

    /// `N` numbers with space between them.
    pub fn numbers<const N: usize>(&self) -> Result<[f64; N], DescriptionError> {
        let words = self.value().split_whitespace();
        let numbers: Vec<f64> = words
            .map(|word| self.parse(word))
            .collect::<Result<_, _>>()?;
        let found = numbers.len();
        let wrong = |_| self.error(Problem::WrongLength { expected: N, found });
        numbers.try_into().map_err(wrong)
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
