//! Reference numbers computed elsewhere, by other means: `cargo test -p fly-lie --test golden -- --nocapture`.
//!
//! Every file under `testdata/golden`, or under the folder named by `FLY_GOLDEN_DIR`, is looked at; those of this crate are
//! the operators (`example: operators`), the groups (`kind: lie`) and `lie60.txt` from 60-digit arithmetic.

#![allow(non_snake_case)]

use fly_lie::operators::{
    ad, bracket, coadjoint_bracket, vee_matrix3, vee_matrix4, vee2_3, vee2_4, wed_matrix3,
    wed_matrix6, wed3, wed6,
};
use fly_lie::{SE3, SO3};
use fly_testing::golden::{self, File, Report, array, matrix, number, vector};
use nalgebra::{Matrix3, Matrix4, Matrix6, SMatrix, Vector3, Vector6};
use serde_json::Value;

#[test]
fn golden() {
    let mut report = Report::default();
    for path in golden::files(env!("CARGO_MANIFEST_DIR")) {
        if path.extension().is_some_and(|e| e == "txt") {
            if path.ends_with("lie60.txt") {
                lie60(report.file(&path), &golden::read(&path));
            }
            continue;
        }
        let data = golden::json(&path);
        if data["example"] == "operators" {
            operators(report.file(&path), &data);
        } else if data["kind"] == "lie" {
            groups(report.file(&path), &data);
        }
    }
    report.finish();
}

/// The operators of Konz 4.2.1 and the inertia terms made of them, to the rounding of a handful of products of numbers below ten.
fn operators(file: &mut File, data: &Value) {
    for case in array(&data["cases"]) {
        let (A3, A4): (Matrix3<f64>, Matrix4<f64>) = (matrix(&case["A3"]), matrix(&case["A4"]));
        let w: Vector3<f64> = vector(&case["w"]);
        let (xi, eta): (Vector6<f64>, Vector6<f64>) = (vector(&case["xi"]), vector(&case["eta"]));
        let Mp: Matrix4<f64> = matrix(&case["Mp"]);
        let G = SE3::try_from_matrix(&matrix(&case["G"]), 1e-14).expect("a pose");
        let M = vee_matrix4(&Mp);

        let mut case_of = file.case(case, 1e-13);
        case_of.is("wed3", &wed3(&w));
        case_of.is("wed6", &wed6(&xi));
        case_of.is("Vee3", &vee_matrix3(&A3));
        case_of.is("Wed3", &wed_matrix3(&A3));
        case_of.is("Vee4", &vee_matrix4(&A4));
        case_of.is("vee2_3", &vee2_3(&A3));
        case_of.is("vee2_4", &vee2_4(&A4));
        case_of.is("Ad", &G.adjoint());
        case_of.is("ad", &ad(&xi));
        case_of.is("Ginv", &G.inverse().matrix());
        case_of.is("exp_so3", SO3::exp(&w).matrix());
        case_of.is("M", &M);
        case_of.is("Wed6_of_M", &wed_matrix6(&M));
        // c = -ad(ξ)ᵀ M ξ and f = M η + c = vee2((wed η + wed² ξ) M').
        let c = -coadjoint_bracket(&xi, &(M * xi));
        case_of.is("c_body", &c);
        case_of.is("fM", &(M * eta + c));
        let X = wed6(&eta) + wed6(&xi) * wed6(&xi);
        case_of.is("fM", &vee2_4(&(X * Mp)));
    }
}

/// Exponentials, adjoints and Jacobians from an 80-digit Taylor series; angles from 1e-9 to exactly π.
fn groups(file: &mut File, data: &Value) {
    for case in array(&data["cases"]) {
        match case["group"].as_str() {
            Some("SO3") => so3_case(file, case),
            Some("SE3") => se3_case(file, case),
            // SE(2) is not in this crate.
            _ => {}
        }
    }
    for case in array(&data["exact_pi"]) {
        let axis: Vector3<f64> = vector(&case["axis"]);
        let w = SO3::from_matrix(matrix(&case["R"])).log();
        let expected = axis.normalize() * std::f64::consts::PI;
        let error = (w - expected).amax().min((w + expected).amax());
        file.error("log at π", error, 1e-14);
    }
    for case in array(&data["se3_composition"]) {
        let A = SE3::exp(&vector(&case["xi_A"]));
        let B = SE3::exp(&vector(&case["xi_B"]));
        let mut case_of = file.case(case, 1e-13);
        case_of.is("AB", &(A * B).matrix());
        case_of.is("A_inv", &A.inverse().matrix());
        case_of.is("Ad_A", &A.adjoint());
        case_of.is("Ad_A_inv", &A.adjoint_inverse());
        let derivative = &case["dAd_A_dt"];
        let got = A.adjoint() * ad(&vector(&derivative["xi"]));
        file.rows("dAd_A_dt", &got, &derivative["value"], 1e-13);
    }
    for case in array(&data["operators"]) {
        let (A3, A4): (Matrix3<f64>, Matrix4<f64>) = (matrix(&case["A3"]), matrix(&case["A4"]));
        let mut case_of = file.case(case, 1e-13);
        case_of.is("Vee_A3", &vee_matrix3(&A3));
        case_of.is("Vee_A4", &vee_matrix4(&A4));
        case_of.is("vee2_A3", &vee2_3(&A3));
        case_of.is("vee2_A4", &vee2_4(&A4));
    }
}

