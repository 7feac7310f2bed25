//! Errors of rotors.

use crate::PropellerError;
use crate::text::short;

/// Why a set of rotors is invalid. `rotor` is the name of the rotor at fault.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum RotorError {
    /// A number is not finite.
    #[error("rotor `{rotor}`: `{key}` must be finite, found {found}")]
    NotFinite {
        /// The rotor.
        rotor: String,
        /// The field.
        key: &'static str,
        /// Its value.
        found: f64,
    },
    /// The smallest thrust is not below the largest.
    #[error(
        "rotor `{rotor}`: the smallest thrust must be below the largest, found [{low}, {high}] N"
    )]
    ThrustLimits {
        /// The rotor.
        rotor: String,
        /// The smallest thrust, N.
        low: f64,
        /// The largest thrust, N.
        high: f64,
    },
    /// A tilting rotor has a negative thrust, which is ambiguous: it equals a positive thrust at the opposite angle.
    #[error("rotor `{rotor}` tilts, so its smallest thrust must not be negative, found {low} N")]
    NegativeTiltingThrust {
        /// The rotor.
        rotor: String,
        /// The smallest thrust, N.
        low: f64,
    },
    /// An axis has zero length.
    #[error("rotor `{rotor}`: `{key}` must have a direction, found a zero vector")]
    ZeroAxis {
        /// The rotor.
        rotor: String,
        /// The field.
        key: &'static str,
    },
    /// The tilt axis is not perpendicular to the rotor's axis.
    #[error(
        "rotor `{rotor}`: `tilt.axis` must be perpendicular to `axis`, found an angle of {} degrees between them",
        short(*degrees)
    )]
    TiltAxis {
        /// The rotor.
        rotor: String,
        /// The angle between the two, degrees.
        degrees: f64,
    },
    /// The tilt limit is not between zero and a right angle.
    #[error(
        "rotor `{rotor}`: the tilt limit must be above 0 and below 90 degrees, found {} degrees",
        short(*degrees)
    )]
    TiltLimit {
        /// The rotor.
        rotor: String,
        /// The limit, degrees.
        degrees: f64,
    },
    /// Too few or too many segments for a polygon.
    #[error("rotor `{rotor}`: `tilt.segments` must be from 1 to 64, found {segments}")]
    Segments {
        /// The rotor.
        rotor: String,
        /// The number of segments.
        segments: usize,
    },
    /// The polygon inscribed in the thrust limit does not reach the smallest thrust.
    #[error(
        "rotor `{rotor}`: with {segments} segments the limit polygon reaches only {} N along the axis, which is not above the smallest thrust {low} N; use more segments",
        short(*reachable)
    )]
    TooFewSegments {
        /// The rotor.
        rotor: String,
        /// The number of segments.
        segments: usize,
        /// The smallest thrust, N.
        low: f64,
        /// The largest thrust that the polygon contains, N.
        reachable: f64,
    },
    /// A time constant is negative.
    #[error("rotor `{rotor}`: `{key}` must not be negative, found {found} s")]
    TimeConstant {
        /// The rotor.
        rotor: String,
        /// The field.
        key: &'static str,
        /// Its value, s.
        found: f64,
    },
    /// An invalid propeller.
    #[error("rotor `{rotor}`: {error}")]
    Propeller {
        /// The rotor.
        rotor: String,
        /// The reason.
        error: PropellerError,
    },
    /// It has both a motor and its own lag.
    #[error(
        "rotor `{rotor}`: give `time_constant` or `motor`, not both: the thrust lags as the motor's speed does"
    )]
    LagAndMotor {
        /// The rotor.
        rotor: String,
    },
    /// Its motor has an inertia, but its sense of rotation is unknown.
    #[error(
        "rotor `{rotor}`: a motor with `inertia` needs a `drag_ratio`, whose sign is the rotor's sense of rotation"
    )]
    NoSpinDirection {
        /// The rotor.
        rotor: String,
    },
    /// Two rotors have the same name.
    #[error("two rotors are named `{rotor}`; names must differ")]
    DuplicateName {
        /// The name.
        rotor: String,
        /// The second rotor with that name, counted from 0.
        index: usize,
    },
}

impl RotorError {
    pub(super) fn not_finite(rotor: String, key: &'static str, found: f64) -> Self {
        Self::NotFinite { rotor, key, found }
    }
}
