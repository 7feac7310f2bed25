//! Flights of the simulator under given commands, and what their frames hold.

use fly_hal::{Backend, Configuration, Deadline, Frame, ReadOutcome};
use fly_lie::SO3;
use fly_plugin_sim::Simulation;
use nalgebra::{Vector3, Vector4};

pub const CUBE: &str = include_str!("../cube.toml");
/// A body on which nothing acts.
pub const DRIFTER: &str = "
    name = 'drifter'
    gravity = [0, 0, 0]
    [bodies.drifter]
    mass = 1.0
    inertia = [0.01, 0.02, 0.03]";

/// All frames of a flight.
pub struct Run {
    pub simulation: Simulation,
    pub frames: Vec<Frame>,
    pub fresh: Vec<bool>,
}

impl Run {
    /// Without commands, at this rate (Hz) from this seed.
    pub fn new(text: &str, vehicle: &str, (rate_hz, seed): (f64, u64), count: usize) -> Self {
        Self::commanded(text, vehicle, (rate_hz, seed), count, |_, commands| {
            commands.fill(0.0);
        })
    }

    /// `command` gets the frame's number.
    pub fn commanded(
        text: &str,
        vehicle: &str,
        (rate_hz, seed): (f64, u64),
        count: usize,
        command: impl Fn(usize, &mut [f64]),
    ) -> Self {
        let configuration = Configuration {
            rate_hz,
            seed,
            ..Configuration::new(text, vehicle)
        };
        let mut simulation = Simulation::configure(&configuration).unwrap();
        simulation.start().unwrap();
        let mut commands = vec![0.0; simulation.description().commands().count()];
        let mut frame = simulation.description().frame();
        let (mut frames, mut fresh) = (Vec::new(), Vec::new());
        for i in 0..count {
            let outcome = simulation.read(Deadline::NOW, &mut frame.as_mut()).unwrap();
            command(i, &mut commands);
            simulation.write(frame.time, &commands).unwrap();
            frames.push(frame.clone());
            fresh.push(outcome == ReadOutcome::Fresh);
        }
        Self {
            simulation,
            frames,
            fresh,
        }
    }

    pub fn has(&self, signal: &str) -> bool {
        self.simulation.description().value_index(signal).is_some()
    }

    pub fn value(&self, frame: usize, signal: &str) -> f64 {
        let index = self.simulation.description().value_index(signal);
        self.frames[frame].values[index.expect(signal)]
    }

    pub fn vector(&self, frame: usize, group: &str) -> Vector3<f64> {
        let all = ["x", "y", "z"].map(|c| self.value(frame, &format!("{group}.{c}")));
        Vector3::from(all)
    }

    pub fn rotation(&self, frame: usize, group: &str) -> SO3<f64> {
        let all = ["w", "x", "y", "z"].map(|c| self.value(frame, &format!("{group}.{c}")));
        SO3::from_quaternion(&Vector4::from(all))
    }

    pub fn stamp(&self, frame: usize, group: &str) -> i64 {
        self.status(frame, group).0
    }

    /// Stamp (ns) and validity.
    pub fn status(&self, frame: usize, group: &str) -> (i64, bool) {
        let index = self
            .simulation
            .description()
            .find_group(group)
            .expect(group);
        let status = self.frames[frame].groups[index];
        (status.stamp, status.valid)
    }

    /// The frames in which a group is new.
    pub fn arrivals(&self, group: &str) -> Vec<usize> {
        let status = |frame: usize| self.status(frame, group);
        (0..self.frames.len())
            .filter(|&i| status(i).1 && (i == 0 || status(i) != status(i - 1)))
            .collect()
    }

    pub fn line(&self, name: &str) -> Option<String> {
        let report = self.simulation.report();
        report.into_iter().find(|line| line.0 == name).map(|l| l.1)
    }
}
