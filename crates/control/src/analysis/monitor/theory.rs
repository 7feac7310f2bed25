//! When the total energy of the errors falls.
#![allow(non_snake_case)]

use std::fmt;

use fly_mechanics::PseudoInverse;
use fly_mechanics::multibody::{Model, Workspace};
use nalgebra::{DMatrix, Matrix6xX};

use crate::system::{DesiredMotion, SystemReference, SystemTemplate, Transported};
use crate::template::Approach;

/// When `dW/dt = -2 R` holds for a closed loop without limits, disturbances and errors of the model.
///
/// | | reference at rest | moving reference |
/// |---|---|---|
/// | energy-based, transport map that fits, (5.43) | falls | falls, Konz (5.55) |
/// | body-based, one pair whose Jacobian can be inverted | falls | falls, Konz (5.23) |
/// | body-based otherwise | falls | need not |
/// | particle-based | falls | need not |
/// | fewer inputs than degrees of freedom | need not | need not |
///
/// Konz claims it of the body-based approach in general; it fails for systems of several pairs. At rest all approaches coincide.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Theory {
    /// Always. Also of a loop with fewer inputs, if they happen to realise the template exactly.
    Falls,
    /// While the reference rests; of a moving one this approach says nothing.
    FallsAtRest(Approach),
    /// Never: there are fewer inputs than degrees of freedom, and the matching force (5.78) does work.
    Underactuated {
        /// p.
        inputs: usize,
        /// n.
        dof: usize,
    },
    /// Never: the controller has no desired energies, such as a state feedback.
    NoEnergies,
}

/// Why there is no expected rate.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Silence {
    /// There is no step before, or no time has passed since.
    First,
    /// Limits were active.
    Saturated,
    /// The reference moves, of which this approach says nothing.
    MovingReference(Approach),
    /// There are fewer inputs than degrees of freedom.
    Underactuated {
        /// p.
        inputs: usize,
        /// n.
        dof: usize,
    },
    /// There are no desired energies.
    NoEnergies,
}

impl fmt::Display for Silence {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::First => write!(f, "there were no two steps to compare"),
            Self::Saturated => write!(f, "limits were active"),
            Self::MovingReference(Approach::Particle) => {
                write!(
                    f,
                    "the particle-based approach says nothing of W along a moving reference"
                )
            }
            Self::MovingReference(Approach::Body) => write!(
                f,
                "the body-based approach says nothing of W along a moving reference for these pairs"
            ),
            Self::MovingReference(Approach::Energy) => write!(
                f,
                "the transport map does not fit the desired potential, so that nothing is known of W along a moving reference"
            ),
            Self::Underactuated { inputs, dof } => write!(
                f,
                "{inputs} {} cannot give all that the desired motion asks of {dof} degrees of freedom",
                if *inputs == 1 { "input" } else { "inputs" }
            ),
            Self::NoEnergies => write!(f, "this controller has no desired energies"),
        }
    }
}

/// # Construction
impl Theory {
    /// Of one free body with p independent inputs.
    pub fn of_body(approach: Approach, inputs: usize) -> Self {
        match approach {
            _ if inputs < 6 => Self::Underactuated { inputs, dof: 6 },
            Approach::Particle => Self::FallsAtRest(approach),
            // Both transport maps of a body fit.
            Approach::Body | Approach::Energy => Self::Falls,
        }
    }

    /// Of a system with p independent inputs.
    ///
    /// Whether the transport map fits is looked up at twenty states about the neutral configuration, to eight digits; states where it does not exist say
    /// nothing. Allocates.
    pub fn of_system(model: &Model<f64>, template: &mut SystemTemplate, inputs: usize) -> Self {
        let (dof, approach) = (model.dof(), template.approach());
        if inputs < dof {
            return Self::Underactuated { inputs, dof };
        }
        let fits = match approach {
            Approach::Particle => false,
            Approach::Body => everywhere(model, |at| one_invertible_pair(model, template, at)),
            Approach::Energy => everywhere(model, |at| map_fits(model, template, at)),
        };
        if fits {
            Self::Falls
        } else {
            Self::FallsAtRest(approach)
        }
    }
}

