//! Measured and predicted dW/dt in flight.
#![allow(non_snake_case)]

mod causes;
mod guarantee;
mod report;

pub use causes::{Causes, Powers};
pub use guarantee::{LyapunovGuarantee, UncheckedReason, input_rank};
pub use report::{Report, Rise};

use nalgebra::DMatrix;

use crate::Step;

/// Compares the measured dW/dt of the total error energy W with the predicted one, step by step.
///
/// ```text
/// dW/dt = -2 R - P + xi_E^T r,   r = Mbar xi_dot + bbar                               Konz (5.10), (5.23), (5.55) for r = 0
/// ```
///
/// [`LyapunovGuarantee`] tells when r = 0, and when also P = 0, so that W decreases. Along a moving reference that extracts the power P from W, or supplies it,
/// the template computes it: [`Step::reference_power`](crate::Step). If r is not zero, limits are active or P is unknown, there is no prediction, and the
/// monitor reports why.
///
/// # Tolerance
///
/// An input held for the time h between two steps realises the desired motion only at the first of them; at the second `r = Mbar M^-1 B (u - u0)`
/// with the held input u and the law's current u0. By the Cauchy-Schwarz inequality
///
/// ```text
/// |xi_E^T r| <= sqrt(2 T) ||u0 - u||_H,   H = (M^-1 B)^T Mbar M^-1 B                      H of (5.83)
/// ```
///
/// As r grows linearly from zero, half of this bounds the mean power of holding the input. The tolerance is all of it, with the larger T of both ends, plus
/// the change of R, whose mean is taken over both ends. An excess beyond the tolerance is not due to sampling: wind, a wrong mass, a lag, a broken rotor.
/// Energies are known to twelve digits of the largest W, and to 1e-18 J (an error of 1 nm against 2 N/m); anything smaller is rounding.
///
/// [`Causes`] attributes the excess if the inputs really applied are known.
///
/// No bandwidth or gain enters, so there is nothing to tune; and as all terms are proportional to the desired energies, a common factor of them changes
/// nothing.
///
/// ```
/// # use fly_control::{Controller, ControllerSettings, ReferencePoint};
/// # use fly_control::analysis::{LyapunovMonitor, LyapunovGuarantee};
/// # use fly_lie::SE3;
/// # use fly_mechanics::{FreeBody, PseudoInertia, State, integrate};
/// # use nalgebra::{Matrix3, Matrix6xX, Vector3, Vector6};
/// # let inertia = PseudoInertia::from_center(2.0, Vector3::zeros(), Matrix3::identity() * 0.1)?;
/// # let body = FreeBody::new(inertia, Vector3::new(0.0, 0.0, -9.81));
/// # let settings: ControllerSettings = toml::from_str(
/// #     "[[pairs]]
/// #      to = 'box'
/// #      stiffness = { weight = 8, moment = [2, 2, 2] }
/// #      damping = { weight = 6, moment = [1, 1, 1] }
/// #      inertia = { weight = 1, moment = [0.1, 0.1, 0.1] }",
/// # )?;
/// // A body that six inputs push and turn any way; energy-based, as settings are without a word.
/// let B = Matrix6xX::identity(6);
/// let mut controller = settings.build_for_body(&body, "box", &B, None)?;
/// let mut monitor = LyapunovMonitor::new(LyapunovGuarantee::of_body(controller.template().approach(), 6), 6);
///
/// let goal = ReferencePoint::at_rest(SE3::identity());
/// let mut state = State::at_rest(SE3::exp(&Vector6::new(0.3, 0.1, -0.2, 0.4, 0.0, 0.9)));
/// for step in 0..1000 {
///     let input = controller.step(&state, &goal).input.clone();
///     monitor.observe(f64::from(step) * 2e-3, controller.last(), controller.law().metric(), false);
///     state = integrate::rk4(&state, 2e-3, |state| body.acceleration(state, &(&B * &input)));
/// }
/// assert_eq!(monitor.report().to_string(), "W fell as expected in 999 of 999 steps");
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug)]
pub struct LyapunovMonitor {
    guarantee: LyapunovGuarantee,
    last: Option<Sample>,
    /// The input intended since the last step.
    held: Vec<f64>,
    report: Report,
    /// How far W has risen above its lowest value, J, and since when it has been rising, s.
    risen: f64,
    rising_since: Option<f64>,
}

#[derive(Clone, Copy, Debug)]
struct Sample {
    time: f64,
    total: f64,
    kinetic: f64,
    dissipation: f64,
    /// P.
    reference: f64,
    unchecked: Option<UncheckedReason>,
}

/// The monitor's verdict on the time since the previous step.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Balance {
    /// dW/dt is predicted.
    Rate {
        /// `-2 R - P`, the mean of both ends, W.
        predicted: f64,
        /// The change of W per time, W.
        measured: f64,
        /// The tolerated difference of the two because the input is held, W.
        allowed: f64,
    },
    /// dW/dt is not predicted.
    Unchecked(UncheckedReason),
}

impl Balance {
    /// Returns whether W decreased as expected, or faster.
    pub fn holds(&self) -> bool {
        match self {
            Self::Rate {
                predicted,
                measured,
                allowed,
            } => measured - predicted <= *allowed,
            Self::Unchecked(_) => false,
        }
    }
}

/// Relative accuracy of the energies, as a fraction of the largest one.
const ROUNDING: f64 = 1e-12;
/// Absolute accuracy of the energies, J.
const RESOLUTION: f64 = 1e-18;

