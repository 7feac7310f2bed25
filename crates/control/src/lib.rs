#![doc = include_str!("../README.md")]
//!
//! # The law
//!
//! ```text
//! model        M xidot + b = B u                      fly_mechanics::FreeBody, Rotors     Konz (5.73)
//! template     Mbar xidot + bbar = 0                  template: particle, body, energy    Konz (5.72)
//! law          minimise ||xidot + Mbar^-1 bbar||_Mbar subject to the model                Konz (5.74)
//!              u0 = H^-1 A^T (Mbar M^-1 b - bbar),  A = M^-1 B,  H = A^T Mbar A           Konz (5.86b)
//! allocation   minimise ||u - u0||_H subject to W u <= l                                  Konz (5.83)
//! matching     Mbar xidot + bbar = btilde             the part the inputs cannot realise  Konz (5.78)
//! ```
//!
//! A configuration x is a pose in SE(3), a velocity xi a body twist `[v; omega]`. No coordinates have singularities, so a
//! vehicle may fly upside-down. The energies of the template, [`Energies`], are those of the error: V-bar of the pose error,
//! T-bar of the velocity error, and `W = T + V`. W never increases for the body- and energy-based approaches of a single body as
//! long as the inputs realise the template.
//!
//! # Which approach
//!
//! - A fully actuated vehicle: `energy` with the `centred` transport map and all centres at the body's origin. Position errors decay
//!   along straight lines in the world, and W is a Lyapunov function.
//! - An underactuated vehicle with thrust along body z: [`poles`] chooses energies that the vehicle can follow near hover; use
//!   `energy` with `centred`, or `particle`. With these parameters `body` does poorly in aerobatics (0.62 rad of error in a loop where
//!   `particle` has 0.05).
//! - A vehicle far from its reference, upside-down or tumbling: add a [`governor`]. The law alone then needs a `tilt_priority`
//!   ([`law::Law::metric_with_priority`]), as does a fully actuated vehicle that tumbles.
//!
//! # Example
//!
//! A quadcopter that starts 1 m beside its place and 20 degrees tilted:
//!
//! ```
//! use fly_control::{ControllerSettings, ReferencePoint};
//! use fly_lie::SE3;
//! use fly_mechanics::{State, Vehicle, integrate};
//! use nalgebra::Vector6;
//!
//! let rotor = |x, y, drag| {
//!     format!("[[rotors]]\nbody = 'frame'\nposition = [{x}, {y}, 0]\naxis = [0, 0, 1]\ndrag_ratio = {drag}\nthrust = [0.2, 7]\n")
//! };
//! let rotors = [rotor(0.18, 0.0, -0.016), rotor(0.0, 0.18, 0.016), rotor(-0.18, 0.0, -0.016), rotor(0.0, -0.18, 0.016)];
//! let body = "name = 'quadcopter'\n[bodies.frame]\nmass = 0.9\ninertia = [0.006, 0.006, 0.011]\n";
//! let vehicle = Vehicle::from_toml(&(body.to_owned() + &rotors.concat()))?;
//!
//! let settings: ControllerSettings = toml::from_str(
//!     "allocation = 'active_set'
//!      poles = { horizontal = [-5, -5, -5, -5], yaw = { inertia = 0.02, damping = 0.16, stiffness = 0.32 } }",
//! )?;
//! let mut controller = settings.build(&vehicle)?;
//!
//! let goal = ReferencePoint::at_rest(SE3::identity());
//! let mut state = State::at_rest(SE3::exp(&Vector6::new(1.0, 0.0, 0.0, 0.35, 0.0, 0.0)));
//! for _ in 0..2000 {
//!     let step = controller.step(&state, &goal);
//!     let wrench = vehicle.rotors.input_matrix() * &step.input;
//!     state = integrate::rk4(&state, 2e-3, |state| vehicle.body.acceleration(state, &wrench));
//! }
//! assert!(state.pose.log().norm() < 1e-3);
//! assert!(controller.last().energies.is_some_and(|has| has.total < 1e-5));
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! # Real-time use
//!
//! [`Controller::step`] and [`Trajectory::at`] do not allocate with `allocation = "active_set"`, and the same calls return the same
//! bits. For a single body M, Mbar and B are constant, so every factorisation is done once; a step takes well under a microsecond
//! while no limit is active.
//!
//! Where the dissertation has a misprint, the module concerned quotes it and gives the correct formula. All formulas are checked
//! against independently computed data (`cargo test -p fly-control --test golden`).
//!
//! # Features
//!
//! | feature | what it adds |
//! |---|---|
//! | none | [`pair`], [`template`], [`transport`], [`law`], [`matching`], [`allocation`] for a single body: any scalar (`f32`, `f64`, dual numbers), compile-time sizes, no `std`, no heap; [`estimator`] in `f64` |
//! | `std` | the standard library; matrices of any size |
//! | `systems` | bodies and systems of `fly-mechanics`: [`Controller`], [`trajectory`], [`analysis`], [`design`], … |
//! | `settings` | everything above from a configuration: [`settings`], [`tuning`] |
//! | `osqp` | the OSQP solver, which needs cmake |
//! | `geometry` | user-defined desired energies, differentiated with dual numbers: `template::FunctionTemplate` |
//!
//! All are on by default, and each enables those that it needs. Firmware enables none and runs the same code, see
//! [`examples/firmware.rs`](https://docs.rs/crate/fly-control/latest/source/examples/firmware.rs).
//!
//! `allocation = "osqp"`, a widely known solver, is the default. [`ActiveSet`](allocation::ActiveSet) (`"active_set"`) is the better choice on a
//! vehicle: it is exact, about a hundred times faster, and never allocates.

