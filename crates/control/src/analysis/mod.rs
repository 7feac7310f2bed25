//! Analysis of the closed loop, before and during flight.
//!
//! - [`ClosedLoop`]: any system, its law and its actuators, linearised about a reference at rest. Its [`poles`](ClosedLoop::poles), with [`modes`] for damping
//!   ratios and time constants, and the [`largest_lag`](ClosedLoop::largest_lag) of the actuators for which it is stable.
//! - [`SampledLoop`]: the same as flown, sampled and held, with its delay and the controller's compensation, and its margins of delay, gain and lag.
//! - [`Margins`] that it must keep.
//! - [`desired`]: the template alone, Konz (5.71). If the inputs can follow it (fully actuated, or matched), its poles are those of the closed loop.
//! - [`check_existence`]: whether a strategy and a system make a closed loop at all.
//! - [`Attainable`]: whether the vehicle can still hover when actuators fail.
//! - [`HoverMargins`]: the thrust and tilt that the actuators have in reserve in hover.
//! - `desired_equilibria`, `hover_trims` (feature `geometry`): all equilibria of a desired closed loop; the attitudes in which a vehicle hovers with least
//!   effort.
//! - [`LyapunovMonitor`]: measured against predicted dW/dt of the total error energy in flight, wherever [`LyapunovGuarantee`] predicts it.

mod attainable;
mod closed_loop;
mod digital;
#[cfg(feature = "geometry")]
mod equilibria;
mod existence;
mod hover;
mod lag;
mod margins;
mod mode;
mod monitor;
mod sampled;

pub use attainable::Attainable;
pub use closed_loop::{AnalysisError, ClosedLoop, LinearFeedback, desired};
#[cfg(feature = "geometry")]
pub use equilibria::{HoverTrim, desired_equilibria, hover_trims};
pub use existence::{NoClosedLoop, check_existence};
pub use hover::{Command, HoverMargins};
pub use lag::{LagFactors, LagMargin};
pub use margins::{Margins, Shortfall};
pub use mode::{Mode, modes};
pub use monitor::{
    Balance, Causes, LyapunovGuarantee, LyapunovMonitor, Powers, Report, Rise, UncheckedReason,
    input_rank,
};
pub use sampled::{DelayMargin, GainMargins, SampledLoop, spectral_radius};
