//! The fastest settings that keep margins.

use fly_mechanics::{System, Vehicle};

use super::moving::{is_free_body, moving};
use super::{AllocationMethod, ControllerSettings, DisturbanceSettings, PreferredInput};
use crate::analysis::{AnalysisError, ClosedLoop, Margins};
use crate::rest;
use crate::tuning::{Fastest, Limit, NoneKeeps, PoleSpec, TuningError, fastest};

/// What is asked of a loop that should be as fast as its actuators allow.
#[derive(Clone, Debug, PartialEq)]
pub struct Demands {
    /// What it must bear.
    pub margins: Margins,
    /// An error of the position (m), or of each joint of a system (m, rad), that takes no input to its limit, from rest. Zero: any may.
    pub error: f64,
    /// An error of a vehicle's heading that takes no input to its limit, from rest, rad.
    pub heading_error: f64,
    /// The step of its controller, s.
    pub step: f64,
    /// Whether its observer of disturbances is to be found, too.
    pub observer: bool,
}

/// The fastest settings.
#[derive(Clone, Debug, PartialEq)]
pub struct FastestSettings {
    /// The settings.
    pub settings: ControllerSettings,
    /// The bandwidth of the motion.
    pub motion: Fastest,
    /// That of the attitude of a vehicle, of one that tilts to move sideways about the vertical; `None` where it was given, or there is none.
    pub attitude: Option<Fastest>,
    /// That of the observer of disturbances, if it was asked for.
    pub observer: Option<Fastest>,
}

