//! Modes: poles with their damping ratio and time constant.

use nalgebra::Complex;

/// A real pole or a conjugate pair, with its multiplicity.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Mode {
    /// The pole, 1/s, with nonnegative imaginary part.
    pub pole: Complex<f64>,
    /// Its multiplicity (a pair counts once).
    pub count: usize,
}

impl Mode {
    /// Returns whether it is a conjugate pair.
    pub fn oscillates(&self) -> bool {
        self.pole.im > 0.0
    }

    /// `-Re s / |s|`: 1 without oscillation, 0 without damping, negative if it grows.
    pub fn damping_ratio(&self) -> f64 {
        match self.pole.norm() {
            0.0 => 0.0,
            size => -self.pole.re / size,
        }
    }

    /// `-1 / Re s`, s: the time in which it decays to 37 %; negative if it grows, infinite if it is constant.
    pub fn time_constant(&self) -> f64 {
        -self.pole.re.recip()
    }

    /// `|s|`, rad/s.
    pub fn natural_frequency(&self) -> f64 {
        self.pole.norm()
    }
}

/// Poles closer than this fraction of their modulus count as one. A fourfold pole, computed with rounding errors of 1e-16,
/// splits by about the fourth root of that; the mean of the parts is exact again.
const NEAR: f64 = 5e-3;

/// Groups the poles into modes, the slowest first.
pub fn modes(poles: &[Complex<f64>]) -> Vec<Mode> {
    let mut groups: Vec<(Complex<f64>, Vec<Complex<f64>>)> = Vec::new();
    for pole in poles {
        let near = |(center, _): &&mut (Complex<f64>, Vec<_>)| {
            (*center - pole).norm() <= NEAR * center.norm()
        };
        match groups.iter_mut().find(near) {
            Some((center, members)) => {
                members.push(*pole);
                *center = members.iter().sum::<Complex<f64>>() / members.len() as f64;
            }
            None => groups.push((*pole, vec![*pole])),
        }
    }
    let mut modes: Vec<Mode> = groups
        .into_iter()
        .filter_map(|(center, members)| {
            let real = center.im.abs() <= NEAR * center.norm();
            let pole = if real {
                Complex::new(center.re, 0.0)
            } else {
                center
            };
            let count = members.len();
            (pole.im >= 0.0).then_some(Mode { pole, count })
        })
        .collect();
    modes.sort_by(|a, b| {
        b.pole
            .re
            .total_cmp(&a.pole.re)
            .then(a.pole.im.total_cmp(&b.pole.im))
    });
    modes
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn split_poles_come_together_and_pairs_count_once() {
        let s = |re, im| Complex::new(re, im);
        let poles = [
            s(-5.001, 0.0),
            s(-2.0, 1.0),
            s(-5.0, 0.001),
            s(-5.0, -0.001),
            s(-4.999, 0.0),
            s(-2.0, -1.0),
            s(-1.0, 0.0),
        ];
        let found = modes(&poles);
        let expected = [(s(-1.0, 0.0), 1), (s(-2.0, 1.0), 1), (s(-5.0, 0.0), 4)];
        assert_eq!(found.len(), 3, "{found:?}");
        for (mode, (pole, count)) in found.iter().zip(expected) {
            assert!(
                (mode.pole - pole).norm() < 1e-12 && mode.count == count,
                "{mode:?}"
            );
        }
        // s^2 + 4 s + 5: 2 zeta w = 4, w^2 = 5.
        let pair = found[1];
        assert!(pair.oscillates() && !found[0].oscillates());
        assert!((pair.damping_ratio() - 2.0 / 5.0_f64.sqrt()).abs() < 1e-15);
        assert!((pair.natural_frequency() - 5.0_f64.sqrt()).abs() < 1e-15);
        assert_eq!(pair.time_constant(), 0.5);
    }
}
