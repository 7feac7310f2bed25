//! `fly tune`: analyses the closed loop, and finds parameters for it.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use fly_control::analysis::{AnalysisError, Margins};
use fly_control::plant::{PlantError, SystemPlant};
use fly_control::settings::{
    ApproachSettings, FastestError, FastestSettings, LoopRequirements, LqrSettings, Numbers,
};
use fly_control::tuning::PoleSpec;
use fly_control::{ControllerError, ControllerSettings};
use nalgebra::Complex;
use serde_json::json;

use crate::args::{AsData, TuneArguments};
use crate::config::{Model, Options};
use crate::exit::{Exit, Failure};

mod edit;
mod found;
mod limits;
mod redundancy;
mod replace;
mod report;

use found::Found;

/// Default position error of a vehicle that must not drive an input to its limit, m.
const POSITION_ERROR: f64 = 0.5;
/// The same for joints, m or rad.
const JOINT_ERROR: f64 = 0.1;

/// Acceptable errors outside these bounds, rad, m and their rates, would make the other numbers meaningless.
const SMALLEST: f64 = 1e-6;
const LARGEST: f64 = 1e6;

/// The smallest bandwidth, rad/s, as that of a search: such a loop takes minutes.
const SLOWEST: f64 = 0.01;

/// The closed loop with some parameters.
pub struct Analysis {
    config: PathBuf,
    model: Model,
    report: report::Report,
    settings: ControllerSettings,
    changes: edit::Changes,
}

impl Analysis {
    /// The analysis.
    pub fn report(&self) -> &report::Report {
        &self.report
    }

    /// Whether the loop is unstable or the vehicle cannot hover.
    pub fn has_problems(&self) -> bool {
        self.report.has_problems()
    }

    /// Writes the parameters to a configuration.
    ///
    /// # Errors
    /// The file is for another vehicle or approach, or it cannot be written.
    pub fn write(&self, file: &Path) -> Result<(), Failure> {
        let own = std::fs::canonicalize(&self.config).ok();
        let is_own = own.is_some() && own == std::fs::canonicalize(file).ok();
        let model = (!is_own).then_some(&self.model);
        edit::write(file, model, &self.settings, self.changes)
    }
}

/// Prints the analysis; returns [`Exit::ProblemsFound`] if the loop is unstable or the vehicle cannot hover, and then
/// writes nothing.
///
/// # Errors
/// The system cannot be read, there are no such parameters, or the file cannot be written.
pub fn run(
    options: &Options,
    arguments: &TuneArguments,
    data: AsData,
    quiet: bool,
) -> Result<Exit, Failure> {
    if let Some(file) = &arguments.write {
        super::product::expect_name(file, data.json)?;
    }
    let looked = look(options, arguments)?;
    if data.json {
        return print_data(&looked, arguments);
    }
    let shown = if quiet {
        looked.report.alarms()
    } else {
        looked.report.to_string()
    };
    super::print(shown.as_bytes())?;
    if looked.has_problems() {
        return Ok(Exit::ProblemsFound);
    }
    if let Some(file) = &arguments.write {
        looked.write(file)?;
        if !quiet {
            super::print(format!("written to {}\n", file.display()).as_bytes())?;
        }
    }
    Ok(Exit::Flown)
}

/// Writes the file if requested, then prints everything as data.
fn print_data(looked: &Analysis, arguments: &TuneArguments) -> Result<Exit, Failure> {
    let mut written = None;
    if let (Some(file), false) = (&arguments.write, looked.has_problems()) {
        looked.write(file)?;
        written = Some(file.to_string_lossy());
    }
    let mut data = looked.report.as_json();
    data["controller"] = edit::as_json(&looked.settings);
    data["written"] = json!(written);
    super::print_data(&data)?;
    Ok(if looked.has_problems() {
        Exit::ProblemsFound
    } else {
        Exit::Flown
    })
}

