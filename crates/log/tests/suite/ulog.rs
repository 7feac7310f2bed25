//! ULogs of synthetic flights, damaged in every way, and real ones compared with values from pyulog.

#![allow(clippy::excessive_precision)] // as numpy prints them

use crate::made;

use std::path::{Path, PathBuf};

use fly_log::{Kind, LogError, Options, Recording, Rows, Status};

const STRICT: Options = options(false);
const LENIENT: Options = options(true);

const fn options(allow_truncated: bool) -> Options {
    Options {
        allow_truncated,
        memory: 64 << 20,
    }
}

fn read(bytes: &[u8], options: &Options) -> Result<Recording, LogError> {
    Recording::from_bytes(Path::new("log.ulg"), bytes, options)
}

/// The values of a group at a frame.
fn group(recording: &Recording, frame: usize, group: &str) -> Vec<f64> {
    let index = recording.description.find_group(group).expect(group);
    let frame = recording.frames.get(frame).expect("a frame");
    let of_group = recording
        .description
        .frame_signals()
        .zip(frame.values)
        .filter(|(signal, _)| signal.group == Some(index));
    of_group.map(|(_, value)| *value).collect()
}

fn assert_close(found: &[f64], expected: &[f64], tolerance: f64, what: &str) {
    assert_eq!(found.len(), expected.len(), "{what}");
    for (f, e) in found.iter().zip(expected) {
        assert!(
            (f - e).abs() <= tolerance,
            "{what}: {found:?}, expected {expected:?}"
        );
    }
}

/// The note of this name.
fn note<'a>(notes: &'a [(String, String)], name: &str) -> Option<&'a str> {
    let found = notes.iter().find(|(key, _)| key == name);
    found.map(|(_, text)| text.as_str())
}

#[test]
fn a_made_up_flight_comes_out_in_our_frames() {
    let recording = read(&made::flight(200), &STRICT).unwrap();
    assert_eq!((recording.kind, recording.frames.len()), (Kind::Ulog, 200));
    assert!(recording.skipped.is_empty(), "{:?}", recording.skipped);
    let k = 100;
    let t = 2.0_f64;
    assert_eq!(recording.frames.times()[k], 2_000_000_000);
    // North is x, east is -y, down is -z; a turn to the right is negative about up.
    assert_close(
        &group(&recording, k, "pose.position"),
        &[t, -2.0, 3.0],
        1e-6,
        "position",
    );
    let yaw = -0.5 * t;
    let q = [(yaw / 2.0).cos(), 0.0, 0.0, (yaw / 2.0).sin()];
    assert_close(
        &group(&recording, k, "pose.quaternion"),
        &q,
        1e-6,
        "attitude",
    );
    // Forward is x: the world velocity [1, 0, 0] seen from a body that looks to the right of north.
    assert_close(
        &group(&recording, k, "twist.linear"),
        &[yaw.cos(), -yaw.sin(), 0.0],
        1e-6,
        "velocity",
    );
    assert_close(
        &group(&recording, k, "twist.angular"),
        &[0.0, 0.0, -0.5],
        1e-6,
        "rates",
    );
    // No setpoints: the smoothed flown path.
    assert_close(
        &group(&recording, k, "setpoint.position"),
        &[t, -2.0, 3.0],
        1e-5,
        "setpoint",
    );
    assert_close(
        &group(&recording, k, "setpoint.velocity"),
        &[1.0, 0.0, 0.0],
        1e-5,
        "setpoint's velocity",
    );
    assert_close(
        &group(&recording, k, "setpoint.acceleration"),
        &[0.0; 3],
        1e-4,
        "setpoint's acceleration",
    );
    assert_close(
        &group(&recording, k, "setpoint.angular_velocity"),
        &[0.0, 0.0, -0.5],
        1e-5,
        "setpoint's rates",
    );
    assert_eq!(group(&recording, k, "setpoint"), [1.0]);
    let motors = recording.motors.unwrap();
    assert_eq!(
        (motors.count, motors.hover_source.as_str()),
        (4, "parameter MPC_THR_HOVER")
    );
    let frame = recording.frames.get(k).unwrap();
    assert_close(frame.motors, &[0.4; 4], 1e-6, "motors");
    let note = |name| note(&recording.notes, name);
    assert_eq!(
        note("setpoints"),
        Some("position: smoothed flown path; attitude: smoothed flown path")
    );
    let missing = note("missing topics").unwrap();
    assert!(
        missing.starts_with("trajectory_setpoint, ") && missing.contains("battery_status"),
        "{missing}"
    );
}

/// PX4 has 12; a shorter array, or more motors than are read, loses none of the others.
#[test]
fn all_motors_are_read() {
    let controls: Vec<f32> = (0..16_u8).map(|i| f32::from(i) / 16.0).collect();
    for (length, count, read_motors) in [
        (12, 12, 12),
        (12, 10, 10),
        (6, 6, 6),
        (6, 8, 8),
        (16, 16, 12),
    ] {
        let declared = format!("control[{length}]");
        let bytes = made::flight_with_motors(&declared, &controls[..length], count as f32);
        let recording = read(&bytes, &STRICT).unwrap();
        assert_eq!(
            recording.motors.as_ref().map(|motors| motors.count),
            Some(read_motors)
        );
        let frame = recording.frames.get(100).unwrap();
        for (i, motor) in frame.motors.iter().enumerate() {
            let expected = if i < length {
                i as f64 / 16.0
            } else {
                f64::NAN
            };
            assert!(
                *motor == expected || (motor.is_nan() && expected.is_nan()),
                "{i}: {motor}"
            );
        }
        let told = note(&recording.notes, "motors left out");
        let expected = (count == 16).then_some("the vehicle has 16; the first 12 are read");
        assert_eq!(told, expected);
    }
}

