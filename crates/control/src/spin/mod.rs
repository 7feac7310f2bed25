//! Spinning hover: for a vehicle with too few rotors to hover at rest.
//!
//! A quadcopter that has lost a rotor cannot balance all torques. It can spin about an axis that is fixed in the body and vertical in the world, so fast that
//! the gyroscopic torque balances what the remaining rotors do not (M. W. Mueller, R. D'Andrea, *Stability and control of a quadrocopter despite the complete
//! loss of one, two, or three propellers*, ICRA 2014): yaw is given up, position and height are kept.
//!
//! - [`SteadySpin`] is such a motion: a twist that is constant in the body, for any body with fixed rotors, with or without drag, wherever its centre of mass
//!   is;
//! - [`SpinDesign`] is the feedback about it, with the least cost for small errors, the rotor lags included, scheduled with the spin rate;
//! - [`SpinLaw`] applies it: the thrusts for a state and a reference.
//!
//! An extension, not in the dissertation. The law (5.86b) with the spin as reference (the present attitude, rotated by the smallest angle) does not stabilise
//! the spin of the shipped quadcopter, whatever its poles and tilt priority, with or without rotor lags: its template is matched at rest, where body z is
//! vertical, and the forces that it sacrifices rotate with the body. So this feedback is designed for the spin itself.

mod design;
mod law;
mod steady;

pub use design::SpinDesign;
pub use law::SpinLaw;
pub use steady::SteadySpin;
