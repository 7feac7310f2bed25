//! The linearised closed loop: system, law and actuator lags.
#![allow(non_snake_case)]

use fly_mechanics::multibody::{Model, Workspace};
use fly_mechanics::{Rotors, System};
use nalgebra::{Complex, DMatrix, DVector, DefaultAllocator, Dyn, Matrix6xX};

use crate::Controller;
use crate::baselines::LinearMemory;
use crate::design::PlacementError;
use crate::kinematics::OneBody;
use crate::law::LawError;
use crate::linear::{LinearModel, NotAtRest, eigenvalues};
use crate::pair::Pair;
use crate::plant::Plant;
use crate::sizes::Sizes;
use crate::strategy::Strategy;
use crate::template::Template;

/// A system under its controller, without limits, linearised about a reference at rest. A vehicle is a system with one free body.
///
/// With `x = x_R exp(eps)`, exact to first order:
///
/// ```text
/// M0 eps'' + D0 eps' + K0 eps = B du,   du = -(F_K eps + F_D eps')        the model and the law, Konz (5.81a), (5.86b)
/// T_i v_i' + v_i = -(F_K eps + F_D eps')_i                                actuators with a first-order lag T_i
/// ```
///
/// Commands that [lead](crate::lead) add their lags times the rate of the right side, computed with the controller's model and its assumed lags, whatever the
/// real ones are.
///
/// The poles are those without the integrals and derivatives of a law; a [sampled](Self::sampled) loop has them.
///
/// The gains follow from the linearised template, which is the same for all approaches, Konz (5.71), whether or not the inputs can follow it; state feedback
/// has its own. The lag acts on commands, as for rotors, servos and motors: thrust and tilt of each rotor, effort of each motor.
#[derive(Clone, Debug, PartialEq)]
pub struct ClosedLoop {
    /// State matrix of `[eps; eps']` with the inputs held, 2n x 2n.
    pub(super) held: DMatrix<f64>,
    /// `M0^-1 B`, from commands to accelerations, n x p.
    pub(super) effect: DMatrix<f64>,
    /// From `[eps; eps']` to commands, p x 2n.
    pub(super) gain: DMatrix<f64>,
    /// u_R.
    pub(super) input: DVector<f64>,
    /// From input changes to command changes, p x p, orthogonal.
    pub(super) to_commands: DMatrix<f64>,
    /// The observer of disturbances, if there is one.
    pub(super) compensation: Option<Compensation>,
    /// The integrals and derivatives of the law, with commands for inputs, and `M^-1 r` for r.
    pub(super) memory: Option<LinearMemory>,
    /// The lags of the commands that the controller assumes, s.
    pub(super) lags: Vec<f64>,
    /// The lead of each command, s; `None` without leads.
    pub(super) lead: Option<Vec<f64>>,
    /// The delay that the controller compensates, s.
    pub(super) delay: f64,
}

/// How a controller uses the estimate of its disturbance observer.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Compensation {
    /// K, rad/s.
    pub bandwidth: f64,
    /// From `M^-1 r` to commands, p x n.
    pub gain: DMatrix<f64>,
}

/// Why a closed loop cannot be analysed.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum AnalysisError {
    /// The inputs cannot hold the system in this configuration.
    #[error(transparent)]
    NotAtRest(#[from] NotAtRest),
    /// The system has rolling constraints.
    #[error(
        "`{0}` rolls: no smooth law stabilises it at rest (Brockett), so the closed loop has no poles; expected a reference that moves"
    )]
    Rolls(String),
    /// The law does not exist.
    #[error(transparent)]
    Law(#[from] LawError),
    /// State feedback: the poles cannot be placed.
    #[error("the gains of state feedback cannot be computed: {0}")]
    Placement(#[from] PlacementError),
    /// Unstable even with instantaneous actuators.
    #[error(
        "the closed loop is not stable even without a lag: expected all poles to the left of the imaginary axis, found one with \
         real part {0:.2e} 1/s"
    )]
    Unstable(f64),
    /// The number of time constants is not the number of commands.
    #[error("expected {expected} time constants, one for each command, found {found}")]
    Lags {
        /// p.
        expected: usize,
        /// The number given.
        found: usize,
    },
    /// The largest lag could not be found.
    #[error(
        "the lag that the closed loop tolerates could not be found: expected poles further from the imaginary axis, or within fewer powers of ten of each other"
    )]
    LagSearch,
    /// The eigenvalues could not be computed.
    #[error(
        "the poles of the closed loop could not be computed: expected finite parameters within a few powers of ten of each other"
    )]
    Poles,
}

