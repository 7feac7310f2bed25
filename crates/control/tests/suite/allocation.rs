//! The two solvers against each other, against the conditions of optimality, and where there is no answer.

use crate::common;

use common::{Random, Sequence};
use fly_control::ReferencePoint;
use fly_control::allocation::{
    ActiveSet, AllocationError, Allocator, InputBounds, Limited, Limits, Outcome,
};
use fly_lie::{SE3, SO3};
use fly_mechanics::State;
use nalgebra::{Const, DMatrix, DVector, SMatrix, SVector};

impl Random {
    fn matrix(&mut self, rows: usize, columns: usize) -> DMatrix<f64> {
        DMatrix::from_fn(rows, columns, |_, _| self.next())
    }

    fn metric(&mut self, p: usize) -> DMatrix<f64> {
        let a = self.matrix(p, p);
        &a * a.transpose() + DMatrix::identity(p, p) * 0.05
    }

    /// Boxed, with further rows through random planes; the origin is inside.
    fn limits(&mut self, p: usize, more: usize) -> Limits {
        let mut rows = DMatrix::zeros(2 * p + more, p);
        for i in 0..p {
            rows[(i, i)] = 1.0;
            rows[(p + i, i)] = -1.0;
        }
        rows.rows_mut(2 * p, more).copy_from(&self.matrix(more, p));
        let bounds = DVector::from_fn(2 * p + more, |_, _| 1.1 + self.next());
        Limits::new(rows, bounds, DVector::zeros(p)).unwrap()
    }
}

/// Largest violation of the conditions of optimality: stationarity, signs, complementarity and the rows themselves.
fn kkt(
    limits: &Limits,
    metric: &DMatrix<f64>,
    desired: &DVector<f64>,
    input: &DVector<f64>,
    multipliers: &[f64],
) -> f64 {
    let multipliers = DVector::from_column_slice(multipliers);
    let stationarity =
        (metric * (input - desired) + limits.rows().transpose() * &multipliers).amax();
    let slack = DVector::from_column_slice(limits.upper()) - limits.rows() * input;
    let complementarity = slack.component_mul(&multipliers).amax();
    let sign = (-multipliers.min()).max(0.0);
    stationarity
        .max(complementarity)
        .max(sign)
        .max(-slack.min())
}

#[test]
fn active_set_satisfies_the_conditions_of_optimality() {
    let mut random = Random::new(7);
    let (mut worst, mut met) = (0.0_f64, 0);
    for problem in 0..300 {
        let p = 2 + problem % 7;
        let limits = random.limits(p, problem % 20);
        let metric = random.metric(p);
        let mut solver = ActiveSet::new(&limits, &metric).unwrap();
        let mut input = DVector::zeros(p);
        // Several calls each: the later ones start warm.
        for _ in 0..5 {
            let desired = random.matrix(p, 1).column(0) * 4.0;
            let answer = solver.solve(desired.as_slice(), input.as_mut_slice());
            assert_eq!(answer.outcome, Outcome::Optimal);
            assert_eq!(answer.active, solver.active_rows().len());
            met += answer.active;
            worst = worst.max(kkt(
                &limits,
                &metric,
                &desired,
                &input,
                solver.multipliers().as_slice(),
            ));
        }
    }
    println!("worst residual {worst:.1e}, {met} active rows");
    assert!(met > 1000, "the problems must have active rows");
    assert!(worst < 1e-11, "{worst:e}");
}

#[test]
fn a_warm_start_changes_nothing() {
    let mut random = Random::new(11);
    for problem in 0..100 {
        let p = 3 + problem % 5;
        let (limits, metric) = (random.limits(p, 12), random.metric(p));
        let mut warm = ActiveSet::new(&limits, &metric).unwrap();
        let (mut a, mut b) = (vec![0.0; p], vec![0.0; p]);
        for _ in 0..10 {
            let desired = random.matrix(p, 1) * 3.0;
            warm.solve(desired.as_slice(), &mut a);
            ActiveSet::new(&limits, &metric)
                .unwrap()
                .solve(desired.as_slice(), &mut b);
            for (a, b) in a.iter().zip(&b) {
                assert!((a - b).abs() < 1e-12, "{a} {b}");
            }
        }
    }
}

