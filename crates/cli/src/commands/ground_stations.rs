//! Shows a flight to ground stations while it is logged.

use fly_flight::binding::{GroupBinding, bind_part};
use fly_flight::supervisor::Mode;
use fly_flight::{LogError, LogSummary, McapFile, Message, Sink};
use fly_hal::Description;
use fly_log::{Header, Pace, Reference, Row, RunMetadata, State};
use fly_mavlink::Address;
use fly_mavlink::backend::MavType;
use fly_mavlink::dialect::MavSeverity;
use fly_mavlink::frames::rotate;
use fly_mavlink::hil::{Fix, Motion};
use fly_mavlink::outputs::{Autopilot, OutputMap};
use fly_mavlink::publish::{Phase, Publication, Target, VehicleInfo, VehicleState};

use super::serve_section;
use crate::config::{Configuration, Document};
use crate::exit::{Exit, Failure};

/// The log, and the flight as ground stations see it.
pub struct GroundStations {
    log: McapFile,
    stations: Option<Stations>,
}

struct Stations {
    publication: Publication,
    outputs: Option<OutputMap>,
    /// Indices of the controls that are thrusts.
    thrusts: Vec<usize>,
    places: Places,
    /// For each of the supervisor's modes, the phase of the flight and the text when it begins.
    modes: Vec<(Phase, String)>,
    mode: Option<u8>,
    /// Their channels, a bit each.
    channels: u32,
    controls: [f32; 32],
    pulses: [u16; 16],
    /// The state that is shown.
    shown: VehicleState,
}

/// Indices in a row of the quantities that a ground station shows.
#[derive(Default)]
struct Places {
    battery: Option<(usize, [usize; 2])>,
    armed: Option<GroupBinding>,
    airspeed: Option<(usize, usize)>,
    position: Option<(usize, [usize; 3])>,
    velocity: Option<(usize, [usize; 3])>,
}

impl GroundStations {
    /// Opens the links. The vehicle has the system id `system`; the document contains the world's origin.
    ///
    /// # Errors
    /// A link cannot be opened.
    pub fn new(
        log: McapFile,
        configuration: &Configuration,
        document: &Document,
        stations: &[Address],
        system: u8,
    ) -> Result<Self, Failure> {
        if stations.is_empty() {
            return Ok(Self {
                log,
                stations: None,
            });
        }
        let inputs = &configuration.system.inputs;
        let section = serve_section::read(document)?;
        // As PX4 numbers them, which has no more than 16.
        let outputs = serve_section::outputs(configuration, &section, Autopilot::Px4)
            .or_else(|_| serve_section::outputs(configuration, &section, Autopilot::ArduPilot));
        let outputs = if section.outputs.is_empty() {
            outputs.ok()
        } else {
            Some(outputs?)
        };
        let channels = outputs.iter().flat_map(OutputMap::channels);
        let channels = channels.fold(0, |bits, channel| bits | 1 << (channel - 1));
        let names = inputs.command_names().iter();
        let thrusts = (outputs.iter().flat_map(OutputMap::channels))
            .zip(names)
            .filter(|(_, name)| name.ends_with(".thrust"))
            .map(|(channel, _)| channel - 1)
            .collect();
        let about = VehicleInfo {
            system,
            kind: kind(inputs.rotors().as_slice().len()),
            origin: section.origin,
            modes: Mode::ALL.map(|mode| mode.name().to_owned()).into(),
        };
        let publication = Publication::open(stations, &about)
            .map_err(|error| Failure::new(Exit::Usage, format_args!("--mavlink-out: {error}")))?;
        Ok(Self {
            log,
            stations: Some(Stations {
                publication,
                outputs,
                thrusts,
                places: Places::default(),
                modes: Vec::new(),
                mode: None,
                channels,
                controls: [0.0; 32],
                pulses: [0; 16],
                shown: VehicleState::default(),
            }),
        })
    }
}

/// The vehicle type with this many rotors.
fn kind(rotors: usize) -> MavType {
    match rotors {
        2 => MavType::MAV_TYPE_COAXIAL,
        3 => MavType::MAV_TYPE_TRICOPTER,
        4 => MavType::MAV_TYPE_QUADROTOR,
        6 => MavType::MAV_TYPE_HEXAROTOR,
        8 => MavType::MAV_TYPE_OCTOROTOR,
        12 => MavType::MAV_TYPE_DODECAROTOR,
        _ => MavType::MAV_TYPE_GENERIC,
    }
}

impl Sink for GroundStations {
    fn begin(&mut self, header: &Header, pace: Pace) -> Result<(), LogError> {
        if let Some(stations) = &mut self.stations {
            stations.begin(header);
        }
        self.log.begin(header, pace)
    }

    fn row(&mut self, row: &Row) {
        self.log.row(row);
        if let Some(stations) = &mut self.stations {
            stations.row(row);
        }
    }

    fn message(&mut self, time: i64, message: Message) {
        if let Some(stations) = &mut self.stations {
            stations.message(&message);
        }
        self.log.message(time, message);
    }

    fn handed_back(&mut self, armed: Option<bool>) {
        if let Some(stations) = &mut self.stations {
            stations.over(armed);
        }
        self.log.handed_back(armed);
    }

    fn finish(&mut self, run: RunMetadata) -> Option<LogSummary> {
        if let Some(stations) = self.stations.take() {
            for (address, statistics) in stations.publication.finish() {
                tracing::info!("{address}: {statistics}");
            }
        }
        self.log.finish(run)
    }
}

