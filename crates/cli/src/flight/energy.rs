//! Whether the energy of the errors falls in flight as the theory says.

use fly_control::analysis::{Balance, LyapunovMonitor, Report};

use super::guidance::Guidance;
use super::pilot::{Decision, Pilot, seconds};
use super::supervisor::Action;

/// Watches the energy of the errors, step by step.
pub struct EnergyWatch {
    monitor: LyapunovMonitor,
    /// What the controller did last: at another action the reference jumps.
    action: Action,
}

impl EnergyWatch {
    /// For this guidance, before its flight.
    pub fn new(guidance: &mut dyn Guidance, inputs: usize) -> Self {
        Self {
            monitor: LyapunovMonitor::new(guidance.theory(), inputs),
            action: Action::Wait,
        }
    }

    /// Takes what was decided at `time` (ns). Answers, in W, how fast the energy changes and how fast the theory lets it; `None` where there is
    /// nothing to compare. No allocation.
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
                expected, measured, ..
            } => Some([measured, expected]),
            Balance::Silent(_) => None,
        }
    }

    /// What was seen.
    pub fn report(&self) -> &Report {
        self.monitor.report()
    }
}
