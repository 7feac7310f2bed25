//! Vibration of the frame due to its rotors.

use std::f64::consts::TAU;

use nalgebra::Vector3;

use crate::random::Random;

/// Vibration of an inertial sensor due to unbalanced rotors: each with an amplitude proportional to the square of its speed, at its rotational
/// frequency, about its axis.
///
/// Integrated in closed form between frames, so that a sample contains the mean: frequencies above half the sampling rate appear at their
/// aliases, attenuated by the averaging.
pub(crate) struct Vibration {
    /// rad/s and m/s², per (rad/s)².
    amplitudes: [f64; 2],
    rotors: Vec<Rotor>,
    /// Time since the last sample, s.
    time: f64,
}

struct Rotor {
    /// Two directions orthogonal to its axis, body.
    directions: [Vector3<f64>; 2],
    /// rad.
    phase: f64,
    /// The integrals over time of the circle with radius Omega², along both directions.
    integral: [f64; 2],
}

impl Vibration {
    /// For rotors with these axes, with random phases. Amplitudes of angular velocity and of acceleration: rad/s and m/s² per (rad/s)².
    pub(crate) fn new(
        amplitudes: [f64; 2],
        axes: impl Iterator<Item = Vector3<f64>>,
        random: &mut Random,
    ) -> Self {
        let rotors = axes.map(|axis| {
            let across = axis.cross(&Vector3::ith(axis.iamin(), 1.0)).normalize();
            Rotor {
                directions: [across, axis.cross(&across)],
                phase: TAU * random.uniform(),
                integral: [0.0; 2],
            }
        });
        Self {
            amplitudes,
            rotors: rotors.collect(),
            time: 0.0,
        }
    }

    /// Advances by this time, s, at these speeds, rad/s.
    pub(crate) fn turn(&mut self, step: f64, speeds: &[f64]) {
        self.time += step;
        for (rotor, speed) in self.rotors.iter_mut().zip(speeds) {
            let (sin, cos) = rotor.phase.sin_cos();
            rotor.phase = (rotor.phase + speed * step) % TAU;
            let (sin_end, cos_end) = rotor.phase.sin_cos();
            // Omega² times the integrals of cos and sin.
            rotor.integral[0] += speed * (sin_end - sin);
            rotor.integral[1] += speed * (cos - cos_end);
        }
    }

    /// The means of angular velocity and acceleration since the last call, body axes.
    pub(crate) fn mean(&mut self) -> [Vector3<f64>; 2] {
        let time = std::mem::take(&mut self.time);
        let mut sum = Vector3::zeros();
        for rotor in &mut self.rotors {
            let [along, across] = std::mem::take(&mut rotor.integral);
            sum += rotor.directions[0] * along + rotor.directions[1] * across;
        }
        let mean = if time > 0.0 { sum / time } else { sum };
        self.amplitudes.map(|amplitude| mean * amplitude)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::random::Stream;

    /// The mean of a rotating vector, by quadrature over times between the frames.
    #[test]
    fn the_mean_is_that_of_the_turning_vector() {
        let mut random = Random::of_stream(3, Stream::Imu);
        let mut vibration = Vibration::new([0.0, 1e-6], [Vector3::z()].into_iter(), &mut random);
        let start = vibration.rotors[0].phase;
        let directions = vibration.rotors[0].directions;
        let (step, speeds) = (0.002, [700.0, 720.0, 100.0]);
        for speed in speeds {
            vibration.turn(step, &[speed]);
        }
        let [_, mean] = vibration.mean();
        let (mut sum, mut phase) = (Vector3::zeros(), start);
        let parts = 100_000;
        for speed in speeds {
            for _ in 0..parts {
                let middle: f64 = phase + 0.5 * speed * step / f64::from(parts);
                let across = directions[0] * middle.cos() + directions[1] * middle.sin();
                sum += across * (speed * speed * 1e-6);
                phase += speed * step / f64::from(parts);
            }
        }
        let expected = sum / f64::from(3 * parts);
        assert!((mean - expected).norm() < 1e-8, "{mean} {expected}");
        assert!(expected.norm() > 0.05);
        assert_eq!(vibration.mean()[1], Vector3::zeros());
    }
}
