//! The trait that a plugin implements.

use crate::{Clock, Configuration, Deadline, Description, Error, FrameMut, ReadOutcome};

/// Facts about a backend that do not depend on its configuration.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Info {
    /// Its name, as in `[backend] plugin = "name"`.
    pub name: &'static str,
    /// Its version: `env!("CARGO_PKG_VERSION")`.
    pub version: &'static str,
    /// One-line summary.
    pub summary: &'static str,
    /// Its clock.
    pub clock: Clock,
    /// The signals that it may have, for listings: patterns separated by spaces, such as `"pose.position.*
    /// rotor.{i}.thrust"`.
    pub signals: &'static str,
}

/// An action that a vehicle carries out by itself.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Request {
    /// Land where it is.
    Land,
    /// Hold position and attitude.
    Hold,
    /// Stop the motors at once, whatever the consequences.
    Terminate,
}

impl Request {
    /// Its name in messages.
    pub fn name(self) -> &'static str {
        match self {
            Self::Land => "land",
            Self::Hold => "hold",
            Self::Terminate => "terminate",
        }
    }
}

/// Progress of the last request to the vehicle.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Progress {
    /// Complete, or the vehicle continues by itself from here.
    Done,
    /// No answer yet.
    Underway,
}

/// Asks the vehicle to carry out an action, from another thread, while a call of the backend hangs. Returns whether the
/// request was sent. It must not block, and must not use anything that the backend holds during its calls: use a
/// separate socket or an atomic flag.
pub type Emergency = Box<dyn Fn(Request) -> bool + Send + Sync>;

/// A vehicle, a simulated vehicle, or a recording.
///
/// Implement this trait, then call [`export_backend!`](crate::export_backend) in a crate of type `cdylib`. The export
/// enforces the lifecycle: `read` and `write` are called only between `start` and `stop`, `start` and `stop` at most
/// once, and `write` always with exactly as many finite values as there are commands. A panic in any function is
/// caught, reported to the host, and ends the instance.
///
/// One thread at a time calls these functions; between start and stop it is the flight thread. `read` and `write`
/// should not allocate and must not block past the deadline. Keep all state in `self`, never in a `static`: several
/// instances may exist at once.
///
/// ```
/// use fly_hal::{Backend, Clock, Configuration, Deadline, Description, Error, FrameMut, GroupStatus, Info, ReadOutcome};
///
/// /// A unit mass on a line, pushed by one rotor.
/// struct Puck { description: Description, time: i64, position: f64, velocity: f64, force: f64 }
///
/// impl Backend for Puck {
///     const INFO: Info = Info {
///         name: "puck",
///         version: "1.0.0",
///         summary: "a unit mass on a line",
///         clock: Clock::Stepped,
///         signals: "pose.position.* rotor.0.thrust",
///     };
///
///     fn configure(_: &Configuration) -> Result<Self, Error> {
///         let description = Description::new().with_group("pose.position")?.with_signal("rotor.0.thrust")?;
///         Ok(Self { description, time: 0, position: 0.0, velocity: 0.0, force: 0.0 })
///     }
///
///     fn description(&self) -> &Description { &self.description }
///
///     fn read(&mut self, _: Deadline, frame: &mut FrameMut) -> Result<ReadOutcome, Error> {
///         *frame.time = self.time;
///         frame.values.copy_from_slice(&[self.position, 0.0, 0.0]);
///         frame.groups[0] = GroupStatus { stamp: self.time, valid: true };
///         self.velocity += self.force * 0.01;
///         self.position += self.velocity * 0.01;
///         self.time += 10_000_000;
///         Ok(ReadOutcome::Fresh)
///     }
///
///     fn write(&mut self, _: i64, commands: &[f64]) -> Result<(), Error> {
///         self.force = commands[0];
///         Ok(())
///     }
/// }
///
/// fly_hal::export_backend!(Puck);
/// # fn main() {}
/// ```
pub trait Backend: Sized + Send {
    /// Name, version and clock.
    const INFO: Info;

