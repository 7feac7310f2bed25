//! The row of a tick.

use fly_hal::GroupStatus;

/// The result of a tick's read.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Status {
    /// New data.
    #[default]
    Fresh,
    /// The tick passed without new data.
    None,
}

/// One tick.
#[derive(Clone, Debug)]
pub struct Row<'a> {
    /// Time of the tick, ns in the backend's clock.
    pub time: i64,
    /// The result of the read.
    pub status: Status,
    /// Mode of the supervisor: index into [`Header::modes`](super::Header::modes).
    pub mode: u8,
    /// The frame's values, as read.
    pub values: &'a [f64],
    /// The frame's groups, as read.
    pub groups: &'a [GroupStatus],
    /// The state that the controller used, of the only free body; `None` if it is unknown or there is no such body.
    pub state: Option<State>,
    /// The state that the controller used, of a whole system; `None` if it is unknown or there is only one body.
    pub system: Option<SystemState<'a>>,
    /// The controller's step; `None` if it did not run.
    pub control: Option<Control<'a>>,
    /// The estimate of the only free body: position (m, world), quaternion w, x, y, z, velocity (m/s) and angular
    /// velocity (rad/s) in the body frame, biases of gyro (rad/s) and accelerometer (m/s^2), standard deviations of
    /// attitude, velocity, position and both biases (three each), then the last innovation of each sensor of
    /// [`Header::estimate`](super::Header::estimate): 34 values and one per sensor. `None` without an estimate.
    pub estimate: Option<&'a [f64]>,
    /// Commands that were sent; `None` if none were.
    pub commands: Option<&'a [f64]>,
}

/// Pose and twist of the vehicle.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct State {
    /// Position x, y, z in the world, m, then the quaternion w, x, y, z, world from body.
    pub pose: [f64; 7],
    /// Velocity, m/s, then angular velocity, rad/s, both in the body frame.
    pub twist: [f64; 6],
}

/// Desired pose, twist and acceleration of the vehicle.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Reference {
    /// As [`State::pose`].
    pub pose: [f64; 7],
    /// As [`State::twist`].
    pub twist: [f64; 6],
    /// Rate of change of the twist's components, m/s^2 and rad/s^2.
    pub acceleration: [f64; 6],
}

/// Configuration and velocity of a whole system.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct SystemState<'a> {
    /// Coordinates of its joints, length `config_dim`.
    pub configuration: &'a [f64],
    /// Velocity coordinates, length `dof`.
    pub velocity: &'a [f64],
    /// Pose of every body in the world, as [`State::pose`].
    pub poses: &'a [[f64; 7]],
}

/// Desired configuration, velocity and acceleration of a whole system.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct SystemReference<'a> {
    /// As [`SystemState::configuration`].
    pub configuration: &'a [f64],
    /// As [`SystemState::velocity`].
    pub velocity: &'a [f64],
    /// Rate of change of the velocity, length `dof`.
    pub acceleration: &'a [f64],
}

/// Energies of the error.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Energies {
    /// Kinetic energy T, J.
    pub kinetic: f64,
    /// Potential energy V, J.
    pub potential: f64,
    /// Dissipation R, W.
    pub dissipation: f64,
    /// Total energy W, J.
    pub total: f64,
}

/// One step of the controller.
#[derive(Clone, Debug)]
pub struct Control<'a> {
    /// The reference of the only free body; `None` if there is no such body.
    pub reference: Option<Reference>,
    /// The reference of a whole system; `None` if there is only one body.
    pub system: Option<SystemReference<'a>>,
    /// Distance (m) and angle (rad) from the reference to the state.
    pub errors: [f64; 2],
    /// Unconstrained input of the law, length `input_dim`.
    pub u0: &'a [f64],
    /// Input within the limits, length `input_dim`.
    pub u: &'a [f64],
    /// Energies of the error; `None` of a law that has none.
    pub energies: Option<Energies>,
    /// Measured and predicted dW/dt, W; `None` if the theory makes no prediction.
    pub energy_rates: Option<[f64; 2]>,
    /// The force that the model does not explain, in velocity coordinates, length `disturbance_dim`, N and N m; empty
    /// without an observer.
    pub disturbance: &'a [f64],
    /// Ratio of actual to modelled thrust; `None` without an observer.
    pub thrust_scale: Option<f64>,
    /// Number of active limits.
    pub active: u32,
    /// Whether `u` differs from `u0`.
    pub saturated: bool,
    /// Solver of the allocation problem: index into [`Header::solvers`](super::Header::solvers).
    pub solver: u8,
    /// Iterations of the solver.
    pub iterations: u32,
}

/// The level of an event.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Level {
    /// Detail for developers.
    Debug,
    /// What happened.
    Info,
    /// Something that needs attention.
    Warning,
    /// Something failed.
    Error,
    /// The flight ended because of it.
    Fatal,
}

/// `TRACE` becomes [`Debug`](Level::Debug).
impl From<tracing::Level> for Level {
    fn from(level: tracing::Level) -> Self {
        match level {
            tracing::Level::ERROR => Self::Error,
            tracing::Level::WARN => Self::Warning,
            tracing::Level::INFO => Self::Info,
            _ => Self::Debug,
        }
    }
}

/// The outcome of a push.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Pushed {
    /// It will be written.
    Queued,
    /// The queue was full in real time; the item is counted and lost.
    Dropped,
    /// The writer has failed; [`Writer::finish`](super::Writer::finish) says why.
    Failed,
}

/// Whether a full queue makes the flight wait.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Pace {
    /// Simulation and replay: wait, and drop nothing.
    Stepped,
    /// A real vehicle: never wait, drop and count.
    RealTime,
}
