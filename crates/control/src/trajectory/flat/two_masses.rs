//! Two masses on a line with a spring between them.
#![allow(non_snake_case)]

use fly_lie::SE3;
use fly_mechanics::System;
use fly_mechanics::multibody::JointKind;

use super::plant::{NotFlat, Plant, joint_frame, moving};
use crate::trajectory::jet::Jet;
use crate::trajectory::path::LeavesSubspace;
use crate::trajectory::{Infeasible, Path, Trajectory, TransformedPath};

/// The coordinates of two masses on a line, coupled by a spring, with a force on the first: the position of the second is a flat output.
///
/// ```text
/// m_2 z_2'' + k (z_2 - z_1) + c = 0:   z_1 = z_2 + z_2'' / w + offset,   w = k / m_2,   offset = c / k
/// ```
///
/// Konz (5.143) prints `z_2 - z_2'' / w` and omits the offset. The coordinates are those of the two joints.
pub struct TwoMasses {
    masses: MassesOnLine,
    /// The motion of the second mass in the [frame](MassesOnLine::frame).
    output: TransformedPath,
}

/// The parameters of the flat output of [`TwoMasses`].
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct MassesOnLine {
    /// The frame of the second mass's joint in the world: the line is its z axis.
    pub frame: SE3<f64>,
    /// w: stiffness of the spring over the second mass, 1/s².
    pub ratio: f64,
    /// How far the first mass is ahead in equilibrium, m: the spring's rest length plus its deflection under the carried
    /// weight.
    pub offset: f64,
    /// Whether the first mass carries the second, whose coordinate is then the distance.
    pub carried: bool,
    /// Whether the second mass has the first coordinate.
    pub swapped: bool,
}

impl MassesOnLine {
    /// Identifies the masses and the spring in a system.
    ///
    /// # Errors
    /// [`NotFlat`] unless it is two masses with a spring.
    pub fn of_system(system: &System) -> Result<Self, NotFlat> {
        let refused = |found: String| NotFlat {
            expected: "two bodies that slide along one line, inputs at the first only, and nothing but a spring from it and gravity at the second",
            found,
        };
        let bodies = moving(system);
        let &[a, b] = bodies.as_slice() else {
            return Err(refused(format!("{} bodies that move", bodies.len())));
        };
        for body in [a, b] {
            let kind = system.model.joint(body).map(|joint| *joint.kind());
            if !matches!(kind, Some(JointKind::Prismatic)) {
                return Err(refused(format!(
                    "`{}` on another joint than a prismatic one",
                    system.model.name(body)
                )));
            }
        }
        let mut plant = Plant::new(system);
        let rest = plant.bias(&[0.0; 2], &[0.0; 2]);
        let B = plant.inputs();
        let driven = [0, 1].map(|i| B.row(i).iter().any(|b| *b != 0.0));
        let (first, second) = match driven {
            [true, false] => (0, 1),
            [false, true] => (1, 0),
            [true, true] => return Err(refused("inputs at both".to_owned())),
            [false, false] => return Err(refused("no inputs".to_owned())),
        };
        let M = plant.terms.mass_matrix.clone();
        let mass = M[(second, second)];
        // Carried by the first, the second moves with it.
        let carried = same(M[(first, second)], mass, mass);
        if !carried && !same(M[(first, second)], 0.0, mass) {
            return Err(refused(
                "other directions of the two, or the first carried by the second".to_owned(),
            ));
        }
        let mut along = |body: usize, step: f64, speed: f64| {
            let (mut x, mut xi) = ([0.0; 2], [0.0; 2]);
            (x[body], xi[body]) = (step, speed);
            plant.bias(&x, &xi)[second] - rest[second]
        };
        let stiffness = along(second, 1.0, 0.0);
        let coupling = along(first, 1.0, 0.0);
        let expected = if carried { 0.0 } else { -stiffness };
        if stiffness <= 0.0 || !same(coupling, expected, stiffness) {
            return Err(refused("no such spring".to_owned()));
        }
        if along(first, 0.0, 1.0) != 0.0 || along(second, 0.0, 1.0) != 0.0 {
            return Err(refused("a damper at the second".to_owned()));
        }
        let body = [a, b]
            .into_iter()
            .find(|body| system.model.velocity_range(*body).start == second);
        Ok(Self {
            frame: joint_frame(system, body.unwrap_or(b)),
            ratio: stiffness / mass,
            offset: rest[second] / stiffness,
            carried,
            swapped: first == 1,
        })
    }
}

/// Whether two values agree to rounding at this magnitude.
fn same(a: f64, b: f64, size: f64) -> bool {
    (a - b).abs() <= 1e-9 * size.abs()
}

impl TwoMasses {
    /// The second mass along a path in the world.
    ///
    /// # Errors
    /// [`LeavesSubspace`] if the path leaves the line.
    pub fn new(masses: MassesOnLine, path: Box<dyn Path>) -> Result<Self, LeavesSubspace> {
        let output = TransformedPath::new(path, &masses.frame);
        output.check_within(2..3)?;
        Ok(Self { masses, output })
    }
}

impl Trajectory<[Jet<3>]> for TwoMasses {
    fn at(&mut self, t: f64, q: &mut [Jet<3>]) -> Result<(), Infeasible> {
        let masses = &self.masses;
        let [.., z_2] = self.output.at(t).position;
        let pull = z_2.second_derivative::<3>().scale(masses.ratio.recip());
        let z_2 = z_2.truncate::<3>();
        let z_1 = z_2 + pull + Jet::constant(masses.offset);
        let second = if masses.carried { z_2 - z_1 } else { z_2 };
        let (first, last) = if masses.swapped { (1, 0) } else { (0, 1) };
        (q[first], q[last]) = (z_1, second);
        Ok(())
    }

    fn duration(&self) -> Option<f64> {
        self.output.duration()
    }
}
