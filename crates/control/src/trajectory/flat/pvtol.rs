//! The planar vertical take-off and landing aircraft.
#![allow(non_snake_case)]

use fly_lie::SE3;
use fly_mechanics::System;
use nalgebra::Vector2;

use super::SINGULAR_THRUST;
use super::plant::{NotFlat, Plant, is_planar, joint_frame, moving};
use crate::matching::null_space;
use crate::trajectory::jet::Jet;
use crate::trajectory::path::LeavesSubspace;
use crate::trajectory::{Infeasible, Path, Trajectory, TransformedPath};

/// The coordinates `[x, y, alpha]` of a planar vertical take-off and landing aircraft, from a point above it that is a flat output y,
/// Konz (5.152)-(5.154), which prints other signs.
///
/// ```text
/// a = y'' - a_G,   r = y - eps a / |a|,   alpha = atan2(-a_x, a_y) - atan2(-u_x, u_y)
/// ```
///
/// where u is the direction in the body of thrust without torque, and r the centre of mass. In the dissertation u is the body's y axis, and the
/// centre of mass its origin.
///
/// Requires zero drag: drag on a centre of mass away from y would act in proportion to the rate of alpha, and y would no longer be a flat output.
pub struct Pvtol {
    aircraft: PlanarAircraft,
    /// The motion of the flat output in the [frame](PlanarAircraft::frame).
    output: TransformedPath,
}

/// The parameters of the flat output of a [`Pvtol`].
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct PlanarAircraft {
    /// The frame of its planar joint in the world: the plane is that of its x and y axes.
    pub frame: SE3<f64>,
    /// eps: the distance of the flat output from the centre of mass along u, m.
    pub offset: f64,
    /// a_G: free fall in the plane, m/s².
    pub gravity: Vector2<f64>,
    /// u, of length 1.
    pub up: Vector2<f64>,
    /// The centre of mass in the body's frame, m.
    pub center: Vector2<f64>,
}

impl PlanarAircraft {
    /// Identifies the aircraft in a system: `eps = sign Theta n_tau / (m |n|)`, where the wrench `[n; n_tau]` is the one that the inputs cannot
    /// produce.
    ///
    /// # Errors
    /// [`NotFlat`] unless it is one body on a planar joint with two thrusts.
    pub fn of_system(system: &System) -> Result<Self, NotFlat> {
        let refused = |found: &str| NotFlat {
            expected: "one body on a planar joint, driven by two independent thrusts in its plane",
            found: found.to_owned(),
        };
        let bodies = moving(system);
        let &[body] = bodies.as_slice() else {
            return Err(refused(&format!("{} bodies that move", bodies.len())));
        };
        if !is_planar(system, body) {
            return Err(refused("another joint"));
        }
        let model = &system.model;
        if model.springs().len() + model.dampers().len() > 0 {
            return Err(refused("springs or dampers besides"));
        }
        if model.bodies().any(|body| model.drag(body).is_some()) {
            return Err(refused("drag, with which no point of it is free"));
        }
        let mut plant = Plant::new(system);
        plant.bias(&[0.0; 3], &[0.0; 3]);
        let (M, mut B) = (&plant.terms.mass_matrix, plant.inputs());
        let mass = M[(0, 0)];
        let center = Vector2::new(M[(1, 2)], -M[(0, 2)]) / mass;
        let inertia = M[(2, 2)] - mass * center.norm_squared();
        // Torques about the centre of mass.
        for mut wrench in B.column_iter_mut() {
            wrench[2] -= center.x * wrench[1] - center.y * wrench[0];
        }
        let missing = null_space(&B * B.transpose());
        match missing.ncols() {
            0 => return Err(refused("three; `planar` suits it")),
            1 => {}
            _ => return Err(refused("fewer")),
        }
        let n = Vector2::new(missing[(0, 0)], missing[(1, 0)]);
        if n.norm() < 1e-9 {
            return Err(refused("no torque"));
        }
        // Without torque the thrust is along u, orthogonal to n; its sign is that of the sum of the thrusts.
        let thrust: Vector2<f64> = B.column_iter().map(|b| Vector2::new(b[0], b[1])).sum();
        let u = Vector2::new(-n.y, n.x) / n.norm();
        let sense = if thrust.dot(&u) < 0.0 { -1.0 } else { 1.0 };
        // A force f orthogonal to u is coupled to the torque -|n| f / n_tau; the point at eps u is unaffected.
        let offset = -sense * inertia * missing[(2, 0)] / (mass * n.norm());
        let frame = joint_frame(system, body);
        let gravity = frame.rotation.inverse().act(system.model.gravity());
        Ok(Self {
            frame,
            offset,
            gravity: gravity.xy(),
            up: u * sense,
            center,
        })
    }
}

impl Pvtol {
    /// The flat output along a path in the world.
    ///
    /// # Errors
    /// [`LeavesSubspace`] if the path leaves the plane.
    pub fn new(aircraft: PlanarAircraft, path: Box<dyn Path>) -> Result<Self, LeavesSubspace> {
        let output = TransformedPath::new(path, &aircraft.frame);
        output.check_within(0..2)?;
        Ok(Self { aircraft, output })
    }
}

impl Trajectory<[Jet<3>]> for Pvtol {
    fn at(&mut self, t: f64, q: &mut [Jet<3>]) -> Result<(), Infeasible> {
        let PlanarAircraft {
            gravity,
            up: u,
            offset,
            center,
            ..
        } = self.aircraft;
        let output = self.output.at(t).position;
        let a = output[0].second_derivative::<3>() - Jet::constant(gravity.x);
        let b = output[1].second_derivative::<3>() - Jet::constant(gravity.y);
        let squared = a * a + b * b;
        let thrust = squared.value().sqrt();
        if thrust < SINGULAR_THRUST {
            return Err(Infeasible::NoAttitude {
                time: t,
                thrust,
                least: SINGULAR_THRUST,
            });
        }
        let inverse = squared.inverse_sqrt();
        // a / |a| = R u: with cosine and sine of alpha it is (c u_x - s u_y, s u_x + c u_y).
        let (a_x, a_y) = (a * inverse, b * inverse);
        let cos = a_x.scale(u.x) + a_y.scale(u.y);
        let sin = a_y.scale(u.x) - a_x.scale(u.y);
        let h = u * offset + center;
        q[0] = output[0].truncate() - cos.scale(h.x) + sin.scale(h.y);
        q[1] = output[1].truncate() - sin.scale(h.x) - cos.scale(h.y);
        let rate = |k| cos.value() * sin.derivative(k) - sin.value() * cos.derivative(k);
        q[2] = Jet::from_derivatives([sin.value().atan2(cos.value()), rate(1), rate(2)]);
        Ok(())
    }

    fn duration(&self) -> Option<f64> {
        self.output.duration()
    }
}
