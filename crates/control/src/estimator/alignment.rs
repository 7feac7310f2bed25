//! The attitude at the start from positions and an IMU alone, while the body moves: in closed form, from any attitude.

use fly_lie::{AttitudePotential, SE23};
use nalgebra::{ComplexField, Matrix2, Matrix2x3, Matrix3, Vector3};

use super::parameters::EstimatorParameters;
use super::propagation::{Imu, advance};

/// What an IMU has measured since a start: rotation, and its specific force once and twice integrated, in the axes of the start.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Integrals {
    /// Since the start, s.
    pub time: f64,
    motion: SE23<f64>,
}

/// Alignment in motion (Wu and Pan, IEEE TAES 2013): the attitude at the start turns what the IMU has integrated into how the positions have moved.
///
/// ```text
/// p(t) - g t²/2 = p_0 + v_0 t + R_0 α(t),    α(t) = ∫∫ R_rel a
/// ```
///
/// Positions `y_i` at `t_i` make that a linear least-squares problem in `p_0`, `v_0` and Wahba's problem in `R_0`, of which sums suffice:
///
/// ```text
/// P = Σ b̃_i w̃_iᵀ,   w_i = y_i - g t_i²/2,   b_i = α(t_i) + R_rel(t_i) arm,   tilde: less their straight lines
/// ```
///
/// There is no first guess and no linearisation: it finds any attitude. About an axis along which all `b̃_i` lie nothing is found: at rest, or at
/// constant acceleration, that is the heading.
#[derive(Clone, Debug)]
pub struct Alignment {
    gravity: Vector3<f64>,
    biases: [f64; 2],
    now: Integrals,
    /// What positions are counted from.
    origin: Option<Vector3<f64>>,
    /// Sums over positions: `[n, Σt; Σt, Σt²]`, `[Σw, Σw t]ᵀ`, `[Σb, Σb t]ᵀ`, `Σ b wᵀ`, `Σ σ²`.
    times: Matrix2<f64>,
    world: Matrix2x3<f64>,
    body: Matrix2x3<f64>,
    both: Matrix3<f64>,
    variance: f64,
}

/// What an [`Alignment`] has found, at the last sample of the IMU.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Aligned {
    /// Attitude, velocity and position.
    pub pose: SE23<f64>,
    /// Deviation of the attitude about its least certain axis, rad: by the noise, and by what biases of the start's deviations do at worst.
    pub deviation: f64,
}

/// Root mean square of `s²` on 0 to 1 less its straight line: `1 / sqrt(180)`.
const BENT: f64 = 0.074_535_599_249_993;

impl Alignment {
    /// Starts now. `gravity`: its acceleration, m/s², world frame; the parameters tell how large biases may be.
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

    /// The integrals up to now: a position of this time may come later.
    pub const fn now(&self) -> &Integrals {
        &self.now
    }

    /// Goes on by `dt` s over which the IMU has measured this in the mean.
    pub fn sample(&mut self, imu: &Imu, dt: f64) {
        self.now.motion = advance(&self.now.motion, imu, &Vector3::zeros(), dt);
        self.now.time += dt;
    }

    /// Takes the position (m, world) of a point at `arm` (m, body frame) when the integrals were `then`; standard deviation m, each axis.
    pub fn position(
        &mut self,
        then: &Integrals,
        value: &Vector3<f64>,
        arm: &Vector3<f64>,
        deviation: f64,
    ) {
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

    /// What is found so far; `None` before there are three positions at different times. The [deviation](Aligned::deviation) tells what it is worth.
    pub fn aligned(&self) -> Option<Aligned> {
        let inverse = self
            .times
            .try_inverse()
            .filter(|_| self.times[(0, 0)] > 2.5)?;
        let P = self.both - self.body.transpose() * inverse * self.world;
        let potential = AttitudePotential::new(P).ok()?;
        let start = potential.minimum();
        let stiffness = potential.eigenvalues().x.max(0.0);
        // p_0 and v_0 from what is left.
        let rest = self.world - self.body * start.matrix().transpose();
        let line = inverse * rest;
        let [p, v] = [0, 1].map(|i| line.row(i).transpose());
        let (t, motion) = (self.now.time, &self.now.motion);
        let g = &self.gravity;
        let count = self.times[(0, 0)];
        let noise = self.variance / count;
        // An unknown constant acceleration bends the positions, an unknown rate turns all.
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