/// # Use
impl Theory {
    /// Why nothing is known of W now, if so: `moving` tells whether the reference moves.
    pub fn silence(self, moving: bool) -> Option<Silence> {
        match self {
            Self::Falls => None,
            Self::FallsAtRest(approach) => moving.then_some(Silence::MovingReference(approach)),
            Self::Underactuated { inputs, dof } => Some(Silence::Underactuated { inputs, dof }),
            Self::NoEnergies => Some(Silence::NoEnergies),
        }
    }
}

const STATES: usize = 20;
const DIGITS: f64 = 1e-8;

/// A state and a reference.
struct Sample {
    x: Vec<f64>,
    x_R: Vec<f64>,
}

/// Whether all samples agree; those that say nothing are left out.
fn everywhere(model: &Model<f64>, mut holds: impl FnMut(&Sample) -> Option<bool>) -> bool {
    // Lehmer's generator: the same numbers everywhere, between -1 and 1.
    let mut seed: u64 = 5;
    let mut configuration = || {
        let step: Vec<f64> = (0..model.dof())
            .map(|_| {
                seed = seed * 48_271 % 2_147_483_647;
                f64::from(u32::try_from(seed).unwrap_or(u32::MAX)) / 1_073_741_823.5 - 1.0
            })
            .collect();
        let mut x = model.neutral_configuration();
        model.integrate(&mut x, &step);
        x
    };
    let samples = (0..STATES).filter_map(|_| {
        let (x, x_R) = (configuration(), configuration());
        holds(&Sample { x, x_R })
    });
    let found: Vec<bool> = samples.collect();
    !found.is_empty() && found.iter().all(|fits| *fits)
}

fn kinematics(model: &Model<f64>, x: &[f64]) -> Workspace<f64> {
    let mut workspace = Workspace::new(model);
    workspace.update(model, x, &vec![0.0; model.dof()]);
    workspace.update_jacobians(model);
    workspace
}

/// (5.43); `None` where the map does not exist.
fn map_fits(model: &Model<f64>, template: &mut SystemTemplate, at: &Sample) -> Option<bool> {
    let actual = kinematics(model, &at.x);
    let mut reference = Workspace::new(model);
    let mut desired = DesiredMotion::new(model);
    let rest = vec![0.0; model.dof()];
    let goal = SystemReference {
        configuration: &at.x_R,
        velocity: &rest,
        acceleration: &rest,
    };
    template
        .evaluate(model, &actual, &rest, &mut reference, &goal, &mut desired)
        .ok()?;
    let at = Transported {
        model,
        pairs: template.pairs(),
        actual: &actual,
        reference: &reference,
    };
    Some(at.check(&desired.map, DIGITS).is_ok())
}

/// Whether one pair carries all energies, and `Ad(E) J_R xi_R` always is a twist that the system can have: `xi_E = J^+ z_E` then is a velocity error.
fn one_invertible_pair(model: &Model<f64>, template: &SystemTemplate, at: &Sample) -> Option<bool> {
    let [pair] = template.pairs() else {
        return Some(false);
    };
    let (actual, reference) = (kinematics(model, &at.x), kinematics(model, &at.x_R));
    let n = model.dof();
    let (mut J, mut J_R) = (Matrix6xX::zeros(n), Matrix6xX::zeros(n));
    actual.jacobian(pair.a, pair.b, &mut J);
    reference.jacobian(pair.a, pair.b, &mut J_R);
    let E = actual.pose(pair.a, pair.b).inverse() * reference.pose(pair.a, pair.b);
    let carried = E.adjoint() * J_R;
    if n > 6 {
        return Some(false);
    }
    let mut inverse = PseudoInverse::new(6, n);
    inverse.tolerance = DIGITS;
    if inverse.decompose(&DMatrix::from_fn(6, n, |i, j| J[(i, j)])) < n {
        return None;
    }
    let coordinates = inverse.matrix() * &carried;
    Some((J * coordinates - &carried).amax() <= DIGITS * carried.amax())
}
