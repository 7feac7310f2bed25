//! Motions of joints that name every coordinate.

use super::{Infeasible, JointMotion};
use crate::trajectory::jet::Jet;
use crate::trajectory::{Table, smooth};

/// `offset + rate t + amplitude sin(angular_frequency t + phase)` for every coordinate; all have one number for each.
#[derive(Clone, Debug, PartialEq)]
pub struct JointSines {
    /// Where they swing about, rad or m.
    pub offset: Vec<f64>,
    /// How fast that moves, rad/s or m/s.
    pub rate: Vec<f64>,
    /// Amplitudes, rad or m.
    pub amplitude: Vec<f64>,
    /// Angular frequencies, rad/s.
    pub angular_frequency: Vec<f64>,
    /// Phases at t = 0, rad.
    pub phase: Vec<f64>,
}

impl JointSines {
    /// Nothing moves.
    pub fn at_rest(offset: Vec<f64>) -> Self {
        let zero = || vec![0.0; offset.len()];
        Self {
            rate: zero(),
            amplitude: zero(),
            angular_frequency: zero(),
            phase: zero(),
            offset,
        }
    }
}

impl JointMotion for JointSines {
    fn at(&mut self, t: f64, q: &mut [Jet<3>]) -> Result<(), Infeasible> {
        for (i, q) in q.iter_mut().enumerate() {
            let (w, rate) = (self.angular_frequency[i], self.rate[i]);
            let (sine, _) = Jet::linear(w * t + self.phase[i], w).sin_cos();
            *q = Jet::linear(self.offset[i] + rate * t, rate) + sine.scale(self.amplitude[i]);
        }
        Ok(())
    }

    fn duration(&self) -> Option<f64> {
        None
    }
}

/// A way of all coordinates from rest to rest.
#[derive(Clone, Debug, PartialEq)]
pub struct JointLeg {
    /// Where it ends, rad or m, one number for each coordinate.
    pub to: Vec<f64>,
    /// When it begins, s; not before the end of the leg before.
    pub start: f64,
    /// How long it takes, s, > 0.
    pub duration: f64,
}

/// From rest to rest, leg by leg, each along [`smooth`].
#[derive(Clone, Debug, PartialEq)]
pub struct JointTransfer {
    /// Where it begins, rad or m.
    pub from: Vec<f64>,
    /// The legs in the order of time.
    pub legs: Vec<JointLeg>,
    /// How long it rests at the end, s.
    pub hold: f64,
}

impl JointMotion for JointTransfer {
    fn at(&mut self, t: f64, q: &mut [Jet<3>]) -> Result<(), Infeasible> {
        let begun = self.legs.partition_point(|leg| leg.start <= t);
        let Some(now) = begun.checked_sub(1) else {
            q.iter_mut()
                .zip(&self.from)
                .for_each(|(q, x)| *q = Jet::constant(*x));
            return Ok(());
        };
        let leg = &self.legs[now];
        let from = now.checked_sub(1).map_or(&self.from, |i| &self.legs[i].to);
        let rate = leg.duration.recip();
        let part = smooth(Jet::linear((t - leg.start) * rate, rate)).truncate::<3>();
        for ((q, from), to) in q.iter_mut().zip(from).zip(&leg.to) {
            *q = Jet::constant(*from) + part.scale(to - from);
        }
        Ok(())
    }

    fn duration(&self) -> Option<f64> {
        let end = self.legs.last().map_or(0.0, |leg| leg.start + leg.duration);
        Some(end + self.hold)
    }
}

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

impl JointMotion for JointSamples {
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
