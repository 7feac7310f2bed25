//! Topics of PX4, and their fields that are read.

/// The topics, each with its fields. The rest of the file is skipped, so damage there has no effect.
pub const WANTED: &[(&str, &[&[&str]])] = &[
    ("vehicle_local_position", &[&LOCAL_POSITION, &VALID]),
    ("vehicle_attitude", &[&ATTITUDE]),
    ("vehicle_angular_velocity", &[&ANGULAR_VELOCITY]),
    ("actuator_motors", &[&CONTROLS]),
    ("actuator_outputs", &[&OUTPUTS]),
    ("trajectory_setpoint", &[&TRAJECTORY, &OLD_TRAJECTORY]),
    ("vehicle_local_position_setpoint", &[&POSITION]),
    ("vehicle_attitude_setpoint", &[&ATTITUDE_SETPOINT]),
    ("vehicle_rates_setpoint", &[&RATES_SETPOINT]),
    ("battery_status", &[&BATTERY]),
    ("actuator_armed", &[&ARMED]),
    ("hover_thrust_estimate", &[&HOVER_THRUST]),
];

/// Position and velocity of `vehicle_local_position`.
pub const MOTION: [&str; 6] = ["x", "y", "z", "vx", "vy", "vz"];
/// Position, velocity and counters of resets of `vehicle_local_position`.
pub const LOCAL_POSITION: [&str; 10] = {
    let [x, y, z, vx, vy, vz] = MOTION;
    [
        x,
        y,
        z,
        vx,
        vy,
        vz,
        "xy_reset_counter",
        "z_reset_counter",
        "vxy_reset_counter",
        "vz_reset_counter",
    ]
};
/// Whether the position of `vehicle_local_position` is valid.
pub const VALID: [&str; 2] = ["xy_valid", "z_valid"];
/// The quaternion of `vehicle_attitude`, w, x, y, z.
pub const QUATERNION: [&str; 4] = ["q[0]", "q[1]", "q[2]", "q[3]"];
/// The same with its counter of resets.
pub const ATTITUDE: [&str; 5] = {
    let [w, x, y, z] = QUATERNION;
    [w, x, y, z, "quat_reset_counter"]
};
/// Fields of `vehicle_angular_velocity`.
pub const ANGULAR_VELOCITY: [&str; 3] = ["xyz[0]", "xyz[1]", "xyz[2]"];
/// Fields of `vehicle_attitude_setpoint`: w, x, y, z.
pub const ATTITUDE_SETPOINT: [&str; 4] = ["q_d[0]", "q_d[1]", "q_d[2]", "q_d[3]"];
/// Fields of `vehicle_rates_setpoint`.
pub const RATES_SETPOINT: [&str; 3] = ["roll", "pitch", "yaw"];
/// Fields of `battery_status`.
pub const BATTERY: [&str; 2] = ["voltage_v", "remaining"];
/// The field of `actuator_armed`.
pub const ARMED: [&str; 1] = ["armed"];
/// Fields of `hover_thrust_estimate`.
pub const HOVER_THRUST: [&str; 2] = ["hover_thrust", "valid"];
/// Fields of `trajectory_setpoint`.
pub const TRAJECTORY: [&str; 9] = [
    "position[0]",
    "position[1]",
    "position[2]",
    "velocity[0]",
    "velocity[1]",
    "velocity[2]",
    "acceleration[0]",
    "acceleration[1]",
    "acceleration[2]",
];
/// The same of PX4 up to 1.13.
pub const OLD_TRAJECTORY: [&str; 9] = {
    let [x, y, z, vx, vy, vz] = MOTION;
    let [.., ax, ay, az] = TRAJECTORY;
    [x, y, z, vx, vy, vz, ax, ay, az]
};
/// The position of `vehicle_local_position_setpoint`.
pub const POSITION: [&str; 3] = {
    let [x, y, z, ..] = MOTION;
    [x, y, z]
};
/// Fields of `actuator_motors`, one for each motor.
pub const CONTROLS: [&str; 12] = [
    "control[0]",
    "control[1]",
    "control[2]",
    "control[3]",
    "control[4]",
    "control[5]",
    "control[6]",
    "control[7]",
    "control[8]",
    "control[9]",
    "control[10]",
    "control[11]",
];
/// Fields of `actuator_outputs`, one for each motor.
pub const OUTPUTS: [&str; 12] = [
    "output[0]",
    "output[1]",
    "output[2]",
    "output[3]",
    "output[4]",
    "output[5]",
    "output[6]",
    "output[7]",
    "output[8]",
    "output[9]",
    "output[10]",
    "output[11]",
];
