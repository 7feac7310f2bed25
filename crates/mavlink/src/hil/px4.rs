//! The messages between PX4 and its simulator, both ways. NED, FRD and their units on the wire; ours here.
//!
//! | message | from | content |
//! |---|---|---|
//! | `HIL_SENSOR` | the plant | IMU (m/s², rad/s, FRD), magnetic field (Gauss, FRD), pressure (hPa) and its altitude; `fields_updated` says what is new |
//! | `HIL_GPS` | the plant | 1e-7 degrees, mm, cm/s |
//! | `HIL_STATE_QUATERNION` | the plant | the truth: attitude NED from FRD, 1e-7 degrees, mm, cm/s |
//! | `HIL_ACTUATOR_CONTROLS` | the autopilot | 16 controls |

use super::atmosphere;
use super::geodesy::Origin;
use super::sensed::{Fix, Inertial, Motion, Sensed};
use crate::dialect::{
    HIL_ACTUATOR_CONTROLS_DATA, HIL_GPS_DATA, HIL_SENSOR_DATA, HIL_STATE_QUATERNION_DATA,
    HilActuatorControlsFlags, HilSensorUpdatedFlags as Updated, MavModeFlag,
};
use crate::frames::{
    Vector, flu_from_frd, frd_from_flu, ned_frd_from_nwu_flu, ned_from_nwu, normalized,
    nwu_flu_from_ned_frd, nwu_from_ned, rotate_inverse,
};

/// Gauss per tesla.
const GAUSS: f64 = 1e4;
/// Pa per hPa.
const HECTO: f64 = 100.0;
/// m/s² per mG.
const MILLI_G: f64 = 9.806_65e-3;

const ACCELEROMETER: Updated = Updated::HIL_SENSOR_UPDATED_XACC
    .union(Updated::HIL_SENSOR_UPDATED_YACC)
    .union(Updated::HIL_SENSOR_UPDATED_ZACC);
const GYRO: Updated = Updated::HIL_SENSOR_UPDATED_XGYRO
    .union(Updated::HIL_SENSOR_UPDATED_YGYRO)
    .union(Updated::HIL_SENSOR_UPDATED_ZGYRO);
const MAGNETOMETER: Updated = Updated::HIL_SENSOR_UPDATED_XMAG
    .union(Updated::HIL_SENSOR_UPDATED_YMAG)
    .union(Updated::HIL_SENSOR_UPDATED_ZMAG);
const BAROMETER: Updated = Updated::HIL_SENSOR_UPDATED_ABS_PRESSURE
    .union(Updated::HIL_SENSOR_UPDATED_PRESSURE_ALT)
    .union(Updated::HIL_SENSOR_UPDATED_TEMPERATURE);

/// Encodes samples as messages, at a place on the globe.
#[derive(Clone, Debug)]
pub struct Encoder {
    origin: Origin,
    /// Keeps the values that have not changed.
    sensor: HIL_SENSOR_DATA,
    inertial: Inertial,
    airspeed: f64,
    gravity: f64,
}

impl Encoder {
    /// A plant with its world's origin there, and this gravity, m/s² downwards.
    pub fn new(origin: Origin, gravity: f64) -> Self {
        Self {
            origin,
            gravity,
            sensor: HIL_SENSOR_DATA {
                #[allow(clippy::cast_possible_truncation)]
                temperature: atmosphere::temperature(origin.altitude) as f32,
                ..HIL_SENSOR_DATA::default()
            },
            inertial: Inertial::default(),
            airspeed: 0.0,
        }
    }

