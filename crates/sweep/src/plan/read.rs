//! Reads a plan from its file and from flags, with the place of every error.

use std::sync::Arc;

use fly_flight::config::{Assignment, ConfigError, Diagnostic, Origin, Source, SourceSpan};
use toml::Spanned;
use toml::de::{DeTable, DeValue};

use super::keys::plain;
use super::variation::{Distribution, Values, Variation};
use fly_table::{Cell, Kind};

/// The keys of a plan.
const KEYS: &str = "`config`, `flights`, `seed`, `set` or `vary`";
/// The kinds of variations.
const VARIATIONS: [&str; 9] = [
    "values",
    "linspace",
    "uniform",
    "log_uniform",
    "normal",
    "integers",
    "ball",
    "sphere",
    "rotation_deg",
];
/// Largest number of points in one key's grid.
const MOST_POINTS: f64 = 1e6;
/// Longest array or table that a message shows, bytes.
const LONGEST_FOUND: usize = 60;

/// The content of a plan.
#[derive(Debug, Default)]
pub(crate) struct PlanFile {
    /// The configuration, and the place of its name.
    pub config: Option<(String, SourceSpan)>,
    pub flights: Option<u64>,
    pub seed: Option<u64>,
    pub fixed: Vec<Assignment>,
    pub varied: Vec<Variation>,
}

/// A text, and where the parsed part of it begins.
struct Reader {
    source: Arc<Source>,
    shift: usize,
}

/// Reads a plan's file.
pub(crate) fn file(source: &Arc<Source>) -> Result<PlanFile, ConfigError> {
    let (table, errors) = DeTable::parse_recoverable(&source.text);
    if !errors.is_empty() {
        let errors = errors.iter();
        let all: Vec<Diagnostic> = errors
            .map(|error| Diagnostic::syntax(source, 0, error))
            .collect();
        return Err(all.into());
    }
    let reader = Reader {
        source: Arc::clone(source),
        shift: 0,
    };
    let mut written = PlanFile::default();
    let mut problems = Vec::new();
    for (key, value) in in_order(table.get_ref()) {
        let read = reader.key(key, value, &mut written);
        problems.extend(read.err());
    }
    if problems.is_empty() {
        Ok(written)
    } else {
        Err(problems.into())
    }
}

/// Reads `--vary KEY=VARIATION`.
pub(crate) fn flag(argument: &str) -> Result<Variation, ConfigError> {
    const FLAG: &str = "--vary";
    let shift = FLAG.len() + 1;
    let source = Arc::new(Source {
        name: FLAG.to_owned(),
        text: format!("{FLAG} {argument}"),
        origin: Origin::Flag(FLAG),
        included_by: None,
    });
    let place = |from: usize, to: usize| SourceSpan {
        source: Arc::clone(&source),
        span: shift + from..shift + to,
    };
    let Some((key, _)) = argument.split_once('=') else {
        return Err(Diagnostic::new("`--vary` needs a key and its values")
            .at(place(0, argument.len()), "expected key={…}, found no `=`")
            .help("for example --vary 'flight.rate_hz={values=[250, 500]}'")
            .into());
    };
    let start = key.len() + 1;
    let value = DeValue::parse(&argument[start..])
        .map_err(|error| Diagnostic::syntax(&source, shift + start, &error))?;
    let reader = Reader {
        source: Arc::clone(&source),
        shift: shift + start,
    };
    let trimmed = key.trim();
    Ok(reader.variation(trimmed, place(0, key.len()), &value)?)
}

/// The entries of a table in the order in which they were written.
fn in_order<'a, 'i>(
    table: &'a DeTable<'i>,
) -> Vec<(
    &'a Spanned<std::borrow::Cow<'i, str>>,
    &'a Spanned<DeValue<'i>>,
)> {
    let mut entries: Vec<_> = table.iter().collect();
    entries.sort_by_key(|(key, _)| key.span().start);
    entries
}

impl Reader {
    fn place(&self, span: std::ops::Range<usize>) -> SourceSpan {
        SourceSpan {
            source: Arc::clone(&self.source),
            span: span.start + self.shift..span.end + self.shift,
        }
    }

    fn wrong(&self, key: &str, value: &Spanned<DeValue<'_>>, expected: &str) -> Diagnostic {
        let found = self.found(value);
        Diagnostic::new(format!("`{key}` is not valid")).at(
            self.place(value.span()),
            format!("expected {expected}, found {found}"),
        )
    }

    /// A value in a message: as it is written, if it is short.
    fn found(&self, value: &Spanned<DeValue<'_>>) -> String {
        let text = &self.source.text[self.place(value.span()).span];
        let is_written = match value.get_ref() {
            DeValue::Array(_) => true,
            DeValue::Table(_) => text.starts_with('{'),
            _ => false,
        };
        if is_written && text.len() <= LONGEST_FOUND && !text.contains('\n') {
            text.to_owned()
        } else {
            kind_of(value.get_ref())
        }
    }

