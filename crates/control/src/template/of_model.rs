//! Templates for the bodies and systems of `fly-mechanics`.

use fly_mechanics::State;
use fly_mechanics::multibody::{Model, Workspace};
use nalgebra::{Const, Dyn, RealField};

use super::{Approach, DesiredMotion, Template, Tracking};
use crate::ReferencePoint;
use crate::kinematics::{ModelKinematics, OneBody};
use crate::system::{SystemPair, SystemReference};
use crate::transport::{Map, TransportContext, TransportError, TransportMap};

/// # A vehicle
impl<T: RealField + Copy> Template<OneBody<T>> {
    /// Writes the desired motion at this state and reference.
    pub fn evaluate(
        &mut self,
        state: &State<T>,
        reference: &ReferencePoint<T>,
        out: &mut DesiredMotion<T, Const<6>>,
    ) {
        let Ok(()) = self.form(&Tracking::new(&state.into(), reference), out);
    }
}

/// # A system of bodies
impl Template<Model<f64>> {
    /// For pairs of bodies.
    pub fn of_system(
        model: &Model<f64>,
        approach: Approach,
        pairs: Vec<SystemPair>,
        map: Box<dyn TransportMap>,
    ) -> Self {
        Self::new(model, approach, pairs, map)
    }

    /// Checks that the transport map matches the potential, Konz (5.43), to this relative tolerance. Allocates: for analysis, not for
    /// the control step.
    ///
    /// # Errors
    /// [`TransportError`] if the map is singular, or does not match.
    pub fn check_map(
        &mut self,
        model: &Model<f64>,
        actual: &Workspace<f64>,
        reference: &Workspace<f64>,
        tolerance: f64,
    ) -> Result<(), TransportError> {
        let at = TransportContext {
            model,
            pairs: &self.pairs,
            actual,
            reference,
        };
        let mut map = Map::new(Dyn(model.dof()));
        self.map.evaluate(&at, &mut map)?;
        at.check(&map, tolerance)
    }

    /// The pairs whose own potential the transport map does not match, to this relative tolerance, by their indices.
    ///
    /// # Errors
    /// [`TransportError::Singular`] if the map is singular.
    pub fn misfits(
        &mut self,
        model: &Model<f64>,
        actual: &Workspace<f64>,
        reference: &Workspace<f64>,
        tolerance: f64,
    ) -> Result<Vec<usize>, TransportError> {
        let of = |pairs| TransportContext {
            model,
            pairs,
            actual,
            reference,
        };
        let mut map = Map::new(Dyn(model.dof()));
        self.map.evaluate(&of(&self.pairs), &mut map)?;
        let misfits = (0..self.pairs.len())
            .filter(|i| of(&self.pairs[*i..=*i]).check(&map, tolerance).is_err());
        Ok(misfits.collect())
    }

    /// Writes the desired motion with the velocity `xi` in the state for which `actual` was updated, Jacobians included. `reference` is
    /// scratch: it holds the reference's kinematics afterwards. Does not allocate.
    ///
    /// # Errors
    /// [`TransportError`] if the transport map is singular.
    ///
    /// # Panics
    /// If the length of a slice is not that of the model's coordinates.
    pub fn evaluate(
        &mut self,
        model: &Model<f64>,
        actual: &Workspace<f64>,
        xi: &[f64],
        reference: &mut Workspace<f64>,
        goal: &SystemReference<'_>,
        out: &mut DesiredMotion,
    ) -> Result<(), TransportError> {
        reference.update(model, goal.configuration, goal.velocity);
        reference.update_jacobians(model);
        let at = ModelKinematics {
            model,
            actual,
            velocity: xi,
            reference,
            goal: *goal,
        };
        self.form(&at, out)
    }
}

impl DesiredMotion {
    /// Allocates for a system of bodies.
    pub fn new(model: &Model<f64>) -> Self {
        Self::of_dof(Dyn(model.dof()))
    }
}