    /// The samples at `time`, µs. A lockstepped autopilot replies to those with an inertial sample.
    #[allow(clippy::cast_possible_truncation)] // the wire has single precision
    pub fn sensor(&mut self, time: u64, sensed: &Sensed) -> HIL_SENSOR_DATA {
        let message = &mut self.sensor;
        message.time_usec = time;
        message.fields_updated = Updated::empty();
        if let Some(inertial) = sensed.inertial {
            self.inertial = inertial;
            let [x, y, z] = frd_from_flu(inertial.specific_force);
            [message.xacc, message.yacc, message.zacc] = [x as f32, y as f32, z as f32];
            let [x, y, z] = frd_from_flu(inertial.angular_velocity);
            [message.xgyro, message.ygyro, message.zgyro] = [x as f32, y as f32, z as f32];
            message.fields_updated |= ACCELEROMETER | GYRO;
        }
        if let Some(field) = sensed.magnetic_field {
            let [x, y, z] = frd_from_flu(field).map(|b| (b * GAUSS) as f32);
            [message.xmag, message.ymag, message.zmag] = [x, y, z];
            message.fields_updated |= MAGNETOMETER;
        }
        if let Some(height) = sensed.altitude {
            let altitude = self.origin.altitude + height;
            message.abs_pressure = atmosphere::pressure(altitude) as f32;
            message.pressure_alt = altitude as f32;
            message.temperature = atmosphere::temperature(altitude) as f32;
            message.fields_updated |= BAROMETER;
        }
        if let Some(speed) = sensed.airspeed {
            self.airspeed = speed;
            let pressure = 0.5 * atmosphere::DENSITY * speed * speed;
            message.diff_pressure = (pressure / HECTO) as f32;
            message.fields_updated |= Updated::HIL_SENSOR_UPDATED_DIFF_PRESSURE;
        }
        message.clone()
    }

    /// A fix at `time`, µs.
    pub fn gps(&self, time: u64, fix: &Fix) -> HIL_GPS_DATA {
        let [latitude, longitude, altitude] = self.origin.global(ned_from_nwu(fix.position));
        let velocity @ [north, east, down] = ned_from_nwu(fix.velocity);
        let [vel, cog] = ground_course(velocity);
        HIL_GPS_DATA {
            time_usec: time,
            lat: e7(latitude),
            lon: e7(longitude),
            alt: whole(altitude * 1e3),
            // What PX4 takes for metres, times 100.
            eph: 90,
            epv: 120,
            vel,
            vn: short(north * 1e2),
            ve: short(east * 1e2),
            vd: short(down * 1e2),
            cog,
            fix_type: 3,
            satellites_visible: 12,
            id: 0,
            yaw: 0,
        }
    }

    /// The true state at `time`, µs.
    #[allow(clippy::cast_possible_truncation)] // the wire has single precision
    pub fn state(&self, time: u64, motion: &Motion) -> HIL_STATE_QUATERNION_DATA {
        let [latitude, longitude, altitude] = self.origin.global(ned_from_nwu(motion.position));
        let velocity = ned_from_nwu(motion.velocity).map(|v| short(v * 1e2));
        let rates = frd_from_flu(motion.angular_velocity);
        // The body's acceleration, without the reaction to gravity.
        let gravity = rotate_inverse(motion.attitude, [0.0, 0.0, -self.gravity]);
        let sum = |i: usize| self.inertial.specific_force[i] + gravity[i];
        let acceleration = frd_from_flu([sum(0), sum(1), sum(2)]).map(|a| short(a / MILLI_G));
        HIL_STATE_QUATERNION_DATA {
            time_usec: time,
            attitude_quaternion: ned_frd_from_nwu_flu(motion.attitude).map(|q| q as f32),
            rollspeed: rates[0] as f32,
            pitchspeed: rates[1] as f32,
            yawspeed: rates[2] as f32,
            lat: e7(latitude),
            lon: e7(longitude),
            alt: whole(altitude * 1e3),
            vx: velocity[0],
            vy: velocity[1],
            vz: velocity[2],
            ind_airspeed: unsigned(self.airspeed * 1e2),
            true_airspeed: unsigned(self.airspeed * 1e2),
            xacc: acceleration[0],
            yacc: acceleration[1],
            zacc: acceleration[2],
        }
    }
}

