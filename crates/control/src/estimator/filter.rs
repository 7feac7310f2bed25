//! The filter without delays: predicts with the IMU, corrects with measurements.

use fly_lie::SE23;
use fly_lie::operators::hat3;
use nalgebra::{Matrix3, SMatrix, SVector, Vector3};

use super::covariance::{Covariance, inverse, is_covariance, symmetrise};
use super::measurement::{
    ATTITUDE, FIELD, HEIGHT, KINDS, Measurement, POSE, POSITION, VELOCITY, Verdict,
};
use super::parameters::{EstimatorParameters, ParameterError};
use super::propagation::{Imu, advance, input_effect, transition};
use super::widening::{Innovation, Jump, Wider};

/// The invariant extended Kalman filter on `SE_2(3)`, with biases.
///
/// The error is right-invariant, in world axes: `X = exp(e) X̂`, `b = b̂ + β`, with positions from an [`origin`](InvariantFilter::origin) near
/// the vehicle: about a far point, the lever would take the digits of the covariance.
#[derive(Clone, Debug)]
pub struct InvariantFilter {
    pose: SE23<f64>,
    origin: Vector3<f64>,
    gyro_bias: Vector3<f64>,
    accelerometer_bias: Vector3<f64>,
    covariance: Covariance,
    gravity: Vector3<f64>,
    /// The angular velocity of the last step, less its bias: for the lever arms of velocities.
    turning: Vector3<f64>,
    parameters: EstimatorParameters,
    gates: [f64; 6],
    /// How long each kind has been rejected continuously, s; negative if it is not being rejected.
    rejected_for: [f64; KINDS],
    /// The time since a measurement of each kind passed its gate, s.
    accepted_before: [f64; KINDS],
    /// The normalised innovation squared of the first of the rejected ones; 0 once the covariance was widened for them.
    first_rejected: [f64; KINDS],
}

/// Farther from the origin of the errors, m, the vehicle becomes their origin.
const FAR: f64 = 500.0;
/// A jump is an offset, and does not grow while it is rejected; the error of a wrong attitude does. The square of what noise adds to it.
const GROWN: f64 = 4.0;
/// Largest standard deviation of an attitude, rad, to which a rejected measurement widens it.
const ANY_ATTITUDE: f64 = core::f64::consts::PI;

/// # Construction
impl InvariantFilter {
    /// Starts at this extended pose with zero biases and the initial deviations. `gravity`: its acceleration, m/s², world frame.
    ///
    /// The deviations are of attitude, velocity and position individually, so a start far from the origin is as certain as one at it.
    ///
    /// # Errors
    /// [`ParameterError`], also if the start or the gravity is not finite.
    pub fn new(
        parameters: EstimatorParameters,
        start: SE23<f64>,
        gravity: Vector3<f64>,
    ) -> Result<Self, ParameterError> {
        parameters.validate()?;
        finite("gravity", gravity.iter())?;
        let motion = start.velocity.iter().chain(start.position.iter());
        finite("start", start.rotation.matrix().iter().chain(motion))?;
        let mut origin = Vector3::zeros();
        if is_far(&start.position) {
            origin = start.position;
        }
        let deviations = [
            parameters.start_attitude,
            parameters.start_velocity,
            parameters.start_position,
            parameters.start_gyro_bias,
            parameters.start_accelerometer_bias,
        ];
        let plain = SVector::<f64, 15>::from_fn(|i, _| deviations[i / 3] * deviations[i / 3]);
        // v - v̂ = e_v - hat(v̂) e_R: the deviations are of v - v̂.
        let mut A = Covariance::identity();
        A.fixed_view_mut::<3, 3>(3, 0)
            .copy_from(&hat3(&start.velocity));
        A.fixed_view_mut::<3, 3>(6, 0)
            .copy_from(&hat3(&(start.position - origin)));
        let covariance = A * Covariance::from_diagonal(&plain) * A.transpose();
        Ok(Self {
            pose: start,
            origin,
            gyro_bias: Vector3::zeros(),
            accelerometer_bias: Vector3::zeros(),
            covariance,
            gravity,
            turning: Vector3::zeros(),
            parameters,
            gates: parameters.gates(),
            rejected_for: [-1.0; KINDS],
            accepted_before: [f64::INFINITY; KINDS],
            first_rejected: [0.0; KINDS],
        })
    }
}

