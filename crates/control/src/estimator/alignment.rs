//! In-motion alignment: the initial attitude from positions and an IMU alone, in closed form, from any attitude.

use fly_lie::{AttitudePotential, SE23};
use nalgebra::{ComplexField, Matrix2, Matrix2x3, Matrix3, Vector3};

use super::parameters::EstimatorParameters;
use super::propagation::{Imu, advance};

/// IMU measurements integrated since the start: rotation, and specific force integrated once and twice, in the initial axes.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Integrals {
    /// Since the start, s.
    pub time: f64,
    motion: SE23<f64>,
}

/// In-motion alignment (Wu and Pan, IEEE TAES 2013): the initial attitude maps the integrated IMU measurements to the displacements.
///
/// ```text
/// p(t) - g t²/2 = p_0 + v_0 t + R_0 α(t),    α(t) = ∫∫ R_rel a
/// ```
///
/// Positions `y_i` at `t_i` make this a linear least-squares problem in `p_0`, `v_0` and Wahba's problem in `R_0`, for which sums
/// suffice:
///
/// ```text
/// P = Σ b̃_i w̃_iᵀ,   w_i = y_i - g t_i²/2,   b_i = α(t_i) + R_rel(t_i) arm,   tilde: less their linear fits in t
/// ```
///
/// It needs no initial guess and no linearisation, and finds any attitude. The rotation about an axis along which all `b̃_i` lie is unobservable:
/// at rest, or at constant acceleration, that is the heading.
#[derive(Clone, Debug)]
pub struct Alignment {
    gravity: Vector3<f64>,
    biases: [f64; 2],
    now: Integrals,
    /// The origin of the positions.
    origin: Option<Vector3<f64>>,
    /// Sums over positions: `[n, Σt; Σt, Σt²]`, `[Σw, Σw t]ᵀ`, `[Σb, Σb t]ᵀ`, `Σ b wᵀ`, `Σ σ²`.
    times: Matrix2<f64>,
    world: Matrix2x3<f64>,
    body: Matrix2x3<f64>,
    both: Matrix3<f64>,
    variance: f64,
}

/// The result of an [`Alignment`], at the last IMU sample.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Aligned {
    /// Attitude, velocity and position.
    pub pose: SE23<f64>,
    /// Standard deviation of the attitude about its least certain axis, rad: from the noise, and from the worst-case effect of biases with
    /// the initial deviations.
    pub deviation: f64,
}

/// Root mean square of `s²` on 0 to 1 less its linear fit: `1 / sqrt(180)`.
const BENT: f64 = 0.074_535_599_249_993;

impl Alignment {
    /// Starts now. `gravity`: its acceleration, m/s², world frame; the parameters bound the biases.
    pub fn new(parameters: &EstimatorParameters, gravity: Vector3<f64>) -> Self {
        Self {
            gravity,
            biases: [
                parameters.start_gyro_bias,
                parameters.start_accelerometer_bias,
            ],
            now: Integrals {
                time: 0.0,
                motion: SE23::identity(),
            },
            origin: None,
            times: Matrix2::zeros(),
            world: Matrix2x3::zeros(),
            body: Matrix2x3::zeros(),
            both: Matrix3::zeros(),
            variance: 0.0,
        }
    }

    /// The integrals up to now: a position measured now may arrive later.
    pub const fn now(&self) -> &Integrals {
        &self.now
    }

    /// Integrates an IMU sample, the mean over `dt` s; ignores one that is not finite.
    pub fn sample(&mut self, imu: &Imu, dt: f64) {
        let mut numbers = imu.gyro.iter().chain(imu.accelerometer.iter());
        if !(dt.is_finite() && numbers.all(ComplexField::is_finite)) {
            return;
        }
        self.now.motion = advance(&self.now.motion, imu, &Vector3::zeros(), dt);
        self.now.time += dt;
    }

    /// Adds the position (m, world) of a point at `arm` (m, body frame) at the time of the integrals `then`; standard deviation m, per
    /// axis. Ignores one that is not finite.
    pub fn position(
        &mut self,
        then: &Integrals,
        value: &Vector3<f64>,
        arm: &Vector3<f64>,
        deviation: f64,
    ) {
        let mut numbers = value.iter().chain(arm.iter());
        if !(deviation.is_finite() && numbers.all(ComplexField::is_finite)) {
            return;
        }
        let t = then.time;
        let origin = *self.origin.get_or_insert(*value);
        let w = value - origin - self.gravity * (0.5 * t * t);
        let b = then.motion.position + then.motion.rotation.act(arm);
        let powers = nalgebra::Vector2::new(1.0, t);
        self.times += powers * powers.transpose();
        self.world += powers * w.transpose();
        self.body += powers * b.transpose();
        self.both += b * w.transpose();
        self.variance += deviation * deviation;
    }

    /// The current result; `None` before three positions at different times. Its [deviation](Aligned::deviation) tells how accurate it is.
    pub fn aligned(&self) -> Option<Aligned> {
        let inverse = self
            .times
            .try_inverse()
            .filter(|_| self.times[(0, 0)] > 2.5)?;
        let P = self.both - self.body.transpose() * inverse * self.world;
        let potential = AttitudePotential::new(P).ok()?;
        let start = potential.minimum();
        let stiffness = potential.eigenvalues().x.max(0.0);
        // p_0 and v_0 from the remainder.
        let rest = self.world - self.body * start.matrix().transpose();
        let line = inverse * rest;
        let [p, v] = [0, 1].map(|i| line.row(i).transpose());
        let (t, motion) = (self.now.time, &self.now.motion);
        let g = &self.gravity;
        let count = self.times[(0, 0)];
        let noise = self.variance / count;
        // An unknown constant acceleration bends the positions; an unknown rate rotates them all.
        let bent = self.biases[1] * 0.5 * t * t * BENT;
        let turned = self.biases[0] * t;
        let variance = (noise + count * bent * bent) / stiffness + turned * turned;
        let deviation = ComplexField::sqrt(variance);
        let finite = p.iter().chain(v.iter()).all(ComplexField::is_finite);
        (finite && deviation.is_finite()).then(|| Aligned {
            pose: SE23::new(
                start * motion.rotation,
                v + g * t + start.act(&motion.velocity),
                self.origin.unwrap_or_default()
                    + p
                    + v * t
                    + g * (0.5 * t * t)
                    + start.act(&motion.position),
            ),
            deviation,
        })
    }
}
