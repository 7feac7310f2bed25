//! Why a trajectory is infeasible at an instant.

use crate::ReferencePoint;

/// Why a trajectory is infeasible at an instant.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum Infeasible {
    /// The attitude is undefined: the required thrust is too small.
    #[error(
        "at {time:.2} s the motion needs a specific thrust of {thrust:.2} m/s^2: expected more than {least}, as free fall defines no attitude"
    )]
    NoAttitude {
        /// The time, s.
        time: f64,
        /// The required specific thrust, m/s^2.
        thrust: f64,
        /// Its least value, m/s^2.
        least: f64,
    },
    /// The attitude is undefined: the required thrust is parallel to the direction in which the heading has the body's side, or its front.
    #[error(
        "at {time:.2} s the motion needs a specific thrust of {thrust:.2e} m/s^2 along the body's side or front, which leaves its attitude \
         undefined: expected another heading there, or less acceleration"
    )]
    ThrustAlongHeading {
        /// The time, s.
        time: f64,
        /// The required specific thrust, m/s^2.
        thrust: f64,
    },
    /// The search for a configuration that reaches the target, from the one before, ended elsewhere.
    #[error(
        "at {time} s no configuration was found in which `{body}` is at its target: the nearest leaves {distance:.2e} (m, rad); {}", why_unreachable(*distance)
    )]
    Unreachable {
        /// The time, s.
        time: f64,
        /// The body.
        body: String,
        /// The remaining distance.
        distance: f64,
    },
    /// A rolling contact would slip.
    #[error(
        "at {time:.2} s the motion slips by {speed:.2e} (m/s, rad/s): expected one along which everything rolls, such as a path of a point that does not go sideways"
    )]
    Slips {
        /// The time, s.
        time: f64,
        /// The slip velocity.
        speed: f64,
    },
    /// The time is infinite or NaN, but the motion follows from what came before.
    #[error("expected a finite time, found {time} s")]
    NoTime {
        /// The time, s.
        time: f64,
    },
    /// A value of the point is infinite or NaN.
    #[error(
        "at {time} s the motion is not finite: expected times, points, limits and parameters that are finite and not too large"
    )]
    NotFinite {
        /// The time, s.
        time: f64,
    },
    /// The path is at rest, so its direction is undefined.
    #[error(
        "at {time:.2} s the path moves at {speed:.2e} m/s: expected at least {least:e} m/s, as its direction is the heading"
    )]
    StandsStill {
        /// The time, s.
        time: f64,
        /// Its speed, m/s.
        speed: f64,
        /// The least speed, m/s.
        least: f64,
    },
    /// The trajectory has another number of coordinates than the system.
    #[error("the trajectory has {found} coordinates, the system {expected}")]
    Coordinates {
        /// Those of the system.
        expected: usize,
        /// Those of the trajectory.
        found: usize,
    },
    /// The Jacobian of the body is singular.
    #[error(
        "at {time} s the Jacobian of `{body}` is singular: keep the target away from this configuration"
    )]
    Singular {
        /// The time, s.
        time: f64,
        /// The body.
        body: String,
    },
}

impl Infeasible {
    /// No attitude at a time, s, where the motion needs this specific thrust, m/s^2, and more than `least`.
    pub(super) fn no_attitude(time: f64, thrust: f64, least: f64) -> Self {
        if thrust > least {
            Self::ThrustAlongHeading { time, thrust }
        } else {
            Self::NoAttitude {
                time,
                thrust,
                least,
            }
        }
    }

    /// Expects finite values at a time, s.
    pub(super) fn expect_finite(time: f64, is_finite: bool) -> Result<(), Self> {
        if is_finite {
            Ok(())
        } else {
            Err(Self::NotFinite { time })
        }
    }

    /// Writes a point if it is finite.
    pub(super) fn replace(
        time: f64,
        point: &mut ReferencePoint,
        new: ReferencePoint,
    ) -> Result<(), Self> {
        Self::expect_finite(time, new.is_finite())?;
        *point = new;
        Ok(())
    }

    /// Expects as many coordinates as the system has.
    pub(super) fn expect_coordinates(expected: usize, found: usize) -> Result<(), Self> {
        if found == expected {
            Ok(())
        } else {
            Err(Self::Coordinates { expected, found })
        }
    }
}

/// Why a search ended this far from its target, m or rad.
fn why_unreachable(distance: f64) -> &'static str {
    /// At the end of its reach a search comes as near as the square root of rounding errors.
    const EDGE: f64 = 1e-6;
    if distance < EDGE {
        "the target is at the very end of the reach, where the configuration is singular and the motion not determined: move it inwards"
    } else {
        "the target is out of reach, or reached only by joints that are held, or from another start of the search, away from singular configurations"
    }
}
