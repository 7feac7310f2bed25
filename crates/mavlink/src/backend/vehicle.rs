//! The backend.

use std::marker::PhantomData;
use std::time::Duration;

use crate::dialect::{
    ATTITUDE_TARGET_DATA, EKF_STATUS_REPORT_DATA, ESTIMATOR_STATUS_DATA, EXTENDED_SYS_STATE_DATA,
    GLOBAL_POSITION_INT_DATA, HEARTBEAT_DATA, HOME_POSITION_DATA,
};
use crate::signing::Key;
use crate::{Found, Telemetry, Vehicle, autopilot_name, type_name};
use fly_hal::{
    Backend, Configuration, Deadline, Description, Emergency, Error, ErrorKind, FrameMut, Info,
    Progress, ReadOutcome, Request, monotonic_now,
};
use mavlink::MessageData;

use super::airframe::{Airframe, Model, describe};
use super::autopilot::Autopilot;
use super::capacity::{self, Line};
use super::frame::Filler;
use super::preflight::{CheckedParameters, Health, Record};
use super::rates;
use super::session::{LAND, Session, Setup, TERMINATE};
use super::setpoint::Scaling;
use super::settings::Settings;
use super::thrust::ThrustMap;

/// How long `start` waits for the state after the heartbeat, ns. A missing state is not an error: without a GPS fix there is no position.
const STATE_WAIT: i64 = 3_000_000_000;

/// How long other autopilots are listened for before a vehicle is commanded, or its actuators are tested, ns: each sends a heartbeat a second.
pub(super) const OTHERS_WAIT: i64 = 1_200_000_000;

/// How long `stop` waits for a vehicle that lands, ns: parameters are not set back in the air. The host gives up on a `stop` after 10 s at the earliest.
const LANDING_WAIT: i64 = 6_000_000_000;
/// So long after a flight has ended parameters are set back: the host gives its end 10 s, and the vehicle may be switched off.
const RESTORING: i64 = 6_500_000_000;

/// What a vehicle that is commanded is asked for besides: the message's number and how often, Hz. Its mode must be known soon, its own thrust
/// is that of the hover, and heights of take-offs may count from its home.
pub(super) const MESSAGES: [(u32, f64); 7] = [
    (HEARTBEAT_DATA::ID, 5.0),
    (ATTITUDE_TARGET_DATA::ID, 20.0),
    (EXTENDED_SYS_STATE_DATA::ID, 2.0),
    (ESTIMATOR_STATUS_DATA::ID, 1.0),
    (EKF_STATUS_REPORT_DATA::ID, 1.0),
    (HOME_POSITION_DATA::ID, 1.0),
    (GLOBAL_POSITION_INT_DATA::ID, 2.0),
];

/// Hover thrust of an autopilot that does not report one.
const HOVER: f64 = 0.5;

/// A MAVLink vehicle of the kind `A`. See the [module](super) for its signals.
pub struct MavlinkVehicle<A> {
    description: Description,
    settings: Settings,
    model: Model,
    /// Whether it is commanded.
    armed: bool,
    /// Time between ticks, ns.
    period: i64,
    /// Setpoints a second.
    setpoint_rate: f64,
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
    commanded: Option<Commanded>,
}

/// The state of a commanded vehicle.
struct Commanded {
    session: Session,
    parameters: CheckedParameters,
    record: Record,
    /// Of its attitude loop, of roll and pitch and of yaw, 1/s.
    gains: Option<[f64; 2]>,
}

impl<A: Airframe> Backend for MavlinkVehicle<A> {
    const INFO: Info = A::INFO;