#[test]
fn a_changed_metric_or_bound_is_taken_over() {
    let mut random = Random::new(13);
    for problem in 0..100 {
        let p = 3 + problem % 4;
        let (limits, metric) = (random.limits(p, 9), random.metric(p));
        let mut solver = ActiveSet::new(&limits, &random.metric(p)).unwrap();
        let mut input = DVector::zeros(p);
        solver.solve((random.matrix(p, 1) * 5.0).as_slice(), input.as_mut_slice());
        // Shifts all limits: the last answer and the interior point are outside for some problems.
        let shift = random.matrix(p, 1).column(0) * 2.0;
        let bounds = DVector::from_column_slice(limits.upper()) + limits.rows() * &shift;
        solver
            .set_bounds(limits.lower(), bounds.as_slice())
            .unwrap();
        solver.set_metric(&metric).unwrap();
        let moved = Limits::new(limits.rows().clone(), bounds, shift).unwrap();
        let desired = random.matrix(p, 1).column(0) * 4.0;
        let answer = solver.solve(desired.as_slice(), input.as_mut_slice());
        assert_eq!(answer.outcome, Outcome::Optimal);
        let residual = kkt(
            &moved,
            &metric,
            &desired,
            &input,
            solver.multipliers().as_slice(),
        );
        assert!(residual < 1e-11, "{residual:e}");
    }
}

#[test]
fn a_corner_where_many_rows_meet_does_not_cycle() {
    // A pyramid with 40 faces through one point: any target above ends there.
    let faces = 40;
    let rows = DMatrix::from_fn(faces, 3, |i, j| {
        let angle = i as f64 * std::f64::consts::TAU / faces as f64;
        [angle.cos(), angle.sin(), 1.0][j]
    });
    let limits = Limits::new(rows, DVector::from_element(faces, 1.0), DVector::zeros(3)).unwrap();
    let metric = DMatrix::identity(3, 3);
    let mut random = Random::new(17);
    let mut solver = ActiveSet::new(&limits, &metric).unwrap();
    for _ in 0..200 {
        let desired = DVector::from_vec(vec![random.next() * 0.5, random.next() * 0.5, 3.0]);
        let mut input = DVector::zeros(3);
        let answer = solver.solve(desired.as_slice(), input.as_mut_slice());
        assert_eq!(answer.outcome, Outcome::Optimal);
        assert!((input - DVector::from_vec(vec![0.0, 0.0, 1.0])).amax() < 1e-12);
    }
}

#[test]
fn limits_without_a_point_give_the_least_violation() {
    // u <= -1 and u >= 1 along the first axis: the middle violates both by 1, and anything else one of them by more.
    let rows = DMatrix::from_row_slice(4, 2, &[1.0, 0.0, -1.0, 0.0, 0.0, 1.0, 0.0, -1.0]);
    let bounds = DVector::from_vec(vec![-1.0, -1.0, 2.0, 2.0]);
    let limits = Limits::new(rows, bounds, DVector::from_vec(vec![0.7, 0.0])).unwrap();
    let metric = DMatrix::from_row_slice(2, 2, &[2.0, 0.0, 0.0, 3.0]);
    let mut solver = ActiveSet::new(&limits, &metric).unwrap();
    let mut input = [9.0_f64, 9.0];
    let answer = solver.solve(&[5.0, 1.0], &mut input);
    assert_eq!(answer.outcome, Outcome::Infeasible);
    assert!(
        input[0].abs() < 1e-9 && input[1].abs() <= 2.0 + 1e-9,
        "{input:?}"
    );
    // Bounds that leave room again bring back the exact answer.
    solver
        .set_bounds(&[f64::NEG_INFINITY; 4], &[3.0, -1.0, 2.0, 2.0])
        .unwrap();
    let answer = solver.solve(&[5.0, 1.0], &mut input);
    assert_eq!(answer.outcome, Outcome::Optimal);
    assert!(
        (input[0] - 3.0).abs() < 1e-12 && (input[1] - 1.0).abs() < 1e-12,
        "{input:?}"
    );
}

