//! From rest to rest, leg by leg.

use super::jet::Jet;
use super::{Infeasible, Trajectory, smooth};

/// One leg of a [`Transfer`].
#[derive(Clone, Debug, PartialEq)]
pub struct Leg {
    /// Where it ends, m or rad: one number for each coordinate.
    pub to: Vec<f64>,
    /// When it begins, s; not before the end of the leg before.
    pub start: f64,
    /// How long it takes, s; with 0 it jumps.
    pub duration: f64,
}

/// Any number of coordinates from rest to rest, leg by leg, each along [`smooth`].
#[derive(Clone, Debug, PartialEq)]
pub struct Transfer {
    /// Where it begins, m or rad.
    pub from: Vec<f64>,
    /// The legs in the order of time.
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

    /// When it has come to its final rest and rested there, s.
    pub fn end(&self) -> f64 {
        let arrival = self.legs.last().map_or(0.0, |leg| leg.start + leg.duration);
        arrival + self.hold
    }
}

impl Leg {
    /// The part that is done at the time `t`, s: 0 to 1.
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
        self.coordinates(t, q);
        Ok(())
    }

    fn duration(&self) -> Option<f64> {
        Some(self.end())
    }
}