/// A flight whose `actuator_outputs` are these, and its outputs at a frame in the middle.
fn with_outputs(parameters: &[(&str, f32)], outputs: [f32; 8]) -> (Recording, Vec<f64>) {
    let topic: (&str, &[&str]) = ("actuator_outputs", &["output[8]"]);
    let bytes = made::flight_with(parameters, &[topic], |_| vec![(0, outputs.to_vec())]);
    let recording = read(&bytes, &STRICT).unwrap();
    let motors = recording.frames.get(100).unwrap().motors.to_vec();
    (recording, motors)
}

/// Servos and passed through channels follow the motors of a mixer: the type of vehicle tells how many of these there are.
#[test]
fn only_the_motors_among_the_outputs_are_read() {
    // Half of the throttle, a quarter; a servo, a payload that is off.
    let outputs = [1500.0, 1250.0, 900.0, 1500.0, 1500.0, 1500.0, 1500.0, 0.0];
    let thrusts = [0.5, 0.25, f64::NAN, 0.5, 0.5, 0.5, 0.5, f64::NAN];
    for (kind, count) in [(2.0, 4), (13.0, 6), (14.0, 8), (15.0, 3)] {
        let (recording, motors) = with_outputs(&[("MAV_TYPE", kind)], outputs);
        assert_eq!(recording.motors.unwrap().count, count);
        assert_eq!(format!("{motors:?}"), format!("{:?}", &thrusts[..count]));
        let source = "actuator_outputs (1000 to 2000 us, THR_MDL_FAC 0)";
        assert_eq!(note(&recording.notes, "motors"), Some(source));
        let missing = note(&recording.notes, "missing topics").unwrap();
        assert!(
            missing.starts_with("actuator_motors, trajectory"),
            "{missing}"
        );
    }
    // The count of the allocation is better.
    let known = [("MAV_TYPE", 2.0), ("CA_ROTOR_COUNT", 5.0)];
    assert_eq!(with_outputs(&known, outputs).1.len(), 5);
    // The first outputs of a coaxial helicopter are servos; vehicles that take off vertically differ.
    for (parameters, told) in [
        (
            &[("MAV_TYPE", 3.0)][..],
            "vehicles with MAV_TYPE 3 differ in this",
        ),
        (
            &[("MAV_TYPE", 22.0)],
            "vehicles with MAV_TYPE 22 differ in this",
        ),
        (&[], "the log has neither CA_ROTOR_COUNT nor MAV_TYPE"),
    ] {
        let (recording, motors) = with_outputs(parameters, outputs);
        assert!(recording.motors.is_none() && motors.is_empty());
        let expected = format!("not read: which of actuator_outputs are motors is unknown; {told}");
        assert_eq!(note(&recording.notes, "motors"), Some(expected.as_str()));
    }
    // Without either topic, both are missing.
    let recording = read(&made::flight_with(&[], &[], |_| Vec::new()), &STRICT).unwrap();
    let missing = note(&recording.notes, "missing topics").unwrap();
    assert!(
        missing.starts_with("actuator_motors, actuator_outputs, trajectory"),
        "{missing}"
    );
    assert_eq!(note(&recording.notes, "motors"), Some("not in the log"));
}

/// DShot counts from 1 to 1999, from `DSHOT_MIN` on where the motors run, and 0 is disarmed.
#[test]
fn outputs_are_read_in_their_own_unit() {
    let half = f32::midpoint(109.0, 1999.0);
    let shot = [
        ("MAV_TYPE", 2.0),
        ("DSHOT_CONFIG", 600.0),
        ("DSHOT_MIN", 0.055),
    ];
    let outputs = [109.0, half, 1999.0, 0.0, 0.0, 0.0, 0.0, 0.0];
    let (recording, motors) = with_outputs(&shot, outputs);
    assert_eq!(format!("{motors:?}"), "[0.0, 0.5, 1.0, NaN]");
    let source = "actuator_outputs (109 to 1999 of DShot, THR_MDL_FAC 0)";
    assert_eq!(note(&recording.notes, "motors"), Some(source));
    // Without a smallest throttle, from 1 on.
    let outputs = [1.0, 1000.0, 1999.0, 0.0, 0.0, 0.0, 0.0, 0.0];
    let (_, motors) = with_outputs(&shot[..2], outputs);
    assert_eq!(format!("{motors:?}"), "[0.0, 0.5, 1.0, NaN]");
    // Neither DShot nor pulses, as those of an ESC on a bus: what a servo behind the motors does is no matter.
    for (value, servo, is_read) in [
        (4000.0, 1500.0, false),
        (300.0, 1500.0, false),
        (1900.0, 9.0, true),
    ] {
        let outputs = [value, value, value, value, servo, 0.0, 0.0, 0.0];
        let (recording, motors) = with_outputs(&shot[..1], outputs);
        assert_eq!(
            (recording.motors.is_some(), motors.len() == 4),
            (is_read, is_read)
        );
        if !is_read {
            let told = "not read: actuator_outputs are neither pulses of 800 to 2200 us nor DShot (DSHOT_CONFIG)";
            assert_eq!(note(&recording.notes, "motors"), Some(told));
        }
    }
}