#[test]
fn an_input_that_is_not_finite_keeps_the_last_answer() {
    let mut random = Random::new(19);
    let (limits, metric) = (random.limits(3, 2), random.metric(3));
    let mut solver = ActiveSet::new(&limits, &metric).unwrap();
    let (mut before, mut after) = ([0.0; 3], [0.0; 3]);
    solver.solve(&[3.0, -2.0, 1.0], &mut before);
    let answer = solver.solve(&[f64::NAN, 0.0, 0.0], &mut after);
    assert_eq!(answer.outcome, Outcome::NotFinite);
    assert!(
        before
            .iter()
            .zip(&after)
            .all(|(a, b)| (a - b).abs() < 1e-15)
    );
    assert!(!limits.contains(&[f64::NAN, 0.0, 0.0]));
}

#[test]
fn what_does_not_fit_is_refused_with_numbers() {
    let mut random = Random::new(23);
    let limits = random.limits(3, 0);
    let flat = DMatrix::from_element(3, 3, 1.0);
    assert_eq!(
        ActiveSet::new(&limits, &flat).unwrap_err(),
        AllocationError::Metric
    );
    let error = ActiveSet::new(&limits, &DMatrix::identity(4, 4)).unwrap_err();
    assert_eq!(error.to_string(), "metric: expected 3 x 3, found 4 x 4");
    let error = Limits::new(
        DMatrix::<f64>::zeros(2, 3),
        DVector::zeros(1),
        DVector::zeros(3),
    )
    .unwrap_err();
    assert_eq!(
        error.to_string(),
        "lower bounds: expected 2 numbers, found 1"
    );
    let error = Limits::new(
        DMatrix::zeros(1, 1),
        DVector::from_vec(vec![f64::NAN]),
        DVector::zeros(1),
    )
    .unwrap_err();
    assert_eq!(
        error.to_string(),
        "upper bounds: expected finite numbers, found NaN"
    );
    let make = |_: &Limits| -> Result<Box<dyn Allocator>, _> { Err(AllocationError::Metric) };
    let error = Limited::<Box<dyn Allocator>>::with_rates(&limits, Some(vec![1.0; 2]), make).err();
    let message = error.map(|error| error.to_string());
    assert_eq!(
        message.as_deref(),
        Some("input rates: expected 3 numbers, found 2")
    );
    let bounds = InputBounds::between(&[0.0; 3], &[1.0; 3]);
    let rates = Some(vec![1.0; 4]);
    let error = Limited::<Box<dyn Allocator>>::with_bounds(&limits, rates, &bounds, make).err();
    let message = error.map(|error| error.to_string());
    assert_eq!(
        message.as_deref(),
        Some("input rates: expected 3 numbers, found 4")
    );
    for wrong in [-1.0, f64::NAN] {
        let rates = Some(vec![1.0, wrong, 1.0]);
        let error = Limited::<Box<dyn Allocator>>::with_rates(&limits, rates, make).err();
        let message = error.map(|error| error.to_string());
        let expected =
            format!("rate limit of input 1: expected a number of at least 0, found {wrong}");
        assert_eq!(message, Some(expected));
    }
}

/// An input of rate 0 stays, one of infinite rate is free, at once and after any time.
#[test]
fn rates_of_nothing_and_of_anything() {
    let limits = Limits::new(
        DMatrix::from_row_slice(1, 3, &[1.0, 1.0, 1.0]),
        DVector::from_vec(vec![100.0]),
        DVector::zeros(3),
    )
    .expect("limits");
    let metric = DMatrix::identity(3, 3);
    let rates = Some(vec![0.0, f64::INFINITY, 5.0]);
    let mut limited = Limited::<Box<dyn Allocator>>::with_rates(&limits, rates, |limits| {
        Ok(Box::new(ActiveSet::new(limits, &metric)?))
    })
    .expect("rates");
    let mut input = [0.0; 3];
    // The first one is not limited.
    limited.allocate(&[1.0, 2.0, 3.0], 0.0, &mut input);
    assert_eq!(input, [1.0, 2.0, 3.0]);
    for (elapsed, third) in [(0.0, 3.0), (0.1, 3.5), (f64::INFINITY, 9.0)] {
        limited.allocate(&[8.0, -7.0, 9.0], elapsed, &mut input);
        // Of infinite time and no rate nothing is known: no limit.
        let first = if elapsed.is_finite() { 1.0 } else { 8.0 };
        assert!((input[0] - first).abs() < 1e-12, "{elapsed} {input:?}");
        assert!((input[1] + 7.0).abs() < 1e-12 && (input[2] - third).abs() < 1e-12);
    }
}

