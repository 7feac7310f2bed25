//! The fastest settings that keep given margins.

use fly_mechanics::{System, Vehicle};

use super::moving::{is_free_body, moving};
use super::{AllocationMethod, ControllerSettings, DisturbanceSettings, PreferredInput};
use crate::analysis::{AnalysisError, ClosedLoop, Margins};
use crate::rest;
use crate::tuning::{BandwidthLimit, Fastest, NoFeasibleBandwidth, PoleSpec, TuningError, fastest};

/// Requirements on a loop that should be as fast as its actuators allow.
#[derive(Clone, Debug, PartialEq)]
pub struct LoopRequirements {
    /// The required margins.
    pub margins: Margins,
    /// The error of the position (m), or of each joint of a system (m, rad), from rest that must not saturate any input. Zero: no
    /// requirement.
    pub error: f64,
    /// The heading error of a vehicle from rest that must not saturate any input, rad.
    pub heading_error: f64,
    /// The step of its controller, s.
    pub step: f64,
    /// Whether to tune the disturbance observer as well.
    pub observer: bool,
}

/// The fastest settings.
#[derive(Clone, Debug, PartialEq)]
pub struct FastestSettings {
    /// The settings.
    pub settings: ControllerSettings,
    /// The bandwidth of the motion.
    pub motion: Fastest,
    /// The bandwidth of a vehicle's attitude, of yaw if it tilts to move sideways; `None` if it was given, or there is none.
    pub attitude: Option<Fastest>,
    /// The bandwidth of the disturbance observer, if requested.
    pub observer: Option<Fastest>,
}

/// Why there are no such settings.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum FastestError {
    /// The system has no bandwidth.
    #[error(transparent)]
    Tuning(#[from] TuningError),
    /// No bandwidth meets the requirements.
    #[error(transparent)]
    NoFeasibleBandwidth(#[from] NoFeasibleBandwidth),
    /// The loop cannot be analysed.
    #[error(transparent)]
    Analysis(#[from] AnalysisError),
}

/// The smallest bandwidth tested, rad/s.
const LEAST: f64 = 0.01;
/// Relative bandwidth of the attitude while that of the motion is searched: slow enough to limit nothing.
const TURN: f64 = 0.25;
/// Meanwhile the relative bandwidth of the disturbance observer, if it is tuned: reserves a part of the margins for it.
const OBSERVER: f64 = 0.5;

impl LoopRequirements {
    /// Bandwidths from the smallest to one radian per step.
    fn range(&self) -> [f64; 2] {
        [LEAST, self.step.recip().max(LEAST)]
    }

    /// The requirement that these settings violate.
    fn limit(
        &self,
        settings: &ControllerSettings,
        system: &System,
        rest: &[f64],
        is_of_turn: bool,
    ) -> Result<Option<BandwidthLimit>, AnalysisError> {
        // Saturation is checked separately.
        let parameters = |why: String| Ok(Some(BandwidthLimit::Parameters(why)));
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
        Ok(self
            .margins
            .shortfall(&sampled)?
            .map(BandwidthLimit::Margin))
    }

    /// Whether an error that must not saturate any input does.
    fn saturation(
        &self,
        closed: &ClosedLoop,
        system: &System,
        is_of_turn: bool,
    ) -> Option<BandwidthLimit> {
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
        (free < expected).then_some(BandwidthLimit::Saturation {
            free,
            expected,
            unit,
        })
    }
}

/// The linearised loop of these settings, or why it does not exist.
fn closed(
    settings: &ControllerSettings,
    system: &System,
    rest: &[f64],
) -> Result<ClosedLoop, String> {
    // Limits and preferred inputs do not affect small errors, and cost time.
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

/// The range of observer bandwidths: up to the fastest pole of the loop without an observer. Beyond it measurement noise takes over, which the margins do
/// not show.
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
    /// The fastest settings of this approach that meet the requirements, about rest near a configuration (nu entries); see [`fastest`] for the search.
    ///
    /// `self` provides the approach and the rest of the loop: a disturbance observer, weights of redundant inputs. The poles of each motion are
    /// [equal](PoleSpec::Bandwidth). First the motion is made as fast as possible, with an attitude loop four times slower (or as fast as `attitude`
    /// specifies), then the attitude; an observer to be tuned is half as fast as the motion meanwhile, and tuned last. So none of them can be faster with
    /// the others unchanged.
    ///
    /// # Errors
    /// [`FastestError`].
    ///
    /// # Panics
    /// If the length of the configuration is not nu.
    pub fn fastest(
        &self,
        system: &System,
        configuration: &[f64],
        attitude: Option<&PoleSpec>,
        demands: &LoopRequirements,
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

    /// The bandwidth of the fastest disturbance observer, up to the fastest pole, with which the loop of these settings keeps the margins, about rest near a
    /// configuration (nu entries).
    ///
    /// # Errors
    /// [`FastestError`].
    ///
    /// # Panics
    /// If the length of the configuration is not nu.
    pub fn fastest_observer(
        &self,
        system: &System,
        configuration: &[f64],
        margins: Margins,
        step: f64,
    ) -> Result<Fastest, FastestError> {
        let mut rest = configuration.to_vec();
        rest::nearest(&system.model, &system.inputs, &mut rest);
        let demands = LoopRequirements {
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
            bandwidth: Some(bandwidth),
            ..self.disturbance.unwrap_or_default()
        }
    }

    /// These parameters, with all other settings (observer, weights, limits) from `others`.
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
