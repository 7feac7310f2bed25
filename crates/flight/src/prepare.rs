//! Makes a flight from a configuration and a backend.

use std::time::Instant;

use fly_control::SystemPoint;
use fly_control::analysis::{AnalysisError, ClosedLoop};
use fly_control::predictor::StatePredictor;
use fly_control::settings::{RecordedSettings, ReferenceSettings};
use fly_hal::signal::recorded_command;
use fly_hal::{Clock, CommandSet, Description, Instance, PluginInfo, ReferenceSource};
use fly_log::{FlightHeader, Header, Pace};
use fly_mechanics::Vehicle;
use fly_mechanics::measurements::Measurements;

use crate::backend::{self, Backend};
use crate::binding::{Binding, bind_part};
use crate::config::{Configuration, FlightSection, FlownModel, SafetySection};
use crate::difference::differences;
use crate::energy::EnergyWatch;
use crate::envelope::{Bound, Envelope, Ground};
use crate::error::FlightError;
use crate::estimation::Estimation;
use crate::flight::Flight;
use crate::guidance::Guidance;
use crate::health::Health;
use crate::link::{Link, Timeouts};
use crate::pilot::{Parts, Pilot};
use crate::recorder::{self, Recorder};
use crate::reference::FlightReference;
use crate::setpoints::Setpoints;
use crate::sink::Sink;
use crate::supervisor::{OnLoss, Policy, Response, Supervisor};
use crate::take_off::StartHeight;
use crate::time::nanoseconds;
use crate::timeline::Timeline;
use crate::tracking::Tracking;
use crate::truth::Truth;

/// How long a backend may take to deliver its first complete frame, ns of the backend's clock.
const FIRST_FRAME_TIMEOUT: i64 = 10_000_000_000;
/// A vehicle is armed after good frames for this long, ns.
const STEADY: i64 = 1_000_000_000;

/// Checks that a backend measures the state of the configured system and takes its commands, as [`Flight::new`] does.
///
/// # Errors
/// [`FlightError`]: a signal is missing, or the estimator lacks one.
pub fn check_signals(configuration: &Configuration, backend: &Instance) -> Result<(), FlightError> {
    let (name, model) = (&backend.info().name, &configuration.system.model);
    let (_, given) = estimation(configuration, name, backend.description())?;
    let measurements = Measurements::new(model, Measurements::tracked(model));
    let groups = measurements.groups().iter().map(|group| group.name.clone());
    let commands = configuration.system.inputs.command_names();
    Binding::new(name, &given, &groups.collect::<Vec<_>>(), commands)?;
    Ok(())
}

/// How many exceeded limits are listed in the summary.
const EXCEEDED: usize = 16;

