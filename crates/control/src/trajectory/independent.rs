//! Independent position and attitude.

use nalgebra::Vector3;

use super::flat::{Attitude, rigid_body};
use super::jet::Jet;
use super::{Infeasible, Sinusoid, Trajectory};
use crate::ReferencePoint;

/// Sinusoids of the position and, independent of them, of the attitude: for fully actuated vehicles.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Independent {
    /// x, y and z of the body's origin in the world, m.
    pub position: [Sinusoid; 3],
    /// Roll, pitch and yaw, rad: `R = Rz(yaw) Ry(pitch) Rx(roll)`.
    pub attitude: [Sinusoid; 3],
}

/// The columns of `Rz(yaw) Ry(pitch) Rx(roll)`.
pub(super) fn roll_pitch_yaw(roll: Jet<3>, pitch: Jet<3>, yaw: Jet<3>) -> Attitude {
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
    fn at(&mut self, t: f64, point: &mut ReferencePoint) -> Result<(), Infeasible> {
        let [roll, pitch, yaw] = self.attitude.map(|angle| angle.at(t));
        let position = self.position.map(|x| x.at::<3>(t));
        let attitude = roll_pitch_yaw(roll, pitch, yaw);
        Infeasible::replace(
            t,
            point,
            rigid_body(&position, &attitude, &Vector3::zeros()),
        )
    }

    fn duration(&self) -> Option<f64> {
        None
    }
}
