//! Indices in a frame of the quantities that a report shows.

use fly_hal::Signal;
use fly_hal::signal::{TRUTH, group_names, truth};

use super::row::{Pose, Row};

/// Indices into a frame's values, and the group of each quantity.
#[derive(Clone, Debug, Default)]
pub struct Places {
    pose: Option<([usize; 7], usize)>,
    twist: Option<([usize; 6], usize)>,
    true_pose: Option<([usize; 7], usize)>,
    true_twist: Option<([usize; 6], usize)>,
    true_bodies: Vec<([usize; 7], usize)>,
    setpoint_position: Option<([usize; 3], usize)>,
    setpoint_attitude: Option<([usize; 4], usize)>,
    setpoint_source: Option<([usize; 1], usize)>,
    wind: Option<([usize; 3], usize)>,
    voltage: Option<([usize; 1], usize)>,
    /// Remaining charge of the battery.
    charge: Option<usize>,
    actual: Vec<Option<usize>>,
}

impl Places {
    /// For frames with these signals, each with its index; the outputs of `commands` are looked up among the
    /// simulation's true values.
    pub fn new(signals: &[(usize, Signal)], groups: &[String], commands: &[Signal]) -> Self {
        let find = |name: &str| signals.iter().find(|(_, signal)| signal.name == name);
        let group_of = |signal: &Signal| {
            let group = signal.group.unwrap_or_default();
            group.min(groups.len().saturating_sub(1))
        };
        // All components of some groups of names.
        let all = |prefixes: &[&str]| -> Option<(Vec<usize>, usize)> {
            let names = prefixes.iter().flat_map(|prefix| {
                let (told, plain) = match prefix.strip_prefix("truth.") {
                    Some(plain) => (true, plain),
                    None => (false, *prefix),
                };
                let names = group_names(plain);
                names.map(move |name| if told { truth(&name) } else { name })
            });
            let found: Option<Vec<_>> = names.map(|name| find(&name)).collect();
            let found = found?;
            let group = group_of(&found.first()?.1);
            Some((found.iter().map(|(place, _)| *place).collect(), group))
        };
        let single = |name: &str| find(name).map(|(place, signal)| ([*place], group_of(signal)));
        let body = |i: usize| {
            of(all(&[
                &format!("{TRUTH}.body.{i}.position"),
                &format!("{TRUTH}.body.{i}.quaternion"),
            ]))
        };
        Self {
            pose: of(all(&["pose.position", "pose.quaternion"])),
            twist: of(all(&["twist.linear", "twist.angular"])),
            true_pose: of(all(&["truth.pose.position", "truth.pose.quaternion"])),
            true_twist: of(all(&["truth.twist.linear", "truth.twist.angular"])),
            true_bodies: (0..).map_while(body).collect(),
            setpoint_position: of(all(&["setpoint.position"])),
            setpoint_attitude: of(all(&["setpoint.quaternion"])),
            setpoint_source: single("setpoint.source"),
            wind: of(all(&["truth.wind"])).or_else(|| of(all(&["wind"]))),
            voltage: single("battery.voltage"),
            charge: find("battery.remaining").map(|(place, _)| *place),
            actual: (commands.iter())
                .map(|command| find(&truth(&command.name)).map(|(place, _)| *place))
                .collect(),
        }
    }

    /// Number of bodies with true poses; 0 if only a single true pose is known.
    pub const fn true_bodies(&self) -> usize {
        self.true_bodies.len()
    }

    /// Reads the quantities other than the state: truth, air, battery. `valid` and `stamps` belong to the groups (s,
    /// like the row's time).
    pub fn read(&self, values: &[f64], valid: &[bool], stamps: &[f64], row: &mut Row) {
        row.true_pose = take(self.true_pose.as_ref(), values, valid);
        row.true_twist = take(self.true_twist.as_ref(), values, valid);
        let bodies = self.true_bodies.iter();
        let bodies: Option<Vec<Pose>> = bodies
            .map(|place| take(Some(place), values, valid))
            .collect();
        row.bodies.extend(bodies.unwrap_or_default());
        row.wind = take(self.wind.as_ref(), values, valid);
        row.voltage = self.voltage(values, valid);
        if self.actual.iter().any(Option::is_some) {
            let place = |place: &Option<usize>| {
                let value = place.and_then(|place| values.get(place));
                value.copied().unwrap_or(f64::NAN)
            };
            row.actual.extend(self.actual.iter().map(place));
        }
        if let Some((_, group)) = self.pose {
            let stamp = stamps
                .get(group)
                .filter(|_| valid.get(group) == Some(&true));
            row.age = stamp.map(|stamp| row.time - stamp);
        }
    }

    /// The voltage. A battery whose charge is unknown is not valid as a whole, for ever.
    fn voltage(&self, values: &[f64], valid: &[bool]) -> Option<f64> {
        let (place, group) = self.voltage?;
        let charge = self.charge.and_then(|charge| values.get(charge));
        let is_alone = charge.is_some_and(|charge| charge.is_nan());
        let taken = if is_alone {
            take(Some(&(place, 0)), values, &[true])
        } else {
            take(Some(&(place, group)), values, valid)
        };
        taken.map(|[voltage]| voltage)
    }

    /// Reads the measured state and the recorded setpoints: those that were commanded. What is smoothed from the flown path
    /// has no error.
    pub fn read_state(&self, values: &[f64], valid: &[bool], row: &mut Row) {
        row.pose = take(self.pose.as_ref(), values, valid);
        row.twist = take(self.twist.as_ref(), values, valid);
        let [has_position, has_attitude] = self.commanded(values, valid);
        let position = take(self.setpoint_position.as_ref(), values, valid);
        let attitude = take(self.setpoint_attitude.as_ref(), values, valid);
        let position = position.filter(|_| has_position);
        let attitude = attitude.filter(|_| has_attitude);
        if position.is_some() || attitude.is_some() {
            let [x, y, z] = position.unwrap_or([f64::NAN; 3]);
            let [w, i, j, k] = attitude.unwrap_or([f64::NAN; 4]);
            row.reference = Some([x, y, z, w, i, j, k]);
        }
    }

    /// Whether position and attitude were commanded, by `setpoint.source`. A log without it has only such setpoints.
    fn commanded(&self, values: &[f64], valid: &[bool]) -> [bool; 2] {
        let Some(place) = &self.setpoint_source else {
            return [true; 2];
        };
        match take(Some(place), values, valid) {
            Some([0.0]) => [true; 2],
            Some([2.0]) => [false, true],
            Some([3.0]) => [true, false],
            _ => [false; 2],
        }
    }
}

/// The indices of this many components, and their group.
fn of<const N: usize>(found: Option<(Vec<usize>, usize)>) -> Option<([usize; N], usize)> {
    let (places, group) = found?;
    Some((places.try_into().ok()?, group))
}

/// The values at some indices, if their group is valid and all are finite.
fn take<const N: usize>(
    place: Option<&([usize; N], usize)>,
    values: &[f64],
    valid: &[bool],
) -> Option<[f64; N]> {
    let (places, group) = place?;
    let taken = places.map(|place| values.get(place).copied().unwrap_or(f64::NAN));
    let valid = valid.get(*group).copied().unwrap_or_default();
    (valid && taken.iter().all(|value| value.is_finite())).then_some(taken)
}
