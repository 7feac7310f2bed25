//! Hover while spinning: what a vehicle with too few rotors to hover at rest can still do.
//!
//! A quadcopter that has lost a rotor cannot balance all torques. It can turn about an axis that is fixed in the body and vertical in the world, so fast that
//! the gyroscopic torque balances what the rotors that are left do not (M. W. Mueller, R. D'Andrea, *Stability and control of a quadrocopter despite the
//! complete loss of one, two, or three propellers*, ICRA 2014): yaw is given up, position and height are kept.
//!
//! - [`SteadySpin`] is such a motion: a twist that stays constant in the body, of any body with fixed rotors, with or without drag, wherever its centre of
//!   mass is;
//! - [`SpinDesign`] is the feedback about it, of least cost for small errors, the lags of the rotors included, for the rate of spin of the moment;
//! - [`SpinLaw`] flies it: the thrusts for a state and a reference.
//!
//! An extension, not in the dissertation. Its law (5.86b) with the spin as reference (the attitude of the moment, turned by the smallest angle) does not stabilise the spin of the shipped
//! quadcopter, whatever its poles and its priority of tilt, with lags of the rotors or without: its template is matched to rest, where body z is the vertical, and the
//! forces that it gives up turn with the body. So the feedback about a spin is designed for the spin.

mod design;
mod law;
mod steady;

pub use design::SpinDesign;
pub use law::SpinLaw;
pub use steady::SteadySpin;