/// Largest violation of the conditions of optimality between two-sided bounds, relative to the sizes at hand.
fn two_sided_kkt(
    solver: &ActiveSet,
    limits: &Limits,
    metric: &DMatrix<f64>,
    desired: &DVector<f64>,
    input: &DVector<f64>,
) -> f64 {
    let multipliers = solver.multipliers();
    let pull = metric * (input - desired);
    let stationarity = (&pull + limits.rows().transpose() * &multipliers).amax();
    let values = limits.rows() * input;
    let mut worst = limits.violation(input.as_slice()).max(0.0);
    for (i, multiplier) in multipliers.iter().enumerate() {
        let bound = match *multiplier {
            m if m > 0.0 => limits.upper()[i],
            m if m < 0.0 => limits.lower()[i],
            _ => continue,
        };
        // Away from its bound a multiplier can only be rounding.
        let rounding = multiplier.abs() / (1.0 + pull.amax());
        worst = worst.max((values[i] - bound).abs().min(rounding));
    }
    worst.max(stationarity / (1.0 + pull.amax())) / (1.0 + desired.amax())
}

#[test]
fn redundant_parallel_and_equal_rows_between_moving_bounds() {
    let mut random = Random::new(37);
    let (mut worst, mut most) = (0.0_f64, 0);
    for problem in 0..400 {
        let p = 1 + problem % 8;
        // Boxed inputs; rows that repeat others, scaled, negated, doubled by rounding; sums; a row of zeros.
        let mut rows = DMatrix::zeros(3 * p + 2, p);
        for i in 0..p {
            rows[(i, i)] = 1.0;
            rows[(p + i, i)] = [2.0, -1.0, 1.0 + 1e-15, 1e-3][(problem + i) % 4];
            rows[(2 * p + i, i)] = 1.0;
            rows[(2 * p + i, (i + 1) % p)] = if problem % 2 == 0 { 1.0 } else { random.next() };
            rows[(3 * p, i)] = random.next();
        }
        let metric = if problem % 3 == 0 {
            DMatrix::identity(p, p)
        } else {
            random.metric(p)
        };
        let bounds = |random: &mut Random| {
            // Around a point of a lattice, so that bounds of different rows meet exactly; some leave nothing between them.
            let inside = DVector::from_fn(p, |_, _| (random.next() * 4.0).round() * 0.25);
            let middle = &rows * &inside;
            let mut gap = || match random.next() {
                x if x < -0.5 => 0.0,
                x if x < -0.25 => f64::INFINITY,
                _ => 0.25,
            };
            let lower = middle.map(|x| x - gap());
            let upper = middle.map(|x| x + gap());
            (lower, upper, inside)
        };
        let (lower, upper, inside) = bounds(&mut random);
        let limits = Limits::between(rows.clone(), &lower, &upper, inside).unwrap();
        let mut solver = ActiveSet::new(&limits, &metric).unwrap();
        for _ in 0..20 {
            let (lower, upper, inside) = bounds(&mut random);
            solver
                .set_bounds(lower.as_slice(), upper.as_slice())
                .unwrap();
            let limits = Limits::between(rows.clone(), &lower, &upper, inside).unwrap();
            let desired = DVector::from_fn(p, |_, _| (random.next() * 8.0).round() * 0.25);
            let mut input = DVector::zeros(p);
            let answer = solver.solve(desired.as_slice(), input.as_mut_slice());
            assert_eq!(answer.outcome, Outcome::Optimal, "problem {problem}");
            most = most.max(answer.iterations);
            worst = worst.max(two_sided_kkt(&solver, &limits, &metric, &desired, &input));
        }
    }
    println!("worst residual {worst:.1e}, at most {most} subproblems");
    assert!(worst < 1e-11, "{worst:e}");
    assert!(most < 60, "{most}");
}

