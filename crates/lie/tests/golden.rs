//! Reference numbers computed elsewhere, by other means: `cargo test -p fly-lie --test golden -- --nocapture`.
//!
//! Every file under `testdata/golden`, or under the folder named by `FLY_GOLDEN_DIR`, is looked at; those of this crate are
//! the operators (`example: operators`), the groups (`kind: lie`), attitudes (`kind: attitude`), the attitude potentials of
//! `kind: stiffness`, and tables from 60-digit arithmetic (`lie60.txt`, lines of 64 numbers).

#![allow(non_snake_case)]

use std::f64::consts::PI;

use fly_lie::attitude::{AxisAngle, Euler, EulerSequence, MinimalRotation, YawTilt, quaternion};
use fly_lie::operators::{
    ad, angular, bracket, coadjoint_bracket, double_vee3, double_vee6, hat_matrix3, hat_matrix6,
    hat3, hat6, vee_matrix3, vee_matrix6, vee3,
};
use fly_lie::{AttitudePotential, Coriolis, SE2, SE3, SO3};
use fly_testing::golden::{self, File, Report, array, matrix, number, vector};
use nalgebra::{Matrix3, Matrix4, Matrix6, SMatrix, Vector3, Vector6};
use serde_json::Value;

#[test]
fn golden() {
    let mut report = Report::default();
    let mut kinds = std::collections::BTreeSet::new();
    for path in golden::files(env!("CARGO_MANIFEST_DIR")) {
        if path.extension().is_some_and(|e| e == "txt") {
            lie60(report.file(&path), &golden::read(&path));
            kinds.insert("lie60".to_owned());
            continue;
        }
        let data = golden::json(&path);
        let Some(kind) = golden::kind(&path, &data, env!("CARGO_PKG_NAME")) else {
            continue;
        };
        match kind {
            "operators" => operators(report.file(&path), &data),
            "lie" => groups(report.file(&path), &data),
            "attitude" => attitudes(report.file(&path), &data),
            "stiffness" if data["attitude_potential"].is_null() => continue,
            "stiffness" => potentials(report.file(&path), &data),
            other => panic!("{}: no reader for `{other}`", path.display()),
        }
        kinds.insert(kind.to_owned());
    }
    report.finish();
    // Another folder may hold less.
    if std::env::var_os("FLY_GOLDEN_DIR").is_none() {
        assert_eq!(kinds.len(), 5, "{kinds:?}");
    }
}

/// The operators of Konz 4.2.1 and the inertia terms built from them, to the rounding of a handful of products of numbers below ten.
fn operators(file: &mut File, data: &Value) {
    golden::only(
        data,
        "cases[A3 A4 w xi eta G Mp wed3 wed6 Vee3 Wed3 Vee4 vee2_3 vee2_4 Ad ad Ginv exp_so3 M Wed6_of_M C_body c_body fM]",
    );
    for case in array(&data["cases"]) {
        let (A3, A4): (Matrix3<f64>, Matrix4<f64>) = (matrix(&case["A3"]), matrix(&case["A4"]));
        let w: Vector3<f64> = vector(&case["w"]);
        let (xi, eta): (Vector6<f64>, Vector6<f64>) = (vector(&case["xi"]), vector(&case["eta"]));
        let Mp: Matrix4<f64> = matrix(&case["Mp"]);
        let G = SE3::try_from_matrix(&matrix(&case["G"]), 1e-14).expect("a pose");
        let M = vee_matrix6(&Mp);

        let mut case_of = file.case(case, 1e-13);
        case_of.is("wed3", &hat3(&w));
        case_of.is("wed6", &hat6(&xi));
        case_of.is("Vee3", &vee_matrix3(&A3));
        case_of.is("Wed3", &hat_matrix3(&A3));
        case_of.is("Vee4", &vee_matrix6(&A4));
        case_of.is("vee2_3", &double_vee3(&A3));
        case_of.is("vee2_4", &double_vee6(&A4));
        case_of.is("Ad", &G.adjoint());
        case_of.is("ad", &ad(&xi));
        case_of.is("Ginv", &G.inverse().matrix());
        case_of.is("exp_so3", SO3::exp(&w).matrix());
        case_of.is("M", &M);
        case_of.is("Wed6_of_M", &hat_matrix6(&M));
        // c = -ad(ξ)ᵀ M ξ and f = M η + c = vee2((hat η + hat² ξ) M').
        let c = -coadjoint_bracket(&xi, &(M * xi));
        case_of.is("c_body", &c);
        case_of.is("c_body", &(SE3::coriolis(&(M * xi)) * xi));
        case_of.is("fM", &(M * eta + c));
        let X = hat6(&eta) + hat6(&xi) * hat6(&xi);
        case_of.is("fM", &double_vee6(&(X * Mp)));
        // The matrix of Konz (5.85h), of a body with mass m, centre s and the inertia Θ: another one with the same product with the twist.
        let ms = vee3(&M.fixed_view::<3, 3>(3, 0).into_owned());
        let (m, S) = (M[(0, 0)], hat3(&ms));
        let Theta = M.fixed_view::<3, 3>(3, 3).into_owned();
        let omega = angular(&xi);
        let W = hat3(&omega);
        let mut C = Matrix6::zeros();
        C.fixed_view_mut::<3, 3>(0, 0).copy_from(&(W * m));
        C.fixed_view_mut::<3, 3>(0, 3).copy_from(&(-W * S));
        C.fixed_view_mut::<3, 3>(3, 0).copy_from(&(S * W));
        let turning = hat3(&(hat_matrix3(&Theta) * omega));
        C.fixed_view_mut::<3, 3>(3, 3).copy_from(&turning);
        case_of.is("C_body", &C);
    }
}

