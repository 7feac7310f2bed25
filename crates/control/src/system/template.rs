//! The desired closed loop of a system.
#![allow(non_snake_case)]

use fly_mechanics::multibody::{BodyId, Model, Workspace};
use nalgebra::{DMatrix, DVector, Matrix6xX, Vector6};

use super::transport::{Map, TransportError, TransportMap, Transported};
use crate::Energies;
use crate::template::pair::error_pose;
use crate::template::{Approach, Desired, Motion, Pair, body, energy, particle};

/// Two bodies, or the world and a body, with the desired energies between them. Each pair counts once: (a, b) and (b, a) have the same
/// stiffness energy, so that a sum over both would double it.
#[derive(Clone, Debug, PartialEq)]
pub struct SystemPair {
    /// The body, or the world, relative to which b should move.
    pub a: BodyId,
    /// The body in whose frame the energies are given.
    pub b: BodyId,
    /// K', D', M'.
    pub energies: Pair,
}

/// Where a system should be, and how it should move there, at one instant.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct SystemReference<'a> {
    /// `x_R`, nu numbers.
    pub configuration: &'a [f64],
    /// `xi_R`, n numbers.
    pub velocity: &'a [f64],
    /// `xi_R_dot`, n numbers.
    pub acceleration: &'a [f64],
}

/// What a [`SystemTemplate`] asks for at one instant: `Mbar xi_dot + bbar = 0`, with n rows.
#[derive(Clone, Debug, PartialEq)]
pub struct DesiredMotion {
    /// Mbar, n x n.
    pub mass_matrix: DMatrix<f64>,
    /// cbar: all of the inertial force but `Mbar xi_dot`.
    pub inertial: DVector<f64>,
    /// f_D.
    pub damping: DVector<f64>,
    /// f_K, the gradient of V-bar.
    pub stiffness: DVector<f64>,
    /// bbar = cbar + f_D + f_K.
    pub bias: DVector<f64>,
    /// The desired energies.
    pub energies: Energies,
    /// Q and its rate, where the approach uses one.
    pub map: Map,
}

impl DesiredMotion {
    /// Room for a system.
    pub fn new(model: &Model<f64>) -> Self {
        let n = model.dof();
        Self {
            mass_matrix: DMatrix::zeros(n, n),
            inertial: DVector::zeros(n),
            damping: DVector::zeros(n),
            stiffness: DVector::zeros(n),
            bias: DVector::zeros(n),
            energies: Energies::default(),
            map: Map::new(n),
        }
    }
}

/// The desired closed loop of a system, Konz (5.18), (5.26) or (5.56) summed over its pairs.
///
/// The module's page has an example.
pub struct SystemTemplate {
    approach: Approach,
    pairs: Vec<SystemPair>,
    map: Box<dyn TransportMap>,
    scratch: Scratch,
}

struct Scratch {
    J: Matrix6xX<f64>,
    J_dot: Matrix6xX<f64>,
    J_R: Matrix6xX<f64>,
    xi_R: DVector<f64>,
    xi_dot_R: DVector<f64>,
    xi_E: DVector<f64>,
    /// `Q xi_R_dot + Q_dot xi_R`.
    carried: DVector<f64>,
}

/// # Construction
impl SystemTemplate {
    /// Of these pairs. `map` matters for [`Approach::Energy`] only.
    pub fn new(
        model: &Model<f64>,
        approach: Approach,
        pairs: Vec<SystemPair>,
        map: Box<dyn TransportMap>,
    ) -> Self {
        let n = model.dof();
        Self {
            approach,
            pairs,
            map,
            scratch: Scratch {
                J: Matrix6xX::zeros(n),
                J_dot: Matrix6xX::zeros(n),
                J_R: Matrix6xX::zeros(n),
                xi_R: DVector::zeros(n),
                xi_dot_R: DVector::zeros(n),
                xi_E: DVector::zeros(n),
                carried: DVector::zeros(n),
            },
        }
    }

    /// Its pairs.
    pub fn pairs(&self) -> &[SystemPair] {
        &self.pairs
    }

    /// Its pairs, and the map that goes with them.
    pub(super) fn pairs_and_map(&mut self) -> (&[SystemPair], &mut dyn TransportMap) {
        (&self.pairs, self.map.as_mut())
    }

    /// Its approach.
    pub fn approach(&self) -> Approach {
        self.approach
    }
}

