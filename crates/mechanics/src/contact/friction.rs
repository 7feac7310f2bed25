//! Friction with stiction.

use nalgebra::Vector2;

/// Dry friction of a compliant contact: a bristle, which is a spring and a damper in parallel, in series with a slider that holds at most
/// `mu N`.
///
/// With the deflection `z` of the bristle in the plane (its state) and the velocity `v` of the contact, m and m/s along two axes:
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

/// The force and motion of a bristle.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct BristleMotion {
    /// `f`, N; `-f` acts on the body.
    pub force: Vector2<f64>,
    /// `z_dot`, m/s.
    pub rate: Vector2<f64>,
    /// The dissipated power, W, never negative.
    pub dissipation: f64,
}

impl Friction {
    /// The force and motion of a bristle with this deflection (m) when the contact moves with `velocity` (m/s) under this
    /// normal force (N).
    #[inline]
    pub fn motion(
        &self,
        deflection: &Vector2<f64>,
        velocity: &Vector2<f64>,
        normal: f64,
    ) -> BristleMotion {
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
    pub fn energy(&self, deflection: &Vector2<f64>) -> f64 {
        0.5 * self.stiffness * deflection.norm_squared()
    }
}