/// Exponentials, adjoints and Jacobians from an 80-digit Taylor series; angles from 1e-9 to exactly π.
fn groups(file: &mut File, data: &Value) {
    golden::only(
        data,
        "cases[group xi eta hat exp Ad_exp ad_xi ad_xi_eta right_jacobian left_jacobian right_jacobian_inv angle log_is_xi log_abs_tol]
         exact_pi[axis R] se3_composition[xi_A xi_B A B AB A_inv Ad_A Ad_A_inv dAd_A_dt{xi value}] operators[A3 A4 Vee_A3 Vee_A4 vee2_A3 vee2_A4]",
    );
    // Of the exponentials and adjoints, and of the Jacobians.
    let [exponentials, jacobians] = golden::tolerances(data, [1e-13, 1e-12]);
    for case in array(&data["cases"]) {
        let within = (exponentials, jacobians);
        match case["group"].as_str() {
            Some("SO3") => so3_case(file, case, within),
            Some("SE3") => se3_case(file, case, within),
            Some("SE2") => se2_case(file, case, within),
            other => panic!("an unknown group: {other:?}"),
        }
    }
    for case in array(&data["exact_pi"]) {
        let axis: Vector3<f64> = vector(&case["axis"]);
        let w = SO3::from_matrix(matrix(&case["R"])).log();
        let expected = axis.normalize() * PI;
        let error = (w - expected).amax().min((w + expected).amax());
        file.error("log at π", error, 1e-14);
    }
    for case in array(&data["se3_composition"]) {
        let A = SE3::exp(&vector(&case["xi_A"]));
        let B = SE3::exp(&vector(&case["xi_B"]));
        let mut case_of = file.case(case, exponentials);
        case_of.is("AB", &(A * B).matrix());
        case_of.is("A_inv", &A.inverse().matrix());
        case_of.is("Ad_A", &A.adjoint());
        case_of.is("Ad_A_inv", &A.adjoint_inverse());
        let derivative = &case["dAd_A_dt"];
        let got = A.adjoint() * ad(&vector(&derivative["xi"]));
        file.rows("dAd_A_dt", &got, &derivative["value"], exponentials);
    }
    for case in array(&data["operators"]) {
        let (A3, A4): (Matrix3<f64>, Matrix4<f64>) = (matrix(&case["A3"]), matrix(&case["A4"]));
        let mut case_of = file.case(case, exponentials);
        case_of.is("Vee_A3", &vee_matrix3(&A3));
        case_of.is("Vee_A4", &vee_matrix6(&A4));
        case_of.is("vee2_A3", &double_vee3(&A3));
        case_of.is("vee2_A4", &double_vee6(&A4));
    }
}

