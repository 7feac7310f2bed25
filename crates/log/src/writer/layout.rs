//! Rows and events in the queue: encoded as 64-bit words, so that neither side allocates.

use fly_hal::GroupStatus;

use super::row::{
    Control, Energies, Level, Reference, Row, State, Status, SystemReference, SystemState,
};
use crate::Header;
use crate::error::LogError;

/// Longest text of an event, bytes; longer texts are cut.
pub const MAX_TEXT: usize = 4096;

/// The kind of an item, the lowest byte of its first word.
const ROW: u64 = 1;
const EVENT: u64 = 2;

/// Flags of a row in its first word: no frame came.
const NO_FRAME: u64 = 1 << 8;
/// It has the state of a free body.
const STATE: u64 = 1 << 9;
/// It has what the controller computed.
const CONTROL: u64 = 1 << 10;
/// It has commands.
const COMMANDS: u64 = 1 << 11;
/// The input is limited.
const SATURATED: u64 = 1 << 12;
/// It has the state of a system.
const SYSTEM: u64 = 1 << 13;
/// The controller had a reference of a free body.
const REFERENCE: u64 = 1 << 14;
/// The controller had a reference of a system.
const SYSTEM_REFERENCE: u64 = 1 << 15;
/// It has an estimate.
const ESTIMATED: u64 = 1 << 32;

/// Places of numbers of a byte in the first word of a row: the mode, and the solver's outcome.
const MODE_AT: u32 = 16;
const SOLVER_AT: u32 = 24;

/// Lengths that every row of a flight has.
#[derive(Clone, Copy, Debug)]
pub struct Layout {
    values: usize,
    groups: usize,
    inputs: usize,
    commands: usize,
    bodies: usize,
    config_dim: usize,
    dof: usize,
    disturbance: usize,
    estimate: usize,
}

/// Number of values of an estimate before the innovations.
pub const ESTIMATE: usize = 34;

/// An item of a flight's record.
#[derive(Clone, Debug)]
#[expect(clippy::large_enum_variant, reason = "one at a time, on the stack")]
pub enum Item<'a> {
    /// A tick.
    Row(Row<'a>),
    /// A line of the flight's log.
    Event {
        /// Time, ns on the backend's clock.
        time: i64,
        /// Its level.
        level: Level,
        /// Its source.
        target: &'a str,
        /// Its text.
        message: &'a str,
    },
}

/// Buffers that a decoded row borrows from.
#[derive(Debug, Default)]
pub struct Buffers {
    values: Vec<f64>,
    groups: Vec<GroupStatus>,
    u0: Vec<f64>,
    u: Vec<f64>,
    commands: Vec<f64>,
    configuration: [Vec<f64>; 2],
    velocity: [Vec<f64>; 2],
    acceleration: Vec<f64>,
    poses: Vec<[f64; 7]>,
    disturbance: Vec<f64>,
    estimate: Vec<f64>,
    target: String,
    message: String,
}

impl Layout {
    pub fn new(header: &Header) -> Self {
        Self {
            values: header.description.frame_signals().count(),
            groups: header.description.groups.len(),
            inputs: header.input_dim,
            commands: header.description.commands().count(),
            bodies: header.bodies.len(),
            config_dim: header.config_dim,
            dof: header.dof,
            disturbance: header.disturbance_dim,
            estimate: (header.estimate.as_ref()).map_or(0, |sensors| ESTIMATE + sensors.len()),
        }
    }

    /// Number of words of a row; the first one marks it as a row.
    pub const fn row_words(&self) -> usize {
        4 + self.values
            + 2 * self.groups
            + 13
            + self.system_words()
            + self.control_words()
            + self.estimate
            + self.commands
    }

    const fn system_words(&self) -> usize {
        self.config_dim + self.dof + 7 * self.bodies
    }

    const fn control_words(&self) -> usize {
        19 + self.config_dim + 2 * self.dof + 2 + 2 * self.inputs + 4 + 2 + self.disturbance + 1
    }

    /// Words of the longest item.
    pub const fn max_words(&self) -> usize {
        let event = 4 + 2 * (MAX_TEXT / 8 + 1);
        if self.row_words() > event {
            self.row_words()
        } else {
            event
        }
    }

    /// Words of the item that starts with this word.
    pub const fn item_words(&self, first: u64) -> usize {
        if first & 0xff == EVENT {
            (first >> 16) as usize
        } else {
            self.row_words()
        }
    }

