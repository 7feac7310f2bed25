//! Second moments as a user writes them.

use std::fmt;

use fly_mechanics::SecondMoment;
use nalgebra::{Matrix3, Matrix6, Vector3};
use serde::Deserialize;
use serde::de::{Deserializer, Error, SeqAccess, Visitor};

use super::{SettingsError, finite, not_negative};

/// A symmetric 3x3 matrix, written as its diagonal `[x, y, z]` or as three rows.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Moment(pub Matrix3<f64>);

impl Moment {
    /// From a diagonal.
    pub fn diagonal(x: f64, y: f64, z: f64) -> Self {
        Self(Matrix3::from_diagonal(&Vector3::new(x, y, z)))
    }
}

impl<'de> Deserialize<'de> for Moment {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_seq(MomentVisitor)
    }
}

struct MomentVisitor;

impl<'de> Visitor<'de> for MomentVisitor {
    type Value = Moment;

    fn expecting(&self, f: &mut fmt::Formatter) -> fmt::Result {
        f.write_str("three numbers (a diagonal) or three rows of three numbers")
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut seq: A) -> Result<Moment, A::Error> {
        let mut entries = [Entry::Number(0.0); 3];
        for (i, entry) in entries.iter_mut().enumerate() {
            *entry = seq
                .next_element()?
                .ok_or_else(|| Error::invalid_length(i, &self))?;
        }
        match entries {
            [Entry::Number(x), Entry::Number(y), Entry::Number(z)] => Ok(Moment::diagonal(x, y, z)),
            [Entry::Row(x), Entry::Row(y), Entry::Row(z)] => Ok(Moment(Matrix3::from_rows(
                &[x, y, z].map(nalgebra::RowVector3::from),
            ))),
            _ => Err(Error::custom(
                "expected three numbers (a diagonal) or three rows of three numbers, found a mixture",
            )),
        }
    }
}

#[derive(Clone, Copy)]
enum Entry {
    Number(f64),
    Row([f64; 3]),
}

impl<'de> Deserialize<'de> for Entry {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct EntryVisitor;
        impl<'de> Visitor<'de> for EntryVisitor {
            type Value = Entry;
            fn expecting(&self, f: &mut fmt::Formatter) -> fmt::Result {
                f.write_str("a number or a row of three numbers")
            }
            fn visit_f64<E: Error>(self, value: f64) -> Result<Entry, E> {
                Ok(Entry::Number(value))
            }
            fn visit_i64<E: Error>(self, value: i64) -> Result<Entry, E> {
                Ok(Entry::Number(value as f64))
            }
            fn visit_u64<E: Error>(self, value: u64) -> Result<Entry, E> {
                Ok(Entry::Number(value as f64))
            }
            fn visit_seq<A: SeqAccess<'de>>(self, mut seq: A) -> Result<Entry, A::Error> {
                let mut row = [0.0; 3];
                for (i, x) in row.iter_mut().enumerate() {
                    *x = seq
                        .next_element()?
                        .ok_or_else(|| Error::invalid_length(i, &self))?;
                }
                Ok(Entry::Row(row))
            }
        }
        deserializer.deserialize_any(EntryVisitor)
    }
}

/// The stiffness, damping or inertia of a pair.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct SecondMomentSettings {
    /// k in N/m, d in N s/m, m in kg; >= 0.
    pub weight: f64,
    /// Its centre in the moving frame, m. Default: the origin.
    #[serde(default)]
    pub center: [f64; 3],
    /// Pi in N m/rad, Upsilon in N m s/rad, Theta in kg m^2, about the centre: `[x, y, z]` or 3 rows. This or
    /// `moment_about_origin`; default zero.
    pub moment: Option<Moment>,
    /// The same about the frame's origin: larger by `weight (c^2 I - c c^T)`.
    pub moment_about_origin: Option<Moment>,
}

/// What its 6x6 matrix must be.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Definite {
    Positive,
    Semi,
}

impl SecondMomentSettings {
    /// Weight and moment about the given centre.
    pub fn new(weight: f64, center: [f64; 3], moment: Moment) -> Self {
        Self {
            weight,
            center,
            moment: Some(moment),
            moment_about_origin: None,
        }
    }

    /// The 4x4 second moment.
    pub fn second_moment(&self) -> SecondMoment<f64> {
        let center = Vector3::from(self.center);
        match (self.moment_about_origin, self.moment) {
            (Some(Moment(origin)), _) => SecondMoment::from_origin(self.weight, center, origin),
            (None, moment) => SecondMoment::from_center(
                self.weight,
                center,
                moment.map_or_else(Matrix3::zeros, |m| m.0),
            ),
        }
    }

    /// Checks the numbers; errors name the key below `name`.
    pub(super) fn validate(&self, name: &str, definite: Definite) -> Result<(), SettingsError> {
        not_negative(&format!("{name}.weight"), self.weight)?;
        finite(&format!("{name}.center"), &self.center)?;
        let key = if self.moment_about_origin.is_some() {
            "moment_about_origin"
        } else {
            "moment"
        };
        let key = format!("{name}.{key}");
        if self.moment.is_some() && self.moment_about_origin.is_some() {
            return Err(SettingsError::new(
                key,
                "expected this or moment, found both",
            ));
        }
        if let Some(Moment(given)) = self.moment.or(self.moment_about_origin) {
            finite(&key, given.as_slice())?;
            if (given - given.transpose()).amax() > 1e-9 * given.amax() {
                return Err(SettingsError::new(
                    key,
                    format!("expected a symmetric matrix, found {}", rows(&given)),
                ));
            }
        }
        let matrix: Matrix6<f64> = self.second_moment().matrix6();
        let (least, largest) = matrix
            .symmetric_eigenvalues()
            .iter()
            .fold((f64::MAX, 0.0_f64), |(low, high), x| {
                (low.min(*x), high.max(x.abs()))
            });
        let (expected, wrong) = match definite {
            Definite::Positive => ("positive definite", least <= 1e-12 * largest),
            Definite::Semi => ("positive semidefinite", least < -1e-9 * largest),
        };
        if wrong || largest == 0.0 && definite == Definite::Positive {
            return Err(SettingsError::new(
                key,
                format!(
                    "expected a {expected} {name} together with its weight, found the eigenvalue {least:.3e}"
                ),
            ));
        }
        Ok(())
    }
}

fn rows(m: &Matrix3<f64>) -> String {
    let rows: Vec<String> = m
        .row_iter()
        .map(|r| format!("[{}, {}, {}]", r[0], r[1], r[2]))
        .collect();
    format!("[{}]", rows.join(", "))
}
