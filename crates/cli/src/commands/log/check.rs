//! `fly log check`: checks that a log is complete and its values are finite.

use std::fmt::Write as _;

use fly_log::Check;
use serde_json::json;

use super::options;
use crate::args::CheckArguments;
use crate::exit::{Exit, Failure};

/// Prints the findings.
///
/// # Errors
/// The log cannot be read at all.
pub fn run(arguments: &CheckArguments, as_data: bool) -> Result<Exit, Failure> {
    // Without the advice to run this command.
    let check = Check::of(&arguments.log, &options(true));
    let check = check.map_err(|error| Failure::new(Exit::Usage, error))?;
    let text = if as_data {
        as_json(&check)
    } else {
        as_text(&check)
    };
    crate::commands::print(text.as_bytes())?;
    Ok(if check.is_sound() {
        Exit::Flown
    } else {
        Exit::ProblemsFound
    })
}

fn as_json(check: &Check) -> String {
    let damage = check.damage.faults.iter().map(
        |fault| json!({ "byte": fault.offset, "expected": fault.expected, "found": fault.found }),
    );
    let gaps = check
        .gaps
        .iter()
        .map(|gap| json!({ "from": gap.from, "to": gap.to }));
    let non_finite = check
        .non_finite
        .iter()
        .map(|found| json!({ "column": found.column, "count": found.count, "first": found.first }));
    let all = json!({
        "sound": check.is_sound(), "kind": check.kind.name(), "ticks": check.ticks, "finished": check.finished,
        "outcome": check.run.as_ref().map(|run| &run.outcome),
        "damaged": check.damaged, "damage": damage.collect::<Vec<_>>(),
        "backwards": { "count": check.backwards_count, "first": check.backwards },
        "gaps": { "count": check.gaps_count, "first": gaps.collect::<Vec<_>>() },
        "non_finite": non_finite.collect::<Vec<_>>(),
    });
    format!("{all:#}\n")
}

fn as_text(check: &Check) -> String {
    let mut text = String::new();
    let mut problems = 0;
    let mut line = |label: &str, found: &[String], fine: &str| {
        if found.is_empty() {
            let _ = writeln!(text, "{label:11} {fine}");
        }
        for one in found {
            problems += 1;
            let _ = writeln!(text, "{label:11} PROBLEM: {one}");
        }
    };
    line("file", &check.damaged, "every record is intact");
    let unfinished = (check.finished == Some(false)).then(|| {
        "not finished: the flight was killed or is in progress; the record of the run is missing"
            .to_owned()
    });
    if check.finished.is_some() {
        line("finished", unfinished.as_slice(), "yes");
    }
    let none = (check.ticks == 0).then(|| "none".to_owned());
    line("ticks", none.as_slice(), &check.ticks.to_string());
    let told = |lines: &mut Vec<String>, count: u64| {
        let more = count - lines.len() as u64;
        if more > 0 {
            lines.push(format!("{more} more"));
        }
    };
    let backwards = check.backwards.iter();
    let mut backwards: Vec<String> = backwards
        .map(|time| format!("the clock does not advance at {time:.6} s"))
        .collect();
    told(&mut backwards, check.backwards_count);
    line("time", &backwards, "time increases with every tick");
    let gaps = check.gaps.iter();
    let gap = |gap: &fly_log::Gap| {
        format!(
            "no data for {:.3} s, from {:.3} s to {:.3} s",
            gap.to - gap.from,
            gap.from,
            gap.to
        )
    };
    let mut gaps: Vec<String> = gaps.map(gap).collect();
    told(&mut gaps, check.gaps_count);
    line("gaps", &gaps, "none");
    let non_finite = check.non_finite.iter().map(|found| {
        format!(
            "{}: {} values are not finite, the first at {:.6} s",
            found.column, found.count, found.first
        )
    });
    line(
        "numbers",
        &non_finite.collect::<Vec<_>>(),
        "all values are finite",
    );
    let verdict = match problems {
        0 => "the log is sound".to_owned(),
        1 => "1 problem found".to_owned(),
        some => format!("{some} problems found"),
    };
    let _ = writeln!(text, "\n{verdict}");
    text
}
