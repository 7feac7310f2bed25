//! Templates from user-defined functions, compared with those of pairs of bodies and with their energies.
#![allow(non_snake_case)]

use fly_control::analysis::LyapunovGuarantee;
use fly_control::plant::SystemPlant;
use fly_control::system::{SystemPair, SystemReference};
use fly_control::template::{
    Approach, DesiredMotion, ErrorEnergies, ErrorMetric, FunctionTemplate, Pair, PotentialError,
    SystemTemplate,
};
use fly_control::transport::{JointMap, PointMap, TransportError};
use fly_control::{Controller, Strategy};
use fly_lie::operators::hat_matrix3;
use fly_mechanics::multibody::{Body, BodyId, Joint, Model, Workspace};
use fly_mechanics::{SecondMoment, System};
use nalgebra::{DMatrix, DVector, Matrix3, Matrix4, RealField, Vector3, convert};

use crate::common::{Random, derivative};
use crate::desired::{Desired, Moment, hinges};

const STIFFNESS: [[f64; 3]; 3] = [[8.0, 0.5, 0.2], [0.5, 10.0, -0.4], [0.2, -0.4, 12.0]];
const DAMPING: [[f64; 3]; 3] = [[4.0, 0.3, 0.0], [0.3, 5.0, 0.2], [0.0, 0.2, 6.0]];
const INERTIA: [[f64; 3]; 3] = [[1.0, 0.1, 0.0], [0.1, 1.3, -0.2], [0.0, -0.2, 1.6]];

fn matrix(rows: &[[f64; 3]; 3]) -> Matrix3<f64> {
    Matrix3::from_fn(|i, j| rows[i][j])
}

fn evaluate(
    template: &mut impl SystemTemplate,
    model: &Model<f64>,
    x: &[f64],
    xi: &[f64],
    goal: &SystemReference<'_>,
) -> DesiredMotion {
    let (workspace, mut out) = (Workspace::new(model), DesiredMotion::new(model));
    template
        .evaluate(model, &workspace, (x, xi), goal, &mut out)
        .expect("a motion");
    out
}

/// All but the map.
fn same(found: &DesiredMotion, expected: &DesiredMotion) {
    let size = 1.0 + expected.bias.amax();
    let differences = [
        (&found.mass_matrix - &expected.mass_matrix).amax(),
        (&found.inertial - &expected.inertial).amax(),
        (&found.damping - &expected.damping).amax(),
        (&found.stiffness - &expected.stiffness).amax(),
        (&found.bias - &expected.bias).amax(),
        (&found.momentum - &expected.momentum).amax(),
        (&found.reference_momentum - &expected.reference_momentum).amax(),
        (found.reference_power.expect("known") - expected.reference_power.expect("known")).abs(),
        (found.energies.kinetic - expected.energies.kinetic).abs(),
        (found.energies.potential - expected.energies.potential).abs(),
        (found.energies.dissipation - expected.energies.dissipation).abs(),
    ];
    assert!(
        differences.iter().all(|d| *d < 1e-10 * size),
        "{differences:?}"
    );
}

// ---- An attitude

/// `e = R_R^T R`, nine numbers, and `V = tr(P (I - e))`.
struct Attitude;

impl ErrorEnergies for Attitude {
    fn error_dim(&self) -> usize {
        9
    }

    fn error<T: RealField + Copy>(&self, x: &[T], x_R: &[T], e: &mut [T]) {
        let [R, R_R] = [x, x_R].map(Matrix3::from_column_slice);
        e.copy_from_slice((R_R.transpose() * R).as_slice());
    }

    fn potential<T: RealField + Copy>(&self, x: &[T], x_R: &[T]) -> T {
        let [R, R_R] = [x, x_R].map(Matrix3::from_column_slice);
        let P: Matrix3<T> = hat_matrix3(&matrix(&STIFFNESS)).map(convert);
        (P * (Matrix3::identity() - R_R.transpose() * R)).trace()
    }
}

impl ErrorMetric for Attitude {
    fn inertia<T: RealField + Copy>(&self, _: &[T], M: &mut DMatrix<T>) {
        M.copy_from(&matrix(&INERTIA).map(convert::<f64, T>));
    }

    fn damping(&self, _: &[f64], D: &mut DMatrix<f64>) {
        D.copy_from(&matrix(&DAMPING));
    }
}

fn ball() -> Model<f64> {
    let model = Model::builder().body(Body::new("body", Joint::spherical()));
    model.build().expect("a model")
}

