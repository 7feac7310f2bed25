//! Sines and cosines of many angles at once.

use std::any::Any;

use nalgebra::RealField;

use super::fma;

/// Sines and cosines of angles, in one call for all revolute joints: for `f64` a branchless formula that compilers vectorise, for other
/// scalars their own functions.
#[allow(clippy::ptr_arg)] // slices cannot be told apart by their types when they are generic
pub fn sines_and_cosines<T: RealField + Copy>(
    angles: &Vec<T>,
    sines: &mut Vec<T>,
    cosines: &mut Vec<T>,
) {
    let doubles = (
        (angles as &dyn Any).downcast_ref::<Vec<f64>>(),
        (&mut *sines as &mut dyn Any).downcast_mut::<Vec<f64>>(),
        (&mut *cosines as &mut dyn Any).downcast_mut::<Vec<f64>>(),
    );
    if let (Some(angles), Some(sines), Some(cosines)) = doubles {
        of_doubles(angles, sines, cosines);
        return;
    }
    for ((angle, sine), cosine) in angles.iter().zip(sines).zip(cosines) {
        (*sine, *cosine) = angle.sin_cos();
    }
}

/// Beyond it n π/2 is not exact in the parts of π/2 that are subtracted.
const LARGE: f64 = 1e5;

fn of_doubles(angles: &[f64], sines: &mut [f64], cosines: &mut [f64]) {
    let mut small = true;
    let (in_fours, _) = angles.as_chunks::<4>();
    let (sines_in_fours, _) = sines.as_chunks_mut::<4>();
    let (cosines_in_fours, _) = cosines.as_chunks_mut::<4>();
    let outputs = sines_in_fours.iter_mut().zip(cosines_in_fours);
    for (angles, (sines, cosines)) in in_fours.iter().zip(outputs) {
        for k in 0..4 {
            (sines[k], cosines[k]) = sin_cos(angles[k]);
        }
        // NaN compares false.
        for angle in angles {
            small &= angle.abs() <= LARGE;
        }
    }
    let done = if small { 4 * in_fours.len() } else { 0 };
    let outputs = sines.iter_mut().zip(cosines.iter_mut());
    for (angle, (sine, cosine)) in angles.iter().zip(outputs).skip(done) {
        (*sine, *cosine) = angle.sin_cos();
    }
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

    fn batch(angles: &Vec<f64>) -> (Vec<f64>, Vec<f64>) {
        let (mut s, mut c) = (angles.clone(), angles.clone());
        sines_and_cosines(angles, &mut s, &mut c);
        (s, c)
    }

    #[test]
    fn they_are_the_standard_library_s_to_the_last_place() {
        let mut angles = Vec::new();
        for i in -200_000..200_000 {
            let i = f64::from(i);
            angles.extend([i * 1e-4, i * 0.49, i * std::f64::consts::FRAC_PI_4 / 2.0]);
        }
        angles.retain(|angle| angle.abs() <= LARGE);
        angles.extend([0.0, -0.0, 1e-300, LARGE, -LARGE]);
        let (sines, cosines) = batch(&angles);
        for ((angle, s), c) in angles.iter().zip(sines).zip(cosines) {
            let (sine, cosine) = angle.sin_cos();
            let ulp = |a: f64| a.abs() * f64::EPSILON;
            assert!((s - sine).abs() <= ulp(sine), "{angle:e} {s:e} {sine:e}");
            assert!(
                (c - cosine).abs() <= ulp(cosine),
                "{angle:e} {c:e} {cosine:e}"
            );
        }
    }

    #[test]
    fn large_angles_are_left_to_the_standard_library() {
        let angles = vec![1.0, 1e5 + 1.0, 1e22, -3e300];
        let (sines, cosines) = batch(&angles);
        for ((angle, s), c) in angles.iter().zip(sines).zip(cosines) {
            assert_eq!((s, c), angle.sin_cos());
        }
        for angle in [f64::INFINITY, f64::NAN] {
            let (sines, cosines) = batch(&vec![0.1, angle, 0.2]);
            assert!(sines[1].is_nan() && cosines[1].is_nan());
            assert_eq!((sines[2], cosines[2]), 0.2_f64.sin_cos());
        }
    }

    #[test]
    fn other_numbers_use_their_own_functions() {
        let (mut s, mut c) = (vec![0.0_f32], vec![0.0_f32]);
        sines_and_cosines(&vec![0.5_f32], &mut s, &mut c);
        assert_eq!((s[0], c[0]), 0.5_f32.sin_cos());
    }
}
