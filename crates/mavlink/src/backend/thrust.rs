//! From newtons to what an autopilot calls thrust, and back.
//!
//! An autopilot's collective thrust `u` goes from 0 to 1. It is anchored where both sides agree on the force: in hover, where the rotors
//! carry the weight `m g` and the autopilot's own controller needs `u = hover`. Between,
//!
//! ```text
//! T(u) = m g r(u) / r(hover),    r(u) = f u² + (1 - f) u
//! ```
//!
//! with the curve's factor `f` in 0 to 1: 0 where the autopilot linearises its outputs, as ArduPilot does by `MOT_THST_EXPO` and PX4 by a
//! `THR_MDL_FAC` that fits; 1 where thrust goes with the square of the command, as of outputs that are speeds. PX4's documentation defines
//! `THR_MDL_FAC` by the same `r`.

/// The map of one vehicle.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct ThrustMap {
    /// m g, N.
    pub weight: f64,
    /// What the autopilot commands in hover, 0 to 1.
    pub hover: f64,
    /// `f`.
    pub curve: f64,
    /// What may be commanded, 0 to 1.
    pub limits: [f64; 2],
}

impl ThrustMap {
    /// `r(u)`.
    fn relative(&self, u: f64) -> f64 {
        u * (self.curve * u + 1.0 - self.curve)
    }

    /// The force of a command, N.
    #[cfg(test)]
    fn force(&self, u: f64) -> f64 {
        self.weight * self.relative(u) / self.relative(self.hover)
    }

    /// The command for a force (N), within the limits.
    pub fn command(&self, force: f64) -> f64 {
        let wanted = (force / self.weight).max(0.0) * self.relative(self.hover);
        // The root of f u² + (1 - f) u = wanted, written so that f = 0 is no exception.
        let linear = 1.0 - self.curve;
        let root = (linear * linear + 4.0 * self.curve * wanted).sqrt();
        let u = if wanted > 0.0 {
            2.0 * wanted / (linear + root)
        } else {
            0.0
        };
        // A NaN is no command: the least thrust.
        u.min(self.limits[1]).max(self.limits[0])
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn map(curve: f64) -> ThrustMap {
        ThrustMap {
            weight: 8.8,
            hover: 0.4,
            curve,
            limits: [0.0, 1.0],
        }
    }

    #[test]
    fn force_and_command_are_each_others_inverse() {
        for curve in [0.0, 1e-12, 0.3, 0.75, 1.0] {
            let map = map(curve);
            for i in 0..=50 {
                let u = f64::from(i) / 50.0;
                let back = map.command(map.force(u));
                assert!((back - u).abs() < 1e-12, "{curve}: {u} came back as {back}");
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
        assert!((map(0.0).command(13.2) - 0.6).abs() < 1e-15);
        assert!((map(1.0).command(13.2) - 0.4 * 1.5_f64.sqrt()).abs() < 1e-15);
        // f = 1/2: r(0.4) = 0.28, so that u² + u = 0.56 for the weight times one, 1.12 for two.
        let u = map(0.5).command(17.6);
        assert!((u * u + u - 1.12).abs() < 1e-12);
    }

    #[test]
    fn limits_hold_whatever_is_asked_for() {
        let map = ThrustMap {
            limits: [0.05, 0.9],
            ..map(0.5)
        };
        for force in [-1.0, 0.0, f64::NAN, f64::NEG_INFINITY] {
            assert_eq!(map.command(force), 0.05, "{force}");
        }
        assert_eq!(map.command(1e9), 0.9);
        assert_eq!(map.command(f64::INFINITY), 0.9);
    }
}
