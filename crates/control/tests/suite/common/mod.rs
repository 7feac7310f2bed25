//! Vehicles, controllers and random states that several tests use.
#![allow(dead_code, non_snake_case)] // Not every test uses all of it.

use fly_control::allocation::Limits;
use fly_control::analysis::{AnalysisError, ClosedLoop};
use fly_control::{
    Controller, ControllerSettings, Reference, ReferencePoint, ReferenceSettings, Trajectory,
};
use fly_lie::{SE3, SO3};
use fly_mechanics::{SecondMoment, State, System, Vehicle, integrate};
use nalgebra::{Complex, DMatrix, DVector, Matrix4, Vector3, Vector6};

/// A quadcopter with rotors at +x, +y, -x, -y.
pub const QUADCOPTER: &str = r#"
name = "quadcopter"

[bodies.airframe]
mass = 0.9
inertia = [0.006, 0.006, 0.011]

[[rotors]]
body = "airframe"
position = [0.18, 0.0, 0.0]
axis = [0.0, 0.0, 1.0]
drag_ratio = -0.016
thrust = [0.2, 7.0]

[[rotors]]
body = "airframe"
position = [0.0, 0.18, 0.0]
axis = [0.0, 0.0, 1.0]
drag_ratio = 0.016
thrust = [0.2, 7.0]

[[rotors]]
body = "airframe"
position = [-0.18, 0.0, 0.0]
axis = [0.0, 0.0, 1.0]
drag_ratio = -0.016
thrust = [0.2, 7.0]

[[rotors]]
body = "airframe"
position = [0.0, -0.18, 0.0]
axis = [0.0, 0.0, 1.0]
drag_ratio = 0.016
thrust = [0.2, 7.0]
"#;

/// Settings for the quadcopter: four poles at -5.
pub const QUADCOPTER_POLES: &str = "
[poles]
horizontal = [-5, -5, -5, -5]
yaw = { inertia = 0.02, damping = 0.16, stiffness = 0.32 }
";

/// A tricopter with three rotors that tilt about their arms.
pub const TRICOPTER: &str = r#"
name = "tricopter"

[bodies.airframe]
mass = 1.0
inertia = [0.012, 0.012, 0.022]

[[rotors]]
body = "airframe"
position = [0.11, 0.19052558883257653, 0.0]
axis = [0.0, 0.0, 1.0]
drag_ratio = 0.016
thrust = [0.5, 8.0]
tilt = { axis = [0.5, 0.8660254037844386, 0.0], limit_deg = 60.0, segments = 8 }

[[rotors]]
body = "airframe"
position = [-0.22, 0.0, 0.0]
axis = [0.0, 0.0, 1.0]
drag_ratio = -0.016
thrust = [0.5, 8.0]
tilt = { axis = [-1.0, 0.0, 0.0], limit_deg = 60.0, segments = 8 }

[[rotors]]
body = "airframe"
position = [0.11, -0.19052558883257653, 0.0]
axis = [0.0, 0.0, 1.0]
drag_ratio = 0.016
thrust = [0.5, 8.0]
tilt = { axis = [0.5, -0.8660254037844386, 0.0], limit_deg = 60.0, segments = 8 }
"#;

/// Settings for the tricopter: position poles at -3, attitude poles at -6, all centres in the origin.
pub const TRICOPTER_PAIR: &str = r#"
[[pairs]]
to = "airframe"
stiffness = { weight = 9.0, moment = [0.432, 0.432, 0.792] }
damping = { weight = 6.0, moment = [0.144, 0.144, 0.264] }
inertia = { weight = 1.0, moment = [0.012, 0.012, 0.022] }
"#;

/// Settings whose centres all differ and whose moments are full matrices.
pub const SKEWED_PAIR: &str = r#"
[[pairs]]
to = "airframe"
stiffness = { weight = 8.0, center = [0.05, 0.02, -0.1], moment = [[2.0, 0.1, 0.0], [0.1, 2.5, 0.2], [0.0, 0.2, 3.0]] }
damping = { weight = 6.0, center = [-0.03, 0.06, 0.02], moment = [[1.0, 0.0, 0.1], [0.0, 1.2, 0.0], [0.1, 0.0, 1.4]] }
inertia = { weight = 1.2, center = [0.04, 0.0, 0.08], moment = [[0.2, 0.01, 0.0], [0.01, 0.25, 0.02], [0.0, 0.02, 0.3]] }
"#;

