//! The true configuration of a simulated system of joints.

use fly_hal::Signal;
use fly_hal::signal::{TRUTH, group_names, truth};
use fly_log::schema::fly::Frame;
use fly_mechanics::System;
use fly_mechanics::measurements::Measurements;

/// Where frames have it.
#[derive(Debug)]
pub struct TrueState {
    measurements: Measurements,
    /// The group of all true values.
    group: usize,
    /// Indices of the values of each group of the measurements.
    places: Vec<Vec<usize>>,
    configuration: Vec<f64>,
    velocity: Vec<f64>,
}

impl TrueState {
    /// For frames with these signals, each with its index, and errors that count whole turns or not; `None` unless they have all of the state.
    pub fn new(
        signals: &[(usize, Signal)],
        groups: &[String],
        system: &System,
        counts_turns: bool,
    ) -> Option<Self> {
        let model = &system.model;
        let measurements =
            Measurements::new(model, Measurements::tracked(model)).counting_turns(counts_turns);
        let find = |name: String| {
            let name = truth(&name);
            let found = signals.iter().find(|(_, signal)| signal.name == name);
            found.map(|(place, _)| *place)
        };
        let places: Option<Vec<Vec<usize>>> = (measurements.groups().iter())
            .map(|group| group_names(&group.name).map(find).collect())
            .collect();
        Some(Self {
            group: groups.iter().position(|group| group == TRUTH)?,
            places: places?,
            configuration: model.neutral_configuration(),
            velocity: vec![0.0; model.dof()],
            measurements,
        })
    }

    /// Distance (m) and angle (rad) from a reference configuration; `None` if the frame has no true state.
    pub fn errors(
        &mut self,
        system: &System,
        frame: &Frame,
        reference: &[f64],
    ) -> Option<[f64; 2]> {
        let model = &system.model;
        let is_present = frame.valid.get(self.group) == Some(&true)
            && frame.stamps_ns.get(self.group) == Some(&frame.time_ns);
        if !is_present || reference.len() != model.config_dim() {
            return None;
        }
        for (group, places) in self.places.iter().enumerate() {
            let mut numbers = [0.0; 4];
            for (number, place) in numbers.iter_mut().zip(places) {
                *number = *frame.values.get(*place).filter(|it| it.is_finite())?;
            }
            let (x, xi) = (&mut self.configuration, &mut self.velocity);
            (self.measurements).write(model, group, &numbers[..places.len()], x, xi);
        }
        Some((self.measurements).errors(model, &self.configuration, reference))
    }
}
