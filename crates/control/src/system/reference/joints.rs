//! References that name every coordinate.

use super::{Infeasible, SystemPoint, SystemTrajectory};
use crate::trajectory::Path;
use crate::trajectory::jet::Jet;

/// A sinusoid for every coordinate, `offset + amplitude sin(rate t + phase)`, of systems whose configuration rate is their velocity: angles and
/// distances.
#[derive(Clone, Debug, PartialEq)]
pub struct JointSines {
    /// Amplitudes, rad or m, one for each coordinate; so the others.
    pub amplitude: Vec<f64>,
    /// Angular frequencies, rad/s.
    pub angular_frequency: Vec<f64>,
    /// Phases at t = 0, rad.
    pub phase: Vec<f64>,
    /// Centres, rad or m.
    pub offset: Vec<f64>,
}

impl SystemTrajectory for JointSines {
    fn at(&mut self, t: f64, point: &mut SystemPoint) -> Result<(), Infeasible> {
        for i in 0..point.velocity.len() {
            let w = self.angular_frequency[i];
            let (sine, _) = Jet::<3>::linear(w * t + self.phase[i], w).sin_cos();
            let sine = sine.scale(self.amplitude[i]);
            point.configuration[i] = self.offset[i] + sine.value();
            point.velocity[i] = sine.derivative(1);
            point.acceleration[i] = sine.derivative(2);
        }
        Ok(())
    }
}

/// Two masses on a line with a spring between them, a force on the first: the position of the second is a flat output.
///
/// `z_1 = z_2 + z_2'' / w`, `w = k / m_2`, Konz (5.143), which prints a minus.
pub struct TwoMasses {
    /// The motion of the second mass: the x coordinate of a path, m.
    pub output: Box<dyn Path>,
    /// w: stiffness of the spring over the second mass, 1/s².
    pub ratio: f64,
}

impl SystemTrajectory for TwoMasses {
    fn at(&mut self, t: f64, point: &mut SystemPoint) -> Result<(), Infeasible> {
        let [z_2, ..] = self.output.at(t).position;
        let z_1 = z_2.truncate::<3>() + z_2.second_derivative::<3>().scale(1.0 / self.ratio);
        point
            .configuration
            .copy_from_slice(&[z_1.value(), z_2.value()]);
        point
            .velocity
            .copy_from_slice(&[z_1.derivative(1), z_2.derivative(1)]);
        point
            .acceleration
            .copy_from_slice(&[z_1.derivative(2), z_2.derivative(2)]);
        Ok(())
    }
}
