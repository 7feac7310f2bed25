//! A campaign's plan: a configuration, the values set in it, and the variations.
//!
//! The flights of a plan are numbered from 0: all `flights` of the first point of the grid, then those of the second.
//! Of the keys with a grid, the last one written changes fastest. Random values depend only on the plan's seed, the
//! flight's number and the key.

mod keys;
mod read;
mod variation;
mod warnings;

use std::path::PathBuf;

use fly_flight::config::{
    Assignment, ConfigError, Configuration, Diagnostic, Document, Options, SourceSpan, Template,
    sweep,
};
use fly_flight::{FlightError, Messages, Verdict, backend, check_signals};
use fly_hal::{Clock, SearchPath};

use crate::outcome;
use crate::random::Stream;
use fly_table::{Cell, Column, Kind};
use variation::Variation;
use warnings::Warnings;

/// The key of each flight's seed.
const SEED: &str = "flight.seed";

/// Largest number of flights in a campaign: its journal has an index in memory.
const MOST_FLIGHTS: u64 = 10_000_000;

/// Number of flights beside whose values an invalid value is tried before the plan is rejected.
const OTHERS: u64 = 16;
/// Number of invalid combinations that are reported before the flights.
const WARNINGS: usize = 5;

/// The command line's part of a plan.
#[derive(Debug, Clone, Default)]
pub struct PlanOptions {
    /// The plan's file, or the name of a shipped one; `None` if the command line contains the whole plan.
    pub file: Option<PathBuf>,
    /// The configuration, if its path is not empty, and flags that change it.
    pub base: Options,
    /// Every `--vary`, in order.
    pub vary: Vec<String>,
    /// Replaces the plan's own number of flights.
    pub flights: Option<u64>,
    /// Replaces the plan's own seed.
    pub seed: Option<u64>,
}

/// A campaign's flights.
#[derive(Debug)]
pub struct Plan {
    name: String,
    template: Template,
    fixed: Vec<Assignment>,
    varied: Vec<Variation>,
    /// Number of flights at every point of the grid.
    flights: u64,
    points: u64,
    seed: u64,
    identity: String,
    mixes_builds: bool,
}

/// Tries to begin a flight with these values.
type Flies<'a> = &'a dyn Fn(&[Assignment]) -> Result<(), FlightError>;

/// # Reading
impl Plan {
    /// Reads a plan and its configuration. Use [`check`](Self::check) to find out whether it can be flown.
    ///
    /// # Errors
    /// Anything that cannot be found, read or understood, with its place.
    pub fn read(options: &PlanOptions) -> Result<Self, ConfigError> {
        let source = options.file.as_deref().map(sweep).transpose()?;
        let mut written = match &source {
            Some(source) => read::file(source)?,
            None => read::PlanFile::default(),
        };
        for argument in &options.vary {
            let variation = read::flag(argument)?;
            written.varied.retain(|other| other.key != variation.key);
            written.fixed.retain(|set| set.key != variation.key);
            written.varied.push(variation);
        }
        let conflicts = keys::conflicts(&written.fixed, &written.varied);
        if !conflicts.is_empty() {
            return Err(conflicts.into());
        }
        let mut base = options.base.clone();
        if base.config.as_os_str().is_empty() {
            let Some((name, place)) = &written.config else {
                return Err(no_configuration(source.as_ref().map(|source| SourceSpan {
                    source: source.clone(),
                    span: 0..0,
                })));
            };
            let path = place.source.resolve(name);
            base.config = if path.exists() { path } else { name.into() };
        }
        let named = options.file.as_ref().unwrap_or(&base.config);
        let name = named.file_stem().unwrap_or_default();
        let name = name.to_string_lossy().into_owned();
        let flights = options.flights.or(written.flights).unwrap_or(1);
        let points = written
            .varied
            .iter()
            .try_fold(1_u64, |points, one| points.checked_mul(one.points()));
        let count = points.and_then(|points| points.checked_mul(flights));
        let Some(points) = points.filter(|_| count.is_some_and(|count| count <= MOST_FLIGHTS))
        else {
            return Err(Diagnostic::new("the plan has too many flights")
                .note(format!(
                    "the grid's points times `flights`: expected at most {MOST_FLIGHTS}, found {}",
                    count.map_or("more than can be counted".to_owned(), |n| n.to_string())
                ))
                .into());
        };
        let mut plan = Self {
            name,
            template: Template::load(&base)?,
            fixed: written.fixed,
            varied: written.varied,
            flights,
            points,
            seed: options.seed.or(written.seed).unwrap_or(0),
            identity: String::new(),
            mixes_builds: false,
        };
        plan.refuse_seed()?;
        plan.identity = plan.identify()?;
        Ok(plan)
    }

