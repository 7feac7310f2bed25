//! Several vehicles in one simulated world, recorded together.
//!
//! Each vehicle is a whole [`Flight`] with its own pilot, supervisor, reference, verdict and log. Its backend is a view
//! of the world in which its signals have the names and numbers of a flight alone. The flights are ticked in turn; the
//! world is read once per tick, under the commands of all vehicles. If nothing is shared, each vehicle flies as it
//! would alone, bit for bit.
//!
//! ```
//! use fly_flight::config::FleetConfiguration;
//! use fly_flight::fleet::Fleet;
//! use fly_flight::{Discard, Memory, Verdict, backend};
//! use fly_plugin_sim::Simulation;
//!
//! # fn main() -> Result<(), fly_flight::FlightError> {
//! let configuration = FleetConfiguration::from_toml("pair", r#"
//!     flight = { duration = 1.0 }
//!     vehicles = [
//!         { name = "left", config = "quadcopter.toml", reference = { kind = "hover", position = [0, 1, 0] } },
//!         { name = "right", config = "quadcopter.toml", reference = { kind = "hover", position = [0, -1, 0] } },
//!     ]
//!     backend = { plugin = "sim" }
//! "#)?;
//! let world = backend::configure::<Simulation>(&configuration, false)?;
//! let mut rows = [Memory::default(), Memory::default()];
//! let summary = Fleet::new(&configuration, world, &mut rows, &mut Discard)?.run();
//! assert_eq!(summary.verdict(), Verdict::Flown);
//! assert_eq!(rows[1].rows.len(), 501);
//! # Ok(()) }
//! ```

mod port;
mod signals;
mod summary;
mod world;

use std::sync::Arc;
use std::time::Instant;

use fly_hal::{Clock, Instance};
use tracing::Span;

use crate::backend::{self, Backend};
use crate::config::{Diagnostic, FleetConfiguration};
use crate::error::FlightError;
use crate::flight::Flight;
use crate::messages::Messages;
use crate::sink::Sink;
use crate::summary::Summary;
use crate::verdict::End;
use crate::world_record::WorldRecord;
use port::Port;
use signals::Signals;
pub use summary::FleetSummary;
use world::{Shared, World};

/// Several flights in one world, ready to begin or under way.
///
/// [`tick`](Self::tick) does not allocate after its first call, apart from what the world and the solvers do.
pub struct Fleet<'a> {
    name: String,
    vehicles: Vec<Vehicle<'a>>,
    world: Shared,
    record: WorldRecord<'a>,
    messages: Messages,
    /// What the vehicles say, for the world's record.
    said: Messages,
    began: Instant,
}

/// One vehicle and its flight.
struct Vehicle<'a> {
    name: String,
    /// The flight, until it has ended.
    flight: Option<Flight<'a>>,
    summary: Summary,
    /// Names the vehicle before each of its messages.
    span: Span,
}

impl<'a> Fleet<'a> {
    /// Starts the world, builds every flight and begins the records: one sink per vehicle, in the order of the configuration, and one for
    /// the world, whose rows hold all bodies. Vehicles beyond the last sink do not fly.
    ///
    /// # Errors
    /// [`FlightError`], with the vehicle's name if it is about one.
    pub fn new<S: Sink>(
        configuration: &FleetConfiguration,
        world: impl Into<Backend>,
        sinks: &'a mut [S],
        of_world: &'a mut dyn Sink,
    ) -> Result<Self, FlightError> {
        let Backend {
            mut instance,
            messages,
        } = world.into();
        if instance.clock() != Clock::Stepped {
            let name = &instance.info().name;
            let title = format!(
                "the backend `{name}` cannot hold several vehicles: its clock is that of a real one"
            );
            let diagnostic =
                Diagnostic::new(title).help("choose one that simulates: `plugin = \"sim\"`");
            return Err(FlightError::Backend(diagnostic.into()));
        }
        let system = &configuration.world;
        let mut record = WorldRecord::begin(configuration.into(), system, &instance, of_world)?;
        let description = instance.description().clone();
        // Its messages are those of no vehicle.
        let started = tracing::error_span!("world").in_scope(|| {
            let _messages = messages.enter();
            instance.start()
        });
        started.map_err(|error| backend::explain(configuration, &error))?;
        let world = World::shared(instance, system, configuration.vehicles.len());
        let said = Messages::new();
        // The vehicles' own messages are passed on to these.
        let listening = said.enter();
        let mut vehicles = Vec::with_capacity(configuration.vehicles.len());
        for (index, (member, sink)) in configuration.vehicles.iter().zip(sinks).enumerate() {
            let of_vehicle = |error: FlightError| FlightError::of_vehicle(&member.name, error);
            let signals = Signals::of(&configuration.vehicles, index, system);
            let port = Port::new(Arc::clone(&world), &description, &signals);
            let span = tracing::error_span!("vehicle", name = %member.name);
            let flight = port
                .and_then(Instance::of)
                .map_err(|error| FlightError::Backend(Diagnostic::new(error.message).into()))
                .and_then(|port| span.in_scope(|| Flight::new(&member.configuration, port, sink)))
                .map_err(of_vehicle)?;
            record.hear(&member.name, &said, || world::lock(&world).frame().time);
            vehicles.push(Vehicle {
                name: member.name.clone(),
                flight: Some(flight),
                summary: Summary::default(),
                span,
            });
        }
        drop(listening);
        // They fly from now on, not while the others were prepared.
        let began = Instant::now();
        for flight in vehicles.iter_mut().filter_map(|it| it.flight.as_mut()) {
            flight.began = began;
        }
        Ok(Self {
            name: configuration.document.name().to_owned(),
            vehicles,
            world,
            record,
            messages,
            said,
            began,
        })
    }
}

