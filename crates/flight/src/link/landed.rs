//! How a vehicle lies that is no longer armed: one that has landed stands upright and does not fall.

use fly_hal::{Description, Frame};
use fly_lie::SO3;
use nalgebra::{Vector3, Vector4};

use crate::binding::{GroupBinding, bind};

/// One that leans further than this has tipped over, rad.
const TIPPED: f64 = std::f64::consts::FRAC_PI_3;
/// One that sinks faster than this falls, m/s: autopilots land at less than half of that.
const FALLS: f64 = 2.0;

/// Where frames tell the attitude and the velocity of a body.
#[derive(Debug, Default)]
pub(super) struct Landed {
    attitude: Option<GroupBinding>,
    velocity: Option<GroupBinding>,
}

impl Landed {
    /// For frames with these signals.
    pub fn new(description: &Description) -> Self {
        Self {
            attitude: bind(description, "pose.quaternion"),
            velocity: bind(description, "twist.linear"),
        }
    }

    /// Why a vehicle that is disarmed in this frame has not landed well; `None` if it has, or if that is not known.
    pub fn trouble(&self, frame: &Frame) -> Option<String> {
        let known = |group: &GroupBinding| {
            frame.groups[group.group].valid && group.is_finite(&frame.values)
        };
        let attitude = self.attitude.filter(known)?;
        let wxyz = Vector4::from(attitude.quaternion(&frame.values));
        let attitude = SO3::from_quaternion(&(wxyz.normalize()));
        let tilt = attitude.act(&Vector3::z()).z.clamp(-1.0, 1.0).acos();
        if tilt > TIPPED {
            let tilt = tilt.to_degrees();
            return Some(format!(
                "the vehicle has tipped over: it leaned by {tilt:.0} deg when it was disarmed"
            ));
        }
        let velocity = self.velocity.filter(known)?.numbers(&frame.values);
        let sinks = -attitude.act(&Vector3::from_column_slice(&velocity[..3])).z;
        (sinks > FALLS)
            .then(|| format!("the vehicle fell: it sank at {sinks:.1} m/s when it was disarmed"))
    }
}
