//! Hover while spinning: spins against closed forms and the equations of motion, and flights with a dead rotor.
#![allow(non_snake_case)]

use std::fmt::Write;
use std::sync::Arc;

use fly_control::allocation::InputBounds;
use fly_control::spin::{SpinDesign, SteadySpin};
use fly_control::{Controller, ReferencePoint};
use fly_lie::SE3;
use fly_lie::operators::{angular, linear};
use fly_mechanics::{State, Vehicle, integrate};
use fly_testing::allocations;
use nalgebra::{DVector, Vector3, Vector6};

use super::common::{QUADCOPTER, QUADCOPTER_POLES, Random, TRICOPTER, controller, vehicle};

/// No bounds but for these rotors of p, which are lost.
fn spins(vehicle: &Vehicle, lost: &[usize]) -> Vec<SteadySpin> {
    let bounds = InputBounds::without(vehicle.rotors.input_dim(), lost.iter().copied());
    SteadySpin::find(vehicle, &bounds)
}

fn design(vehicle: &Vehicle, lost: &[usize]) -> Option<SpinDesign> {
    let bounds = InputBounds::without(vehicle.rotors.input_dim(), lost.iter().copied());
    SpinDesign::find(vehicle, &bounds)
}

const MASS: f64 = 0.9;
const ARM: f64 = 0.18;
const INERTIA: [f64; 2] = [0.006, 0.011];
const WEIGHT: f64 = MASS * 9.81;

/// Without drag the torques about the axes across the arm, along it and along body z say `u1 = u3`, `l u2 = (Jz - Jx) w_y w_z` and `u2 = u1 + u3`, and the weight
/// `(u1 + u2 + u3) cos(tilt) = m g`: with t the tangent of the tilt
///
/// ```text
/// rate^2 = l m g (1 + t^2)^(3/2)/(2 (Jz - Jx) t),
/// ```
///
/// smallest where `t^2 = 1/2`.
#[test]
fn a_symmetric_quadcopter_spins_as_its_closed_form_says() {
    let vehicle = vehicle(QUADCOPTER);
    let slowest = (ARM * WEIGHT * 1.5_f64.powf(1.5)
        / (2.0 * (INERTIA[1] - INERTIA[0]) * 0.5_f64.sqrt()))
    .sqrt();
    for lost in 0..4 {
        let found = spins(&vehicle, &[lost]);
        assert_eq!(found.len(), 2, "{found:?}");
        for spin in found {
            assert!(
                (spin.rate.abs() - slowest).abs() < 1e-9 * slowest,
                "{spin:?}"
            );
            assert!(
                (spin.tilt().tan() - 0.5_f64.sqrt()).abs() < 1e-5,
                "{spin:?}"
            );
            let total = WEIGHT * 1.5_f64.sqrt();
            for j in 0..4 {
                let part = [0.0, 0.25, 0.5, 0.25][(j + 4 - lost) % 4];
                assert!((spin.input[j] - part * total).abs() < 1e-4, "{spin:?}");
            }
            // The side force turns with the body.
            let radius = 9.81 * spin.tilt().tan() / spin.rate.powi(2);
            assert!((spin.radius(&Vector3::zeros()) - radius).abs() < 1e-6);
        }
    }
}

/// Two opposite rotors turn one way: drag alone stops them, at `rate = k m g/d` about body z.
#[test]
fn two_rotors_spin_against_drag() {
    let with_drag = QUADCOPTER.replace(
        "[0.006, 0.006, 0.011]",
        "[0.006, 0.006, 0.011]\ndrag = { linear = [0, 0, 0], angular = [2e-3, 2e-3, 7e-3] }",
    );
    let spin = &spins(&vehicle(&with_drag), &[1, 3])[0];
    assert!((spin.rate + 0.016 * WEIGHT / 7e-3).abs() < 1e-6, "{spin:?}");
    assert!(
        spin.tilt() < 1e-6 && (spin.input[0] - WEIGHT / 2.0).abs() < 1e-6,
        "{spin:?}"
    );
    assert!(design(&vehicle(&with_drag), &[1, 3]).is_some());
    // Nothing stops them without.
    assert!(design(&vehicle(QUADCOPTER), &[1, 3]).is_none());
    // Rotors that tilt are another matter.
    assert!(spins(&vehicle(TRICOPTER), &[0, 1]).is_empty());
}

