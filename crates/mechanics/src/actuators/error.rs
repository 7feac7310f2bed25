//! What can be wrong with rotors.

use crate::PropellerError;
use crate::text::short;

/// Why a set of rotors cannot be used. `rotor` is the name of the one that is wrong.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum RotorError {
    /// A number is infinite or not a number.
    #[error("rotor `{rotor}`: `{key}` must be finite, found {found}")]
    NotFinite {
        /// The rotor.
        rotor: String,
        /// The field.
        key: &'static str,
        /// What it was.
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
    /// A tilting rotor has a negative thrust, which would be another way to say a thrust at the opposite angle.
    #[error("rotor `{rotor}` tilts, so its smallest thrust must not be negative, found {low} N")]
    NegativeTiltingThrust {
        /// The rotor.
        rotor: String,
        /// The smallest thrust, N.
        low: f64,
    },
    /// An axis has no direction.
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
    /// The number of segments makes no polygon.
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
        /// What the polygon reaches, N.
        reachable: f64,
    },
    /// A time constant is negative.
    #[error("rotor `{rotor}`: `{key}` must not be negative, found {found} s")]
    TimeConstant {
        /// The rotor.
        rotor: String,
        /// The field.
        key: &'static str,
        /// What it was, s.
        found: f64,
    },
    /// Its propeller cannot be.
    #[error("rotor `{rotor}`: {error}")]
    Propeller {
        /// The rotor.
        rotor: String,
        /// Why.
        error: PropellerError,
    },
    /// It has both a motor and a lag of its own.
    #[error(
        "rotor `{rotor}`: give `time_constant` or `motor`, not both: the thrust lags as the motor's speed does"
    )]
    SecondLag {
        /// The rotor.
        rotor: String,
    },
    /// Its motor has an inertia, and nothing says in which sense it turns.
    #[error(
        "rotor `{rotor}`: a motor with `inertia` needs a `drag_ratio`, whose sign says in which sense the rotor turns"
    )]
    WithoutSense {
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
