//! Reference numbers computed elsewhere, by other means: `cargo test -p fly-mechanics --test golden -- --nocapture`.
//!
//! Every file under `testdata/golden`, or under the folder named by `FLY_GOLDEN_DIR`, is looked at. Those of this crate are
//!
//! - the copters (`example: quad | bicopter | tricopter`): B, the limits, M and b;
//! - `example: freebody`: M and b;
//! - `example: operators`: the Coriolis matrix of a body;
//! - `kind: rigid_body`: a body of particles;
//! - `kind: stiffness`: springs in any constellation;
//! - `kind: system`: poses, twists, Jacobians and their rates, forces, energies, accelerations;
//! - `kind: rnea`: serial chains with a tool, given by screw axes;
//! - `kind: trajectory`: motion and energies;
//! - `kind: rigid_body_trajectory`: bodies about a fixed point;
//! - `kind: rolling_ellipsoid`: rolling ellipsoids;
//! - `kind: constraints`: constrained accelerations, dependent constraints too;
//! - `kind: qp`: quadratic programs with equality constraints;
//! - `kind: linearization`: the matrices of small deviations from a motion.

#![allow(non_snake_case)]

mod golden_bodies;
mod golden_constraints;
mod golden_coordinates;
mod golden_model;
mod special_bodies;

use std::f64::consts::PI;

use fly_lie::SE3;
use fly_mechanics::{FreeBody, PseudoInertia, Rotor, Rotors, SecondMoment, State, Tilt};
use fly_testing::golden::{self, File, Report, array, matrix, number, numbers, vector};
use nalgebra::{Matrix3, Vector3, Vector6};
use serde_json::Value;

#[test]
fn golden() {
    let mut report = Report::default();
    for path in golden::files(env!("CARGO_MANIFEST_DIR")) {
        if path.extension().is_some_and(|e| e == "txt") {
            continue;
        }
        let data = golden::json(&path);
        let Some(kind) = golden::kind(&path, &data, env!("CARGO_PKG_NAME")) else {
            continue;
        };
        if kind == "qp" && data["equality"].is_null() {
            continue;
        }
        let file = report.file(&path);
        match kind {
            "quad" => copter(file, &data, quadcopter),
            "bicopter" => copter(file, &data, bicopter),
            "tricopter" => copter(file, &data, tricopter),
            "freebody" => free_body(file, &data),
            "operators" => coriolis_matrix(file, &data),
            "rigid_body" => golden_bodies::particles(file, &data),
            "stiffness" => golden_bodies::stiffness(file, &data),
            "rolling_ellipsoid" => golden_bodies::rolling(file, &data),
            "rigid_body_trajectory" => {
                golden_bodies::gyroscopes(file, &data);
                golden_model::gyroscopes(file, &data);
            }
            "system" => golden_model::system(file, &data),
            "rnea" => golden_model::chains(file, &data),
            "trajectory" => golden_model::trajectory(file, &data),
            "constraints" => golden_constraints::accelerations(file, &data),
            "qp" => golden_coordinates::quadratic_programs(file, &data),
            "linearization" => golden_coordinates::linearizations(file, &data),
            other => panic!("{}: no reader for `{other}`", path.display()),
        }
    }
    report.finish();
}

/// Keys of a model in the files of the control chapter, and keys of their controllers and references.
fn config<'a>(data: &'a Value, model: &str) -> &'a Value {
    let config = &data["config"];
    let control = "T r0 rotvec0 xi0 ref{*} rho constrained mbar Thz Upz Piz p ctrl{k d m h l s Th Up Pi} A w ph off Aa wa pha psi1";
    golden::only(config, &format!("{model} {control}"));
    config
}

/// Model and limits of a copter: sums of a few products of numbers below ten.
fn copter(file: &mut File, data: &Value, rotors: fn(&Value) -> Vec<Rotor>) {
    let config = config(data, "m Th l ly lz bF beta zeta Fmin Fmax thmax nseg");
    let rotors = Rotors::new(rotors(config)).expect("the rotors are right");
    if !data["W"].is_null() {
        let limits = rotors.limits();
        file.rows("W", &limits.matrix, &data["W"], 1e-15);
        file.rows("l", &limits.bound, &data["l"], 1e-14);
        file.compare("u_feasible", rotors.interior(), &data["u_feasible"], 1e-15);
    }

    let moments = Matrix3::from_diagonal(&vector(&config["Th"]));
    model(file, data, Vector3::zeros(), moments);
    for sample in array(&data["samples"]) {
        file.case(sample, 1e-15).is("B", rotors.input_matrix());
    }
}

