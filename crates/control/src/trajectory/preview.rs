//! Feasibility of a trajectory, checked in advance.

use fly_mechanics::System;

use super::{Infeasible, Trajectory};
use crate::SystemPoint;

/// How long a trajectory without an end is checked, s.
const HORIZON: f64 = 60.0;
/// Time between two checks, s, unless the trajectory is very long.
const STEP: f64 = 0.02;
/// The most instants checked.
const INSTANTS: f64 = 20_000.0;

/// Why a system cannot follow a trajectory.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
pub enum Violation {
    /// It is infeasible for any system at some instant.
    #[error(transparent)]
    Infeasible(#[from] Infeasible),
    /// A joint would leave its limits.
    #[error(
        "at {time} s joint `{joint}` would be at {position:.6}: expected within its limits [{:.6}, {:.6}]", .limits[0], .limits[1]
    )]
    JointLimit {
        /// The time, s.
        time: f64,
        /// The joint's name.
        joint: String,
        /// Its position, m or rad.
        position: f64,
        /// Its limits, m or rad.
        limits: [f64; 2],
    },
}

/// Checks a trajectory against the joints' limits at instants 20 ms apart (more in trajectories of more than 400 s), for 60 s if it has no end, and
/// restarts it.
///
/// # Errors
/// The first [`Violation`].
pub fn check(
    trajectory: &mut dyn Trajectory<SystemPoint>,
    system: &System,
) -> Result<(), Violation> {
    let found = first_violation(trajectory, system);
    trajectory.restart();
    found
}

fn first_violation(
    trajectory: &mut dyn Trajectory<SystemPoint>,
    system: &System,
) -> Result<(), Violation> {
    let model = &system.model;
    let limited: Vec<_> = (model.bodies().zip(&system.joints))
        .filter(|(body, _)| model.config_range(*body).len() == 1)
        .filter_map(|(body, joint)| {
            let limits = joint.limits.position?;
            Some((model.config_range(body).start, &joint.name, limits))
        })
        .collect();
    let mut point = SystemPoint::new(model);
    let end = trajectory.duration().unwrap_or(HORIZON);
    let step = STEP.max(end / INSTANTS);
    let instants = (0_u32..).map(|i| f64::from(i) * step);
    for time in instants.take_while(|time| *time < end).chain([end]) {
        trajectory.at(time, &mut point)?;
        for (place, joint, limits) in &limited {
            let position = point.configuration[*place];
            let [low, high] = limits;
            // Targets that coincide with the limits may be rounded.
            if position < low - 1e-9 || position > high + 1e-9 {
                return Err(Violation::JointLimit {
                    time,
                    joint: (*joint).clone(),
                    position,
                    limits: *limits,
                });
            }
        }
    }
    Ok(())
}
