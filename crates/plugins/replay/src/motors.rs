//! Converts the recorded motors of another vehicle to thrusts of the configured one.
//!
//! A log holds each motor's thrust as a fraction of its maximum, and the positions and axes of the motors. The configured vehicle may
//! have another geometry (PX4's quadcopters fly "x", ours "plus"), size and weight. To make the commands
//! comparable, the recorded motors are replaced by those thrusts of the *configured* rotors that
//! have the same collective thrust and the same torques:
//!
//! ```text
//! w = [sum f a, sum f (r x a + k a)],   u = B⁺ w
//! ```
//!
//! with the axes `a` and the recorded arms `r` from the centre of mass and yaw ratios `k`, scaled to the configured vehicle's mean
//! ones (many autopilots are configured with arms of length 1, which only give directions), and `B⁺` the pseudo-inverse of the
//! configured input matrix, exact for four upright rotors. The scale of `f` is chosen so that the recorded hover output of the
//! motors that lift carries the weight of the configured vehicle.

use fly_hal::Error;
use fly_log::{MotorGeometry, Motors};
use fly_mechanics::{PseudoInverse, Rotors, Vehicle};
use nalgebra::{DMatrix, DVector, Vector3, Vector6};

use crate::settings::MotorSettings;

/// Converts the outputs of the recorded motors to commands of the configured vehicle.
#[derive(Clone, Debug)]
pub struct Thrusts {
    rotors: Rotors,
    /// Inputs of the configured vehicle from the recorded motors' thrusts, input x motors.
    map: DMatrix<f64>,
    thrust_max: f64,
    /// Motors that may be off in flight, as a pusher is in hover.
    may_rest: Vec<bool>,
    forces: DVector<f64>,
    input: DVector<f64>,
    /// Describes how they are determined.
    pub words: String,
}

impl Thrusts {
    /// For these motors, of which [one lifts](lift).
    ///
    /// # Errors
    /// An invalid setting, with its location.
    pub fn new(
        motors: &Motors,
        vehicle: &Vehicle,
        settings: &MotorSettings,
    ) -> Result<Self, Error> {
        let (thrust_max, scale_words) = thrust_max(motors, vehicle, settings)?;
        let (map, map_words) = map(motors, vehicle, settings)?;
        Ok(Self {
            rotors: vehicle.rotors.clone(),
            forces: DVector::zeros(map.ncols()),
            input: DVector::zeros(map.nrows()),
            map,
            thrust_max,
            may_rest: may_rest(motors),
            words: format!("{map_words}; {scale_words}"),
        })
    }

    /// The commands for these outputs; NaN if a motor that lifts is off or unknown.
    pub fn commands(&mut self, outputs: &[f64], commands: &mut [f64]) {
        let motors = outputs.iter().zip(&self.may_rest);
        for (force, (output, may_rest)) in self.forces.iter_mut().zip(motors) {
            let rests = *may_rest && output.is_nan();
            *force = if rests { 0.0 } else { output * self.thrust_max };
        }
        self.map.mul_to(&self.forces, &mut self.input);
        if self.input.iter().all(|value| value.is_finite()) {
            self.rotors
                .commands_from_input(self.input.as_slice(), commands);
        } else {
            commands.fill(f64::NAN);
        }
        // A negative thrust of a rotor that tilts is one of a rotor upside down, which it cannot be.
        let limits = self.rotors.command_limits();
        let tilts = self.rotors.rotor_ranges().filter(|range| range.len() == 2);
        if tilts.map(|range| range.start + 1).any(|tilt| {
            let [low, high] = limits[tilt];
            commands[tilt] < low || commands[tilt] > high
        }) {
            commands.fill(f64::NAN);
        }
    }
}

/// Whether a motor lifts, as far as the log has their axes: the thrusts of rotors cannot stand for those of a wing's propeller.
pub fn lift(motors: &Motors) -> bool {
    lifting(motors) > 0.0
}

