//! Feasibility of a trajectory, checked in advance.

use std::fmt;

use fly_mechanics::System;
use fly_mechanics::multibody::{Joint, JointKind};

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

/// A trajectory moves a joint faster than its velocity limit allows.
#[derive(Clone, Debug, PartialEq)]
pub struct TooFast {
    /// When it is fastest, s.
    pub time: f64,
    /// The joint's name.
    pub joint: String,
    /// Its speed then, rad/s or m/s.
    pub speed: f64,
    /// Its limit, rad/s or m/s.
    pub limit: f64,
    /// Whether it slides: speeds are in m/s.
    pub slides: bool,
}

impl fmt::Display for TooFast {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self {
            time,
            joint,
            speed,
            limit,
            slides,
        } = self;
        let unit = if *slides { "m/s" } else { "rad/s" };
        write!(
            f,
            "joint `{joint}` would move at {speed:.3} {unit} at {time:.2} s, faster than its limit of {limit:.3} {unit}"
        )
    }
}

/// The joints that a trajectory moves faster than their velocity limits, each at its fastest, at the same instants as [`check`]; restarts it.
///
/// # Errors
/// [`Infeasible`] at some instant.
pub fn too_fast(
    trajectory: &mut dyn Trajectory<SystemPoint>,
    system: &System,
) -> Result<Vec<TooFast>, Infeasible> {
    let model = &system.model;
    let mut fastest: Vec<_> = (model.bodies().zip(&system.joints))
        .filter(|(body, _)| model.velocity_range(*body).len() == 1)
        .filter_map(|(body, joint)| {
            let slides = model.joint(body).map(Joint::kind) == Some(&JointKind::Prismatic);
            let found = TooFast {
                time: 0.0,
                joint: joint.name.clone(),
                speed: 0.0,
                limit: joint.limits.velocity?,
                slides,
            };
            Some((model.velocity_range(body).start, found))
        })
        .collect();
    let mut point = SystemPoint::new(model);
    let found = instants(trajectory.duration()).try_for_each(|time| {
        trajectory.at(time, &mut point)?;
        for (place, found) in &mut fastest {
            let speed = point.velocity[*place].abs();
            if speed > found.speed {
                (found.time, found.speed) = (time, speed);
            }
        }
        Ok(())
    });
    trajectory.restart();
    found?;
    let found = fastest.into_iter().map(|(_, found)| found);
    // Those that coincide with the limits may be rounded.
    Ok(found
        .filter(|found| found.speed > found.limit * (1.0 + 1e-9))
        .collect())
}

/// The instants at which a trajectory of this duration is looked at, s.
fn instants(duration: Option<f64>) -> impl Iterator<Item = f64> {
    let end = duration.unwrap_or(HORIZON);
    let step = STEP.max(end / INSTANTS);
    let all = (0_u32..).map(move |i| f64::from(i) * step);
    all.take_while(move |time| *time < end).chain([end])
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
    for time in instants(trajectory.duration()) {
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