    fn configure(configuration: &Configuration) -> Result<Self, Error> {
        let mut settings = Settings::read(configuration)?;
        if configuration.armed && settings.vehicle.listen_only {
            return Err(Error::configuration(
                "`listen_only` sends nothing, so the vehicle cannot be commanded",
            )
            .with_help("omit `--arm`, or `listen_only`"));
        }
        if configuration.armed {
            settings.vehicle.messages.extend(MESSAGES);
        }
        // Read again at the start; what cannot be read then is said before.
        if let Some(signing) = &settings.vehicle.link.signing {
            Key::from_file(&signing.key)
                .map_err(|error| Error::new(ErrorKind::Io, error.to_string()))?;
        }
        let line = Line::of(&settings.address, &settings.vehicle)
            .filter(|_| !settings.vehicle.listen_only);
        if let Some(said) = line.and_then(|line| line.too_much_telemetry(&settings.vehicle)) {
            tracing::warn!("{said}");
        }
        let asked = settings.setpoint_rate.as_ref().map(|it| *it.get_ref());
        // A rate that nobody asked for matters once setpoints are sent.
        let line = line.filter(|_| configuration.armed || asked.is_some());
        let set = settings.command;
        let setpoint_rate = capacity::setpoint_rate(line, set, asked, configuration.rate_hz)
            .map_err(|message| {
                let error = Error::configuration(message)
                    .with_help("lower `setpoint_rate_hz`, or raise the baud rate on both sides");
                match &settings.setpoint_rate {
                    Some(rate) => error.in_configuration(rate.span()),
                    None => error,
                }
            })?;
        let model = Model::read::<A>(configuration.vehicle)?;
        let description = describe(settings.command)?;
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
            model,
            armed: configuration.armed,
            period,
            setpoint_rate,
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
        let mut vehicle = Vehicle::open(address, vehicle)
            .map_err(|error| Error::new(ErrorKind::Io, error.to_string()))?;
        let deadline = Deadline::after(self.settings.connect_timeout).0;
        let found = vehicle.find(deadline)?;
        let others = monotonic_now().saturating_add(OTHERS_WAIT);
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
        let commanded = if self.armed {
            vehicle.expect_alone(others)?;
            Some(self.prepare(&mut vehicle, &found)?)
        } else {
            None
        };
        let now = monotonic_now();
        let gains = commanded.as_ref().and_then(|commanded| commanded.gains);
        let filler = Filler::new(now, self.stale(), gains);
        self.connected = Some(Connected {
            vehicle,
            found,
            filler,
            next_tick: now,
            alive: true,
            commanded,
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
        let (flags, is_lost) = match &mut connected.commanded {
            Some(commanded) => {
                commanded.session.run(&mut connected.vehicle, &state, now);
                let session = &commanded.session;
                let flags = [session.control(), session.uplink()];
                (flags, session.health.is_lost())
            }
            None => ([1.0; 2], false),
        };
        let fresh = connected.filler.fill(&state, flags, now, frame);
        if is_lost {
            Filler::lose_place(frame);
        }
        connected.log_presence(&state, now);
        Ok(if fresh {
            ReadOutcome::Fresh
        } else {
            ReadOutcome::None
        })
    }

    /// Sends the commands as a setpoint; without `--arm` counts and discards them.
    fn write(&mut self, _time: i64, commands: &[f64]) -> Result<(), Error> {
        let Some((session, vehicle)) = self.session() else {
            self.dropped_commands += 1;
            return Ok(());
        };
        session.write(vehicle, commands, monotonic_now())
    }

    fn stop(&mut self) -> Result<(), Error> {
        let Some(connected) = &mut self.connected else {
            return Ok(());
        };
        if let Some(commanded) = &mut connected.commanded {
            let until = monotonic_now().saturating_add(RESTORING);
            let is_down = commanded.waits_for_landing(&mut connected.vehicle);
            commanded.hear_reasons(&mut connected.vehicle);
            let restored = if is_down {
                commanded.record.restore(&mut connected.vehicle, until)
            } else {
                commanded.record.remaining()
            };
            for line in &restored {
                tracing::warn!("{line}");
            }
            commanded.parameters.restored.extend(restored);
        }
        tracing::info!("link: {}", connected.vehicle.statistics());
        Ok(())
    }

    fn arm(&mut self) -> Result<(), Error> {
        let name = A::INFO.name;
        let Some(commanded) = self.connected.as_ref().and_then(|c| c.commanded.as_ref()) else {
            return Err(not_commanded::<A>());
        };
        let faults: Vec<_> = commanded.parameters.faults().collect();
        if !faults.is_empty() {
            return Err(Error::new(ErrorKind::Refused, faults.join("; ")).with_help(format!(
                "set it on the vehicle, or let it be set for the flight: `--set-parameters` (`--set backend.{name}.set_parameters=true`)"
            )));
        }
        self.ask(|session, _, now| session.arm(now))
    }

    fn take_off(&mut self, height: f64) -> Result<(), Error> {
        self.ask(|session, state, now| session.take_off(state, height, now))
    }

    fn disarm(&mut self) -> Result<(), Error> {
        self.ask(|session, _, now| session.disarm(now))
    }

    fn request(&mut self, request: Request) -> Result<(), Error> {
        self.ask(|session, _, now| session.request(request, now))
    }

    fn poll(&mut self) -> Result<Progress, Error> {
        let Some((session, vehicle)) = self.session() else {
            return Ok(Progress::Done);
        };
        let state = vehicle.telemetry();
        session.run(vehicle, &state, monotonic_now());
        session.poll()
    }

    fn emergency(&self) -> Option<Emergency> {
        let commanded = self.connected.as_ref()?.commanded.as_ref()?;
        let line = commanded.session.urgent();
        Some(Box::new(move |request| match request {
            Request::Land => line.request(LAND),
            Request::Terminate => line.request(TERMINATE),
            _ => false,
        }))
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
            if let Some(clock) = connected.vehicle.clock() {
                line(
                    "round trip",
                    format!("{:.1} ms at best", clock.round_trip as f64 * 1e-6),
                );
            }
            let rates = connected.vehicle.rates();
            let coming = rates.iter().filter(|rate| rate.hz > 0.0);
            let rates: Vec<_> = coming
                .map(|rate| format!("{} {:.1} Hz", rate.name, rate.hz))
                .collect();
            if !rates.is_empty() {
                line("messages", rates.join(", "));
            }
        }
        match self.connected.as_ref().and_then(|c| c.commanded.as_ref()) {
            Some(commanded) => commanded.report(self.settings.command.name(), &mut line),
            None => line(
                "commands",
                format!("none sent, {} dropped", self.dropped_commands),
            ),
        }
        lines
    }
}

impl<A: Airframe> MavlinkVehicle<A> {
    fn stale(&self) -> i64 {
        i64::try_from(self.settings.stale_after.as_nanos()).unwrap_or(i64::MAX)
    }

