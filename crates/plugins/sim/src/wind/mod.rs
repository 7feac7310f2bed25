//! The air around the plant: mean wind, gusts, turbulence.

mod dryden;
mod gust;

use fly_mechanics::Air;
use nalgebra::Vector3;

pub(crate) use dryden::Turbulence;
pub(crate) use gust::{Extent, Gust};

/// The motion of the air during a flight.
#[derive(Default)]
pub(crate) struct Wind {
    /// With the mean wind, its profile and the ground.
    mean: Air,
    gusts: Vec<Gust>,
    turbulence: Option<Turbulence>,
    /// The wind added by a fault, m/s, world.
    pub(crate) fault: Vector3<f64>,
    /// The beginning of the step, s after the start; its length, s; the airspeed, m/s.
    time: f64,
    step: f64,
    airspeed: f64,
}

impl Wind {
    pub(crate) fn new(mean: Air, gusts: Vec<Gust>, turbulence: Option<Turbulence>) -> Self {
        Self {
            mean,
            gusts,
            turbulence,
            ..Self::default()
        }
    }

    /// Whether it depends on the motion of the system.
    pub(crate) fn changes(&self) -> bool {
        !self.gusts.is_empty() || self.turbulence.is_some()
    }

    /// Begins a step of this duration, s, in which the system is at this height (the world's z, m) and has this velocity (m/s,
    /// world).
    pub(crate) fn begin(&mut self, step: f64, height: f64, velocity: &Vector3<f64>) {
        // The airspeed in the mean wind: turbulence does not transport itself.
        self.airspeed = (velocity - self.mean.mean_at(height)).norm();
        self.step = step;
        if let Some(turbulence) = &mut self.turbulence {
            let above = height - self.mean.ground.unwrap_or(0.0);
            turbulence.advance(step, above, self.airspeed);
        }
    }

    /// Ends the step.
    pub(crate) fn end(&mut self) {
        for gust in &mut self.gusts {
            gust.pass(self.time, self.step, self.airspeed);
        }
        self.time += self.step;
    }

    /// The air at this time, s, after the beginning of the step.
    pub(crate) fn during(&self, later: f64) -> Air {
        self.air(
            later,
            if self.step > 0.0 {
                later / self.step
            } else {
                1.0
            },
        )
    }

    /// The air at the end of the last step.
    pub(crate) fn now(&self) -> Air {
        self.air(0.0, 1.0)
    }

    fn air(&self, later: f64, part: f64) -> Air {
        let gusts = (self.gusts.iter()).map(|gust| gust.velocity(self.time, later, self.airspeed));
        let turbulence = (self.turbulence.as_ref()).map(|turbulence| turbulence.velocity(part));
        Air {
            fluctuation: gusts.chain(turbulence).sum::<Vector3<f64>>() + self.fault,
            ..self.mean
        }
    }
}