/// The samples of a simulator's `HIL_SENSOR`. If it does not flag new values, all are taken.
pub fn sensed(message: &HIL_SENSOR_DATA, origin: &Origin) -> Sensed {
    let everything = message.fields_updated.is_empty();
    let is_new = |what: Updated| everything || message.fields_updated.contains(what);
    let vector = |v: [f32; 3]| {
        let v = flu_from_frd(v.map(f64::from));
        v.iter().all(|c| c.is_finite()).then_some(v)
    };
    let force = vector([message.xacc, message.yacc, message.zacc]);
    let rates = vector([message.xgyro, message.ygyro, message.zgyro]);
    let field = vector([message.xmag, message.ymag, message.zmag]);
    let inertial = rates.zip(force).map(|(w, f)| Inertial {
        angular_velocity: w,
        specific_force: f,
    });
    let altitude = atmosphere::altitude(f64::from(message.abs_pressure));
    let pressure = f64::from(message.diff_pressure) * HECTO;
    Sensed {
        inertial: inertial.filter(|_| is_new(ACCELEROMETER | GYRO)),
        magnetic_field: (field.filter(|_| is_new(MAGNETOMETER))).map(|b| b.map(|b| b / GAUSS)),
        altitude: (altitude.filter(|_| is_new(Updated::HIL_SENSOR_UPDATED_ABS_PRESSURE)))
            .map(|altitude| altitude - origin.altitude),
        airspeed: (is_new(Updated::HIL_SENSOR_UPDATED_DIFF_PRESSURE) && pressure.is_finite())
            .then(|| (2.0 * pressure.max(0.0) / atmosphere::DENSITY).sqrt()),
        ..Sensed::default()
    }
}

/// The fix of a `HIL_GPS`; `None` if the message reports none.
pub fn fix(message: &HIL_GPS_DATA, origin: &Origin) -> Option<Fix> {
    let cm = |v: i16| f64::from(v) * 1e-2;
    (message.fix_type >= 3).then(|| Fix {
        position: world(origin, message.lat, message.lon, message.alt),
        velocity: nwu_from_ned([cm(message.vn), cm(message.ve), cm(message.vd)]),
    })
}

/// The motion of a `HIL_STATE_QUATERNION`; `None` if its attitude is invalid.
pub fn motion(message: &HIL_STATE_QUATERNION_DATA, origin: &Origin) -> Option<Motion> {
    let cm = |v: i16| f64::from(v) * 1e-2;
    let attitude = normalized(message.attitude_quaternion.map(f64::from))?;
    let rates = [message.rollspeed, message.pitchspeed, message.yawspeed].map(f64::from);
    rates.iter().all(|w| w.is_finite()).then(|| Motion {
        position: world(origin, message.lat, message.lon, message.alt),
        attitude: nwu_flu_from_ned_frd(attitude),
        velocity: nwu_from_ned([cm(message.vx), cm(message.vy), cm(message.vz)]),
        angular_velocity: flu_from_frd(rates),
    })
}

/// Latitude and longitude of a message, degrees.
pub fn degrees(latitude: i32, longitude: i32) -> [f64; 2] {
    [f64::from(latitude) * 1e-7, f64::from(longitude) * 1e-7]
}

/// The reply to the samples of `time`, µs.
pub fn controls(time: u64, controls: [f32; 16], armed: bool) -> HIL_ACTUATOR_CONTROLS_DATA {
    let custom = MavModeFlag::MAV_MODE_FLAG_CUSTOM_MODE_ENABLED;
    HIL_ACTUATOR_CONTROLS_DATA {
        time_usec: time,
        flags: HilActuatorControlsFlags::HIL_ACTUATOR_CONTROLS_FLAGS_LOCKSTEP,
        controls,
        mode: if armed {
            custom | MavModeFlag::MAV_MODE_FLAG_SAFETY_ARMED
        } else {
            custom
        },
    }
}

/// Whether these are the controls of an armed vehicle.
pub fn is_armed(message: &HIL_ACTUATOR_CONTROLS_DATA) -> bool {
    message
        .mode
        .contains(MavModeFlag::MAV_MODE_FLAG_SAFETY_ARMED)
}

/// Whether the autopilot runs in lockstep.
pub fn is_lockstep(message: &HIL_ACTUATOR_CONTROLS_DATA) -> bool {
    let lockstep = HilActuatorControlsFlags::HIL_ACTUATOR_CONTROLS_FLAGS_LOCKSTEP;
    message.flags.contains(lockstep)
}

fn world(origin: &Origin, latitude: i32, longitude: i32, altitude: i32) -> Vector {
    let [latitude, longitude] = degrees(latitude, longitude);
    nwu_from_ned(origin.local([latitude, longitude, f64::from(altitude) * 1e-3]))
}

