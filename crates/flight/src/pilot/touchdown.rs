//! Whether a vehicle stands on the ground.

use nalgebra::Vector3;

use super::Parts;
use crate::envelope::CLEARANCE;
use crate::time::seconds;

/// A descending vehicle that sinks slower than this fraction of the descent rate …
const STUCK: f64 = 0.5;
/// … while its rotors carry less than this fraction of its weight …
const UNLOADED: f64 = 0.5;
/// … for this long (ns) stands on the ground: in the air it would by now fall at 5 m/s, …
const TOUCHDOWN: i64 = 1_000_000_000;
/// … if it takes our commands: it has sunk as told for this long, s (and not otherwise for as long since: estimated velocities are noisy), …
const FOLLOWED: f64 = 0.3;
/// … or it is not further than this, m, from where it stood when it was armed, or above the known ground.
const NEAR: f64 = 0.3;
/// One whose rotors carry less than this fraction of its weight, and that does not sink, is led no further down.
const RESTING: f64 = 0.3;
/// A vehicle that does not sink for this long, ns, although its rotors hardly carry it, is no longer commanded: nobody knows whether it stands.
const DEAF: i64 = 10_000_000_000;

/// Notices in a failsafe that the vehicle has reached the ground. One that flies by itself, in a mode of its own, must not be taken
/// for one that stands: it would be disarmed in the air.
#[derive(Debug, Clone, Default)]
pub(super) struct Touchdown {
    /// Height at which the vehicle stood when it was armed, m, and the greatest since.
    stood: Option<f64>,
    highest: f64,
    /// Height when the vehicle was last flown by no failsafe, m.
    left: f64,
    /// Whether the measured height has jumped: what is known of the ground's is not comparable with it any more.
    has_jumped: bool,
    /// Whether it is landing by itself: it does not take our commands.
    pub(super) lands_by_itself: bool,
    /// Since when it appears to rest on the ground, ns.
    since: Option<i64>,
    /// The last tick of this failsafe with a measured state, ns.
    last: Option<i64>,
    /// How long it has sunk as told in this failsafe, s.
    followed: f64,
    /// How long it has moved otherwise since, s.
    strayed: f64,
}

impl Touchdown {
    /// It stands at this height, m.
    pub(super) fn stands_at(&mut self, height: f64) {
        (self.stood, self.highest) = (Some(height), height);
    }

    /// It is at this height, m, in a failsafe or not.
    pub(super) fn watch(&mut self, height: f64, in_failsafe: bool) {
        self.highest = self.highest.max(height);
        if !in_failsafe {
            self.left = height;
        }
    }

    /// Whether a failsafe has brought the vehicle down to the ground, as far as that is known.
    pub(super) fn has_come_down(&self, parts: &Parts) -> bool {
        let stood = self.stood.filter(|_| !self.has_jumped);
        let (Some(ground), Some((height, _))) = (self.ground(parts).or(stood), vertical(parts))
        else {
            return false;
        };
        height <= ground + NEAR && self.left > ground + NEAR
    }

    /// The measured height has jumped by so much, m. Returns whether what is known of the ground's no longer counts.
    pub(super) fn jumped(&mut self, by: f64) -> bool {
        self.has_jumped |= by.abs() > NEAR;
        self.has_jumped
    }

    /// Whether a vehicle that says that it is disarmed has landed where its reference is, `below` m above it: it has flown since it was armed, and is
    /// near the ground, or stands.
    pub(super) fn has_landed(&self, parts: &Parts, below: f64) -> bool {
        let Some((height, _)) = vertical(parts) else {
            return false;
        };
        let has_flown = (self.stood).is_none_or(|stood| self.highest > stood + NEAR);
        let is_low = self.is_near(parts, height) || self.stands(parts);
        has_flown && is_low && below < 2.0 * NEAR
    }

    /// No failsafe flies the vehicle.
    pub(super) fn restart(&mut self) {
        (self.since, self.last) = (None, None);
        (self.followed, self.strayed) = (0.0, 0.0);
    }

    /// The state of this tick is not measured.
    pub(super) fn interrupt(&mut self) {
        (self.since, self.last) = (None, None);
    }

