//! Estimates the state from a backend's raw sensors: its frames go through the filter of [`fly_control::estimator`],
//! and pose and twist come out as if the backend had measured them.
//!
//! Pilot, predictor and supervisor do not know where the state comes from. [`Estimation::take`] gives them a frame whose
//! `pose.*` and `twist.*` hold the estimate, and marks the reading as faulty while the estimate is too uncertain to fly
//! on.

mod bind;
mod report;
mod sensor;
mod start;

use fly_control::estimator::{Delayed, EstimatorParameters, Imu, InvariantFilter, Judged, Verdict};
use fly_hal::{Description, Frame, GroupStatus};
use fly_lie::SE23;
use nalgebra::Vector3;

pub use bind::EstimatorError;
pub use report::{EstimateError, EstimatorReport, SensorReport};

use crate::binding::{GroupBinding, StateBinding, bind as bind_group};
use crate::config::{EstimatorSection, StateSource};
use crate::observation::check;
use crate::pilot::Reading;
use crate::supervisor::{Fault, Uncertain};
use crate::time::{nanoseconds, seconds};
use sensor::{Counts, Kind, Sensor};
use start::Start;

/// The filter, with its memory of IMU samples and measurements: 1 s, the longest delay, at 500 Hz. All sensors together bring 310 measurements a second at their
/// usual rates.
type Filter = Delayed<512, WAITING>;
const WAITING: usize = 512;

/// The groups that the estimate fills.
const STATE: [&str; 4] = [
    "pose.position",
    "pose.quaternion",
    "twist.linear",
    "twist.angular",
];

/// Default delays (s): without GNSS and with GNSS.
const DELAYS: [f64; 2] = [0.05, 0.25];
/// Default correction timeouts (s), from the filter's horizon: with motion capture, and with GNSS alone.
const TIMEOUTS: [f64; 2] = [0.5, 2.0];

/// A gyroscope or an accelerometer alone may repeat its numbers for so many times as long as both together: coarse numbers repeat by chance.
const ALONE: i64 = 5;

/// Length of [`Estimation::numbers`] without the innovations of the sensors.
pub const NUMBERS: usize = 7 + 6 + 6 + 15;

/// The estimator of a flight. Does not allocate after construction.
#[derive(Debug)]
pub struct Estimation {
    state: StateSource,
    imu: [StateBinding; 2],
    /// Position of the IMU, m, body frame.
    imu_place: Vector3<f64>,
    /// The last sample that was used, with its stamp, and since when (ns) the values of each group have been unchanged.
    sample: Option<(i64, Imu)>,
    same_since: [i64; 2],
    sensors: Vec<Sensor>,
    unused: Vec<String>,
    parameters: EstimatorParameters,
    gravity: Vector3<f64>,
    /// Largest standard deviations of attitude (rad), velocity (m/s) and position (m).
    limits: [f64; 3],
    /// Correction timeout, ns.
    correction_timeout: i64,
    stale_after: i64,
    start: Start,
    filter: Box<Filter>,
    /// When the filter started and when the estimate first converged, ns.
    started: Option<i64>,
    converged: Option<i64>,
    /// Stamp of the last position measurement that corrected the estimate, ns.
    corrected: Option<i64>,
    /// The extended pose of the IMU at its last sample.
    present: SE23<f64>,
    /// The backend's frame with the pose and twist of the estimate, and the indices of these.
    frame: Frame,
    outputs: [GroupBinding; 4],
    numbers: Vec<f64>,
    error: EstimateError,
}

/// # Why the estimate has not converged
impl Estimation {
    /// Why the estimate has not converged, as far as it can be told.
    pub fn obstacle(&self) -> Option<String> {
        self.refused().or_else(|| {
            if self.started.is_none() {
                return Some(self.start_obstacle());
            }
            self.most_uncertain()
        })
    }

    /// Names the sensors whose measurements the filter all refused, and why; `None` if there are none.
    fn refused(&self) -> Option<String> {
        let names = |count: fn(&Counts) -> u64| {
            let refused =
                |sensor: &&Sensor| sensor.counts.accepted == 0 && count(&sensor.counts) > 0;
            let names: Vec<_> = (self.sensors.iter().filter(refused))
                .map(|sensor| format!("`{}`", sensor.name))
                .collect();
            (!names.is_empty()).then(|| names.join(" and "))
        };
        let delay = self.parameters.delay;
        let late = names(|counts| counts.late).map(|names| {
            format!(
                "{names} came more than `estimator.filter.delay`, {delay} s, after the measurement"
            )
        });
        late.or_else(|| {
            names(|counts| counts.excess).map(|names| {
                format!(
                    "{names} came while {WAITING} measurements waited: lower `estimator.filter.delay`, {delay} s, or the rates of the sensors"
                )
            })
        })
    }