/// PX4's body axes point down and to the right, and rotors up unless their airframe or their parameters say otherwise.
#[test]
fn motors_have_positions_and_axes() {
    let geometry = |more: &[(&str, f32)]| {
        let rotors = [
            ("CA_ROTOR_COUNT", 2.0),
            ("CA_ROTOR0_PX", 1.0),
            ("CA_ROTOR0_PY", 2.0),
            ("CA_ROTOR0_PZ", 3.0),
            ("CA_ROTOR0_KM", 0.5),
            ("CA_ROTOR1_PX", -1.0),
            ("CA_ROTOR1_PY", 0.0),
            ("CA_ROTOR1_KM", -0.5),
        ];
        let bytes = made::flight_with(
            &[&rotors, more].concat(),
            &[("actuator_motors", &["control[2]"])],
            |_| vec![(0, vec![0.5, 0.5])],
        );
        read(&bytes, &STRICT).unwrap().motors.unwrap().geometry
    };
    let up = [0.0, 0.0, 1.0];
    let plain = geometry(&[]);
    let first = fly_log::MotorGeometry {
        z: -3.0,
        ..fly_log::MotorGeometry::upright([1.0, -2.0], -0.5)
    };
    let second = fly_log::MotorGeometry::upright([-1.0, 0.0], 0.5);
    assert_eq!(plain, [first, second]);
    assert!(plain.iter().all(|motor| motor.axis == up && motor.lifts()));
    // Only the direction counts.
    let axis = [
        ("CA_ROTOR0_AX", 4.0),
        ("CA_ROTOR0_AY", 3.0),
        ("CA_ROTOR0_AZ", 0.0),
    ];
    let leaning = geometry(&axis);
    assert_close(&leaning[0].axis, &[0.8, -0.6, 0.0], 1e-12, "axis");
    assert_eq!((leaning[0].lifts(), leaning[1].axis), (false, up));
    for (airframe, expected) in [(0.0, [0.8, -0.6, 0.0]), (1.0, [1.0, 0.0, 0.0]), (4.0, up)] {
        let of_airframe = geometry(&[&axis[..], &[("CA_AIRFRAME", airframe)]].concat());
        assert_close(
            &of_airframe[0].axis,
            &expected,
            1e-12,
            "axis of the airframe",
        );
    }
    // PX4 ignores a rotor without an axis: what the others do is unknown then.
    assert_eq!(geometry(&[("CA_ROTOR1_AZ", 0.0)]), []);
}

/// PX4 computes outputs of motors that are not armed.
#[test]
fn motors_are_off_while_they_are_not_armed() {
    let topics: [(&str, &[&str]); 2] = [
        ("actuator_motors", &["control[2]"]),
        ("actuator_armed", &["armed"]),
    ];
    // Armed from 1 s to 3 s; told when it changes, and now and then.
    let bytes = made::flight_with(&[("CA_ROTOR_COUNT", 2.0)], &topics, |k| {
        let armed = f32::from(u8::from((50..150).contains(&k)));
        let mut rows = vec![(0, vec![0.25, 0.5])];
        if k % 25 == 0 {
            rows.push((1, vec![armed]));
        }
        rows
    });
    let recording = read(&bytes, &STRICT).unwrap();
    for k in 0..200 {
        let motors = recording.frames.get(k).unwrap().motors;
        if (50..150).contains(&k) {
            assert_close(motors, &[0.25, 0.5], 1e-6, "armed");
        } else {
            assert!(motors.iter().all(|motor| motor.is_nan()), "{k}: {motors:?}");
        }
    }
}

/// PX4 has -1 for a charge that it does not know, and no voltage where it does not measure it.
#[test]
fn a_battery_is_valid_where_voltage_and_charge_are_known() {
    let topic: (&str, &[&str]) = ("battery_status", &["voltage_v", "remaining"]);
    let battery = |values: [f32; 2]| {
        let bytes = made::flight_with(&[], &[topic], |_| vec![(0, values.to_vec())]);
        let recording = read(&bytes, &STRICT).unwrap();
        let index = recording.description.find_group("battery").unwrap();
        let valid = recording.frames.get(100).unwrap().groups[index].valid;
        (valid, group(&recording, 100, "battery"))
    };
    assert_eq!(battery([15.5, 0.5]), (true, vec![15.5, 0.5]));
    // The other one is there, and is not valid by itself.
    for (told, known) in [
        ([15.5, -1.0], [Some(15.5), None]),
        ([0.0, 0.5], [None, Some(0.5)]),
        ([-1.0, 0.5], [None, Some(0.5)]),
        ([0.0, -1.0], [None, None]),
        ([f32::NAN, 2.0], [None, None]),
    ] {
        let (valid, found) = battery(told);
        let found: Vec<_> = found
            .into_iter()
            .map(|value| Some(value).filter(|v| v.is_finite()))
            .collect();
        assert_eq!((valid, found), (false, known.to_vec()), "{told:?}");
    }
}