    /// A key of the plan itself.
    fn key(
        &self,
        key: &Spanned<std::borrow::Cow<'_, str>>,
        value: &Spanned<DeValue<'_>>,
        written: &mut PlanFile,
    ) -> Result<(), Diagnostic> {
        let name = key.get_ref().as_ref();
        match name {
            "config" => {
                let Some(text) = value.get_ref().as_str() else {
                    return Err(self.wrong(name, value, "the path or name of a configuration"));
                };
                written.config = Some((text.to_owned(), self.place(value.span())));
            }
            "flights" => written.flights = Some(self.count(name, value, 1)?),
            "seed" => written.seed = Some(self.count(name, value, 0)?),
            "set" => {
                let table = self.table(name, value)?;
                self.fixed("", table, &mut written.fixed);
            }
            "vary" => {
                let table = self.table(name, value)?;
                self.varied("", table, &mut written.varied)?;
            }
            _ => {
                let place = self.place(key.span());
                let unknown = Diagnostic::new(format!("unknown key `{name}`"))
                    .at(place, format!("expected {KEYS}"));
                return Err(unknown.help(
                    "keys of the configuration belong in [set], or with their variation in [vary]",
                ));
            }
        }
        Ok(())
    }

    fn table<'a, 'i>(
        &self,
        name: &str,
        value: &'a Spanned<DeValue<'i>>,
    ) -> Result<&'a DeTable<'i>, Diagnostic> {
        let table = value.get_ref().as_table();
        table.ok_or_else(|| self.wrong(name, value, &format!("a table [{name}]")))
    }

    fn count(
        &self,
        name: &str,
        value: &Spanned<DeValue<'_>>,
        least: u64,
    ) -> Result<u64, Diagnostic> {
        let number = whole(value.get_ref()).and_then(|number| u64::try_from(number).ok());
        number
            .filter(|number| *number >= least)
            .ok_or_else(|| self.wrong(name, value, &format!("a whole number from {least} on")))
    }

    /// The values of `[set]`; nested tables are equivalent to dotted keys.
    fn fixed(&self, above: &str, table: &DeTable<'_>, to: &mut Vec<Assignment>) {
        for (key, value) in in_order(table) {
            let path = join(above, key.get_ref());
            match value.get_ref() {
                DeValue::Table(below) if above_values(value, &self.source.text, self.shift) => {
                    self.fixed(&path, below, to);
                }
                _ => to.push(Assignment {
                    key: path,
                    key_place: self.place(key.span()),
                    value: None,
                    place: self.place(value.span()),
                }),
            }
        }
    }

    /// The variations of `[vary]`; nested tables are equivalent to quoted keys.
    fn varied(
        &self,
        above: &str,
        table: &DeTable<'_>,
        to: &mut Vec<Variation>,
    ) -> Result<(), Diagnostic> {
        for (key, value) in in_order(table) {
            let path = join(above, key.get_ref());
            match value.get_ref().as_table() {
                Some(below)
                    if !is_variation(below)
                        && above_values(value, &self.source.text, self.shift) =>
                {
                    self.varied(&path, below, to)?;
                }
                _ => {
                    to.push(self.variation(&path, self.place(key.span()), value)?);
                }
            }
        }
        Ok(())
    }

