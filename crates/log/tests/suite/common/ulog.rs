//! A small made-up ULog.
#![allow(dead_code)] // every test file uses its own part

use std::fmt::Write as _;

/// Topics with their fields (all `float` but the time), in the order of their ids.
pub const TOPICS: [(&str, &[&str]); 4] = [
    ("vehicle_local_position", &["x", "y", "z", "vx", "vy", "vz"]),
    ("vehicle_attitude", &["q[4]"]),
    ("vehicle_angular_velocity", &["xyz[3]"]),
    ("actuator_motors", &["control[8]"]),
];

pub fn record(kind: u8, body: &[u8]) -> Vec<u8> {
    let mut bytes = u16::try_from(body.len()).unwrap().to_le_bytes().to_vec();
    bytes.push(kind);
    bytes.extend(body);
    bytes
}

fn data(id: u16, time: u64, values: &[f32]) -> Vec<u8> {
    let mut body = id.to_le_bytes().to_vec();
    body.extend(time.to_le_bytes());
    body.extend(values.iter().flat_map(|value| value.to_le_bytes()));
    record(b'D', &body)
}

/// Header, formats, parameters, subscriptions.
pub fn head() -> Vec<u8> {
    head_of(&TOPICS)
}

/// As [`head`], with the estimator's counters of jumps (as `float`: any number will do).
pub fn head_with_resets() -> Vec<u8> {
    let mut topics = TOPICS;
    topics[0].1 = &[
        "x",
        "y",
        "z",
        "vx",
        "vy",
        "vz",
        "xy_reset_counter",
        "z_reset_counter",
    ];
    head_of(&topics)
}

/// A flight of 200 ticks with these motors, of which the log has `CA_ROTOR_COUNT`.
pub fn flight_with_motors(declared: &str, controls: &[f32], count: f32) -> Vec<u8> {
    let fields = [declared];
    let mut topics = TOPICS;
    topics[3].1 = &fields;
    let mut bytes = Vec::new();
    head_with(&mut bytes, &topics, &parameters(count));
    for k in 0..200 {
        let usual = tick(k);
        let last = 3 + 2 + 8 + 8 * 4;
        bytes.extend(&usual[..usual.len() - last]);
        bytes.extend(data(3, 1_000_000 + k * 20_000, controls));
    }
    bytes
}

/// A flight of 200 ticks whose position is logged in every fifth one, with a velocity that is reset by 5 m/s at tick `at`.
pub fn flight_with_a_jump_of_velocity(at: u64) -> Vec<u8> {
    let mut topics = TOPICS;
    topics[0].1 = &[
        "x",
        "y",
        "z",
        "vx",
        "vy",
        "vz",
        "vxy_reset_counter",
        "vz_reset_counter",
    ];
    let mut bytes = head_of(&topics);
    for k in 0..200 {
        let jumps = f32::from(u8::from(k >= at));
        let t = k as f32 * 0.02;
        if k % 5 == 0 {
            let row = [t, 2.0, -3.0, 1.0 + 5.0 * jumps, 0.0, 0.0, jumps, 0.0];
            bytes.extend(data(0, 1_000_000 + k * 20_000, &row));
        }
        let first = 3 + 2 + 8 + 6 * 4;
        bytes.extend(&tick(k)[first..]);
    }
    bytes
}

/// A flight of 400 ticks whose attitude jumps by a radian about the vertical at tick 250, as an estimator counts it, with an attitude
/// setpoint at a constant angle of roll from it, which is logged from tick 50 to 150 and from 200 on.
pub fn flight_with_attitude_setpoints() -> Vec<u8> {
    let mut topics = TOPICS.to_vec();
    topics[1].1 = &["q[4]", "quat_reset_counter"];
    topics.push(("vehicle_attitude_setpoint", &["q_d[4]"]));
    let mut bytes = head_of(&topics);
    for k in 0..400 {
        let time = 1_000_000 + k * 20_000;
        let jumps = u8::from(k >= 250);
        let half = k as f32 * 0.005 + 0.5 * f32::from(jumps);
        let (yaw, roll) = (half.sin_cos(), 0.2_f32.sin_cos());
        let usual = tick(k);
        let first = 3 + 2 + 8 + 6 * 4;
        let second = first + 3 + 2 + 8 + 4 * 4;
        bytes.extend(&usual[..first]);
        let q = [yaw.1, 0.0, 0.0, yaw.0, f32::from(jumps)];
        bytes.extend(data(1, time, &q));
        bytes.extend(&usual[second..]);
        if (50..=150).contains(&k) || k >= 200 {
            let q = [
                yaw.1 * roll.1,
                yaw.1 * roll.0,
                yaw.0 * roll.0,
                yaw.0 * roll.1,
            ];
            bytes.extend(data(4, time, &q));
        }
    }
    bytes
}