    /// The session and the vehicle, if it is commanded.
    fn session(&mut self) -> Option<(&mut Session, &mut Vehicle)> {
        let connected = self.connected.as_mut()?;
        let commanded = connected.commanded.as_mut()?;
        Some((&mut commanded.session, &mut connected.vehicle))
    }

    /// Makes a request to a commanded vehicle.
    fn ask(
        &mut self,
        ask: impl FnOnce(&mut Session, &Telemetry, i64) -> Result<(), Error>,
    ) -> Result<(), Error> {
        let Some((session, vehicle)) = self.session() else {
            return Err(not_commanded::<A>());
        };
        let (state, now) = (vehicle.telemetry(), monotonic_now());
        session.run(vehicle, &state, now);
        ask(session, &state, now)?;
        session.run(vehicle, &state, now);
        Ok(())
    }

    /// Looks at a vehicle that is to be commanded: its autopilot, what an earlier flight has left set, its parameters.
    fn prepare(&self, vehicle: &mut Vehicle, found: &Found) -> Result<Commanded, Error> {
        let make = autopilot_name(found.heartbeat.autopilot);
        let autopilot = Autopilot::of(&found.heartbeat).ok_or_else(|| {
            Error::unsupported(format!(
                "the vehicle's autopilot is {make}; expected PX4 or ArduPilot, which can be commanded"
            ))
            .with_help("omit `--arm`: everything is read, computed, shown and logged, and no command is sent")
        })?;
        if let Some(mismatch) = self.model.mismatch(found.heartbeat.vehicle_type) {
            tracing::warn!("{mismatch}");
        }
        let system = u8::try_from(found.system).unwrap_or(0);
        let board = vehicle.board(monotonic_now().saturating_add(STATE_WAIT));
        let record = match &self.settings.parameters_file {
            Some(path) => Record::at(path.clone(), board),
            None => Record::of(&make, system, board),
        };
        // Nothing is changed on a vehicle that may be in the air.
        let is_armed = (vehicle.telemetry().heartbeat())
            .map_or(found.heartbeat, |newest| newest.value)
            .armed();
        let restored = if is_armed {
            record.remaining()
        } else {
            record.restore(vehicle, i64::MAX)
        };
        for line in &restored {
            tracing::warn!("left by an earlier flight: {line}");
        }
        if self.settings.parameters_file.is_none() {
            let mut others = record.others(&make, system);
            // Those of other boards are of other vehicles.
            others.retain(|other| board.is_none() || *other == Record::shared(&make, system));
            for other in others {
                tracing::warn!(
                    "`{}` keeps former parameters, of this vehicle or of another one with its system id: they are not set back now, {}",
                    other.display(),
                    if board.is_some() {
                        "since that one did not tell its board"
                    } else {
                        "since this one does not tell its board"
                    }
                );
            }
        }
        let mut health = Health::default();
        self.wait_until_ready(vehicle, autopilot, &mut health);
        let set = self.settings.command;
        let requirements = autopilot.requirements(set);
        let mut parameters = CheckedParameters::read(vehicle, requirements, health.hears_radio())?;
        if self.settings.set_parameters && is_armed {
            tracing::warn!("the vehicle is armed: its parameters are left as they are");
        } else if self.settings.set_parameters {
            parameters.correct(vehicle, &record)?;
        }
        parameters.tell();
        parameters.restored = restored;
        if let Some(told) = rates::shortfall(vehicle, autopilot, &mut health) {
            tracing::warn!("{told}");
        }
        let told = parameters.value(autopilot.hover_thrust());
        let told = told.filter(|hover| (0.05..=0.95).contains(hover));
        let scaling = Scaling {
            map: ThrustMap {
                weight: self.model.weight,
                hover: (self.settings.hover_thrust)
                    .or(self.settings.thrust_curve.command_of(self.model.weight))
                    .or(told)
                    .unwrap_or(HOVER),
                curve: self.settings.thrust_curve.clone(),
                limits: self.settings.thrust_limits,
            },
            boosts: autopilot == Autopilot::ArduPilot
                && parameters.value("ATC_ANGLE_BOOST") != Some(0.0),
        };
        let gains = autopilot.attitude_gains(|name| parameters.value(name));
        let setup = Setup {
            autopilot,
            set,
            scaling,
            setpoint_rate: self.setpoint_rate,
            stale: self.stale(),
            hover_is_given: self.settings.hover_thrust.is_some(),
        };
        Ok(Commanded {
            session: Session::new(vehicle, &setup, health)?,
            parameters,
            record,
            gains,
        })
    }

