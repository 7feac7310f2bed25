//! The simulated vehicle, as a plugin.
//!
//! A system of rigid bodies with rotors, tilt servos and motors, each behind a first-order lag: joints of all kinds, springs, dampers and loops as in
//! [`fly_mechanics::description`]. It measures the complete state, see [`Measurements`]: the *tracked* body's pose and twist in the world (`pose.*`,
//! `twist.*`), and the joint of every other body (`joint.{i}.*`); in addition, [sensors] on the tracked body measure with errors. The clock is [stepped]: frame
//! `k` is at `k / rate`, to the nearest nanosecond, and the classical Runge-Kutta scheme on the configuration manifold advances the plant from one frame to the
//! next under the commands for the last frame. The same configuration, seed and commands give the same frames, bit for bit.
//!
//! # Configuration
//!
//! Every key of `[backend.sim]` is optional:
//!
//! ```
//! # let text = r#"
//! ## body = "cube"              # the tracked body, by default the only free one
//! substeps = 2                 # Runge-Kutta steps from one frame to the next, 1 to 1000
//!
//! [initial]                    # initial state: by default the tracked body at rest in the world's origin, level
//! position = [0.0, 0.0, 1.0]   # m, world
//! velocity = [0.0, 0.0, 0.0]   # m/s, world
//! angular_velocity = [0, 0, 0] # rad/s, body
//! attitude = { rpy_deg = [0.0, 30.0, 0.0] }   # roll, pitch, yaw: R = Rz(yaw) Ry(pitch) Rx(roll)
//! ## attitude = { rotation_vector = [0.0, 0.5, 0.0] }      # rad
//! ## attitude = { quaternion = [1.0, 0.0, 0.0, 0.0] }      # w, x, y, z, world from body; of any length
//! ## joints = { hinge = 0.3, ball = [0.4, 0.0, 0.0] } # positions, rad or m; all but the tracked body's
//! ## bodies = { load = { position = [0.0, 0.0, -1.0] } } # the same four keys of free bodies that are not tracked
//! ## joint_velocities = { hinge = 1.0, ball = [0.0, 0.0, 0.2] } # in the joint's velocity coordinates, rad/s or m/s
//! ## commands = [2.0, 2.0]      # actual thrusts, tilts and efforts, N, rad and N m, in the order of the commands; or "first"
//!
//! [noise]                      # standard deviations of the measurements, each axis; of the tracked body and in joints
//! position = 0.0               # m
//! attitude = 0.0               # rad, a small rotation in body axes
//! velocity = 0.0               # m/s
//! angular_velocity = 0.0       # rad/s
//! joint_position = 0.0         # rad or m, of joints with one degree of freedom
//! joint_velocity = 0.0         # rad/s or m/s, of these
//!
//! [[faults]]                   # simulated faults of sensors, actuators, links, masses, …
//! kind = "missing"             # or "stale", or "non_finite"; "dead" with `actuator = "rotor.0.thrust"`, …
//! from = 2.0                   # s, first affected frame; or [earliest, latest], drawn
//! until = 2.1                  # s, first frame after it; or `duration`
//! probability = 0.5            # of the flights
//! ## group = "pose.position"    # or "joint.2", or any other measured group; by default all groups
//!
//! [wind]
//! velocity = [8.0, 0.0, 0.0]   # m/s, world: the mean wind, with a shear that at its reference height
//! shear = { roughness = 0.03, reference_height = 6.096 } # m; or { exponent = 0.14 }
//! gusts = [{ start = 3.0, amplitude = [4.0, 0.0, 0.0], time = 1.0 }] # s, m/s (world), s; or length, m
//! turbulence = { w20 = 7.7, least_airspeed = 1.0 } # m/s: Dryden's for this wind at 20 ft
//!
//! [ground]
//! height = 0.0                 # m, the world's z: rotors with a radius feel it, and it stops bodies with contacts
//! normal = [0.0, 0.0, 1.0]     # a slope through [0, 0, height]
//! stiffness = 5000.0           # k, N/m: the force of each contact is k d^exponent (1 + damping d_dot)
//! exponent = 1.0
//! damping = 2.0                # s/m
//! friction = 0.6
//! ## friction_stiffness = 4000 # N/m, and relaxation = 0.01 # s, of the bristles: by the system
//!
//! ## [collisions]              # bodies touch each other with their contacts: the keys of a ground but for height and normal
//!
//! ## [[releases]]              # joints that are released
//! ## joint = "hinge"
//! ## time = 3.0                # s
//!
//! [sensors]
//! ideal = true                 # whether pose and twist are measured beside what sensors do
//! imu = { rate = 250, position = [0.02, 0, 0.01] } # Hz; m, body: an empty table fits one, too
//! gnss = { delay = 0.1, jitter = 0.05, dropout = 0.02 } # s, s, part of the samples
//! ## motion_capture, barometer, magnetometer, airspeed, range; encoders, of joints
//!
//! [[actuators]]                # actuators that give another part of what they should
//! command = "rotor.0.thrust"   # or "motor.1.effort"; by default all thrusts and efforts
//! effectiveness = 0.8          # the part that they give at first, 1 by default
//! rate = -0.003                # 1/s, how it changes: 0 by default
//!
//! [[actuators]]
//! delay = 0.02                 # s: every command acts so much later; or that of one `command`
//! # "#;
//! # let vehicle = include_str!("../tests/cube.toml");
//! # fly_hal::Backend::configure(&fly_hal::Configuration::new(text, vehicle))
//! #     .map(|_: fly_plugin_sim::Simulation| ()).unwrap();
//! ```
//!
//! The plant is the controller's vehicle unless a table `vehicle` describes another vehicle or a whole system. If several bodies are free and none is named,
//! none is tracked, and they are measured in their joints.
//!
//! - **Loops** are closed by projecting the initial state, and stabilised at a tenth of the inverse integration step.
//! - **Actuators** follow their commands, which are first clamped to their limits: `a' = (u - a) / time_constant`, for the thrust, the tilt angle and the
//!   effort themselves. A time constant of 0 means no lag. They start at rest, at the smallest thrust and zero tilt; with `initial.commands`, at those values,
//!   and with `initial.commands = "first"`, at the first command, as if the system had been in motion before.
//! - **Air**: the drag of bodies and the aerodynamics of rotors act on the velocity relative to the air, in every stage of the integration; see
//!   [`fly_mechanics::aerodynamics`]. Turbulence is drawn once per frame from the flight's seed and interpolated linearly in between. It passes with the
//!   airspeed of the tracked body in the mean wind, but at least with `least_airspeed`. `truth.wind` is the velocity of the air at the tracked body's origin
//!   (the first body's if none is tracked), if there is a table `wind` or a wind fault.
//! - **Wind and weak actuators** affect only the plant: controllers are not told. `truth.<command>` is the actual output of an actuator.
//! - **Truth**: every frame also contains the true values, unaffected by noise and faults, in the group `truth`: `truth.<measurement>` for all measurements,
//!   `truth.<command>` for the actual output of each actuator, and `truth.body.{i}.position` and `truth.body.{i}.quaternion` for the pose of every body in the
//!   world, if there are several.
//! - **Noise** is Gaussian, from one xoshiro256++ per group, seeded with the flight's seed: the noise of one group does not depend on that of another, nor on
//!   faults.
//! - **Faults**: `missing`, the group has no new data and is marked invalid; without any group the tick has no frame. `stale`, the group keeps the values and
//!   the stamp of the last frame before the fault. `non_finite`, its values are NaN, with a fresh stamp. `dead`, the actuator produces nothing: its thrust or
//!   effort decays to zero with its lag, and a tilt returns to zero. Unless `reported = false`, `actuator.{i}.health` reports it, i the index of its command.
//!   `docs/faults.md` lists all kinds and their keys. Each fault draws from its own stream of random numbers.
//!
//! # Sensors
//!
//! An IMU integrates between its samples; the others sample at a frame. A sample has the stamp of its measurement and arrives `delay` plus up to `jitter`
//! later, or never; a newer sample that has arrived first replaces it, so stamps never decrease. Groups keep their values between samples. Each sensor has
//! its own random numbers. `docs/sensors.md` lists equations, keys and defaults.
//!
//! [sensors]: #sensors
//! [stepped]: fly_hal::Clock::Stepped
//! [`Measurements`]: fly_mechanics::measurements::Measurements

mod backend;
mod contacts;
mod delivery;
mod faults;
mod instruments;
mod late;
mod noise;
mod plant;
mod random;
mod release;
mod sensors;
mod settings;
mod wind;

pub use backend::Simulation;
#[cfg(feature = "schema")]
pub use settings::schema;

fly_hal::export_backend!(Simulation);
