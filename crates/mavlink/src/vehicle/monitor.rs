//! Rates of messages, requests for missing ones, and log messages about the vehicle.

use mavlink::{Message, MessageData};

use super::VehicleSettings;
use crate::dialect::{
    ATTITUDE_DATA, ATTITUDE_QUATERNION_DATA, BATTERY_STATUS_DATA, COMMAND_ACK_DATA,
    COMMAND_LONG_DATA, HEARTBEAT_DATA, LOCAL_POSITION_NED_DATA, MavCmd, MavMessage, MavResult,
    MavSeverity, ODOMETRY_DATA, STATUSTEXT_DATA, SYS_STATUS_DATA,
};
use crate::link::{Received, Sender};
use crate::telemetry::{Heartbeat, autopilot_name, type_name};

/// Rates are taken over this long, ns.
const WINDOW: i64 = 2_000_000_000;

/// A message that comes more rarely than this part of its wanted rate is asked for again …
const ENOUGH: f64 = 0.6;

/// … this many times: some autopilots cannot send it that often, or at all.
const ATTEMPTS: u32 = 5;

/// After such a silence (ns) the vehicle may have restarted and lost the requested rates.
const SILENCE: i64 = 3_000_000_000;

/// How often a message comes.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Rate {
    /// MAVLink's name of the message.
    pub name: &'static str,
    /// Messages per second, over the last two seconds or so.
    pub hz: f64,
    /// How often it is asked for, Hz; 0 where it is not.
    pub wanted: f64,
}

struct Tracked {
    id: u32,
    count: u32,
}

/// Runs on the reader's thread.
pub(super) struct Monitor {
    tracked: Vec<Tracked>,
    rates: Vec<Rate>,
    asks: bool,
    opened: Option<i64>,
    last_heartbeat: Option<(i64, Heartbeat)>,
    attempts: u32,
    rolled: bool,
}

impl Monitor {
    pub fn new(settings: &VehicleSettings) -> Self {
        let mut monitor = Self {
            tracked: Vec::new(),
            rates: Vec::new(),
            asks: !settings.listen_only,
            opened: None,
            last_heartbeat: None,
            attempts: 0,
            rolled: false,
        };
        monitor.track::<HEARTBEAT_DATA>(0.0);
        monitor.track::<ATTITUDE_QUATERNION_DATA>(settings.attitude_rate);
        monitor.track::<LOCAL_POSITION_NED_DATA>(settings.position_rate);
        monitor.track::<ODOMETRY_DATA>(0.0);
        monitor.track::<ATTITUDE_DATA>(0.0);
        monitor.track::<BATTERY_STATUS_DATA>(1.0);
        monitor.track::<SYS_STATUS_DATA>(1.0);
        monitor
    }

    fn track<M: MessageData>(&mut self, wanted: f64) {
        self.tracked.push(Tracked {
            id: M::ID,
            count: 0,
        });
        self.rates.push(Rate {
            name: M::NAME,
            hz: 0.0,
            wanted,
        });
    }

    /// Counts the message; returns the rates when a window is full.
    pub fn count(&mut self, received: &Received) -> Option<&[Rate]> {
        let id = received.message.message_id();
        if let Some(tracked) = self.tracked.iter_mut().find(|tracked| tracked.id == id) {
            tracked.count += 1;
        }
        let opened = *self.opened.get_or_insert(received.arrival);
        let elapsed = received.arrival - opened;
        if elapsed < WINDOW {
            return None;
        }
        for (tracked, rate) in self.tracked.iter_mut().zip(&mut self.rates) {
            rate.hz = f64::from(std::mem::take(&mut tracked.count)) / (elapsed as f64 * 1e-9);
        }
        self.opened = Some(received.arrival);
        self.rolled = true;
        Some(&self.rates)
    }

    /// Logs changes and requests missing messages.
    pub fn act(&mut self, received: &Received, sender: &Sender) {
        match &received.message {
            MavMessage::HEARTBEAT(m) => self.heartbeat(Heartbeat::from(m), received, sender),
            MavMessage::STATUSTEXT(m) => log_text(m),
            MavMessage::COMMAND_ACK(m) => log_refusal(m),
            _ => {}
        }
        if std::mem::take(&mut self.rolled) {
            tracing::debug!(rates = %Listed(&self.rates), "messages per second");
            let missing = |rate: &Rate| rate.wanted > 0.0 && rate.hz < ENOUGH * rate.wanted;
            if self.asks && self.attempts < ATTEMPTS && self.rates.iter().any(missing) {
                self.attempts += 1;
                self.ask(received, sender, missing);
            }
        }
    }

    fn heartbeat(&mut self, new: Heartbeat, received: &Received, sender: &Sender) {
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
        if self.asks {
            self.attempts = 0;
            self.ask(received, sender, |rate| rate.wanted > 0.0);
        }
    }

    fn ask(&self, received: &Received, sender: &Sender, which: impl Fn(&Rate) -> bool) {
        for (tracked, rate) in self
            .tracked
            .iter()
            .zip(&self.rates)
            .filter(|(_, rate)| which(rate))
        {
            let request = interval_request(received, tracked.id, rate.wanted);
            if let Err(error) = sender.send(MavMessage::COMMAND_LONG(request)) {
                tracing::debug!(%error, name = rate.name, "a message could not be asked for");
            }
        }
    }
}

/// `SET_MESSAGE_INTERVAL`: the message's number and its period in µs, both as f32 (exact up to 2^24).
#[expect(
    clippy::cast_possible_truncation,
    reason = "MAVLink's parameters are f32"
)]
fn interval_request(to: &Received, id: u32, hz: f64) -> COMMAND_LONG_DATA {
    COMMAND_LONG_DATA {
        param1: id as f32,
        param2: (1e6 / hz).round() as f32,
        command: MavCmd::MAV_CMD_SET_MESSAGE_INTERVAL,
        target_system: u8::try_from(to.system).unwrap_or(0),
        target_component: to.component,
        ..COMMAND_LONG_DATA::default()
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

fn log_text(m: &STATUSTEXT_DATA) {
    use MavSeverity as S;
    let text = m.text.to_str().unwrap_or("(not UTF-8)");
    match m.severity {
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

fn log_refusal(m: &COMMAND_ACK_DATA) {
    let refused = !matches!(
        m.result,
        MavResult::MAV_RESULT_ACCEPTED | MavResult::MAV_RESULT_IN_PROGRESS
    );
    if refused && m.command == MavCmd::MAV_CMD_SET_MESSAGE_INTERVAL {
        tracing::warn!(result = ?m.result, "the vehicle will not send a message as often as asked");
    }
}
