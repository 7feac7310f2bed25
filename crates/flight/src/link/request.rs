//! Requests that the vehicle carries out by itself: arm, take off, land, disarm. Each request is begun, then polled.

use std::time::Duration;

use fly_hal::{
    Description, EmergencyLine, Error, ErrorKind, Instance, Progress, Request, monotonic_now,
};

use super::landed::Landed;
use super::{Link, Timeouts, watching};
use crate::binding::{GroupBinding, bind_part};
use crate::pilot::Reading;
use crate::time::seconds;
use crate::watchdog::{Call, Hang, Watchdog};

/// The outcome of a request to land.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Landing {
    /// The vehicle lands by itself, or nothing real is in the air.
    Begun,
    /// The request is pending.
    Asked,
    /// The vehicle refuses: it must be flown to the ground.
    Refused,
}

/// How long after a refusal the backend is asked to land again, ns.
const ASK_AGAIN: i64 = 1_000_000_000;
/// Without a frame for this long a landing vehicle no longer responds, ns.
const SILENCE: i64 = 5_000_000_000;
/// So long a silent vehicle is asked to land after its user has ended the flight, ns.
const USER_TIMEOUT: i64 = 10_000_000_000;
/// A vehicle that says for this long that it is disarmed is, ns.
const DISARMED: i64 = 500_000_000;
/// Least time for `stop`, ns: plugins count on it to wait for a landing and to leave the vehicle as it was.
const STOP: i64 = 10_000_000_000;
/// How often the emergency line is tried at the end of a flight.
const TRIES: u32 = 40;
/// Pause between two polls at the end of a flight, when nothing is commanded any more.
const POLL: Duration = Duration::from_millis(5);

/// What went wrong when control was handed back.
#[derive(Debug, Default)]
pub(crate) struct HandedBack {
    /// Why the vehicle is not known to have landed.
    pub not_landed: Option<String>,
    /// Why a vehicle that is disarmed has not landed well.
    pub crashed: Option<String>,
    /// Why the backend did not stop.
    pub not_stopped: Option<String>,
}

impl Timeouts {
    /// When such a call, begun now, is overdue, and when it is given up, ns of the monotonic clock. A landing request
    /// in the air gets no more time than any other call; but a plugin without `poll` may block in it until the
    /// vehicle has landed.
    fn times(self, call: Call) -> [i64; 2] {
        let now = monotonic_now();
        let last = now.saturating_add(match call {
            Call::TakeOff => self.take_off,
            Call::Stop => self.request.max(STOP),
            _ => self.request,
        });
        match call {
            Call::Request => [now.saturating_add(self.hang), last],
            _ => [last, last],
        }
    }
}

/// What the last good frame reports of the vehicle.
#[derive(Debug, Clone, Copy, Default)]
struct Reported {
    /// Whether it takes our commands.
    control: Option<bool>,
    armed: Option<bool>,
    /// The stamp of that, ns.
    armed_at: i64,
}

/// The requests to the vehicle, and what its frames report of them.
#[derive(Default)]
#[allow(clippy::struct_excessive_bools)] // independent conditions
pub(super) struct Requests {
    /// When (ns) the backend was last asked to land, and the outcome.
    landing: Option<(i64, Landing)>,
    /// When it was asked first, ns of the monotonic clock.
    landing_since: Option<i64>,
    /// Whether the backend has refused to land, and whether it cannot.
    refused: bool,
    cannot_land: bool,
    /// Whether control is handed back.
    handed_back: bool,
    /// When (ns of the monotonic clock) arming was requested, and whether it is done.
    arming_since: Option<i64>,
    is_arming_done: bool,
    /// Whether the vehicle is left to whoever flies it: it was armed before and never came under our control.
    left_to_others: bool,
    /// When (ns of the monotonic clock) take-off was requested, and whether it is complete.
    taking_off: Option<(i64, bool)>,
    /// What the last good frame reports of both groups that follow.
    reported: Reported,
    /// The group that tells whether another pilot or program took control.
    control: Option<GroupBinding>,
    /// The group that tells whether the vehicle is armed.
    armed: Option<GroupBinding>,
    /// How the vehicle lies once it is disarmed.
    landed: Landed,
    /// Whether it was armed already when arming was requested: it may be in the air.
    was_armed: bool,
    /// Whether it has said since that it is armed.
    is_armed: bool,
    /// Since when (ns of the monotonic clock) it says that it no longer is, and the stamp of the first such frame, ns.
    disarmed: Option<(i64, i64)>,
    /// Whether control was taken: the vehicle is neither commanded nor asked for anything any more.
    taken_over: bool,
}

