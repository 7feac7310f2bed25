//! How the thrust of an autopilot's command grows.

use std::fmt;

use fly_hal::Error;
use fly_hal::Spanned;
use serde::Deserialize;

use crate::outputs::command_of;

/// Thrust over command `u`, 0 to 1.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Curve {
    /// `f u² + (1 - f) u` with the factor `f` in 0 to 1: 0 where the autopilot linearises its outputs, as ArduPilot does by `MOT_THST_EXPO` and PX4 by a
    /// `THR_MDL_FAC` that fits; 1 where thrust goes with the square of the command, as of outputs that are speeds. PX4's documentation defines
    /// `THR_MDL_FAC` by the same form.
    Quadratic(f64),
    /// Points `[u, N]` that were measured, rising in both; between them, from no thrust at `u = 0`, and beyond the last one it is linear.
    Measured(Vec<[f64; 2]>),
}

/// As it is written.
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[derive(Debug, Deserialize)]
#[serde(
    untagged,
    expecting = "expected a number from 0 to 1, or points [command, force in N]"
)]
pub(crate) enum CurveSettings {
    Factor(f64),
    Points(Vec<[f64; 2]>),
}

/// How `thrust_curve` is written as points.
const EXPECTED: &str =
    "expected at least two points [command, force in N] that rise in both, commands from 0 to 1";

impl Curve {
    /// The curve of `thrust_curve`; linear without.
    ///
    /// # Errors
    /// A factor out of range, or points that make no curve.
    pub fn read(value: Option<Spanned<CurveSettings>>) -> Result<Self, Error> {
        let Some(value) = value else {
            return Ok(Self::Quadratic(0.0));
        };
        let refused =
            |message: String| Err(Error::configuration(message).in_configuration(value.span()));
        match value.get_ref() {
            CurveSettings::Factor(factor) if (0.0..=1.0).contains(factor) => {
                Ok(Self::Quadratic(*factor))
            }
            CurveSettings::Factor(factor) => refused(format!(
                "`thrust_curve` is {factor}, expected 0 to 1, or points [command, force in N]"
            )),
            CurveSettings::Points(points) if points.len() < 2 => refused(format!(
                "`thrust_curve` has {} points, {EXPECTED}",
                points.len()
            )),
            CurveSettings::Points(points) => {
                let mut before = [0.0; 2];
                for (index, &[u, force]) in points.iter().enumerate() {
                    // No thrust at no command may be measured as well; a NaN rises above nothing.
                    let is_origin = index == 0 && u == 0.0 && force == 0.0;
                    let rises = u > before[0] && u <= 1.0 && force > before[1];
                    if !(is_origin || rises && force.is_finite()) {
                        return refused(format!(
                            "the point [{u}, {force}] of `thrust_curve` does not follow [{}, {}]: {EXPECTED}",
                            before[0], before[1]
                        ));
                    }
                    before = [u, force];
                }
                Ok(Self::Measured(points.clone()))
            }
        }
    }

    /// Thrust of a command, in the curve's own unit.
    pub fn value(&self, u: f64) -> f64 {
        match self {
            Self::Quadratic(factor) => u * (factor * u + 1.0 - factor),
            Self::Measured(points) => interpolate(points, u, 0),
        }
    }

    /// The command of a thrust from 0 on, in the curve's own unit.
    pub fn inverse(&self, thrust: f64) -> f64 {
        match self {
            Self::Quadratic(factor) => command_of(*factor, thrust),
            Self::Measured(points) => interpolate(points, thrust, 1),
        }
    }

    /// The command that gives a force (N), where the curve is in newtons and knows it.
    pub fn command_of(&self, force: f64) -> Option<f64> {
        match self {
            Self::Quadratic(_) => None,
            Self::Measured(points) => {
                let known = points.last().is_some_and(|last| force <= last[1]);
                known.then(|| self.inverse(force))
            }
        }
    }
}

/// The other coordinate where that of the axis `from` is `x`.
fn interpolate(points: &[[f64; 2]], x: f64, from: usize) -> f64 {
    let to = 1 - from;
    let (mut before, mut ahead) = ([0.0; 2], [0.0; 2]);
    for point in points.iter().filter(|point| point[from] > 0.0) {
        (before, ahead) = (ahead, *point);
        if x <= point[from] {
            break;
        }
    }
    let slope = (ahead[to] - before[to]) / (ahead[from] - before[from]);
    before[to] + slope * (x - before[from])
}

impl fmt::Display for Curve {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Quadratic(factor) => write!(f, "{factor}"),
            Self::Measured(points) => write!(f, "of {} points", points.len()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[derive(Deserialize)]
    struct Table {
        thrust_curve: Option<Spanned<CurveSettings>>,
    }

    fn read(text: &str) -> Result<Curve, Error> {
        let table: Table = toml::from_str(text).unwrap();
        Curve::read(table.thrust_curve)
    }

    #[test]
    fn numbers_and_points_are_read() {
        assert_eq!(read("").unwrap(), Curve::Quadratic(0.0));
        assert_eq!(read("thrust_curve = 1").unwrap(), Curve::Quadratic(1.0));
        let points = vec![[0.0, 0.0], [0.5, 4.0], [1.0, 12.0]];
        let curve = read("thrust_curve = [[0, 0], [0.5, 4], [1.0, 12.0]]").unwrap();
        assert_eq!(curve, Curve::Measured(points));
        assert_eq!(curve.value(0.75), 8.0);
        assert_eq!(curve.inverse(8.0), 0.75);
        assert_eq!(curve.value(0.25), 2.0);
        assert_eq!(curve.command_of(6.0), Some(0.625));
        assert_eq!(curve.command_of(12.5), None, "more than was measured");
    }

    #[test]
    fn what_makes_no_curve_is_refused() {
        for (value, expected) in [
            ("1.5", "`thrust_curve` is 1.5, expected 0 to 1"),
            ("nan", "`thrust_curve` is NaN"),
            ("[[0.5, 4]]", "has 1 points"),
            (
                "[[0.5, 4], [0.4, 5]]",
                "[0.4, 5] of `thrust_curve` does not follow [0.5, 4]",
            ),
            ("[[0.5, 4], [0.6, 4]]", "does not follow"),
            ("[[0.5, 4], [1.1, 5]]", "does not follow"),
            ("[[0.5, 4], [0.6, nan]]", "does not follow"),
            ("[[0.5, 4], [0.6, inf]]", "does not follow"),
            ("[[0.0, 1], [0.6, 3]]", "does not follow"),
        ] {
            let error = read(&format!("thrust_curve = {value}")).unwrap_err();
            assert!(error.message.contains(expected), "{}", error.message);
            assert!(error.location.is_some());
        }
    }
}
