//! The law of a quadcopter as its firmware has it: single precision, sizes known to the compiler, no heap, no configuration.
//!
//! `Firmware` needs no feature of `fly-control` and no standard library. Here it flies a quadcopter of `fly-mechanics`.
//!
//! `cargo run -p fly-control --example firmware`

// The source's symbols are the names here: M, B, R.
#![allow(non_snake_case)]

use std::error::Error;

use fly_control::ReferencePoint;
use fly_control::allocation::{ActiveSet, Limited, Limits};
use fly_control::kinematics::OneBody;
use fly_control::law::Law;
use fly_control::pair::{Pair, PairKinematics, Tracking};
use fly_control::template::energy::connection;
use fly_control::template::{Approach, DesiredMotion, Template};
use fly_control::transport::Transport;
use fly_lie::SE3;
use fly_mechanics::{FreeBody, PseudoInertia, State, integrate};
use nalgebra::{Const, Matrix3, Matrix4, SMatrix, SVector, Vector3, Vector4, Vector6};

/// Degrees of freedom, and rotors.
type N = Const<6>;
type P = Const<4>;

const GRAVITY: f64 = 9.81;
/// kg.
const MASS: f64 = 0.9;
/// kg m^2 about the centre of mass, in which the body's frame stands.
const MOMENTS: [f64; 3] = [0.006, 0.006, 0.011];
/// Of the rotors from the centre, m; their torque about the axis by thrust, m; their thrust, N.
const ARM: f64 = 0.18;
const DRAG_RATIO: f64 = 0.016;
const THRUST: [f64; 2] = [0.2, 7.0];

/// B: the wrench of each rotor, to the front, left, back and right.
fn input_matrix() -> SMatrix<f64, 6, 4> {
    SMatrix::from_columns(&[
        Vector6::new(0.0, 0.0, 1.0, 0.0, -ARM, -DRAG_RATIO),
        Vector6::new(0.0, 0.0, 1.0, ARM, 0.0, DRAG_RATIO),
        Vector6::new(0.0, 0.0, 1.0, 0.0, ARM, -DRAG_RATIO),
        Vector6::new(0.0, 0.0, 1.0, -ARM, 0.0, DRAG_RATIO),
    ])
}

/// A second moment from its weight, its centre on the z axis, and its moments about that centre.
fn second_moment(weight: f64, height: f64, moments: [f64; 3]) -> Matrix4<f64> {
    let [x, y, z] = moments;
    let mut moment = Matrix4::zeros();
    moment.set_diagonal(&Vector4::new(y + z - x, z + x - y, x + y - z, 0.0));
    moment *= 0.5;
    let center = Vector4::new(0.0, 0.0, height, 1.0);
    moment + center * center.transpose() * weight
}

/// The desired energies for four horizontal poles at -a, Konz (5.162), (5.163), and two about the vertical at -2.
fn desired_energies(a: f64) -> [Matrix4<f64>; 3] {
    let h = GRAVITY / (a * a);
    let s = h / 5.0;
    let (yaw, pi) = (0.02, MASS * GRAVITY * (h - s));
    let theta = MASS * (h - s) * s;
    [
        second_moment(MASS * a * a / 5.0, h, [pi, pi, 4.0 * yaw]),
        second_moment(MASS * a * 0.8, h, [0.0, 0.0, 4.0 * yaw]),
        second_moment(MASS, s, [theta, theta, yaw]),
    ]
}

/// Everything that a control step needs.
struct Firmware {
    /// M'.
    body: Pair<f32>,
    template: Template<OneBody<f32>>,
    desired: DesiredMotion<f32, N>,
    law: Law<f32, N, P>,
    limited: Limited<ActiveSet<f32, P, P>, f32, P, P>,
    thrusts: [f32; 4],
}

