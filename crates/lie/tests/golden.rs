//! Reference numbers computed elsewhere, by other means: `cargo test -p fly-lie --test golden -- --nocapture`.
//!
//! Every file under `testdata/golden`, or under the folder named by `FLY_GOLDEN_DIR`, is looked at; those of this crate are
//! the operators (`example: operators`), the groups (`kind: lie`) and `lie60.txt` from 60-digit arithmetic.

#![allow(non_snake_case)]

mod golden_data;

use fly_lie::operators::{
    ad, coadjoint_bracket, vee_matrix3, vee_matrix4, vee2_3, vee2_4, wed_matrix3, wed_matrix6,
    wed3, wed6,
};
use fly_lie::{SE3, SO3};
use golden_data::{Report, matrix, vector};
use nalgebra::{Matrix3, Matrix4, Matrix6, SMatrix, Vector3, Vector6};
use serde_json::Value;

/// Rounding of a handful of products of numbers below ten.
const OPERATORS: f64 = 1e-13;

#[test]
fn golden() {
    let mut report = Report::default();
    for path in golden_data::files() {
        let name = path.display().to_string();
        let text = std::fs::read_to_string(&path).unwrap_or_else(|e| panic!("{name}: {e}"));
        if path.extension().is_some_and(|e| e == "txt") {
            if name.ends_with("lie60.txt") {
                lie60(report.file(&name), &text);
            }
            continue;
        }
        let data: Value = serde_json::from_str(&text).unwrap_or_else(|e| panic!("{name}: {e}"));
        if data["example"] == "operators" {
            operators(report.file(&name), &data);
        } else if data["kind"] == "lie" {
            groups(report.file(&name), &data);
        }
    }
    report.finish();
}

/// The operators of Konz 4.2.1 and the inertia terms made of them.
fn operators(file: &mut golden_data::File, data: &Value) {
    for case in golden_data::array(&data["cases"]) {
        let mut is = |key: &str, got: &[f64]| file.compare(key, got, &case[key], OPERATORS);
        let (A3, A4): (Matrix3<f64>, Matrix4<f64>) = (matrix(&case["A3"]), matrix(&case["A4"]));
        let (w, xi, eta): (Vector3<f64>, Vector6<f64>, Vector6<f64>) = (
            vector(&case["w"]),
            vector(&case["xi"]),
            vector(&case["eta"]),
        );
        let (G, Mp): (Matrix4<f64>, Matrix4<f64>) = (matrix(&case["G"]), matrix(&case["Mp"]));
        let G = SE3::try_from_matrix(&G, 1e-14).expect("a pose");
        let M = vee_matrix4(&Mp);

        is("wed3", wed3(&w).transpose().as_slice());
        is("wed6", wed6(&xi).transpose().as_slice());
        is("Vee3", vee_matrix3(&A3).transpose().as_slice());
        is("Wed3", wed_matrix3(&A3).transpose().as_slice());
        is("Vee4", vee_matrix4(&A4).transpose().as_slice());
        is("vee2_3", vee2_3(&A3).as_slice());
        is("vee2_4", vee2_4(&A4).as_slice());
        is("Ad", G.adjoint().transpose().as_slice());
        is("ad", ad(&xi).transpose().as_slice());
        is("Ginv", G.inverse().matrix().transpose().as_slice());
        is("exp_so3", SO3::exp(&w).matrix().transpose().as_slice());
        is("M", M.transpose().as_slice());
        is("Wed6_of_M", wed_matrix6(&M).transpose().as_slice());
        // c = -ad(ξ)ᵀ M ξ and f = M η - ad(ξ)ᵀ M ξ = vee2((wed η + wed² ξ) M').
        let c = -coadjoint_bracket(&xi, &(M * xi));
        is("c_body", c.as_slice());
        is("fM", (M * eta + c).as_slice());
        is(
            "fM",
            vee2_4(&((wed6(&eta) + wed6(&xi) * wed6(&xi)) * Mp)).as_slice(),
        );
        // The same c as a matrix times the velocity, skew-symmetric.
        let C: Matrix6<f64> = matrix(&case["C_body"]);
        is("c_body", (C * xi).as_slice());
    }
}

