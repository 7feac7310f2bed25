//! From a configuration to a flight that is ready to begin: plugin, binding, controller, reference, log, in this order.

use std::path::{Path, PathBuf};
use std::time::Instant;

use fly_control::SystemPoint;
use fly_control::settings::{RecordedSettings, ReferenceSettings};
use fly_hal::{Clock, Instance, Plugin, ReferenceSource};
use fly_log::{FlightHeader, Header, Pace, Writer};
use fly_mechanics::Vehicle;

use super::binding::Binding;
use super::craft::Craft;
use super::difference::differences;
use super::energy::EnergyWatch;
use super::error::FlightError;
use super::guidance::{Guidance, SystemGuidance, VehicleGuidance};
use super::pilot::{Parts, Pilot};
use super::recorder::{self, Recorder};
use super::reference::FlightReference;
use super::replay::Comparison;
use super::session::Flight;
use super::supervisor::{OnLoss, Supervisor};
use super::{FlightOptions, nanoseconds};
use crate::backend::{self, Backend};
use crate::config::{BackendSection, Configuration, Flown, Origin, SafetyAction};
use crate::histogram::Histogram;
use crate::messages::Messages;
use crate::statistics::FlightStatistics;

impl Flight {
    /// Loads and configures everything, creates the log and starts the backend.
    ///
    /// # Errors
    /// The first thing that is wrong; nothing is left behind then.
    pub fn prepare(
        configuration: &Configuration,
        options: &FlightOptions,
    ) -> Result<Self, FlightError> {
        // Messages of the preparation belong to the flight's log as well.
        let messages = Messages::new();
        let _current = messages.enter();
        let Backend {
            plugin,
            mut instance,
        } = backend::open(configuration, &options.plugin_dirs, options.arm)?;
        let name = plugin.info().name.clone();

        let (kind, mut guidance) = guidance(configuration, &instance, &name)?;
        let foreign = instance.description().wants_reference == ReferenceSource::Recorded;
        let system = &configuration.system;
        let craft = Craft::new(system).map_err(|error| FlightError::Model {
            system: system.name.clone(),
            error,
        })?;
        let commands = system.inputs.command_names();
        let binding = Binding::new(&name, instance.description(), &craft.groups(), commands)?;
        let mut notes = recorded_differences(configuration);

        let comparison = {
            let description = instance.description();
            let values: Vec<&str> = description
                .frame_signals()
                .map(|signal| signal.name.as_str())
                .collect();
            let unit =
                |name: &str| fly_hal::signal::meaning(name).map_or("", |meaning| meaning.unit);
            let comparison = Comparison::new(
                commands.iter().map(|name| (name.as_str(), unit(name))),
                &values,
            );
            (!comparison.commands().is_empty()).then_some(comparison)
        };

        let real_time = plugin.info().clock == Clock::RealTime;
        let sending = !real_time || options.arm;
        if !sending {
            let note =
                format!("no command is sent: `{name}` may move something, and --arm was not given");
            tracing::warn!("{note}");
            notes.push(note);
        }
        announce(&plugin, configuration, &kind);
        let recorder = create_log(configuration, options, &instance, &name, real_time)?;

        let failed = |error: fly_hal::Error| backend::explain(configuration, &error);
        instance.start().map_err(failed)?;
        if real_time && options.arm {
            instance.arm().map_err(failed)?;
        }

        let duration = duration(configuration, foreign, guidance.duration());
        let supervisor = Supervisor::new(
            nanoseconds(configuration.safety.hold().as_secs_f64()),
            on_loss(configuration, foreign),
        )
        .with_longest_gap(longest_gap(configuration));
        let frame = instance.description().frame();
        let ordered = vec![0.0; commands.len()];
        let energy = (!foreign).then(|| EnergyWatch::new(guidance.as_mut(), commands.len()));
        let pilot = Pilot::new(Parts {
            craft,
            binding,
            guidance,
            supervisor,
            stale_after: nanoseconds(configuration.safety.stale_ms * 1e-3),
            ground_height: configuration.safety.ground_height,
            commands_act: !foreign,
        });
        Ok(Self {
            name: configuration.document.name().to_owned(),
            backend: format!("{} {}", plugin.info().name, plugin.info().version),
            reference_kind: kind,
            step: configuration.flight.step_ns(),
            duration: duration.map(nanoseconds),
            patience: (!foreign).then_some(Self::PATIENCE),
            real_time,
            sending,
            instance,
            frame,
            ordered,
            pilot,
            comparison,
            energy,
            statistics: FlightStatistics::default(),
            solver_fallbacks: 0,
            not_optimal: [0; 2],
            expected_solver: configuration.controller.allocation,
            step_times: Histogram::default(),
            messages,
            recorder,
            notes,
            first: None,
            last: None,
            last_fresh: None,
            ticks: 0,
            deadline: fly_hal::monotonic_now(),
            failure: None,
            unsent: None,
            read_errors: 0,
            write_errors: 0,
            began: Instant::now(),
            wall_start: jiff::Timestamp::now(),
        })
    }
}

