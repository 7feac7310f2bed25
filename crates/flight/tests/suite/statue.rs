//! A vehicle that hardly does anything and records what it is told.

use std::sync::{Arc, Mutex};
use std::time::Duration;

use fly_hal::{
    Backend, Clock, Deadline, Description, Emergency, Error, ErrorKind, FrameMut, GroupStatus,
    Info, Instance, Progress, ReadOutcome, Request, monotonic_now,
};

use crate::common;

/// What the vehicle was told.
pub type Journal = Arc<Mutex<Vec<&'static str>>>;

/// A real-time quadcopter that never moves, except to take off.
pub struct Statue {
    description: Description,
    journal: Journal,
    began: i64,
    /// Reads until it has taken off, and its height then, m.
    climb: Option<(u32, f64)>,
    height: f64,
    /// Frames without a state after the take-off.
    late: u32,
    /// How far its clock is ahead, ns: in a climb each read takes a tenth of a second of it.
    ahead: i64,
    armed: bool,
    /// Reads until it has landed, once a landing began.
    landing: Option<u32>,
    /// When it was last heard.
    seen: Option<i64>,
    has_landed: bool,
    is_late: bool,
    trouble: Trouble,
    commands: u32,
    /// Reads in which it was not heard.
    silent: u32,
}

/// What goes wrong.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Trouble {
    #[default]
    None,
    /// The take-off is refused.
    Refused,
    /// The call fails, although the vehicle climbs.
    Fails,
    /// The first poll of it fails.
    PollFails,
    /// The plugin panics in it.
    Panics,
    /// It cannot land, and hovers in a mode of its own.
    CannotLand,
    /// It disarms itself at the hundredth command.
    Disarms,
    /// It hovers, and refuses to land; from the three hundredth on its frames say that it is at 0.
    Jumps,
    /// It comes down from the five hundredth on, disarms itself at the seven hundredth, and refuses to land.
    Lands,
    /// It comes down from the hundredth command on to 0.8 m below where it was armed, and lies there; its velocity is noisy. It refuses to land.
    LiesBelow,
    /// It says that it is armed, but its frames do not.
    StaysDisarmed,
    /// From the hundredth command on its frames do not tell whether it is armed, nor who controls it.
    Untold,
    /// Nothing is heard of it from the hundredth command on.
    Gone,
    /// The same, but it takes commands, and cannot land by itself.
    Mute,
    /// The read after the hundredth command clears the frame and fails.
    Clears,
    /// It is armed from the beginning, and refuses to be armed.
    IsFlown,
    /// It is armed from the beginning, and cannot land.
    WasArmed,
    /// It is not heard for 0.6 s from the three hundredth command on, and lies on the ground then.
    Falls,
    /// The same, 3 m beside where it was.
    FallsAside,
    /// Its attitude comes late while it climbs.
    LateAttitude,
    /// Its times are microseconds.
    Microseconds,
    /// It lies on its side once it has landed.
    TipsOver,
    /// It falls once its motors are stopped, in its landing.
    FallsInLanding,
    /// Its measurements come every 100 ms.
    Seldom,
    /// Its first read is late by a fifth of a second.
    BeginsLate,
}

/// Reads that a landing takes.
const LANDING: u32 = 5;
/// Where one lies that comes down below where it was armed, m.
const LIES: f64 = -0.8;
/// How far a vehicle that lands by itself comes down in a tick of 2 ms, m.
const SINKS: f64 = 0.005;

impl Backend for Statue {
    const INFO: Info = Info {
        name: "statue",
        version: "1.0.0",
        summary: "a quadcopter that never moves",
        clock: Clock::RealTime,
        signals: "pose.position.* pose.quaternion.* twist.linear.* twist.angular.* vehicle.* rotor.{i}.thrust",
    };

    fn configure(_: &fly_hal::Configuration) -> Result<Self, Error> {
        Err(Error::unsupported("made by hand"))
    }

    fn description(&self) -> &Description {
        &self.description
    }

