//! The controllers of whole systems from settings, as a user writes them, beside those that are built by hand.

use fly_control::ControllerSettings;
use fly_control::law::Law;
use fly_control::system::SystemReference;
use fly_control::template::DesiredMotion;
use fly_mechanics::multibody::Workspace;
use fly_mechanics::{Inputs, Motor, Rotors};
use fly_testing::golden::{File, array, number, numbers};
use nalgebra::{DMatrix, DVector, Dyn};
use serde_json::Value;

use crate::data::{matrix, solve};
use crate::systems::{System, terms};

const TOLERANCE: f64 = 1e-12;

/// Pairs of the examples.
fn pairs(data: &Value) -> String {
    let text = match data["example"].as_str().expect("a name") {
        "prismatic" => "pairs = [{ to = '1', stiffness = 4, damping = 4, inertia = 1 }]",
        "revolute" => "pairs = [{ to = '1', stiffness = 25, damping = 8, inertia = 1 }]",
        "orientation" => {
            "[[pairs]]
             to = '1'
             stiffness = { moment = [[8, 0.5, 0.2], [0.5, 10, -0.4], [0.2, -0.4, 12]] }
             damping = { moment = [[4, 0.3, 0], [0.3, 5, 0.2], [0, 0.2, 6]] }
             inertia = { moment = [[1, 0.1, 0], [0.1, 1.3, -0.2], [0, -0.2, 1.6]] }"
        }
        "pvtol" => {
            "[[pairs]]
             to = '1'
             stiffness = { weight = 2.88, center = [0, 0.6248801320472309, 0], moment = 4.330624500000001 }
             damping = { weight = 2.88, center = [0, 0.6248801320472309, 0] }
             inertia = { weight = 0.9, center = [0, 0.1343801320472310, 0], moment = 0.054132806250000011 }"
        }
        "scara_par1" => {
            "pairs = [
                { to = '1', stiffness = 16, damping = 8, inertia = 1 },
                { from = '1', to = '2', stiffness = 16, damping = 8, inertia = 1 },
             ]"
        }
        "scara_par2" => {
            "[[pairs]]
             to = '2'
             stiffness = { weight = 16, center = [0.25, 0, 0] }
             damping = { weight = 8, center = [0.25, 0, 0] }
             inertia = { weight = 1, center = [0.25, 0, 0] }"
        }
        "two_masses" => {
            "pairs = [
                { to = '1', stiffness = 6.5046728971962615, damping = 6.934579439252336, inertia = 0.4953271028037383 },
                { to = '2', stiffness = -4.3500000000000005, damping = -4.6375, inertia = 0.27698598130841123 },
                { from = '1', to = '2', stiffness = 86.57943925233646, damping = 14, inertia = 1 },
             ]"
        }
        "arm_joint" => {
            "pairs = [
                { to = '1', stiffness = 36, damping = 12, inertia = 1 },
                { from = '1', to = '2', stiffness = 36, damping = 12, inertia = 1 },
                { from = '2', to = '3', stiffness = 36, damping = 12, inertia = 1 },
                { from = '3', to = '4', stiffness = 36, damping = 12, inertia = 1 },
                { from = '4', to = '5', stiffness = 36, damping = 12, inertia = 1 },
                { from = '5', to = '6', stiffness = 36, damping = 12, inertia = 1 },
             ]"
        }
        "arm_work" => {
            "[[pairs]]
             to = '7'
             stiffness = { weight = 36, moment = [0.9, 0.9, 0.9] }
             damping = { weight = 12, moment = [0.3, 0.3, 0.3] }
             inertia = { weight = 1, moment = [0.025, 0.025, 0.025] }"
        }
        example if example.starts_with("planar") => return planar(&data["config"]),
        other => panic!("no settings for {other}"),
    };
    text.to_owned()
}

/// Of a body in the plane.
fn planar(config: &Value) -> String {
    let energy = |weight: &str, center: &str, moment: &str| {
        let [x, y] = numbers(&config[center])[..] else {
            panic!("a point in the plane");
        };
        let (weight, moment) = (number(&config[weight]), number(&config[moment]));
        format!("{{ weight = {weight}, center = [{x}, {y}, 0], moment_about_origin = {moment} }}")
    };
    format!(
        "[[pairs]]\nto = '1'\nstiffness = {}\ndamping = {}\ninertia = {}",
        energy("k", "h", "Piz"),
        energy("d", "l", "Upz"),
        energy("mb", "s", "Thz")
    )
}

/// The transport map of the examples, as [`System::template`] has it.
fn transport(system: &System, name: &str) -> &'static str {
    match system.example.as_str() {
        _ if system.tool.is_some() => "transport = { point = [0.25, 0, 0], of = '2' }",
        "planar" | "pvtol" | "arm" if system.pairs.len() == 1 => match name {
            "energy_alt" => "transport = 'centred'",
            _ => "transport = 'adjoint'",
        },
        _ => "",
    }
}

