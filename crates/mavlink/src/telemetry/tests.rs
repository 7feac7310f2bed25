use super::*;
use crate::dialect::{ATTITUDE_DATA, ATTITUDE_QUATERNION_DATA, LOCAL_POSITION_NED_DATA};

const MS: i64 = 1_000_000;

fn attitude_quaternion(time_boot_ms: u32, q: [f32; 4]) -> MavMessage {
    let [q1, q2, q3, q4] = q;
    let (rollspeed, pitchspeed, yawspeed) = (0.1, 0.2, 0.3);
    MavMessage::ATTITUDE_QUATERNION(ATTITUDE_QUATERNION_DATA {
        time_boot_ms,
        q1,
        q2,
        q3,
        q4,
        rollspeed,
        pitchspeed,
        yawspeed,
        ..ATTITUDE_QUATERNION_DATA::default()
    })
}

fn position(time_boot_ms: u32, x: f32) -> MavMessage {
    MavMessage::LOCAL_POSITION_NED(LOCAL_POSITION_NED_DATA {
        time_boot_ms,
        x,
        y: 2.0,
        z: -3.0,
        vx: 4.0,
        vy: 5.0,
        vz: -6.0,
    })
}

#[track_caller]
fn close<const N: usize>(a: [f64; N], b: [f64; N]) {
    for (x, y) in a.iter().zip(b) {
        assert!((x - y).abs() < 1e-7, "{a:?} is not {b:?}");
    }
}

const LEVEL: [f32; 4] = [1.0, 0.0, 0.0, 0.0];

#[test]
fn states_arrive_in_our_frames() {
    let mut telemetry = Telemetry::default();
    // Heading east, with a quaternion that is too long.
    assert!(telemetry.take(&Received::of_vehicle(
        1000 * MS,
        attitude_quaternion(10, [1.0, 0.0, 0.0, 1.0])
    )));
    assert!(telemetry.take(&Received::of_vehicle(1005 * MS, position(12, 1.0))));
    let h = std::f64::consts::FRAC_1_SQRT_2;
    close(telemetry.attitude().unwrap().value, [h, 0.0, 0.0, -h]);
    close(
        telemetry.angular_velocity().unwrap().value,
        [0.1, -0.2, -0.3],
    );
    assert_eq!(telemetry.position().unwrap().value, [1.0, -2.0, 3.0]);
    assert_eq!(telemetry.velocity().unwrap().value, [4.0, -5.0, 6.0]);
    // North is to the left of a vehicle that heads east, and east is ahead.
    close(telemetry.body_velocity().unwrap().value, [5.0, 4.0, 6.0]);
    assert_eq!(telemetry.updates(), 2);
    // 12 ms on the vehicle's clock is, as far as known, 2 ms after the first message.
    assert_eq!(telemetry.position().unwrap().stamp, 1002 * MS);
}

#[test]
fn euler_angles_stand_in_for_a_quaternion_that_does_not_come() {
    let mut telemetry = Telemetry::default();
    let euler = |time_boot_ms| {
        MavMessage::ATTITUDE(ATTITUDE_DATA {
            time_boot_ms,
            roll: 0.3,
            ..ATTITUDE_DATA::default()
        })
    };
    assert!(telemetry.take(&Received::of_vehicle(0, euler(0))));
    let roll = 2.0 * telemetry.attitude().unwrap().value[1].asin();
    assert!((roll - 0.3).abs() < 1e-6);
    assert!(telemetry.take(&Received::of_vehicle(
        10 * MS,
        attitude_quaternion(10, LEVEL)
    )));
    assert!(
        !telemetry.take(&Received::of_vehicle(20 * MS, euler(20))),
        "the better source is alive"
    );
    assert_eq!(telemetry.attitude().unwrap().value, [1.0, 0.0, 0.0, 0.0]);
    assert!(
        telemetry.take(&Received::of_vehicle(600 * MS, euler(600))),
        "the better source has been silent for 590 ms"
    );
}

#[test]
fn messages_out_of_order_or_without_numbers_are_dropped() {
    let mut telemetry = Telemetry::default();
    assert!(telemetry.take(&Received::of_vehicle(100 * MS, position(100, 1.0))));
    assert!(!telemetry.take(&Received::of_vehicle(110 * MS, position(90, 2.0))));
    assert!(
        !telemetry.take(&Received::of_vehicle(110 * MS, position(100, 2.0))),
        "sent twice"
    );
    assert!(!telemetry.take(&Received::of_vehicle(120 * MS, position(120, f32::NAN))));
    assert!(!telemetry.take(&Received::of_vehicle(
        120 * MS,
        attitude_quaternion(120, [0.0; 4])
    )));
    assert!(!telemetry.take(&Received::of_vehicle(
        120 * MS,
        attitude_quaternion(120, [f32::INFINITY; 4])
    )));
    assert_eq!(telemetry.position().unwrap().value[0], 1.0);
    assert_eq!(telemetry.refused(), 3);
}

