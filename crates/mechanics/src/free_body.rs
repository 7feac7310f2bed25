//! The dynamics of one free rigid body.

use fly_lie::SE3;
use fly_lie::operators::{coadjoint_bracket, join, linear};
use nalgebra::{Matrix3, Matrix6, RealField, Vector3, Vector6, convert};

use crate::{Drag, PseudoInertia};

/// The state of a rigid body: pose and twist.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct State<T: RealField + Copy> {
    /// The pose of the body frame in the world.
    pub pose: SE3<T>,
    /// The twist `[v; omega]` of the body relative to the world, in the body frame: m/s, rad/s.
    pub twist: Vector6<T>,
}

impl<T: RealField + Copy> State<T> {
    /// At rest in this pose.
    pub fn at_rest(pose: SE3<T>) -> Self {
        Self {
            pose,
            twist: Vector6::zeros(),
        }
    }

    /// The velocity of the body frame's origin in world components, m/s.
    pub fn velocity_in_world(&self) -> Vector3<T> {
        self.pose.rotation.act(&linear(&self.twist))
    }
}

/// A free rigid body in a uniform gravity field: `M xi_dot + c(xi) + D xi + grad V(G) = f`, Konz (4.22), (4.24), with optional linear
/// [`Drag`].
///
/// The wrench `f = [force; torque]` acts at the body frame's origin, in body components. The frame's origin need not be
/// the centre of mass.
///
/// ```
/// use fly_lie::SE3;
/// use fly_mechanics::{FreeBody, PseudoInertia, State};
/// use nalgebra::{Matrix3, Vector3, Vector6};
///
/// let inertia = Matrix3::from_diagonal(&Vector3::new(0.02, 0.03, 0.04));
/// let inertia = PseudoInertia::from_center(1.5, Vector3::zeros(), inertia)?;
/// let body = FreeBody::new(inertia, Vector3::new(0.0, 0.0, -9.81));
///
/// // A force of its weight, upward, holds it.
/// let state = State::at_rest(SE3::identity());
/// let lift = Vector6::new(0.0, 0.0, 1.5 * 9.81, 0.0, 0.0, 0.0);
/// assert!(body.acceleration(&state, &lift).norm() < 1e-14);
/// # Ok::<(), fly_mechanics::InertiaError<f64>>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct FreeBody<T: RealField + Copy> {
    inertia: PseudoInertia<T>,
    gravity: Vector3<T>,
    drag: Option<Drag<T>>,
    mass_matrix: Matrix6<T>,
    inverse_mass_matrix: Matrix6<T>,
}

impl<T: RealField + Copy> FreeBody<T> {
    /// A body with this inertia and without drag; `gravity` is the acceleration of free fall in the world, m/s².
    pub fn new(inertia: PseudoInertia<T>, gravity: Vector3<T>) -> Self {
        let mass_matrix = inertia.matrix6();
        Self {
            inertia,
            gravity,
            drag: None,
            mass_matrix,
            inverse_mass_matrix: inverse_mass_matrix(&inertia),
        }
    }

    /// Sets the drag.
    #[must_use]
    pub fn with_drag(mut self, drag: Option<Drag<T>>) -> Self {
        self.drag = drag;
        self
    }

    /// The inertia M'.
    pub fn inertia(&self) -> &PseudoInertia<T> {
        &self.inertia
    }

    /// The acceleration of free fall in the world, m/s².
    pub fn gravity(&self) -> &Vector3<T> {
        &self.gravity
    }

    /// The drag; `None` without any.
    pub fn drag(&self) -> Option<&Drag<T>> {
        self.drag.as_ref()
    }
}

/// # Equation of motion
impl<T: RealField + Copy> FreeBody<T> {
    /// `M = Vee(M')`, 6x6, constant.
    pub fn mass_matrix(&self) -> &Matrix6<T> {
        &self.mass_matrix
    }

    /// `M^-1`, 6x6, constant.
    pub fn inverse_mass_matrix(&self) -> &Matrix6<T> {
        &self.inverse_mass_matrix
    }

    /// `c = -ad(xi)^T M xi`, Konz (4.22) (which prints `ad` of the acceleration): Coriolis and centrifugal wrench.
    pub fn coriolis_force(&self, twist: &Vector6<T>) -> Vector6<T> {
        -coadjoint_bracket(twist, &(self.mass_matrix * twist))
    }

    /// `grad V`, on the left-hand side: minus the wrench of gravity at the body frame's origin.
    ///
    /// Konz (4.24) prints the applied wrench; put on the left-hand side as in (5.1) it would reverse gravity.
    pub fn potential_force(&self, pose: &SE3<T>) -> Vector6<T> {
        let force = pose.rotation.inverse().act(&self.gravity) * -self.inertia.mass();
        join(&force, &self.inertia.center_of_mass().cross(&force))
    }

    /// `D xi`, on the left-hand side: minus the wrench of the drag at the body frame's origin; zero without drag.
    pub fn damping_force(&self, twist: &Vector6<T>) -> Vector6<T> {
        self.drag.map_or_else(Vector6::zeros, |drag| {
            drag.force(twist, &self.inertia.center_of_mass())
        })
    }

