//! Positions and directions of rotation of a frame's rotors.

use clap::ValueEnum as _;

use crate::args::Frame;

/// A rotor of a frame.
#[derive(Clone, Debug, PartialEq)]
pub struct RotorPlacement {
    /// Its name.
    pub name: String,
    /// Angle of its arm from the x axis about z, degrees.
    pub angle_deg: f64,
    /// Its level on the arm.
    pub level: Level,
    /// Whether its drag torque on the vehicle is along its thrust.
    pub positive: bool,
}

/// Which rotor of an arm.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Level {
    /// The only one.
    Single,
    /// The upper one of two.
    Upper,
    /// The one in the wake of the upper one.
    Lower,
}

impl Frame {
    /// Its name on the command line.
    pub fn name(self) -> String {
        let value = self.to_possible_value();
        value.map_or_else(String::new, |value| value.get_name().to_owned())
    }

    /// Its description, in a sentence.
    pub fn about(self) -> &'static str {
        match self {
            Self::QuadcopterX => {
                "A quadcopter in x arrangement: rotors at front left, rear left, rear right, front right."
            }
            Self::QuadcopterPlus => {
                "A quadcopter in plus arrangement: rotors at front, left, rear, right."
            }
            Self::Hexacopter => {
                "A hexacopter: six rotors in a plane, neighbours turning in opposite directions."
            }
            Self::Octocopter => {
                "An octocopter: eight rotors in a plane, neighbours turning in opposite directions."
            }
            Self::Y6 => {
                "A Y6: two rotors, one above the other, on each of three arms; all upper ones turn one way, all lower ones the other."
            }
            Self::X8 => {
                "An X8: two rotors, one above the other and against it, on each of four arms."
            }
            Self::Tricopter => {
                "A tricopter whose three rotors tilt about their arms: force and torque are commanded independently."
            }
        }
    }

    /// Angles of its arms from the x axis about z, degrees.
    pub fn arms_deg(self) -> Vec<f64> {
        let (count, first) = match self {
            Self::QuadcopterX | Self::X8 => (4, 45.0),
            Self::QuadcopterPlus => (4, 0.0),
            Self::Hexacopter => (6, 0.0),
            Self::Octocopter => (8, 0.0),
            Self::Y6 | Self::Tricopter => (3, 60.0),
        };
        (0..count)
            .map(|arm| first + 360.0 / f64::from(count) * f64::from(arm))
            .collect()
    }

    /// Whether its rotors tilt about their arms.
    pub fn tilts(self) -> bool {
        self == Self::Tricopter
    }

    /// All rotors.
    pub fn places(self) -> Vec<RotorPlacement> {
        let levels: &[Level] = match self {
            Self::Y6 | Self::X8 => &[Level::Upper, Level::Lower],
            _ => &[Level::Single],
        };
        let mut places = Vec::new();
        for (arm, angle_deg) in self.arms_deg().into_iter().enumerate() {
            for level in levels {
                let alternate = match self {
                    // All upper rotors turn the same way.
                    Self::Y6 => false,
                    // Two one way and one the other, so that hover needs little tilt.
                    Self::Tricopter => arm != 1,
                    _ => arm % 2 == 1,
                };
                let side = side(angle_deg);
                places.push(RotorPlacement {
                    name: match level {
                        Level::Single => side,
                        Level::Upper => format!("{side}, upper"),
                        Level::Lower => format!("{side}, lower"),
                    },
                    angle_deg,
                    level: *level,
                    positive: alternate != (*level == Level::Lower),
                });
            }
        }
        places
    }
}

/// Describes the direction of an arm.
fn side(angle_deg: f64) -> String {
    let angle = angle_deg.to_radians();
    let word = |number: f64, above: &'static str, below: &'static str| {
        if number > 1e-6 {
            Some(above)
        } else if number < -1e-6 {
            Some(below)
        } else {
            None
        }
    };
    let words = [
        word(angle.cos(), "front", "rear"),
        word(angle.sin(), "left", "right"),
    ];
    let words: Vec<&str> = words.into_iter().flatten().collect();
    words.join(" ")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_rotors_of_a_frame_have_names_of_their_own_and_turn_against_each_other() {
        for frame in Frame::value_variants() {
            let places = frame.places();
            let mut names: Vec<&str> = places.iter().map(|place| place.name.as_str()).collect();
            names.sort_unstable();
            names.dedup();
            assert_eq!(names.len(), places.len(), "{frame:?}");
            let positive = places.iter().filter(|place| place.positive).count();
            let expected = if frame.tilts() { 2 } else { places.len() / 2 };
            assert_eq!(positive, expected, "{frame:?}");
        }
    }
}
