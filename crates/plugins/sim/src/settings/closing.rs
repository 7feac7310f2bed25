//! Loops of the initial state are closed around what is given.

use std::ops::Range;

use fly_mechanics::integrate::SystemState;
use fly_mechanics::multibody::{BodyId, JointKind};
use fly_mechanics::{ActuatedDynamics, System};

/// What moves by less stays where it was asked for: m, rad, m/s, rad/s.
const STAYS: f64 = 1e-6;

/// Closes loops and makes bodies roll, with the velocity coordinates in these ranges held in the configuration and in the velocity. Warns of
/// those that cannot be held. A state that cannot be closed is left as it is: the start of the simulation refuses it.
pub(super) fn close(system: &System, held: &[Vec<Range<usize>>; 2], motion: &mut SystemState<f64>) {
    if system.loops.is_empty() && system.couplings.is_empty() && system.rolling.is_empty() {
        return;
    }
    let [positions, velocities] = held
        .each_ref()
        .map(|ranges| ranges.iter().cloned().flatten().collect::<Vec<_>>());
    let asked = motion.clone();
    let closed = ActuatedDynamics::new(system, 1.0)
        .and_then(|mut dynamics| dynamics.close_loops(system, motion, [&positions, &velocities]));
    if closed.is_err() {
        *motion = asked;
        return;
    }
    let model = &system.model;
    let mut moved = vec![0.0; model.dof()];
    model.difference(&asked.configuration, &motion.configuration, &mut moved);
    for range in &held[0] {
        let (body, name) = carried(system, range);
        let away = norm(&moved[range.clone()]);
        if away <= STAYS {
            continue;
        }
        let x = model.config_range(body).start;
        let [from, to] = [&asked, &*motion].map(|motion| motion.configuration[x]);
        let unit = match model.joint(body).filter(|joint| joint.is_position()) {
            Some(joint) if *joint.kind() == JointKind::Prismatic => "m",
            Some(_) => "rad",
            None => {
                warn(
                    name,
                    format_args!("a place, begins {away:.3} (m, rad) from it"),
                );
                continue;
            }
        };
        warn(
            name,
            format_args!("{from} {unit}, begins at {to:.3} {unit}"),
        );
    }
    for range in &held[1] {
        let [from, to] = [&asked, &*motion].map(|motion| &motion.velocity[range.clone()]);
        let changed: Vec<f64> = from.iter().zip(to).map(|(from, to)| to - from).collect();
        if norm(&changed) > STAYS {
            let (_, name) = carried(system, range);
            warn(
                name,
                format_args!("{from:?}, begins with {to:.3?} m/s or rad/s"),
            );
        }
    }
}

fn warn(name: &str, told: std::fmt::Arguments<'_>) {
    tracing::warn!(
        "`{name}`: asked {told}: the loops, couplings and rolling bodies leave nothing else"
    );
}

/// The body of these velocity coordinates, and the name of its joint.
fn carried<'a>(system: &'a System, range: &Range<usize>) -> (BodyId, &'a str) {
    let mut all = system.model.bodies().zip(&system.joints);
    let found = all.find(|(body, _)| system.model.velocity_range(*body).contains(&range.start));
    found.map_or((BodyId::WORLD, ""), |(body, joint)| (body, &joint.name))
}

fn norm(numbers: &[f64]) -> f64 {
    numbers
        .iter()
        .map(|number| number * number)
        .sum::<f64>()
        .sqrt()
}