/// Exponentials, adjoints and Jacobians from an 80-digit Taylor series; angles from 1e-9 to exactly π.
fn groups(file: &mut golden_data::File, data: &Value) {
    for case in golden_data::array(&data["cases"]) {
        match case["group"].as_str() {
            Some("SO3") => {
                let w: Vector3<f64> = vector(&case["xi"]);
                let eta: Vector3<f64> = vector(&case["eta"]);
                let R = SO3::exp(&w);
                let ad_eta = wed3(&w) * eta;
                group_case(
                    file,
                    case,
                    [
                        SO3::hat(&w),
                        *R.matrix(),
                        R.adjoint(),
                        wed3(&w),
                        SO3::right_jacobian(&w),
                        SO3::left_jacobian(&w),
                        SO3::right_jacobian_inverse(&w),
                    ],
                    ad_eta.as_slice(),
                    R.log().as_slice(),
                );
            }
            Some("SE3") => {
                let xi: Vector6<f64> = vector(&case["xi"]);
                let eta: Vector6<f64> = vector(&case["eta"]);
                let G = SE3::exp(&xi);
                let J = [
                    G.adjoint(),
                    ad(&xi),
                    SE3::right_jacobian(&xi),
                    SE3::left_jacobian(&xi),
                    SE3::right_jacobian_inverse(&xi),
                ];
                file.compare(
                    "hat",
                    SE3::hat(&xi).transpose().as_slice(),
                    &case["hat"],
                    1e-13,
                );
                file.compare(
                    "exp",
                    G.matrix().transpose().as_slice(),
                    &case["exp"],
                    1e-13,
                );
                let keys = &GROUP_KEYS[2..];
                for (key, value) in keys.iter().zip(J) {
                    file.compare(
                        key,
                        value.transpose().as_slice(),
                        &case[*key],
                        tolerance(key),
                    );
                }
                file.compare(
                    "ad_xi_eta",
                    (ad(&xi) * eta).as_slice(),
                    &case["ad_xi_eta"],
                    1e-13,
                );
                log_case(file, case, G.log().as_slice());
            }
            _ => {}
        }
    }
    for case in golden_data::array(&data["exact_pi"]) {
        let axis: Vector3<f64> = vector(&case["axis"]);
        let w = SO3::from_matrix(matrix(&case["R"])).log();
        let expected = axis.normalize() * std::f64::consts::PI;
        let error = (w - expected).amax().min((w + expected).amax());
        file.error("log at π", error, 1e-14);
    }
    for case in golden_data::array(&data["se3_composition"]) {
        let A = SE3::exp(&vector(&case["xi_A"]));
        let B = SE3::exp(&vector(&case["xi_B"]));
        let mut is = |key: &str, got: &[f64]| file.compare(key, got, &case[key], 1e-13);
        is("AB", (A * B).matrix().transpose().as_slice());
        is("A_inv", A.inverse().matrix().transpose().as_slice());
        is("Ad_A", A.adjoint().transpose().as_slice());
        is("Ad_A_inv", A.adjoint_inverse().transpose().as_slice());
        let derivative = &case["dAd_A_dt"];
        let got = A.adjoint() * ad(&vector(&derivative["xi"]));
        file.compare(
            "dAd_A_dt",
            got.transpose().as_slice(),
            &derivative["value"],
            1e-13,
        );
    }
    for case in golden_data::array(&data["operators"]) {
        let mut is = |key: &str, got: &[f64]| file.compare(key, got, &case[key], OPERATORS);
        let (A3, A4): (Matrix3<f64>, Matrix4<f64>) = (matrix(&case["A3"]), matrix(&case["A4"]));
        is("Vee_A3", vee_matrix3(&A3).transpose().as_slice());
        is("Vee_A4", vee_matrix4(&A4).transpose().as_slice());
        is("vee2_A3", vee2_3(&A3).as_slice());
        is("vee2_A4", vee2_4(&A4).as_slice());
    }
}

const GROUP_KEYS: [&str; 7] = [
    "hat",
    "exp",
    "Ad_exp",
    "ad_xi",
    "right_jacobian",
    "left_jacobian",
    "right_jacobian_inv",
];