    /// What the filter waits for to start.
    fn start_obstacle(&self) -> String {
        if !self.start.has_position() {
            let fixes = (self.sensors.iter()).filter(|sensor| sensor.fixes_position());
            let names: Vec<_> = fixes.map(|sensor| format!("`{}`", sensor.name)).collect();
            return format!("no position came from {}", names.join(" or "));
        }
        if self.start.has_field() {
            return "the accelerometer shows no vertical: the vehicle does not rest".to_owned();
        }
        let known = "nothing measures the attitude, and the motion does not show it".to_owned();
        (self.unused.iter()).fold(known, |known, unused| format!("{known}; {unused}"))
    }

    /// The first part of the estimate that is too uncertain.
    fn most_uncertain(&self) -> Option<String> {
        let deviations = self.filter.filter().deviations();
        let parts = [
            ("attitude", "max_attitude_deg", "deg", 1f64.to_degrees()),
            ("velocity", "max_velocity", "m/s", 1.0),
            ("position", "max_position", "m", 1.0),
        ];
        (parts.iter().zip(self.limits).enumerate()).find_map(
            |(k, ((part, key, unit, scale), limit))| {
                let largest = deviations[3 * k..3 * k + 3].iter();
                // A negative variance has the deviation NaN, which must not be lost among the others.
                let largest = largest.fold(0.0, |most: f64, it| {
                    if most.is_nan() || *it <= most {
                        most
                    } else {
                        *it
                    }
                });
                (largest.is_nan() || largest > limit).then(|| {
                    let [largest, limit] = [largest, limit].map(|value| value * scale);
                    format!(
                        "the standard deviation of its {part} is {largest:.3} {unit}, more than `estimator.{key}`, {limit:.3} {unit}"
                    )
                })
            },
        )
    }
}

/// # Construction
impl Estimation {
    /// Binds the sensors. Returns the estimator and the description of its frames: those of the backend, with pose and
    /// twist where the flight uses the estimate.
    ///
    /// # Errors
    /// [`EstimatorError`]: the sensors are not sufficient.
    pub fn new(
        section: &EstimatorSection,
        gravity: Vector3<f64>,
        stale_after: i64,
        backend: &str,
        description: &Description,
    ) -> Result<(Self, Description), EstimatorError> {
        let bound = bind::sensors(section, backend, description)?;
        let described = with_state(description);
        let outputs = STATE.map(|name| {
            bind_group(&described, name).unwrap_or(GroupBinding {
                group: 0,
                values: [0; 4],
                length: 0,
            })
        });
        let [gnss_alone, with_gnss] = bind::gnss(&bound.sensors);
        let parameters = EstimatorParameters {
            delay: section.delay.unwrap_or(DELAYS[usize::from(with_gnss)]),
            ..section.filter
        };
        let timeout = section.correction_timeout;
        let delay = parameters.delay;
        if let Some(timeout) = timeout.filter(|timeout| *timeout <= delay) {
            return Err(EstimatorError::Timeout { timeout, delay });
        }
        let timeout = timeout.unwrap_or(TIMEOUTS[usize::from(gnss_alone)]);
        let has = |wanted: fn(&Kind) -> bool| bound.sensors.iter().any(|one| wanted(&one.kind));
        let measured = [
            has(|kind| {
                matches!(
                    kind,
                    Kind::Capture {
                        quaternion: Some(_),
                        ..
                    }
                )
            }),
            has(|kind| matches!(kind, Kind::Field { .. })),
        ];
        let start = Start::new(measured, parameters, gravity);
        let filter = InvariantFilter::new(parameters, SE23::identity(), gravity)?;
        let estimation = Self {
            state: section.state,
            imu: bound.imu,
            imu_place: section.imu.position.into(),
            sample: None,
            same_since: [0; 2],
            numbers: vec![f64::NAN; NUMBERS + bound.sensors.len()],
            sensors: bound.sensors,
            unused: bound.unused,
            parameters,
            gravity,
            limits: [
                section.max_attitude_deg.to_radians(),
                section.max_velocity,
                section.max_position,
            ],
            correction_timeout: nanoseconds(timeout),
            stale_after,
            start,
            filter: Box::new(Delayed::new(filter, 0)),
            started: None,
            converged: None,
            corrected: None,
            present: SE23::identity(),
            frame: described.frame(),
            outputs,
            error: EstimateError::default(),
        };
        let description = match section.state {
            StateSource::Estimated => described,
            StateSource::Measured => description.clone(),
        };
        Ok((estimation, description))
    }

