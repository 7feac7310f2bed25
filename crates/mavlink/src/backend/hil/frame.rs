//! From a simulator's messages to a frame.

use fly_hal::{Description, Error, FrameMut, GroupStatus};

use crate::frames::rotate_inverse;
use crate::hil::Sensed;

/// The groups, in the order of a frame, with how many numbers each has.
const GROUPS: [(&str, usize); 11] = [
    ("pose.position", 3),
    ("pose.quaternion", 4),
    ("twist.linear", 3),
    ("twist.angular", 3),
    ("imu.angular_velocity", 3),
    ("imu.specific_force", 3),
    ("magnetometer.field", 3),
    ("barometer", 1),
    ("airspeed", 1),
    ("gnss.position", 3),
    ("gnss.velocity", 3),
];

/// The signals of a simulated vehicle: its true state and its raw sensors.
pub(super) fn describe(commands: &[String]) -> Result<Description, Error> {
    let mut description = Description::new();
    for (group, _) in GROUPS {
        description = description.with_group(group)?;
    }
    description.with_signals(commands)
}

/// Writes new samples into the frame, with the stamp `time`, ns.
pub(super) fn fill(sensed: &Sensed, time: i64, frame: &mut FrameMut) {
    let mut groups = Groups {
        frame,
        time,
        group: 0,
        place: 0,
    };
    let motion = sensed.motion.as_ref();
    groups.put(motion.map(|motion| motion.position));
    groups.put(motion.map(|motion| motion.attitude));
    groups.put(motion.map(|motion| rotate_inverse(motion.attitude, motion.velocity)));
    groups.put(motion.map(|motion| motion.angular_velocity));
    groups.put(sensed.inertial.map(|inertial| inertial.angular_velocity));
    groups.put(sensed.inertial.map(|inertial| inertial.specific_force));
    groups.put(sensed.magnetic_field);
    groups.put(sensed.altitude.map(|altitude| [altitude]));
    groups.put(sensed.airspeed.map(|airspeed| [airspeed]));
    groups.put(sensed.fix.map(|fix| fix.position));
    groups.put(sensed.fix.map(|fix| fix.velocity));
}

struct Groups<'a, 'b> {
    frame: &'a mut FrameMut<'b>,
    time: i64,
    group: usize,
    place: usize,
}

impl Groups<'_, '_> {
    /// The next group. Without a sample it stays as it was.
    fn put<const N: usize>(&mut self, sample: Option<[f64; N]>) {
        debug_assert_eq!(GROUPS[self.group].1, N);
        if let Some(sample) = sample {
            self.frame.values[self.place..self.place + N].copy_from_slice(&sample);
            self.frame.groups[self.group] = GroupStatus {
                stamp: self.time,
                valid: true,
            };
        }
        self.group += 1;
        self.place += N;
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::hil::{Fix, Inertial, Motion};
    use fly_hal::Frame;

    #[test]
    fn every_group_has_its_own_numbers() {
        let commands = ["rotor.0.thrust".to_owned()];
        let description = describe(&commands).unwrap();
        assert_eq!(description.faults(), Vec::<String>::new());
        let mut frame = description.frame();
        let half = std::f64::consts::FRAC_1_SQRT_2;
        let sensed = Sensed {
            inertial: Some(Inertial {
                angular_velocity: [1.0, 2.0, 3.0],
                specific_force: [4.0, 5.0, 6.0],
            }),
            magnetic_field: Some([7.0, 8.0, 9.0]),
            altitude: Some(10.0),
            airspeed: Some(11.0),
            fix: Some(Fix {
                position: [12.0, 13.0, 14.0],
                velocity: [15.0, 16.0, 17.0],
            }),
            distance: None,
            motion: Some(Motion {
                position: [18.0, 19.0, 20.0],
                // Looks to the left, to the west.
                attitude: [half, 0.0, 0.0, half],
                velocity: [0.0, 5.0, 0.0],
                angular_velocity: [21.0, 22.0, 23.0],
            }),
        };
        fill(&sensed, 5, &mut frame.as_mut());
        let value = |name: &str| frame.values[description.value_index(name).unwrap()];
        for (name, expected) in [
            ("pose.position.x", 18.0),
            ("pose.quaternion.z", half),
            ("twist.angular.z", 23.0),
            ("imu.angular_velocity.y", 2.0),
            ("imu.specific_force.x", 4.0),
            ("magnetometer.field.z", 9.0),
            ("barometer.altitude", 10.0),
            ("airspeed.speed", 11.0),
            ("gnss.position.y", 13.0),
            ("gnss.velocity.z", 17.0),
        ] {
            assert_eq!(value(name), expected, "{name}");
        }
        assert!(
            (value("twist.linear.x") - 5.0).abs() < 1e-12,
            "forward is west"
        );
        assert!(
            frame
                .groups
                .iter()
                .all(|group| group.valid && group.stamp == 5)
        );
        let before: Frame = frame.clone();
        fill(&Sensed::default(), 9, &mut frame.as_mut());
        assert_eq!(frame, before, "nothing new");
    }
}