/// # Construction
impl LyapunovMonitor {
    /// For a closed loop with p inputs and this guarantee.
    pub fn new(guarantee: LyapunovGuarantee, inputs: usize) -> Self {
        Self {
            guarantee,
            last: None,
            held: vec![0.0; inputs],
            report: Report::default(),
            risen: 0.0,
            rising_since: None,
        }
    }
}

/// # Flight
impl LyapunovMonitor {
    /// Records a control step at this time (s), and judges the time since the previous one.
    ///
    /// `metric` is H of this step, p x p, without the tilt priority: [`Law::metric`](crate::law::Law::metric). `moving` tells whether the reference moves:
    /// whether its velocity or acceleration is nonzero. Steps with non-finite energies are ignored. No allocation.
    ///
    /// # Panics
    /// If the number of inputs of the step or the metric is not that of the monitor.
    pub fn observe(
        &mut self,
        time: f64,
        step: &Step,
        metric: &DMatrix<f64>,
        moving: bool,
    ) -> Balance {
        let (unchecked, reference) = match self.guarantee.unchecked(moving) {
            Some(UncheckedReason::MovingReference) => step
                .reference_power
                .map_or((Some(UncheckedReason::MovingReference), 0.0), |power| {
                    (None, power)
                }),
            unchecked => (unchecked, 0.0),
        };
        let energies = step.energies.unwrap_or_default();
        let now = Sample {
            time,
            total: energies.total,
            kinetic: energies.kinetic,
            dissipation: energies.dissipation,
            reference,
            unchecked: if step.saturated() {
                Some(UncheckedReason::Saturated)
            } else {
                unchecked
            },
        };
        // Nobody asks for it where nothing is promised.
        let change = if unchecked.is_some() {
            0.0
        } else {
            self.change(step, metric)
        };
        for (held, intended) in self.held.iter_mut().zip(step.intended()) {
            *held = intended;
        }
        let finite = [now.total, now.dissipation, now.reference, change];
        let is_known = step.energies.is_some() || self.guarantee == LyapunovGuarantee::NoEnergies;
        let finite = is_known && finite.iter().all(|number| number.is_finite());
        let before = std::mem::replace(&mut self.last, finite.then_some(now));
        let balance = match before {
            Some(before) if finite && now.time > before.time => self.judge(&before, &now, change),
            _ => Balance::Unchecked(UncheckedReason::First),
        };
        if balance == Balance::Unchecked(UncheckedReason::First) {
            self.fall();
        }
        balance
    }

    /// Attributes the difference between measured and predicted dW/dt, for the balance just returned by [`observe`](Self::observe).
    pub fn attribute(&mut self, balance: &Balance, powers: Powers) {
        self.report.causes.record(balance, powers);
    }

    /// Whether the time from the last step on can be judged: what the inputs do at that step is of interest only then.
    pub fn is_judging(&self) -> bool {
        self.last.is_some_and(|last| last.unchecked.is_none())
    }

    /// Forgets the step before: to be called where the reference jumps, for W then jumps with it.
    pub fn restart(&mut self) {
        self.last = None;
    }

    /// The results since the beginning.
    pub fn report(&self) -> &Report {
        &self.report
    }

    /// `||u0 - u||_H` of the law's current u0 and the held input u.
    fn change(&self, step: &Step, metric: &DMatrix<f64>) -> f64 {
        let p = self.held.len();
        assert!(
            step.unconstrained.len() == p && metric.shape() == (p, p),
            "number of inputs"
        );
        let of = |i: usize| step.unconstrained[i] - self.held[i];
        let mut squared = 0.0;
        for j in 0..p {
            for i in 0..p {
                squared += of(i) * metric[(i, j)] * of(j);
            }
        }
        squared.max(0.0).sqrt()
    }

    fn judge(&mut self, before: &Sample, now: &Sample, change: f64) -> Balance {
        let passed = now.time - before.time;
        self.report.steps += 1;
        self.report.largest = self.report.largest.max(before.total).max(now.total);
        // The applied input is that of the previous step; the reference may have begun to move.
        let moves = now
            .unchecked
            .filter(|unchecked| *unchecked != UncheckedReason::Saturated);
        if let Some(unchecked) = before.unchecked.or(moves) {
            self.report.unchecked = Some(unchecked);
            self.fall();
            return Balance::Unchecked(unchecked);
        }
        let hold = (2.0 * before.kinetic.max(now.kinetic)).sqrt() * change;
        let rounding = (ROUNDING * self.report.largest + RESOLUTION) / passed;
        let rate = Balance::Rate {
            predicted: -(before.dissipation + now.dissipation)
                - 0.5 * (before.reference + now.reference),
            measured: (now.total - before.total) / passed,
            allowed: hold
                + (now.dissipation - before.dissipation).abs()
                + 0.5 * (now.reference - before.reference).abs()
                + rounding,
        };
        self.report.checked += 1;
        self.report.as_expected += u64::from(rate.holds());

        // How far W is above its lowest value, beyond what holding the input and a moving reference explain.
        let brought = (-0.5 * (before.reference + now.reference)).max(0.0);
        let rise = now.total - before.total - (hold + brought + rounding) * passed;
        self.risen = (self.risen + rise).max(0.0);
        if self.risen > self.report.rise.energy {
            self.report.rise = Rise {
                energy: self.risen,
                time: now.time,
            };
        }
        if rise > 0.0 {
            let since = *self.rising_since.get_or_insert(before.time);
            self.report.longest_rise = self.report.longest_rise.max(now.time - since);
        } else {
            self.rising_since = None;
        }
        rate
    }

    /// Restarts the measurement of rises at the current W.
    fn fall(&mut self) {
        self.risen = 0.0;
        self.rising_since = None;
    }
}
