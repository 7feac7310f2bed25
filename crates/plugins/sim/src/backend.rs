//! The plant as a backend.

use std::collections::BTreeMap;
use std::iter;

use fly_hal::{
    Backend, Clock, Configuration, Deadline, Description, Error, FrameMut, GroupStatus, Info,
    ReadOutcome, Request, Ticks, signal,
};
use fly_mechanics::System;

use crate::faults::Faults;
use crate::instruments::Instruments;
use crate::plant::Plant;
use crate::settings::{self, Settings};

/// The simulated vehicle.
pub struct Simulation {
    description: Description,
    plant: Plant,
    instruments: Instruments,
    /// The truth of this frame: the ideal measurements without noise, the actuators' outputs, the wind, and the poses of the bodies.
    truth: Vec<f64>,
    /// The number of measurements among them.
    measurements: usize,
    /// The number of its values that are winds.
    winds: usize,
    /// The lowest voltage of the battery so far, V; `None` without one.
    lowest_voltage: Option<f64>,
    /// The largest contact speeds since the last frame that arrived, m/s: of the tracked body and, if there are several, of each free one.
    contacts: Vec<f64>,
    /// The same since the last frame.
    new_contacts: Vec<f64>,
    /// The height of a ground that stops nothing, m, until something has sunk through it.
    ground: Option<f64>,
    faults: Faults,
    /// The actuators whose health frames report, by their commands, and that health.
    health: Vec<(usize, f64)>,
    ticks: Ticks,
    /// Index of the next frame.
    next: u64,
    /// Time of the last frame, ns.
    time: i64,
    /// The number of commands that exceeded their limits.
    clamped: u64,
}

impl Backend for Simulation {
    const INFO: Info = Info {
        name: "sim",
        version: env!("CARGO_PKG_VERSION"),
        summary: "simulated rigid bodies with rotors, tilt servos and motors",
        clock: Clock::Stepped,
        signals: "pose.position.* pose.quaternion.* twist.linear.* twist.angular.* joint.{i}.* imu.* motion_capture.* gnss.* barometer.* magnetometer.* airspeed.* range.* actuator.{i}.health battery.* rotor.{i}.thrust rotor.{i}.tilt motor.{i}.effort truth.*",
    };

    fn configure(configuration: &Configuration) -> Result<Self, Error> {
        let ticks = Ticks::new(configuration.rate_hz).ok_or_else(|| {
            Error::configuration(format!("cannot simulate at {} Hz", configuration.rate_hz))
        })?;
        let Settings {
            plant,
            measurements,
            groups,
            instruments,
            faults,
            reports_wind,
            ground,
        } = settings::read(configuration)?;
        let description = (groups.iter()).try_fold(Description::new(), |description, group| {
            description.with_group(group)
        })?;
        let commands = plant.system().inputs.command_names();
        let mut names: Vec<String> = (measurements.groups().iter())
            .flat_map(|group| signal::group_names(&group.name).collect::<Vec<_>>())
            .collect();
        names.extend_from_slice(commands);
        // At the tracked body, and at each of several that are free in the world.
        let bodies = |group: &str| -> Vec<String> {
            let free = plant.free_bodies().map(|body| format!("{group}.{body}"));
            iter::once(group.to_owned()).chain(free).collect()
        };
        let winds = if reports_wind {
            bodies("wind")
        } else {
            Vec::new()
        };
        let touched = if plant.touches_ground() {
            bodies("contact")
        } else {
            Vec::new()
        };
        for group in winds.iter().chain(&touched) {
            names.extend(signal::group_names(group));
        }
        let contacts = vec![0.0; touched.len()];
        let winds = 3 * winds.len();
        names.extend(
            plant
                .speeds()
                .map(|(rotor, _)| format!("rotor.{rotor}.speed")),
        );
        names.extend(body_signals(plant.system()));
        let told = faults.told();
        let health: Vec<_> = told.iter().map(|command| (*command, 1.0)).collect();
        let description = told.iter().try_fold(description, |description, command| {
            description.with_group(&format!("actuator.{command}"))
        })?;
        let lowest_voltage = plant.battery().map(|_| f64::INFINITY);
        let description = match lowest_voltage {
            Some(_) => description.with_group("battery")?,
            None => description,
        };
        let mut description = description
            .with_signals(names.iter().map(|name| signal::truth(name)))?
            .with_signals(commands)?;
        description.starts_in_motion = plant.starts_in_motion();
        tracing::debug!(
            system = plant.system().name,
            seed = configuration.seed,
            "simulating"
        );
        Ok(Self {
            description,
            plant,
            instruments,
            truth: vec![0.0; names.len()],
            measurements: measurements.dim(),
            winds,
            lowest_voltage,
            new_contacts: contacts.clone(),
            contacts,
            ground: ground.filter(|_| touched.is_empty()),
            faults,
            health,
            ticks,
            next: 0,
            time: 0,
            clamped: 0,
        })
    }

    fn description(&self) -> &Description {
        &self.description
    }

    fn start(&mut self) -> Result<(), Error> {
        for fault in self.faults.planned() {
            tracing::info!("simulated fault: {fault}");
        }
        Ok(())
    }