#[test]
fn a_hundred_thousand_warm_steps_drift_nowhere() {
    let mut random = Random::new(41);
    let (limits, metric) = (random.limits(6, 21), random.metric(6));
    let mut warm = ActiveSet::new(&limits, &metric).unwrap();
    let mut desired = DVector::zeros(6);
    let (mut a, mut b) = ([0.0; 6], [0.0; 6]);
    let mut worst = 0.0_f64;
    for step in 0..100_000 {
        desired += random.matrix(6, 1).column(0) * 0.5 - &desired * 0.02;
        warm.solve(desired.as_slice(), &mut a);
        if step % 100 == 99 {
            ActiveSet::new(&limits, &metric)
                .unwrap()
                .solve(desired.as_slice(), &mut b);
            worst = a
                .iter()
                .zip(b)
                .map(|(a, b)| (a - b).abs())
                .fold(worst, f64::max);
        }
    }
    assert!(worst < 1e-13, "{worst:e}");
}

/// The least violation of rows in the plane, by trying every three bounds that could be exceeded equally.
fn least_violation(bounds: &[([f64; 2], f64)]) -> f64 {
    let mut least = f64::INFINITY;
    for (i, a) in bounds.iter().enumerate() {
        for (j, b) in bounds[..i].iter().enumerate() {
            for c in &bounds[..j] {
                let rows = [a, b, c];
                let matrix = nalgebra::Matrix3::from_fn(|i, j| {
                    if j < 2 {
                        rows[i].0[j]
                    } else {
                        -rows[i].0[0].hypot(rows[i].0[1])
                    }
                });
                let Some(inverse) = matrix.try_inverse() else {
                    continue;
                };
                let x = inverse * nalgebra::Vector3::new(a.1, b.1, c.1);
                let violation = excess(bounds, [x[0], x[1]]);
                if violation >= 0.0 {
                    least = least.min(violation);
                }
            }
        }
    }
    least
}

fn excess(bounds: &[([f64; 2], f64)], u: [f64; 2]) -> f64 {
    bounds
        .iter()
        .map(|(w, l)| (w[0] * u[0] + w[1] * u[1] - l) / w[0].hypot(w[1]))
        .fold(f64::NEG_INFINITY, f64::max)
}

#[test]
fn where_nothing_is_inside_the_largest_violation_is_least() {
    let mut random = Random::new(43);
    let mut met = 0;
    for _ in 0..300 {
        let bounds: Vec<([f64; 2], f64)> = (0..7)
            .map(|_| ([random.next() * 3.0, random.next()], random.next() - 0.4))
            .collect();
        let rows = DMatrix::from_fn(7, 2, |i, j| bounds[i].0[j]);
        let upper = DVector::from_fn(7, |i, _| bounds[i].1);
        let limits = Limits::new(rows, upper, DVector::zeros(2)).unwrap();
        let metric = random.metric(2);
        let mut solver = ActiveSet::new(&limits, &metric).unwrap();
        let mut input = [0.0; 2];
        let desired = [random.next() * 5.0, random.next() * 5.0];
        let answer = solver.solve(&desired, &mut input);
        if answer.outcome != Outcome::Infeasible {
            assert!(limits.contains(&input) || limits.violation(&input) < 1e-14);
            continue;
        }
        met += 1;
        let (least, found) = (least_violation(&bounds), limits.violation(&input));
        assert!(
            (found - least).abs() < 1e-9 * (1.0 + least),
            "{found} {least}"
        );
        // No other input with so small a limit violation is closer to the demand.
        let distance = |u: [f64; 2]| {
            let off = DVector::from_vec(vec![u[0] - desired[0], u[1] - desired[1]]);
            off.dot(&(&metric * &off)).sqrt()
        };
        for _ in 0..200 {
            let near = [
                input[0] + random.next() * 0.1,
                input[1] + random.next() * 0.1,
            ];
            assert!(
                excess(&bounds, near) > found - 1e-9 || distance(near) > distance(input) - 1e-6
            );
        }
    }
    assert!(met > 50, "{met}");
}