    /// Waits until a vehicle that has just been switched on knows where it is. What it lacks then is told when it is to be armed.
    fn wait_until_ready(&self, vehicle: &mut Vehicle, autopilot: Autopilot, health: &mut Health) {
        let begun = monotonic_now();
        let usual = begun.saturating_add(STATE_WAIT);
        let until = Deadline::after(self.settings.ready_timeout).0;
        let mut is_told = false;
        loop {
            let now = monotonic_now();
            let state = vehicle.wait(now.saturating_add(20_000_000), |_| false);
            vehicle.poll(now);
            while let Some(received) = vehicle.next_status() {
                health.take(&received);
            }
            let mut faults = health.faults(&state, now, self.stale());
            // PX4's checks are those of its present mode, which is not the one in which it is armed.
            if autopilot == Autopilot::ArduPilot && health.is_unready() {
                faults.push("its checks before arming do not pass yet".to_owned());
            }
            let is_ready = faults.is_empty() && (health.has_status() || now >= usual);
            if is_ready || now >= until {
                return;
            }
            if now >= usual && !std::mem::replace(&mut is_told, true) {
                tracing::warn!(
                    "waiting for the vehicle, for at most {} s: {}",
                    self.settings.ready_timeout.as_secs_f64(),
                    faults.join("; ")
                );
            }
        }
    }