/// Which motors may be off in flight: all that do not lift, if there are others.
fn may_rest(motors: &Motors) -> Vec<bool> {
    let lifts = |i: usize| motors.geometry.get(i).is_none_or(MotorGeometry::lifts);
    let any = (0..motors.count).any(lifts);
    (0..motors.count).map(|i| any && !lifts(i)).collect()
}

/// Number of motors that lift, each counted by the part of its thrust that is vertical.
fn lifting(motors: &Motors) -> f64 {
    if motors.geometry.len() != motors.count {
        return motors.count as f64;
    }
    let lifting = motors.geometry.iter().filter(|motor| motor.lifts());
    lifting.map(|motor| motor.axis[2]).sum()
}

/// Thrust of a recorded motor at full output, N.
fn thrust_max(
    motors: &Motors,
    vehicle: &Vehicle,
    settings: &MotorSettings,
) -> Result<(f64, String), Error> {
    let positive = |value: &fly_hal::Spanned<f64>, most: f64, what: &str| {
        let number = *value.get_ref();
        if number > 0.0 && number <= most {
            return Ok(number);
        }
        Err(
            Error::configuration(format!("expected {what}, found {number}"))
                .in_configuration(value.span()),
        )
    };
    if let Some(value) = &settings.thrust_max {
        let thrust = positive(value, f64::MAX, "a thrust above 0 N")?;
        return Ok((thrust, format!("{thrust} N at full output, as configured")));
    }
    let hover = match &settings.hover {
        Some(value) => Some((
            positive(value, 1.0, "an output above 0 and at most 1")?,
            "as configured",
        )),
        None => motors
            .hover
            .map(|hover| (hover, motors.hover_source.as_str())),
    };
    let lifting = lifting(motors);
    if let Some((hover, source)) = hover.filter(|_| lifting > 0.0) {
        let weight = vehicle.body.inertia().mass() * vehicle.body.gravity().norm();
        let thrust = weight / (lifting * hover);
        let words = format!(
            "{thrust:.3} N at full output, such that the hover output {hover:.3} ({source}) carries the configured {weight:.2} N"
        );
        return Ok((thrust, words));
    }
    let rotors = vehicle.rotors.as_slice();
    let thrust =
        rotors.iter().map(|rotor| rotor.thrust[1]).sum::<f64>() / rotors.len().max(1) as f64;
    Ok((
        thrust,
        format!(
            "{thrust:.3} N at full output, that of the configured rotors, since the log has no hover output"
        ),
    ))
}

/// The inputs of the configured vehicle from the recorded motors' thrusts, input x motors.
fn map(
    motors: &Motors,
    vehicle: &Vehicle,
    settings: &MotorSettings,
) -> Result<(DMatrix<f64>, String), Error> {
    let rotors = &vehicle.rotors;
    let count = rotors.as_slice().len();
    if let Some(order) = &settings.order {
        let motor = order.get_ref();
        let fault = |message: String| Error::configuration(message).in_configuration(order.span());
        if motor.len() != count {
            return Err(fault(format!(
                "expected a motor for each of the {count} rotors, found {}",
                motor.len()
            )));
        }
        if let Some(bad) = motor.iter().find(|&&m| m >= motors.count) {
            return Err(fault(format!(
                "expected motors 0 to {}, found {bad}",
                motors.count - 1
            )));
        }
        return Ok((
            by_order(motor, vehicle, motors.count),
            "each rotor against its motor in `order`".into(),
        ));
    }
    let upright = |wrench: DMatrix<f64>| -> DMatrix<f64> {
        let b =
            DMatrix::from_iterator(6, rotors.input_dim(), rotors.input_matrix().iter().copied());
        let mut inverse = PseudoInverse::new(6, rotors.input_dim());
        inverse.decompose(&b);
        inverse.matrix() * wrench
    };
    if motors.geometry.len() == motors.count && motors.count > 0 {
        let wrench = wrench_of(&motors.geometry, vehicle);
        let words = format!(
            "{} recorded motors as the thrusts of the configured {count} rotors with the same collective thrust and \
             torques (arms and yaw ratios scaled to the configured ones)",
            motors.count
        );
        return Ok((upright(wrench), words));
    }
    if motors.count == count {
        let order: Vec<_> = (0..count).collect();
        let words = "rotor i against motor i: the log has no motor positions".into();
        return Ok((by_order(&order, vehicle, motors.count), words));
    }
    let lift = DMatrix::from_fn(6, motors.count, |row, _| f64::from(u8::from(row == 2)));
    let words = format!(
        "only the collective thrust of {} motors: the log has no motor positions",
        motors.count
    );
    Ok((upright(lift), words))
}