/// Analyses, prints and writes nothing.
///
/// # Errors
/// The system cannot be read, or there are no such parameters.
pub fn look(options: &Options, arguments: &TuneArguments) -> Result<Analysis, Failure> {
    let has_pole_spec = !arguments.poles.is_empty()
        || arguments.bandwidth.is_some()
        || arguments.fastest
        || arguments.lqr.is_some();
    let model = Model::load(options, !has_pole_spec)?;
    if has_pole_spec && !model.system.rolling.is_empty() {
        let name = model.system.name.clone();
        let error = AnalysisError::Rolls(name);
        return Err(model.refuse("vehicle.rolling", error).into());
    }
    // No energies are those of a controller whose model cannot be one.
    if has_pole_spec
        && let Err(error @ PlantError::Constrained { key, .. }) = SystemPlant::new(&model.system)
    {
        let key = format!("vehicle.{key}");
        return Err(model.refuse(&key, error).into());
    }
    let start = model.start()?;
    let (settings, found) = parameters(&model, &start, options, arguments)?;
    let controller = if has_pole_spec {
        let built = settings.build_for_system(&model.system);
        built.map_err(|error| no_controller(&model, arguments, &error))?
    } else {
        model.build_controller(&settings)?
    };
    let mut rest = start;
    // If there is no rest, the report says so.
    controller.nearest_equilibrium(&mut rest);
    let report = report::Report::new(&model, &settings, &controller, &rest, &found);
    Ok(Analysis {
        config: options.config.clone(),
        model,
        report,
        settings,
        changes: edit::Changes {
            parameters: has_pole_spec,
            observer: arguments.observer,
            approach: arguments.lqr.is_some(),
        },
    })
}

/// Why there is no controller with the requested poles: they are an option's, and the file lacks the parameters found for
/// them. Other settings are the file's own.
fn no_controller(model: &Model, arguments: &TuneArguments, error: &ControllerError) -> Failure {
    let is_found = match error {
        ControllerError::Settings(error) => {
            let table = error.key.split('.').next();
            table.is_some_and(|table| ["pairs", "poles", "gains", "lqr"].contains(&table))
        }
        error => matches!(error, ControllerError::Law(_)),
    };
    if !is_found {
        return model.explain(error).into();
    }
    let why = match error {
        ControllerError::Settings(error) => error.message.clone(),
        error => error.to_string(),
    };
    let option = if arguments.bandwidth.is_some() {
        "--bandwidth"
    } else if arguments.fastest {
        "--fastest"
    } else if arguments.lqr.is_some() {
        "--lqr"
    } else {
        "--poles"
    };
    let hint = if arguments.lqr.is_some() {
        ""
    } else {
        "\n\nFaster or slower poles may do."
    };
    Failure::new(
        Exit::Usage,
        format_args!("{option} asks for a controller that this vehicle cannot have: {why}{hint}"),
    )
}

/// The settings to analyse, and the results of the searches for them.
fn parameters(
    model: &Model,
    start: &[f64],
    options: &Options,
    arguments: &TuneArguments,
) -> Result<(ControllerSettings, Found), Failure> {
    let pole_spec = |poles: &[Complex<f64>], bandwidth: Option<f64>| match bandwidth {
        Some(bandwidth) => Some(PoleSpec::Bandwidth(bandwidth)),
        None => (!poles.is_empty()).then(|| PoleSpec::Poles(poles.to_vec())),
    };
    let motion = pole_spec(&arguments.poles, arguments.bandwidth);
    check_bandwidths(arguments, model.rate_hz)?;
    let attitude = pole_spec(&arguments.attitude_poles, arguments.attitude_bandwidth);
    if arguments.with_lag && model.kept.actuators.lead > 0.0 {
        return Err(Failure::new(
            Exit::Usage,
            "--with-lag moves the law's poles by the lag that `controller.actuators.lead` compensates: use only one of the two\n\n\
             For example --set controller.actuators.lead=0",
        ));
    }
    let lagging = |poles: Option<PoleSpec>| match poles {
        Some(poles) if arguments.with_lag => {
            let with_lag = poles.with_lag(&model.system).map(Some);
            with_lag.map_err(|error| Failure::new(Exit::Usage, error))
        }
        poles => Ok(poles),
    };
    let (motion, attitude) = (lagging(motion)?, lagging(attitude)?);
    let attitude = attitude.as_ref();
    let (system, kept, step) = (&model.system, &model.kept, model.rate_hz.recip());
    let margins = Margins {
        gain: arguments.gain_margin,
        delay: arguments.delay_margin,
        damping: arguments.damping,
    };
    if arguments.fastest {
        let demands = LoopRequirements {
            margins,
            error: arguments.error.unwrap_or(if model.vehicle.is_some() {
                POSITION_ERROR
            } else {
                JOINT_ERROR
            }),
            heading_error: arguments.heading_error_deg.to_radians(),
            step,
            observer: arguments.observer,
        };
        let FastestSettings {
            settings,
            motion,
            attitude,
            observer,
        } = kept
            .fastest(system, start, attitude, &demands)
            .map_err(failed)?;
        let found = Found {
            margins: Some(margins),
            motion: Some(motion),
            attitude,
            observer,
        };
        return Ok((settings, found));
    }
    let mut settings = match (&motion, &arguments.lqr, &model.controller) {
        (Some(motion), ..) => {
            ControllerSettings::tuned(kept.approach, system, start, motion, attitude)
                .map_err(|error| Failure::new(Exit::Usage, error))?
                .with_others_of(kept)
        }
        (None, Some(errors), _) => ControllerSettings {
            approach: ApproachSettings::StateFeedback,
            lqr: Some(lqr(errors, arguments)?),
            ..ControllerSettings::default()
        }
        .with_others_of(kept),
        (None, None, Some(controller)) => controller.clone(),
        (None, None, None) => {
            return Err(Failure::new(
                Exit::Usage,
                format_args!(
                    "there is nothing to analyse: {} has no controller, and neither --poles nor --bandwidth was given\n\n\
                     For example --bandwidth 2",
                    options.config.display()
                ),
            ));
        }
    };
    let mut found = Found::default();
    if arguments.observer {
        let observer = settings
            .fastest_observer(system, start, margins, step)
            .map_err(failed)?;
        let bandwidth = observer.bandwidth;
        settings.disturbance.get_or_insert_default().bandwidth = Some(bandwidth);
        (found.margins, found.observer) = (Some(margins), Some(observer));
    }
    Ok((settings, found))
}