/// A vehicle whose rotors, and tilts if it has any, lag: not all alike.
pub fn lagging(description: &str, lags: [f64; 2], tilt: f64) -> String {
    let mut lags = lags.iter().cycle();
    let lines = description.lines().map(|line| {
        let tilted = format!("segments = 8, time_constant = {tilt} }}");
        let line = line.replace("segments = 8 }", &tilted);
        if !line.starts_with("thrust =") {
            return line + "\n";
        }
        let lag = lags.next().expect("endless");
        format!("time_constant = {lag}\n{line}\n")
    });
    lines.collect()
}

/// A vehicle from its description.
pub fn vehicle(text: &str) -> Vehicle {
    Vehicle::from_toml(text).expect("a valid description")
}

/// The closed loop of a vehicle under its controller, at rest at this attitude.
pub fn closed_loop(
    description: &str,
    controller: &Controller,
    attitude: &SO3<f64>,
) -> Result<ClosedLoop, AnalysisError> {
    let system = System::from_toml(description).expect("a system");
    let mut x = system.model.neutral_configuration();
    let turn = attitude.log();
    system
        .model
        .integrate(&mut x, &[0.0, 0.0, 0.0, turn.x, turn.y, turn.z]);
    ClosedLoop::new(&system, controller, &x)
}

/// Settings from two pieces of TOML: keys of the section, then its tables.
pub fn settings(keys: &str, tables: &str) -> ControllerSettings {
    toml::from_str(&format!("{keys}\n{tables}")).expect("valid settings")
}

/// A controller of a vehicle.
pub fn controller(description: &str, keys: &str, tables: &str) -> Controller {
    settings(keys, tables)
        .build(&vehicle(description))
        .expect("a controller")
}

/// Central difference of a function at zero, sixth power of the step negligible.
pub fn derivative(f: impl Fn(f64) -> f64) -> f64 {
    let h = 1e-3;
    let difference = |h: f64| (f(h) - f(-h)) / (2.0 * h);
    // Richardson twice: the error is of order h^6.
    let (a, b, c) = (difference(h), difference(h / 2.0), difference(h / 4.0));
    let (ab, bc) = ((4.0 * b - a) / 3.0, (4.0 * c - b) / 3.0);
    (16.0 * bc - ab) / 15.0
}

/// Random motions: the same on every run.
pub struct Random(fly_testing::Random);

impl Random {
    /// Motions for this seed.
    pub fn new(seed: u64) -> Self {
        Self(fly_testing::Random::new(seed))
    }

    /// Uniform in [-1, 1).
    pub fn next(&mut self) -> f64 {
        self.0.number()
    }

    /// Three numbers up to `size`.
    pub fn vector3(&mut self, size: f64) -> Vector3<f64> {
        self.0.vector3(size)
    }

    /// Six numbers up to `size`.
    pub fn vector6(&mut self, size: f64) -> Vector6<f64> {
        self.0.vector6(size)
    }

    /// A pose up to about 2 m and 2 rad from the identity.
    pub fn pose(&mut self) -> SE3<f64> {
        SE3::exp(&self.vector6(1.2))
    }

    /// A second moment of positive points, up to about `weight` each: any such moment is one of a body's energies.
    pub fn moment(&mut self, weight: f64) -> Matrix4<f64> {
        let points: Vec<_> = (0..6)
            .map(|_| (weight * (1.1 + self.next()), self.vector3(1.0)))
            .collect();
        *SecondMoment::from_points(points).matrix4()
    }

    /// A state.
    pub fn state(&mut self) -> State<f64> {
        State {
            pose: self.pose(),
            twist: self.vector6(1.5),
        }
    }

    /// A reference with any velocity and acceleration.
    pub fn reference(&mut self) -> ReferencePoint {
        ReferencePoint {
            pose: self.pose(),
            twist: self.vector6(1.5),
            acceleration: self.vector6(2.0),
        }
    }
}

/// A recorded sequence of allocation problems whose bounds move with every step, as rate limits do.
pub struct Sequence {
    pub metric: DMatrix<f64>,
    pub rows: DMatrix<f64>,
    pub steps: Vec<Problem>,
}

/// One step of a sequence, with its answer.
pub struct Problem {
    pub desired: DVector<f64>,
    pub lower: Vec<f64>,
    pub upper: Vec<f64>,
    pub answer: DVector<f64>,
}