/// The linear feedback of a control strategy for small errors.
pub trait LinearFeedback {
    /// The template whose metric balances the forces, for the system about rest in the configuration x.
    fn template(&self, model: &Model<f64>, x: &[f64], linear: &LinearModel) -> LinearModel;

    /// How its reference at rest tilts under a small disturbance r: the derivative of the configuration with respect to r, n x n; `None`
    /// if it does not tilt.
    fn lean(&self) -> Option<DMatrix<f64>> {
        None
    }

    /// Its integrals and derivatives, if it has any.
    fn memory(&self) -> Option<LinearMemory> {
        None
    }

    /// `[F_K, F_D]` (p x n) of `du = -(F_K eps + F_D eps')`, for the system about rest in the configuration x. Redundant inputs
    /// share the effort by these weights (p entries), see [`Law`](crate::law::Law).
    ///
    /// # Errors
    /// [`AnalysisError`] if the gains do not exist.
    fn gains(
        &self,
        model: &Model<f64>,
        x: &[f64],
        linear: &LinearModel,
        weights: &DVector<f64>,
    ) -> Result<[DMatrix<f64>; 2], AnalysisError> {
        Ok(linear.gains(&self.template(model, x, linear), weights)?)
    }
}

impl LinearFeedback for Template<OneBody> {
    fn template(&self, _: &Model<f64>, _: &[f64], _: &LinearModel) -> LinearModel {
        desired(self.pair())
    }
}

impl LinearFeedback for Strategy {
    fn template(&self, model: &Model<f64>, x: &[f64], linear: &LinearModel) -> LinearModel {
        let at = || {
            let mut reference = Workspace::new(model);
            reference.update(model, x, &vec![0.0; model.dof()]);
            reference.update_jacobians(model);
            reference
        };
        match self {
            Self::Template(template) => LinearModel::of_pairs(model, &at(), template.pairs()),
            Self::Matrices(template) => template.linear(model, &at()),
            Self::User(template) => template.linear(model, x),
            Self::Euclidean(template) => template.linear(&linear.inertia),
            Self::Feedback(_) | Self::Multirotor(_) => {
                let none = DMatrix::zeros(linear.dof(), linear.dof());
                LinearModel::without_inputs(linear.inertia.clone(), none.clone(), none)
            }
        }
    }

    fn lean(&self) -> Option<DMatrix<f64>> {
        match self {
            Self::Multirotor(multirotor) => Some(multirotor.linear_lean()),
            _ => None,
        }
    }

    fn memory(&self) -> Option<LinearMemory> {
        match self {
            Self::Multirotor(multirotor) => multirotor.linear_memory(),
            _ => None,
        }
    }

    fn gains(
        &self,
        model: &Model<f64>,
        x: &[f64],
        linear: &LinearModel,
        weights: &DVector<f64>,
    ) -> Result<[DMatrix<f64>; 2], AnalysisError> {
        match self {
            Self::Feedback(feedback) => Ok(feedback.gains(linear)?),
            Self::Multirotor(multirotor) => Ok(multirotor.linear_gains()),
            Self::Template(_) | Self::Matrices(_) | Self::User(_) | Self::Euclidean(_) => {
                Ok(linear.gains(&self.template(model, x, linear), weights)?)
            }
        }
    }
}

