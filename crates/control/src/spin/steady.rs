//! Steady spins: motions with a constant body twist.
#![allow(non_snake_case)]

use fly_lie::operators::join;
use fly_lie::{SE3, SO3};
use fly_mechanics::{State, Vehicle};
use nalgebra::{DMatrix, DVector, Matrix6xX, Vector3, Vector6};

use crate::allocation::InputBounds;

/// A steady spin: the body rotates at a constant rate about an axis that is fixed in it and vertical in the world, under constant
/// thrusts.
///
/// ```text
/// b(n, xi) = B u,   xi = [v; rate n],   |n| = 1,   n . v = 0
/// ```
///
/// b is that of the [free body](fly_mechanics::FreeBody::bias): with the gyroscopic torque, gravity along -n, drag, and any centre of mass. The force along n
/// carries the weight; the component orthogonal to n rotates with the body, so that one point of the axis is at rest and the centre of mass moves on a small
/// circle about it.
#[derive(Clone, Debug, PartialEq)]
pub struct SteadySpin {
    /// n: the axis in the body, up in the world.
    pub axis: Vector3<f64>,
    /// rad/s about the axis, of either sign.
    pub rate: f64,
    /// v: the velocity of the body's origin in the body, m/s.
    pub velocity: Vector3<f64>,
    /// u: the thrusts, N; zero for lost rotors.
    pub input: DVector<f64>,
}

/// The margin to both limits that every rotor should keep, as a fraction of its range.
const MARGIN: f64 = 0.2;
/// The least margin for which a spin counts as feasible.
const LEAST_MARGIN: f64 = 0.02;
/// The largest residual of the equations of a spin, relative to the weight, and to the weight times the rotors' arm.
const RESIDUAL: f64 = 1e-10;
/// The most Newton steps from the initial guesses, and from a known spin to a nearby one.
const STEPS: usize = 40;
/// The azimuths of the tilted axis in the initial guesses …
const AZIMUTHS: usize = 8;
/// … and by how much, rad.
const TILTS: [f64; 2] = [0.0, 0.5];
/// The initial and the final step of the search, in natural units.
const REACH: [f64; 2] = [0.2, 1e-7];
/// The least decrease of the shortfall for which the search goes on, as a fraction of its step: with the rate the margin may approach a bound that it never
/// reaches.
const DECREASE: f64 = 1e-3;
/// The most steps of the search.
const DESCENT: usize = 500;

impl SteadySpin {
    /// The steady spins of this vehicle within bounds of its inputs (both zero for a lost rotor): for each
    /// sense of rotation the slowest one in which every rotor keeps a fifth of its range to both limits or, if there is none, the one with the largest margin.
    /// The slowest comes first. Empty for vehicles with tilting rotors, or if gravity is not along -z.
    ///
    /// With three remaining rotors the equations have a solution for every axis, and with fewer rotors for fewer axes. Newton's method finds some of them from
    /// axes in all directions, and a search along the solution set finds the best. Allocates, and takes some milliseconds.
    ///
    /// # Panics
    /// If there is not one bound per input.
    pub fn find(vehicle: &Vehicle, bounds: &InputBounds) -> Vec<Self> {
        let Some(family) = Family::new(vehicle, bounds) else {
            return Vec::new();
        };
        let senses = [-1.0, 1.0].into_iter();
        let mut found: Vec<Self> = senses.filter_map(|sense| family.best(sense)).collect();
        found.sort_by(|a, b| a.rate.abs().total_cmp(&b.rate.abs()));
        found
    }

    /// The twist, constant in the body: m/s, rad/s.
    pub fn twist(&self) -> Vector6<f64> {
        join(&self.velocity, &(self.axis * self.rate))
    }

    /// The point of the axis closest to the body's origin, in the body, m: it is at rest.
    pub fn pivot(&self) -> Vector3<f64> {
        self.axis.cross(&self.velocity) / self.rate
    }

    /// The angle between the axis and body z, rad.
    pub fn tilt(&self) -> f64 {
        self.axis.z.clamp(-1.0, 1.0).acos()
    }

    /// The radius of the circle on which this point of the body moves, m.
    pub fn radius(&self, point: &Vector3<f64>) -> f64 {
        (point - self.pivot()).cross(&self.axis).norm()
    }

    /// The residual of `b = B u`: a wrench, N and N m.
    pub fn residual(&self, vehicle: &Vehicle) -> Vector6<f64> {
        let state = State {
            pose: upright(&self.axis),
            twist: self.twist(),
        };
        vehicle.body.bias(&state) - vehicle.rotors.input_matrix() * &self.input
    }
}

