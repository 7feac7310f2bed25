//! `[reference]` of a vehicle.

use crate::bad_input::{set, spoiled};

#[test]
fn reference_of_no_kind() {
    set("reference.kind=hoover", "\
error: there is no reference of kind `hoover`
 --> --set:1:22
  |
1 | --set reference.kind=hoover
  |                      ^^^^^^ expected `hover`, `takeoff`, `landing`, `circle`, `helix`, `lissajous`, `loop`, `flip`, `barrel_roll`, `waypoints`, `minimum_snap`, `sampled`, `independent`, `recorded`, `rest`, `joints`, `transfer`, `tool`, `two_masses`, `pvtol` or `planar`
  |
  = help: did you mean `hover`?
");
}

#[test]
fn key_of_another_kind_of_reference() {
    spoiled(
        "flight.toml",
        "kind = \"hover\"",
        "kind = \"hover\"\nradius = 1",
        "\
error: unknown key `reference.radius`
  --> flight.toml:14:1
   |
14 | radius = 1
   | ^^^^^^ expected `position`, `yaw_deg` or `attitude_deg`
",
    );
}

#[test]
fn reference_that_the_vehicle_cannot_follow() {
    set("reference.attitude_deg=[0, 30, 0]", "\
error: `reference.attitude_deg` cannot be used
 --> --set:1:30
  |
1 | --set reference.attitude_deg=[0, 30, 0]
  |                              ^^^^^^^^^^ expected roll and pitch 0 for a vehicle without side thrust, found 0, 30
");
}