/// # Construction
impl ClosedLoop {
    /// About rest in a configuration (nu entries) that the inputs can hold: an underactuated vehicle must be level. Allocates.
    ///
    /// # Errors
    /// [`AnalysisError`].
    ///
    /// # Panics
    /// If the length of the configuration is not nu.
    pub fn new<P: Plant>(
        system: &System,
        controller: &Controller<P>,
        configuration: &[f64],
    ) -> Result<Self, AnalysisError>
    where
        P::Strategy: LinearFeedback,
        DefaultAllocator: Sizes<P::Dof, Dyn>,
    {
        if !system.rolling.is_empty() {
            return Err(AnalysisError::Rolls(system.name.clone()));
        }
        let (model, inputs) = (&system.model, &system.inputs);
        let (linear, input) = LinearModel::of_system(model, inputs, configuration)?;
        let strategy = controller.strategy();
        let [F_K, F_D] = strategy.gains(
            model,
            configuration,
            &linear,
            controller.law().input_weights(),
        )?;
        let (held, G) = linear.first_order().ok_or(LawError::Mass)?;
        let n = linear.dof();
        let to_commands = commands_of_inputs(inputs.rotors(), &input);
        let compensation = match controller.disturbance() {
            None => None,
            Some(observer) => {
                let template = strategy.template(model, configuration, &linear);
                let mut gain =
                    linear.compensation_gain(&template, controller.law().input_weights())?;
                // A reference that leans acts as an error of the opposite sign.
                let lean = controller.plant().linear_lean();
                if let Some(lean) = lean.or_else(|| strategy.lean()) {
                    gain += &F_K * lean;
                }
                Some(Compensation {
                    bandwidth: observer.bandwidth(),
                    gain: &to_commands * gain * &linear.inertia,
                })
            }
        };
        let memory = strategy.memory().map(|mut memory| {
            memory.input = &to_commands * memory.input;
            let mut of_load = memory.rate.columns_mut(memory.rate.ncols() - n, n);
            let of_delta = &of_load * &linear.inertia;
            of_load.copy_from(&of_delta);
            memory
        });
        let mut gain = DMatrix::zeros(input.len(), 2 * n);
        gain.columns_mut(0, n).copy_from(&-(&to_commands * F_K));
        gain.columns_mut(n, n).copy_from(&-(&to_commands * F_D));
        Ok(Self {
            held,
            // The map to commands is orthogonal.
            effect: G.rows(n, n) * to_commands.transpose(),
            gain,
            input,
            to_commands,
            compensation,
            memory,
            lags: inputs.time_constants().to_vec(),
            lead: controller.lead().map(|lead| {
                let times = lead.time_constants().iter();
                times.map(|lag| lead.fraction() * lag).collect()
            }),
            delay: controller.delay(),
        })
    }

    /// u_R, p entries: the input that holds the system in this configuration.
    pub fn input(&self) -> &DVector<f64> {
        &self.input
    }

    /// From `[eps; eps']` to input changes, p x 2n.
    pub(super) fn input_gain(&self) -> DMatrix<f64> {
        self.to_commands.tr_mul(&self.gain)
    }
}

/// # Poles
impl ClosedLoop {
    /// The 2n poles of the law, 1/s: with instantaneous actuators and without lead.
    ///
    /// # Errors
    /// [`AnalysisError::Poles`].
    pub fn poles(&self) -> Result<Vec<Complex<f64>>, AnalysisError> {
        let (A, B) = plant(&self.held, &self.effect, &self.lags, &[]);
        eigenvalues(&(A + B * &self.gain)).ok_or(AnalysisError::Poles)
    }

    /// The poles with these time constants (s, >= 0) of the commands, in their order: 2n and one per nonzero lag, without a delay. If commands lead, there is
    /// one more per lag that the controller assumes; if the assumed lags are right, all of these lie at `-1/T`, and the 2n are those of the law.
    ///
    /// # Errors
    /// [`AnalysisError::Lags`], [`AnalysisError::Poles`].
    pub fn poles_with_lags(&self, lags: &[f64]) -> Result<Vec<Complex<f64>>, AnalysisError> {
        let [held, rate] = self.with_commands(lags)?;
        eigenvalues(&(held + rate)).ok_or(AnalysisError::Poles)
    }

    /// The delay that the controller compensates by predicting the state, s.
    pub fn delay(&self) -> f64 {
        self.delay
    }

    /// Returns whether commands lead to compensate actuator lag.
    pub fn leads(&self) -> bool {
        self.lead.is_some()
    }

    /// The controller's model `z' = A z + B c` of `z = [y; v]`, v these lagged commands.
    pub(super) fn model(&self, slow: &[usize]) -> (DMatrix<f64>, DMatrix<f64>) {
        plant(&self.held, &self.effect, &self.lags, slow)
    }

    /// The open loop `z' = A z + B c` of `z = [eps; eps'; v]`, v the lagged commands; lags up to `least` count as zero.
    pub(super) fn open(
        &self,
        lags: &[f64],
        least: f64,
    ) -> Result<(DMatrix<f64>, DMatrix<f64>), AnalysisError> {
        self.expect_lags(lags)?;
        Ok(plant(&self.held, &self.effect, lags, &slow(lags, least)))
    }