/// Rotor `i` has the thrust of motor `order[i]`, upright.
fn by_order(order: &[usize], vehicle: &Vehicle, motors: usize) -> DMatrix<f64> {
    let mut map = DMatrix::zeros(vehicle.rotors.input_dim(), motors);
    for (range, (rotor, &motor)) in vehicle
        .rotors
        .rotor_ranges()
        .zip(vehicle.rotors.as_slice().iter().zip(order))
    {
        // The input of a tilting rotor is [F sin, F cos].
        let upright = range.start + usize::from(rotor.tilt.is_some());
        map[(upright, motor)] = 1.0;
    }
    map
}

/// Wrenches of the recorded motors at 1 N each, scaled to the configured vehicle, 6 x motors. The arms of the motors that lift
/// determine the scale.
fn wrench_of(geometry: &[MotorGeometry], vehicle: &Vehicle) -> DMatrix<f64> {
    let rotors = vehicle.rotors.as_slice();
    let centre = vehicle.body.inertia().center_of_mass();
    let arm = mean(
        rotors
            .iter()
            .map(|rotor| (rotor.position - centre).xy().norm()),
    );
    let yaw = mean(rotors.iter().map(|rotor| rotor.drag_ratio.abs()));
    let lifting = || geometry.iter().filter(|motor| motor.lifts());
    let recorded_arm = mean(lifting().map(|m| m.x.hypot(m.y)));
    let recorded_yaw = mean(lifting().map(|m| m.yaw_ratio.abs()));
    let ratio = |to: f64, from: f64| if from > 0.0 { to / from } else { 0.0 };
    let (arm, yaw) = (ratio(arm, recorded_arm), ratio(yaw, recorded_yaw));
    let columns: Vec<_> = geometry
        .iter()
        .map(|m| {
            let axis = Vector3::from(m.axis);
            let lever = centre + arm * Vector3::new(m.x, m.y, m.z);
            let torque = lever.cross(&axis) + yaw * m.yaw_ratio * axis;
            let [[fx, fy, fz], [tx, ty, tz]] = [axis, torque].map(Into::into);
            Vector6::new(fx, fy, fz, tx, ty, tz)
        })
        .collect();
    DMatrix::from_fn(6, columns.len(), |row, column| columns[column][row])
}

fn mean(values: impl Iterator<Item = f64>) -> f64 {
    let values: Vec<_> = values.collect();
    values.iter().sum::<f64>() / values.len().max(1) as f64
}

#[cfg(test)]
mod tests {
    use std::fmt::Write as _;

    use super::*;

    /// A plus quadcopter: rotors at +x, +y, -x, -y, 0.2 m out; 1 kg.
    fn plus() -> Vehicle {
        let mut text =
            "name = 'plus'\n[bodies.frame]\nmass = 1.0\ninertia = [0.01, 0.01, 0.02]\n".to_owned();
        for (x, y, k) in [
            (0.2, 0.0, -0.02),
            (0.0, 0.2, 0.02),
            (-0.2, 0.0, -0.02),
            (0.0, -0.2, 0.02),
        ] {
            text += "[[rotors]]\nbody = 'frame'\naxis = [0, 0, 1]\nthrust = [0, 10]\n";
            writeln!(text, "position = [{x}, {y}, 0.0]\ndrag_ratio = {k}").unwrap();
        }
        Vehicle::from_toml(&text).unwrap()
    }

