//! `fly plot`: flights as a picture.

use std::path::{Path, PathBuf};

use fly_plot::{Theme, png, svg};
use fly_report::Flight;
use fly_report::plot::{MOST, Options, Request, page, signals};

use super::{part, product};
use crate::args::{AsData, PlotArguments};
use crate::exit::{Exit, Failure};

/// Default name of the picture of several logs.
const OF_SEVERAL: &str = "plot.svg";
/// PNG pixels per px.
const DOTS: f64 = 2.0;

/// Reads the logs and writes the picture.
///
/// # Errors
/// A log cannot be read, a column does not exist, or the picture cannot be written.
pub fn run(arguments: &PlotArguments, data: AsData, quiet: bool) -> Result<Exit, Failure> {
    let logs: Vec<&Path> = arguments.logs.iter().map(PathBuf::as_path).collect();
    let out = match (&arguments.out, logs.as_slice()) {
        (Some(out), _) => out.clone(),
        (None, [only]) => only.with_extension("svg"),
        (None, _) => OF_SEVERAL.into(),
    };
    let is_png = (out.extension()).is_some_and(|end| end.eq_ignore_ascii_case("png"));
    let kind = if is_png { &product::PNG } else { &product::SVG };
    let options = Options {
        times: part(arguments.from, arguments.to)?,
        columns: arguments.columns.map(usize::from),
        width: arguments.width.map(f64::from),
        allow_damaged: arguments.allow_damaged,
    };
    // Checked before a long log is read.
    product::refuse_foreign(&out, kind)?;
    product::expect_name(&out, data.json)?;
    options.check_width()?;
    let requests = requests(arguments);
    let figure = if requests.is_empty() {
        let flights: Vec<_> = (logs.iter().map(Flight::open)).collect::<Result<_, _>>()?;
        options.check_flights(&flights)?;
        if flights.len() > MOST {
            tracing::warn!("only the first {MOST} of {} logs are drawn", flights.len());
        }
        page(&flights, &options)
    } else {
        signals(&logs, &requests, &options)?
    };
    let theme = Theme::from(arguments.theme);
    if is_png {
        let picture = png(&figure, theme, DOTS);
        let picture = picture.map_err(|error| Failure::new(Exit::Internal, error))?;
        product::write(&out, kind, &picture)?;
    } else {
        product::write(&out, kind, svg(&figure, theme).as_bytes())?;
    }
    super::print_written(&out, data.json, quiet)?;
    Ok(Exit::Flown)
}

/// The panels that were asked for.
fn requests(arguments: &PlotArguments) -> Vec<Request> {
    let signals = arguments.signals.iter();
    let xy = arguments.xy.iter();
    let phase = arguments.phase.iter();
    let spectrum = arguments.spectrum.iter();
    (signals.map(|names| Request::Signals(names.0.clone())))
        .chain(xy.map(|names| Request::Xy(names.clone())))
        .chain(phase.map(|name| Request::Phase(name.clone())))
        .chain(spectrum.map(|names| Request::Spectrum(names.0.clone())))
        .collect()
}
