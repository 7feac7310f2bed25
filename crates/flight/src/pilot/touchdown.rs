//! Whether a vehicle stands on the ground.

use super::{CLEARANCE, Parts, seconds};

/// A descending vehicle that sinks slower than this fraction of the descent rate …
const STUCK: f64 = 0.5;
/// … while its rotors carry less than this fraction of its weight …
const UNLOADED: f64 = 0.5;
/// … for this long (ns) stands on the ground: in the air it would by now fall at 5 m/s, …
const TOUCHDOWN: i64 = 1_000_000_000;
/// … if it takes our commands: it has sunk as told for this long, s, …
const FOLLOWED: f64 = 0.3;
/// … or it has not risen further than this, m, above where it stood when it was armed, or above the known ground.
const NEAR: f64 = 0.3;

/// Notices in a failsafe that the vehicle has reached the ground. One that flies by itself, in a mode of its own, must not be taken
/// for one that stands: it would be disarmed in the air.
#[derive(Debug, Clone, Default)]
pub(super) struct Touchdown {
    /// Height at which the vehicle stood when it was armed, m, and the greatest since.
    stood: Option<f64>,
    highest: f64,
    /// Whether it is landing by itself: it does not take our commands.
    pub(super) lands_by_itself: bool,
    /// Since when it appears to rest on the ground, ns.
    since: Option<i64>,
    /// The last tick of this failsafe with a measured state, ns.
    last: Option<i64>,
    /// How long it has sunk as told in this failsafe, s.
    followed: f64,
}

impl Touchdown {
    /// It stands at this height, m.
    pub(super) fn stands_at(&mut self, height: f64) {
        (self.stood, self.highest) = (Some(height), height);
    }

    /// It is at this height, m.
    pub(super) fn watch(&mut self, height: f64) {
        self.highest = self.highest.max(height);
    }

    /// Whether a vehicle that says that it is disarmed has landed where its reference is, `below` m above it: it has flown since it was armed, and is
    /// near the ground, or stands.
    pub(super) fn has_landed(&self, parts: &Parts, below: f64) -> bool {
        let Some((height, _)) = vertical(parts) else {
            return false;
        };
        let ground = parts.ground_height.or(self.stood);
        let has_flown = (self.stood).is_none_or(|stood| self.highest > stood + NEAR);
        let is_low = ground.map_or_else(|| stands(parts), |ground| height <= ground + NEAR);
        has_flown && is_low && below < 2.0 * NEAR
    }

    /// No failsafe flies the vehicle.
    pub(super) fn restart(&mut self) {
        (self.since, self.last, self.followed) = (None, None, 0.0);
    }

    /// The state of this tick is not measured.
    pub(super) fn interrupt(&mut self) {
        (self.since, self.last) = (None, None);
    }

    /// Whether the vehicle, whose measured state a failsafe flies at `time` (ns), stands: at the known height of the ground, or
    /// where it does not sink although its rotors no longer carry it.
    pub(super) fn is_down(&mut self, time: i64, parts: &Parts, may_sink: bool) -> bool {
        let Some((height, climbing)) = vertical(parts) else {
            return false;
        };
        let is_at = |ground: f64| height <= ground;
        if parts.ground_height.is_some_and(is_at) {
            return true;
        }
        let elapsed = self.last.map_or(0, |last| time.saturating_sub(last));
        self.last = Some(time);
        let rate = parts.descent_rate;
        if !is_stuck(climbing, rate) && (-2.0 * rate..0.0).contains(&climbing) {
            self.followed += seconds(elapsed);
        }
        let near = match parts.ground_height.or(self.stood) {
            Some(ground) => height <= ground + NEAR,
            // What is simulated takes our commands.
            None => !parts.supervisor.must_arm(),
        };
        let takes_commands = !self.lands_by_itself && (near || self.followed > FOLLOWED);
        if !(is_stuck(climbing, rate) && is_unloaded(parts) && takes_commands && may_sink) {
            self.since = None;
            return false;
        }
        let since = *self.since.get_or_insert(time);
        time.saturating_sub(since) >= TOUCHDOWN
    }
}

/// Whether the vehicle may be standing on the ground: either it is at the known height of the ground, or it moves
/// neither up nor down although its rotors do not carry it.
pub(super) fn stands(parts: &Parts) -> bool {
    let Some((height, climbing)) = vertical(parts) else {
        return false;
    };
    let on = |ground: f64| height <= ground + CLEARANCE;
    parts.ground_height.is_some_and(on)
        || (is_stuck(climbing, parts.descent_rate) && is_unloaded(parts))
}

/// Height (m) and vertical velocity (m/s) of the tracked body.
pub(super) fn vertical(parts: &Parts) -> Option<(f64, f64)> {
    let (pose, twist) = parts.predictor.tracked_motion()?;
    let velocity = pose.rotation.act(&twist.fixed_rows::<3>(0).into_owned());
    Some((pose.translation.z, velocity.z))
}

fn is_stuck(climbing: f64, descent_rate: f64) -> bool {
    climbing.abs() < STUCK * descent_rate
}

fn is_unloaded(parts: &Parts) -> bool {
    let carried = parts.guidance.weight_fraction();
    carried.is_some_and(|carried| carried < UNLOADED)
}
