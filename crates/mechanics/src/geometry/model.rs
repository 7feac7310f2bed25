//! The coordinates of a whole system of bodies.

use nalgebra::{DMatrix, DVector, RealField};

use super::attitude::orthonormality;
use super::{Coordinates, Symbols};
use crate::multibody::{AngleCoordinates, AttitudeCoordinates, Joint, Model, Rotation};

/// A system of bodies in the coordinates of its joints.
///
/// With [`Model::cast`] its equations can be differentiated too. This linearises a system about any state:
///
/// ```
/// use fly_mechanics::PseudoInertia;
/// use fly_mechanics::geometry::Linearization;
/// use fly_mechanics::multibody::{Body, EquationOfMotion, Joint, Model, Workspace};
/// use nalgebra::{DVector, Matrix3, Vector3, dvector};
/// use num_dual::Dual64;
///
/// // A pendulum of 2 kg on a spherical joint, 1 m below it.
/// let bob = PseudoInertia::from_center(2.0, -Vector3::z(), Matrix3::identity() * 0.1)?;
/// let model = Model::builder().body(Body::new("pendulum", Joint::spherical()).inertia(bob)).build()?;
///
/// let dual = model.cast::<Dual64>();
/// let force = |x: &DVector<Dual64>, xi: &DVector<Dual64>, xi_dot: &DVector<Dual64>| {
///     let (mut workspace, mut equation) = (Workspace::new(&dual), EquationOfMotion::new(&dual));
///     workspace.update(&dual, x.as_slice(), xi.as_slice());
///     workspace.update_jacobians(&dual);
///     equation.update(&dual, &workspace);
///     let mut force = DVector::zeros(3);
///     equation.bias(xi.as_slice(), force.as_mut_slice());
///     force + &equation.mass_matrix * xi_dot
/// };
/// let hanging = DVector::from_vec(model.neutral_configuration());
/// let still = DVector::zeros(3);
/// let linear = Linearization::new(&model, force, &hanging, &still, &still)?;
/// let expected = dvector![2.0 * 9.81, 2.0 * 9.81, 0.0];
/// assert!((linear.stiffness.diagonal() - expected).norm() < 1e-14);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
impl Coordinates for Model<f64> {
    fn config_dim(&self) -> usize {
        self.config_dim()
    }

    fn dof(&self) -> usize {
        self.dof()
    }

    fn constraint<T: RealField + Copy>(&self, x: &DVector<T>) -> DVector<T> {
        let each = self.bodies().filter_map(|body| {
            let own = &x.as_slice()[self.config_range(body)];
            self.joint(body).map(|joint| constraint(joint, own))
        });
        DVector::from_vec(each.flatten().collect())
    }

    fn kinematic_matrix<T: RealField + Copy>(&self, x: &DVector<T>) -> DMatrix<T> {
        let mut A = DMatrix::zeros(self.config_dim(), self.dof());
        self.cast::<T>().kinematic_matrix(x.as_slice(), &mut A);
        A
    }

    fn constant_commutation_coefficients(&self) -> Option<Symbols<f64>> {
        Some(self.commutation_coefficients())
    }
}

/// # Commutation of the velocity coordinates
impl<T: RealField + Copy> Model<T> {
    /// `gamma_ij^k`, at `[k][(i, j)]`; it allocates.
    pub fn commutation_coefficients(&self) -> Symbols<T> {
        let n = self.dof();
        let unit = |i: usize| (0..n).map(move |j| if i == j { T::one() } else { T::zero() });
        let units: Vec<Vec<T>> = (0..n).map(|i| unit(i).collect()).collect();
        let mut brackets = vec![units.clone(); n];
        for (a, brackets) in units.iter().zip(&mut brackets) {
            for b in brackets {
                self.bracket(a, b);
            }
        }
        Symbols::from_fn(n, |k, i, j| brackets[i][j][k])
    }
}

fn constraint<T: RealField + Copy>(joint: &Joint<f64>, x: &[T]) -> Vec<T> {
    let x = &x[joint.translations()..];
    match joint.rotation() {
        Rotation::None | Rotation::Universal(_) | Rotation::Angle(AngleCoordinates::Angle) => {
            Vec::new()
        }
        Rotation::Attitude(AttitudeCoordinates::Matrix) => {
            orthonormality(&nalgebra::Matrix3::from_column_slice(x))
                .as_slice()
                .to_vec()
        }
        Rotation::Angle(AngleCoordinates::CosSin)
        | Rotation::Attitude(AttitudeCoordinates::Quaternion) => {
            vec![x.iter().fold(-T::one(), |sum, &x| sum + x * x)]
        }
    }
}