/// # The loop
impl Fleet<'_> {
    /// Flies until all flights have ended.
    pub fn run(mut self) -> FleetSummary {
        while !self.tick() {}
        self.finish()
    }

    /// Runs one tick of every flight that has not ended. Returns whether all have ended; then call
    /// [`finish`](Self::finish). The rotors of a vehicle whose flight has ended run at their minimum; the others fly
    /// on.
    pub fn tick(&mut self) -> bool {
        for vehicle in &mut self.vehicles {
            let Vehicle { flight, span, .. } = vehicle;
            let ended = span.in_scope(|| flight.as_mut().and_then(Flight::tick));
            vehicle.finish(ended);
            let time = || world::lock(&self.world).frame().time;
            self.record.hear(&vehicle.name, &self.said, time);
        }
        let world = world::lock(&self.world);
        (self.record).tick(world.frame(), world.commands(), &self.messages);
        drop(world);
        self.vehicles.iter().all(|vehicle| vehicle.flight.is_none())
    }

    /// Ends all flights that are still under way, for a reason that comes from the caller or the user.
    pub fn end(&mut self, end: &End) {
        for vehicle in &mut self.vehicles {
            let Vehicle { flight, span, .. } = vehicle;
            let ended = span.in_scope(|| flight.as_mut()?.end(end.clone()));
            vehicle.finish(ended);
            let time = || world::lock(&self.world).frame().time;
            self.record.hear(&vehicle.name, &self.said, time);
        }
    }

    /// The summaries of all flights; those still under way count as interrupted.
    pub fn finish(mut self) -> FleetSummary {
        self.end(&End::Interrupted);
        let wall_time = self.began.elapsed().as_secs_f64();
        let vehicles: Vec<_> = (self.vehicles.drain(..))
            .map(|vehicle| (vehicle.name, vehicle.summary))
            .collect();
        let mut world = world::lock(&self.world);
        let flight_time = (vehicles.iter()).fold(0.0, |longest: f64, (_, summary)| {
            longest.max(summary.flight_time)
        });
        FleetSummary {
            name: self.name,
            flight_time,
            wall_time,
            backend: world.name(),
            backend_report: world.report(),
            log: self.record.finish(flight_time, wall_time, &world.name()),
            vehicles,
        }
    }
}

/// # Progress
impl<'a> Fleet<'a> {
    /// The longest time of the flights under way, s.
    pub fn flight_time(&self) -> f64 {
        self.flights().map(Flight::flight_time).fold(0.0, f64::max)
    }

    /// The largest distance (m) and angle (rad) between state and reference over the flights under way.
    pub fn errors(&self) -> [f64; 2] {
        let largest = |a: [f64; 2], b: [f64; 2]| [a[0].max(b[0]), a[1].max(b[1])];
        self.flights().map(Flight::errors).fold([0.0; 2], largest)
    }

    /// Whether any supervisor has taken over.
    pub fn alarm(&self) -> bool {
        self.vehicles
            .iter()
            .any(|vehicle| (vehicle.flight.as_ref()).is_none_or(|flight| !flight.mode().is_usual()))
    }

    fn flights(&self) -> impl Iterator<Item = &Flight<'a>> {
        self.vehicles
            .iter()
            .filter_map(|vehicle| vehicle.flight.as_ref())
    }
}

impl Vehicle<'_> {
    /// Finishes the flight if it has ended.
    fn finish(&mut self, end: Option<End>) {
        if let Some(end) = end
            && let Some(flight) = self.flight.take()
        {
            self.summary = self.span.in_scope(|| flight.finish(end));
        }
    }
}
