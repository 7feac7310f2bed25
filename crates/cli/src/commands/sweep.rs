//! `fly sweep`: flies a campaign.

use std::ffi::OsStr;
use std::path::{Path, PathBuf};

use fly_flight::{FlightError, Summary, backend};
use fly_hal::SearchPath;
use fly_sweep::{
    Campaign, ExitCodes, Journal, Plan, PlanOptions, Results, Rows, Shard, Speed, SweepError,
    differences, fingerprint, write_csv, write_parquet,
};

use super::fly::{self, FlightOptions};
use super::interruptions::Interruptions;
use super::product;
use crate::args::{Arguments, SweepArguments};
use crate::config::Options;
use crate::exit::{Exit, Failure};
use crate::telemetry::{CampaignReport, Flights, Terminal, speed_of};

/// Flies the rest of the plan and prints the results.
pub fn run(
    command: &SweepArguments,
    arguments: &Arguments,
    terminal: &Terminal,
) -> Result<Exit, Failure> {
    let plan = Plan::read(&PlanOptions {
        file: command.plan.clone(),
        base: base(arguments),
        vary: command.vary.clone(),
        flights: command.flights,
        seed: command.seed,
    })?;
    let search = SearchPath::standard(arguments.configuration.plugin_dir.iter().cloned());
    let build = build(&plan, &search)?;
    let plan = plan.built_by(&build, command.any_build);
    if let Some(given) = &command.out {
        product::refuse_standard_output(given)?;
    }
    let journal = out(&plan, command, "", "journal");
    product::expect_folder(&journal)?;
    product::expect_name(&journal, command.json)?;
    if let Some(index) = command.rerun {
        return rerun(&plan, index, command, arguments, terminal);
    }
    let shard = command.shard.unwrap_or(Shard::WHOLE);
    let path = out(&plan, command, &shard.suffix(), "journal");
    if shard == Shard::WHOLE {
        refuse_foreign_tables(&plan, command, command.merge.is_empty() && !path.exists())?;
    }
    if !command.merge.is_empty() {
        let rows = Rows::merge(&plan, &command.merge)?;
        return tell(&plan, &rows, command, arguments, None);
    }
    plan.check(&search)?;
    let mut journal = Journal::open(&path, &plan, shard, command.restart)?;
    let all = shard.indices(plan.flights()).count() as u64;
    if journal.damaged() > 0 && journal.rows() < all {
        tracing::warn!(
            "`{}`: damaged places, as by a bad disk: {}; their flights are flown again",
            path.display(),
            journal.damaged()
        );
    }
    if journal.cut() > 0 {
        tracing::warn!(
            "`{}`: the last {} bytes are no whole row and are removed, as after a kill",
            path.display(),
            journal.cut()
        );
    }
    let interruptions = Interruptions::watch(false);
    let campaign = Campaign {
        plan: &plan,
        search: &search,
        jobs: command.jobs.map_or_else(cores, usize::from),
        codes: CODES,
        stop: interruptions.flag(),
    };
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
            "interrupted: {rows} of {all} flights are in `{}`; the same command continues\n",
            path.display()
        );
        super::print(text.as_bytes())?;
        return Ok(Exit::Interrupted);
    }
    let speed = (speed.flights > 0).then_some(speed);
    if shard == Shard::WHOLE {
        let rows = Rows::new(&plan, vec![journal])?;
        return tell(&plan, &rows, command, arguments, speed);
    }
    if !arguments.quiet {
        let speed = speed.map_or(String::new(), |speed| format!("; {}", speed_of(&speed)));
        let path = path.display();
        let text = format!("shard {shard}: {all} flights are in `{path}`{speed}\n");
        super::print(text.as_bytes())?;
    }
    Ok(Exit::Flown)
}

/// The extensions of the files of a campaign.
const FILES: [&str; 3] = ["journal", "parquet", "csv"];

/// The exit codes of `fly`.
const CODES: ExitCodes = ExitCodes {
    flown: |summary| Exit::from(summary) as u8,
    not_flown: |error| Exit::from(error) as u8,
};

