//! Joint trajectories: from the coordinates of every joint to configuration, velocity and acceleration of the system.
#![allow(non_snake_case)]

mod planar;
mod samples;

pub use planar::{AlongPath, PlanarPath};
pub use samples::JointSamples;

use std::ops::Range;

use fly_mechanics::multibody::{AngleCoordinates, AttitudeCoordinates, Joint, JointKind, Model};
use nalgebra::Vector3;

use super::flat::rigid_body;
use super::independent::roll_pitch_yaw;
use super::jet::Jet;
use super::{Infeasible, Trajectory};
use crate::SystemPoint;

/// The names of a joint's coordinates in references, one per degree of freedom: m, or rad for angles.
///
/// They are those of [`JointKind`], with attitude as roll, pitch and yaw, `R = Rz(yaw) Ry(pitch) Rx(roll)`.
pub fn coordinates(joint: &Joint<f64>) -> &'static [&'static str] {
    match joint.kind() {
        JointKind::Revolute(_) | JointKind::Screw { .. } => &["angle"],
        JointKind::Prismatic => &["position"],
        JointKind::Cylindrical(_) => &["position", "angle"],
        JointKind::Universal { .. } => &["first", "second"],
        JointKind::Spherical(_) | JointKind::AbsoluteSpherical(_) => &["roll", "pitch", "yaw"],
        JointKind::Planar(_) => &["x", "y", "angle"],
        JointKind::Schoenflies(_) => &["x", "y", "z", "angle"],
        JointKind::Free(_) => &["x", "y", "z", "roll", "pitch", "yaw"],
        _ => &[],
    }
}

/// A system whose joints follow these coordinates, in the order of its velocities.
///
/// ```
/// use fly_control::SystemPoint;
/// use fly_control::trajectory::{JointTrajectory, Sinusoid, Sinusoids, Trajectory};
/// use fly_mechanics::multibody::{Body, Joint, Model};
/// use nalgebra::Vector3;
///
/// // A propeller with cosine and sine in its configuration, which oscillates.
/// let joint = Joint::revolute(Vector3::z())?.with_cos_sin();
/// let model = Model::builder().body(Body::new("propeller", joint)).build()?;
/// let angle = Sinusoid { amplitude: 0.5, angular_frequency: 2.0, ..Sinusoid::constant(0.1) };
/// let mut reference = JointTrajectory::new(&model, Sinusoids(vec![angle]));
/// let mut point = SystemPoint::new(&model);
/// reference.at(0.0, &mut point)?;
/// assert_eq!(point.configuration, [0.1_f64.cos(), 0.1_f64.sin()]);
/// assert_eq!((point.velocity[0], point.acceleration[0]), (1.0, 0.0));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub struct JointTrajectory<T> {
    coordinates: T,
    joints: Vec<JointRange>,
    q: Vec<Jet<3>>,
    /// The range of moving coordinates.
    moved: Range<usize>,
}

/// A joint with its ranges in configuration and velocity.
struct JointRange {
    joint: Joint<f64>,
    x: Range<usize>,
    xi: Range<usize>,
}

impl<T: Trajectory<[Jet<3>]>> JointTrajectory<T> {
    /// Prescribes the coordinates of all joints of the model, one per velocity.
    pub fn new(model: &Model<f64>, coordinates: T) -> Self {
        Self::partial(model, &vec![0.0; model.dof()], 0..model.dof(), coordinates)
    }

    /// Prescribes the coordinates `moved`; the others rest at these values.
    ///
    /// # Panics
    /// If there is not one value per degree of freedom of the model, or `moved` is out of range.
    pub fn partial(model: &Model<f64>, rest: &[f64], moved: Range<usize>, coordinates: T) -> Self {
        assert_eq!(rest.len(), model.dof(), "values of coordinates at rest");
        assert!(moved.end <= rest.len(), "moved coordinates");
        let joints = model.bodies().filter_map(|body| {
            Some(JointRange {
                joint: *model.joint(body)?,
                x: model.config_range(body),
                xi: model.velocity_range(body),
            })
        });
        Self {
            coordinates,
            joints: joints.collect(),
            q: rest.iter().map(|q| Jet::constant(*q)).collect(),
            moved,
        }
    }
}

