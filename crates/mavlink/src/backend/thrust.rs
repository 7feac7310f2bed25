//! Converts newtons to an autopilot's thrust, and back.
//!
//! An autopilot's collective thrust `u` is between 0 and 1. The map is anchored in hover, where both sides agree on the
//! force: the rotors carry the weight `m g`, and the autopilot's own controller needs `u = hover`. In between,
//!
//! ```text
//! T(u) = m g r(u) / r(hover)
//! ```
//!
//! with a [`Curve`] `r`, of which only the shape matters, not the scale.

use super::curve::Curve;

/// The map of one vehicle.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct ThrustMap {
    /// m g, N.
    pub weight: f64,
    /// What the autopilot commands in hover, 0 to 1.
    pub hover: f64,
    /// `r`.
    pub curve: Curve,
    /// Allowed commands, 0 to 1.
    pub limits: [f64; 2],
}

impl ThrustMap {
    /// The force of a command, N.
    #[cfg(test)]
    fn force(&self, u: f64) -> f64 {
        self.weight * self.curve.value(u) / self.curve.value(self.hover)
    }

    /// The command for a force (N), within the limits; a NaN counts as none. Does not allocate.
    pub fn command(&self, force: f64) -> f64 {
        let wanted = (force / self.weight).max(0.0) * self.curve.value(self.hover);
        let u = self.curve.inverse(wanted);
        // That of an infinite force is NaN, and becomes the largest.
        u.min(self.limits[1]).max(self.limits[0])
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn map(curve: Curve) -> ThrustMap {
        ThrustMap {
            weight: 8.8,
            hover: 0.4,
            curve,
            limits: [0.0, 1.0],
        }
    }

    fn quadratic(factor: f64) -> ThrustMap {
        map(Curve::Quadratic(factor))
    }

    fn measured() -> ThrustMap {
        let points = vec![[0.1, 0.5], [0.3, 4.0], [0.7, 14.0], [0.95, 19.0]];
        map(Curve::Measured(points))
    }

    #[test]
    fn force_and_command_are_each_others_inverse() {
        let curves = [0.0, 1e-12, 0.3, 0.75, 1.0].map(quadratic);
        for map in curves.into_iter().chain([measured()]) {
            for i in 0..=50 {
                let u = f64::from(i) / 50.0;
                let back = map.command(map.force(u));
                assert!((back - u).abs() < 1e-12, "{map:?}: {u} came back as {back}");
            }
            assert!(
                (map.command(8.8) - 0.4).abs() < 1e-15,
                "hover carries the weight"
            );
        }
    }

    #[test]
    fn closed_forms() {
        // Linear: 1.5 times the weight is 1.5 times the hover's command. Quadratic: by the square root.
        assert!((quadratic(0.0).command(13.2) - 0.6).abs() < 1e-15);
        assert!((quadratic(1.0).command(13.2) - 0.4 * 1.5_f64.sqrt()).abs() < 1e-15);
        // f = 1/2: r(0.4) = 0.28, so that u² + u = 0.56 for the weight times one, 1.12 for two.
        let u = quadratic(0.5).command(17.6);
        assert!((u * u + u - 1.12).abs() < 1e-12);
        // 6.5 N are measured at 0.4, 13 at 0.66: twice the weight by whatever scale the battery has now.
        assert!((measured().command(17.6) - 0.66).abs() < 1e-12);
    }

    #[test]
    fn limits_hold_whatever_is_asked_for() {
        for map in [quadratic(0.5), measured()] {
            let map = ThrustMap {
                limits: [0.05, 0.9],
                ..map
            };
            for force in [-1.0, 0.0, f64::NAN, f64::NEG_INFINITY] {
                assert_eq!(map.command(force), 0.05, "{force}");
            }
            assert_eq!(map.command(1e9), 0.9);
            assert_eq!(map.command(f64::INFINITY), 0.9);
        }
    }
}
