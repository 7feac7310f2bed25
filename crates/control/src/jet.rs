//! Functions of time together with their derivatives, as truncated Taylor series.

use std::ops::{Add, Mul, Neg, Sub};

/// A function and its first N - 1 derivatives at one instant, kept as Taylor coefficients `f^(k) / k!`.
///
/// Sums and products act on polynomials truncated at degree N - 1, so that every derivative of a reference follows from
/// its formula alone, without finite differences and without allocation.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Jet<const N: usize>([f64; N]);

impl<const N: usize> Jet<N> {
    /// The constant c.
    #[inline]
    pub fn constant(c: f64) -> Self {
        let mut a = [0.0; N];
        a[0] = c;
        Self(a)
    }

    /// The function with this value and slope; higher derivatives are zero.
    pub fn linear(value: f64, slope: f64) -> Self {
        let mut jet = Self::constant(value);
        if N > 1 {
            jet.0[1] = slope;
        }
        jet
    }

    /// From the value and the derivatives.
    pub fn from_derivatives(derivatives: [f64; N]) -> Self {
        let mut a = derivatives;
        let mut factorial = 1.0;
        for (k, a) in a.iter_mut().enumerate().skip(1) {
            factorial *= k as f64;
            *a /= factorial;
        }
        Self(a)
    }

    /// The k-th derivative.
    #[inline]
    pub fn derivative(&self, k: usize) -> f64 {
        (1..=k).fold(self.0[k], |a, i| a * i as f64)
    }

    /// The value.
    pub fn value(&self) -> f64 {
        self.0[0]
    }

    /// Whether the value and all derivatives are finite.
    #[inline]
    pub fn is_finite(&self) -> bool {
        self.0.iter().all(|a| a.is_finite())
    }

    /// The first `M <= N` terms.
    #[inline]
    pub fn truncate<const M: usize>(&self) -> Jet<M> {
        let mut a = [0.0; M];
        a.copy_from_slice(&self.0[..M]);
        Jet(a)
    }

    /// Its derivative: `M < N` terms.
    #[inline]
    pub fn first_derivative<const M: usize>(&self) -> Jet<M> {
        Jet(std::array::from_fn(|k| self.0[k + 1] * (k + 1) as f64))
    }

    /// Its second derivative, two terms shorter: `M = N - 2`.
    #[inline]
    pub fn second_derivative<const M: usize>(&self) -> Jet<M> {
        let mut a = [0.0; M];
        for (k, a) in a.iter_mut().enumerate() {
            *a = self.0[k + 2] * ((k + 1) * (k + 2)) as f64;
        }
        Jet(a)
    }

    /// Multiplies by a number.
    #[must_use]
    #[inline]
    pub fn scale(self, factor: f64) -> Self {
        Self(std::array::from_fn(|k| self.0[k] * factor))
    }

    /// `sin(rate t + phase)` at the time t, where `angle = rate t + phase`: the sine of [`linear`](Self::linear).
    #[inline]
    pub fn sine(angle: f64, rate: f64) -> Self {
        let mut sine = [0.0; N];
        let mut both = angle.sin_cos();
        for (k, sine) in sine.iter_mut().enumerate() {
            *sine = both.0;
            // s' = w c and c' = -w s, coefficient by coefficient.
            let part = rate / (k + 1) as f64;
            both = (part * both.1, -(part * both.0));
        }
        Self(sine)
    }

    /// Sine and cosine.
    pub fn sin_cos(self) -> (Self, Self) {
        let (mut s, mut c) = ([0.0; N], [0.0; N]);
        (s[0], c[0]) = self.0[0].sin_cos();
        // s' = a' c and c' = -a' s, coefficient by coefficient.
        for k in 1..N {
            for j in 1..=k {
                let rate = j as f64 * self.0[j] / k as f64;
                s[k] += rate * c[k - j];
                c[k] -= rate * s[k - j];
            }
        }
        (Self(s), Self(c))
    }

    /// The reciprocal square root; the value must be positive.
    #[must_use]
    #[inline]
    pub fn inverse_sqrt(self) -> Self {
        // y = a^-1/2 obeys a y' = -1/2 a' y.
        let mut y = [0.0; N];
        y[0] = 1.0 / self.0[0].sqrt();
        for k in 1..N {
            let mut sum = 0.0;
            for j in 1..=k {
                let weight = 0.5 * j as f64 + (k - j) as f64;
                sum += weight * self.0[j] * y[k - j];
            }
            y[k] = -sum / (k as f64 * self.0[0]);
        }
        Self(y)
    }
}

impl<const N: usize> Add for Jet<N> {
    type Output = Self;
    #[inline]
    fn add(self, other: Self) -> Self {
        Self(std::array::from_fn(|k| self.0[k] + other.0[k]))
    }
}

