//! Lie group integration of a free body.
//!
//! The classical fourth-order Runge-Kutta scheme in the form of Munthe-Kaas: within a step the pose is `G exp(u)`, and
//! the small twist `u` is integrated like a vector, so that the pose stays on SE(3) to rounding, however long the
//! flight.

use fly_lie::SE3;
use fly_lie::operators::bracket;
use nalgebra::{RealField, Vector6, convert};

use crate::State;

/// One step of a free body: returns the state after the time `step` (s); `acceleration` returns `xi_dot` of a state.
///
/// ```
/// use fly_lie::SE3;
/// use fly_mechanics::{State, integrate};
/// use nalgebra::Vector6;
///
/// // Free fall for a second, in ten steps.
/// let mut state = State::at_rest(SE3::<f64>::identity());
/// for _ in 0..10 {
///     state = integrate::rk4(&state, 0.1, |_| Vector6::new(0.0, 0.0, -9.81, 0.0, 0.0, 0.0));
/// }
/// assert!((state.pose.translation.z + 9.81 / 2.0).abs() < 1e-14);
/// ```
pub fn rk4<T: RealField + Copy>(
    state: &State<T>,
    step: T,
    mut acceleration: impl FnMut(&State<T>) -> Vector6<T>,
) -> State<T> {
    let mut next = *state;
    advance(
        &mut next,
        &mut [],
        step,
        &mut Scratch::default(),
        |s, _, _| acceleration(s),
    );
    next
}

/// Integrates a body together with the states of its actuators (rotor lags, servos).
///
/// It stores the scratch arrays, so that a step does not allocate.
///
/// ```
/// use fly_lie::SE3;
/// use fly_mechanics::{State, integrate::Integrator};
/// use nalgebra::Vector6;
///
/// // A thrust of 1 N, ordered at rest, comes with a lag of 0.05 s and pushes a mass of 1 kg.
/// let (mut state, mut thrust) = (State::at_rest(SE3::identity()), [0.0]);
/// let mut integrator = Integrator::new(1);
/// for _ in 0..100 {
///     integrator.step(&mut state, &mut thrust, 0.001, |_, actual, rate| {
///         rate[0] = (1.0 - actual[0]) / 0.05;
///         Vector6::new(0.0, 0.0, actual[0], 0.0, 0.0, 0.0)
///     });
/// }
/// let exact = 1.0 - (-0.1_f64 / 0.05).exp();
/// assert!((thrust[0] - exact).abs() < 1e-8);
/// assert!((state.twist[2] - (0.1 - 0.05 * exact)).abs() < 1e-8);
/// ```
#[derive(Clone, Debug)]
pub struct Integrator<T: RealField + Copy> {
    scratch: Scratch<Vec<T>>,
}

impl<T: RealField + Copy> Integrator<T> {
    /// For this many actuator states.
    pub fn new(actuator_states: usize) -> Self {
        let zeros = || vec![T::zero(); actuator_states];
        Self {
            scratch: Scratch {
                start: zeros(),
                stage: zeros(),
                slope: zeros(),
                sum: zeros(),
            },
        }
    }

    /// Advances body and actuators by `step` (s).
    ///
    /// `dynamics(state, actuators, rates)` writes the actuators' rates and returns the body's `xi_dot`.
    ///
    /// # Panics
    /// If the length of `actuators` is not that given to [`Integrator::new`].
    pub fn step(
        &mut self,
        state: &mut State<T>,
        actuators: &mut [T],
        step: T,
        dynamics: impl FnMut(&State<T>, &[T], &mut [T]) -> Vector6<T>,
    ) {
        let s = &mut self.scratch;
        assert_eq!(actuators.len(), s.start.len(), "number of actuator states");
        let mut scratch = Scratch {
            start: s.start.as_mut_slice(),
            stage: s.stage.as_mut_slice(),
            slope: s.slope.as_mut_slice(),
            sum: s.sum.as_mut_slice(),
        };
        advance(state, actuators, step, &mut scratch, dynamics);
    }
}

#[derive(Clone, Debug, Default)]
struct Scratch<S> {
    start: S,
    stage: S,
    slope: S,
    sum: S,
}

/// The fraction of the step at each stage, and its weight in the sum of slopes (in sixths).
const STAGES: [(f64, f64); 4] = [(0.0, 1.0), (0.5, 2.0), (0.5, 2.0), (1.0, 1.0)];

fn advance<T: RealField + Copy>(
    state: &mut State<T>,
    actuators: &mut [T],
    step: T,
    scratch: &mut Scratch<&mut [T]>,
    mut dynamics: impl FnMut(&State<T>, &[T], &mut [T]) -> Vector6<T>,
) {
    let start = *state;
    scratch.start.copy_from_slice(actuators);
    scratch.slope.fill(T::zero());
    scratch.sum.fill(T::zero());
    let (mut u_dot, mut xi_dot) = (Vector6::zeros(), Vector6::zeros());
    let (mut u_sum, mut xi_sum) = (Vector6::zeros(), Vector6::zeros());

    for (position, weight) in STAGES {
        let h = step * convert(position);
        let weight: T = convert(weight / 6.0);
        let u = u_dot * h;
        let stage = State {
            pose: start.pose * SE3::exp(&u),
            twist: start.twist + xi_dot * h,
        };
        for ((a, a0), a_dot) in scratch
            .stage
            .iter_mut()
            .zip(&*scratch.start)
            .zip(&*scratch.slope)
        {
            *a = *a0 + *a_dot * h;
        }
        u_dot = inverse_right_jacobian_times(&u, &stage.twist);
        xi_dot = dynamics(&stage, scratch.stage, scratch.slope);
        u_sum += u_dot * weight;
        xi_sum += xi_dot * weight;
        for (sum, a_dot) in scratch.sum.iter_mut().zip(&*scratch.slope) {
            *sum += *a_dot * weight;
        }
    }

    state.pose = start.pose * SE3::exp(&(u_sum * step));
    state.twist = start.twist + xi_sum * step;
    for ((a, a0), sum) in actuators.iter_mut().zip(&*scratch.start).zip(&*scratch.sum) {
        *a = *a0 + *sum * step;
    }
}

/// `u_dot = J_r(u)^-1 xi` up to the second power of `u`, `xi + [u, xi]/2 + [u, [u, xi]]/12`: the next term is of fourth
/// order, below the error of a fourth-order scheme.
fn inverse_right_jacobian_times<T: RealField + Copy>(
    u: &Vector6<T>,
    xi: &Vector6<T>,
) -> Vector6<T> {
    let first = bracket(u, xi);
    xi + first * convert::<f64, T>(0.5) + bracket(u, &first) * convert::<f64, T>(1.0 / 12.0)
}
