//! How easily forces move bodies.

use nalgebra::{Cholesky, DMatrix, Dyn, Matrix3, Matrix3x6, Matrix6, Matrix6xX, Vector3};

use crate::contact::ContactShape;
use crate::multibody::{BodyId, Workspace};

/// The mobility of bodies: `J M^-1 J^T`, with the Jacobians J of their twists in the world, six rows each; the inverse of the inertia in operational space.
/// O. Khatib, *A unified approach for motion and force control of robot manipulators*, 1987.
///
/// What two bodies do under a force between them follows from its blocks for these two. So the mass matrix is solved once for each body, and not for each of
/// the pairs, of which there are many more.
pub(super) struct Mobility {
    bodies: Vec<BodyId>,
    /// World from body.
    rotations: Vec<Matrix3<f64>>,
    matrix: DMatrix<f64>,
}

impl Mobility {
    /// Of these bodies in the workspace's state, with the factor of its mass matrix. After [`Workspace::update_jacobians`].
    pub fn new(
        workspace: &Workspace<f64>,
        mass_matrix: &Cholesky<f64, Dyn>,
        bodies: Vec<BodyId>,
    ) -> Self {
        let L = mass_matrix.l_dirty();
        let n = L.nrows();
        let mut halves = DMatrix::zeros(n, 6 * bodies.len());
        for (k, body) in bodies.iter().enumerate() {
            if *body != BodyId::WORLD {
                let mut J = Matrix6xX::zeros(n);
                workspace.jacobian(BodyId::WORLD, *body, &mut J);
                halves.columns_mut(6 * k, 6).copy_from(&J.transpose());
            }
        }
        L.solve_lower_triangular_mut(&mut halves);
        let rotation = |body: &BodyId| workspace.pose(BodyId::WORLD, *body).rotation;
        Self {
            rotations: bodies.iter().map(|it| *rotation(it).matrix()).collect(),
            matrix: halves.transpose() * &halves,
            bodies,
        }
    }

    /// `J M^-1 J^T` with the Jacobian J of the relative velocity of these points (m, body frames) of the bodies of two shapes; zero for bodies that it does not
    /// have.
    pub fn between(&self, shapes: [&ContactShape; 2], points: &[Vector3<f64>; 2]) -> Matrix3<f64> {
        let place = |i: usize| self.bodies.iter().position(|it| *it == shapes[i].body);
        let (Some(a), Some(b)) = (place(0), place(1)) else {
            return Matrix3::zeros();
        };
        let of_point = |body: usize, point: &Vector3<f64>| {
            let R = self.rotations[body];
            let mut of_twist = Matrix3x6::zeros();
            of_twist.fixed_columns_mut::<3>(0).copy_from(&R);
            let turning = -R * point.cross_matrix();
            of_twist.fixed_columns_mut::<3>(3).copy_from(&turning);
            of_twist
        };
        let [of_a, of_b] = [of_point(a, &points[0]), of_point(b, &points[1])];
        let block = |i: usize, j: usize| -> Matrix6<f64> {
            self.matrix.fixed_view::<6, 6>(6 * i, 6 * j).into_owned()
        };
        let own = of_a * block(a, a) * of_a.transpose() + of_b * block(b, b) * of_b.transpose();
        let cross = of_a * block(a, b) * of_b.transpose();
        own - cross - cross.transpose()
    }
}
