//! A vehicle's state from its messages, in this project's frames, on this computer's clock.

mod channel;
mod identity;
mod odometry;

pub use channel::Sample;
pub use identity::{Heartbeat, autopilot_name, type_name};

use crate::battery::Battery;
use crate::clock::{Mapped, Origin, SenderClock};
use crate::dialect::{BATTERY_STATUS_DATA, MavMessage, SYS_STATUS_DATA};
use crate::frames::{self, Quaternion, Vector};
use crate::link::Received;
use channel::Channel;

/// After this long (ns) without its best source, a quantity is taken from the next best one.
const SOURCE_HOLD: i64 = 500_000_000;

/// The source of a quantity; the best available one is used.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Source {
    /// `ATTITUDE_QUATERNION`, `LOCAL_POSITION_NED`, `BATTERY_STATUS`.
    Own,
    /// `ODOMETRY`, which holds pose and twist.
    Odometry,
    /// `ATTITUDE` (Euler angles), `SYS_STATUS`.
    Fallback,
}

/// A vehicle's state, assembled from its messages.
///
/// | quantity | frame | messages, the best first |
/// |---|---|---|
/// | position | world NWU, m, from the autopilot's local origin | `LOCAL_POSITION_NED`, `ODOMETRY` |
/// | velocity | world NWU, m/s | `LOCAL_POSITION_NED`, `ODOMETRY` |
/// | attitude | NWU-from-FLU quaternion | `ATTITUDE_QUATERNION`, `ODOMETRY`, `ATTITUDE` |
/// | angular velocity | FLU, rad/s | `ATTITUDE_QUATERNION`, `ODOMETRY`, `ATTITUDE` |
/// | battery | | `BATTERY_STATUS` (of battery 0), `SYS_STATUS` |
///
/// Messages with numbers that are not finite, quaternions without length, and messages that arrive out of order are
/// dropped and counted; so are those whose times are of another clock ([`SenderClock`]). When the vehicle restarts, its
/// state is reset.
#[derive(Clone, Debug, Default)]
pub struct Telemetry {
    /// The newest time since boot, ms, which messages count modulo 2^32.
    booted: Option<i64>,
    boot_clock: SenderClock,
    odometry_clock: SenderClock,
    heartbeat: Option<Sample<Heartbeat>>,
    position: Channel<Vector>,
    velocity: Channel<Vector>,
    attitude: Channel<Quaternion>,
    angular_velocity: Channel<Vector>,
    battery: Channel<Battery>,
    updates: u64,
    refused: u64,
    restarts: u64,
    /// When its clock was last heard again after another one, ns of `CLOCK_MONOTONIC`.
    again: [Option<i64>; MANY],
}

/// Times since boot so near to each other, ms, are of one run even if the count has wrapped between them.
const NEAR_WRAP: i64 = 60_000;

/// Another clock, so many times within this, ns, is another vehicle with the same numbers.
const MANY: usize = 3;
const AGAIN: i64 = 10_000_000_000;

impl Telemetry {
    /// The newest heartbeat.
    pub fn heartbeat(&self) -> Option<&Sample<Heartbeat>> {
        self.heartbeat.as_ref()
    }

    /// Position in the world, m, from the autopilot's local origin (usually where it started).
    pub fn position(&self) -> Option<&Sample<Vector>> {
        self.position.sample()
    }

    /// Velocity in the world, m/s.
    pub fn velocity(&self) -> Option<&Sample<Vector>> {
        self.velocity.sample()
    }

    /// Attitude, world from body, `[w, x, y, z]`, of length one.
    pub fn attitude(&self) -> Option<&Sample<Quaternion>> {
        self.attitude.sample()
    }

    /// Angular velocity in the body frame, rad/s.
    pub fn angular_velocity(&self) -> Option<&Sample<Vector>> {
        self.angular_velocity.sample()
    }

    /// Velocity in the body frame, m/s: the newest velocity, rotated by the newest attitude, with the velocity's stamp.
    pub fn body_velocity(&self) -> Option<Sample<Vector>> {
        let (velocity, attitude) = (self.velocity()?, self.attitude()?);
        Some(Sample {
            value: frames::rotate_inverse(attitude.value, velocity.value),
            ..*velocity
        })
    }

    /// The battery's state.
    pub fn battery(&self) -> Option<&Sample<Battery>> {
        self.battery.sample()
    }

    /// Increases with every message that changes the pose or the twist.
    pub fn updates(&self) -> u64 {
        self.updates
    }

    /// Messages rejected for their contents.
    pub fn refused(&self) -> u64 {
        self.refused
    }