    /// How many of the [sensors](Self::sensors) are inertial; these come first.
    pub const INERTIAL: usize = bind::IMU.len();

    /// The sensors in use, by signal group.
    pub fn sensors(&self) -> impl Iterator<Item = &'static str> + '_ {
        let imu = bind::IMU.into_iter();
        imu.chain(self.sensors.iter().map(|sensor| sensor.name))
    }

    /// The filter and its time (ns), which lags the present by its delay; `None` before it has started.
    pub fn filter(&self) -> Option<(i64, &InvariantFilter)> {
        self.started
            .map(|_| (self.filter.time(), self.filter.filter()))
    }

    /// The sensors that are offered but not used, in words.
    pub fn unused(&self) -> &[String] {
        &self.unused
    }

    /// How far (m) errors of the fixes may displace the state that the flight uses from the true one: three standard
    /// deviations of satellite navigation, if no other sensor measures the position; of its height, if none measures that.
    pub fn fix_error(&self) -> f64 {
        let heights = self.sensors.iter().filter_map(|sensor| match sensor.kind {
            Kind::Height { variance, .. } => Some(variance),
            _ => None,
        });
        let of_height = heights.fold(f64::INFINITY, f64::min);
        let deviation = |sensor: &Sensor| match sensor.kind {
            Kind::Position { covariance, .. } => {
                let [x, y, z] = covariance.diagonal().into();
                f64::max(x, y).max(z.min(of_height)).sqrt()
            }
            _ => 0.0,
        };
        let [gnss_alone, _] = bind::gnss(&self.sensors);
        if gnss_alone && self.state == StateSource::Estimated {
            3.0 * self.sensors.iter().map(deviation).fold(0.0, f64::max)
        } else {
            0.0
        }
    }

    /// The source of the state that the flight uses.
    pub fn state(&self) -> StateSource {
        self.state
    }
}

/// The description with pose and twist appended.
fn with_state(description: &Description) -> Description {
    let lacking = |described: &Description, name: &String| described.value_index(name).is_none();
    let names = STATE
        .iter()
        .flat_map(|group| fly_hal::signal::group_names(group));
    let names: Vec<String> = names.filter(|name| lacking(description, name)).collect();
    // Canonical names that are not yet present cannot be rejected.
    (description.clone().with_signals(&names)).unwrap_or_else(|_| description.clone())
}

