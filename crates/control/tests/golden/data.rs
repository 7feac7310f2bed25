//! Numbers out of JSON.

use fly_lie::{SE3, SO3};
use fly_mechanics::State;
use nalgebra::{DMatrix, Matrix3, Vector3, Vector6};
use serde_json::Value;

/// All numbers of a value in the order in which they stand.
pub fn numbers(value: &Value) -> Vec<f64> {
    match value {
        Value::Array(items) => items.iter().flat_map(numbers).collect(),
        other => other.as_f64().into_iter().collect(),
    }
}

/// One number.
pub fn number(value: &Value) -> f64 {
    value.as_f64().unwrap_or(f64::NAN)
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
