//! The blades of a rotor in the flow, and the motor that drives them.

use fly_lie::operators::join;
use nalgebra::{Vector3, Vector6};

use super::{Air, ground_effect};
use crate::propulsion::{MotorDynamics, RotorMotor};

/// Data of a rotor's blades beyond the thrust, and its motor. Only simulations use it.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Propeller {
    /// `k_eta`, N/(rad/s)^2: thrust per squared speed.
    pub thrust_coefficient: Option<f64>,
    /// m; required for ground effect.
    pub radius: Option<f64>,
    /// Forces of the flow; requires the thrust coefficient.
    pub aerodynamics: Option<RotorAerodynamics>,
    /// The motor; requires the thrust coefficient. Without a motor the thrust lags, with it the speed does.
    pub motor: Option<RotorMotor>,
}

/// Forces of the flow on a rotor at the speed `Omega`, per rotor and with its own airspeed `v`, in body axes:
///
/// ```text
/// drag, inflow         H = -Omega (k_d (v - v_d d) + k_z v_d d)      at the hub, v_d = v . d
/// translational lift   L = k_h |v - v_d d|^2 d                       at the hub
/// flapping             M = -k_flap Omega v x d
/// ```
///
/// with the direction d of the thrust. RotorPy's `H = -Omega diag(k_d, k_d, k_z) v`, `k_h (v_x^2 + v_y^2)` and `-k_flap Omega v x e_z`
/// (`Multirotor.compute_body_wrench`; S. Folk, J. Paulos, V. Kumar, *RotorPy*, 2023), generalised to any direction of the thrust. The
/// speed is that of the thrust in resting air, `Omega = sqrt(|T| / k_eta)`. The drag torque about d is unchanged.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct RotorAerodynamics {
    /// `k_d`, N/(rad/s m/s): drag in the rotor plane, per speed and airspeed.
    pub drag: f64,
    /// `k_z`, N/(rad/s m/s): change of the thrust due to axial flow.
    pub inflow: f64,
    /// `k_h`, N/(m/s)^2: additional thrust due to flow in the rotor plane.
    pub translational_lift: f64,
    /// `k_flap`, N m/(rad/s m/s): moment of the flapping blades.
    pub flapping: f64,
}

/// Why parameters do not define a propeller. `key` is the field.
#[derive(Clone, Copy, Debug, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum PropellerError {
    /// A coefficient or length is not positive.
    #[error("`{key}` must be a number above 0, found {found}")]
    NotPositive {
        /// The field.
        key: &'static str,
        /// Its value.
        found: f64,
    },
    /// A coefficient is negative or not finite.
    #[error("`{key}` must be a finite number of at least 0, found {found}")]
    Negative {
        /// The field.
        key: &'static str,
        /// Its value.
        found: f64,
    },
    /// The speed cannot be computed from the thrust.
    #[error(
        "`{key}` needs `thrust_coefficient`, N/(rad/s)^2, which relates thrust and rotor speed"
    )]
    WithoutSpeed {
        /// `aerodynamics` or `motor`.
        key: &'static str,
    },
    /// The efficiency of a motor is out of range.
    #[error("`motor.efficiency` must be above 0 and at most 1, found {found}")]
    Efficiency {
        /// Its value.
        found: f64,
    },
}

/// # Checks
impl Propeller {
    /// Checks all parameters.
    ///
    /// # Errors
    /// The first error.
    pub fn check(&self) -> Result<(), PropellerError> {
        for (key, value) in [
            ("thrust_coefficient", self.thrust_coefficient),
            ("radius", self.radius),
        ] {
            if let Some(found) = value.filter(|value| !(value.is_finite() && *value > 0.0)) {
                return Err(PropellerError::NotPositive { key, found });
            }
        }
        self.aerodynamics.map_or(Ok(()), |it| it.check())?;
        self.motor.map_or(Ok(()), |motor| motor.check())?;
        let needs = [
            ("aerodynamics", self.aerodynamics.is_some()),
            ("motor", self.motor.is_some()),
        ];
        match needs.iter().find(|(_, needs)| *needs) {
            Some((key, _)) if self.thrust_coefficient.is_none() => {
                Err(PropellerError::WithoutSpeed { key })
            }
            _ => Ok(()),
        }
    }

    /// Returns whether the air affects it: by flow, or by the ground.
    pub fn feels_air(&self) -> bool {
        self.aerodynamics.is_some() || self.radius.is_some()
    }
}