/// `within` the exponential and the adjoints, and the Jacobians, are compared.
fn so3_case(file: &mut File, case: &Value, within: (f64, f64)) {
    let (w, eta): (Vector3<f64>, Vector3<f64>) = (vector(&case["xi"]), vector(&case["eta"]));
    let R = SO3::exp(&w);
    let mut case_of = file.case(case, within.0);
    case_of.is("hat", &SO3::hat(&w));
    case_of.is("exp", R.matrix());
    case_of.is("Ad_exp", &R.adjoint());
    case_of.is("ad_xi", &hat3(&w));
    case_of.is("ad_xi_eta", &w.cross(&eta));
    case_of.within(within.1);
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

fn se3_case(file: &mut File, case: &Value, within: (f64, f64)) {
    let (xi, eta): (Vector6<f64>, Vector6<f64>) = (vector(&case["xi"]), vector(&case["eta"]));
    let G = SE3::exp(&xi);
    let mut case_of = file.case(case, within.0);
    case_of.is("hat", &SE3::hat(&xi));
    case_of.is("exp", &G.matrix());
    case_of.is("Ad_exp", &G.adjoint());
    case_of.is("ad_xi", &ad(&xi));
    case_of.is("ad_xi_eta", &bracket(&xi, &eta));
    case_of.within(within.1);
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

/// Like [`so3_case`].
fn se2_case(file: &mut File, case: &Value, within: (f64, f64)) {
    let (x, eta): (Vector3<f64>, Vector3<f64>) = (vector(&case["xi"]), vector(&case["eta"]));
    let G = SE2::exp(&x);
    let mut case_of = file.case(case, within.0);
    case_of.is("hat", &SE2::hat(&x));
    case_of.is("exp", &G.matrix());
    case_of.is("Ad_exp", &G.adjoint());
    case_of.is("ad_xi", &SE2::ad(&x));
    case_of.is("ad_xi_eta", &(SE2::ad(&x) * eta));
    case_of.within(within.1);
    case_of.is("right_jacobian", &SE2::right_jacobian(&x));
    case_of.is("left_jacobian", &SE2::left_jacobian(&x));
    if has_inverse(case) {
        case_of.is("right_jacobian_inv", &SE2::right_jacobian_inverse(&x));
    }
    if case["log_is_xi"] == true {
        case_of
            .within(number(&case["log_abs_tol"]))
            .is("xi", &G.log());
    }
}

/// Quaternions, axis and angle, roll-pitch-yaw, minimal rotations and yaw-tilt, with rates; 80-digit arithmetic.
///
/// Tolerances are the file's, for rates that grow near a singularity relative ones.
fn attitudes(file: &mut File, data: &Value) {
    golden::only(
        data,
        "quaternion_cases[quat_wxyz R omega_body qdot theta axis rpy_alpha_beta_phi rpy_rates] products[q1 q2 q1q2 R1R2]
         minimal_rotation[a b adot bdot addot bddot R omega_body omegadot_body] yaw_tilt[p phi R_PZ R]",
    );
    let [absolute, of_rpy_rates, of_minimal_rates] = golden::tolerances(data, [1e-12, 1e-10, 1e-9]);
    for case in array(&data["quaternion_cases"]) {
        let (q, R) = (
            vector(&case["quat_wxyz"]),
            SO3::from_matrix(matrix(&case["R"])),
        );
        let omega: Vector3<f64> = vector(&case["omega_body"]);
        let mut case_of = file.case(case, absolute);
        case_of.is("R", SO3::from_quaternion(&q).matrix());
        case_of.is("qdot", &quaternion::rates(&q, &omega));
        let read = R.to_quaternion();
        // At a half turn the sign is free.
        let sign = if read.dot(&q) < 0.0 { -1.0 } else { 1.0 };
        case_of.is("quat_wxyz", &(read * sign));
        case_of.is_number("theta", R.log().norm());
        let back = quaternion::angular_velocity(&q, &quaternion::rates(&q, &omega));
        case_of.is("omega_body", &back);
        if let Ok(turn) = AxisAngle::from_rotation(&R)
            && !case["axis"].is_null()
        {
            let axis: Vector3<f64> = vector(&case["axis"]);
            let half_turn = (turn.angle - PI).abs() < 1e-7 && turn.axis.dot(&axis) < 0.0;
            case_of.is("axis", &(turn.axis * if half_turn { -1.0 } else { 1.0 }));
        }
        if !case["rpy_alpha_beta_phi"].is_null() {
            let euler = Euler::from_rotation(&R, EulerSequence::ZYX);
            let [yaw, pitch, roll] = euler.angles;
            case_of.is("rpy_alpha_beta_phi", &Vector3::new(roll, pitch, yaw));
            if !case["rpy_rates"].is_null() {
                let rates = euler.rates(&omega).expect("no gimbal lock");
                let expected: Vector3<f64> = vector(&case["rpy_rates"]);
                let error = (Vector3::new(rates.z, rates.y, rates.x) - expected).amax();
                file.error("rpy_rates", error / expected.amax().max(1.0), of_rpy_rates);
            }
        }
    }
    for case in array(&data["products"]) {
        let (p, q) = (vector(&case["q1"]), vector(&case["q2"]));
        let mut case_of = file.case(case, absolute);
        case_of.is("q1q2", &quaternion::product(&p, &q));
        let product = SO3::from_quaternion(&p) * SO3::from_quaternion(&q);
        case_of.is("R1R2", product.matrix());
    }
    for case in array(&data["minimal_rotation"]) {
        let of = |name: &str| -> Vector3<f64> { vector(&case[name]) };
        let minimal = MinimalRotation::new(of("a"), of("b")).expect("not opposite");
        let (a, b) = ((of("adot"), of("addot")), (of("bdot"), of("bddot")));
        let omega = minimal.angular_velocity(&a.0, &b.0);
        let omega_dot = minimal.angular_acceleration((&a.0, &a.1), (&b.0, &b.1));
        for (name, got) in [("omega_body", omega), ("omegadot_body", omega_dot)] {
            let expected = of(name);
            file.error(
                name,
                (got - expected).amax() / expected.amax().max(1.0),
                of_minimal_rates,
            );
        }
        // The other way: the target moves as given.
        let rate = minimal.target_rate(&omega, &a.0);
        let acceleration = minimal.target_acceleration((&omega, &omega_dot), (&a.0, &a.1));
        let scale = omega.amax().max(1.0);
        file.error("bdot", (rate - b.0).amax() / scale, absolute);
        file.error(
            "bddot",
            (acceleration - b.1).amax() / (scale * scale),
            absolute,
        );
        // Near opposite directions the given ones, rounded, fix the rotation that less well.
        let tolerance = 1e-15 * minimal.rotation().log().norm().max(1.0)
            / (of("a") + of("b")).norm_squared().min(1.0);
        let error = (minimal.rotation().matrix() - matrix::<3, 3>(&case["R"])).amax();
        file.error("minimal R", error, tolerance.max(absolute));
    }
    for case in array(&data["yaw_tilt"]) {
        let (p, yaw): (Vector3<f64>, f64) = (vector(&case["p"]), number(&case["phi"]));
        let attitude = YawTilt::new(yaw, p).expect("not upside down");
        let mut case_of = file.case(case, absolute);
        case_of.is("R_PZ", attitude.tilt_rotation().matrix());
        case_of.is("R", attitude.rotation().matrix());
        let read = YawTilt::from_rotation(&SO3::from_matrix(matrix(&case["R"])));
        let read = read.expect("not upside down");
        case_of.is("p", &read.tilt());
        case_of.is_number("phi", read.yaw());
    }
}

/// The smallest and largest value of `-tr(P R)`, found by search, and the Hessian at the minimum.
fn potentials(file: &mut File, data: &Value) {
    let potentials = &data["attitude_potential"];
    golden::only(potentials, "cases[P R_min V_min hess_min V_max]");
    let [within] = golden::tolerances(data, [1e-10]);
    for case in array(&potentials["cases"]) {
        let potential = AttitudePotential::new(matrix(&case["P"])).expect("finite");
        let minimum = potential.minimum();
        let sets: Vec<_> = potential.critical_sets(1e-12).collect();
        let mut case_of = file.case(case, within);
        case_of.is("R_min", minimum.matrix());
        case_of.is("hess_min", &potential.hessian(&minimum));
        case_of.is("hess_min", &potential.stiffness());
        case_of.is_number("V_min", potential.value(&minimum));
        case_of.is_number("V_min", sets[0].value);
        let largest = sets.last().expect("one set at least");
        case_of.is_number("V_max", largest.value);
        case_of.is_number("V_max", potential.value(&largest.rotation()));
        for set in &sets {
            file.error(
                "gradient",
                potential.gradient(&set.rotation()).amax(),
                1e-12,
            );
        }
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

/// Numbers in a line: the angle, v, ω, R, r, the right Jacobians of SO(3) and SE(3).
const LIE60: usize = 1 + 3 + 3 + 9 + 3 + 9 + 36;

/// 28 angles from 1e-12 to π - 1e-12, four cases each, right to 20 digits.
///
/// Errors are relative to `max(1, |v|)`. Every double that goes in is rounded, so 4e-16 is attainable near π. At exactly π
/// either sign of the axis is right; the twist with the other sign is then compared through the pose that it leads to.
fn lie60(file: &mut File, text: &str) {
    for line in text.lines() {
        let numbers: Vec<f64> = (line.split_whitespace())
            .map(|x| x.parse().expect("a number"))
            .collect();
        assert_eq!(numbers.len(), LIE60, "numbers in a line");
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
        let (log, log6) = (G.rotation.log(), G.log());
        if w.norm() > 3.0 && log.dot(&w) < 0.0 {
            is("log SO3", (log + w).amax().max((w.norm() - PI).abs()));
            is("log SE3", (SE3::exp(&log6).translation - p).amax() / scale);
        } else {
            is("log SO3", (log - w).amax());
            is("log SE3", (log6 - xi).amax() / scale);
        }
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
