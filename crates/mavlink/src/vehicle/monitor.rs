//! Message rates, requests for missing messages, and log messages about the vehicle.

use mavlink::{Message, MessageData};

use super::VehicleSettings;
use super::intervals::{Intervals, Request, name_of};
use super::texts::Texts;
use super::time_sync::{ClockOffset, TimeSync};
use crate::clock::monotonic;
use crate::dialect::{
    ATTITUDE_QUATERNION_DATA, BATTERY_STATUS_DATA, HEARTBEAT_DATA, LOCAL_POSITION_NED_DATA,
    MavMessage, MavSeverity, SYS_STATUS_DATA, TIMESYNC_DATA,
};
use crate::link::{Received, Sender};
use crate::telemetry::{Heartbeat, autopilot_name, type_name};

/// Averaging time of the rates, ns.
const WINDOW: i64 = 2_000_000_000;

/// A message below this fraction of its wanted rate is requested again …
const ENOUGH: f64 = 0.6;

/// … in this many windows, and then in every so-many-th: it may not be there yet, as a position before satellites are; another ground station
/// may have asked for less; some autopilots cannot send it that often, or at all.
const ATTEMPTS: u32 = 5;

/// After such a silence (ns) the vehicle may have restarted and lost the requested rates.
const SILENCE: i64 = 3_000_000_000;

/// Number of message types that are counted.
const MOST_KINDS: usize = 128;

/// A vehicle that has not been heard for this long, ns, could not have answered.
const QUIET: i64 = 400_000_000;

/// Time-critical answers are useless after this, ns.
const ANSWER: i64 = 50_000_000;

/// The rate of a message.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Rate {
    /// The message's number.
    pub id: u32,
    /// MAVLink's name of the message.
    pub name: &'static str,
    /// Messages per second, over the last two seconds or so.
    pub hz: f64,
    /// Requested rate, Hz; 0 if it is not requested.
    pub wanted: f64,
}

impl Rate {
    /// Whether it comes much less often than it was asked for.
    pub fn is_slow(&self) -> bool {
        self.wanted > 0.0 && self.hz < ENOUGH * self.wanted
    }
}

/// Runs on the reader's thread.
pub(super) struct Monitor {
    counts: Vec<u32>,
    rates: Vec<Rate>,
    asks: bool,
    opened: Option<i64>,
    last_heartbeat: Option<(i64, Heartbeat)>,
    again: Again,
    rolled: bool,
    has_version: bool,
    /// The vehicle to send requests to.
    target: Option<(u8, u8)>,
    intervals: Intervals,
    time_sync: TimeSync,
    texts: Texts,
    /// When the vehicle was heard last, ns.
    heard: i64,
    /// How late the vehicle's messages are, ns.
    pub lateness: i64,
}

impl Monitor {
    pub fn new(settings: &VehicleSettings, us: (u8, u8)) -> Self {
        let mut monitor = Self {
            counts: Vec::with_capacity(MOST_KINDS),
            rates: Vec::with_capacity(MOST_KINDS),
            asks: !settings.listen_only,
            opened: None,
            last_heartbeat: None,
            again: Again::default(),
            rolled: false,
            has_version: false,
            target: None,
            intervals: Intervals::new(us),
            time_sync: TimeSync::new(us),
            texts: Texts::default(),
            heard: i64::MIN,
            lateness: 0,
        };
        monitor.track(HEARTBEAT_DATA::ID, HEARTBEAT_DATA::NAME, 0.0);
        for (id, hz) in [
            (ATTITUDE_QUATERNION_DATA::ID, settings.attitude_rate),
            (LOCAL_POSITION_NED_DATA::ID, settings.position_rate),
            (BATTERY_STATUS_DATA::ID, 1.0),
            (SYS_STATUS_DATA::ID, 1.0),
        ]
        .into_iter()
        .chain(settings.messages.iter().copied())
        {
            let name = name_of(id).unwrap_or("unknown");
            match monitor.rates.iter_mut().find(|rate| rate.id == id) {
                Some(rate) => rate.wanted = rate.wanted.max(hz),
                None => monitor.track(id, name, hz),
            }
        }
        monitor
    }

    fn track(&mut self, id: u32, name: &'static str, wanted: f64) {
        self.counts.push(0);
        self.rates.push(Rate {
            id,
            name,
            hz: 0.0,
            wanted,
        });
    }

    pub fn rates(&self) -> &[Rate] {
        &self.rates
    }

    /// Since when the vehicle has not answered any more, ns.
    pub fn unheard_since(&self) -> Option<i64> {
        self.time_sync.unheard_since()
    }

    /// Counts the message; returns whether the rates are new.
    pub fn count(&mut self, received: &Received) -> bool {
        let id = received.message.message_id();
        let known = self.rates.iter().position(|rate| rate.id == id);
        match known {
            Some(place) => self.counts[place] += 1,
            None if self.rates.len() < MOST_KINDS => {
                self.track(id, received.message.message_name(), 0.0);
                if let Some(count) = self.counts.last_mut() {
                    *count = 1;
                }
            }
            None => {}
        }
        let opened = *self.opened.get_or_insert(received.arrival);
        let elapsed = received.arrival - opened;
        if elapsed < WINDOW {
            return false;
        }
        for (count, rate) in self.counts.iter_mut().zip(&mut self.rates) {
            rate.hz = f64::from(std::mem::take(count)) / (elapsed as f64 * 1e-9);
        }
        self.opened = Some(received.arrival);
        self.rolled = true;
        true
    }

