//! Trajectories of equations in the plane.

/// A fourth-order Runge-Kutta step of `dx/dt = f(x)`.
fn step(f: impl Fn([f64; 2]) -> [f64; 2], x: [f64; 2], h: f64) -> [f64; 2] {
    let along = |k: [f64; 2], h: f64| [x[0] + h * k[0], x[1] + h * k[1]];
    let a = f(x);
    let b = f(along(a, 0.5 * h));
    let c = f(along(b, 0.5 * h));
    let d = f(along(c, h));
    std::array::from_fn(|i| x[i] + h / 6.0 * (a[i] + 2.0 * b[i] + 2.0 * c[i] + d[i]))
}

/// The trajectory from a point on for a while, with this many steps.
pub fn trajectory(
    f: impl Fn([f64; 2]) -> [f64; 2],
    from: [f64; 2],
    duration: f64,
    steps: u32,
) -> Vec<[f64; 2]> {
    let h = duration / f64::from(steps);
    let mut x = from;
    let mut points = vec![x];
    for _ in 0..steps {
        x = step(&f, x, h);
        points.push(x);
    }
    points
}

/// The equivalent angle in (-pi, pi].
pub fn wrapped(angle: f64) -> f64 {
    use std::f64::consts::{PI, TAU};
    PI - (PI - angle).rem_euclid(TAU)
}

/// The curve on a circle: angles wrapped, with a gap at each jump.
pub fn on_circle(points: &[[f64; 2]]) -> Vec<[f64; 2]> {
    let mut out: Vec<[f64; 2]> = Vec::new();
    for [angle, rate] in points {
        let angle = wrapped(*angle);
        if out
            .last()
            .is_some_and(|before| (before[0] - angle).abs() > 3.0)
        {
            out.push([f64::NAN; 2]);
        }
        out.push([angle, *rate]);
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_harmonic_oscillation_comes_back() {
        let turn = trajectory(|[x, v]| [v, -x], [1.0, 0.0], std::f64::consts::TAU, 200);
        let end = turn[200];
        assert!((end[0] - 1.0).hypot(end[1]) < 1e-6, "{end:?}");
    }

    #[test]
    fn angles_jump_once_a_turn() {
        let turns: Vec<[f64; 2]> = (0..400).map(|i| [0.05 * f64::from(i), 0.0]).collect();
        let gaps = on_circle(&turns)
            .iter()
            .filter(|point| point[0].is_nan())
            .count();
        assert_eq!(gaps, 3);
        assert_eq!(wrapped(std::f64::consts::PI), std::f64::consts::PI);
    }
}
