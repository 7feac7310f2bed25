//! The dynamics of systems with rotors against MuJoCo, which gets the same descriptions through independent code: accelerations at random states,
//! and flights.

use std::fmt::Write as _;
use std::io::Write as _;
use std::process::{Command, Stdio};

use fly_mechanics::integrate::{RungeKutta, Scheme, SystemState};
use fly_mechanics::multibody::{BodyId, Workspace};
use fly_mechanics::{ActuatedDynamics, System};
use serde_json::{Value, json};

use crate::random_tree::Random;

const PACKAGES: [&str; 2] = ["mujoco==4.0.0", "numpy==2.4.6"];
const STEP: f64 = 1e-3;
const STEPS: usize = 300;

/// A tree at random: fixed, revolute, prismatic, spherical and free joints with friction, any inertias, a rotor on every third body.
fn tree(seed: usize) -> String {
    let random = &mut Random::new(seed);
    let mut text = format!("name = \"tree {seed}\"\ngravity = [0.3, -0.2, -9.0]\n");
    let mut rotors = String::new();
    for i in 0..6 {
        let three = |random: &mut Random, size: f64| -> [f64; 3] { random.vector3(size).into() };
        let parent = match i {
            0 => "world".to_owned(),
            _ => format!("b{}", random.index(i)),
        };
        let joint = match random.index(5) {
            _ if i == 0 => "\"free\"".to_owned(),
            0 => "\"fixed\"".to_owned(),
            1 => {
                "{ type = \"spherical\", coordinates = \"quaternion\", damping = 0.03 }".to_owned()
            }
            2 => format!(
                "{{ type = \"prismatic\", axis = {:?}, damping = 0.5 }}",
                three(random, 1.0)
            ),
            _ => format!(
                "{{ type = \"revolute\", axis = {:?}, damping = 0.02 }}",
                three(random, 1.0)
            ),
        };
        // A free body's coordinates are those in the world to MuJoCo, wherever it is placed.
        let placed = if i == 0 { 0.0 } else { 1.0 };
        let inertia = random.inertia::<f64>();
        let about = inertia.inertia_about_center();
        let rows: Vec<[f64; 3]> = (about.row_iter())
            .map(|row| [row[0], row[1], row[2]])
            .collect();
        let center: [f64; 3] = inertia.center_of_mass().into();
        write!(
            text,
            "[bodies.b{i}]\nparent = \"{parent}\"\nposition = {:?}\norientation = {{ rotation_vector = {:?} }}\nmass = {:?}\ncenter_of_mass = {center:?}\ninertia = {rows:?}\njoint = {joint}\n",
            three(random, 0.5 * placed),
            three(random, placed),
            inertia.mass(),
        )
        .expect("a string");
        if i % 3 == 0 {
            write!(
                rotors,
                "[[rotors]]\nbody = \"b{i}\"\nposition = {:?}\naxis = {:?}\ndrag_ratio = 0.03\nthrust = [0.0, 20.0]\n",
                three(random, 0.4),
                three(random, 1.0),
            )
            .expect("a string");
        }
    }
    text + &rotors
}

/// A system in some states, with its accelerations in each, and its bodies after the last of them was flown.
fn case(text: &str, seed: usize) -> Value {
    let system = System::from_toml(text).unwrap_or_else(|error| panic!("{error}\n{text}"));
    let (model, random) = (&system.model, &mut Random::new(seed));
    let n = model.dof();
    let moving = model
        .bodies()
        .filter(|body| !model.velocity_range(*body).is_empty());
    let order: Vec<&str> = moving.map(|body| model.name(body)).collect();
    let mut states = Vec::new();
    for _ in 0..8 {
        let (moved, velocity) = (random.numbers(n, 1.5), random.numbers(n, 2.0));
        let rotors = system.inputs.rotors();
        let mut command = Vec::new();
        let (mut thrusts, mut tilts) = (Vec::new(), Vec::new());
        for rotor in rotors.as_slice() {
            let thrust = 5.0 + 4.0 * random.next();
            let tilt = rotor.tilt.as_ref().map(|_| random.next());
            command.push(thrust);
            command.extend(tilt);
            thrusts.push(thrust);
            tilts.push(tilt.unwrap_or(0.0));
        }
        command.resize(system.inputs.input_dim(), 0.0);
        let mut state = SystemState::at_rest(model);
        model.integrate(&mut state.configuration, &moved);
        state.velocity.copy_from_slice(&velocity);
        state.velocity.extend_from_slice(&command);
        let mut dynamics = ActuatedDynamics::new(&system, STEP).expect("dynamics");
        let mut acceleration = vec![0.0; n];
        (dynamics.acceleration(&system, &state, &mut acceleration)).expect("an acceleration");
        let mut integrator = RungeKutta::new(model, Scheme::RungeKutta4);
        for _ in 0..STEPS {
            integrator.step(model, &mut state, STEP, |state, rates| {
                dynamics.rates(&system, &command, state, rates);
            });
        }
        let mut workspace = Workspace::new(model);
        workspace.update(model, &state.configuration, &state.velocity[..n]);
        let poses: Vec<Vec<f64>> = (model.bodies())
            .map(|body| {
                let pose = workspace.pose(BodyId::WORLD, body);
                let rows = pose.rotation.matrix().transpose();
                pose.translation
                    .iter()
                    .chain(rows.iter())
                    .copied()
                    .collect()
            })
            .collect();
        states.push(json!({
            "moved": moved, "velocity": velocity, "thrusts": thrusts, "tilts": tilts,
            "acceleration": acceleration, "poses": poses,
        }));
    }
    let bodies: Vec<&str> = model.bodies().map(|body| model.name(body)).collect();
    json!({ "name": system.name, "text": text, "order": order, "bodies": bodies, "step": STEP, "steps": STEPS, "states": states })
}

#[test]
fn systems_move_as_in_mujoco() {
    let python = match fly_testing::python(env!("CARGO_TARGET_TMPDIR"), &PACKAGES, "mujoco") {
        Ok(python) => python,
        Err(why) => return fly_testing::skip(format!("PyPI's mujoco: {why}")),
    };
    let shipped = [
        "vehicles/quadcopter.toml",
        "vehicles/tricopter.toml",
        "systems/tricopter_eight_bodies.toml",
        "systems/arm6.toml",
    ];
    let read = |file: &str| {
        let path = format!("{}/../../configs/{file}", env!("CARGO_MANIFEST_DIR"));
        std::fs::read_to_string(path).expect("a shipped description")
    };
    let texts = shipped.map(read).into_iter().chain((0..20).map(tree));
    let cases: Vec<Value> = (texts.enumerate())
        .map(|(seed, text)| case(&text, seed))
        .collect();
    let mut child = Command::new(python)
        .args(["-c", include_str!("mujoco.py")])
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .expect("python starts");
    let mut input = child.stdin.take().expect("piped");
    input
        .write_all(Value::from(cases.clone()).to_string().as_bytes())
        .expect("python reads");
    drop(input);
    let output = child.wait_with_output().expect("python ends");
    assert!(output.status.success());
    let lines: Vec<(String, f64, f64)> = String::from_utf8(output.stdout)
        .expect("text")
        .lines()
        .map(|line| serde_json::from_str(line).expect("a line of the script"))
        .collect();
    assert_eq!(lines.len(), cases.len());
    for (name, accelerations, flights) in lines {
        println!("{name}: accelerations {accelerations:.1e} of the largest, flights {flights:.1e}");
        assert!(accelerations < 1e-9, "{name}: {accelerations}");
        assert!(flights < 1e-7, "{name}: {flights}");
    }
}
