//! Coordinates of joints through the rows of a table.

use crate::trajectory::jet::Jet;
use crate::trajectory::{Infeasible, Table, Trajectory};

/// Joints along the columns of a table.
#[derive(Clone, Debug, PartialEq)]
pub struct JointSamples {
    table: Table,
    /// Which coordinate each column is.
    places: Vec<usize>,
    /// The columns at one instant.
    curves: Vec<Jet<5>>,
    rest: Vec<f64>,
}

impl JointSamples {
    /// Column i is the coordinate `places[i]`; the others rest at these values.
    ///
    /// # Panics
    /// If there is not one place for each column, or one is not among the coordinates.
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