/// This build: the running program, and the plugin that the plan's configuration selects.
fn build(plan: &Plan, search: &SearchPath) -> Result<String, Failure> {
    let read = |path: &Path| {
        fingerprint(path).map_err(|error| SweepError::File {
            path: path.to_owned(),
            error,
        })
    };
    // The running program, even if its file has been replaced since.
    let running = Path::new("/proc/self/exe");
    let program = if running.exists() {
        read(running)?
    } else {
        read(&std::env::current_exe()?)?
    };
    let configuration = plan.base()?;
    let plugin = backend::plugin(&configuration, search)?;
    let file = read(plugin.path())?;
    let name = &configuration.backend.plugin;
    Ok(format!("fly {program}, {name} {file}"))
}

/// The configuration and flags of the command line.
fn base(arguments: &Arguments) -> Options {
    let given = &arguments.configuration;
    given.options_of(given.config.clone().unwrap_or_default())
}

fn cores() -> usize {
    std::thread::available_parallelism().map_or(1, std::num::NonZero::get)
}

/// The path of a file of this campaign.
fn out(plan: &Plan, command: &SweepArguments, suffix: &str, end: &str) -> PathBuf {
    let stem = (command.out.as_deref()).map_or_else(|| plan.name().into(), |out| stem(out, plan));
    let mut path = stem.into_os_string();
    path.push(format!("{suffix}.{end}"));
    path.into()
}

/// `--out` without the extension of one of the files; in a folder that ends with `/`, the plan's name.
fn stem(out: &Path, plan: &Plan) -> PathBuf {
    let is_folder = out.file_name().is_none() || out.as_os_str().as_encoded_bytes().ends_with(b"/");
    if is_folder {
        return out.join(plan.name());
    }
    let own = |end: &OsStr| FILES.iter().any(|own| end.eq_ignore_ascii_case(own));
    match out.extension() {
        Some(end) if own(end) => out.with_extension(""),
        _ => out.to_owned(),
    }
}

/// Rejects places of the tables where other files are, such as one that the flights read: any file, if the campaign is `new`.
fn refuse_foreign_tables(plan: &Plan, command: &SweepArguments, new: bool) -> Result<(), Failure> {
    let kinds = [
        ("csv", &product::CSV_TABLE),
        ("parquet", &product::PARQUET_TABLE),
    ];
    for (end, kind) in kinds {
        let path = out(plan, command, "", end);
        product::refuse_foreign(&path, kind)?;
        if new && path.exists() {
            return Err(Failure::new(
                Exit::Usage,
                format_args!(
                    "cannot write `{}`: expected nothing there, as no journal of this campaign is beside it; choose another `--out`, or remove the file",
                    path.display()
                ),
            ));
        }
    }
    Ok(())
}

