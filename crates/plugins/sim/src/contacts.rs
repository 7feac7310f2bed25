//! What a plant may touch.

use fly_mechanics::contact::BodyContact;
use fly_mechanics::integrate::SystemState;
use fly_mechanics::{ActuatedDynamics, Ground, Surroundings, System, contact_pairs};

/// The ground, and how bodies act on each other.
#[derive(Clone, Debug, Default)]
pub(crate) struct Contacts {
    ground: Option<Ground>,
    bodies: Option<BodyContact>,
    /// Of the start: bodies that a joint connects then do not touch once it has opened.
    pairs: Vec<[usize; 2]>,
}

impl Contacts {
    /// Of this system in the beginning.
    pub(crate) fn new(
        system: &System,
        ground: Option<Ground>,
        bodies: Option<BodyContact>,
    ) -> Self {
        let pairs = bodies.map_or_else(Vec::new, |_| contact_pairs(system));
        Self {
            ground,
            bodies,
            pairs,
        }
    }

    pub(crate) fn surroundings(&self) -> Surroundings<'_> {
        Surroundings {
            ground: self.ground.as_ref(),
            bodies: self.bodies.as_ref(),
        }
    }

    /// Puts them into the dynamics of the system, or of what it becomes.
    pub(crate) fn start(
        &self,
        system: &System,
        dynamics: &mut ActuatedDynamics,
        motion: &mut SystemState<f64>,
    ) {
        if let Some(ground) = self.ground {
            dynamics.start_ground(system, ground, motion);
        }
        if let Some(bodies) = self.bodies {
            dynamics.start_body_contact(system, bodies, &self.pairs, motion);
        }
    }
}
