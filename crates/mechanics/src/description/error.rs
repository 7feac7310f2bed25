//! What is wrong with a description, and where.

use std::ops::Range;

use crate::{ActuatorError, InertiaError};

/// Something wrong in a description: what, at which key, and where in the text.
///
/// It displays as `rotors[1].thrust: expected an array of 2 numbers, found one of 3`.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
#[error("{}{problem}", prefix(.path))]
pub struct DescriptionError {
    /// What is wrong, with what was expected and what was found.
    pub problem: Problem,
    /// The key, such as `rotors[1].thrust`; empty for the document itself.
    pub path: String,
    /// The bytes of the text where it stands.
    pub span: Range<usize>,
    /// What to do about it, if that is known.
    pub help: Option<String>,
}

/// The kinds of mistakes.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum Problem {
    /// The text is not TOML.
    #[error("{0}")]
    Syntax(String),
    /// A key that means nothing here.
    #[error("unknown key `{key}`, expected one of {expected}")]
    UnknownKey {
        /// The key.
        key: String,
        /// The keys that are known here.
        expected: String,
    },
    /// A key that must be there is not.
    #[error("missing key `{0}`")]
    MissingKey(String),
    /// A value of another type.
    #[error("expected {expected}, found {found}")]
    WrongType {
        /// What was expected.
        expected: String,
        /// What was found.
        found: String,
    },
    /// An array of another length.
    #[error("expected an array of {expected} numbers, found one of {found}")]
    WrongLength {
        /// The length that was expected.
        expected: usize,
        /// The length that was found.
        found: usize,
    },
    /// A number that is infinite or not a number.
    #[error("expected a finite number, found {0}")]
    NotFinite(String),
    /// A value outside of what is possible.
    #[error("expected {expected}, found {found}")]
    OutOfRange {
        /// What was expected.
        expected: String,
        /// What was found.
        found: String,
    },
    /// Keys that exclude or need each other.
    #[error("{0}")]
    Keys(String),
    /// A name that nothing has.
    #[error("there is no body `{0}`")]
    UnknownBody(String),
    /// Another number of bodies than one: their names.
    #[error("expected exactly one body, found {}", bodies(.0))]
    Bodies(Vec<String>),
    /// An inertia that no mass has.
    #[error(transparent)]
    Inertia(#[from] InertiaError<f64>),
    /// A rotor that cannot be.
    #[error(transparent)]
    Actuator(#[from] ActuatorError),
}

fn prefix(path: &str) -> String {
    if path.is_empty() {
        String::new()
    } else {
        format!("{path}: ")
    }
}

fn bodies(names: &[String]) -> String {
    if names.is_empty() {
        "none".to_owned()
    } else {
        format!("{}: `{}`", names.len(), names.join("`, `"))
    }
}
