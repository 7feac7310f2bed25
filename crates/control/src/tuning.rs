//! From closed-loop specifications to template parameters.
//!
//! - A fully actuated vehicle has two second-order loops, position and attitude, `m s^2 + d s + k` in every direction. The desired mass and inertia are the
//!   model's, about its centre of mass: energies with one common centre, for which errors decay along straight lines.
//! - A vehicle that must tilt to move sideways has four poles for that motion, for which [`poles`] finds energies that it can follow; its yaw poles are free.
//! - Any other fully actuated system has the same two poles in every joint: a pair across each joint, with energies in fixed proportion.
//! - An underactuated system has no poles of individual joints: a [`MatchingSearch`](crate::design::MatchingSearch) searches for energies that it can follow,
//!   with given poles among all those of its linearisation.
//!
//! Actuator lag adds a pole to each of these loops and moves the others. [`PoleSpec::with_lag`] specifies poles of the loop with its lag: those of the law are
//! then chosen such that the lag moves them to these.
//!
//! ```
//! use fly_control::tuning::{PoleSpec, tune};
//! # use fly_control::analysis::{ClosedLoop, modes};
//! # use fly_control::plant::FreeBodyPlant;
//! # use fly_control::template::{Approach, Template, Transport};
//! # use fly_control::Controller;
//! # let rotor = |x, y, drag| {
//! #     format!("[[rotors]]\nbody = 'frame'\nposition = [{x}, {y}, 0]\naxis = [0, 0, 1]\ndrag_ratio = {drag}\nthrust = [0.2, 7]\n")
//! # };
//! # let rotors = [rotor(0.18, 0.0, -0.016), rotor(0.0, 0.18, 0.016), rotor(-0.18, 0.0, -0.016), rotor(0.0, -0.18, 0.016)];
//! # let body = "name = 'quadcopter'\n[bodies.frame]\nmass = 0.9\ninertia = [0.006, 0.006, 0.011]\n";
//! # let system = fly_mechanics::System::from_toml(&(body.to_owned() + &rotors.concat()))?;
//! let level = system.model.neutral_configuration();
//! let pairs = tune(&system, &level, &PoleSpec::Bandwidth(2.0), None)?.pairs(&system)?;
//! # let vehicle = fly_mechanics::Vehicle::try_from(system.clone())?;
//! # let template = Template::of_body(Approach::Energy, Transport::Centred, pairs[0].energies.clone());
//! # let controller = Controller::new(FreeBodyPlant::new(&vehicle.body, vehicle.rotors.input_matrix()), template)?;
//! let closed = ClosedLoop::new(&system, &controller, &level)?;
//! // Four poles at -a have fallen to half the power at 2 rad/s.
//! let a = 2.0 / (2.0_f64.powf(0.25) - 1.0).sqrt();
//! assert!(modes(&closed.poles()?).iter().any(|mode| (mode.pole.re + a).abs() < 0.01 * a && mode.count >= 4));
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! [`fastest`] searches for the largest bandwidth at which a loop keeps the required [margins](crate::analysis::Margins).
#![allow(non_snake_case)]

mod fastest;
mod matched;

pub use fastest::{BandwidthLimit, Fastest, NoFeasibleBandwidth, SCAN, fastest};

use fly_mechanics::multibody::{BodyId, JointKind, Workspace};
use fly_mechanics::{SecondMoment, System, Vehicle};
use nalgebra::{Complex, DMatrix, DVector, Matrix3, Vector3};

use crate::analysis::input_rank;
use crate::design::MatchingSearchError;
use crate::linear::{NotAtRest, eigenvalues};
use crate::matching::fully_actuated;
use crate::pair::Pair;
use crate::poles::{self, PoleError, Poles};
use crate::system::{SystemPair, joint_axis};

/// The specification of a motion's poles.
#[derive(Clone, Debug, PartialEq)]
pub enum PoleSpec {
    /// These poles, 1/s: four horizontal poles of a vehicle that tilts to move sideways, otherwise two; complex poles with their
    /// conjugates.
    Poles(Vec<Complex<f64>>),
    /// All poles at `-a`, such that `a^n/(s + a)^n` has half the power at this frequency, rad/s.
    Bandwidth(f64),
    /// Poles of the loop including actuators with this time constant, s, see [`with_lag`](Self::with_lag).
    WithLag(f64, Box<PoleSpec>),
}

