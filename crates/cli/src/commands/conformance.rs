//! `fly conformance PLUGIN`: runs the conformance suite on a plugin.

use std::path::Path;
use std::sync::{Arc, mpsc};
use std::time::Duration;

use fly_flight::FlightError;
use fly_hal::conformance::{self, Check, Outcome, Report, Setup};
use fly_hal::{LoadError, Plugin, SearchPath};
use serde_json::{Value, json};
use tracing::subscriber::{NoSubscriber, set_default};

use crate::args::{AsData, ConfigurationArguments};
use crate::backend;
use crate::config::{Configuration, Given, Sets, shipped};
use crate::exit::{Exit, Failure};

/// The configuration of a plugin without `--config`, unless one with the plugin's name is shipped.
const DEFAULT: &str = "quadcopter.toml";

/// Runs the suite with the configuration's table and vehicle; returns [`Exit::ProblemsFound`] if a check fails.
///
/// # Errors
/// The configuration cannot be read or the plugin rejects it, or the plugin cannot be found.
pub fn run(
    plugin: &str,
    arguments: &ConfigurationArguments,
    data: AsData,
    quiet: bool,
) -> Result<Exit, Failure> {
    refuse_another(plugin, arguments.backend.as_deref())?;
    let config = match (arguments.config.clone(), shipped::find(plugin)) {
        (Some(config), _) => config,
        (None, Some(shipped)) => shipped.name.into(),
        (None, None) => DEFAULT.into(),
    };
    let mut options = arguments.options_of(config);
    options.backend = None;
    options.given.push(Given {
        option: "fly conformance",
        argument: plugin.to_owned(),
        sets: Sets::Text("backend.plugin".to_owned()),
    });
    let configuration = Arc::new(Configuration::load(&options)?);
    let path = match &configuration.backend.path {
        Some(path) => path.clone(),
        None => SearchPath::standard(arguments.plugin_dir.iter().cloned())
            .find(plugin)
            .map_err(|error| backend::not_loaded(&*configuration, error))?,
    };
    let table = configuration.backend.table.clone();
    let setup = Setup {
        rate_hz: configuration.flight.rate_hz,
        resolve: Arc::new(move |offset, path: &str| backend::resolve(&table, offset, path)),
        ..Setup::new(
            configuration.backend.table.text(),
            configuration.vehicle_text.text(),
        )
    };
    refuse_settings(&configuration, &path, setup.check_timeout)?;
    let mut printed = Ok(());
    let report = conformance::run_and_tell(&path, &setup, |report| {
        let told = |check: &&Check| !(quiet && check.outcome == Outcome::Passed);
        let check = report.checks.last().filter(told);
        if let (false, Ok(()), Some(check)) = (data.json, &printed, check) {
            let is_first = report.checks.len() == 1 && !quiet;
            let heading = is_first.then(|| format!("{}\n", report.heading()));
            let lines = format!("{}  {check}\n", heading.unwrap_or_default());
            printed = super::print(lines.as_bytes());
        }
    });
    printed?;
    if data.json {
        super::print_data(&as_json(&report))?;
    } else if !quiet || !report.passed() {
        super::print(format!("{}\n", report.count()).as_bytes())?;
    }
    Ok(if report.passed() {
        Exit::Flown
    } else {
        Exit::ProblemsFound
    })
}

/// Refuses a backend other than the plugin that is tested.
fn refuse_another(plugin: &str, backend: Option<&str>) -> Result<(), Failure> {
    match backend {
        Some(backend) if backend != plugin => Err(Failure::new(
            Exit::Usage,
            format_args!(
                "`fly conformance` tests `{plugin}`, so `--backend {backend}` has no effect: leave it out"
            ),
        )),
        _ => Ok(()),
    }
}

/// Refuses a file that cannot be read, and settings that its plugin rejects, for which the suite would blame the plugin. What
/// else is wrong with it, or that it does not answer, is for the suite to tell.
fn refuse_settings(
    configuration: &Arc<Configuration>,
    path: &Path,
    timeout: Duration,
) -> Result<(), Failure> {
    let plugin = match Plugin::open(path) {
        Ok(plugin) => plugin,
        Err(error @ LoadError::Unreadable { .. }) => {
            return Err(backend::not_loaded(&**configuration, error).into());
        }
        Err(_) => return Ok(()),
    };
    let (sender, receiver) = mpsc::channel();
    let configuration = Arc::clone(configuration);
    std::thread::spawn(move || {
        // The suite configures it again.
        let _silent = set_default(NoSubscriber::default());
        let configured = backend::configure_plugin(&*configuration, &plugin, false).map(drop);
        // After the timeout nothing receives it.
        let _ = sender.send(configured);
    });
    match receiver.recv_timeout(timeout) {
        Ok(Err(error @ FlightError::Configuration(_))) => Err(error.into()),
        _ => Ok(()),
    }
}

fn as_json(report: &Report) -> Value {
    let checks = report.checks.iter().map(|check| {
        let (outcome, why) = match &check.outcome {
            Outcome::Passed => ("passed", None),
            Outcome::Failed(why) => ("failed", Some(why.clone())),
            Outcome::Hanging(time) => ("hanging", Some(format!("{time:?}"))),
            Outcome::Skipped(why) => ("skipped", Some(why.clone())),
        };
        json!({ "check": check.name, "outcome": outcome, "why": why })
    });
    json!({
        "plugin": report.plugin,
        "name": report.info.as_ref().map(|info| &info.name),
        "version": report.info.as_ref().map(|info| &info.version),
        "passed": report.passed(),
        "checks": checks.collect::<Value>(),
    })
}
