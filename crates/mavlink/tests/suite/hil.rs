//! Messages between PX4 and its simulator: every field as pymavlink encodes it.
#![cfg(feature = "backend")]

use std::io::Read;
use std::net::{TcpListener, TcpStream};

use crate::common::python;
use fly_mavlink::Identity;
use fly_mavlink::dialect::MavMessage;
use fly_mavlink::hil::px4::{Encoder, controls};
use fly_mavlink::hil::{Fix, Inertial, Motion, Origin, Sensed, Wire};

const ORIGIN: Origin = Origin {
    latitude: 47.0,
    longitude: 8.5,
    altitude: 488.0,
};

/// The messages of one step of a plant, and a reply.
fn messages() -> Vec<MavMessage> {
    let mut encoder = Encoder::new(ORIGIN, 9.806_65);
    let sensed = Sensed {
        inertial: Some(Inertial {
            angular_velocity: [0.25, -0.5, 0.125],
            specific_force: [0.0, 0.0, 2.0 * 9.806_65],
        }),
        magnetic_field: Some([2.5e-5, -5e-5, -1e-4]),
        altitude: Some(12.0),
        airspeed: Some(7.0),
        ..Sensed::default()
    };
    let fix = Fix {
        position: [0.0, 0.0, 30.0],
        velocity: [3.0, -4.0, 0.5],
    };
    let motion = Motion {
        position: [0.0, 0.0, 30.0],
        attitude: [1.0, 0.0, 0.0, 0.0],
        velocity: [3.0, -4.0, 0.5],
        angular_velocity: [0.25, -0.5, 0.125],
    };
    let mut outputs = [0.0; 16];
    outputs[..3].copy_from_slice(&[0.25, -0.5, 1.0]);
    vec![
        MavMessage::HIL_SENSOR(encoder.sensor(1_234_567, &sensed)),
        MavMessage::HIL_GPS(encoder.gps(1_234_568, &fix)),
        MavMessage::HIL_STATE_QUATERNION(encoder.state(1_234_569, &motion)),
        MavMessage::HIL_ACTUATOR_CONTROLS(controls(1_234_570, outputs, true)),
    ]
}

/// Name, number, and fields by hand. What the standard atmosphere gives stands in [`messages`]: only its place is compared.
fn expected(messages: &[MavMessage]) -> Vec<(&'static str, String)> {
    let MavMessage::HIL_SENSOR(m) = &messages[0] else {
        panic!("{messages:?}")
    };
    let [pressure, difference, altitude, temperature] = [
        m.abs_pressure,
        m.diff_pressure,
        m.pressure_alt,
        m.temperature,
    ]
    .map(f64::from);
    assert!((altitude - 500.0).abs() < 1e-3 && (pressure - 954.61).abs() < 0.01);
    let field = [0.25_f32, 0.5, 1.0].map(f64::from);
    let force = f64::from(-2.0_f32 * 9.806_65);
    let place = "\"lat\":470000000,\"lon\":85000000,\"alt\":518000";
    let outputs = format!("[0.25,-0.5,1.0{}]", ",0".repeat(13));
    vec![
        (
            "HIL_SENSOR",
            format!(
                "\"time_usec\":1234567,\"xacc\":0,\"yacc\":0,\"zacc\":{force},\"xgyro\":0.25,\"ygyro\":0.5,\"zgyro\":-0.125,\"xmag\":{},\"ymag\":{},\"zmag\":{},\"abs_pressure\":{pressure},\"diff_pressure\":{difference},\"pressure_alt\":{altitude},\"temperature\":{temperature},\"fields_updated\":8191",
                field[0], field[1], field[2]
            ),
        ),
        (
            "HIL_GPS",
            format!(
                "\"time_usec\":1234568,\"fix_type\":3,{place},\"eph\":90,\"epv\":120,\"vel\":500,\"vn\":300,\"ve\":400,\"vd\":-50,\"cog\":5313,\"satellites_visible\":12"
            ),
        ),
        // 1 g upwards.
        (
            "HIL_STATE_QUATERNION",
            format!(
                "\"time_usec\":1234569,\"attitude_quaternion\":[1,0,0,0],\"rollspeed\":0.25,\"pitchspeed\":0.5,\"yawspeed\":-0.125,{place},\"vx\":300,\"vy\":400,\"vz\":-50,\"ind_airspeed\":700,\"true_airspeed\":700,\"xacc\":0,\"yacc\":0,\"zacc\":-1000"
            ),
        ),
        (
            "HIL_ACTUATOR_CONTROLS",
            format!("\"time_usec\":1234570,\"controls\":{outputs},\"mode\":129,\"flags\":1"),
        ),
    ]
}

#[test]
fn every_message_is_encoded_as_by_pymavlink() {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let stream = TcpStream::connect(listener.local_addr().unwrap()).unwrap();
    let (mut peer, _) = listener.accept().unwrap();
    let identity = Identity {
        system: 3,
        component: 1,
    };
    let mut wire = Wire::new(stream, identity).unwrap();
    let messages = messages();
    for message in &messages {
        wire.queue(message);
    }
    wire.flush().unwrap();
    drop(wire);
    let mut ours = Vec::new();
    peer.read_to_end(&mut ours).unwrap();
    let ours = python::hex(&ours);
    let expected = expected(&messages);
    let requests = expected.iter().enumerate();
    let requests = requests.map(|(i, (name, fields))| (*name, fields.as_str(), i));
    let Some(theirs) = python::encoded(requests) else {
        return;
    };
    let mut rest = ours.as_str();
    for ((name, _), theirs) in expected.iter().zip(&theirs) {
        let (first, others) = rest.split_at(theirs.len().min(rest.len()));
        assert_eq!(first, theirs, "{name}");
        rest = others;
    }
    assert_eq!(rest, "");
}