/// Parameters that realise the poles.
#[derive(Clone, Debug, PartialEq)]
pub enum Tuned {
    /// For a vehicle that tilts to move sideways.
    Vehicle(TiltingPoles),
    /// For a fully actuated system.
    Pairs(Vec<SystemPair>),
}

/// The poles of a vehicle that tilts to move sideways.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct TiltingPoles {
    /// The poles of the horizontal motion, 1/s.
    pub horizontal: [Complex<f64>; 4],
    /// The same as a polynomial, with the yaw dynamics.
    pub poles: Poles,
}

/// Why there are no such parameters.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
pub enum TuningError {
    /// Too many or too few poles.
    #[error("expected {expected} poles of the {motion}, found {found}")]
    Count {
        /// The motion.
        motion: &'static str,
        /// Its number of poles.
        expected: usize,
        /// The number given.
        found: usize,
    },
    /// A pole without its conjugate.
    #[error(
        "expected real poles and conjugate pairs of the {0}, such as -2+1i,-2-1i; found a complex pole without its conjugate"
    )]
    Conjugate(&'static str),
    /// An unstable pole.
    #[error("expected poles of the {motion} with negative real parts, found {found}")]
    Unstable {
        /// The motion.
        motion: &'static str,
        /// The first unstable pole.
        found: Complex<f64>,
    },
    /// A bandwidth that is not positive and finite.
    #[error("expected a positive bandwidth of the {motion}, found {found} rad/s")]
    Bandwidth {
        /// The motion.
        motion: &'static str,
        /// The bandwidth given.
        found: f64,
    },
    /// No law has these poles with the lag.
    #[error(
        "no loop of the {motion} has these poles with actuators that lag by {lag} s: the lag adds a pole at -1/{lag} less the sum of the others, {added:.3} 1/s, which must \
         be negative; slower poles, faster actuators, or controller.actuators.lead instead"
    )]
    Lag {
        /// The motion.
        motion: &'static str,
        /// s.
        lag: f64,
        /// The pole that the lag adds, 1/s.
        added: f64,
    },
    /// Actuators without a common lag.
    #[error(
        "the actuators have no common lag, found {least} to {most} s: omit the lag from the poles; controller.actuators.lead compensates any lags"
    )]
    Lags {
        /// s.
        least: f64,
        /// s.
        most: f64,
    },
    /// An attitude specification for a system without one.
    #[error("only a vehicle of one body has poles of its attitude; leave them out")]
    Attitude,
    /// A system that nothing drives.
    #[error(
        "no input moves the system: expected rotors or motors; describe them in `[[rotors]]` or `[[motors]]`"
    )]
    NoInputs,
    /// An underactuated system other than a vehicle.
    #[error(
        "the inputs move the system in {rank} of its {dof} degrees of freedom: the joints cannot have independent poles. {}tate feedback \
         (approach = \"state_feedback\") places all {} for small errors about one configuration, or has the gains of least cost \
         ([controller.lqr], --lqr)",
        if *.dof <= SEARCHED {
            format!("For energies that the inputs can follow, list up to {} poles of the whole system; s", 2 * .dof)
        } else {
            "S".to_owned()
        },
        2 * .dof
    )]
    Underactuated {
        /// The rank of B.
        rank: usize,
        /// n.
        dof: usize,
    },
    /// The inputs cannot hold the system.
    #[error(transparent)]
    NotAtRest(#[from] NotAtRest),
    /// The search for energies that an underactuated system can follow cannot start.
    #[error(transparent)]
    Matching(#[from] MatchingSearchError),
    /// The search found no such energies.
    #[error(
        "no energies were found that the inputs can follow with these poles (the best leaves a residual of {residual:.1e}{}): ask for fewer or other \
         poles, or use state feedback",
        if *.positive { "" } else { " and is not positive" }
    )]
    Unmatched {
        /// The residual matching force, dimensionless.
        residual: f64,
        /// Whether the energies are positive.
        positive: bool,
    },
    /// Joint PD uses the model's inertia, which varies.
    #[error(
        "the poles of joint PD change with the configuration, as the inertia of the model does: expected computed_torque, linear or energy, whose poles are constant"
    )]
    ModelInertia,
    /// In joints weight, springs and dampers act instantly, but the forces that balance them lag.
    #[error(
        "joints cannot have poles with a lag: gravity, springs and dampers act at once, but the inputs that balance them lag; controller.actuators.lead compensates the lag"
    )]
    LagOfJoints,
    /// The poles of state feedback belong to the whole system, not to individual loops.
    #[error(
        "state feedback cannot have poles with a lag: controller.actuators.lead compensates the lag"
    )]
    StateFeedbackLag,
    /// State feedback has no bandwidth.
    #[error(
        "state feedback needs its {0} poles one by one instead of a bandwidth, or the largest acceptable errors and inputs of an optimal one \
         ([controller.lqr], --lqr)"
    )]
    StateFeedback(usize),
    /// A multirotor controller for a system that is not a multirotor.
    #[error("the approach {0} is for vehicles of one body")]
    Multirotor(&'static str),
}