    /// Answers a request, or processes an answer.
    pub fn time_sync(
        &mut self,
        m: &TIMESYNC_DATA,
        received: &Received,
        sender: &mut Sender,
    ) -> Option<ClockOffset> {
        if !self.asks {
            return None;
        }
        let from = (
            u8::try_from(received.system).unwrap_or(0),
            received.component,
        );
        if let Some(answer) = self.time_sync.answer(m, from, monotonic()) {
            // A late answer would be wrong.
            let _ = sender.send_until(MavMessage::TIMESYNC(answer), received.arrival + ANSWER);
        }
        if self.time_sync.take(m, received.arrival) {
            self.time_sync.estimate()
        } else {
            None
        }
    }

    /// Logs changes and requests missing messages.
    pub fn act(&mut self, received: &Received, sender: &mut Sender) {
        if received.arrival.saturating_sub(self.heard) > QUIET {
            self.time_sync.hears_nothing();
        }
        self.heard = received.arrival;
        match &received.message {
            MavMessage::HEARTBEAT(m) => self.heartbeat(Heartbeat::from(m), received),
            MavMessage::STATUSTEXT(m) => self.texts.take(m, received.arrival),
            MavMessage::AUTOPILOT_VERSION(_) => self.has_version = true,
            MavMessage::COMMAND_ACK(m) => self
                .intervals
                .take((received.system, received.component), m),
            _ => {}
        }
        if std::mem::take(&mut self.rolled) {
            tracing::debug!(rates = %Listed(&self.rates), "messages per second");
            let is_complete = self.has_version && !self.rates.iter().any(Rate::is_slow);
            if !is_complete && self.again.is_due() {
                if !self.has_version {
                    self.intervals.ask(Request::Version);
                }
                self.ask(Rate::is_slow);
            }
        }
        self.poll(received.arrival, sender);
    }

    /// Sends what is due.
    pub fn poll(&mut self, now: i64, sender: &mut Sender) {
        while let Some((severity, words)) = self.texts.untold(now) {
            log_text(severity, &words);
        }
        let Some(target) = self.target.filter(|_| self.asks) else {
            return;
        };
        self.intervals.poll(now, target, |message, deadline| {
            sender.send_until(message, deadline).is_ok()
        });
        if let Some(question) = self.time_sync.question(now, self.lateness, target) {
            // Waiting in the queue would count as round-trip time.
            let _ = sender.send_until(MavMessage::TIMESYNC(question), now + ANSWER);
        }
    }

    fn heartbeat(&mut self, new: Heartbeat, received: &Received) {
        let last = self.last_heartbeat.replace((received.arrival, new));
        let (system, mode, armed) = (received.system, new.mode(), new.armed());
        match last {
            Some((at, old)) if received.arrival - at < SILENCE => {
                if old.mode() != mode || old.armed() != armed {
                    tracing::info!(system, %mode, armed, "vehicle's mode changed");
                }
                return;
            }
            Some(_) => tracing::info!(system, %mode, armed, "vehicle heard again"),
            None => {
                let (autopilot, kind) =
                    (autopilot_name(new.autopilot), type_name(new.vehicle_type));
                tracing::info!(system, %autopilot, %kind, %mode, armed, "vehicle heard");
            }
        }
        self.target = u8::try_from(system)
            .ok()
            .map(|system| (system, received.component));
        self.again = Again::default();
        self.intervals.forget();
        // First: what is set on a vehicle waits for it.
        self.has_version = false;
        self.intervals.ask(Request::Version);
        self.ask(|rate| rate.wanted > 0.0);
    }

    fn ask(&mut self, which: impl Fn(&Rate) -> bool) {
        for rate in self.rates.iter().filter(|rate| which(rate)) {
            self.intervals.ask(Request::Interval {
                id: rate.id,
                hz: rate.wanted,
            });
        }
    }
}

/// When what is missing is asked for again.
#[derive(Default)]
struct Again {
    /// Windows in which something was missing.
    windows: u32,
}

impl Again {
    /// Whether it is, in one more window.
    fn is_due(&mut self) -> bool {
        self.windows = self.windows.wrapping_add(1);
        self.windows <= ATTEMPTS || self.windows.is_multiple_of(ATTEMPTS)
    }
}

struct Listed<'a>(&'a [Rate]);

impl std::fmt::Display for Listed<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let coming = self.0.iter().filter(|rate| rate.hz > 0.0);
        for (i, rate) in coming.enumerate() {
            write!(
                f,
                "{}{} {:.1}",
                if i > 0 { ", " } else { "" },
                rate.name,
                rate.hz
            )?;
        }
        Ok(())
    }
}

fn log_text(severity: MavSeverity, text: &str) {
    use MavSeverity as S;
    match severity {
        S::MAV_SEVERITY_EMERGENCY
        | S::MAV_SEVERITY_ALERT
        | S::MAV_SEVERITY_CRITICAL
        | S::MAV_SEVERITY_ERROR => {
            tracing::error!("vehicle says: {text}");
        }
        S::MAV_SEVERITY_WARNING => tracing::warn!("vehicle says: {text}"),
        S::MAV_SEVERITY_NOTICE | S::MAV_SEVERITY_INFO => tracing::info!("vehicle says: {text}"),
        S::MAV_SEVERITY_DEBUG => tracing::debug!("vehicle says: {text}"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// At once, and then every ten seconds for as long as it is missing.
    #[test]
    fn what_is_missing_is_never_given_up() {
        let mut again = Again::default();
        let due: Vec<_> = (1..=1000).filter(|_| again.is_due()).collect();
        assert_eq!(due[..8], [1, 2, 3, 4, 5, 10, 15, 20]);
        assert_eq!(due.last(), Some(&1000));
    }
}