impl Firmware {
    /// Before take-off: parameters and gains in double precision, then cast.
    fn new() -> Result<Self, Box<dyn Error>> {
        let [K, D, M_bar] = desired_energies(3.5);
        let M = second_moment(MASS, 0.0, MOMENTS);
        let none = Matrix4::zeros();
        let body = Pair::new(none, none, M);
        let pair = Pair::new(K, D, M_bar);
        let law = Law::constant(
            body.inertia_matrix(),
            pair.inertia_matrix(),
            &input_matrix(),
        )?;
        let mut metric = SMatrix::zeros();
        // So that it recovers from upside-down.
        law.metric_with_priority([3, 4], 3.0, &mut metric);
        let [least, most] = THRUST.map(SVector::repeat);
        let limits = Limits::between(SMatrix::identity(), &least, &most, (least + most) / 2.0)?;
        let solver = law.active_set(&limits, &metric)?;
        let pair = Pair::new(K.cast(), D.cast(), M_bar.cast());
        Ok(Self {
            body: Pair::new(none.cast(), none.cast(), M.cast()),
            template: Template::of_body(Approach::Energy, Transport::Centred, pair),
            desired: DesiredMotion::of_dof(Const),
            law: law.cast(),
            limited: Limited::new(limits.cast()?, None, |_| Ok(solver))?,
            thrusts: [0.0; 4],
        })
    }

    /// The thrusts for this motion and goal, `elapsed` seconds after those before.
    fn step(
        &mut self,
        motion: &PairKinematics<f32>,
        goal: &ReferencePoint<f32>,
        elapsed: f32,
    ) -> &[f32; 4] {
        let Ok(()) = self
            .template
            .form(&Tracking::new(motion, goal), &mut self.desired);
        let mut u0 = SVector::zeros();
        let b = self.bias(motion);
        self.law.unconstrained(&b, &self.desired.bias, &mut u0);
        self.limited
            .allocate(u0.as_slice(), elapsed, &mut self.thrusts);
        &self.thrusts
    }

    /// b of the model: Coriolis forces and weight.
    #[allow(clippy::cast_possible_truncation)] // single precision is meant
    fn bias(&self, motion: &PairKinematics<f32>) -> Vector6<f32> {
        let up = Vector3::z() * GRAVITY as f32;
        let lift = motion.pose.rotation.matrix().tr_mul(&up);
        let lift = Vector6::new(lift.x, lift.y, lift.z, 0.0, 0.0, 0.0);
        connection(&self.body, &motion.twist) * motion.twist + self.body.inertia_matrix() * lift
    }
}

/// A pose in single precision, as an estimator there gives it.
fn pose(pose: &SE3<f64>) -> SE3<f32> {
    let rotation = fly_lie::SO3::from_matrix(pose.rotation.matrix().cast());
    SE3::new(rotation, pose.translation.cast())
}

/// Runs the example.
pub fn main() -> Result<(), Box<dyn Error>> {
    let moments = Matrix3::from_diagonal(&Vector3::from(MOMENTS));
    let inertia = PseudoInertia::from_center(MASS, Vector3::zeros(), moments)?;
    let body = FreeBody::new(inertia, Vector3::z() * -GRAVITY);
    let mut firmware = Firmware::new()?;
    let (period, goal) = (2e-3_f32, ReferencePoint::default());

    // Nearly upside-down, 1 m beside the goal.
    let start = Vector6::new(1.0, 0.0, 0.0, 3.0, 0.0, 0.0);
    let mut state = State::at_rest(SE3::new(
        fly_lie::SO3::exp(&start.fixed_rows::<3>(3).into_owned()),
        start.fixed_rows::<3>(0).into_owned(),
    ));
    for tick in 0..5000 {
        let motion = PairKinematics {
            pose: pose(&state.pose),
            twist: state.twist.cast(),
            bias_acceleration: Vector6::zeros(),
        };
        let thrusts = *firmware.step(&motion, &goal, period);
        let wrench = input_matrix() * SVector::from(thrusts).cast::<f64>();
        state = integrate::rk4(&state, f64::from(period), |state| {
            body.acceleration(state, &wrench)
        });
        if tick % 500 == 0 {
            let [x, y, z] = state.pose.translation.into();
            let tilt = state.pose.rotation.matrix()[(2, 2)].clamp(-1.0, 1.0).acos();
            println!(
                "{:4.1} s: at [{x:6.3}, {y:6.3}, {z:6.3}] m, tilted by {:5.1} degrees, thrusts {thrusts:.2?} N",
                f64::from(period) * f64::from(tick),
                tilt.to_degrees()
            );
        }
    }
    let left = state.pose.log().norm();
    println!("{left:.1e} m and rad from the goal after 10 s");
    assert!(left < 1e-3, "{left}");
    Ok(())
}