    /// Whether the vehicle, whose measured state a failsafe flies at `time` (ns), stands: at the known height of the ground if its own is known, or
    /// where it does not sink although its rotors no longer carry it.
    pub(super) fn is_down(
        &mut self,
        time: i64,
        parts: &Parts,
        may_sink: bool,
        knows_height: bool,
    ) -> bool {
        let Some((height, climbing)) = vertical(parts) else {
            return false;
        };
        let is_at = |ground: f64| height <= ground;
        if knows_height && self.ground(parts).is_some_and(is_at) {
            return true;
        }
        let elapsed = self.last.map_or(0, |last| time.saturating_sub(last));
        self.last = Some(time);
        let (rate, is_unloaded) = (parts.descent_rate, is_unloaded(parts));
        // Whatever it sinks by without its thrust is nothing that it was told.
        let as_told = (-2.0 * rate..0.0).contains(&climbing) && !is_unloaded;
        if is_stuck(climbing, rate) {
            self.strayed = 0.0;
        } else if as_told {
            (self.followed, self.strayed) = (self.followed + seconds(elapsed), 0.0);
        } else {
            self.strayed += seconds(elapsed);
            if self.strayed > FOLLOWED {
                self.followed = 0.0;
            }
        }
        if !(is_stuck(climbing, rate) && is_unloaded && may_sink && !self.lands_by_itself) {
            self.since = None;
            return false;
        }
        let since = *self.since.get_or_insert(time);
        // What is simulated takes our commands.
        let may_be_near = knows_height || !parts.supervisor.must_arm();
        let takes_commands = may_be_near && self.is_near(parts, height) || self.followed > FOLLOWED;
        takes_commands && time.saturating_sub(since) >= TOUCHDOWN
    }

    /// Whether nothing that was told at `time` (ns) has had an effect for long: the vehicle stands somewhere, or flies by itself.
    pub(super) fn is_deaf(&self, time: i64) -> bool {
        (self.since).is_some_and(|since| time.saturating_sub(since) >= DEAF)
    }

    /// The known height of the ground, m, as heights are measured now.
    fn ground(&self, parts: &Parts) -> Option<f64> {
        parts.ground_height.filter(|_| !self.has_jumped)
    }

    /// Whether the vehicle may be standing on the ground: either it is at the known height of the ground, or it moves
    /// neither up nor down although its rotors do not carry it.
    pub(super) fn stands(&self, parts: &Parts) -> bool {
        let Some((height, climbing)) = vertical(parts) else {
            return false;
        };
        let on = |ground: f64| height <= ground + CLEARANCE;
        self.ground(parts).is_some_and(on)
            || (is_stuck(climbing, parts.descent_rate) && is_unloaded(parts))
    }

    /// Whether this height is that of the ground, as far as it is known.
    fn is_near(&self, parts: &Parts, height: f64) -> bool {
        match (self.ground(parts), self.stood) {
            (Some(ground), _) => height <= ground + NEAR,
            (None, Some(stood)) => !self.has_jumped && (height - stood).abs() <= NEAR,
            // What is simulated takes our commands.
            (None, None) => !parts.supervisor.must_arm(),
        }
    }
}

/// Position (m) and velocity (m/s) of the tracked body, world frame.
pub(super) fn motion(parts: &Parts) -> Option<(Vector3<f64>, Vector3<f64>)> {
    let (pose, twist) = parts.predictor.tracked_motion()?;
    let velocity = pose.rotation.act(&twist.fixed_rows::<3>(0).into_owned());
    Some((pose.translation, velocity))
}

/// Its height and vertical velocity.
fn vertical(parts: &Parts) -> Option<(f64, f64)> {
    motion(parts).map(|(position, velocity)| (position.z, velocity.z))
}

/// Whether the vehicle hardly is carried by its rotors and does not sink: it stands, or flies by itself.
pub(super) fn rests(parts: &Parts) -> bool {
    let carried = parts.guidance.weight_fraction();
    let is_light = carried.is_some_and(|carried| carried < RESTING);
    is_light && vertical(parts).is_some_and(|(_, climbing)| is_stuck(climbing, parts.descent_rate))
}

fn is_stuck(climbing: f64, descent_rate: f64) -> bool {
    climbing.abs() < STUCK * descent_rate
}

fn is_unloaded(parts: &Parts) -> bool {
    let carried = parts.guidance.weight_fraction();
    carried.is_some_and(|carried| carried < UNLOADED)
}