    /// How often the vehicle has restarted.
    pub fn restarts(&self) -> u64 {
        self.restarts
    }

    /// Whether two vehicles seem to send with the same numbers at `now`, ns of `CLOCK_MONOTONIC`: times of another clock
    /// among those of the vehicle, three times within ten seconds.
    pub fn are_two(&self, now: i64) -> bool {
        (self.again.iter()).all(|at| at.is_some_and(|at| now.saturating_sub(at) <= AGAIN))
    }

    /// How much later than the fastest the last messages were, ns; see [`SenderClock::lateness`].
    pub fn lateness(&self) -> i64 {
        (self.boot_clock.lateness()).max(self.odometry_clock.lateness())
    }

    /// Applies a result of round trips: the vehicle's time since boot, plus `offset`, was `CLOCK_MONOTONIC` at its time
    /// `at`, within `error`, all ns. Stamps then lose the transit delay; see [`SenderClock::correct`].
    pub fn correct_clock(&mut self, offset: i64, error: i64, at: i64) {
        self.boot_clock.correct(offset, error, at);
        self.odometry_clock.correct(offset, error, at);
    }

    /// Processes a message of the vehicle (the caller filters by sender); returns whether it changed anything.
    pub fn take(&mut self, received: &Received) -> bool {
        let arrival = received.arrival;
        match &received.message {
            MavMessage::HEARTBEAT(m) => {
                self.heartbeat = Some(Sample {
                    value: Heartbeat::from(m),
                    stamp: arrival,
                    arrival,
                });
                true
            }
            MavMessage::ATTITUDE_QUATERNION(m) => {
                let q = [m.q1, m.q2, m.q3, m.q4].map(f64::from);
                let rates = [m.rollspeed, m.pitchspeed, m.yawspeed].map(f64::from);
                self.take_attitude(Source::Own, m.time_boot_ms, arrival, q, rates)
            }
            MavMessage::ATTITUDE(m) => {
                let q = frames::ned_frd_from_euler(m.roll.into(), m.pitch.into(), m.yaw.into());
                let rates = [m.rollspeed, m.pitchspeed, m.yawspeed].map(f64::from);
                self.take_attitude(Source::Fallback, m.time_boot_ms, arrival, q, rates)
            }
            MavMessage::LOCAL_POSITION_NED(m) => {
                let position = [m.x, m.y, m.z].map(f64::from);
                let velocity = [m.vx, m.vy, m.vz].map(f64::from);
                if !finite(&position) || !finite(&velocity) {
                    return self.refuse("LOCAL_POSITION_NED");
                }
                let Some(time) = self.boot_time(m.time_boot_ms, arrival) else {
                    return self.refuse("LOCAL_POSITION_NED of another clock");
                };
                let position =
                    self.position
                        .offer(frames::nwu_from_ned(position), time, Source::Own);
                let velocity =
                    self.velocity
                        .offer(frames::nwu_from_ned(velocity), time, Source::Own);
                self.updated(position | velocity)
            }
            MavMessage::ODOMETRY(m) => match odometry::convert(m) {
                Ok(state) => {
                    let Some(time) = self.odometry_time(m.time_usec, arrival) else {
                        return self.refuse("ODOMETRY of another clock");
                    };
                    let any = self.position.offer(state.position, time, Source::Odometry)
                        | self.velocity.offer(state.velocity, time, Source::Odometry)
                        | self.attitude.offer(state.attitude, time, Source::Odometry)
                        | self.angular_velocity.offer(
                            state.angular_velocity,
                            time,
                            Source::Odometry,
                        );
                    self.updated(any)
                }
                Err(reason) => self.refuse(reason),
            },
            MavMessage::BATTERY_STATUS(m) => match battery_of(m) {
                Some(battery) => {
                    self.battery
                        .offer(battery, Time::of_arrival(arrival), Source::Own)
                }
                None => false,
            },
            MavMessage::SYS_STATUS(m) => match battery_of_system(m) {
                Some(battery) => {
                    self.battery
                        .offer(battery, Time::of_arrival(arrival), Source::Fallback)
                }
                None => false,
            },
            _ => false,
        }
    }

    fn take_attitude(
        &mut self,
        source: Source,
        time_boot_ms: u32,
        arrival: i64,
        ned_frd: Quaternion,
        frd_rates: Vector,
    ) -> bool {
        let Some(q) = frames::normalized(ned_frd).filter(|_| finite(&frd_rates)) else {
            return self.refuse("an attitude");
        };
        let Some(time) = self.boot_time(time_boot_ms, arrival) else {
            return self.refuse("an attitude of another clock");
        };
        let any = self
            .attitude
            .offer(frames::nwu_flu_from_ned_frd(q), time, source)
            | self
                .angular_velocity
                .offer(frames::flu_from_frd(frd_rates), time, source);
        self.updated(any)
    }

