//! Robustness margins: what a loop must tolerate beyond its model.

use std::fmt;

use nalgebra::Complex;

use super::{AnalysisError, SampledLoop, spectral_radius};

/// Margins required of a loop as flown: sampled, with zero-order hold and actuator lags.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Margins {
    /// Gain margin, at least 1: the loop is stable for gains from its inverse up to this factor.
    pub gain: f64,
    /// Delay margin: the loop is stable with any additional delay up to this one, s.
    pub delay: f64,
    /// The least damping ratio of the poles, except those that decay within two steps, for which the ratio has no
    /// meaning.
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

/// A margin that a loop misses.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Shortfall {
    /// The loop is unstable.
    Unstable,
    /// A pole has too little damping.
    Damping {
        /// The pole, 1/s, of the equivalent continuous loop.
        pole: Complex<f64>,
        /// Its damping ratio.
        ratio: f64,
    },
    /// Unstable with the gain multiplied by this factor.
    Gain(f64),
    /// Unstable with this much more delay, s.
    Delay(f64),
}

/// The modulus above which a pole has a frequency: others have a time constant of less than two steps.
const LASTING: f64 = 0.6;
/// Ratio between successive gains tested.
const GAIN_STEP: f64 = 1.1;
/// Number of delays tested.
const DELAYS: u32 = 4;
/// The largest state dimension for which the poles with a delay are computed; beyond it the margin follows from the frequency
/// response.
const LARGEST: f64 = 150.0;

impl Margins {
    /// The first margin that a loop misses; `None` if it keeps all.
    ///
    /// Tests gains a tenth apart, and delays at quarters of the largest.
    ///
    /// # Errors
    /// [`AnalysisError::Poles`].
    pub fn shortfall(&self, sampled: &SampledLoop) -> Result<Option<Shortfall>, AnalysisError> {
        // Not above, so that NaN is unstable.
        let is_stable = |poles: &[Complex<f64>]| spectral_radius(poles) < 1.0;
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
        // The ends first: they fail most often.
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
            if delay > 0.0 && spectral_radius(&poles) >= 1.0 {
                return Ok(Some(Shortfall::Delay(delay)));
            }
        }
        Ok(None)
    }
}

/// The pole of the continuous loop that corresponds to this one of a sampled loop, 1/s.
fn continuous(z: Complex<f64>, step: f64) -> Complex<f64> {
    // A pole at zero, which decays within the step, has no logarithm.
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