/// # The estimate
impl InvariantFilter {
    /// Attitude, velocity and position.
    pub const fn pose(&self) -> &SE23<f64> {
        &self.pose
    }

    /// The gyro's bias, rad/s.
    pub const fn gyro_bias(&self) -> &Vector3<f64> {
        &self.gyro_bias
    }

    /// The accelerometer's bias, m/s².
    pub const fn accelerometer_bias(&self) -> &Vector3<f64> {
        &self.accelerometer_bias
    }

    /// The point (m, world) from which the error `e` counts positions: the world's origin, unless the vehicle is or was farther than 500 m
    /// from it.
    pub const fn origin(&self) -> &Vector3<f64> {
        &self.origin
    }

    /// The covariance of the error `[e; β]`, about the [`origin`](Self::origin).
    pub const fn covariance(&self) -> &Covariance {
        &self.covariance
    }

    /// Standard deviations of attitude (rad, about world axes), velocity (m/s), position (m), gyro bias (rad/s) and accelerometer bias (m/s²), three each: of
    /// `v - v̂` and `p - p̂`, not of the coordinates `e`. NaN where a variance is negative: the estimate is then good for nothing.
    pub fn deviations(&self) -> [f64; 15] {
        let P = &self.covariance;
        let mut variances: [f64; 15] = core::array::from_fn(|i| P[(i, i)]);
        // Of the terms that cancel; their rounding may leave less than nothing.
        let mut terms = variances;
        for (first, point) in [(3, self.pose.velocity), (6, self.near().position)] {
            // v - v̂ = e_v - hat(v̂) e_R to first order.
            let lever = hat3(&point);
            let turned = lever * P.fixed_view::<3, 3>(0, first);
            let all = lever * P.fixed_view::<3, 3>(0, 0) * lever.transpose();
            for i in 0..3 {
                variances[first + i] += all[(i, i)] - 2.0 * turned[(i, i)];
                terms[first + i] += all[(i, i)];
            }
        }
        core::array::from_fn(|i| {
            let variance = variances[i];
            let is_nothing = variance < 0.0 && variance >= -ROUNDING * terms[i];
            nalgebra::ComplexField::sqrt(if is_nothing { 0.0 } else { variance })
        })
    }

    /// The pose with its position from the origin of the errors.
    fn near(&self) -> SE23<f64> {
        self.relative(&self.pose)
    }

    fn relative(&self, pose: &SE23<f64>) -> SE23<f64> {
        SE23::new(pose.rotation, pose.velocity, pose.position - self.origin)
    }

    /// The error `[e; β]` of the estimate from a known truth, about the [`origin`](Self::origin).
    pub fn error(
        &self,
        truth: &SE23<f64>,
        gyro: &Vector3<f64>,
        accelerometer: &Vector3<f64>,
    ) -> SVector<f64, 15> {
        let e = (self.relative(truth) * self.near().inverse()).log();
        let (g, a) = (
            gyro - self.gyro_bias,
            accelerometer - self.accelerometer_bias,
        );
        SVector::from_fn(|i, _| match i {
            0..9 => e[i],
            9..12 => g[i - 9],
            _ => a[i - 12],
        })
    }

    /// The angular velocity of the last step, less its bias, rad/s, body frame.
    pub const fn angular_velocity(&self) -> &Vector3<f64> {
        &self.turning
    }

    /// The largest delay of a measurement, s.
    pub const fn delay(&self) -> f64 {
        self.parameters.delay
    }

    /// These measurements less their biases.
    pub fn corrected(&self, imu: &Imu) -> Imu {
        Imu {
            gyro: imu.gyro - self.gyro_bias,
            accelerometer: imu.accelerometer - self.accelerometer_bias,
        }
    }

    /// Propagates a pose by `dt` s with these measurements less the estimated biases: the mean only.
    pub fn ahead(&self, pose: &SE23<f64>, imu: &Imu, dt: f64) -> SE23<f64> {
        advance(pose, &self.corrected(imu), &self.gravity, dt)
    }
}

