//! Limits, and what is said of those that a flight exceeds.

use std::fmt;

use fly_mechanics::System;
use fly_mechanics::multibody::Joint;

use super::lost::LOST;
use crate::supervisor::{Limit, Response};

/// A limit and its bound.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Bound {
    /// The limited quantity.
    pub limit: Limit,
    /// The largest allowed value.
    pub max: f64,
    /// How long the value may exceed it, s.
    pub after: f64,
    /// The response; `None`: it only affects the flight's verdict.
    pub then: Option<Response>,
}

/// A limit that was exceeded.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Exceeded {
    /// The limit.
    pub bound: Bound,
    /// The value that exceeded it.
    pub value: f64,
    /// Whether it means that the loop has lost its reference.
    pub diverged: bool,
}

/// What counts against a flight at its end.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Ending {
    /// An error that is too large and does not decrease.
    Error {
        /// The error.
        limit: Limit,
        /// Its value, m or rad.
        value: f64,
        /// The largest value of a loop that holds its reference.
        max: f64,
        /// Whether it grows.
        grows: bool,
    },
    /// The vehicle has not moved, away from its reference.
    Stayed {
        /// Its largest position error, m, or of a system without a free body that of its joints that slide, or that turn, rad.
        error: f64,
        /// How far it moved, the same.
        moved: f64,
        /// Whether they turn.
        turns: bool,
    },
    /// The vehicle stands on the ground below its reference.
    Carried {
        /// How far below, m.
        below: f64,
    },
    /// The vehicle fell in its failsafe.
    Fell {
        /// How fast it sank, m/s.
        speed: f64,
        /// The fastest descent of a failsafe that works, m/s.
        max: f64,
    },
    /// The attitude was lost for most of the flight.
    LostAttitude {
        /// For how long, s.
        lost: f64,
        /// Time since the controller began, s.
        flown: f64,
    },
}

impl fmt::Display for Ending {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (limit, value, max, grows) = match *self {
            Self::Error {
                limit,
                value,
                max,
                grows,
            } => (limit, value, max, grows),
            Self::Stayed {
                error,
                moved,
                turns,
            } => {
                let (scale, unit) = if turns {
                    (180.0 / std::f64::consts::PI, "deg")
                } else {
                    (1.0, "m")
                };
                let [error, moved] = [error, moved].map(|value| value * scale);
                return write!(
                    f,
                    "did not follow its reference: moved by at most {moved:.3} {unit}, and was up to {error:.3} {unit} away"
                );
            }
            Self::Carried { below } => {
                return write!(f, "stands on the ground, {below:.3} m below its reference");
            }
            Self::Fell { speed, max } => {
                return write!(
                    f,
                    "fell in its failsafe: it sank at {speed:.3} m/s, and one that works at {max:.3} m/s at most"
                );
            }
            Self::LostAttitude { lost, flown } => {
                return write!(
                    f,
                    "attitude lost for {lost:.1} of {flown:.1} s: its error exceeded {:.3} deg (rms)",
                    LOST.to_degrees()
                );
            }
        };
        let (unit, scale) = match limit {
            Limit::AttitudeError => ("deg", 1f64.to_degrees()),
            _ => ("m", 1.0),
        };
        let (name, value, max) = (limit.name(), value * scale, max * scale);
        let (which, how) = if grows {
            ("final", "grows")
        } else {
            ("lasting", "does not decrease")
        };
        write!(
            f,
            "{which} {name} of {value:.3} {unit}, which {how}: a loop that holds its reference stays within {max:.3} {unit}"
        )
    }
}

/// A limit that was exceeded, in words that name the joint.
#[derive(Debug, Clone, PartialEq)]
pub struct Told {
    /// The limit and the value.
    pub exceeded: Exceeded,
    words: String,
}

impl fmt::Display for Told {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.words)
    }
}

impl Exceeded {
    /// The same in words, with the name and the unit of the system's joint.
    pub fn told(self, system: &System) -> Told {
        let words = fmt::from_fn(|f| self.write(f, Some(system))).to_string();
        Told {
            exceeded: self,
            words,
        }
    }

    fn write(&self, f: &mut fmt::Formatter<'_>, system: Option<&System>) -> fmt::Result {
        let (value, max) = (self.value, self.bound.max);
        let most = |f: &mut fmt::Formatter<'_>, what: &str, unit: &str, scale: f64| {
            let (value, max) = (value * scale, max * scale);
            write!(
                f,
                "{what} of {value:.3} {unit}, at most {max:.3} {unit} allowed"
            )
        };
        let (name, degrees) = (self.bound.limit.name(), 1f64.to_degrees());
        match self.bound.limit {
            Limit::PositionError | Limit::PositionJump | Limit::Height => most(f, name, "m", 1.0),
            Limit::AttitudeError | Limit::LostAttitude | Limit::Tilt => {
                most(f, name, "deg", degrees)
            }
            Limit::Speed => most(f, name, "m/s", 1.0),
            Limit::Floor => write!(
                f,
                "height of {:.3} m, at least {:.3} m allowed",
                -value, -max
            ),
            Limit::Fence(_) => write!(f, "{value:.3} m outside of the fence"),
            Limit::JointSpeed => most(f, name, &format!("{}/s", unit(system, None)), 1.0),
            Limit::JointPosition(index) => {
                write!(
                    f,
                    "{} is {value:.3} {} outside its limits",
                    joint(system, index),
                    unit(system, Some(index))
                )
            }
            Limit::JointVelocity(index) => write!(
                f,
                "{} moves at {value:.3} {unit}/s, faster than its limit of {max:.3} {unit}/s",
                joint(system, index),
                unit = unit(system, Some(index))
            ),
            Limit::Saturated => write!(f, "inputs at their limits for {value:.3} s"),
            Limit::Touchdown => write!(
                f,
                "touched the ground at {value:.3} m/s, at most {max:.3} m/s allowed"
            ),
            Limit::Slide => write!(
                f,
                "touched the ground while it slid along it at {value:.3} m/s, at most {max:.3} m/s allowed"
            ),
            Limit::Depth => write!(f, "{value:.3} m below the ground"),
        }
    }
}

impl fmt::Display for Exceeded {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.write(f, None)
    }
}

/// The joint with this index, by its name and as its signals are called.
fn joint(system: Option<&System>, index: usize) -> String {
    match system.and_then(|system| system.joints.get(index)) {
        Some(joint) => format!("joint `{}` (`joint.{index}`)", joint.name),
        None => format!("`joint.{index}`"),
    }
}

/// The unit of the joint with this index, or of all joints that move.
fn unit(system: Option<&System>, index: Option<usize>) -> &'static str {
    let Some(system) = system else {
        return "(rad or m)";
    };
    let model = &system.model;
    let all = model.bodies().enumerate();
    let counted = all.filter(|(i, _)| index.is_none_or(|index| index == *i));
    let (mut turns, mut slides) = (false, false);
    for (_, body) in counted {
        let sliding = model.joint(body).map_or(0, Joint::translations);
        slides |= sliding > 0;
        turns |= sliding < model.velocity_range(body).len();
    }
    match (turns, slides) {
        (true, false) => "rad",
        (false, true) => "m",
        _ => "(rad or m)",
    }
}
