//! Poses of points against many other poses, and their chirality against signed volumes.

use fly_lie::{Chirality, PoseFit, PoseFitError, SE3};
use nalgebra::{Matrix3, Vector3, Vector6};

type Point = (f64, Vector3<f64>, Vector3<f64>);

fn wave(i: usize, k: usize) -> f64 {
    (1.7 * i as f64 + 2.3 * k as f64 + 0.9 * (i * k) as f64 + 0.2).sin()
}

fn pose(seed: usize) -> SE3<f64> {
    SE3::exp(&Vector6::from_fn(|k, _| 2.0 * wave(seed, k)))
}

/// Points of a body at a pose, with errors of this size.
fn points(seed: usize, count: usize, noise: f64) -> Vec<Point> {
    let vector = |i, k| Vector3::from_fn(|j, _| wave(31 * seed + i, 5 * j + k));
    (0..count)
        .map(|i| {
            let h = vector(i, 0) * 1.5;
            let seen = pose(seed).act(&h) + vector(i, 1) * noise;
            (0.7 + 0.5 * wave(seed + i, 9), h, seen)
        })
        .collect()
}

fn loss(points: &[Point], pose: &SE3<f64>) -> f64 {
    let misses = points
        .iter()
        .map(|(w, h, p)| 0.5 * w * (pose.act(h) - p).norm_squared());
    misses.sum()
}

#[test]
fn the_pose_that_fits_best() {
    for seed in 0..40 {
        let exact = points(seed, 3 + seed % 5, 0.0);
        let fit = PoseFit::solve(exact.iter().copied()).expect("a pose");
        assert!(
            (fit.pose.matrix() - pose(seed).matrix()).amax() < 1e-12,
            "{seed}"
        );
        assert!(fit.loss < 1e-26 && fit.root_mean_square() < 1e-13);

        let seen = points(seed, 3 + seed % 5, 0.3);
        let fit = PoseFit::solve(seen.iter().copied()).expect("a pose");
        assert!((fit.loss - loss(&seen, &fit.pose)).abs() < 1e-13);
        let squares: f64 = seen
            .iter()
            .map(|(w, h, p)| w * fit.residual(h, p).norm_squared())
            .sum();
        assert!((squares / fit.weight - fit.root_mean_square().powi(2)).abs() < 1e-13);
        for k in 0..40 {
            // None is better, be it near or far.
            assert!(loss(&seen, &pose(100 + 40 * seed + k)) >= fit.loss - 1e-13);
            let turn = Vector3::from_fn(|j, _| 1e-3 * wave(seed + k, j));
            let center = SE3::new(fly_lie::SO3::identity(), fit.center);
            let xi = Vector6::new(0.0, 0.0, 0.0, turn.x, turn.y, turn.z);
            let about = fit.pose * center * SE3::exp(&xi) * center.inverse();
            let more = loss(&seen, &about) - fit.loss;
            let expected = 0.5 * turn.dot(&(fit.rotation_stiffness * turn));
            assert!((more - expected).abs() < 1e-8, "{more} {expected}");
            let step = SE3::exp(&Vector6::new(turn.x, turn.y, turn.z, 0.0, 0.0, 0.0));
            let more = loss(&seen, &(fit.pose * step)) - fit.loss;
            assert!((more - 0.5 * fit.weight * turn.norm_squared()).abs() < 1e-12);
        }
    }
}

/// `<(b - a) x (c - a), d - a>`, Konz (4.1).
fn volume([a, b, c, d]: [Vector3<f64>; 4]) -> f64 {
    Matrix3::from_columns(&[b - a, c - a, d - a]).determinant()
}

/// Of four points the two volumes decide, however bad they fit.
#[test]
fn mirror_images_are_noticed() {
    let mut mirrored = 0;
    for seed in 0..200 {
        let seen = points(seed, 4, 2.0);
        let body: [_; 4] = std::array::from_fn(|i| seen[i].1);
        let there: [_; 4] = std::array::from_fn(|i| seen[i].2);
        let kept = volume(body) * volume(there) > 0.0;
        let fit = PoseFit::solve(seen).expect("a pose");
        let expected = if kept {
            Chirality::Kept
        } else {
            Chirality::Mirrored
        };
        assert_eq!(fit.chirality(1e-12), expected, "{seed}");
        assert!((fit.pose.rotation.matrix().determinant() - 1.0).abs() < 1e-14);
        mirrored += usize::from(!kept);
    }
    assert!((50..150).contains(&mirrored), "{mirrored}");

    // Many points, each mirrored: a plane's distances hold, the volumes do not.
    let seen = points(3, 9, 0.0)
        .into_iter()
        .map(|(w, h, p)| (w, h, Vector3::new(p.x, p.y, -p.z)));
    let fit = PoseFit::solve(seen).expect("a pose");
    assert_eq!(fit.chirality(1e-9), Chirality::Mirrored);
    assert!(fit.root_mean_square() > 0.1);
    // In a plane there is no difference.
    let flat = points(3, 9, 0.0)
        .into_iter()
        .map(|(w, h, _)| (w, Vector3::new(h.x, h.y, 0.0)))
        .map(|(w, h)| (w, h, pose(3).act(&h)));
    let fit = PoseFit::solve(flat).expect("a pose");
    assert_eq!(fit.chirality(1e-9), Chirality::Planar);
    assert!((fit.pose.matrix() - pose(3).matrix()).amax() < 1e-12);
}

#[test]
fn free_directions_are_told() {
    // Points on a line: nothing holds the turn about it.
    let axis = Vector3::new(0.6, 0.0, 0.8);
    let line = [-1.0, 0.5, 2.0].map(|s| (1.0, axis * s, pose(1).act(&(axis * s))));
    let fit = PoseFit::solve(line).expect("a pose");
    assert!(fit.loss < 1e-25 && (fit.rotation_stiffness * axis).norm() < 1e-14);
    let none = PoseFit::<f64>::solve([]).expect_err("no points");
    assert_eq!(none, PoseFitError::NotPositive { weight: 0.0 });
    assert!(none.to_string().contains("positive number, found 0"));
    let [mut infinite] = [(1.0, Vector3::x(), Vector3::y())];
    infinite.1.x = f64::NAN;
    assert_eq!(PoseFit::solve([infinite]), Err(PoseFitError::NotFinite));
    let huge = [
        (1.0, Vector3::x() * 1e200, Vector3::y() * 1e200),
        (1.0, Vector3::zeros(), Vector3::zeros()),
    ];
    assert_eq!(PoseFit::solve(huge), Err(PoseFitError::NotFinite));
}
