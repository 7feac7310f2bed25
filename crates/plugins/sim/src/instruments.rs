//! All measurements, and their groups in the frames.

use std::ops::Range;

use fly_hal::FrameMut;
use fly_lie::SO3;
use fly_lie::operators::join;
use fly_mechanics::measurements::{Measured, Measurements, Quantity};
use nalgebra::Vector3;

use crate::delivery::{Channel, Delivery};
use crate::faults::Faults;
use crate::noise::{Deviations, Noise};
use crate::plant::Plant;
use crate::random::{Random, Stream};
use crate::sensors::{Encoder, Fitted, Link, Sample, Scene, Sensor, Sensors, Timing};

/// The ideal measurements of a system with noise, and the sensors on its tracked body.
pub(crate) struct Instruments {
    measurements: Measurements,
    /// The noise of each group of `measurements`.
    noise: Vec<Noise>,
    encoder: Option<Encoder>,
    /// The measurements of this frame.
    measured: Vec<f64>,
    /// The ranges of their channels, whose groups come last.
    ideal: Vec<Range<usize>>,
    ideal_groups: usize,
    fitted: Vec<Box<dyn Sensor>>,
    /// One sample of a sensor.
    sample: Vec<f64>,
    feels_wind: bool,
    rotor_speeds: Vec<f64>,
    delivery: Delivery,
}

impl Instruments {
    /// With noise from streams of the seed, for frames at this rate, Hz.
    pub(crate) fn new(
        measurements: Measurements,
        noise: &Deviations,
        sensors: Sensors,
        rotors: usize,
        (rate_hz, seed): (f64, u64),
    ) -> Self {
        let groups = measurements.groups();
        let noise = (groups.iter().enumerate())
            .map(|(index, group)| Noise::new(noise.of(group.quantity), seed, index))
            .collect();
        let split = state_groups(&measurements);
        let (encoder, joint_timing) = match sensors.encoder {
            Some((encoder, timing)) => (Some(encoder), timing),
            None => (None, Timing::IDEAL),
        };
        let first = if sensors.hides_state { split } else { 0 };
        let parts = [
            ("ideal", first..split, Timing::IDEAL),
            ("encoders", split..groups.len(), joint_timing),
        ];
        let link = |timing, dim, stream| {
            let random = Random::of_stream(seed, stream);
            Link::new(timing, dim, rate_hz, random)
        };
        let (mut channels, mut ideal) = (Vec::new(), Vec::new());
        for (name, part, timing) in parts {
            let [Some(begin), Some(end)] =
                [groups[part.clone()].first(), groups[part.clone()].last()]
            else {
                continue;
            };
            let values = begin.range.start..end.range.end;
            channels.push(Channel {
                name,
                dims: (groups[part.clone()].iter())
                    .map(|group| group.range.len())
                    .collect(),
                link: link(timing, values.len(), Stream::EncoderLink),
            });
            ideal.push(values);
        }
        let feels_wind = (sensors.fitted.iter()).any(|one| one.sensor.feels_wind());
        let mut fitted = Vec::new();
        for Fitted {
            name,
            sensor,
            timing,
            link_stream,
        } in sensors.fitted
        {
            let dims: Vec<usize> = (sensor.groups().iter()).map(|group| dim(group)).collect();
            let link = link(timing, dims.iter().sum(), link_stream);
            channels.push(Channel { name, dims, link });
            fitted.push(sensor);
        }
        let largest = (channels.iter()).map(|channel| channel.dims.iter().sum());
        Self {
            noise,
            encoder,
            measured: vec![0.0; measurements.dim()],
            ideal,
            ideal_groups: groups.len() - first,
            fitted,
            sample: vec![0.0; largest.max().unwrap_or(0)],
            feels_wind,
            rotor_speeds: vec![0.0; rotors],
            delivery: Delivery::new(channels),
            measurements,
        }
    }

    /// The numbers of groups and values in a frame, which come first.
    pub(crate) fn size(&self) -> (usize, usize) {
        self.delivery.size()
    }

    /// Measures at this frame, `step` s after the previous one; `truth` becomes the ideal measurements without noise. Noise does not depend on
    /// faults.
    pub(crate) fn measure(
        &mut self,
        plant: &mut Plant,
        (frame, time, step): (u64, i64, f64),
        truth: &mut [f64],
    ) {
        self.measure_ideally(plant);
        truth.copy_from_slice(&self.measured);
        self.spoil(plant);
        let hidden = self.measurements.groups().len() - self.ideal_groups;
        for (index, group) in self.measurements.groups()[hidden..].iter().enumerate() {
            // An open joint has no measurements.
            self.delivery.set_loose(index, plant.is_loose(group.body));
        }
        for (channel, values) in self.ideal.iter().enumerate() {
            if self.delivery.is_due(channel, frame) {
                let values = &self.measured[values.clone()];
                self.delivery.send(channel, time, values, true);
            }
        }
        if !self.fitted.is_empty() {
            self.sense(plant, (frame, time, step), truth);
        }
    }

