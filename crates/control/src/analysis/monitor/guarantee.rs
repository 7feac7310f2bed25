//! When the total error energy is guaranteed to decrease.
#![allow(non_snake_case)]

use std::fmt;

use fly_mechanics::multibody::{BodyId, Model, Workspace};
use fly_mechanics::{Inputs, PseudoInverse};
use nalgebra::{DMatrix, Matrix6xX};

use crate::Controller;
use crate::inputs::rank;
use crate::lehmer::Lehmer;
use crate::plant::{FreeBodyPlant, Plant, SystemPlant};
use crate::strategy::Strategy;
use crate::template::{Approach, Template};
use crate::transport::TransportError;

/// When `dW/dt = -2 R` holds for a closed loop without limits, disturbances and model errors, so that W decreases.
///
/// | | reference at rest | moving reference |
/// |---|---|---|
/// | energy-based, matching transport map, (5.43) | decreases | decreases, Konz (5.55) |
/// | body-based, one pair with an invertible Jacobian | decreases | decreases, Konz (5.23) |
/// | body-based otherwise | decreases | not guaranteed |
/// | particle-based | decreases | not guaranteed |
/// | rank of B below the degrees of freedom | not guaranteed | not guaranteed |
///
/// Konz claims this for the body-based approach in general; it fails for systems of several pairs. At rest all approaches coincide. Along a moving reference
/// `dW/dt = -2 R - P` holds for all of them, Konz (5.10), with the power P that the reference extracts:
/// [`DesiredMotion::reference_power_at`](crate::template::DesiredMotion::reference_power_at).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum LyapunovGuarantee {
    /// Always, including underactuated loops that realise the template exactly.
    Always,
    /// While the reference is at rest; along a moving one W may increase with this approach.
    AtRest(Approach),
    /// Never: the rank of B is below the degrees of freedom, and the matching force (5.78) does work.
    Underactuated {
        /// The rank of B.
        rank: usize,
        /// n.
        dof: usize,
    },
    /// Never: the controller has no desired energies, as in state feedback.
    NoEnergies,
}

/// Why dW/dt is not predicted.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum UncheckedReason {
    /// There is no previous step, or no time has passed since.
    First,
    /// Limits were active.
    Saturated,
    /// The reference moves, and the strategy does not compute the power that it extracts from W.
    MovingReference,
    /// The rank of B is below the degrees of freedom.
    Underactuated {
        /// The rank of B.
        rank: usize,
        /// n.
        dof: usize,
    },
    /// There are no desired energies.
    NoEnergies,
}

impl fmt::Display for UncheckedReason {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::First => write!(f, "there were fewer than two steps to compare"),
            Self::Saturated => write!(f, "limits were active"),
            Self::MovingReference => write!(
                f,
                "the template does not predict dW/dt for a moving reference"
            ),
            Self::Underactuated { rank, dof } => write!(
                f,
                "{rank} independent {} cannot produce the desired motion of {dof} degrees of freedom",
                if *rank == 1 { "input" } else { "inputs" }
            ),
            Self::NoEnergies => write!(f, "this controller has no desired energies"),
        }
    }
}

/// # Construction
impl LyapunovGuarantee {
    /// For one free body whose B (6 x p) has this rank.
    pub fn of_body(approach: Approach, rank: usize) -> Self {
        match approach {
            _ if rank < 6 => Self::Underactuated { rank, dof: 6 },
            Approach::Particle => Self::AtRest(approach),
            // Both transport maps of a body match.
            Approach::Body | Approach::Energy => Self::Always,
        }
    }

    /// For a system whose B (n x p) has this rank, see [`input_rank`].
    ///
    /// Tests at twenty states about the neutral configuration, to eight digits, whether the transport map matches; skips states where the map is
    /// singular. Allocates.
    pub fn of_system(model: &Model<f64>, template: &mut Template<Model<f64>>, rank: usize) -> Self {
        let (dof, approach) = (model.dof(), template.approach());
        if rank < dof {
            return Self::Underactuated { rank, dof };
        }
        let fits = match approach {
            Approach::Particle => false,
            Approach::Body => {
                let pairs: Vec<_> = template.pairs().iter().map(|p| (p.a, p.b)).collect();
                everywhere(model, |at| one_invertible_pair(model, &pairs, at))
            }
            Approach::Energy => everywhere(model, |at| map_fits(model, template, at)),
        };
        if fits {
            Self::Always
        } else {
            Self::AtRest(approach)
        }
    }
}

/// # The Lyapunov function
impl Controller<FreeBodyPlant> {
    /// When the total error energy W is a Lyapunov function of this closed loop. Allocates.
    pub fn lyapunov_guarantee(&self) -> LyapunovGuarantee {
        let B = self.plant().input_matrix();
        let B = DMatrix::from_fn(6, B.ncols(), |i, j| B[(i, j)]);
        LyapunovGuarantee::of_body(self.template().approach(), rank(&B))
    }
}

