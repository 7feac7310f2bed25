//! Settings from poles.

use fly_mechanics::System;
use nalgebra::Complex;

use super::strategy::{is_free_body, moving};
use super::{
    ApproachSettings, ControllerSettings, GainSettings, Numbers, PairSettings, PoleSettings,
    TransportSettings, VehiclePoleSettings, YawSettings,
};
use crate::tuning::{PoleSpec, Tuned, TuningError, joint_loops, tune};

impl ControllerSettings {
    /// Settings of an approach with parameters for which the system has these poles, see [`tune`]; everything else is default.
    ///
    /// `joint_pd` has none; `state_feedback` takes all poles, two for each degree of freedom.
    ///
    /// # Errors
    /// [`TuningError`]. Whether a vehicle can be matched turns out when the controller is built.
    ///
    /// # Panics
    /// If the configuration has another length than the system's.
    pub fn tuned(
        approach: ApproachSettings,
        system: &System,
        configuration: &[f64],
        motion: &PoleSpec,
        attitude: Option<&PoleSpec>,
    ) -> Result<Self, TuningError> {
        let mut settings = Self {
            approach,
            ..Self::default()
        };
        match approach {
            ApproachSettings::Particle | ApproachSettings::Body | ApproachSettings::Energy => {
                match tune(system, configuration, motion, attitude)? {
                    Tuned::Vehicle { horizontal, poles } => {
                        let real = horizontal.iter().all(|pole| pole.im == 0.0);
                        settings.poles = Some(PoleSettings::Vehicle(VehiclePoleSettings {
                            horizontal: real.then(|| horizontal.map(|pole| rounded(pole.re))),
                            polynomial: (!real).then(|| poles.polynomial.map(rounded)),
                            mass: None,
                            yaw: YawSettings {
                                inertia: rounded(poles.yaw_inertia),
                                damping: rounded(poles.yaw_damping),
                                stiffness: rounded(poles.yaw_stiffness),
                            },
                        }));
                    }
                    Tuned::Pairs(pairs) => {
                        let pairs = pairs.iter();
                        let pairs = pairs.map(|pair| PairSettings::of_pair(&system.model, pair));
                        settings.pairs = pairs.map(|pair| pair.map(rounded)).collect();
                        if !is_free_body(system) {
                            settings.transport = Some(TransportSettings::Joint);
                        }
                    }
                }
            }
            ApproachSettings::ComputedTorque | ApproachSettings::Linear => {
                let ([k, d], masses) = joint_loops(system, configuration, motion, attitude)?;
                let own = approach == ApproachSettings::Linear;
                settings.gains = moving(system)
                    .map(|(name, range)| {
                        let masses = masses.as_slice()[range].iter();
                        let numbers = |factor: f64| {
                            let each = masses.clone().map(|m| rounded(m * factor));
                            if own && masses.len() > 1 {
                                Numbers::Each(each.collect())
                            } else {
                                Numbers::One(if own { each.sum() } else { rounded(factor) })
                            }
                        };
                        let gains = GainSettings {
                            stiffness: numbers(k),
                            damping: numbers(d),
                            inertia: own.then(|| numbers(1.0)),
                        };
                        (name.to_owned(), gains)
                    })
                    .collect();
            }
            ApproachSettings::StateFeedback => {
                let count = 2 * system.model.dof();
                match (motion, attitude) {
                    (_, Some(_)) => return Err(TuningError::Attitude),
                    (PoleSpec::Bandwidth(_), _) => return Err(TuningError::StateFeedback(count)),
                    (PoleSpec::WithLag(..), _) => return Err(TuningError::StateFeedbackLag),
                    (PoleSpec::Poles(_), None) => {}
                }
                let poles = motion.poles("system", count)?.into_iter();
                let poles = poles.map(|pole| Complex::new(rounded(pole.re), rounded(pole.im)));
                settings.poles = Some(PoleSettings::List(poles.collect()));
            }
            ApproachSettings::JointPd
            | ApproachSettings::Lee
            | ApproachSettings::RotorpySe3
            | ApproachSettings::Cascade
            | ApproachSettings::Indi => return Err(TuningError::ModelInertia),
        }
        Ok(settings)
    }
}

/// To nine digits: what is written to a file is what was analysed, and reads well.
fn rounded(number: f64) -> f64 {
    format!("{number:.8e}").parse().unwrap_or(number)
}
