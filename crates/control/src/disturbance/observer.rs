//! The generalised-momentum observer.
#![allow(non_snake_case)]

use nalgebra::{DVector, DefaultAllocator, Dim, Dyn, Matrix3, OMatrix, OVector, U1, Vector3};

use crate::sizes::Sizes;

/// Estimates the generalised force r (n entries, along the velocity coordinates: N, N m) that a model `M xi_dot + b = B u` leaves unexplained.
///
/// The classical observer (A. De Luca, R. Mattone, *Sensorless robot collision detection and hybrid force/motion control*, ICRA 2005) in
/// velocity coordinates xi, which may be quasi-velocities:
///
/// ```text
/// r = K (M xi - integral(B u - b + Mdot xi + r))        so that   r' = K (d - r),   d = M xi' + b - B u
/// ```
///
/// From one measurement to the next, h s later, with the mean m of the values at both ends and the mean *applied* input u, the momentum balance reads
///
/// ```text
/// d = M_m (xi_1 - xi_0)/h + b_m - B_m u,     r_1 = exp(-K h) r_0 + (1 - exp(-K h)) d
/// ```
///
/// where `M_m (xi_1 - xi_0)` is the change of `M xi` without that of M. No acceleration is measured and no `Mdot` needed. The balance is exact to h^2, and r is
/// exact for the d of the step, so the observer is stable for any step. It uses the actuators' outputs rather than their commands, so it does not wind up at
/// their limits.
///
/// The estimate converges fast if it is expressed in quantities that stay constant. For a free body the force orthogonal to the thrust is kept in the world
/// (wind), that along the thrust, and slowly all that is vertical, relative to the thrust ([`thrust_scale`](Self::thrust_scale): mass, battery, weak rotors), and the moment in the body (centre
/// of mass, weak rotors); for all other joints the force in the joint. Each of them converges as `exp(-K t)`.
#[derive(Clone, Debug)]
pub struct DisturbanceObserver<N: Dim = Dyn>
where
    DefaultAllocator: Sizes<N, Dyn>,
{
    /// K, 1/s.
    bandwidth: f64,
    /// Index of the three linear velocities of the only free body.
    free: Option<usize>,
    /// Whether the moment applied to the free body is unknown.
    of_force: bool,
    /// Mean input since the last observation.
    applied: DVector<f64>,
    is_applied_known: bool,
    last: Sample<N>,
    now: Sample<N>,
    /// Whether `now` is a measurement that can be differenced.
    known: bool,
    /// Force on the free body other than along its thrust, N, world.
    world: Vector3<f64>,
    /// Force along the thrust, relative to the thrust.
    scale: f64,
    /// The applied `B u`, n entries.
    pushed: OVector<f64, N>,
    /// r.
    force: OVector<f64, N>,
    /// d of the last step, and whether it is valid.
    measured: (OVector<f64, N>, bool),
    /// d - r.
    innovation: OVector<f64, N>,
    /// The change of the velocity over the last step.
    change: OVector<f64, N>,
    /// The same, filtered like r.
    trend: OVector<f64, N>,
}

/// Model and velocity at one instant.
#[derive(Clone, Debug)]
struct Sample<N: Dim>
where
    DefaultAllocator: Sizes<N, Dyn>,
{
    M: OMatrix<f64, N, N>,
    B: OMatrix<f64, N, Dyn>,
    b: OVector<f64, N>,
    xi: OVector<f64, N>,
    /// Attitude of the free body.
    R: Matrix3<f64>,
}

/// An invalid bandwidth.
#[derive(Clone, Copy, Debug, PartialEq, thiserror::Error)]
#[error("expected a positive bandwidth of the disturbance observer in rad/s, found {0}")]
pub struct BandwidthError(pub f64);

/// The least fraction of b carried by the thrust for which a force counts as relative to the thrust.
const LEAST_THRUST: f64 = 0.25;
/// A force beyond this fraction of the thrust is not attributed to it. Below 1: r is known one step late, which a loop without lag
/// tolerates up to 1.
const LARGEST_SCALE: f64 = 0.75;

/// A thrust whose vertical part is less than this fraction of it does not carry the body.
const STEEPEST: f64 = 0.5;
/// The fraction of the bandwidth with which a vertical force becomes one of the thrust.
const SHARED: f64 = 0.25;