fn attitude_pair(model: &Model<f64>) -> SystemPair {
    let moment = |rows| -> Matrix4<f64> {
        *SecondMoment::from_center(0.0, Vector3::zeros(), matrix(rows)).matrix4()
    };
    SystemPair {
        a: BodyId::WORLD,
        b: model.body_id("body").expect("the body"),
        energies: Pair::new(moment(&STIFFNESS), moment(&DAMPING), moment(&INERTIA)),
    }
}

/// The energy-based template of the pair, from its potential and error coordinates alone: also that `Q = R^T R_R` follows from (B.46).
#[test]
fn an_attitude_is_that_of_its_pair() {
    let model = ball();
    let mut template = FunctionTemplate::energy_based(&model, Attitude);
    let pairs = vec![attitude_pair(&model)];
    let mut by_pair = Desired::new(model.clone(), Approach::Energy, pairs, Box::new(JointMap));
    let mut random = Random::new(46);
    for _ in 0..30 {
        let at = Moment::new(&model, &mut random, 1.2);
        let found = evaluate(&mut template, &model, &at.x, &at.xi, &at.goal());
        let expected = by_pair.at(&at.x, &at.xi, &at.goal());
        same(&found, expected);
        assert!((&found.map.Q - &expected.map.Q).amax() < 1e-12);
        assert!((&found.map.Q_dot - &expected.map.Q_dot).amax() < 1e-11);
        let check = template.check(&model, [(&at.x[..], &at.x_R[..])], 1e-9);
        assert_eq!(check, Ok(()));
    }
    let neutral = model.neutral_configuration();
    let linear = template.linear(&model, &neutral);
    assert!((linear.stiffness - matrix(&STIFFNESS)).amax() < 1e-12);
}

// ---- A point of an arm

const LENGTHS: [f64; 2] = [0.5, 0.3];

/// The place of the point of the second of two hinges.
fn place<T: RealField + Copy>(q: &[T]) -> [T; 2] {
    let [l, k]: [T; 2] = LENGTHS.map(convert);
    let ((s, c), (s_2, c_2)) = (q[0].sin_cos(), (q[0] + q[1]).sin_cos());
    [l * c + k * c_2, l * s + k * s_2]
}

fn jacobian<T: RealField + Copy>(q: &[T]) -> DMatrix<T> {
    let [l, k]: [T; 2] = LENGTHS.map(convert);
    let ((s, c), (s_2, c_2)) = (q[0].sin_cos(), (q[0] + q[1]).sin_cos());
    DMatrix::from_row_slice(
        2,
        2,
        &[-l * s - k * s_2, -k * s_2, l * c + k * c_2, k * c_2],
    )
}

/// A spring of 16 N/m and a mass of 1.3 kg at the point, Konz (5.129), (5.130).
struct Tool;

impl ErrorEnergies for Tool {
    fn error_dim(&self) -> usize {
        2
    }

    fn error<T: RealField + Copy>(&self, x: &[T], x_R: &[T], e: &mut [T]) {
        let ([a, b], [c, d]) = (place(x), place(x_R));
        e.copy_from_slice(&[a - c, b - d]);
    }

    fn potential<T: RealField + Copy>(&self, x: &[T], x_R: &[T]) -> T {
        let mut e = [T::zero(); 2];
        self.error(x, x_R, &mut e);
        (e[0] * e[0] + e[1] * e[1]) * convert(8.0)
    }
}

impl ErrorMetric for Tool {
    fn inertia<T: RealField + Copy>(&self, x: &[T], M: &mut DMatrix<T>) {
        let J = jacobian(x);
        M.copy_from(&(J.tr_mul(&J) * convert::<f64, T>(1.3)));
    }

    fn damping(&self, x: &[f64], D: &mut DMatrix<f64>) {
        let J = jacobian(x);
        D.copy_from(&(J.tr_mul(&J) * 7.0));
    }
}

