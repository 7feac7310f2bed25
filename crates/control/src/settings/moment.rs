//! Second moments as a user writes them.

use std::fmt;

use fly_mechanics::SecondMoment;
use nalgebra::{Matrix3, Matrix6, Vector3};
use serde::Deserialize;
use serde::de::{Deserializer, Error, SeqAccess, Visitor};

use super::{SettingsError, finite, not_negative};

/// The moment of a stiffness, damping or inertia.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Moment {
    /// A symmetric 3x3 matrix, written as its diagonal `[x, y, z]` or as three rows.
    Matrix(Matrix3<f64>),
    /// One number: about the axis of the joint that carries the body.
    AboutAxis(f64),
}

impl Moment {
    /// From a diagonal.
    pub fn diagonal(x: f64, y: f64, z: f64) -> Self {
        Self::Matrix(Matrix3::from_diagonal(&Vector3::new(x, y, z)))
    }

    /// The matrix, about this axis (a unit vector) if it is one number; `None` if that needs an axis and there is none.
    fn matrix(&self, axis: Option<&Vector3<f64>>) -> Option<Matrix3<f64>> {
        match self {
            Self::Matrix(matrix) => Some(*matrix),
            Self::AboutAxis(moment) => axis.map(|axis| axis * axis.transpose() * *moment),
        }
    }
}

written_as!(Moment: f64, [f64; 3], [[f64; 3]; 3]);

impl<'de> Deserialize<'de> for Moment {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_any(MomentVisitor)
    }
}

struct MomentVisitor;

impl<'de> Visitor<'de> for MomentVisitor {
    type Value = Moment;

    fn expecting(&self, f: &mut fmt::Formatter) -> fmt::Result {
        f.write_str("three numbers (a diagonal) or three rows of three numbers, or one number about the joint's axis")
    }

    fn visit_f64<E: Error>(self, value: f64) -> Result<Moment, E> {
        Ok(Moment::AboutAxis(value))
    }

    integers_are_numbers!();

    fn visit_seq<A: SeqAccess<'de>>(self, mut seq: A) -> Result<Moment, A::Error> {
        let mut entries = [Entry::Number(0.0); 3];
        for (i, entry) in entries.iter_mut().enumerate() {
            *entry = seq
                .next_element()?
                .ok_or_else(|| Error::invalid_length(i, &self))?;
        }
        match entries {
            [Entry::Number(x), Entry::Number(y), Entry::Number(z)] => Ok(Moment::diagonal(x, y, z)),
            [Entry::Row(x), Entry::Row(y), Entry::Row(z)] => Ok(Moment::Matrix(
                Matrix3::from_rows(&[x, y, z].map(nalgebra::RowVector3::from)),
            )),
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
            integers_are_numbers!();
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
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[derive(Clone, Debug, Default, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct SecondMomentSettings {
    /// k in N/m, d in N s/m, m in kg. A vehicle of one body must have it, >= 0; elsewhere the default is 0.
    pub weight: Option<f64>,
    /// Its centre in the moving frame, m. Default: the origin.
    #[serde(default)]
    pub center: [f64; 3],
    /// Pi in N m/rad, Upsilon in N m s/rad, Theta in kg m^2, about the centre: `[x, y, z]`, 3 rows, or one number about the axis of the
    /// joint that carries the body. This or `moment_about_origin`; default zero.
    pub moment: Option<Moment>,
    /// The same about the frame's origin: larger by `weight (c^2 I - c c^T)`.
    pub moment_about_origin: Option<Moment>,
}

impl SecondMomentSettings {
    /// Weight and moment about the given centre.
    pub fn new(weight: f64, center: [f64; 3], moment: Moment) -> Self {
        Self {
            weight: Some(weight),
            center,
            moment: Some(moment),
            moment_about_origin: None,
        }
    }

    /// The 4x4 second moment; `axis` (a unit vector) applies if the moment is one number.
    ///
    /// # Errors
    /// The key of a moment that is one number, if there is no axis.
    pub fn second_moment(
        &self,
        axis: Option<&Vector3<f64>>,
    ) -> Result<SecondMoment<f64>, SettingsError> {
        let (weight, center) = (self.weight.unwrap_or(0.0), Vector3::from(self.center));
        let matrix = |key: &str, moment: &Moment| {
            moment.matrix(axis).ok_or_else(|| {
                SettingsError::new(
                    key,
                    "expected three numbers (a diagonal) or three rows of three numbers, found one: the joint that carries the body has no single axis of rotation",
                )
            })
        };
        Ok(match (&self.moment_about_origin, &self.moment) {
            (Some(origin), _) => {
                SecondMoment::from_origin(weight, center, matrix("moment_about_origin", origin)?)
            }
            (None, Some(moment)) => {
                SecondMoment::from_center(weight, center, matrix("moment", moment)?)
            }
            (None, None) => SecondMoment::from_center(weight, center, Matrix3::zeros()),
        })
    }

    /// Applies a function to all numbers.
    pub(super) fn map(&mut self, number: impl Fn(f64) -> f64) {
        self.weight = self.weight.map(&number);
        self.center = self.center.map(&number);
        for moment in [&mut self.moment, &mut self.moment_about_origin] {
            *moment = moment.map(|moment| match moment {
                Moment::Matrix(matrix) => Moment::Matrix(matrix.map(&number)),
                Moment::AboutAxis(one) => Moment::AboutAxis(number(one)),
            });
        }
    }

    /// Checks the numbers individually.
    pub(super) fn validate(&self) -> Result<(), SettingsError> {
        if let Some(weight) = self.weight {
            finite("weight", &[weight])?;
        }
        finite("center", &self.center)?;
        let key = self.moment_key();
        if self.moment.is_some() && self.moment_about_origin.is_some() {
            return Err(SettingsError::new(
                key,
                "expected this or moment, found both",
            ));
        }
        match self.moment.or(self.moment_about_origin) {
            Some(Moment::AboutAxis(given)) => finite(key, &[given]),
            Some(Moment::Matrix(given)) => {
                finite(key, given.as_slice())?;
                if (given - given.transpose()).amax() > 1e-9 * given.amax() {
                    return Err(SettingsError::new(
                        key,
                        format!("expected a symmetric matrix, found {}", rows(&given)),
                    ));
                }
                Ok(())
            }
            None => Ok(()),
        }
    }

    /// The energy of a free body: with a weight, and positive definite by itself.
    pub(super) fn of_free_body(
        &self,
        name: &str,
        definite: Definite,
    ) -> Result<SecondMoment<f64>, SettingsError> {
        let weight = self.weight.ok_or_else(|| {
            SettingsError::new(
                "weight",
                "expected a number, found none: a free body needs it",
            )
        })?;
        not_negative("weight", weight)?;
        let moment = self.second_moment(None)?;
        let matrix: Matrix6<f64> = moment.matrix6();
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
                self.moment_key(),
                format!(
                    "expected a {expected} {name} together with its weight, found the eigenvalue {least:.3e}"
                ),
            ));
        }
        Ok(moment)
    }

    fn moment_key(&self) -> &'static str {
        match self.moment_about_origin {
            Some(_) => "moment_about_origin",
            None => "moment",
        }
    }
}

/// The definiteness required of the 6x6 matrix of a free body's energy.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Definite {
    Positive,
    Semi,
}

fn rows(m: &Matrix3<f64>) -> String {
    let rows: Vec<String> = m
        .row_iter()
        .map(|r| format!("[{}, {}, {}]", r[0], r[1], r[2]))
        .collect();
    format!("[{}]", rows.join(", "))
}
