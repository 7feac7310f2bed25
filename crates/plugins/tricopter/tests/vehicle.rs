//! The plugin against simulated message streams. The parts shared with the quadcopter are tested there.

#[path = "../../../mavlink/tests/suite/common/mod.rs"]
mod common;
#[path = "../../../mavlink/tests/suite/common/plugin.rs"]
mod plugin;

use common::Flying;
use fly_hal::{CommandSet, Configuration, ErrorKind, ReadOutcome, Text};
use fly_mavlink::dialect::MavType;
use plugin::{POSE, close, configure, free_port, load, read, start, values};

const NAME: &str = "tricopter";

#[test]
fn a_tricopter_is_read_and_a_quadcopter_is_not() {
    let port = free_port();
    let text = format!("link = 'udpin:127.0.0.1:{port}'");
    let at = ([127, 0, 0, 1], port).into();
    {
        let _flying = Flying::udp(MavType::MAV_TYPE_TRICOPTER, 1, 0, at);
        let mut instance = start(NAME, &text);
        let mut frame = instance.description().frame();
        assert_eq!(read(&mut instance, &mut frame), ReadOutcome::Fresh);
        let h = std::f64::consts::FRAC_1_SQRT_2;
        close(
            values(&instance, &frame, POSE),
            [2.0, -3.0, 10.0, h, 0.0, 0.0, -h],
        );
        instance
            .write(frame.time, &[1.0, 0.0, 0.0, 0.0, 9.0])
            .unwrap();
        assert_eq!(instance.arm().unwrap_err().kind, ErrorKind::Usage);
        instance.stop().unwrap();
    }
    let _flying = Flying::udp(MavType::MAV_TYPE_QUADROTOR, 1, 0, at);
    let error = configure(NAME, &text).unwrap().start().unwrap_err();
    assert_eq!(
        error.message,
        "expected a tricopter, but the vehicle with system id 1 reports that it is a quadrotor"
    );
}

#[test]
fn its_model_has_three_rotors() {
    let plugin = load(NAME);
    let commands = |vehicle: &str| {
        let instance = plugin.configure(&Configuration::new("", vehicle)).unwrap();
        instance.description().command_set().unwrap()
    };
    let tricopter = include_str!("../../../../configs/vehicles/tricopter.toml");
    assert_eq!(commands(""), CommandSet::Attitude);
    assert_eq!(commands(tricopter), CommandSet::Attitude);
    let four = include_str!("../../../../configs/vehicles/quadcopter.toml");
    let error = plugin
        .configure(&Configuration::new("", four))
        .err()
        .unwrap();
    assert_eq!(
        error.message,
        "`tricopter` is for vehicles with 3 rotors, but `quadcopter` has 4"
    );
    assert_eq!(error.location.unwrap().text, Text::Vehicle);
}
