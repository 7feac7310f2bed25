//! The description of a system: bodies on joints, with springs and dampers between them.

use fly_lie::{SE3, SO3};
use nalgebra::{RealField, Vector3};

use super::{Joint, JointSpring};
use crate::{Drag, PseudoInertia, SecondMoment};

/// A rigid body, the joint that carries it, and the placement of that joint.
///
/// The body's frame is the moving frame of its joint: with the joint's motion `G_j(x)` its pose in the parent is
/// `placement * G_j(x)`.
#[derive(Clone, Debug, PartialEq)]
pub struct Body<T: RealField + Copy> {
    /// A unique name.
    pub name: String,
    /// The name of the body that carries it; `world` is the inertial frame.
    pub parent: String,
    /// The pose of the joint's fixed frame in the parent's frame.
    pub placement: SE3<T>,
    /// The joint, which moves the body relative to that frame.
    pub joint: Joint<T>,
    /// Its inertia; `None` for a frame without mass.
    pub inertia: Option<PseudoInertia<T>>,
    /// A spring in its joint.
    pub spring: Option<JointSpring<T>>,
    /// Resistance to its motion in the world, at its centre of mass (without mass: at its frame's origin).
    pub drag: Option<Drag<T>>,
}

/// # Description
impl<T: RealField + Copy> Body<T> {
    /// A body without mass or drag on this joint, placed at the world's origin.
    pub fn new(name: impl Into<String>, joint: Joint<T>) -> Self {
        Self {
            name: name.into(),
            parent: "world".to_owned(),
            placement: SE3::identity(),
            joint,
            inertia: None,
            spring: None,
            drag: None,
        }
    }

    /// A body on a ball joint at its point `pivot` (m, in the frame of `inertia`): a top, a gyroscope, a spherical pendulum. The body's frame
    /// moves to the pivot.
    ///
    /// ```
    /// use fly_mechanics::multibody::{Body, Model, Workspace};
    /// use fly_mechanics::{PseudoInertia, SecondMoment};
    /// use nalgebra::Vector3;
    ///
    /// // A top: a disc on a stem of 5 cm, spun upright on its tip, does not fall.
    /// let disc = PseudoInertia::new(SecondMoment::solid_cylinder(0.1, 0.04, 0.01))?;
    /// let top = Body::on_point("top", disc, Vector3::new(0.0, 0.0, -0.05));
    /// let model = Model::builder().body(top).build()?;
    /// let mut xi_dot = [1.0; 3];
    /// let upright = model.neutral_configuration();
    /// model.forward_dynamics(&mut Workspace::new(&model), &upright, &[0.0, 0.0, 200.0], &[0.0; 3], &mut xi_dot)?;
    /// assert_eq!(xi_dot, [0.0; 3]);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn on_point(name: impl Into<String>, inertia: PseudoInertia<T>, pivot: Vector3<T>) -> Self {
        let inertia = inertia.in_frame(&SE3::new(SO3::identity(), pivot));
        Self::new(name, Joint::spherical()).inertia(inertia)
    }

    /// Sets the parent body.
    #[must_use]
    pub fn parent(mut self, name: impl Into<String>) -> Self {
        self.parent = name.into();
        self
    }

    /// Sets the pose of the joint in the parent's frame.
    #[must_use]
    pub fn placed(mut self, placement: SE3<T>) -> Self {
        self.placement = placement;
        self
    }

    /// Sets the inertia.
    #[must_use]
    pub fn inertia(mut self, inertia: PseudoInertia<T>) -> Self {
        self.inertia = Some(inertia);
        self
    }

    /// Sets the spring in the joint, which must have one coordinate.
    #[must_use]
    pub fn spring(mut self, spring: JointSpring<T>) -> Self {
        self.spring = Some(spring);
        self
    }

    /// Sets the drag.
    #[must_use]
    pub fn drag(mut self, drag: Drag<T>) -> Self {
        self.drag = Some(drag);
        self
    }
}

/// Springs between any two bodies: `V = 1/2 tr((G - G_R) K' (G - G_R)^T)` with the pose `G` of b in a, Konz (4.98).
///
/// It represents zero-length springs from points `h_p` of b to the points `G_R h_p` of a, with `K' = sum k_p [h_p; 1] [h_p; 1]^T`;
/// the second moment may be indefinite if it was converted from other parameters (4.32).
#[derive(Clone, Debug, PartialEq)]
pub struct Spring<T: RealField + Copy> {
    /// The body relative to which b moves, or `world`.
    pub a: String,
    /// The body in whose frame the points `h` are.
    pub b: String,
    /// The pose of b in a where the potential is zero.
    pub rest: SE3<T>,
    /// `K'`: N/m, N, N m.
    pub stiffness: SecondMoment<T>,
}

/// Dampers between any two bodies: `R = 1/2 sum d_p |d/dt (G [h_p; 1])|²` with the pose `G` of b in a, Konz (4.100).
///
/// They resist the motion of b relative to the frame of a: swapping a and b changes the damper.
#[derive(Clone, Debug, PartialEq)]
pub struct Damper<T: RealField + Copy> {
    /// The body relative to which b moves, or `world`.
    pub a: String,
    /// The body in whose frame the points `h` are.
    pub b: String,
    /// `D'`: N s/m, N s, N m s.
    pub damping: SecondMoment<T>,
}
