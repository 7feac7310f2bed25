//! The variation of a key: the points of a grid, or a distribution.

use fly_flight::config::{Assignment, SourceSpan};

use crate::random::Stream;
use fly_table::{Cell, Column, Kind};

/// So many flights are searched for the outermost values of a distribution.
const LOOKED_AT: u64 = 1 << 16;

/// A key of the configuration and its values.
#[derive(Debug, Clone)]
pub(crate) struct Variation {
    /// The dotted key.
    pub key: String,
    pub key_place: SourceSpan,
    /// The place of its values.
    pub place: SourceSpan,
    pub values: Values,
}

#[derive(Debug, Clone)]
pub(crate) enum Values {
    /// Listed values, with the places of those that were written out.
    Listed {
        kinds: Vec<Kind>,
        cells: Vec<Vec<Cell>>,
        places: Vec<SourceSpan>,
    },
    /// `count` equal steps from the first value to the second.
    Linspace { from: f64, to: f64, count: u64 },
    /// The same of whole numbers.
    WholeSteps { from: i64, to: i64, count: u64 },
    /// A new random value in every flight.
    Random(Distribution),
}

/// A distribution.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) enum Distribution {
    Uniform(f64, f64),
    LogUniform(f64, f64),
    /// Mean and standard deviation.
    Normal(f64, f64),
    /// Integers, both ends included.
    Integers(i64, i64),
    /// Three numbers: a point within this distance of the origin, uniform in volume.
    Ball(f64),
    /// Three numbers: a point at this distance from the origin, uniform in area.
    Sphere(f64),
    /// A rotation vector of at most this angle, rad, uniform in the volume of rotations.
    Rotation(f64),
}

impl Distribution {
    /// One random value: a cell, or three.
    fn draw(self, stream: &mut Stream) -> Vec<Cell> {
        let scaled = |direction: [f64; 3], length: f64| {
            direction.map(|part| Cell::Float(part * length)).to_vec()
        };
        match self {
            // A convex combination neither exceeds the ends nor overflows.
            Self::Uniform(from, to) => {
                let part = stream.uniform();
                vec![Cell::Float(from * (1.0 - part) + to * part)]
            }
            Self::LogUniform(from, to) => {
                let part = stream.uniform();
                let logarithm = from.ln() * (1.0 - part) + to.ln() * part;
                vec![Cell::Float(logarithm.exp().clamp(from, to))]
            }
            Self::Normal(mean, deviation) => vec![Cell::Float(mean + deviation * stream.normal())],
            Self::Integers(from, to) => {
                let count = to.abs_diff(from).saturating_add(1);
                let number = i128::from(from) + i128::from(stream.below(count));
                vec![Cell::Integer(i64::try_from(number).unwrap_or(to))]
            }
            Self::Ball(radius) => {
                let direction = stream.direction();
                scaled(direction, radius * stream.uniform().cbrt())
            }
            Self::Sphere(radius) => scaled(stream.direction(), radius),
            Self::Rotation(most) => {
                let axis = stream.direction();
                scaled(axis, angle(stream.uniform(), most))
            }
        }
    }

    fn kinds(self) -> Vec<Kind> {
        match self {
            Self::Uniform(..) | Self::LogUniform(..) | Self::Normal(..) => vec![Kind::Float],
            Self::Integers(..) => vec![Kind::Integer],
            Self::Ball(_) | Self::Sphere(_) | Self::Rotation(_) => vec![Kind::Float; 3],
        }
    }

    /// Representative values: the ends, if there are any, else a random value.
    fn trials(self, stream: &mut Stream) -> Vec<Vec<Cell>> {
        match self {
            Self::Uniform(from, to) | Self::LogUniform(from, to) => {
                vec![vec![Cell::Float(from)], vec![Cell::Float(to)]]
            }
            Self::Integers(from, to) => vec![vec![Cell::Integer(from)], vec![Cell::Integer(to)]],
            Self::Normal(mean, _) => vec![vec![Cell::Float(mean)]],
            Self::Ball(_) | Self::Sphere(_) | Self::Rotation(_) => vec![self.draw(stream)],
        }
    }
}

