//! Redundant inputs: the accelerations are those of the law without them, the null space goes to the preferred input, and is spent first.
//!
//! The tests look at a sample of random vehicles; `cargo xtask redundant` looks at 100 000 in release.
#![allow(non_snake_case)]

use fly_control::ReferencePoint;
use fly_control::allocation::{ActiveSet, Allocator, InputBounds, Limits, Outcome};
use fly_control::analysis::{Attainable, HoverMargins};
use fly_control::inputs::ReferenceInputs;
use fly_control::law::{Law, LawError};
use fly_control::system::SystemReference;
use fly_lie::SE3;
use fly_mechanics::{Rotors, State, System, Vehicle};
use nalgebra::{DMatrix, DVector, Dyn};

use crate::common::{Flight, QUADCOPTER_POLES, Random, TRICOPTER_PAIR, settings};

/// All inputs of the law, with a B of known factors.
struct Case {
    M: DMatrix<f64>,
    M_bar: DMatrix<f64>,
    /// n x r and r x p, both of rank r.
    factors: [DMatrix<f64>; 2],
    weights: DVector<f64>,
    preferred: DVector<f64>,
    b: DVector<f64>,
    b_bar: DVector<f64>,
}

impl Case {
    /// Of rank r with p inputs, whose units differ by up to four powers of ten; each factor of B has a condition of at most 20 in these units.
    fn new(random: &mut Random, rank: usize, inputs: usize) -> Self {
        let units = DVector::from_fn(inputs, |_, _| 10_f64.powf(2.0 * random.next()));
        // As a diagonal and a part that turns the axes: a condition of some hundreds at most.
        let mut positive = || {
            let turn = DMatrix::from_fn(6, 6, |_, _| random.next());
            let diagonal = DVector::from_fn(6, |_, _| 0.1 + 2.0 * random.next().abs());
            &turn * turn.transpose() + DMatrix::from_diagonal(&diagonal)
        };
        let (M, M_bar) = (positive(), positive());
        let mut well_conditioned = |rows, columns| loop {
            let matrix = DMatrix::from_fn(rows, columns, |_, _| random.next());
            let values = matrix.singular_values();
            if values.max() < 20.0 * values.min() {
                return matrix;
            }
        };
        let left = well_conditioned(6, rank);
        let mut right = well_conditioned(rank, inputs);
        for (mut column, unit) in right.column_iter_mut().zip(&units) {
            column /= *unit;
        }
        Self {
            M,
            M_bar,
            factors: [left, right],
            weights: units.map(|unit| (1.1 + random.next()) / (unit * unit)),
            preferred: units.map(|unit| 3.0 * random.next() * unit),
            b: DVector::from_fn(6, |_, _| 3.0 * random.next()),
            b_bar: DVector::from_fn(6, |_, _| 3.0 * random.next()),
        }
    }

    fn B(&self) -> DMatrix<f64> {
        &self.factors[0] * &self.factors[1]
    }

    fn prepare(&self, law: &mut Law) {
        law.set_input_weights(&self.weights).expect("weights");
        law.set_preferred_input(self.preferred.as_slice());
    }

    /// With matrices that never change, and with those of the moment.
    fn laws(&self) -> [Law; 2] {
        let mut constant = Law::constant(&self.M, &self.M_bar, &self.B()).expect("a law");
        self.prepare(&mut constant);
        let mut updated = Law::new(Dyn(6), Dyn(self.weights.len()));
        self.prepare(&mut updated);
        updated
            .update(&self.M, &self.M_bar, &self.B())
            .expect("a law");
        [constant, updated]
    }

    fn u0(&self, law: &mut Law) -> DVector<f64> {
        let mut u0 = DVector::zeros(self.weights.len());
        law.unconstrained(&self.b, &self.b_bar, &mut u0);
        u0
    }

    fn acceleration(&self, u: &DVector<f64>) -> DVector<f64> {
        let M = self.M.clone().cholesky().expect("positive");
        M.solve(&(self.B() * u - &self.b))
    }

    /// The acceleration nearest to the desired one among all that the inputs can cause, from the factor of B whose columns are independent.
    fn least_error(&self) -> DVector<f64> {
        let (M, M_bar) = (self.M.clone().cholesky(), self.M_bar.clone().cholesky());
        let (M, M_bar) = (M.expect("positive"), M_bar.expect("positive"));
        let (root, ways) = (M_bar.l().transpose(), M.solve(&self.factors[0]));
        let (free, desired) = (-M.solve(&self.b), -M_bar.solve(&self.b_bar));
        let (Q, R) = (&root * &ways).qr().unpack();
        let parts = Q.tr_mul(&(root * (desired - &free)));
        free + ways * R.solve_upper_triangular(&parts).expect("regular")
    }

