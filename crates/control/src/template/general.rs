//! Desired energies with all 21 parameters of a symmetric 6 x 6 matrix, Konz B.3.
//!
//! A [`Pair`](super::Pair) has ten parameters per energy, those of particles with positive weights. Here stiffness may differ along the axes, and
//! translation and rotation may be coupled in any way. For small errors the energies are `1/2 eps^T K eps` with the given matrix; for large ones
//! they are squared distances of poses as 4 x 4 matrices,
//!
//! ```text
//! K = [[K_r, K_r H^T], [H K_r, K_R + H K_r H^T]]                                                        Konz (B.48)
//! <[Y1 x1], [Y2 x2]>_K = x~1 . K_r x~2 + tr(Y1 Wed(K_R) Y2^T)                                           Konz (B.49)
//! x~ = x + Y vee2(H)/2 + (H + H^T) vee2(Y)/4
//! ```
//!
//! (B.49) prints Vee where Wed belongs, and T-bar of (B.52c), (B.53c) has a dot too many. The product is an inner product only if Wed(K_R) is
//! positive definite, which `K_R > 0` alone does not imply: the principal moments must satisfy the triangle inequality, as those of particles do;
//! diag(1, 1, 3) does not. [`GeneralMoment::new`] checks this.
//!
//! The price is invariance: such an energy depends on the choice of the origin in the moving frame, and K_r on its axes.
#![allow(non_snake_case)]

use fly_lie::SE3;
use fly_lie::operators::{bracket, double_vee3, hat_matrix3, hat6};
use nalgebra::{Matrix3, Matrix4, Matrix6, Vector3, Vector6};

use super::PairForces;
use crate::pair::{PairKinematics, carry, error_pose};
use crate::{Energies, ReferencePoint};

/// A symmetric, positive definite 6 x 6 matrix of stiffness, damping or inertia, as a metric on poses.
///
/// ```
/// use fly_control::template::general::{GeneralMoment, GeneralMomentError};
/// use nalgebra::{Matrix6, Vector6};
///
/// // Soft along x and stiff along z.
/// let K = Matrix6::from_diagonal(&Vector6::new(1.0, 4.0, 9.0, 2.0, 2.0, 3.0));
/// assert!(GeneralMoment::new(&K).is_ok());
/// // No particles have such moments about three axes.
/// let K = Matrix6::from_diagonal(&Vector6::new(1.0, 4.0, 9.0, 1.0, 1.0, 3.0));
/// assert!(matches!(GeneralMoment::new(&K), Err(GeneralMomentError::Triangle(_))));
/// ```
#[derive(Clone, Debug, PartialEq)]
pub struct GeneralMoment {
    /// K.
    matrix: Matrix6<f64>,
    /// K_r.
    linear: Matrix3<f64>,
    /// Wed(K_R).
    angular: Matrix3<f64>,
    /// vee2(H) / 2.
    skew: Vector3<f64>,
    /// (H + H^T) / 4.
    symmetric: Matrix3<f64>,
}

/// Why a matrix does not define a distance of poses.
#[derive(Clone, Copy, Debug, PartialEq, thiserror::Error)]
pub enum GeneralMomentError {
    /// Not symmetric.
    #[error(
        "the matrix is not symmetric: entry ({row}, {column}) differs from its mirror image by {difference:e}"
    )]
    Asymmetric {
        /// Row, from 0.
        row: usize,
        /// Column, from 0.
        column: usize,
        /// The difference.
        difference: f64,
    },
    /// Not positive definite.
    #[error("the matrix is not positive definite: its smallest eigenvalue is {0:e}")]
    Indefinite(f64),
    /// K_R violates the triangle inequality: no particles have such moments.
    #[error(
        "the largest principal moment of K_R exceeds the sum of the two others by {0:e}: no particles have such moments, and the distance would \
         not be positive; make the others larger"
    )]
    Triangle(f64),
}

impl GeneralMoment {
    /// From the matrix in the order `[v; omega]`.
    ///
    /// # Errors
    /// [`GeneralMomentError`].
    pub fn new(K: &Matrix6<f64>) -> Result<Self, GeneralMomentError> {
        let size = K.amax();
        for row in 0..6 {
            for column in 0..row {
                let difference = (K[(row, column)] - K[(column, row)]).abs();
                if difference.is_nan() || difference > 1e-12 * size {
                    return Err(GeneralMomentError::Asymmetric {
                        row,
                        column,
                        difference,
                    });
                }
            }
        }
        let least = K.symmetric_eigenvalues().min();
        if least.is_nan() || least <= 0.0 {
            return Err(GeneralMomentError::Indefinite(least));
        }
        let linear: Matrix3<f64> = K.fixed_view::<3, 3>(0, 0).into_owned();
        let lower: Matrix3<f64> = K.fixed_view::<3, 3>(3, 0).into_owned();
        let inverse = linear
            .try_inverse()
            .ok_or(GeneralMomentError::Indefinite(0.0))?;
        let H = lower * inverse;
        let angular = hat_matrix3(&(K.fixed_view::<3, 3>(3, 3) - H * linear * H.transpose()));
        let least = angular.symmetric_eigenvalues().min();
        if least.is_nan() || least <= 0.0 {
            // An eigenvalue of Wed is half the margin in the triangle inequality.
            return Err(GeneralMomentError::Triangle(-2.0 * least));
        }
        Ok(Self {
            matrix: *K,
            linear,
            angular,
            skew: double_vee3(&H) / 2.0,
            symmetric: (H + H.transpose()) / 4.0,
        })
    }