impl<'a> Flight<'a> {
    /// Builds the flight, begins the record and starts the backend.
    ///
    /// A backend with a real-time clock, which may move a real vehicle, is commanded only if it is [armed](Instance::is_armed).
    ///
    /// # Errors
    /// [`FlightError`]; the backend is not started then.
    pub fn new(
        configuration: &Configuration,
        backend: impl Into<Backend>,
        sink: &'a mut dyn Sink,
    ) -> Result<Self, FlightError> {
        let Backend {
            instance: backend,
            messages,
        } = backend.into();
        // Messages of the preparation also belong to the flight's log.
        let _current = messages.enter();
        let (info, description) = (backend.info(), backend.description());
        let is_shadow = description.wants_reference == ReferenceSource::Recorded;

        let Guided {
            reference,
            mut guidance,
            settling,
        } = guidance(configuration, &backend)?;
        let system = &configuration.system;
        let predictor = predictor(configuration, description)?;
        let commands = system.inputs.command_names();
        let (estimation, given) = estimation(configuration, &info.name, description)?;
        let binding = Binding::new(&info.name, &given, &predictor.groups(), commands)?;
        let is_direct = binding.set == CommandSet::Actuators;
        let predictor = remembering(predictor, is_direct && !is_shadow);

        let notes = notes(configuration, &backend)?;
        let section = &configuration.flight;
        announce(section, info, &reference);

        let is_real_time = info.clock == Clock::RealTime;
        let solver = configuration.controller.allocation;
        let energy =
            (!is_shadow && is_direct).then(|| EnergyWatch::new(&mut guidance, commands.len()));
        // In these flights the vehicle is not under our control: without commands, or flown by another controller.
        let recording = is_shadow || backend.description().configuration.is_some();
        let is_ours = !recording && (!is_real_time || backend.is_armed());
        let envelope = is_ours.then(|| envelope(configuration, settling));
        let of_truth = of_truth(envelope.as_ref(), estimation.as_ref());
        let recorder = Recorder::begin(
            sink,
            &header(configuration, &backend, estimation.as_ref()),
            pace(info.clock),
            solver,
            energy,
            tracking(configuration),
            (Truth::bind(description, system), of_truth),
        )?;

        let duration = duration(configuration, is_shadow, guidance.duration())?;
        let safety = &configuration.safety;
        let began = control_began(configuration, description);
        let supervisor = Supervisor::new(policy(configuration, is_shadow, &backend, began));
        let ground = ground(configuration, description, is_real_time).filter(|_| is_ours);
        let (health, guidance) = match binding.set {
            CommandSet::Actuators => health(configuration, description, guidance, is_shadow),
            // An autopilot that takes setpoints handles failures itself.
            _ => (None, guidance),
        };
        let setpoints = Setpoints::new(
            binding.set,
            &configuration.setpoints,
            &system.inputs,
            &given,
        );
        let pilot = Pilot::new(Parts {
            envelope,
            ground,
            predictor,
            binding,
            health,
            guidance,
            setpoints,
            supervisor,
            uplink: bind_part(description, "vehicle", "uplink"),
            stale_after: nanoseconds(safety.stale_ms * 1e-3),
            ground_height: safety.ground_height,
            descent_rate: safety.descent_rate,
            jump: jump(configuration, is_ours),
            take_off: StartHeight::new(section.take_off, &given),
            is_relative: section.relative && !is_shadow,
            control_began: began.filter(|_| !section.relative),
            start_tolerance: [safety.start_distance, safety.start_angle_deg.to_radians()],
            recorded: recorded_commands(description, commands)
                .filter(|_| is_shadow && configuration.controller.observer().is_some()),
            is_shadow,
        });
        let timeline = Timeline::new(section.step_ns(), longest_gap(configuration), recording);
        let link = Link::start(backend, timeline, timeouts(safety))
            .map_err(|error| backend::explain(configuration, &error))?;
        Ok(Self {
            name: configuration.document.name().to_owned(),
            reference,
            duration: duration.map(nanoseconds),
            first_frame_timeout: (!is_shadow).then_some(FIRST_FRAME_TIMEOUT),
            ready_since: began,
            link,
            estimation,
            groups: given.groups,
            pilot,
            recorder,
            messages,
            notes,
            ending: None,
            ended_by_user: false,
            cycle: None,
            actuators: Vec::new(),
            exceeded: Vec::with_capacity(EXCEEDED),
            began: Instant::now(),
            wall_start: jiff::Timestamp::now(),
        })
    }
}

fn pace(clock: Clock) -> Pace {
    match clock {
        Clock::RealTime => Pace::RealTime,
        Clock::Stepped => Pace::Stepped,
    }
}

/// Records the errors of all bodies.
fn tracking(configuration: &Configuration) -> Tracking {
    let bodies = configuration.system.model.bodies().count();
    Tracking::new(bodies, configuration.tolerance.of_errors())
}

/// When control of the recorded flight began, ns, if the recording tells.
fn control_began(configuration: &Configuration, description: &Description) -> Option<i64> {
    let began = (description.control_began).filter(|_| description.configuration.is_some())?;
    // The part began in flight.
    if configuration.flight.relative && description.starts_in_motion {
        tracing::warn!(
            "the reference begins anew at the vehicle (`flight.relative`): this part of the flight does not tell where the vehicle began"
        );
    }
    Some(began)
}

/// Predicts the state between measurements and at the time when commands act.
fn predictor(
    configuration: &Configuration,
    description: &Description,
) -> Result<StatePredictor, FlightError> {
    let system = &configuration.system;
    let predictor = StatePredictor::new(system).map_err(|error| FlightError::Model {
        system: system.name.clone(),
        error,
    })?;
    let predictor = predictor.counting_turns(configuration.controller.approach.counts_turns());
    let predictor = if description.starts_in_motion {
        predictor.from_first_commands()
    } else {
        predictor
    };
    // A recorded flight does not wait for our commands.
    Ok(match description.wants_reference {
        ReferenceSource::Recorded => predictor,
        ReferenceSource::Configured => {
            predictor.with_delay(configuration.controller.actuators.delay)
        }
    })
}

/// Takes late measurements if the actuators are commanded directly. The model knows no inner loop of an autopilot, which follows setpoints in its
/// own way: there they would lead elsewhere.
fn remembering(predictor: StatePredictor, is_direct: bool) -> StatePredictor {
    if is_direct {
        predictor.with_past()
    } else {
        predictor
    }
}