/// Of the columns those of sensors have stamps, which are columns themselves.
#[test]
fn columns_of_sensors_have_stamps() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("flight.ulg");
    std::fs::write(&path, made::flight_with(&[], &[], |_| Vec::new())).unwrap();
    let rows = Rows::open(&path, &STRICT).unwrap();
    let columns = rows.columns();
    let stamp = |name: &str| {
        let column = columns.iter().position(|column| column.name == name);
        let stamp = rows.stamp_of(column.unwrap())?;
        Some(columns[stamp].name.as_str())
    };
    assert_eq!(stamp("pose.position.z"), Some("stamp.pose.position"));
    assert_eq!(stamp("pose.quaternion.w"), Some("stamp.pose.quaternion"));
    assert_eq!(stamp("time"), None);
    assert_eq!(stamp("stamp.pose.position"), None);
}

#[test]
fn garbage_in_the_middle_is_skipped_and_counted() {
    let mut bytes = made::head();
    for k in 0..200 {
        bytes.extend(made::tick(k));
        if k == 50 || k == 120 {
            bytes.extend([0xff; 33]);
        }
    }
    let recording = read(&bytes, &STRICT).unwrap();
    assert_eq!(recording.skipped, ["2 corrupt places, 66 bytes"]);
    assert_eq!(recording.frames.len(), 200);
    assert!(
        recording
            .frames
            .iter()
            .all(|frame| frame.groups[..4].iter().all(|group| group.valid))
    );
}

/// A flipped bit in the kind or the length of a sample costs this sample, and is told.
#[test]
fn a_flipped_bit_costs_its_record() {
    let place = made::flight(100).len();
    for bit in 0..24 {
        let mut bytes = made::flight(200);
        bytes[place + bit / 8] ^= 1 << (bit % 8);
        let recording = read(&bytes, &STRICT).unwrap();
        assert_eq!(recording.skipped.len(), 1, "{bit}: {:?}", recording.skipped);
        assert_eq!(recording.frames.len(), 200);
        let is_whole =
            |frame: fly_log::recording::Frame<'_>| frame.groups[..4].iter().all(|g| g.valid);
        assert!(recording.frames.iter().all(is_whole), "{bit}");
        assert_eq!(note(&recording.notes, "dropouts"), None, "{bit}");
    }
}

/// Sectors of noise: what is intact behind them is read, and what is not is counted.
#[test]
fn noise_costs_only_what_it_covers() {
    let whole = made::flight(2000);
    let mut state = 1_u32;
    let mut random = || {
        state = state.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
        state >> 16
    };
    for _ in 0..100 {
        let mut bytes = whole.clone();
        let place = bytes.len() / 4 + random() as usize % (bytes.len() / 4);
        for byte in &mut bytes[place..place + 512] {
            *byte = random().to_le_bytes()[0];
        }
        let recording = read(&bytes, &STRICT).unwrap();
        assert_eq!(recording.frames.len(), 2000);
        // Four ticks are 592 bytes: nothing is missing for longer than is interpolated across.
        let is_whole =
            |frame: fly_log::recording::Frame<'_>| frame.groups[..4].iter().all(|g| g.valid);
        assert!(recording.frames.iter().all(is_whole), "{place}");
        assert_eq!(note(&recording.notes, "dropouts"), None, "{place}");
        // The time of a sample may be noise, too.
        let told = &recording.skipped[0];
        let bytes: usize = (told.strip_prefix("1 corrupt places, "))
            .and_then(|rest| rest.strip_suffix(" bytes")?.parse().ok())
            .expect(told);
        assert!((400..=800).contains(&bytes), "{place}: {told}");
    }
}

/// The format asks readers to ignore kinds of records that they do not know.
#[test]
fn records_of_the_formats_future_are_no_damage() {
    let mut bytes = made::head();
    for (k, unknown) in (0..200).zip([0, 1, 2].into_iter().cycle()) {
        bytes.extend(made::tick(k));
        bytes.extend(made::record(b'Z', b"hello").repeat(unknown));
    }
    let recording = read(&bytes, &STRICT).unwrap();
    assert!(recording.skipped.is_empty(), "{:?}", recording.skipped);
    assert_eq!(recording.frames.len(), 200);
}

#[test]
fn a_gap_makes_the_groups_invalid_and_nothing_up() {
    let mut bytes = made::head();
    for k in (0..100).chain(150..250) {
        bytes.extend(made::tick(k));
    }
    let recording = read(&bytes, &STRICT).unwrap();
    assert_eq!(recording.frames.len(), 250);
    let frame = recording.frames.get(125).unwrap();
    assert!(frame.groups.iter().all(|group| !group.valid));
    assert!(frame.values.iter().all(|value| value.is_nan()));
    assert_eq!(frame.status, Status::None);
    assert!(
        recording.frames.get(150).unwrap().groups[..4]
            .iter()
            .all(|group| group.valid)
    );
}

/// Position and attitude are lost for 65 s, and all topics for ten minutes: everything after it counts.
#[test]
fn data_after_a_long_gap_are_kept() {
    let mut bytes = made::head();
    for k in (0..100).chain(3350..3450).chain(33_500..33_700) {
        bytes.extend(made::tick(k));
    }
    let recording = read(&bytes, &STRICT).unwrap();
    assert!(recording.skipped.is_empty(), "{:?}", recording.skipped);
    assert_eq!(recording.frames.len(), 33_700);
    let is_valid = |k| {
        let groups = recording.frames.get(k).unwrap().groups;
        groups[..4].iter().all(|group| group.valid)
    };
    let valid: Vec<usize> = (0..33_700).filter(|&k| is_valid(k)).collect();
    assert_eq!(valid.len(), 400);
    // It flies straight on, and nothing is smoothed across a gap.
    for k in valid {
        let [flown, reference] =
            ["pose.position", "setpoint.position"].map(|of| group(&recording, k, of));
        assert_close(&reference, &flown, 1e-3, "reference");
    }
    assert_close(
        &group(&recording, 33_600, "pose.position"),
        &[672.0, -2.0, 3.0],
        1e-3,
        "position",
    );
}

