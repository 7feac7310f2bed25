//! Margins of the actuators in hover.
#![allow(non_snake_case)]

use fly_lie::operators::hat3;
use fly_lie::{SE3, SO3};
use fly_mechanics::{State, Vehicle};
use nalgebra::{DMatrix, Vector3, Vector6};

use super::AnalysisError;
use crate::attainable_force::{FORCE_TOLERANCE, pseudo_inverse};
use crate::inputs::ReferenceInputs;
use crate::linear::NotAtRest;
use crate::matching::fully_actuated;
use crate::redundancy::InputRedundancy;

/// A command in hover and its limits: N for a thrust, rad for a tilt.
#[derive(Clone, Debug, PartialEq)]
pub struct Command {
    /// Its name, such as `rotor.0.thrust`.
    pub name: String,
    /// Its value in hover.
    pub hover: f64,
    /// The smallest and the largest value.
    pub limits: [f64; 2],
}

/// The accelerations that a vehicle can reach from level hover within the limits `W u <= l` of its actuators.
///
/// An acceleration in one direction, with the others zero, moves the input along a straight line, and redundant inputs to wherever their margin is
/// largest: a linear program. So all values are exact for the polygon that approximates the limits of tilting rotors. Redundant inputs hover
/// furthest from their limits, see [`ReferenceInputs::central`].
#[derive(Clone, Debug, PartialEq)]
pub struct HoverMargins {
    /// All commands.
    pub commands: Vec<Command>,
    /// The distance of the input from its limits, N; negative outside.
    pub input_margin: f64,
    /// Largest acceleration upwards, m/s^2.
    pub climb_acceleration: f64,
    /// Largest acceleration downwards, m/s^2.
    pub sink_acceleration: f64,
    /// Largest angular acceleration about body x, y and z that is possible in both directions, rad/s^2, at constant height and, for
    /// a fully actuated vehicle, at constant position.
    pub angular_acceleration: Vector3<f64>,
    /// Largest acceleration that is possible in every horizontal direction without tilt, m/s^2; `None` if underactuated.
    pub lateral_acceleration: Option<f64>,
    /// Underactuated: the largest tilt at which the thrust still carries the weight, rad. Fully actuated: the largest tilt that it
    /// can hold at rest in every direction, rad.
    pub tilt: f64,
}

/// The number of horizontal directions that are tested.
const DIRECTIONS: u32 = 360;

impl HoverMargins {
    /// For this vehicle.
    ///
    /// # Errors
    /// [`AnalysisError::NotAtRest`] if no input carries the level vehicle, limits aside.
    pub fn new(vehicle: &Vehicle) -> Result<Self, AnalysisError> {
        let rotors = &vehicle.rotors;
        let inputs = ReferenceInputs::new(vehicle);
        let rest = |R: SO3<f64>| {
            let state = State::at_rest(SE3::new(R, Vector3::zeros()));
            vehicle.body.bias(&state)
        };
        let level = inputs.central(&rest(SO3::identity()));
        if !level.is_exact() {
            let (missing, needed) = (level.missing, level.needed);
            return Err(NotAtRest { missing, needed }.into());
        }
        let u = level.input;
        let mut values = vec![0.0; u.len()];
        rotors.commands_from_input(u.as_slice(), &mut values);
        let names = rotors.command_names().iter();
        let limits = rotors.command_limits().iter();
        let commands = names.zip(limits).zip(&values);
        let commands = commands.map(|((name, limits), hover)| Command {
            name: name.clone(),
            hover: *hover,
            limits: *limits,
        });

        // A vehicle that tilts to move sideways cannot choose its horizontal acceleration meanwhile.
        let free = if fully_actuated(rotors.input_matrix()) {
            0
        } else {
            2
        };
        let effect = effect(vehicle).rows(free, 6 - free).into_owned();
        let inverse = pseudo_inverse(&effect);
        let redundancy = InputRedundancy::new(&effect, rotors.limits(), rotors.interior());
        let most = |acceleration: Vector6<f64>| {
            if acceleration.rows(0, free).amax() > 0.0 {
                return None;
            }
            let wanted = acceleration.rows(free, 6 - free);
            let way = &inverse * wanted;
            let missing = (&effect * &way - wanted).norm();
            (missing <= FORCE_TOLERANCE).then(|| redundancy.reach(&u, &way))
        };
        let axis = |i: usize, sign: f64| {
            let mut a = Vector6::zeros();
            a[i] = sign;
            a
        };
        let both = |i: usize| {
            let [plus, minus] = [1.0, -1.0].map(|sign| most(axis(i, sign)).unwrap_or(0.0));
            plus.min(minus)
        };
        let climb = most(axis(2, 1.0)).unwrap_or(0.0);
        let sink = most(axis(2, -1.0)).unwrap_or(0.0);
        let turn = Vector3::new(both(3), both(4), both(5));
        let azimuths = || {
            (0..DIRECTIONS).map(|i| f64::from(i) * std::f64::consts::TAU / f64::from(DIRECTIONS))
        };
        let mut side = azimuths().map(|azimuth| {
            let (s, c) = azimuth.sin_cos();
            most(Vector6::new(c, s, 0.0, 0.0, 0.0, 0.0))
        });
        let side = side.try_fold(f64::INFINITY, |least, a| Some(least.min(a?)));
        let inside = -rotors.limits().violation(u.as_slice());
        let tilt = if side.is_some() {
            let holds = |azimuth: f64, angle: f64| {
                let (s, c) = azimuth.sin_cos();
                let force = rest(SO3::exp(&(Vector3::new(c, s, 0.0) * angle)));
                redundancy.allows(&inputs.of_force(&force).input)
            };
            azimuths().fold(std::f64::consts::PI, |least, azimuth| {
                largest_angle(|angle| holds(azimuth, angle), least)
            })
        } else {
            let g = vehicle.body.gravity().norm();
            (g / (g + climb)).clamp(-1.0, 1.0).acos()
        };
        Ok(Self {
            commands: commands.collect(),
            input_margin: inside,
            climb_acceleration: climb,
            sink_acceleration: sink,
            angular_acceleration: turn,
            lateral_acceleration: side,
            tilt,
        })
    }
}

/// From inputs to the acceleration of the centre of mass and the angular acceleration, body components, 6 x p.
fn effect(vehicle: &Vehicle) -> DMatrix<f64> {
    let B = vehicle.rotors.input_matrix();
    let mut effect = vehicle.body.inverse_mass_matrix() * B;
    let center = hat3(&vehicle.body.inertia().center_of_mass());
    let shift = center * effect.fixed_rows::<3>(3);
    let mut at_center = effect.fixed_rows_mut::<3>(0);
    at_center -= shift;
    DMatrix::from_fn(6, B.ncols(), |i, j| effect[(i, j)])
}

/// The largest angle, at most `most`, up to which `holds` is true, by steps of five degrees and then bisection; zero if none holds.
///
/// The set of forces that the inputs can hold is convex. If the weight leaves it and returns within a step, it does so by at most the sagitta of the arc, a
/// thousandth of the weight.
fn largest_angle(holds: impl Fn(f64) -> bool, most: f64) -> f64 {
    let step = 5.0_f64.to_radians();
    let angles = (0..).map(|i| f64::from(i) * step);
    let mut angles = angles.take_while(|angle| *angle < most).chain([most]);
    let Some(mut high) = angles.find(|angle| !holds(*angle)) else {
        return most;
    };
    let mut low = (high - step).max(0.0);
    while high - low > 1e-9 {
        let middle = f64::midpoint(low, high);
        if holds(middle) {
            low = middle;
        } else {
            high = middle;
        }
    }
    low
}
