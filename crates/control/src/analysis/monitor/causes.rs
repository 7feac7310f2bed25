//! Why W decreases more slowly than predicted.

use std::fmt;

use super::Balance;

/// The known mean powers, W, by which dW/dt differs from the prediction between two steps.
///
/// ```text
/// dW/dt + 2 R = d(dW/dt)/du . (u_actual - u_held) + d(dW/dt)/du . (u_held - u0) + rest
/// ```
///
/// with [`d(dW/dt)/du`](crate::Controller::energy_gradient), the input `u_actual` that the actuators have reached, the input `u_held` that was
/// commanded and held, and the current u0 of the law. The rest is a disturbance or a model error.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Powers {
    /// Due to actuators that have not reached their commands yet.
    pub lag: f64,
    /// Due to the input being held between two steps.
    pub hold: f64,
}

/// Why W decreased too slowly, over all steps in which it did not decrease as expected.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Causes {
    /// The number of these steps.
    pub steps: u64,
    /// The number of them in which W would have decreased as expected without actuator lag.
    pub but_for_lag: u64,
    /// Sums of the magnitudes of each power, W.
    lag: f64,
    hold: f64,
    rest: f64,
}

impl Causes {
    /// Counts a balance if W did not decrease as expected.
    pub(super) fn record(&mut self, balance: &Balance, powers: Powers) {
        let Balance::Rate {
            predicted,
            measured,
            allowed,
        } = *balance
        else {
            return;
        };
        if balance.holds() {
            return;
        }
        let excess = measured - predicted;
        self.steps += 1;
        self.but_for_lag += u64::from(excess - powers.lag <= allowed);
        self.lag += powers.lag.abs();
        self.hold += powers.hold.abs();
        self.rest += (excess - powers.lag - powers.hold).abs();
    }

    /// The shares of lag, held input and rest in the excess of dW/dt, 0 to 1 each; `None` if there was none.
    pub fn shares(&self) -> Option<[f64; 3]> {
        let sum = self.lag + self.hold + self.rest;
        (sum > 0.0).then(|| [self.lag, self.hold, self.rest].map(|part| part / sum))
    }
}

impl fmt::Display for Causes {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Some(shares) = self.shares() else {
            return write!(f, "W fell as predicted");
        };
        let [lag, hold, rest] = shares.map(|share| 100.0 * share);
        write!(
            f,
            "excess of dW/dt in the other {} steps: {lag:.0} % actuator lag (without it {} would be as expected), {hold:.0} % held input, {rest:.0} % disturbances and model errors",
            self.steps, self.but_for_lag
        )
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_known_is_told_apart_from_the_rest() {
        let balance = |measured| Balance::Rate {
            predicted: -2.0,
            measured,
            allowed: 0.1,
        };
        let mut causes = Causes::default();
        assert_eq!(causes.shares(), None);
        causes.record(
            &balance(-2.0),
            Powers {
                lag: 9.0,
                hold: 9.0,
            },
        );
        assert_eq!(causes.shares(), None, "it fell as expected");
        // An excess of 1 W, of which the lag is 0.8 W and the held input 0.1 W.
        let powers = Powers {
            lag: 0.8,
            hold: 0.1,
        };
        causes.record(&balance(-1.0), powers);
        let shares = causes.shares().unwrap();
        for (share, expected) in shares.into_iter().zip([0.8, 0.1, 0.1]) {
            assert!((share - expected).abs() < 1e-12, "{shares:?}");
        }
        assert_eq!((causes.steps, causes.but_for_lag), (1, 0));
        // Without the lag it would have been within the allowance for holding the input.
        causes.record(
            &balance(-1.0),
            Powers {
                lag: 0.95,
                hold: 0.05,
            },
        );
        assert_eq!((causes.steps, causes.but_for_lag), (2, 1));
    }
}