impl Sequence {
    /// `testdata/bench/<name>.qp`: sizes n m T, H and C by rows, then per step `f l h x` of
    /// `minimise 1/2 x H x + f x subject to l <= C x <= h`, and the number of active rows.
    pub fn read(name: &str) -> Self {
        let path = format!("{}/testdata/bench/{name}.qp", env!("CARGO_MANIFEST_DIR"));
        let text = std::fs::read_to_string(path).expect("the recorded sequence");
        let mut lines = text.lines();
        let sizes = lines.next().expect("sizes").split_whitespace();
        let sizes: Vec<usize> = sizes.map(|x| x.parse().expect("a size")).collect();
        let [n, m, count] = sizes[..] else {
            panic!("expected n m T");
        };
        let mut line = || -> Vec<f64> {
            let numbers = lines.next().expect("a line").split_whitespace();
            numbers.map(|x| x.parse().expect("a number")).collect()
        };
        let metric = DMatrix::from_row_slice(n, n, &line());
        let rows = DMatrix::from_row_slice(m, n, &line());
        let factor = metric.clone().cholesky().expect("positive definite");
        let step = |x: Vec<f64>| Problem {
            desired: -factor.solve(&DVector::from_column_slice(&x[..n])),
            lower: x[n..n + m].to_vec(),
            upper: x[n + m..n + 2 * m].to_vec(),
            answer: DVector::from_column_slice(&x[n + 2 * m..2 * n + 2 * m]),
        };
        let steps = (0..count).map(|_| step(line())).collect();
        Self {
            metric,
            rows,
            steps,
        }
    }

    /// The limits of the first step.
    pub fn limits(&self) -> Limits {
        let bound = |bound: &[f64]| DVector::from_column_slice(bound);
        let Problem {
            lower,
            upper,
            answer,
            ..
        } = &self.steps[0];
        Limits::between(
            self.rows.clone(),
            &bound(lower),
            &bound(upper),
            answer.clone(),
        )
        .expect("limits")
    }
}

/// A vehicle in the air whose input is held between control steps.
pub struct Flight<'a> {
    pub state: State<f64>,
    vehicle: &'a Vehicle,
}

impl<'a> Flight<'a> {
    pub fn new(vehicle: &'a Vehicle, state: State<f64>) -> Self {
        Self { state, vehicle }
    }

    /// Flies on for a time (s) with this input, in two steps of integration.
    pub fn advance(&mut self, input: &[f64], time: f64) {
        let wrench = self.vehicle.rotors.input_matrix() * DVector::from_column_slice(input);
        for _ in 0..2 {
            self.state = integrate::rk4(&self.state, 0.5 * time, |state| {
                self.vehicle.body.acceleration(state, &wrench)
            });
        }
    }
}

/// A planned reference of a vehicle.
#[track_caller]
pub fn planned(vehicle: &Vehicle, text: &str) -> Box<dyn Trajectory> {
    let settings: ReferenceSettings = toml::from_str(text).expect("valid settings");
    match settings.build(vehicle) {
        Ok(Reference::Planned(trajectory)) => trajectory,
        Ok(Reference::Recorded(_)) => panic!("not planned"),
        Err(error) => panic!("{text}: {error}"),
    }
}

/// Compares twist and acceleration of a reference with differences of its poses, every 0.09 s: off the instants where a way starts or ends, where the
/// fifth derivative jumps.
#[track_caller]
pub fn derivatives_agree(trajectory: &mut dyn Trajectory, instants: u32, text: &str) {
    for i in 0..instants {
        let (t, h) = (0.0137 + 0.09 * f64::from(i), 1e-4);
        let [before, point, after] = [t - h, t, t + h].map(|t| trajectory.sample(t).unwrap());
        let twist = (before.pose.inverse() * after.pose).log() / (2.0 * h);
        let acceleration = (after.twist - before.twist) / (2.0 * h);
        // Error of the difference: h^2/6 times the third derivative.
        let scale = 1.0 + point.twist.amax().powi(3) + point.acceleration.amax();
        assert!((twist - point.twist).amax() < 1e-5 * scale, "{text} at {t}");
        let off = (acceleration - point.acceleration).amax();
        assert!(off < 1e-4 * scale, "{text} at {t}");
    }
}

/// The coefficients of the polynomial with these roots.
pub fn polynomial(roots: &[Complex<f64>]) -> Vec<Complex<f64>> {
    roots.iter().fold(vec![Complex::ONE], |p, root| {
        let next = (0..=p.len()).map(|i| {
            let of = |i: usize| p.get(i).copied().unwrap_or_default();
            of(i) - i.checked_sub(1).map_or(Complex::ZERO, of) * root
        });
        next.collect()
    })
}