/// Tolerances as the file recommends: 1e-13 for the exponential and the adjoints, 1e-12 for the Jacobians.
fn so3_case(file: &mut File, case: &Value) {
    let (w, eta): (Vector3<f64>, Vector3<f64>) = (vector(&case["xi"]), vector(&case["eta"]));
    let R = SO3::exp(&w);
    let mut case_of = file.case(case, 1e-13);
    case_of.is("hat", &SO3::hat(&w));
    case_of.is("exp", R.matrix());
    case_of.is("Ad_exp", &R.adjoint());
    case_of.is("ad_xi", &wed3(&w));
    case_of.is("ad_xi_eta", &w.cross(&eta));
    case_of.within(1e-12);
    case_of.is("right_jacobian", &SO3::right_jacobian(&w));
    case_of.is("left_jacobian", &SO3::left_jacobian(&w));
    if has_inverse(case) {
        case_of.is("right_jacobian_inv", &SO3::right_jacobian_inverse(&w));
    }
    if case["log_is_xi"] == true {
        case_of
            .within(number(&case["log_abs_tol"]))
            .is("xi", &R.log());
    }
}

fn se3_case(file: &mut File, case: &Value) {
    let (xi, eta): (Vector6<f64>, Vector6<f64>) = (vector(&case["xi"]), vector(&case["eta"]));
    let G = SE3::exp(&xi);
    let mut case_of = file.case(case, 1e-13);
    case_of.is("hat", &SE3::hat(&xi));
    case_of.is("exp", &G.matrix());
    case_of.is("Ad_exp", &G.adjoint());
    case_of.is("ad_xi", &ad(&xi));
    case_of.is("ad_xi_eta", &bracket(&xi, &eta));
    case_of.within(1e-12);
    case_of.is("right_jacobian", &SE3::right_jacobian(&xi));
    case_of.is("left_jacobian", &SE3::left_jacobian(&xi));
    if has_inverse(case) {
        case_of.is("right_jacobian_inv", &SE3::right_jacobian_inverse(&xi));
    }
    if case["log_is_xi"] == true {
        case_of
            .within(number(&case["log_abs_tol"]))
            .is("xi", &G.log());
    }
}

/// The file leaves the inverse out where it does not exist or is badly conditioned, from π on.
fn has_inverse(case: &Value) -> bool {
    let given = !case["right_jacobian_inv"].is_null();
    assert!(
        given || number(&case["angle"]) > 3.0,
        "only near π and beyond"
    );
    given
}

/// 28 angles from 1e-12 to π - 1e-12, four cases each, right to 20 digits.
///
/// Errors are relative to `max(1, |v|)`. Every double that goes in is rounded, so 4e-16 is what can be had near π.
fn lie60(file: &mut File, text: &str) {
    for line in text.lines() {
        let numbers: Vec<f64> = (line.split_whitespace())
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

        let mut is = |what: &str, error: f64| file.error(what, error, 1e-15);
        is("exp SO3", (SO3::exp(&w).matrix() - R).amax());
        is("exp SE3 r", (SE3::exp(&xi).translation - p).amax() / scale);
        let G = SE3::new(SO3::from_matrix(R), p);
        is("log SO3", (G.rotation.log() - w).amax());
        is("log SE3", (G.log() - xi).amax() / scale);
        is("J_r SO3", (SO3::right_jacobian(&w) - Jr3).amax());
        is("J_r SE3", (SE3::right_jacobian(&xi) - Jr6).amax() / scale);

        // The file has no left Jacobian and no inverse: the left one is the right one of -ξ, and the transposed right one
        // for SO(3); of SE(3), J_l = Ad J_r, whose product adds rounding of its own.
        is("J_l SO3", (SO3::left_jacobian(&w) - Jr3.transpose()).amax());
        let mut is = |what: &str, error: f64| file.error(what, error, 3e-15);
        let J_l = G.adjoint() * Jr6;
        is("J_l SE3", (SE3::left_jacobian(&xi) - J_l).amax() / scale);
        is(
            "J_r^-1 SO3",
            residual(&SO3::right_jacobian_inverse(&w), &Jr3),
        );
        is(
            "J_r^-1 SE3",
            residual(&SE3::right_jacobian_inverse(&xi), &Jr6) / scale,
        );
    }
}

/// The largest entry of `inverse matrix - I`.
fn residual<const N: usize>(inverse: &SMatrix<f64, N, N>, matrix: &SMatrix<f64, N, N>) -> f64 {
    (inverse * matrix - SMatrix::identity()).amax()
}