/// The most degrees of freedom for which energies of an underactuated system are searched; with more the search takes
/// minutes.
const SEARCHED: usize = 9;

/// The default ratio of attitude to position bandwidth.
const ATTITUDE: f64 = 2.0;

impl PoleSpec {
    /// `count` stable poles, 1/s.
    ///
    /// # Errors
    /// [`TuningError`].
    pub fn poles(
        &self,
        motion: &'static str,
        count: usize,
    ) -> Result<Vec<Complex<f64>>, TuningError> {
        let poles = match self {
            Self::Poles(poles) => poles.clone(),
            Self::Bandwidth(found) if !(found.is_finite() && *found > 0.0) => {
                let found = *found;
                return Err(TuningError::Bandwidth { motion, found });
            }
            Self::Bandwidth(bandwidth) => {
                let a = bandwidth / (2.0_f64.powf(1.0 / count as f64) - 1.0).sqrt();
                vec![Complex::new(-a, 0.0); count]
            }
            Self::WithLag(lag, of) => before_lag(&of.poles(motion, count)?, motion, *lag)?,
        };
        if poles.len() != count {
            return Err(TuningError::Count {
                motion,
                expected: count,
                found: poles.len(),
            });
        }
        let stable = |pole: &Complex<f64>| pole.is_finite() && pole.re < 0.0;
        if let Some(found) = poles.iter().copied().find(|pole| !stable(pole)) {
            return Err(TuningError::Unstable { motion, found });
        }
        match poles::polynomial(&poles) {
            Some(_) => Ok(poles),
            None => Err(TuningError::Conjugate(motion)),
        }
    }

    /// `[p0, p1, ...]` of the monic polynomial of degree N with these poles.
    ///
    /// # Errors
    /// [`TuningError`].
    pub fn polynomial<const N: usize>(
        &self,
        motion: &'static str,
    ) -> Result<[f64; N], TuningError> {
        let poles = self.poles(motion, N)?;
        let p = poles::polynomial(&poles).ok_or(TuningError::Conjugate(motion))?;
        Ok(std::array::from_fn(|i| p[i]))
    }

    /// Specifies these poles for the loop including the lag of the system's actuators, which must be common to all of
    /// them.
    ///
    /// With the lag T, a law with the polynomial `s^n + ... + p1 s + p0` has the poles of
    ///
    /// ```text
    /// T s^(n+1) + s^n + ... + p1 s + p0
    /// ```
    ///
    /// n of them can be chosen; the sum of all is -1/T, which fixes the last one. Without a lag nothing changes. For vehicles of one body this is exact without
    /// drag, because the compensation of drag lags while drag itself does not.
    ///
    /// # Errors
    /// [`TuningError::Lags`]. Whether such poles exist is checked in [`poles`](Self::poles).
    pub fn with_lag(self, system: &System) -> Result<Self, TuningError> {
        let lags = system.inputs.time_constants().iter().copied();
        let least = lags.clone().fold(f64::INFINITY, f64::min);
        let most = lags.fold(0.0, f64::max);
        if most == 0.0 {
            return Ok(self);
        }
        if least < most {
            return Err(TuningError::Lags { least, most });
        }
        Ok(Self::WithLag(most, Box::new(self)))
    }

    /// Two equal poles as fast as the mean of the horizontal ones.
    fn turn(&self) -> Result<Self, TuningError> {
        if let Self::WithLag(lag, of) = self {
            return Ok(Self::WithLag(*lag, Box::new(of.turn()?)));
        }
        let [p0, ..] = self.polynomial::<4>("horizontal motion")?;
        let poles = vec![Complex::new(-p0.powf(0.25), 0.0); 2];
        Ok(Self::Poles(poles))
    }

