//! The motor of a rotor.

/// The motor of a rotor. Its speed `Omega` (rad/s, of the rotor about its axis relative to the world) is the state; the
/// thrust is `k_eta Omega |Omega|`, the drag torque `Q = k_m Omega |Omega|` against the rotation,
/// `k_m = |drag_ratio| k_eta`.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct RotorMotor {
    /// The dynamics of the speed.
    pub dynamics: MotorDynamics,
    /// J, kg m^2: the moment of inertia of all rotating parts about its axis. It is not part of the body's inertia, whose mass includes the
    /// rotor's. Zero: no reaction torque on the body.
    pub inertia: f64,
}

/// The dynamics of a rotor's speed.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum MotorDynamics {
    /// `Omega_dot = (Omega_c - Omega) / tau` with the speed `Omega_c` of the commanded thrust in resting air, as in RotorPy (`Multirotor._s_dot_fn`).
    /// With a battery `|Omega_c|` is limited to the speed of the largest thrust, scaled by the voltage relative to the full battery's.
    Lag {
        /// tau, s, above zero.
        time_constant: f64,
        /// The fraction of the electrical power that drives the rotor, above 0 and at most 1; only relevant with a
        /// battery.
        efficiency: f64,
    },
    /// A brushless motor as a DC motor (M. Drela, *First-Order DC Electric Motor Model*, MIT 2007), with the inertia J above zero:
    ///
    /// ```text
    /// J Omega_dot = K (i - i_0) - Q,   i = (v - K Omega_m) / R,   K = 1 / K_v
    /// ```
    ///
    /// with the speed `Omega_m` relative to the body. Its controller applies the voltage that holds the commanded speed `Omega_c`,
    /// `v = K Omega_c + R (Q(Omega_c) / K + i_0)`, limited to the battery voltage.
    Winding {
        /// `K_v`, rad/s per V.
        speed_constant: f64,
        /// R, ohm, of winding and controller.
        resistance: f64,
        /// `i_0`, A: the current that overcomes friction; below [`FRICTION_SPEED`](Self::FRICTION_SPEED) it decreases linearly to
        /// zero.
        no_load_current: f64,
    },
}

impl MotorDynamics {
    /// rad/s.
    pub const FRICTION_SPEED: f64 = 10.0;

    /// The voltage that holds a speed (rad/s) against a drag torque of `drag` times its square (N m s^2), V; zero without a winding.
    #[inline]
    pub fn voltage(&self, speed: f64, drag: f64) -> f64 {
        let Self::Winding {
            speed_constant,
            resistance,
            no_load_current,
        } = *self
        else {
            return 0.0;
        };
        let friction = no_load_current * (speed / Self::FRICTION_SPEED).clamp(-1.0, 1.0);
        let current = drag * speed * speed.abs() * speed_constant + friction;
        speed / speed_constant + resistance * current
    }
}

impl RotorMotor {
    /// The time constant of the thrust's lag behind its command, s, for small changes about a speed (rad/s) at which the drag torque is `drag`
    /// (N m s^2) times its square.
    ///
    /// `dT / T = 2 dOmega / Omega`: thrust and speed have the same lag. For a winding it is `J / (K^2 / R + 2 drag Omega)`.
    pub fn lag(&self, speed: f64, drag: f64) -> f64 {
        match self.dynamics {
            MotorDynamics::Lag { time_constant, .. } => time_constant,
            MotorDynamics::Winding {
                speed_constant,
                resistance,
                ..
            } => {
                let damping = 1.0 / (speed_constant * speed_constant * resistance);
                self.inertia / (damping + 2.0 * drag * speed.abs())
            }
        }
    }
}