/// Times that are years apart cannot be right.
#[test]
fn samples_of_another_time_are_told() {
    let mut bytes = made::head();
    for k in (0..100).chain(10_000_000_000..10_000_000_050) {
        bytes.extend(made::tick(k));
    }
    let recording = read(&bytes, &STRICT).unwrap();
    assert_eq!(recording.frames.len(), 100);
    let topics = made::TOPICS[..3].iter().map(|(topic, _)| {
        format!(
            "{topic}: 50 samples left out, stamped 200000000.000 s to 200000000.980 s: more than 4 hours from the others"
        )
    });
    assert_eq!(recording.skipped, topics.collect::<Vec<_>>());
}

/// The clock stands still for half a second: of the samples with one time, one is used.
#[test]
fn samples_with_the_times_of_others_are_told() {
    let mut bytes = made::head();
    for k in 0..200 {
        let mut tick = made::tick(k);
        if (100..125).contains(&k) {
            tick[5..13].copy_from_slice(&u64::to_le_bytes(3_000_000));
        }
        bytes.extend(tick);
    }
    let recording = read(&bytes, &STRICT).unwrap();
    let told = "vehicle_local_position: 24 samples left out, stamped 2.000 s to 2.000 s: others have the same times";
    assert_eq!(recording.skipped, [told]);
}

/// The clock is set back by 3 s: the longer part counts, not a mixture of both.
#[test]
fn a_clock_that_runs_backwards_is_told() {
    let until = |ticks: u64, more: std::ops::Range<u64>| {
        let mut bytes = made::flight(ticks);
        let place = bytes.len();
        bytes.extend(more.flat_map(made::tick));
        (read(&bytes, &STRICT).unwrap(), place)
    };
    for (ticks, more, frames, lost) in [
        (
            250,
            101..350,
            250,
            "249 samples left out, stamped 2.020 s to 6.980 s",
        ),
        (
            250,
            101..400,
            299,
            "250 samples left out, stamped -2.020 s to 2.960 s",
        ),
    ] {
        let (recording, place) = until(ticks, more);
        assert_eq!(recording.frames.len(), frames);
        let skipped = &recording.skipped;
        assert_eq!(skipped.len(), 5, "{skipped:?}");
        let setback = format!("time runs backwards by 2.960 s at byte {place}");
        assert_eq!(skipped[0], setback);
        let position = skipped
            .iter()
            .find(|line| line.starts_with("vehicle_local_position"));
        let first = if frames == 250 {
            place
        } else {
            made::head().len()
        };
        let expected = format!(
            "vehicle_local_position: {lost}, the first at byte {first}: time runs backwards by up to 2.960 s"
        );
        assert_eq!(position, Some(&expected));
    }
}

/// Parts of the file are out of order, but no two samples have the same time.
#[test]
fn parts_out_of_order_are_all_read() {
    let mut bytes = made::head();
    for k in (150..250).chain(0..100) {
        bytes.extend(made::tick(k));
    }
    let recording = read(&bytes, &STRICT).unwrap();
    assert_eq!(recording.frames.len(), 250);
    let skipped = &recording.skipped;
    assert!(
        skipped.len() == 1 && skipped[0].starts_with("time runs backwards by 4.980 s"),
        "{skipped:?}"
    );
    let is_valid = |k| recording.frames.get(k).unwrap().groups[0].valid;
    assert_eq!((0..250).filter(|&k| is_valid(k)).count(), 200);
}

/// Neighbours with corrupt time stamps, in the future or in the past, cost only themselves.
#[test]
fn corrupt_time_stamps_cost_only_their_samples() {
    for (stamp, count, place) in [10, 40_000_000, 1 << 50, u64::MAX]
        .into_iter()
        .flat_map(|stamp| [1, 2, 4].map(|count| (stamp, count)))
        .flat_map(|(stamp, count)| [0, 100, 200 - count].map(|place| (stamp, count, place)))
    {
        let what = format!("{count} of {stamp} us at {place}");
        let mut bytes = made::head();
        for k in 0..200 {
            let mut tick = made::tick(k);
            if (place..place + count).contains(&k) {
                // The position's record is the first one: length, kind and number precede its time.
                let stamp = stamp.saturating_add(1000 * (k - place));
                tick[5..13].copy_from_slice(&u64::to_le_bytes(stamp));
            }
            bytes.extend(tick);
        }
        let recording = read(&bytes, &STRICT).unwrap();
        let at_an_end = place != 100;
        let frames = recording.frames.len() as u64;
        let least = if at_an_end { 200 - count } else { 200 };
        assert!((least..=200).contains(&frames), "{what}: {frames}");
        let is_invalid = |frame: &fly_log::recording::Frame<'_>| !frame.groups[0].valid;
        // The first and the last samples have no neighbours to interpolate to.
        let most = if at_an_end { count } else { 0 };
        let invalid = recording.frames.iter().filter(is_invalid).count() as u64;
        assert!(invalid <= most, "{what}: {invalid}");
        // At the ends, any time that is not absurd may be true.
        let is_unordered = if stamp < 1_000_000 {
            place > 0
        } else {
            place + count < 200
        };
        let expected = usize::from(is_unordered || stamp > 1 << 40);
        let skipped = &recording.skipped;
        assert_eq!(skipped.len(), expected, "{what}: {skipped:?}");
    }
}