    /// An orthonormal basis of null(B), p x k, from the factor whose rows are independent.
    fn null_space(&self) -> DMatrix<f64> {
        let p = self.weights.len();
        let padded = self.factors[1].clone().resize_vertically(p, 0.0);
        // Inputs of one unit each.
        let scales = DVector::from_fn(p, |j, _| self.factors[1].column(j).norm().recip());
        let padded = padded * DMatrix::from_diagonal(&scales);
        let svd = padded.svd(false, true);
        let right = svd.v_t.expect("asked for").transpose();
        let rank = self.factors[1].nrows();
        DMatrix::from_diagonal(&scales) * right.columns(rank, p - rank)
    }

    fn check(&self) {
        let [rank, p] = [self.factors[1].nrows(), self.weights.len()];
        let wanted = self.least_error();
        let size = wanted.norm() + self.b.norm();
        let Z = self.null_space();
        let R = DMatrix::from_diagonal(&self.weights);
        for (i, mut law) in self.laws().into_iter().enumerate() {
            assert_eq!(law.redundancy(), p - rank);
            let u0 = self.u0(&mut law);
            let error = (self.acceleration(&u0) - &wanted).norm();
            assert!(error < 1e-10 * size, "{error:e}, rank {rank}, p {p}, {i}");
            // Z^T R (u0 - u_ref) = 0.
            let (left, right) = (Z.tr_mul(&(&R * &u0)), Z.tr_mul(&(&R * &self.preferred)));
            let terms = (Z.map(f64::abs).tr_mul(&(&R * u0.map(f64::abs)))).norm() + right.norm();
            assert!((left - right).norm() <= 1e-9 * terms, "rank {rank}, p {p}");
        }
    }
}

fn sample(cases: usize, seed: u64, mut check: impl FnMut(&Case, &mut Random)) {
    let mut random = Random::new(seed);
    for i in 0..cases {
        let rank = 1 + i % 6;
        let inputs = rank + i / 6 % (17 - rank);
        check(&Case::new(&mut random, rank, inputs), &mut random);
    }
}

#[test]
fn accelerations_are_those_of_the_least_error() {
    sample(600, 7, |case, _| case.check());
}

#[test]
#[ignore = "minutes: cargo xtask redundant"]
fn accelerations_of_a_hundred_thousand_vehicles() {
    sample(100_000, 11, |case, _| case.check());
    println!("100000 vehicles of ranks 1 to 6 with up to 16 inputs: accelerations to 1e-10");
}

/// `u0 = H_N^-1 (g + eps N u_ref)` as it is printed, for an eps of any size.
#[test]
fn every_eps_gives_the_same_input() {
    let mut random = Random::new(3);
    let case = Case::new(&mut random, 4, 7);
    let [mut law, _] = case.laws();
    let u0 = case.u0(&mut law);
    let M = case.M.clone().cholesky().expect("positive");
    let A = M.solve(&case.B());
    let H = A.tr_mul(&(&case.M_bar * &A));
    let g = A.tr_mul(&(&case.M_bar * M.solve(&case.b) - &case.b_bar));
    let (Z, R) = (case.null_space(), DMatrix::from_diagonal(&case.weights));
    let inner = Z.tr_mul(&(&R * &Z)).cholesky().expect("positive");
    let N = &R * &Z * inner.solve(&Z.tr_mul(&R));
    for eps in [1e-2, 1.0, 1e2] {
        let right = &g + &N * &case.preferred * eps;
        let printed = (&H + &N * eps).lu().solve(&right).expect("regular");
        let error = (printed - &u0).component_div(&u0).amax();
        assert!(error < 1e-7, "{error:e} for eps = {eps}");
    }
    // The metric of the limits is H + eps N with the eps that its inverse factor has.
    let metric = law.metric().clone();
    let (mut room, mut J) = (metric.clone(), metric.clone());
    assert!(law.inverse_factor(&metric, &mut room, &mut J));
    let one = J.tr_mul(&(&metric * &J));
    assert!((one - DMatrix::identity(7, 7)).amax() < 1e-5);
}

/// The optimum under bounds of each input, found by trying every set of active bounds with a QR decomposition of the square root of the metric.
fn enumerate(
    root: &DMatrix<f64>,
    u0: &DVector<f64>,
    [lower, upper]: [&DVector<f64>; 2],
) -> DVector<f64> {
    let p = u0.len();
    let (mut best, mut least) = (DVector::zeros(p), f64::INFINITY);
    for set in 0..3_usize.pow(u32::try_from(p).expect("few")) {
        let state = |j: usize| set / 3_usize.pow(u32::try_from(j).expect("few")) % 3;
        let mut u = DVector::from_fn(p, |j, _| [0.0, lower[j], upper[j]][state(j)]);
        let free: Vec<usize> = (0..p).filter(|j| state(*j) == 0).collect();
        if !free.is_empty() {
            let columns = root.select_columns(&free);
            let (Q, R) = columns.qr().unpack();
            let right = Q.tr_mul(&(root * (u0 - &u)));
            let Some(values) = R.solve_upper_triangular(&right) else {
                continue;
            };
            for (j, value) in free.iter().zip(&values) {
                u[*j] = *value;
            }
        }
        let inside = (0..p).all(|j| {
            let rounding = 1e-10 * (upper[j] - lower[j]);
            lower[j] - rounding <= u[j] && u[j] <= upper[j] + rounding
        });
        let distance = (root * (&u - u0)).norm_squared();
        if inside && distance < least {
            (best, least) = (u, distance);
        }
    }
    best
}

