//! The normal force of a compliant contact.

/// `f = k d^n (1 + c d_dot)` at the depth `d > 0`, clipped at zero: it never pulls.
///
/// K. H. Hunt, F. R. E. Crossley, *Coefficient of restitution interpreted as damping in vibroimpact*, Journal of Applied Mechanics 42(2), 1975. Unlike that of
/// a parallel spring and damper, the force is continuous at the start of the contact. A body that arrives with the speed `v` under no other force leaves with
/// `e v`, whatever its mass, `k` and `n`: `c v - ln(1 + c v) = -c e v - ln(1 - c e v)`, see [`restitution`](Self::restitution).
///
/// Depth and force are in m and N for a contact with the ground, rad and N m for a stop in a rotating joint.
///
/// ```
/// use fly_mechanics::contact::Compliance;
///
/// let rubber = Compliance::new(2000.0, 1.0, 0.5)?;
/// assert_eq!(rubber.force(0.01, 0.0), 20.0);
/// assert_eq!(rubber.force(0.01, -3.0), 0.0, "it does not pull");
/// assert_eq!(rubber.force(-0.01, 1.0), 0.0);
/// assert_eq!(rubber.energy(0.01), 0.1);
/// # Ok::<(), fly_mechanics::contact::ComplianceError>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Compliance {
    stiffness: f64,
    exponent: f64,
    damping: f64,
}

/// Why parameters do not define a [`Compliance`].
#[derive(Clone, Copy, Debug, PartialEq, thiserror::Error)]
#[error("expected {expected}, found {found}")]
pub struct ComplianceError {
    /// `stiffness`, `exponent` or `damping`.
    pub key: &'static str,
    /// What was expected.
    pub expected: &'static str,
    /// Its value.
    pub found: f64,
}

/// # Construction
impl Compliance {
    /// `k` (N/m^n, N m/rad^n), `n` (1: linear; 1.5: Hertz's sphere) and `c` (s/m, s/rad).
    ///
    /// # Errors
    /// [`ComplianceError`]: a stiffness that is not positive, an exponent that is not from 1 to 3, or negative damping.
    pub fn new(stiffness: f64, exponent: f64, damping: f64) -> Result<Self, ComplianceError> {
        let checks = [
            (
                "stiffness",
                stiffness > 0.0,
                "a stiffness above 0",
                stiffness,
            ),
            (
                "exponent",
                (1.0..=3.0).contains(&exponent),
                "an exponent from 1 to 3",
                exponent,
            ),
            (
                "damping",
                damping >= 0.0,
                "a damping of at least 0",
                damping,
            ),
        ];
        let wrong = |(_, is, _, found): &&(_, bool, _, f64)| !*is || !found.is_finite();
        match checks.iter().find(wrong) {
            Some(&(key, _, expected, found)) => Err(ComplianceError {
                key,
                expected,
                found,
            }),
            None => Ok(Self {
                stiffness,
                exponent,
                damping,
            }),
        }
    }

    /// `k`, N/m^n or N m/rad^n.
    pub fn stiffness(&self) -> f64 {
        self.stiffness
    }

    /// `n`.
    pub fn exponent(&self) -> f64 {
        self.exponent
    }

    /// `c`, s/m or s/rad.
    pub fn damping(&self) -> f64 {
        self.damping
    }
}

/// # Force and energy
impl Compliance {
    /// The force (N, N m) at this depth (m, rad) and its rate (m/s, rad/s).
    #[inline]
    pub fn force(&self, depth: f64, rate: f64) -> f64 {
        if depth <= 0.0 {
            return 0.0;
        }
        (self.elastic(depth) * (1.0 + self.damping * rate)).max(0.0)
    }

    /// `k d^n`, N or N m.
    #[inline]
    fn elastic(&self, depth: f64) -> f64 {
        if self.exponent == 1.0 {
            self.stiffness * depth
        } else {
            self.stiffness * depth.powf(self.exponent)
        }
    }

    /// `k d^(n + 1) / (n + 1)`: the energy stored at this depth, J.
    #[inline]
    pub fn energy(&self, depth: f64) -> f64 {
        if depth <= 0.0 {
            return 0.0;
        }
        self.elastic(depth) * depth / (self.exponent + 1.0)
    }

    /// The dissipated power, W, never negative: `(f - k d^n) d_dot`.
    #[inline]
    pub fn dissipation(&self, depth: f64, rate: f64) -> f64 {
        if depth <= 0.0 {
            return 0.0;
        }
        (self.force(depth, rate) - self.elastic(depth)) * rate
    }

    /// `n k d^(n - 1)`, the stiffness at the depth that `mass` reaches from `speed` without damping: `k` for a linear contact. N/m, N m/rad.
    pub fn tangent_stiffness(&self, mass: f64, speed: f64) -> f64 {
        let n = self.exponent;
        let depth = (0.5 * (n + 1.0) * mass * speed * speed / self.stiffness).powf(1.0 / (n + 1.0));
        n * self.stiffness * depth.powf(n - 1.0)
    }

    /// The coefficient of restitution at this impact speed (m/s, rad/s): from 0 to 1.
    ///
    /// ```
    /// use fly_mechanics::contact::Compliance;
    ///
    /// let rubber = Compliance::new(2000.0, 1.5, 0.3)?;
    /// // Little is lost at low speed: e = 1 - 2/3 c v.
    /// assert!((rubber.restitution(1e-3) - (1.0 - 2e-4)).abs() < 1e-7);
    /// # Ok::<(), fly_mechanics::contact::ComplianceError>(())
    /// ```
    pub fn restitution(&self, speed: f64) -> f64 {
        let x = self.damping * speed.abs();
        if x < 1e-4 {
            return 1.0 - 2.0 / 3.0 * x;
        }
        let brought = x - x.ln_1p();
        // y = c e v, between 0 and both x and 1; the residual increases with it.
        let (mut low, mut high) = (0.0, x.min(1.0));
        for _ in 0..80 {
            let y = f64::midpoint(low, high);
            if -y - (-y).ln_1p() < brought {
                low = y;
            } else {
                high = y;
            }
        }
        low / x
    }
}
