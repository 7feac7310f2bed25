//! The equation of motion of a whole system in a state, with dense matrices.

use nalgebra::{Cholesky, DMatrix, DVector, RealField};

use crate::multibody::projection;
use crate::multibody::{Model, Workspace};

/// `M xi_dot + c + D xi + grad V = f` in a state, Konz (4.103): all terms as matrices and vectors.
///
/// It is assembled by [projection](crate::multibody::projection) with the Jacobians of all bodies: the cost grows with the cube of
/// the number of bodies. It allocates once.
///
/// ```
/// use fly_mechanics::multibody::{Body, EquationOfMotion, Joint, Model, Workspace};
/// use fly_mechanics::PseudoInertia;
/// use nalgebra::{Matrix3, Vector3};
///
/// // A pendulum of 2 kg on a rod of 1 m, held out to the side.
/// let bob = PseudoInertia::from_center(2.0, -Vector3::z(), Matrix3::identity() * 1e-9)?;
/// let model = Model::builder()
///     .body(Body::new("pendulum", Joint::revolute(Vector3::y())?).inertia(bob))
///     .build()?;
/// let (x, xi) = ([-std::f64::consts::FRAC_PI_2], [0.0]);
/// let (mut workspace, mut equation) = (Workspace::new(&model), EquationOfMotion::new(&model));
/// workspace.update(&model, &x, &xi);
/// workspace.update_jacobians(&model);
/// equation.update(&model, &workspace);
/// assert!((equation.potential_force[0] + 2.0 * 9.81).abs() < 1e-12);
///
/// let mut xi_dot = [0.0];
/// equation.acceleration(&xi, &[0.0], &mut xi_dot).expect("mass everywhere");
/// assert!((xi_dot[0] - 9.81).abs() < 1e-8);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug)]
pub struct EquationOfMotion<T: RealField + Copy> {
    /// `M`, n x n, symmetric.
    pub mass_matrix: DMatrix<T>,
    /// `c`, n entries: Coriolis and centrifugal forces.
    pub coriolis_force: DVector<T>,
    /// `D`, n x n; symmetric.
    pub damping: DMatrix<T>,
    /// `grad V`, n entries.
    pub potential_force: DVector<T>,
    factor: DMatrix<T>,
    right_hand_side: DVector<T>,
}

/// The mass matrix is not positive definite: a velocity direction moves no mass.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error(
    "the mass matrix is not positive definite: a joint moves no mass (or the state is not finite); \
     give the bodies at the ends of the tree an inertia"
)]
pub struct MasslessMotion;

impl<T: RealField + Copy> EquationOfMotion<T> {
    /// Allocates for this model; all zero.
    pub fn new(model: &Model<T>) -> Self {
        let n = model.dof();
        Self {
            mass_matrix: DMatrix::zeros(n, n),
            coriolis_force: DVector::zeros(n),
            damping: DMatrix::zeros(n, n),
            potential_force: DVector::zeros(n),
            factor: DMatrix::zeros(n, n),
            right_hand_side: DVector::zeros(n),
        }
    }

    /// Computes all terms, after [`Workspace::update`] and [`Workspace::update_jacobians`].
    ///
    /// # Panics
    /// If this is not the model for which it was created.
    pub fn update(&mut self, model: &Model<T>, workspace: &Workspace<T>) {
        projection::mass_matrix(model, workspace, &mut self.mass_matrix);
        projection::coriolis_force(model, workspace, self.coriolis_force.as_mut_slice());
        workspace.damping_matrix(model, &mut self.damping);
        workspace.potential_force(model, self.potential_force.as_mut_slice());
    }

    /// `b = c + D xi + grad V`: the force that keeps the velocity constant.
    ///
    /// # Panics
    /// If a slice does not have length n.
    pub fn bias(&self, xi: &[T], bias: &mut [T]) {
        bias.copy_from_slice(self.coriolis_force.as_slice());
        for (i, b) in bias.iter_mut().enumerate() {
            let damping = self.damping.row(i);
            *b += self.potential_force[i];
            *b += damping
                .iter()
                .zip(xi)
                .fold(T::zero(), |s, (d, v)| s + *d * *v);
        }
    }

    /// `xi_dot = M^-1 (f - c - D xi - grad V)`.
    ///
    /// # Errors
    /// [`MasslessMotion`].
    ///
    /// # Panics
    /// If a slice does not have length n.
    pub fn acceleration(
        &mut self,
        xi: &[T],
        force: &[T],
        xi_dot: &mut [T],
    ) -> Result<(), MasslessMotion> {
        let mut rest = std::mem::take(&mut self.right_hand_side);
        self.bias(xi, rest.as_mut_slice());
        for (r, f) in rest.iter_mut().zip(force) {
            *r = *f - *r;
        }
        let solved = self.solve(&mut rest);
        if solved.is_ok() {
            xi_dot.copy_from_slice(rest.as_slice());
        }
        self.right_hand_side = rest;
        solved
    }

    /// Solves `M y = b` in place.
    ///
    /// # Errors
    /// [`MasslessMotion`].
    ///
    /// # Panics
    /// If the vector does not have length n.
    pub fn solve(&mut self, b: &mut DVector<T>) -> Result<(), MasslessMotion> {
        self.factor.copy_from(&self.mass_matrix);
        // The factorisation takes the storage and returns it; on failure it is lost, which ends a computation anyway.
        if let Some(cholesky) = Cholesky::new(std::mem::take(&mut self.factor)) {
            cholesky.solve_mut(b);
            self.factor = cholesky.unpack_dirty();
            Ok(())
        } else {
            self.factor = DMatrix::zeros(b.len(), b.len());
            Err(MasslessMotion)
        }
    }
}