    fn read(&mut self, deadline: Deadline, frame: &mut FrameMut) -> Result<ReadOutcome, Error> {
        std::thread::sleep(deadline.remaining());
        if std::mem::take(&mut self.is_late) {
            std::thread::sleep(Duration::from_millis(200));
        }
        if self.is_gone() {
            return Ok(ReadOutcome::None);
        }
        let falls = matches!(self.trouble, Trouble::Falls | Trouble::FallsAside);
        if falls && self.commands >= 300 && self.silent < 300 {
            (self.silent, self.height) = (self.silent + 1, 0.0);
            return Ok(ReadOutcome::None);
        }
        if self.trouble == Trouble::Clears && self.commands > 100 {
            self.trouble = Trouble::None;
            frame.values.fill(0.0);
            return Err(Error::new(ErrorKind::Io, "a damaged packet"));
        }
        if let Some((reads, height)) = &mut self.climb
            && *height > 0.0
        {
            self.ahead += 100_000_000;
            *reads -= 1;
            self.height += (*height - self.height) / f64::from(*reads + 1);
            if *reads == 0 {
                self.climb = None;
            }
        }
        if let Some(reads) = &mut self.landing {
            *reads -= 1;
            if *reads == 0 {
                (self.landing, self.has_landed) = (None, true);
                self.armed = false;
                self.tell("landed");
            }
        }
        *frame.time = monotonic_now() - self.began + self.ahead;
        if self.trouble == Trouble::Microseconds {
            *frame.time /= 1000;
        }
        frame.values.fill(0.0);
        if self.trouble == Trouble::FallsAside && self.silent > 0 {
            frame.values[0] = 3.0;
        }
        frame.values[2] = self.height;
        frame.values[3] = 1.0;
        if self.has_landed && self.trouble == Trouble::TipsOver {
            frame.values[3..5].copy_from_slice(&[0.6, 0.8]);
        }
        if self.has_landed && self.trouble == Trouble::FallsInLanding {
            frame.values[9] = -4.0;
        }
        if self.comes_down() {
            frame.values[9] = -SINKS / 0.002;
        }
        if self.trouble == Trouble::LiesBelow && self.commands >= 100 {
            let is_noise = self.commands % 700 < 5;
            frame.values[9] = match self.height > LIES {
                true => -0.5,
                false if is_noise => -0.3,
                false => 0.0,
            };
        }
        let vehicle = [f64::from(u8::from(self.armed)), 1.0, 1.0];
        frame.values[13..].copy_from_slice(&match self.trouble {
            Trouble::StaysDisarmed => [0.0, 1.0, 1.0],
            Trouble::Untold if self.commands > 100 => [f64::NAN; 3],
            _ => vehicle,
        });
        // A vehicle's telemetry does not arrive at every tick.
        let valid = self.climb.is_some() || self.height == 0.0 || self.late == 0;
        self.late = self.late.saturating_sub(u32::from(!valid));
        frame.groups.fill(GroupStatus {
            stamp: *frame.time,
            valid,
        });
        frame.groups[4].valid = true;
        if self.trouble == Trouble::Seldom
            && self
                .seen
                .is_some_and(|seen| *frame.time < seen + 100_000_000)
        {
            return Ok(ReadOutcome::None);
        }
        self.seen = Some(*frame.time);
        if self.trouble == Trouble::LateAttitude && (0.3..1.9).contains(&self.height) {
            frame.groups[1].stamp -= 300_000_000;
        }
        Ok(ReadOutcome::Fresh)
    }

    fn write(&mut self, _: i64, _: &[f64]) -> Result<(), Error> {
        self.tell("write");
        self.commands += 1;
        if self.trouble == Trouble::Disarms && self.commands >= 100 {
            self.armed = false;
        }
        if self.trouble == Trouble::Jumps && self.commands >= 300 {
            self.height = 0.0;
        }
        if self.trouble == Trouble::LiesBelow && self.commands >= 100 {
            self.height = (self.height - 0.001).max(LIES);
        }
        if self.trouble == Trouble::Lands && self.commands >= 500 {
            let height = (self.height - SINKS).max(0.0);
            (self.armed, self.height) = (self.commands < 700, height);
        }
        Ok(())
    }

    fn stop(&mut self) -> Result<(), Error> {
        self.tell("stop");
        Ok(())
    }

    fn arm(&mut self) -> Result<(), Error> {
        self.tell("arm");
        if self.trouble == Trouble::IsFlown {
            return Err(Error::new(ErrorKind::Refused, "somebody else flies it"));
        }
        self.armed = true;
        Ok(())
    }

    fn take_off(&mut self, height: f64) -> Result<(), Error> {
        self.tell("take off");
        if let Some((_, to)) = &mut self.climb {
            *to = height;
        }
        match self.trouble {
            Trouble::Refused => Err(Error::new(ErrorKind::Refused, "not now").with_help("wait")),
            Trouble::Fails => Err(Error::new(ErrorKind::Timeout, "no answer")),
            Trouble::Panics => panic!("in the take-off"),
            _ => Ok(()),
        }
    }

