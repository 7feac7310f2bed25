//! Measured and predicted dW/dt of the total error energy W in flight.

use fly_control::analysis::{Balance, LyapunovMonitor, Report};

use crate::guidance::Guidance;
use crate::pilot::{Decision, Pilot, seconds};
use crate::supervisor::Action;

/// Monitors W in each step.
pub(crate) struct EnergyWatch {
    monitor: LyapunovMonitor,
    /// The last action: when it changes, the reference jumps.
    action: Action,
}

impl EnergyWatch {
    /// A monitor for this guidance, with p `inputs`.
    pub fn new(guidance: &mut Guidance, inputs: usize) -> Self {
        Self {
            monitor: LyapunovMonitor::new(guidance.lyapunov_guarantee(), inputs),
            action: Action::Wait,
        }
    }

    /// Observes the step at `time` (ns). Returns measured and predicted dW/dt, in W; `None` where there is nothing to compare. Does not
    /// allocate.
    pub fn observe(&mut self, time: i64, pilot: &Pilot, decision: Decision) -> Option<[f64; 2]> {
        if !decision.computed {
            return None;
        }
        if self.action != decision.action {
            self.action = decision.action;
            self.monitor.restart();
        }
        let (guidance, point) = (pilot.guidance(), pilot.point());
        let mut rates = point.velocity.iter().chain(&point.acceleration);
        let moving = rates.any(|rate| *rate != 0.0);
        let start = pilot.start().unwrap_or(time);
        let flight_time = seconds(time.saturating_sub(start));
        let balance = self
            .monitor
            .observe(flight_time, guidance.last(), guidance.metric(), moving);
        match balance {
            Balance::Rate {
                predicted,
                measured,
                ..
            } => Some([measured, predicted]),
            Balance::Unchecked(_) => None,
        }
    }

    /// The report on the whole flight.
    pub fn report(&self) -> &Report {
        self.monitor.report()
    }
}
