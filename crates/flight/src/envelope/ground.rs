//! The ground: where a vehicle comes down, and how fast it may.

use fly_control::predictor::StatePredictor;
use fly_hal::Frame;

use super::{Bound, Exceeded, Limit};
use crate::supervisor::Response;

/// So far below the ground, m, nothing flies, however slowly it came there.
const DEPTH: f64 = 1.0;

/// Watches the height of the tracked body's origin above the ground, whoever flies.
#[derive(Debug, Clone)]
pub struct Ground {
    /// `None`: it is not known.
    height: Option<f64>,
    /// Where frames tell how fast contacts went into it: of a simulated one.
    contact: Option<usize>,
    touchdown: Bound,
    /// Depth below the ground, of simulated vehicles: the height of a real one may be wrong, and the ground uneven.
    depth: Option<Bound>,
    /// Whether it has been above the ground, and was in the step before.
    flown: bool,
    before: bool,
}

impl Ground {
    /// At this height, m, to be touched with at most `touchdown` m/s; `then` follows if it is faster. `contact` is the index of `truth.contact.speed` in
    /// a frame.
    pub fn new(
        height: Option<f64>,
        contact: Option<usize>,
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
            touchdown: bound(Limit::Touchdown, touchdown),
            depth: is_simulated.then(|| bound(Limit::Depth, DEPTH)),
            flown: false,
            before: false,
        }
    }

    /// Watches a state, and what this frame tells of contacts if it is `fresh`. Returns how the vehicle has crashed, if it has.
    pub fn observe(
        &mut self,
        state: &StatePredictor,
        frame: &Frame,
        fresh: bool,
    ) -> Option<Exceeded> {
        let told = self.contact.filter(|_| fresh);
        let speed = told.map_or(0.0, |index| frame.values[index]);
        if speed > self.touchdown.max {
            return Some(Exceeded {
                bound: self.touchdown,
                value: speed,
                diverged: false,
            });
        }
        let (pose, twist) = state.tracked_motion()?;
        let above = pose.translation.z - self.height?;
        let before = std::mem::replace(&mut self.before, above > 0.0);
        self.flown |= above > 0.0;
        let velocity = pose.rotation.act(&twist.fixed_rows::<3>(0).into_owned());
        let touches = before && above <= 0.0;
        let exceeded = |bound: Bound, value: f64| {
            // A NaN is within no limit.
            let inside = value <= bound.max;
            (!inside).then_some(Exceeded {
                bound,
                value,
                diverged: false,
            })
        };
        let hard = touches
            .then(|| exceeded(self.touchdown, -velocity.z))
            .flatten();
        hard.or_else(|| exceeded(self.depth.filter(|_| self.flown)?, -above))
    }
}
