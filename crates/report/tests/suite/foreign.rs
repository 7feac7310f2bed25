//! Reports of PX4 ULogs.

use fly_report::Flight;

use crate::ulog;

/// The report of a ULog with these bytes.
fn flight(bytes: &[u8]) -> Flight {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("flight.ulg");
    std::fs::write(&path, bytes).unwrap();
    Flight::open(path).unwrap()
}

/// Motors are drawn where they are, along their axes.
#[test]
fn motors_stand_as_the_parameters_say() {
    let parameters = [
        ("CA_ROTOR_COUNT", 2.0),
        ("CA_ROTOR0_PX", 0.5),
        ("CA_ROTOR0_PY", 0.25),
        ("CA_ROTOR0_PZ", 0.125),
        ("CA_ROTOR0_KM", 0.05),
        ("CA_ROTOR1_PX", -0.5),
        ("CA_ROTOR1_PY", 0.0),
        ("CA_ROTOR1_AX", 1.0),
        ("CA_ROTOR1_AZ", 0.0),
        ("CA_ROTOR1_KM", 0.0),
    ];
    let topic: (&str, &[&str]) = ("actuator_motors", &["control[2]"]);
    let bytes = ulog::flight_with(&parameters, &[topic], |_| vec![(0, vec![0.5, 0.5])]);
    let drawn = flight(&bytes).scene.rotors;
    let drawn: Vec<_> = drawn
        .iter()
        .map(|rotor| (rotor.position, rotor.axis))
        .collect();
    let expected = [
        ([0.5, -0.25, -0.125], [0.0, 0.0, 1.0]),
        ([-0.5, 0.0, 0.0], [1.0, 0.0, 0.0]),
    ];
    assert_eq!(drawn, expected);
}
