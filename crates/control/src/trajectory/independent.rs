//! Position and attitude that move on their own.

use nalgebra::Vector3;

use super::flat::{self, Attitude};
use super::jet::Jet;
use super::{Lissajous, ReferencePoint, Trajectory};

/// Sinusoids of the position and, independent of them, of the attitude: for fully actuated vehicles.
///
/// `R = Rz(yaw_rate t + a_2) Ry(a_1) Rx(a_0)` with `a_i = attitude_amplitude_i sin(attitude_angular_frequency_i t +
/// attitude_phase_i)`. The position is that of the body's origin.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Independent {
    /// The position; its yaw rate turns the attitude.
    pub position: Lissajous,
    /// Amplitudes of roll, pitch and yaw, rad.
    pub attitude_amplitude: Vector3<f64>,
    /// Their angular frequencies, rad/s.
    pub attitude_angular_frequency: Vector3<f64>,
    /// Their phases at t = 0, rad.
    pub attitude_phase: Vector3<f64>,
}

impl Independent {
    fn angle(&self, i: usize, t: f64) -> Jet<3> {
        let w = self.attitude_angular_frequency[i];
        let (sine, _) = Jet::linear(w * t + self.attitude_phase[i], w).sin_cos();
        sine.scale(self.attitude_amplitude[i])
    }
}

/// The columns of `Rz(yaw) Ry(pitch) Rx(roll)`.
pub fn roll_pitch_yaw(roll: Jet<3>, pitch: Jet<3>, yaw: Jet<3>) -> Attitude {
    let (sr, cr) = roll.sin_cos();
    let (sp, cp) = pitch.sin_cos();
    let (sy, cy) = yaw.sin_cos();
    [
        [cy * cp, sy * cp, -sp],
        [cy * sp * sr - sy * cr, sy * sp * sr + cy * cr, cp * sr],
        [cy * sp * cr + sy * sr, sy * sp * cr - cy * sr, cp * cr],
    ]
}

impl Trajectory for Independent {
    fn at(&mut self, t: f64) -> ReferencePoint {
        let turn = Jet::linear(self.position.yaw_rate * t, self.position.yaw_rate);
        let attitude = roll_pitch_yaw(self.angle(0, t), self.angle(1, t), self.angle(2, t) + turn);
        flat::reference(
            &self.position.position::<3>(t),
            &attitude,
            &Vector3::zeros(),
        )
    }

    fn duration(&self) -> Option<f64> {
        None
    }
}