fn free_body(file: &mut File, data: &Value) {
    let config = config(data, "m s Thc");
    model(file, data, vector(&config["s"]), matrix(&config["Thc"]));
}

/// M and b of one body, whose moments are about its centre of mass.
fn model(file: &mut File, data: &Value, center: Vector3<f64>, moments: Matrix3<f64>) {
    let mass = number(&data["config"]["m"]);
    let inertia = PseudoInertia::from_center(mass, center, moments).expect("an inertia");
    let body = FreeBody::new(inertia, Vector3::new(0.0, 0.0, -9.81));
    for sample in array(&data["samples"]) {
        let state = State {
            pose: pose(&numbers(&sample["x"])),
            twist: vector(&sample["xi"]),
        };
        let mut case = file.case(sample, 1e-13);
        case.is("M", body.mass_matrix());
        case.is("b", &body.bias(&state));
    }
}

/// `[r, R]` with the rotation matrix column by column.
fn pose(x: &[f64]) -> SE3<f64> {
    let R = Matrix3::from_column_slice(&x[3..12]);
    let r = Vector3::from_column_slice(&x[..3]);
    SE3::new(fly_lie::SO3::from_matrix(R), r)
}

fn rotor(index: usize, config: &Value, position: Vector3<f64>, axis: Vector3<f64>) -> Rotor {
    Rotor {
        name: index.to_string(),
        position,
        axis,
        drag_ratio: 0.0,
        thrust: [number(&config["Fmin"]), number(&config["Fmax"])],
        time_constant: 0.0,
        tilt: None,
        propeller: fly_mechanics::Propeller::default(),
    }
}

fn tilt(config: &Value, axis: Vector3<f64>) -> Tilt {
    Tilt {
        axis,
        limit: number(&config["thmax"]),
        time_constant: 0.0,
        segments: golden::count(&config["nseg"]),
    }
}

/// Konz (5.165): rotors at +x, +y, -x, -y, the first of which turns to the left.
fn quadcopter(config: &Value) -> Vec<Rotor> {
    let (l, drag) = (number(&config["l"]), number(&config["bF"]));
    let arms = [Vector3::x(), Vector3::y(), -Vector3::x(), -Vector3::y()];
    let rotors = arms.into_iter().enumerate().map(|(i, arm)| Rotor {
        drag_ratio: if i % 2 == 0 { -drag } else { drag },
        ..rotor(i, config, arm * l, Vector3::z())
    });
    rotors.collect()
}

/// Konz (5.171): rotors at the sides, canted outward by beta, tilting so that the thrust swings towards x.
fn bicopter(config: &Value) -> Vec<Rotor> {
    let (sin, cos) = number(&config["beta"]).sin_cos();
    let rotors = [1.0, -1.0].into_iter().enumerate().map(|(i, side)| {
        let position = Vector3::new(0.0, side * number(&config["ly"]), number(&config["lz"]));
        let axis = Vector3::new(0.0, side * sin, cos);
        Rotor {
            tilt: Some(tilt(config, axis.cross(&Vector3::x()))),
            ..rotor(i, config, position, axis)
        }
    });
    rotors.collect()
}

/// Rotors at 60, 180 and -60 degrees that tilt about their arms.
fn tricopter(config: &Value) -> Vec<Rotor> {
    let signs = numbers(&config["zeta"]);
    let angles = [PI / 3.0, PI, -PI / 3.0];
    let rotors = angles
        .into_iter()
        .zip(signs)
        .enumerate()
        .map(|(i, (phi, sign))| {
            let arm = Vector3::new(phi.cos(), phi.sin(), 0.0);
            Rotor {
                drag_ratio: sign * number(&config["bF"]),
                tilt: Some(tilt(config, arm)),
                ..rotor(i, config, arm * number(&config["l"]), Vector3::z())
            }
        });
    rotors.collect()
}

/// `C(M', xi)` of Konz (5.85h).
fn coriolis_matrix(file: &mut File, data: &Value) {
    for case in array(&data["cases"]) {
        let moment = SecondMoment::from_matrix4(matrix(&case["Mp"]));
        let xi: Vector6<f64> = vector(&case["xi"]);
        let mut case = file.case(case, 1e-13);
        let C = moment.coriolis_matrix(&xi);
        case.is("C_body", &C);
        case.is("c_body", &(C * xi));
        case.is("M", &moment.matrix6());
    }
}
