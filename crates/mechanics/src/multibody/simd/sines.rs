//! Sines and cosines of many angles at once.

use std::any::Any;

use nalgebra::RealField;

use super::fma;

/// Sines and cosines of four angles at once: for `f64` a branchless formula that compilers vectorise, for other scalars their own
/// functions.
#[inline]
pub fn sines_and_cosines<T: RealField + Copy>(angles: [T; 4]) -> ([T; 4], [T; 4]) {
    let doubles = (&angles as &dyn Any).downcast_ref().copied();
    if let Some((sines, cosines)) = doubles.and_then(of_doubles) {
        let both = (&sines as &dyn Any, &cosines as &dyn Any);
        if let (Some(sines), Some(cosines)) = (both.0.downcast_ref(), both.1.downcast_ref()) {
            return (*sines, *cosines);
        }
    }
    let pairs = angles.map(T::sin_cos);
    (pairs.map(|pair| pair.0), pairs.map(|pair| pair.1))
}

/// Beyond it n π/2 is not exact in the parts of π/2 that are subtracted.
const LARGE: f64 = 1e5;

/// `None` if an angle is too large for the formula.
#[inline]
fn of_doubles(angles: [f64; 4]) -> Option<([f64; 4], [f64; 4])> {
    let (mut sines, mut cosines) = ([0.0; 4], [0.0; 4]);
    for k in 0..4 {
        (sines[k], cosines[k]) = sin_cos(angles[k]);
    }
    // NaN compares false.
    let small = angles.iter().all(|angle| angle.abs() <= LARGE);
    small.then_some((sines, cosines))
}

/// Sine and cosine of an angle of at most [`LARGE`], to an error below one unit in the last place: `n`, the nearest multiple of π/2, is
/// subtracted in parts (Cody and Waite), and the remainder's series are the minimax ones of FreeBSD's `k_sin.c` and `k_cos.c`.
#[inline]
#[allow(clippy::unreadable_literal, clippy::excessive_precision)]
fn sin_cos(angle: f64) -> (f64, f64) {
    // Adding and subtracting it rounds to an integer, which meanwhile is in the last bits.
    const ROUNDER: f64 = 6755399441055744.0;
    // π/2 in two parts of 33 bits, whose multiples are exact, and the remainder.
    const FIRST: f64 = 1.57079632673412561417e+00;
    const SECOND: f64 = 6.07710050630396597660e-11;
    const REST: f64 = 2.02226624879595063154e-21;
    const S: [f64; 6] = [
        -1.66666666666666324348e-01,
        8.33333333332248946124e-03,
        -1.98412698298579493134e-04,
        2.75573137070700676789e-06,
        -2.50507602534068634195e-08,
        1.58969099521155010221e-10,
    ];
    const C: [f64; 6] = [
        4.16666666666666019037e-02,
        -1.38888888888741095749e-03,
        2.48015872894767294178e-05,
        -2.75573143513906633035e-07,
        2.08757232129817482790e-09,
        -1.13596475577881948265e-11,
    ];
    let shifted = fma(angle, std::f64::consts::FRAC_2_PI, ROUNDER);
    let quadrant = shifted.to_bits();
    let n = shifted - ROUNDER;

    let first = fma(-n, FIRST, angle);
    let second = fma(-n, SECOND, first);
    let rest = fma(n, REST, fma(n, SECOND, second - first));
    let y = second - rest;
    // The rounding error of y.
    let tail = (second - y) - rest;

    let z = y * y;
    let v = z * y;
    let r = fma(z, fma(z, fma(z, fma(z, S[5], S[4]), S[3]), S[2]), S[1]);
    let sine = y - fma(-v, S[0], fma(z, fma(-v, r, 0.5 * tail), -tail));

    let r = fma(
        z,
        fma(z, fma(z, fma(z, fma(z, C[5], C[4]), C[3]), C[2]), C[1]),
        C[0],
    );
    let half = 0.5 * z;
    let w = 1.0 - half;
    let cosine = w + fma(z * z, r, fma(-y, tail, (1.0 - w) - half));

    // A quarter turn swaps them; a half turn changes the sign.
    let odd = quadrant & 1 == 1;
    let (a, b) = if odd { (cosine, sine) } else { (sine, cosine) };
    let sign = |bits: u64| (bits & 2) << 62;
    (
        f64::from_bits(a.to_bits() ^ sign(quadrant)),
        f64::from_bits(b.to_bits() ^ sign(quadrant.wrapping_add(1))),
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn they_are_the_standard_library_s_to_the_last_place() {
        let mut angles = Vec::new();
        for i in -200_000..200_000 {
            let i = f64::from(i);
            angles.extend([i * 1e-4, i * 0.49, i * std::f64::consts::FRAC_PI_4 / 2.0]);
        }
        angles.retain(|angle| angle.abs() <= LARGE);
        angles.extend([0.0, -0.0, 1e-300, LARGE, -LARGE]);
        for angles in angles.chunks(4) {
            let four = std::array::from_fn(|k| angles[k % angles.len()]);
            let (sines, cosines) = of_doubles(four).expect("none of them is large");
            for ((angle, s), c) in four.iter().zip(sines).zip(cosines) {
                let (sine, cosine) = angle.sin_cos();
                let ulp = |a: f64| a.abs() * f64::EPSILON;
                assert!((s - sine).abs() <= ulp(sine), "{angle:e} {s:e} {sine:e}");
                assert!(
                    (c - cosine).abs() <= ulp(cosine),
                    "{angle:e} {c:e} {cosine:e}"
                );
            }
        }
    }

    #[test]
    fn large_angles_are_left_to_the_standard_library() {
        let angles = [1.0_f64, 1e5 + 1.0, 1e22, -3e300];
        let (sines, cosines) = sines_and_cosines(angles);
        for ((angle, s), c) in angles.iter().zip(sines).zip(cosines) {
            assert_eq!((s, c), angle.sin_cos());
        }
        for angle in [f64::INFINITY, f64::NAN] {
            let (sines, cosines) = sines_and_cosines([0.1, angle, 0.2, 0.3]);
            assert!(sines[1].is_nan() && cosines[1].is_nan());
            assert_eq!((sines[2], cosines[2]), 0.2_f64.sin_cos());
        }
    }

    #[test]
    fn other_numbers_use_their_own_functions() {
        let (sines, cosines) = sines_and_cosines([0.5_f32; 4]);
        assert_eq!((sines[3], cosines[3]), 0.5_f32.sin_cos());
    }
}