#[test]
fn a_target_far_away_is_met_within_the_limits() {
    let mut random = Random::new(47);
    for problem in 0..200 {
        let p = 2 + problem % 6;
        let (limits, metric) = (random.limits(p, 3 + problem % 20), random.metric(p));
        let mut solver = ActiveSet::new(&limits, &metric).unwrap();
        for power in [0, 3, 6, 9, 11, 13, 16, 20, 30, 60, 100] {
            let direction = random.matrix(p, 1).column(0).normalize();
            let desired = &direction * 10.0_f64.powi(power);
            let mut input = DVector::zeros(p);
            let answer = solver.solve(desired.as_slice(), input.as_mut_slice());
            assert!(
                limits.violation(input.as_slice()) < 1e-12,
                "{problem}, 1e{power}: {} {answer:?}",
                limits.violation(input.as_slice())
            );
            if power < 150 {
                assert_eq!(answer.outcome, Outcome::Optimal, "1e{power}");
            }
            // As far along as any other point of the limits, to rounding.
            let pull = &metric * &direction;
            if power >= 16 {
                let mut far = DVector::zeros(p);
                ActiveSet::new(&limits, &metric)
                    .unwrap()
                    .solve((&direction * 1e4).as_slice(), far.as_mut_slice());
                assert!(
                    pull.dot(&input) > pull.dot(&far) - 1e-9,
                    "1e{power} {} {}",
                    pull.dot(&input),
                    pull.dot(&far)
                );
            }
        }
    }
}

#[test]
fn a_search_that_fails_is_reported() {
    // The two rows contradict each other by more than any number says.
    let rows = DMatrix::from_row_slice(2, 1, &[1.0, -1.0]);
    let bounds = DVector::from_vec(vec![-1.5e308, -1.5e308]);
    let limits = Limits::new(rows, bounds, DVector::from_vec(vec![0.5])).unwrap();
    let mut solver = ActiveSet::new(&limits, &DMatrix::identity(1, 1)).unwrap();
    let mut input = [9.0_f64];
    let answer = solver.solve(&[3.0], &mut input);
    println!("{answer:?} {input:?}");
    assert_eq!(answer.outcome, Outcome::NotConverged);
    assert!(input[0].is_finite());
}

/// A tricopter that is wanted 1e11 m away gets an input inside its limits.
#[test]
fn a_reference_far_away_asks_for_an_input_within_the_limits() {
    let solvers: &[_] = if cfg!(feature = "osqp") {
        &["active_set", "osqp"]
    } else {
        &["active_set"]
    };
    for solver in solvers {
        let keys = format!("allocation = '{solver}'");
        let mut controller = common::controller(common::TRICOPTER, &keys, common::TRICOPTER_PAIR);
        let limits = common::vehicle(common::TRICOPTER);
        let limits = limits.rotors.limits();
        for power in [1, 6, 9, 11, 15, 30] {
            let away = nalgebra::Vector6::new(-0.3, 1.0, 0.2, 0.0, 0.0, 0.0) * 10.0_f64.powi(power);
            let goal = ReferencePoint::at_rest(SE3::new(
                SO3::identity(),
                away.fixed_rows::<3>(0).into_owned(),
            ));
            let step = controller.step(&State::at_rest(SE3::identity()), &goal);
            let violation = limits.violation(step.input.as_slice());
            assert!(violation < 1e-9, "{solver}, 1e{power} m: {violation:e}");
            assert!(step.saturated(), "{solver}, 1e{power} m");
        }
    }
}