impl Stations {
    fn begin(&mut self, header: &Header) {
        self.places = Places::bind(&header.description);
        self.modes = (header.modes.iter())
            .map(|name| (phase(name), format!("mode: {name}")))
            .collect();
    }

    fn row(&mut self, row: &Row) {
        let phase = self.modes.get(usize::from(row.mode));
        if self.mode.replace(row.mode) != Some(row.mode)
            && let Some((_, said)) = phase
        {
            (self.publication).send_text(MavSeverity::MAV_SEVERITY_INFO, said);
        }
        let phase = phase.map_or(Phase::default(), |(phase, _)| *phase);
        if let (Some(outputs), Some(commands)) = (&self.outputs, row.commands) {
            outputs.controls_of_commands(commands, &mut self.controls);
            outputs.pulses_of_commands(commands, &mut self.pulses);
        }
        let count = self.thrusts.len().max(1) as f64;
        let all = self.thrusts.iter().map(|i| f64::from(self.controls[*i]));
        let thrust = all.sum::<f64>() / count;
        let (places, controls) = (&self.places, &self.controls);
        self.shown = VehicleState {
            time: Some(row.time),
            motion: row.state.map(|state| motion(&state)),
            target: (row.control.as_ref())
                .and_then(|control| control.reference)
                .map(|reference| target(&reference)),
            thrust: Some(thrust),
            outputs: *controls,
            channels: self.channels,
            pulses: self.pulses,
            battery: places.battery.and_then(|at| vector(at, row)),
            fix: (places.position.and_then(|at| vector(at, row)))
                .zip(places.velocity.and_then(|at| vector(at, row)))
                .map(|(position, velocity)| Fix { position, velocity }),
            airspeed: places
                .airspeed
                .and_then(|(group, place)| vector((group, [place]), row))
                .map(|[speed]| speed),
            armed: (places.armed)
                .and_then(|armed| armed.flag(row.groups, row.values))
                .unwrap_or(phase != Phase::Standby && phase != Phase::Over),
            phase,
            mode: row.mode.into(),
        };
        self.show();
    }

    /// The flight is over. Its vehicle is armed as it last was, if that is not known better.
    fn over(&mut self, armed: Option<bool>) {
        self.shown.armed = armed.unwrap_or(self.shown.armed);
        self.shown.phase = Phase::Over;
        self.show();
    }

    fn show(&mut self) {
        let shown = &self.shown;
        self.publication.publish(|seen| seen.clone_from(shown));
    }

    /// Sends the flight's own messages, and all more severe ones.
    fn message(&mut self, message: &Message) {
        let severity = match message.level {
            tracing::Level::ERROR => MavSeverity::MAV_SEVERITY_ERROR,
            tracing::Level::WARN => MavSeverity::MAV_SEVERITY_WARNING,
            tracing::Level::INFO if message.target.starts_with("fly_flight") => {
                MavSeverity::MAV_SEVERITY_INFO
            }
            _ => return,
        };
        self.publication.send_text(severity, message.text);
    }
}

fn phase(mode: &str) -> Phase {
    let known = Mode::ALL.into_iter().find(|known| known.name() == mode);
    match known {
        Some(Mode::Flying | Mode::Armed | Mode::Paused) => Phase::Flying,
        Some(Mode::Holding | Mode::HoldPosition | Mode::Descending) => Phase::Failsafe,
        Some(Mode::Landing) => Phase::Landing,
        Some(Mode::Ended) => Phase::Over,
        _ => Phase::Standby,
    }
}

impl Places {
    fn bind(description: &Description) -> Self {
        let place = |name: &str| description.value_index(name);
        let group = |name: &str| description.find_group(name);
        let three = |name: &str| -> Option<(usize, [usize; 3])> {
            let [x, y, z] = ["x", "y", "z"].map(|axis| place(&format!("{name}.{axis}")));
            Some((group(name)?, [x?, y?, z?]))
        };
        let battery = [place("battery.voltage"), place("battery.remaining")];
        Self {
            battery: group("battery").and_then(|at| Some((at, [battery[0]?, battery[1]?]))),
            armed: bind_part(description, "vehicle", "armed"),
            airspeed: group("airspeed").zip(place("airspeed.speed")),
            position: three("gnss.position"),
            velocity: three("gnss.velocity"),
        }
    }
}

/// The values of a valid group.
fn vector<const N: usize>((group, places): (usize, [usize; N]), row: &Row) -> Option<[f64; N]> {
    let valid = row.groups.get(group).is_some_and(|group| group.valid);
    valid.then(|| places.map(|place| row.values[place]))
}

fn motion(state: &State) -> Motion {
    let [x, y, z, attitude @ ..] = state.pose;
    let [vx, vy, vz, angular_velocity @ ..] = state.twist;
    Motion {
        position: [x, y, z],
        attitude,
        velocity: rotate(attitude, [vx, vy, vz]),
        angular_velocity,
    }
}

fn target(reference: &Reference) -> Target {
    let Motion {
        position,
        attitude,
        velocity,
        angular_velocity,
    } = motion(&State {
        pose: reference.pose,
        twist: reference.twist,
    });
    // The twist's components change by themselves and with the axes that they refer to.
    let [vx, vy, vz, p, q, r] = reference.twist;
    let [ax, ay, az, ..] = reference.acceleration;
    let turned = [
        ax + q * vz - r * vy,
        ay + r * vx - p * vz,
        az + p * vy - q * vx,
    ];
    Target {
        position,
        attitude,
        velocity,
        acceleration: rotate(attitude, turned),
        angular_velocity,
    }
}