/// Writes the table and prints the results.
fn tell(
    plan: &Plan,
    rows: &Rows<'_>,
    command: &SweepArguments,
    arguments: &Arguments,
    speed: Option<Speed>,
) -> Result<Exit, Failure> {
    type Write = fn(&Rows<'_>, &Path) -> Result<(), SweepError>;
    let tables: [(&str, Write); 2] = [("parquet", write_parquet), ("csv", write_csv)];
    let mut files = Vec::new();
    for (end, write) in tables {
        let path = out(plan, command, "", end);
        write(rows, &path)?;
        files.push(path.display().to_string());
    }
    let results = Results::of(rows)?;
    let told = CampaignReport {
        name: plan.name(),
        results: &results,
        files: &files,
        speed,
    };
    if command.json {
        let text = told
            .json()
            .map_err(|error| Failure::new(Exit::Internal, error))?;
        super::print(format!("{text}\n").as_bytes())?;
    } else if !arguments.quiet {
        super::print(told.to_string().as_bytes())?;
    }
    let unwanted = command.fail_on.iter();
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
    command: &SweepArguments,
    arguments: &Arguments,
    terminal: &Terminal,
) -> Result<Exit, Failure> {
    let flights = plan.flights();
    if index >= flights {
        return Err(SweepError::NoFlight { index, flights }.into());
    }
    if !arguments.quiet && !command.json {
        let columns = plan.columns().into_iter();
        let cells = plan.parameters(index);
        let all: Vec<String> = columns
            .zip(cells)
            .map(|(column, cell)| format!("{} = {cell}\n", column.name))
            .collect();
        super::print(all.concat().as_bytes())?;
    }
    let log = command.log.clone();
    let log = log.unwrap_or_else(|| out(plan, command, &format!("-{index}"), product::LOG));
    product::expect_place(&log, product::LOG)?;
    product::expect_name(&log, command.json)?;
    let options = FlightOptions::simulated(&log, command.json, arguments);
    let configuration = plan.configuration(index);
    let flown = configuration
        .map_err(FlightError::from)
        .and_then(|configuration| fly::fly_alone(&configuration, &options, terminal));
    let same = compare(plan, index, command, flown.as_ref());
    let exit = fly::tell(&flown?, &options, terminal)?;
    if !arguments.quiet && !command.json {
        for path in same {
            let path = path.display();
            let text = format!("  row               the same in `{path}`, number for number\n");
            super::print(text.as_bytes())?;
        }
    }
    Ok(exit)
}

/// The journals that contain this flight with the same row; warns about those whose row differs.
fn compare(
    plan: &Plan,
    index: u64,
    command: &SweepArguments,
    now: Result<&Summary, &FlightError>,
) -> Vec<PathBuf> {
    let mut same = Vec::new();
    for path in journals(&out(plan, command, "", "journal")) {
        let shown = path.display();
        let journal = match Journal::read(&path, plan) {
            Ok(journal) => journal,
            Err(SweepError::OtherPlan { difference, .. }) => {
                tracing::warn!(
                    "not compared with `{shown}`, the journal of another plan: {difference}"
                );
                continue;
            }
            Err(SweepError::OtherBuild {
                found, expected, ..
            }) => {
                tracing::warn!(
                    "not compared with `{shown}`, which another build began: it has {found}, this one is {expected}; --any-build compares"
                );
                continue;
            }
            Err(error) => {
                tracing::warn!("not compared with its row: {error}");
                continue;
            }
        };
        match differences(&journal, index, now, CODES) {
            Ok(None) => {}
            Ok(Some(differences)) if differences.is_empty() => {
                same.push(path);
            }
            Ok(Some(differences)) => {
                let all = differences.iter();
                let all = all.map(|it| format!("{} was {}, is {}", it.column, it.row, it.now));
                let all: Vec<String> = all.collect();
                tracing::warn!(
                    "flight {index} is not its row in `{shown}`: {}",
                    all.join("; ")
                );
            }
            Err(error) => tracing::warn!("not compared with its row: {error}"),
        }
    }
    same
}

/// The existing journals of a campaign: of the whole campaign and of its shards.
fn journals(whole: &Path) -> Vec<PathBuf> {
    let folder = whole.parent().filter(|it| !it.as_os_str().is_empty());
    let stem = whole.file_stem().unwrap_or_default().to_string_lossy();
    let is_shard = |name: &str| {
        let rest = name.strip_prefix(&*stem)?.strip_suffix(".journal")?;
        let (number, of) = rest.strip_prefix('-')?.split_once("-of-")?;
        format!("{number}/{of}").parse::<Shard>().ok()
    };
    let entries = std::fs::read_dir(folder.unwrap_or(Path::new("."))).into_iter();
    let entries = entries
        .flatten()
        .flatten()
        .map(|entry| whole.with_file_name(entry.file_name()));
    let mut all: Vec<PathBuf> = entries
        .filter(|path| {
            let name = path.file_name().unwrap_or_default().to_string_lossy();
            is_shard(&name).is_some()
        })
        .collect();
    all.sort();
    all.extend(whole.is_file().then(|| whole.to_owned()));
    all
}