    /// K.
    pub fn matrix(&self) -> &Matrix6<f64> {
        &self.matrix
    }

    /// `<A, B>_K` of two matrices `[[Y, x], [0, *]]`, Konz (B.49).
    pub fn product(&self, A: &Matrix4<f64>, B: &Matrix4<f64>) -> f64 {
        let [(Y_A, x_A), (Y_B, x_B)] = [A, B].map(|X| {
            let Y: Matrix3<f64> = X.fixed_view::<3, 3>(0, 0).into_owned();
            let x = X.fixed_view::<3, 1>(0, 3) + Y * self.skew + self.symmetric * double_vee3(&Y);
            (Y, x)
        });
        x_A.dot(&(self.linear * x_B)) + (Y_A * self.angular).dot(&Y_B)
    }

    /// The matrix for small errors about this pose; K at the identity.
    pub fn at(&self, pose: &SE3<f64>) -> Matrix6<f64> {
        let directions = directions(&pose.matrix());
        Matrix6::from_fn(|i, j| self.product(&directions[i], &directions[j]))
    }

    /// The products with the six basis directions: a wrench.
    fn force(&self, directions: &[Matrix4<f64>; 6], A: &Matrix4<f64>) -> Vector6<f64> {
        Vector6::from_fn(|i, _| self.product(&directions[i], A))
    }
}

/// The desired energies of a pair of frames.
#[derive(Clone, Debug, PartialEq)]
pub struct GeneralPair {
    /// N/m, N, N m.
    pub stiffness: GeneralMoment,
    /// N s/m, N s, N m s.
    pub damping: GeneralMoment,
    /// kg, kg m, kg m^2.
    pub inertia: GeneralMoment,
}

/// The terms of one pair in its own coordinates: `Mbar z' + cbar + f_D + f_K = 0`.
#[derive(Clone, Debug, PartialEq)]
pub struct GeneralForces {
    /// Mbar, 6 x 6; it changes with the pose.
    pub mass_matrix: Matrix6<f64>,
    /// All other terms.
    pub forces: PairForces,
}

impl GeneralPair {
    /// The particle-based template, Konz (B.52): uses the distance between `G` and `G_R`, so that K_r is expressed in the axes of the observing
    /// frame.
    pub fn particle(&self, motion: &PairKinematics, desired: &ReferencePoint) -> GeneralForces {
        let (G, G_R) = (motion.pose.matrix(), desired.pose.matrix());
        let (Z, Z_R) = (hat6(&motion.twist), hat6(&desired.twist));
        let carried = G_R * Z_R;
        let rate = G * Z - carried;
        let acceleration = G * (hat6(&motion.bias_acceleration) + Z * Z)
            - G_R * (hat6(&desired.acceleration) + Z_R * Z_R);
        self.forces(&G, [&(G - G_R), &rate, &acceleration], &carried)
    }

    /// The body-based template, Konz (B.53): uses the distance between `G_E = G_R^-1 G` and the identity, so that K_r is expressed in the axes of
    /// the reference. The total energy decreases: `dW/dt = -2 R`.
    pub fn body(&self, motion: &PairKinematics, desired: &ReferencePoint) -> GeneralForces {
        let E: SE3<f64> = error_pose(&motion.pose, &desired.pose);
        let G_E = E.inverse().matrix();
        let carried = carry(&E, &desired.twist);
        let z_E = motion.twist - carried;
        let drift =
            motion.bias_acceleration - carry(&E, &desired.acceleration) + bracket(&z_E, &carried);
        let Z_E = hat6(&z_E);
        let acceleration = G_E * (hat6(&drift) + Z_E * Z_E);
        self.forces(
            &G_E,
            [&(G_E - Matrix4::identity()), &(G_E * Z_E), &acceleration],
            &(G_E * hat6(&carried)),
        )
    }

    /// The terms at the pose G from its error, the first two rates of that error, and its rate due to the reference
    /// alone.
    fn forces(
        &self,
        G: &Matrix4<f64>,
        [error, rate, acceleration]: [&Matrix4<f64>; 3],
        carried: &Matrix4<f64>,
    ) -> GeneralForces {
        let directions = directions(G);
        let half = |moment: &GeneralMoment, A: &Matrix4<f64>| 0.5 * moment.product(A, A);
        GeneralForces {
            mass_matrix: Matrix6::from_fn(|i, j| {
                self.inertia.product(&directions[i], &directions[j])
            }),
            forces: PairForces {
                inertial: self.inertia.force(&directions, acceleration),
                damping: self.damping.force(&directions, rate),
                stiffness: self.stiffness.force(&directions, error),
                momentum: self.inertia.force(&directions, rate),
                reference_power: self.inertia.product(acceleration, carried)
                    + self.damping.product(rate, carried)
                    + self.stiffness.product(error, carried),
                reference_momentum: self.inertia.force(&directions, carried),
                energies: Energies::new(
                    half(&self.inertia, rate),
                    half(&self.stiffness, error),
                    half(&self.damping, rate),
                ),
            },
        }
    }
}

/// The derivatives of the pose G along the velocity coordinates.
fn directions(G: &Matrix4<f64>) -> [Matrix4<f64>; 6] {
    std::array::from_fn(|i| {
        let mut unit = Vector6::zeros();
        unit[i] = 1.0;
        G * hat6(&unit)
    })
}
