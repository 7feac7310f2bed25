//! Vehicle descriptions in TOML.
//!
//! ```toml
//! name = "tricopter"
//! gravity = [0.0, 0.0, -9.81]          # m/s^2 in the world, z up; optional
//!
//! [bodies.airframe]
//! mass = 1.0                           # kg
//! center_of_mass = [0.0, 0.0, 0.0]     # m, body frame (x forward, y left, z up); optional
//! inertia = [0.012, 0.012, 0.022]      # kg m^2 about the centre of mass: the diagonal, or three rows;
//!                                      # or `inertia_about_origin`
//! joint = "free"                       # the body moves freely in the world; optional
//!
//! [[rotors]]                           # in the order of the commands: rotor.0, rotor.1, ...
//! name = "front left"                  # optional
//! body = "airframe"
//! position = [0.11, 0.19, 0.0]         # m, body frame
//! axis = [0.0, 0.0, 1.0]               # direction of the thrust with zero tilt, any length
//! drag_ratio = 0.016                   # drag torque about the thrust direction per thrust, m, signed; optional, 0
//! thrust = [0.5, 8.0]                  # smallest and largest, N
//! time_constant = 0.04                 # s, first-order lag of the thrust; optional, 0 = none
//!
//! [rotors.tilt]                        # only for a rotor that tilts
//! axis = [0.5, 0.866, 0.0]             # at the angle th the thrust points along cos(th) axis + sin(th) (tilt axis x axis)
//! limit_deg = 60.0                     # to either side, degrees
//! time_constant = 0.04                 # s, first-order lag of the servo; optional, 0 = none
//! segments = 8                         # chords that replace the arc of the largest thrust; optional, 8
//! ```
//!
//! Every key is checked; one that is not known is an error that names the nearest known one.

mod error;
mod reader;
mod vehicle;

pub use error::{DescriptionError, Problem};
pub(crate) use vehicle::{parse, parse_table};
