//! `[estimator]`: how the state is found from the sensors of a backend.

use fly_control::estimator::EstimatorParameters;
use serde::Deserialize;

use super::diagnostic::{ConfigError, Problems};
use super::document::Document;
use super::section::{out_of_range, section};

/// Which state the flight uses.
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum StateSource {
    /// The estimate; pose and twist need not be measured.
    #[default]
    Estimated,
    /// Pose and twist as the backend tells them; the estimator runs beside them.
    #[serde(alias = "true")]
    Measured,
}

impl StateSource {
    /// Its name.
    pub fn name(self) -> &'static str {
        match self {
            Self::Estimated => "estimated",
            Self::Measured => "measured",
        }
    }
}

/// `[estimator]`: the sensors, their noise and positions, and the required accuracy of the estimate.
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct EstimatorSection {
    /// Which state the flight uses. Default "estimated".
    pub state: StateSource,
    /// The filter.
    pub filter: EstimatorParameters,
    /// `filter.delay`, where it is given. Default 0.05 s, where GNSS is used 0.25 s.
    #[serde(skip)]
    pub delay: Option<f64>,
    /// Largest standard deviation of the attitude to fly with, degrees, each axis, > 0, at most 180. Default 10.
    pub max_attitude_deg: f64,
    /// Largest standard deviation of the velocity, m/s, each axis, > 0. Default 1.
    pub max_velocity: f64,
    /// Largest standard deviation of the position, m, each axis, > 0. Default 2.
    pub max_position: f64,
    /// How long the position may go without a correction, s, > 0. Default 0.5, with GNSS alone 2.
    pub correction_timeout: Option<f64>,
    /// The inertial measurement unit.
    pub imu: ImuSection,
    /// Motion capture.
    pub motion_capture: MotionCaptureSection,
    /// Satellite navigation.
    pub gnss: GnssSection,
    /// Barometer.
    pub barometer: BarometerSection,
    /// Magnetometer.
    pub magnetometer: MagnetometerSection,
    /// Range finder.
    pub range: RangeSection,
}

impl Default for EstimatorSection {
    fn default() -> Self {
        Self {
            state: StateSource::default(),
            filter: EstimatorParameters::default(),
            delay: None,
            max_attitude_deg: 10.0,
            max_velocity: 1.0,
            max_position: 2.0,
            correction_timeout: None,
            imu: ImuSection::default(),
            motion_capture: MotionCaptureSection::default(),
            gnss: GnssSection::default(),
            barometer: BarometerSection::default(),
            magnetometer: MagnetometerSection::default(),
            range: RangeSection::default(),
        }
    }
}