#[test]
fn a_cut_log_is_an_error_with_its_place_unless_allowed() {
    let whole = made::flight(200);
    let cut = &whole[..whole.len() - 10];
    let Err(LogError::Truncated { offset, frames, .. }) = read(cut, &STRICT) else {
        panic!()
    };
    let last = 3 + 2 + 8 + 8 * 4;
    assert_eq!(
        (usize::try_from(offset).unwrap(), frames),
        (whole.len() - last, 200)
    );
    let recording = read(cut, &LENIENT).unwrap();
    assert_eq!(
        recording.skipped,
        [format!("a truncated record at byte {offset}")]
    );
}

#[test]
fn a_log_without_what_a_frame_needs_names_it() {
    let text = read(&made::head(), &STRICT).unwrap_err().to_string();
    assert!(
        text.starts_with(
            "`log.ulg` cannot be read: it needs vehicle_local_position, vehicle_attitude"
        ),
        "{text}"
    );
    assert!(text.contains("it lacks vehicle_local_position, vehicle_attitude, vehicle_angular_velocity, actuator_motors"), "{text}");
}

#[test]
fn a_topic_of_another_instance_is_told() {
    let mut bytes = made::head();
    // The instance of the first subscription stands before the number and the name.
    let name = b"\0\0\0vehicle_local_position";
    let place = bytes.windows(name.len()).position(|window| window == name);
    bytes[place.unwrap()] = 1;
    bytes.extend((0..50).flat_map(made::tick));
    let text = read(&bytes, &STRICT).unwrap_err().to_string();
    assert!(
        text.contains("it lacks vehicle_local_position (only instance 1 of it is logged), "),
        "{text}"
    );
}

/// The format asks readers to refuse flags that they do not know.
#[test]
fn a_log_of_a_later_format_is_refused() {
    // Magic, version and start; length and kind; compatible flags: then the incompatible ones.
    for (byte, flags, unknown) in [(27, 0x01, 0), (27, 0x81, 0x80), (34, 0x04, 0x04)] {
        let mut bytes = made::flight(50);
        bytes[byte] = flags;
        match read(&bytes, &LENIENT) {
            Ok(_) => assert_eq!(unknown, 0),
            Err(LogError::Flags { offset, bits, .. }) => {
                assert_eq!((usize::try_from(offset).unwrap(), bits), (byte, unknown));
            }
            Err(error) => panic!("{error}"),
        }
    }
}

/// All truncations of a small log, and all its bytes changed, each in one of three ways: a result, never a panic.
#[test]
fn nothing_that_is_broken_panics() {
    let whole = made::flight(25);
    let (mut read_anyway, mut refused) = (0, 0);
    let mut check = |bytes: &[u8]| match read(bytes, &LENIENT) {
        Ok(recording) => {
            assert!(recording.frames.len() < 1_000_000);
            read_anyway += 1;
        }
        Err(_) => refused += 1,
    };
    for length in 0..whole.len() {
        check(&whole[..length]);
    }
    for i in 0..whole.len() {
        let mut bytes = whole.clone();
        bytes[i] ^= [0x01, 0x80, 0xff][i % 3];
        check(&bytes);
    }
    assert!(
        read_anyway > 1000 && refused > 1000,
        "{read_anyway} read, {refused} refused"
    );
}

/// A log that is not part of the project.
fn foreign(name: &str) -> Option<PathBuf> {
    let folder = std::env::var_os("FLY_LOGS_DIR").map_or_else(
        || Path::new(env!("CARGO_MANIFEST_DIR")).join("../../../shared/logs"),
        PathBuf::from,
    );
    let path = folder.join(name);
    if path.exists() {
        return Some(path);
    }
    let path = path.display();
    fly_testing::skip(format!(
        "{path}; FLY_LOGS_DIR names the folder of the sample logs"
    ));
    None
}

/// Expected values of one frame, computed with numpy from pyulog 1.2's data by the documented interpolation.
struct Expected {
    frame: usize,
    time: i64,
    position: [f64; 3],
    quaternion: [f64; 4],
    velocity: [f64; 3],
    rates: [f64; 3],
    motors: [f64; 4],
    battery: f64,
    attitude_setpoint: [f64; 4],
}

fn check(recording: &Recording, expected: &Expected) {
    let k = expected.frame;
    assert_eq!(recording.frames.times()[k], expected.time);
    assert_close(
        &group(recording, k, "pose.position"),
        &expected.position,
        1e-9,
        "position",
    );
    assert_close(
        &group(recording, k, "pose.quaternion"),
        &expected.quaternion,
        1e-9,
        "attitude",
    );
    assert_close(
        &group(recording, k, "twist.linear"),
        &expected.velocity,
        1e-9,
        "velocity",
    );
    assert_close(
        &group(recording, k, "twist.angular"),
        &expected.rates,
        1e-9,
        "rates",
    );
    assert_close(
        &group(recording, k, "battery")[..1],
        &[expected.battery],
        1e-5,
        "battery",
    );
    assert_close(
        &group(recording, k, "setpoint.quaternion"),
        &expected.attitude_setpoint,
        1e-9,
        "attitude setpoint",
    );
    assert_close(
        &recording.frames.get(k).unwrap().motors[..4],
        &expected.motors,
        1e-9,
        "motors",
    );
}

