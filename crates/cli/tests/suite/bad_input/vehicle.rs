//! `[vehicle]`, in the file that it names.

use crate::bad_input::{BRICK, folder, spoiled};

#[test]
fn unknown_key() {
    spoiled("brick.toml", "axis", "axes", "\
error: unknown key `vehicle.rotors[0].axes`
  --> brick.toml:11:1
   |
11 | axes = [0, 0, 1]
   | ^^^^ expected one of `name`, `body`, `position`, `axis`, `drag_ratio`, `thrust`, `time_constant`, `tilt`, `thrust_coefficient`, `radius`, `aerodynamics`, `motor`
   |
   = note: brick.toml is named by flight.toml:6:8
   = help: did you mean `axis`?
");
}

#[test]
fn missing_key() {
    spoiled(
        "brick.toml",
        "mass = 1.0\n",
        "",
        "\
error: missing key `vehicle.bodies.core.mass`
 --> brick.toml:3:1
  |
3 | [bodies.core]
  | ^^^^^^^^^^^^^ `mass` is required in this table
  |
  = note: brick.toml is named by flight.toml:6:8
",
    );
}

#[test]
fn wrong_length() {
    spoiled(
        "brick.toml",
        "[0.5, 8]",
        "[0.5, 8, 9]",
        "\
error: `vehicle.rotors[0].thrust` has the wrong length
  --> brick.toml:12:10
   |
12 | thrust = [0.5, 8, 9]
   |          ^^^^^^^^^^^ expected an array of 2 numbers, found one of 3
   |
   = note: brick.toml is named by flight.toml:6:8
",
    );
}

#[test]
fn not_finite() {
    spoiled(
        "brick.toml",
        "[0, 0.1, 0]",
        "[0, nan, 0]",
        "\
error: `vehicle.rotors[0].position[1]` is not finite
  --> brick.toml:10:16
   |
10 | position = [0, nan, 0]
   |                ^^^ expected a finite number, found NaN
   |
   = note: brick.toml is named by flight.toml:6:8
",
    );
}

#[test]
fn negative_mass() {
    spoiled(
        "brick.toml",
        "mass = 1.0",
        "mass = -1.0",
        "\
error: `vehicle.bodies.core.mass` is not possible
 --> brick.toml:4:8
  |
4 | mass = -1.0
  |        ^^^^ the mass must be positive, found -1 kg
  |
  = note: brick.toml is named by flight.toml:6:8
",
    );
}

#[test]
fn triangle_inequality() {
    spoiled(
        "brick.toml",
        "[0.01, 0.01, 0.02]",
        "[0.01, 0.01, 0.03]",
        "\
error: `vehicle.bodies.core.inertia` is not possible
 --> brick.toml:5:11
  |
5 | inertia = [0.01, 0.01, 0.03]
  |           ^^^^^^^^^^^^^^^^^^ the largest principal moment of inertia must not exceed the sum of the two others, but 0.03 > 0.01 + 0.01 kg m^2 about the centre of mass
  |
  = note: brick.toml is named by flight.toml:6:8
",
    );
}

#[test]
fn thrust_limits_the_wrong_way_round() {
    spoiled(
        "brick.toml",
        "[0.5, 8]",
        "[8, 0.5]",
        "\
error: `vehicle.rotors[0].thrust` is not possible
  --> brick.toml:12:10
   |
12 | thrust = [8, 0.5]
   |          ^^^^^^^^ rotor `left`: the smallest thrust must be below the largest, found [8, 0.5] N
   |
   = note: brick.toml is named by flight.toml:6:8
",
    );
}

#[test]
fn missing_file() {
    let folder = folder();
    std::fs::remove_file(folder.path("brick.toml")).unwrap();
    let searched = folder.path("brick.toml").display().to_string();
    folder.fails(
        &["check", "--config", "flight.toml"],
        2,
        &format!(
            "\
error: the vehicle file `brick.toml` does not exist
 --> flight.toml:6:8
  |
6 | file = \"brick.toml\"
  |        ^^^^^^^^^^^^ named here
  |
  = note: searched {searched}, then the shipped configurations
  = help: shipped are vehicles/bicopter.toml, vehicles/coaxial_x8.toml, vehicles/hexacopter.toml, vehicles/hexacopter_canted.toml, vehicles/hummingbird.toml, vehicles/octocopter.toml, vehicles/octocopter_canted.toml, vehicles/quadcopter.toml, vehicles/tricopter.toml, vehicles/y6.toml
"
        ),
    );
}

#[test]
fn an_error_in_a_folder_of_its_own() {
    let folder = folder();
    folder.write(
        "flight.toml",
        &crate::bad_input::FLIGHT.replace("brick.toml", "parts/brick.toml"),
    );
    folder.write("parts/brick.toml", &BRICK.replace("[0, 0, 1]", "[0, 0, 0]"));
    folder.fails(
        &["check", "--config", "flight.toml"],
        2,
        "\
error: `vehicle.rotors[0].axis` is not possible
  --> parts/brick.toml:11:8
   |
11 | axis = [0, 0, 0]
   |        ^^^^^^^^^ rotor `left`: `axis` must have a direction, found a zero vector
   |
   = note: parts/brick.toml is named by flight.toml:6:8
",
    );
}

/// A second one is no key of TOML's, so this is said before anything is read as a vehicle.
#[test]
fn single_brackets_of_a_list() {
    let folder = folder();
    let rotor = BRICK.split_once("[[rotors]]").expect("a rotor").1;
    let text = BRICK.replace("[[rotors]]", "[rotors]");
    folder.write(
        "brick.toml",
        &format!("{text}[rotors]{rotor}[rotors]{rotor}[rotors]{rotor}"),
    );
    folder.fails(&["--config", "flight.toml"], 2, "\
error: brick.toml is not valid TOML
  --> brick.toml:13:2
   |
13 | [rotors]
   |  ^^^^^^ duplicate key
   |
   = note: brick.toml is named by flight.toml:6:8
   = help: tables of a list have double brackets, also the first: write `[[rotors]]`; any other table stands there once
");
    folder.write("brick.toml", &text);
    folder.fails(
        &["--config", "flight.toml"],
        2,
        "\
error: `vehicle.rotors` has the wrong type
 --> brick.toml:7:1
  |
7 | [rotors]
  | ^^^^^^^^ expected an array of tables, [[rotors]], found a table
  |
  = note: brick.toml is named by flight.toml:6:8
",
    );
}
