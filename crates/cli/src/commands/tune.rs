//! `fly tune`: what the closed loop is like, and parameters that make it so.

use fly_control::ControllerSettings;
use fly_control::tuning::PoleSpec;
use nalgebra::Complex;

use crate::args::TuneArguments;
use crate::config::{Model, Options};
use crate::exit::{Exit, Failure};

mod edit;
mod replace;
mod report;

/// Prints the analysis; [`Exit::ProblemsFound`] when the loop is not stable or the vehicle cannot hover, and then nothing is
/// written.
///
/// # Errors
/// The system cannot be read, there are no such parameters, or the file cannot be written.
pub fn run(options: &Options, arguments: &TuneArguments) -> Result<Exit, Failure> {
    let wish = |poles: &[Complex<f64>], bandwidth: Option<f64>| match bandwidth {
        Some(bandwidth) => Some(PoleSpec::Bandwidth(bandwidth)),
        None => (!poles.is_empty()).then(|| PoleSpec::Poles(poles.to_vec())),
    };
    let position = wish(&arguments.poles, arguments.bandwidth);
    let attitude = wish(&arguments.attitude_poles, arguments.attitude_bandwidth);
    let model = Model::load(options, position.is_none())?;
    let system = &model.system;
    let start = model.start();
    let lagging = |wish: Option<PoleSpec>| match wish {
        Some(wish) if arguments.with_lag => {
            let with_lag = wish.with_lag(system);
            with_lag
                .map(Some)
                .map_err(|error| Failure::new(Exit::Usage, error))
        }
        wish => Ok(wish),
    };
    let (position, attitude) = (lagging(position)?, lagging(attitude)?);
    let settings = match (&position, &model.controller) {
        (Some(position), _) => {
            let (approach, attitude) = (model.approach, attitude.as_ref());
            let tuned = ControllerSettings::tuned(approach, system, &start, position, attitude)
                .map_err(|error| Failure::new(Exit::Usage, error))?;
            // What commands make up for is no matter of the poles.
            ControllerSettings {
                actuators: model.actuators,
                ..tuned
            }
        }
        (None, Some(controller)) => controller.clone(),
        (None, None) => {
            return Err(Failure::new(
                Exit::Usage,
                format_args!(
                    "there is nothing to look at: {} has no controller, and neither --poles nor --bandwidth was given\n\n\
                     For example --bandwidth 2",
                    options.config.display()
                ),
            ));
        }
    };
    let controller = model.build_controller(&settings)?;
    let mut rest = start;
    // Where there is no rest the report says so.
    controller.rest_near(&mut rest);
    let report = report::Report::new(&model, &controller, &rest);
    super::print(report.to_string().as_bytes())?;
    if report.has_problems() {
        return Ok(Exit::ProblemsFound);
    }
    if let Some(file) = &arguments.write {
        edit::write(file, &settings)?;
        super::print(format!("written to {}\n", file.display()).as_bytes())?;
    }
    Ok(Exit::Flown)
}