/// The recorded flight of a quadcopter in single precision, with sizes fixed at compile time.
#[test]
fn single_precision_and_constant_sizes_agree_to_seven_digits() {
    type Single = ActiveSet<f32, Const<4>, Const<4>>;
    let sequence = Sequence::read("quad4");
    #[allow(clippy::cast_possible_truncation)] // single precision is meant
    let narrow = |x: f64| x as f32;
    let metric = SMatrix::<f32, 4, 4>::from_fn(|i, j| narrow(sequence.metric[(i, j)]));
    let rows = SMatrix::<f32, 4, 4>::from_fn(|i, j| narrow(sequence.rows[(i, j)]));
    let vector = |x: &[f64]| SVector::<f32, 4>::from_fn(|i, _| narrow(x[i]));
    let first = &sequence.steps[0];
    let limits = Limits::between(
        rows,
        &vector(&first.lower),
        &vector(&first.upper),
        vector(first.answer.as_slice()),
    );
    let mut solver = Single::new(&limits.unwrap(), &metric).unwrap();
    let mut worst = 0.0_f64;
    for step in &sequence.steps {
        let bounds = [&step.lower, &step.upper].map(|bound| vector(bound));
        solver
            .set_bounds(bounds[0].as_slice(), bounds[1].as_slice())
            .unwrap();
        let mut input = [0.0; 4];
        let answer = solver.solve(vector(step.desired.as_slice()).as_slice(), &mut input);
        assert_eq!(answer.outcome, Outcome::Optimal);
        for (found, expected) in input.iter().zip(&step.answer) {
            worst = worst.max((f64::from(*found) - expected).abs() / step.desired.amax().max(1.0));
        }
    }
    println!("worst error in single precision {worst:.1e}");
    assert!(worst < 1e-4, "{worst:e}");
}

/// Follows a recorded sequence; the worst error as a part of the range of the inputs, and absolute.
fn follow(
    name: &str,
    mut make: impl FnMut(&Limits, &DMatrix<f64>) -> Box<dyn Allocator>,
) -> (f64, f64) {
    let sequence = Sequence::read(name);
    let mut solver = make(&sequence.limits(), &sequence.metric);
    let mut input = DVector::zeros(sequence.metric.nrows());
    let mut worst = 0.0_f64;
    let (mut least, mut most) = (f64::INFINITY, f64::NEG_INFINITY);
    for step in &sequence.steps {
        solver.set_bounds(&step.lower, &step.upper).unwrap();
        let answer = solver.solve(step.desired.as_slice(), input.as_mut_slice());
        assert_eq!(answer.outcome, Outcome::Optimal);
        worst = worst.max((&input - &step.answer).amax());
        (least, most) = (least.min(step.answer.min()), most.max(step.answer.max()));
    }
    assert_eq!(sequence.steps.len(), 1000);
    let part = worst / (most - least);
    println!("{name}: worst error {worst:.1e}, {part:.1e} of the range");
    (part, worst)
}

#[test]
fn recorded_sequences_with_moving_bounds() {
    for name in ["quad4", "tri6", "oct8"] {
        let (_, worst) = follow(name, |limits, metric| {
            Box::new(ActiveSet::new(limits, metric).unwrap())
        });
        assert!(worst < 1e-11, "{name}: {worst:e}");
    }
}

#[cfg(feature = "osqp")]
mod with_osqp {
    use super::{ActiveSet, Allocator, DVector, Limits, Outcome, Random, follow};
    use fly_control::allocation::{Osqp, Solver};

    #[test]
    fn both_solvers_agree_on_random_problems() {
        let mut random = Random::new(29);
        let mut worst = 0.0_f64;
        for problem in 0..300 {
            let p = 2 + problem % 7;
            let (limits, metric) = (random.limits(p, problem % 20), random.metric(p));
            let mut exact = ActiveSet::new(&limits, &metric).unwrap();
            let mut splitting = Osqp::new(&limits, &metric).unwrap();
            for _ in 0..3 {
                let desired = random.matrix(p, 1).column(0) * 4.0;
                let (mut a, mut b) = (DVector::zeros(p), DVector::zeros(p));
                exact.solve(desired.as_slice(), a.as_mut_slice());
                let answer = splitting.solve(desired.as_slice(), b.as_mut_slice());
                assert_eq!(answer.outcome, Outcome::Optimal);
                assert!(answer.solver == Solver::Osqp || splitting.fallbacks() > 0);
                worst = worst.max((a - &b).amax());
                assert!(limits.violation(b.as_slice()) < 1e-14);
            }
        }
        println!("worst difference {worst:.1e}");
        assert!(worst < 2e-6, "{worst:e}");
    }

