//! Pole placement with several inputs, by the eigenvectors of the closed loop: J. Kautsky, N. K. Nichols, P. Van Dooren, *Robust pole assignment in linear
//! state feedback*, 1985 (method 0), with complex eigenvectors in conjugate pairs.
//!
//! The eigenvector of a pole `s` may be any one of `(F - s I)^-1 G`, which has as many dimensions as there are inputs. One at a time is turned
//! as far as it goes towards the direction that is perpendicular to all others. The further apart they are, the less a model error moves the poles.
#![allow(non_snake_case)]

use nalgebra::{Complex, DMatrix, DVector};

use crate::lehmer::Lehmer;

type C = Complex<f64>;

/// How often every eigenvector is turned.
const SWEEPS: usize = 40;

/// K such that `F - G K` has these poles (complex ones in conjugate pairs) and eigenvectors far from parallel. `None` if a pole is repeated more often
/// than there are independent inputs, so that it has fewer eigenvectors.
pub(super) fn gains(F: &DMatrix<f64>, G: &DMatrix<f64>, poles: &[C]) -> Option<DMatrix<f64>> {
    // The independent inputs: G = U S V^T, and K = V K' of U S.
    let svd = G.clone().svd(true, true);
    let least = 1e-9 * svd.singular_values.amax();
    let kept = svd.singular_values.iter().enumerate();
    let kept: Vec<usize> = (kept.filter(|(_, s)| **s > least).map(|(i, _)| i)).collect();
    let (u, v) = (svd.u?.select_columns(&kept), svd.v_t?.select_rows(&kept));
    let sizes = DVector::from_iterator(kept.len(), kept.iter().map(|i| svd.singular_values[*i]));
    let independent = u * DMatrix::from_diagonal(&sizes);
    Some(v.transpose() * of_independent(F, &independent, poles)?)
}

/// The same for a G of full rank.
fn of_independent(F: &DMatrix<f64>, G: &DMatrix<f64>, poles: &[C]) -> Option<DMatrix<f64>> {
    let (m, p) = (F.nrows(), G.ncols());
    let repeats = |s: &C| {
        let same = |t: &&C| (*t - s).norm() <= 1e-6 * s.norm();
        poles.iter().filter(same).count()
    };
    if poles.iter().any(|s| repeats(s) > p) {
        return None;
    }
    let mut numbers = Lehmer(1985);
    // No pole may be one of F: apply a preliminary gain, and add it afterwards.
    let scale = F.norm() / G.norm();
    let before = DMatrix::from_fn(p, m, |_, _| scale * numbers.next());
    let F = (F - G * &before).map(C::from);
    let G = G.map(C::from);
    let places = places(poles)?;
    let mut X = DMatrix::<C>::zeros(m, m);
    let mut bases = Vec::with_capacity(places.len());
    for place in &places {
        let s = place.2;
        let mut shifted = F.clone();
        for i in 0..m {
            shifted[(i, i)] -= s;
        }
        let basis = shifted.lu().solve(&G)?.qr().q();
        let imaginary = f64::from(u8::from(s.im != 0.0));
        let mix = DVector::from_fn(p, |_, _| C::new(numbers.next(), imaginary * numbers.next()));
        set(&mut X, *place, &(&basis * mix));
        bases.push(basis);
    }
    let mut best: Option<(f64, DMatrix<C>)> = None;
    for _ in 0..SWEEPS {
        for (place, basis) in places.iter().zip(&bases) {
            let mut unit = DVector::zeros(m);
            unit[place.0] = C::from(1.0);
            let Some(free) = X.adjoint().lu().solve(&unit) else {
                continue;
            };
            let turned = basis * (basis.adjoint() * free);
            if turned.norm() > 0.0 {
                set(&mut X, *place, &turned);
            }
        }
        let Some(inverse) = X.clone().try_inverse() else {
            break;
        };
        let condition = inverse.norm() * X.norm();
        if best.as_ref().is_none_or(|(least, _)| condition < *least) {
            best = Some((condition, X.clone()));
        }
    }
    best.and_then(|(_, X)| of(&F, &G, &X, poles, &before))
}

/// The poles' columns: that of the pole, that of its conjugate (the same for a real one), and the pole. One of a pair stands for both.
fn places(poles: &[C]) -> Option<Vec<(usize, usize, C)>> {
    let mut free: Vec<usize> = (0..poles.len()).collect();
    let mut places = Vec::new();
    while let Some(j) = free.pop() {
        let s = poles[j];
        if s.im.abs() <= 1e-12 * s.norm() {
            places.push((j, j, C::from(s.re)));
            continue;
        }
        let far = |k: &usize| (poles[*k] - s.conj()).norm();
        let nearest = (0..free.len()).min_by(|a, b| far(&free[*a]).total_cmp(&far(&free[*b])))?;
        places.push((j, free.swap_remove(nearest), s));
    }
    Some(places)
}

/// Sets the eigenvector of a place and, of a pair, its conjugate.
fn set(X: &mut DMatrix<C>, (own, other, s): (usize, usize, C), vector: &DVector<C>) {
    let mut unit = vector.unscale(vector.norm());
    if s.im == 0.0 {
        unit.apply(|x| x.im = 0.0);
    }
    X.set_column(other, &unit.map(|x| x.conj()));
    X.set_column(own, &unit);
}

/// K of these eigenvectors: `G K X = F X - X S`.
fn of(
    F: &DMatrix<C>,
    G: &DMatrix<C>,
    X: &DMatrix<C>,
    poles: &[C],
    before: &DMatrix<f64>,
) -> Option<DMatrix<f64>> {
    let moved = F * X - X * DMatrix::from_diagonal(&DVector::from_column_slice(poles));
    let inputs = G.clone().svd(true, true).solve(&moved, 1e-12).ok()?;
    let gains = X.transpose().lu().solve(&inputs.transpose())?.transpose();
    Some(before + gains.map(|x| x.re))
}
