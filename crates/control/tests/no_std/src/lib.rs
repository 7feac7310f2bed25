//! Firmware in small: no standard library, no allocator, its own panic handler.

#![no_std]
#![allow(non_snake_case)]

use core::panic::PanicInfo;

use fly_control::ReferencePoint;
use fly_control::allocation::{ActiveSet, Allocation, AllocationError, Limited, Limits};
use fly_control::kinematics::OneBody;
use fly_control::law::{Law, LawError};
use fly_control::matching::Matching;
use fly_control::pair::{Pair, PairKinematics, Tracking};
use fly_control::template::{Approach, DesiredMotion, Template};
use fly_control::transport::Transport;
use fly_lie::SE3;
use nalgebra::{Const, Matrix4, Matrix6, RealField, SMatrix, SVector, Vector4, Vector6, convert};

#[panic_handler]
fn panic(_: &PanicInfo) -> ! {
    loop {}
}

type N = Const<6>;
/// Inputs: thrust along z and three torques.
type P = Const<4>;

/// A whole control step, and how far it is from the template.
pub struct Pilot<T: RealField + Copy> {
    template: Template<OneBody<T>>,
    desired: DesiredMotion<T, N>,
    law: Law<T, N, P>,
    limited: Limited<ActiveSet<T, P, P>, T, P, P>,
    matching: Matching<T, N, Const<2>>,
    input: [T; 4],
}

impl<T: RealField + Copy> Pilot<T>
where
    ActiveSet<T, P, P>: Send,
{
    fn new() -> Result<Self, Refused> {
        let moment = |weight: f64, about: f64| {
            Matrix4::from_diagonal(&Vector4::new(about, about, about, weight))
        };
        let (spring, mass) = (moment(4.0, 0.1), moment(1.0, 0.01));
        let M = *Pair::new(spring, spring, mass).inertia_matrix();
        let pair = Pair::new(spring.map(convert::<f64, T>), spring.map(convert), mass.map(convert));
        let template = Template::of_body(Approach::Energy, Transport::Centred, pair);
        let B: SMatrix<f64, 6, 4> = Matrix6::identity().fixed_columns::<4>(2).into_owned();
        // In double precision, then cast.
        let law = Law::constant(&M, &M, &B)?;
        let limits = Limits::new(SMatrix::identity(), SVector::repeat(20.0), SVector::zeros())?;
        let solver = law.active_set(&limits, law.metric())?;
        let (M, B) = (M.map(convert::<f64, T>), B.map(convert::<f64, T>));
        Ok(Self {
            matching: Matching::new(&M, &M, &B)?,
            limited: Limited::new(limits.cast()?, None, |_| Ok(solver))?,
            template,
            desired: DesiredMotion::of_dof(Const),
            law: law.cast(),
            input: [T::zero(); 4],
        })
    }

    fn step(&mut self, motion: &PairKinematics<T>, goal: &ReferencePoint<T>) -> (Allocation, T) {
        let Ok(()) = self.template.form(&Tracking::new(motion, goal), &mut self.desired);
        let weight = Vector6::z() * convert::<f64, T>(9.81);
        let mut u0 = SVector::zeros();
        self.law.unconstrained(&weight, &self.desired.bias, &mut u0);
        let allocation = self
            .limited
            .allocate(u0.as_slice(), convert(2e-3), &mut self.input);
        (
            allocation,
            self.matching.force(&weight, &self.desired.bias).distance,
        )
    }

    fn thrust(&mut self, height: T) -> T {
        let motion = PairKinematics {
            pose: SE3::exp(&(Vector6::z() * height)),
            twist: Vector6::zeros(),
            bias_acceleration: Vector6::zeros(),
        };
        let (_, distance) = self.step(&motion, &ReferencePoint::at_rest(SE3::identity()));
        self.input[0] + distance
    }
}

struct Refused;

impl From<LawError> for Refused {
    fn from(_: LawError) -> Self {
        Self
    }
}

impl From<AllocationError> for Refused {
    fn from(_: AllocationError) -> Self {
        Self
    }
}

/// The thrust so high above the goal, in single precision.
#[unsafe(no_mangle)]
pub extern "C" fn fly_control_thrust_f32(height: f32) -> f32 {
    Pilot::new().map_or(0.0, |mut pilot: Pilot<f32>| pilot.thrust(height))
}

/// The same in double precision.
#[unsafe(no_mangle)]
pub extern "C" fn fly_control_thrust_f64(height: f64) -> f64 {
    Pilot::new().map_or(0.0, |mut pilot: Pilot<f64>| pilot.thrust(height))
}