    /// Checks that there is one lag per command.
    pub(super) fn expect_lags(&self, lags: &[f64]) -> Result<(), AnalysisError> {
        let (expected, found) = (self.input.len(), lags.len());
        if expected == found {
            Ok(())
        } else {
            Err(AnalysisError::Lags { expected, found })
        }
    }

    /// The matrices of `[eps; eps'; v]`, v the lagged commands, followed by the controller's estimate of v if it leads: the part independent of the lags, and
    /// the part inverse to them.
    pub(super) fn with_commands(&self, lags: &[f64]) -> Result<[DMatrix<f64>; 2], AnalysisError> {
        let (A, B) = self.open(lags, 0.0)?;
        let (states, size, p) = (self.held.nrows(), A.nrows(), self.input.len());
        let believed = match &self.lead {
            Some(_) => slow(&self.lags, 0.0),
            None => Vec::new(),
        };
        let whole = size + believed.len();
        let mut held = A.resize(whole, whole, 0.0);
        let mut B = B.resize_vertically(whole, 0.0);
        let mut gain = self.gain.clone().resize_horizontally(whole, 0.0);
        for (k, &i) in believed.iter().enumerate() {
            held[(size + k, size + k)] = -self.lags[i].recip();
            B[(size + k, i)] = self.lags[i].recip();
        }
        if let Some(lead) = &self.lead {
            // The rates of the errors by the model: commands without lag act at once.
            let (of_errors, of_commands) = self.model(&believed);
            let (of_errors, of_commands) = (of_errors.rows(0, states), of_commands.rows(0, states));
            let mut rate = of_commands * &self.gain;
            rate += of_errors.columns(0, states);
            let led = DMatrix::from_diagonal(&DVector::from_column_slice(lead)) * &self.gain;
            let mut of_state = gain.columns_mut(0, states);
            of_state += &led * rate;
            let beliefs = of_errors.columns(states, believed.len());
            gain.columns_mut(size, believed.len())
                .copy_from(&(led * beliefs));
        }
        debug_assert_eq!(gain.nrows(), p);
        held += B * gain;
        let mut rate = DMatrix::zeros(whole, whole);
        let mut lagging = held.rows_mut(states, size - states);
        rate.rows_mut(states, size - states).copy_from(&lagging);
        lagging.fill(0.0);
        Ok([held, rate])
    }
}

/// `z' = A z + B c` of `z = [y; v]`, v these commands with their lags; all others act at once.
fn plant(
    held: &DMatrix<f64>,
    effect: &DMatrix<f64>,
    lags: &[f64],
    slow: &[usize],
) -> (DMatrix<f64>, DMatrix<f64>) {
    let (n, p) = effect.shape();
    let states = held.nrows();
    let size = states + slow.len();
    let (mut A, mut B) = (DMatrix::zeros(size, size), DMatrix::zeros(size, p));
    A.view_mut((0, 0), (states, states)).copy_from(held);
    B.view_mut((n, 0), (n, p)).copy_from(effect);
    for (k, &i) in slow.iter().enumerate() {
        let at = states + k;
        A.view_mut((n, at), (n, 1)).copy_from(&effect.column(i));
        A[(at, at)] = -lags[i].recip();
        B.column_mut(i).fill(0.0);
        B[(at, i)] = lags[i].recip();
    }
    (A, B)
}

/// The commands with a lag longer than `least`, s.
fn slow(lags: &[f64], least: f64) -> Vec<usize> {
    (0..lags.len()).filter(|i| lags[*i] > least).collect()
}

/// The template of one pair (world, body) linearised about a reference at rest, the same for all approaches,
/// Konz (5.71).
pub fn desired(pair: &Pair) -> LinearModel {
    LinearModel::of_jacobians(6, [(Matrix6xX::identity(6), pair)])
}

/// From input changes to command changes, p x p: the change of thrust, and the change of tilt times the thrust, which makes the map
/// orthogonal and preserves every lag. Inputs of motors, which follow those of rotors, are commands already.
fn commands_of_inputs(rotors: &Rotors, input: &DVector<f64>) -> DMatrix<f64> {
    let mut map = DMatrix::identity(input.len(), input.len());
    for range in rotors.rotor_ranges().filter(|r| r.len() == 2) {
        let i = range.start;
        let (sin, cos) = input[i].atan2(input[i + 1]).sin_cos();
        let block = [(0, 0, sin), (0, 1, cos), (1, 0, cos), (1, 1, -sin)];
        for (row, column, entry) in block {
            map[(i + row, i + column)] = entry;
        }
    }
    map
}