/// Timeouts of a real vehicle's backend.
fn timeouts(safety: &SafetySection) -> Timeouts {
    Timeouts {
        hang: nanoseconds(safety.hang_ms * 1e-3),
        request: nanoseconds(safety.request_timeout),
        take_off: nanoseconds(safety.take_off_time),
        landing: nanoseconds(safety.landing_time),
    }
}

/// Announces the flight.
fn announce(section: &FlightSection, info: &PluginInfo, reference: &str) {
    tracing::info!(
        "{} {}, {:?} clock; {reference} reference; {} Hz, seed {}",
        info.name,
        info.version,
        info.clock,
        section.rate_hz,
        section.seed
    );
}

/// The estimator, if configured, and the description of the frames that the pilot sees.
fn estimation(
    configuration: &Configuration,
    backend: &str,
    description: &Description,
) -> Result<(Option<Estimation>, Description), FlightError> {
    let Some(section) = &configuration.estimator else {
        return Ok((None, description.clone()));
    };
    let gravity = *configuration.system.model.gravity();
    let stale_after = nanoseconds(configuration.safety.stale_ms * 1e-3);
    let (estimation, given) = Estimation::new(section, gravity, stale_after, backend, description)?;
    Ok((Some(estimation), given))
}

/// The actuator health, if it can be known, and the guidance prepared for actuator failures.
fn health(
    configuration: &Configuration,
    description: &Description,
    guidance: Guidance,
    is_shadow: bool,
) -> (Option<Health>, Guidance) {
    let detects = (configuration.controller.disturbance).is_some_and(|it| it.detect_failures);
    let health = Health::bind(description, &configuration.system, detects);
    let guidance = if health.is_some() && !is_shadow {
        guidance.with_spinning_hover()
    } else {
        guidance
    };
    (health, guidance)
}

/// The flight envelope.
fn envelope(configuration: &Configuration, settling: Option<f64>) -> Envelope {
    let usual = usual_response(configuration);
    let limits = &configuration.safety.limits;
    let gravity = configuration.system.model.gravity().norm();
    Envelope::new(
        &limits.bounds(usual),
        limits.regions(),
        settling,
        gravity,
        usual,
    )
    .above_ground(configuration.safety.ground_height)
    .of_joints(&configuration.system)
    .of_coordinates(configuration.system.model.config_dim())
}

/// The limit of jumps of the measured position, which has a response if the vehicle is under our control.
fn jump(configuration: &Configuration, is_ours: bool) -> Bound {
    let bound = (configuration.safety.limits).of_jumps(usual_response(configuration));
    Bound {
        then: bound.then.filter(|_| is_ours).or(Some(Response::Warn)),
        ..bound
    }
}

/// The envelope of a simulation's true state.
fn of_truth(envelope: Option<&Envelope>, estimation: Option<&Estimation>) -> Option<Envelope> {
    let fix_error = estimation.map_or(0.0, Estimation::fix_error);
    Some(envelope?.of_truth(fix_error))
}

/// Notes for the summary, also reported as warnings.
///
/// # Errors
/// A file of the reference cannot be read.
fn notes(configuration: &Configuration, backend: &Instance) -> Result<Vec<String>, FlightError> {
    let mut notes = Vec::new();
    if let Some(recorded) = &backend.description().configuration {
        let lines = differences(recorded, configuration.document.text());
        let note = |line| format!("the recorded configuration differs: {line}");
        notes.extend(lines.into_iter().map(note));
    }
    if backend.clock() == Clock::RealTime && !backend.is_armed() {
        let name = &backend.info().name;
        notes.push(format!(
            "no command is sent: `{name}` may move a vehicle, and --arm was not given"
        ));
    }
    if backend.description().wants_reference == ReferenceSource::Configured {
        notes.extend(configuration.coarse_samples()?);
    }
    for note in &notes {
        tracing::warn!("{note}");
    }
    Ok(notes)
}

/// Indices in a frame of the recorded controller's commands, in the order of the vehicle's commands; `None` unless all
/// are recorded.
fn recorded_commands(description: &Description, commands: &[String]) -> Option<Vec<usize>> {
    let place = |command: &String| {
        (description.frame_signals())
            .position(|signal| recorded_command(&signal.name) == Some(command.as_str()))
    };
    commands.iter().map(place).collect()
}