#[test]
fn freshness_is_by_the_measurement_and_not_by_the_arrival() {
    let mut telemetry = Telemetry::default();
    telemetry.take(&Received::of_vehicle(1000 * MS, position(0, 1.0)));
    // 10 ms newer, but 700 ms in transit.
    telemetry.take(&Received::of_vehicle(1710 * MS, position(10, 1.0)));
    let sample = telemetry.position().unwrap();
    assert_eq!(sample.stamp, 1010 * MS);
    assert!(!sample.is_fresh(1711 * MS, 500 * MS) && sample.is_fresh(1510 * MS, 500 * MS));
}

/// After 49.7 days; a message from before the wrap may be late.
#[test]
fn times_since_boot_go_on_where_their_count_wraps() {
    let mut telemetry = Telemetry::default();
    let mut restarts = Vec::new();
    let late = [0, 100, 200, 300, 250, 400, 500, 600, 700, 800, 900, 1000];
    for (at, x) in late.into_iter().zip(1_u8..) {
        let boot_ms = (u32::MAX - 260).wrapping_add(at);
        telemetry.take(&Received::of_vehicle(
            i64::from(at) * MS,
            position(boot_ms, x.into()),
        ));
        restarts.push(telemetry.restarts());
    }
    assert_eq!(restarts, [0; 12]);
    let newest = telemetry.position().unwrap();
    assert_eq!((newest.value[0], newest.stamp), (12.0, 1000 * MS));
    // After a minute of silence, and after a restart.
    telemetry.take(&Received::of_vehicle(100_000 * MS, position(99_740, 13.0)));
    assert_eq!(telemetry.restarts(), 0);
    telemetry.take(&Received::of_vehicle(102_000 * MS, position(1000, 14.0)));
    assert_eq!(telemetry.restarts(), 1);
}

#[test]
fn a_restart_makes_all_that_was_known_void() {
    let mut telemetry = Telemetry::default();
    telemetry.take(&Received::of_vehicle(60_000 * MS, position(50_000, 1.0)));
    telemetry.take(&Received::of_vehicle(
        60_010 * MS,
        attitude_quaternion(50_010, LEVEL),
    ));
    assert!(telemetry.take(&Received::of_vehicle(61_000 * MS, position(300, 0.0))));
    assert_eq!(telemetry.restarts(), 1);
    assert!(telemetry.attitude().is_none() && telemetry.body_velocity().is_none());
    assert_eq!(telemetry.position().unwrap().stamp, 61_000 * MS);
}

/// One that has been up for a minute, and one that has been for ten.
#[test]
fn two_vehicles_of_one_number_are_known_by_their_clocks() {
    let mut telemetry = Telemetry::default();
    for i in 0..10_u32 {
        let arrival = i64::from(i) * 50 * MS;
        let boot_ms = 50 * i + [60_000, 600_000][i as usize % 2];
        telemetry.take(&Received::of_vehicle(arrival, position(boot_ms, 1.0)));
        assert_eq!(telemetry.are_two(arrival), i >= 6, "{i}");
        // Nothing of the other one is believed.
        assert_eq!(telemetry.refused(), u64::from(i.div_ceil(2)));
        assert_eq!(telemetry.restarts(), 0);
    }
    assert!(!telemetry.are_two(12_000 * MS), "that was long ago");
    // One that has restarted, and tells its time twice.
    let mut telemetry = Telemetry::default();
    for (arrival, boot_ms) in [(0, 60_000), (2_000, 100), (9_000, 200)] {
        telemetry.take(&Received::of_vehicle(arrival * MS, position(boot_ms, 1.0)));
        assert!(!telemetry.are_two(arrival * MS));
    }
}

#[test]
fn batteries() {
    let mut telemetry = Telemetry::default();
    let system = SYS_STATUS_DATA {
        voltage_battery: 11_500,
        battery_remaining: -1,
        ..SYS_STATUS_DATA::default()
    };
    assert!(telemetry.take(&Received::of_vehicle(
        0,
        MavMessage::SYS_STATUS(system.clone())
    )));
    assert_eq!(
        telemetry.battery().unwrap().value,
        Battery {
            voltage: Some(11.5),
            remaining: None
        }
    );
    let mut cells = BATTERY_STATUS_DATA {
        voltages: [u16::MAX; 10],
        battery_remaining: 40,
        ..BATTERY_STATUS_DATA::default()
    };
    cells.voltages[..3].copy_from_slice(&[4000, 3900, 4100]);
    assert!(telemetry.take(&Received::of_vehicle(
        MS,
        MavMessage::BATTERY_STATUS(cells.clone())
    )));
    assert_eq!(
        telemetry.battery().unwrap().value,
        Battery {
            voltage: Some(12.0),
            remaining: Some(0.4)
        }
    );
    cells.id = 1;
    assert!(
        !telemetry.take(&Received::of_vehicle(
            2 * MS,
            MavMessage::BATTERY_STATUS(cells)
        )),
        "another battery"
    );
    let unknown = SYS_STATUS_DATA {
        voltage_battery: u16::MAX,
        battery_remaining: -1,
        ..system
    };
    assert!(!telemetry.take(&Received::of_vehicle(
        9000 * MS,
        MavMessage::SYS_STATUS(unknown)
    )));
}
