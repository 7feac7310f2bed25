//! A path through samples.

use super::side_of_yaw;
use super::{Path, PathPoint};
use crate::trajectory::jet::{Jet, Jet3};
use crate::trajectory::{SampleError, Table};

/// A path through the rows of a [`Table`].
#[derive(Clone, Debug, PartialEq)]
pub struct Sampled(Table);

impl Sampled {
    /// From comma-separated values: a header `time,x,y,z` or `time,x,y,z,yaw` (s, m, rad; the yaw is not wrapped), then one row per sample,
    /// see [`Table::from_csv`].
    ///
    /// # Errors
    /// [`SampleError`], with the line.
    pub fn from_csv(text: &str) -> Result<Self, SampleError> {
        let expected = "time,x,y,z or time,x,y,z,yaw";
        Table::from_csv(text, expected, |columns| {
            matches!(columns, ["x", "y", "z"] | ["x", "y", "z", "yaw"])
        })
        .map(Self)
    }

    fn curve(&self, t: f64) -> [Jet<5>; 4] {
        let mut curves = [Jet::constant(0.0); 4];
        self.0.curves(t, &mut curves[..self.0.columns().len()]);
        curves
    }
}

impl Path for Sampled {
    fn at(&self, t: f64) -> PathPoint {
        let [x, y, z, yaw] = self.curve(t);
        let position: Jet3<5> = [x, y, z];
        PathPoint {
            position,
            side: side_of_yaw(yaw.truncate()),
        }
    }

    fn duration(&self) -> Option<f64> {
        Some(self.horizon())
    }

    fn horizon(&self) -> f64 {
        self.0.end()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn csv(rows: impl IntoIterator<Item = [f64; 5]>) -> String {
        let rows = rows
            .into_iter()
            .map(|[t, x, y, z, yaw]| format!("{t}, {x}, {y}, {z}, {yaw}\n"));
        "# made by hand\ntime, x, y, z, yaw\n".to_owned() + &rows.collect::<String>()
    }

    #[test]
    fn polynomials_up_to_degree_six_are_met_exactly() {
        let f = |t: f64| [t.powi(4) - t, 2.0 - t.powi(6), t.powi(3), 0.3 * t];
        let times = [0.0, 0.3, 0.5, 0.9, 1.0, 1.3, 1.6, 1.7];
        let path = Sampled::from_csv(&csv(times.map(|t| {
            let [x, y, z, yaw] = f(t);
            [t, x, y, z, yaw]
        })))
        .unwrap();
        for i in 1..170 {
            let t = f64::from(i) * 0.01;
            let [x, y, z, yaw] = path.curve(t);
            for (found, expected) in [x, y, z, yaw].iter().zip(f(t)) {
                assert!((found.value() - expected).abs() < 1e-11, "{t}");
            }
            assert!((x.derivative(1) - (4.0 * t.powi(3) - 1.0)).abs() < 1e-10);
            assert!((x.derivative(4) - 24.0).abs() < 1e-6, "{t} {x:?}");
        }
    }

    #[test]
    fn it_is_smooth_through_all_samples() {
        let row = |i: i32| {
            let t = 0.1 * f64::from(i);
            [t, (2.0 * t).sin(), t.cos(), 0.0, 0.5 * t]
        };
        let path = Sampled::from_csv(&csv((0..30).map(row))).unwrap();
        for i in 1..29 {
            let [t, x, ..] = row(i);
            let (before, after) = (path.curve(t - 1e-9)[0], path.curve(t + 1e-9)[0]);
            assert!((after.value() - x).abs() < 1e-8);
            for k in 0..5 {
                let (a, b) = (before.derivative(k), after.derivative(k));
                // The fifth derivative of the blend is about 15120 times the difference of two fits over the fifth power of 0.1 s.
                assert!((a - b).abs() < 1e-3 * (1.0 + a.abs()), "{i} {k} {a} {b}");
            }
            assert!(
                (after.derivative(1) - 2.0 * (2.0 * t).cos()).abs() < 2e-3,
                "{i}"
            );
        }
        assert_eq!(path.curve(-1.0)[1].value(), 1.0);
        assert_eq!(path.curve(99.0)[0].derivative(1), 0.0);
        assert_eq!(path.duration(), Some(0.1 * 29.0));
    }

    #[test]
    fn wrong_files_are_refused_with_the_line() {
        let head = "time,x,y,z\n";
        for (text, expected) in [
            (
                "",
                "line 1: expected the columns time,x,y,z or time,x,y,z,yaw, found ``",
            ),
            (
                "t,x,y,z\n",
                "line 1: expected the columns time,x,y,z or time,x,y,z,yaw, found `t,x,y,z`",
            ),
            (
                &format!("{head}0,1,2\n"),
                "line 2: expected 4 finite numbers separated by commas, found `0,1,2`",
            ),
            (
                &format!("{head}0,1,2,nan\n"),
                "line 2: expected 4 finite numbers separated by commas, found `0,1,2,nan`",
            ),
            (
                &format!("{head}0,1,2,3\n\n0,1,2,3\n"),
                "line 4: expected a time after 0 s, found 0 s",
            ),
            (
                &format!("{head}0,1,2,3\n1,1,2,3\n"),
                "expected at least 7 samples, found 2",
            ),
        ] {
            assert_eq!(Sampled::from_csv(text).unwrap_err().to_string(), expected);
        }
    }
}