/// An inertia that changes with the configuration: the connection of the pair's is found from its matrix alone. By particles it is the same point.
#[test]
fn a_point_of_an_arm_is_that_of_its_pair() {
    let model = hinges(2);
    let (a, b) = (BodyId::WORLD, model.body_id("1").expect("the second"));
    let point = Vector3::new(LENGTHS[1], 0.0, 0.0);
    let weight = |w: f64| *SecondMoment::from_points([(w, point)]).matrix4();
    let energies = || Pair::new(weight(16.0), weight(7.0), weight(1.3));
    let by_pair = |approach| {
        let map = Box::new(PointMap::new(&model, a, b, point));
        let pair = SystemPair {
            a,
            b,
            energies: energies(),
        };
        Desired::new(model.clone(), approach, vec![pair], map)
    };
    let mut energy = by_pair(Approach::Energy);
    let mut particle = by_pair(Approach::Particle);
    let mut by_function = FunctionTemplate::energy_based(&model, Tool);
    let weights = [1.3, 7.0].map(|w| DMatrix::identity(2, 2) * w);
    let [inertia, damping] = weights;
    let mut by_particles = FunctionTemplate::particle_based(&model, Tool, inertia, damping);
    let mut random = Random::new(129);
    let mut count = 0;
    for _ in 0..40 {
        let at = Moment::new(&model, &mut random, 1.2);
        if at.x[1].sin().abs() < 0.2 || at.x_R[1].sin().abs() < 0.2 {
            continue;
        }
        count += 1;
        let found = evaluate(&mut by_function, &model, &at.x, &at.xi, &at.goal());
        let expected = energy.at(&at.x, &at.xi, &at.goal());
        same(&found, expected);
        assert!((&found.map.Q - &expected.map.Q).amax() < 1e-11);
        assert!((&found.map.Q_dot - &expected.map.Q_dot).amax() < 1e-10);
        let found = evaluate(&mut by_particles, &model, &at.x, &at.xi, &at.goal());
        same(&found, particle.at(&at.x, &at.xi, &at.goal()));
    }
    assert!(count > 15);
    // Straight, the point does not tell how the arm moves.
    let goal = SystemReference {
        configuration: &[0.3, 0.8],
        velocity: &[0.0; 2],
        acceleration: &[0.0; 2],
    };
    let (workspace, mut out) = (Workspace::new(&model), DesiredMotion::new(&model));
    let straight = by_function.evaluate(
        &model,
        &workspace,
        (&[0.3, 0.0], &[0.0; 2]),
        &goal,
        &mut out,
    );
    assert_eq!(
        straight,
        Err(TransportError::ErrorCoordinates { rank: 1, dof: 2 })
    );
}

// ---- Particles of a body

/// Particles in the body: kg, m.
const PARTICLES: [(f64, [f64; 3]); 5] = [
    (0.4, [0.3, 0.1, -0.2]),
    (0.7, [-0.2, 0.25, 0.1]),
    (0.3, [0.1, -0.3, 0.3]),
    (0.5, [0.4, 0.2, 0.2]),
    (0.2, [-0.3, -0.1, -0.4]),
];

/// The distances of particles from where they should be, as three numbers each.
struct Distances;

impl ErrorEnergies for Distances {
    fn error_dim(&self) -> usize {
        15
    }

    fn error<T: RealField + Copy>(&self, x: &[T], x_R: &[T], e: &mut [T]) {
        // The position first, then the attitude.
        let place = |x: &[T], p: &[f64; 3]| {
            let R = Matrix3::from_column_slice(&x[3..]);
            Vector3::from_column_slice(&x[..3]) + R * Vector3::from(p.map(convert::<f64, T>))
        };
        for (e, (_, p)) in e.chunks_exact_mut(3).zip(&PARTICLES) {
            e.copy_from_slice((place(x, p) - place(x_R, p)).as_slice());
        }
    }

    fn potential<T: RealField + Copy>(&self, x: &[T], x_R: &[T]) -> T {
        let mut e = [T::zero(); 15];
        self.error(x, x_R, &mut e);
        let each = e.chunks_exact(3).zip(&PARTICLES).map(|(e, (m, _))| {
            (e[0] * e[0] + e[1] * e[1] + e[2] * e[2]) * convert::<f64, T>(2.0 * m)
        });
        each.fold(T::zero(), |sum, part| sum + part)
    }
}

