//! The motor of a rotor.

/// What turns a rotor. Its speed `Omega` (rad/s, that of the rotor about its axis in the world) is the state; the thrust is
/// `k_eta Omega |Omega|`, the drag torque `Q = k_m Omega |Omega|` against the sense of turning, `k_m = |drag_ratio| k_eta`.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct RotorMotor {
    /// How its speed changes.
    pub dynamics: MotorDynamics,
    /// J, kg m^2: the moment of inertia of all that turns, about its axis. It is not part of that of the body, whose mass includes the rotor's.
    /// Zero: the body feels no rotor turn.
    pub inertia: f64,
}

/// How the speed of a rotor changes.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum MotorDynamics {
    /// `Omega_dot = (Omega_c - Omega) / tau` with the speed `Omega_c` of the commanded thrust in resting air, as in RotorPy
    /// (`Multirotor._s_dot_fn`). With a battery `|Omega_c|` is at most the speed of the largest thrust, by the voltage relative to the full battery's.
    Lag {
        /// tau, s, above zero.
        time_constant: f64,
        /// The part of the electrical power that turns the rotor, above 0 and at most 1; only a battery notices.
        efficiency: f64,
    },
    /// A brushless motor as a DC motor (M. Drela, *First-Order DC Electric Motor Model*, MIT 2007), with the inertia J above zero:
    ///
    /// ```text
    /// J Omega_dot = K (i - i_0) - Q,   i = (v - K Omega_m) / R,   K = 1 / K_v
    /// ```
    ///
    /// with the speed `Omega_m` relative to the body. Its controller applies the voltage that holds the commanded speed `Omega_c`,
    /// `v = K Omega_c + R (Q(Omega_c) / K + i_0)`, or as much of it as the battery has.
    Winding {
        /// `K_v`, rad/s per V.
        speed_constant: f64,
        /// R, ohm, of winding and controller.
        resistance: f64,
        /// `i_0`, A: the friction is that of this current; below [`FRICTION_SPEED`](Self::FRICTION_SPEED) it falls linearly to none.
        no_load_current: f64,
    },
}

impl MotorDynamics {
    /// rad/s.
    pub const FRICTION_SPEED: f64 = 10.0;

    /// The voltage that holds a speed (rad/s) against a drag torque of `drag` times its square (N m s^2), V; none without a winding.
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
    /// The time constant with which the thrust lags behind its command, s, for small changes about a speed (rad/s) at which the drag torque is
    /// `drag` (N m s^2) times its square.
    ///
    /// `dT / T = 2 dOmega / Omega`: thrust and speed lag alike. Of a winding it is `J / (K^2 / R + 2 drag Omega)`.
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
