//! The plant as a backend.

use fly_hal::{
    Backend, Clock, Configuration, Deadline, Description, Error, FrameMut, GroupStatus, Info,
    ReadOutcome, Request, Ticks, signal,
};
use fly_lie::SO3;
use fly_mechanics::System;
use fly_mechanics::measurements::{Measurements, Quantity};

use crate::faults::{self, Failure, Fault, Kind};
use crate::noise::Noise;
use crate::plant::Plant;
use crate::settings::{self, Settings};

/// The simulated vehicle.
pub struct Simulation {
    description: Description,
    plant: Plant,
    measurements: Measurements,
    /// Of each group.
    noise: Vec<Noise>,
    /// What is measured in this frame.
    measured: Vec<f64>,
    /// What is true in this frame: the same without noise, what the actuators do, the wind, and the poses of the bodies.
    truth: Vec<f64>,
    tells_wind: bool,
    /// The lowest voltage of the battery so far, V; `None` without one.
    lowest_voltage: Option<f64>,
    faults: Vec<Fault>,
    failures: Vec<Failure>,
    /// The actuators whose health frames tell, by their commands, and that health.
    health: Vec<(usize, f64)>,
    ticks: Ticks,
    /// Index of the next frame.
    next: u64,
    /// Time of the last frame, ns.
    time: i64,
    count: Count,
}

/// For the report.
#[derive(Default)]
struct Count {
    clamped: u64,
    faulty: u64,
}

impl Backend for Simulation {
    const INFO: Info = Info {
        name: "sim",
        version: env!("CARGO_PKG_VERSION"),
        summary: "simulated rigid bodies with rotors, tilt servos and motors",
        clock: Clock::Stepped,
        signals: "pose.position.* pose.quaternion.* twist.linear.* twist.angular.* joint.{i}.* actuator.{i}.health battery.* rotor.{i}.thrust rotor.{i}.tilt motor.{i}.effort truth.*",
    };

    fn configure(configuration: &Configuration) -> Result<Self, Error> {
        let ticks = Ticks::new(configuration.rate_hz).ok_or_else(|| {
            Error::configuration(format!("cannot simulate at {} Hz", configuration.rate_hz))
        })?;
        let Settings {
            plant,
            measurements,
            noise,
            faults,
            failures,
            tells_wind,
        } = settings::read(configuration)?;
        let groups = measurements.groups();
        let description = (groups.iter()).try_fold(Description::new(), |description, group| {
            description.with_group(&group.name)
        })?;
        let commands = plant.system().inputs.command_names();
        let mut names: Vec<String> = description
            .frame_signals()
            .map(|s| s.name.clone())
            .collect();
        names.extend_from_slice(commands);
        if tells_wind {
            names.extend(signal::group_names("wind"));
        }
        if plant.touches_ground() {
            names.extend(signal::group_names("contact"));
        }
        names.extend(
            plant
                .speeds()
                .map(|(rotor, _)| format!("rotor.{rotor}.speed")),
        );
        names.extend(body_signals(plant.system()));
        let mut told: Vec<usize> = (failures.iter())
            .filter(|failure| failure.reported)
            .map(|failure| failure.command)
            .collect();
        told.sort_unstable();
        told.dedup();
        let health: Vec<_> = told.iter().map(|command| (*command, 1.0)).collect();
        let description = told.iter().try_fold(description, |description, command| {
            description.with_group(&format!("actuator.{command}"))
        })?;
        let lowest_voltage = plant.battery().map(|_| f64::INFINITY);
        let description = match lowest_voltage {
            Some(_) => description.with_group("battery")?,
            None => description,
        };
        let description = description
            .with_signals(names.iter().map(|name| signal::truth(name)))?
            .with_signals(commands)?;
        tracing::debug!(
            system = plant.system().name,
            seed = configuration.seed,
            "simulating"
        );
        Ok(Self {
            description,
            plant,
            noise: (groups.iter().enumerate())
                .map(|(index, group)| {
                    Noise::new(noise.of(group.quantity), configuration.seed, index)
                })
                .collect(),
            measured: vec![0.0; measurements.dim()],
            truth: vec![0.0; names.len()],
            tells_wind,
            lowest_voltage,
            measurements,
            faults,
            failures,
            health,
            ticks,
            next: 0,
            time: 0,
            count: Count::default(),
        })
    }

