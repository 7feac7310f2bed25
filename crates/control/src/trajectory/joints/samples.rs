//! Joint coordinates along the rows of a table.

use std::fmt::Write as _;

use fly_mechanics::System;

use super::coordinates;
use crate::trajectory::jet::Jet;
use crate::trajectory::{Infeasible, SampleError, Table, Trajectory};

/// Joints along the columns of a table.
#[derive(Clone, Debug, PartialEq)]
pub struct JointSamples {
    table: Table,
    /// The coordinate index of each column.
    places: Vec<usize>,
    /// The columns at one instant.
    curves: Vec<Jet<5>>,
    rest: Vec<f64>,
}

impl JointSamples {
    /// From comma-separated values, see [`Table::from_csv`]: columns `time` (s) and the system's joints by name (m or rad), or `joint.coordinate`
    /// for joints with several coordinates. Joints without a column rest in the neutral configuration.
    ///
    /// # Errors
    /// [`SampleError`], with the line.
    pub fn from_csv(text: &str, system: &System) -> Result<Self, SampleError> {
        let mut known = Vec::new();
        let model = &system.model;
        for (body, data) in model.bodies().zip(&system.joints) {
            let names = model.joint(body).map_or(&[][..], coordinates);
            for (name, place) in names.iter().zip(model.velocity_range(body)) {
                known.push((format!("{}.{name}", data.name), place));
                if names.len() == 1 {
                    known.push((data.name.clone(), place));
                }
            }
        }
        let place = |column: &str| {
            let mut known = known.iter();
            known.find_map(|(name, place)| (name == column).then_some(*place))
        };
        let expected = format!("time, then each at most once {}", names(system));
        let all_known = |columns: &[&str]| {
            let mut places: Vec<_> = columns.iter().map(|column| place(column)).collect();
            places.sort_unstable();
            !places.is_empty() && places[0].is_some() && places.windows(2).all(|p| p[0] != p[1])
        };
        let table = Table::from_csv(text, expected, all_known)?;
        let places = table.columns().iter().filter_map(|column| place(column));
        let places = places.collect();
        Ok(Self::new(table, places, vec![0.0; model.dof()]))
    }

    /// Column i is the coordinate `places[i]`; the others rest at these values.
    ///
    /// # Panics
    /// If there is not one index per column, or one is out of range.
    pub fn new(table: Table, places: Vec<usize>, rest: Vec<f64>) -> Self {
        assert_eq!(table.columns().len(), places.len(), "places of columns");
        assert!(
            places.iter().all(|place| *place < rest.len()),
            "places of columns"
        );
        let curves = vec![Jet::constant(0.0); places.len()];
        Self {
            table,
            places,
            curves,
            rest,
        }
    }
}

/// What columns may be called: a joint, or its coordinate if it has several.
fn names(system: &System) -> String {
    const NAMED: usize = 20;
    let model = &system.model;
    let joints = model.bodies().zip(&system.joints);
    let mut names: Vec<String> = joints
        .flat_map(
            |(body, data)| match model.joint(body).map_or(&[][..], coordinates) {
                [_] => vec![format!("`{}`", data.name)],
                several => (several.iter())
                    .map(|name| format!("`{}.{name}`", data.name))
                    .collect(),
            },
        )
        .collect();
    let more = names.len().saturating_sub(NAMED);
    names.truncate(NAMED);
    let mut text = names.join(", ");
    if more > 0 {
        let _ = write!(text, " and {more} more");
    }
    text
}

impl Trajectory<[Jet<3>]> for JointSamples {
    fn at(&mut self, t: f64, q: &mut [Jet<3>]) -> Result<(), Infeasible> {
        q.iter_mut()
            .zip(&self.rest)
            .for_each(|(q, x)| *q = Jet::constant(*x));
        self.table.curves(t, &mut self.curves);
        for (curve, place) in self.curves.iter().zip(&self.places) {
            q[*place] = curve.truncate();
        }
        Ok(())
    }

    fn duration(&self) -> Option<f64> {
        Some(self.table.end())
    }
}