/// Speed over ground, cm/s, and course, 0.01 degrees, of a velocity in NED. At low speed the course is undefined, `u16::MAX`.
pub(crate) fn ground_course([north, east, _]: Vector) -> [u16; 2] {
    let speed = north.hypot(east);
    let course = east.atan2(north).to_degrees().rem_euclid(360.0);
    let course = if speed < 0.1 {
        u16::MAX
    } else {
        unsigned(course * 1e2) % 36_000
    };
    [unsigned(speed * 1e2), course]
}

/// Degrees in the unit of the messages.
pub(crate) fn e7(degrees: f64) -> i32 {
    whole(degrees * 1e7)
}

/// Rounds; clamps values out of range, and converts NaN to 0.
#[allow(clippy::cast_possible_truncation)] // saturates
pub(crate) fn whole(value: f64) -> i32 {
    value.round() as i32
}

/// As [`whole`], for 16 bits.
#[allow(clippy::cast_possible_truncation)] // saturates
pub(crate) fn short(value: f64) -> i16 {
    value.round() as i16
}

/// As [`whole`], but never below 0.
#[allow(clippy::cast_possible_truncation, clippy::cast_sign_loss)] // saturates
pub(crate) fn unsigned(value: f64) -> u16 {
    value.round() as u16
}

#[cfg(test)]
mod tests {
    use super::*;

    const ORIGIN: Origin = Origin {
        latitude: 47.397_742,
        longitude: 8.545_594,
        altitude: 488.0,
    };

    fn sample() -> Sensed {
        Sensed {
            inertial: Some(Inertial {
                angular_velocity: [0.1, -0.2, 0.3],
                specific_force: [1.0, 2.0, 9.5],
            }),
            magnetic_field: Some([2.1e-5, -1e-6, -4.3e-5]),
            altitude: Some(12.0),
            airspeed: Some(7.0),
            fix: Some(Fix {
                position: [10.0, -20.0, 30.0],
                velocity: [1.0, -2.0, 0.5],
            }),
            distance: None,
            motion: Some(Motion {
                position: [10.0, -20.0, 30.0],
                attitude: normalized([0.9, 0.1, -0.2, 0.3]).unwrap(),
                velocity: [1.0, -2.0, 0.5],
                angular_velocity: [0.1, -0.2, 0.3],
            }),
        }
    }

    #[track_caller]
    fn close(a: Vector, b: Vector, tolerance: f64) {
        for (a, b) in a.iter().zip(b) {
            assert!((a - b).abs() <= tolerance, "{a:?} is not {b:?}");
        }
    }

    #[test]
    fn units_and_axes_of_the_wire() {
        let mut encoder = Encoder::new(ORIGIN, 9.81);
        let sensed = sample();
        let sensor = encoder.sensor(1_000_000, &sensed);
        assert_eq!([sensor.xacc, sensor.yacc, sensor.zacc], [1.0, -2.0, -9.5]);
        assert_eq!([sensor.xgyro, sensor.ygyro, sensor.zgyro], [0.1, 0.2, -0.3]);
        close(
            [sensor.xmag, sensor.ymag, sensor.zmag].map(f64::from),
            [0.21, 0.01, 0.43],
            1e-7,
        );
        // All fields that are requested: bits 0 to 12.
        assert_eq!(sensor.fields_updated.bits(), 0b1_1111_1111_1111);
        assert!((sensor.pressure_alt - 500.0).abs() < 1e-3);
        assert!(
            (sensor.abs_pressure - 954.61).abs() < 0.01,
            "{}",
            sensor.abs_pressure
        );
        assert!((sensor.diff_pressure - 0.300_125).abs() < 1e-6);
        let nothing = encoder.sensor(1_004_000, &Sensed::default());
        assert_eq!((nothing.fields_updated.bits(), nothing.zacc), (0, -9.5));

        let gps = encoder.gps(7, &sensed.fix.unwrap());
        // 10 m to the north, 20 m to the east; a metre is 1 / 111194.93 degrees of a great circle.
        assert_eq!(gps.lat - 473_977_420, 899);
        let east = 20.0 / (111_194.93 * 47.397_742_f64.to_radians().cos()) * 1e7;
        assert!(
            (f64::from(gps.lon - 85_455_940) - east).abs() < 1.0,
            "{}",
            gps.lon
        );
        assert_eq!((gps.alt, gps.vn, gps.ve, gps.vd), (518_000, 100, 200, -50));
        assert_eq!((gps.vel, gps.cog, gps.fix_type), (224, 6343, 3));

        let state = encoder.state(7, &sensed.motion.unwrap());
        assert_eq!((state.vx, state.vy, state.vz), (100, 200, -50));
        assert_eq!(
            [state.rollspeed, state.pitchspeed, state.yawspeed],
            [0.1, 0.2, -0.3]
        );
        assert_eq!(
            (state.lat, state.lon, state.alt),
            (gps.lat, gps.lon, gps.alt)
        );
    }

