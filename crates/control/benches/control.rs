//! One control step and one allocation, limits inactive and active: `cargo bench -p fly-control`.

#[path = "../tests/common/mod.rs"]
mod common;

use common::{QUADCOPTER, QUADCOPTER_POLES, Random, TRICOPTER, TRICOPTER_PAIR, controller};
use divan::{Bencher, black_box};
use fly_control::allocation::{ActiveSet, Allocator, Limits};
use fly_control::{ReferencePoint, pair_motion};
use fly_lie::SE3;
use fly_mechanics::State;
use nalgebra::{DMatrix, DVector};

fn main() {
    divan::main();
}

const VEHICLES: [(&str, &str, &str); 2] = [
    ("tricopter", TRICOPTER, TRICOPTER_PAIR),
    ("quadcopter", QUADCOPTER, QUADCOPTER_POLES),
];

/// States near a reference at rest whose inputs are (or are not) limited.
fn frames(vehicle: usize, limited: bool) -> Vec<(State<f64>, ReferencePoint)> {
    let (_, description, pair) = VEHICLES[vehicle];
    let mut controller = controller(description, "allocation = 'active_set'", pair);
    let mut random = Random(51);
    let size = if limited { 1.0 } else { 0.05 };
    let mut frames = Vec::new();
    while frames.len() < 256 {
        let state = State {
            pose: SE3::exp(&random.vector6(size)),
            twist: random.vector6(size),
        };
        let mut reference = ReferencePoint::at_rest(SE3::identity());
        reference.twist = random.vector6(size);
        reference.acceleration = random.vector6(size);
        if controller.step(&state, &reference).saturated() == limited {
            frames.push((state, reference));
        }
    }
    frames
}

fn step(bencher: Bencher, vehicle: usize, keys: &str, limited: bool) {
    let frames = frames(vehicle, limited);
    let (_, description, pair) = VEHICLES[vehicle];
    let mut controller = controller(description, keys, pair);
    let mut next = 0;
    bencher.bench_local(|| {
        next = (next + 1) % frames.len();
        let (state, reference) = &frames[next];
        black_box(
            controller
                .step(black_box(state), black_box(reference))
                .input[0],
        )
    });
}

mod step {
    use super::{Bencher, step};

    #[divan::bench(args = ["particle", "body", "energy"])]
    fn tricopter_free(bencher: Bencher, approach: &str) {
        step(
            bencher,
            0,
            &format!("approach = '{approach}'\nallocation = 'active_set'"),
            false,
        );
    }

    #[divan::bench(args = ["particle", "body", "energy"])]
    fn quadcopter_free(bencher: Bencher, approach: &str) {
        step(
            bencher,
            1,
            &format!("approach = '{approach}'\nallocation = 'active_set'"),
            false,
        );
    }

    // The frames differ much in cost: each of the 256 is met eight times.
    #[divan::bench(args = ["active_set", "osqp"], sample_count = 2048, sample_size = 1)]
    fn tricopter_limited(bencher: Bencher, allocation: &str) {
        step(bencher, 0, &format!("allocation = '{allocation}'"), true);
    }

    // The frames differ much in cost: each of the 256 is met eight times.
    #[divan::bench(args = ["active_set", "osqp"], sample_count = 2048, sample_size = 1)]
    fn quadcopter_limited(bencher: Bencher, allocation: &str) {
        step(bencher, 1, &format!("allocation = '{allocation}'"), true);
    }
}

#[divan::bench(args = ["particle", "body", "energy"])]
fn template(bencher: Bencher, approach: &str) {
    let frames = frames(0, false);
    let controller = controller(
        TRICOPTER,
        &format!("approach = '{approach}'"),
        TRICOPTER_PAIR,
    );
    let (motion, desired) = pair_motion(&frames[0].0, &frames[0].1);
    bencher.bench_local(|| {
        controller
            .template()
            .evaluate(black_box(&motion), black_box(&desired))
    });
}

/// The recorded sequences of `testdata/bench`: bounds that move with every step.
#[divan::bench(args = ["quad4", "tri6", "oct8"])]
fn allocation_sequence(bencher: Bencher, name: &str) {
    let path = format!("{}/testdata/bench/{name}.qp", env!("CARGO_MANIFEST_DIR"));
    let text = std::fs::read_to_string(path).expect("the recorded sequence");
    let size: Vec<usize> = text
        .split_whitespace()
        .take(2)
        .map(|x| x.parse().expect("a size"))
        .collect();
    let (n, m) = (size[0], size[1]);
    let mut lines = text.lines().skip(1).map(|line| {
        line.split_whitespace()
            .map(|x| x.parse().expect("a number"))
            .collect::<Vec<f64>>()
    });
    let metric = DMatrix::from_row_slice(n, n, &lines.next().expect("H"));
    let upper = DMatrix::from_row_slice(m, n, &lines.next().expect("C"));
    let mut rows = DMatrix::zeros(2 * m, n);
    rows.rows_mut(0, m).copy_from(&upper);
    rows.rows_mut(m, m).copy_from(&-upper);
    let factor = metric.clone().cholesky().expect("positive definite");
    let steps: Vec<(DVector<f64>, Vec<f64>)> = lines
        .filter(|x| !x.is_empty())
        .map(|x| {
            let linear = DVector::from_column_slice(&x[..n]);
            let bounds = x[n + m..n + 2 * m]
                .iter()
                .copied()
                .chain(x[n..n + m].iter().map(|l| -l));
            (-factor.solve(&linear), bounds.collect())
        })
        .collect();
    let limits = Limits::new(
        rows,
        DVector::from_vec(steps[0].1.clone()),
        DVector::zeros(n),
    )
    .expect("limits");
    let mut solver = ActiveSet::new(&limits, &metric).expect("a solver");
    let mut input = vec![0.0; n];
    let mut next = 0;
    bencher.bench_local(|| {
        next = (next + 1) % steps.len();
        let (desired, bounds) = &steps[next];
        solver.set_bounds(bounds).expect("bounds");
        black_box(solver.solve(desired.as_slice(), &mut input))
    });
}
