//! Sensors that hang: their numbers repeat to the last bit while their stamps go on, and the vehicle moves.
#![allow(non_snake_case)]

use fly_hal::Frame;
use fly_hal::signal::UNIT_TOLERANCE;
use fly_lie::SO3;
use nalgebra::{Vector3, Vector4};

use crate::binding::{Binding, StateBinding};
use crate::time::seconds;

/// Numbers are frozen if they have repeated for this many times `safety.stale_ms`, and if meanwhile the pose has deviated from the
/// integrated velocities by more than all of the following.
const REPEATED: i64 = 5;
/// Smallest deviation, m or rad.
const APART: f64 = 0.05;
/// Smallest deviation as a part of the path of the integrated velocities.
const PART: f64 = 0.1;
/// Error of a velocity, m/s or rad/s, that a rounded velocity which repeats may have.
const ROUNDED: f64 = 0.1;
/// A new position that deviates from the integrated velocities by more than this, m, has jumped.
const JUMP: f64 = 0.5;

/// Watches each group of the state.
#[derive(Debug, Clone)]
pub(super) struct FrozenGroups {
    groups: Vec<Watched>,
    /// The group of the tracked body's position, quaternion, linear and angular velocity.
    body: [Option<usize>; 4],
    last: Option<i64>,
    /// Whether the last frame was good.
    was_sound: bool,
    /// How many new positions in a row have deviated from the integrated velocities by a jump.
    apart_in_a_row: u8,
}

/// A group, and the velocities integrated since its numbers last changed.
#[derive(Debug, Clone)]
struct Watched {
    part: Part,
    /// Whether its numbers are velocities.
    is_velocity: bool,
    numbers: [f64; 4],
    /// The stamps at which they last changed, and last came, ns.
    changed: i64,
    stamp: i64,
    /// The coordinates when the integration began.
    start: Displacement,
    /// The integrated velocities.
    displacement: Displacement,
    /// Length of their path, m or rad.
    length: f64,
    is_frozen: bool,
}

/// What a group is compared with.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Part {
    /// Position and velocity of the tracked body.
    Translation,
    /// Attitude and angular velocity of the tracked body.
    Rotation,
    /// A joint of one coordinate with its velocity.
    Joint,
    /// A part of a joint of several coordinates: it counts where the whole state repeats.
    Other,
}

/// The displacement between two poses, or of a pose from the origin.
#[derive(Debug, Clone, Copy)]
struct Displacement {
    /// Of a joint of one coordinate: x.
    translation: Vector3<f64>,
    rotation: SO3<f64>,
}

impl Displacement {
    fn none() -> Self {
        Self {
            translation: Vector3::zeros(),
            rotation: SO3::identity(),
        }
    }
}

impl FrozenGroups {
    /// Of a state whose groups have these names, in the order of the binding.
    pub fn new(names: &[String], binding: &Binding) -> Self {
        let names = || names.iter().map(String::as_str);
        let groups = (names().zip(&binding.state)).map(|(name, state)| {
            let part = match name {
                "pose.position" | "twist.linear" => Part::Translation,
                "pose.quaternion" | "twist.angular" => Part::Rotation,
                _ if state.velocity == 1 => Part::Joint,
                _ => Part::Other,
            };
            Watched {
                part,
                is_velocity: state.velocity == 0,
                numbers: [f64::NAN; 4],
                changed: i64::MIN,
                stamp: i64::MIN,
                start: Displacement::none(),
                displacement: Displacement::none(),
                length: 0.0,
                is_frozen: false,
            }
        });
        let groups = groups.collect();
        let place = |name: &str| names().position(|own| own == name);
        let body = [
            "pose.position",
            "pose.quaternion",
            "twist.linear",
            "twist.angular",
        ]
        .map(place);
        Self {
            groups,
            body,
            last: None,
            was_sound: false,
            apart_in_a_row: 0,
        }
    }

