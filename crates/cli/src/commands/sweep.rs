//! `fly sweep`: a campaign.

use std::path::{Path, PathBuf};

use fly_hal::SearchPath;
use fly_sweep::{
    Campaign, ExitCodes, Journal, Plan, PlanOptions, Results, Rows, Shard, Speed, SweepError,
    write_csv, write_parquet,
};

use super::fly::{self, Manner};
use super::interruptions::Interruptions;
use crate::args::{Arguments, SweepArguments};
use crate::config::Options;
use crate::exit::{Exit, Failure};
use crate::telemetry::{Flights, Terminal, Told, speed_of};

/// Flies the plan, or what is left of it, and prints what it comes to.
pub fn run(
    wish: &SweepArguments,
    arguments: &Arguments,
    terminal: &Terminal,
) -> Result<Exit, Failure> {
    let plan = Plan::read(&PlanOptions {
        file: wish.plan.clone(),
        base: base(arguments),
        vary: wish.vary.clone(),
        flights: wish.flights,
        seed: wish.seed,
    })?;
    if let Some(index) = wish.rerun {
        return rerun(&plan, index, wish, arguments, terminal);
    }
    if !wish.merge.is_empty() {
        let rows = Rows::merge(&plan, &wish.merge)?;
        return tell(&plan, &rows, wish, arguments, None);
    }
    let search = SearchPath::standard(arguments.configuration.plugin_dir.iter().cloned());
    plan.check(&search)?;
    let shard = wish.shard.unwrap_or(Shard::WHOLE);
    let path = out(&plan, wish, &shard.suffix(), "journal");
    let mut journal = Journal::open(&path, &plan, shard, wish.restart)?;
    if journal.cut() > 0 {
        tracing::warn!(
            "`{}`: the last {} bytes were not whole rows and are cut: a campaign was killed",
            path.display(),
            journal.cut()
        );
    }
    let interruptions = Interruptions::watch(false);
    let campaign = Campaign {
        plan: &plan,
        search: &search,
        jobs: wish.jobs.map_or_else(cores, usize::from),
        codes: ExitCodes {
            flown: |summary| Exit::from(summary) as u8,
            not_flown: |error| Exit::from(error) as u8,
        },
        stop: interruptions.flag(),
    };
    let all = shard.indices(plan.flights()).count() as u64;
    let speed = {
        let bar = (!arguments.quiet).then(|| Flights::start(journal.rows(), all, terminal));
        campaign.run(&mut journal, &mut |done| {
            if let Some(bar) = &bar {
                bar.update(done);
            }
        })?
    };
    terminal.flush();
    let rows = journal.rows();
    if rows < all {
        let text = format!(
            "interrupted: {rows} of {all} flights are in `{}`; the same command flies the others\n",
            path.display()
        );
        super::print(text.as_bytes())?;
        return Ok(Exit::Interrupted);
    }
    let speed = (speed.flights > 0).then_some(speed);
    if shard == Shard::WHOLE {
        let rows = Rows::new(&plan, vec![journal])?;
        return tell(&plan, &rows, wish, arguments, speed);
    }
    if !arguments.quiet {
        let speed = speed.map_or(String::new(), |speed| format!("; {}", speed_of(&speed)));
        let path = path.display();
        let text = format!("shard {shard}: {all} flights are in `{path}`{speed}\n");
        super::print(text.as_bytes())?;
    }
    Ok(Exit::Flown)
}

/// The configuration and flags of the command line.
fn base(arguments: &Arguments) -> Options {
    let given = &arguments.configuration;
    Options {
        config: given.config.clone().unwrap_or_default(),
        backend: given.backend.clone(),
        set: given.set.clone(),
        allow_plugin: given.allow_plugin,
    }
}

fn cores() -> usize {
    std::thread::available_parallelism().map_or(1, std::num::NonZero::get)
}

/// A file of this campaign.
fn out(plan: &Plan, wish: &SweepArguments, suffix: &str, end: &str) -> PathBuf {
    let stem = wish.out.clone().unwrap_or_else(|| plan.name().into());
    let mut path = stem.into_os_string();
    path.push(format!("{suffix}.{end}"));
    path.into()
}

/// Writes the table and prints the results.
fn tell(
    plan: &Plan,
    rows: &Rows<'_>,
    wish: &SweepArguments,
    arguments: &Arguments,
    speed: Option<Speed>,
) -> Result<Exit, Failure> {
    type Write = fn(&Rows<'_>, &Path) -> Result<(), SweepError>;
    let tables: [(&str, Write); 2] = [("parquet", write_parquet), ("csv", write_csv)];
    let mut files = Vec::new();
    for (end, write) in tables {
        let path = out(plan, wish, "", end);
        write(rows, &path)?;
        files.push(path.display().to_string());
    }
    let results = Results::of(rows)?;
    let told = Told {
        name: plan.name(),
        results: &results,
        files: &files,
        speed,
    };
    if wish.json {
        let text = told
            .json()
            .map_err(|error| Failure::new(Exit::Internal, error))?;
        super::print(format!("{text}\n").as_bytes())?;
    } else if !arguments.quiet {
        super::print(told.to_string().as_bytes())?;
    }
    let unwanted = wish.fail_on.iter();
    let unwanted: u64 = unwanted
        .filter_map(|verdict| results.verdicts.get(*verdict))
        .sum();
    Ok(if unwanted > 0 {
        Exit::ProblemsFound
    } else {
        Exit::Flown
    })
}

/// Flies one flight of the campaign again.
fn rerun(
    plan: &Plan,
    index: u64,
    wish: &SweepArguments,
    arguments: &Arguments,
    terminal: &Terminal,
) -> Result<Exit, Failure> {
    let flights = plan.flights();
    if index >= flights {
        return Err(SweepError::NoFlight { index, flights }.into());
    }
    if !arguments.quiet && !wish.json {
        let columns = plan.columns().into_iter();
        let cells = plan.parameters(index);
        let all: Vec<String> = columns
            .zip(cells)
            .map(|(column, cell)| format!("{} = {cell}\n", column.name))
            .collect();
        super::print(all.concat().as_bytes())?;
    }
    let log = wish.log.clone();
    let log = log.unwrap_or_else(|| out(plan, wish, &format!("-{index}"), "mcap"));
    let manner = Manner {
        arm: false,
        yes: false,
        json: wish.json,
        quiet: arguments.quiet,
        log: Some(&log),
        report: None,
        plugin_dirs: &arguments.configuration.plugin_dir,
        stations: &[],
        speed: None,
    };
    fly::fly_and_tell(&plan.configuration(index)?, &manner, terminal)
}
