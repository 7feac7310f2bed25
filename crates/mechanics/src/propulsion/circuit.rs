//! A battery and its loads.

/// A source of the open-circuit voltage E behind a resistance r, with all its loads: the current of a motor depends on the voltage V,
/// and V on all currents. Each motor's controller applies the requested voltage `v`, or V if that is less:
///
/// ```text
/// V = E - r I,   V I = P + sum v i,   i = (v - e) / R,   |v| = min(|v wanted|, V)
/// ```
///
/// with the back-EMF e and the resistance R of a motor, and a power P that other loads draw at any voltage. Given the set of motors that get their requested
/// voltage, V solves a quadratic equation; of all solutions the highest is chosen, the one that a battery reaches from a smaller load.
///
/// **Overload.** In addition to the windings the battery can supply at most `G = max V (E - V) / r - sum v i` over all V from 0 on. If P is larger, the other
/// loads get only G, at the V at which G is largest: `E / 2` for a battery without windings. If windings alone, turned against their voltage, draw more than
/// the battery can supply, V is 0 and `I = E / r`: the battery heats itself, and the windings brake in a short circuit. In all of these states `V = E - r I`
/// holds and `V I` is the power drawn.
///
/// ```
/// use fly_mechanics::propulsion::Circuit;
///
/// // 12 V behind 0.1 ohm. One motor wants 5 V, the other all that there is.
/// let mut circuit = Circuit::with_capacity(2);
/// circuit.begin(0.0);
/// circuit.add(5.0, 3.0, 0.5); // V, V, ohm: it takes 5 V 4 A
/// circuit.add(20.0, 6.0, 0.5);
/// let supply = circuit.solve(12.0, 0.1);
/// let current = 20.0 / supply.voltage + (supply.voltage - 6.0) / 0.5;
/// assert!((supply.current - current).abs() < 1e-12);
/// assert!((supply.voltage - (12.0 - 0.1 * current)).abs() < 1e-12);
///
/// // 400 W are more than 12^2 V^2 / 4 / 0.1 ohm.
/// circuit.begin(400.0);
/// let supply = circuit.solve(12.0, 0.1);
/// assert_eq!((supply.voltage, supply.current), (6.0, 60.0));
/// assert!((supply.given - 0.9).abs() < 1e-12);
/// ```
#[derive(Clone, Debug, Default)]
pub struct Circuit {
    /// The requested voltage, back-EMF and resistance of every motor: V, V, ohm; both voltages with the sign that makes the first one
    /// positive.
    motors: Vec<[f64; 3]>,
    power: f64,
}

/// The supply of a battery under its loads.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Supply {
    /// V, never negative.
    pub voltage: f64,
    /// A, negative if braking motors return more than other loads draw.
    pub current: f64,
    /// The fraction of the other loads' power that is supplied: 1 except in an overload.
    pub given: f64,
}

impl Circuit {
    /// Allocates for this many motors.
    pub fn with_capacity(motors: usize) -> Self {
        Self {
            motors: Vec::with_capacity(motors),
            power: 0.0,
        }
    }

    /// Removes all motors; `power` (W, at least 0) is drawn at any voltage.
    pub fn begin(&mut self, power: f64) {
        self.motors.clear();
        self.power = power;
    }

    /// Adds a motor that requests `voltage` (V), with the back-EMF `emf` (V) and the resistance of its winding (ohm,
    /// positive).
    pub fn add(&mut self, voltage: f64, emf: f64, resistance: f64) {
        let sign = 1.0_f64.copysign(voltage);
        (self.motors).push([voltage.abs(), emf * sign, resistance]);
    }

    /// Solves for a source of `open` V, positive, behind `resistance` ohm. All of it is NaN if a number of the source or of a load is not finite.
    pub fn solve(&mut self, open: f64, resistance: f64) -> Supply {
        // By requested voltage, largest first: motors that get less than requested come first.
        (self.motors).sort_unstable_by(|a, b| b[0].total_cmp(&a[0]));
        let wanted = |[v, e, r]: &[f64; 3]| v * (v - e) / r;
        let mut taken = self.motors.iter().map(wanted).sum::<f64>();
        if !(open + resistance + self.power + taken).is_finite() {
            return Supply {
                voltage: f64::NAN,
                current: f64::NAN,
                given: f64::NAN,
            };
        }
        // Between two of the requested voltages r G = V b - V^2 a - r W, with the power W of the motors that get their
        // voltage.
        let (mut a, mut b) = (1.0, open);
        let mut above = f64::INFINITY;
        // The largest power left for other loads: G and its V. At V = 0 it is zero.
        let mut most = [0.0, 0.0];
        for place in 0..=self.motors.len() {
            let motor = self.motors.get(place);
            // The remainder of the sum after the last one is rounding error.
            let (below, fixed) = motor.map_or((0.0, 0.0), |motor| (motor[0], taken));
            let constant = resistance * (self.power + fixed);
            let voltage = highest_root(a, b, constant);
            if let Some(voltage) = voltage.filter(|v| *v > 0.0 && *v >= below && *v <= above) {
                let current = if resistance > 0.0 {
                    (open - voltage) / resistance
                } else {
                    (self.power + fixed + self.drawn(place, voltage)) / voltage
                };
                return Supply {
                    voltage,
                    current,
                    given: 1.0,
                };
            }
            let best = (0.5 * b / a).clamp(below, above.max(below));
            let left = (best * (b - best * a)) / resistance - fixed;
            if left > most[0] {
                most = [left, best];
            }
            let Some(motor) = motor else { break };
            let [v, e, r] = *motor;
            above = v;
            taken -= wanted(motor);
            a += resistance / r;
            b += resistance * e / r;
        }
        let [left, voltage] = most;
        Supply {
            voltage,
            current: (open - voltage) / resistance,
            given: if self.power > 0.0 {
                left / self.power
            } else {
                1.0
            },
        }
    }

    /// The power of the first `count` motors at this voltage, W.
    fn drawn(&self, count: usize, voltage: f64) -> f64 {
        let motors = self.motors[..count].iter();
        motors.map(|[_, e, r]| voltage * (voltage - e) / r).sum()
    }
}

/// The larger root of `a x^2 - b x + c`, with a positive.
fn highest_root(a: f64, b: f64, c: f64) -> Option<f64> {
    let discriminant = b * b - 4.0 * a * c;
    (discriminant >= 0.0).then(|| (b + discriminant.sqrt()) / (2.0 * a))
}