    fn description(&self) -> &Description {
        &self.description
    }

    fn read(&mut self, _: Deadline, frame: &mut FrameMut) -> Result<ReadOutcome, Error> {
        let time = self.ticks.time(self.next);
        if self.next > 0 {
            self.plant.advance((time - self.time) as f64 / 1e9);
        }
        self.next += 1;
        self.time = time;
        *frame.time = time;
        self.fail();
        self.measure();
        self.tell_health(frame);
        self.tell_battery(frame);
        self.tell_truth(frame);
        Ok(self.deliver(frame))
    }

    fn write(&mut self, _: i64, commands: &[f64]) -> Result<(), Error> {
        if !self.plant.command(commands) {
            self.count.clamped += 1;
        }
        Ok(())
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

    fn report(&self) -> Vec<(String, String)> {
        let mut lines = vec![("simulated".to_owned(), self.plant.system().name.clone())];
        for (name, count) in [
            ("commands clamped", self.count.clamped),
            ("faulty frames", self.count.faulty),
        ] {
            if count > 0 {
                lines.push((name.to_owned(), count.to_string()));
            }
        }
        for (joint, time) in self.plant.opened() {
            lines.push(("opened".to_owned(), format!("{joint} at {time} s")));
        }
        if let (Some(lowest), Some([_, charge])) = (self.lowest_voltage, self.plant.battery()) {
            let left = 100.0 * charge;
            let line = format!("{left:.1} % left, at least {lowest:.2} V");
            lines.push(("battery".to_owned(), line));
        }
        lines
    }
}

impl Simulation {
    /// The values of all groups with their noise, which does not depend on faults.
    fn measure(&mut self) {
        let (model, x, xi) = self.plant.state();
        self.measurements.read(model, x, xi, &mut self.measured);
        self.truth[..self.measured.len()].copy_from_slice(&self.measured);
        for (group, noise) in self.measurements.groups().iter().zip(&mut self.noise) {
            let values = &mut self.measured[group.range.clone()];
            match group.quantity {
                Quantity::Quaternion => {
                    let rotation = self.measurements.pose(model, group.body, x).rotation;
                    let turned = rotation * SO3::exp(&noise.vector());
                    values.copy_from_slice(turned.to_quaternion().as_slice());
                }
                Quantity::Joint => add(values, &noise.two()),
                Quantity::Translation | Quantity::Linear | Quantity::Angular => {
                    add(values, noise.vector().as_slice());
                }
            }
        }
    }

    /// Stops the actuators that have failed by now.
    fn fail(&mut self) {
        let time = self.time;
        let dead = |command: usize, told: bool| {
            let mut failures = self.failures.iter().filter(|one| one.command == command);
            failures.any(|one| one.lasts_at(time) && (one.reported || !told))
        };
        for failure in &self.failures {
            self.plant
                .set_dead(failure.command, dead(failure.command, false));
        }
        for (command, health) in &mut self.health {
            *health = f64::from(u8::from(!dead(*command, true)));
        }
    }

    /// Fills the groups of actuators that fail, which stand behind what is measured.
    fn tell_health(&self, frame: &mut FrameMut) {
        let (groups, first) = (self.measurements.groups().len(), self.measured.len());
        for (i, (_, health)) in self.health.iter().enumerate() {
            frame.values[first + i] = *health;
            frame.groups[groups + i] = GroupStatus {
                stamp: self.time,
                valid: true,
            };
        }
    }

