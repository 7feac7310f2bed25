//! What `fly check` says of batteries.

use crate::common;

use common::{Folder, contains};

/// The shipped quadcopter with windings on this battery.
fn folder(battery: &str) -> Folder {
    let path = concat!(
        env!("CARGO_MANIFEST_DIR"),
        "/../../configs/vehicles/quadcopter.toml"
    );
    let vehicle = std::fs::read_to_string(path).expect("a shipped vehicle");
    let lines = vehicle.lines().map(|line| {
        if line.starts_with("time_constant") {
            "thrust_coefficient = 9e-6\nmotor = { kv_rpm = 920, resistance = 0.12, no_load_current = 0.4, inertia = 5e-5 }"
        } else {
            line
        }
    });
    let lines = lines.collect::<Vec<_>>().join("\n");
    let text = format!("{lines}\n[battery]\ncapacity_ah = 3\n{battery}\n");
    let folder = Folder::new();
    folder.write("body.toml", &text);
    let flight = "[vehicle]
        file = 'body.toml'
        [controller.poles]
        horizontal = [-5, -5, -5, -5]
        yaw = { inertia = 0.02, damping = 0.16, stiffness = 0.32 }
        [reference]
        kind = 'hover'
        [backend]
        plugin = 'sim'";
    folder.write("flight.toml", flight);
    folder
}

#[test]
fn thrusts_that_the_battery_cannot_give_are_told() {
    let check = ["check", "--config", "flight.toml"];
    let (told, _) = folder("cells = 3\nresistance = 0.01").ends(&check, 0);
    contains(
        &told,
        "all rotors at once reach 100 % of their largest thrusts when full, 100 % at 20 %",
    );
    // 40 A lift each thrust alone, but not all.
    let (told, _) = folder("cells = 3\nresistance = 0.1").ends(&check, 0);
    contains(&told, "WARNING: all rotors at once reach ");
    contains(&told, "it sags more than the limits of `thrust` allow for");
    assert!(!told.contains("PROBLEM"), "{told}");
    let (told, _) = folder("cells = 1\nresistance = 0.02").ends(&check, 5);
    contains(&told, "PROBLEM: when full it holds ");
    contains(&told, " % of the thrusts that carry the level vehicle");
}
