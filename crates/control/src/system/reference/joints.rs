//! From the motion of every joint's own coordinates to configuration, velocity and acceleration.
#![allow(non_snake_case)]

use std::ops::Range;

use fly_lie::SO3;
use fly_mechanics::multibody::{AngleCoordinates, AttitudeCoordinates, Joint, JointKind, Model};
use nalgebra::Vector3;

use super::{Infeasible, SystemPoint, SystemTrajectory};
use crate::trajectory::flat;
use crate::trajectory::jet::Jet;
use crate::trajectory::roll_pitch_yaw;

/// A motion of joints in the coordinates that [`coordinates`] lists, as many as the joints have degrees of freedom.
pub trait JointMotion: Send {
    /// Writes the coordinates with two derivatives at the time `t`, s. No allocation.
    ///
    /// # Errors
    /// [`Infeasible`] where there is no such motion.
    fn at(&mut self, t: f64, q: &mut [Jet<3>]) -> Result<(), Infeasible>;

    /// When it has come to its final rest, s; `None` if it goes on for ever.
    fn duration(&self) -> Option<f64>;
}

/// The names of a joint's coordinates in references, one for each degree of freedom: m, or rad for angles.
///
/// They are those of [`JointKind`] with an attitude by roll, pitch and yaw, `R = Rz(yaw) Ry(pitch) Rx(roll)`.
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

/// A system whose joints move like this.
///
/// ```
/// use fly_control::system::reference::{InJoints, JointSines, SystemPoint, SystemTrajectory};
/// use fly_mechanics::multibody::{Body, Joint, Model};
/// use nalgebra::Vector3;
///
/// // A propeller with cosine and sine in its configuration, which swings.
/// let hinge = Joint::revolute(Vector3::z())?.with_cos_sin();
/// let model = Model::builder().body(Body::new("propeller", hinge)).build()?;
/// let motion = JointSines { amplitude: vec![0.5], angular_frequency: vec![2.0], ..JointSines::at_rest(vec![0.1]) };
/// let mut reference = InJoints::new(&model, motion);
/// let mut point = SystemPoint::new(&model);
/// reference.at(0.0, &mut point)?;
/// assert_eq!(point.configuration, [0.1_f64.cos(), 0.1_f64.sin()]);
/// assert_eq!((point.velocity[0], point.acceleration[0]), (1.0, 0.0));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub struct InJoints<M> {
    motion: M,
    joints: Vec<Place>,
    q: Vec<Jet<3>>,
    /// Which of the coordinates the motion writes.
    moved: Range<usize>,
}

/// A joint and its numbers in configuration and velocity.
struct Place {
    joint: Joint<f64>,
    x: Range<usize>,
    xi: Range<usize>,
}

impl<M: JointMotion> InJoints<M> {
    /// A motion of all joints of the model, in the order of its velocities.
    pub fn new(model: &Model<f64>, motion: M) -> Self {
        Self::among(model, &vec![0.0; model.dof()], 0..model.dof(), motion)
    }

    /// A motion of the coordinates `moved`, in the order of the velocities, while the others rest at these values.
    ///
    /// # Panics
    /// If there is not one value for each of the model's degrees of freedom, or `moved` is not among them.
    pub fn among(model: &Model<f64>, rest: &[f64], moved: Range<usize>, motion: M) -> Self {
        assert_eq!(rest.len(), model.dof(), "values of coordinates at rest");
        assert!(moved.end <= rest.len(), "moved coordinates");
        let joints = model.bodies().filter_map(|body| {
            Some(Place {
                joint: *model.joint(body)?,
                x: model.config_range(body),
                xi: model.velocity_range(body),
            })
        });
        Self {
            motion,
            joints: joints.collect(),
            q: rest.iter().map(|q| Jet::constant(*q)).collect(),
            moved,
        }
    }
}

impl<M: JointMotion> SystemTrajectory for InJoints<M> {
    fn at(&mut self, t: f64, point: &mut SystemPoint) -> Result<(), Infeasible> {
        self.motion.at(t, &mut self.q[self.moved.clone()])?;
        for Place { joint, x, xi } in &self.joints {
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
        self.motion.duration()
    }
}

/// The configuration that these coordinates stand for.
pub(crate) fn configuration(model: &Model<f64>, q: &[f64]) -> Vec<f64> {
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
    // Which components of the twist are the joint's velocity: none where the rates of the coordinates are.
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
        let body = flat::reference(&position, &R, &Vector3::zeros());
        for (i, component) in components.iter().enumerate() {
            (xi[i], xi_dot[i]) = (body.twist[*component], body.acceleration[*component]);
        }
        if let JointKind::Spherical(a) | JointKind::AbsoluteSpherical(a) | JointKind::Free(a) =
            joint.kind()
        {
            let first = x.len() - numbers(*a);
            write_attitude(*a, &body.pose.rotation, &mut x[first..]);
        }
    }
    // What is not an attitude stands in the configuration as it is, but for cosine and sine of a last angle.
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

/// An attitude as it stands in a configuration.
pub(super) fn write_attitude(coordinates: AttitudeCoordinates, R: &SO3<f64>, x: &mut [f64]) {
    match coordinates {
        AttitudeCoordinates::Matrix => x.copy_from_slice(R.matrix().as_slice()),
        AttitudeCoordinates::Quaternion => x.copy_from_slice(R.to_quaternion().as_slice()),
    }
}