/// # The desired motion
impl SystemTemplate {
    /// Writes the desired motion in the state for which `actual` was updated, Jacobians included, and with the velocity `xi`. `reference` is
    /// scratch: it holds the reference's kinematics afterwards. No allocation.
    ///
    /// # Errors
    /// [`TransportError`] where the transport map does not exist.
    ///
    /// # Panics
    /// If slices have other lengths than the model has coordinates.
    pub fn evaluate(
        &mut self,
        model: &Model<f64>,
        actual: &Workspace<f64>,
        xi: &[f64],
        reference: &mut Workspace<f64>,
        goal: &SystemReference<'_>,
        out: &mut DesiredMotion,
    ) -> Result<(), TransportError> {
        reference.update(model, goal.configuration, goal.velocity);
        reference.update_jacobians(model);
        let s = &mut self.scratch;
        s.xi_R.copy_from_slice(goal.velocity);
        s.xi_dot_R.copy_from_slice(goal.acceleration);

        let energy_based = self.approach == Approach::Energy;
        if energy_based {
            let at = Transported {
                model,
                pairs: &self.pairs,
                actual,
                reference,
            };
            self.map.evaluate(&at, &mut out.map)?;
            // xi_E = xi - Q xi_R
            s.xi_E.copy_from_slice(xi);
            s.xi_E.gemv(-1.0, &out.map.Q, &s.xi_R, 1.0);
            s.carried.gemv(1.0, &out.map.Q, &s.xi_dot_R, 0.0);
            s.carried.gemv(1.0, &out.map.Q_dot, &s.xi_R, 1.0);
        }

        out.mass_matrix.fill(0.0);
        out.inertial.fill(0.0);
        out.damping.fill(0.0);
        out.stiffness.fill(0.0);
        let mut energies = Energies::default();
        for SystemPair {
            a,
            b,
            energies: pair,
        } in &self.pairs
        {
            let (a, b) = (*a, *b);
            actual.jacobian(a, b, &mut s.J);
            reference.jacobian(a, b, &mut s.J_R);
            add_inertia(pair, &s.J, &mut out.mass_matrix);

            let motion = Motion {
                pose: actual.pose(a, b),
                twist: actual.twist(a, b),
                drift: actual.bias_acceleration(a, b),
            };
            let desired = Desired {
                pose: reference.pose(a, b),
                twist: reference.twist(a, b),
                acceleration: &s.J_R * &s.xi_dot_R + reference.bias_acceleration(a, b),
            };
            let E = error_pose(&motion, &desired);
            out.stiffness
                .gemv_tr(1.0, &s.J, &pair.stiffness_force(&E), 1.0);
            let ([inertial, damping], of_pair) = match self.approach {
                Approach::Particle => particle::forces(pair, &E, &motion, &desired),
                Approach::Body => body::forces(pair, &E, &motion, &desired),
                Approach::Energy => {
                    actual.jacobian_rate(a, b, &mut s.J_dot);
                    let z_E: Vector6<f64> = &s.J * &s.xi_E;
                    let rate: Vector6<f64> = &s.J_dot * &s.xi_E;
                    let momentum = pair.inertia_matrix() * z_E;
                    let damping = pair.damping_matrix() * z_E;
                    let inertial = pair.inertia_matrix() * rate
                        + energy::connection(pair, &motion.twist) * z_E;
                    let of_pair = Energies::new(
                        0.5 * z_E.dot(&momentum),
                        pair.potential(&E),
                        0.5 * z_E.dot(&damping),
                    );
                    ([inertial, damping], of_pair)
                }
            };
            out.inertial.gemv_tr(1.0, &s.J, &inertial, 1.0);
            out.damping.gemv_tr(1.0, &s.J, &damping, 1.0);
            energies += of_pair;
        }
        if energy_based {
            out.inertial.gemv(-1.0, &out.mass_matrix, &s.carried, 1.0);
        }
        out.energies = energies;
        out.bias.copy_from(&out.inertial);
        out.bias += &out.damping;
        out.bias += &out.stiffness;
        Ok(())
    }
}

/// Adds `J^T Vee(M') J`. (A product of whole matrices of this size would allocate.)
fn add_inertia(pair: &Pair, J: &Matrix6xX<f64>, mass_matrix: &mut DMatrix<f64>) {
    for j in 0..J.ncols() {
        let column = J.column(j);
        // Most coordinates move few pairs.
        if column.iter().all(|x| *x == 0.0) {
            continue;
        }
        let momentum: Vector6<f64> = pair.inertia_matrix() * column;
        for i in 0..=j {
            let entry = J.column(i).dot(&momentum);
            mass_matrix[(i, j)] += entry;
            if i != j {
                mass_matrix[(j, i)] += entry;
            }
        }
    }
}