    /// `D`, 6x6, constant; zero without drag.
    pub fn damping_matrix(&self) -> Matrix6<T> {
        self.drag.map_or_else(Matrix6::zeros, |drag| {
            drag.matrix6(&self.inertia.center_of_mass())
        })
    }

    /// `b = c + D xi + grad V`: the wrench that keeps the twist constant.
    pub fn bias(&self, state: &State<T>) -> Vector6<T> {
        let b = self.coriolis_force(&state.twist) + self.potential_force(&state.pose);
        match &self.drag {
            Some(drag) => b + drag.force(&state.twist, &self.inertia.center_of_mass()),
            None => b,
        }
    }

    /// `xi_dot = M^-1 (f - b)` under the wrench `[force; torque]`.
    pub fn acceleration(&self, state: &State<T>, wrench: &Vector6<T>) -> Vector6<T> {
        self.inverse_mass_matrix * (wrench - self.bias(state))
    }
}

/// # Energies
impl<T: RealField + Copy> FreeBody<T> {
    /// `S = 1/2 sum m_p |r_p''|²`, Konz (4.70b): the acceleration energy, whose gradient with respect to `xi_dot` is the inertia wrench.
    pub fn acceleration_energy(&self, twist: &Vector6<T>, acceleration: &Vector6<T>) -> T {
        let moment = self.inertia.second_moment();
        moment.acceleration_energy(twist, acceleration)
    }

    /// `T = 1/2 xi^T M xi`, J.
    pub fn kinetic_energy(&self, twist: &Vector6<T>) -> T {
        twist.dot(&(self.mass_matrix * twist)) * convert::<f64, T>(0.5)
    }

    /// `V = -m a_G . (r + R s)`, J; zero with the centre of mass at the world's origin.
    pub fn potential_energy(&self, pose: &SE3<T>) -> T {
        -self.inertia.mass() * self.gravity.dot(&pose.act(&self.inertia.center_of_mass()))
    }

    /// Rayleigh's dissipation function `R = 1/2 xi^T D xi`, W: half the power dissipated by drag, so that `d(T + V)/dt = f . xi - 2 R`.
    pub fn dissipation(&self, twist: &Vector6<T>) -> T {
        self.drag.map_or_else(T::zero, |drag| {
            drag.dissipation(twist, &self.inertia.center_of_mass())
        })
    }

    /// The total energy `T + V`, J.
    pub fn energy(&self, state: &State<T>) -> T {
        self.kinetic_energy(&state.twist) + self.potential_energy(&state.pose)
    }

    /// Linear momentum and angular momentum about the world's origin, `[p; L]`, in world components: `Ad(G^-1)^T M xi`.
    pub fn momentum_in_world(&self, state: &State<T>) -> Vector6<T> {
        state.pose.adjoint_inverse().transpose() * (self.mass_matrix * state.twist)
    }
}

/// `M^-1` in closed form: with `J = Theta_c^-1` it is `[[I/m - S J S, S J], [-J S, J]]`, `S = hat(s)`. About an axis without inertia, such as
/// that of two point masses, nothing accelerates.
fn inverse_mass_matrix<T: RealField + Copy>(inertia: &PseudoInertia<T>) -> Matrix6<T> {
    use fly_lie::operators::hat3;

    let J = inverse_about_center(inertia);
    let S = hat3(&inertia.center_of_mass());
    let mut inverse = Matrix6::zeros();
    inverse
        .fixed_view_mut::<3, 3>(0, 0)
        .copy_from(&(Matrix3::from_diagonal_element(inertia.mass().recip()) - S * J * S));
    inverse.fixed_view_mut::<3, 3>(0, 3).copy_from(&(S * J));
    inverse.fixed_view_mut::<3, 3>(3, 0).copy_from(&-(J * S));
    inverse.fixed_view_mut::<3, 3>(3, 3).copy_from(&J);
    inverse
}

/// `Theta_c^-1`, without the axes about which there is no inertia but rounding.
fn inverse_about_center<T: RealField + Copy>(inertia: &PseudoInertia<T>) -> Matrix3<T> {
    let about_center = inertia.inertia_about_center();
    let rounding = T::default_epsilon() * convert(16.0) * inertia.inertia_about_origin().trace();
    // The least moment is at least the determinant over the square of the largest, which is at most half of the trace.
    let most = about_center.trace() * convert(0.5);
    if about_center.determinant() > rounding * most * most {
        return about_center.try_inverse().unwrap_or_else(Matrix3::zeros);
    }
    let axes = about_center.symmetric_eigen();
    let inverse = |moment: T| {
        if moment > rounding {
            moment.recip()
        } else {
            T::zero()
        }
    };
    let moments = Matrix3::from_diagonal(&axes.eigenvalues.map(inverse));
    axes.eigenvectors * moments * axes.eigenvectors.transpose()
}

/// The wrench at the body frame's origin of a force (N, body components) at a point of the body (m).
///
/// Konz (4.43), which prints only the lower block, with its factors exchanged: for world components F it is
/// `[R^T; hat(h) R^T] F`.
pub fn wrench_of_force<T: RealField + Copy>(force: &Vector3<T>, point: &Vector3<T>) -> Vector6<T> {
    join(force, &point.cross(force))
}