/// The same optimum for any number of inputs: bounded-variable least squares (Stark and Parker 1995), with QR decompositions of the square root of
/// the metric; the metric itself is never formed.
fn bounded_least_squares(
    root: &DMatrix<f64>,
    u0: &DVector<f64>,
    [lower, upper]: [&DVector<f64>; 2],
) -> DVector<f64> {
    let p = u0.len();
    let mut u = lower.clone();
    let mut free = vec![false; p];
    let norms = DVector::from_fn(p, |j, _| root.column(j).norm());
    for _ in 0..1000 {
        // What each bound holds back.
        let away = u0 - &u;
        let pull = root.tr_mul(&(root * &away));
        let gain = |j: usize| {
            let held = (u[j] <= lower[j] && pull[j] > 0.0) || (u[j] >= upper[j] && pull[j] < 0.0);
            f64::from(u8::from(held && !free[j])) * pull[j].abs() / norms[j]
        };
        let next = (0..p).max_by(|i, j| gain(*i).total_cmp(&gain(*j)));
        let next = next.expect("inputs");
        if gain(next) <= 1e-15 * norms.dot(&away.abs()) {
            return u;
        }
        free[next] = true;
        while free.contains(&true) {
            let chosen: Vec<usize> = (0..p).filter(|j| free[*j]).collect();
            let (Q, R) = root.select_columns(&chosen).qr().unpack();
            let held = DVector::from_fn(p, |j, _| if free[j] { 0.0 } else { u[j] });
            let best = R.solve_upper_triangular(&Q.tr_mul(&(root * (u0 - held))));
            let best = best.expect("independent columns");
            // The first bound on the way there.
            let room = |(j, best): (&usize, &f64)| {
                let way = best - u[*j];
                let bound = if way > 0.0 { upper[*j] } else { lower[*j] };
                let part = if way == 0.0 || (bound - best) * way.signum() >= 0.0 {
                    f64::INFINITY
                } else {
                    (bound - u[*j]) / way
                };
                (part, *j, bound)
            };
            let hit = chosen.iter().zip(&best).map(room);
            let (part, at, bound) = hit.min_by(|a, b| a.0.total_cmp(&b.0)).expect("one is free");
            for (j, best) in chosen.iter().zip(&best) {
                u[*j] += part.min(1.0) * (best - u[*j]);
            }
            if part > 1.0 {
                break;
            }
            (u[at], free[at]) = (bound, false);
        }
    }
    panic!("no optimum");
}

/// Bounds of each input about a point.
fn limits(lower: &DVector<f64>, upper: &DVector<f64>) -> Limits {
    let p = lower.len();
    let middle = (lower + upper) / 2.0;
    Limits::between(DMatrix::identity(p, p), lower, upper, middle).expect("limits")
}

fn solve(law: &mut Law, limits: &Limits, u0: &DVector<f64>) -> DVector<f64> {
    let metric = law.metric().clone();
    let (mut room, mut J) = (metric.clone(), metric.clone());
    let p = u0.len();
    let mut solver = ActiveSet::new(limits, &DMatrix::identity(p, p)).expect("a solver");
    if law.inverse_factor(&metric, &mut room, &mut J) {
        solver.set_factored_metric(&metric, &J).expect("a metric");
    } else {
        solver.set_metric(&metric).expect("a metric");
    }
    let mut input = DVector::zeros(p);
    let answer = solver.solve(u0.as_slice(), input.as_mut_slice());
    assert_eq!(answer.outcome, Outcome::Optimal);
    input
}

#[test]
fn the_optimum_at_limits_is_that_of_other_solvers() {
    let mut random = Random::new(23);
    let mut met = 0;
    let few = [(1, 3), (2, 4), (3, 6), (4, 6), (5, 6), (6, 7)];
    let many = (1..=6).flat_map(|rank| (8..=16).map(move |p| (rank, p)));
    for (rank, p) in few.into_iter().chain(many) {
        for _ in 0..6 {
            let case = Case::new(&mut random, rank, p);
            let [mut law, _] = case.laws();
            let u0 = case.u0(&mut law);
            let size = u0.map(f64::abs) + case.preferred.map(f64::abs);
            let middle = DVector::from_fn(p, |j, _| 0.5 * size[j] * random.next());
            let (lower, upper) = (&middle - 0.5 * &size, &middle + 0.5 * &size);
            let found = solve(&mut law, &limits(&lower, &upper), &u0);
            met += usize::from(found != u0);

            let M = case.M.clone().cholesky().expect("positive");
            let root_bar = case.M_bar.clone().cholesky().expect("positive").l();
            let (Z, R) = (case.null_space(), DMatrix::from_diagonal(&case.weights));
            let mut root = root_bar
                .tr_mul(&M.solve(&case.B()))
                .resize_vertically(6 + p, 0.0);
            if p > rank {
                // eps from any direction of the null space: z^T N z = z^T R z.
                let z = Z.column(0);
                let eps = z.dot(&(law.metric() * z)) / z.dot(&(&R * z));
                let inner = Z.tr_mul(&(&R * &Z)).cholesky().expect("positive");
                let mut part = Z.tr_mul(&R);
                inner.l().solve_lower_triangular_mut(&mut part);
                root.rows_mut(6, p - rank).copy_from(&(part * eps.sqrt()));
            }
            let bounds = [&lower, &upper];
            let agree = |expected: DVector<f64>| {
                let error = (&found - expected).component_div(&size).amax();
                assert!(error < 1e-8, "{error:e}, rank {rank}, p {p}");
            };
            agree(bounded_least_squares(&root, &u0, bounds));
            if p < 8 {
                agree(enumerate(&root, &u0, bounds));
            }
        }
    }
    assert!(met > 350, "{met}");
}

