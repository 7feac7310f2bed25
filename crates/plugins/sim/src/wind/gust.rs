//! Discrete gusts.

use std::f64::consts::PI;

use nalgebra::Vector3;

/// The discrete gust of MIL-F-8785C, 3.7.2.3: the wind grows by `amplitude (1 - cos(pi x / d)) / 2` while x goes from 0 to d, and then
/// stays.
///
/// x is either the time since the start, or the distance travelled through the air since then. To end a gust, add one of the opposite
/// amplitude.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Gust {
    /// s.
    start: f64,
    /// m/s, world.
    amplitude: Vector3<f64>,
    extent: Extent,
    /// x at the beginning of the step, s or m.
    passed: f64,
}

/// The extent over which a gust grows.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Extent {
    /// s.
    Time(f64),
    /// m.
    Length(f64),
}

impl Gust {
    pub(crate) fn new(start: f64, amplitude: Vector3<f64>, extent: Extent) -> Self {
        Self {
            start,
            amplitude,
            extent,
            passed: 0.0,
        }
    }

    /// The wind at this time, s, after the beginning of a step at `time`; `airspeed` is that of the step, m/s.
    pub(crate) fn velocity(&self, time: f64, later: f64, airspeed: f64) -> Vector3<f64> {
        let extent = match self.extent {
            Extent::Time(extent) | Extent::Length(extent) => extent,
        };
        let part = self.way(time, later, airspeed) / extent;
        self.amplitude * (0.5 * (1.0 - (PI * part.min(1.0)).cos()))
    }

    /// Ends a step.
    pub(crate) fn pass(&mut self, time: f64, step: f64, airspeed: f64) {
        self.passed = self.way(time, step, airspeed);
    }

    fn way(&self, time: f64, later: f64, airspeed: f64) -> f64 {
        match self.extent {
            Extent::Time(_) => (time + later - self.start).max(0.0),
            Extent::Length(_) => {
                let moving = (time + later - self.start.max(time)).max(0.0);
                self.passed + airspeed * moving
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// `V_m / 2 (1 - cos(pi x / d_m))`, evaluated at marked points: none, a half, all of it.
    #[test]
    fn it_grows_as_the_standard_says() {
        let amplitude = Vector3::new(4.0, 0.0, -2.0);
        let gust = Gust::new(1.0, amplitude, Extent::Time(2.0));
        for (time, part) in [
            (0.0, 0.0),
            (1.0, 0.0),
            (1.0 + 2.0 / 3.0, 0.25),
            (2.0, 0.5),
            (3.0, 1.0),
            (50.0, 1.0),
        ] {
            let found = gust.velocity(time, 0.0, 7.0);
            assert!((found - amplitude * part).norm() < 1e-14, "{time}");
            assert_eq!(found, gust.velocity(0.0, time, 1.0), "{time}");
        }
    }

    /// Over a length only the distance matters, whatever the speeds and steps.
    #[test]
    fn over_a_length_the_way_counts() {
        let mut gust = Gust::new(0.95, Vector3::x(), Extent::Length(30.0));
        let (mut time, mut way) = (0.0, 0.0);
        for i in 0..40 {
            let (step, airspeed) = (0.1, 5.0 + f64::from(i % 7));
            assert!((gust.passed - way).abs() < 1e-12, "{time}");
            let half = gust.velocity(time, 0.5 * step, airspeed).x;
            gust.pass(time, step, airspeed);
            time += step;
            let moving = step.min((time - 0.95_f64).max(0.0));
            let middle: f64 = way + airspeed * (moving - 0.5 * step).max(0.0);
            way += airspeed * moving;
            let expected = 0.5 * (1.0 - (PI * middle.min(30.0) / 30.0).cos());
            assert!((half - expected).abs() < 1e-12, "{time}: {half} {expected}");
        }
        assert!(way > 20.0);
    }
}
