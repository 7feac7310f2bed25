//! A rigid body as particles at constant distances.

use fly_lie::{Chirality, PoseFit, SE3};
use nalgebra::{DMatrix, DVector, Matrix3, Matrix3xX, RealField, Vector3, convert};

use super::error::expect_size;
use super::{Coordinates, CoordinatesError, Particles};

/// Particles at constant distances and with constant handedness, Konz (4.1): all `|r_p - r_q|²` and all signed volumes
/// `<(r_q - r_p) x (r_s - r_p), r_t - r_p>` are those of the body.
///
/// The configuration is the positions, 3 N entries, with more constraints than entries from six particles on. The velocity is `[v; ω]`, that of the first
/// particle and the angular velocity, both in the world: `r_p_dot = v + ω x (r_p - r_1)`. With [`ParticleSystem`](super::ParticleSystem) this is a rigid body
/// without a rotation matrix: the reference for all body algorithms.
///
/// ```
/// use fly_lie::SE3;
/// use fly_mechanics::geometry::{Coordinates, RigidParticles};
/// use nalgebra::{Vector3, Vector6};
///
/// let body = RigidParticles::new(vec![Vector3::zeros(), Vector3::x(), Vector3::y(), Vector3::z()])?;
/// let pose = SE3::exp(&Vector6::new(1.0, 2.0, 3.0, 0.3, -1.0, 2.0));
/// let x = body.configuration(&pose);
/// assert!(body.constraint(&x).amax() < 1e-14);
/// assert!((body.pose(&x)?.matrix() - pose.matrix()).norm() < 1e-14);
///
/// // The mirror image keeps all distances, but is not a configuration of the body.
/// let mirrored = x.map_with_location(|row, _, x| if row % 3 == 2 { -x } else { x });
/// assert!(body.constraint(&mirrored).rows(0, 6).amax() < 1e-14);
/// assert!(body.constraint(&mirrored).amax() > 1.0);
/// # Ok::<(), fly_mechanics::geometry::CoordinatesError>(())
/// ```
#[derive(Clone, Debug, PartialEq)]
pub struct RigidParticles {
    points: Vec<Vector3<f64>>,
}

/// # Construction
impl RigidParticles {
    /// Particles at these positions of a body, m: at least four that are not coplanar.
    ///
    /// # Errors
    /// [`CoordinatesError::Particle`] for one that is not finite, and for coplanar particles, which have no handedness.
    pub fn new(points: Vec<Vector3<f64>>) -> Result<Self, CoordinatesError> {
        if let Some(particle) = points.iter().position(|h| !h.iter().all(|h| h.is_finite())) {
            let what = format!(
                "the position {:?}, expected finite numbers",
                points[particle].as_slice()
            );
            return Err(CoordinatesError::Particle { particle, what });
        }
        let known = points.iter().map(|h| (1.0, *h, *h));
        match PoseFit::solve(known).map(|fit| fit.chirality(1e-9)) {
            Ok(Chirality::Kept) => Ok(Self { points }),
            _ => Err(CoordinatesError::Particle {
                particle: points.len().saturating_sub(1),
                what: format!(
                    "a position coplanar with all others: expected at least four particles that are not coplanar, found {}",
                    points.len()
                ),
            }),
        }
    }
}

/// # Poses
impl RigidParticles {
    /// `r_p = r + R h_p`, Konz (4.3): 3 N numbers.
    pub fn configuration(&self, pose: &SE3<f64>) -> DVector<f64> {
        let places = self.points.iter().flat_map(|h| {
            let [x, y, z] = pose.act(h).into();
            [x, y, z]
        });
        DVector::from_iterator(3 * self.points.len(), places)
    }

    /// The inverse of [`configuration`](Self::configuration), Konz (4.5): the best-fitting pose if the particles violate the constraint.
    ///
    /// # Errors
    /// [`CoordinatesError::Size`]; [`CoordinatesError::NotFinite`].
    pub fn pose(&self, x: &DVector<f64>) -> Result<SE3<f64>, CoordinatesError> {
        expect_size("x", (self.config_dim(), 1), x)?;
        let seen = places(x);
        let points = (self.points.iter().zip(seen.column_iter()))
            .map(|(h, seen)| (1.0, *h, seen.into_owned()));
        let fit = PoseFit::solve(points).map_err(|_| CoordinatesError::NotFinite {
            what: "a place of a particle",
            configuration: super::error::list(x),
        })?;
        Ok(fit.pose)
    }
}

impl Coordinates for RigidParticles {
    fn config_dim(&self) -> usize {
        3 * self.points.len()
    }

    fn dof(&self) -> usize {
        6
    }

    /// The squared distances of all pairs, then the volumes of all quadruples, each minus its value in the body.
    fn constraint<T: RealField + Copy>(&self, x: &DVector<T>) -> DVector<T> {
        let here = places(x);
        let body = |p: usize| self.points[p].map(convert::<f64, T>);
        let here = |p: usize| here.column(p).into_owned();
        let count = self.points.len();
        let square = |a: Vector3<T>, b: Vector3<T>| (b - a).norm_squared();
        let volume = |[a, b, c, d]: [Vector3<T>; 4]| (b - a).cross(&(c - a)).dot(&(d - a));
        let mut phi = Vec::new();
        for q in 0..count {
            phi.extend((0..q).map(|p| square(here(p), here(q)) - square(body(p), body(q))));
        }
        for t in 0..count {
            for s in 0..t {
                for q in 0..s {
                    phi.extend((0..q).map(|p| {
                        let of =
                            |place: &dyn Fn(usize) -> Vector3<T>| volume([p, q, s, t].map(place));
                        of(&here) - of(&body)
                    }));
                }
            }
        }
        DVector::from_vec(phi)
    }

    fn kinematic_matrix<T: RealField + Copy>(&self, x: &DVector<T>) -> DMatrix<T> {
        let here = places(x);
        let mut A = DMatrix::zeros(3 * self.points.len(), 6);
        for (p, place) in here.column_iter().enumerate() {
            let arm = place - here.column(0);
            A.view_mut((3 * p, 0), (3, 3))
                .copy_from(&Matrix3::identity());
            A.view_mut((3 * p, 3), (3, 3))
                .copy_from(&-arm.cross_matrix());
        }
        A
    }
}

impl Particles for RigidParticles {
    fn count(&self) -> usize {
        self.points.len()
    }

    fn positions<T: RealField + Copy>(&self, x: &DVector<T>) -> Matrix3xX<T> {
        places(x)
    }
}

fn places<T: RealField + Copy>(x: &DVector<T>) -> Matrix3xX<T> {
    Matrix3xX::from_column_slice(x.as_slice())
}