    /// Writes a row into `words`, which is cleared first and has a capacity of [`Self::max_words`].
    pub fn encode_row(&self, row: &Row, words: &mut Vec<u64>) -> Result<(), LogError> {
        check("`values`", self.values, row.values.len())?;
        check("`groups`", self.groups, row.groups.len())?;
        words.clear();
        let of_control = |holds: fn(&Control) -> bool| row.control.as_ref().is_some_and(holds);
        let flags = [
            (NO_FRAME, row.status == Status::None),
            (STATE, row.state.is_some()),
            (CONTROL, row.control.is_some()),
            (COMMANDS, row.commands.is_some()),
            (SATURATED, of_control(|c| c.saturated)),
            (SYSTEM, row.system.is_some()),
            (REFERENCE, of_control(|c| c.reference.is_some())),
            (SYSTEM_REFERENCE, of_control(|c| c.system.is_some())),
            (ESTIMATED, row.estimate.is_some()),
        ];
        let solver = row.control.as_ref().map_or(0, |c| c.solver);
        let numbers = u64::from(row.mode) << MODE_AT | u64::from(solver) << SOLVER_AT;
        let set = |word, (flag, is_set): (u64, bool)| if is_set { word | flag } else { word };
        words.push(flags.into_iter().fold(ROW | numbers, set));
        words.push(row.time.cast_unsigned());
        let (active, iterations) = row
            .control
            .as_ref()
            .map_or((0, 0), |c| (c.active, c.iterations));
        words.push(u64::from(active));
        words.push(u64::from(iterations));
        extend(words, row.values);
        for group in row.groups {
            words.push(group.stamp.cast_unsigned());
            words.push(u64::from(group.valid));
        }
        let state = row.state.unwrap_or_default();
        extend(words, &state.pose);
        extend(words, &state.twist);
        if let Some(system) = &row.system {
            check(
                "`configuration`",
                self.config_dim,
                system.configuration.len(),
            )?;
            check("`velocity`", self.dof, system.velocity.len())?;
            check("`poses`", self.bodies, system.poses.len())?;
            extend(words, system.configuration);
            extend(words, system.velocity);
            extend(words, system.poses.as_flattened());
        } else {
            words.resize(words.len() + self.system_words(), 0);
        }
        if let Some(control) = &row.control {
            check("`u0`", self.inputs, control.u0.len())?;
            check("`u`", self.inputs, control.u.len())?;
            let reference = control.reference.unwrap_or_default();
            extend(words, &reference.pose);
            extend(words, &reference.twist);
            extend(words, &reference.acceleration);
            if let Some(system) = &control.system {
                check(
                    "`configuration`",
                    self.config_dim,
                    system.configuration.len(),
                )?;
                check("`velocity`", self.dof, system.velocity.len())?;
                check("`acceleration`", self.dof, system.acceleration.len())?;
                extend(words, system.configuration);
                extend(words, system.velocity);
                extend(words, system.acceleration);
            } else {
                words.resize(words.len() + self.config_dim + 2 * self.dof, 0);
            }
            extend(words, &control.errors);
            extend(words, control.u0);
            extend(words, control.u);
            let energies =
                (control.energies).map(|e| [e.kinetic, e.potential, e.dissipation, e.total]);
            extend(words, &energies.unwrap_or([f64::NAN; 4]));
            extend(words, &control.energy_rates.unwrap_or([f64::NAN; 2]));
            check("`disturbance`", self.disturbance, control.disturbance.len())?;
            extend(words, control.disturbance);
            extend(words, &[control.thrust_scale.unwrap_or(f64::NAN)]);
        } else {
            words.resize(words.len() + self.control_words(), 0);
        }
        if let Some(estimate) = row.estimate {
            check("`estimate`", self.estimate, estimate.len())?;
            extend(words, estimate);
        } else {
            words.resize(words.len() + self.estimate, 0);
        }
        if let Some(commands) = row.commands {
            check("`commands`", self.commands, commands.len())?;
            extend(words, commands);
        } else {
            words.resize(words.len() + self.commands, 0);
        }
        debug_assert_eq!(words.len(), self.row_words());
        Ok(())
    }

    /// Writes an event into `words`; texts are cut at [`MAX_TEXT`] bytes.
    pub fn encode_event(
        time: i64,
        level: Level,
        target: &str,
        message: &str,
        words: &mut Vec<u64>,
    ) {
        let (target, message) = (cut(target), cut(message));
        words.clear();
        words.extend([0, time.cast_unsigned(), level as u64]);
        words.push(target.len() as u64 | (message.len() as u64) << 32);
        for text in [target, message] {
            for eight in text.as_bytes().chunks(8) {
                let mut word = [0; 8];
                word[..eight.len()].copy_from_slice(eight);
                words.push(u64::from_le_bytes(word));
            }
        }
        words[0] = EVENT | (words.len() as u64) << 16;
    }

