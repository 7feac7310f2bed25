//! The inputs that a reference needs.
#![allow(non_snake_case)]

use fly_mechanics::{PseudoInverse, State, Vehicle};
use nalgebra::{DMatrix, DVector, Vector6};

use crate::ReferencePoint;

/// A wrench that is missed by more than this part of it is out of reach, not rounded.
pub const REACH: f64 = 1e-6;

/// From references to inputs, `u_R = B^+ (M xidot_R + b_R)`.
#[derive(Clone, Debug, PartialEq)]
pub struct ReferenceInputs<'a> {
    vehicle: &'a Vehicle,
    /// B^+, p x 6.
    inverse: DMatrix<f64>,
}

/// An input and what it misses.
#[derive(Clone, Debug, PartialEq)]
pub struct ReferenceInput {
    /// u_R, p numbers: the smallest input whose wrench is nearest to what is needed. Limits are not looked at.
    pub input: DVector<f64>,
    /// The norm of the wrench that the inputs cannot give, N and N m; it vanishes for a reference that the vehicle can follow, (5.80).
    pub missing: f64,
    /// The norm of the wrench that is needed, N and N m.
    pub needed: f64,
}

impl ReferenceInput {
    /// What is missing as a part of what is needed (of 1 N where that is less).
    pub fn share(&self) -> f64 {
        self.missing / self.needed.max(1.0)
    }

    /// Whether nothing is missing but rounding errors.
    pub fn reached(&self) -> bool {
        self.share() <= REACH
    }
}

impl<'a> ReferenceInputs<'a> {
    /// For a vehicle.
    pub fn new(vehicle: &'a Vehicle) -> Self {
        let B = vehicle.rotors.input_matrix();
        let p = B.ncols();
        let dense = DMatrix::from_fn(6, p, |i, j| B[(i, j)]);
        let inverse = pseudo_inverse(&dense);
        Self { vehicle, inverse }
    }

    /// The input that makes this wrench.
    pub fn of_wrench(&self, wrench: &Vector6<f64>) -> ReferenceInput {
        let input = &self.inverse * wrench;
        let missing = (self.vehicle.rotors.input_matrix() * &input - wrench).norm();
        ReferenceInput {
            input,
            missing,
            needed: wrench.norm(),
        }
    }

    /// The input that keeps the vehicle on the reference.
    pub fn at(&self, point: &ReferencePoint) -> ReferenceInput {
        self.of_wrench(&self.wrench(point))
    }

    /// The wrench that keeps the vehicle on the reference, `M xidot_R + b_R`.
    pub fn wrench(&self, point: &ReferencePoint) -> Vector6<f64> {
        let body = &self.vehicle.body;
        let state = State {
            pose: point.pose,
            twist: point.twist,
        };
        body.mass_matrix() * point.acceleration + body.bias(&state)
    }
}

/// A column whose part beside the others is shorter than this part of it depends on them.
const INDEPENDENT: f64 = 1e-9;

/// The rank of an input matrix B (n x p), its columns scaled to length 1: rotors and motors have different units. Allocates.
pub fn rank(B: &DMatrix<f64>) -> usize {
    let mut columns = B.clone();
    for mut column in columns.column_iter_mut() {
        column.try_normalize_mut(0.0);
    }
    let mut decomposition = PseudoInverse::new(columns.nrows(), columns.ncols());
    decomposition.tolerance = INDEPENDENT;
    decomposition.decompose(&columns)
}

/// A^+.
pub(crate) fn pseudo_inverse(matrix: &DMatrix<f64>) -> DMatrix<f64> {
    let mut decomposition = PseudoInverse::new(matrix.nrows(), matrix.ncols());
    decomposition.decompose(matrix);
    decomposition.matrix()
}
