//! Prescribed components of a relative velocity: knife edges, massless wheels, conveyors, speed-controlled motors.

use std::sync::Arc;

use fly_lie::SE3;
use nalgebra::{RealField, Vector6};

use super::pair::{Between, Equations, FramePair, PairKind, Relative};
use super::{Constraint, ConstraintDescription, ConstraintKind, ConstraintSetError};
use crate::multibody::Model;

/// Prescribed components of the twist of a frame B of body b relative to body a: `w_k . X = r_k` with the twist `X = [v; omega]` in B.
///
/// A multiplier is the magnitude of the reaction along its wrench `w_k`.
///
/// ```
/// use fly_lie::SE3;
/// use fly_mechanics::multibody::constraints::{ConstraintSet, PrescribedVelocity};
/// use fly_mechanics::multibody::{Body, Joint, Model};
/// use nalgebra::Vector3;
///
/// let model = Model::<f64>::builder().body(Body::new("sledge", Joint::planar(Vector3::z())?)).build()?;
/// // The edge is 0.3 m behind the origin and points along x.
/// let at = SE3::new(fly_lie::SO3::identity(), Vector3::new(-0.3, 0.0, 0.0));
/// let constraints = ConstraintSet::builder().with(PrescribedVelocity::knife_edge("edge", "sledge", at)).build(&model)?;
/// assert_eq!(constraints.equations(), 1);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug, PartialEq)]
pub struct PrescribedVelocity<T: RealField + Copy> {
    /// A unique name.
    pub name: String,
    /// The body relative to which b moves, or `world`.
    pub a: String,
    /// The moving body.
    pub b: String,
    /// The pose of B in the frame of body b.
    pub frame_in_b: SE3<T>,
    /// At most six pairs of a row `w_k` and the rate `r_k`.
    pub components: Vec<(Vector6<T>, T)>,
}

/// # Description
impl<T: RealField + Copy> PrescribedVelocity<T> {
    /// A blade, skate or thin wheel along the x axis of a frame: its origin has no velocity along y.
    pub fn knife_edge(
        name: impl Into<String>,
        body: impl Into<String>,
        frame_in_body: SE3<T>,
    ) -> Self {
        Self {
            name: name.into(),
            a: "world".to_owned(),
            b: body.into(),
            frame_in_b: frame_in_body,
            components: vec![(Vector6::y(), T::zero())],
        }
    }
}

impl<T: RealField + Copy> ConstraintDescription<T> for PrescribedVelocity<T> {
    fn name(&self) -> &str {
        &self.name
    }

    fn compile(&self, model: &Model<T>) -> Result<Arc<dyn Constraint<T>>, ConstraintSetError> {
        let pair = FramePair::find(
            model,
            &self.name,
            (&self.a, &SE3::identity()),
            (&self.b, &self.frame_in_b),
        )?;
        let count = self.components.len();
        if !(1..=6).contains(&count) {
            return Err(ConstraintSetError::Components {
                constraint: self.name.clone(),
                found: count,
            });
        }
        for (k, (row, rate)) in self.components.iter().enumerate() {
            if !row.iter().chain([rate]).all(T::is_finite) {
                return Err(ConstraintSetError::NotFinite {
                    constraint: self.name.clone(),
                    what: format!("component {k}"),
                });
            }
        }
        let kind = Prescribed(self.components.clone());
        Ok(Arc::new(Between { pair, kind }))
    }
}

#[derive(Clone, Debug)]
struct Prescribed<T: RealField + Copy>(Vec<(Vector6<T>, T)>);

impl<T: RealField + Copy> PairKind<T> for Prescribed<T> {
    fn equations(&self) -> usize {
        self.0.len()
    }

    fn kind(&self, _: usize) -> ConstraintKind {
        ConstraintKind::Nonholonomic
    }

    fn evaluate(&self, _: &Relative<T>) -> Equations<T> {
        let mut equations = Equations::new();
        for (row, rate) in &self.0 {
            equations.push_rate(*row, *rate);
        }
        equations
    }
}
