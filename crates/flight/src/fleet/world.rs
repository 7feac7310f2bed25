//! The world that all vehicles share: read once per tick, under the commands of all.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use fly_hal::{Deadline, Error, Frame, Instance, ReadOutcome};
use fly_mechanics::System;

/// The world as its vehicles share it. All are on one thread, so the lock never blocks.
pub(super) type Shared = Arc<Mutex<World>>;

/// Locks the world, also after a panic.
pub(super) fn lock(world: &Shared) -> MutexGuard<'_, World> {
    world.lock().unwrap_or_else(PoisonError::into_inner)
}

/// A backend with the bodies of all vehicles.
pub(super) struct World {
    instance: Instance,
    frame: Frame,
    /// Number of frames read, and the outcome of the last read.
    ticks: u64,
    outcome: Result<ReadOutcome, Error>,
    /// The commands of all vehicles, in the backend's order.
    commands: Vec<f64>,
    /// Whether any vehicle has commanded since the last frame.
    commanded: bool,
    /// Number of vehicles that have not stopped.
    left: usize,
}

impl World {
    /// A world of this many vehicles, whose backend has been started. Until they command, the actuators are at rest.
    pub fn shared(instance: Instance, system: &System, vehicles: usize) -> Shared {
        let limits = system.inputs.command_limits().iter();
        let names = system.inputs.command_names();
        let mut commands = vec![0.0; instance.description().commands().count()];
        for (name, [low, high]) in names.iter().zip(limits) {
            if let Some(index) = instance.description().command_index(name) {
                commands[index] = 0.0_f64.clamp(*low, *high);
            }
        }
        Arc::new(Mutex::new(Self {
            frame: instance.description().frame(),
            ticks: 0,
            outcome: Ok(ReadOutcome::None),
            commands,
            commanded: false,
            left: vehicles,
            instance,
        }))
    }

    /// Stops the backend when the last vehicle has stopped.
    pub fn stop(&mut self) -> Result<(), Error> {
        self.left = self.left.saturating_sub(1);
        if self.left == 0 {
            self.instance.stop()
        } else {
            Ok(())
        }
    }

    /// Advances until this many frames have been read: unless that is the case already, sends the commands of all and
    /// reads the next frame. Returns the outcome of that read.
    pub fn read(&mut self, ticks: u64) -> Result<ReadOutcome, Error> {
        if self.ticks < ticks {
            self.ticks = ticks;
            self.outcome = self.advance();
        }
        self.outcome.clone()
    }

    fn advance(&mut self) -> Result<ReadOutcome, Error> {
        if std::mem::take(&mut self.commanded) {
            self.instance.write(self.frame.time, &self.commands)?;
        }
        self.instance.read(Deadline(0), &mut self.frame)
    }

    /// The last frame.
    pub fn frame(&self) -> &Frame {
        &self.frame
    }

    /// The commands in force, in the backend's order.
    pub fn commands(&self) -> &[f64] {
        &self.commands
    }

    /// Sets the commands at these indices for the next frame.
    pub fn command(&mut self, places: &[usize], commands: &[f64]) {
        for (place, command) in places.iter().zip(commands) {
            self.commands[*place] = *command;
        }
        self.commanded = true;
    }

    /// Name and version of the backend.
    pub fn name(&self) -> String {
        let info = self.instance.info();
        format!("{} {}", info.name, info.version)
    }

    /// The backend's lines for the summary.
    pub fn report(&mut self) -> Vec<(String, String)> {
        self.instance.report()
    }
}