    #[test]
    fn what_is_read_is_what_was_written() {
        let mut encoder = Encoder::new(ORIGIN, 9.81);
        let given = sample();
        let back = sensed(&encoder.sensor(1, &given), &ORIGIN);
        let (a, b) = (given.inertial.unwrap(), back.inertial.unwrap());
        close(a.angular_velocity, b.angular_velocity, 1e-7);
        close(a.specific_force, b.specific_force, 1e-6);
        close(
            given.magnetic_field.unwrap(),
            back.magnetic_field.unwrap(),
            1e-11,
        );
        // Single precision of 950 hPa is 6e-5 hPa, half a millimetre.
        assert!((given.altitude.unwrap() - back.altitude.unwrap()).abs() < 2e-3);
        assert!((given.airspeed.unwrap() - back.airspeed.unwrap()).abs() < 1e-5);
        // 1e-7 degrees are 1.1 cm.
        let (a, b) = (
            given.fix.unwrap(),
            fix(&encoder.gps(1, &given.fix.unwrap()), &ORIGIN).unwrap(),
        );
        close(a.position, b.position, 6e-3);
        close(a.velocity, b.velocity, 1e-9);
        let true_motion = given.motion.unwrap();
        let b = motion(&encoder.state(1, &true_motion), &ORIGIN).unwrap();
        close(true_motion.position, b.position, 6e-3);
        close(true_motion.velocity, b.velocity, 1e-9);
        close(true_motion.angular_velocity, b.angular_velocity, 1e-7);
        for (a, b) in true_motion.attitude.iter().zip(b.attitude) {
            assert!((a - b).abs() < 1e-7);
        }
    }

    #[test]
    fn at_rest_the_body_does_not_accelerate() {
        let mut encoder = Encoder::new(ORIGIN, 9.81);
        let mut still = sample();
        let attitude = still.motion.unwrap().attitude;
        still.inertial = Some(Inertial {
            specific_force: rotate_inverse(attitude, [0.0, 0.0, 9.81]),
            ..Inertial::default()
        });
        encoder.sensor(1, &still);
        let state = encoder.state(1, &still.motion.unwrap());
        assert_eq!((state.xacc, state.yacc, state.zacc), (0, 0, 0));
    }

    #[test]
    fn absurd_numbers_neither_panic_nor_pass() {
        let mut encoder = Encoder::new(ORIGIN, 9.81);
        let far = Fix {
            position: [1e12, f64::NAN, -1e9],
            velocity: [f64::INFINITY, -1e9, 0.0],
        };
        let gps = encoder.gps(1, &far);
        assert_eq!((gps.vn, gps.ve), (i16::MAX, i16::MAX));
        let message = HIL_SENSOR_DATA {
            xacc: f32::NAN,
            zmag: f32::INFINITY,
            abs_pressure: f32::NAN,
            diff_pressure: f32::NAN,
            ..encoder.sensor(1, &sample())
        };
        assert_eq!(sensed(&message, &ORIGIN), Sensed::default());
        let state = HIL_STATE_QUATERNION_DATA::default();
        assert_eq!(motion(&state, &ORIGIN), None);
        assert_eq!(fix(&HIL_GPS_DATA::default(), &ORIGIN), None);
    }
}