    /// PX4's quad x in FLU with arms of 1: front right, rear left, front left, rear right.
    fn x_motors() -> Motors {
        let motor = |x: f64, y: f64, yaw_ratio: f64| MotorGeometry::upright([x, y], yaw_ratio);
        Motors {
            count: 4,
            geometry: vec![
                motor(1.0, -1.0, -0.05),
                motor(-1.0, 1.0, -0.05),
                motor(1.0, 1.0, 0.05),
                motor(-1.0, -1.0, 0.05),
            ],
            hover: Some(0.5),
            hover_source: "a test".to_owned(),
            source: String::new(),
        }
    }

    fn commands(motors: &Motors, settings: &MotorSettings, outputs: &[f64]) -> [f64; 4] {
        let mut commands = [0.0; 4];
        let mut thrusts = Thrusts::new(motors, &plus(), settings).unwrap();
        thrusts.commands(outputs, &mut commands);
        commands
    }

    fn convert(outputs: [f64; 4]) -> [f64; 4] {
        commands(&x_motors(), &MotorSettings::default(), &outputs)
    }

    fn assert_close(found: &[f64], expected: [f64; 4]) {
        assert!(
            found
                .iter()
                .zip(expected)
                .all(|(f, e)| (f - e).abs() < 1e-12),
            "{found:?} for {expected:?}"
        );
    }

    #[test]
    fn hover_lifts_the_configured_weight_evenly() {
        assert_close(&convert([0.5; 4]), [9.81 / 4.0; 4]);
    }

    #[test]
    fn nose_up_roll_right_and_yaw_go_to_the_rotors_that_make_them() {
        // One unit of output is 9.81 / 2 N. The front motors push 0.1 more, the rear ones 0.1 less: nose up.
        let unit = 9.81 / 2.0;
        let change = |outputs: [f64; 4]| {
            let found = convert(outputs);
            found
                .iter()
                .map(|f| (f - 9.81 / 4.0) / unit)
                .collect::<Vec<_>>()
        };
        // Four motors at 45 degrees on the arm make sqrt(2)/2 x 4 x 0.1 x arm; two rotors on the axis make 2 x arm each.
        let lever = 0.1 * 2.0_f64.sqrt();
        assert_close(&change([0.6, 0.4, 0.6, 0.4]), [lever, 0.0, -lever, 0.0]);
        // Left up: roll to the right, +x torque; the left rotor is the second.
        assert_close(&change([0.4, 0.6, 0.6, 0.4]), [0.0, lever, 0.0, -lever]);
        // The motors with negative yaw ratio push more: yaw to the right; so do the first and third rotor.
        assert_close(&change([0.6, 0.6, 0.4, 0.4]), [0.1, -0.1, 0.1, -0.1]);
    }

    #[test]
    fn a_motor_that_is_off_makes_the_frame_unknown() {
        assert!(
            convert([0.5, f64::NAN, 0.5, 0.5])
                .iter()
                .all(|value| value.is_nan())
        );
    }

    /// A vehicle that takes off vertically, with a pusher at its tail: this is off in hover, lifts nothing, and is no arm.
    fn with_pusher() -> Motors {
        let mut motors = x_motors();
        motors.count = 5;
        motors.geometry.push(MotorGeometry {
            axis: [1.0, 0.0, 0.0],
            ..MotorGeometry::upright([-3.0, 0.0], 0.0)
        });
        motors
    }