/// As the file recommends: 1e-13 for the exponential and the adjoints, 1e-12 for the Jacobians.
fn tolerance(key: &str) -> f64 {
    if key.contains("jacobian") {
        1e-12
    } else {
        1e-13
    }
}

fn group_case(
    file: &mut golden_data::File,
    case: &Value,
    matrices: [Matrix3<f64>; 7],
    ad_eta: &[f64],
    log: &[f64],
) {
    for (key, value) in GROUP_KEYS.iter().zip(matrices) {
        file.compare(
            key,
            value.transpose().as_slice(),
            &case[*key],
            tolerance(key),
        );
    }
    file.compare("ad_xi_eta", ad_eta, &case["ad_xi_eta"], 1e-13);
    log_case(file, case, log);
}

fn log_case(file: &mut golden_data::File, case: &Value, log: &[f64]) {
    if case["log_is_xi"] == true {
        let tolerance = case["log_abs_tol"].as_f64().expect("a tolerance");
        file.compare("xi", log, &case["xi"], tolerance);
    }
}

/// 28 angles from 1e-12 to π - 1e-12, four cases each, right to 20 digits.
///
/// Errors are relative to `max(1, |v|)`. Every double that goes in is rounded, so 4e-16 is what can be had near π.
fn lie60(file: &mut golden_data::File, text: &str) {
    for line in text.lines() {
        let numbers: Vec<f64> = line
            .split_whitespace()
            .map(|x| x.parse().expect("a number"))
            .collect();
        assert_eq!(
            numbers.len(),
            1 + 3 + 3 + 9 + 3 + 9 + 36,
            "numbers in a line"
        );
        let v = Vector3::from_column_slice(&numbers[1..4]);
        let w = Vector3::from_column_slice(&numbers[4..7]);
        let xi = Vector6::from_column_slice(&numbers[1..7]);
        let R = Matrix3::from_row_slice(&numbers[7..16]);
        let p = Vector3::from_column_slice(&numbers[16..19]);
        let Jr3 = Matrix3::from_row_slice(&numbers[19..28]);
        let Jr6 = Matrix6::from_row_slice(&numbers[28..64]);
        let scale = v.norm().max(1.0);
        let mut is = |what: &str, error: f64, tolerance: f64| file.error(what, error, tolerance);

        let G = SE3::exp(&xi);
        is("exp SO3", (SO3::exp(&w).matrix() - R).amax(), EXP);
        is("exp SE3 r", (G.translation - p).amax() / scale, EXP);
        let G = SE3::new(SO3::from_matrix(R), p);
        is("log SO3", (G.rotation.log() - w).amax(), EXP);
        is("log SE3", (G.log() - xi).amax() / scale, EXP);
        is("J_r SO3", (SO3::right_jacobian(&w) - Jr3).amax(), EXP);
        is(
            "J_r SE3",
            (SE3::right_jacobian(&xi) - Jr6).amax() / scale,
            EXP,
        );
        // Jₗ = Ad Jᵣ, and the inverses against the reference's Jacobian.
        is("J_l SO3", (SO3::left_jacobian(&w) - R * Jr3).amax(), EXP);
        let Jl6 = G.adjoint() * Jr6;
        is(
            "J_l SE3",
            (SE3::left_jacobian(&xi) - Jl6).amax() / (scale * p.norm().max(1.0)),
            EXP,
        );
        is(
            "J_r^-1 SO3",
            residual(&SO3::right_jacobian_inverse(&w), &Jr3),
            INVERSE,
        );
        is(
            "J_r^-1 SE3",
            residual(&SE3::right_jacobian_inverse(&xi), &Jr6) / scale,
            INVERSE,
        );
    }
}

const EXP: f64 = 1e-15;
const INVERSE: f64 = 3e-15;

/// The largest entry of `inverse matrix - I`.
fn residual<const N: usize>(inverse: &SMatrix<f64, N, N>, matrix: &SMatrix<f64, N, N>) -> f64 {
    (inverse * matrix - SMatrix::identity()).amax()
}
