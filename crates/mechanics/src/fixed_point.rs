//! A body about a fixed point: gyroscopes, tops, spherical pendulums.

use fly_lie::operators::angular;
use fly_lie::{SE3, SO3};
use nalgebra::{Matrix3, RealField, Vector3, Vector6};

use crate::held::Held;
use crate::{FreeBody, PseudoInertia, State, integrate};

/// A body that turns about one of its points, which is fixed in the world:
/// `Theta omega_dot + omega x Theta omega = m s x R^T a_G + tau` with moment and centre of mass about that point.
///
/// Its [`State`] is that of a free body; the velocity follows from the angular velocity.
///
/// ```
/// use fly_lie::SO3;
/// use fly_mechanics::{FixedPointBody, InertiaError, PseudoInertia, SecondMoment};
/// use nalgebra::{Vector3, Vector6};
///
/// // A top: a disc on a stem of 5 cm, on its tip.
/// let disc = PseudoInertia::new(SecondMoment::solid_cylinder(0.1, 0.04, 0.01))?;
/// let tip = Vector3::new(0.0, 0.0, -0.05);
/// let top = FixedPointBody::new(disc, tip, Vector3::new(0.0, 0.0, -9.81));
///
/// // Slanted and spun, it does not fall but turns about the vertical.
/// let slanted = SO3::exp(&Vector3::new(0.0, 0.3, 0.0));
/// let start = top.state(slanted, Vector3::new(0.0, 0.0, 200.0));
/// let mut state = start;
/// for _ in 0..1000 {
///     state = top.step(&state, 1e-3, |_| Vector6::zeros());
/// }
/// let axis = |slanted: &SO3<f64>| slanted.act(&Vector3::z());
/// let (before, after) = (axis(&start.pose.rotation), axis(&state.pose.rotation));
/// assert!((after.z - before.z).abs() < 0.02);
/// assert!((after - before).norm() > 0.2);
/// assert!((top.energy(&state) / top.energy(&start) - 1.0).abs() < 1e-6);
/// # Ok::<(), InertiaError<f64>>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct FixedPointBody<T: RealField + Copy> {
    body: FreeBody<T>,
    pivot: Vector3<T>,
}

/// # Construction
impl<T: RealField + Copy> FixedPointBody<T> {
    /// A body with this inertia whose point `pivot` (m, body frame) is fixed; `gravity` is the acceleration of free fall, m/s².
    pub fn new(inertia: PseudoInertia<T>, pivot: Vector3<T>, gravity: Vector3<T>) -> Self {
        Self {
            body: FreeBody::new(inertia, gravity),
            pivot,
        }
    }

    /// The same body set free.
    pub fn body(&self) -> &FreeBody<T> {
        &self.body
    }

    /// The fixed point in the body frame, m.
    pub fn pivot(&self) -> &Vector3<T> {
        &self.pivot
    }

    /// The state with this attitude and angular velocity (body components, rad/s), the fixed point in the world's origin.
    pub fn state(&self, rotation: SO3<T>, omega: Vector3<T>) -> State<T> {
        State {
            pose: SE3::new(rotation, -rotation.act(&self.pivot)),
            twist: self.held().twist(&omega),
        }
    }

    fn held(&self) -> Held<T> {
        Held {
            point: self.pivot,
            rate: Vector3::zeros(),
        }
    }
}

/// # Equation of motion
impl<T: RealField + Copy> FixedPointBody<T> {
    /// The moment of inertia about the fixed point, kg m².
    pub fn mass_matrix(&self) -> Matrix3<T> {
        self.held().mass_matrix(&self.body)
    }

    /// `[v_dot; omega_dot]` under a wrench at the body frame's origin. Of the state's twist only the angular velocity counts.
    pub fn acceleration(&self, state: &State<T>, wrench: &Vector6<T>) -> Vector6<T> {
        self.held().acceleration(&self.body, state, wrench)
    }

    /// The force of the fixed point on the body under this wrench, in world components, N.
    pub fn reaction(&self, state: &State<T>, wrench: &Vector6<T>) -> Vector3<T> {
        let held = self.held();
        let xi_dot = held.acceleration(&self.body, state, wrench);
        let force = held.reaction(&self.body, state, &xi_dot, wrench);
        state.pose.rotation.act(&force)
    }

    /// The state after the time `step` (s) by [`integrate::rk4`], under a wrench that may depend on the state. The fixed point
    /// stays where it is, to rounding.
    #[must_use]
    pub fn step(
        &self,
        state: &State<T>,
        step: T,
        mut wrench: impl FnMut(&State<T>) -> Vector6<T>,
    ) -> State<T> {
        let next = integrate::rk4(state, step, |s| self.acceleration(s, &wrench(s)));
        let rotation = next.pose.rotation.orthonormalized();
        let fixed = state.pose.act(&self.pivot);
        let pose = SE3::new(rotation, fixed - rotation.act(&self.pivot));
        self.held().moving(&State { pose, ..next })
    }
}

/// # Energy and momentum
impl<T: RealField + Copy> FixedPointBody<T> {
    /// `T + V`, J; V is zero with the centre of mass in the world's origin.
    pub fn energy(&self, state: &State<T>) -> T {
        self.body.energy(&self.held().moving(state))
    }

    /// The angular momentum about the fixed point in world components, N m s: gravity changes only its horizontal part.
    pub fn angular_momentum_in_world(&self, state: &State<T>) -> Vector3<T> {
        let momentum = self.mass_matrix() * angular(&state.twist);
        state.pose.rotation.act(&momentum)
    }
}