/// The angle below which lies this fraction of the rotations by at most `most`: the volume of rotations by at most t
/// grows as t - sin t (the Haar measure of SO(3) in axis and angle).
fn angle(part: f64, most: f64) -> f64 {
    let volume = |t: f64| {
        // By its series where the difference would cancel: t^3/6 - t^5/120 + t^7/5040, exact to 1e-13 there.
        if t < 0.1 {
            t.powi(3) / 6.0 * (1.0 - t * t / 20.0 * (1.0 - t * t / 42.0))
        } else {
            t - t.sin()
        }
    };
    let wanted = part * volume(most);
    let (mut low, mut high) = (0.0, most);
    loop {
        let middle = 0.5 * (low + high);
        if middle <= low || middle >= high {
            return middle;
        }
        if volume(middle) < wanted {
            low = middle;
        } else {
            high = middle;
        }
    }
}

impl Variation {
    /// Number of grid points; 1 for a distribution.
    pub fn points(&self) -> u64 {
        match &self.values {
            Values::Listed { cells, .. } => cells.len() as u64,
            Values::Linspace { count, .. } | Values::WholeSteps { count, .. } => *count,
            Values::Random(_) => 1,
        }
    }

    /// The columns of its values: one, or one per component.
    pub fn columns(&self) -> Vec<Column> {
        let kinds = match &self.values {
            Values::Listed { kinds, .. } => kinds.clone(),
            Values::Linspace { .. } => vec![Kind::Float],
            Values::WholeSteps { .. } => vec![Kind::Integer],
            Values::Random(distribution) => distribution.kinds(),
        };
        let many = kinds.len() > 1;
        let column = |(index, kind): (usize, Kind)| Column {
            name: if many {
                format!("{}.{index}", self.key)
            } else {
                self.key.clone()
            },
            kind,
            unit: "".into(),
        };
        kinds.into_iter().enumerate().map(column).collect()
    }

    /// Its value at a point of its grid, in the flight of this index.
    pub fn cells(&self, point: u64, seed: u64, index: u64) -> Vec<Cell> {
        match &self.values {
            Values::Listed { cells, .. } => at(cells, point).cloned().unwrap_or_default(),
            Values::Linspace { from, to, count } => {
                let last = count.saturating_sub(1).max(1);
                let part = point as f64 / last as f64;
                let value = if part >= 1.0 {
                    *to
                } else {
                    from + (to - from) * part
                };
                vec![Cell::Float(value)]
            }
            Values::WholeSteps { from, to, count } => {
                let last = i128::from(count.saturating_sub(1).max(1));
                let length = i128::from(*to) - i128::from(*from);
                let value = i128::from(*from) + length * i128::from(point) / last;
                vec![Cell::Integer(i64::try_from(value).unwrap_or(*to))]
            }
            Values::Random(distribution) => {
                distribution.draw(&mut Stream::new(seed, index, &self.key))
            }
        }
    }

    /// The assignment of these cells, its value at a grid point.
    pub fn assignment(&self, point: u64, cells: &[Cell]) -> Assignment {
        let written = match &self.values {
            Values::Listed { places, .. } => at(places, point),
            _ => None,
        };
        Assignment {
            key: self.key.clone(),
            key_place: self.key_place.clone(),
            value: written.is_none().then(|| toml(cells)),
            place: written.unwrap_or(&self.place).clone(),
        }
    }

    /// Representative values: every listed one, the ends of ranges, else a random value.
    pub fn trials(&self, seed: u64) -> Vec<Assignment> {
        let at = |point: u64| self.assignment(point, &self.cells(point, seed, 0));
        match &self.values {
            Values::Listed { .. } => (0..self.points()).map(at).collect(),
            Values::Linspace { count, .. } | Values::WholeSteps { count, .. } => {
                [0, count - 1].map(at).into()
            }
            Values::Random(distribution) => {
                let trials = distribution.trials(&mut Stream::new(seed, 0, &self.key));
                let trials = trials.iter().map(|cells| self.assignment(0, cells));
                trials.collect()
            }
        }
    }

    /// The flights, among the first of so many, with the smallest and the largest value of a distribution that has no
    /// ends.
    pub fn outermost(&self, seed: u64, flights: u64) -> Vec<u64> {
        let Values::Random(Distribution::Normal(..)) = self.values else {
            return Vec::new();
        };
        let value = |flight: u64| match self.cells(0, seed, flight)[..] {
            [Cell::Float(value)] => value,
            _ => f64::NAN,
        };
        let all = || (0..flights.min(LOOKED_AT)).map(|flight| (flight, value(flight)));
        let order = |a: &(u64, f64), b: &(u64, f64)| a.1.total_cmp(&b.1);
        let mut ends: Vec<u64> = [all().min_by(order), all().max_by(order)]
            .into_iter()
            .flatten()
            .map(|(flight, _)| flight)
            .collect();
        ends.dedup();
        ends
    }

