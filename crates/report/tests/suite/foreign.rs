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

/// The values of a column of its plots that are there.
fn column(flight: &Flight, name: &str) -> Vec<f32> {
    let column = flight.plots.find(name);
    let values = column.into_iter().flat_map(|column| column.low.iter());
    values.copied().filter(|value| !value.is_nan()).collect()
}

/// What is smoothed from the flown path was not commanded: it is no reference, and the vehicle has no error from it.
#[test]
fn only_what_was_commanded_has_an_error() {
    let trajectory: (&str, &[&str]) = (
        "trajectory_setpoint",
        &["position[3]", "velocity[3]", "acceleration[3]"],
    );
    let attitude: (&str, &[&str]) = ("vehicle_attitude_setpoint", &["q_d[4]"]);
    let position = |k: u64| {
        vec![
            0.02 * k as f32 + 0.5,
            2.0,
            -3.0,
            1.0,
            0.0,
            0.0,
            0.0,
            0.0,
            0.0,
        ]
    };
    let upright = || vec![1.0, 0.0, 0.0, 0.0];
    let found = |commands: [bool; 2]| {
        let bytes = ulog::flight_with(&[], &[trajectory, attitude], |k| {
            let rows = [(0, position(k)), (1, upright())].into_iter().zip(commands);
            rows.filter_map(|(row, is_there)| is_there.then_some(row))
                .collect()
        });
        let flight = flight(&bytes);
        let names = ["error.norm", "reference.x", "attitude_error.angle"];
        let [distance, reference, angle] = names.map(|name| column(&flight, name));
        assert_eq!(distance.len(), reference.len());
        // The vehicle is 0.5 m behind, and turns at 0.5 rad/s.
        assert!(distance.iter().all(|error| (error - 0.5).abs() < 1e-4));
        let largest = angle.iter().copied().fold(0.0, f32::max);
        assert!(
            angle.is_empty() || (largest - 1.99).abs() < 0.01,
            "{largest}"
        );
        [distance.len(), angle.len()]
    };
    assert_eq!(found([true, true]), [200, 200]);
    assert_eq!(found([false, false]), [0, 0]);
    assert_eq!(found([false, true]), [0, 200]);
    assert_eq!(found([true, false]), [200, 0]);
}

/// Many vehicles measure the voltage without knowing the charge (-1).
#[test]
fn a_voltage_is_shown_without_a_charge() {
    let topic: (&str, &[&str]) = ("battery_status", &["voltage_v", "remaining"]);
    for (values, shown) in [([15.5, 0.5], 200), ([15.5, -1.0], 200), ([0.0, 0.5], 0)] {
        let bytes = ulog::flight_with(&[], &[topic], |_| vec![(0, values.to_vec())]);
        let voltages = column(&flight(&bytes), "battery.voltage");
        assert_eq!(voltages, vec![15.5; shown]);
    }
}
