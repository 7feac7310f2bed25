//! The vehicle itself: a rigid body, its actuators and their lags.

use fly_mechanics::integrate::Integrator;
use fly_mechanics::{State, Vehicle};

/// A vehicle in flight.
pub(crate) struct Plant {
    vehicle: Vehicle,
    state: State<f64>,
    /// What the actuators do: thrusts and tilts, in the order of the commands.
    actual: Vec<f64>,
    /// What they are told, inside their limits.
    command: Vec<f64>,
    /// The actuators have a state to start from.
    settled: bool,
    substeps: u32,
    integrator: Integrator<f64>,
}

impl Plant {
    /// In that state; `actual` are the actuators' thrusts and tilts, by default those of the first command.
    pub(crate) fn new(
        vehicle: Vehicle,
        state: State<f64>,
        actual: Option<Vec<f64>>,
        substeps: u32,
    ) -> Self {
        let settled = actual.is_some();
        // Nearest to rest: no tilt, the thrust nearest to none.
        let limits = vehicle.actuators.command_limits();
        let actual = actual.unwrap_or_else(|| {
            limits
                .iter()
                .map(|[low, high]| 0.0_f64.clamp(*low, *high))
                .collect()
        });
        let integrator = Integrator::new(actual.len());
        Self {
            vehicle,
            state,
            command: actual.clone(),
            actual,
            settled,
            substeps,
            integrator,
        }
    }

    pub(crate) fn vehicle(&self) -> &Vehicle {
        &self.vehicle
    }

    pub(crate) fn state(&self) -> &State<f64> {
        &self.state
    }

    /// Takes a command for the time to come; tells whether all of it was inside the limits.
    pub(crate) fn command(&mut self, commands: &[f64]) -> bool {
        let mut inside = true;
        for ((told, given), [low, high]) in self
            .command
            .iter_mut()
            .zip(commands)
            .zip(self.vehicle.actuators.command_limits())
        {
            *told = given.clamp(*low, *high);
            inside &= *told == *given;
        }
        if !self.settled {
            self.actual.copy_from_slice(&self.command);
            self.settled = true;
        }
        inside
    }

    /// Lets the time pass, s.
    pub(crate) fn advance(&mut self, time: f64) {
        let step = time / f64::from(self.substeps);
        let Self {
            vehicle,
            state,
            actual,
            command,
            integrator,
            ..
        } = self;
        let actuators = &vehicle.actuators;
        for ((actual, command), lag) in actual
            .iter_mut()
            .zip(&*command)
            .zip(actuators.time_constants())
        {
            if *lag == 0.0 {
                *actual = *command;
            }
        }
        for _ in 0..self.substeps {
            integrator.step(state, actual, step, |state, actual, rates| {
                for (index, rate) in rates.iter_mut().enumerate() {
                    let lag = actuators.time_constants()[index];
                    *rate = if lag > 0.0 {
                        (command[index] - actual[index]) / lag
                    } else {
                        0.0
                    };
                }
                vehicle.body.acceleration(state, &actuators.wrench(actual))
            });
        }
        // Rounding leads off the group, a little every step.
        state.pose.rotation = state.pose.rotation.orthonormalized();
    }
}
