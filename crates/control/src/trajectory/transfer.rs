//! Rest-to-rest motion in legs.

use super::jet::Jet;
use super::{Infeasible, Trajectory, smooth};

/// One leg of a [`Transfer`].
#[derive(Clone, Debug, PartialEq)]
pub struct Leg {
    /// Its end, m or rad: one entry per coordinate.
    pub to: Vec<f64>,
    /// Its start, s; not before the end of the previous leg.
    pub start: f64,
    /// Its duration, s; 0 means a jump.
    pub duration: f64,
}

/// Any number of coordinates that move from rest to rest, leg by leg, each along [`smooth`].
#[derive(Clone, Debug, PartialEq)]
pub struct Transfer {
    /// The start, m or rad.
    pub from: Vec<f64>,
    /// The legs in chronological order.
    pub legs: Vec<Leg>,
    /// How long it rests at the end, s.
    pub hold: f64,
}

impl Transfer {
    /// Writes the coordinates at the time `t`, s, with up to four derivatives.
    pub fn coordinates<const N: usize>(&self, t: f64, q: &mut [Jet<N>]) {
        let begun = self.legs.partition_point(|leg| leg.start <= t);
        let (from, to, part) = match begun.checked_sub(1) {
            None => (&self.from, &self.from, Jet::constant(0.0)),
            Some(now) => {
                let leg = &self.legs[now];
                let from = now.checked_sub(1).map_or(&self.from, |i| &self.legs[i].to);
                (from, &leg.to, leg.part(t))
            }
        };
        let part = part.truncate::<N>();
        for ((q, from), to) in q.iter_mut().zip(from).zip(to) {
            *q = Jet::constant(*from) + part.scale(to - from);
        }
    }

    /// The end of the final rest, s.
    pub fn end(&self) -> f64 {
        let arrival = self.legs.last().map_or(0.0, |leg| leg.start + leg.duration);
        arrival + self.hold
    }
}

impl Leg {
    /// The completed fraction at time `t`, s: 0 to 1.
    fn part(&self, t: f64) -> Jet<5> {
        if self.duration > 0.0 {
            smooth(Jet::linear(
                (t - self.start) / self.duration,
                self.duration.recip(),
            ))
        } else {
            Jet::constant(1.0)
        }
    }
}

impl Trajectory<[Jet<3>]> for Transfer {
    fn at(&mut self, t: f64, q: &mut [Jet<3>]) -> Result<(), Infeasible> {
        for found in [&self.from]
            .into_iter()
            .chain(self.legs.iter().map(|leg| &leg.to))
        {
            Infeasible::expect_coordinates(q.len(), found.len())?;
        }
        self.coordinates(t, q);
        Ok(())
    }

    fn duration(&self) -> Option<f64> {
        Some(self.end())
    }
}
