//! What the simulated system becomes in the flight.

use fly_mechanics::integrate::SystemState;
use fly_mechanics::multibody::Model;
use fly_mechanics::{JointRelease, System};

/// The system, or what it becomes once joints are released or masses change.
pub(super) struct Variant {
    pub(super) system: System,
    /// Its configuration at the start, as if it had become so there.
    pub(super) x: Vec<f64>,
    /// What makes it so, in words; nothing of the first one.
    pub(super) by: String,
}

/// The first one is the system itself.
pub(super) fn variants(
    system: &System,
    motion: &SystemState<f64>,
    releases: &[(f64, System, String)],
    models: &[Model<f64>],
) -> Vec<Variant> {
    let variant = |system: &System, x: &[f64], by: String| Variant {
        system: system.clone(),
        x: x.to_vec(),
        by,
    };
    let mut all = vec![variant(system, &motion.configuration, String::new())];
    let (mut before, mut state) = (system, motion.clone());
    for (_, after, joint) in releases {
        let mut next = SystemState::at_rest(&after.model);
        JointRelease::new(before, after).apply(&state, &mut next);
        let by = format!(" after the release of the joint `{joint}`");
        all.push(variant(after, &next.configuration, by));
        (before, state) = (after, next);
    }
    for model in models {
        let mut changed = variant(
            system,
            &motion.configuration,
            " with the masses of a fault".to_owned(),
        );
        changed.system.model = model.clone();
        all.push(changed);
    }
    all
}