    /// Refuses a seed of the command line, which would have no effect.
    fn refuse_seed(&self) -> Result<(), ConfigError> {
        let base: Document = self.template.with(&[])?;
        let is_set = base.set_keys("flight").any(|key| key == "seed");
        match base.place(SEED).filter(|_| is_set && self.draws_seeds()) {
            Some(place) => Err(keys::lost_seed(place).into()),
            None => Ok(()),
        }
    }

    /// The same plan, flown by this build of the program, which becomes part of its [identity](Self::identity). `mixes`
    /// accepts journals of other builds.
    #[must_use]
    pub fn built_by(mut self, build: &str, mixes: bool) -> Self {
        self.identity = format!("{BUILD}{build}\n{}", self.identity);
        self.mixes_builds = mixes;
        self
    }

    pub(crate) fn mixes_builds(&self) -> bool {
        self.mixes_builds
    }

    /// Everything that a row depends on, as text.
    fn identify(&self) -> Result<String, ConfigError> {
        let base = self.template.with(&self.fixed)?;
        let varied: Vec<String> = self.varied.iter().map(Variation::identity).collect();
        let columns = outcome::columns();
        let columns: Vec<&str> = columns.iter().map(|column| column.name.as_str()).collect();
        Ok(format!(
            "fly {}\ncolumns = {}\nflights = {}\nseed = {}\n[vary]\n{}\n[configuration]\n{}",
            env!("CARGO_PKG_VERSION"),
            columns.join(" "),
            self.flights,
            self.seed,
            varied.join("\n"),
            base.text()
        ))
    }

    /// Checks the whole plan before anything flies: the configuration, and every key with each listed value, both ends
    /// of each range, or a random value. A value that is invalid on its own, and together with the other keys' values
    /// in every flight tried, is an error of the plan. Values that are invalid only in combination cause a warning;
    /// their flights become rows that say so. What is warned of a value is told once, with the value.
    ///
    /// # Errors
    /// All problems found, with their places; or the backend cannot be loaded or is not a simulation.
    pub fn check(&self, search: &SearchPath) -> Result<(), FlightError> {
        for text in self.checked(&|all| self.try_with(all, search))? {
            tracing::warn!("{text}");
        }
        Ok(())
    }

    /// The same, with what tries a flight. Returns the first combinations that are invalid and the first warnings about
    /// varied values, in words: none of a plan that is refused, as its invalid values are those of the first flight
    /// too, beside which others are tried.
    fn checked(&self, flies: Flies<'_>) -> Result<Vec<String>, FlightError> {
        let (fixed, shown) = warnings::heard(&Messages::new(), || flies(&self.fixed));
        fixed?;
        let mut found: Vec<Diagnostic> = Vec::new();
        let mut together: Vec<String> = Vec::new();
        let warnings = {
            // Warnings are told with the values that give them.
            let _silent = tracing::dispatcher::set_default(&tracing::Dispatch::none());
            let mut warnings = Warnings::beside(shown);
            self.check_values(flies, &mut found, &mut together, &mut warnings)?;
            warnings
        };
        if found.is_empty() {
            together.extend(warnings.told());
            Ok(together)
        } else {
            Err(FlightError::Configuration(found.into()))
        }
    }

