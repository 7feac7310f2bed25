//! What a simulation moves is drawn, where it is more than the controller's model.

use fly_hal::signal::{group_names, truth};
use fly_hal::{Description, GroupStatus};
use fly_log::{FlightHeader, Header, Pace, Row, RunMetadata, State, Status, Writer};
use fly_report::{Flight, report};

use crate::common::{Page, VEHICLE};

/// Below the vehicle hangs what its controller does not know.
const PLANT: &str = r#"
[backend]
plugin = "sim"

[backend.sim.vehicle]
name = "carrying"

[backend.sim.vehicle.bodies.airframe]
mass = 1.0
inertia = [0.01, 0.01, 0.02]
joint = "free"

[backend.sim.vehicle.bodies.load]
parent = "airframe"
position = [0, 0, -0.1]
mass = 0.2
center_of_mass = [0, 0, -0.5]
inertia = [0.001, 0.001, 0.001]
joint = "spherical"
"#;

#[test]
fn a_load_that_the_controller_does_not_know_is_drawn() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("flight.mcap");
    let bodies =
        (0..2).flat_map(|i| [format!("body.{i}.position"), format!("body.{i}.quaternion")]);
    let names: Vec<String> = bodies
        .flat_map(|group| group_names(&group).collect::<Vec<_>>())
        .collect();
    let description = Description::new()
        .with_signals(names.iter().map(|name| truth(name)))
        .unwrap();
    let header = Header {
        flight: FlightHeader {
            configuration: PLANT.into(),
            vehicle: VEHICLE.into(),
            vehicle_name: "unicopter".into(),
            backend: "sim".into(),
            rate_hz: 100.0,
            ..FlightHeader::default()
        },
        description,
        modes: vec!["flying".into()],
        solvers: vec!["none".into()],
        ..Header::default()
    };
    let mut writer = Writer::create(&path, &header, Pace::Stepped).unwrap();
    let airframe = [0.0, 0.0, 2.0, 1.0, 0.0, 0.0, 0.0];
    let load = [0.0, 0.0, 1.9, 0.6, 0.8, 0.0, 0.0];
    for tick in 0..100 {
        let time = tick * 10_000_000;
        writer.push(&Row {
            time,
            status: Status::Fresh,
            mode: 0,
            values: &[airframe, load].concat(),
            groups: &[GroupStatus {
                stamp: time,
                valid: true,
            }],
            state: Some(State {
                pose: airframe,
                twist: [0.0; 6],
            }),
            system: None,
            control: None,
            estimate: None,
            commands: None,
        });
    }
    writer.finish(RunMetadata::default()).unwrap();
    let flight = Flight::open(&path).unwrap();
    let drawn: Vec<&str> = (flight.scene.bodies.iter())
        .map(|body| body.name.as_str())
        .collect();
    assert_eq!(drawn, ["airframe", "load"]);
    assert_eq!(flight.body_count(), 1, "of the controller's model");
    let z = flight.track.find("pose.9").unwrap();
    assert!(z.low.iter().all(|z| (z - 1.9).abs() < 1e-6));
    let page = Page::new(&report(&[flight]).unwrap());
    let shapes = &page.contents["flights"][0]["scene"]["bodies"][1]["shapes"];
    assert!(!shapes.as_array().unwrap().is_empty());
}
