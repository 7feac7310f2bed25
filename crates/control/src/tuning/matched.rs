//! Energies that an underactuated system can follow.

use fly_mechanics::multibody::{BodyId, Model, Workspace};
use fly_mechanics::{SecondMoment, System};
use nalgebra::{Complex, Matrix3, Matrix6xX, Vector3};

use super::TuningError;
use crate::design::MatchingSearch;
use crate::linear::LinearModel;
use crate::pair::Pair;
use crate::rest;
use crate::system::SystemPair;

/// A residual matching force below this may be rounding.
const MATCHED: f64 = 1e-8;

/// Pairs whose energies the inputs can follow near this configuration, and whose linearised poles include these (1/s, at most 2n), by a
/// [`MatchingSearch`]: between the world and every moving body, and between every two moving bodies.
///
/// # Errors
/// [`TuningError::NotAtRest`], [`TuningError::Matching`], [`TuningError::Unmatched`].
pub(super) fn matched(
    system: &System,
    configuration: &[f64],
    poles: &[Complex<f64>],
) -> Result<Vec<SystemPair>, TuningError> {
    let model = &system.model;
    let mut x = configuration.to_vec();
    rest::nearest(model, &system.inputs, &mut x);
    let (linear, _) = LinearModel::of_system(model, &system.inputs, &x)?;
    let mut at = Workspace::new(model);
    at.update(model, &x, &vec![0.0; model.dof()]);
    at.update_jacobians(model);
    let bodies = pairs(model);
    let jacobians = bodies.iter().map(|(a, b)| {
        let mut jacobian = Matrix6xX::zeros(model.dof());
        at.jacobian(*a, *b, &mut jacobian);
        jacobian
    });
    let sizes = poles.iter().map(|pole| pole.norm().ln()).sum::<f64>();
    let frequency = (sizes / poles.len().max(1) as f64).exp();
    let start = bodies
        .iter()
        .map(|(_, body)| start(model, *body, frequency));
    let found = MatchingSearch {
        model: &linear,
        jacobians: jacobians.collect(),
        start: start.collect(),
        poles,
    }
    .solve()?;
    if !(found.residual <= MATCHED && found.positive) {
        let (residual, positive) = (found.residual, found.positive);
        return Err(TuningError::Unmatched { residual, positive });
    }
    let energies = bodies.into_iter().zip(found.pairs);
    Ok(energies
        .map(|((a, b), energies)| SystemPair { a, b, energies })
        .collect())
}

/// The world with every moving body, then every two moving bodies.
fn pairs(model: &Model<f64>) -> Vec<(BodyId, BodyId)> {
    let moving: Vec<_> = (model.bodies())
        .filter(|body| !model.velocity_range(*body).is_empty())
        .collect();
    let from_world = moving.iter().map(|body| (BodyId::WORLD, *body));
    let between = (0..moving.len()).flat_map(|j| (0..j).map(move |i| (i, j)));
    let between = between.map(|(i, j)| (moving[i], moving[j]));
    from_world.chain(between).collect()
}

/// The body's own inertia on critically damped springs.
fn start(model: &Model<f64>, body: BodyId, frequency: f64) -> Pair {
    let inertia = match model.inertia(body) {
        Some(inertia) => *inertia.second_moment(),
        None => SecondMoment::from_center(1.0, Vector3::zeros(), Matrix3::identity()),
    };
    let energy = |factor: f64| *(inertia * factor).matrix4();
    Pair::new(
        energy(frequency * frequency),
        energy(2.0 * frequency),
        energy(1.0),
    )
}
