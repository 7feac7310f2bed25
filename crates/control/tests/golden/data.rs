//! Numbers out of JSON, and comparisons.

use fly_control::linear::LinearModel;
use fly_control::poles::polynomial;
use fly_lie::{SE3, SO3};
use fly_mechanics::State;
use fly_testing::golden::{File, numbers};
use nalgebra::{DMatrix, Matrix3, Vector3, Vector6};
use serde_json::Value;

/// Compares to `tolerance` times the largest magnitude expected (times 1 if that is zero).
pub fn relative(file: &mut File, what: &str, found: &[f64], expected: &[f64], tolerance: f64) {
    let scale = expected.iter().fold(0.0_f64, |m, x| m.max(x.abs()));
    scaled(
        file,
        what,
        (found, expected),
        tolerance,
        if scale > 0.0 { scale } else { 1.0 },
    );
}

/// Compares to an absolute tolerance.
pub fn absolute(file: &mut File, what: &str, found: &[f64], expected: &[f64], tolerance: f64) {
    scaled(file, what, (found, expected), tolerance, 1.0);
}

fn scaled(file: &mut File, what: &str, pair: (&[f64], &[f64]), tolerance: f64, scale: f64) {
    let (found, expected) = pair;
    assert_eq!(found.len(), expected.len(), "{what}: length");
    for (a, b) in found.iter().zip(expected) {
        file.error(what, (a - b).abs() / scale, tolerance);
    }
}

/// A 3-vector; a single number is the third component.
pub fn vector3(value: &Value) -> Vector3<f64> {
    match value.as_f64() {
        Some(z) => Vector3::new(0.0, 0.0, z),
        None => Vector3::from_column_slice(&numbers(value)),
    }
}

/// A 6-vector.
pub fn vector6(value: &Value) -> Vector6<f64> {
    Vector6::from_column_slice(&numbers(value))
}

/// A symmetric 3x3 matrix; three numbers are a diagonal.
pub fn matrix3(value: &Value) -> Matrix3<f64> {
    let values = numbers(value);
    if values.len() == 3 {
        Matrix3::from_diagonal(&Vector3::from_column_slice(&values))
    } else {
        Matrix3::from_row_slice(&values)
    }
}

/// A matrix given as a list of rows.
pub fn matrix(value: &Value) -> DMatrix<f64> {
    let rows = value.as_array().map_or(0, Vec::len);
    let values = numbers(value);
    DMatrix::from_row_slice(rows, values.len().checked_div(rows).unwrap_or(0), &values)
}

/// A pose from x = [r, R column by column].
pub fn pose(x: &[f64]) -> SE3<f64> {
    let rotation = SO3::from_matrix(Matrix3::from_column_slice(&x[3..12]));
    SE3::new(rotation, Vector3::from_column_slice(&x[..3]))
}

/// x = [r, R column by column] of a pose.
pub fn configuration(pose: &SE3<f64>) -> Vec<f64> {
    pose.translation
        .iter()
        .chain(pose.rotation.matrix().iter())
        .copied()
        .collect()
}

/// A state from x and xi.
pub fn state(x: &Value, xi: &Value) -> State<f64> {
    State {
        pose: pose(&numbers(x)),
        twist: vector6(xi),
    }
}

/// The numbers of a matrix row by row, as the files have them.
pub fn rows<R: nalgebra::Dim, C: nalgebra::Dim, S: nalgebra::RawStorage<f64, R, C>>(
    m: &nalgebra::Matrix<f64, R, C, S>,
) -> Vec<f64> {
    (0..m.nrows())
        .flat_map(|i| (0..m.ncols()).map(move |j| (i, j)))
        .map(|at| m[at])
        .collect()
}

/// The coefficients of det(M0 s^2 + D0 s + K0)/det M0 from the poles, highest power first.
pub fn characteristic_polynomial(linear: &LinearModel) -> Vec<f64> {
    let mut coefficients = polynomial(&linear.poles().expect("poles")).expect("conjugate poles");
    coefficients.push(1.0);
    coefficients.reverse();
    coefficients
}