/// Where an input inside the limits causes the wanted acceleration, the acceleration is wanted and the null space pays.
#[test]
fn the_null_space_is_spent_first() {
    sample(300, 5, |case, random| {
        let p = case.weights.len();
        let [mut law, _] = case.laws();
        if law.redundancy() == 0 {
            return;
        }
        let size = case.preferred.map(f64::abs);
        let flown = DVector::from_fn(p, |j, _| 0.8 * size[j] * random.next());
        let (lower, upper) = (-&size, size.clone());
        // Of the accelerations that the flown input causes, an input that is far outside.
        let unit = case.null_space();
        let out =
            &flown + unit.column(0) * (10.0 * size.component_div(&unit.column(0).abs()).min());
        let input = solve(&mut law, &limits(&lower, &upper), &out);
        let (wanted, found) = (case.acceleration(&flown), case.acceleration(&input));
        let error = (found - &wanted).norm() / (wanted.norm() + case.b.norm());
        assert!(error < 1e-5, "{error:e}, rank {}, p {p}", law.redundancy());
    });
}

#[test]
fn inputs_without_effect_stay_where_they_are_preferred() {
    let one = DMatrix::<f64>::identity(2, 2);
    let B = DMatrix::from_row_slice(2, 3, &[1.0, 0.0, 1.0, 0.0, 0.0, 0.0]);
    let mut law = Law::constant(&one, &one, &B).expect("a law");
    assert_eq!(law.redundancy(), 2);
    law.set_preferred_input(&[1.0, 5.0, 0.0]);
    let mut u0 = DVector::zeros(3);
    law.unconstrained(
        &DVector::zeros(2),
        &DVector::from_vec(vec![-4.0, 0.0]),
        &mut u0,
    );
    // u_1 + u_3 = 4, and u_1 - u_3 = 1 as in u_ref.
    assert!((u0 - DVector::from_vec(vec![2.5, 5.0, 1.5])).amax() < 1e-14);
    let error = law.set_input_weights(&DVector::from_vec(vec![1.0, 0.0, 1.0]));
    assert_eq!(error, Err(LawError::Weights));

    let nothing = DMatrix::<f64>::zeros(2, 3);
    for B in [nothing.clone(), nothing.map(|_| f64::NAN)] {
        assert_eq!(Law::constant(&one, &one, &B).unwrap_err(), LawError::Inputs);
    }
    let singular = DMatrix::from_diagonal(&DVector::from_vec(vec![1.0, 0.0]));
    let B = DMatrix::from_row_slice(2, 3, &[1.0, 0.0, 1.0, 0.0, 1.0, 0.0]);
    assert_eq!(
        Law::constant(&one, &singular, &B).unwrap_err(),
        LawError::Inertia
    );
}

fn shipped(name: &str) -> Vehicle {
    let path = format!(
        "{}/../../configs/vehicles/{name}.toml",
        env!("CARGO_MANIFEST_DIR")
    );
    Vehicle::from_toml(&std::fs::read_to_string(path).expect("shipped")).expect("a vehicle")
}