/// A pose with this direction of the body pointing up.
pub(super) fn upright(axis: &Vector3<f64>) -> SE3<f64> {
    let up = Vector3::z();
    let across = axis.cross(&up);
    let (sine, cosine) = (across.norm(), axis.dot(&up));
    let angle = sine.atan2(cosine);
    let direction = if sine > f64::MIN_POSITIVE {
        across / sine
    } else {
        Vector3::x()
    };
    SE3::new(SO3::exp(&(direction * angle)), Vector3::zeros())
}

/// The steady spins of a vehicle as zeros of functions of `z = [n; rate; v; u]` in natural units.
struct Family<'a> {
    vehicle: &'a Vehicle,
    /// The remaining inputs, and their limits.
    active: Vec<usize>,
    limits: Vec<[f64; 2]>,
    B: Matrix6xX<f64>,
    /// The unit of each entry of z.
    unit: DVector<f64>,
    weight: f64,
    arm: f64,
}

impl<'a> Family<'a> {
    fn new(vehicle: &'a Vehicle, bounds: &InputBounds) -> Option<Self> {
        let InputBounds { lower, upper, .. } = bounds;
        let rotors = &vehicle.rotors;
        let p = rotors.input_dim();
        assert_eq!([lower.len(), upper.len()], [p, p], "bounds of the inputs");
        if rotors.rotor_ranges().any(|range| range.len() > 1) {
            return None;
        }
        let is_lost = |j: usize| lower[j] == 0.0 && upper[j] == 0.0;
        let active: Vec<usize> = (0..p).filter(|j| !is_lost(*j)).collect();
        let limits: Vec<[f64; 2]> = (active.iter())
            .map(|j| {
                let [low, high] = rotors.command_limits()[*j];
                let bound = |own: f64, bound: f64| if bound.is_finite() { bound } else { own };
                [bound(low, lower[*j]), bound(high, upper[*j])]
            })
            .collect();
        let is_range = |[low, high]: &[f64; 2]| low < high && (high - low).is_finite();
        if active.is_empty() || !limits.iter().all(is_range) {
            return None;
        }
        let columns: Vec<Vector6<f64>> = (active.iter())
            .map(|j| rotors.input_matrix().column(*j).into_owned())
            .collect();
        let inertia = vehicle.body.inertia();
        let weight = inertia.mass() * vehicle.body.gravity().norm();
        let torque = |column: &Vector6<f64>| column.fixed_rows::<3>(3).norm();
        let arm = columns.iter().map(torque).fold(0.0, f64::max);
        let moment = vehicle.body.mass_matrix().fixed_view::<3, 3>(3, 3).norm();
        let rate = (weight * arm / moment).sqrt();
        let gravity = vehicle.body.gravity();
        let is_down = gravity.z < 0.0 && gravity.xy().norm() == 0.0;
        if !(is_down && rate.is_finite() && rate > 0.0) {
            return None;
        }
        let m = active.len();
        let unit = DVector::from_fn(7 + m, |i, _| match i {
            0..3 | 4..7 => 1.0,
            3 => rate,
            _ => weight / m as f64,
        });
        Some(Self {
            vehicle,
            B: Matrix6xX::from_columns(&columns),
            active,
            limits,
            unit,
            weight,
            arm,
        })
    }

    fn m(&self) -> usize {
        self.active.len()
    }

    fn spin(&self, z: &DVector<f64>) -> SteadySpin {
        let z = z.component_mul(&self.unit);
        let mut input = DVector::zeros(self.vehicle.rotors.input_dim());
        for (k, j) in self.active.iter().enumerate() {
            input[*j] = z[7 + k];
        }
        SteadySpin {
            axis: Vector3::new(z[0], z[1], z[2]),
            rate: z[3],
            velocity: Vector3::new(z[4], z[5], z[6]),
            input,
        }
    }

    /// The residual, relative to the weight: 8 entries.
    fn missing(&self, z: &DVector<f64>) -> DVector<f64> {
        let spin = self.spin(z);
        let (n, v) = (spin.axis, spin.velocity);
        // b with gravity along -n, independent of the length of n.
        let body = &self.vehicle.body;
        let twist = spin.twist();
        let lift = n * self.weight;
        let gravity = join(&lift, &body.inertia().center_of_mass().cross(&lift));
        let b = body.coriolis_force(&twist) + body.damping_force(&twist) + gravity;
        let wrench = b - &self.B
            * z.rows(7, self.m())
                .component_mul(&self.unit.rows(7, self.m()));
        let torque = self.weight * self.arm;
        DVector::from_fn(8, |i, _| match i {
            0..3 => wrench[i] / self.weight,
            3..6 => wrench[i] / torque,
            6 => n.norm_squared() - 1.0,
            _ => n.dot(&v),
        })
    }

    fn jacobian(&self, z: &DVector<f64>) -> DMatrix<f64> {
        let mut jacobian = DMatrix::zeros(8, z.len());
        let step = 1e-6;
        for i in 0..z.len() {
            let at = |step: f64| {
                let mut z = z.clone();
                z[i] += step;
                self.missing(&z)
            };
            jacobian.set_column(i, &((at(step) - at(-step)) / (2.0 * step)));
        }
        jacobian
    }

