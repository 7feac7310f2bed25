//! What is wrong with constraints, and with motions that ought to keep them.

use crate::multibody::error::suggestion;

/// Why constraints cannot be.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum ConstraintSetError {
    /// Two constraints have one name.
    #[error("two constraints are named `{0}`; every constraint needs a name of its own")]
    DuplicateName(String),
    /// A constraint mentions a body that is not there.
    #[error("constraint `{constraint}` mentions `{name}`, but there is no body of this name{}", suggestion(.nearest.as_ref()))]
    UnknownBody {
        /// The constraint.
        constraint: String,
        /// The name that was given.
        name: String,
        /// A body whose name is similar.
        nearest: Option<String>,
    },
    /// Both ends are on one body.
    #[error("constraint `{constraint}` ties body `{body}` to itself; name two bodies, or `world`")]
    SameBody {
        /// The constraint.
        constraint: String,
        /// The body.
        body: String,
    },
    /// A number is infinite or not a number.
    #[error("constraint `{constraint}`: {what} must be finite")]
    NotFinite {
        /// The constraint.
        constraint: String,
        /// What it is: ``the frame in body `arm` ``.
        what: String,
    },
    /// A length that must be positive is not.
    #[error("constraint `{constraint}`: its {what} must be a positive number, found {found} m")]
    NotPositive {
        /// The constraint.
        constraint: String,
        /// Which length.
        what: &'static str,
        /// Its value.
        found: String,
    },
    /// A coupling mentions something that is not one number which its velocity coordinate is the rate of.
    #[error(
        "constraint `{constraint}` couples coordinate {coordinate} of the joint of body `{body}`, but that is no translation and no angle that \
         counts its turns; angles by cosine and sine, attitudes and positions in a rotating frame cannot be coupled: tie frames instead"
    )]
    NoCoordinate {
        /// The constraint.
        constraint: String,
        /// The body.
        body: String,
        /// The number of the coordinate among those of its joint.
        coordinate: usize,
    },
    /// A coupling has no term with a factor.
    #[error(
        "constraint `{constraint}` couples nothing: give at least one term with a factor other than 0"
    )]
    NoTerms {
        /// The constraint.
        constraint: String,
    },
    /// A twist has six components.
    #[error(
        "constraint `{constraint}` gives {found} components of a twist; give at least 1 and at most 6"
    )]
    Components {
        /// The constraint.
        constraint: String,
        /// How many there are.
        found: usize,
    },
}

/// Why a motion cannot keep its constraints.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum ConstraintError {
    /// The mass matrix is not one.
    #[error(
        "the mass matrix must be symmetric, finite and positive definite; is there a joint that moves no mass?"
    )]
    MassMatrix,
    /// A number of the mass matrix or of the force is infinite or not a number.
    #[error("the mass matrix and the generalised force must be finite")]
    Force,
    /// A number of the state or of a constraint is infinite or not a number.
    #[error(
        "constraint `{constraint}`, equation {equation}: not finite; look for a state that is not, or one where the constraint is singular (axes \
         turned by half a turn, a disc that lies flat)"
    )]
    NotFinite {
        /// The constraint.
        constraint: String,
        /// Which of its equations, from 0.
        equation: usize,
    },
    /// The constraints contradict each other in this state.
    #[error(
        "the constraints contradict each other: no {what} satisfies all of them; the best one misses equation {equation} of `{constraint}` by \
         {residual:.1e}. Remove or relax a constraint, or leave this configuration: at a dead centre, loops that can move elsewhere cannot"
    )]
    Inconsistent {
        /// `acceleration` or `velocity`.
        what: &'static str,
        /// The constraint that is missed by most.
        constraint: String,
        /// Which of its equations, from 0.
        equation: usize,
        /// By how much, in the unit of the equation.
        residual: f64,
    },
    /// No configuration or velocity near the given one keeps the constraints.
    #[error(
        "no {what} that keeps the constraints was found within {iterations} steps: equation {equation} of `{constraint}` is off by {residual:.1e}. \
         Start nearer to a solution, or check the lengths: the loop may not close"
    )]
    NotConverged {
        /// `configuration` or `velocity`.
        what: &'static str,
        /// The constraint that is violated most.
        constraint: String,
        /// Which of its equations, from 0.
        equation: usize,
        /// By how much, in the unit of the equation.
        residual: f64,
        /// How many steps were taken.
        iterations: usize,
    },
}