#[test]
fn hover_and_its_margins_use_every_rotor() {
    let margins = HoverMargins::new(&shipped("octocopter")).expect("it hovers");
    let (mass, weight) = (2.2, 2.2 * 9.81);
    let each =
        |command: &fly_control::analysis::Command| (command.hover - weight / 8.0).abs() < 1e-9;
    assert!(margins.commands.iter().all(each), "{margins:?}");
    // All rotors at their most or least. Linear programs are solved to 1e-7.
    assert!((margins.climb_acceleration - (8.0 * 7.0 - weight) / mass).abs() < 1e-6);
    assert!((margins.sink_acceleration - (weight - 8.0 * 0.2) / mass).abs() < 1e-6);
    // Four rotors of each sense of rotation: one kind at its least, the other makes up for it.
    let spare = weight / 8.0 - 0.2;
    let turn = 8.0 * spare * 0.016 / 0.058;
    assert!(
        (margins.angular_acceleration.z - turn).abs() < 1e-6,
        "{margins:?}"
    );

    // The X8's upper rotors have more room above and lower ones less: furthest inside is not where all are equal. With `room` the distance of the
    // middle of the limits, upper thrusts are 0.2 + 3.4 s and lower ones 0.2 + 2.7 s.
    let margins = HoverMargins::new(&shipped("coaxial_x8")).expect("it hovers");
    let share = (1.8 * 9.81 / 4.0 - 0.4) / (3.4 + 2.7);
    for (i, command) in margins.commands.iter().enumerate() {
        let expected = 0.2 + share * [3.4, 2.7][i % 2];
        assert!((command.hover - expected).abs() < 1e-5, "{command:?}");
    }

    // Two inputs to spare, and still the same acceleration sideways in all directions by symmetry of eight.
    let canted = HoverMargins::new(&shipped("octocopter_canted")).expect("it hovers");
    assert!(
        canted.lateral_acceleration.is_some_and(|side| side > 2.0),
        "{canted:?}"
    );
    assert!(canted.tilt > 0.1, "{canted:?}");
}

/// A margin by a linear program is the end of the line of accelerations: a little more has no input, a little less has one.
#[test]
fn margins_end_where_the_limits_end() {
    for name in ["hexacopter", "y6", "coaxial_x8"] {
        let vehicle = shipped(name);
        let margins = HoverMargins::new(&vehicle).expect("it hovers");
        let (inputs, limits) = (ReferenceInputs::new(&vehicle), vehicle.rotors.limits());
        let level = State::at_rest(SE3::identity());
        for axis in 0..3 {
            for (part, inside) in [(0.9999, true), (1.0001, false)] {
                let mut acceleration = nalgebra::Vector6::zeros();
                acceleration[3 + axis] = part * margins.angular_acceleration[axis];
                let held = |sign: f64| {
                    let wrench = vehicle.body.mass_matrix() * (acceleration * sign)
                        + vehicle.body.bias(&level);
                    let input = inputs.of_force(&wrench);
                    assert!(input.is_exact());
                    limits.contains(input.input.as_slice(), 0.0)
                };
                assert_eq!(held(1.0) && held(-1.0), inside, "{name}, axis {axis}");
            }
        }
    }
}

#[test]
fn redundant_inputs_have_settings() {
    let vehicle = shipped("octocopter");
    let build = |keys: &str| settings(keys, QUADCOPTER_POLES).build(&vehicle);
    let goal = ReferencePoint::at_rest(SE3::identity());
    let level = State::at_rest(SE3::identity());
    let hover = 2.2 * 9.81 / 8.0;
    let mut controller = build("allocation = 'active_set'").expect("a controller");
    let input = &controller.step(&level, &goal).input;
    assert!((input - DVector::repeat(8, hover)).amax() < 1e-9, "{input}");

    // One rotor gets a higher cost; the others compensate.
    let listed = "allocation = 'active_set'\npreferred_input = [0.3, 3, 3, 3, 3, 3, 3, 3]";
    let mut spared = build(listed).expect("a controller");
    let weighted = format!("{listed}\ninput_weights = [1000, 1, 1, 1, 1, 1, 1, 1]");
    let mut weighted = build(&weighted).expect("a controller");
    let [one, two] = [&mut spared, &mut weighted].map(|c| c.step(&level, &goal).input.clone());
    assert!((one.sum() - 8.0 * hover).abs() < 1e-9 && (two.sum() - 8.0 * hover).abs() < 1e-9);
    assert!(
        one[0] < hover - 0.5 && (two[0] - 0.3).abs() < 0.05,
        "{one} {two}"
    );

    // With `previous`, the effect of a saturation on the inputs persists.
    let mut follows =
        build("allocation = 'active_set'\npreferred_input = 'previous'").expect("a controller");
    let away = State::at_rest(SE3::exp(&nalgebra::Vector6::new(
        0.0, 0.0, 0.0, 1.5, 0.0, 0.0,
    )));
    assert!(follows.step(&away, &goal).saturated());
    let kept = follows.step(&level, &goal).input.clone();
    let again = follows.step(&level, &goal).input.clone();
    assert!((&kept - &again).amax() < 1e-9 && (kept - input).amax() > 0.01);

    for (keys, message) in [
        (
            "preferred_input = [1, 2]",
            "preferred_input: expected a number for each of 8 inputs, found 2",
        ),
        (
            "input_weights = [1, 2]",
            "input_weights: expected one number, or one for each of 8 inputs, found 2",
        ),
        (
            "input_weights = 0",
            "input_weights: expected a positive number, found 0",
        ),
    ] {
        let error = build(keys).err().expect("refused");
        assert_eq!(error.to_string(), message);
    }
    let error = toml::from_str::<fly_control::ControllerSettings>("preferred_input = 'hovver'")
        .unwrap_err();
    assert!(
        error.to_string().contains("expected `hover` or `previous`"),
        "{error}"
    );

    let canted = shipped("octocopter_canted");
    let error = settings("", QUADCOPTER_POLES)
        .build(&canted)
        .err()
        .expect("refused");
    assert!(
        error.to_string().contains("the inputs span 6 directions"),
        "{error}"
    );
}