impl<const N: usize> Sub for Jet<N> {
    type Output = Self;
    #[inline]
    fn sub(self, other: Self) -> Self {
        Self(std::array::from_fn(|k| self.0[k] - other.0[k]))
    }
}

impl<const N: usize> Neg for Jet<N> {
    type Output = Self;
    #[inline]
    fn neg(self) -> Self {
        self.scale(-1.0)
    }
}

impl<const N: usize> Mul for Jet<N> {
    type Output = Self;
    #[inline]
    fn mul(self, other: Self) -> Self {
        // Plain loops: the compiler unrolls them, whereas it leaves an iterator's sum as a call.
        let mut product = [0.0; N];
        for (k, sum) in product.iter_mut().enumerate() {
            for j in 0..=k {
                *sum += self.0[j] * other.0[k - j];
            }
        }
        Self(product)
    }
}

/// A vector function of time in three dimensions.
pub type Jet3<const N: usize> = [Jet<N>; 3];

/// Scalar product.
#[inline]
pub fn dot<const N: usize>(a: &Jet3<N>, b: &Jet3<N>) -> Jet<N> {
    a[0] * b[0] + a[1] * b[1] + a[2] * b[2]
}

/// The value of the scalar product alone.
#[inline]
pub fn dot_value<const N: usize>(a: &Jet3<N>, b: &Jet3<N>) -> f64 {
    a[0].0[0] * b[0].0[0] + a[1].0[0] * b[1].0[0] + a[2].0[0] * b[2].0[0]
}

/// Vector product.
#[inline]
pub fn cross<const N: usize>(a: &Jet3<N>, b: &Jet3<N>) -> Jet3<N> {
    [
        a[1] * b[2] - a[2] * b[1],
        a[2] * b[0] - a[0] * b[2],
        a[0] * b[1] - a[1] * b[0],
    ]
}

/// The vector divided by its norm, which must not be zero.
#[inline]
pub fn normalized<const N: usize>(a: &Jet3<N>) -> Jet3<N> {
    let inverse = dot(a, a).inverse_sqrt();
    // Not `map`: the compiler calls it for arrays of this size.
    std::array::from_fn(|i| a[i] * inverse)
}

/// The k-th derivative of a vector function.
#[inline]
pub fn derivative<const N: usize>(a: &Jet3<N>, k: usize) -> nalgebra::Vector3<f64> {
    nalgebra::Vector3::new(a[0].derivative(k), a[1].derivative(k), a[2].derivative(k))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The derivatives of products and sines must agree with closed forms.
    #[test]
    fn products_and_sines_have_the_derivatives_of_their_formulas() {
        let t = 0.7_f64;
        // f = t^2 sin(3 t): f' = 2 t s + 3 t^2 c, f'' = 2 s + 12 t c - 9 t^2 s, f''' = 18 c - 54 t s - 27 t^2 c
        let x = Jet::<5>::linear(t, 1.0);
        let (sin, _) = x.scale(3.0).sin_cos();
        let f = x * x * sin;
        let (s, c) = (3.0 * t).sin_cos();
        let expected = [
            t * t * s,
            2.0 * t * s + 3.0 * t * t * c,
            2.0 * s + 12.0 * t * c - 9.0 * t * t * s,
            18.0 * c - 54.0 * t * s - 27.0 * t * t * c,
            -108.0 * s - 216.0 * t * c + 81.0 * t * t * s,
        ];
        for (k, expected) in expected.iter().enumerate() {
            assert!(
                (f.derivative(k) - expected).abs() < 1e-12 * expected.abs().max(1.0),
                "{k}"
            );
        }
    }

    #[test]
    fn a_sine_is_that_of_a_linear_function() {
        let (sine, _) = Jet::<5>::linear(0.7, -3.0).sin_cos();
        assert_eq!(Jet::sine(0.7, -3.0), sine);
    }

    #[test]
    fn the_inverse_square_root_times_itself_is_the_inverse() {
        let a = Jet::<5>::from_derivatives([1.3, -0.4, 0.9, 2.0, -3.0]);
        let y = a.inverse_sqrt();
        let one = y * y * a;
        assert!((one.value() - 1.0).abs() < 1e-15);
        assert!((1..5).all(|k| one.derivative(k).abs() < 1e-13));
    }

    #[test]
    fn a_normalized_vector_keeps_its_length() {
        let a = [
            Jet::<3>::linear(1.0, 0.3),
            Jet::linear(-0.2, 1.0),
            Jet::constant(0.5),
        ];
        let u = normalized(&a);
        let length = dot(&u, &u);
        assert!((length.value() - 1.0).abs() < 1e-15 && length.derivative(2).abs() < 1e-14);
    }
}
