//! Points of the bodies of a system, as particles.

use nalgebra::{DMatrix, DVector, Matrix3xX, RealField, Vector3, convert};

use super::{Coordinates, CoordinatesError, Particles, Symbols};
use crate::multibody::{BodyId, Model, Workspace};

/// Particles fixed to bodies of a system, or to the world: attachment points, or all of the mass if there are enough.
///
/// ```
/// use fly_mechanics::geometry::{BodyPoints, Particles};
/// use fly_mechanics::multibody::{Body, BodyId, Joint, Model};
/// use nalgebra::{Vector3, dvector};
///
/// // The tip of a link of 1 m, and the point of the world where it points at first.
/// let model = Model::builder().body(Body::new("link", Joint::revolute(Vector3::z())?)).build()?;
/// let tip = (model.body_id("link")?, Vector3::x());
/// let points = BodyPoints::new(model, vec![tip, (BodyId::WORLD, Vector3::x())])?;
/// let places = points.positions(&dvector![std::f64::consts::FRAC_PI_2]);
/// assert!((places.column(0) - Vector3::y()).norm() < 1e-15);
/// assert_eq!(places.column(1), Vector3::x());
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug)]
pub struct BodyPoints {
    model: Model<f64>,
    points: Vec<(BodyId, Vector3<f64>)>,
}

impl BodyPoints {
    /// Points of bodies, m, in the bodies' frames.
    ///
    /// # Errors
    /// [`CoordinatesError::Particle`] if its body is not in the model, or it is not finite.
    pub fn new(
        model: Model<f64>,
        points: Vec<(BodyId, Vector3<f64>)>,
    ) -> Result<Self, CoordinatesError> {
        for (particle, (body, point)) in points.iter().enumerate() {
            let what = if *body != BodyId::WORLD && model.bodies().all(|known| known != *body) {
                "a body that the model does not have".to_owned()
            } else if point.iter().all(|x| x.is_finite()) {
                continue;
            } else {
                format!(
                    "the position {:?}, expected finite numbers",
                    point.as_slice()
                )
            };
            return Err(CoordinatesError::Particle { particle, what });
        }
        Ok(Self { model, points })
    }

    /// The system.
    pub fn model(&self) -> &Model<f64> {
        &self.model
    }
}

impl Coordinates for BodyPoints {
    fn config_dim(&self) -> usize {
        self.model.config_dim()
    }

    fn dof(&self) -> usize {
        self.model.dof()
    }

    fn constraint<T: RealField + Copy>(&self, x: &DVector<T>) -> DVector<T> {
        Coordinates::constraint(&self.model, x)
    }

    fn kinematic_matrix<T: RealField + Copy>(&self, x: &DVector<T>) -> DMatrix<T> {
        Coordinates::kinematic_matrix(&self.model, x)
    }

    fn constant_commutation_coefficients(&self) -> Option<Symbols<f64>> {
        self.model.constant_commutation_coefficients()
    }
}

impl Particles for BodyPoints {
    fn count(&self) -> usize {
        self.points.len()
    }

    fn positions<T: RealField + Copy>(&self, x: &DVector<T>) -> Matrix3xX<T> {
        let model = self.model.cast::<T>();
        let mut workspace = Workspace::new(&model);
        workspace.update(&model, x.as_slice(), &vec![T::zero(); model.dof()]);
        let mut places = Matrix3xX::zeros(self.points.len());
        for (mut place, (body, point)) in places.column_iter_mut().zip(&self.points) {
            let pose = workspace.pose(BodyId::WORLD, *body);
            place.copy_from(&pose.act(&point.map(convert)));
        }
        places
    }
}
