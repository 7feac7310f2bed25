#![doc = include_str!("../README.md")]
//!
//! # Conventions and symbols
//!
//! The conventions are those of [`fly_lie`]: twists `[v; omega]` and wrenches `[f; tau]` in the body frame, world z-up, SI units. Moments of
//! inertia are about the centre of mass unless a name says `about_origin`.
//!
//! ```text
//! M ξ̇ + c(ξ) + D ξ + ∇V(G) = B u          Ġ = G hat6(ξ)
//! ```
//!
//! | symbol | item |
//! |---|---|
//! | M', 4x4; M = Vee(M'), 6x6 | [`PseudoInertia`], [`FreeBody::mass_matrix`] |
//! | G, ξ | [`State`] |
//! | c, D ξ, ∇V, b = c + D ξ + ∇V | [`FreeBody::coriolis_force`], [`FreeBody::damping_force`], [`FreeBody::potential_force`], [`FreeBody::bias`] |
//! | D of a body in air | [`Drag`] |
//! | other aerodynamics of bodies and rotors | [`aerodynamics`] |
//! | motors, batteries and propellers in simulations | [`propulsion`] |
//! | B, u, W u ≤ l | [`Rotors::input_matrix`], [`Rotors::limits`] |
//! | D', K' of dampers, springs or a controller | [`SecondMoment`] |
//! | V, f_K of arbitrary springs | [`Stiffness`] |
//! | a body on a pivot, a rolling body | [`Body::on_point`](multibody::Body::on_point), [`PlaneContact::rolling`](multibody::constraints::PlaneContact::rolling) |
//! | x, ξ, A(x), γ, Γ of arbitrary coordinates; Hamel's equation; four forms of the equation of motion | `geometry` |
//! | systems of bodies, their forces and dynamics; their motion | [`multibody`]; [`integrate`] |
//! | the same with rotors and motors behind their lags | [`ActuatedDynamics`] |
//! | measurements of any system, to and from x, ξ | [`measurements`] |
//! | min 1/2 v' M v + c' v with Z v = b | [`EqualityQp`], [`PseudoInverse`] |
//!
//! # A vehicle with lags
//!
//! A vehicle with one tilting rotor above its centre of mass, from its description to a second of flight.
//!
//! ```
//! use fly_lie::SE3;
//! use fly_mechanics::integrate::Integrator;
//! use fly_mechanics::{State, Vehicle};
//!
//! let vehicle = Vehicle::from_toml(
//!     r#"
//!     name = "unicopter"
//!
//!     [bodies.airframe]
//!     mass = 1.0
//!     inertia = [0.01, 0.01, 0.02]
//!
//!     [[rotors]]
//!     body = "airframe"
//!     position = [0, 0, 0.1]
//!     axis = [0, 0, 1]
//!     thrust = [0, 20]
//!     time_constant = 0.05
//!     tilt = { axis = [0, 1, 0], limit_deg = 30, time_constant = 0.05 }
//!     "#,
//! )?;
//! let (body, rotors) = (&vehicle.body, &vehicle.rotors);
//! assert_eq!(rotors.command_names(), ["rotor.0.thrust", "rotor.0.tilt"]);
//!
//! // The commands, and the rotor's outputs after its lag.
//! let commands = [9.81, 0.01];
//! let mut actual = [9.81, 0.0];
//! let mut state = State::at_rest(SE3::identity());
//! let energy = body.energy(&state);
//!
//! let mut integrator = Integrator::new(2);
//! for _ in 0..1000 {
//!     integrator.step(&mut state, &mut actual, 0.001, |state, actual, rate| {
//!         for (i, tau) in rotors.time_constants().iter().enumerate() {
//!             rate[i] = (commands[i] - actual[i]) / tau;
//!         }
//!         body.acceleration(state, &rotors.wrench(actual))
//!     });
//! }
//!
//! // Tilted forward about y, it goes forward and pitches about y.
//! assert!(state.pose.translation.x > 0.0);
//! assert!(state.twist[4] > 0.0);
//! assert!(body.energy(&state) > energy, "the rotor does work");
//! # Ok::<(), fly_mechanics::description::DescriptionError>(())
//! ```
//!
//! # Scalars
//!
//! Bodies and integration are generic over [`nalgebra::RealField`], so that `f32` and dual numbers run through the same code;
//! the tests use this to check every force as the derivative of an energy.

// The sources' symbols are used as local names: M, W, J, M'.
#![allow(non_snake_case)]

mod actuated;
pub mod actuators;
pub mod aerodynamics;
mod body;
pub mod contact;
pub mod description;
mod equality_qp;
mod free_body;
#[cfg(feature = "geometry")]
pub mod geometry;
pub mod integrate;
pub mod measurements;
pub mod multibody;
mod outline;
pub mod propulsion;
mod pseudo_inverse;
mod read;
mod release;
mod rope;
pub mod scene;
mod serialize;
mod stiffness;
mod system;
mod text;
mod vehicle;
pub mod visual;

pub use actuated::{
    ActuatedDynamics, ActuatedDynamicsError, ContactIntegrator, Surroundings, contact_frequency,
    contact_pairs, contact_rate, element_rate, sustained_fraction,
};
pub use actuators::{Inputs, Motor, MotorError, Polytope, Rotor, RotorError, Rotors, Tilt};
pub use aerodynamics::{Air, Propeller, PropellerError, QuadraticDrag, RotorAerodynamics};
pub use body::{
    Drag, DragError, InertiaError, MeshError, PrincipalInertia, PseudoInertia, SecondMoment,
    TriangleMesh, velocity_of_point,
};
pub use contact::{ContactShape, Ground};
pub use equality_qp::{EqualityQp, EqualityQpError};
pub use free_body::{FreeBody, State, wrench_of_force};
pub use propulsion::{Battery, RotorMotor};
pub use pseudo_inverse::PseudoInverse;
pub use release::JointRelease;
pub use rope::Rope;
pub use stiffness::{PointSpring, Stiffness, StiffnessError};
pub use system::{JointData, JointLimits, ReleaseError, System, TiltServo};
pub use vehicle::{Vehicle, VehicleError};