/// # Filtering
impl InvariantFilter {
    /// Propagates by `dt` s with the IMU's mean measurement over that time. Returns `false`, and changes nothing, if an entry is not finite,
    /// the step is not positive, or the pose would not be finite.
    pub fn predict(&mut self, imu: &Imu, dt: f64) -> bool {
        self.predict_through(imu, dt, [0.0; 2])
    }

    /// As [`predict`](Self::predict), with these squared densities of white noise (rad²/s, m²/s³) besides that of the IMU: of a gap between its samples.
    pub(super) fn predict_through(&mut self, imu: &Imu, dt: f64, unseen: [f64; 2]) -> bool {
        let finite = |v: &Vector3<f64>| v.iter().all(|x| x.is_finite());
        if !(dt > 0.0 && dt.is_finite() && finite(&imu.gyro) && finite(&imu.accelerometer)) {
            return false;
        }
        let input = self.corrected(imu);
        let pose = advance(&self.pose, &input, &self.gravity, dt);
        let is_turn = pose.rotation.matrix().iter().all(|x| x.is_finite());
        if !(is_turn && finite(&pose.velocity) && finite(&pose.position)) {
            return false;
        }
        self.pose = pose;
        self.turning = input.gyro;
        let E = input_effect(&self.near(), &input, dt);
        let F = transition(&self.gravity, dt);
        let P = &self.covariance;
        let (xx, xb, bb) = (
            P.fixed_view::<9, 9>(0, 0),
            P.fixed_view::<9, 6>(0, 9),
            P.fixed_view::<6, 6>(9, 9),
        );
        let p = &self.parameters;
        // White noise is constant over a step, with the variance of its density over dt: it enters as a bias does.
        let white = SVector::<f64, 6>::from_fn(|i, _| {
            let (density, unseen) = if i < 3 {
                (p.gyro_noise, unseen[0])
            } else {
                (p.accelerometer_noise, unseen[1])
            };
            (density * density + unseen) / dt
        });
        let moved = F * xb + E * bb;
        let noisy = E * SMatrix::<f64, 6, 6>::from_diagonal(&white);
        let xx = (F * xx + E * xb.transpose()) * F.transpose() + (moved + noisy) * E.transpose();
        let P = &mut self.covariance;
        P.fixed_view_mut::<9, 9>(0, 0).copy_from(&xx);
        P.fixed_view_mut::<9, 6>(0, 9).copy_from(&moved);
        P.fixed_view_mut::<6, 9>(9, 0).copy_from(&moved.transpose());
        for i in 0..3 {
            P[(9 + i, 9 + i)] += p.gyro_bias_walk * p.gyro_bias_walk * dt;
            P[(12 + i, 12 + i)] += p.accelerometer_bias_walk * p.accelerometer_bias_walk * dt;
        }
        symmetrise(P);
        self.stay_near();
        for time in &mut self.rejected_for {
            if *time >= 0.0 {
                *time += dt;
            }
        }
        for time in &mut self.accepted_before {
            *time += dt;
        }
        true
    }

    /// Makes the vehicle the origin of the errors once it is far from it.
    fn stay_near(&mut self) {
        let way = self.pose.position - self.origin;
        if !is_far(&way) {
            return;
        }
        // p - p̂ = e_p - hat(p̂) e_R stays as it is.
        let mut A = Covariance::identity();
        A.fixed_view_mut::<3, 3>(6, 0).copy_from(&-hat3(&way));
        self.covariance = A * self.covariance * A.transpose();
        symmetrise(&mut self.covariance);
        self.origin = self.pose.position;
    }