    fn refuse(&mut self, what: &str) -> bool {
        tracing::debug!(what, "a MAVLink message that cannot be used is dropped");
        self.refused += 1;
        false
    }

    fn updated(&mut self, any: bool) -> bool {
        self.updates += u64::from(any);
        any
    }

    /// The time since boot of a message that counts it modulo 2^32, 49.7 days, ms.
    fn since_boot(&self, boot_ms: u32) -> i64 {
        let newest = self.booted.unwrap_or(0);
        let turns = newest & !i64::from(u32::MAX);
        let plain = turns | i64::from(boot_ms);
        // A little after the wrap, or before it and late; otherwise the vehicle has restarted.
        let turned = [-1, 0, 1].map(|turn| plain + (turn << 32));
        let near = turned
            .into_iter()
            .find(|time| *time >= 0 && (time - newest).abs() < NEAR_WRAP);
        near.unwrap_or(plain)
    }

    /// The time of a message; `None` if it is of another clock.
    fn boot_time(&mut self, boot_ms: u32, arrival: i64) -> Option<Time> {
        let since_boot = self.since_boot(boot_ms);
        let sent = since_boot.saturating_mul(1_000_000);
        let mapped = self.boot_clock.map(sent, arrival);
        let time = self.time(sent, mapped, arrival)?;
        self.booted = Some(since_boot);
        Some(time)
    }

    /// Only `ODOMETRY` counts in µs, from an arbitrary epoch.
    fn odometry_time(&mut self, usec: u64, arrival: i64) -> Option<Time> {
        let sent = i64::try_from(usec).unwrap_or(i64::MAX).saturating_mul(1000);
        let mapped = self.odometry_clock.map(sent, arrival);
        self.time(sent, mapped, arrival)
    }

    fn time(&mut self, sent: i64, mapped: Mapped, arrival: i64) -> Option<Time> {
        match mapped.origin {
            Origin::Same => {}
            Origin::SameAgain => {
                let [_, before, last] = self.again;
                self.again = [before, last, Some(arrival)];
            }
            Origin::Restarted => self.forget(),
            Origin::Other => return None,
        }
        Some(Time {
            sent,
            stamp: mapped.stamp,
            arrival,
        })
    }

    fn forget(&mut self) {
        *self = Self {
            booted: self.booted,
            boot_clock: std::mem::take(&mut self.boot_clock),
            odometry_clock: std::mem::take(&mut self.odometry_clock),
            heartbeat: self.heartbeat.take(),
            updates: self.updates,
            refused: self.refused,
            restarts: self.restarts + 1,
            again: self.again,
            ..Self::default()
        };
    }
}

/// The time of a measurement.
#[derive(Clone, Copy)]
struct Time {
    /// ns on the sender's clock.
    sent: i64,
    /// The same time on `CLOCK_MONOTONIC`.
    stamp: i64,
    /// ns of `CLOCK_MONOTONIC`.
    arrival: i64,
}

impl Time {
    /// For a message without a time stamp.
    fn of_arrival(arrival: i64) -> Self {
        Self {
            sent: arrival,
            stamp: arrival,
            arrival,
        }
    }
}

fn finite(v: &[f64]) -> bool {
    v.iter().all(|c| c.is_finite())
}

/// Battery 0 is the flight battery. 65535 mV means "no such cell" or "unknown"; for extension cells, 0 does. A voltage
/// above 65.534 V continues in the next cell.
fn battery_of(m: &BATTERY_STATUS_DATA) -> Option<Battery> {
    if m.id != 0 {
        return None;
    }
    let cells = m.voltages.iter().filter(|&&mv| mv != u16::MAX);
    let millivolts: u32 = cells.chain(&m.voltages_ext).map(|&mv| u32::from(mv)).sum();
    some_battery(millivolts, m.battery_remaining)
}

fn battery_of_system(m: &SYS_STATUS_DATA) -> Option<Battery> {
    let known = Some(m.voltage_battery).filter(|&millivolts| millivolts != u16::MAX);
    some_battery(known.map_or(0, u32::from), m.battery_remaining)
}

/// `None` if nothing is known.
fn some_battery(millivolts: u32, percent: i8) -> Option<Battery> {
    let battery = Battery::told(f64::from(millivolts) / 1000.0, f64::from(percent) / 100.0);
    Some(battery).filter(Battery::is_known)
}

#[cfg(test)]
mod tests;
