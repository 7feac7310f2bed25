//! The inputs between two steps of the controller.

use fly_control::predictor::StatePredictor;

/// The mean input since the controller last ran, as far as it is known.
#[derive(Debug, Clone)]
pub(super) struct Applied {
    /// Integral over time, then the mean.
    input: Vec<f64>,
    /// The input of one tick.
    of_tick: Vec<f64>,
    /// The input at the beginning of the tick.
    before: Vec<f64>,
    /// Integration time, s; `None` if some inputs are unknown.
    time: Option<f64>,
    /// The recorded commands of the last frame; NaN before the first.
    pub(super) recorded: Vec<f64>,
}

impl Applied {
    pub(super) fn new(inputs: usize) -> Self {
        Self {
            input: vec![0.0; inputs],
            of_tick: vec![0.0; inputs],
            before: vec![0.0; inputs],
            time: Some(0.0),
            recorded: vec![f64::NAN; inputs],
        }
    }

    /// Adds the actuators' output over the last `elapsed` s, as modelled.
    pub(super) fn add(&mut self, predictor: &StatePredictor, elapsed: f64) {
        let Some(time) = &mut self.time else { return };
        *time += elapsed;
        let inputs = &predictor.system().inputs;
        inputs.input_from_commands(predictor.mean_actuators(), &mut self.of_tick);
        for (sum, input) in self.input.iter_mut().zip(&self.of_tick) {
            *sum += input * elapsed;
        }
    }

    /// Call before a tick is predicted.
    pub(super) fn begin(&mut self, predictor: &StatePredictor) {
        let inputs = &predictor.system().inputs;
        inputs.input_from_commands(predictor.actuators(), &mut self.before);
    }

    /// Call after a tick is predicted: adds the modelled output of the actuators, the mean of both ends.
    pub(super) fn end(&mut self, predictor: &StatePredictor, elapsed: f64) {
        let Some(time) = &mut self.time else { return };
        *time += elapsed;
        let inputs = &predictor.system().inputs;
        inputs.input_from_commands(predictor.actuators(), &mut self.of_tick);
        let ends = self.before.iter().zip(&self.of_tick);
        for (sum, (before, after)) in self.input.iter_mut().zip(ends) {
            *sum += 0.5 * (before + after) * elapsed;
        }
    }

    /// The inputs of this tick are unknown.
    pub(super) fn forget(&mut self) {
        self.time = None;
    }

    /// Returns the mean since the last call; `None` if it is unknown.
    pub(super) fn take(&mut self) -> Option<&[f64]> {
        let time = self.time.replace(0.0);
        // The sums restart with the next tick.
        for (mean, sum) in self.of_tick.iter_mut().zip(&mut self.input) {
            *mean = std::mem::take(sum) / time.unwrap_or(1.0);
        }
        time.filter(|time| *time > 0.0)
            .map(|_| self.of_tick.as_slice())
    }
}
