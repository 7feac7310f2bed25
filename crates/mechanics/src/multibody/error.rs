//! Errors in the description of a joint or a system.

/// Why a joint is invalid.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum JointError {
    /// The axis has zero length.
    #[error("a joint's axis must have a length, found [0, 0, 0]")]
    ZeroAxis,
    /// A number is not finite.
    #[error("a joint's {what} must be finite, found {found}")]
    NotFinite {
        /// The parameter: `axis`, `pitch`.
        what: &'static str,
        /// Its value.
        found: String,
    },
    /// The two axes of a universal joint coincide.
    #[error("the two axes of a universal joint must differ in direction")]
    ParallelAxes,
}

/// Why a description is not a valid system.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum ModelError {
    /// Two bodies have the same name.
    #[error("two bodies are named `{0}`; every body needs a name of its own")]
    DuplicateName(String),
    /// A body has the name of the inertial frame.
    #[error("a body must not be named `world`: this is the name of the inertial frame")]
    ReservedName,
    /// A body's parent does not exist.
    #[error("the parent of body `{body}` is `{parent}`, but there is no body of this name{}", suggestion(.nearest.as_ref()))]
    UnknownParent {
        /// The body.
        body: String,
        /// The name of the parent.
        parent: String,
        /// A body with a similar name.
        nearest: Option<String>,
    },
    /// A cycle of bodies that carry each other, none of them on the world.
    #[error("the parents of the bodies {} form a cycle; close loops with constraints instead", list(.0))]
    Cycle(Vec<String>),
    /// A spring or damper connects a body that does not exist.
    #[error("a {element} connects `{name}`, but there is no body of this name{}", suggestion(.nearest.as_ref()))]
    UnknownEnd {
        /// `spring` or `damper`.
        element: &'static str,
        /// The name that was given.
        name: String,
        /// A body with a similar name.
        nearest: Option<String>,
    },
    /// A spring or damper connects a body with itself.
    #[error("a {element} connects `{name}` with itself")]
    SameEnds {
        /// `spring` or `damper`.
        element: &'static str,
        /// The body.
        name: String,
    },
    /// A spring in a joint that does not have exactly one coordinate.
    #[error(
        "body `{0}`: a joint spring needs a revolute joint with an angle, a prismatic or a screw joint"
    )]
    JointSpring(String),
    /// A number is not finite.
    #[error("{what} must be finite")]
    NotFinite {
        /// The quantity: ``the placement of body `arm` ``.
        what: String,
    },
}

/// An unknown body name.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("there is no body named `{name}`{}", suggestion(.nearest.as_ref()))]
pub struct UnknownBody {
    /// The name.
    pub name: String,
    /// A body with a similar name.
    pub nearest: Option<String>,
}

pub(super) fn suggestion(nearest: Option<&String>) -> String {
    match nearest {
        Some(name) => format!("; did you mean `{name}`?"),
        None => String::new(),
    }
}

fn list(names: &[String]) -> String {
    format!("`{}`", names.join("`, `"))
}
