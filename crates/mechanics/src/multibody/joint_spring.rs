//! Springs in joints, linear in the joint's coordinate.

use nalgebra::{RealField, convert};

use super::{Joint, ModelError};

/// A spring in a joint with one coordinate: `V = 1/2 k (q - q_0)²`, and thus the torque or force `-k (q - q_0)` on the joint.
///
/// Springs between bodies, [`Spring`](super::Spring), act between points: in a revolute joint their torque is `-k sin(q - q_0)`.
///
/// ```
/// use fly_mechanics::PseudoInertia;
/// use fly_mechanics::multibody::{Body, Joint, JointSpring, Model, Workspace};
/// use nalgebra::{Matrix3, Vector3};
///
/// // A flap of 0.1 kg m² that a spring of 2 N m/rad pulls to 0.5 rad.
/// let flap = PseudoInertia::from_center(1.0, Vector3::zeros(), Matrix3::identity() * 0.1)?;
/// let body = Body::new("flap", Joint::revolute(Vector3::y())?).inertia(flap);
/// let model = Model::builder()
///     .body(body.spring(JointSpring { stiffness: 2.0, rest: 0.5 }))
///     .build()?;
/// let mut xi_dot = [0.0];
/// model.forward_dynamics(&mut Workspace::new(&model), &[0.8], &[0.0], &[0.0], &mut xi_dot)?;
/// assert!((xi_dot[0] + 2.0_f64 * 0.3 / 0.1).abs() < 1e-13);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct JointSpring<T> {
    /// `k`, N m/rad or N/m.
    pub stiffness: T,
    /// `q_0`, the unloaded position, rad or m.
    pub rest: T,
}

impl JointSpring<f64> {
    /// The same spring in another scalar type.
    pub fn cast<T: RealField + Copy>(&self) -> JointSpring<T> {
        JointSpring {
            stiffness: convert(self.stiffness),
            rest: convert(self.rest),
        }
    }
}

impl<T: RealField + Copy> JointSpring<T> {
    /// Checks that the parameters are finite and that the joint has one coordinate, whose rate is its velocity.
    pub(super) fn check(&self, body: &str, joint: &Joint<T>) -> Result<(), ModelError> {
        if !(self.stiffness.is_finite() && self.rest.is_finite()) {
            let what = format!("the joint spring of body `{body}`");
            return Err(ModelError::NotFinite { what });
        }
        if joint.is_position() {
            Ok(())
        } else {
            Err(ModelError::JointSpring(body.to_owned()))
        }
    }
}