    /// Takes the frame at `time`, ns. Groups freeze only where they `may`, and stay frozen as long as they repeat.
    pub fn observe(
        &mut self,
        binding: &Binding,
        frame: &Frame,
        time: i64,
        stale_after: i64,
        may: bool,
    ) {
        let elapsed = self
            .last
            .replace(time)
            .map_or(0, |last| time.saturating_sub(last));
        let elapsed = seconds(elapsed);
        let (pose, [v, w]) = self.body_motion(binding, frame);
        let world = pose.rotation.act(&v);
        // The integration begins anew after a bad frame or a jump, and before the flight.
        let is_sound = is_sound(binding, frame);
        let is_broken = !std::mem::replace(&mut self.was_sound, is_sound) || !is_sound;
        let deviates = self.body[0].and_then(|place| {
            let group = &binding.state[place].group;
            let is_new = self.groups[place].is_new(frame.groups[group.group].stamp)
                && self.groups[place].numbers != group.numbers(&frame.values);
            is_new.then(|| self.groups[place].deviation(&pose) > JUMP + world.norm() * elapsed)
        });
        // A jump is there and perhaps back. If every new position deviates, a velocity hangs while slow telemetry follows the vehicle.
        let has_jumped = deviates.is_some_and(|deviates| {
            self.apart_in_a_row = if deviates {
                self.apart_in_a_row.saturating_add(1)
            } else {
                0
            };
            (1..=2).contains(&self.apart_in_a_row)
        });
        let most = REPEATED.saturating_mul(stale_after);
        let (mut all_repeat, mut any_apart) = (true, false);
        for (watched, state) in self.groups.iter_mut().zip(&binding.state) {
            let numbers = state.group.numbers(&frame.values);
            let (coordinates, rate, turn) = match watched.part {
                Part::Translation => (pose, world, Vector3::zeros()),
                Part::Rotation => (pose, Vector3::zeros(), w),
                Part::Joint => (
                    Displacement {
                        translation: Vector3::x() * numbers[0],
                        ..Displacement::none()
                    },
                    Vector3::x() * numbers[1],
                    Vector3::zeros(),
                ),
                Part::Other => {
                    let mut rate = Vector3::zeros();
                    for (rate, place) in rate.iter_mut().zip(state.velocity..state.group.length) {
                        *rate = numbers[place];
                    }
                    (Displacement::none(), rate, Vector3::zeros())
                }
            };
            let has_jumped = has_jumped && watched.part == Part::Translation;
            if is_broken || has_jumped || !(may || watched.is_frozen) {
                watched.restart(coordinates);
            } else {
                watched.dead_reckon(&(rate * elapsed), &(turn * elapsed));
            }
            watched.update(frame.groups[state.group.group].stamp, numbers, coordinates);
            let repeats = watched.repeated() > most;
            let is_apart = repeats && may && watched.is_apart(&coordinates);
            watched.is_frozen &= repeats;
            watched.is_frozen |= is_apart && watched.part != Part::Other;
            all_repeat &= repeats;
            any_apart |= is_apart;
        }
        // What is at rest by its own velocities hangs as well.
        if all_repeat && any_apart {
            for watched in &mut self.groups {
                watched.is_frozen = true;
            }
        }
    }

    /// Whether this group is frozen, by its index in the binding.
    pub fn is_frozen(&self, group: usize) -> bool {
        self.groups[group].is_frozen
    }

    /// Pose and twist of the tracked body in a frame; at rest where there is none.
    fn body_motion(&self, binding: &Binding, frame: &Frame) -> (Displacement, [Vector3<f64>; 2]) {
        let [position, attitude, linear, angular] = self.body.map(|place| {
            let state: Option<&StateBinding> = place.and_then(|place| binding.state.get(place));
            state.map(|state| Vector4::from(state.group.numbers(&frame.values)))
        });
        let vector =
            |numbers: Option<Vector4<f64>>| numbers.map_or(Vector3::zeros(), |it| it.xyz());
        let unit = attitude.filter(|q| (q.norm() - 1.0).abs() <= UNIT_TOLERANCE);
        let rotation = unit.map_or(SO3::identity(), |q| SO3::from_quaternion(&q.normalize()));
        let pose = Displacement {
            translation: vector(position),
            rotation,
        };
        (pose, [vector(linear), vector(angular)])
    }
}

/// Whether the whole state is valid and finite.
fn is_sound(binding: &Binding, frame: &Frame) -> bool {
    binding
        .state
        .iter()
        .all(|state| frame.groups[state.group.group].valid && state.group.is_finite(&frame.values))
}

impl Watched {
    /// Adds these displacements, m in the world and rad in the body.
    fn dead_reckon(&mut self, by: &Vector3<f64>, turn: &Vector3<f64>) {
        if self.part == Part::Rotation {
            self.displacement.rotation = self.displacement.rotation * SO3::exp(turn);
        } else {
            self.displacement.translation += by;
        }
        self.length += by.norm() + turn.norm();
    }

    /// Takes the group's numbers with their stamp (ns), and the current coordinates.
    fn update(&mut self, stamp: i64, numbers: [f64; 4], coordinates: Displacement) {
        if !self.is_new(stamp) {
            return;
        }
        self.stamp = stamp;
        if std::mem::replace(&mut self.numbers, numbers) != numbers {
            self.changed = stamp;
            self.restart(coordinates);
        }
    }

    fn is_new(&self, stamp: i64) -> bool {
        stamp > self.stamp || self.stamp == i64::MIN
    }

    /// Begins the integration at these coordinates.
    fn restart(&mut self, coordinates: Displacement) {
        (self.start, self.displacement, self.length) = (coordinates, Displacement::none(), 0.0);
    }

    /// For how long its numbers have been the same under new stamps, ns.
    fn repeated(&self) -> i64 {
        self.stamp.saturating_sub(self.changed)
    }

