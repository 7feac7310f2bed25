//! The largest bandwidth at which a loop meets its requirements.

use std::fmt;

use crate::analysis::Shortfall;

/// The requirement that a loop violates.
#[derive(Clone, Debug, PartialEq)]
pub enum BandwidthLimit {
    /// There are no parameters with this bandwidth.
    Parameters(String),
    /// A margin is missed.
    Margin(Shortfall),
    /// An input saturates at too small an error.
    Saturation {
        /// The largest error that saturates no input.
        free: f64,
        /// The required one.
        expected: f64,
        /// The unit of both: m, rad, or either.
        unit: &'static str,
    },
}

/// The largest bandwidth found.
#[derive(Clone, Debug, PartialEq)]
pub struct Fastest {
    /// rad/s.
    pub bandwidth: f64,
    /// The requirement violated at a bandwidth larger by [`SCAN`]; `None` if the search began there.
    pub limit: Option<BandwidthLimit>,
}

/// No bandwidth in the range meets the requirements.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
#[error(
    "no {motion} between {least:.3} and {most:.0} rad/s keeps the margins: {}", self.limits()
)]
pub struct NoFeasibleBandwidth {
    /// The motion.
    pub motion: &'static str,
    /// The smallest bandwidth tested, rad/s.
    pub least: f64,
    /// The largest bandwidth tested, rad/s.
    pub most: f64,
    /// The requirement violated at the smallest.
    pub limit: BandwidthLimit,
    /// The fastest of the best candidates: those with parameters and a stable loop.
    pub nearest: f64,
    /// The requirement violated there.
    pub nearest_limit: BandwidthLimit,
}

impl NoFeasibleBandwidth {
    /// Both requirements with their bandwidths, or the one reason why there are no parameters at any.
    fn limits(&self) -> String {
        let (limit, nearest) = (&self.limit, &self.nearest_limit);
        if limit == nearest && matches!(limit, BandwidthLimit::Parameters(_)) {
            return limit.to_string();
        }
        let (least, at) = (self.least, self.nearest);
        format!("at {least:.3} rad/s {limit}; at {at:.3} rad/s {nearest}")
    }
}

/// The ratio of successive bandwidths tested.
pub const SCAN: f64 = 1.05;
/// The relative precision of the result.
const PRECISE: f64 = 1e-3;

/// The largest bandwidth (rad/s) in a range for which `limit` returns `None`.
///
/// Does not assume monotonicity: tests bandwidths a factor [`SCAN`] apart from the largest down, takes the first that holds, bisects between it and
/// its larger neighbour, and requires that one larger by [`SCAN`] fails. May miss a window narrower than that factor.
///
/// # Errors
/// [`NoFeasibleBandwidth`], and those of `limit`.
pub fn fastest<E: From<NoFeasibleBandwidth>>(
    motion: &'static str,
    [least, most]: [f64; 2],
    mut limit: impl FnMut(f64) -> Result<Option<BandwidthLimit>, E>,
) -> Result<Fastest, E> {
    let (mut bandwidth, mut above) = (most, None);
    let mut nearest = None;
    while let Some(found) = limit(bandwidth)? {
        let is_near = !matches!(
            found,
            BandwidthLimit::Parameters(_) | BandwidthLimit::Margin(Shortfall::Unstable)
        );
        if nearest.is_none() && is_near {
            nearest = Some((bandwidth, found.clone()));
        }
        if bandwidth <= least {
            let (nearest, there) = nearest.unwrap_or((bandwidth, found.clone()));
            return Err(NoFeasibleBandwidth {
                motion,
                least,
                most,
                limit: found,
                nearest,
                nearest_limit: there,
            }
            .into());
        }
        above = Some(bandwidth);
        bandwidth = (bandwidth / SCAN).max(least);
    }
    let Some(mut above) = above else {
        let rounded = three_digits_down(bandwidth);
        if rounded >= least && limit(rounded)?.is_none() {
            bandwidth = rounded;
        }
        return Ok(Fastest {
            bandwidth,
            limit: None,
        });
    };
    loop {
        while above - bandwidth > PRECISE * bandwidth {
            let middle = f64::midpoint(bandwidth, above);
            match limit(middle)? {
                None => bandwidth = middle,
                Some(_) => above = middle,
            }
        }
        let rounded = three_digits_down(bandwidth);
        if rounded >= least && limit(rounded)?.is_none() {
            bandwidth = rounded;
        }
        let faster = SCAN * bandwidth;
        match limit(faster)? {
            None if faster < most => (bandwidth, above) = (faster, SCAN * faster),
            limit => return Ok(Fastest { bandwidth, limit }),
        }
    }
}

/// Round down to three digits: 3.42, not 3.4238.
fn three_digits_down(number: f64) -> f64 {
    let unit = 10.0_f64.powf(number.log10().floor() - 2.0);
    let digits = (number / unit).floor();
    // The number as typed: 342/100, not 342*0.01.
    if unit < 1.0 {
        digits / unit.recip().round()
    } else {
        digits * unit
    }
}

impl fmt::Display for BandwidthLimit {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Parameters(why) => write!(f, "there are no parameters: {why}"),
            Self::Margin(shortfall) => shortfall.fmt(f),
            Self::Saturation {
                free,
                expected,
                unit,
            } => {
                let (scale, unit) = match *unit {
                    "rad" => (1.0_f64.to_degrees(), "degrees"),
                    unit => (1.0, unit),
                };
                let (free, expected) = (free * scale, expected * scale);
                write!(
                    f,
                    "an error of {free:.3} {unit} saturates an input, but {expected:.3} must not"
                )
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn search(holds: impl Fn(f64) -> bool) -> Result<Fastest, NoFeasibleBandwidth> {
        fastest("bandwidth", [0.01, 500.0], |b| {
            Ok((!holds(b)).then_some(BandwidthLimit::Margin(Shortfall::Gain(2.0))))
        })
    }

    #[test]
    fn the_largest_is_found_whatever_is_below() {
        // Two windows: the upper one counts.
        let holds = |b: f64| b < 0.7 || (3.0..3.456_78).contains(&b);
        let found = search(holds).unwrap();
        assert_eq!(found.bandwidth, 3.45);
        assert!(found.limit.is_some() && !holds(SCAN * found.bandwidth));
        let found = search(|b| b < 0.7).unwrap();
        assert!((0.698..0.7).contains(&found.bandwidth), "{found:?}");
        let found = search(|_| true).unwrap();
        assert_eq!((found.bandwidth, found.limit), (500.0, None));
        let none = search(|_| false).unwrap_err();
        assert_eq!((none.least, none.nearest), (0.01, 500.0));
    }

    #[test]
    fn numbers_read_well() {
        let cases = [
            (3.4238, 3.42),
            (34.99, 34.9),
            (349.9, 349.0),
            (0.034_567, 0.0345),
        ];
        for (number, expected) in cases {
            assert_eq!(three_digits_down(number), expected);
        }
    }
}