/// North at 2 m/s and 3 m/s², as PX4 up to 1.13 wrote it; the controller's output beside it adds feedback.
#[test]
fn old_setpoints_are_those_of_the_trajectory() {
    let motion: &[&str] = &["x", "y", "z", "vx", "vy", "vz", "acceleration[3]"];
    let topics = [
        ("trajectory_setpoint", motion),
        ("vehicle_local_position_setpoint", motion),
    ];
    let wanted = |x: f32| vec![x, 1.0, -3.0, 2.0, 0.0, -0.5, 3.0, 0.0, -1.0];
    let output = |x: f32| vec![x, 1.0, -3.0, 9.0, 9.0, 9.0, 0.0, 0.0, 0.0];
    let rows = |k: u64| {
        let x = 0.04 * k as f32;
        vec![(0, wanted(x)), (1, output(x))]
    };
    let recording = read(&made::flight_with(&[], &topics, rows), &STRICT).unwrap();
    let values = |recording: &Recording, of: &str| group(recording, 100, of);
    let position = [4.0, -1.0, 3.0];
    assert_close(
        &values(&recording, "setpoint.position"),
        &position,
        1e-6,
        "position",
    );
    assert_close(
        &values(&recording, "setpoint.velocity"),
        &[2.0, 0.0, 0.5],
        1e-6,
        "velocity",
    );
    assert_close(
        &values(&recording, "setpoint.acceleration"),
        &[3.0, 0.0, 1.0],
        1e-6,
        "acceleration",
    );
    let told = note(&recording.notes, "setpoints").unwrap();
    assert!(told.starts_with("position: logged; "), "{told}");

    // The output alone has the position: the velocity of the feedback is nobody's setpoint, and that of the flown path stays.
    let rows = |k: u64| vec![(0, output(0.04 * k as f32))];
    let recording = read(&made::flight_with(&[], &topics[1..], rows), &STRICT).unwrap();
    assert_close(
        &values(&recording, "setpoint.position"),
        &position,
        1e-6,
        "position",
    );
    let flown = read(&made::flight_with(&[], &[], |_| Vec::new()), &STRICT).unwrap();
    for of in ["setpoint.velocity", "setpoint.acceleration"] {
        assert_eq!(values(&recording, of), values(&flown, of), "{of}");
        let index = recording.description.find_group(of).unwrap();
        assert!(
            recording.frames.get(100).unwrap().groups[index].valid,
            "{of}"
        );
    }
    let told = note(&recording.notes, "setpoints").unwrap();
    let expected = "position: logged (of vehicle_local_position_setpoint, whose velocity is the controller's output: velocity and \
        acceleration are those of the smoothed flown path); attitude: smoothed flown path";
    assert_eq!(told, expected);
}

#[test]
fn a_real_quadrotor_agrees_with_pyulog() {
    let Some(path) = foreign("px4ulogrs_quadrotor_local.ulg") else {
        return;
    };
    let recording = Recording::open(path, &STRICT).unwrap();
    assert_eq!(recording.frames.len(), 4621);
    assert!((recording.duration() - 92.382_019).abs() < 1e-6);
    check(
        &recording,
        &Expected {
            frame: 1000,
            time: 19_996_108_000,
            position: [
                15.879_723_709_961_354,
                -5.841_125_363_914_113,
                1.929_957_508_409_047_2,
            ],
            quaternion: [
                0.962_738_272_811_793_8,
                0.007_703_208_926_273_336,
                -0.009_351_627_892_932_318,
                -0.270_163_331_507_727_71,
            ],
            velocity: [
                2.664_170_214_373_571_7,
                0.051_351_202_611_998_21,
                0.372_492_827_281_742_7,
            ],
            rates: [
                -0.056_222_915_200_333_595,
                -0.000_126_289_978_067_233_02,
                0.045_914_321_484_188_83,
            ],
            motors: [
                0.752_809_252_352_705,
                0.742_976_779_469_253_7,
                0.585_978_578_730_570_9,
                0.601_226_598_340_428,
            ],
            battery: 29.279_032,
            attitude_setpoint: [
                0.962_751_001_330_589_4,
                0.005_869_505_732_697_496,
                -0.006_637_793_319_584_451,
                -0.270_244_330_262_908_23,
            ],
        },
    );
    let motors = recording.motors.as_ref().unwrap();
    assert_eq!((motors.count, motors.geometry.len()), (4, 4));
    assert!((motors.hover.unwrap() - 0.656_899_75).abs() < 1e-7);
    // PX4's motor 0 is in front on the right and turns counter-clockwise.
    assert!(
        motors.geometry[0].x > 0.0
            && motors.geometry[0].y < 0.0
            && motors.geometry[0].yaw_ratio < 0.0
    );
    let note = |name| note(&recording.notes, name);
    assert_eq!(
        note("setpoints"),
        Some("position: smoothed flown path; attitude: logged")
    );
    assert_eq!(group(&recording, 1000, "setpoint"), [2.0]);
    assert_eq!(note("missing topics"), None);
}