/// Why there are none.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum FastestError {
    /// The system has no bandwidth.
    #[error(transparent)]
    Tuning(#[from] TuningError),
    /// None keeps what is asked for.
    #[error(transparent)]
    None(#[from] NoneKeeps),
    /// The loop cannot be analysed.
    #[error(transparent)]
    Analysis(#[from] AnalysisError),
}

/// The slowest bandwidth that is looked at, rad/s.
const LEAST: f64 = 0.01;
/// While the bandwidth of the motion is searched the turn is this part as fast: it limits nothing then.
const TURN: f64 = 0.25;
/// Meanwhile the observer of disturbances, if it is to be found, is this part as fast as the motion: so much of the margins is left for it.
const OBSERVER: f64 = 0.5;

impl Demands {
    /// Bandwidths from the slowest to one radian in a step.
    fn range(&self) -> [f64; 2] {
        [LEAST, self.step.recip().max(LEAST)]
    }

    /// What these settings lack.
    fn limit(
        &self,
        settings: &ControllerSettings,
        system: &System,
        rest: &[f64],
        is_of_turn: bool,
    ) -> Result<Option<Limit>, AnalysisError> {
        // Limits are looked at apart.
        let parameters = |why: String| Ok(Some(Limit::Parameters(why)));
        let closed = match closed(settings, system, rest) {
            Ok(closed) => closed,
            Err(why) => return parameters(why),
        };
        if let Some(limit) = self.saturation(&closed, system, is_of_turn) {
            return Ok(Some(limit));
        }
        let sampled = match closed.sampled(self.step, system.inputs.time_constants()) {
            Ok(sampled) => sampled,
            // Beyond all numbers.
            Err(AnalysisError::Poles) => return parameters(AnalysisError::Poles.to_string()),
            Err(error) => return Err(error),
        };
        Ok(self.margins.shortfall(&sampled)?.map(Limit::Margin))
    }

    /// Whether an input is at its limit for an error that should not take it there.
    fn saturation(&self, closed: &ClosedLoop, system: &System, is_of_turn: bool) -> Option<Limit> {
        let limits = system.inputs.limits();
        let free_of = |range| closed.unsaturated_error(limits, range);
        let (free, expected, unit) = match (is_free_body(system), is_of_turn) {
            (true, true) => (free_of(5..6), self.heading_error, "rad"),
            (true, false) => (free_of(0..3), self.error, "m"),
            (false, _) => {
                let joints = moving(system).map(|(_, range)| free_of(range));
                let free = joints.fold(f64::INFINITY, f64::min);
                (free, self.error, "m or rad")
            }
        };
        (free < expected).then_some(Limit::Saturation {
            free,
            expected,
            unit,
        })
    }
}

/// The loop of these settings for small errors, or why there is none.
fn closed(
    settings: &ControllerSettings,
    system: &System,
    rest: &[f64],
) -> Result<ClosedLoop, String> {
    // Limits, and what redundant inputs prefer, make no difference to small errors, and cost time.
    let settings = ControllerSettings {
        allocation: AllocationMethod::None,
        input_rate_limit: None,
        preferred_input: PreferredInput::Each(vec![0.0; system.inputs.input_dim()]),
        ..settings.clone()
    };
    let controller = settings.build_for_system(system);
    let controller = controller.map_err(|error| error.to_string())?;
    ClosedLoop::new(system, &controller, rest).map_err(|error| error.to_string())
}

/// Observers of disturbances that are looked at: up to the fastest pole of the loop without one. Beyond, noise of the measurements gains, and the margins,
/// which know none, do not tell.
fn observers(
    settings: &ControllerSettings,
    system: &System,
    rest: &[f64],
    range: [f64; 2],
) -> [f64; 2] {
    let poles = closed(settings, system, rest).ok();
    let poles = poles.and_then(|closed| closed.poles().ok());
    let sizes = poles.iter().flatten().map(|pole| pole.norm());
    let [least, most] = range;
    [least, sizes.fold(0.0, f64::max).clamp(least, most)]
}

impl ControllerSettings {
    /// The fastest settings of this approach that keep what is asked for, about rest near a configuration (nu numbers); see [`fastest`] for how they are
    /// searched.
    ///
    /// `self` gives the approach, and what else the loop has: an observer of disturbances, weights of redundant inputs. The poles of each motion are
    /// [equal](PoleSpec::Bandwidth). First the motion is made as fast as it can be, with a turn that is four times slower (or as fast as
    /// `attitude` says), then the turn beside it; an observer that is to be found is half as fast as the motion meanwhile, and found last. So each of them
    /// cannot be faster while the others are as they are.
    ///
    /// # Errors
    /// [`FastestError`].
    ///
    /// # Panics
    /// If the configuration has another length than the system's.
    pub fn fastest(
        &self,
        system: &System,
        configuration: &[f64],
        attitude: Option<&PoleSpec>,
        demands: &Demands,
    ) -> Result<FastestSettings, FastestError> {
        let mut rest = configuration.to_vec();
        rest::nearest(&system.model, &system.inputs, &mut rest);
        let is_vehicle = Vehicle::try_from(system.clone()).is_ok();
        let with = |motion: f64, turn: Option<f64>, observer: Option<f64>| {
            let slow = turn.map(PoleSpec::Bandwidth).filter(|_| is_vehicle);
            let motion = PoleSpec::Bandwidth(motion);
            let turn = attitude.or(slow.as_ref());
            let tuned = Self::tuned(self.approach, system, configuration, &motion, turn)?;
            let bandwidth = observer.filter(|_| demands.observer);
            let own = bandwidth.map(|bandwidth| self.observing(bandwidth));
            Ok::<_, FastestError>(Self {
                disturbance: own.or(self.disturbance),
                ..tuned.with_others_of(self)
            })
        };
        let range = demands.range();
        let limit = |settings: &Self, is_of_turn| {
            Ok::<_, FastestError>(demands.limit(settings, system, &rest, is_of_turn)?)
        };
        let motion = fastest("bandwidth of the motion", range, |b| {
            limit(&with(b, Some(TURN * b), Some(OBSERVER * b))?, false)
        })?;
        let b = motion.bandwidth;
        let turn = if is_vehicle && attitude.is_none() {
            Some(fastest("bandwidth of the turn", range, |turn| {
                limit(&with(b, Some(turn), Some(OBSERVER * b))?, true)
            })?)
        } else {
            None
        };
        let turned = turn.as_ref().map(|turn| turn.bandwidth);
        let observer = if demands.observer {
            let range = observers(&with(b, turned, None)?, system, &rest, range);
            Some(fastest("bandwidth of the observer", range, |observer| {
                limit(&with(b, turned, Some(observer))?, false)
            })?)
        } else {
            None
        };
        let observed = observer.as_ref().map(|observer| observer.bandwidth);
        Ok(FastestSettings {
            settings: with(b, turned, observed)?,
            motion,
            attitude: turn,
            observer,
        })
    }

    /// The bandwidth of the fastest observer of disturbances, up to the fastest pole, with which the loop of these settings keeps the margins, about rest near a configuration
    /// (nu numbers).
    ///
    /// # Errors
    /// [`FastestError`].
    ///
    /// # Panics
    /// If the configuration has another length than the system's.
    pub fn fastest_observer(
        &self,
        system: &System,
        configuration: &[f64],
        margins: Margins,
        step: f64,
    ) -> Result<Fastest, FastestError> {
        let mut rest = configuration.to_vec();
        rest::nearest(&system.model, &system.inputs, &mut rest);
        let demands = Demands {
            margins,
            error: 0.0,
            heading_error: 0.0,
            step,
            observer: true,
        };
        let range = observers(self, system, &rest, demands.range());
        fastest("bandwidth of the observer", range, |bandwidth| {
            let settings = Self {
                disturbance: Some(self.observing(bandwidth)),
                ..self.clone()
            };
            Ok(demands.limit(&settings, system, &rest, false)?)
        })
    }

    /// The observer with this bandwidth.
    fn observing(&self, bandwidth: f64) -> DisturbanceSettings {
        DisturbanceSettings {
            bandwidth,
            ..self.disturbance.unwrap_or_default()
        }
    }

    /// These parameters with everything of others that is not what they are made of: observer, weights, limits.
    #[must_use]
    pub fn with_others_of(self, others: &Self) -> Self {
        Self {
            approach: self.approach,
            transport: self.transport,
            pairs: self.pairs,
            poles: self.poles,
            gains: self.gains,
            lqr: self.lqr,
            ..others.clone()
        }
    }
}
