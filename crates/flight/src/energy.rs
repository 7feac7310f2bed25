//! Measured and predicted dW/dt of the total error energy W in flight, and the causes of their difference.

use fly_control::analysis::{Balance, LyapunovMonitor, Powers, Report};
use fly_control::governor::Governor;

use crate::guidance::Guidance;
use crate::pilot::{Decision, Pilot};
use crate::supervisor::Action;

/// Monitors W in each step.
pub(crate) struct EnergyWatch {
    monitor: LyapunovMonitor,
    /// The last action: when it changes, the reference jumps.
    action: Action,
    before: Inputs,
    now: Inputs,
}

/// The inputs of one step, p numbers each.
#[derive(Debug, Clone)]
struct Inputs {
    /// d(dW/dt)/du.
    gradient: Vec<f64>,
    /// The actuators' current outputs.
    actual: Vec<f64>,
    /// The actuators' targets, held from this step on: the commands without their lead.
    held: Vec<f64>,
    /// The law's unconstrained input.
    unconstrained: Vec<f64>,
}

impl Inputs {
    fn new(p: usize) -> Self {
        let none = vec![0.0; p];
        Self {
            gradient: none.clone(),
            actual: none.clone(),
            held: none.clone(),
            unconstrained: none,
        }
    }

    fn read(&mut self, pilot: &Pilot, actuators: &[f64]) {
        let (guidance, step) = (pilot.guidance(), pilot.step());
        guidance.energy_gradient(&mut self.gradient);
        let inputs = &pilot.predictor().system().inputs;
        inputs.input_from_commands(actuators, &mut self.actual);
        for (held, intended) in self.held.iter_mut().zip(step.intended()) {
            *held = intended;
        }
        self.unconstrained
            .copy_from_slice(step.unconstrained.as_slice());
    }

    /// Mean powers between the previous step and this one.
    fn powers(&self, before: &Self) -> Powers {
        let mut powers = Powers::default();
        for i in 0..self.held.len() {
            let held = before.held[i];
            let missing = |at: &Self| at.gradient[i] * (at.actual[i] - held);
            // An output that equals its target exactly has no lag: it was reached at once.
            if self.actual[i] != held {
                powers.lag += 0.5 * (missing(before) + missing(self));
            }
            let asked = |at: &Self| at.gradient[i] * (held - at.unconstrained[i]);
            powers.hold += 0.5 * (asked(before) + asked(self));
        }
        powers
    }
}

impl EnergyWatch {
    /// A monitor for this guidance, with p `inputs`.
    pub fn new(guidance: &mut Guidance, inputs: usize) -> Self {
        Self {
            monitor: LyapunovMonitor::new(guidance.lyapunov_guarantee(), inputs),
            action: Action::Wait,
            before: Inputs::new(inputs),
            now: Inputs::new(inputs),
        }
    }

    /// Records the step at `time` (ns), in which the actuators have reached these thrusts, tilts and efforts. Returns
    /// measured and predicted dW/dt, W; `None` if there is nothing to compare. Does not allocate.
    pub fn observe(
        &mut self,
        time: i64,
        pilot: &Pilot,
        decision: Decision,
        actuators: &[f64],
    ) -> Option<[f64; 2]> {
        if !decision.computed {
            return None;
        }
        let (guidance, point) = (pilot.guidance(), pilot.point());
        if guidance.spin().is_some() || guidance.gives_up_yaw() {
            // W does not exist in a spin. Without yaw control its reference turns with the vehicle.
            self.monitor.restart();
            return None;
        }
        let governor = guidance.governor();
        if self.action != decision.action || governor.is_some_and(Governor::has_jumped) {
            self.action = decision.action;
            self.monitor.restart();
        }
        let mut rates = point.velocity.iter().chain(&point.acceleration);
        let moving = rates.any(|rate| *rate != 0.0) || governor.is_some_and(Governor::is_active);
        let balance = self.monitor.observe(
            pilot.flight_time(time),
            guidance.last(),
            guidance.metric(),
            moving,
        );
        if self.monitor.is_judging() || matches!(balance, Balance::Rate { .. }) {
            std::mem::swap(&mut self.before, &mut self.now);
            self.now.read(pilot, actuators);
        }
        match balance {
            Balance::Rate {
                predicted,
                measured,
                ..
            } => {
                (self.monitor).attribute(&balance, self.now.powers(&self.before));
                Some([measured, predicted])
            }
            Balance::Unchecked(_) => None,
        }
    }

    /// The report on the whole flight.
    pub fn report(&self) -> &Report {
        self.monitor.report()
    }
}