    /// Parses the texts and determines the signals. Accesses no files other than those that the texts name.
    ///
    /// # Errors
    /// The texts are invalid; the error has its [location](crate::Location).
    fn configure(configuration: &Configuration) -> Result<Self, Error>;

    /// The signals; they do not change after [`configure`](Self::configure).
    fn description(&self) -> &Description;

    /// Opens links and waits for the vehicle until a first frame can be read.
    ///
    /// # Errors
    /// The vehicle or its recording cannot be reached.
    fn start(&mut self) -> Result<(), Error> {
        Ok(())
    }

    /// Waits for the next tick, at most until the deadline, and writes new data into the frame. A
    /// [`Stepped`](Clock::Stepped) backend never waits and ignores the deadline.
    ///
    /// A group's stamp is its time of measurement: never later than the frame's time, and never decreasing.
    ///
    /// # Errors
    /// The link failed or the data is unusable. The host may read again.
    fn read(&mut self, deadline: Deadline, frame: &mut FrameMut) -> Result<ReadOutcome, Error>;

    /// Takes the commands for the frame at that time, in the order of [`Description::commands`].
    ///
    /// # Errors
    /// The commands could not be sent.
    fn write(&mut self, time: i64, commands: &[f64]) -> Result<(), Error>;

    /// Releases the vehicle. No reads or writes follow.
    ///
    /// # Errors
    /// The vehicle could not be released.
    fn stop(&mut self) -> Result<(), Error> {
        Ok(())
    }

    /// Begins to arm the vehicle and returns at once; [`poll`](Self::poll) returns the progress.
    /// [`take_off`](Self::take_off), [`disarm`](Self::disarm) and [`request`](Self::request) work the same way.
    ///
    /// Until commands come, the backend itself maintains any stream that the vehicle requires.
    ///
    /// # Errors
    /// The vehicle refused, or there is nothing to arm.
    fn arm(&mut self) -> Result<(), Error> {
        Err(Error::unsupported(format!(
            "`{}` cannot be armed",
            Self::INFO.name
        )))
    }

    /// Begins to climb to `height` m above the armed vehicle's position on the ground, and to hold there until commands
    /// come. It is [done](Self::poll) when the vehicle has reached that height.
    ///
    /// # Errors
    /// The vehicle refused, or cannot take off by itself.
    fn take_off(&mut self, height: f64) -> Result<(), Error> {
        let _ = height;
        Err(Error::unsupported(format!(
            "`{}` cannot take off by itself",
            Self::INFO.name
        )))
    }

    /// Begins to disarm the vehicle.
    ///
    /// # Errors
    /// The vehicle refused, or there is nothing to disarm.
    fn disarm(&mut self) -> Result<(), Error> {
        Err(Error::unsupported(format!(
            "`{}` cannot be disarmed",
            Self::INFO.name
        )))
    }

    /// Begins to ask the vehicle to carry out an action by itself.
    ///
    /// # Errors
    /// The vehicle refused, or cannot do this.
    fn request(&mut self, request: Request) -> Result<(), Error> {
        Err(Error::unsupported(format!(
            "`{}` cannot {} by itself",
            Self::INFO.name,
            request.name()
        )))
    }

    /// Progress of the last [`arm`](Self::arm), [`take_off`](Self::take_off), [`disarm`](Self::disarm) or
    /// [`request`](Self::request). Never blocks. The host continues to read and write between two polls, and gives up
    /// after some seconds.
    ///
    /// # Errors
    /// The vehicle refused.
    fn poll(&mut self) -> Result<Progress, Error> {
        Ok(Progress::Done)
    }

    /// Returns a function that reaches the vehicle while a call hangs. Called once, after [`start`](Self::start). The
    /// host uses it to request a landing before it gives up.
    fn emergency(&self) -> Option<Emergency> {
        None
    }

    /// Lines for the summary after a flight: a name and a value each.
    fn report(&self) -> Vec<(String, String)> {
        Vec::new()
    }
}
