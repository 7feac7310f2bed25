//! Settings from poles.

use fly_mechanics::{System, Vehicle};
use nalgebra::Complex;

use super::moving::{is_free_body, moving};
use super::{
    ApproachSettings, ControllerError, ControllerSettings, GainSettings, Numbers, PairSettings,
    PoleSettings, TransportSettings, VehiclePoleSettings, YawSettings,
};
use crate::tuning::{PoleSpec, TiltingPoles, Tuned, TuningError, joint_loops, tilting, tune};

impl ControllerSettings {
    /// Settings of an approach with parameters that give the system these poles, see [`tune`]; everything else is default.
    ///
    /// `joint_pd` has none; `state_feedback` takes all poles, two per degree of freedom.
    ///
    /// # Errors
    /// [`TuningError`]. Whether a vehicle can be matched is checked when the controller is built.
    ///
    /// # Panics
    /// If the length of the configuration is not nu.
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
            ApproachSettings::Lee
            | ApproachSettings::RotorpySe3
            | ApproachSettings::Cascade
            | ApproachSettings::Indi => {
                let vehicle = Vehicle::try_from(system.clone())
                    .map_err(|_| TuningError::Multirotor(approach.name()))?;
                settings.poles = Some(of_vehicle(&tilting(&vehicle, motion, attitude)?));
            }
            ApproachSettings::Particle | ApproachSettings::Body | ApproachSettings::Energy => {
                match tune(system, configuration, motion, attitude)? {
                    Tuned::Vehicle(tilting) => {
                        settings.poles = Some(of_vehicle(&tilting));
                    }
                    Tuned::Pairs(pairs) => {
                        let pairs = pairs.iter();
                        let pairs = pairs.map(|pair| PairSettings::of_pair(&system.model, pair));
                        settings.pairs = pairs.map(|pair| pair.map(rounded)).collect();
                        if !is_free_body(system) {
                            settings.transport = Some(TransportSettings::Joint);
                            settings.leave_unfit_map(system);
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
                    (PoleSpec::Bandwidth(_), _) => return Err(TuningError::StateFeedback(count)),
                    (PoleSpec::WithLag(..), _) => return Err(TuningError::StateFeedbackLag),
                    (_, Some(_)) => return Err(TuningError::Attitude),
                    (PoleSpec::Poles(_), None) => {}
                }
                let poles = motion.poles("system", count)?.into_iter();
                let poles = poles.map(|pole| Complex::new(rounded(pole.re), rounded(pole.im)));
                settings.poles = Some(PoleSettings::List(poles.collect()));
            }
            ApproachSettings::JointPd => return Err(TuningError::ModelInertia),
        }
        Ok(settings)
    }
}

impl ControllerSettings {
    /// For pairs that match no transport map, such as those of an underactuated system: particle-based, which needs none and is the same for
    /// small errors.
    fn leave_unfit_map(&mut self, system: &System) {
        let built = self.build_for_system(system);
        if let Err(ControllerError::Settings(error)) = built
            && error.key == "transport"
        {
            (self.approach, self.transport) = (ApproachSettings::Particle, None);
        }
    }
}

fn of_vehicle(TiltingPoles { horizontal, poles }: &TiltingPoles) -> PoleSettings {
    let real = horizontal.iter().all(|pole| pole.im == 0.0);
    PoleSettings::Vehicle(VehiclePoleSettings {
        horizontal: real.then(|| horizontal.map(|pole| rounded(pole.re))),
        polynomial: (!real).then(|| poles.polynomial.map(rounded)),
        mass: None,
        yaw: YawSettings {
            inertia: rounded(poles.yaw_inertia),
            damping: rounded(poles.yaw_damping),
            stiffness: rounded(poles.yaw_stiffness),
        },
    })
}

/// Rounds to nine digits: the file then holds exactly what was analysed, and reads well.
fn rounded(number: f64) -> f64 {
    format!("{number:.8e}").parse().unwrap_or(number)
}
