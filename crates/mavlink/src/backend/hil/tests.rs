//! A simulator that repeats its time, sets its clock back, and has a second receiver.

use std::net::TcpListener;

use fly_hal::Clock;

use crate::dialect::{HIL_ACTUATOR_CONTROLS_DATA, HIL_GPS_DATA, HIL_SENSOR_DATA, MavType};

use super::*;

const VEHICLE: &str = r#"
name = "rotor"
[bodies.frame]
joint = { type = "free" }
mass = 1.0
inertia = [0.01, 0.01, 0.01]
[[rotors]]
body = "frame"
position = [0, 0, 0]
axis = [0, 0, 1]
thrust = [0.0, 20.0]
"#;

struct Any;

impl Airframe for Any {
    const INFO: Info = Info {
        name: "any",
        version: "0",
        summary: "one rotor",
        clock: Clock::RealTime,
        signals: "",
    };
    const TYPES: &'static [MavType] = &[];
    const ROTORS: Option<usize> = None;
}

/// A vehicle, armed, and the simulator's end of its link.
fn connected() -> (HilVehicle<Any>, Wire) {
    let listener = TcpListener::bind("127.0.0.1:0").expect("a port");
    let port = listener.local_addr().expect("bound").port();
    let text = format!("command = \"hil\"\nlink = \"tcpout:127.0.0.1:{port}\"");
    let mut vehicle =
        HilVehicle::<Any>::configure(&Configuration::new(&text, VEHICLE)).expect("valid");
    vehicle.start().expect("it listens");
    vehicle.arm().expect("a simulated vehicle");
    let (stream, _) = listener.accept().expect("the vehicle");
    let identity = Identity {
        system: 2,
        component: 1,
    };
    (vehicle, Wire::new(stream, identity).expect("a link"))
}

fn sensor(time_usec: u64) -> MavMessage {
    MavMessage::HIL_SENSOR(HIL_SENSOR_DATA {
        time_usec,
        ..HIL_SENSOR_DATA::default()
    })
}

/// The next controls.
fn controls(simulator: &mut Wire) -> HIL_ACTUATOR_CONTROLS_DATA {
    let until = Instant::now() + Duration::from_secs(5);
    while let Some(message) = simulator.receive(Some(until)).expect("connected") {
        if let MavMessage::HIL_ACTUATOR_CONTROLS(controls) = message {
            return controls;
        }
    }
    panic!("no controls")
}

#[test]
fn every_sample_has_one_answer_and_time_only_advances() {
    let (mut vehicle, mut simulator) = connected();
    let mut frame = vehicle.description.frame();
    let soon = || Deadline(monotonic_now() + 1_000_000_000);
    assert_eq!(controls(&mut simulator).time_usec, 0);
    let second = MavMessage::HIL_GPS(HIL_GPS_DATA {
        fix_type: 3,
        id: 1,
        ..HIL_GPS_DATA::default()
    });
    for message in [second, sensor(7_000), sensor(7_000), sensor(9_000)] {
        simulator.queue(&message);
    }
    simulator.flush().expect("connected");
    let gnss = 9;
    for time in [1, 2_000_000] {
        let outcome = vehicle.read(soon(), &mut frame.as_mut()).expect("samples");
        assert_eq!((outcome, frame.time), (ReadOutcome::Fresh, time));
        assert!(!frame.groups[gnss].valid, "of another receiver");
        vehicle.write(0, &[5.0]).expect("connected");
    }
    for time in [7_000, 7_000, 9_000] {
        let controls = controls(&mut simulator);
        assert_eq!(controls.time_usec, time);
        assert!(controls.controls[0] > 0.0);
    }
    // A reset of the simulator, and a time that no clock has.
    simulator.queue(&sensor(0));
    simulator.flush().expect("connected");
    let error = vehicle.read(soon(), &mut frame.as_mut()).unwrap_err();
    assert!(
        error
            .to_string()
            .contains("the simulator's clock went back from 0.009 s to 0.000 s"),
        "{error}"
    );
    simulator.queue(&sensor(u64::MAX));
    simulator.queue(&sensor(u64::MAX));
    simulator.flush().expect("connected");
    vehicle.read(soon(), &mut frame.as_mut()).expect("late");
    let _ = vehicle.read(Deadline(0), &mut frame.as_mut());

    // The last word stops the motors, also after all samples had their answers and the clock went back.
    vehicle.write(0, &[5.0]).expect("connected");
    simulator.queue(&sensor(0));
    simulator.flush().expect("connected");
    vehicle.stop().expect("stopped");
    drop(vehicle);
    let until = Instant::now() + Duration::from_secs(5);
    let mut last = None;
    while let Ok(Some(message)) = simulator.receive(Some(until)) {
        if let MavMessage::HIL_ACTUATOR_CONTROLS(controls) = message {
            last = Some(controls);
        }
    }
    let last = last.expect("controls");
    assert!(
        last.controls.iter().all(|control| *control == 0.0),
        "{last:?}"
    );
    assert!(!last.mode.contains(MavModeFlag::MAV_MODE_FLAG_SAFETY_ARMED));
}
