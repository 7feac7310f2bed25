//! What is wrong with a description, and where.

use std::ops::Range;

use crate::multibody::constraints::ConstraintSetError;
use crate::multibody::{JointError, ModelError};
use crate::propulsion::BatteryError;
use crate::{
    DragError, InertiaError, MeshError, MotorError, RotorError, StiffnessError, VehicleError,
};

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

impl DescriptionError {
    /// Line and column of the place in the text that was described, both counted from 1, the column in characters.
    ///
    /// ```
    /// let text = "name = \"x\"\n[bodies.arm]\nmass = -1\ninertia = [1, 1, 1]";
    /// let error = fly_mechanics::System::from_toml(text).unwrap_err();
    /// assert_eq!(error.line_column(text), (3, 8));
    /// ```
    pub fn line_column(&self, text: &str) -> (usize, usize) {
        let start = text.floor_char_boundary(self.span.start);
        let before = &text[..start];
        let line = before.rfind('\n').map_or(0, |end| end + 1);
        let lines = before.bytes().filter(|byte| *byte == b'\n').count();
        (lines + 1, before[line..].chars().count() + 1)
    }

    /// The same error with advice, if there is any.
    pub(super) fn helped(mut self, help: Option<impl Into<String>>) -> Self {
        self.help = help.map(Into::into);
        self
    }
}

/// The kinds of mistakes.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum Problem {
    /// Something that is seen cannot be shown: why.
    #[error("{0}")]
    Visual(String),
    /// The text is not TOML, or not XML.
    #[error("{0}")]
    Syntax(String),
    /// An unexpanded xacro macro.
    #[error("`{0}` is a macro of xacro, not URDF")]
    Xacro(String),
    /// An unknown key.
    #[error("unknown key `{key}`, expected one of {expected}")]
    UnknownKey {
        /// The key.
        key: String,
        /// The keys that are known here.
        expected: String,
    },
    /// A required key is missing.
    #[error("missing key `{0}`")]
    MissingKey(String),
    /// A required XML element is missing.
    #[error("missing element <{0}>")]
    MissingElement(String),
    /// An XML element appears twice where it may appear once.
    #[error("a second <{0}>")]
    RepeatedElement(String),
    /// A required XML attribute is missing.
    #[error("missing attribute `{0}`")]
    MissingAttribute(String),
    /// A value of the wrong type.
    #[error("expected {expected}, found {found}")]
    WrongType {
        /// What was expected.
        expected: String,
        /// What was found.
        found: String,
    },
    /// An array of the wrong length.
    #[error("expected an array of {expected} numbers, found one of {found}")]
    WrongLength {
        /// The length that was expected.
        expected: usize,
        /// The length that was found.
        found: usize,
    },
    /// A number that is infinite or NaN.
    #[error("expected a finite number, found {0}")]
    NotFinite(String),
    /// A value out of range.
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
    /// No body has this name.
    #[error("there is no body `{0}`")]
    UnknownBody(String),
    /// No link has this name.
    #[error("there is no link `{0}`")]
    UnknownLink(String),
    /// A link is the child of two joints.
    #[error("link `{link}` is the child of joint `{joint}` already")]
    SecondParent {
        /// The link.
        link: String,
        /// The first joint that carries it.
        joint: String,
    },
    /// A second root: another link that no joint carries.
    #[error("no joint carries link `{link}`, and none carries `{root}`; there must be one root")]
    SecondRoot {
        /// The second link.
        link: String,
        /// The first one.
        root: String,
    },
    /// No joint has this name.
    #[error("there is no joint `{0}`")]
    UnknownJoint(String),
    /// A name is used twice where names must be unique.
    #[error("two {what} are named `{name}`; names must differ")]
    DuplicateName {
        /// What they are, in the plural.
        what: &'static str,
        /// Their name.
        name: String,
    },
    /// An invalid joint.
    #[error(transparent)]
    Joint(#[from] JointError),
    /// An invalid system of bodies.
    #[error(transparent)]
    Model(Box<ModelError>),
    /// An invalid constraint set.
    #[error(transparent)]
    Constraint(Box<ConstraintSetError>),
    /// Springs without a minimum of their potential.
    #[error(transparent)]
    Stiffness(#[from] StiffnessError<f64>),
    /// An invalid motor.
    #[error(transparent)]
    Motor(#[from] MotorError),
    /// A system that is not one free body with rotors, where one is needed.
    #[error(transparent)]
    Vehicle(#[from] VehicleError),
    /// Drag that feeds energy in.
    #[error(transparent)]
    Drag(#[from] DragError<f64>),
    /// A non-physical inertia.
    #[error(transparent)]
    Inertia(#[from] InertiaError<f64>),
    /// A mesh that cannot be read, or encloses no solid.
    #[error(transparent)]
    Mesh(Box<MeshError>),
    /// An invalid battery.
    #[error(transparent)]
    Battery(#[from] BatteryError),
    /// An invalid rotor.
    #[error(transparent)]
    Actuator(#[from] RotorError),
}

impl From<MeshError> for Problem {
    fn from(error: MeshError) -> Self {
        Self::Mesh(Box::new(error))
    }
}

impl From<ModelError> for Problem {
    fn from(error: ModelError) -> Self {
        Self::Model(Box::new(error))
    }
}

impl From<ConstraintSetError> for Problem {
    fn from(error: ConstraintSetError) -> Self {
        Self::Constraint(Box::new(error))
    }
}

fn prefix(path: &str) -> String {
    if path.is_empty() {
        String::new()
    } else {
        format!("{path}: ")
    }
}
