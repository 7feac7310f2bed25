//! When an error has settled.

/// Errors below this, m or rad, count as zero.
const RESOLUTION: f64 = 1e-9;
/// An error that has been inside its band for a smaller fraction of the flight than this may leave it again.
const LASTING: f64 = 0.1;

/// When an error entered its band for good, in constant memory.
///
/// The band is a tolerance, or [`BAND`](Self::BAND) of the largest error so far: that grows only with an error that is outside, so errors inside it
/// stay inside.
///
/// ```
/// let mut settling = fly_log::Settling::default();
/// for k in 0..100 {
///     let time = 0.1 * f64::from(k);
///     settling.record(time, (-time).exp(), 0.02);
/// }
/// // ln 50 s.
/// assert!(settling.time().is_some_and(|time| (time - 4.0).abs() < 1e-9));
/// ```
#[derive(Debug, Clone, Copy, Default)]
pub struct Settling {
    start: Option<f64>,
    last: f64,
    since: Option<f64>,
}

impl Settling {
    /// The band of an error without a tolerance, as a fraction of the largest error.
    pub const BAND: f64 = 0.02;

    /// Counts an error and its band, m or rad, at a time, s; returns whether it is inside. A NaN is outside every band.
    pub fn record(&mut self, time: f64, error: f64, band: f64) -> bool {
        self.start.get_or_insert(time);
        self.last = time;
        let is_inside = error <= band.max(RESOLUTION);
        self.since = is_inside.then(|| self.since.unwrap_or(time));
        is_inside
    }

    /// When it entered the band for good, s after the first error; `None` if it did not, or too late to tell.
    pub fn time(&self) -> Option<f64> {
        let (start, since) = self.start.zip(self.since)?;
        (self.last - since >= LASTING * (self.last - start)).then_some(since - start)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn settled(errors: impl Fn(f64) -> f64) -> Option<f64> {
        let (mut settling, mut largest) = (Settling::default(), 0.0_f64);
        for k in 0..=100 {
            let time = f64::from(k);
            largest = largest.max(errors(time));
            settling.record(time, errors(time), Settling::BAND * largest);
        }
        settling.time()
    }

    #[test]
    fn an_error_settles_where_it_stays_inside_its_final_band() {
        let step = |until: f64| move |time: f64| f64::from(u8::from(time < until));
        assert_eq!(settled(step(30.0)), Some(30.0));
        assert_eq!(settled(step(90.0)), Some(90.0));
        assert_eq!(settled(step(91.0)), None, "in the last tenth");
        assert_eq!(settled(|_| 0.0), Some(0.0));
        assert_eq!(settled(|_| 1.0), None);
        assert_eq!(settled(|_| f64::NAN), None);
        // A larger error later widens the band after it alone: 1.5 is inside from then on.
        let late = |time: f64| match time {
            50.0 => 100.0,
            _ => 1.5,
        };
        assert_eq!(settled(late), Some(51.0));
        assert_eq!(Settling::default().time(), None);
    }
}