    /// Checks every value with those of the first flight and, if it is invalid there, alone and with those of others.
    fn check_values(
        &self,
        flies: Flies<'_>,
        found: &mut Vec<Diagnostic>,
        together: &mut Vec<String>,
        warnings: &mut Warnings,
    ) -> Result<(), FlightError> {
        let others = self.others();
        for (place, variation) in self.varied.iter().enumerate() {
            for assignment in variation.trials(self.seed) {
                let beside = |flight: u64| {
                    let mut all = self.drawn(flight).assignments;
                    all[self.fixed.len() + place] = assignment.clone();
                    all
                };
                let (tried, texts) = warnings.hear(|| flies(&beside(0)));
                let mut alone = self.fixed.clone();
                alone.push(assignment.clone());
                let Err(error) = tried else {
                    if !texts.is_empty() {
                        let (_, own) = warnings.hear(|| flies(&alone));
                        self.warn(place, &assignment, texts, &own, warnings);
                    }
                    continue;
                };
                let FlightError::Configuration(error) = error else {
                    return Err(error);
                };
                if error.diagnostics().iter().any(|one| one.unreadable) {
                    return Err(FlightError::Configuration(error));
                }
                let fits = |all: &[Assignment]| flies(all).is_ok();
                if fits(&alone) || others.iter().any(|flight| fits(&beside(*flight))) {
                    if together.len() < WARNINGS {
                        together.push(self.combination(place, 0, &assignment, error));
                    }
                    continue;
                }
                for diagnostic in error.diagnostics() {
                    let same = |other: &Diagnostic| {
                        let span = |it: &Diagnostic| it.place.as_ref().map(|at| at.span.clone());
                        (&other.title, span(other)) == (&diagnostic.title, span(diagnostic))
                    };
                    if found.iter().any(same) {
                        continue;
                    }
                    let diagnostic = diagnostic.clone();
                    found.push(match &assignment.value {
                        Some(value) => {
                            diagnostic.note(format!("with `{}` = {value}", variation.key))
                        }
                        None => diagnostic,
                    });
                }
            }
            // A distribution without ends: its outermost values.
            for flight in variation.outermost(self.seed, self.flights()) {
                let all = self.drawn(flight).assignments;
                if let Err(FlightError::Configuration(error)) = flies(&all)
                    && together.len() < WARNINGS
                {
                    let own = &all[self.fixed.len() + place];
                    together.push(self.combination(place, flight, own, error));
                }
            }
        }
        Ok(())
    }

    /// Adds what is warned of a value beside those of the first flight: by its `own`, or with the others.
    fn warn(
        &self,
        place: usize,
        assignment: &Assignment,
        texts: Vec<String>,
        own: &[String],
        warnings: &mut Warnings,
    ) {
        let value = format!("`{}` = {}", assignment.key, variation::shown(assignment));
        for text in texts {
            let alone = own.contains(&text);
            let others = self.told(0, place);
            let by = if alone || others.is_empty() {
                value.clone()
            } else {
                format!("{value}, {others}")
            };
            warnings.add(text, by, alone);
        }
    }

    /// That a value is invalid beside those of a flight, in words.
    fn combination(
        &self,
        place: usize,
        flight: u64,
        assignment: &Assignment,
        error: ConfigError,
    ) -> String {
        let others = self.told(flight, place);
        let beside = if others.is_empty() { "" } else { " with " };
        format!(
            "`{}` = {} cannot be flown{beside}{others}: {}; such flights become rows with the verdict `{}`",
            assignment.key,
            variation::shown(assignment),
            outcome::one_line(&FlightError::Configuration(error)),
            Verdict::NotFlown.name()
        )
    }

    /// Representative flights other than the first: [`OTHERS`] of them, evenly spaced over the plan.
    fn others(&self) -> Vec<u64> {
        let count = OTHERS.min(self.flights());
        let mut all: Vec<u64> = (1..=count)
            .map(|i| (self.flights() - 1) * i / count)
            .collect();
        all.dedup();
        all
    }

    /// A flight's random values for all keys but one, in words.
    fn told(&self, flight: u64, but: usize) -> String {
        let points = self.points_of(flight);
        let all = self.varied.iter().zip(points).enumerate();
        let others = all.filter(|(place, _)| *place != but);
        let words = others.map(|(_, (variation, point))| {
            let cells = variation.cells(point, self.seed, flight);
            let assignment = variation.assignment(point, &cells);
            format!("`{}` = {}", variation.key, variation::shown(&assignment))
        });
        words.collect::<Vec<_>>().join(", ")
    }

    fn try_with(&self, all: &[Assignment], search: &SearchPath) -> Result<(), FlightError> {
        let configuration = Configuration::read(self.template.with(all)?)?;
        let backend = backend::load(&configuration, search, false)?;
        if backend.instance().clock() == Clock::RealTime {
            let diagnostic = Diagnostic::new(format!(
                "the backend `{}` has a real-time clock, but a campaign flies simulations",
                configuration.backend.plugin
            ));
            return Err(FlightError::Backend(
                diagnostic.help("choose one with --backend sim").into(),
            ));
        }
        check_signals(&configuration, backend.instance())
    }
}

