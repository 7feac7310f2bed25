//! Every operation beside nalgebra's, in one run: `cargo xtask bench lie`, which adds Pinocchio where it installs.
//!
//! One line per measurement, `TIME,lib,model,algo,median_ns,min_ns,p90_ns`: time per call over 64 random elements with angles up to
//! 3, which fit the nearest cache as pairs of poses too; all results are stored. Each call is one of its own: the compiler must not
//! make several of them into vector instructions. The samples of the libraries alternate, so that both see the same machine.
//!
//! nalgebra's poses are measured with either of its rotations, the quaternion (`nalgebra`) and the matrix (`nalgebra-matrix`). manif is no
//! peer: no package registry has it.

#![allow(non_snake_case)]

use std::f64::consts::PI;
use std::hint::black_box;
use std::time::Instant;

use fly_lie::{LieGroup, SE3, SO3, UnitQuaternion};
use nalgebra as na;
use nalgebra::{Isometry3, IsometryMatrix3, Vector3, Vector6};

/// Elements in a batch; the time of one is the batch's divided by this.
const BATCH: usize = 64;
/// Passes over the batch in one sample.
const PASSES: usize = 32;
/// Samples.
const SAMPLES: usize = 400;

/// A measurement to be: a name and one pass over the batch.
struct Candidate<'a> {
    lib: &'static str,
    model: &'static str,
    algo: &'static str,
    pass: Box<dyn FnMut() + 'a>,
    times: Vec<f64>,
}

/// All candidates of a run.
#[derive(Default)]
struct Run<'a> {
    filter: String,
    candidates: Vec<Candidate<'a>>,
}

impl<'a> Run<'a> {
    /// Adds `f`, applied to every input, its results stored.
    fn add<X, Y: Copy + 'a>(
        &mut self,
        [lib, model, algo]: [&'static str; 3],
        inputs: &'a [X],
        f: impl Fn(&X) -> Y + 'a,
    ) {
        if !format!("{lib} {model} {algo}").contains(&self.filter) {
            return;
        }
        let mut outputs: Vec<Y> = inputs.iter().map(&f).collect();
        self.candidates.push(Candidate {
            lib,
            model,
            algo,
            pass: Box::new(move || {
                for (x, y) in inputs.iter().zip(&mut outputs) {
                    *y = f(black_box(x));
                }
                black_box(&mut outputs);
            }),
            times: Vec::with_capacity(SAMPLES),
        });
    }

    fn measure(mut self) {
        for sample in 0..SAMPLES + 20 {
            for candidate in &mut self.candidates {
                let start = Instant::now();
                for _ in 0..PASSES {
                    (candidate.pass)();
                }
                let ns = start.elapsed().as_nanos() as f64 / (BATCH * PASSES) as f64;
                if sample >= 20 {
                    candidate.times.push(ns);
                }
            }
        }
        for Candidate {
            lib,
            model,
            algo,
            mut times,
            ..
        } in self.candidates
        {
            times.sort_by(f64::total_cmp);
            let at = |share: usize| times[(times.len() - 1) * share / 100];
            println!(
                "TIME,{lib},{model},{algo},{:.2},{:.2},{:.2}",
                at(50),
                at(0),
                at(90)
            );
        }
    }
}

/// Numbers in `[-1, 1]`: a linear congruential generator is random enough for inputs.
struct Random(u64);

impl Random {
    fn next(&mut self) -> f64 {
        self.0 = self
            .0
            .wrapping_mul(6_364_136_223_846_793_005)
            .wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 11) as f64 / (1_u64 << 52) as f64 - 1.0
    }

    /// A rotation vector: any direction, any angle up to 3.
    fn rotation(&mut self) -> Vector3<f64> {
        let direction = Vector3::from_fn(|_, _| self.next());
        direction.normalize() * (3.0 * self.next())
    }

    fn twist(&mut self) -> Vector6<f64> {
        let (v, w) = (Vector3::from_fn(|_, _| self.next()), self.rotation());
        Vector6::new(v.x, v.y, v.z, w.x, w.y, w.z)
    }
}