fn header(
    configuration: &Configuration,
    backend: &Instance,
    estimation: Option<&Estimation>,
) -> Header {
    let system = &configuration.system;
    let observed = configuration.controller.observer().is_some();
    Header {
        disturbance_dim: if observed { system.model.dof() } else { 0 },
        estimate: estimation.map(|estimation| {
            let sensors = estimation.sensors().skip(Estimation::INERTIAL);
            sensors.map(ToOwned::to_owned).collect()
        }),
        flight: FlightHeader {
            name: configuration.document.name().to_owned(),
            configuration: configuration.document.text().to_owned(),
            vehicle: configuration.vehicle_text.text().to_owned(),
            vehicle_name: system.name.clone(),
            backend: backend.info().name.clone(),
            rate_hz: configuration.flight.rate_hz,
            seed: configuration.flight.seed,
            start: 0,
            counts_turns: configuration.controller.approach.counts_turns(),
            origin: None,
        },
        ..recorder::header(backend.description(), system)
    }
}

/// The default response to lost frames and to exceeded limits.
pub fn usual_response(configuration: &Configuration) -> Response {
    let usual = match configuration.flown_model() {
        FlownModel::Vehicle(_) => Response::Descend,
        FlownModel::System(_) => Response::Hold,
    };
    configuration.safety.then.unwrap_or(usual)
}

/// Speed at which a simulated vehicle hits its ground.
const CONTACT: &str = "contact.speed";

/// The ground, if its height is known or frames report contacts with it. A crash ends a simulation; the motors of a
/// real vehicle are never stopped by a computed value.
fn ground(
    configuration: &Configuration,
    description: &Description,
    is_real_time: bool,
) -> Option<Ground> {
    let safety = &configuration.safety;
    let contact = description.value_index(&fly_hal::signal::truth(CONTACT));
    let usual = if is_real_time {
        Response::Warn
    } else {
        Response::Terminate
    };
    let keys = safety.limits.touchdown.as_ref();
    let speed = keys.map_or(2.0 * safety.descent_rate, |keys| keys.max);
    let then = keys.and_then(|keys| keys.then).unwrap_or(usual);
    let height = safety.ground_height;
    (height.is_some() || contact.is_some()).then(|| {
        let truth = Truth::bind(description, &configuration.system);
        let flies = !configuration.system.inputs.rotors().as_slice().is_empty();
        let ground = Ground::new(height, (contact, truth), speed, then, !is_real_time);
        if flies { ground.of_a_flyer() } else { ground }
    })
}

/// A reference and the law that follows it.
struct Guided {
    /// Name of the reference's kind.
    reference: String,
    guidance: Guidance,
    /// Settling time of the closed loop, s, if known.
    settling: Option<f64>,
}

fn guidance(configuration: &Configuration, backend: &Instance) -> Result<Guided, FlightError> {
    match configuration.flown_model() {
        FlownModel::Vehicle(vehicle) => {
            let (kind, reference) = reference(configuration, vehicle, backend)?;
            let controller = configuration.build_controller(vehicle)?;
            let takes = backend.description().command_set();
            let controller = match takes {
                Ok(set) if set != CommandSet::Actuators => controller.with_inner_loop(),
                _ => controller,
            };
            let (system, model) = (&configuration.system, &configuration.system.model);
            let rate = configuration.safety.descent_rate;
            let level = model.neutral_configuration();
            let closed = ClosedLoop::new(system, &controller, &level);
            // A recorded vehicle does not approach a reference that we choose.
            let is_shadow = backend.description().wants_reference == ReferenceSource::Recorded;
            let governor = configuration.build_governor(vehicle, closed.as_ref().ok())?;
            let governor = governor.filter(|_| !is_shadow);
            let is_late = controller.delay() > 0.0 && !is_shadow;
            let mut guidance =
                Guidance::of_vehicle(vehicle, model, reference, controller, governor, rate);
            if is_late {
                let (_, ahead) = self::reference(configuration, vehicle, backend)?;
                guidance = guidance.with_delay(ahead);
            }
            Ok(Guided {
                settling: settling_time(closed),
                guidance,
                reference: kind,
            })
        }
        FlownModel::System(system) => {
            if let Ok(set) = backend.description().command_set()
                && set != CommandSet::Actuators
            {
                return Err(FlightError::Setpoints {
                    backend: backend.info().name.clone(),
                    set: set.name(),
                    system: system.name.clone(),
                });
            }
            if backend.description().wants_reference == ReferenceSource::Recorded {
                return Err(FlightError::Shadow {
                    backend: backend.info().name.clone(),
                    system: system.name.clone(),
                });
            }
            let mut reference = configuration.build_system_reference(system)?;
            let mut controller = configuration.build_system_controller(system)?;
            // State feedback computes its gains here, not in flight.
            let mut first = SystemPoint::new(&system.model);
            reference.at(0.0, &mut first)?;
            reference.restart();
            controller
                .place_at_rest(&first.configuration)
                .map_err(|error| configuration.explain_step(&error))?;
            let closed = ClosedLoop::new(system, &controller, &first.configuration);
            let is_late = controller.delay() > 0.0;
            let mut guidance = Guidance::of_system(system, reference, controller)?;
            if is_late {
                let ahead = configuration.build_system_reference(system)?;
                guidance = guidance.system_with_delay(ahead);
            }
            Ok(Guided {
                reference: configuration.reference.kind().to_owned(),
                guidance,
                settling: settling_time(closed),
            })
        }
    }
}

