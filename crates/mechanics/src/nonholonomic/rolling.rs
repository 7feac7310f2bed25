//! A rigid body that rolls on a plane.

use fly_lie::operators::angular;
use fly_lie::{SE3, SO3};
use nalgebra::{Matrix3, RealField, Vector2, Vector3, Vector6};

use super::{Contact, Surface};
use crate::held::Held;
use crate::{FreeBody, PseudoInertia, State, integrate};

/// A rigid body that rolls without slipping on the plane `z = 0` of the world, below it, Konz example 14.
///
/// ```text
/// v = p × ω        p(Rᵀ e₃) the contact point, u_dot = u × ω
/// Θ̃ ω_dot + ω × Θ̃ ω + m wed(p)ᵀ wed(p_dot) ω = τ - p × Rᵀ F     Θ̃ the moment about p, centre of mass in the origin     (B.27)
/// ```
///
/// The velocity coordinates are the angular velocity and `eta = v - p x omega`; Hamel's equation (B.10) for the former, with
/// `eta = 0` put in last, is `Jᵀ (M ξ_dot + c + ∇V - f) = 0` with `J = [wed(p); I]`, which holds with the centre of mass anywhere and is
/// what is computed here. The equations for `eta` give the contact force. ((B.21), (B.22) are each misprinted, their sum is not;
/// (B.23) has the sign of gravity reversed.)
///
/// Gravity may have any direction: tilt it for an inclined plane.
///
/// ```
/// use fly_lie::SO3;
/// use fly_mechanics::nonholonomic::{ContactCondition, Ellipsoid, RollingBody};
/// use fly_mechanics::{PseudoInertia, SecondMoment};
/// use nalgebra::{Vector2, Vector3, Vector6};
///
/// // A ball on a slope of ten degrees rolls with 5/7 of the acceleration of a block without friction.
/// let (sin, cos) = 10_f64.to_radians().sin_cos();
/// let ball = PseudoInertia::new(SecondMoment::solid_sphere(0.5, 0.1))?;
/// let gravity = Vector3::new(sin, 0.0, -cos) * 9.81;
/// let rolling = RollingBody::new(ball, Ellipsoid::sphere(0.1)?, gravity);
///
/// let start = rolling.state(SO3::identity(), Vector3::zeros(), Vector2::zeros());
/// let contact = rolling.contact(&start, &Vector6::zeros());
/// assert!((contact.friction_ratio() - 2.0 / 7.0 * sin / cos).abs() < 1e-14);
/// assert_eq!(contact.condition(0.1), ContactCondition::Rolling);
/// assert_eq!(contact.condition(0.05), ContactCondition::Slipping);
///
/// let mut state = start;
/// for _ in 0..1000 {
///     state = rolling.step(&state, 1e-3, |_| Vector6::zeros());
/// }
/// assert!((state.pose.translation.x - 0.5 * 5.0 / 7.0 * 9.81 * sin).abs() < 1e-8);
/// assert!((rolling.energy(&state) - rolling.energy(&start)).abs() < 1e-8);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct RollingBody<T: RealField + Copy, S> {
    body: FreeBody<T>,
    surface: S,
}

/// # Construction
impl<T: RealField + Copy, S: Surface<T>> RollingBody<T, S> {
    /// A body with this inertia and surface, both in the same body frame; `gravity` is the acceleration of free fall in the world,
    /// m/s².
    pub fn new(inertia: PseudoInertia<T>, surface: S, gravity: Vector3<T>) -> Self {
        Self {
            body: FreeBody::new(inertia, gravity),
            surface,
        }
    }

    /// The same body set free.
    pub fn body(&self) -> &FreeBody<T> {
        &self.body
    }

    /// Its surface.
    pub fn surface(&self) -> &S {
        &self.surface
    }

    /// The state that touches the plane and rolls, with this attitude, angular velocity (body components, rad/s) and horizontal
    /// position of the body frame's origin (m).
    pub fn state(&self, rotation: SO3<T>, omega: Vector3<T>, position: Vector2<T>) -> State<T> {
        let up = up(&rotation);
        let held = self.held(&up, &omega);
        State {
            pose: SE3::new(rotation, position.push(self.surface.height(&up))),
            twist: held.twist(&omega),
        }
    }

    fn held(&self, up: &Vector3<T>, omega: &Vector3<T>) -> Held<T> {
        Held {
            point: self.surface.contact(up),
            rate: self.surface.contact_rate(up, &up.cross(omega)),
        }
    }

    fn held_at(&self, state: &State<T>) -> Held<T> {
        self.held(&up(&state.pose.rotation), &angular(&state.twist))
    }
}

/// # Equation of motion
impl<T: RealField + Copy, S: Surface<T>> RollingBody<T, S> {
    /// The moment of inertia about the contact point, kg m².
    pub fn mass_matrix(&self, rotation: &SO3<T>) -> Matrix3<T> {
        let point = self.surface.contact(&up(rotation));
        self.body.inertia().inertia_about(&point)
    }

    /// `[v_dot; omega_dot]` under a wrench at the body frame's origin (beside gravity and contact). Of the state's twist only the
    /// angular velocity counts, of its pose only the attitude.
    pub fn acceleration(&self, state: &State<T>, wrench: &Vector6<T>) -> Vector6<T> {
        self.held_at(state).acceleration(&self.body, state, wrench)
    }

    /// The contact that makes it roll under this wrench. Whether the plane can supply it is for [`Contact::condition`] to say.
    pub fn contact(&self, state: &State<T>, wrench: &Vector6<T>) -> Contact<T> {
        let held = self.held_at(state);
        let xi_dot = held.acceleration(&self.body, state, wrench);
        let force = held.reaction(&self.body, state, &xi_dot, wrench);
        Contact {
            point: held.point,
            point_rate: held.rate,
            force: state.pose.rotation.act(&force),
        }
    }

    /// The state after the time `step` (s) by [`integrate::rk4`], under a wrench that may depend on the state. It touches the plane
    /// and rolls exactly, to rounding.
    #[must_use]
    pub fn step(
        &self,
        state: &State<T>,
        step: T,
        mut wrench: impl FnMut(&State<T>) -> Vector6<T>,
    ) -> State<T> {
        let next = integrate::rk4(state, step, |s| self.acceleration(s, &wrench(s)));
        self.state(
            next.pose.rotation.orthonormalized(),
            angular(&next.twist),
            next.pose.translation.xy(),
        )
    }

    /// `T + V`, J; V is zero with the centre of mass in the plane's origin.
    pub fn energy(&self, state: &State<T>) -> T {
        self.body.energy(&self.held_at(state).moving(state))
    }
}

/// The plane's normal in the body frame, `R^T e_3`.
fn up<T: RealField + Copy>(rotation: &SO3<T>) -> Vector3<T> {
    rotation.matrix().row(2).transpose()
}
