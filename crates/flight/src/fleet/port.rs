//! One vehicle's view of the world, as a backend.

use fly_hal::{
    Backend, Clock, Configuration, Deadline, Description, Error, FrameMut, Info, ReadOutcome,
    Request,
};

use super::signals::Signals;
use super::world::{Shared, lock};

/// A vehicle's part of the world, under the signal names of a flight alone.
pub(super) struct Port {
    world: Shared,
    description: Description,
    /// Where the world's frame holds each value and each group, and the world's commands hold each command.
    values: Vec<usize>,
    groups: Vec<usize>,
    commands: Vec<usize>,
    /// Commands while nothing commands the vehicle.
    rest: Vec<f64>,
    /// Number of frames read.
    ticks: u64,
}

impl Port {
    /// A vehicle with these signals of the world, its commands at rest.
    pub fn new(world: Shared, of_world: &Description, signals: &Signals) -> Result<Self, Error> {
        let mut port = Self {
            description: Description {
                starts_in_motion: of_world.starts_in_motion,
                ..Description::new()
            },
            values: Vec::new(),
            groups: Vec::new(),
            commands: Vec::new(),
            rest: Vec::new(),
            ticks: 0,
            world,
        };
        for (index, signal) in of_world.frame_signals().enumerate() {
            let Some(name) = signals.own(&signal.name) else {
                continue;
            };
            port.description = port.description.with_signal(&name)?;
            port.values.push(index);
            // The first signal of a group adds the group.
            if port.groups.len() < port.description.groups.len() {
                port.groups.extend(signal.group);
            }
        }
        for (index, signal) in of_world.commands().enumerate() {
            if let Some(name) = signals.own(&signal.name) {
                port.description = port.description.with_signal(&name)?;
                port.commands.push(index);
                port.rest.push(lock(&port.world).commands()[index]);
            }
        }
        Ok(port)
    }
}

impl Backend for Port {
    const INFO: Info = Info {
        name: "world",
        version: env!("CARGO_PKG_VERSION"),
        summary: "a vehicle's part of a world that it shares with others",
        clock: Clock::Stepped,
        signals: "",
    };

    fn configure(_: &Configuration) -> Result<Self, Error> {
        Err(Error::unsupported(
            "a fleet creates its vehicles' parts of the world",
        ))
    }

    fn description(&self) -> &Description {
        &self.description
    }

    fn start(&mut self) -> Result<(), Error> {
        Ok(()) // The world has been started.
    }

    fn read(&mut self, _: Deadline, frame: &mut FrameMut) -> Result<ReadOutcome, Error> {
        self.ticks += 1;
        let mut world = lock(&self.world);
        let outcome = world.read(self.ticks)?;
        let all = world.frame();
        *frame.time = all.time;
        for (value, index) in frame.values.iter_mut().zip(&self.values) {
            *value = all.values[*index];
        }
        for (group, index) in frame.groups.iter_mut().zip(&self.groups) {
            *group = all.groups[*index];
        }
        Ok(outcome)
    }

    fn write(&mut self, _: i64, commands: &[f64]) -> Result<(), Error> {
        lock(&self.world).command(&self.commands, commands);
        Ok(())
    }

    fn stop(&mut self) -> Result<(), Error> {
        let mut world = lock(&self.world);
        world.command(&self.commands, &self.rest);
        world.stop()
    }

    fn arm(&mut self) -> Result<(), Error> {
        Ok(()) // It always is.
    }

    fn disarm(&mut self) -> Result<(), Error> {
        Ok(())
    }

    fn request(&mut self, request: Request) -> Result<(), Error> {
        Err(Error::unsupported(format!(
            "a simulated vehicle has no autopilot that could {}",
            request.name()
        )))
    }
}