    /// `{ uniform = [a, b] }` and the like.
    fn variation(
        &self,
        key: &str,
        key_place: SourceSpan,
        value: &Spanned<DeValue<'_>>,
    ) -> Result<Variation, Diagnostic> {
        let table = value.get_ref().as_table();
        let Some((kind, given)) = table
            .filter(|table| table.len() == 1)
            .and_then(|table| table.iter().next())
        else {
            let expected = format!("a table with one of {}", VARIATIONS.join(", "));
            return Err(self
                .wrong(key, value, &expected)
                .help("for example { uniform = [0.0, 1.0] }; a constant value belongs in [set]"));
        };
        let name = format!("{key}: {}", kind.get_ref());
        let values = match kind.get_ref().as_ref() {
            "values" => self.listed(&name, given)?,
            "linspace" => self.linspace(&name, given)?,
            "uniform" => {
                let [from, to] = self.ordered(&name, given, f64::MIN)?;
                Values::Random(Distribution::Uniform(from, to))
            }
            "log_uniform" => {
                let [from, to] = self.ordered(&name, given, f64::MIN_POSITIVE)?;
                Values::Random(Distribution::LogUniform(from, to))
            }
            "normal" => {
                let [mean, deviation] = self.numbers(&name, given, "[mean, standard deviation]")?;
                if deviation < 0.0 {
                    let expected = "[mean, standard deviation], which is not negative";
                    return Err(self.wrong(&name, given, expected));
                }
                Values::Random(Distribution::Normal(mean, deviation))
            }
            "integers" => {
                let ends = given.get_ref().as_array().filter(|ends| ends.len() == 2);
                let ends = ends
                    .and_then(|ends| Some([whole(ends[0].get_ref())?, whole(ends[1].get_ref())?]));
                match ends {
                    Some([from, to]) if from <= to => {
                        Values::Random(Distribution::Integers(from, to))
                    }
                    _ => {
                        return Err(self.wrong(
                            &name,
                            given,
                            "two whole numbers, the smaller first",
                        ));
                    }
                }
            }
            "ball" => Values::Random(Distribution::Ball(self.length(&name, given)?)),
            "sphere" => Values::Random(Distribution::Sphere(self.length(&name, given)?)),
            "rotation_deg" => {
                let degrees = number(given.get_ref());
                match degrees.filter(|degrees| (0.0..=180.0).contains(degrees)) {
                    Some(degrees) => Values::Random(Distribution::Rotation(degrees.to_radians())),
                    None => return Err(self.wrong(&name, given, "an angle from 0 to 180 degrees")),
                }
            }
            other => {
                let diagnostic = Diagnostic::new(format!("`{key}` cannot be varied by `{other}`"))
                    .at(
                        self.place(kind.span()),
                        format!("expected one of {}", VARIATIONS.join(", ")),
                    );
                return Err(match fly_hal::nearest(other, VARIATIONS) {
                    Some(near) => diagnostic.help(format!("did you mean `{near}`?")),
                    None => diagnostic,
                });
            }
        };
        Ok(Variation {
            key: plain(key),
            key_place,
            place: self.place(value.span()),
            values,
        })
    }

    /// `linspace = [from, to, count]`: whole numbers, if the ends are written so and the steps fit, else numbers.
    fn linspace(&self, name: &str, given: &Spanned<DeValue<'_>>) -> Result<Values, Diagnostic> {
        let [from, to, count] = self.numbers(name, given, "[from, to, count]")?;
        let wrong = |expected: &str| self.wrong(name, given, expected);
        if count.fract() != 0.0 || !(1.0..=MOST_POINTS).contains(&count) {
            return Err(wrong(&format!(
                "[from, to, count] with a whole count from 1 to {MOST_POINTS}"
            )));
        }
        let ends = given.get_ref().as_array().and_then(|array| {
            let end = |place: usize| whole(array.get(place)?.get_ref());
            Some((end(0)?, end(1)?))
        });
        if count == 1.0 && ends.map_or(from != to, |(from, to)| from != to) {
            return Err(wrong(
                "[from, to, count] with a count of at least 2, as both ends are included",
            ));
        }
        #[allow(clippy::cast_possible_truncation, clippy::cast_sign_loss)] // 1 to 1e6
        let count = count as u64;
        Ok(match ends {
            Some((from, to)) if to.abs_diff(from).is_multiple_of((count - 1).max(1)) => {
                Values::WholeSteps { from, to, count }
            }
            _ => Values::Linspace { from, to, count },
        })
    }

    /// `values = […]`: numbers, strings, arrays of equal length, or anything else as text.
    fn listed(&self, name: &str, given: &Spanned<DeValue<'_>>) -> Result<Values, Diagnostic> {
        let array = given.get_ref().as_array();
        let Some(array) = array.filter(|array| !array.is_empty()) else {
            return Err(self.wrong(name, given, "an array of at least one value"));
        };
        let text = |value: &Spanned<DeValue<'_>>| {
            self.source.text[self.place(value.span()).span].to_owned()
        };
        let rows: Vec<Option<Vec<Cell>>> = array
            .iter()
            .map(|value| components(value.get_ref()))
            .collect();
        let kinds = kinds(&rows);
        let (kinds, cells) = if let Some(kinds) = kinds {
            let cells = rows.into_iter().flatten().map(|row| fitted(row, &kinds));
            (kinds.clone(), cells.collect())
        } else {
            let cells = array.iter().map(|value| vec![Cell::Text(text(value))]);
            (vec![Kind::Text], cells.collect())
        };
        let places = array.iter().map(|value| self.place(value.span()));
        Ok(Values::Listed {
            kinds,
            cells,
            places: places.collect(),
        })
    }

    fn numbers<const N: usize>(
        &self,
        name: &str,
        given: &Spanned<DeValue<'_>>,
        expected: &str,
    ) -> Result<[f64; N], Diagnostic> {
        let array = given.get_ref().as_array();
        let numbers = array.and_then(|array| {
            let numbers = array.iter().map(|value| number(value.get_ref()));
            <[f64; N]>::try_from(numbers.collect::<Option<Vec<_>>>()?).ok()
        });
        numbers.ok_or_else(|| self.wrong(name, given, &format!("numbers {expected}")))
    }

    fn ordered(
        &self,
        name: &str,
        given: &Spanned<DeValue<'_>>,
        least: f64,
    ) -> Result<[f64; 2], Diagnostic> {
        let [from, to] = self.numbers(name, given, "[from, to]")?;
        if from > to || from < least {
            let positive = if least > 0.0 { "positive " } else { "" };
            let expected = format!("two {positive}numbers, the smaller first");
            return Err(self.wrong(name, given, &expected));
        }
        Ok([from, to])
    }

    fn length(&self, name: &str, given: &Spanned<DeValue<'_>>) -> Result<f64, Diagnostic> {
        let length = number(given.get_ref()).filter(|length| *length >= 0.0);
        length.ok_or_else(|| self.wrong(name, given, "a radius, not negative"))
    }
}