/// The plant with inputs that have the file's constant B.
fn driven(system: &System, B: &DMatrix<f64>) -> fly_mechanics::System {
    let mut driven = fly_mechanics::System::new(system.example.as_str(), system.model.clone());
    let model = &driven.model;
    let motors = model.bodies().flat_map(|joint| {
        let ways = 0..model.velocity_range(joint).len();
        ways.map(move |component| (joint, component))
    });
    // One for each column, in the direction that it drives.
    let directions: Vec<_> = motors.collect();
    let columns = B.column_iter().map(|column| {
        let at = column.iamax();
        let (joint, component) = directions[at];
        Motor {
            name: at.to_string(),
            joint,
            component,
            effort: [f64::NEG_INFINITY, f64::INFINITY],
            time_constant: 0.0,
        }
    });
    driven.inputs = if system.example == "pvtol" {
        rotors(system, B)
    } else {
        let motors = columns.collect();
        Inputs::new(model, Rotors::none(), Vec::new(), motors).expect("motors")
    };
    driven
}

/// Two rotors whose wrenches in the plane are the columns.
fn rotors(system: &System, B: &DMatrix<f64>) -> Inputs {
    let rotor = |i: usize| {
        let (x, y, turn) = (B[(0, i)], B[(1, i)], B[(2, i)]);
        fly_mechanics::Rotor {
            name: i.to_string(),
            position: nalgebra::Vector3::new(turn / y, 0.0, 0.0),
            axis: nalgebra::Vector3::new(x, y, 0.0),
            drag_ratio: 0.0,
            thrust: [-1e6, 1e6],
            time_constant: 0.0,
            tilt: None,
        }
    };
    let rotors = Rotors::new(vec![rotor(0), rotor(1)]).expect("rotors");
    let body = system.model.body_id("1").expect("the body");
    Inputs::new(&system.model, rotors, vec![body; 2], Vec::new()).expect("inputs")
}

/// All approaches at all samples of a file.
pub fn compare(data: &Value, report: &mut File) {
    let system = System::new(data);
    let model = &system.model;
    let n = model.dof();
    let first = &array(&data["samples"])[0];
    let B = matrix(&first["B"]);
    let plant = driven(&system, &B);
    for name in first["approaches"].as_object().expect("approaches").keys() {
        let approach = name.strip_suffix("_alt").unwrap_or(name);
        let text = format!(
            "approach = '{approach}'\nallocation = 'none'\n{}\n{}",
            transport(&system, name),
            pairs(data)
        );
        let settings: ControllerSettings =
            toml::from_str(&text).unwrap_or_else(|error| panic!("{error}"));
        let mut controller = settings
            .build_for_system(&plant)
            .unwrap_or_else(|error| panic!("{}: {error}", data["example"]));
        let mut template = system.template(name);
        let mut law = Law::new(Dyn(n), Dyn(B.ncols()));
        let mut desired = DesiredMotion::new(model);
        let (mut actual, mut reference) = (Workspace::new(model), Workspace::new(model));
        for sample in array(&data["samples"]) {
            let state = |key: &str| system.configuration(&numbers(&sample[key]));
            let (x, x_R) = (state("x"), state("xR"));
            let [xi, xi_R, xi_dot_R] = ["xi", "xiR", "xiRd"].map(|key| numbers(&sample[key]));
            let goal = SystemReference {
                configuration: &x_R,
                velocity: &xi_R,
                acceleration: &xi_dot_R,
            };
            actual.update(model, &x, &xi);
            actual.update_jacobians(model);
            template
                .evaluate(model, &actual, &xi, &mut reference, &goal, &mut desired)
                .expect("a transport map");
            let (M, b) = terms(model, &actual, &xi);
            let u = solve(&mut law, &M, &b, &B, &desired);
            let step = controller.step(&x, &xi, &goal).expect("a step");
            let mut check = |what: &str, found: &DVector<f64>, expected: &DVector<f64>| {
                let error = (found - expected).amax() / (1.0 + expected.amax());
                report.error(&format!("settings, {name}: {what}"), error, TOLERANCE);
            };
            check("u0", &step.unconstrained, &u);
            check("u", &step.input, &u);
            let energies = controller.last().energies;
            check(
                "W",
                &DVector::from_element(1, energies.total),
                &DVector::from_element(1, desired.energies.total),
            );
            let columns = |M: &DMatrix<f64>| DVector::from_column_slice(M.as_slice());
            let found = controller.desired();
            check("bbar", &found.bias, &desired.bias);
            check(
                "Mbar",
                &columns(&found.mass_matrix),
                &columns(&desired.mass_matrix),
            );
            check("B", &columns(controller.input_matrix()), &columns(&B));
        }
    }
}
