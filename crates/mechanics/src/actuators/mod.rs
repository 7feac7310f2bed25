//! Rotors and tilting rotors: from commands to the wrench `B u`, and the convex limits `W u <= l`.
//!
//! A fixed rotor has one input, its thrust F. A tilting rotor has two, `F sin(theta)` and `F cos(theta)`, in which the wrench is linear
//! (Konz 5.8.4). Commands are what the vehicle receives: a thrust, and an angle for a tilting rotor.
//!
//! | | fixed rotor | tilting rotor |
//! |---|---|---|
//! | input `u` | `F` | `F sin θ`, `F cos θ` |
//! | commands | `rotor.0.thrust` | `rotor.0.thrust`, `rotor.0.tilt` |
//!
//! Both are ordered rotor by rotor. A system of several bodies has [`Inputs`]: rotors on any bodies, and motors in joints.

mod delay;
mod error;
mod inputs;
mod limits;
mod motor;
mod polytope;
mod rotor;

use std::ops::Range;

use nalgebra::{Dyn, OMatrix, U6, Vector3, Vector6};

pub use delay::CommandDelay;
pub use error::RotorError;
pub use inputs::Inputs;
pub use motor::{Motor, MotorError};
pub use polytope::Polytope;
pub use rotor::{Rotor, Tilt};

/// All rotors of a vehicle, checked, with everything that depends on their geometry alone.
///
/// Only the construction allocates.
///
/// ```
/// use fly_mechanics::{Rotors, Rotor};
/// use nalgebra::Vector3;
///
/// // Two rotors on a beam that push up.
/// let rotor = |name: &str, x: f64| Rotor {
///     name: name.into(),
///     position: Vector3::new(x, 0.0, 0.0),
///     axis: Vector3::z(),
///     drag_ratio: 0.0,
///     thrust: [0.0, 5.0],
///     time_constant: 0.0,
///     tilt: None,
///     propeller: Default::default(),
/// };
/// let rotors = Rotors::new(vec![rotor("front", 0.2), rotor("rear", -0.2)])?;
/// assert_eq!(rotors.command_names(), ["rotor.0.thrust", "rotor.1.thrust"]);
///
/// // 3 N in front and 1 N in the rear lift with 4 N and pitch the nose up.
/// let wrench = rotors.wrench(&[3.0, 1.0]);
/// assert_eq!(wrench[2], 4.0);
/// assert!((wrench[4] + 0.4).abs() < 1e-15);
/// # Ok::<(), fly_mechanics::RotorError>(())
/// ```
#[derive(Clone, Debug, PartialEq)]
pub struct Rotors {
    list: Vec<Rotor>,
    input_matrix: OMatrix<f64, U6, Dyn>,
    limits: Polytope,
    interior: Vec<f64>,
    command_names: Vec<String>,
    command_limits: Vec<[f64; 2]>,
    time_constants: Vec<f64>,
}

/// # Construction
impl Rotors {
    /// Checks the rotors, normalises their axes and sets up the maps.
    ///
    /// # Errors
    /// The first error, see [`RotorError`].
    pub fn new(rotors: Vec<Rotor>) -> Result<Self, RotorError> {
        for (index, rotor) in rotors.iter().enumerate() {
            if rotors[..index].iter().any(|other| other.name == rotor.name) {
                return Err(RotorError::DuplicateName {
                    rotor: rotor.name.clone(),
                    index,
                });
            }
        }
        let rotors: Vec<Rotor> = rotors
            .into_iter()
            .map(Rotor::checked)
            .collect::<Result<_, _>>()?;
        Ok(Self::of_checked(rotors))
    }

    /// No rotors.
    pub fn none() -> Self {
        Self::of_checked(Vec::new())
    }

    fn of_checked(rotors: Vec<Rotor>) -> Self {
        let mut columns: Vec<Vector6<f64>> = Vec::new();
        let mut command_names = Vec::new();
        let mut command_limits = Vec::new();
        let mut time_constants = Vec::new();
        for (i, rotor) in rotors.iter().enumerate() {
            let (side, along) = rotor.directions();
            columns.extend(side.map(|direction| rotor.wrench_along(&direction)));
            columns.push(rotor.wrench_along(&along));

            command_names.push(format!("rotor.{i}.thrust"));
            command_limits.push(rotor.thrust);
            time_constants.push(rotor.time_constant);
            if let Some(tilt) = &rotor.tilt {
                command_names.push(format!("rotor.{i}.tilt"));
                command_limits.push([-tilt.limit, tilt.limit]);
                time_constants.push(tilt.time_constant);
            }
        }
        Self {
            input_matrix: OMatrix::<f64, U6, Dyn>::from_fn(columns.len(), |i, j| columns[j][i]),
            limits: limits::limits(&rotors),
            interior: limits::interior(&rotors),
            list: rotors,
            command_names,
            command_limits,
            time_constants,
        }
    }
}

/// # Geometry
impl Rotors {
    /// The rotors, with unit axes.
    pub fn as_slice(&self) -> &[Rotor] {
        &self.list
    }

