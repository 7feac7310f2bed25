//! The pairs of contact shapes that are near each other, with their bristles.

use std::collections::BTreeMap;

use super::broad_phase::BroadPhase;
use crate::contact::ContactShape;
use crate::multibody::{BodyId, Workspace};

/// The pairs of contact shapes that may touch before the next [search](Self::search), and those whose bristles are still deflected. Only these are
/// looked at, and only their bristles are states. At first that is every pair, which holds in any state. Only the construction allocates.
#[derive(Clone, Debug)]
pub(super) struct NearPairs {
    broad_phase: BroadPhase,
    /// Pairs of bodies, by their indices in the broad phase, in increasing order, with their pairs of shapes.
    bodies: Vec<([usize; 2], Vec<usize>)>,
    /// By their indices, in increasing order.
    near: Vec<Near>,
    /// Whether these are all pairs.
    are_all: bool,
}

#[derive(Clone, Copy, Debug)]
struct Near {
    pair: usize,
    /// At the last search, m.
    deflection: [f64; 3],
}

/// m: a bristle of shapes that do not touch relaxes for ever, and is let go where the rest is below the rounding of a coordinate of 1 m.
const RELAXED: f64 = f64::EPSILON;

impl NearPairs {
    /// All of these pairs of shapes.
    pub fn new(shapes: &[ContactShape], pairs: &[[usize; 2]]) -> Self {
        // In the order of the shapes, which is that of the bodies after a release too.
        let mut ids: Vec<BodyId> = Vec::new();
        let of_shapes = shapes.iter().map(|shape| {
            let known = ids.iter().rposition(|body| *body == shape.body);
            known.unwrap_or_else(|| {
                ids.push(shape.body);
                ids.len() - 1
            })
        });
        let of_shapes: Vec<usize> = of_shapes.collect();
        let mut bodies: BTreeMap<_, Vec<usize>> = BTreeMap::new();
        for (index, pair) in pairs.iter().enumerate() {
            let mut key = pair.map(|shape| of_shapes[shape]);
            key.sort_unstable();
            bodies.entry(key).or_default().push(index);
        }
        let near = |pair| Near {
            pair,
            deflection: [0.0; 3],
        };
        Self {
            broad_phase: BroadPhase::new(&ids, shapes),
            bodies: bodies.into_iter().collect(),
            near: (0..pairs.len()).map(near).collect(),
            are_all: true,
        }
    }

    /// The indices of the pairs, in increasing order.
    pub fn iter(&self) -> impl ExactSizeIterator<Item = usize> {
        self.near.iter().map(|near| near.pair)
    }

    /// Notes how far the bodies in the workspace's state have moved since the last search.
    pub fn follow(&mut self, workspace: &Workspace<f64>) {
        if !self.are_all {
            self.broad_phase.follow(workspace);
        }
    }

    /// Whether others may have touched in a state followed since the last search.
    pub fn is_outrun(&self) -> bool {
        self.broad_phase.has_moved(1.0)
    }

    /// Whether it is time to search again.
    pub fn is_due(&self) -> bool {
        self.are_all || self.broad_phase.has_moved(0.5)
    }

    /// Finds the pairs that are near in the workspace's state, with the bristles of the former at the end of the states, from `first` on; puts theirs there.
    pub fn search(&mut self, workspace: &Workspace<f64>, states: &mut Vec<f64>, first: usize) {
        let Self {
            broad_phase,
            bodies,
            near,
            are_all,
        } = self;
        *are_all = false;
        for (one, state) in near.iter_mut().zip(states[first..].chunks_exact(3)) {
            one.deflection.copy_from_slice(state);
        }
        near.retain(|one| one.deflection.iter().any(|part| part.abs() > RELAXED));
        let kept = near.len();
        broad_phase.search(workspace, |pair| {
            let Ok(found) = bodies.binary_search_by_key(&pair, |(pair, _)| *pair) else {
                return;
            };
            for &pair in &bodies[found].1 {
                if near[..kept]
                    .binary_search_by_key(&pair, |one| one.pair)
                    .is_err()
                {
                    near.push(Near {
                        pair,
                        deflection: [0.0; 3],
                    });
                }
            }
        });
        near.sort_unstable_by_key(|one| one.pair);
        states.truncate(first);
        states.extend(near.iter().flat_map(|one| one.deflection));
    }

    /// Takes over those of the same system after joints were released.
    pub fn copy_from(&mut self, other: &Self) {
        self.near.clone_from(&other.near);
        self.are_all = other.are_all;
        self.broad_phase.copy_from(&other.broad_phase);
    }
}