/// Whether a table was written as `[set.a]` or `a.b = 1`: only an inline table is a value.
fn above_values(value: &Spanned<DeValue<'_>>, text: &str, shift: usize) -> bool {
    !text[value.span().start + shift..].starts_with('{')
}

fn join(above: &str, key: &str) -> String {
    if above.is_empty() {
        key.to_owned()
    } else {
        format!("{above}.{key}")
    }
}

fn is_variation(table: &DeTable<'_>) -> bool {
    table.len() == 1
        && table
            .iter()
            .all(|(key, _)| VARIATIONS.contains(&key.get_ref().as_ref()))
}

fn whole(value: &DeValue<'_>) -> Option<i64> {
    let integer = value.as_integer()?;
    i64::from_str_radix(integer.as_str(), integer.radix()).ok()
}

/// A finite number.
fn number(value: &DeValue<'_>) -> Option<f64> {
    let number = match value {
        DeValue::Float(float) => float.as_str().parse().ok()?,
        other => whole(other)? as f64,
    };
    f64::is_finite(number).then_some(number)
}

/// A value as cells: one for a number, string or boolean, several for an array of numbers.
fn components(value: &DeValue<'_>) -> Option<Vec<Cell>> {
    match value {
        DeValue::String(text) => Some(vec![Cell::Text(text.to_string())]),
        DeValue::Boolean(value) => Some(vec![Cell::Boolean(*value)]),
        DeValue::Integer(_) => Some(vec![Cell::Integer(whole(value)?)]),
        DeValue::Float(_) => Some(vec![Cell::Float(number(value)?)]),
        DeValue::Array(array) if array.len() > 1 => {
            let numbers = array
                .iter()
                .map(|value| number(value.get_ref()).map(Cell::Float));
            numbers.collect()
        }
        _ => None,
    }
}

/// The kinds of these rows' columns, if all rows fit the same ones.
fn kinds(rows: &[Option<Vec<Cell>>]) -> Option<Vec<Kind>> {
    let kind = |cell: &Cell| match cell {
        Cell::Null | Cell::Text(_) => Kind::Text,
        Cell::Float(_) => Kind::Float,
        Cell::Integer(_) => Kind::Integer,
        Cell::Boolean(_) => Kind::Boolean,
    };
    let mut common: Option<Vec<Kind>> = None;
    for row in rows {
        let own: Vec<Kind> = row.as_ref()?.iter().map(kind).collect();
        common = Some(match common {
            None => own,
            Some(before) if before == own => before,
            // Integers among floats are floats.
            Some(before)
                if [&before, &own]
                    .iter()
                    .all(|kinds| matches!(kinds.as_slice(), [Kind::Float | Kind::Integer])) =>
            {
                vec![Kind::Float]
            }
            Some(_) => return None,
        });
    }
    common
}

fn fitted(row: Vec<Cell>, kinds: &[Kind]) -> Vec<Cell> {
    let fit = |(cell, kind): (Cell, &Kind)| match (cell, kind) {
        (Cell::Integer(number), Kind::Float) => Cell::Float(number as f64),
        (cell, _) => cell,
    };
    row.into_iter().zip(kinds).map(fit).collect()
}

fn kind_of(value: &DeValue<'_>) -> String {
    match value {
        DeValue::String(text) => format!("\"{text}\""),
        DeValue::Integer(integer) => integer.as_str().to_owned(),
        DeValue::Float(float) => float.as_str().to_owned(),
        DeValue::Boolean(value) => value.to_string(),
        DeValue::Datetime(_) => "a date or time".to_owned(),
        DeValue::Array(array) => format!("an array of {}", array.len()),
        DeValue::Table(table) => format!("a table of {}", table.len()),
    }
}
