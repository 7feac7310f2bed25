//! The plant behind the interface of a backend.

use fly_hal::{
    Backend, Clock, Configuration, Deadline, Description, Error, FrameMut, GroupStatus, Info,
    ReadOutcome, Request, Ticks,
};
use fly_lie::SO3;
use fly_lie::operators::{angular, linear};

use crate::faults::{self, Fault, Kind};
use crate::noise::Noise;
use crate::plant::Plant;
use crate::settings::{self, GROUPS, Settings};

/// The simulated vehicle.
pub struct Simulation {
    description: Description,
    plant: Plant,
    noise: [Noise; 4],
    faults: Vec<Fault>,
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

/// Where the values of each group begin, and where the last ends.
const STARTS: [usize; 5] = [0, 3, 7, 10, 13];

impl Backend for Simulation {
    const INFO: Info = Info {
        name: "sim",
        version: env!("CARGO_PKG_VERSION"),
        summary: "simulated rigid bodies with rotors, tilt servos and motors",
        clock: Clock::Stepped,
        signals: "pose.position.* pose.quaternion.* twist.linear.* twist.angular.* rotor.{i}.thrust rotor.{i}.tilt motor.{i}.effort",
    };

    fn configure(configuration: &Configuration) -> Result<Self, Error> {
        let ticks = Ticks::new(configuration.rate_hz).ok_or_else(|| {
            Error::configuration(format!("cannot simulate at {} Hz", configuration.rate_hz))
        })?;
        let Settings {
            plant,
            noise,
            faults,
        } = settings::read(configuration)?;
        let description = GROUPS
            .iter()
            .try_fold(Description::new(), |description, group| {
                description.with_group(group)
            })?
            .with_signals(plant.system().inputs.command_names())?;
        let mut group = 0..;
        tracing::debug!(
            system = plant.system().name,
            seed = configuration.seed,
            "simulating"
        );
        Ok(Self {
            description,
            plant,
            noise: noise.map(|deviation| {
                Noise::new(deviation, configuration.seed, group.next().unwrap_or(0))
            }),
            faults,
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
        let measured = self.measure();
        Ok(self.deliver(&measured, frame))
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
        lines
    }
}

impl Simulation {
    /// The values of all groups with their noise, which goes on whether or not somebody gets to see it.
    fn measure(&mut self) -> [f64; STARTS[4]] {
        let (pose, twist) = self.plant.state();
        let [position, attitude, velocity, angular_velocity] =
            self.noise.each_mut().map(Noise::vector);
        let position = pose.translation + position;
        let quaternion = (pose.rotation * SO3::exp(&attitude)).to_quaternion();
        let velocity = linear(&twist) + velocity;
        let angular_velocity = angular(&twist) + angular_velocity;
        let mut values = [0.0; STARTS[4]];
        for (group, part) in [
            position.as_slice(),
            quaternion.as_slice(),
            velocity.as_slice(),
            angular_velocity.as_slice(),
        ]
        .iter()
        .enumerate()
        {
            values[STARTS[group]..STARTS[group + 1]].copy_from_slice(part);
        }
        values
    }

    /// Fills the frame, with what is wrong with it on purpose.
    fn deliver(&mut self, measured: &[f64], frame: &mut FrameMut) -> ReadOutcome {
        let time = self.time;
        let (mut arrived, mut faulty) = (false, false);
        for (group, status) in frame.groups.iter_mut().enumerate() {
            let range = STARTS[group]..STARTS[group + 1];
            let fault = faults::of_group(&self.faults, time, group);
            faulty |= fault.is_some();
            arrived |= fault != Some(Kind::Missing);
            match fault {
                None => {
                    frame.values[range.clone()].copy_from_slice(&measured[range]);
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
                Some(Kind::Stale) => {}
                Some(Kind::Missing) => status.valid = false,
            }
        }
        self.count.faulty += u64::from(faulty);
        if arrived {
            ReadOutcome::Fresh
        } else {
            ReadOutcome::None
        }
    }
}