    /// Deviation of these coordinates from the integrated velocities, m or rad.
    fn deviation(&self, coordinates: &Displacement) -> f64 {
        match self.part {
            Part::Rotation => {
                let expected = self.start.rotation * self.displacement.rotation;
                (expected.inverse() * coordinates.rotation).log().norm()
            }
            _ => (self.start.translation + self.displacement.translation - coordinates.translation)
                .norm(),
        }
    }

    /// Whether the deviation is too large for numbers that do not hang.
    fn is_apart(&self, coordinates: &Displacement) -> bool {
        let rounded = if self.is_velocity {
            ROUNDED * seconds(self.repeated())
        } else {
            0.0
        };
        self.deviation(coordinates) > APART.max(PART * self.length).max(rounded)
    }
}

#[cfg(test)]
mod tests {
    use fly_hal::{Description, GroupStatus};

    use super::*;

    const MS: i64 = 1_000_000;

    /// The frames of a vehicle that climbs at 0.5 m/s and turns at 0.4 rad/s, with the numbers of these groups as they were after 1 s.
    /// Returns which groups are frozen after 2 s.
    fn frozen(hanging: &[usize], may: bool) -> [bool; 4] {
        spoiled(hanging, may, |_, _| {})
    }

    /// The same, with the values of each tick's frame spoiled.
    fn spoiled(hanging: &[usize], may: bool, spoil: impl Fn(i64, &mut [f64])) -> [bool; 4] {
        let names = [
            "pose.position",
            "pose.quaternion",
            "twist.linear",
            "twist.angular",
        ]
        .map(str::to_owned);
        let description = names
            .iter()
            .try_fold(Description::new(), |description, group| {
                description.with_group(group)
            })
            .expect("canonical");
        let binding = Binding::new("test", &description, &names, &[]).expect("complete");
        let mut groups = FrozenGroups::new(&names, &binding);
        let mut frame = description.frame();
        for tick in 0..1000 {
            let now = tick * 2 * MS;
            for (group, state) in binding.state.iter().enumerate() {
                let at = if hanging.contains(&group) {
                    now.min(1000 * MS)
                } else {
                    now
                };
                let t = seconds(at);
                // As with real sensors, no two numbers are the same.
                let noise = 1e-6 * (t * 1e4).sin();
                let (s, c) = (0.2 * t).sin_cos();
                let numbers = [
                    [0.0, 0.0, 0.5 * t, 0.0],
                    [c, 0.0, 0.0, s],
                    [noise, 0.0, 0.5, 0.0],
                    [noise, 0.0, 0.4, 0.0],
                ][group];
                for (place, number) in state.group.values[..state.group.length].iter().zip(numbers)
                {
                    frame.values[*place] = number;
                }
                frame.groups[state.group.group] = GroupStatus {
                    stamp: now,
                    valid: true,
                };
            }
            spoil(tick, &mut frame.values);
            groups.observe(&binding, &frame, now, 100 * MS, may);
        }
        [0, 1, 2, 3].map(|group| groups.is_frozen(group))
    }

    #[test]
    fn each_group_that_hangs_alone_is_found() {
        assert_eq!(frozen(&[], true), [false; 4]);
        assert_eq!(frozen(&[0], true), [true, false, false, false]);
        assert_eq!(frozen(&[1], true), [false, true, false, false]);
        assert_eq!(frozen(&[0, 2], true), [true, false, true, false]);
        assert_eq!(frozen(&[0, 1, 2, 3], true), [true; 4]);
        // At these velocities it goes on.
        assert_eq!(frozen(&[2, 3], true), [false; 4]);
        assert_eq!(frozen(&[0], false), [false; 4]);
    }

    #[test]
    fn one_broken_frame_hides_nothing() {
        let broken = |tick: i64, values: &mut [f64]| {
            if tick == 600 {
                values[9] = f64::NAN;
            }
        };
        assert_eq!(spoiled(&[0], true, broken), [true, false, false, false]);
    }

    #[test]
    fn a_jump_of_the_position_is_no_velocity_that_hangs() {
        let jumped = |tick: i64, values: &mut [f64]| {
            if tick >= 900 {
                values[2] += 3.0;
            }
        };
        assert_eq!(spoiled(&[2], true, jumped), [false; 4]);
    }

    #[test]
    fn one_wrong_position_is_no_velocity_that_hangs() {
        let wrong = |tick: i64, values: &mut [f64]| {
            if tick == 900 {
                values[0] += 5.0;
            }
        };
        assert_eq!(spoiled(&[2], true, wrong), [false; 4]);
    }

    /// Positions of 10 Hz, 0.8 m apart, of a vehicle whose velocity hangs at zero.
    #[test]
    fn slow_telemetry_hides_no_velocity_that_hangs() {
        let hanging = |tick: i64, values: &mut [f64]| {
            values[2] = 0.8 * (tick / 50) as f64;
            values[7..10].fill(0.0);
        };
        assert_eq!(spoiled(&[], true, hanging), [false, false, true, false]);
    }
}
