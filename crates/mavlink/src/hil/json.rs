//! ArduPilot's interface to external physics: binary frames of pulse widths over UDP, answered by lines of JSON.
//!
//! | bytes | content, little endian |
//! |---|---|
//! | 0, 1 | 18458, or 29569 with 32 outputs |
//! | 2, 3 | rate at which it wants steps, Hz |
//! | 4 to 7 | number of the frame, from 0 |
//! | 8 to 39 (71) | pulse widths, µs |

use std::fmt::{self, Write as _};

use super::sensed::{Inertial, Motion};
use crate::frames::{euler_from_ned_frd, frd_from_flu, ned_frd_from_nwu_flu, ned_from_nwu};
use crate::outputs::MOST_OUTPUTS;

const MAGIC: [(u16, usize); 2] = [(18_458, 16), (29_569, 32)];
const HEADER: usize = 8;
/// A distance beyond every range finder, m. In centimetres it has 16 bits.
const FAR: f64 = 650.0;

/// A frame of pulse widths.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ServoFrame {
    /// The autopilot's requested step rate, Hz.
    pub rate: u16,
    /// Its number.
    pub count: u32,
    /// Pulse widths, µs; 0 for outputs that do not exist.
    pub pulses: [u16; MOST_OUTPUTS],
}

/// Why a datagram is not a frame.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum NoFrame {
    /// Its first number is wrong.
    #[error("its first number is {0}, expected 18458 or 29569")]
    Magic(u16),
    /// Its length is wrong.
    #[error("it has {found} bytes, expected {expected}")]
    Length {
        /// Length of the datagram, bytes.
        found: usize,
        /// Length of a frame with this first number, bytes.
        expected: usize,
    },
    /// It requests no steps.
    #[error("it asks for 0 steps a second")]
    Rate,
}

impl ServoFrame {
    /// Reads a datagram.
    ///
    /// # Errors
    /// The datagram is not a frame, for this reason.
    pub fn read(bytes: &[u8]) -> Result<Self, NoFrame> {
        let short = |at: usize| match bytes.get(at..at + 2) {
            Some(&[low, high]) => u16::from_le_bytes([low, high]),
            _ => 0,
        };
        let magic = short(0);
        let Some((_, outputs)) = MAGIC.into_iter().find(|(known, _)| *known == magic) else {
            return Err(NoFrame::Magic(magic));
        };
        let (found, expected) = (bytes.len(), HEADER + 2 * outputs);
        if found != expected {
            return Err(NoFrame::Length { found, expected });
        }
        if short(2) == 0 {
            return Err(NoFrame::Rate);
        }
        let mut pulses = [0; MOST_OUTPUTS];
        for (i, pulse) in pulses.iter_mut().take(outputs).enumerate() {
            *pulse = short(HEADER + 2 * i);
        }
        Ok(Self {
            rate: short(2),
            count: u32::from(short(4)) | u32::from(short(6)) << 16,
            pulses,
        })
    }
}

/// The state sent in reply to a frame.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct State {
    /// Time, s.
    pub time: f64,
    /// The last inertial sample.
    pub inertial: Inertial,
    /// The true motion, from which ArduPilot's own simulator computes sensors.
    pub motion: Motion,
    /// Range finder distance, m; infinite if it is out of range. `None` without a range finder: `ArduPilot` keeps the last
    /// distance for good if there is none any more.
    pub distance: Option<f64>,
    /// Airspeed, m/s.
    pub airspeed: Option<f64>,
}

impl State {
    /// Writes the state in the form that `ArduPilot`'s parser requires: no space after a colon, a line break before and
    /// after, no exponents.
    ///
    /// # Errors
    /// Those of `to`.
    pub fn write(&self, to: &mut String) -> fmt::Result {
        let gyro = frd_from_flu(self.inertial.angular_velocity);
        let force = frd_from_flu(self.inertial.specific_force);
        let position = ned_from_nwu(self.motion.position);
        let velocity = ned_from_nwu(self.motion.velocity);
        let attitude = ned_frd_from_nwu_flu(self.motion.attitude);
        write!(to, "\n{{\"timestamp\":{:.9},\"imu\":{{\"gyro\":", self.time)?;
        list(to, &gyro)?;
        to.write_str(",\"accel_body\":")?;
        list(to, &force)?;
        to.write_str("},\"position\":")?;
        list(to, &position)?;
        to.write_str(",\"attitude\":")?;
        // For versions without quaternions.
        list(to, &euler_from_ned_frd(attitude))?;
        to.write_str(",\"quaternion\":")?;
        list(to, &attitude)?;
        to.write_str(",\"velocity\":")?;
        list(to, &velocity)?;
        if let Some(distance) = self.distance {
            let distance = distance.min(FAR);
            write!(to, ",\"rng_1\":{distance:.4}")?;
        }
        if let Some(airspeed) = self.airspeed {
            write!(to, ",\"airspeed\":{airspeed:.4}")?;
        }
        to.write_str("}\n")
    }
}

