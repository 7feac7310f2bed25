//! A serial link over a pseudo-terminal.
#![cfg(all(feature = "links", unix))]

use crate::common;

use std::io::Read;
use std::time::Duration;

use common::{Flying, eventually, within};
use fly_mavlink::dialect::MavType;
use fly_mavlink::{Address, Vehicle, VehicleSettings};
use serialport::{SerialPort, TTYPort};

#[test]
fn a_vehicle_on_a_serial_port() {
    let (mut vehicle_end, mut our_end) = TTYPort::pair().unwrap();
    // The link opens the port by its name, and alone; the terminal lives as long as the vehicle's end does.
    our_end.set_exclusive(false).unwrap();
    let path = our_end.name().unwrap();
    drop(our_end);
    let address: Address = format!("serial:{path}:57600").parse().unwrap();
    let vehicle = Vehicle::open(&address, &VehicleSettings::default()).unwrap();

    vehicle_end.set_timeout(Duration::from_secs(10)).unwrap();
    let flying = Flying::start(
        MavType::MAV_TYPE_TRICOPTER,
        1,
        100,
        vehicle_end.try_clone_native().unwrap(),
    );
    let found = vehicle.find(within(10.0)).unwrap();
    found.expect_type(&[MavType::MAV_TYPE_TRICOPTER]).unwrap();
    let state = vehicle.wait(within(10.0), |state| {
        state.position().is_some() && state.attitude().is_some()
    });
    assert_eq!(state.position().unwrap().value, [2.0, -3.0, 10.0]);
    let mut first = [0];
    vehicle_end.read_exact(&mut first).unwrap();
    assert_eq!(first[0], 0xfd, "our heartbeat");
    eventually("hundred messages", || vehicle.statistics().messages > 100);
    assert_eq!(vehicle.statistics().bad_checksums, 0);
    assert_eq!(vehicle.statistics().lost, 0);

    // The device vanishes. The state goes stale, and nothing panics or spins.
    drop(flying);
    drop(vehicle_end);
    let last = vehicle.telemetry();
    let later = vehicle.wait(within(0.3), |state| state.updates() > last.updates());
    assert!(!later.position().unwrap().is_fresh(within(0.0), 200_000_000));
}
