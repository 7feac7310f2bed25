//! The smallest backend, which misbehaves on demand, for the tests of `fly-hal`.

use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use tracing::dispatcher;

use fly_hal::{
    Backend, Clock, Configuration, Deadline, Description, Emergency, Error, FrameMut, GroupStatus,
    Info, Progress, ReadOutcome, Request,
};

/// A point that is moved along x by its one command.
pub struct Trial {
    description: Description,
    time: i64,
    position: f64,
    command: f64,
    panics: String,
    fails: String,
    resolved: Option<PathBuf>,
    said: String,
    /// Polls until it is armed, or has taken off.
    polls: u32,
    /// Whether reads wait until an emergency.
    hangs: Arc<AtomicBool>,
    /// Whether an emergency does not return.
    hangs_in_emergency: bool,
}

impl Trial {
    /// Misbehaves as configured for this function.
    fn misbehave(&self, function: &str) -> Result<(), Error> {
        assert!(self.panics != function, "told to panic in {function}");
        if self.fails == function {
            return Err(Error::internal(format!("told to fail in {function}")));
        }
        Ok(())
    }
}

impl Backend for Trial {
    const INFO: Info = Info {
        name: "trial",
        version: "1.2.3",
        summary: "a point on a line",
        clock: Clock::Stepped,
        signals: "pose.position.* rotor.0.thrust",
    };

    fn configure(configuration: &Configuration) -> Result<Self, Error> {
        let text = configuration.text.trim();
        let (key, value) = match text.split_once('=') {
            Some((key, value)) => (key.trim(), value.trim().trim_matches('"').to_owned()),
            None if text.is_empty() => ("", String::new()),
            None => {
                return Err(Error::configuration("expected `key = \"value\"`")
                    .in_configuration(0..configuration.text.len()));
            }
        };
        let mut trial = Self {
            description: Description::new()
                .with_group("pose.position")?
                .with_signal("rotor.0.thrust")?,
            time: 0,
            position: 0.0,
            command: 0.0,
            panics: String::new(),
            fails: String::new(),
            resolved: None,
            said: String::new(),
            polls: 0,
            hangs: Arc::default(),
            hangs_in_emergency: false,
        };
        match key {
            "" => {}
            "panic" => trial.panics = value,
            "error" => trial.fails = value,
            "thread" => trial.said = value,
            "hang" => {
                trial.hangs.store(value == "read", Ordering::Relaxed);
                trial.hangs_in_emergency = value == "emergency";
            }
            "resolve" => {
                trial.resolved =
                    Some(configuration.resolve_path(text.find('"').unwrap_or(0), &value)?);
            }
            "vehicle" => {
                return Err(Error::configuration("not this vehicle")
                    .in_vehicle(2..5)
                    .with_help("another"));
            }
            key => {
                return Err(Error::configuration(format!("unknown key `{key}`"))
                    .in_configuration(0..key.len()));
            }
        }
        trial.misbehave("configure")?;
        tracing::info!(
            rate = configuration.rate_hz,
            seed = configuration.seed,
            name = "äöü",
            "configured"
        );
        tracing::trace!("nobody wants this");
        Ok(trial)
    }

    fn description(&self) -> &Description {
        assert!(self.panics != "description", "told to panic in description");
        &self.description
    }

    fn start(&mut self) -> Result<(), Error> {
        if !self.said.is_empty() {
            let (said, dispatch) = (self.said.clone(), dispatcher::get_default(Clone::clone));
            let thread = std::thread::spawn(move || {
                dispatcher::with_default(&dispatch, || tracing::info!("{said}"));
            });
            thread
                .join()
                .map_err(|_| Error::internal("the thread panicked"))?;
        }
        self.misbehave("start")
    }

    #[inline]
    fn read(&mut self, _: Deadline, frame: &mut FrameMut) -> Result<ReadOutcome, Error> {
        if !self.panics.is_empty() || !self.fails.is_empty() {
            self.misbehave("read")?;
        }
        while self.hangs.load(Ordering::Acquire) {
            std::thread::yield_now();
        }
        self.time += 1_000_000;
        self.position += self.command;
        *frame.time = self.time;
        frame.values[0] = self.position;
        frame.values[1] = 0.0;
        frame.values[2] = 0.0;
        frame.groups[0] = GroupStatus {
            stamp: self.time,
            valid: true,
        };
        Ok(ReadOutcome::Fresh)
    }

    #[inline]
    fn write(&mut self, _: i64, commands: &[f64]) -> Result<(), Error> {
        if !self.panics.is_empty() || !self.fails.is_empty() {
            self.misbehave("write")?;
        }
        self.command = commands[0].clamp(-1.0, 1.0);
        Ok(())
    }

    fn stop(&mut self) -> Result<(), Error> {
        self.misbehave("stop")
    }

    fn arm(&mut self) -> Result<(), Error> {
        self.polls = 2;
        self.misbehave("arm")
    }

    fn take_off(&mut self, height: f64) -> Result<(), Error> {
        self.misbehave("take_off")?;
        self.polls = 2;
        self.position = height;
        Ok(())
    }

    fn poll(&mut self) -> Result<Progress, Error> {
        self.misbehave("poll")?;
        self.polls = self.polls.saturating_sub(1);
        Ok(if self.polls == 0 {
            Progress::Done
        } else {
            Progress::Underway
        })
    }

    fn emergency(&self) -> Option<Emergency> {
        let hangs = Arc::clone(&self.hangs);
        let is_last = self.hangs_in_emergency;
        Some(Box::new(move |request| {
            if is_last {
                loop {
                    std::thread::park();
                }
            }
            hangs.store(false, Ordering::Release);
            request == Request::Land
        }))
    }

    fn request(&mut self, request: Request) -> Result<(), Error> {
        self.misbehave("request")?;
        Err(Error::unsupported(format!("cannot {}", request.name())))
    }

    fn report(&self) -> Vec<(String, String)> {
        assert!(self.panics != "report", "told to panic in report");
        let mut lines = vec![("ticks".to_owned(), (self.time / 1_000_000).to_string())];
        lines.extend(
            self.resolved
                .iter()
                .map(|path| ("resolved".to_owned(), path.display().to_string())),
        );
        lines
    }
}

impl Drop for Trial {
    fn drop(&mut self) {
        assert!(self.panics != "drop", "told to panic in drop");
    }
}

fly_hal::export_backend!(Trial);