    /// Fills the group of the battery, which stands behind those.
    fn tell_battery(&mut self, frame: &mut FrameMut) {
        let (Some(values), Some(lowest)) = (self.plant.battery(), &mut self.lowest_voltage) else {
            return;
        };
        *lowest = lowest.min(values[0]);
        let first = self.measured.len() + self.health.len();
        frame.values[first..first + values.len()].copy_from_slice(&values);
        let groups = self.measurements.groups().len() + self.health.len();
        frame.groups[groups] = GroupStatus {
            stamp: self.time,
            valid: true,
        };
    }

    /// Fills the last group of the frame, which no fault concerns. The measurements have been read.
    fn tell_truth(&mut self, frame: &mut FrameMut) {
        let inputs = self.plant.system().inputs.input_dim();
        let (actual, others) = self.truth[self.measured.len()..].split_at_mut(inputs);
        for (to, actual) in actual.iter_mut().zip(self.plant.actual()) {
            *to = actual;
        }
        let (wind, others) = others.split_at_mut(if self.tells_wind { 3 } else { 0 });
        if self.tells_wind {
            wind.copy_from_slice(self.plant.wind().as_slice());
        }
        let contact = self.plant.take_contact_speed();
        let (told, others) = others.split_at_mut(usize::from(contact.is_some()));
        for (to, speed) in told.iter_mut().zip(contact) {
            *to = speed;
        }
        let mut count = 0;
        for (to, (_, speed)) in others.iter_mut().zip(self.plant.speeds()) {
            *to = speed;
            count += 1;
        }
        let poses = &mut others[count..];
        if !poses.is_empty() {
            for (to, pose) in poses.chunks_exact_mut(7).zip(self.plant.poses()) {
                to[..3].copy_from_slice(pose.translation.as_slice());
                to[3..].copy_from_slice(pose.rotation.to_quaternion().as_slice());
            }
        }
        let first = frame.values.len() - self.truth.len();
        frame.values[first..].copy_from_slice(&self.truth);
        if let Some(status) = frame.groups.last_mut() {
            *status = GroupStatus {
                stamp: self.time,
                valid: true,
            };
        }
    }

    /// Fills the frame, with its faults.
    fn deliver(&mut self, frame: &mut FrameMut) -> ReadOutcome {
        let time = self.time;
        let (mut arrived, mut faulty) = (false, false);
        let groups = self.measurements.groups().iter().enumerate();
        for ((group, of), status) in groups.zip(frame.groups.iter_mut()) {
            let range = of.range.clone();
            let fault = faults::of_group(&self.faults, time, group);
            faulty |= fault.is_some();
            arrived |= fault != Some(Kind::Missing);
            match fault {
                None => {
                    frame.values[range.clone()].copy_from_slice(&self.measured[range]);
                    *status = GroupStatus {
                        stamp: time,
                        valid: true,
                    };
                }
                Some(Kind::NonFinite) => {
                    frame.values[range].fill(f64::NAN);
                    *status = GroupStatus {
                        stamp: time,
                        valid: true,
                    };
                }
                // Faults of sensors are of the other kinds.
                Some(Kind::Stale | Kind::Dead) => {}
                Some(Kind::Missing) => status.valid = false,
            }
            // Nothing is measured in an open joint.
            status.valid &= !self.plant.is_loose(of.body);
        }
        self.count.faulty += u64::from(faulty);
        if arrived {
            ReadOutcome::Fresh
        } else {
            ReadOutcome::None
        }
    }
}

/// The names of all bodies' poses; of one body alone its own measurement tells it.
fn body_signals(system: &System) -> impl Iterator<Item = String> {
    let count = system.model.bodies().count();
    let groups = ["position", "quaternion"];
    let groups = (0..count).flat_map(move |i| groups.map(|part| format!("body.{i}.{part}")));
    let names = groups.flat_map(|group| signal::group_names(&group).collect::<Vec<_>>());
    names.filter(move |_| count > 1)
}

fn add(values: &mut [f64], noise: &[f64]) {
    for (value, noise) in values.iter_mut().zip(noise) {
        *value += noise;
    }
}