/// A quadcopter whose parameters deviate from the shipped one's by a fraction up to `part`, with lag and an offset centre of mass and drag.
fn varied(random: &mut Random, part: f64) -> String {
    let mut about = |x: f64| x * (1.0 + part * random.next());
    let arms = [0.18; 4].map(&mut about);
    let drags = [-0.016, 0.016, -0.016, 0.016].map(&mut about);
    let (mass, across, along) = (about(0.9), about(0.006), about(0.011));
    // Each moment of inertia of a body is at most the sum of the others.
    let (second, along) = (across * 1.05, along.clamp(1.2 * across, 2.0 * across));
    let lag = about(0.03);
    let center = [random.next(), random.next(), random.next()].map(|x| 0.02 * part * x);
    let drag = (1.0 + random.next()) * part;
    let mut text = format!(
        "name = 'varied'\n[bodies.airframe]\nmass = {mass}\ninertia = [{across}, {second}, {along}]\ncenter_of_mass = {center:?}\n\
         drag = {{ linear = [{:?}, {:?}, 0.1], angular = [{:?}, {:?}, {:?}] }}\n",
        0.2 * drag,
        0.3 * drag,
        1e-3 * drag,
        2e-3 * drag,
        3e-3 * drag
    );
    let at = [[1, 0], [0, 1], [-1, 0], [0, -1]];
    for ((arm, drag), [x, y]) in arms.iter().zip(drags).zip(at) {
        let (x, y) = (arm * f64::from(x), arm * f64::from(y));
        let _ = write!(
            text,
            "[[rotors]]\nbody = 'airframe'\nposition = [{x:?}, {y:?}, 0.01]\naxis = [0, 0, 1]\ndrag_ratio = {drag:?}\nthrust = [0.2, 7]\n\
             time_constant = {lag:?}\n"
        );
    }
    text
}

/// Whatever the numbers: the equations hold, and the full rigid body, integrated, keeps its twist for five turns while the point of the axis rests.
#[test]
fn spins_are_steady_motions_of_the_rigid_body() {
    let mut random = Random::new(29);
    let mut count = 0;
    for k in 0..25 {
        let vehicle = vehicle(&varied(&mut random, 0.3));
        for spin in spins(&vehicle, &[k % 4]) {
            count += 1;
            let weight = vehicle.body.inertia().mass() * 9.81;
            assert!(spin.residual(&vehicle).amax() < 2e-10 * weight, "{spin:?}");
            let wrench = vehicle.rotors.input_matrix() * &spin.input;
            let axis = spin.axis;
            let turn = axis.cross(&Vector3::z());
            let turn = turn.normalize() * axis.z.acos();
            let pose = SE3::exp(&Vector6::new(0.0, 0.0, 0.0, turn.x, turn.y, turn.z));
            let (begin, mut state) = (
                pose.act(&spin.pivot()),
                State {
                    pose,
                    twist: spin.twist(),
                },
            );
            let (turns, steps) = (5.0, 5000);
            let step = turns * std::f64::consts::TAU / spin.rate.abs() / f64::from(steps);
            for _ in 0..steps {
                state = integrate::rk4(&state, step, |s| vehicle.body.acceleration(s, &wrench));
            }
            assert!(
                (state.twist - spin.twist()).amax() < 1e-6,
                "{k} {spin:?} {state:?}"
            );
            assert!(
                (state.pose.act(&spin.pivot()) - begin).norm() < 1e-6,
                "{k} {spin:?}"
            );
        }
    }
    assert!(count >= 40, "{count}");
}

/// A vehicle that flies with one rotor dead from the beginning, of which the controller hears `late` s later.
struct Flight {
    vehicle: Vehicle,
    controller: Controller,
    state: State<f64>,
    thrusts: DVector<f64>,
    lost: usize,
    late: f64,
    /// When the lost rotor works again, s.
    again: f64,
    design: Arc<SpinDesign>,
    worst: f64,
}

const STEP: f64 = 2e-3;

impl Flight {
    fn new(text: &str, lost: usize, late: f64) -> Option<Self> {
        let vehicle = vehicle(text);
        let thrusts = DVector::repeat(4, vehicle.body.inertia().mass() * 9.81 / 4.0);
        Some(Self {
            controller: controller(text, "allocation = 'active_set'", QUADCOPTER_POLES),
            state: State::at_rest(SE3::identity()),
            thrusts,
            lost,
            late,
            again: f64::INFINITY,
            design: Arc::new(design(&vehicle, &[lost])?),
            vehicle,
            worst: 0.0,
        })
    }