/// Time in which the loop settles to 2 % of a small error: four time constants of its slowest pole, s. `None` if it
/// does not settle, or if that is unknown.
fn settling_time(closed: Result<ClosedLoop, AnalysisError>) -> Option<f64> {
    let poles = closed.and_then(|closed| closed.poles()).ok()?;
    let slowest = poles
        .iter()
        .map(|pole| pole.re)
        .fold(f64::NEG_INFINITY, f64::max);
    (slowest < 0.0).then(|| -4.0 / slowest)
}

/// The reference of a vehicle and the name of its kind: the configured one; in a shadow flight the recorded one, unless the
/// command line sets it.
fn reference(
    configuration: &Configuration,
    vehicle: &Vehicle,
    backend: &Instance,
) -> Result<(String, FlightReference), FlightError> {
    let description = backend.description();
    let recorded = ReferenceSettings::Recorded(RecordedSettings::default());
    let mut set = configuration.document.set_keys("reference");
    let chosen = set.any(|key| key != "tolerance");
    let (settings, built) = match description.wants_reference {
        ReferenceSource::Recorded if !chosen => {
            let built = recorded.build(vehicle).map_err(FlightError::Reference)?;
            (&recorded, built)
        }
        ReferenceSource::Recorded | ReferenceSource::Configured => (
            &configuration.reference,
            configuration.build_reference(vehicle)?,
        ),
    };
    let reference =
        FlightReference::new(built, description).ok_or_else(|| FlightError::NoSetpoints {
            backend: backend.info().name.clone(),
        })?;
    Ok((settings.kind().to_owned(), reference))
}

/// Duration of the flight, s: as configured, else until the reference comes to rest. A shadow flight lasts as long as
/// its recording, unless the command line sets a duration.
fn duration(
    configuration: &Configuration,
    is_shadow: bool,
    of_reference: Option<f64>,
) -> Result<Option<f64>, FlightError> {
    if !is_shadow {
        configuration.check_end(of_reference)?;
    }
    let configured = configuration.flight.duration.or(of_reference);
    let mut set = configuration.document.set_keys("flight");
    Ok(configured.filter(|_| !is_shadow || set.any(|key| key == "duration")))
}

/// The longest time between two good frames, ns: the hold time, the age at which a measurement is stale, and two ticks.
fn longest_gap(configuration: &Configuration) -> i64 {
    let safety = &configuration.safety;
    nanoseconds((safety.hold_ms + safety.stale_ms) * 1e-3)
        .saturating_add(configuration.flight.step_ns().saturating_mul(2))
}

fn policy(
    configuration: &Configuration,
    is_shadow: bool,
    backend: &Instance,
    began: Option<i64>,
) -> Policy {
    let safety = &configuration.safety;
    let is_real = backend.clock() == Clock::RealTime;
    let description = backend.description();
    let commands = description.command_set().ok();
    // Only the autopilot of a real vehicle tells who controls it.
    let is_of_autopilot =
        (description.frame_signals()).any(|signal| signal.name == "vehicle.control");
    let is_of_real = is_real || description.configuration.is_some() && is_of_autopilot;
    Policy {
        step: configuration.flight.step_ns(),
        hold: nanoseconds(safety.hold_ms * 1e-3),
        on_loss: if is_shadow {
            OnLoss::Skip
        } else {
            OnLoss::Respond(usual_response(configuration))
        },
        longest_gap: longest_gap(configuration),
        longest_failsafe: nanoseconds(safety.max_descent_time),
        longest_blind: nanoseconds(safety.longest_blind(commands.filter(|_| is_of_real))),
        resume: safety.resume,
        must_arm: is_real && backend.is_armed(),
        // An autopilot keeps its vehicle where it is.
        steady_for: if is_real && is_of_autopilot {
            STEADY
        } else {
            0
        },
        slow_frames: is_of_real,
        begins: began.unwrap_or(i64::MIN),
    }
}
