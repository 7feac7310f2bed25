//! Vibration of the frame by its rotors.

use std::f64::consts::TAU;

use nalgebra::Vector3;

use crate::random::Random;

/// How unbalanced rotors shake an inertial sensor: each with an amplitude in proportion to the square of its speed, at the frequency of its
/// turns, about its axis.
///
/// Integrated in closed form between frames, so that a sample holds its mean: frequencies above half of the rate of the samples show at the lower
/// ones as which they are sampled, as weak as averaging leaves them.
pub(crate) struct Vibration {
    /// rad/s and m/s², per (rad/s)².
    amplitudes: [f64; 2],
    rotors: Vec<Rotor>,
    /// Since the last sample, s.
    time: f64,
}

struct Rotor {
    /// Across its axis, body.
    directions: [Vector3<f64>; 2],
    /// rad.
    phase: f64,
    /// Of the circle with radius Omega², over the time, along both directions.
    integral: [f64; 2],
}

impl Vibration {
    /// Of rotors with these axes, whose phases are drawn. Amplitudes of angular velocity and of acceleration: rad/s and m/s² per (rad/s)².
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

    /// Goes on by so many seconds with these speeds, rad/s.
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

    /// The mean of a turning vector, by quadrature over times between the frames.
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