    /// The solution near z by Newton's method with least-norm steps; `None` if it does not converge.
    fn solve(&self, mut z: DVector<f64>) -> Option<DVector<f64>> {
        let mut before = f64::INFINITY;
        for _ in 0..STEPS {
            let missing = self.missing(&z);
            let size = missing.amax();
            // Down to rounding: until it no longer improves.
            if size < RESIDUAL && size >= 0.5 * before {
                return Some(z);
            }
            before = size;
            let inverse = self.jacobian(&z).pseudo_inverse(1e-9).ok()?;
            z -= inverse * missing;
            if !z.iter().all(|z| z.is_finite()) {
                return None;
            }
        }
        (self.missing(&z).amax() < RESIDUAL).then_some(z)
    }

    /// The shortfall from [`MARGIN`], and the rate: smaller is better.
    fn cost(&self, z: &DVector<f64>) -> [f64; 2] {
        [(MARGIN - self.margin(z)).max(0.0), z[3].abs()]
    }

    /// The smallest distance of a thrust from its limits, as a fraction of its range.
    fn margin(&self, z: &DVector<f64>) -> f64 {
        let thrust = |k: usize| z[7 + k] * self.unit[7 + k];
        let each = self.limits.iter().enumerate();
        each.map(|(k, [low, high])| (thrust(k) - low).min(high - thrust(k)) / (high - low))
            .fold(f64::INFINITY, f64::min)
    }

    /// The best spin of this sense.
    fn best(&self, sense: f64) -> Option<SteadySpin> {
        let starts = TILTS.iter().flat_map(|tilt| {
            (0..AZIMUTHS).map(move |k| {
                let azimuth = std::f64::consts::TAU * k as f64 / AZIMUTHS as f64;
                (*tilt, azimuth)
            })
        });
        let solved = starts.filter_map(|(tilt, azimuth): (f64, f64)| {
            let mut z = DVector::repeat(self.unit.len(), 1.0);
            (z[0], z[1], z[2]) = (
                tilt.sin() * azimuth.cos(),
                tilt.sin() * azimuth.sin(),
                tilt.cos(),
            );
            z[3] = sense;
            z.rows_mut(4, 3).fill(0.0);
            self.solve(z).filter(|z| z[3] * sense > 0.0)
        });
        let first = solved.min_by(|a, b| compare(self.cost(a), self.cost(b)))?;
        let best = self.descend(first, sense);
        (self.margin(&best) >= LEAST_MARGIN).then(|| self.spin(&best))
    }

    /// Descends along the solution set to the best nearby spin: along each direction in turn, halving the step if none improves.
    fn descend(&self, mut z: DVector<f64>, sense: f64) -> DVector<f64> {
        let [mut reach, least] = REACH;
        let mut cost = self.cost(&z);
        for _ in 0..DESCENT {
            if reach <= least {
                break;
            }
            let directions = self.directions(&z);
            let steps = directions
                .iter()
                .flat_map(|step| [step * reach, step * -reach]);
            let next = (steps.filter_map(|step| self.solve(&z + step)))
                .filter(|z| z[3] * sense > 0.0)
                .min_by(|a, b| compare(self.cost(a), self.cost(b)));
            let is_better = |[shortfall, rate]: [f64; 2]| {
                shortfall <= cost[0] - DECREASE * reach || shortfall <= cost[0] && rate < cost[1]
            };
            match next {
                Some(next) if is_better(self.cost(&next)) => {
                    cost = self.cost(&next);
                    z = next;
                }
                _ => reach *= 0.5,
            }
        }
        z
    }

    /// The tangent directions of the solution set, and those between two of them.
    fn directions(&self, z: &DVector<f64>) -> Vec<DVector<f64>> {
        let jacobian = self.jacobian(z);
        let eigen = (jacobian.tr_mul(&jacobian)).symmetric_eigen();
        let least = 1e-12 * eigen.eigenvalues.amax();
        let basis: Vec<DVector<f64>> = (eigen.eigenvectors.column_iter())
            .zip(eigen.eigenvalues.iter())
            .filter(|(_, value)| **value < least)
            .map(|(vector, _)| vector.into_owned())
            .collect();
        let mut all = basis.clone();
        for (k, a) in basis.iter().enumerate() {
            for b in &basis[k + 1..] {
                all.push((a + b).normalize());
                all.push((a - b).normalize());
            }
        }
        all
    }
}

/// Differences of the first entry within rounding are ignored.
fn compare(a: [f64; 2], b: [f64; 2]) -> std::cmp::Ordering {
    if (a[0] - b[0]).abs() > 1e-12 {
        a[0].total_cmp(&b[0])
    } else {
        a[1].total_cmp(&b[1])
    }
}