/// # Forces
impl Propeller {
    /// The speed for a thrust (N) in resting air, rad/s; `None` without a thrust coefficient.
    pub fn speed(&self, thrust: f64) -> Option<f64> {
        let coefficient = self.thrust_coefficient?;
        Some((thrust.abs() / coefficient).sqrt())
    }

    /// The wrench of the flow in addition to the thrust: `[f; tau]` about the hub, N and N m, in the axes of `direction`, the unit
    /// direction of the rotor's `thrust` (N), and of `airspeed`, that of the hub, m/s.
    #[inline]
    pub fn wrench_of_flow(
        &self,
        thrust: f64,
        direction: &Vector3<f64>,
        airspeed: &Vector3<f64>,
    ) -> Vector6<f64> {
        match (&self.aerodynamics, self.speed(thrust)) {
            (Some(aerodynamics), Some(speed)) => aerodynamics.wrench(speed, direction, airspeed),
            _ => Vector6::zeros(),
        }
    }

    /// The additional thrust due to the [ground](ground_effect) at this height of the hub in the world (m): N, along the thrust. `upward`
    /// is the vertical component of the unit direction of the thrust.
    ///
    /// The effective height is the path of the wake to the ground along the rotor's axis: the rotor's own height if upright, more if it
    /// is tilted, infinite if it blows upwards.
    #[inline]
    pub fn thrust_of_ground(&self, air: &Air, thrust: f64, upward: f64, height: f64) -> f64 {
        let (Some(radius), Some(ground)) = (self.radius, air.ground) else {
            return 0.0;
        };
        let upward = upward * thrust.signum();
        if upward <= 0.0 {
            return 0.0;
        }
        // The effect is bounded from half a radius on, so it fades as the rotor turns over, however low it is.
        let height = (height - ground).max(0.5 * radius);
        thrust * (ground_effect(radius, height / upward) - 1.0)
    }
}

impl RotorAerodynamics {
    fn check(&self) -> Result<(), PropellerError> {
        for (key, found) in [
            ("aerodynamics.drag", self.drag),
            ("aerodynamics.inflow", self.inflow),
            ("aerodynamics.translational_lift", self.translational_lift),
            ("aerodynamics.flapping", self.flapping),
        ] {
            if !(found.is_finite() && found >= 0.0) {
                return Err(PropellerError::Negative { key, found });
            }
        }
        Ok(())
    }

    /// `[f; tau]` about the hub, N and N m, for a rotor at `speed` (rad/s, not negative) whose thrust is along the unit vector
    /// `direction`; `airspeed` is that of its hub, m/s. All in the same axes.
    #[inline]
    pub fn wrench(
        &self,
        speed: f64,
        direction: &Vector3<f64>,
        airspeed: &Vector3<f64>,
    ) -> Vector6<f64> {
        let along = airspeed.dot(direction);
        let across = airspeed - direction * along;
        let force = across * (-speed * self.drag)
            + direction
                * (self.translational_lift * across.norm_squared() - speed * self.inflow * along);
        join(
            &force,
            &(airspeed.cross(direction) * (-self.flapping * speed)),
        )
    }
}

impl RotorMotor {
    /// Checks all parameters in isolation.
    ///
    /// # Errors
    /// The first error.
    pub fn check(&self) -> Result<(), PropellerError> {
        let mut positive = Vec::new();
        let mut others = Vec::new();
        match self.dynamics {
            MotorDynamics::Lag {
                time_constant,
                efficiency,
            } => {
                positive.push(("motor.time_constant", time_constant));
                if !(efficiency > 0.0 && efficiency <= 1.0) {
                    return Err(PropellerError::Efficiency { found: efficiency });
                }
                others.push(("motor.inertia", self.inertia));
            }
            MotorDynamics::Winding {
                speed_constant,
                resistance,
                no_load_current,
            } => {
                positive.extend([
                    ("motor.kv_rpm", speed_constant),
                    ("motor.resistance", resistance),
                    ("motor.inertia", self.inertia),
                ]);
                others.push(("motor.no_load_current", no_load_current));
            }
        }
        let good = |value: f64| value.is_finite() && value >= 0.0;
        if let Some(&(key, found)) = positive.iter().find(|(_, x)| !(good(*x) && *x > 0.0)) {
            return Err(PropellerError::NotPositive { key, found });
        }
        match others.iter().find(|(_, x)| !good(*x)) {
            Some(&(key, found)) => Err(PropellerError::Negative { key, found }),
            None => Ok(()),
        }
    }
}