#[test]
fn a_simulated_take_off_agrees_with_pyulog() {
    let Some(path) = foreign("pyulog_sample_px4_events.ulg") else {
        return;
    };
    let recording = Recording::open(path, &STRICT).unwrap();
    assert_eq!(recording.frames.len(), 1551);
    check(
        &recording,
        &Expected {
            frame: 1000,
            time: 19_987_154_000,
            position: [
                0.035_104_741_861_253_175,
                0.014_958_862_924_760_87,
                0.736_754_082_011_298,
            ],
            quaternion: [
                0.999_931_433_532_017_5,
                0.002_529_902_607_950_632,
                -0.002_907_240_213_550_315,
                -0.011_057_838_022_842_716,
            ],
            velocity: [
                0.023_687_107_456_816_296,
                0.012_097_874_220_614_153,
                1.029_554_280_156_312,
            ],
            rates: [
                9.436_942_781_321_667e-5,
                -0.007_173_200_852_237_642,
                0.003_779_698_546_370_491,
            ],
            motors: [
                0.490_839_140_437_245_36,
                0.492_171_576_735_377_3,
                0.492_275_347_541_570_65,
                0.492_696_102_000_474_9,
            ],
            battery: 16.047_972,
            attitude_setpoint: [
                0.999_927_593_174_619_7,
                0.002_785_000_314_092_511_3,
                -0.003_817_881_396_501_812_3,
                -0.011_066_885_872_064_19,
            ],
        },
    );
    let position = group(&recording, 1000, "setpoint.position");
    assert_close(
        &position,
        &[
            0.019_411_074_773_278_088,
            -0.002_114_816_331_185_866_3,
            0.767_855_347_007_513,
        ],
        1e-9,
        "setpoint",
    );
    assert_eq!(group(&recording, 1000, "setpoint"), [0.0]);
    // From boot on PX4 publishes outputs of up to 0.002. By pyulog it is armed 742.9 frames after the first one, and disarmed after 1503.6.
    let runs: Vec<usize> = (0..1551)
        .filter(|&k| recording.frames.get(k).unwrap().motors[0].is_finite())
        .collect();
    assert_eq!(
        (runs[0], runs[runs.len() - 1], runs.len()),
        (743, 1503, 761)
    );
}

#[test]
fn a_corrupt_log_is_read_as_far_as_it_makes_sense() {
    let Some(path) = foreign("px4ulogrs_corrupt_format_not_utf8.ulg") else {
        return;
    };
    let recording = Recording::open(path, &STRICT).unwrap();
    let skipped = &recording.skipped;
    assert_eq!(skipped.len(), 2, "{skipped:?}");
    // Its parts are out of order.
    assert!(
        skipped[1].starts_with("time runs backwards at 2 places, the first at byte "),
        "{skipped:?}"
    );
    assert!(skipped[1].ends_with(", by up to 243.785 s"), "{skipped:?}");
    assert!((recording.duration() - 291.3).abs() < 1.0);
    let missing = recording
        .notes
        .iter()
        .find(|(key, _)| key == "missing topics")
        .map(|(_, text)| text.as_str());
    let expected = "trajectory_setpoint, vehicle_local_position_setpoint, vehicle_attitude_setpoint, vehicle_rates_setpoint, hover_thrust_estimate";
    assert_eq!(missing, Some(expected));
}

/// The rate of a logged attitude is that of its own run: neither of what it jumps to with the estimator nor of the flown attitude where it is not logged.
#[test]
fn nothing_turns_at_a_jump_of_the_estimator_or_the_end_of_setpoints() {
    let bytes = made::flight_with_attitude_setpoints();
    let recording = read(&bytes, &STRICT).unwrap();
    // Right about down at 0.5 rad/s, rolled by 0.4 rad: in body axes (forward, left, up).
    let expected = [0.0, -0.5 * 0.4_f64.sin(), -0.5 * 0.4_f64.cos()];
    assert_eq!(recording.frames.len(), 400);
    for k in (50..=150).chain(200..400) {
        let rate = group(&recording, k, "setpoint.angular_velocity");
        assert_close(&rate, &expected, 1e-3, &format!("frame {k}"));
    }
}

/// The estimator resets by 10 m at tick 100; the log's counters record it.
#[test]
fn nothing_is_smoothed_across_a_jump_of_the_estimator() {
    let mut bytes = made::head_with_resets();
    for k in 0..200 {
        bytes.extend(made::tick_with_resets(k, if k < 100 { 0.0 } else { 10.0 }));
    }
    let recording = read(&bytes, &STRICT).unwrap();
    for k in 0..200 {
        let position = group(&recording, k, "pose.position");
        assert_close(
            &group(&recording, k, "setpoint.position"),
            &position,
            1e-4,
            &format!("tick {k}"),
        );
    }
    let x = |k| group(&recording, k, "pose.position")[0];
    assert!(x(100) - x(99) > 9.9, "the test has no jump");
}

/// The estimator corrects its velocity by 5 m/s, and not its position: the frames between two samples belong to one of
/// them.
#[test]
fn nothing_is_interpolated_across_a_jump_of_the_velocity() {
    let bytes = made::flight_with_a_jump_of_velocity(100);
    let recording = read(&bytes, &STRICT).unwrap();
    let speed = |k| {
        let velocity = group(&recording, k, "twist.linear");
        velocity[0].hypot(velocity[1])
    };
    assert_eq!(recording.frames.len(), 196);
    for k in 0..196 {
        let expected = if k < 98 { 1.0 } else { 6.0 };
        assert!((speed(k) - expected).abs() < 1e-5, "{k}: {}", speed(k));
        let x = group(&recording, k, "pose.position")[0];
        assert!((x - k as f64 * 0.02).abs() < 0.05, "{k}: {x}");
    }
}