    /// Flies to the origin for so long. Returns the root mean square of the distance of the axis in the last two seconds, m.
    fn fly(&mut self, duration: f64) -> f64 {
        let goal = ReferencePoint::at_rest(SE3::identity());
        #[allow(clippy::cast_possible_truncation, clippy::cast_sign_loss)]
        let steps = (duration / STEP) as u32;
        let (mut told, mut works, mut sum, mut count) = (false, false, 0.0, 0);
        for k in 0..steps {
            let time = f64::from(k) * STEP;
            if time >= self.late && !std::mem::replace(&mut told, true) {
                let bounds = InputBounds::without(4, [self.lost]);
                self.controller.set_input_bounds(&bounds).unwrap();
                self.controller.set_spin(Some(self.design.clone()));
            }
            if time >= self.again && !std::mem::replace(&mut works, true) {
                (self.controller.set_input_bounds(&InputBounds::free(4))).unwrap();
                self.controller.set_spin(None);
            }
            self.controller.set_actuators(Some(self.thrusts.as_slice()));
            let mut step = self
                .controller
                .step_after(STEP, &self.state, &goal)
                .input
                .clone();
            if !works {
                step[self.lost] = 0.0;
            }
            let lags = self.vehicle.rotors.time_constants();
            for j in 0..4 {
                let part = if lags[j] > 0.0 {
                    -f64::exp_m1(-STEP / lags[j])
                } else {
                    1.0
                };
                self.thrusts[j] += (step[j] - self.thrusts[j]) * part;
            }
            let wrench = self.vehicle.rotors.input_matrix() * &self.thrusts;
            let body = &self.vehicle.body;
            self.state = integrate::rk4(&self.state, STEP, |s| body.acceleration(s, &wrench));
            let error = self.state.pose.act(&self.design.spin().pivot()).norm();
            self.worst = self.worst.max(error);
            if error.is_nan() || error > 1e3 {
                return f64::INFINITY;
            }
            if time > duration - 2.0 {
                (sum, count) = (sum + error * error, count + 1);
            }
        }
        (sum / f64::from(count)).sqrt()
    }
}

/// The shipped quadcopter, with its lag.
fn shipped() -> String {
    QUADCOPTER.replace("[0.2, 7.0]", "[0.2, 7.0]\ntime_constant = 0.03")
}

#[test]
fn a_quadcopter_hovers_without_any_one_rotor() {
    for text in [shipped(), QUADCOPTER.to_owned()] {
        for lost in 0..4 {
            for late in [0.0, 0.1, 0.2] {
                let mut flight = Flight::new(&text, lost, late).expect("a design");
                let rms = flight.fly(12.0);
                let spin = flight.design.spin();
                println!(
                    "{lost} {late}: rms {rms:.5}, worst {:.2}, {:.2} rad/s",
                    flight.worst, spin.rate
                );
                assert!(rms < 2e-3, "{lost} {late}: {rms}");
                // The sense in which the rotors that are left turn it, and about the vertical.
                let direction = [1.0, -1.0, 1.0, -1.0][lost];
                assert!(spin.rate * direction > 0.0);
                let omega = flight.state.twist.fixed_rows::<3>(3).into_owned();
                assert!((omega - spin.axis * spin.rate).norm() < 0.02 * spin.rate.abs());
                let up = flight.state.pose.rotation.act(&spin.axis);
                assert!(up.z > 0.999, "{up}");
            }
        }
    }
}

/// The rotor opposite to the lost one carries half of the weight. If it is too weak for the margin to its limit, faster spins only come ever closer to the
/// largest margin: the search ends where speed no longer gains much.
#[test]
fn a_weak_rotor_opposite_to_the_lost_one_is_not_spun_up_without_end() {
    for most in [4.8, 5.0, 5.3, 5.46] {
        let text = shipped().replace("[0.2, 7.0]", &format!("[0.2, {most:?}]"));
        let half = vehicle(&text).body.inertia().mass() * 9.81 / 2.0;
        let largest = (most - half) / (most - 0.2);
        for lost in 0..4 {
            let found = spins(&vehicle(&text), &[lost]);
            assert_eq!(found.len(), 2);
            for spin in &found {
                let margin = (most - spin.input.max()) / (most - 0.2);
                assert!(
                    margin > 0.95 * largest && margin < largest + 1e-6,
                    "{spin:?}"
                );
                assert!(spin.rate.abs() < 100.0, "{spin:?}");
            }
            assert!(design(&vehicle(&text), &[lost]).is_some());
        }
    }
}

