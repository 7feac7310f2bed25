//! Errors of constraints, and of motions that should satisfy them.

use crate::multibody::error::suggestion;

/// An invalid constraint set.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum ConstraintSetError {
    /// Two constraints have the same name.
    #[error("two constraints are named `{0}`; every constraint needs a name of its own")]
    DuplicateName(String),
    /// A constraint refers to a body that does not exist.
    #[error("constraint `{constraint}` mentions `{name}`, but there is no body of this name{}", suggestion(.nearest.as_ref()))]
    UnknownBody {
        /// The constraint.
        constraint: String,
        /// The name that was given.
        name: String,
        /// A body with a similar name.
        nearest: Option<String>,
    },
    /// Both frames are on the same body.
    #[error(
        "constraint `{constraint}` connects body `{body}` with itself; name two bodies, or `world`"
    )]
    SameBody {
        /// The constraint.
        constraint: String,
        /// The body.
        body: String,
    },
    /// A number is not finite.
    #[error("constraint `{constraint}`: {what} must be finite")]
    NotFinite {
        /// The constraint.
        constraint: String,
        /// The quantity: ``the frame in body `arm` ``.
        what: String,
    },
    /// A length is not positive.
    #[error("constraint `{constraint}`: its {what} must be a positive number, found {found} m")]
    NotPositive {
        /// The constraint.
        constraint: String,
        /// The length.
        what: &'static str,
        /// Its value.
        found: String,
    },
    /// A gain or a tolerance of the set is negative or not finite, or the rank tolerance is 1 or more.
    #[error("the {what} must be a number from 0 on, a rank tolerance below 1; found {found}")]
    Setting {
        /// The gain or the tolerance.
        what: &'static str,
        /// Its value.
        found: String,
    },
    /// A coupling refers to something other than a scalar coordinate whose rate is a velocity coordinate.
    #[error(
        "constraint `{constraint}` couples coordinate {coordinate} of the joint of body `{body}`, which is neither a translation nor an unbounded angle; angles by cosine and sine, attitudes and positions in a rotating frame cannot be coupled: constrain frames instead"
    )]
    NoCoordinate {
        /// The constraint.
        constraint: String,
        /// The body.
        body: String,
        /// The index of the coordinate among those of its joint.
        coordinate: usize,
    },
    /// A coupling has no term with a nonzero factor, those of one coordinate added.
    #[error(
        "constraint `{constraint}` couples nothing: give at least one term with a factor other than 0"
    )]
    NoTerms {
        /// The constraint.
        constraint: String,
    },
    /// The number of components is not between one and six.
    #[error(
        "constraint `{constraint}` gives {found} components of a twist; give at least 1 and at most 6"
    )]
    Components {
        /// The constraint.
        constraint: String,
        /// The number of components.
        found: usize,
    },
}

/// Why a motion cannot satisfy its constraints.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum ConstraintError {
    /// The matrix is not a valid mass matrix.
    #[error(
        "the mass matrix must be symmetric, finite and positive definite; is there a joint that moves no mass?"
    )]
    MassMatrix,
    /// An entry of the mass matrix or of the force is not finite.
    #[error("the mass matrix and the generalised force must be finite")]
    Force,
    /// An entry of the state or of a constraint is not finite.
    #[error(
        "constraint `{constraint}`, equation {equation}: not finite; look for a state that is not, or one where the constraint is singular (axes \
         turned by half a turn, a disc that lies flat)"
    )]
    NotFinite {
        /// The constraint.
        constraint: String,
        /// Its equation, from 0.
        equation: usize,
    },
    /// The constraints are inconsistent in this state.
    #[error(
        "the constraints contradict each other: no {what} satisfies all of them; the best one misses equation {equation} of `{constraint}` by \
         {residual:.1e}. Remove or relax a constraint, or leave this configuration: at a dead centre, loops that can move elsewhere cannot"
    )]
    Inconsistent {
        /// `acceleration` or `velocity`.
        what: &'static str,
        /// The most violated constraint.
        constraint: String,
        /// Its equation, from 0.
        equation: usize,
        /// The residual, in the unit of the equation.
        residual: f64,
    },
    /// No configuration or velocity near the given one satisfies the constraints.
    #[error(
        "no {what} that keeps the constraints was found within {iterations} steps: equation {equation} of `{constraint}` is off by {residual:.1e}. \
         Start nearer to a solution, or check the lengths: the loop may not close"
    )]
    NotConverged {
        /// `configuration` or `velocity`.
        what: &'static str,
        /// The most violated constraint.
        constraint: String,
        /// Its equation, from 0.
        equation: usize,
        /// The residual, in the unit of the equation.
        residual: f64,
        /// The number of steps taken.
        iterations: usize,
    },
}
