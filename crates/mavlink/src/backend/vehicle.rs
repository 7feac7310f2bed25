//! The backend.

use std::marker::PhantomData;
use std::time::Duration;

use crate::{Found, Telemetry, Vehicle, autopilot_name, type_name};
use fly_hal::{
    Backend, Configuration, Deadline, Description, Error, ErrorKind, FrameMut, Info, ReadOutcome,
    Request, monotonic_now,
};

use super::airframe::{Airframe, describe};
use super::frame::Filler;
use super::settings::Settings;

/// How long `start` waits for the state after the heartbeat, ns. A missing state is not an error: without a GPS fix there is no position.
const STATE_WAIT: i64 = 3_000_000_000;

/// A MAVLink vehicle of the kind `A`. See the [module](super) for its signals.
pub struct MavlinkVehicle<A> {
    description: Description,
    settings: Settings,
    /// Time between ticks, ns.
    period: i64,
    connected: Option<Connected>,
    dropped_commands: u64,
    airframe: PhantomData<A>,
}

/// The state between start and stop.
struct Connected {
    vehicle: Vehicle,
    found: Found,
    filler: Filler,
    next_tick: i64,
    alive: bool,
}

impl<A: Airframe> Backend for MavlinkVehicle<A> {
    const INFO: Info = A::INFO;

    fn configure(configuration: &Configuration) -> Result<Self, Error> {
        if configuration.armed {
            return Err(commanding_is_unsupported::<A>());
        }
        let settings = Settings::read(configuration)?;
        let description = describe::<A>(configuration.vehicle)?;
        let period = Duration::try_from_secs_f64(1.0 / configuration.rate_hz)
            .ok()
            .filter(|period| !period.is_zero())
            .and_then(|period| i64::try_from(period.as_nanos()).ok())
            .ok_or_else(|| {
                Error::configuration(format!(
                    "a rate of {} Hz cannot be kept",
                    configuration.rate_hz
                ))
            })?;
        Ok(Self {
            description,
            settings,
            period,
            connected: None,
            dropped_commands: 0,
            airframe: PhantomData,
        })
    }

    fn description(&self) -> &Description {
        &self.description
    }

    fn start(&mut self) -> Result<(), Error> {
        let Settings {
            address, vehicle, ..
        } = &self.settings;
        let vehicle = Vehicle::open(address, vehicle)
            .map_err(|error| Error::new(ErrorKind::Io, error.to_string()))?;
        let deadline = Deadline::after(self.settings.connect_timeout).0;
        let found = vehicle
            .find(deadline)
            .map_err(|error| Error::new(ErrorKind::Timeout, error.to_string()))?;
        self.check_type(&found)?;
        let until = deadline.min(monotonic_now().saturating_add(STATE_WAIT));
        let state = vehicle.wait(until, |state| missing(state).is_empty());
        let missing = missing(&state);
        if !missing.is_empty() {
            tracing::warn!(
                "the vehicle does not report its {} (yet)",
                missing.join(" and ")
            );
        }
        self.compare_rates();
        let now = monotonic_now();
        let stale = i64::try_from(self.settings.stale_after.as_nanos()).unwrap_or(i64::MAX);
        let filler = Filler::new(now, stale);
        self.connected = Some(Connected {
            vehicle,
            found,
            filler,
            next_tick: now,
            alive: true,
        });
        Ok(())
    }

    /// Waits for the next tick of the configured rate (not for the next message), at most
    /// until the deadline. Missed ticks are not caught up.
    fn read(&mut self, deadline: Deadline, frame: &mut FrameMut) -> Result<ReadOutcome, Error> {
        let Some(connected) = &mut self.connected else {
            return Err(Error::usage("read before start"));
        };
        connected.next_tick = connected.next_tick.saturating_add(self.period);
        let state = connected
            .vehicle
            .wait(deadline.0.min(connected.next_tick), |_| false);
        let now = monotonic_now();
        connected.next_tick = connected
            .next_tick
            .max(now.saturating_sub(self.period))
            .min(now);
        let fresh = connected.filler.fill(&state, now, frame);
        connected.log_presence(&state, now);
        Ok(if fresh {
            ReadOutcome::Fresh
        } else {
            ReadOutcome::None
        })
    }

    /// Counts the commands and drops them: this backend cannot arm a vehicle.
    fn write(&mut self, _time: i64, _commands: &[f64]) -> Result<(), Error> {
        self.dropped_commands += 1;
        Ok(())
    }

    fn stop(&mut self) -> Result<(), Error> {
        if let Some(connected) = &mut self.connected {
            tracing::info!("link: {}", connected.vehicle.statistics());
        }
        Ok(())
    }