    /// Scales all poles by this factor.
    fn faster(&self, times: f64) -> Self {
        match self {
            Self::Poles(poles) => Self::Poles(poles.iter().map(|pole| pole * times).collect()),
            Self::Bandwidth(bandwidth) => Self::Bandwidth(times * bandwidth),
            Self::WithLag(lag, of) => Self::WithLag(*lag, Box::new(of.faster(times))),
        }
    }
}

/// The poles of the law whose loop with this lag, s, has these poles and one more.
fn before_lag(
    poles: &[Complex<f64>],
    motion: &'static str,
    lag: f64,
) -> Result<Vec<Complex<f64>>, TuningError> {
    let sum: Complex<f64> = poles.iter().sum();
    let added = -lag.recip() - sum.re;
    if added >= 0.0 || added.is_nan() {
        return Err(TuningError::Lag { motion, lag, added });
    }
    let mut all = poles.to_vec();
    all.push(added.into());
    let p = poles::polynomial(&all).ok_or(TuningError::Conjugate(motion))?;
    // s^n has the coefficient 1/T of T s^(n+1) + s^n + ...
    let n = poles.len();
    let mut companion = DMatrix::zeros(n, n);
    for i in 0..n {
        companion[(i, n - 1)] = -lag * p[i];
        if i > 0 {
            companion[(i, i - 1)] = 1.0;
        }
    }
    eigenvalues(&companion).ok_or(TuningError::Lag { motion, lag, added })
}

/// Parameters of the approaches `particle`, `body` and `energy` that give the system these poles.
///
/// `motion`: four horizontal poles of a vehicle that tilts to move sideways, otherwise two, for the position of a fully actuated vehicle or for every
/// joint. `attitude`, for a vehicle of one body: two poles, for the whole attitude if it is free (default: twice as fast as the position), otherwise
/// for yaw (default: as fast as the horizontal motion).
///
/// The pairs across joints have the model's inertia in this configuration, which determines how they share limited inputs; the poles are the same in
/// all configurations.
///
/// # Errors
/// [`TuningError`]. Whether the vehicle can be matched is checked in [`Tuned::pairs`].
///
/// # Panics
/// If the length of the configuration is not nu.
pub fn tune(
    system: &System,
    configuration: &[f64],
    motion: &PoleSpec,
    attitude: Option<&PoleSpec>,
) -> Result<Tuned, TuningError> {
    let Ok(vehicle) = Vehicle::try_from(system.clone()) else {
        return joints(system, configuration, motion, attitude).map(Tuned::Pairs);
    };
    if !fully_actuated(vehicle.rotors.input_matrix()) {
        return tilting(&vehicle, motion, attitude).map(Tuned::Vehicle);
    }
    let inertia = vehicle.body.inertia();
    let [k, d] = motion.polynomial("position")?;
    let usual = motion.faster(ATTITUDE);
    let [p0, p1] = attitude.unwrap_or(&usual).polynomial("attitude")?;
    let moment = |weight: f64, factor: f64| {
        let about_center = inertia.inertia_about_center() * factor;
        let center = inertia.center_of_mass();
        *SecondMoment::from_center(inertia.mass() * weight, center, about_center).matrix4()
    };
    Ok(Tuned::Pairs(vec![SystemPair {
        a: BodyId::WORLD,
        b: (system.model.bodies().next()).unwrap_or(BodyId::WORLD),
        energies: Pair::new(moment(k, p0), moment(d, p1), moment(1.0, 1.0)),
    }]))
}

/// The poles of a vehicle that tilts to move sideways, or is controlled as one: four of the horizontal motion, two of yaw.
///
/// # Errors
/// [`TuningError`].
pub fn tilting(
    vehicle: &Vehicle,
    motion: &PoleSpec,
    attitude: Option<&PoleSpec>,
) -> Result<TiltingPoles, TuningError> {
    let inertia = vehicle.body.inertia();
    let polynomial = motion.polynomial::<4>("horizontal motion")?;
    let usual = motion.turn()?;
    let [p0, p1] = attitude.unwrap_or(&usual).polynomial("turn")?;
    let about_vertical = inertia.inertia_about_center()[(2, 2)];
    let horizontal = motion.poles("horizontal motion", 4)?;
    Ok(TiltingPoles {
        horizontal: std::array::from_fn(|i| horizontal[i]),
        poles: Poles {
            polynomial,
            mass: inertia.mass(),
            yaw_inertia: about_vertical,
            yaw_damping: about_vertical * p1,
            yaw_stiffness: about_vertical * p0,
        },
    })
}