fn main() {
    let filter = std::env::args()
        .skip(1)
        .find(|a| !a.starts_with('-'))
        .unwrap_or_default();
    let mut random = Random(7);
    let ws: Vec<Vector3<f64>> = (0..BATCH).map(|_| random.rotation()).collect();
    assert!(ws.iter().all(|w| w.norm() < PI));
    let xs: Vec<Vector6<f64>> = (0..BATCH).map(|_| random.twist()).collect();
    let ps: Vec<Vector3<f64>> = ws.iter().rev().copied().collect();

    let qs: Vec<_> = ws.iter().map(UnitQuaternion::exp).collect();
    let Rs: Vec<_> = ws.iter().map(SO3::exp).collect();
    let Gs: Vec<_> = xs.iter().map(SE3::exp).collect();
    let qqs: Vec<_> = qs.iter().copied().zip(qs.iter().rev().copied()).collect();
    let RRs: Vec<_> = Rs.iter().copied().zip(Rs.iter().rev().copied()).collect();
    let GGs: Vec<_> = Gs.iter().copied().zip(Gs.iter().rev().copied()).collect();
    let Gps: Vec<_> = Gs.iter().copied().zip(ps.iter().copied()).collect();
    let qps: Vec<_> = qs.iter().copied().zip(ps.iter().copied()).collect();

    let nqs: Vec<_> = ws
        .iter()
        .map(|w| na::UnitQuaternion::from_scaled_axis(*w))
        .collect();
    let nRs: Vec<_> = ws.iter().map(|w| na::Rotation3::new(*w)).collect();
    let nGs: Vec<_> = xs
        .iter()
        .map(|x| Isometry3::new(x.xyz(), Vector3::new(x[3], x[4], x[5])))
        .collect();
    let nqqs: Vec<_> = nqs.iter().copied().zip(nqs.iter().rev().copied()).collect();
    let nRRs: Vec<_> = nRs.iter().copied().zip(nRs.iter().rev().copied()).collect();
    let nGGs: Vec<_> = nGs.iter().copied().zip(nGs.iter().rev().copied()).collect();
    let nGps: Vec<_> = nGs.iter().copied().zip(ps.iter().copied()).collect();
    let mGs: Vec<_> = xs
        .iter()
        .map(|x| IsometryMatrix3::new(x.xyz(), Vector3::new(x[3], x[4], x[5])))
        .collect();
    let mGGs: Vec<_> = mGs.iter().copied().zip(mGs.iter().rev().copied()).collect();
    let mGps: Vec<_> = mGs.iter().copied().zip(ps.iter().copied()).collect();
    let nqps: Vec<_> = nqs.iter().copied().zip(ps.iter().copied()).collect();

    let mut run = Run {
        filter,
        ..Run::default()
    };
    run.add(["fly", "SO3", "exp_quaternion"], &ws, UnitQuaternion::exp);
    run.add(["nalgebra", "SO3", "exp_quaternion"], &ws, |w| {
        na::UnitQuaternion::from_scaled_axis(*w)
    });
    run.add(["fly", "SO3", "log_quaternion"], &qs, UnitQuaternion::log);
    run.add(
        ["nalgebra", "SO3", "log_quaternion"],
        &nqs,
        na::UnitQuaternion::scaled_axis,
    );
    run.add(["fly", "SO3", "exp"], &ws, SO3::exp);
    run.add(["nalgebra", "SO3", "exp"], &ws, |w| na::Rotation3::new(*w));
    run.add(["fly", "SO3", "log"], &Rs, SO3::log);
    run.add(["nalgebra", "SO3", "log"], &nRs, na::Rotation3::scaled_axis);
    run.add(["fly", "SO3", "compose_quaternion"], &qqs, |(a, b)| *a * *b);
    run.add(
        ["nalgebra", "SO3", "compose_quaternion"],
        &nqqs,
        |(a, b)| a * b,
    );
    run.add(["fly", "SO3", "compose"], &RRs, |(a, b)| *a * *b);
    run.add(["nalgebra", "SO3", "compose"], &nRRs, |(a, b)| a * b);
    run.add(["fly", "SO3", "act_quaternion"], &qps, |(q, p)| q.act(p));
    run.add(["nalgebra", "SO3", "act_quaternion"], &nqps, |(q, p)| q * p);
    run.add(["fly", "SO3", "Jr"], &ws, SO3::right_jacobian);
    run.add(
        ["fly", "SO3", "Jr_inverse"],
        &ws,
        SO3::right_jacobian_inverse,
    );
    run.add(["fly", "SE3", "exp"], &xs, SE3::exp);
    run.add(["fly", "SE3", "log"], &Gs, SE3::log);
    run.add(["fly", "SE3", "compose"], &GGs, |(a, b)| *a * *b);
    run.add(["nalgebra", "SE3", "compose"], &nGGs, |(a, b)| a * b);
    run.add(["nalgebra-matrix", "SE3", "compose"], &mGGs, |(a, b)| a * b);
    run.add(["fly", "SE3", "inverse"], &Gs, SE3::inverse);
    run.add(["nalgebra", "SE3", "inverse"], &nGs, Isometry3::inverse);
    run.add(
        ["nalgebra-matrix", "SE3", "inverse"],
        &mGs,
        IsometryMatrix3::inverse,
    );
    run.add(["fly", "SE3", "act"], &Gps, |(a, p)| a.act(p));
    run.add(["nalgebra", "SE3", "act"], &nGps, |(a, p)| {
        a * na::Point3::from(*p)
    });
    run.add(["nalgebra-matrix", "SE3", "act"], &mGps, |(a, p)| {
        a * na::Point3::from(*p)
    });
    run.add(["fly", "SE3", "Ad"], &Gs, SE3::adjoint);
    run.add(["fly", "SE3", "Jr"], &xs, SE3::right_jacobian);
    run.add(
        ["fly", "SE3", "Jr_inverse"],
        &xs,
        SE3::right_jacobian_inverse,
    );
    run.add(["fly", "SE3", "difference"], &GGs, |(a, b)| a.difference(b));
    run.measure();
}