/// Rejects bandwidths beyond the Nyquist frequency, and those so small that rounding decides the parameters.
fn check_bandwidths(arguments: &TuneArguments, rate_hz: f64) -> Result<(), Failure> {
    let most = std::f64::consts::PI * rate_hz;
    for (flag, bandwidth) in [
        ("--bandwidth", arguments.bandwidth),
        ("--attitude-bandwidth", arguments.attitude_bandwidth),
    ] {
        let is_possible = |bandwidth: &f64| (SLOWEST..=most).contains(bandwidth);
        if let Some(bandwidth) = bandwidth.filter(|bandwidth| !is_possible(bandwidth)) {
            return Err(Failure::new(
                Exit::Usage,
                format_args!(
                    "expected a {flag} of {SLOWEST} to {most:.0} rad/s, the Nyquist frequency at {rate_hz} Hz, found {bandwidth} rad/s"
                ),
            ));
        }
    }
    Ok(())
}

/// A search without a result is a problem; a system without a bandwidth is a usage error.
fn failed(error: FastestError) -> Failure {
    let exit = match error {
        FastestError::Tuning(_) => Exit::Usage,
        _ => Exit::ProblemsFound,
    };
    Failure::new(exit, error)
}

/// The weights of an optimal state feedback.
fn lqr(errors: &str, arguments: &TuneArguments) -> Result<LqrSettings, Failure> {
    let rates = arguments.lqr_rates.as_deref();
    Ok(LqrSettings {
        errors: joints("--lqr", errors)?,
        rates: rates.map_or(Ok(BTreeMap::new()), |rates| joints("--lqr-rates", rates))?,
        inputs: match arguments.lqr_inputs.as_slice() {
            [] => None,
            [one] => Some(Numbers::One(*one)),
            several => Some(Numbers::Each(several.to_vec())),
        },
    })
}

/// Values of joints, written like an inline table of a configuration.
fn joints(flag: &str, text: &str) -> Result<BTreeMap<String, Numbers>, Failure> {
    #[derive(serde::Deserialize)]
    #[serde(deny_unknown_fields)]
    struct Given {
        joints: BTreeMap<String, Numbers>,
    }
    let given: Result<Given, _> = toml::from_str(&format!("joints = {{ {text} }}"));
    let joints = given.map(|given| given.joints).map_err(|_| {
        Failure::new(
            Exit::Usage,
            format_args!(
                "invalid value '{text}' for '{flag}': expected joints with numbers, such as 'cart = 0.1, pole = 0.05', a name with spaces in quotes, \
                 several numbers of one joint as a list: '\"the ball\" = [0.1, 0.1, 0.2]'"
            ),
        )
    })?;
    for (joint, numbers) in &joints {
        let numbers = match numbers {
            Numbers::One(one) => std::slice::from_ref(one),
            Numbers::Each(several) => several.as_slice(),
        };
        let is_one = |x: &f64| (SMALLEST..=LARGEST).contains(x) || *x == f64::INFINITY;
        if let Some(number) = numbers.iter().find(|x| !is_one(x)) {
            return Err(Failure::new(
                Exit::Usage,
                format_args!(
                    "invalid value '{text}' for '{flag}': expected numbers from {SMALLEST:e} to {LARGEST:e}, or inf, found {number} for `{joint}`"
                ),
            ));
        }
    }
    Ok(joints)
}