/// # Construction
impl<N: Dim> DisturbanceObserver<N>
where
    DefaultAllocator: Sizes<N, Dyn>,
{
    /// For n degrees of freedom and p inputs with the bandwidth K, rad/s. `free` is the index in xi of the linear velocity (three entries, body
    /// axes) of the only free body, if any.
    ///
    /// # Errors
    /// [`BandwidthError`] unless it is positive and finite.
    pub fn new(
        n: N,
        p: usize,
        free: Option<usize>,
        bandwidth: f64,
    ) -> Result<Self, BandwidthError> {
        if !(bandwidth > 0.0 && bandwidth.is_finite()) {
            return Err(BandwidthError(bandwidth));
        }
        let zero = OVector::zeros_generic(n, U1);
        let sample = Sample {
            M: OMatrix::zeros_generic(n, n),
            B: OMatrix::zeros_generic(n, Dyn(p)),
            b: zero.clone(),
            xi: zero.clone(),
            R: Matrix3::identity(),
        };
        Ok(Self {
            bandwidth,
            free,
            of_force: false,
            applied: DVector::zeros(p),
            is_applied_known: false,
            last: sample.clone(),
            now: sample,
            known: false,
            world: Vector3::zeros(),
            scale: 0.0,
            pushed: zero.clone(),
            force: zero.clone(),
            measured: (zero.clone(), false),
            innovation: zero.clone(),
            change: zero.clone(),
            trend: zero,
        })
    }

    /// For a free body whose applied moment is unknown because an inner loop controls its attitude: the estimate has no moment.
    #[must_use]
    pub fn of_force(mut self) -> Self {
        self.of_force = true;
        self
    }
}

/// # Observation
impl<N: Dim> DisturbanceObserver<N>
where
    DefaultAllocator: Sizes<N, Dyn>,
{
    /// Reports the mean input (p entries) applied since the last observation. `None` means that it, or the motion, is unknown: the next observation
    /// holds the estimate and restarts.
    ///
    /// # Panics
    /// If the number of entries is not p.
    pub fn set_applied(&mut self, input: Option<&[f64]>) {
        self.is_applied_known = input.is_some();
        if let Some(input) = input {
            self.applied.copy_from_slice(input);
        }
    }

    /// Reports that this state cannot be observed: the estimate holds, and the next observation begins anew.
    pub fn interrupt(&mut self) {
        (self.known, self.is_applied_known, self.measured.1) = (false, false, false);
    }

    /// Processes the measured velocity xi (n entries) and M, B, b there, `elapsed` s after the previous observation. `R` is the attitude of the free body.
    /// `unmet` is the demand that limits rejected in the last step, `u0 - u`: the estimate does not grow against it. Allocates nothing.
    ///
    /// # Panics
    /// If the size of an argument is wrong.
    #[allow(clippy::too_many_arguments)] // a model and a state
    pub fn observe(
        &mut self,
        elapsed: f64,
        M: &OMatrix<f64, N, N>,
        B: &OMatrix<f64, N, Dyn>,
        b: &OVector<f64, N>,
        xi: &[f64],
        R: &Matrix3<f64>,
        unmet: Option<(&DVector<f64>, &DVector<f64>)>,
    ) {
        std::mem::swap(&mut self.last, &mut self.now);
        let now = &mut self.now;
        now.M.copy_from(M);
        now.B.copy_from(B);
        now.b.copy_from(b);
        now.xi.copy_from_slice(xi);
        now.R = *R;
        let is_measured = std::mem::take(&mut self.is_applied_known);
        let finite = now.xi.iter().chain(&now.b).all(|x| x.is_finite());
        self.measured.1 = false;
        if std::mem::replace(&mut self.known, is_measured && finite)
            && self.known
            && elapsed.is_finite()
            && elapsed > 0.0
        {
            self.balance(elapsed);
            let part = -f64::exp_m1(-self.bandwidth * elapsed);
            self.measured.1 = self.measured.0.iter().all(|x| x.is_finite());
            if self.measured.1 {
                self.trend.axpy(part, &self.innovation, 1.0 - part);
                self.hold_saturated(unmet);
                self.correct(part);
            }
        }
        self.force_here();
    }

    /// Writes `B u` and the innovation `d - r` over the last step; for a free body both in its present axes.
    fn balance(&mut self, elapsed: f64) {
        let (last, now, u) = (&self.last, &self.now, &self.applied);
        let push = &mut self.pushed;
        push.gemv(0.5, &last.B, u, 0.0);
        push.gemv(0.5, &now.B, u, 1.0);
        // The difference of the velocities, in place of d - r.
        let e = &mut self.innovation;
        self.change.copy_from(&now.xi);
        self.change -= &last.xi;
        e.gemv(0.5 / elapsed, &last.M, &self.change, 0.0);
        e.gemv(0.5 / elapsed, &now.M, &self.change, 1.0);
        e.axpy(0.5, &last.b, 1.0);
        e.axpy(0.5, &now.b, 1.0);
        *e -= &*push;
        if let Some(free) = self.free {
            // The body has rotated since; difference the velocities in common world axes.
            let turned = now.R.tr_mul(&((last.R + now.R) * 0.5));
            for vector in [e, push] {
                let mut part = vector.generic_view_mut((free, 0), (nalgebra::U3, U1));
                let body = turned * &part;
                part.copy_from(&body);
            }
        }
        self.measured.0.copy_from(&self.innovation);
        self.force_here();
        self.innovation -= &self.force;
    }

    /// Anti-windup: removes the part that would increase a demand rejected by limits. The trend decides, because clipping noise on one side
    /// only would bias the estimate.
    fn hold_saturated(&mut self, unmet: Option<(&DVector<f64>, &DVector<f64>)>) {
        let Some((asked, given)) = unmet else { return };
        let innovation = self.innovation.iter_mut().zip(&self.trend);
        for (i, (e, trend)) in innovation.enumerate() {
            let row = self.now.B.row(i);
            let missing: f64 = (row.iter().zip(asked.iter().zip(given)))
                .map(|(b, (asked, given))| b * (asked - given))
                .sum();
            // A larger r means a smaller demand.
            if *trend * missing < 0.0 {
                *e = 0.0;
            }
        }
    }

    /// Corrects the estimate by this fraction of the innovation.
    fn correct(&mut self, part: f64) {
        let Some(free) = self.free else {
            self.force.axpy(part, &self.innovation, 1.0);
            return;
        };
        let three = |of: &OVector<f64, N>| Vector3::new(of[free], of[free + 1], of[free + 2]);
        let (R, thrust, e) = (
            self.now.R,
            three(&self.pushed),
            three(&self.innovation) * part,
        );
        let carries = thrust.norm() > LEAST_THRUST * three(&self.now.b).norm();
        let mut rest = e;
        if carries {
            let along = e.dot(&thrust) / thrust.norm_squared();
            let scale = (self.scale + along).clamp(-LARGEST_SCALE, LARGEST_SCALE);
            rest -= thrust * (scale - self.scale);
            self.scale = scale;
        }
        self.world += R * rest;
        if carries && three(&self.now.b).norm() > LEAST_THRUST * thrust.norm() {
            self.share(R * thrust, part);
        }
        let known = if self.of_force {
            free..free + 6
        } else {
            free..free + 3
        };
        for (i, (r, e)) in (self.force.iter_mut().zip(&self.innovation)).enumerate() {
            if !known.contains(&i) {
                *r += part * e;
            }
        }
    }

    /// Moves what is vertical in the world's force to the thrust (N, world) that carries the body, r in this attitude being the same. While the body leans
    /// little the two cannot be told apart, and a force that turns with it, as drag on a circle, would let them grow against each other for ever.
    fn share(&mut self, thrust: Vector3<f64>, part: f64) {
        if thrust.z.abs() < STEEPEST * thrust.norm() {
            return;
        }
        let scale = self.scale + SHARED * part * self.world.z / thrust.z;
        let scale = scale.clamp(-LARGEST_SCALE, LARGEST_SCALE);
        self.world -= thrust * (scale - self.scale);
        self.scale = scale;
    }

    /// Writes r in the axes of the present state.
    fn force_here(&mut self) {
        if let Some(free) = self.free {
            let world = self.now.R.tr_mul(&self.world);
            for i in 0..3 {
                self.force[free + i] = world[i] + self.scale * self.pushed[free + i];
            }
        }
    }
}

