//! Every vehicle that comes with the project.

use std::path::Path;

use fly_mechanics::Vehicle;
use fly_testing::golden::{json, vector};
use nalgebra::DMatrix;
use serde_json::Value;

fn vehicle(name: &str) -> Vehicle {
    let path = folder().join(name);
    let text = std::fs::read_to_string(&path).expect("a readable file");
    Vehicle::from_toml(&text).unwrap_or_else(|error| panic!("{name}: {error}: {:?}", error.span))
}

fn folder() -> std::path::PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../configs/vehicles")
}

#[test]
fn every_vehicle_is_read() {
    let mut count = 0;
    for entry in std::fs::read_dir(folder()).expect("the vehicles' folder") {
        let name = entry
            .expect("an entry")
            .file_name()
            .into_string()
            .expect("a name");
        if Path::new(&name).extension().is_some_and(|e| e == "toml") {
            let vehicle = vehicle(&name);
            assert_eq!(format!("{}.toml", vehicle.name), name);
            assert!(vehicle.rotors.limits().violation(vehicle.rotors.interior()) < 0.0);
            count += 1;
        }
    }
    assert!(count >= 3, "only {count} vehicles");
}

/// The vehicles are those of the reference flights: same mass, inertia, B, W and l.
#[test]
fn vehicles_are_those_of_the_reference_flights() {
    let references = [
        ("tricopter.toml", "tricopter_independent.json"),
        ("quadcopter.toml", "quad_hover_step.json"),
        ("bicopter.toml", "bicopter_step.json"),
    ];
    for (name, reference) in references {
        let vehicle = vehicle(name);
        let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("testdata/golden/control");
        let data = json(&folder.join(reference));
        let config = &data["config"];
        let inertia = vehicle.body.inertia();
        assert_eq!(inertia.mass(), config["m"], "{name}");
        let moments: nalgebra::Vector3<f64> = vector(&config["Th"]);
        assert!(
            (inertia.inertia_about_center().diagonal() - moments).amax() < 1e-17,
            "{name}"
        );
        let rotors = &vehicle.rotors;
        let input_matrix = rows(&data["samples"][0]["B"]);
        assert!(
            (rotors.input_matrix() - input_matrix).amax() < 1e-15,
            "{name}: B"
        );
        let limits = rotors.limits();
        assert!(
            (&limits.matrix - rows(&data["W"])).amax() < 1e-15,
            "{name}: W"
        );
        let bound = rows(&Value::Array(vec![data["l"].clone()])).transpose();
        assert!(
            (&limits.bound - bound.column(0)).amax() < 1e-14,
            "{name}: l"
        );
    }
}

fn rows(value: &Value) -> DMatrix<f64> {
    let rows = fly_testing::golden::array(value);
    DMatrix::from_row_iterator(
        rows.len(),
        fly_testing::golden::array(&rows[0]).len(),
        fly_testing::golden::numbers(value),
    )
}