/// # The Lyapunov function
impl Controller<SystemPlant> {
    /// When the total error energy W is a Lyapunov function of this closed loop. Allocates.
    pub fn lyapunov_guarantee(&mut self) -> LyapunovGuarantee {
        let model = self.model().clone();
        let (dof, rank) = (model.dof(), self.plant().clone().input_rank());
        match self.strategy_mut() {
            Strategy::Template(template) => LyapunovGuarantee::of_system(&model, template, rank),
            Strategy::Matrices(_) | Strategy::Euclidean(_) | Strategy::User(_) if rank < dof => {
                LyapunovGuarantee::Underactuated { rank, dof }
            }
            Strategy::Matrices(template) => {
                let pairs: Vec<_> = template.pairs().iter().map(|p| (p.a, p.b)).collect();
                let falls = template.approach() == Approach::Body
                    && everywhere(&model, |at| one_invertible_pair(&model, &pairs, at));
                if falls {
                    LyapunovGuarantee::Always
                } else {
                    LyapunovGuarantee::AtRest(template.approach())
                }
            }
            Strategy::User(template) => {
                let fits = everywhere(&model, |at| {
                    template.map_fits(&model, &at.x, &at.x_R, DIGITS)
                });
                if fits {
                    LyapunovGuarantee::Always
                } else {
                    LyapunovGuarantee::AtRest(template.approach())
                }
            }
            // A quadratic potential, with the identity as its matching map.
            Strategy::Euclidean(_) => LyapunovGuarantee::Always,
            Strategy::Feedback(_) | Strategy::Multirotor(_) => LyapunovGuarantee::NoEnergies,
        }
    }
}

/// # Use
impl LyapunovGuarantee {
    /// Why W need not fall by 2 R now, if so: `moving` tells whether the reference moves.
    pub fn unchecked(self, moving: bool) -> Option<UncheckedReason> {
        match self {
            Self::Always => None,
            Self::AtRest(_) => moving.then_some(UncheckedReason::MovingReference),
            Self::Underactuated { rank, dof } => Some(UncheckedReason::Underactuated { rank, dof }),
            Self::NoEnergies => Some(UncheckedReason::NoEnergies),
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

impl SystemPlant {
    /// The least rank of B (n x p) about the neutral configuration, after the projection of rolling constraints.
    /// Allocates.
    pub(crate) fn input_rank(&mut self) -> usize {
        let model = self.model().clone();
        let rest = vec![0.0; model.dof()];
        let ranks = configurations(&model).take(STATES).map(|x| {
            self.update((&x, &rest));
            rank(self.input_matrix())
        });
        ranks.min().unwrap_or(0)
    }
}

/// The least rank of B (n x p) at `STATES` configurations about the neutral one. Allocates.
pub fn input_rank(model: &Model<f64>, inputs: &Inputs) -> usize {
    let n = model.dof();
    let (mut B, mut J) = (DMatrix::zeros(n, inputs.input_dim()), Matrix6xX::zeros(n));
    let ranks = configurations(model).take(STATES).map(|x| {
        inputs.input_matrix(&kinematics(model, &x), &mut J, &mut B);
        rank(&B)
    });
    ranks.min().unwrap_or(0)
}

/// Random configurations about the neutral one: the same on every machine.
fn configurations(model: &Model<f64>) -> impl Iterator<Item = Vec<f64>> + '_ {
    let mut numbers = Lehmer(5);
    std::iter::repeat_with(move || {
        let step: Vec<f64> = (0..model.dof()).map(|_| numbers.next()).collect();
        let mut x = model.neutral_configuration();
        model.integrate(&mut x, &step);
        x
    })
}

/// Whether the test holds at all samples for which it is defined.
fn everywhere(model: &Model<f64>, mut holds: impl FnMut(&Sample) -> Option<bool>) -> bool {
    let mut configurations = configurations(model);
    let mut next = || configurations.next().unwrap_or_default();
    let samples = (0..STATES).filter_map(|_| {
        let (x, x_R) = (next(), next());
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

/// (5.43); `None` where the map is singular.
fn map_fits(model: &Model<f64>, template: &mut Template<Model<f64>>, at: &Sample) -> Option<bool> {
    let (actual, reference) = (kinematics(model, &at.x), kinematics(model, &at.x_R));
    match template.check_map(model, &actual, &reference, DIGITS) {
        Ok(()) => Some(true),
        Err(TransportError::Mismatch { .. }) => Some(false),
        Err(_) => None,
    }
}

/// Whether one pair carries all energies and `Ad(E) J_R xi_R` always is an admissible twist of the system: `xi_E = J^+ z_E` is then a velocity error.
fn one_invertible_pair(
    model: &Model<f64>,
    pairs: &[(BodyId, BodyId)],
    at: &Sample,
) -> Option<bool> {
    let [(a, b)] = *pairs else {
        return Some(false);
    };
    let (actual, reference) = (kinematics(model, &at.x), kinematics(model, &at.x_R));
    let n = model.dof();
    let (mut J, mut J_R) = (Matrix6xX::zeros(n), Matrix6xX::zeros(n));
    actual.jacobian(a, b, &mut J);
    reference.jacobian(a, b, &mut J_R);
    let E = actual.pose(a, b).inverse() * reference.pose(a, b);
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
