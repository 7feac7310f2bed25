//! Setpoints for a backend that does not take actuator commands.

use fly_control::setpoints::{AttitudeSetpoint, Demand, InnerLoop, RatesSetpoint};
use fly_hal::{CommandSet, Description, Frame};
use fly_lie::SO3;
use fly_mechanics::Inputs;

use crate::binding::{GroupBinding, bind_part};
use crate::config::SetpointsSection;
use crate::supervisor::Fault;

/// The setpoints in force, in the order of the [names](CommandSet::names) of their set. Allocates only in its construction.
#[derive(Debug, Clone)]
pub struct Setpoints {
    inner: InnerLoop,
    /// The set; never [actuators](CommandSet::Actuators).
    set: CommandSet,
    /// Where frames report the attitude loop's gains, of roll and pitch and of yaw, unless the configuration sets them.
    told: [Option<GroupBinding>; 2],
    values: Vec<f64>,
    /// The last known heading, rad; it stays while the heading is undefined.
    yaw: f64,
}

/// Attitude loop gain if none is reported, 1/s: PX4's default.
const ATTITUDE_GAIN: f64 = 6.5;
const YAW_GAIN: f64 = 2.8;

/// The last component of the names of thrusts.
const THRUST: &str = ".thrust";

impl Setpoints {
    /// For this set and a vehicle with these inputs; `None` for actuators, which are commanded directly.
    pub fn new(
        set: CommandSet,
        section: &SetpointsSection,
        inputs: &Inputs,
        description: &Description,
    ) -> Option<Self> {
        let names = inputs.command_names().iter();
        let thrusts = (names.zip(inputs.command_limits()))
            .filter(|(name, _)| name.ends_with(THRUST))
            .map(|(_, limits)| limits);
        let thrust = thrusts.fold([0.0; 2], |[low, high], limits| {
            [low + limits[0].max(0.0), high + limits[1]]
        });
        (set != CommandSet::Actuators).then(|| Self {
            inner: InnerLoop {
                attitude_gain: section.attitude_gain.unwrap_or(ATTITUDE_GAIN),
                yaw_gain: section.yaw_gain.unwrap_or(YAW_GAIN),
                response_time: section.rate_time,
                largest_rate: section.max_rate_deg.to_radians(),
                largest_tilt: section.max_tilt_deg.to_radians(),
                thrust,
            },
            set,
            told: [
                ("attitude_gain", section.attitude_gain),
                ("yaw_gain", section.yaw_gain),
            ]
            .map(|(name, given)| bind_part(description, "inner", name).filter(|_| given.is_none())),
            values: vec![f64::NAN; set.names().len()],
            yaw: 0.0,
        })
    }

    /// Reads what the frame reports about the autopilot's loops.
    pub fn listen(&mut self, frame: &Frame) {
        let [attitude, yaw] = self.told.map(|told| {
            let told = told.filter(|it| frame.groups[it.group].valid)?;
            Some(frame.values[told.values[0]]).filter(|gain| *gain > 0.0 && gain.is_finite())
        });
        let inner = &mut self.inner;
        inner.attitude_gain = attitude.unwrap_or(inner.attitude_gain);
        inner.yaw_gain = yaw.unwrap_or(inner.yaw_gain);
    }

    /// Whether the autopilot follows a trajectory by itself, so that the acting forces are unknown.
    pub fn are_a_trajectory(&self) -> bool {
        self.set == CommandSet::Trajectory
    }

    /// The numbers in force.
    pub fn values(&self) -> &[f64] {
        &self.values
    }

    /// Follows the law's demand.
    ///
    /// # Errors
    /// [`Fault::Controller`] if the demand is not finite; the setpoints in force stay.
    pub fn follow(&mut self, demand: &Demand) -> Result<(), Fault> {
        match self.set {
            CommandSet::Attitude => self.put_attitude(&self.inner.attitude(demand)),
            CommandSet::Rates => self.put_rates(&self.inner.rates(demand)),
            _ => self.put_trajectory(demand),
        }
    }

    /// Follows the failsafe without a result of the law: levels the vehicle as the failsafe's reference does, with this
    /// thrust, N.
    ///
    /// # Errors
    /// As [`follow`](Self::follow).
    pub fn follow_without_law(&mut self, demand: &Demand, thrust: f64) -> Result<(), Fault> {
        let (now, level) = (demand.attitude, demand.reference.pose.rotation);
        let rates = self.inner.rates_towards(&now, &level, thrust);
        match self.set {
            CommandSet::Attitude => self.put_attitude(&AttitudeSetpoint {
                attitude: level,
                thrust: rates.thrust,
            }),
            CommandSet::Rates => self.put_rates(&rates),
            _ => self.put_trajectory(demand),
        }
    }

    fn put_attitude(&mut self, told: &AttitudeSetpoint) -> Result<(), Fault> {
        let q = quaternion(&told.attitude);
        self.put(&[q[0], q[1], q[2], q[3], told.thrust])
    }

    fn put_rates(&mut self, told: &RatesSetpoint) -> Result<(), Fault> {
        let w = told.angular_velocity;
        self.put(&[w.x, w.y, w.z, told.thrust])
    }

    fn put_trajectory(&mut self, demand: &Demand) -> Result<(), Fault> {
        let told = self.inner.trajectory(demand, self.yaw);
        let (r, v, a) = (told.position, told.velocity, told.acceleration);
        self.put(&[
            r.x,
            r.y,
            r.z,
            v.x,
            v.y,
            v.z,
            a.x,
            a.y,
            a.z,
            told.yaw,
            told.yaw_rate,
        ])?;
        self.yaw = told.yaw;
        Ok(())
    }

    fn put(&mut self, values: &[f64]) -> Result<(), Fault> {
        if !values.iter().all(|value| value.is_finite()) {
            return Err(Fault::Controller);
        }
        self.values.copy_from_slice(values);
        Ok(())
    }
}

/// w, x, y, z with w >= 0.
fn quaternion(attitude: &SO3<f64>) -> [f64; 4] {
    let q = attitude.to_quaternion();
    let sign = if q[0] < 0.0 { -1.0 } else { 1.0 };
    [0, 1, 2, 3].map(|i| sign * q[i])
}