/// A fully actuated vehicle with redundant inputs moves as the template, whatever its inputs prefer: `Mbar xidot + bbar = 0`. So W falls as it does
/// without redundancy.
#[test]
fn energy_falls_with_redundant_inputs() {
    let vehicle = shipped("octocopter_canted");
    for keys in [
        "",
        "preferred_input = 'previous'",
        "preferred_input = [5, 1, 5, 1, 5, 1, 5, 1]\ninput_weights = [1, 2, 3, 4, 5, 6, 7, 8]",
    ] {
        let settings = settings(
            &format!("allocation = 'active_set'\n{keys}"),
            TRICOPTER_PAIR,
        );
        let mut controller = settings.build(&vehicle).expect("a controller");
        let start = nalgebra::Vector6::new(0.02, -0.03, 0.02, 0.05, -0.04, 0.08);
        let mut flight = Flight::new(&vehicle, State::at_rest(SE3::exp(&start)));
        let goal = ReferencePoint::at_rest(SE3::identity());
        let mut before = f64::INFINITY;
        for i in 0..1000 {
            let state = flight.state;
            let step = controller.step(&state, &goal);
            assert!(!step.saturated());
            let (input, energy) = (step.input.clone(), step.energies.expect("energies").total);
            let desired = controller.desired(&state, &goal);
            let wrench = vehicle.rotors.input_matrix() * &input;
            let acceleration = vehicle.body.acceleration(&state, &wrench);
            let force = desired.mass_matrix * acceleration + desired.bias;
            assert!(force.amax() < 1e-11, "{force}");
            if i % 20 == 0 {
                assert!(energy < before);
                before = energy;
            }
            flight.advance(input.as_slice(), 2e-3);
        }
        assert!(before < 1e-4, "{before}");
    }
}

// ---- Inputs that fail

/// Bounds for which one rotor gives nothing.
#[test]
fn a_dead_rotor_is_made_up_for_exactly() {
    for name in ["octocopter", "coaxial_x8"] {
        let vehicle = shipped(name);
        let new = || {
            settings("allocation = 'active_set'", QUADCOPTER_POLES)
                .build(&vehicle)
                .expect("a controller")
        };
        let goal = ReferencePoint::at_rest(SE3::identity());
        let near = State::at_rest(SE3::exp(&nalgebra::Vector6::new(
            0.02, -0.03, 0.05, 0.01, -0.02, 0.03,
        )));
        let B = vehicle.rotors.input_matrix();
        for rotor in 0..8 {
            let (mut healthy, mut failed) = (new(), new());
            let wanted = healthy.step(&near, &goal).input.clone();
            let bounds = InputBounds::without(8, [rotor]);
            failed.set_input_bounds(&bounds).expect("a law");
            let step = failed.step(&near, &goal);
            assert!(
                !step.saturated() && step.input[rotor] == 0.0,
                "{}",
                step.input
            );
            assert!(
                (B * (&step.input - &wanted)).amax() < 1e-10,
                "{name} without rotor {rotor}"
            );
            assert!(vehicle.rotors.limits().violation(step.input.as_slice()) <= 0.2);
            // And back.
            let free = InputBounds::free(8);
            failed.set_input_bounds(&free).expect("a law");
            assert_eq!(failed.step(&near, &goal).input, wanted);
        }
    }
}