/// Says what is about to fly, for `-v` and the log.
fn announce(plugin: &Plugin, configuration: &Configuration, reference: &str) {
    let info = plugin.info();
    tracing::info!(
        "{} {}, {:?} clock; {reference} reference; {} Hz, seed {}",
        info.name,
        info.version,
        info.clock,
        configuration.flight.rate_hz,
        configuration.flight.seed
    );
}

/// The name of the reference's kind, and what follows it.
fn guidance(
    configuration: &Configuration,
    instance: &Instance,
    backend: &str,
) -> Result<(String, Box<dyn Guidance>), FlightError> {
    match configuration.flown() {
        Flown::Vehicle(vehicle) => {
            let (kind, reference) = reference(configuration, vehicle, instance, backend)?;
            let controller = configuration.build_controller(vehicle)?;
            let safety = &configuration.safety;
            let rate = match safety.then {
                Some(SafetyAction::Rest) => 0.0,
                Some(SafetyAction::Descend | SafetyAction::Terminate) | None => safety.descent_rate,
            };
            let model = &configuration.system.model;
            let guidance = VehicleGuidance::new(model, reference, controller, rate);
            Ok((kind, Box::new(guidance)))
        }
        Flown::System(system) => {
            if instance.description().wants_reference == ReferenceSource::Recorded {
                return Err(FlightError::Foreign {
                    backend: backend.to_owned(),
                    system: system.name.clone(),
                });
            }
            let mut reference = configuration.build_system_reference(system)?;
            let mut controller = configuration.build_system_controller(system)?;
            // State feedback finds its gains here, not in flight.
            let mut first = SystemPoint::new(&system.model);
            reference.at(0.0, &mut first)?;
            reference.restart();
            controller.rest_at(&first.configuration)?;
            let kind = configuration.reference.kind().to_owned();
            Ok((kind, Box::new(SystemGuidance::new(reference, controller))))
        }
    }
}

/// The reference of a vehicle and the name of its kind: the configured one, but the recorded one for a recording of another
/// controller's flight, unless the user chose one on the command line.
fn reference(
    configuration: &Configuration,
    vehicle: &Vehicle,
    instance: &Instance,
    backend: &str,
) -> Result<(String, FlightReference), FlightError> {
    let description = instance.description();
    let recorded = ReferenceSettings::Recorded(RecordedSettings::default());
    let chosen = from_flag(configuration, "reference.kind");
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
            backend: backend.to_owned(),
        })?;
    Ok((settings.kind().to_owned(), reference))
}

/// Whether the value at this path was given on the command line.
fn from_flag(configuration: &Configuration, path: &str) -> bool {
    configuration
        .document
        .place(path)
        .is_some_and(|place| matches!(place.source.origin, Origin::Flag(_)))
}