    fn read(&mut self, _: Deadline, frame: &mut FrameMut) -> Result<ReadOutcome, Error> {
        let time = self.ticks.time(self.next);
        let step = (time - self.time) as f64 / 1e9;
        if self.next > 0 {
            self.plant.advance(step);
        }
        self.time = time;
        *frame.time = time;
        self.faults.strike(time, &mut self.plant);
        for (command, health) in &mut self.health {
            *health = self.faults.health(*command);
        }
        let truth = &mut self.truth[..self.measurements];
        let instant = (self.next, time, step);
        self.instruments.measure(&mut self.plant, instant, truth);
        self.next += 1;
        self.warn_of_ground(time);
        self.tell_health(frame);
        self.tell_battery(frame);
        self.plant.take_contact_speeds(&mut self.new_contacts);
        for (untold, new) in self.contacts.iter_mut().zip(&self.new_contacts) {
            *untold = untold.max(*new);
        }
        self.tell_truth(frame);
        let is_fresh = self.instruments.fill(time, &mut self.faults, frame);
        if is_fresh {
            // What no frame told the next one tells.
            self.contacts.fill(0.0);
        }
        Ok(if is_fresh {
            ReadOutcome::Fresh
        } else {
            ReadOutcome::None
        })
    }

    fn write(&mut self, _: i64, commands: &[f64]) -> Result<(), Error> {
        if self.faults.lets_through() && !self.plant.command(commands) {
            self.clamped += 1;
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
        if self.clamped > 0 {
            lines.push(("commands clamped".to_owned(), self.clamped.to_string()));
        }
        for (joint, time) in self.plant.released() {
            lines.push(("released".to_owned(), format!("{joint} at {time} s")));
        }
        for ((a, b), speed) in collisions(&self.plant) {
            lines.push((
                "collision".to_owned(),
                format!("{a} and {b} at {speed:.2} m/s"),
            ));
        }
        lines.extend(self.faults.report());
        lines.extend(self.instruments.report());
        if let (Some(lowest), Some([_, charge])) = (self.lowest_voltage, self.plant.battery()) {
            let left = 100.0 * charge;
            let line = format!("{left:.1} % left, at least {lowest:.2} V");
            lines.push(("battery".to_owned(), line));
        }
        lines
    }
}

impl Simulation {
    /// Says once that a body sinks through a ground that stops nothing.
    fn warn_of_ground(&mut self, time: i64) {
        let Some(height) = self.ground else {
            return;
        };
        let at = time as f64 / 1e9;
        if let Some(body) = self.plant.body_below(height) {
            tracing::warn!(
                "{at:.3} s: `{body}` is below the ground of `[backend.sim.ground]`, which does not stop it: no body has `contacts`"
            );
            self.ground = None;
        }
    }

    /// Fills the groups of failing actuators, which follow the measurements.
    fn tell_health(&self, frame: &mut FrameMut) {
        let (groups, first) = self.instruments.size();
        for (i, (_, health)) in self.health.iter().enumerate() {
            frame.values[first + i] = *health;
            frame.groups[groups + i] = GroupStatus {
                stamp: self.time,
                valid: true,
            };
        }
    }

    /// Fills the group of the battery, which follows those.
    fn tell_battery(&mut self, frame: &mut FrameMut) {
        let (Some(values), Some(lowest)) = (self.plant.battery(), &mut self.lowest_voltage) else {
            return;
        };
        *lowest = lowest.min(values[0]);
        let (groups, first) = self.instruments.size();
        let first = first + self.health.len();
        frame.values[first..first + values.len()].copy_from_slice(&values);
        frame.groups[groups + self.health.len()] = GroupStatus {
            stamp: self.time,
            valid: true,
        };
    }

    /// Fills the last group of the frame, which faults do not affect. The measurements have been read.
    fn tell_truth(&mut self, frame: &mut FrameMut) {
        let inputs = self.plant.system().inputs.input_dim();
        let (actual, others) = self.truth[self.measurements..].split_at_mut(inputs);
        for (to, actual) in actual.iter_mut().zip(self.plant.actual()) {
            *to = actual;
        }
        let (winds, others) = others.split_at_mut(self.winds);
        self.plant.winds(winds);
        let (told, others) = others.split_at_mut(self.contacts.len());
        told.copy_from_slice(&self.contacts);
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
}

/// The bodies that have touched each other, with the largest speed with which any of their shapes did, m/s.
fn collisions(plant: &Plant) -> BTreeMap<(&str, &str), f64> {
    let mut fastest = BTreeMap::new();
    for ([a, b], speed) in plant.touched() {
        let most = fastest.entry((a, b)).or_insert(speed);
        *most = speed.max(*most);
    }
    fastest
}

/// The names of all bodies' poses; a single body's own measurement suffices.
fn body_signals(system: &System) -> impl Iterator<Item = String> {
    let count = system.model.bodies().count();
    let groups = ["position", "quaternion"];
    let groups = (0..count).flat_map(move |i| groups.map(|part| format!("body.{i}.{part}")));
    let names = groups.flat_map(|group| signal::group_names(&group).collect::<Vec<_>>());
    names.filter(move |_| count > 1)
}
