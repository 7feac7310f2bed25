//! Friction with stiction.

use nalgebra::SVector;

/// Dry friction of a compliant contact: a bristle, which is a spring and a damper in parallel, in series with a slider that holds at most
/// `mu N`.
///
/// With the deflection `z` of the bristle (its state) and the velocity `v` of the contact in the plane, m and m/s along two axes of the plane, or along
/// three of a body when the plane moves with the bodies that touch:
///
/// ```text
/// trial = k (z + tau v)       sticks:  |trial| <= mu N     f = trial                     z_dot = v
///                             slips:   else                f = mu N trial / |trial|      z_dot = (f / k - z) / tau
/// ```
///
/// and `-f` acts on the body. The force is continuous; a constant force inside the cone is held by a constant deflection, without creep. The model is the
/// associated flow rule of a slider in series with a Kelvin-Voigt element, so that the slip `v - z_dot` is along `f` and energy is only dissipated: by the
/// damper `k tau |z_dot|²`, by the slider `f . (v - z_dot) >= 0`. Without a normal force the bristle relaxes with the time constant `tau`. (The bristles of
/// Dahl and LuGre yield slightly under any load, so they drift under an oscillating load inside the cone. P. Dupont, V. Hayward, B. Armstrong, F. Altpeter,
/// *Single state elastoplastic friction models*, IEEE TAC 47(5), 2002.)
///
/// There is one coefficient for stiction and sliding, no torsional friction about the normal and no rolling resistance.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Friction {
    /// `mu`, at least 0.
    pub coefficient: f64,
    /// `k`, N/m, above 0.
    pub stiffness: f64,
    /// `tau`, s, above 0: the damping of the bristle relative to its stiffness.
    pub relaxation: f64,
}

/// The force and motion of a bristle, along `D` axes.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct BristleMotion<const D: usize> {
    /// `f`, N; `-f` acts on the body.
    pub force: SVector<f64, D>,
    /// `z_dot`, m/s.
    pub rate: SVector<f64, D>,
    /// The dissipated power, W, never negative.
    pub dissipation: f64,
}

/// Why parameters do not define a [`Friction`].
#[derive(Clone, Copy, Debug, PartialEq, thiserror::Error)]
#[error("expected {expected}, found {found}")]
pub struct FrictionError {
    /// `friction`, `friction_stiffness` or `relaxation`.
    pub key: &'static str,
    /// What was expected.
    pub expected: &'static str,
    /// Its value.
    pub found: f64,
}

impl Friction {
    /// Checks the parameters.
    ///
    /// # Errors
    /// [`FrictionError`]: a negative coefficient; a stiffness or relaxation that is not positive.
    pub fn check(&self) -> Result<(), FrictionError> {
        let above = "a number above 0";
        let (mu, k, tau) = (self.coefficient, self.stiffness, self.relaxation);
        for (key, is, expected, found) in [
            ("friction", mu >= 0.0, "a coefficient of at least 0", mu),
            ("friction_stiffness", k > 0.0, above, k),
            ("relaxation", tau > 0.0, above, tau),
        ] {
            if !is || !found.is_finite() {
                return Err(FrictionError {
                    key,
                    expected,
                    found,
                });
            }
        }
        Ok(())
    }

    /// `k tau`: the damping of a bristle that sticks, N s/m.
    pub fn damping(&self) -> f64 {
        self.stiffness * self.relaxation
    }

    /// The force and motion of a bristle with this deflection (m) when the contact moves with `velocity` (m/s) under this
    /// normal force (N).
    #[inline]
    pub fn motion<const D: usize>(
        &self,
        deflection: &SVector<f64, D>,
        velocity: &SVector<f64, D>,
        normal: f64,
    ) -> BristleMotion<D> {
        let trial = (deflection + velocity * self.relaxation) * self.stiffness;
        let (size, most) = (trial.norm(), self.coefficient * normal);
        let (force, rate) = if size <= most {
            (trial, *velocity)
        } else {
            let force = trial * (most / size);
            (
                force,
                (force / self.stiffness - deflection) / self.relaxation,
            )
        };
        let damped = self.stiffness * self.relaxation * rate.norm_squared();
        BristleMotion {
            force,
            rate,
            dissipation: damped + force.dot(&(velocity - rate)),
        }
    }

    /// `1/2 k |z|²`, J.
    #[inline]
    pub fn energy<const D: usize>(&self, deflection: &SVector<f64, D>) -> f64 {
        0.5 * self.stiffness * deflection.norm_squared()
    }
}
