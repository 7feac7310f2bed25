//! `fly log cut`: writes a part of a log as a separate log.

use fly_log::{Kind, Rows};
use fly_report::ReportError;
use serde_json::json;

use super::{export, options, output};
use crate::args::{CutArguments, Format};
use crate::commands::part;
use crate::exit::{Exit, Failure};

/// Writes the part, and prints the file's name and how many ticks it has.
///
/// # Errors
/// The log cannot be read, has nothing within these times, or the file cannot be written.
pub fn run(arguments: &CutArguments, as_data: bool, quiet: bool) -> Result<Exit, Failure> {
    let log = &arguments.log;
    let refuse = |why: String| Err(Failure::new(Exit::Usage, why));
    if Kind::of(log)? == Kind::Ulog {
        let log = log.display();
        return refuse(format!(
            "`{log}` is a PX4 ULog, and only logs of this program are cut; make it one with `fly log export {log} --to mcap`"
        ));
    }
    let [from, to] = part(arguments.from, arguments.to)?;
    let beside = log.with_extension("cut.mcap");
    let out = output::place(&arguments.output, log, beside, Format::Mcap, as_data)?;
    let options = options(arguments.output.allow_damaged);
    // Rejects a damaged log, unless that is allowed.
    let survey = fly_log::Survey::of(log, &options)?;
    Rows::open(log, &options)?;
    let times = nanoseconds(from)..=nanoseconds(to);
    if let Some(frames) = survey.topic("/fly/frame")
        && (*times.start() > frames.last || *times.end() < frames.first)
    {
        let beyond = ReportError::Beyond {
            path: log.clone(),
            times: [from, to],
            span: [frames.first, frames.last].map(|time| time as f64 * 1e-9),
        };
        return refuse(beyond.to_string());
    }
    let copied = export::copy(
        log,
        &options,
        times,
        (&out, output::existing(&arguments.output)),
    )?;
    output::warn(&copied.skipped);
    if as_data {
        crate::commands::print_data(
            &json!({ "written": out.to_string_lossy(), "ticks": copied.ticks }),
        )?;
    } else if !quiet {
        let text = format!("{}: {} ticks\n", out.display(), copied.ticks);
        crate::commands::print(text.as_bytes())?;
    }
    Ok(Exit::Flown)
}

#[expect(
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    reason = "not negative, and the cast saturates"
)]
fn nanoseconds(seconds: f64) -> u64 {
    (seconds * 1e9).round() as u64
}