/// (5.11), (5.16): the sum over particles is the template of the second moment.
#[test]
fn particles_are_the_pair_of_their_moment() {
    let model = Model::builder().body(Body::new("body", Joint::free()));
    let model = model.build().expect("a model");
    let moment = |factor: f64| {
        let points = PARTICLES.map(|(m, p)| (factor * m, Vector3::from(p)));
        *SecondMoment::from_points(points).matrix4()
    };
    let pair = SystemPair {
        a: BodyId::WORLD,
        b: model.body_id("body").expect("the body"),
        energies: Pair::new(moment(4.0), moment(3.0), moment(1.0)),
    };
    let mut by_pair = Desired::new(
        model.clone(),
        Approach::Particle,
        vec![pair],
        Box::new(JointMap),
    );
    let weights = |factor: f64| {
        let each = PARTICLES.iter().flat_map(|(m, _)| [factor * m; 3]);
        DMatrix::from_diagonal(&DVector::from_iterator(15, each))
    };
    let mut template =
        FunctionTemplate::particle_based(&model, Distances, weights(1.0), weights(3.0));
    let mut random = Random::new(511);
    for _ in 0..20 {
        let at = Moment::new(&model, &mut random, 1.2);
        let found = evaluate(&mut template, &model, &at.x, &at.xi, &at.goal());
        same(&found, by_pair.at(&at.x, &at.xi, &at.goal()));
    }
    assert_eq!(template.approach(), Approach::Particle);
}

// ---- What no pair has

/// Two hinges with springs that stiffen, coupled, and an inertia that no rigid bodies have.
#[derive(Clone, Copy)]
struct Stiffening {
    /// Coefficient of a term that is not a function of the errors.
    foreign: f64,
}

impl ErrorEnergies for Stiffening {
    fn error_dim(&self) -> usize {
        2
    }

    fn error<T: RealField + Copy>(&self, x: &[T], x_R: &[T], e: &mut [T]) {
        // Other coordinates of the error: its sum, and a sine that folds nothing below a quarter turn.
        let [a, b] = [x[0] - x_R[0], x[1] - x_R[1]];
        e.copy_from_slice(&[a + b, (a * convert(0.3)).sin() - b]);
    }

    fn potential<T: RealField + Copy>(&self, x: &[T], x_R: &[T]) -> T {
        let [a, b] = [x[0] - x_R[0], x[1] - x_R[1]];
        let square = a * a + a * b + b * b;
        let foreign = a * a * (x_R[1].sin() + convert(1.1)) * convert(self.foreign);
        square + square * square * convert(0.5) + foreign
    }
}

impl ErrorMetric for Stiffening {
    fn inertia<T: RealField + Copy>(&self, x: &[T], M: &mut DMatrix<T>) {
        M[(0, 0)] = x[1].cos() * convert(0.5) + convert(2.0);
        M[(1, 1)] = (x[0] + x[1]).sin() * convert(0.3) + convert(1.0);
        M[(0, 1)] = x[0].cos() * convert(0.4);
        M[(1, 0)] = M[(0, 1)];
    }

    fn damping(&self, x: &[f64], D: &mut DMatrix<f64>) {
        D[(0, 0)] = 2.0 + x[0].sin();
        D[(1, 1)] = 1.5;
    }
}

/// (5.55): along the closed loop, about a moving reference, the energy falls by twice the dissipation, plus, if the potential depends on more than
/// the errors, the power of the reference.
#[test]
fn any_potential_of_errors_is_a_lyapunov_function() {
    for foreign in [0.0, 1.0] {
        energy_changes_as_it_should(Stiffening { foreign });
    }
}

fn energy_changes_as_it_should(energies: Stiffening) {
    let model = hinges(2);
    let template = FunctionTemplate::energy_based(&model, energies);
    let template = std::cell::RefCell::new(template);
    let mut random = Random::new(555);
    for _ in 0..20 {
        let at = Moment::new(&model, &mut random, 1.2);
        let motion = evaluate(
            &mut *template.borrow_mut(),
            &model,
            &at.x,
            &at.xi,
            &at.goal(),
        );
        let mass = motion
            .mass_matrix
            .clone()
            .cholesky()
            .expect("positive definite");
        let xi_dot = -mass.solve(&motion.bias);
        // To the first power of the time is enough for the rate.
        let moved = |v: &[f64], rate: &[f64], t: f64| -> Vec<f64> {
            v.iter().zip(rate).map(|(v, rate)| v + t * rate).collect()
        };
        let rate = derivative(|t| {
            let [x_R, xi_R] =
                [(&at.x_R, &at.xi_R), (&at.xi_R, &at.xi_dot_R)].map(|(v, r)| moved(v, r, t));
            let goal = SystemReference {
                configuration: &x_R,
                velocity: &xi_R,
                acceleration: &at.xi_dot_R,
            };
            let (x, xi) = (moved(&at.x, &at.xi, t), moved(&at.xi, xi_dot.as_slice(), t));
            let motion = evaluate(&mut *template.borrow_mut(), &model, &x, &xi, &goal);
            motion.energies.total
        });
        let taken = motion.reference_power_at(&xi_dot).expect("known");
        let expected = -2.0 * motion.energies.dissipation - taken;
        assert!(
            (rate - expected).abs() < 1e-7 * (1.0 + expected.abs()),
            "{rate} {expected}"
        );
        if energies.foreign != 0.0 {
            assert!(taken != 0.0);
            continue;
        }
        assert!(taken.abs() < 1e-9, "{taken}");
        // (B.47): the rate of the errors is their gradient times xi_E.
        let mut both = template.borrow_mut();
        let pairs = [(&at.x[..], &at.x_R[..])];
        assert_eq!(both.check(&model, pairs, 1e-9), Ok(()));
    }
}