impl<T: Trajectory<[Jet<3>]>> Trajectory<SystemPoint> for JointTrajectory<T> {
    fn at(&mut self, t: f64, point: &mut SystemPoint) -> Result<(), Infeasible> {
        self.coordinates.at(t, &mut self.q[self.moved.clone()])?;
        Infeasible::expect_finite(t, self.q.iter().all(Jet::is_finite))?;
        for JointRange { joint, x, xi } in &self.joints {
            write(
                joint,
                &self.q[xi.clone()],
                &mut point.configuration[x.clone()],
                &mut point.velocity[xi.clone()],
                &mut point.acceleration[xi.clone()],
            );
        }
        Ok(())
    }

    fn duration(&self) -> Option<f64> {
        self.coordinates.duration()
    }

    fn restart(&mut self) {
        self.coordinates.restart();
    }
}

/// The configuration (nu entries) for these joint coordinates (n entries).
pub fn configuration(model: &Model<f64>, q: &[f64]) -> Vec<f64> {
    let mut point = SystemPoint::new(model);
    let q: Vec<Jet<3>> = q.iter().map(|q| Jet::constant(*q)).collect();
    for body in model.bodies() {
        if let Some(joint) = model.joint(body) {
            let xi = model.velocity_range(body);
            write(
                joint,
                &q[xi.clone()],
                &mut point.configuration[model.config_range(body)],
                &mut point.velocity[xi.clone()],
                &mut point.acceleration[xi],
            );
        }
    }
    point.configuration
}

/// Configuration, velocity and acceleration of one joint.
fn write(joint: &Joint<f64>, q: &[Jet<3>], x: &mut [f64], xi: &mut [f64], xi_dot: &mut [f64]) {
    let still = Jet::constant(0.0);
    // The twist components that are the joint's velocity; empty if the velocity is the coordinates' rate.
    let (position, attitude, components): ([Jet<3>; 3], [Jet<3>; 3], &[usize]) = match joint.kind()
    {
        JointKind::Planar(_) => ([q[0], q[1], still], [still, still, q[2]], &[0, 1, 5]),
        JointKind::Schoenflies(_) => ([q[0], q[1], q[2]], [still, still, q[3]], &[0, 1, 2, 5]),
        JointKind::Spherical(_) | JointKind::AbsoluteSpherical(_) => {
            ([still; 3], [q[0], q[1], q[2]], &[3, 4, 5])
        }
        JointKind::Free(_) => ([q[0], q[1], q[2]], [q[3], q[4], q[5]], &[0, 1, 2, 3, 4, 5]),
        _ => ([still; 3], [still; 3], &[]),
    };
    if components.is_empty() {
        for (i, q) in q.iter().enumerate() {
            (xi[i], xi_dot[i]) = (q.derivative(1), q.derivative(2));
        }
    } else {
        let [roll, pitch, yaw] = attitude;
        let R = roll_pitch_yaw(roll, pitch, yaw);
        let body = rigid_body(&position, &R, &Vector3::zeros());
        for (i, component) in components.iter().enumerate() {
            (xi[i], xi_dot[i]) = (body.twist[*component], body.acceleration[*component]);
        }
        if let JointKind::Spherical(a) | JointKind::AbsoluteSpherical(a) | JointKind::Free(a) =
            joint.kind()
        {
            let first = x.len() - numbers(*a);
            a.write(&body.pose.rotation, &mut x[first..]);
        }
    }
    // Coordinates other than attitudes are entries of the configuration, except that a final angle may be a cosine and
    // a sine.
    match joint.kind() {
        JointKind::Spherical(_) | JointKind::AbsoluteSpherical(_) => {}
        JointKind::Free(_) => copy(&q[..3], x),
        JointKind::Revolute(a)
        | JointKind::Cylindrical(a)
        | JointKind::Planar(a)
        | JointKind::Schoenflies(a)
            if *a == AngleCoordinates::CosSin =>
        {
            let last = q.len() - 1;
            copy(&q[..last], x);
            (x[last + 1], x[last]) = q[last].value().sin_cos();
        }
        _ => copy(q, x),
    }
}

fn copy(q: &[Jet<3>], x: &mut [f64]) {
    x.iter_mut().zip(q).for_each(|(x, q)| *x = q.value());
}

fn numbers(coordinates: AttitudeCoordinates) -> usize {
    match coordinates {
        AttitudeCoordinates::Matrix => 9,
        AttitudeCoordinates::Quaternion => 4,
    }
}