    /// Corrects with a measurement of the present time.
    pub fn correct(&mut self, measurement: &Measurement) -> Verdict {
        let kind = measurement.kind();
        let R = *self.pose.rotation.matrix();
        let origin = self.origin;
        let position = self.near().position;
        let at = |arm: &Vector3<f64>| position + R * arm;
        match measurement {
            Measurement::Position {
                value,
                arm,
                covariance,
            } => {
                let point = at(arm);
                let mut H = SMatrix::<f64, 3, 15>::zeros();
                place(&mut H, 0, 0, &-hat3(&point));
                place(&mut H, 0, 6, &Matrix3::identity());
                self.update(kind, &(value - origin - point), &H, covariance)
            }
            Measurement::Velocity {
                value,
                arm,
                covariance,
            } => {
                let velocity = self.pose.velocity + R * self.turning.cross(arm);
                let mut H = SMatrix::<f64, 3, 15>::zeros();
                place(&mut H, 0, 0, &-hat3(&velocity));
                place(&mut H, 0, 3, &Matrix3::identity());
                place(&mut H, 0, 9, &(R * hat3(arm)));
                // The gyro's own noise moves a point on an arm, too, but lies far below that of any velocity sensor.
                self.update(kind, &(value - velocity), &H, covariance)
            }
            Measurement::Attitude { value, covariance } => {
                let turn = (*value * self.pose.rotation.inverse()).log();
                let mut H = SMatrix::<f64, 3, 15>::zeros();
                place(&mut H, 0, 0, &Matrix3::identity());
                self.update(kind, &turn, &H, covariance)
            }
            Measurement::Pose {
                attitude,
                position,
                arm,
                attitude_covariance,
                position_covariance,
            } => {
                let turn = (*attitude * self.pose.rotation.inverse()).log();
                let point = at(arm);
                let way = position - origin - point;
                let z = SVector::<f64, 6>::from_fn(|i, _| if i < 3 { turn[i] } else { way[i - 3] });
                let mut H = SMatrix::<f64, 6, 15>::zeros();
                place(&mut H, 0, 0, &Matrix3::identity());
                place(&mut H, 3, 0, &-hat3(&point));
                place(&mut H, 3, 6, &Matrix3::identity());
                let mut N = SMatrix::<f64, 6, 6>::zeros();
                place(&mut N, 0, 0, attitude_covariance);
                place(&mut N, 3, 3, position_covariance);
                self.update(kind, &z, &H, &N)
            }
            Measurement::Height {
                value,
                arm,
                variance,
            } => {
                let point = at(arm);
                let mut H = SMatrix::<f64, 1, 15>::zeros();
                (H[0], H[1], H[8]) = (point.y, -point.x, 1.0);
                let z = SVector::<f64, 1>::new(value - origin.z - point.z);
                self.update(kind, &z, &H, &SMatrix::<f64, 1, 1>::new(*variance))
            }
            Measurement::Field {
                value,
                known,
                covariance,
            } => {
                // Expressed in the estimated body frame, rotated into the world: H does not depend on the state.
                let mut H = SMatrix::<f64, 3, 15>::zeros();
                place(&mut H, 0, 0, &hat3(known));
                let N = R * covariance * R.transpose();
                self.update(kind, &(R * value - known), &H, &N)
            }
        }
    }

    /// With what covariance a measurement that was rejected with this normalised innovation squared passes: `None` before its kind has been rejected for
    /// `rejection_time`, and for as long as others contradict it.
    ///
    /// The state is wrong then, not the measurement. An innovation that has not grown meanwhile is taken for a [`Jump`], and whatever else is wrong for an error
    /// of all of the state. The next measurements are taken as well, until one passes the gate.
    fn wider<const M: usize>(
        &mut self,
        kind: usize,
        nis: f64,
        z: &SVector<f64, M>,
        H: &SMatrix<f64, M, 15>,
        N: &SMatrix<f64, M, M>,
    ) -> Option<Wider<M>> {
        let time = &mut self.rejected_for[kind];
        if *time < 0.0 {
            (*time, self.first_rejected[kind]) = (0.0, nis);
        }
        if *time < self.parameters.rejection_time {
            return None;
        }
        let has_grown = nis > GROWN * self.first_rejected[kind];
        // Whether it may be a jump, and an error of all of the state.
        let (of_jump, of_all) = match kind {
            // What others measure as well has not jumped: this one is wrong.
            HEIGHT | VELOCITY if self.is_confirmed(&[POSITION, POSE]) => return None,
            // Positions do not show a wrong heading before the vehicle accelerates, and then they do not pass.
            FIELD if self.is_confirmed(&[POSITION, VELOCITY, ATTITUDE, POSE]) => return None,
            POSITION if self.is_confirmed(&[HEIGHT]) => {
                let of_all = has_grown && !self.is_confirmed(&[VELOCITY]);
                (!of_all, of_all)
            }
            _ => (!has_grown, true),
        };
        let is_known = self.is_confirmed(&[HEIGHT]);
        let innovation = Innovation {
            z,
            H,
            N,
            gate: self.gates[M - 1],
        };
        let jump = Jump::of(
            kind,
            is_known,
            &self.near(),
            &self.gravity,
            &self.deviations(),
        );
        let p = &self.parameters;
        // Larger biases would explain the gravity along a wrong vertical.
        let largest = [
            ANY_ATTITUDE,
            f64::INFINITY,
            f64::INFINITY,
            p.start_gyro_bias,
            p.start_accelerometer_bias,
        ];
        let jumped = || innovation.after(&self.covariance, &jump);
        let all = || innovation.scaled(&self.covariance, largest);
        let wider = of_jump.then(jumped).flatten();
        let wider = wider.or_else(|| of_all.then(all).flatten())?;
        self.first_rejected[kind] = 0.0;
        Some(wider)
    }

