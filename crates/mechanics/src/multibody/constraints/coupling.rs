//! Coupled joints: gears, belts, differentials, locked joints.

use std::sync::Arc;

use nalgebra::RealField;

use super::pair::find_body;
use super::{
    Constraint, ConstraintDescription, ConstraintKind, ConstraintSetError, EvaluatedState, Rows,
};
use crate::multibody::{AngleCoordinates, BodyId, JointKind, Model};

/// A linear equation between joint coordinates, `sum a_k q_k = offset`.
///
/// A coordinate is a translation or an unwrapped angle: those of revolute, prismatic, screw, cylindrical and universal joints, the angle of
/// planar ones, the translation along the axis and the angle of Schönflies ones. The multiplier times `a_k` is the force or torque on
/// coordinate `q_k`.
///
/// ```
/// use fly_mechanics::multibody::constraints::{ConstraintSet, Coupling};
/// use fly_mechanics::multibody::{Body, Joint, Model};
/// use nalgebra::Vector3;
///
/// let shaft = |name| Ok::<_, fly_mechanics::multibody::JointError>(Body::new(name, Joint::<f64>::revolute(Vector3::z())?));
/// let model = Model::builder().body(shaft("motor")?).body(shaft("left")?).body(shaft("right")?).build()?;
/// let constraints = ConstraintSet::builder()
///     // The motor turns three times as fast as the mean of the wheels.
///     .with(Coupling::new("differential", 0.0).term("motor", 0, 2.0).term("left", 0, -3.0).term("right", 0, -3.0))
///     .with(Coupling::lock("brake", "left", 0.0))
///     .build(&model)?;
/// assert_eq!(constraints.equations(), 2);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug, PartialEq)]
pub struct Coupling<T: RealField + Copy> {
    /// A unique name.
    pub name: String,
    /// Bodies, the indices of the coordinates among those of their joints, and the factors `a_k`.
    pub terms: Vec<(String, usize, T)>,
    /// The value of the sum, m or rad.
    pub offset: T,
}

/// # Description
impl<T: RealField + Copy> Coupling<T> {
    /// An equation without terms.
    pub fn new(name: impl Into<String>, offset: T) -> Self {
        Self {
            name: name.into(),
            terms: Vec::new(),
            offset,
        }
    }

    /// Adds a term: a factor times a coordinate of the joint that carries a body.
    #[must_use]
    pub fn term(mut self, body: impl Into<String>, coordinate: usize, factor: T) -> Self {
        self.terms.push((body.into(), coordinate, factor));
        self
    }

    /// A gear or belt between joints with one coordinate: `q_driven = ratio q_driver + offset`. The ratio of a pair of external gears is
    /// negative.
    pub fn gear(
        name: impl Into<String>,
        driven: impl Into<String>,
        driver: impl Into<String>,
        ratio: T,
        offset: T,
    ) -> Self {
        let coupling = Self::new(name, offset);
        coupling.term(driven, 0, T::one()).term(driver, 0, -ratio)
    }

    /// A joint with one coordinate, locked at this value.
    pub fn lock(name: impl Into<String>, body: impl Into<String>, value: T) -> Self {
        Self::new(name, value).term(body, 0, T::one())
    }
}

impl<T: RealField + Copy> ConstraintDescription<T> for Coupling<T> {
    fn name(&self) -> &str {
        &self.name
    }

    fn compile(&self, model: &Model<T>) -> Result<Arc<dyn Constraint<T>>, ConstraintSetError> {
        let mut numbers = self.terms.iter().map(|term| &term.2).chain([&self.offset]);
        if !numbers.all(nalgebra::ComplexField::is_finite) {
            return Err(ConstraintSetError::NotFinite {
                constraint: self.name.clone(),
                what: "factors and offset".to_owned(),
            });
        }
        let mut terms: Vec<Term<T>> = Vec::with_capacity(self.terms.len());
        for (name, coordinate, factor) in &self.terms {
            let body = find_body(model, &self.name, name)?;
            let Some((x, xi)) = scalar_coordinate(model, body, *coordinate) else {
                return Err(ConstraintSetError::NoCoordinate {
                    constraint: self.name.clone(),
                    body: name.clone(),
                    coordinate: *coordinate,
                });
            };
            let factor = *factor;
            match terms.iter_mut().find(|term| term.xi == xi) {
                Some(term) => term.factor += factor,
                None => terms.push(Term { x, xi, factor }),
            }
        }
        if terms.iter().all(|term| term.factor.is_zero()) {
            let constraint = self.name.clone();
            return Err(ConstraintSetError::NoTerms { constraint });
        }
        let offset = self.offset;
        Ok(Arc::new(Linear { terms, offset }))
    }
}

/// The indices of a coordinate in configuration and velocity, if its rate is a velocity coordinate.
fn scalar_coordinate<T: RealField + Copy>(
    model: &Model<T>,
    body: BodyId,
    coordinate: usize,
) -> Option<(usize, usize)> {
    const ANGLE: AngleCoordinates = AngleCoordinates::Angle;
    let coordinates = match model.joint(body)?.kind() {
        JointKind::Universal { .. } | JointKind::Cylindrical(ANGLE) => 0..2,
        JointKind::Prismatic
        | JointKind::Screw { .. }
        | JointKind::Revolute(ANGLE)
        | JointKind::Cylindrical(_) => 0..1,
        JointKind::Schoenflies(ANGLE) => 2..4,
        JointKind::Planar(ANGLE) | JointKind::Schoenflies(_) => 2..3,
        _ => return None,
    };
    let start = (
        model.config_range(body).start,
        model.velocity_range(body).start,
    );
    coordinates
        .contains(&coordinate)
        .then_some((start.0 + coordinate, start.1 + coordinate))
}

#[derive(Clone, Copy, Debug)]
struct Term<T> {
    x: usize,
    xi: usize,
    factor: T,
}

#[derive(Clone, Debug)]
struct Linear<T> {
    terms: Vec<Term<T>>,
    offset: T,
}

impl<T: RealField + Copy> Constraint<T> for Linear<T> {
    fn equations(&self) -> usize {
        1
    }

    fn kind(&self, _: usize) -> ConstraintKind {
        ConstraintKind::Holonomic
    }

    fn evaluate(&self, motion: &EvaluatedState<'_, T>, rows: &mut Rows<'_, T>) {
        rows.residual[0] = -self.offset;
        for term in &self.terms {
            rows.residual[0] += term.factor * motion.configuration[term.x];
            rows.rate[0] += term.factor * motion.velocity[term.xi];
            rows.jacobian[(0, term.xi)] += term.factor;
        }
    }
}