/// `[estimator.imu]`.
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[derive(Clone, Debug, Default, PartialEq, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct ImuSection {
    /// Its position, m, body frame. Default the origin.
    pub position: [f64; 3],
}

/// `[estimator.motion_capture]`.
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct MotionCaptureSection {
    /// `true`: required; `false`: ignored. Default: used if the backend provides it.
    #[serde(rename = "use")]
    pub used: Option<bool>,
    /// The point whose position it measures, m, body frame. Default the origin.
    pub position: [f64; 3],
    /// Standard deviation of its position, m, each axis, > 0. Default 2e-3.
    pub position_noise: f64,
    /// Standard deviation of its attitude, rad, each axis, > 0. Default 0.01.
    pub attitude_noise: f64,
}

impl Default for MotionCaptureSection {
    fn default() -> Self {
        Self {
            used: None,
            position: [0.0; 3],
            position_noise: 2e-3,
            attitude_noise: 0.01,
        }
    }
}

/// `[estimator.gnss]`.
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct GnssSection {
    /// As for motion capture.
    #[serde(rename = "use")]
    pub used: Option<bool>,
    /// Position of the antenna, m, body frame. Default the origin.
    pub position: [f64; 3],
    /// Standard deviation of its position from one to the next, m, x, y, z in the world, > 0. Default 0.5, 0.5, 0.8.
    pub position_noise: Option<[f64; 3]>,
    /// Standard deviation of its drift, m, x, y, z in the world, at least 0. Default 2.1, 2.1, 3.2; 0 where `position_noise` is given, which then contains it.
    pub drift: Option<[f64; 3]>,
    /// Standard deviation of its velocity, m/s, x, y, z in the world, > 0. Default 0.1, 0.1, 0.15.
    pub velocity_noise: [f64; 3],
}

impl Default for GnssSection {
    fn default() -> Self {
        Self {
            used: None,
            position: [0.0; 3],
            position_noise: None,
            drift: None,
            velocity_noise: [0.1, 0.1, 0.15],
        }
    }
}

impl GnssSection {
    /// Standard deviations of the position, m: of the noise from one to the next, and of the drift.
    pub fn deviations(&self) -> [[f64; 3]; 2] {
        let drift = match self.position_noise {
            Some(_) => [0.0; 3],
            None => [2.1, 2.1, 3.2],
        };
        let noise = self.position_noise.unwrap_or([0.5, 0.5, 0.8]);
        [noise, self.drift.unwrap_or(drift)]
    }
}

/// `[estimator.barometer]`.
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct BarometerSection {
    /// As for motion capture.
    #[serde(rename = "use")]
    pub used: Option<bool>,
    /// Its position, m, body frame. Default the origin.
    pub position: [f64; 3],
    /// Standard deviation, m, > 0. Default 1, which includes its drift.
    pub noise: f64,
}

impl Default for BarometerSection {
    fn default() -> Self {
        Self {
            used: None,
            position: [0.0; 3],
            noise: 1.0,
        }
    }
}

/// `[estimator.magnetometer]`.
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct MagnetometerSection {
    /// As for motion capture; by default it also needs `field`.
    #[serde(rename = "use")]
    pub used: Option<bool>,
    /// The field of the world, T, world frame. Without it the magnetometer is not used.
    pub field: Option<[f64; 3]>,
    /// Standard deviation, T, each axis, > 0. Default 1e-6.
    pub noise: f64,
}

impl Default for MagnetometerSection {
    fn default() -> Self {
        Self {
            used: None,
            field: None,
            noise: 1e-6,
        }
    }
}

/// `[estimator.range]`.
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct RangeSection {
    /// Whether it is used, which requires level ground of known height. Default false.
    #[serde(rename = "use")]
    pub used: bool,
    /// Its position, m, body frame. Default the origin.
    pub position: [f64; 3],
    /// Direction of its ray, body frame, of any nonzero length. Default down.
    pub direction: [f64; 3],
    /// Standard deviation, m, > 0. Default 0.05, which includes variations of the ground's height.
    pub noise: f64,
    /// Height of the ground, m, world frame. Default 0.
    pub ground_height: f64,
}

impl Default for RangeSection {
    fn default() -> Self {
        Self {
            used: false,
            position: [0.0; 3],
            direction: [0.0, 0.0, -1.0],
            noise: 0.05,
            ground_height: 0.0,
        }
    }
}

/// s.
const LONGEST_DELAY: f64 = 1.0;

impl EstimatorSection {
    /// `None` without the section.
    pub(super) fn read(document: &Document) -> Result<Option<Self>, ConfigError> {
        let Some(fragment) = section(document, "estimator")? else {
            return Ok(None);
        };
        let mut estimator: Self = fragment.decode()?;
        let given = document.place("estimator.filter.delay").is_some();
        estimator.delay = given.then_some(estimator.filter.delay);
        let mut problems = Problems::default();
        estimator.check_filter(document, &mut problems);
        let (capture, gnss) = (&estimator.motion_capture, &estimator.gnss);
        let timeout = estimator.correction_timeout.unwrap_or(1.0);
        let most = f64::MAX;
        let mut positive = vec![
            ("max_attitude_deg", estimator.max_attitude_deg, 180.0),
            ("max_velocity", estimator.max_velocity, most),
            ("max_position", estimator.max_position, most),
            ("correction_timeout", timeout, 3600.0),
            (
                "motion_capture.position_noise",
                capture.position_noise,
                most,
            ),
            (
                "motion_capture.attitude_noise",
                capture.attitude_noise,
                most,
            ),
            ("barometer.noise", estimator.barometer.noise, most),
            ("magnetometer.noise", estimator.magnetometer.noise, most),
            ("range.noise", estimator.range.noise, most),
        ];
        positive.extend(
            gnss.position_noise
                .iter()
                .flatten()
                .map(|x| ("gnss.position_noise", *x, most)),
        );
        positive.extend(
            gnss.velocity_noise
                .iter()
                .map(|x| ("gnss.velocity_noise", *x, most)),
        );
        for value in gnss
            .drift
            .iter()
            .flatten()
            .filter(|x| !(**x >= 0.0 && **x <= most))
        {
            let path = "estimator.gnss.drift";
            problems.push(out_of_range(document, path, "expected at least 0", *value));
        }
        let mut lengths = vec![("range.direction", norm(&estimator.range.direction))];
        if let Some(field) = &estimator.magnetometer.field {
            lengths.push(("magnetometer.field", norm(field)));
        }
        for (key, value) in lengths {
            if !(value > 0.0 && value.is_finite()) {
                let expected = "expected a vector with a finite length of more than 0";
                let path = format!("estimator.{key}");
                problems.push(out_of_range(document, &path, expected, value));
            }
        }
        for (key, value, most) in positive {
            if !(value > 0.0 && value <= most) {
                let expected = if most < f64::MAX {
                    format!("expected more than 0, at most {most}")
                } else {
                    "expected more than 0".to_owned()
                };
                problems.push(out_of_range(
                    document,
                    &format!("estimator.{key}"),
                    &expected,
                    value,
                ));
            }
        }
        problems.finish()?;
        Ok(Some(estimator))
    }

    fn check_filter(&self, document: &Document, problems: &mut Problems) {
        let filter = &self.filter;
        if let Err(error) = filter.validate() {
            let path = format!("estimator.filter.{}", error.key);
            let expected = format!("expected {}", error.expected);
            problems.push(out_of_range(document, &path, &expected, error.found));
        }
        if filter.delay > LONGEST_DELAY {
            let expected = format!("expected at most {LONGEST_DELAY} s");
            problems.push(out_of_range(
                document,
                "estimator.filter.delay",
                &expected,
                filter.delay,
            ));
        }
        // Each correction is as old as the delay when it comes.
        if let (Some(delay), Some(timeout)) = (self.delay, self.correction_timeout)
            && timeout > 0.0
            && timeout <= delay
        {
            let expected = format!("expected more than `estimator.filter.delay`, {delay} s");
            let path = "estimator.correction_timeout";
            problems.push(out_of_range(document, path, &expected, timeout));
        }
    }
}

fn norm(vector: &[f64; 3]) -> f64 {
    vector.iter().map(|x| x * x).sum::<f64>().sqrt()
}