/// # In flight
impl Estimation {
    /// Processes a tick's frame. Returns the reading and the frame that the flight uses.
    pub fn take<'a>(
        &'a mut self,
        time: i64,
        reading: Reading,
        frame: &'a Frame,
    ) -> (Reading, &'a Frame) {
        let estimated = self.state == StateSource::Estimated;
        // After a failed read the frame's content is undefined.
        let verdict = match reading {
            Reading::None(fault) => Err(fault),
            Reading::Fresh | Reading::Faulty(_) => self.update(time, frame),
        };
        match (reading, verdict) {
            _ if !estimated => (reading, frame),
            // Without new data, but for a simulation's truth.
            (Reading::None(Fault::Missing), _) => {
                self.tell(frame);
                (reading, &self.frame)
            }
            (Reading::None(_), _) => (reading, &self.frame),
            (_, verdict) => {
                self.tell(frame);
                let reading = verdict.map_or_else(Reading::Faulty, |()| reading);
                (reading, &self.frame)
            }
        }
    }

    fn update(&mut self, time: i64, frame: &Frame) -> Result<(), Fault> {
        let imu = self.propagate(time, frame);
        for index in 0..self.sensors.len() {
            self.correct(index, time, frame);
        }
        if self.started.is_none() {
            self.try_start();
        }
        imu?;
        self.judge(time)
    }

    /// Processes the IMU sample, if there is a new one.
    fn propagate(&mut self, time: i64, frame: &Frame) -> Result<(), Fault> {
        for group in &self.imu {
            check(group, frame, time, self.stale_after)?;
        }
        let [gyro, accelerometer] =
            [0, 1].map(|i| Vector3::from(self.imu[i].group.vector(&frame.values)));
        let imu = Imu {
            gyro,
            accelerometer,
        };
        let [stamp, other] = [0, 1].map(|i| frame.groups[self.imu[i].group.group].stamp);
        let last = self.sample.map(|(stamp, _)| stamp);
        if stamp != other || last.is_some_and(|last| stamp <= last) {
            return Ok(());
        }
        let before = self.sample.replace((stamp, imu)).map(|(_, before)| before);
        let repeats = [
            before.is_some_and(|before| before.gyro == gyro),
            before.is_some_and(|before| before.accelerometer == accelerometer),
        ];
        for (since, repeats) in self.same_since.iter_mut().zip(repeats) {
            if !repeats {
                *since = stamp;
            }
        }
        self.expect_thawed(stamp, gyro).inspect_err(|_| {
            // Repeated numbers do not count as a sample: the estimate goes stale, as without an IMU.
            self.sample = last.zip(before);
        })?;
        if self.started.is_none() {
            let since = stamp.saturating_sub(last.unwrap_or(stamp));
            self.start.sample(stamp, since, &imu);
        } else {
            let Self {
                filter,
                sensors,
                corrected,
                ..
            } = self;
            let mut has_judged = false;
            let taken = filter.sample(stamp, &imu, |judged| {
                has_judged = true;
                judge(sensors, corrected, &judged);
            });
            if let (Ok(()), Some(last)) = (taken, last) {
                // Without a correction the present state is only propagated.
                self.present = if has_judged {
                    self.filter.present()
                } else {
                    let step = seconds(stamp.saturating_sub(last));
                    self.filter.filter().ahead(&self.present, &imu, step)
                };
            }
        }
        Ok(())
    }

    /// Checks that the IMU has not repeated the same numbers for too long until this stamp (ns).
    fn expect_thawed(&self, stamp: i64, gyro: Vector3<f64>) -> Result<(), Fault> {
        let same = self.same_since.map(|since| stamp.saturating_sub(since));
        let both = same[0].min(same[1]) > self.stale_after;
        let alone = same.map(|same| same > ALONE.saturating_mul(self.stale_after));
        // An ideal gyroscope that does not turn reads zeros.
        let gyro_frozen = both || (alone[0] && gyro != Vector3::zeros());
        let frozen = if gyro_frozen {
            Some(0)
        } else {
            alone[1].then_some(1)
        };
        frozen.map_or(Ok(()), |i| Err(Fault::Frozen(self.imu[i].group.group)))
    }

    /// Processes a sensor's measurement, if there is a new one.
    fn correct(&mut self, index: usize, time: i64, frame: &Frame) {
        let Some((stamp, measurement)) = self.sensors[index].read(frame, time) else {
            return;
        };
        let Some(started) = self.started else {
            let noise = self.sensors[index].position_noise();
            return self.start.see(stamp, &measurement, noise);
        };
        // Measurements that were under way when the filter started carry no new information.
        if stamp < started {
            return;
        }
        let Self {
            filter,
            sensors,
            corrected,
            ..
        } = self;
        let mut has_judged = false;
        let taken = filter.measure(stamp, index, &measurement, |judged| {
            has_judged = true;
            judge(sensors, corrected, &judged);
        });
        if has_judged {
            self.present = self.filter.present();
        }
        if let Err(refused) = taken {
            self.sensors[index].refuse(refused);
        }
    }

    fn try_start(&mut self) {
        let Some((stamp, _)) = self.sample else {
            return;
        };
        let Some(start) = self.start.find(stamp) else {
            return;
        };
        let configured = self.parameters;
        let parameters = EstimatorParameters {
            start_attitude: start.attitude.unwrap_or(configured.start_attitude),
            // It starts where one measurement was.
            start_position: configured.start_position.max(start.position),
            ..configured
        };
        // The parameters have been checked.
        let Ok(filter) = InvariantFilter::new(parameters, start.pose, self.gravity) else {
            return;
        };
        self.filter.restart(filter, stamp);
        (self.present, self.started) = (start.pose, Some(stamp));
    }

    /// Whether the estimate is good enough to fly on.
    fn judge(&mut self, time: i64) -> Result<(), Fault> {
        let (Some(_), Some(corrected)) = (self.started, self.corrected) else {
            return Err(Fault::Unconverged);
        };
        let pose = &self.present;
        let finite = pose.velocity.iter().chain(pose.position.iter());
        if !finite
            .chain(pose.rotation.matrix().iter())
            .all(|x| x.is_finite())
        {
            return Err(Fault::Unconverged);
        }
        let deviations = self.filter.filter().deviations();
        // The filter does not know yet of a gap of the IMU ahead of its horizon.
        let [turn, speed] = self.filter.unseen();
        let parts = [
            (Uncertain::Attitude, turn),
            (Uncertain::Velocity, speed),
            (Uncertain::Position, 0.0),
        ];
        for (k, (what, unseen)) in parts.into_iter().enumerate() {
            // NaN is not.
            let is_certain =
                (deviations[3 * k..3 * k + 3].iter()).all(|it| it.hypot(unseen) <= self.limits[k]);
            if !is_certain {
                return Err(if self.converged.is_some() {
                    Fault::Uncertain(what)
                } else {
                    Fault::Unconverged
                });
            }
        }
        self.converged.get_or_insert(time);
        // Corrections count at the horizon: at the present all of them are older than the filter's delay.
        let horizon = self.filter.time();
        if horizon.saturating_sub(corrected) > self.correction_timeout {
            return Err(Fault::Uncorrected);
        }
        Ok(())
    }

    /// Position (m, world), quaternion w, x, y, z, velocity (m/s) and angular velocity (rad/s), body frame, of the body's origin; `None` before the
    /// estimator has started.
    fn motion(&self) -> Option<[f64; 13]> {
        let (_, imu) = self.sample.filter(|_| self.started.is_some())?;
        let turning = self.filter.filter().corrected(&imu).gyro;
        let (pose, place) = (&self.present, &self.imu_place);
        let position = pose.position - pose.rotation.act(place);
        let velocity = pose.rotation.inverse().act(&pose.velocity) - turning.cross(place);
        let quaternion = pose.rotation.to_quaternion();
        let all = position
            .iter()
            .chain(&quaternion)
            .chain(&velocity)
            .chain(&turning);
        let mut numbers = [0.0; 13];
        for (to, from) in numbers.iter_mut().zip(all) {
            *to = *from;
        }
        Some(numbers)
    }

    /// Fills the output frame: the backend's data, with pose and twist of the estimate.
    fn tell(&mut self, frame: &Frame) {
        self.frame.time = frame.time;
        self.frame.values[..frame.values.len()].copy_from_slice(&frame.values);
        self.frame.groups[..frame.groups.len()].copy_from_slice(&frame.groups);
        let motion = self.motion();
        let stamp = self.sample.map_or(0, |(stamp, _)| stamp);
        let mut numbers = motion.iter().flatten();
        for group in &self.outputs {
            self.frame.groups[group.group] = GroupStatus {
                stamp,
                valid: motion.is_some(),
            };
            for (place, number) in group.values[..group.length].iter().zip(&mut numbers) {
                self.frame.values[*place] = *number;
            }
        }
    }

    /// The logged values of a tick: position, quaternion, velocity and angular velocity; biases of gyro and
    /// accelerometer; standard deviations of attitude, velocity, position and the biases; and each sensor's last
    /// normalised innovation squared, with mean 1. `None` before the estimator has started.
    pub fn numbers(&mut self) -> Option<&[f64]> {
        let motion = self.motion()?;
        let filter = self.filter.filter();
        let deviations = filter.deviations();
        let biases = filter.gyro_bias().iter().chain(filter.accelerometer_bias());
        let innovations = self
            .sensors
            .iter()
            .map(|sensor| sensor.counts.innovation.unwrap_or(f64::NAN));
        let all = motion.iter().chain(biases).chain(&deviations).copied();
        for (to, from) in self.numbers.iter_mut().zip(all.chain(innovations)) {
            *to = from;
        }
        Some(&self.numbers)
    }
}

/// Passes a verdict of the filter to its sensor, and notes the stamp of a position that `corrected` the estimate.
fn judge(sensors: &mut [Sensor], corrected: &mut Option<i64>, judged: &Judged) {
    let sensor = &mut sensors[judged.source];
    sensor.judge(judged);
    let has_corrected = matches!(
        judged.verdict,
        Verdict::Accepted { .. } | Verdict::Widened { .. }
    );
    if has_corrected && sensor.fixes_position() {
        *corrected = Some(judged.stamp);
    }
}