    /// The inverse of [`Self::encode_row`] and [`Self::encode_event`].
    #[expect(
        clippy::cast_possible_truncation,
        reason = "the encoder put numbers of these widths there"
    )]
    pub fn decode<'a>(&self, words: &[u64], buffers: &'a mut Buffers) -> Item<'a> {
        if words[0] & 0xff == EVENT {
            let (target, message) = ((words[3] & 0xffff_ffff) as usize, (words[3] >> 32) as usize);
            let split = 4 + target.div_ceil(8);
            text(&words[4..split], target, &mut buffers.target);
            text(&words[split..], message, &mut buffers.message);
            return Item::Event {
                time: words[1].cast_signed(),
                level: level(words[2]),
                target: &buffers.target,
                message: &buffers.message,
            };
        }
        let flag = |flag: u64| words[0] & flag != 0;
        let mut rest = Words(&words[4..]);
        rest.fill(self.values, &mut buffers.values);
        buffers.groups.clear();
        for _ in 0..self.groups {
            let stamp = rest.word().cast_signed();
            buffers.groups.push(GroupStatus {
                stamp,
                valid: rest.word() == 1,
            });
        }
        let state = State {
            pose: rest.array(),
            twist: rest.array(),
        };
        let [configuration, desired_configuration] = &mut buffers.configuration;
        let [velocity, desired_velocity] = &mut buffers.velocity;
        rest.fill(self.config_dim, configuration);
        rest.fill(self.dof, velocity);
        buffers.poses.clear();
        for _ in 0..self.bodies {
            buffers.poses.push(rest.array());
        }
        let reference = Reference {
            pose: rest.array(),
            twist: rest.array(),
            acceleration: rest.array(),
        };
        rest.fill(self.config_dim, desired_configuration);
        rest.fill(self.dof, desired_velocity);
        rest.fill(self.dof, &mut buffers.acceleration);
        let errors = rest.array();
        rest.fill(self.inputs, &mut buffers.u0);
        rest.fill(self.inputs, &mut buffers.u);
        let [kinetic, potential, dissipation, total] = rest.array();
        let energy_rates: [f64; 2] = rest.array();
        rest.fill(self.disturbance, &mut buffers.disturbance);
        let [thrust_scale] = rest.array();
        rest.fill(self.estimate, &mut buffers.estimate);
        rest.fill(self.commands, &mut buffers.commands);
        let control = Control {
            reference: flag(REFERENCE).then_some(reference),
            system: flag(SYSTEM_REFERENCE).then_some(SystemReference {
                configuration: desired_configuration,
                velocity: desired_velocity,
                acceleration: &buffers.acceleration,
            }),
            errors,
            u0: &buffers.u0,
            u: &buffers.u,
            energies: (!total.is_nan()).then_some(Energies {
                kinetic,
                potential,
                dissipation,
                total,
            }),
            energy_rates: Some(energy_rates).filter(|[measured, _]| !measured.is_nan()),
            disturbance: &buffers.disturbance,
            thrust_scale: Some(thrust_scale).filter(|scale: &f64| !scale.is_nan()),
            active: words[2] as u32,
            saturated: flag(SATURATED),
            solver: (words[0] >> SOLVER_AT) as u8,
            iterations: words[3] as u32,
        };
        Item::Row(Row {
            time: words[1].cast_signed(),
            status: if flag(NO_FRAME) {
                Status::None
            } else {
                Status::Fresh
            },
            mode: (words[0] >> MODE_AT) as u8,
            values: &buffers.values,
            groups: &buffers.groups,
            state: flag(STATE).then_some(state),
            system: flag(SYSTEM).then_some(SystemState {
                configuration,
                velocity,
                poses: &buffers.poses,
            }),
            control: flag(CONTROL).then_some(control),
            estimate: flag(ESTIMATED).then_some(buffers.estimate.as_slice()),
            commands: flag(COMMANDS).then_some(&buffers.commands),
        })
    }
}

/// Rejects an array of another length.
fn check(what: &'static str, expected: usize, found: usize) -> Result<(), LogError> {
    if expected == found {
        Ok(())
    } else {
        Err(LogError::Shape {
            what,
            expected,
            found,
        })
    }
}

/// The words that have not been read yet.
struct Words<'a>(&'a [u64]);

impl Words<'_> {
    fn word(&mut self) -> u64 {
        let word = self.0[0];
        self.0 = &self.0[1..];
        word
    }

    fn array<const N: usize>(&mut self) -> [f64; N] {
        std::array::from_fn(|_| f64::from_bits(self.word()))
    }

    fn fill(&mut self, n: usize, out: &mut Vec<f64>) {
        out.clear();
        let (taken, rest) = self.0.split_at(n);
        out.extend(taken.iter().map(|&word| f64::from_bits(word)));
        self.0 = rest;
    }
}

fn extend(words: &mut Vec<u64>, values: &[f64]) {
    words.extend(values.iter().map(|value| value.to_bits()));
}

/// At most [`MAX_TEXT`] bytes, cut at a character boundary.
fn cut(text: &str) -> &str {
    &text[..text.floor_char_boundary(MAX_TEXT)]
}

fn text(words: &[u64], length: usize, out: &mut String) {
    let bytes: Vec<u8> = words
        .iter()
        .flat_map(|word| word.to_le_bytes())
        .take(length)
        .collect();
    out.clear();
    out.push_str(&String::from_utf8_lossy(&bytes));
}

fn level(word: u64) -> Level {
    [Level::Debug, Level::Info, Level::Warning, Level::Error]
        .into_iter()
        .find(|&level| level as u64 == word)
        .unwrap_or(Level::Fatal)
}