#![cfg_attr(not(feature = "std"), no_std)]

pub mod allocation;
mod energies;
pub mod estimator;
pub mod kinematics;
pub mod law;
pub mod matching;
pub mod pair;
mod reference;
mod sizes;
pub mod template;
mod time;
pub mod transport;

pub use energies::Energies;
pub use reference::ReferencePoint;
pub use sizes::Sizes;

#[cfg(feature = "systems")]
pub mod analysis;
#[cfg(feature = "systems")]
mod angle;
#[cfg(feature = "systems")]
mod attainable_force;
#[cfg(feature = "systems")]
pub mod baselines;
#[cfg(feature = "systems")]
mod constrained;
#[cfg(feature = "systems")]
mod controller;
#[cfg(feature = "systems")]
pub mod design;
#[cfg(feature = "systems")]
pub mod disturbance;
#[cfg(feature = "systems")]
pub mod governor;
#[cfg(feature = "systems")]
pub mod inputs;
#[cfg(feature = "systems")]
pub mod jet;
#[cfg(feature = "systems")]
pub mod lead;
#[cfg(feature = "systems")]
mod lehmer;
#[cfg(feature = "systems")]
pub mod linear;
#[cfg(feature = "systems")]
pub mod plant;
#[cfg(feature = "systems")]
pub mod poles;
#[cfg(feature = "systems")]
pub mod predictor;
#[cfg(feature = "systems")]
mod redundancy;
#[cfg(feature = "systems")]
mod rest;
#[cfg(feature = "systems")]
pub mod setpoints;
#[cfg(feature = "systems")]
pub mod spin;
#[cfg(feature = "systems")]
mod step_error;
#[cfg(feature = "systems")]
mod strategy;
#[cfg(feature = "systems")]
pub mod system;
#[cfg(feature = "systems")]
mod thrust;
#[cfg(feature = "systems")]
pub mod trajectory;
#[cfg(feature = "systems")]
pub mod tuning;

#[cfg(feature = "systems")]
pub use controller::{Controller, InputBoundsError, Step};
#[cfg(feature = "systems")]
pub use step_error::StepError;
#[cfg(feature = "systems")]
pub use strategy::Strategy;
#[cfg(feature = "systems")]
pub use system::{SystemPoint, SystemReference};
#[cfg(feature = "systems")]
pub use trajectory::Trajectory;

#[cfg(feature = "settings")]
pub mod settings;

#[cfg(feature = "settings")]
pub use settings::{
    ControllerError, ControllerSettings, Reference, ReferenceSettings, SettingsError,
};