#[test]
fn potentials_that_are_none_of_errors_are_told() {
    let model = hinges(2);
    let pairs = || [(&[0.4, -0.3][..], &[0.1, 0.2][..])];
    let mut foreign = FunctionTemplate::energy_based(&model, Stiffening { foreign: 1.0 });
    let Err(PotentialError::Transport(TransportError::Mismatch { error, scale })) =
        foreign.check(&model, pairs(), 1e-9)
    else {
        panic!("it does not fit")
    };
    assert!(error > 1e-3 * scale);
    let mut negative = FunctionTemplate::energy_based(&model, Stiffening { foreign: -30.0 });
    let told = negative.check(&model, pairs(), 1e-9);
    assert!(matches!(told, Err(PotentialError::NotPositive(v)) if v < 0.0));
}

// ---- In flight

const ARM: &str = "
name = 'arm'
[bodies.0]
joint = { type = 'revolute', axis = [0, 1, 0] }
shape = { box = [0.5, 0.05, 0.05] }
center_of_mass = [0.25, 0, 0]
mass = 1
[bodies.1]
parent = '0'
position = [0.5, 0, 0]
joint = { type = 'revolute', axis = [0, 1, 0] }
shape = { box = [0.3, 0.05, 0.05] }
center_of_mass = [0.15, 0, 0]
mass = 0.6
[[motors]]
joint = '0'
[[motors]]
joint = '1'
";

/// The controller gives the arm the closed loop of the functions, and reports when their energy falls.
#[test]
fn a_controller_flies_functions() {
    let system = System::from_toml(ARM).expect("an arm");
    let controller = |foreign: f64| {
        let template = FunctionTemplate::energy_based(&system.model, Stiffening { foreign });
        let template: Box<dyn SystemTemplate> = Box::new(template);
        let plant = SystemPlant::new(&system).expect("a plant");
        Controller::new(plant, Strategy::from(template)).expect("a law")
    };
    let mut law = controller(0.0);
    assert_eq!(law.lyapunov_guarantee(), LyapunovGuarantee::Always);
    let unfit = controller(1.0).lyapunov_guarantee();
    assert_eq!(unfit, LyapunovGuarantee::AtRest(Approach::Energy));

    let mut template = FunctionTemplate::energy_based(&system.model, Stiffening { foreign: 0.0 });
    let mut random = Random::new(7);
    for _ in 0..10 {
        let at = Moment::new(&system.model, &mut random, 1.2);
        let step = law.step(&at.x, &at.xi, &at.goal()).expect("a step");
        let input = step.input.clone();
        let push = law.input_matrix() * input - law.bias();
        let xi_dot = law
            .mass_matrix()
            .clone()
            .cholesky()
            .expect("masses")
            .solve(&push);
        let desired = evaluate(&mut template, &system.model, &at.x, &at.xi, &at.goal());
        let missing = &desired.mass_matrix * xi_dot + &desired.bias;
        assert!(missing.amax() < 1e-10 * (1.0 + desired.bias.amax()));
    }
    let rest = system.model.neutral_configuration();
    let closed = fly_control::analysis::ClosedLoop::new(&system, &law, &rest).expect("a loop");
    let poles = closed.poles().expect("poles");
    // M s^2 + D s + K of the functions where all is zero.
    let M = DMatrix::from_row_slice(2, 2, &[2.5, 0.4, 0.4, 1.0]);
    let D = DMatrix::from_row_slice(2, 2, &[2.0, 0.0, 0.0, 1.5]);
    let K = DMatrix::from_row_slice(2, 2, &[2.0, 1.0, 1.0, 2.0]);
    for pole in poles {
        let to = |A: &DMatrix<f64>| A.map(|a| nalgebra::Complex::new(a, 0.0));
        let characteristic = to(&M) * (pole * pole) + to(&D) * pole + to(&K);
        assert!(characteristic.determinant().norm() < 1e-8);
    }
}
