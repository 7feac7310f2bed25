//! The two solvers against each other, against the conditions of optimality, and where there is no answer.

use fly_control::allocation::{ActiveSet, AllocationError, Allocator, Limits, Outcome};
use nalgebra::{DMatrix, DVector};

/// Marsaglia's xorshift: the same problems on every run.
struct Random(u64);

impl Random {
    fn next(&mut self) -> f64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        (self.0 >> 11) as f64 / (1u64 << 52) as f64 - 1.0
    }

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
    let slack = limits.bounds() - limits.rows() * input;
    let complementarity = slack.component_mul(&multipliers).amax();
    let sign = (-multipliers.min()).max(0.0);
    stationarity
        .max(complementarity)
        .max(sign)
        .max(-slack.min())
}

#[test]
fn active_set_satisfies_the_conditions_of_optimality() {
    let mut random = Random(7);
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
                &solver.multipliers(),
            ));
        }
    }
    println!("worst residual {worst:.1e}, {met} active rows");
    assert!(met > 1000, "the problems must have active rows");
    assert!(worst < 1e-11, "{worst:e}");
}

#[test]
fn a_warm_start_changes_nothing() {
    let mut random = Random(11);
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
    let mut random = Random(13);
    for problem in 0..100 {
        let p = 3 + problem % 4;
        let (limits, metric) = (random.limits(p, 9), random.metric(p));
        let mut solver = ActiveSet::new(&limits, &random.metric(p)).unwrap();
        let mut input = DVector::zeros(p);
        solver.solve((random.matrix(p, 1) * 5.0).as_slice(), input.as_mut_slice());
        // Shifts all limits: the last answer and the interior point are outside for some problems.
        let shift = random.matrix(p, 1).column(0) * 2.0;
        let bounds = limits.bounds() + limits.rows() * &shift;
        solver.set_bounds(bounds.as_slice()).unwrap();
        solver.set_metric(&metric).unwrap();
        let moved = Limits::new(limits.rows().clone(), bounds, shift).unwrap();
        let desired = random.matrix(p, 1).column(0) * 4.0;
        let answer = solver.solve(desired.as_slice(), input.as_mut_slice());
        assert_eq!(answer.outcome, Outcome::Optimal);
        let residual = kkt(&moved, &metric, &desired, &input, &solver.multipliers());
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
    let mut random = Random(17);
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
    let mut input = [9.0, 9.0];
    let answer = solver.solve(&[5.0, 1.0], &mut input);
    assert_eq!(answer.outcome, Outcome::Infeasible);
    assert!(
        input[0].abs() < 1e-9 && input[1].abs() <= 2.0 + 1e-9,
        "{input:?}"
    );
    // Bounds that leave room again bring back the exact answer.
    solver.set_bounds(&[3.0, -1.0, 2.0, 2.0]).unwrap();
    let answer = solver.solve(&[5.0, 1.0], &mut input);
    assert_eq!(answer.outcome, Outcome::Optimal);
    assert!(
        (input[0] - 3.0).abs() < 1e-12 && (input[1] - 1.0).abs() < 1e-12,
        "{input:?}"
    );
}

#[test]
fn an_input_that_is_not_finite_keeps_the_last_answer() {
    let mut random = Random(19);
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
    assert!(!limits.contain(&[f64::NAN, 0.0, 0.0]));
}

#[test]
fn what_does_not_fit_is_refused_with_numbers() {
    let mut random = Random(23);
    let limits = random.limits(3, 0);
    let flat = DMatrix::from_element(3, 3, 1.0);
    assert_eq!(
        ActiveSet::new(&limits, &flat).unwrap_err(),
        AllocationError::Metric
    );
    let error = ActiveSet::new(&limits, &DMatrix::identity(4, 4)).unwrap_err();
    assert_eq!(error.to_string(), "metric: expected 3 x 3, found 4 x 4");
    let error =
        Limits::new(DMatrix::zeros(2, 3), DVector::zeros(1), DVector::zeros(3)).unwrap_err();
    assert_eq!(error.to_string(), "bounds: expected 2 numbers, found 1");
    let error = Limits::new(
        DMatrix::zeros(1, 1),
        DVector::from_vec(vec![f64::NAN]),
        DVector::zeros(1),
    )
    .unwrap_err();
    assert_eq!(
        error.to_string(),
        "bounds: expected finite numbers, found NaN"
    );
}

/// One of the recorded sequences: metric, rows, and per step linear term, lower, upper, answer, number of active rows.
struct Sequence {
    metric: DMatrix<f64>,
    rows: DMatrix<f64>,
    steps: Vec<[DVector<f64>; 4]>,
}

fn sequence(name: &str) -> Sequence {
    let path = format!("{}/testdata/bench/{name}.qp", env!("CARGO_MANIFEST_DIR"));
    let text = std::fs::read_to_string(path).unwrap();
    let mut lines = text.lines().map(|line| {
        line.split_whitespace()
            .map(|x| x.parse().unwrap())
            .collect::<Vec<f64>>()
    });
    let head: Vec<usize> = text
        .split_whitespace()
        .take(2)
        .map(|x| x.parse().unwrap())
        .collect();
    let (n, m) = (head[0], head[1]);
    lines.next();
    let metric = DMatrix::from_row_slice(n, n, &lines.next().unwrap());
    let rows = DMatrix::from_row_slice(m, n, &lines.next().unwrap());
    let vector = |slice: &[f64]| DVector::from_column_slice(slice);
    let steps = lines
        .filter(|line| !line.is_empty())
        .map(|x| {
            [
                vector(&x[..n]),
                vector(&x[n..n + m]),
                vector(&x[n + m..n + 2 * m]),
                vector(&x[n + 2 * m..2 * n + 2 * m]),
            ]
        })
        .collect();
    Sequence {
        metric,
        rows,
        steps,
    }
}

/// `1/2 u H u + f u`, `lower <= C u <= upper` whose bounds move with every step.
fn follow(name: &str, mut make: impl FnMut(&Limits, &DMatrix<f64>) -> Box<dyn Allocator>) -> f64 {
    let sequence = sequence(name);
    let (m, n) = sequence.rows.shape();
    let mut rows = DMatrix::zeros(2 * m, n);
    rows.rows_mut(0, m).copy_from(&sequence.rows);
    rows.rows_mut(m, m).copy_from(&-&sequence.rows);
    let bounds = |upper: &DVector<f64>, lower: &DVector<f64>| {
        DVector::from_iterator(2 * m, upper.iter().copied().chain(lower.iter().map(|x| -x)))
    };
    let [_, lower, upper, answer] = &sequence.steps[0];
    let limits = Limits::new(rows, bounds(upper, lower), answer.clone()).unwrap();
    let mut solver = make(&limits, &sequence.metric);
    let factor = sequence.metric.clone().cholesky().unwrap();
    let mut worst = 0.0_f64;
    for [linear, lower, upper, expected] in &sequence.steps {
        solver.set_bounds(bounds(upper, lower).as_slice()).unwrap();
        let desired = -factor.solve(linear);
        let mut input = DVector::zeros(n);
        let outcome = solver
            .solve(desired.as_slice(), input.as_mut_slice())
            .outcome;
        assert_eq!(outcome, Outcome::Optimal);
        worst = worst.max((input - expected).amax());
    }
    assert!(sequence.steps.len() >= 1000);
    println!(
        "{name}: {} steps, worst error {worst:.1e}",
        sequence.steps.len()
    );
    worst
}

#[test]
fn recorded_sequences_with_moving_bounds() {
    for name in ["quad4", "tri6", "oct8"] {
        let worst = follow(name, |limits, metric| {
            Box::new(ActiveSet::new(limits, metric).unwrap())
        });
        assert!(worst < 1e-9, "{name}: {worst:e}");
    }
}

#[cfg(feature = "osqp")]
mod with_osqp {
    use super::{ActiveSet, Allocator, DVector, Limits, Outcome, Random, follow};
    use fly_control::allocation::{Osqp, Solver};

    #[test]
    fn both_solvers_agree_on_random_problems() {
        let mut random = Random(29);
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
                assert!((limits.rows() * &b - limits.bounds()).max() < 1e-14);
            }
        }
        println!("worst difference {worst:.1e}");
        assert!(worst < 2e-6, "{worst:e}");
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
        let mut input = [9.0];
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
            let mut random = Random(31);
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
            let worst = follow(name, |limits, metric| {
                Box::new(Osqp::new(limits, metric).unwrap())
            });
            assert!(worst < 1e-5, "{name}: {worst:e}");
        }
    }
}
