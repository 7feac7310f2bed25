//! The true state of a simulation, which its frames carry beside the measurements. The control path never reads it.

use fly_control::predictor::StatePredictor;
use fly_hal::signal::{group_names, truth};
use fly_hal::{Description, Frame};
use fly_lie::SE3;
use fly_mechanics::System;
use fly_mechanics::measurements::Measurements;
use nalgebra::{Vector3, Vector6};

/// Where frames carry the truth, and its last values.
#[derive(Debug, Clone)]
pub(crate) struct Truth {
    /// The group of all true values.
    group: usize,
    measurements: Measurements,
    /// Indices in the frame of the values of each measurement group.
    state: Vec<Vec<usize>>,
    /// Indices of the actuators' outputs, in the order of the vehicle's commands.
    actual: Option<Vec<usize>>,
    /// Configuration and velocity of the controller's model.
    configuration: Vec<f64>,
    velocity: Vec<f64>,
    /// The configuration as one that measures otherwise sees it.
    displaced: Vec<f64>,
    /// The actuators' outputs.
    commands: Vec<f64>,
    known: bool,
}

impl Truth {
    /// Binds the truth for a system's whole state; `None` unless the backend provides all of it.
    pub fn bind(description: &Description, system: &System) -> Option<Self> {
        let model = &system.model;
        let measurements = Measurements::new(model, Measurements::tracked(model));
        let index = |name: &str| description.value_index(&truth(name));
        let state: Option<Vec<Vec<usize>>> = (measurements.groups().iter())
            .map(|group| group_names(&group.name).map(|name| index(&name)).collect())
            .collect();
        let actual: Option<Vec<usize>> = (system.inputs.command_names().iter())
            .map(|name| index(name))
            .collect();
        Some(Self {
            group: description.find_group(fly_hal::signal::TRUTH)?,
            state: state?,
            actual,
            configuration: model.neutral_configuration(),
            displaced: model.neutral_configuration(),
            velocity: vec![0.0; model.dof()],
            commands: vec![0.0; system.inputs.input_dim()],
            measurements,
            known: false,
        })
    }

    /// Reads the truth from this frame, if it contains any. Does not allocate.
    pub fn read(&mut self, frame: &Frame, system: &System) {
        let status = frame.groups[self.group];
        self.known = status.valid && status.stamp == frame.time;
        if !self.known {
            return;
        }
        let (x, xi) = (&mut self.configuration, &mut self.velocity);
        for (group, places) in self.state.iter().enumerate() {
            let mut numbers = [0.0; 4];
            for (number, place) in numbers.iter_mut().zip(places) {
                *number = frame.values[*place];
            }
            let numbers = &numbers[..places.len()];
            self.known &= numbers.iter().all(|number| number.is_finite());
            (self.measurements).write(&system.model, group, numbers, x, xi);
        }
        for (command, place) in self.commands.iter_mut().zip(self.actual.iter().flatten()) {
            *command = frame.values[*place];
        }
    }

    /// The true configuration of the controller's model; `None` if the last frame did not contain it.
    pub fn configuration(&self) -> Option<&[f64]> {
        self.known.then_some(self.configuration.as_slice())
    }

    /// The same with the tracked body elsewhere, by this vector of the world, m: as measurements that are so far from the truth show it.
    pub fn displaced(&mut self, by: &Vector3<f64>, system: &System) -> Option<&[f64]> {
        if !self.known || *by == Vector3::zeros() {
            return self.configuration();
        }
        self.displaced.copy_from_slice(&self.configuration);
        (self.measurements).translate(&system.model, by, &mut self.displaced);
        Some(&self.displaced)
    }

    /// The true configuration and velocity; `None` if the last frame did not contain them.
    pub fn state(&self) -> Option<(&[f64], &[f64])> {
        Some((self.configuration()?, &self.velocity))
    }

    /// The true pose and twist of the tracked body; `None` if the last frame did not contain them.
    pub fn motion(&self, state: &StatePredictor) -> Option<(SE3<f64>, Vector6<f64>)> {
        let body = state.tracked()?;
        let (x, xi) = self.state()?;
        let own = &xi[state.system().model.velocity_range(body)];
        Some((state.pose(body, x), Vector6::from_column_slice(own)))
    }

    /// The actuators' true outputs, in the order of the vehicle's commands; `None` if the last frame did not contain
    /// them.
    pub fn actuators(&self) -> Option<&[f64]> {
        let told = self.known && self.actual.is_some();
        told.then_some(self.commands.as_slice())
    }
}

#[cfg(test)]
mod tests {
    use fly_hal::GroupStatus;

    use super::*;

    const CART: &str = r#"
        name = "cart"
        [bodies.cart]
        joint = { type = "prismatic", axis = [1, 0, 0] }
        mass = 2.0
        inertia = [1, 1, 1]
        [[motors]]
        joint = "cart"
    "#;

    #[test]
    fn the_truth_is_read_where_it_is_told() {
        let system = System::from_toml(CART).expect("a cart");
        let measured = Description::new().with_group("joint.0").expect("canonical");
        assert!(Truth::bind(&measured, &system).is_none(), "nobody tells it");
        let names = ["joint.0.position", "joint.0.velocity"].map(truth);
        let told = measured.with_signals(names).expect("canonical");
        let mut truth = Truth::bind(&told, &system).expect("all of the state");
        let mut frame = told.frame();
        frame.values.copy_from_slice(&[9.0, 9.0, 0.25, -1.0]);
        truth.read(&frame, &system);
        assert_eq!(truth.configuration(), None, "the group is not valid");
        frame.groups[1] = GroupStatus {
            stamp: 0,
            valid: true,
        };
        truth.read(&frame, &system);
        assert_eq!(truth.configuration(), Some(&[0.25][..]));
        assert_eq!(truth.actuators(), None, "of the motor nothing is told");
        // The next frame does not contain it.
        frame.time = 5;
        truth.read(&frame, &system);
        assert_eq!(truth.configuration(), None);
    }
}