#[test]
fn weak_inputs_are_bounded_and_stuck_ones_counted() {
    let vehicle = shipped("hexacopter");
    let B = vehicle.rotors.input_matrix();
    let mut controller = settings(
        "allocation = 'active_set'\ninput_rate_limit = 100",
        QUADCOPTER_POLES,
    )
    .build(&vehicle)
    .expect("a controller");
    let goal = ReferencePoint::at_rest(SE3::identity());
    let level = State::at_rest(SE3::identity());
    let hover = controller.step(&level, &goal).input.clone();
    // One gives at most 2 N, its neighbour is stuck at 3 N; the only input that hovers then has opposite rotors alike.
    let free = [f64::NEG_INFINITY, f64::INFINITY].map(|free| [free; 6]);
    let [mut lower, mut upper] = free;
    (lower[1], upper[1], lower[2], upper[2]) = (0.2, 2.0, 3.0, 3.0);
    controller
        .set_input_bounds(&InputBounds::between(&lower, &upper))
        .expect("a law");
    let input = controller.step(&level, &goal).input.clone();
    assert!((input[1] - 2.0).abs() < 1e-12 && input[2] == 3.0, "{input}");
    assert!((B * (&input - &hover)).amax() < 1e-6, "{input}");
    // Rates are kept but by the bounds themselves.
    let again = controller.step_after(
        1e-3,
        &State::at_rest(SE3::exp(&nalgebra::Vector6::new(
            0.0, 0.0, 2.0, 0.0, 0.0, 0.0,
        ))),
        &goal,
    );
    assert!((&again.input - &input).amax() < 0.1 + 1e-12);

    for (lower, upper) in [
        (&lower[..5], &upper[..]),
        (&[2.0; 6][..], &[1.0; 6][..]),
        (&[f64::NAN; 6][..], &[1.0; 6][..]),
    ] {
        assert!(
            controller
                .set_input_bounds(&InputBounds::between(lower, upper))
                .is_err()
        );
    }
    let mut crossed = lower;
    crossed[4] = 9.0;
    let error =
        (controller.set_input_bounds(&InputBounds::between(&crossed, &[5.0; 6]))).unwrap_err();
    assert!(error.to_string().contains("bounds of input 4: "), "{error}");
    // A bound on one side leaves the input's own limit on the other.
    let limits = vehicle.rotors.command_limits();
    let climbing = |z: f64| {
        State::at_rest(SE3::exp(&nalgebra::Vector6::new(
            0.0, 0.0, z, 0.0, 0.0, 0.0,
        )))
    };
    for (z, [lower, upper]) in [(5.0, [free[0], [2.0; 6]]), (-5.0, [[1.0; 6], free[1]])] {
        let mut fresh = settings("allocation = 'active_set'", QUADCOPTER_POLES)
            .build(&vehicle)
            .expect("a controller");
        fresh
            .set_input_bounds(&InputBounds::between(&lower, &upper))
            .expect("a law");
        let input = &fresh.step(&climbing(z), &goal).input;
        for (u, [low, high]) in input.iter().zip(limits) {
            assert!((low - 1e-9..=high + 1e-9).contains(u), "{z}: {input}");
        }
    }
    let error = controller
        .set_input_bounds(&InputBounds::between(&[0.0; 6], &[0.0; 6]))
        .unwrap_err();
    assert!(
        error
            .to_string()
            .starts_with("the inputs that are not fixed: "),
        "{error}"
    );
    assert_eq!(controller.step(&level, &goal).input[2], 3.0);
}

#[test]
fn what_is_left_is_known() {
    for (name, rotors, expected) in [
        ("octocopter", 8, Attainable::Hover),
        ("coaxial_x8", 8, Attainable::Hover),
        // The rotor opposite to the dead one must give nearly nothing: less than its least thrust.
        ("hexacopter", 6, Attainable::Spinning),
        // Each arm keeps a rotor that carries a third of the weight; the other two arms compensate its drag torque.
        ("y6", 6, Attainable::Hover),
        ("quadcopter", 4, Attainable::Nothing),
    ] {
        let vehicle = shipped(name);
        for rotor in 0..rotors {
            let found = Attainable::within(&vehicle, &InputBounds::without(rotors, [rotor]));
            assert_eq!(found, expected, "{name} without rotor {rotor}");
        }
        if name == "quadcopter" {
            // Two opposite rotors carry the weight, but correct no error about the line between them.
            let found = Attainable::within(&vehicle, &InputBounds::without(rotors, [0, 2]));
            assert_eq!(found, Attainable::Nothing);
        }
        let found = Attainable::within(&vehicle, &InputBounds::free(rotors));
        assert_eq!(found, Attainable::Hover);
    }
}

/// A weak rotor is one with a smaller range of thrust, whether it tilts or not: in the law, and in what remains attainable.
#[test]
fn a_weak_rotor_keeps_a_part_of_its_limits() {
    for (name, pair, input, inputs) in [
        ("tricopter", TRICOPTER_PAIR, 2, 2),
        ("hexacopter", QUADCOPTER_POLES, 1, 1),
    ] {
        let vehicle = shipped(name);
        let p = vehicle.rotors.input_dim();
        let B = vehicle.rotors.input_matrix();
        let settings = settings("allocation = 'active_set'", pair);
        let mut seen = Vec::new();
        for part in [0.9, 0.6, 0.45, 0.3, 0.1] {
            let mut bounds = InputBounds::free(p);
            bounds.effectiveness[input..input + inputs].fill(part);
            let mut weaker = vehicle.clone();
            let mut rotors = weaker.rotors.as_slice().to_vec();
            rotors[1].thrust = rotors[1].thrust.map(|thrust| part * thrust);
            weaker.rotors = Rotors::new(rotors).expect("rotors");

            let attainable = Attainable::within(&vehicle, &bounds);
            let expected = Attainable::within(&weaker, &InputBounds::free(p));
            assert_eq!(attainable, expected, "{name} at {part}");
            seen.push(attainable);

            let mut bounded = settings.build(&vehicle).expect("a controller");
            bounded.set_input_bounds(&bounds).expect("a law");
            let mut expected = settings.build(&weaker).expect("a controller");
            let goal = ReferencePoint::at_rest(SE3::identity());
            let mut saturated = 0;
            for step in 0..20 {
                let away = 0.1 * f64::from(step);
                let state = State::at_rest(SE3::exp(&nalgebra::Vector6::new(
                    away, -away, -away, 0.0, 0.0, away,
                )));
                let found = bounded.step(&state, &goal);
                let expected = expected.step(&state, &goal);
                saturated += u32::from(found.saturated());
                // Redundant inputs prefer those of the healthy vehicle.
                let error = (B * (&found.input - &expected.input)).amax();
                assert!(error < 1e-6, "{name} at {part}, {away} m: {error}");
                assert!(
                    weaker
                        .rotors
                        .limits()
                        .contains(found.input.as_slice(), 1e-9)
                );
            }
            assert!(saturated > 5, "{name} at {part}: {saturated}");
        }
        assert_eq!(seen[0], Attainable::Hover, "{name}");
        // Opposite rotors of a hexacopter may both give little.
        assert_eq!(seen[4] == Attainable::Hover, inputs == 1, "{name}");
    }
}

