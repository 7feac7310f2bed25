//! The conditions of Penrose, and quadratic programs against the definition of a minimum.

#![allow(non_snake_case)]

use fly_mechanics::{EqualityQp, EqualityQpError, PseudoInverse};
use fly_testing::allocations;
use nalgebra::{DMatrix, DVector, dmatrix, dvector};
use num_dual::Dual64;

/// Numbers without a pattern.
fn some(rows: usize, columns: usize, seed: usize) -> DMatrix<f64> {
    DMatrix::from_fn(rows, columns, |i, j| {
        let noise = 43758.5453 * (1.0 + 12.9898 * (i + 31 * j + 977 * seed) as f64).sin();
        noise - noise.floor() - 0.5
    })
}

/// Konz (3.19), for every shape and every rank of it.
#[test]
fn penrose() {
    let mut cases = 0;
    for rows in 1..8 {
        for columns in 1..8 {
            for rank in 0..=rows.min(columns) {
                let A = some(rows, rank, cases) * some(rank, columns, cases + 1);
                let mut inverse = PseudoInverse::new(rows, columns);
                assert_eq!(inverse.decompose(&A), rank);
                let P = inverse.matrix();
                let scale = P.norm() * A.norm() + 1.0;
                let near = |a: &DMatrix<f64>, b: &DMatrix<f64>| {
                    let error = (a - b).norm() / (1.0 + a.norm());
                    assert!(
                        error < 1e-14 * scale,
                        "{rows} x {columns}, rank {rank}: {error:e}"
                    );
                };
                near(&(&A * &P * &A), &A);
                near(&(&P * &A * &P), &P);
                near(&(&A * &P).transpose(), &(&A * &P));
                near(&(&P * &A).transpose(), &(&P * &A));

                let c = DVector::from_fn(columns, |i, _| 0.3 + i as f64);
                let mut y = DVector::zeros(rows);
                inverse.apply_transposed(&c, &mut y);
                near(
                    &DMatrix::from_columns(&[y]),
                    &(P.transpose() * &c).reshape_generic(nalgebra::Dyn(rows), nalgebra::Dyn(1)),
                );
                cases += 1;
            }
        }
    }
    assert!(cases > 150);
}

/// `d A⁺` of Golub and Pereyra, at constant rank.
#[test]
fn derivative() {
    let (U, V, dU) = (some(5, 2, 1), some(2, 4, 2), some(5, 2, 3));
    let A = DMatrix::from_fn(5, 4, |i, j| {
        Dual64::new((&U * &V)[(i, j)], (&dU * &V)[(i, j)])
    });
    let mut inverse = PseudoInverse::new(5, 4);
    assert_eq!(inverse.decompose(&A), 2);
    let P = inverse.matrix();
    let (A, dA) = (A.map(|a| a.re), A.map(|a| a.eps));
    let (P, dP) = (P.map(|a| a.re), P.map(|a| a.eps));
    let expected = -&P * &dA * &P
        + &P * P.transpose() * dA.transpose() * (DMatrix::identity(5, 5) - &A * &P)
        + (DMatrix::identity(4, 4) - &P * &A) * dA.transpose() * P.transpose() * &P;
    assert!((dP - &expected).norm() < 1e-13 * expected.norm());
}

/// Rows that depend on each other: the conditions of a minimum hold, and nothing is allocated.
#[test]
fn minimum_under_dependent_constraints() {
    let (n, equations) = (7, 5);
    let root = some(n, n, 5);
    let M = &root * root.transpose() + DMatrix::identity(n, n);
    let Z = some(equations, 3, 6) * some(3, n, 7);
    let c = DVector::from_fn(n, |i, _| (2 * i) as f64 - 3.0);
    let b = &Z * DVector::from_fn(n, |i, _| 0.5 - i as f64);
    let mut qp = EqualityQp::new(n, equations);
    let calls = allocations(|| qp.solve(&M, &c, &Z, &b).expect("a solution"));
    assert_eq!(calls, 0);
    assert_eq!(qp.rank(), 3);
    assert!(qp.residual().norm() < 1e-13);
    assert!((&Z * qp.point() - &b).norm() < 1e-13);
    assert!((&M * qp.point() + &c - qp.force()).norm() < 1e-12);
    assert!((Z.transpose() * qp.multipliers() - qp.force()).norm() < 1e-12);

    // The shortest multipliers lie in the range of Z.
    let mut range = PseudoInverse::new(equations, n);
    range.decompose(&Z);
    let projected = &Z * range.matrix() * qp.multipliers();
    assert!((projected - qp.multipliers()).norm() < 1e-12);

    // Nearest to where one would be without constraints: the same.
    let free = -M.clone().cholesky().expect("positive").solve(&c);
    let mut nearest = EqualityQp::new(n, equations);
    nearest.nearest(&M, &free, &Z, &b).expect("a solution");
    assert!((nearest.point() - qp.point()).norm() < 1e-12);
    assert!((nearest.force() - qp.force()).norm() < 1e-12);
}

#[test]
fn contradictions_are_met_halfway() {
    let mut qp = EqualityQp::new(2, 2);
    let Z = dmatrix![1.0, 0.0; 1.0, 0.0];
    qp.solve(
        &DMatrix::identity(2, 2),
        &dvector![0.0, -1.0],
        &Z,
        &dvector![1.0, 2.0],
    )
    .expect("a nearest point");
    assert!((qp.point() - dvector![1.5, 1.0]).norm() < 1e-15);
    assert!((qp.residual() - dvector![0.5, -0.5]).norm() < 1e-15);
}

#[test]
fn no_constraints_at_all() {
    let mut qp = EqualityQp::new(1, 0);
    let (Z, b) = (DMatrix::zeros(0, 1), DVector::zeros(0));
    qp.solve(&dmatrix![2.0], &dvector![3.0], &Z, &b)
        .expect("a minimum");
    assert!((qp.point() - dvector![-1.5]).norm() < 1e-15);
}

#[test]
fn mistakes() {
    let (Z, b) = (dmatrix![1.0, 1.0], dvector![1.0]);
    let mut qp = EqualityQp::new(2, 1);
    let mut solve = |M, c| qp.solve(&M, &c, &Z, &b).expect_err("a mistake");
    let M = DMatrix::identity(2, 2);
    let size = solve(M.clone(), dvector![1.0]);
    assert_eq!(size.to_string(), "c must be 2 x 1, found 1 x 1");
    let indefinite = dmatrix![1.0, 2.0; 2.0, 1.0];
    let c = dvector![1.0, 1.0];
    assert_eq!(
        solve(indefinite, c.clone()),
        EqualityQpError::NotPositiveDefinite
    );
    assert_eq!(
        solve(&M * f64::NAN, c.clone()),
        EqualityQpError::NotPositiveDefinite
    );
    assert_eq!(solve(M, c * f64::NAN), EqualityQpError::NotFinite);
}