    /// Finite inputs that overflow on the way, and what follows them.
    #[test]
    fn an_overflow_does_not_outlast_its_call() {
        let mut random = Random::new(37);
        let (limits, metric) = (random.limits(4, 10), random.metric(4) * 1e3);
        let mut exact = ActiveSet::new(&limits, &metric).unwrap();
        let mut splitting = Osqp::new(&limits, &metric).unwrap();
        for far in [1e150, 1e250, 1e300, 1e306, 1e308] {
            for desired in [[far, -far, far, far], [7.0, -0.2, 0.3, 1.0]] {
                let (mut a, mut b) = ([0.0; 4], [0.0; 4]);
                exact.solve(&desired, &mut a);
                splitting.solve(&desired, &mut b);
                assert!(b.iter().all(|u| u.is_finite()), "{far}: {b:?}");
                if desired[0] == 7.0 {
                    let away = a
                        .iter()
                        .zip(b)
                        .fold(0.0, |most: f64, (a, b)| most.max((a - b).abs()));
                    assert!(away < 1e-5, "{far}: {a:?} {b:?}");
                }
            }
        }
    }

    /// The unit of the metric says nothing of the optimum.
    #[test]
    fn a_small_metric_has_the_same_optimum() {
        let mut random = Random::new(41);
        for power in [-40, -12, -6, 6, 12] {
            let (limits, metric) = (random.limits(4, 8), random.metric(4));
            let scaled = &metric * 10_f64.powi(power);
            let mut exact = ActiveSet::new(&limits, &metric).unwrap();
            let mut splitting = Osqp::new(&limits, &scaled).unwrap();
            splitting.set_metric(&scaled).unwrap();
            for _ in 0..20 {
                let desired = random.matrix(4, 1) * 4.0;
                let (mut a, mut b) = (DVector::zeros(4), DVector::zeros(4));
                exact.solve(desired.as_slice(), a.as_mut_slice());
                splitting.solve(desired.as_slice(), b.as_mut_slice());
                assert!((&a - &b).amax() < 2e-6, "{power}: {a} {b}");
            }
        }
    }

    #[test]
    fn infeasible_limits_fall_back_and_are_counted() {
        let limits = Limits::new(
            nalgebra::DMatrix::from_row_slice(2, 1, &[1.0, -1.0]),
            DVector::from_vec(vec![-1.0, -1.0]),
            DVector::zeros(1),
        )
        .unwrap();
        let mut solver = Osqp::new(&limits, &nalgebra::DMatrix::identity(1, 1)).unwrap();
        let mut input = [9.0_f64];
        let answer = solver.solve(&[5.0], &mut input);
        assert_eq!(
            (answer.solver, answer.outcome, solver.fallbacks()),
            (Solver::ActiveSet, Outcome::Infeasible, 1)
        );
        assert!(input[0].abs() < 1e-9);
    }

    #[test]
    fn the_same_calls_give_the_same_bits() {
        let run = || {
            let mut random = Random::new(31);
            let (limits, metric) = (random.limits(6, 21), random.metric(6));
            let mut solver = Osqp::new(&limits, &metric).unwrap();
            let mut bits = Vec::new();
            for _ in 0..200 {
                let mut input = [0.0; 6];
                solver.solve((random.matrix(6, 1) * 4.0).as_slice(), &mut input);
                bits.extend(input.map(f64::to_bits));
            }
            bits
        };
        assert_eq!(run(), run());
    }

    #[test]
    fn recorded_sequences_with_moving_bounds() {
        for name in ["quad4", "tri6", "oct8"] {
            let (part, _) = follow(name, |limits, metric| {
                Box::new(Osqp::new(limits, metric).unwrap())
            });
            assert!(part < 1e-6, "{name}: {part:e}");
        }
    }
}
