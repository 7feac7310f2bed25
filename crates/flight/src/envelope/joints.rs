//! The limits that the description of a system gives its joints.

use fly_control::predictor::StatePredictor;
use fly_mechanics::System;

use super::Bound;
use crate::supervisor::{Limit, Response};

/// A joint may be beyond its position limits by this part of its range: stops yield, and sensors have noise.
const YIELD: f64 = 1e-3;

/// The limits of the joints with one coordinate.
pub fn bounds(system: &System) -> impl Iterator<Item = Bound> {
    let model = &system.model;
    let joints = model.bodies().zip(&system.joints).enumerate();
    let joints = joints.filter(|(_, (body, _))| model.velocity_range(*body).len() == 1);
    joints.flat_map(|(index, (body, joint))| {
        let limits = joint.limits;
        // A cosine and a sine do not count turns.
        let position = (limits
            .position
            .filter(|_| model.config_range(body).len() == 1))
        .map(|[low, high]| (Limit::JointPosition(index), YIELD * (high - low)));
        let velocity = (limits.velocity).map(|most| (Limit::JointVelocity(index), most));
        let bounds = position.into_iter().chain(velocity);
        bounds.map(|(limit, max)| Bound {
            limit,
            max,
            after: 0.0,
            then: Some(Response::Warn),
        })
    })
}

/// How far a joint is beyond its position limits, rad or m; 0 within them.
pub fn beyond(state: &StatePredictor, index: usize) -> f64 {
    let system = state.system();
    let joint = system
        .model
        .bodies()
        .nth(index)
        .zip(system.joints.get(index));
    let limited = joint.and_then(|(body, joint)| Some((body, joint.limits.position?)));
    limited.map_or(0.0, |(body, [low, high])| {
        let position = state.configuration()[system.model.config_range(body).start];
        // A NaN is beyond any limit.
        if (low..=high).contains(&position) {
            0.0
        } else {
            (position - high).max(low - position)
        }
    })
}

/// The speed of a joint, rad/s or m/s.
pub fn speed(state: &StatePredictor, index: usize) -> f64 {
    let model = &state.system().model;
    let body = model.bodies().nth(index);
    body.map_or(0.0, |body| {
        state.velocity()[model.velocity_range(body).start].abs()
    })
}