impl Requests {
    /// For frames with these signals.
    pub fn new(description: &Description) -> Self {
        Self {
            control: bind_part(description, "vehicle", "control"),
            armed: bind_part(description, "vehicle", "armed"),
            landed: Landed::new(description),
            ..Self::default()
        }
    }
}

/// # State
impl Link {
    /// Whether arming was requested.
    pub(super) fn has_asked_to_arm(&self) -> bool {
        self.requests.arming_since.is_some()
    }

    /// Whether control is handed back, and with it a landing begun.
    pub(super) fn is_handed_back(&self) -> bool {
        self.requests.handed_back
    }
}

/// # When another pilot takes control
impl Link {
    /// Whether, according to the last frame, another pilot or program took control since arming was requested. From
    /// then on the vehicle receives nothing from this program: no commands and no landing request, from the watchdog
    /// or the signal handlers either.
    pub fn is_taken_over(&mut self) -> bool {
        let may_be = self.requests.arming_since.is_some() || self.timeline.is_recording();
        if self.requests.taken_over || !may_be {
            return self.requests.taken_over;
        }
        if self.requests.reported.control == Some(false) {
            self.give_up_control();
        }
        self.requests.taken_over
    }

    /// From now on the vehicle receives nothing from this program.
    pub fn give_up_control(&mut self) {
        self.requests.taken_over = true;
        self.instance.release_control();
        if let Some(watchdog) = &self.watchdog {
            watchdog.release_control();
        }
    }

    /// Takes what a frame reports, unless its read failed: its content is then undefined.
    pub(super) fn take_report(&mut self) {
        let flag = |group: Option<GroupBinding>| {
            group.and_then(|group| group.flag(&self.frame.groups, &self.frame.values))
        };
        self.requests.reported = Reported {
            control: flag(self.requests.control),
            armed: flag(self.requests.armed),
            armed_at: (self.requests.armed).map_or(0, |group| self.frame.groups[group.group].stamp),
        };
    }

    /// Whether a vehicle that is commanded, and is not landing by itself, is no longer armed: it says so again and for a while, as one frame may be
    /// wrong, and a vehicle in the air must not be left for that. Until then it is commanded. A recording goes on: its vehicle may arm again.
    pub fn was_disarmed(&mut self) -> bool {
        if self.timeline.is_recording() {
            return false;
        }
        match self.requests.reported.armed {
            Some(true) => (self.requests.is_armed, self.requests.disarmed) = (true, None),
            Some(false) if self.requests.is_armed => {
                let now = monotonic_now();
                let stamp = self.requests.reported.armed_at;
                let (since, first) = *self.requests.disarmed.get_or_insert((now, stamp));
                if stamp > first && now.saturating_sub(since) >= DISARMED {
                    (self.requests.is_armed, self.requests.disarmed) = (false, None);
                    let lands = matches!(self.requests.landing, Some((_, Landing::Begun)));
                    let is_left =
                        lands || self.requests.handed_back || self.is_landing_past_a_call();
                    return self.commanded && !is_left && !self.requests.taken_over;
                }
            }
            _ => {}
        }
        false
    }

    /// The vehicle has landed by itself at `time` (ns): it is not asked to.
    pub fn has_landed(&mut self, time: i64) {
        self.requests.landing = Some((time, Landing::Begun));
    }
}

/// # Arming and landing
impl Link {
    /// Begins to arm the vehicle, or polls the progress. Returns whether it is armed.
    ///
    /// # Errors
    /// The vehicle refused, or did not respond in time.
    pub fn arm(&mut self) -> Result<bool, String> {
        let now = monotonic_now();
        let progress = match self.requests.arming_since {
            None => {
                self.requests.arming_since = Some(now);
                self.requests.was_armed = self.requests.reported.armed == Some(true);
                self.begin(Call::Arm, Instance::arm)
            }
            Some(since) if now.saturating_sub(since) > self.timeouts.request => {
                let waited = seconds(self.timeouts.request);
                let told = if self.requests.is_arming_done {
                    ": its frames say that it is not (`vehicle.armed`)"
                } else {
                    ""
                };
                return Err(format!("the vehicle was not armed within {waited} s{told}"));
            }
            Some(_) if self.requests.is_arming_done => Ok(Progress::Done),
            Some(_) => self.poll(Call::Arm),
        };
        let progress = progress.map_err(|error| failed("ARM failed", &error))?;
        // Telemetry may come later than the answer.
        self.requests.is_arming_done = progress == Progress::Done;
        Ok(self.requests.is_arming_done && self.requests.reported.armed != Some(false))
    }