/// How long the flight is, s: as configured, else until the reference has come to rest. A recording of another controller's
/// flight is as long as it is, unless the command line says otherwise.
fn duration(
    configuration: &Configuration,
    foreign: bool,
    of_reference: Option<f64>,
) -> Option<f64> {
    let configured = configuration.flight.duration.or(of_reference);
    configured.filter(|_| !foreign || from_flag(configuration, "flight.duration"))
}

/// How far apart two good frames may be, ns: the last command was held and the measurement went stale meanwhile, give or take
/// two ticks.
fn longest_gap(configuration: &Configuration) -> i64 {
    let safety = &configuration.safety;
    nanoseconds((safety.hold_ms + safety.stale_ms) * 1e-3)
        .saturating_add(configuration.flight.step_ns().saturating_mul(2))
}

fn on_loss(configuration: &Configuration, foreign: bool) -> OnLoss {
    let safety = &configuration.safety;
    let usual = match configuration.flown() {
        Flown::Vehicle(_) => SafetyAction::Descend,
        Flown::System(_) => SafetyAction::Rest,
    };
    let duration = nanoseconds(safety.max_descent_time);
    match safety.then.unwrap_or(usual) {
        _ if foreign => OnLoss::Pause,
        SafetyAction::Terminate => OnLoss::Terminate,
        SafetyAction::Descend => OnLoss::Descend { duration },
        SafetyAction::Rest => OnLoss::Rest { duration },
    }
}

/// Where the present configuration differs from that of the recording which is replayed, if one is.
fn recorded_differences(configuration: &Configuration) -> Vec<String> {
    let Some(path) = recording(&configuration.backend) else {
        return Vec::new();
    };
    // Whatever is wrong with the file, the plugin says it better.
    let Ok(Some(header)) = FlightHeader::read(&path) else {
        return Vec::new();
    };
    let lines = differences(&header.configuration, configuration.document.text());
    lines
        .into_iter()
        .map(|line| {
            tracing::warn!("the recorded configuration differs: {line}");
            format!("the recorded configuration differs: {line}")
        })
        .collect()
}

/// The recording that the backend's table names, where the backend is `replay`.
fn recording(backend: &BackendSection) -> Option<PathBuf> {
    if backend.table.path() != "backend.replay" {
        return None;
    }
    let table: toml::Table = toml::from_str(backend.table.text()).ok()?;
    let log = table.get("log")?.as_str()?;
    let offset = backend.table.text().find(log)?;
    Some(backend.table.resolve_path(offset, log))
}

fn create_log(
    configuration: &Configuration,
    options: &FlightOptions,
    instance: &Instance,
    backend: &str,
    real_time: bool,
) -> Result<Recorder, FlightError> {
    let system = &configuration.system;
    let path = match options.log.as_ref().or(configuration.flight.log.as_ref()) {
        Some(path) => path.clone(),
        None => default_log(configuration.document.name()),
    };
    let header = Header {
        flight: FlightHeader {
            configuration: configuration.document.text().to_owned(),
            vehicle: configuration.vehicle_text.text().to_owned(),
            vehicle_name: system.name.clone(),
            backend: backend.to_owned(),
            rate_hz: configuration.flight.rate_hz,
            seed: configuration.flight.seed,
            start: 0,
        },
        ..recorder::header(instance.description(), system)
    };
    let pace = if real_time {
        Pace::RealTime
    } else {
        Pace::Stepped
    };
    let writer = Writer::create(path, &header, pace)?;
    Ok(Recorder::new(writer, &header))
}

/// `<configuration>-<UTC time>.mcap` in the current folder; a second flight in the same second gets a number.
fn default_log(name: &str) -> PathBuf {
    let stem = format!(
        "{name}-{}",
        jiff::Timestamp::now().strftime("%Y%m%dT%H%M%SZ")
    );
    let free = |path: &PathBuf| !Path::exists(path);
    let numbered = (2..1000).map(|number| PathBuf::from(format!("{stem}-{number}.mcap")));
    std::iter::once(PathBuf::from(format!("{stem}.mcap")))
        .chain(numbered)
        .find(free)
        .unwrap_or_else(|| PathBuf::from(format!("{stem}.mcap")))
}