/// From a full spin, in which the body turns by up to a radian and more within the lag of its rotors. Afterwards the configured lead, none, is back.
#[test]
fn a_rotor_that_works_again_stops_the_spin() {
    for lag in [0.01, 0.03, 0.045, 0.06] {
        let text = shipped().replace("time_constant = 0.03", &format!("time_constant = {lag}"));
        let mut flight = Flight::new(&text, 1, 0.0).expect("a design");
        flight.again = 6.0;
        flight.fly(16.0);
        let away = flight.state.pose.translation.norm();
        let turn = angular(&flight.state.twist).norm();
        println!(
            "lag {lag} s: {away:.1e} m, {:.2} m at most, turns at {turn:.1e} rad/s",
            flight.worst
        );
        assert!(away < 1e-3 && turn < 1e-3, "{lag}: {away} m, {turn} rad/s");
        let step = flight.controller.last();
        assert_eq!(step.demanded, step.unconstrained);
        assert!(flight.controller.lead().is_none());
    }
}

#[test]
fn steps_while_spinning_allocate_nothing() {
    let mut flight = Flight::new(&shipped(), 2, 0.0).expect("a design");
    flight.fly(1.0);
    let mut random = Random::new(3);
    for _ in 0..200 {
        let (state, goal) = (random.state(), random.reference());
        let count = allocations(|| {
            flight.controller.set_actuators(Some(&[2.0; 4]));
            std::hint::black_box(flight.controller.step_after(STEP, &state, &goal));
        });
        assert_eq!(count, 0);
    }
}

/// Vehicles of other numbers come back from hover, and the shipped one from most starts: tilted by up to 90 degrees and more, up to 4 rad/s of roll and pitch, 8 rad/s of yaw in either
/// sense, 2 m/s. What does not come back in 20 s tumbles on, or is still on its way.
#[test]
fn most_vehicles_come_back_from_most_starts() {
    let mut random = Random::new(77);
    let (mut flown, mut back, mut worst) = (0, 0, 0.0_f64);
    for k in 0..24 {
        let text = varied(&mut random, 0.3);
        let Some(mut flight) = Flight::new(&text, k % 4, 0.0) else {
            println!("{k}: no design");
            continue;
        };
        flown += 1;
        let rms = flight.fly(15.0);
        if rms < 0.05 {
            back += 1;
            worst = worst.max(rms);
        } else {
            println!(
                "{k}: {rms}, worst {}, {:?}",
                flight.worst,
                flight.design.spin()
            );
        }
    }
    println!("{flown} of 24 have a design, {back} come back, worst {worst}");
    let mut starts = 0;
    for k in 0..48 {
        let mut flight = Flight::new(&shipped(), k % 4, 0.0).expect("a design");
        let mut part = || random.next();
        let turn = Vector6::new(
            3.0 * part(),
            3.0 * part(),
            3.0 * part(),
            part(),
            part(),
            3.0 * part(),
        );
        flight.state.pose = SE3::exp(&turn);
        flight.state.twist = Vector6::from_fn(|i, _| [2.0, 2.0, 2.0, 4.0, 4.0, 8.0][i] * part());
        let rms = flight.fly(20.0);
        if rms < 0.05 {
            starts += 1;
        } else {
            println!("start {k}: {rms}, worst {}", flight.worst);
        }
    }
    println!("{starts} of 48 starts");
    assert!(flown >= 23 && back + 1 >= flown && starts >= 40);
}

/// `J omega' + omega x J omega = tau`, without the library: the response of the spinning shipped quadcopter to torques.
#[test]
fn gyroscopic_torque_is_balanced() {
    let vehicle = vehicle(QUADCOPTER);
    for lost in 0..4 {
        for spin in spins(&vehicle, &[lost]) {
            let omega = angular(&spin.twist());
            let momentum = Vector3::new(
                INERTIA[0] * omega.x,
                INERTIA[0] * omega.y,
                INERTIA[1] * omega.z,
            );
            let u = &spin.input;
            let torque = Vector3::new(
                ARM * (u[1] - u[3]),
                ARM * (u[2] - u[0]),
                0.016 * (u[1] + u[3] - u[0] - u[2]),
            );
            assert!((omega.cross(&momentum) - torque).norm() < 1e-9);
            // m (omega x v) = f - m g n
            let force = Vector3::z() * u.sum() - spin.axis * WEIGHT;
            assert!((omega.cross(&linear(&spin.twist())) * MASS - force).norm() < 1e-8);
        }
    }
}

/// Told of it late, while the law flies on with a rotor that is not there: what has tumbled comes back, lower.
#[test]
fn a_loss_that_is_known_late_costs_height() {
    for (late, most) in [(0.3, 6.0), (0.6, 9.0), (1.0, 30.0)] {
        let mut flight = Flight::new(&shipped(), 3, late).expect("a design");
        let rms = flight.fly(40.0);
        assert!(
            rms < 1e-3 && flight.worst < most,
            "{late}: {rms}, {}",
            flight.worst
        );
    }
}
