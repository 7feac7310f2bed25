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
    for baud in [57_600, 921_600] {
        a_vehicle_at(baud);
    }
}

fn a_vehicle_at(baud: u32) {
    let (mut vehicle_end, mut our_end) = TTYPort::pair().unwrap();
    // The link opens the port by its name, and alone; the terminal lives as long as the vehicle's end does.
    our_end.set_exclusive(false).unwrap();
    let path = our_end.name().unwrap();
    drop(our_end);
    let address: Address = format!("serial:{path}:{baud}").parse().unwrap();
    let vehicle = Vehicle::open(&address, &VehicleSettings::default()).unwrap();
    let again = Vehicle::open(&address, &VehicleSettings::default());
    assert!(again.is_err(), "the port is ours alone");

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

/// A device that is pulled and put back has the same name and is another one.
#[test]
fn a_device_that_returns_is_opened_again() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("ttyACM0");
    let plug = || {
        let (vehicle_end, mut our_end) = TTYPort::pair().unwrap();
        our_end.set_exclusive(false).unwrap();
        let _ = std::fs::remove_file(&path);
        std::os::unix::fs::symlink(our_end.name().unwrap(), &path).unwrap();
        vehicle_end
    };
    let fly = |end: &TTYPort, boot_ms| {
        let kind = MavType::MAV_TYPE_QUADROTOR;
        Flying::start(kind, 1, boot_ms, end.try_clone_native().unwrap())
    };
    let first = plug();
    let address: Address = format!("serial:{}:57600", path.display()).parse().unwrap();
    let vehicle = Vehicle::open(&address, &VehicleSettings::default()).unwrap();
    let flying = fly(&first, 60_000);
    vehicle.find(within(10.0)).unwrap();
    drop(flying);
    std::fs::remove_file(&path).unwrap();
    drop(first);
    std::thread::sleep(Duration::from_millis(300));
    let second = plug();
    let _flying = fly(&second, 100);
    eventually("the state to come back", || {
        vehicle.statistics().reconnects == 1
            && vehicle
                .telemetry()
                .position()
                .is_some_and(|p| p.is_fresh(within(0.0), 300_000_000))
    });
}