    fn measure_ideally(&mut self, plant: &Plant) {
        let (model, x, xi) = plant.state();
        self.measurements.read(model, x, xi, &mut self.measured);
    }

    /// Adds noise to the ideal measurements.
    fn spoil(&mut self, plant: &Plant) {
        let (model, x, _) = plant.state();
        for (group, noise) in self.measurements.groups().iter().zip(&mut self.noise) {
            let values = &mut self.measured[group.range.clone()];
            match group.quantity {
                Quantity::Quaternion if noise.is_none() => {}
                Quantity::Quaternion => {
                    let rotation = self.measurements.pose(model, group.body, x).rotation;
                    let turned = rotation * SO3::exp(&noise.vector());
                    values.copy_from_slice(turned.to_quaternion().as_slice());
                }
                Quantity::Joint => {
                    add(values, &noise.two());
                    if let Some(encoder) = &self.encoder {
                        encoder.round(values);
                    }
                }
                Quantity::Translation | Quantity::Linear | Quantity::Angular => {
                    add(values, noise.vector().as_slice());
                }
            }
        }
    }

    /// Samples the sensors. There is a tracked body: the first groups are its pose and twist.
    fn sense(&mut self, plant: &mut Plant, (frame, time, step): (u64, i64, f64), truth: &[f64]) {
        let body = self.measurements.groups()[0].body;
        let (model, x, _) = plant.state();
        let vector = |first: usize| Vector3::from_column_slice(&truth[first..first + 3]);
        let scene_pose = self.measurements.pose(model, body, x);
        let gravity = *model.gravity();
        let wind = if self.feels_wind {
            plant.wind()
        } else {
            Vector3::zeros()
        };
        plant.rotor_speeds(&mut self.rotor_speeds);
        let scene = Scene {
            time,
            step,
            pose: scene_pose,
            twist: join(&vector(7), &vector(10)),
            gravity,
            wind,
            rotor_speeds: &self.rotor_speeds,
        };
        for (index, sensor) in self.fitted.iter_mut().enumerate() {
            let channel = self.ideal.len() + index;
            sensor.watch(&scene);
            if !self.delivery.is_due(channel, frame) {
                continue;
            }
            let values = &mut self.sample[..self.delivery.dim(channel)];
            match sensor.measure(&scene, values) {
                Sample::None => {}
                sample => {
                    let is_valid = sample == Sample::Valid;
                    self.delivery.send(channel, time, values, is_valid);
                }
            }
        }
    }

    /// Fills the first groups of the frame, with their faults; returns whether it [is as it should be](Delivery::fill).
    pub(crate) fn fill(&mut self, time: i64, faults: &mut Faults, frame: &mut FrameMut) -> bool {
        self.delivery.fill(time, faults, frame)
    }

    /// Lines for the report.
    pub(crate) fn report(&self) -> impl Iterator<Item = (String, String)> + '_ {
        self.delivery.report()
    }
}

/// The names of the groups in a frame, in order.
pub(crate) fn groups(measurements: &Measurements, sensors: &Sensors) -> Vec<String> {
    let ideal = shown(measurements, sensors).iter();
    let ideal = ideal.map(|group| group.name.clone());
    let sensed = sensors.fitted.iter().flat_map(|one| one.sensor.groups());
    ideal.chain(sensed.map(ToString::to_string)).collect()
}

/// The groups of ideal measurements that the frames have.
pub(crate) fn shown<'a>(measurements: &'a Measurements, sensors: &Sensors) -> &'a [Measured] {
    let hidden = if sensors.hides_state {
        state_groups(measurements)
    } else {
        0
    };
    &measurements.groups()[hidden..]
}

/// The number of groups with pose and twist of the tracked body, which come first.
fn state_groups(measurements: &Measurements) -> usize {
    let groups = measurements.groups().iter();
    groups
        .take_while(|group| !group.name.starts_with("joint."))
        .count()
}

/// The dimension of a sensor group.
fn dim(group: &str) -> usize {
    fly_hal::signal::group_names(group).count()
}

fn add(values: &mut [f64], noise: &[f64]) {
    for (value, noise) in values.iter_mut().zip(noise) {
        *value += noise;
    }
}
