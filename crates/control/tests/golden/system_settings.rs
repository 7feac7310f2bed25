//! Controllers of multibody systems built from user settings, compared with those built in code.

use fly_control::ControllerSettings;
use fly_control::law::Law;
use fly_control::system::SystemReference;
use fly_control::template::DesiredMotion;
use fly_mechanics::multibody::Workspace;
use fly_mechanics::{Inputs, Motor, Rotors};
use fly_testing::golden::{File, array, count, numbers};
use nalgebra::{DMatrix, DVector, Dyn, Matrix3};
use serde_json::Value;

use crate::data::matrix;
use crate::solve::solve;
use crate::systems::{System, terms};

const TOLERANCE: f64 = 1e-12;

/// The file's pairs as a user writes them.
fn pairs(data: &Value) -> String {
    let of_pair = |pair: &Value| {
        let name = |i: usize| match count(&pair["pair"][i]) {
            0 => "world".to_owned(),
            body => body.to_string(),
        };
        let [stiffness, damping, inertia] =
            ["Kp", "Dp", "Mp"].map(|key| energy(&matrix(&pair[key])));
        format!(
            "[[pairs]]\nfrom = '{}'\nto = '{}'\nstiffness = {stiffness}\ndamping = {damping}\ninertia = {inertia}\n",
            name(0),
            name(1)
        )
    };
    let pairs = array(&data["controller_parameters"]).iter().map(of_pair);
    pairs.collect()
}

/// A 4 x 4 moment: one number where all of it is a weight or a moment about one axis, else a table.
fn energy(moment: &DMatrix<f64>) -> String {
    let weight = moment[(3, 3)];
    let first = moment.fixed_view::<3, 1>(0, 3);
    let prime = moment.fixed_view::<3, 3>(0, 0);
    let about_origin = Matrix3::identity() * prime.trace() - prime;
    let diagonal = about_origin.diagonal();
    let is_diagonal = about_origin == Matrix3::from_diagonal(&diagonal);
    let axes: Vec<f64> = diagonal.iter().copied().filter(|x| *x != 0.0).collect();
    match (weight, &axes[..]) {
        (weight, []) if first.amax() == 0.0 && is_diagonal => format!("{weight}"),
        (0.0, [moment]) if is_diagonal => format!("{moment}"),
        _ => {
            let list = |numbers: &[f64]| format!("{numbers:?}");
            let rows: Vec<_> = (about_origin.row_iter())
                .map(|row| list(row.transpose().as_slice()))
                .collect();
            let weight = match weight {
                0.0 => String::new(),
                weight => {
                    let center = list((first / weight).as_slice());
                    format!("weight = {weight}, center = {center}, ")
                }
            };
            let rows = rows.join(", ");
            format!("{{ {weight}moment_about_origin = [{rows}] }}")
        }
    }
}

/// The transport map of the examples, as [`System::template`] has it.
fn transport(system: &System, name: &str) -> String {
    if let Some((body, point)) = &system.tool {
        let (point, of) = (point.as_slice(), system.model.name(*body));
        return format!("transport = {{ point = {point:?}, of = '{of}' }}");
    }
    let one_pair = matches!(system.example.as_str(), "planar" | "pvtol" | "arm");
    match name {
        _ if !one_pair || system.pairs.len() != 1 => String::new(),
        "energy_alt" => "transport = 'centred'".to_owned(),
        _ => "transport = 'adjoint'".to_owned(),
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
            propeller: fly_mechanics::Propeller::default(),
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
            let energies = controller.last().energies.expect("energies");
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
