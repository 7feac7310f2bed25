//! Simulated faults: of sensors, actuators, links, the battery and the body itself, on a schedule or at random.

mod effect;

pub(crate) use effect::{ActuatorFault, Effect, GroupFault};

use crate::plant::Plant;
use crate::random::Random;

/// A fault with start and end.
pub(crate) struct Fault {
    /// Its first instant, and the first instant after it, ns.
    pub(crate) span: [i64; 2],
    /// The duration of its ramp, s.
    pub(crate) ramp: f64,
    pub(crate) effect: Effect,
    /// Its description.
    pub(crate) words: String,
    /// Its random numbers.
    pub(crate) random: Random,
    /// Whether it was active in the previous frame.
    pub(crate) had_begun: bool,
    /// The value that a stuck actuator holds.
    pub(crate) held: f64,
}

impl Fault {
    /// Whether it is active at this time, ns.
    fn lasts_at(&self, time: i64) -> bool {
        (self.span[0]..self.span[1]).contains(&time)
    }

    /// Its ramp at this time, 0 to 1.
    fn growth(&self, time: i64) -> f64 {
        let since = (time - self.span[0]) as f64 / 1e9;
        if since < self.ramp {
            since / self.ramp
        } else {
            1.0
        }
    }
}

/// All faults of a flight, in the order of the configuration: of several that affect the same group or the body's mass, the first one
/// applies.
#[derive(Default)]
pub(crate) struct Faults {
    all: Vec<Fault>,
    /// The last frame, ns.
    time: i64,
    /// The number of lost writes.
    lost_writes: u64,
}

impl Faults {
    pub(crate) fn new(all: Vec<Fault>) -> Self {
        Self {
            all,
            ..Self::default()
        }
    }

    /// Advances to the frame at this time, and applies the faults to the plant.
    pub(crate) fn strike(&mut self, time: i64, plant: &mut Plant) {
        self.time = time;
        if self.all.is_empty() {
            return;
        }
        plant.mend();
        let (mut is_loaded, mut cells_lost) = (false, 0.0);
        for fault in &mut self.all {
            let lasts = fault.lasts_at(time);
            let begins = lasts && !std::mem::replace(&mut fault.had_begun, lasts);
            if !lasts {
                continue;
            }
            let growth = fault.growth(time);
            match &fault.effect {
                Effect::Actuator { command, kind, .. } => match kind {
                    ActuatorFault::Dead => plant.override_command(*command, 0.0),
                    ActuatorFault::Weak(part) => {
                        plant.weaken(*command, 1.0 + (part - 1.0) * growth);
                    }
                    ActuatorFault::Stuck => {
                        if begins {
                            fault.held = plant.whole().nth(*command).unwrap_or(0.0);
                        }
                        plant.override_command(*command, fault.held);
                    }
                },
                Effect::Wind(velocity) => plant.add_wind(velocity * growth),
                Effect::Mass(model) => {
                    if !std::mem::replace(&mut is_loaded, true) {
                        plant.load(Some(*model));
                    }
                }
                Effect::Battery { lost, charge } => {
                    cells_lost += lost;
                    if let Some(charge) = charge.filter(|_| begins) {
                        plant.set_charge(charge);
                    }
                }
                Effect::Group { .. } | Effect::Link => {}
            }
        }
        plant.keep_cells(f64::max(1.0 - cells_lost, 0.0));
        if !is_loaded {
            plant.load(None);
        }
        plant.take_over();
    }

    /// The fault of a group at this frame: the first one in the list, and its ramp.
    pub(crate) fn of_group(&mut self, group: usize) -> Option<(&GroupFault, f64, &mut Random)> {
        let time = self.time;
        self.all.iter_mut().find_map(|fault| {
            if !fault.lasts_at(time) {
                return None;
            }
            let growth = fault.growth(time);
            match &fault.effect {
                Effect::Link => Some((&GroupFault::Missing, growth, &mut fault.random)),
                Effect::Group { only, kind } if only.is_none_or(|only| only == group) => {
                    Some((kind, growth, &mut fault.random))
                }
                _ => None,
            }
        })
    }

    /// The commands of the actuators whose health is reported, ascending.
    pub(crate) fn told(&self) -> Vec<usize> {
        let told = self.all.iter().filter_map(|fault| match fault.effect {
            Effect::Actuator {
                command,
                reported: true,
                ..
            } => Some(command),
            _ => None,
        });
        let mut told: Vec<usize> = told.collect();
        told.sort_unstable();
        told.dedup();
        told
    }

    /// The reported health of the actuator of a command.
    pub(crate) fn health(&self, command: usize) -> f64 {
        let parts = self.all.iter().filter_map(|fault| match &fault.effect {
            Effect::Actuator {
                command: of,
                kind,
                reported: true,
            } if *of == command && fault.lasts_at(self.time) => Some(match kind {
                ActuatorFault::Weak(part) => 1.0 + (part - 1.0) * fault.growth(self.time),
                ActuatorFault::Dead | ActuatorFault::Stuck => 0.0,
            }),
            _ => None,
        });
        // As the plant weakens it.
        parts.product::<f64>().clamp(0.0, 1.0)
    }

    /// Whether a write reaches the vehicle; counts those that do not.
    pub(crate) fn lets_through(&mut self) -> bool {
        let is_link = |fault: &&Fault| matches!(fault.effect, Effect::Link);
        let mut links = self.all.iter().filter(is_link);
        let is_lost = links.any(|fault| fault.lasts_at(self.time));
        self.lost_writes += u64::from(is_lost);
        !is_lost
    }

    /// Whether one of them is a wind.
    pub(crate) fn blow(&self) -> bool {
        (self.all.iter()).any(|fault| matches!(fault.effect, Effect::Wind(_)))
    }

    /// The description of every fault with its times.
    pub(crate) fn planned(&self) -> impl Iterator<Item = String> + '_ {
        self.all.iter().map(Fault::describe)
    }

    /// Lines for the report: the faults that have occurred so far.
    pub(crate) fn report(&self) -> impl Iterator<Item = (String, String)> + '_ {
        let begun = self.all.iter().filter(|fault| fault.span[0] <= self.time);
        let begun: Vec<String> = begun.map(Fault::describe).collect();
        let faults = (!begun.is_empty()).then(|| ("faults".to_owned(), begun.join("; ")));
        let lost = (self.lost_writes > 0)
            .then(|| ("commands lost".to_owned(), self.lost_writes.to_string()));
        faults.into_iter().chain(lost)
    }
}

impl Fault {
    /// Its description with its times.
    fn describe(&self) -> String {
        let seconds = |time: i64| time as f64 / 1e9;
        let [from, until] = self.span;
        let words = &self.words;
        if until == i64::MAX {
            format!("{words} from {:.3} s", seconds(from))
        } else {
            format!(
                "{words} from {:.3} to {:.3} s",
                seconds(from),
                seconds(until)
            )
        }
    }
}
