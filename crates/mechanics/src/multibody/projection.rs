//! The projection form, also known as Kane's equations: the bodies' inertia wrenches, projected by their Jacobians.
//!
//! `sum 0J_bᵀ (M_b 0a_b - ad(0ξ_b)ᵀ M_b 0ξ_b) = f`, Konz (4.95), (4.103e, f). Call [`Workspace::update`] and
//! [`Workspace::update_jacobians`] first. These functions are the plain reference for the recursive algorithms.

use nalgebra::{DMatrix, RealField};

use crate::multibody::{Model, Workspace};

/// `M = sum 0J_b^T M_b 0J_b`, n x n, Konz (4.103e).
///
/// # Panics
/// If the matrix is not n x n.
pub fn mass_matrix<T: RealField + Copy>(
    model: &Model<T>,
    workspace: &Workspace<T>,
    M: &mut DMatrix<T>,
) {
    let n = model.dof();
    assert_eq!(M.shape(), (n, n), "size of the mass matrix");
    M.fill(T::zero());
    for (body, inertia) in model.massive() {
        let J = workspace.body_jacobian(body);
        let M_b = inertia.matrix6();
        for j in 0..n {
            let momentum = M_b * J.column(j);
            for i in j..n {
                M[(i, j)] += J.column(i).dot(&momentum);
            }
        }
    }
    M.fill_upper_triangle_with_lower_triangle();
}

/// `c = sum 0J_b^T vee2((hat(0J_b_dot xi) + hat(0XI_b)^2) M'_b)`, n entries, Konz (4.103f), which prints `0J_b xi` without
/// its dot.
///
/// # Panics
/// If the slice does not have length n.
pub fn coriolis_force<T: RealField + Copy>(
    model: &Model<T>,
    workspace: &Workspace<T>,
    c: &mut [T],
) {
    c.fill(T::zero());
    for (body, inertia) in model.massive() {
        let (twist, bias) = (
            workspace.kinematics.body_twist(body),
            workspace.kinematics.body_bias(body),
        );
        let wrench = inertia.second_moment().inertial_force(&twist, &bias);
        workspace.add_wrench(body, &wrench, c);
    }
}

/// `C` with `C xi = c` and `M_dot - 2 C` skew-symmetric, n x n: `C_ij = Gamma_ijk xi^k` with the connection coefficients of M, Konz (4.92).
///
/// It is `sum 0J_b^T (M_b 0J_b_dot + C_b 0J_b)` with the bodies' own [`coriolis_matrix`](crate::SecondMoment::coriolis_matrix).
/// The matrix of From II (59) gives the same force, but not the skew symmetry claimed there.
///
/// # Panics
/// If the matrix is not n x n.
pub fn coriolis_matrix<T: RealField + Copy>(
    model: &Model<T>,
    workspace: &Workspace<T>,
    C: &mut DMatrix<T>,
) {
    let n = model.dof();
    assert_eq!(C.shape(), (n, n), "size of the Coriolis matrix");
    C.fill(T::zero());
    for (body, inertia) in model.massive() {
        let J = workspace.body_jacobian(body);
        let M_b = inertia.matrix6();
        let twist = &workspace.kinematics.body_twist(body);
        let C_b = inertia.second_moment().coriolis_matrix(twist);
        let columns = &workspace.kinematics;
        columns.for_each_column_and_rate(0, body, |j, column, rate| {
            let wrench = M_b * rate + C_b * column;
            for i in 0..n {
                C[(i, j)] += J.column(i).dot(&wrench);
            }
        });
    }
}

/// `f_M = M xi_dot + c`, n entries: the bodies' inertia wrenches, projected.
///
/// # Panics
/// If a slice does not have length n.
pub fn inertial_force<T: RealField + Copy>(
    model: &Model<T>,
    workspace: &Workspace<T>,
    xi_dot: &[T],
    force: &mut [T],
) {
    force.fill(T::zero());
    for (body, inertia) in model.massive() {
        let twist = &workspace.kinematics.body_twist(body);
        let acceleration = workspace.acceleration(body, xi_dot);
        let wrench = inertia.second_moment().inertial_force(twist, &acceleration);
        workspace.add_wrench(body, &wrench, force);
    }
}
