//! Which contacts of a system can touch each other.

use crate::System;
use crate::multibody::{BodyId, Model};

/// The pairs of contact shapes that can touch, by their indices in [`System::contacts`]: those of different bodies, unless a joint or a loop closure connects
/// the bodies, neither can move, or both shapes are points. Bodies on fixed joints count as one with their carrier.
pub fn contact_pairs(system: &System) -> Vec<[usize; 2]> {
    let (model, shapes) = (&system.model, &system.contacts);
    let carriers = |[a, b]: [BodyId; 2]| [a, b].map(|body| rigid_root(model, body));
    let closed: Vec<[BodyId; 2]> = (system.loops.iter())
        .filter_map(|closure| {
            Some([
                model.body_id(&closure.a).ok()?,
                model.body_id(&closure.b).ok()?,
            ])
        })
        .map(carriers)
        .collect();
    let is_closed = |a: BodyId, b: BodyId| {
        let ends = carriers([a, b]);
        closed.contains(&ends) || closed.contains(&[ends[1], ends[0]])
    };
    let mut pairs = Vec::new();
    for (j, b) in shapes.iter().enumerate() {
        for (i, a) in shapes[..j].iter().enumerate() {
            let can_touch = a.radius + b.radius > 0.0
                && !are_joined(model, a.body, b.body)
                && !is_closed(a.body, b.body);
            if can_touch {
                pairs.push([i, j]);
            }
        }
    }
    pairs
}

/// Whether two bodies are rigidly connected, or by a single joint.
fn are_joined(model: &Model<f64>, a: BodyId, b: BodyId) -> bool {
    let [a, b] = [a, b].map(|body| rigid_root(model, body));
    let carrier = |body: BodyId| {
        let parent = model.parent(body).filter(|it| *it != BodyId::WORLD)?;
        Some(rigid_root(model, parent))
    };
    let both_fixed = [a, b].iter().all(|body| is_fixed(model, *body));
    a == b || carrier(a) == Some(b) || carrier(b) == Some(a) || both_fixed
}

fn is_fixed(model: &Model<f64>, body: BodyId) -> bool {
    model.velocity_range(body).is_empty()
}

/// The body at the end of the fixed joints below this one, but not the world.
fn rigid_root(model: &Model<f64>, body: BodyId) -> BodyId {
    match model.parent(body) {
        Some(parent) if parent != BodyId::WORLD && is_fixed(model, body) => {
            rigid_root(model, parent)
        }
        _ => body,
    }
}