/// Prefix of the line of an identity that names the build.
const BUILD: &str = "build = ";

/// The build in an identity, and the rest of it.
pub(crate) fn split_build(identity: &str) -> (Option<&str>, &str) {
    let named = identity
        .strip_prefix(BUILD)
        .and_then(|rest| rest.split_once('\n'));
    named.map_or((None, identity), |(build, rest)| (Some(build), rest))
}

/// The values that one flight sets.
struct Drawn {
    cells: Vec<Cell>,
    assignments: Vec<Assignment>,
}

/// # Flights
impl Plan {
    /// Its name: that of its file or, without one, of its configuration.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// Number of flights.
    pub fn flights(&self) -> u64 {
        self.points * self.flights
    }

    /// Everything that its rows depend on, as text: plans with the same identity have the same rows.
    pub fn identity(&self) -> &str {
        &self.identity
    }

    /// The columns of the varied keys, then `flight.seed`.
    pub fn columns(&self) -> Vec<Column> {
        let mut columns: Vec<Column> = self.varied.iter().flat_map(Variation::columns).collect();
        if self.draws_seeds() {
            columns.push(Column {
                name: SEED.to_owned(),
                kind: Kind::Integer,
                unit: "".into(),
            });
        }
        columns
    }

    /// The values of these columns in a flight.
    pub fn parameters(&self, index: u64) -> Vec<Cell> {
        self.drawn(index).cells
    }

    /// The configuration before variation.
    ///
    /// # Errors
    /// All problems in it, with their places.
    pub fn base(&self) -> Result<Configuration, ConfigError> {
        Configuration::read(self.template.with(&self.fixed)?)
    }

    /// The configuration of a flight.
    ///
    /// # Errors
    /// All problems in it, with their places.
    pub fn configuration(&self, index: u64) -> Result<Configuration, ConfigError> {
        let document: Document = self.template.with(&self.drawn(index).assignments)?;
        Configuration::read(document)
    }

    /// Whether every flight gets its own seed, which it does unless the plan varies the seed.
    fn draws_seeds(&self) -> bool {
        self.varied.iter().all(|one| one.key != SEED)
    }

    /// The grid index of every key in a flight.
    fn points_of(&self, index: u64) -> Vec<u64> {
        let mut point = index / self.flights;
        // The last one changes fastest.
        let mut points = vec![0; self.varied.len()];
        for (own, variation) in points.iter_mut().zip(&self.varied).rev() {
            *own = point % variation.points();
            point /= variation.points();
        }
        points
    }

    fn drawn(&self, index: u64) -> Drawn {
        let points = self.points_of(index);
        let mut drawn = Drawn {
            cells: Vec::new(),
            assignments: self.fixed.clone(),
        };
        for (variation, point) in self.varied.iter().zip(points) {
            let cells = variation.cells(point, self.seed, index);
            let assignment = variation.assignment(point, &cells);
            drawn.assignments.push(assignment);
            drawn.cells.extend(cells);
        }
        if self.draws_seeds() {
            let seed = Cell::count(Stream::new(self.seed, index, SEED).bits53());
            drawn.assignments.push(Assignment {
                key: SEED.to_owned(),
                key_place: generated(),
                value: Some(variation::value(&seed)),
                place: generated(),
            });
            drawn.cells.push(seed);
        }
        drawn
    }
}

/// The place of values that a campaign sets by itself.
fn generated() -> SourceSpan {
    use fly_flight::config::{Origin, Source};
    use std::sync::{Arc, LazyLock};
    static SOURCE: LazyLock<Arc<Source>> = LazyLock::new(|| {
        Arc::new(Source {
            name: "<campaign>".to_owned(),
            text: format!("{SEED} of each flight"),
            origin: Origin::Text,
            included_by: None,
        })
    });
    SourceSpan {
        source: Arc::clone(&SOURCE),
        span: 0..SEED.len(),
    }
}

fn no_configuration(place: Option<SourceSpan>) -> ConfigError {
    let diagnostic = Diagnostic::new("the plan names no configuration");
    match place {
        Some(place) => diagnostic.at(place, "expected `config = \"quadcopter.toml\"`"),
        None => diagnostic
            .help("name a plan, as in `fly sweep sweeps/quadcopter.toml`, or give --config"),
    }
    .into()
}

#[cfg(test)]
mod tests;