    /// Identifies it uniquely.
    pub fn identity(&self) -> String {
        let values = match &self.values {
            Values::Listed { places, .. } => {
                let texts = places
                    .iter()
                    .map(|place| &place.source.text[place.span.clone()]);
                format!("{:?}", texts.collect::<Vec<_>>())
            }
            Values::Linspace { from, to, count } => format!("linspace {from:?} {to:?} {count}"),
            Values::WholeSteps { from, to, count } => format!("linspace {from} {to} {count}"),
            Values::Random(distribution) => format!("{distribution:?}"),
        };
        format!("{} = {values}", self.key)
    }
}

fn at<T>(all: &[T], point: u64) -> Option<&T> {
    all.get(usize::try_from(point).ok()?)
}

/// A cell as a TOML value; an empty string for nothing.
pub(crate) fn value(cell: &Cell) -> String {
    match cell {
        Cell::Null => String::new(),
        // With a decimal point or an exponent: an integer would have another type.
        Cell::Float(number) => format!("{number:?}"),
        Cell::Text(text) => toml::Value::from(text.as_str()).to_string(),
        other => other.to_string(),
    }
}

/// One value, or an array of several.
fn toml(cells: &[Cell]) -> String {
    match cells {
        [one] => value(one),
        several => {
            let parts: Vec<String> = several.iter().map(value).collect();
            format!("[{}]", parts.join(", "))
        }
    }
}

/// An assigned value as TOML in one line.
pub(crate) fn shown(assignment: &Assignment) -> String {
    let place = &assignment.place;
    match &assignment.value {
        Some(value) => value.clone(),
        None => match place.source.text.get(place.span.clone()) {
            Some(text) if text.contains('\n') => text
                .parse()
                .map_or_else(|_| text.to_owned(), |value: toml::Value| value.to_string()),
            text => text.unwrap_or_default().to_owned(),
        },
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A rotation drawn uniformly over all of SO(3) has a mean angle of pi/2 + 2/pi (integral of t (1 - cos t) / pi over 0..pi).
    #[test]
    fn rotations_are_uniform() {
        let angle = |index| {
            let cells = Distribution::Rotation(std::f64::consts::PI)
                .draw(&mut Stream::new(5, index, "rotation"));
            let squares = cells
                .iter()
                .filter_map(Cell::number)
                .map(|part| part * part);
            squares.sum::<f64>().sqrt()
        };
        let mean = (0..20_000).map(angle).sum::<f64>() / 20_000.0;
        let expected = std::f64::consts::FRAC_PI_2 + std::f64::consts::FRAC_2_PI;
        // Standard deviation 0.65; five standard errors.
        assert!((mean - expected).abs() < 0.023, "{mean} {expected}");
        // Of small rotations the volume is that of a ball: the median is most / cbrt(2).
        assert!((super::angle(0.5, 0.01) / (0.01 / 2.0_f64.cbrt()) - 1.0).abs() < 1e-5);
    }

    #[test]
    fn distributions_have_their_medians() {
        let median = |distribution: Distribution, of: &dyn Fn(Vec<Cell>) -> f64| {
            let draw = |index| of(distribution.draw(&mut Stream::new(9, index, "x")));
            let mut values: Vec<f64> = (0..4001).map(draw).collect();
            values.sort_by(f64::total_cmp);
            values[2000]
        };
        let first = |cells: Vec<Cell>| cells[0].number().unwrap();
        let length = |cells: Vec<Cell>| {
            let squares = cells
                .iter()
                .filter_map(Cell::number)
                .map(|part| part * part);
            squares.sum::<f64>().sqrt()
        };
        for (distribution, expected, error) in [
            (Distribution::Uniform(-2.0, 4.0), 1.0, 0.25),
            (Distribution::LogUniform(0.01, 100.0), 1.0, 0.45),
            (Distribution::Normal(3.0, 0.5), 3.0, 0.06),
            (Distribution::Integers(-3, 3), 0.0, 0.1),
        ] {
            let found = median(distribution, &first);
            assert!(
                (found - expected).abs() < error,
                "{distribution:?}: {found}"
            );
        }
        assert!((median(Distribution::Ball(2.0), &length) - 2.0 / 2.0_f64.cbrt()).abs() < 0.05);
        assert!((median(Distribution::Sphere(2.0), &length) - 2.0).abs() < 1e-12);
    }
}