    /// Whether a measurement of one of these kinds has passed its gate within the rejection time.
    fn is_confirmed(&self, kinds: &[usize]) -> bool {
        let mut times = kinds.iter().map(|kind| self.accepted_before[*kind]);
        times.any(|time| time < self.parameters.rejection_time)
    }

    /// `z = H [e; β] + n`, the noise n with covariance `N`: gate, gain, correction, reset.
    fn update<const M: usize>(
        &mut self,
        kind: usize,
        z: &SVector<f64, M>,
        H: &SMatrix<f64, M, 15>,
        N: &SMatrix<f64, M, M>,
    ) -> Verdict {
        if !is_covariance(N) {
            return Verdict::Invalid;
        }
        let mut HP = H * self.covariance;
        let S = HP * H.transpose() + N;
        let Some(mut inverse) = inverse(&S) else {
            return Verdict::Invalid;
        };
        let nis = z.dot(&(inverse * z));
        if !nis.is_finite() {
            return Verdict::Invalid;
        }
        let mut verdict = Verdict::Accepted { nis };
        if nis > self.gates[M - 1] {
            let Some(Wider {
                factor,
                covariance,
                innovation,
            }) = self.wider(kind, nis, z, H, N)
            else {
                return Verdict::Rejected { nis };
            };
            self.covariance = covariance;
            HP = H * self.covariance;
            inverse = innovation;
            verdict = Verdict::Widened { nis, factor };
        } else {
            (self.rejected_for[kind], self.accepted_before[kind]) = (-1.0, 0.0);
        }
        let K = HP.transpose() * inverse;
        let d = K * z;
        let x: SVector<f64, 9> = d.fixed_rows::<9>(0).into_owned();
        // Joseph form; the error is then relative to the corrected pose: log(exp(d + e) exp(-d)) = J_l(d) e.
        let A = Covariance::identity() - K * H;
        let mut P = A * self.covariance * A.transpose() + K * N * K.transpose();
        let J = SE23::left_jacobian(&x);
        let rows = J * P.fixed_rows::<9>(0);
        P.fixed_rows_mut::<9>(0).copy_from(&rows);
        let columns = P.fixed_columns::<9>(0) * J.transpose();
        P.fixed_columns_mut::<9>(0).copy_from(&columns);
        symmetrise(&mut P);
        self.covariance = P;
        self.pose = SE23::exp(&x) * self.near();
        self.pose.position += self.origin;
        self.pose.rotation = self.pose.rotation.orthonormalized();
        self.gyro_bias += d.fixed_rows::<3>(9);
        self.accelerometer_bias += d.fixed_rows::<3>(12);
        self.stay_near();
        verdict
    }
}

/// Relative to terms that cancel.
const ROUNDING: f64 = 1e-9;

fn is_far(way: &Vector3<f64>) -> bool {
    way.norm_squared() > FAR * FAR
}

fn finite<'a>(
    key: &'static str,
    mut numbers: impl Iterator<Item = &'a f64>,
) -> Result<(), ParameterError> {
    match numbers.find(|x| !x.is_finite()) {
        None => Ok(()),
        Some(found) => Err(ParameterError {
            key,
            expected: "finite numbers",
            found: *found,
        }),
    }
}

/// Puts a block at row `i`, column `j`.
fn place<const M: usize, const N: usize>(
    A: &mut SMatrix<f64, M, N>,
    i: usize,
    j: usize,
    block: &Matrix3<f64>,
) {
    A.view_mut((i, j), (3, 3)).copy_from(block);
}
