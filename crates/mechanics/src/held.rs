//! What a body about a fixed point and a rolling body share: one of their points has no velocity.

use fly_lie::operators::{angular, join, linear};
use nalgebra::{Matrix3, RealField, Vector3, Vector6};

use crate::{FreeBody, State};

/// The point of a body that has no velocity, so that `v = p x omega`:
///
/// ```text
/// ξ = J ω,  ξ_dot = J ω_dot + [p_dot × ω; 0],  J = [wed(p); I]         Jᵀ (M ξ_dot + b - f) = 0
/// ```
#[derive(Clone, Copy, Debug)]
pub(crate) struct Held<T: RealField + Copy> {
    /// The point, in the body frame, m.
    pub point: Vector3<T>,
    /// How fast another point of the body takes its place, in the body frame, m/s.
    pub rate: Vector3<T>,
}

impl<T: RealField + Copy> Held<T> {
    /// `J ω`
    pub fn twist(&self, omega: &Vector3<T>) -> Vector6<T> {
        join(&self.point.cross(omega), omega)
    }

    /// `Jᵀ M J`: the moment of inertia about the point.
    pub fn mass_matrix(&self, body: &FreeBody<T>) -> Matrix3<T> {
        body.inertia().inertia_about(&self.point)
    }

    /// `ξ_dot` under a wrench at the body frame's origin. Of the state's twist only the angular velocity counts.
    pub fn acceleration(
        &self,
        body: &FreeBody<T>,
        state: &State<T>,
        wrench: &Vector6<T>,
    ) -> Vector6<T> {
        let omega = angular(&state.twist);
        let drift = join(&self.rate.cross(&omega), &Vector3::zeros());
        let balance = wrench - body.bias(&self.moving(state)) - body.mass_matrix() * drift;
        let torque = angular(&balance) - self.point.cross(&linear(&balance));
        // The inertia was checked to be positive definite, about any point; an undefined state stays undefined.
        let inverse = self.mass_matrix(body).try_inverse();
        let omega_dot = inverse.unwrap_or_else(Matrix3::zeros) * torque;
        self.twist(&omega_dot) + drift
    }

    /// The force at the point that makes the body move with this `ξ_dot`, in the body frame, N.
    pub fn reaction(
        &self,
        body: &FreeBody<T>,
        state: &State<T>,
        xi_dot: &Vector6<T>,
        wrench: &Vector6<T>,
    ) -> Vector3<T> {
        linear(&(body.mass_matrix() * xi_dot + body.bias(&self.moving(state)) - wrench))
    }

    /// The state with the velocity that its angular velocity entails.
    pub fn moving(&self, state: &State<T>) -> State<T> {
        State {
            twist: self.twist(&angular(&state.twist)),
            ..*state
        }
    }
}