/// What no law exists for is refused before the flight goes on with it, also by a system, whose matrices depend on the state.
#[test]
fn a_system_refuses_bounds_that_leave_it_no_law() {
    let arm = |joint: &str| format!("[[motors]]\njoint = '{joint}'\neffort = [-5, 5]\n");
    let system = System::from_toml(&format!(
        "name = 'arm'\n[bodies.arm]\njoint = {{ type = 'revolute', axis = [0, 1, 0] }}\nshape = {{ sphere = {{ radius = 0.05 }} }}\nmass = 1\ncenter_of_mass = [0, 0, -1]\n{}",
        arm("arm")
    ))
    .expect("a system");
    let settings = settings(
        "allocation = 'active_set'\npairs = [{ to = 'arm', stiffness = 9, damping = 6, inertia = 1 }]",
        "",
    );
    let mut controller = settings.build_for_system(&system).expect("a controller");
    let goal = SystemReference {
        configuration: &[0.2],
        velocity: &[0.0],
        acceleration: &[0.0],
    };
    let before = controller
        .step(&[0.1], &[0.0], &goal)
        .expect("a law")
        .clone();
    let error = controller
        .set_input_bounds(&InputBounds::between(&[2.0], &[2.0]))
        .unwrap_err();
    let message = error.to_string();
    assert!(
        message.starts_with("the inputs that are not fixed: the inputs have no effect"),
        "{message}"
    );
    // As before.
    assert_eq!(controller.step(&[0.1], &[0.0], &goal), Ok(&before));
    controller
        .set_input_bounds(&InputBounds::between(&[-1.0], &[1.0]))
        .expect("a law");
    assert!(controller.step(&[0.1], &[0.0], &goal).expect("a law").input[0].abs() <= 1.0);
}

/// At the moment of a failure inputs that prefer their previous values stay where the law leaves them free, and bounds that come and go before the
/// first step leave no trace.
#[test]
fn a_change_of_bounds_forgets_nothing() {
    let vehicle = shipped("octocopter");
    let settings = settings(
        "allocation = 'active_set'\npreferred_input = 'previous'\ninput_rate_limit = 5",
        QUADCOPTER_POLES,
    );
    let mut controller = settings.build(&vehicle).expect("a controller");
    let goal = ReferencePoint::at_rest(SE3::identity());
    let level = State::at_rest(SE3::identity());
    let away = State::at_rest(SE3::exp(&nalgebra::Vector6::new(
        0.1, 0.0, 0.1, 0.0, 0.0, 0.0,
    )));
    controller.step(&away, &goal);
    let before = controller.step(&level, &goal).input.clone();
    let free = [f64::NEG_INFINITY, f64::INFINITY].map(|free| [free; 8]);
    controller
        .set_input_bounds(&InputBounds::between(&free[0], &free[1]))
        .expect("a law");
    let after = controller.step(&level, &goal).input.clone();
    assert!((&after - &before).amax() < 1e-12, "{before} {after}");
    // Without the first rotor the change is the least that makes up for it.
    let [mut lower, mut upper] = free;
    (lower[0], upper[0]) = (before[0], before[0]);
    controller
        .set_input_bounds(&InputBounds::between(&lower, &upper))
        .expect("a law");
    let after = controller.step(&level, &goal).input.clone();
    assert!((&after - &before).amax() < 1e-12, "{before} {after}");

    let mut fresh = settings.build(&vehicle).expect("a controller");
    fresh
        .set_input_bounds(&InputBounds::between(&[0.2; 8], &[3.0; 8]))
        .expect("a law");
    fresh.step(&level, &goal);
    fresh
        .set_input_bounds(&InputBounds::between(&free[0], &free[1]))
        .expect("a law");
    let before = fresh.last().input.clone();
    let far = State::at_rest(SE3::exp(&nalgebra::Vector6::new(
        0.0, 0.0, -9.0, 0.0, 0.0, 0.0,
    )));
    let after = fresh.step_after(0.01, &far, &goal).input.clone();
    assert!(
        (&after - &before).amax() <= 0.05 + 1e-12,
        "{before} {after}"
    );
}