    /// Whether the vehicle was armed already when arming was requested: it may be in the air.
    pub fn was_armed(&self) -> bool {
        self.requests.was_armed
    }

    /// Begins a climb by `height` m, or polls the progress. Returns whether the climb is complete.
    ///
    /// # Errors
    /// The vehicle refused, or took too long.
    pub fn take_off(&mut self, height: f64) -> Result<bool, String> {
        let failed = |error: Error| failed("TAKE-OFF failed", &error);
        let Some((since, is_up)) = self.requests.taking_off else {
            let now = monotonic_now();
            // Unless it refuses, the vehicle may be in the air from now on, even if the call fails.
            self.commanded = true;
            let begun = self.begin(Call::TakeOff, |instance| instance.take_off(height));
            let progress = begun.map_err(|error| {
                self.commanded = !is_refusal(error.kind);
                failed(error)
            })?;
            self.requests.taking_off = Some((now, progress == Progress::Done));
            return Ok(progress == Progress::Done);
        };
        if !is_up {
            let is_up = self.poll(Call::TakeOff).map_err(failed)? == Progress::Done;
            self.requests.taking_off = Some((since, is_up));
        }
        if monotonic_now().saturating_sub(since) > self.timeouts.take_off {
            let allowed = self.timeouts.take_off as f64 / 1e9;
            let what = if is_up {
                "is not at the beginning of the reference"
            } else {
                "has not taken off"
            };
            return Err(format!(
                "the vehicle {what} after {allowed} s (`safety.take_off_time`)"
            ));
        }
        Ok(self.requests.taking_off.is_some_and(|(_, is_up)| is_up))
    }

    /// Whether the vehicle is in a take-off of its own: no command was sent since, and it has not refused to land.
    pub fn takes_off(&self) -> bool {
        self.requests.taking_off.is_some() && self.commanded_at.is_none() && !self.requests.refused
    }

    /// Asks the backend at `time` (ns) to land by itself, or polls the progress. After a refusal it asks again
    /// periodically.
    pub fn land(&mut self, time: i64) -> Landing {
        if !self.is_commanding_a_vehicle() || self.is_landing_past_a_call() {
            return Landing::Begun;
        }
        self.requests
            .landing_since
            .get_or_insert_with(monotonic_now);
        let asked = self.requests.landing;
        let answer = match asked {
            Some((_, Landing::Begun)) => return Landing::Begun,
            Some((at, Landing::Refused)) if time.saturating_sub(at) < ASK_AGAIN => {
                return Landing::Refused;
            }
            Some((at, Landing::Asked)) if time.saturating_sub(at) > self.timeouts.request => {
                Err(Error::new(ErrorKind::Timeout, "no answer"))
            }
            Some((_, Landing::Asked)) => self.poll(Call::Request),
            Some((_, Landing::Refused)) | None => {
                self.begin(Call::Request, |instance| instance.request(Request::Land))
            }
        };
        let since = asked.filter(|(_, state)| *state == Landing::Asked);
        let since = since.map_or(time, |(at, _)| at);
        self.requests.landing = Some(match answer {
            Ok(Progress::Done) => (since, Landing::Begun),
            Ok(Progress::Underway) => (since, Landing::Asked),
            Err(error) => {
                self.requests.cannot_land = error.kind == ErrorKind::Unsupported;
                // Only the first refusal is reported.
                if !std::mem::replace(&mut self.requests.refused, true) {
                    let name = &self.name;
                    tracing::error!("the backend `{name}` does not land by itself: {error}");
                }
                (time, Landing::Refused)
            }
        });
        self.requests
            .landing
            .map_or(Landing::Refused, |(_, state)| state)
    }

    /// How long a vehicle that is asked to land has been silent by now, once that is too long to wait for it any more, s: as long as for a
    /// landing, or [`USER_TIMEOUT`] if the user ends the flight (`by_user`). One that cannot land by itself is flown
    /// down on the model, and left in the air only for its user.
    pub fn gone(&self, by_user: bool) -> Option<f64> {
        let silent = monotonic_now().saturating_sub(self.heard.max(self.requests.landing_since?));
        let allowed = match (self.requests.cannot_land, by_user) {
            (true, false) => return None,
            (false, true) => self.timeouts.landing.min(USER_TIMEOUT),
            _ => self.timeouts.landing,
        };
        (silent > allowed).then_some(silent as f64 / 1e9)
    }

