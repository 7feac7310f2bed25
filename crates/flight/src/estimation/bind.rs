//! Selects and binds the sensors of a backend.

use fly_control::estimator::ParameterError;
use fly_hal::Description;
use nalgebra::{Matrix3, Vector3};

use super::sensor::{Kind, Sensor};
use crate::binding::{StateBinding, bind, list};
use crate::config::{EstimatorSection, MagnetometerSection};

/// The signal groups of an IMU.
pub(super) const IMU: [&str; 2] = ["imu.angular_velocity", "imu.specific_force"];
const CAPTURE: &str = "motion_capture.position";
const CAPTURE_ATTITUDE: &str = "motion_capture.quaternion";
/// Position and attitude together.
const CAPTURE_POSE: &str = "motion_capture";
const GNSS_POSITION: &str = "gnss.position";
const GNSS_VELOCITY: &str = "gnss.velocity";
const BAROMETER: &str = "barometer";
const MAGNETOMETER: &str = "magnetometer.field";
const RANGE: &str = "range";

/// The backend's sensors are not sufficient for a state estimate, or contradict the configuration.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
pub enum EstimatorError {
    /// Signal groups are missing.
    #[error(
        "`[estimator]` needs {needed}, which the backend `{backend}` does not measure; it measures {}",
        list(offered)
    )]
    Missing {
        /// The backend's name.
        backend: String,
        /// The missing groups.
        needed: String,
        /// The groups that the backend provides.
        offered: Vec<String>,
    },
    /// A magnetometer is enabled without the local magnetic field.
    #[error(
        "`estimator.magnetometer.use` needs `estimator.magnetometer.field`: the magnetic field of the world, T"
    )]
    NoField,
    /// The filter's delay, which follows from the sensors, is not less than the timeout.
    #[error(
        "`estimator.correction_timeout`: expected more than the filter's delay, {delay} s with these sensors unless `estimator.filter.delay` is given, found {timeout}"
    )]
    Timeout {
        /// Of corrections, s.
        timeout: f64,
        /// Of the filter, s.
        delay: f64,
    },
    /// The filter's parameters are invalid.
    #[error("`estimator.filter.{0}`")]
    Parameter(#[from] ParameterError),
}

/// The bound sensors.
pub(super) struct Bound {
    /// Gyroscope and accelerometer.
    pub imu: [StateBinding; 2],
    pub sensors: Vec<Sensor>,
    /// Sensors that are offered but not used, and why.
    pub unused: Vec<String>,
}

/// Binds the sensors that are offered and wanted.
pub(super) fn sensors(
    section: &EstimatorSection,
    backend: &str,
    description: &Description,
) -> Result<Bound, EstimatorError> {
    let offered = |name: &str| Some(StateBinding::new(name, bind(description, name)?));
    let missing = |needed: String| EstimatorError::Missing {
        backend: backend.to_owned(),
        needed,
        offered: description.groups.clone(),
    };
    // A required sensor must be offered.
    let find = |name: &str, used: Option<bool>| match (used, offered(name)) {
        (Some(false), _) => Ok(None),
        (Some(true), None) => Err(missing(format!("`{name}`"))),
        (_, found) => Ok(found),
    };
    let [gyro, accelerometer] = IMU;
    let (Some(gyro), Some(accelerometer)) = (offered(gyro), offered(accelerometer)) else {
        let lacking: Vec<_> = (IMU.into_iter().filter(|name| offered(name).is_none()))
            .map(|name| format!("`{name}`"))
            .collect();
        return Err(missing(lacking.join(" and ")));
    };
    let (mut sensors, mut unused) = (Vec::new(), Vec::new());
    let imu = Vector3::from(section.imu.position);
    let arm = |position: &[f64; 3]| Vector3::from(*position) - imu;

    let capture = &section.motion_capture;
    if let Some(group) = find(CAPTURE, capture.used)? {
        let kind = Kind::Capture {
            quaternion: offered(CAPTURE_ATTITUDE),
            arm: arm(&capture.position),
            attitude_covariance: same(capture.attitude_noise),
            position_covariance: same(capture.position_noise),
        };
        let name = if offered(CAPTURE_ATTITUDE).is_some() {
            CAPTURE_POSE
        } else {
            CAPTURE
        };
        sensors.push(Sensor::new(name, group, kind));
    }
    let gnss = &section.gnss;
    if let Some(group) = find(GNSS_POSITION, gnss.used)? {
        let [noise, drift] = gnss.deviations().map(|deviations| each(&deviations));
        let kind = Kind::Position {
            arm: arm(&gnss.position),
            covariance: noise + drift,
            noise,
        };
        sensors.push(Sensor::new(GNSS_POSITION, group, kind));
    }
    if let Some(group) = find(GNSS_VELOCITY, gnss.used.filter(|used| !used))? {
        let kind = Kind::Velocity {
            arm: arm(&gnss.position),
            covariance: each(&gnss.velocity_noise),
        };
        sensors.push(Sensor::new(GNSS_VELOCITY, group, kind));
    }
    let barometer = &section.barometer;
    if let Some(group) = find(BAROMETER, barometer.used)? {
        let kind = Kind::Height {
            arm: arm(&barometer.position),
            variance: barometer.noise.powi(2),
        };
        sensors.push(Sensor::new(BAROMETER, group, kind));
    }
    let magnetometer = &section.magnetometer;
    if let Some(group) = find(MAGNETOMETER, magnetometer.used)? {
        match field(magnetometer)? {
            Some(kind) => sensors.push(Sensor::new(MAGNETOMETER, group, kind)),
            None => unused.push(format!(
                "`{MAGNETOMETER}` is not used: `estimator.magnetometer.field` is not given"
            )),
        }
    }
    let range = &section.range;
    if let Some(group) = find(RANGE, Some(range.used))? {
        let kind = Kind::Range {
            arm: arm(&range.position),
            direction: Vector3::from(range.direction).normalize(),
            variance: range.noise.powi(2),
            ground: range.ground_height,
        };
        sensors.push(Sensor::new(RANGE, group, kind));
    }
    if !sensors.iter().any(Sensor::fixes_position) {
        return Err(missing(format!("`{CAPTURE}` or `{GNSS_POSITION}`")));
    }
    Ok(Bound {
        imu: [gyro, accelerometer],
        sensors,
        unused,
    })
}

/// The measurement of a magnetometer; `None` if the local field is unknown.
fn field(section: &MagnetometerSection) -> Result<Option<Kind>, EstimatorError> {
    match section.field {
        Some(field) => Ok(Some(Kind::Field {
            known: Vector3::from(field),
            covariance: same(section.noise),
        })),
        None if section.used == Some(true) => Err(EstimatorError::NoField),
        None => Ok(None),
    }
}

/// Whether the position comes from GNSS alone, and whether GNSS is used at all.
pub(super) fn gnss(sensors: &[Sensor]) -> [bool; 2] {
    let has = |name: &str| sensors.iter().any(|sensor| sensor.name == name);
    [
        !(has(CAPTURE) || has(CAPTURE_POSE)),
        has(GNSS_POSITION) || has(GNSS_VELOCITY),
    ]
}

fn same(deviation: f64) -> Matrix3<f64> {
    Matrix3::identity() * deviation.powi(2)
}

fn each(deviations: &[f64; 3]) -> Matrix3<f64> {
    Matrix3::from_diagonal(&Vector3::from(*deviations).map(|deviation| deviation.powi(2)))
}
