//! A battery and what it feeds.

/// A source of the open-circuit voltage E behind a resistance r, with everything that it feeds: the current of a motor depends on the
/// voltage V, and V on all currents. Each motor's controller takes the voltage `v` that it wants, or V if that is less:
///
/// ```text
/// V = E - r I,   I = (P + sum v i) / V,   i = (v - e) / R,   |v| = min(|v wanted|, V)
/// ```
///
/// with the back-EMF e and the resistance R of a motor, and a power P that others take at any voltage. Which motors get all that they want
/// decides about a quadratic equation for V; of all solutions the highest is taken, which is that of a battery from which less was drawn before.
///
/// ```
/// use fly_mechanics::propulsion::Circuit;
///
/// // 12 V behind 0.1 ohm. One motor wants 5 V, the other all that there is.
/// let mut circuit = Circuit::with_capacity(2);
/// circuit.begin(0.0);
/// circuit.add(5.0, 3.0, 0.5); // V, V, ohm: it takes 5 V 4 A
/// circuit.add(20.0, 6.0, 0.5);
/// let voltage = circuit.solve(12.0, 0.1);
/// let current = 20.0 / voltage + (voltage - 6.0) / 0.5;
/// assert!((voltage - (12.0 - 0.1 * current)).abs() < 1e-12);
/// ```
#[derive(Clone, Debug, Default)]
pub struct Circuit {
    /// The voltage wanted, back-EMF and resistance of every motor: V, V, ohm; both voltages with the sign that makes the first one positive.
    motors: Vec<[f64; 3]>,
    power: f64,
}

impl Circuit {
    /// For so many motors without an allocation.
    pub fn with_capacity(motors: usize) -> Self {
        Self {
            motors: Vec::with_capacity(motors),
            power: 0.0,
        }
    }

    /// Forgets all motors; `power` (W) is taken at any voltage.
    pub fn begin(&mut self, power: f64) {
        self.motors.clear();
        self.power = power;
    }

    /// Adds a motor that wants `voltage` (V), with the back-EMF `emf` (V) and the resistance of its winding (ohm, above zero).
    pub fn add(&mut self, voltage: f64, emf: f64, resistance: f64) {
        let sign = 1.0_f64.copysign(voltage);
        (self.motors).push([voltage.abs(), emf * sign, resistance]);
    }

    /// V, of a source of `open` V behind `resistance` ohm. Where the power alone is more than it can give, the one at which it gives most.
    pub fn solve(&mut self, open: f64, resistance: f64) -> f64 {
        // By what they want, most first: those that get less than they want come first.
        (self.motors).sort_unstable_by(|a, b| b[0].total_cmp(&a[0]));
        let wanted = |[v, e, r]: &[f64; 3]| v * (v - e) / r;
        let mut power = self.power + self.motors.iter().map(wanted).sum::<f64>();
        // V^2 a - V b + r P = 0.
        let (mut a, mut b) = (1.0, open);
        let mut above = f64::INFINITY;
        for motor in &self.motors {
            let voltage = highest_root(a, b, resistance * power);
            if let Some(voltage) = voltage.filter(|v| *v >= motor[0] && *v <= above) {
                return voltage;
            }
            let [v, e, r] = *motor;
            above = v;
            power -= wanted(motor);
            a += resistance / r;
            b += resistance * e / r;
        }
        // What is left of the sum is rounding, if nothing else takes power.
        let constant = resistance * self.power;
        highest_root(a, b, constant).unwrap_or(0.5 * b / a).max(0.0)
    }
}

/// Of `a x^2 - b x + c`, with a above zero.
fn highest_root(a: f64, b: f64, c: f64) -> Option<f64> {
    let discriminant = b * b - 4.0 * a * c;
    (discriminant >= 0.0).then(|| (b + discriminant.sqrt()) / (2.0 * a))
}
