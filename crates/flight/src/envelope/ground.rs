//! The ground: where a vehicle comes down, and how fast it may.

use fly_control::predictor::StatePredictor;
use fly_hal::Frame;
use fly_lie::SE3;
use nalgebra::Vector6;

use super::{Bound, Exceeded, Limit};
use crate::supervisor::Response;
use crate::truth::Truth;

/// A vehicle this far below the ground, m, has crashed, however slowly it sank.
const DEPTH: f64 = 1.0;
/// A vehicle with rotors turns over if it touches the ground this many times as fast along it as it may across.
const SLIDE: f64 = 3.0;

/// Watches the height of the tracked body's origin above the ground, whoever controls the vehicle.
#[derive(Debug, Clone)]
pub struct Ground {
    /// The ground's height; `None` if unknown.
    height: Option<f64>,
    /// Index of a simulation's contact speed in its frames, and the true state: measurements may be wrong, but it is the true vehicle that hits the ground.
    contact: Option<usize>,
    truth: Option<Truth>,
    touchdown: Bound,
    /// Limit of the speed along the ground in a touchdown, for simulated vehicles with rotors.
    slide: Option<Bound>,
    /// Limit of the depth below the ground, for simulated vehicles only: a real vehicle's height may be wrong, and the
    /// ground uneven.
    depth: Option<Bound>,
    /// Whether the vehicle has been above the ground, and whether it was in the previous step.
    flown: bool,
    before: bool,
}

impl Ground {
    /// The ground at this height, m, with a touchdown limit of `touchdown` m/s and the response `then` if it is
    /// exceeded. `contact` is the index of `truth.contact.speed` in a frame.
    pub(crate) fn new(
        height: Option<f64>,
        (contact, truth): (Option<usize>, Option<Truth>),
        touchdown: f64,
        then: Response,
        is_simulated: bool,
    ) -> Self {
        let bound = |limit, max| Bound {
            limit,
            max,
            after: 0.0,
            then: Some(then),
        };
        Self {
            height,
            contact,
            truth,
            touchdown: bound(Limit::Touchdown, touchdown),
            slide: None,
            depth: is_simulated.then(|| bound(Limit::Depth, DEPTH)),
            flown: false,
            before: false,
        }
    }

    /// The same for a vehicle with rotors: if it is simulated, its speed along the ground is limited, too, when it touches it.
    #[must_use]
    pub(crate) fn of_a_flyer(mut self) -> Self {
        self.slide = self.depth.map(|_| Bound {
            limit: Limit::Slide,
            max: SLIDE * self.touchdown.max,
            ..self.touchdown
        });
        self
    }

    /// Checks a state, if it is `known`, and the frame, if there is one. Returns how the vehicle has crashed, if it has.
    pub fn observe(
        &mut self,
        state: &StatePredictor,
        known: bool,
        frame: Option<&Frame>,
    ) -> Option<Exceeded> {
        let motion = self.true_motion(state, frame);
        // With the truth, where that is told.
        let is_told = self.truth.is_none() || motion.is_some();
        let told = self.contact.zip(frame).filter(|_| is_told);
        let speed = told.map_or(0.0, |(index, frame)| frame.values[index]);
        if speed > self.touchdown.max {
            return Some(Exceeded {
                bound: self.touchdown,
                value: speed,
                diverged: false,
            });
        }
        let (pose, twist) = motion.or_else(|| state.tracked_motion().filter(|_| known))?;
        let velocity = pose.rotation.act(&twist.fixed_rows::<3>(0).into_owned());
        let exceeded = |bound: Bound, value: f64| {
            // A NaN violates every limit.
            let inside = value <= bound.max;
            (!inside).then_some(Exceeded {
                bound,
                value,
                diverged: false,
            })
        };
        let slides = || exceeded(self.slide?, velocity.xy().norm());
        if speed > 0.0
            && let Some(exceeded) = slides()
        {
            return Some(exceeded);
        }
        let above = pose.translation.z - self.height?;
        let before = std::mem::replace(&mut self.before, above > 0.0);
        self.flown |= above > 0.0;
        let touches = before && above <= 0.0;
        let hard = touches
            .then(|| exceeded(self.touchdown, -velocity.z).or_else(slides))
            .flatten();
        hard.or_else(|| exceeded(self.depth.filter(|_| self.flown)?, -above))
    }

    /// Heights are measured from elsewhere now: that of the ground is no longer known, unless the truth is told.
    pub fn forget_height(&mut self) {
        self.height = self.height.filter(|_| self.truth.is_some());
    }

    /// The true pose and twist of the tracked body, if this frame tells them.
    fn true_motion(
        &mut self,
        state: &StatePredictor,
        frame: Option<&Frame>,
    ) -> Option<(SE3<f64>, Vector6<f64>)> {
        let truth = self.truth.as_mut()?;
        truth.read(frame?, state.system());
        truth.motion(state)
    }
}
