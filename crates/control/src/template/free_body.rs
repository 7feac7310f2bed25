//! The template of one free body seen from the world, whose velocity is its own twist: `J = I`, `Jdot = 0`.
#![allow(non_snake_case)]

use nalgebra::{Matrix6, Vector6};

use super::pair::{Desired, Motion, error_pose};
use super::transport::{self, Map};
use super::{Approach, Pair, Transport, body, energy, particle};
use crate::Energies;

/// The desired closed loop `Mbar xidot + cbar + f_D + f_K = 0` of a free body.
#[derive(Clone, Debug, PartialEq)]
pub struct Template {
    approach: Approach,
    transport: Transport,
    pair: Pair,
}

/// What a [`Template`] asks for at one instant.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct TemplateForces {
    /// cbar: all of the inertial force but `Mbar xidot`, [N; Nm].
    pub inertial: Vector6<f64>,
    /// f_D, [N; Nm].
    pub damping: Vector6<f64>,
    /// f_K, [N; Nm].
    pub stiffness: Vector6<f64>,
    /// The desired energies.
    pub energies: Energies,
}

impl TemplateForces {
    /// bbar = cbar + f_D + f_K.
    pub fn bias(&self) -> Vector6<f64> {
        self.inertial + self.damping + self.stiffness
    }
}

impl Template {
    /// Of the pair (world, body). `transport` matters for [`Approach::Energy`] only.
    pub fn new(approach: Approach, transport: Transport, pair: Pair) -> Self {
        Self {
            approach,
            transport,
            pair,
        }
    }

    /// Mbar, constant and the same for all approaches.
    pub fn mass_matrix(&self) -> &Matrix6<f64> {
        self.pair.inertia_matrix()
    }

    /// Which approach it is.
    pub fn approach(&self) -> Approach {
        self.approach
    }

    /// The pair's desired energies.
    pub fn pair(&self) -> &Pair {
        &self.pair
    }

    /// The transport map and its rate, whether the approach uses it or not.
    pub fn transport_map(&self, motion: &Motion, desired: &Desired) -> Map {
        let E = error_pose(motion, desired);
        match self.transport {
            Transport::Adjoint => transport::adjoint(&E, &motion.twist, &desired.twist),
            Transport::Centred => transport::centred(
                &E,
                &motion.twist,
                &desired.twist,
                self.pair.stiffness_center(),
            ),
        }
    }

    /// The forces and energies at this motion and reference. No allocation.
    pub fn evaluate(&self, motion: &Motion, desired: &Desired) -> TemplateForces {
        let E = error_pose(motion, desired);
        let pair = &self.pair;
        let ([inertial, damping], energies) = match self.approach {
            Approach::Particle => particle::forces(pair, &E, motion, desired),
            Approach::Body => body::forces(pair, &E, motion, desired),
            Approach::Energy => {
                let system = energy::System {
                    inertia: pair.inertia_matrix(),
                    damping: pair.damping_matrix(),
                    connection: &energy::connection(pair, &motion.twist),
                    potential: pair.potential(&E),
                };
                let map = self.transport_map(motion, desired);
                energy::forces(
                    &system,
                    &map,
                    &motion.twist,
                    &desired.twist,
                    &desired.acceleration,
                )
            }
        };
        TemplateForces {
            inertial,
            damping,
            stiffness: pair.stiffness_force(&E),
            energies,
        }
    }
}