/// # The estimate
impl<N: Dim> DisturbanceObserver<N>
where
    DefaultAllocator: Sizes<N, Dyn>,
{
    /// K, rad/s.
    pub fn bandwidth(&self) -> f64 {
        self.bandwidth
    }

    /// r, n entries along the velocity coordinates, N and N m; for a free body in its axes, moments about its origin.
    pub fn force(&self) -> &OVector<f64, N> {
        &self.force
    }

    /// Writes b - r for another state than the observed one, with its b and the attitude R of the free body.
    pub(crate) fn compensate(
        &self,
        b: &OVector<f64, N>,
        R: &Matrix3<f64>,
        out: &mut OVector<f64, N>,
    ) {
        out.copy_from(b);
        let world = R.tr_mul(&self.world);
        for (i, (out, r)) in out.iter_mut().zip(&self.force).enumerate() {
            *out -= match self.free.and_then(|free| i.checked_sub(free)) {
                Some(k @ 0..3) => world[k] + self.scale * self.pushed[i],
                _ => *r,
            };
        }
    }

    /// The raw result of the last step: d, unfiltered, and the applied input; `None` if unknown.
    pub(crate) fn measured(&self) -> Option<(&OVector<f64, N>, &DVector<f64>)> {
        let (d, is_known) = &self.measured;
        is_known.then_some((d, &self.applied))
    }

    /// The force on the free body not attributed to the thrust, N, world: what an underactuated vehicle leans against.
    pub fn force_in_world(&self) -> &Vector3<f64> {
        &self.world
    }

    /// The ratio of the free body's actual thrust to the modelled one, from the component of r along the thrust: 1 if the model is right, 0.8 with a
    /// battery or rotors that deliver 20 % less, or with a mass 25 % above the model's.
    pub fn thrust_scale(&self) -> f64 {
        1.0 + self.scale
    }

    /// Sets the estimate to this force (n entries), none of it attributed to the thrust.
    pub(crate) fn assume(&mut self, force: &OVector<f64, N>) {
        self.force.copy_from(force);
        if let Some(free) = self.free {
            self.scale = 0.0;
            let [x, y, z] = [0, 1, 2].map(|i| force[free + i]);
            self.world = self.now.R * Vector3::new(x, y, z);
        }
    }

    /// Resets the estimate to zero.
    pub fn reset(&mut self) {
        self.known = false;
        self.trend.fill(0.0);
        self.world.fill(0.0);
        self.scale = 0.0;
        self.force.fill(0.0);
    }
}