    /// Whether a call was so late that the emergency line told the vehicle to land.
    pub fn is_landing_past_a_call(&self) -> bool {
        self.watchdog.as_ref().is_some_and(Watchdog::is_landing)
    }

    /// The emergency line of a commanded real vehicle, which works while a backend call hangs.
    pub fn emergency(&self) -> Option<EmergencyLine> {
        let line = self.instance.emergency();
        line.filter(|_| self.is_commanding_a_vehicle())
    }

    /// Sets the action to run when a backend call is given up.
    pub fn on_hang(&self, give_up: Box<dyn FnOnce(Hang) + Send>) {
        if let Some(watchdog) = &self.watchdog {
            watchdog.on_hang(give_up);
        }
    }

    /// Begins a request. A plugin without `poll` returns only when it is complete, which may take a while.
    fn begin(
        &mut self,
        call: Call,
        begin: impl FnOnce(&mut Instance) -> Result<(), Error>,
    ) -> Result<Progress, Error> {
        let instance = &mut self.instance;
        let times = self.timeouts.times(call);
        watching(self.watchdog.as_ref(), call, times, || begin(instance))?;
        self.poll(call)
    }

    fn poll(&mut self, call: Call) -> Result<Progress, Error> {
        let instance = &mut self.instance;
        let times = self.timeouts.times(call);
        watching(self.watchdog.as_ref(), call, times, || instance.poll())
    }

    /// Begins a request and waits until it is complete.
    fn complete(
        &mut self,
        call: Call,
        begin: impl FnOnce(&mut Instance) -> Result<(), Error>,
    ) -> Result<(), Error> {
        let until = monotonic_now().saturating_add(self.timeouts.request);
        let mut progress = self.begin(call, begin)?;
        while progress == Progress::Underway {
            if monotonic_now() > until {
                return Err(Error::new(ErrorKind::Timeout, "no answer"));
            }
            std::thread::sleep(POLL);
            progress = self.poll(call)?;
        }
        Ok(())
    }

    /// Hands control back and stops the backend.
    ///
    /// If the flight was `terminated`, the motors are stopped. Otherwise a vehicle that was neither armed before nor commanded is
    /// disarmed, any other is asked to land unless it is landing already; one that cannot land and is `grounded`
    /// is disarmed, and one that was armed before, never came under our control and refuses, is left to whoever flies it. Dropping a link does the same: however a flight ends, its vehicle lands.
    pub fn hand_back(&mut self, terminated: bool, grounded: bool) -> HandedBack {
        let mut handed = HandedBack::default();
        if std::mem::replace(&mut self.requests.handed_back, true) {
            return handed;
        }
        if self.is_commanding() && !self.requests.taken_over {
            let released = self.release_control(terminated, grounded);
            handed.not_landed = released.err().or_else(|| self.wait_until_landed().err());
            let is_ours = self.is_commanding_a_vehicle() && self.commanded;
            let is_down = is_ours && self.requests.reported.armed == Some(false);
            if is_down && !self.requests.taken_over && !terminated {
                handed.crashed = self.requests.landed.trouble(&self.frame);
            }
        }
        let times = self.timeouts.times(Call::Stop);
        let instance = &mut self.instance;
        let stopped = watching(self.watchdog.as_ref(), Call::Stop, times, || {
            instance.stop()
        });
        if let Err(error) = stopped {
            handed.not_stopped = Some(format!("stopping the backend failed: {error}"));
        }
        handed
    }

    fn release_control(&mut self, terminated: bool, grounded: bool) -> Result<(), String> {
        let request = |request| move |instance: &mut Instance| instance.request(request);
        if terminated {
            return match self.complete(Call::Request, request(Request::Terminate)) {
                Err(error) if error.kind == ErrorKind::Unsupported => {
                    tracing::debug!("{error}");
                    Ok(())
                }
                requested => requested.map_err(|error| failed("TERMINATE failed", &error)),
            };
        }
        if !self.is_real_time() {
            return Ok(());
        }
        if !self.commanded && !self.requests.was_armed {
            // Before arming was requested there is nothing to disarm.
            if self.requests.arming_since.is_none() {
                return Ok(());
            }
            return match self.complete(Call::Disarm, Instance::disarm) {
                // Its plugin says that somebody else has armed it, or it does not disarm in the air.
                Err(error) if !self.requests.is_arming_done && is_refusal(error.kind) => {
                    tracing::warn!("{error}");
                    self.requests.left_to_others = true;
                    Ok(())
                }
                disarmed => self.disarmed(disarmed),
            };
        }
        let lands = matches!(self.requests.landing, Some((_, Landing::Begun)));
        if lands || self.is_landing_past_a_call() {
            return Ok(());
        }
        // However the flight ended, the vehicle may be in the air: its motors must not be stopped.
        let requested = self.complete(Call::Request, request(Request::Land));
        match requested {
            // It was armed before, and its plugin says that it never was ours.
            Err(error)
                if !self.commanded && !self.requests.is_arming_done && is_refusal(error.kind) =>
            {
                tracing::info!("{error}");
                self.requests.left_to_others = true;
                Ok(())
            }
            // One that has landed and disarmed itself may refuse to land.
            Err(_) if self.requests.reported.armed == Some(false) => Ok(()),
            Err(error) if grounded && is_refusal(error.kind) => self.disarm(),
            // A plugin that panicked is not called again.
            Err(error) if !self.land_past_the_calls() => Err(failed(
                "LAND failed: the vehicle may be airborne and uncommanded",
                &error,
            )),
            _ => Ok(()),
        }
    }

