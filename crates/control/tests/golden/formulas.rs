//! Parameters, limits, references and the linearisation.

use fly_control::Controller;
use fly_control::analysis::desired;
use fly_control::poles::Poles;
use fly_control::settings::AllocationMethod;
use fly_testing::golden::{File, number, numbers};
use serde_json::Value;

use crate::data::{absolute, characteristic_polynomial, configuration, relative, rows, state};
use crate::example::Example;

pub fn compare(example: &Example, file: &Value, report: &mut File) {
    let controller = example.controller("energy", AllocationMethod::ActiveSet);
    parameters(example, &controller, file, report);
    limits(example, file, report);
    reference(example, file, report);
    linearisation(&controller, file, report);
}

fn parameters(example: &Example, controller: &Controller, file: &Value, report: &mut File) {
    let pair = controller.template().pair();
    for given in file["controller_parameters"]
        .as_array()
        .into_iter()
        .flatten()
    {
        relative(
            report,
            "K', D', M'",
            &rows(pair.stiffness()),
            &numbers(&given["Kp"]),
            1e-12,
        );
        relative(
            report,
            "K', D', M'",
            &rows(pair.damping()),
            &numbers(&given["Dp"]),
            1e-12,
        );
        relative(
            report,
            "K', D', M'",
            &rows(pair.inertia()),
            &numbers(&given["Mp"]),
            1e-12,
        );
    }
    let config = &file["config"];
    let Some(named) = file.get("named_controller_parameters") else {
        return;
    };
    let poles = Poles {
        polynomial: numbers(&config["p"]).try_into().unwrap(),
        mass: number(&config["mbar"]),
        yaw_inertia: number(&config["Thz"]),
        yaw_damping: number(&config["Upz"]),
        yaw_stiffness: number(&config["Piz"]),
    };
    let m = poles.place(&example.body, &example.inputs).unwrap();
    let scalars = [
        ("k", m.stiffness),
        ("d", m.damping),
        ("m", m.mass),
        ("h", m.stiffness_height),
        ("l", m.damping_height),
        ("s", m.mass_height),
    ];
    for (key, value) in scalars {
        relative(
            report,
            "parameters by pole placement",
            &[value],
            &numbers(&named[key]),
            1e-12,
        );
    }
    for (key, value) in [
        ("Th", m.inertia_moment),
        ("Up", m.damping_moment),
        ("Pi", m.stiffness_moment),
    ] {
        relative(
            report,
            "parameters by pole placement",
            value.as_slice(),
            &numbers(&named[key]),
            1e-12,
        );
    }
}

fn limits(example: &Example, file: &Value, report: &mut File) {
    let (Some(limits), Some(rows_of_w)) = (&example.limits, file.get("W")) else {
        return;
    };
    relative(
        report,
        "limits W, l",
        &rows(&limits.rows()),
        &numbers(rows_of_w),
        1e-12,
    );
    relative(
        report,
        "limits W, l",
        limits.upper(),
        &numbers(&file["l"]),
        1e-12,
    );
}

fn reference(example: &Example, file: &Value, report: &mut File) {
    let mut trajectory = example.reference();
    let given = &file["reference"];
    for (i, t) in numbers(&file["t"]).into_iter().enumerate() {
        let point = trajectory.sample(t).expect("feasible");
        absolute(
            report,
            "reference xR",
            &configuration(&point.pose),
            &numbers(&given["xR"][i]),
            1e-10,
        );
        relative(
            report,
            "reference xiR",
            point.twist.as_slice(),
            &numbers(&given["xiR"][i]),
            1e-10,
        );
        relative(
            report,
            "reference xiRd",
            point.acceleration.as_slice(),
            &numbers(&given["xiRd"][i]),
            1e-10,
        );
    }
    let start = state(&file["x0"], &file["xi0"]);
    assert!(
        (start.pose.rotation.matrix().determinant() - 1.0).abs() < 1e-9,
        "x0 is a pose"
    );
}

fn linearisation(controller: &Controller, file: &Value, report: &mut File) {
    let Some(given) = file.get("linearisation_at_xR0") else {
        return;
    };
    let own = desired(controller.template().pair());
    for (key, found) in [
        ("M0", &own.inertia),
        ("D0", &own.damping),
        ("K0", &own.stiffness),
    ] {
        let expected = numbers(&given[key]);
        relative(
            report,
            "linearisation M0, D0, K0",
            &rows(found),
            &expected,
            1e-10,
        );
    }
    let found = characteristic_polynomial(&own);
    for (found, expected) in found.iter().zip(numbers(&given["charpoly"])) {
        relative(
            report,
            "characteristic polynomial",
            &[*found],
            &[expected],
            1e-8,
        );
    }
}
