//! A simulated vehicle whose plugin fails in flight on demand: for the tests of `fly`.
//!
//! Its table says what happens and when: `deeds = [{ does = "panic_in_read", from = 1.0 }]`, with `until` where it ends.

use fly_hal::{
    Backend, Clock, Configuration, Deadline, Description, Error, ErrorKind, FrameMut, GroupStatus,
    Info, ReadOutcome, Ticks,
};
use fly_lie::SE3;
use fly_mechanics::{State, Vehicle, integrate::rk4};
use serde::Deserialize;

/// The backend.
pub struct Mischief {
    settings: Settings,
    description: Description,
    vehicle: Vehicle,
    state: State<f64>,
    commands: Vec<f64>,
    ticks: Ticks,
    next: u64,
    reads: u64,
    writes: u64,
    stuttered: bool,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct Settings {
    #[serde(default)]
    deeds: Vec<Timed>,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct Timed {
    does: Deed,
    from: f64,
    until: Option<f64>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "snake_case")]
enum Deed {
    AbortInRead,
    /// Calls itself until no stack is left.
    OverflowInRead,
    PanicInRead,
    PanicInWrite,
    PanicInStop,
    FailToRead,
    FailToWrite,
    FailToStart,
    StandStill,
    /// Gives one frame twice.
    Stutter,
    /// Is an hour ahead of itself.
    Leap,
    End,
    HangInRead,
}

/// Ends nowhere.
fn dive(depth: u64) -> u64 {
    let room = std::hint::black_box([depth; 64]);
    if room[0] == u64::MAX {
        return depth;
    }
    dive(depth + 1) + room[1]
}

impl Mischief {
    fn does(&self, deed: Deed) -> bool {
        let now = self.ticks.time(self.next) as f64 * 1e-9;
        let due = |timed: &Timed| now >= timed.from && timed.until.is_none_or(|until| now < until);
        self.settings
            .deeds
            .iter()
            .any(|timed| timed.does == deed && due(timed))
    }
}

impl Backend for Mischief {
    const INFO: Info = Info {
        name: "mischief",
        version: "1.0.0",
        summary: "a vehicle that fails on demand",
        clock: Clock::Stepped,
        signals: "pose.position.* pose.quaternion.* twist.linear.* twist.angular.* rotor.{i}.thrust rotor.{i}.tilt",
    };

    fn configure(configuration: &Configuration) -> Result<Self, Error> {
        let wrong = |error: &dyn std::fmt::Display| Error::configuration(error.to_string());
        let vehicle = Vehicle::from_toml(configuration.vehicle).map_err(|error| wrong(&error))?;
        let description = [
            "pose.position",
            "pose.quaternion",
            "twist.linear",
            "twist.angular",
        ]
        .iter()
        .try_fold(Description::new(), |description, group| {
            description.with_group(group)
        })?
        .with_signals(vehicle.rotors.command_names())?;
        Ok(Self {
            settings: toml::from_str(configuration.text)
                .map_err(|error| wrong(&error.message()))?,
            description,
            commands: vec![0.0; vehicle.rotors.input_dim()],
            vehicle,
            state: State::at_rest(SE3::identity()),
            ticks: Ticks::new(configuration.rate_hz).ok_or_else(|| wrong(&"expected a rate"))?,
            next: 0,
            reads: 0,
            writes: 0,
            stuttered: false,
        })
    }

    fn description(&self) -> &Description {
        &self.description
    }

    fn start(&mut self) -> Result<(), Error> {
        if self.does(Deed::FailToStart) {
            return Err(Error::new(ErrorKind::Io, "the door is locked"));
        }
        tracing::info!("started");
        Ok(())
    }

    fn read(&mut self, _: Deadline, frame: &mut FrameMut) -> Result<ReadOutcome, Error> {
        self.reads += 1;
        assert!(!self.does(Deed::PanicInRead), "up to no good in read");
        while self.does(Deed::HangInRead) {
            std::fs::write("hangs", "").expect("a folder");
            std::thread::sleep(std::time::Duration::from_secs(1));
        }
        if self.does(Deed::AbortInRead) {
            std::process::abort();
        }
        if self.does(Deed::OverflowInRead) {
            dive(0);
        }
        if self.does(Deed::End) {
            return Ok(ReadOutcome::End);
        }
        if self.does(Deed::Stutter) && !std::mem::replace(&mut self.stuttered, true) {
            return Ok(ReadOutcome::Fresh);
        }
        let time = self.ticks.time(self.next);
        if self.next > 0 {
            let step = (time - self.ticks.time(self.next - 1)) as f64 * 1e-9;
            let wrench = self.vehicle.rotors.wrench(&self.commands);
            self.state = rk4(&self.state, step, |state| {
                self.vehicle.body.acceleration(state, &wrench)
            });
        }
        self.next += 1;
        if self.does(Deed::FailToRead) {
            return Err(Error::new(
                ErrorKind::Protocol,
                "nothing but noise on the line",
            ));
        }
        if !self.does(Deed::StandStill) {
            *frame.time = time;
        }
        if self.does(Deed::Leap) {
            *frame.time += 3600 * 1_000_000_000;
        }
        frame.values[..3].copy_from_slice(self.state.pose.translation.as_slice());
        frame.values[3..7].copy_from_slice(self.state.pose.rotation.to_quaternion().as_slice());
        frame.values[7..].copy_from_slice(self.state.twist.as_slice());
        frame.groups.fill(GroupStatus {
            stamp: *frame.time,
            valid: true,
        });
        Ok(ReadOutcome::Fresh)
    }

    fn write(&mut self, _: i64, commands: &[f64]) -> Result<(), Error> {
        self.writes += 1;
        assert!(!self.does(Deed::PanicInWrite), "up to no good in write");
        if self.does(Deed::FailToWrite) {
            return Err(Error::new(ErrorKind::Io, "the line is dead"));
        }
        self.commands.copy_from_slice(commands);
        Ok(())
    }

    fn stop(&mut self) -> Result<(), Error> {
        assert!(!self.does(Deed::PanicInStop), "up to no good in stop");
        Ok(())
    }

    fn report(&self) -> Vec<(String, String)> {
        vec![(
            "calls".to_owned(),
            format!("{} reads, {} writes", self.reads, self.writes),
        )]
    }
}

fly_hal::export_backend!(Mischief);
