//! Minimal firmware: no standard library, no allocator, its own panic handler.

#![no_std]

use core::panic::PanicInfo;

use fly_lie::attitude::{Euler, EulerSequence};
use fly_lie::{LieGroup, SE3, SpecialSvd, UnitQuaternion};
use nalgebra::{Matrix3, Vector3, Vector6};

#[panic_handler]
fn panic(_: &PanicInfo) -> ! {
    loop {}
}

/// The norm of the twist half way along another, plus a filter's attitude in single precision.
#[unsafe(no_mangle)]
pub extern "C" fn fly_lie_half_way(x: f64, angle: f64) -> f64 {
    let goal = SE3::exp(&Vector6::new(x, 0.0, 0.0, 0.0, 0.0, angle));
    let half = SE3::identity().interpolate(&goal, 0.5);
    let q = UnitQuaternion::<f32>::exp(&Vector3::new(0.1, 0.2, 0.3));
    let euler = Euler::from_rotation(&q.into(), EulerSequence::ZYX);
    let values = SpecialSvd::new(&Matrix3::from_diagonal_element(x)).map_or(0.0, |svd| svd.values.x);
    half.log().norm() + f64::from(euler.angles[0]) * 0.0 + values * 0.0
}
