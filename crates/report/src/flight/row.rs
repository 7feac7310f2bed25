//! One tick of any kind of log.

use fly_log::schema::fly;

/// Position x, y, z (m, world), then the quaternion w, x, y, z, world from body.
pub type Pose = [f64; 7];

/// The data of a tick, in SI units and this project's frames.
#[derive(Clone, Debug, Default)]
pub struct Row {
    /// Flight time, s.
    pub time: f64,
    /// Whether the backend had new data.
    pub fresh: bool,
    /// Pose of the vehicle, or of the only free body, as the controller used it.
    pub pose: Option<Pose>,
    /// Its velocity and angular velocity, body frame.
    pub twist: Option<[f64; 6]>,
    /// Its true pose.
    pub true_pose: Option<Pose>,
    /// Its true velocity and angular velocity, body frame.
    pub true_twist: Option<[f64; 6]>,
    /// The reference's pose; position or attitude are NaN if there is none.
    pub reference: Option<Pose>,
    /// The reference's velocity and angular velocity, in its own frame.
    pub reference_twist: Option<[f64; 6]>,
    /// Pose of every body: the true one, if known.
    pub bodies: Vec<Pose>,
    /// Pose of every body of the reference.
    pub reference_bodies: Vec<Pose>,
    /// Position of each joint with one degree of freedom (NaN for others), actual and desired.
    pub joints: [Vec<f64>; 2],
    /// Velocity of these joints, actual and desired.
    pub joint_rates: [Vec<f64>; 2],
    /// Distance (m) and angle (rad) of a system's true configuration from the reference.
    pub true_errors: Option<[f64; 2]>,
    /// The controller's step.
    pub control: Option<fly::Control>,
    /// The commands that were sent.
    pub commands: Vec<f64>,
    /// The actuators' true outputs, in the order of the commands; NaN if unknown.
    pub actual: Vec<f64>,
    /// Velocity of the air, world, m/s.
    pub wind: Option<[f64; 3]>,
    /// Standard deviations of an estimate: attitude (rad), velocity (m/s), position (m), each of three axes together.
    pub deviations: Option<[f64; 3]>,
    /// Battery voltage, V.
    pub voltage: Option<f64>,
    /// Age of the frame's pose, s.
    pub age: Option<f64>,
}

impl Row {
    /// Clears the row and keeps its memory.
    pub fn clear(&mut self, time: f64) {
        let Self {
            mut bodies,
            mut reference_bodies,
            joints: [mut joints, mut to],
            joint_rates: [mut rates, mut to_rates],
            mut commands,
            mut actual,
            ..
        } = std::mem::take(self);
        bodies.clear();
        reference_bodies.clear();
        for numbers in [
            &mut joints,
            &mut to,
            &mut rates,
            &mut to_rates,
            &mut commands,
            &mut actual,
        ] {
            numbers.clear();
        }
        *self = Self {
            time,
            fresh: true,
            bodies,
            reference_bodies,
            joints: [joints, to],
            joint_rates: [rates, to_rates],
            commands,
            actual,
            ..Self::default()
        };
    }
}