    fn emergency(&self) -> Option<Emergency> {
        // Otherwise its reads, which follow a clock that runs ahead, are late.
        if !matches!(self.trouble, Trouble::Panics | Trouble::BeginsLate) {
            return None;
        }
        let journal = Arc::clone(&self.journal);
        Some(Box::new(move |_| {
            journal.lock().unwrap().push("emergency");
            true
        }))
    }

    fn poll(&mut self) -> Result<Progress, Error> {
        let climbs = matches!(self.climb, Some((_, height)) if height > 0.0);
        if self.trouble == Trouble::PollFails && climbs {
            self.trouble = Trouble::None;
            return Err(Error::new(ErrorKind::Io, "the link broke"));
        }
        Ok(match self.climb {
            Some((_, height)) if height > 0.0 => Progress::Underway,
            _ => Progress::Done,
        })
    }

    fn disarm(&mut self) -> Result<(), Error> {
        self.tell("disarm");
        self.armed = false;
        Ok(())
    }

    fn request(&mut self, request: Request) -> Result<(), Error> {
        self.tell(request.name());
        if self.trouble == Trouble::IsFlown {
            return Err(Error::new(ErrorKind::Refused, "somebody else flies it"));
        }
        if self.is_gone() && self.trouble == Trouble::Gone {
            return Err(Error::new(ErrorKind::Timeout, "no answer"));
        }
        if matches!(
            self.trouble,
            Trouble::CannotLand
                | Trouble::Jumps
                | Trouble::Lands
                | Trouble::LiesBelow
                | Trouble::Mute
                | Trouble::WasArmed
        ) {
            return Err(Error::unsupported("it cannot land"));
        }
        (self.landing, self.climb) = ((request == Request::Land).then_some(LANDING), None);
        Ok(())
    }
}

impl Statue {
    fn is_gone(&self) -> bool {
        matches!(self.trouble, Trouble::Gone | Trouble::Mute) && self.commands > 100
    }

    fn comes_down(&self) -> bool {
        self.trouble == Trouble::Lands && self.commands >= 500 && self.height > 0.0
    }

    fn tell(&self, what: &'static str) {
        let mut journal = self.journal.lock().unwrap();
        if journal.last() != Some(&what) {
            journal.push(what);
        }
    }
}

/// A statue and its journal.
pub fn statue() -> (Instance, Journal) {
    climbing(None, Trouble::None)
}

/// A statue that needs this many reads to take off, a tenth of a second each.
pub fn climber(reads: u32) -> (Instance, Journal) {
    climbing(Some((reads, 0.0)), Trouble::None)
}

/// A statue with this trouble, which does not take off.
pub fn standing(trouble: Trouble) -> (Instance, Journal) {
    climbing(None, trouble)
}

/// A statue whose take-off goes wrong, or what follows.
pub fn troubled(trouble: Trouble) -> (Instance, Journal) {
    climbing(Some((20, 0.0)), trouble)
}

fn climbing(climb: Option<(u32, f64)>, trouble: Trouble) -> (Instance, Journal) {
    let journal = Journal::default();
    let groups = [
        "pose.position",
        "pose.quaternion",
        "twist.linear",
        "twist.angular",
        "vehicle",
    ];
    let rotors = [
        "rotor.0.thrust",
        "rotor.1.thrust",
        "rotor.2.thrust",
        "rotor.3.thrust",
    ];
    let description = (groups.iter())
        .try_fold(Description::new(), |description, group| {
            description.with_group(group)
        })
        .and_then(|description| description.with_signals(rotors.map(str::to_owned)))
        .unwrap();
    let statue = Statue {
        description,
        journal: Arc::clone(&journal),
        began: monotonic_now(),
        climb,
        height: 0.0,
        late: 3,
        ahead: 0,
        armed: matches!(trouble, Trouble::IsFlown | Trouble::WasArmed),
        landing: None,
        seen: None,
        has_landed: false,
        is_late: trouble == Trouble::BeginsLate,
        trouble,
        commands: 0,
        silent: 0,
    };
    (Instance::of(statue).unwrap().armed(), journal)
}

/// A curve that begins at the vehicle and stays there.
pub fn hovering(set: &[&str]) -> fly_flight::Configuration {
    let still = [
        "reference.amplitude=[0, 0, 0]",
        "reference.yaw_rate=0",
        "flight.duration=60",
    ];
    common::configuration("quadcopter.toml", &[&still, set].concat())
}
