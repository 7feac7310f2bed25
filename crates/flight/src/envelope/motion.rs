//! The limited quantities that depend on the motion alone, not on a reference.

use fly_control::predictor::StatePredictor;
use fly_lie::operators::linear;
use nalgebra::Vector3;

use super::fence::Fence;
use super::joints;
use crate::supervisor::Limit;

/// A motion whose limits are checked.
pub(super) struct Motion<'a> {
    pub state: &'a StatePredictor,
    /// The body direction that should point up.
    pub upward: Vector3<f64>,
    pub fences: &'a [Fence],
    /// Whether a failsafe leads the vehicle to the ground: then it may be below all limits of the height.
    pub descends: bool,
}

impl Motion<'_> {
    /// The value of this quantity; `None` if it needs a reference, or a body that there is not.
    pub fn value(&self, limit: Limit) -> Option<f64> {
        let body = || self.state.tracked_motion();
        Some(match limit {
            Limit::JointSpeed => joint_speed(self.state),
            Limit::JointPosition(index) => joints::beyond(self.state, index),
            Limit::JointVelocity(index) => joints::speed(self.state, index),
            Limit::Tilt => {
                let up = body()?.0.rotation.act(&self.upward);
                up.z.clamp(-1.0, 1.0).acos()
            }
            Limit::Speed => linear(&body()?.1).norm(),
            Limit::Height => body()?.0.translation.z,
            Limit::Floor if self.descends => return None,
            Limit::Floor => -body()?.0.translation.z,
            Limit::Fence(index) => {
                let mut position = body()?.0.translation;
                let fence = self.fences.get(index)?;
                if self.descends && position.z < fence.bottom() {
                    position.z = fence.bottom();
                }
                fence.distance(&position)
            }
            Limit::PositionError
            | Limit::AttitudeError
            | Limit::LostAttitude
            | Limit::Saturated
            // `Ground` and `Jumps` watch these.
            | Limit::Touchdown
            | Limit::Slide
            | Limit::Depth
            | Limit::PositionJump => return None,
        })
    }
}

/// The largest velocity coordinate over all joints except that of the tracked body.
fn joint_speed(state: &StatePredictor) -> f64 {
    let model = &state.system().model;
    let others = model.bodies().filter(|body| Some(*body) != state.tracked());
    let speeds = others.flat_map(|body| &state.velocity()[model.velocity_range(body)]);
    // `f64::max` would drop a NaN.
    speeds.fold(0.0, |most, speed| {
        if speed.abs() <= most {
            most
        } else {
            speed.abs()
        }
    })
}
