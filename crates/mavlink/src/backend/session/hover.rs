//! The hover thrust: the autopilot's own command while it hovers.

use crate::telemetry::Telemetry;

/// Hover is climbing and sinking slower than this, m/s …
const SLOW: f64 = 0.4;
/// … and moving sideways slower than this: drag then hardly tilts the vehicle, and estimates err by some 0.3 m/s.
const SIDEWAYS: f64 = 1.0;

/// Number of values in a mean: 1.5 s at 20 Hz.
const ENOUGH: usize = 30;

/// Hover thrusts of multicopters are within this range.
const PLAUSIBLE: std::ops::RangeInclusive<f64> = 0.05..=0.9;

/// After a pause of this length, the mean restarts, ns.
const PAUSE: i64 = 1_000_000_000;

/// m/s².
const GRAVITY: f64 = 9.81;

/// A thrust, and how fast the vehicle climbed.
#[derive(Clone, Copy, Debug, Default)]
struct Value {
    at: i64,
    thrust: f64,
    climb: f64,
}

/// The last values.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Hover {
    values: [Value; ENOUGH],
    count: usize,
}

impl Hover {
    /// Takes the autopilot's own thrust of the time `at`, ns, if the vehicle hovers.
    pub fn take(&mut self, at: i64, thrust: f64, state: &Telemetry) {
        let Some(velocity) = state.velocity().map(|sample| sample.value) else {
            return;
        };
        let last = self.values[(self.count + ENOUGH - 1) % ENOUGH].at;
        let [x, y, z] = velocity;
        let fast = z.abs() > SLOW || x.hypot(y) > SIDEWAYS;
        if fast || at.saturating_sub(last) > PAUSE {
            self.count = 0;
        }
        if !fast {
            self.values[self.count % ENOUGH] = Value {
                at,
                thrust,
                climb: velocity[2],
            };
            self.count += 1;
        }
    }

    /// The mean, less what has accelerated the vehicle meanwhile: `mean(u) g = hover (g + mean(a))`.
    pub fn value(&self) -> Option<f64> {
        if self.count < ENOUGH {
            return None;
        }
        let first = self.values[self.count % ENOUGH];
        let last = self.values[(self.count + ENOUGH - 1) % ENOUGH];
        let seconds = (last.at - first.at) as f64 * 1e-9;
        let mean = self.values.iter().map(|v| v.thrust).sum::<f64>() / ENOUGH as f64;
        let acceleration = (last.climb - first.climb) / seconds;
        let hover = mean * GRAVITY / (GRAVITY + acceleration);
        PLAUSIBLE.contains(&hover).then_some(hover)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::dialect::{LOCAL_POSITION_NED_DATA, MavMessage};
    use crate::link::Received;

    fn at_speed(vz: f32) -> Telemetry {
        moving(0.0, vz)
    }

    fn moving(vx: f32, vz: f32) -> Telemetry {
        let mut state = Telemetry::default();
        let message = MavMessage::LOCAL_POSITION_NED(LOCAL_POSITION_NED_DATA {
            vx,
            vz,
            ..LOCAL_POSITION_NED_DATA::default()
        });
        state.take(&Received::of_vehicle(0, message));
        state
    }

    const PERIOD: i64 = 50_000_000;

    #[test]
    fn only_hover_counts_and_enough_of_it() {
        let (still, climbing) = (at_speed(0.1), at_speed(-1.0));
        let mut hover = Hover::default();
        for i in 0..100 {
            hover.take(i * PERIOD, 0.9, &climbing);
        }
        assert_eq!(hover.value(), None);
        for i in 100..130 {
            assert_eq!(hover.value(), None);
            hover.take(i * PERIOD, if i % 2 == 0 { 0.38 } else { 0.42 }, &still);
        }
        let mean = hover.value().unwrap();
        assert!((mean - 0.4).abs() < 1e-9, "{mean}");
        // The oldest ones go.
        for i in 130..160 {
            hover.take(i * PERIOD, 0.5, &still);
        }
        assert!((hover.value().unwrap() - 0.5).abs() < 1e-9);
        hover.take(170 * PERIOD + PAUSE, 0.5, &still);
        assert_eq!(hover.value(), None, "begun anew");
    }

    /// The estimates of a vehicle that hovers in place drift sideways.
    #[test]
    fn a_drift_is_hover_and_a_flight_is_not() {
        for (vx, counts) in [(0.7, true), (-0.7, true), (1.3, false)] {
            let mut hover = Hover::default();
            for i in 0..30 {
                hover.take(i * PERIOD, 0.4, &moving(vx, 0.1));
            }
            assert_eq!(hover.value().is_some(), counts, "{vx} m/s");
        }
    }

    /// The end of a climb: 0.3 m/s are lost in 1.45 s, during which the thrust is correspondingly too small.
    #[test]
    fn what_slows_a_climb_is_not_hover() {
        let mut hover = Hover::default();
        let lost = 0.3 / 1.45;
        for i in 0..30_i16 {
            let vz = -0.3 + 0.3 * f32::from(i) / 29.0;
            let thrust = 0.4 * (1.0 - lost / GRAVITY);
            hover.take(i64::from(i) * PERIOD, thrust, &at_speed(vz));
        }
        assert!((hover.value().unwrap() - 0.4).abs() < 1e-6);
    }

    #[test]
    fn what_cannot_be_is_none() {
        let mut hover = Hover::default();
        for i in 0..100 {
            hover.take(i * PERIOD, 0.0, &at_speed(0.0));
        }
        assert_eq!(hover.value(), None);
    }
}