impl Tuned {
    /// The desired energies.
    ///
    /// # Errors
    /// [`PoleError`] if no energies have these poles.
    pub fn pairs(&self, system: &System) -> Result<Vec<SystemPair>, PoleError> {
        match self {
            Self::Pairs(pairs) => Ok(pairs.clone()),
            Self::Vehicle(TiltingPoles { poles, .. }) => {
                let vehicle = Vehicle::try_from(system.clone());
                let vehicle = vehicle.map_err(|error| PoleError::Vehicle(error.to_string()))?;
                let matched = poles.place(&vehicle.body, vehicle.rotors.input_matrix())?;
                Ok(vec![SystemPair {
                    a: BodyId::WORLD,
                    b: (system.model.bodies().next()).unwrap_or(BodyId::WORLD),
                    energies: matched.pair(&vehicle.body.inertia().center_of_mass()),
                }])
            }
        }
    }
}

/// The loop `m eps'' + d eps' + k eps = 0` of every velocity coordinate of a fully actuated system: `[k/m, d/m]`, and m, the diagonal of the model's mass
/// matrix in this configuration.
///
/// # Errors
/// [`TuningError`].
///
/// # Panics
/// If the length of the configuration is not nu.
pub fn joint_loops(
    system: &System,
    configuration: &[f64],
    motion: &PoleSpec,
    attitude: Option<&PoleSpec>,
) -> Result<([f64; 2], DVector<f64>), TuningError> {
    let model = &system.model;
    let (dof, rank) = (model.dof(), input_rank(model, &system.inputs));
    if attitude.is_some() {
        return Err(TuningError::Attitude);
    }
    if rank < dof {
        return Err(match rank {
            0 => TuningError::NoInputs,
            _ => TuningError::Underactuated { rank, dof },
        });
    }
    if let PoleSpec::WithLag(..) = motion {
        return Err(TuningError::LagOfJoints);
    }
    let polynomial = motion.polynomial("joints")?;
    let (mut workspace, mut M) = (Workspace::new(model), DMatrix::zeros(dof, dof));
    workspace.update(model, configuration, &vec![0.0; dof]);
    model.mass_matrix(&mut workspace, configuration, &mut M);
    Ok((polynomial, M.diagonal()))
}

/// A pair across each joint.
fn joints(
    system: &System,
    configuration: &[f64],
    motion: &PoleSpec,
    attitude: Option<&PoleSpec>,
) -> Result<Vec<SystemPair>, TuningError> {
    let model = &system.model;
    if let (PoleSpec::Poles(poles), None) = (motion, attitude)
        && model.dof() <= SEARCHED
        && (1..model.dof()).contains(&input_rank(model, &system.inputs))
    {
        let poles = motion.poles("system", poles.len())?;
        return matched::matched(system, configuration, &poles);
    }
    let ([p0, p1], masses) = joint_loops(system, configuration, motion, attitude)?;
    let moving = (model.bodies()).filter(|body| !model.velocity_range(*body).is_empty());
    Ok(moving
        .map(|body| {
            let range = model.velocity_range(body);
            let (m, joint) = (masses[range.start], model.joint(body));
            let none = Vector3::zeros();
            let inertia = match (joint.map(|joint| *joint.kind()), model.inertia(body)) {
                (Some(JointKind::Prismatic), _) => SecondMoment::from_points([(m, none)]),
                (Some(JointKind::Revolute(_) | JointKind::Screw { .. }), _) => {
                    let axis = joint.and_then(joint_axis).unwrap_or_default();
                    SecondMoment::from_center(0.0, none, axis * axis.transpose() * m)
                }
                (_, Some(inertia)) => *inertia.second_moment(),
                // A massless body that carries others.
                (_, None) => SecondMoment::from_center(m, none, Matrix3::identity() * m),
            };
            let energy = |factor: f64| *(inertia * factor).matrix4();
            SystemPair {
                a: model.parent(body).unwrap_or(BodyId::WORLD),
                b: body,
                energies: Pair::new(energy(p0), energy(p1), energy(1.0)),
            }
        })
        .collect())
}