    /// The dimension p of the input `u`; the number of commands is the same.
    pub fn input_dim(&self) -> usize {
        self.input_matrix.ncols()
    }

    /// `B`, 6 x p: the wrench `[f; tau]` at the body frame's origin is `B u`, as in Konz (5.165) and (5.171).
    pub fn input_matrix(&self) -> &OMatrix<f64, U6, Dyn> {
        &self.input_matrix
    }

    /// The entries of `u` that belong to each rotor; those of the commands are the same.
    pub fn rotor_ranges(&self) -> impl Iterator<Item = Range<usize>> {
        let mut start = 0;
        self.list.iter().map(move |rotor| {
            let range = start..start + 1 + usize::from(rotor.tilt.is_some());
            start = range.end;
            range
        })
    }
}

/// # Limits
impl Rotors {
    /// The feasible inputs of the rotors, `W u <= l`: exact for fixed rotors, a polygon inside the true set for tilting ones.
    ///
    /// Rows: the upper limits of all fixed rotors, their lower limits, then for every tilting rotor the lower limit, the two tilt limits
    /// (positive first) and the segments of the upper limit from the negative tilt limit to the positive one.
    pub fn limits(&self) -> &Polytope {
        &self.limits
    }

    /// An input strictly inside the limits: zero tilt, every thrust half way between its limits along the axis.
    pub fn interior(&self) -> &[f64] {
        &self.interior
    }

    /// The smallest and largest value of every command, N and rad.
    pub fn command_limits(&self) -> &[[f64; 2]] {
        &self.command_limits
    }
}

/// # Commands
impl Rotors {
    /// The canonical signal names of the commands: all of rotor 0, then rotor 1, ...
    pub fn command_names(&self) -> &[String] {
        &self.command_names
    }

    /// The time constant of every command's first-order lag, s; zero for none.
    pub fn time_constants(&self) -> &[f64] {
        &self.time_constants
    }

    /// The commands that produce the input `u`: for a tilting rotor `F = hypot(u_s, u_c)`, `theta = atan2(u_s, u_c)`.
    ///
    /// # Panics
    /// If a slice is not of length [`input_dim`](Self::input_dim).
    pub fn commands_from_input(&self, u: &[f64], commands: &mut [f64]) {
        self.check_length(u.len());
        self.check_length(commands.len());
        for (rotor, range) in self.list.iter().zip(self.rotor_ranges()) {
            let i = range.start;
            if rotor.tilt.is_some() {
                let (side, along) = (u[i], u[i + 1]);
                commands[i] = side.hypot(along);
                // Without thrust no tilt, whatever the signs of the zeros.
                commands[i + 1] = if commands[i] == 0.0 {
                    0.0
                } else {
                    side.atan2(along)
                };
            } else {
                commands[i] = u[i];
            }
        }
    }

    /// The input that commands produce: for a tilting rotor `F sin(theta)`, `F cos(theta)`.
    ///
    /// # Panics
    /// If a slice is not of length [`input_dim`](Self::input_dim).
    pub fn input_from_commands(&self, commands: &[f64], u: &mut [f64]) {
        self.check_length(u.len());
        self.check_length(commands.len());
        for (rotor, range) in self.list.iter().zip(self.rotor_ranges()) {
            let i = range.start;
            if rotor.tilt.is_some() {
                let (sin, cos) = commands[i + 1].sin_cos();
                u[i] = commands[i] * sin;
                u[i + 1] = commands[i] * cos;
            } else {
                u[i] = commands[i];
            }
        }
    }

    /// The wrench `[f; tau]` at the body frame's origin (N, N m, body components) of these thrusts and tilt angles.
    ///
    /// # Panics
    /// If the slice is not of length [`input_dim`](Self::input_dim).
    pub fn wrench(&self, commands: &[f64]) -> Vector6<f64> {
        self.check_length(commands.len());
        (self.rotor_wrenches(commands)).fold(Vector6::zeros(), |sum, wrench| sum + wrench)
    }

    /// The contribution of each rotor to that wrench.
    pub(super) fn rotor_wrenches<'a>(
        &'a self,
        commands: &'a [f64],
    ) -> impl Iterator<Item = Vector6<f64>> + 'a {
        self.rotor_ranges().map(|range| {
            let first = range.start;
            let (thrust, column) = (commands[first], self.input_matrix.column(first));
            if range.len() == 1 {
                return column * thrust;
            }
            let (sin, cos) = commands[first + 1].sin_cos();
            column * (thrust * sin) + self.input_matrix.column(first + 1) * (thrust * cos)
        })
    }

    /// The thrust of a rotor (N, as commanded) and its unit direction, in the axes of its body; the slice starts with its commands.
    pub(super) fn thrust(rotor: &Rotor, commands: &[f64]) -> (f64, Vector3<f64>) {
        let direction = match rotor.directions() {
            (None, along) => along,
            (Some(side), along) => {
                let (sin, cos) = commands[1].sin_cos();
                side * sin + along * cos
            }
        };
        (commands[0], direction)
    }

    fn check_length(&self, found: usize) {
        assert_eq!(found, self.input_dim(), "length of an input or command");
    }
}