fn list(to: &mut String, numbers: &[f64]) -> fmt::Result {
    for (i, number) in numbers.iter().enumerate() {
        let sign = if i == 0 { '[' } else { ',' };
        write!(to, "{sign}{number:.9}")?;
    }
    to.write_char(']')
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::frames::{ned_frd_from_euler, nwu_flu_from_ned_frd};

    fn frame(magic: u16, rate: u16, count: u32, pulses: &[u16]) -> Vec<u8> {
        let mut bytes = Vec::new();
        bytes.extend(magic.to_le_bytes());
        bytes.extend(rate.to_le_bytes());
        bytes.extend(count.to_le_bytes());
        bytes.extend(pulses.iter().flat_map(|pulse| pulse.to_le_bytes()));
        bytes
    }

    #[test]
    fn frames_of_both_lengths_are_read() {
        let sixteen: Vec<u16> = (1000..1016).collect();
        let read = ServoFrame::read(&frame(18_458, 1200, 70_000, &sixteen)).unwrap();
        assert_eq!((read.rate, read.count), (1200, 70_000));
        assert_eq!(read.pulses[..16], sixteen);
        assert_eq!(read.pulses[16..], [0; 16]);
        let many: Vec<u16> = (1000..1032).collect();
        let read = ServoFrame::read(&frame(29_569, 400, 0, &many)).unwrap();
        assert_eq!(read.pulses[..], many);
    }

    #[test]
    fn what_is_no_frame_says_why() {
        let check = |bytes: &[u8], why: &str| {
            assert_eq!(ServoFrame::read(bytes).unwrap_err().to_string(), why);
        };
        check(&[], "its first number is 0, expected 18458 or 29569");
        check(&[0x1a], "its first number is 0, expected 18458 or 29569");
        check(
            &frame(18_459, 400, 0, &[0; 16]),
            "its first number is 18459, expected 18458 or 29569",
        );
        check(
            &frame(18_458, 400, 0, &[0; 15]),
            "it has 38 bytes, expected 40",
        );
        check(
            &frame(18_458, 400, 0, &[0; 32]),
            "it has 72 bytes, expected 40",
        );
        check(
            &frame(29_569, 400, 0, &[0; 16]),
            "it has 40 bytes, expected 72",
        );
        check(
            &frame(18_458, 0, 0, &[0; 16]),
            "it asks for 0 steps a second",
        );
    }

    #[test]
    fn the_line_is_what_the_parser_wants() {
        let state = State {
            time: 12.5,
            inertial: Inertial {
                angular_velocity: [0.1, 0.2, 0.3],
                specific_force: [0.0, 0.5, 9.8],
            },
            motion: Motion {
                position: [1.0, 2.0, 3.0],
                attitude: nwu_flu_from_ned_frd(ned_frd_from_euler(0.1, -0.2, 1e-12)),
                velocity: [4.0, 5.0, 6.0],
                angular_velocity: [0.1, 0.2, 0.3],
            },
            distance: Some(2.5),
            airspeed: None,
        };
        let mut line = String::new();
        state.write(&mut line).unwrap();
        assert!(line.starts_with("\n{\"timestamp\":12.500000000,\"imu\":{\"gyro\":[0.100000000,-0.200000000,-0.300000000],"), "{line}");
        assert!(
            line.contains("\"accel_body\":[0.000000000,-0.500000000,-9.800000000]}"),
            "{line}"
        );
        assert!(
            line.contains("\"position\":[1.000000000,-2.000000000,-3.000000000]"),
            "{line}"
        );
        assert!(
            line.contains("\"attitude\":[0.100000000,-0.200000000,0.000000000]"),
            "{line}"
        );
        assert!(
            line.ends_with(
                "\"velocity\":[4.000000000,-5.000000000,-6.000000000],\"rng_1\":2.5000}\n"
            ),
            "{line}"
        );
        assert!(!line.contains(": "));
        assert_eq!(line.matches('\n').count(), 2);
    }
}