    /// A controller that runs faster than its measurements gets no new data at most of its ticks.
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

    /// Rejects another type of vehicle, or only warns if `any_type` is set.
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
    /// Reports once when the vehicle is lost and once when it returns.
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

impl Commanded {
    /// Waits for the messages in which a vehicle that is no longer ours, or has landed, gives the reason.
    fn hear_reasons(&mut self, vehicle: &mut Vehicle) {
        while let Some(until) = self.session.explains_until() {
            let now = monotonic_now();
            if now >= until {
                self.session.explain();
                return;
            }
            let state = vehicle.wait(until.min(now.saturating_add(20_000_000)), |_| false);
            self.session.run(vehicle, &state, monotonic_now());
        }
    }

    /// Waits until a vehicle that lands has disarmed, for at most [`LANDING_WAIT`], if something is to be set back. Returns whether it is disarmed.
    fn waits_for_landing(&mut self, vehicle: &mut Vehicle) -> bool {
        let until = monotonic_now().saturating_add(LANDING_WAIT);
        loop {
            let now = monotonic_now();
            let state = vehicle.wait(now.saturating_add(20_000_000), |_| false);
            self.session.run(vehicle, &state, now);
            if !self.session.health.is_armed() {
                return true;
            }
            // What somebody else flies is not waited for, nor is what nobody changed.
            let nothing = self.record.read().is_ok_and(|old| old.is_empty());
            if nothing || self.session.lost().is_some() || now >= until {
                return false;
            }
        }
    }

    fn report(&self, set: &str, line: &mut impl FnMut(&str, String)) {
        let counts = self.session.counts;
        line(
            "commands",
            format!(
                "{} setpoints ({set}) sent, {} to keep its place, {} not sent",
                counts.written, counts.kept, counts.dropped
            ),
        );
        if let Some(why) = self.session.lost() {
            line("control", why.to_owned());
        }
        if self.session.sends_thrust() {
            let map = &self.session.scaling.map;
            line(
                "thrust",
                format!(
                    "{:.3} carries {:.2} N, curve {}",
                    map.hover, map.weight, map.curve
                ),
            );
        }
        if let Some([attitude, yaw]) = self.gains {
            line(
                "attitude loop",
                format!("gain {attitude:.2} 1/s, of yaw {yaw:.2} 1/s"),
            );
        }
        let events = &self.session.events;
        if !events.is_empty() {
            line("events", counted(events));
        }
        let all: Vec<_> = self
            .parameters
            .all
            .iter()
            .map(ToString::to_string)
            .collect();
        if !all.is_empty() {
            line("parameters", all.join("; "));
        }
        if !self.parameters.restored.is_empty() {
            line("parameters set back", self.parameters.restored.join("; "));
        }
    }
}

/// What happened, in order. What is tried again and again fails as often: it is told once, with its count.
fn counted(events: &[String]) -> String {
    let runs = events.chunk_by(|one, next| one == next);
    let told = runs.filter_map(|run| match run {
        [] => None,
        [one] => Some(one.clone()),
        [one, ..] => Some(format!("{one} ({} times)", run.len())),
    });
    told.collect::<Vec<_>>().join("; ")
}

fn not_commanded<A: Airframe>() -> Error {
    Error::usage(format!(
        "`{}` was configured without `--arm`: it reads the vehicle's state and sends it no commands",
        A::INFO.name
    ))
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

#[cfg(test)]
mod tests {
    use super::counted;

    #[test]
    fn what_happens_again_and_again_is_told_once() {
        let events = ["armed", "no answer", "no answer", "no answer", "armed"].map(str::to_owned);
        assert_eq!(counted(&events), "armed; no answer (3 times); armed");
        assert_eq!(counted(&events[..2]), "armed; no answer");
    }
}