    /// Whether the vehicle is armed after it was handed back, if that is known; a simulated one is over.
    pub fn is_still_armed(&self) -> Option<bool> {
        if self.is_real_time() {
            self.requests.reported.armed
        } else {
            Some(false)
        }
    }

    /// Waits until a landing vehicle is disarmed, if frames tell whether it is armed.
    fn wait_until_landed(&mut self) -> Result<(), String> {
        if !self.is_commanding_a_vehicle() {
            return Ok(());
        }
        // One that was never asked for anything is somebody else's.
        let is_ours = self.requests.arming_since.is_some() && !self.requests.left_to_others;
        if self.requests.armed.is_none() || !is_ours {
            return Ok(());
        }
        let until = monotonic_now().saturating_add(self.timeouts.landing);
        let mut last_fresh = monotonic_now();
        let gone = |why: &str| Err(format!("{why}: it may still be landing"));
        // Nothing is commanded any more: the watchdog only watches reads.
        self.commanded_at = None;
        let mut is_told = false;
        // One that was armed, and no longer says whether it is, may be in the air.
        while self
            .requests
            .reported
            .armed
            .unwrap_or(self.requests.is_armed)
        {
            self.requests.is_armed = true;
            if !std::mem::replace(&mut is_told, true) {
                tracing::info!("waiting for the vehicle to land");
            }
            if self.panicked {
                return gone("the plugin has panicked");
            }
            if monotonic_now() > until {
                let waited = self.timeouts.landing as f64 / 1e9;
                let state = match self.requests.reported.armed {
                    Some(_) => "is still armed",
                    None => "does not say whether it is armed",
                };
                return Err(format!(
                    "the vehicle {state} {waited} s after it was told to land (`safety.landing_time`)"
                ));
            }
            let Some(tick) = self.read() else {
                return gone("the backend has no more frames of the vehicle");
            };
            if tick.reading == Reading::Fresh {
                last_fresh = monotonic_now();
            } else if monotonic_now().saturating_sub(last_fresh) > SILENCE {
                return gone("the vehicle no longer responds");
            }
            if self.is_taken_over() {
                return Ok(());
            }
        }
        Ok(())
    }

    fn land_past_the_calls(&self) -> bool {
        let Some(line) = self.instance.emergency() else {
            return false;
        };
        // The watchdog's request may be under way, or hang.
        (0..TRIES).any(|_| {
            line.try_request(Request::Land) || {
                std::thread::sleep(POLL);
                false
            }
        })
    }

    fn disarm(&mut self) -> Result<(), String> {
        let disarmed = self.complete(Call::Disarm, Instance::disarm);
        self.disarmed(disarmed)
    }

    fn disarmed(&mut self, disarmed: Result<(), Error>) -> Result<(), String> {
        match disarmed {
            // A plugin that panicked is not called again; a vehicle on the ground is disarmed by its landing.
            Err(error) if error.kind == ErrorKind::Panic && self.land_past_the_calls() => Ok(()),
            disarmed => disarmed.map_err(|error| failed("DISARM failed", &error)),
        }
    }
}

/// What failed, why, and what may help.
fn failed(what: &str, error: &Error) -> String {
    let help = error.help.as_ref();
    let help = help.map_or_else(String::new, |help| format!("; {help}"));
    format!("{what}: {error}{help}")
}

/// Whether such an error means that the request was not carried out.
fn is_refusal(kind: ErrorKind) -> bool {
    matches!(
        kind,
        ErrorKind::Refused | ErrorKind::Unsupported | ErrorKind::Usage
    )
}
