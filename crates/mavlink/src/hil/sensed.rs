//! A simulated vehicle's sensor samples and true motion, read from frames.

use fly_hal::signal::{TRUTH, group_names, truth};
use fly_hal::{Description, Frame};

use crate::frames::{Quaternion, Vector, rotate};

/// New samples of a frame; `None` without a new one. World NWU, body FLU, SI units.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Sensed {
    /// Inertial measurement unit.
    pub inertial: Option<Inertial>,
    /// Magnetic field, T, body frame.
    pub magnetic_field: Option<Vector>,
    /// Pressure altitude, m, world.
    pub altitude: Option<f64>,
    /// Airspeed, m/s.
    pub airspeed: Option<f64>,
    /// Satellite navigation.
    pub fix: Option<Fix>,
    /// Distance to the ground, m; infinite if it is out of range.
    pub distance: Option<f64>,
    /// The true motion.
    pub motion: Option<Motion>,
}

impl Sensed {
    /// Replaces the samples for which there are newer ones.
    pub fn update(&mut self, newer: &Self) {
        *self = Self {
            inertial: newer.inertial.or(self.inertial),
            magnetic_field: newer.magnetic_field.or(self.magnetic_field),
            altitude: newer.altitude.or(self.altitude),
            airspeed: newer.airspeed.or(self.airspeed),
            fix: newer.fix.or(self.fix),
            distance: newer.distance.or(self.distance),
            motion: newer.motion.or(self.motion),
        };
    }
}

/// A sample of an inertial measurement unit, body frame.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Inertial {
    /// Angular velocity, rad/s.
    pub angular_velocity: Vector,
    /// Acceleration minus gravity, m/s².
    pub specific_force: Vector,
}

/// A satellite navigation fix, world frame.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Fix {
    /// Position, m.
    pub position: Vector,
    /// Velocity, m/s.
    pub velocity: Vector,
}

/// Pose and velocity.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Motion {
    /// Position, m, world frame.
    pub position: Vector,
    /// Attitude, world from body.
    pub attitude: Quaternion,
    /// Velocity, m/s, world frame.
    pub velocity: Vector,
    /// Angular velocity, rad/s, body frame.
    pub angular_velocity: Vector,
}

/// Reads samples from frames.
#[derive(Clone, Debug)]
pub struct Sensors {
    gyro: Option<Group<3>>,
    accelerometer: Option<Group<3>>,
    magnetometer: Option<Group<3>>,
    barometer: Option<Group<1>>,
    airspeed: Option<Group<1>>,
    position: Option<Group<3>>,
    velocity: Option<Group<3>>,
    range: Option<Group<1>>,
    truth: Option<Truth>,
}

/// A group of a frame: its index, the indices of its values, and the stamp of the last sample.
#[derive(Clone, Debug)]
struct Group<const N: usize> {
    status: usize,
    values: [usize; N],
    last: Option<i64>,
}

#[derive(Clone, Debug)]
struct Truth {
    group: usize,
    position: [usize; 3],
    attitude: [usize; 4],
    linear: [usize; 3],
    angular: [usize; 3],
}

impl Sensors {
    /// Finds the sensors of a backend and its true motion.
    pub fn bind(description: &Description) -> Self {
        Self {
            gyro: Group::bind(description, "imu.angular_velocity"),
            accelerometer: Group::bind(description, "imu.specific_force"),
            magnetometer: Group::bind(description, "magnetometer.field"),
            barometer: Group::bind(description, "barometer"),
            airspeed: Group::bind(description, "airspeed"),
            position: Group::bind(description, "gnss.position"),
            velocity: Group::bind(description, "gnss.velocity"),
            range: Group::bind(description, "range"),
            truth: Truth::bind(description),
        }
    }

    /// The sensors that every autopilot requires and the backend does not provide.
    pub fn missing(&self) -> Vec<&'static str> {
        let needed = [
            (self.gyro.is_some(), "imu.angular_velocity"),
            (self.accelerometer.is_some(), "imu.specific_force"),
            (self.truth.is_some(), "truth.pose.*, truth.twist.*"),
        ];
        let missing = needed.into_iter().filter(|(is_there, _)| !is_there);
        missing.map(|(_, name)| name).collect()
    }

    /// The new samples of this frame. Does not allocate.
    pub fn take(&mut self, frame: &Frame) -> Sensed {
        let gyro = take(&mut self.gyro, frame);
        let accelerometer = take(&mut self.accelerometer, frame);
        let position = take(&mut self.position, frame);
        let velocity = take(&mut self.velocity, frame);
        let number = |[one]: [f64; 1]| one;
        let out_of_range =
            (self.range.as_ref()).is_some_and(|range| !frame.groups[range.status].valid);
        Sensed {
            inertial: gyro.zip(accelerometer).map(|(w, f)| Inertial {
                angular_velocity: w,
                specific_force: f,
            }),
            magnetic_field: take(&mut self.magnetometer, frame),
            altitude: take(&mut self.barometer, frame).map(number),
            airspeed: take(&mut self.airspeed, frame).map(number),
            fix: position
                .zip(velocity)
                .map(|(position, velocity)| Fix { position, velocity }),
            distance: (take(&mut self.range, frame).map(number))
                .or(out_of_range.then_some(f64::INFINITY)),
            motion: self.truth.as_ref().and_then(|truth| truth.read(frame)),
        }
    }
}

fn take<const N: usize>(group: &mut Option<Group<N>>, frame: &Frame) -> Option<[f64; N]> {
    group.as_mut().and_then(|group| group.take(frame))
}

impl<const N: usize> Group<N> {
    fn bind(description: &Description, name: &str) -> Option<Self> {
        let mut names = group_names(name);
        let mut values = [0; N];
        for value in &mut values {
            *value = description.value_index(&names.next()?)?;
        }
        Some(Self {
            status: description.find_group(name)?,
            values,
            last: None,
        })
    }

    /// A valid sample that is newer than the last one.
    fn take(&mut self, frame: &Frame) -> Option<[f64; N]> {
        let status = frame.groups[self.status];
        if !status.valid || self.last == Some(status.stamp) {
            return None;
        }
        self.last = Some(status.stamp);
        let values = self.values.map(|place| frame.values[place]);
        values
            .iter()
            .all(|value| value.is_finite())
            .then_some(values)
    }
}

impl Truth {
    fn bind(description: &Description) -> Option<Self> {
        let vector = |group: &str| {
            ["x", "y", "z"].map(|axis| description.value_index(&truth(&format!("{group}.{axis}"))))
        };
        let all = |found: [Option<usize>; 3]| Some([found[0]?, found[1]?, found[2]?]);
        let w = description.value_index(&truth("pose.quaternion.w"))?;
        let [x, y, z] = all(vector("pose.quaternion"))?;
        Some(Self {
            group: description.find_group(TRUTH)?,
            position: all(vector("pose.position"))?,
            attitude: [w, x, y, z],
            linear: all(vector("twist.linear"))?,
            angular: all(vector("twist.angular"))?,
        })
    }

    fn read(&self, frame: &Frame) -> Option<Motion> {
        let status = frame.groups[self.group];
        if !status.valid || status.stamp != frame.time {
            return None;
        }
        let vector = |places: [usize; 3]| places.map(|place| frame.values[place]);
        let attitude = self.attitude.map(|place| frame.values[place]);
        Some(Motion {
            position: vector(self.position),
            attitude,
            velocity: rotate(attitude, vector(self.linear)),
            angular_velocity: vector(self.angular),
        })
    }
}