/// A flight of 200 ticks as [`flight`], without its motors, with these parameters and further topics; `rows` tells the samples of these at a
/// tick, each with the number of its topic among them.
pub fn flight_with(
    parameters: &[(&str, f32)],
    further: &[(&str, &[&str])],
    rows: impl Fn(u64) -> Vec<(u16, Vec<f32>)>,
) -> Vec<u8> {
    let measured = &TOPICS[..3];
    let mut bytes = Vec::new();
    head_with(&mut bytes, &[measured, further].concat(), parameters);
    for k in 0..200 {
        let usual = tick(k);
        let motors = 3 + 2 + 8 + 8 * 4;
        bytes.extend(&usual[..usual.len() - motors]);
        for (topic, values) in rows(k) {
            bytes.extend(data(3 + topic, 1_000_000 + k * 20_000, &values));
        }
    }
    bytes
}

fn head_of(topics: &[(&str, &[&str])]) -> Vec<u8> {
    let mut bytes = Vec::new();
    head_with(&mut bytes, topics, &parameters(4.0));
    bytes
}

/// Of so many motors, which hover at 0.4.
pub const fn parameters(motors: f32) -> [(&'static str, f32); 2] {
    [("CA_ROTOR_COUNT", motors), ("MPC_THR_HOVER", 0.4)]
}

fn head_with(bytes: &mut Vec<u8>, topics: &[(&str, &[&str])], parameters: &[(&str, f32)]) {
    bytes.extend([0x55, 0x4c, 0x6f, 0x67, 0x01, 0x12, 0x35, 1]);
    bytes.extend(1_000_000_u64.to_le_bytes());
    bytes.extend(record(b'B', &[0; 40]));
    for (name, fields) in topics {
        let mut text = format!("{name}:uint64_t timestamp;");
        for field in *fields {
            // An array's length stands with its type.
            match field.split_once('[') {
                Some((field, length)) => write!(text, "float[{length} {field};").unwrap(),
                None => write!(text, "float {field};").unwrap(),
            }
        }
        bytes.extend(record(b'F', text.as_bytes()));
    }
    let mut parameter = |name: &str, value: f32| {
        let key = format!("float {name}");
        let mut body = vec![u8::try_from(key.len()).unwrap()];
        body.extend(key.as_bytes());
        body.extend(value.to_le_bytes());
        bytes.extend(record(b'P', &body));
    };
    for (name, value) in parameters {
        parameter(name, *value);
    }
    for (id, (name, _)) in topics.iter().enumerate() {
        let mut body = vec![0];
        body.extend(u16::try_from(id).unwrap().to_le_bytes());
        body.extend(name.as_bytes());
        bytes.extend(record(b'A', &body));
    }
}

/// Tick `k` of 50 Hz: north at 1 m/s while turning right (about down) at 0.5 rad/s; motors at 0.4.
pub fn tick(k: u64) -> Vec<u8> {
    tick_at(1_000_000 + k * 20_000)
}

/// The same at a time, µs.
pub fn tick_at(time: u64) -> Vec<u8> {
    let t = (time - 1_000_000) as f32 * 1e-6;
    let mut bytes = Vec::new();
    bytes.extend(data(0, time, &[t, 2.0, -3.0, 1.0, 0.0, 0.0]));
    bytes.extend(data(
        1,
        time,
        &[(t * 0.25).cos(), 0.0, 0.0, (t * 0.25).sin()],
    ));
    bytes.extend(data(2, time, &[0.0, 0.0, 0.5]));
    bytes.extend(data(
        3,
        time,
        &[0.4, 0.4, 0.4, 0.4, f32::NAN, f32::NAN, f32::NAN, f32::NAN],
    ));
    bytes
}

/// As [`tick`], `offset` further north, counted as a jump when it is not zero.
pub fn tick_with_resets(k: u64, offset: f32) -> Vec<u8> {
    let t = k as f32 * 0.02;
    let jumps = f32::from(u8::from(offset != 0.0));
    let position = data(
        0,
        1_000_000 + k * 20_000,
        &[t + offset, 2.0, -3.0, 1.0, 0.0, 0.0, jumps, 0.0],
    );
    // The other three topics as ever: what follows the first record of a tick.
    let usual = tick(k);
    let first = 3 + 2 + 8 + 6 * 4;
    [&position, &usual[first..]].concat()
}

/// A flight of so many ticks.
pub fn flight(ticks: u64) -> Vec<u8> {
    let mut bytes = head();
    for k in 0..ticks {
        bytes.extend(tick(k));
    }
    bytes
}
