//! The largest bandwidth with which a loop keeps what is asked of it.

use std::fmt;

use crate::analysis::Shortfall;

/// Why a loop is not as it should be.
#[derive(Clone, Debug, PartialEq)]
pub enum Limit {
    /// There are no such parameters.
    Parameters(String),
    /// A margin is not kept.
    Margin(Shortfall),
    /// An input is at its limit for an error from which it should not be.
    Saturation {
        /// The largest error that takes no input to its limit.
        free: f64,
        /// What is asked for.
        expected: f64,
        /// The unit of both: m, rad, or either.
        unit: &'static str,
    },
}

/// The largest bandwidth that was found.
#[derive(Clone, Debug, PartialEq)]
pub struct Fastest {
    /// rad/s.
    pub bandwidth: f64,
    /// What forbids a bandwidth that is larger by [`SCAN`]; `None` where the search began there.
    pub limit: Option<Limit>,
}

/// No bandwidth in the whole range keeps what is asked for.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
#[error(
    "no {motion} between {least:.3} and {most:.0} rad/s keeps the margins: at {least:.3} rad/s {limit}; at {nearest:.3} rad/s {there}"
)]
pub struct NoneKeeps {
    /// What was looked for.
    pub motion: &'static str,
    /// The slowest that was looked at, rad/s.
    pub least: f64,
    /// The fastest, rad/s.
    pub most: f64,
    /// What is wrong with the slowest.
    pub limit: Limit,
    /// The fastest one of those that come nearest: for which there are parameters and the loop is stable.
    pub nearest: f64,
    /// What is wrong with that.
    pub there: Limit,
}

/// The ratio of neighbouring bandwidths that are looked at.
pub const SCAN: f64 = 1.05;
/// How precisely the border is found.
const PRECISE: f64 = 1e-3;

/// The largest bandwidth (rad/s) of a range whose `limit` is none.
///
/// Nothing is taken for monotone: bandwidths a factor [`SCAN`] apart are looked at from the fastest down, the first that holds is taken, the border
/// between it and its faster neighbour is found by halving, and one larger by [`SCAN`] must not hold. Between those that are looked at a
/// narrow window may be missed.
///
/// # Errors
/// [`NoneKeeps`], and those of `limit`.
pub fn fastest<E: From<NoneKeeps>>(
    motion: &'static str,
    [least, most]: [f64; 2],
    mut limit: impl FnMut(f64) -> Result<Option<Limit>, E>,
) -> Result<Fastest, E> {
    let (mut bandwidth, mut above) = (most, None);
    let mut nearest = None;
    while let Some(found) = limit(bandwidth)? {
        let is_near = !matches!(
            found,
            Limit::Parameters(_) | Limit::Margin(Shortfall::Unstable)
        );
        if nearest.is_none() && is_near {
            nearest = Some((bandwidth, found.clone()));
        }
        if bandwidth <= least {
            let (nearest, there) = nearest.unwrap_or((bandwidth, found.clone()));
            return Err(NoneKeeps {
                motion,
                least,
                most,
                limit: found,
                nearest,
                there,
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

/// What reads well: 3.42, not 3.4238.
fn three_digits_down(number: f64) -> f64 {
    let unit = 10.0_f64.powf(number.log10().floor() - 2.0);
    let digits = (number / unit).floor();
    // What is typed in is what is meant: 342/100, not 342*0.01.
    if unit < 1.0 {
        digits / unit.recip().round()
    } else {
        digits * unit
    }
}

impl fmt::Display for Limit {
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
                    "an error of {free:.3} {unit} takes an input to its limit, where {expected:.3} should not"
                )
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn search(holds: impl Fn(f64) -> bool) -> Result<Fastest, NoneKeeps> {
        fastest("bandwidth", [0.01, 500.0], |b| {
            Ok((!holds(b)).then_some(Limit::Margin(Shortfall::Gain(2.0))))
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