    fn arm(&mut self) -> Result<(), Error> {
        Err(commanding_is_unsupported::<A>())
    }

    fn disarm(&mut self) -> Result<(), Error> {
        Err(commanding_is_unsupported::<A>())
    }

    fn request(&mut self, _: Request) -> Result<(), Error> {
        Err(commanding_is_unsupported::<A>())
    }

    fn report(&self) -> Vec<(String, String)> {
        let mut lines = Vec::new();
        let mut line = |name: &str, value: String| lines.push((name.to_owned(), value));
        if let Some(connected) = &self.connected {
            let state = connected.vehicle.telemetry();
            let heartbeat = state
                .heartbeat()
                .map_or(connected.found.heartbeat, |newest| newest.value);
            let (autopilot, kind) = (
                autopilot_name(heartbeat.autopilot),
                type_name(heartbeat.vehicle_type),
            );
            let armed = if heartbeat.armed() {
                "armed"
            } else {
                "not armed"
            };
            let system = connected.found.system;
            line(
                "vehicle",
                format!(
                    "{autopilot} {kind}, system {system}, {}, {armed}",
                    heartbeat.mode()
                ),
            );
            if let Some(text) = words_for(&state) {
                line("last state", text);
            }
            line(
                "link",
                format!(
                    "{}: {}",
                    self.settings.address,
                    connected.vehicle.statistics()
                ),
            );
            let rates = connected.vehicle.rates();
            let coming = rates.iter().filter(|rate| rate.hz > 0.0);
            let rates: Vec<_> = coming
                .map(|rate| format!("{} {:.1} Hz", rate.name, rate.hz))
                .collect();
            if !rates.is_empty() {
                line("messages", rates.join(", "));
            }
        }
        line(
            "commands",
            format!("none sent, {} dropped", self.dropped_commands),
        );
        lines
    }
}

impl<A: Airframe> MavlinkVehicle<A> {
    /// A controller that is faster than its measurements finds no new data at most of its ticks.
    fn compare_rates(&self) {
        let flight = 1e9 / self.period as f64;
        let asked = self.settings.vehicle.attitude_rate;
        if asked > 0.0 && flight > 1.01 * asked {
            tracing::warn!(
                "the flight runs at {flight:.0} Hz, and the vehicle's attitude is asked for at {asked:.0} Hz: lower \
                 `flight.rate_hz`, or raise `attitude_rate_hz` where the link carries it"
            );
        }
    }

    /// Refuses another type of vehicle, or only warns if `any_type` is set.
    fn check_type(&self, found: &Found) -> Result<(), Error> {
        let Err(error) = found.expect_type(A::TYPES) else {
            return Ok(());
        };
        if self.settings.any_type {
            tracing::warn!("{error}; accepted, since `any_type` is set");
            return Ok(());
        }
        let help = "choose the backend for that type, or set `any_type = true` if the vehicle reports a wrong type";
        Err(Error::new(ErrorKind::Refused, error.to_string()).with_help(help))
    }
}

impl Connected {
    /// Reports once when the vehicle is lost and once when it is back.
    fn log_presence(&mut self, state: &Telemetry, now: i64) {
        let alive = state
            .attitude()
            .is_some_and(|attitude| attitude.is_fresh(now, self.filler.stale));
        if alive != self.alive {
            self.alive = alive;
            if alive {
                tracing::info!("the vehicle's attitude is back");
            } else {
                tracing::warn!("the vehicle's attitude is stale");
            }
        }
    }
}

fn commanding_is_unsupported<A: Airframe>() -> Error {
    Error::unsupported(format!(
        "commanding a vehicle is not supported in this version: `{}` reads its state and sends it no commands",
        A::INFO.name
    ))
    .with_help("omit `--arm`: everything is read, computed, shown and logged, and no command is sent")
}

/// What a state lacks.
fn missing(state: &Telemetry) -> Vec<&'static str> {
    let mut missing = Vec::new();
    if state.attitude().is_none() {
        missing.push("attitude");
    }
    if state.position().is_none() {
        missing.push("position");
    }
    missing
}

/// Position and battery, as far as they are known.
fn words_for(state: &Telemetry) -> Option<String> {
    let mut words = Vec::new();
    if let Some(position) = state.position() {
        let [x, y, z] = position.value;
        words.push(format!("at [{x:.2}, {y:.2}, {z:.2}] m"));
    }
    if let Some(battery) = state.battery() {
        words.extend(
            battery
                .value
                .voltage
                .map(|voltage| format!("{voltage:.1} V")),
        );
        words.extend(
            battery
                .value
                .remaining
                .map(|part| format!("{:.0} % charge", 100.0 * part)),
        );
    }
    (!words.is_empty()).then(|| words.join(", "))
}
