//! Tests whether a plugin conforms to the interface, and reports every violation.
//!
//! ```no_run
//! use fly_hal::conformance::{self, Setup};
//!
//! let report = conformance::run("target/debug/libmy_plugin.so".as_ref(), &Setup::new("port = '/dev/null'", ""));
//! println!("{report}");
//! assert!(report.passed());
//! ```
//!
//! No vehicle is ever armed. A plugin that crashes ends the process, as it would in flight; run this in a separate
//! process if that matters; after [`tell_crashes`](crate::loader::tell_crashes) it is told in which check. A check that times out ends the run.

mod checks;
mod report;
mod resources;
mod trial;

use std::path::Path;
use std::sync::{Arc, mpsc};
use std::time::Duration;

use crate::loader::calls::Under;
use crate::loader::crash::provide_another_stack;
use crate::{Configuration, Plugin, ResolvePath};

pub use report::{Check, Outcome, Report};

/// The plugin's configuration. It must be valid: the checks derive invalid ones from it.
#[derive(Clone)]
pub struct Setup {
    /// Its table, a TOML document.
    pub text: String,
    /// The vehicle, a TOML document.
    pub vehicle: String,
    /// Rate of the control loop, Hz.
    pub rate_hz: f64,
    /// Resolves paths in `text`: (offset, path).
    pub resolve: Arc<ResolvePath<'static>>,
    /// Timeout of one check.
    pub check_timeout: Duration,
}

impl Setup {
    /// These texts with 500 Hz, paths relative to the current folder, and 30 s for each check.
    pub fn new(text: impl Into<String>, vehicle: impl Into<String>) -> Self {
        Self {
            text: text.into(),
            vehicle: vehicle.into(),
            rate_hz: 500.0,
            resolve: Arc::new(crate::configuration::resolve_in_current_folder),
            check_timeout: Duration::from_secs(30),
        }
    }

    /// The configuration, with another text.
    fn with<'a>(&'a self, text: &'a str) -> Configuration<'a> {
        Configuration {
            text,
            vehicle: &self.vehicle,
            rate_hz: self.rate_hz,
            seed: 1,
            armed: false,
            resolve: &*self.resolve,
        }
    }

    fn configuration(&self) -> Configuration<'_> {
        self.with(&self.text)
    }
}

/// Runs all checks.
pub fn run(plugin: &Path, setup: &Setup) -> Report {
    run_and_tell(plugin, setup, |_| {})
}

/// The same, and tells the results so far after each check: a plugin that crashes ends the process.
pub fn run_and_tell(plugin: &Path, setup: &Setup, mut tell: impl FnMut(&Report)) -> Report {
    let mut report = Report {
        plugin: plugin.to_owned(),
        info: None,
        checks: Vec::new(),
    };
    let plugin = match Plugin::open(plugin) {
        Ok(plugin) => plugin,
        Err(error) => {
            report.checks.push(Check {
                name: "loads",
                outcome: Outcome::Failed(error.to_string()),
            });
            tell(&report);
            return report;
        }
    };
    report.info = Some(plugin.info().clone());
    report.checks.push(Check {
        name: "loads",
        outcome: Outcome::Passed,
    });
    tell(&report);
    for (name, check) in checks::ALL {
        let outcome = run_one((name, *check), &plugin, setup);
        let hangs = matches!(outcome, Outcome::Hanging(_));
        let is_unknown = *name == checks::DESCRIBES && outcome != Outcome::Passed;
        report.checks.push(Check { name, outcome });
        tell(&report);
        if hangs || is_unknown {
            break;
        }
    }
    report
}

/// Runs a check on its own thread, which is abandoned if the check hangs.
fn run_one(
    (name, check): (&'static str, checks::Function),
    plugin: &Plugin,
    setup: &Setup,
) -> Outcome {
    let (plugin, owned) = (plugin.clone(), setup.clone());
    let (sender, receiver) = mpsc::channel();
    let thread = std::thread::spawn(move || {
        let _under = Under::check(name);
        // Without it a stack that overflows is told by the signal alone.
        let _ = provide_another_stack();
        // After a timeout nothing receives the result.
        let _ = sender.send(check(&plugin, &owned));
    });
    match receiver.recv_timeout(setup.check_timeout) {
        Ok(outcome) => {
            let _ = thread.join();
            outcome
        }
        Err(mpsc::RecvTimeoutError::Timeout) => Outcome::Hanging(setup.check_timeout),
        Err(mpsc::RecvTimeoutError::Disconnected) => {
            Outcome::Failed("the check itself panicked".into())
        }
    }
}
