//! Broyden's method, as corrections to the steps of a fixed approximate derivative.

use nalgebra::RealField;

/// The steps taken towards the zero of a function.
///
/// Each step is corrected by the previous ones (C. T. Kelley, *Solving Nonlinear Equations with Newton's Method*, 2003, 4.2), so
/// that the iteration converges superlinearly, even where the fixed derivative alone would not converge.
#[derive(Clone, Debug)]
pub(super) struct Secant<T> {
    /// With the squares of their lengths.
    steps: Vec<(Vec<T>, T)>,
    count: usize,
}

/// The most steps; an iteration that takes more does not converge.
const MOST: usize = 60;

impl<T: RealField + Copy> Secant<T> {
    /// For functions of `n` variables.
    pub fn new(n: usize) -> Self {
        Self {
            steps: vec![(vec![T::zero(); n], T::zero()); MOST],
            count: 0,
        }
    }

    /// Clears all steps.
    pub fn clear(&mut self) {
        self.count = 0;
    }

    /// Whether the most steps have been taken.
    pub fn is_full(&self) -> bool {
        self.count == self.steps.len()
    }

    /// Corrects the step that the fixed derivative gives at this point.
    ///
    /// # Panics
    /// If it is full.
    pub fn improve(&mut self, step: &mut [T]) {
        let (done, rest) = self.steps.split_at_mut(self.count);
        for pair in done.windows(2) {
            let along = dot(&pair[0].0, step) / pair[0].1;
            for (s, next) in step.iter_mut().zip(&pair[1].0) {
                *s += *next * along;
            }
        }
        if let Some((last, square)) = done.last() {
            let left = T::one() - dot(last, step) / *square;
            // A step equal to the last one: the function does not change along it, so there is nothing to learn.
            if left.abs() > nalgebra::convert(0.05) {
                for s in step.iter_mut() {
                    *s /= left;
                }
            }
        }
        let (stored, square) = &mut rest[0];
        stored.copy_from_slice(step);
        *square = dot(step, step);
        self.count += 1;
    }
}

fn dot<T: RealField + Copy>(a: &[T], b: &[T]) -> T {
    let pairs = a.iter().zip(b);
    pairs.fold(T::zero(), |sum, (a, b)| sum + *a * *b)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A circle and a line: the fixed derivative, far from the true one, diverges on its own.
    #[test]
    fn zeros_are_found_where_the_fixed_derivative_fails() {
        let f = |x: &[f64]| [x[0] * x[0] + x[1] * x[1] - 25.0, 2.0 * (x[0] - x[1]) + 2.0];
        let solve = |improved: bool| {
            let (mut secant, mut x) = (Secant::new(2), [2.5, 4.5]);
            for evaluations in 1..MOST {
                let mut step = f(&x);
                step[0] /= 4.0;
                if improved {
                    secant.improve(&mut step);
                }
                x = [x[0] - step[0], x[1] - step[1]];
                if step.iter().all(|s| s.abs() < 1e-14) {
                    return Some((x, evaluations));
                }
            }
            None
        };
        let (x, evaluations) = solve(true).expect("a zero");
        assert!(
            (x[0] - 3.0).abs() < 1e-13 && (x[1] - 4.0).abs() < 1e-13,
            "{x:?}"
        );
        assert!(evaluations < 25, "{evaluations}");
        assert_eq!(solve(false), None);
    }
}
