//! What a loop must bear that its model does not know.

use std::fmt;

use nalgebra::Complex;

use super::{AnalysisError, SampledLoop, growth};

/// Margins that a loop must keep as it is flown: sampled, held, through the lags of its actuators.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Margins {
    /// It is stable while its inputs act up to this many times as strongly as the model says, and as weakly as its inverse; at least 1.
    pub gain: f64,
    /// It is stable with any delay up to this one, s, beyond what is in the loop already.
    pub delay: f64,
    /// The least damping ratio of its poles but for those that end within two steps, where the ratio has no meaning.
    pub damping: f64,
}

impl Default for Margins {
    /// Gains from 1/2 to 2, 10 ms, a damping ratio of 0.5.
    fn default() -> Self {
        Self {
            gain: 2.0,
            delay: 0.01,
            damping: 0.5,
        }
    }
}

/// A margin that a loop does not keep.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Shortfall {
    /// It is not stable at all.
    Unstable,
    /// A pole has too little damping.
    Damping {
        /// The pole, 1/s: that of a continuous loop that would move in the same way.
        pole: Complex<f64>,
        /// Its damping ratio.
        ratio: f64,
    },
    /// It is not stable with this many times the gain.
    Gain(f64),
    /// It is not stable with this much more delay, s.
    Delay(f64),
}

/// What is left after a step of a motion that has a frequency: others have a time constant of less than two steps.
const LASTING: f64 = 0.6;
/// From one gain that is looked at to the next.
const GAIN_STEP: f64 = 1.1;
/// How many delays are looked at.
const DELAYS: u32 = 4;
/// The poles with a delay are computed from this many numbers at most; with more the margin follows from the frequency response.
const LARGEST: f64 = 150.0;

impl Margins {
    /// The first margin that a loop does not keep; `None` if it keeps all.
    ///
    /// Gains are looked at a tenth apart, delays at quarters of the largest.
    ///
    /// # Errors
    /// [`AnalysisError::Poles`].
    pub fn shortfall(&self, sampled: &SampledLoop) -> Result<Option<Shortfall>, AnalysisError> {
        // Not above, so that what is not a number is not stable.
        let is_stable = |poles: &[Complex<f64>]| growth(poles) < 1.0;
        let poles = sampled.poles()?;
        if !is_stable(&poles) {
            return Ok(Some(Shortfall::Unstable));
        }
        let lasting = poles.iter().filter(|z| z.norm() > LASTING);
        let least = (lasting.map(|z| continuous(*z, sampled.step())))
            .map(|pole| (pole, damping_ratio(pole)))
            .min_by(|a, b| a.1.total_cmp(&b.1));
        if let Some((pole, ratio)) = least.filter(|(_, ratio)| *ratio < self.damping) {
            return Ok(Some(Shortfall::Damping { pole, ratio }));
        }
        // The ends first: they are what is missed most often.
        let mut gains = vec![self.gain, self.gain.recip()];
        let mut between = GAIN_STEP;
        while between < self.gain {
            gains.extend([between, between.recip()]);
            between *= GAIN_STEP;
        }
        for gain in gains.into_iter().filter(|gain| *gain != 1.0) {
            if !is_stable(&sampled.poles_with_gain(gain)?) {
                return Ok(Some(Shortfall::Gain(gain)));
            }
        }
        self.delay(sampled)
    }

    fn delay(&self, sampled: &SampledLoop) -> Result<Option<Shortfall>, AnalysisError> {
        let commands = self.delay / sampled.step() * sampled.inputs() as f64;
        if commands > LARGEST {
            let margin = sampled.delay_margin()?;
            let short = margin.filter(|margin| margin.delay <= self.delay);
            return Ok(short.map(|margin| Shortfall::Delay(margin.delay)));
        }
        for part in (1..=DELAYS).rev() {
            let delay = self.delay * f64::from(part) / f64::from(DELAYS);
            let poles = sampled.poles_with_delay(delay)?;
            if delay > 0.0 && growth(&poles) >= 1.0 {
                return Ok(Some(Shortfall::Delay(delay)));
            }
        }
        Ok(None)
    }
}

/// The pole of a continuous loop that does in a step what this one of a sampled loop does, 1/s.
fn continuous(z: Complex<f64>, step: f64) -> Complex<f64> {
    // One that ends within the step has no logarithm.
    Complex::new(z.re, z.im).ln().unscale(step)
}

fn damping_ratio(pole: Complex<f64>) -> f64 {
    let size = pole.norm();
    if size.is_finite() {
        -pole.re / size
    } else {
        1.0
    }
}

impl fmt::Display for Shortfall {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Unstable => write!(f, "the loop as it is flown is not stable"),
            Self::Damping { pole, ratio } => write!(
                f,
                "a pole at {:.3} +- {:.3}i 1/s has a damping ratio of {ratio:.3}",
                pole.re,
                pole.im.abs()
            ),
            Self::Gain(gain) => write!(f, "{gain:.3} times the gain makes it unstable"),
            Self::Delay(delay) => {
                write!(f, "{:.3} ms more delay make it unstable", 1e3 * delay)
            }
        }
    }
}