    #[test]
    fn a_pusher_carries_nothing() {
        let settings = MotorSettings::default();
        for pusher in [f64::NAN, 0.0, 1.0] {
            let outputs = [0.6, 0.4, 0.6, 0.4, pusher];
            let found = commands(&with_pusher(), &settings, &outputs);
            assert_close(&found, convert([0.6, 0.4, 0.6, 0.4]));
        }
        // One that lifts may not be unknown.
        let found = commands(&with_pusher(), &settings, &[0.5, f64::NAN, 0.5, 0.5, 0.5]);
        assert!(found.iter().all(|value| value.is_nan()));
    }

    /// The propeller of a wing pulls forwards: no thrust of an upright rotor is like it.
    #[test]
    fn a_propeller_that_pulls_is_no_rotor_that_lifts() {
        let mut motors = with_pusher();
        motors.geometry.drain(..4);
        motors.count = 1;
        assert!(!lift(&motors) && lift(&with_pusher()) && lift(&x_motors()));
    }

    /// Motors that lean inwards carry the vertical part of their thrust, here 0.8, and upright rotors have no other.
    #[test]
    fn a_leaning_motor_lifts_by_its_vertical_part() {
        let mut motors = x_motors();
        for motor in &mut motors.geometry {
            motor.axis = [-0.6 * motor.x.signum(), 0.0, 0.8];
        }
        let hover = commands(&motors, &MotorSettings::default(), &[0.5; 4]);
        assert_close(&hover, [9.81 / 4.0; 4]);
        let settings: MotorSettings = toml::from_str("thrust_max = 1.0").unwrap();
        assert_close(&commands(&motors, &settings, &[1.0; 4]), [0.8; 4]);
    }

    /// The centre of mass is behind the middle of the motors: in hover the rear ones push more. PX4's positions count from it.
    #[test]
    fn motors_count_from_the_centre_of_mass() {
        let mut motors = x_motors();
        for motor in &mut motors.geometry {
            motor.x += 0.5;
        }
        // Arms of 1.5 in front and of 0.5 behind balance at a third of the thrust.
        let settings: MotorSettings = toml::from_str("thrust_max = 1.0").unwrap();
        let found = commands(&motors, &settings, &[0.25, 0.75, 0.25, 0.75]);
        assert_close(&found, [0.5; 4]);
    }

    #[test]
    fn an_order_takes_the_motors_as_they_are() {
        let settings: MotorSettings =
            toml::from_str("thrust_max = 8.0\norder = [2, 1, 3, 0]").unwrap();
        let found = commands(&x_motors(), &settings, &[0.1, 0.2, 0.3, 0.4]);
        assert_close(&found, [2.4, 1.6, 3.2, 0.8]);
    }

    #[test]
    fn settings_that_do_not_fit_are_located() {
        for (text, message) in [
            ("thrust_max = -1.0", "expected a thrust above 0 N, found -1"),
            (
                "hover = 1.5",
                "expected an output above 0 and at most 1, found 1.5",
            ),
            (
                "order = [0, 1]",
                "expected a motor for each of the 4 rotors, found 2",
            ),
            ("order = [0, 1, 2, 4]", "expected motors 0 to 3, found 4"),
        ] {
            let settings: MotorSettings = toml::from_str(text).unwrap();
            let Err(error) = Thrusts::new(&x_motors(), &plus(), &settings) else {
                panic!("{text}")
            };
            assert_eq!(error.message, message);
            let start = text.find('=').unwrap() + 2;
            assert_eq!(error.location.unwrap().span, start..text.len(), "{text}");
        }
    }

    #[test]
    fn without_geometry_only_the_collective_is_taken_from_another_number_of_motors() {
        let motors = Motors {
            count: 6,
            geometry: Vec::new(),
            hover: Some(0.5),
            ..Motors::default()
        };
        let found = commands(&motors, &MotorSettings::default(), &[0.5; 6]);
        assert_close(&found, [9.81 / 4.0; 4]);
    }
}
