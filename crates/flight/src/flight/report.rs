//! The messages of a tick: actuators, exceeded limits, changes of mode.

use std::fmt;

use fly_control::analysis::Attainable;

use super::Flight;
use crate::health::{ActuatorEvent, Source};
use crate::supervisor::{Event, Fault, Mode, Trigger};
use crate::time::seconds;

/// At most this many actuator events are kept for the summary.
const MOST_EVENTS: usize = 64;

/// # Reports
impl Flight<'_> {
    /// Reports new actuator events. Allocates only if there are any.
    pub(super) fn report_actuators(&mut self, time: i64) {
        let at = self.link.since_first(time);
        for event in self.pilot.take_actuators() {
            match &event {
                ActuatorEvent::Changed {
                    attainable: Some(Attainable::Nothing),
                    spin: None,
                    ..
                }
                | ActuatorEvent::Changed {
                    source: Source::Detected,
                    ..
                } => tracing::error!("{at:.3} s: {event}"),
                _ => tracing::warn!("{at:.3} s: {event}"),
            }
            if self.actuators.len() < MOST_EVENTS {
                self.actuators.push((time, event));
            }
        }
    }

    /// Reports an exceeded limit.
    pub(super) fn report_exceeded(&mut self, time: i64) {
        let Some(exceeded) = self.pilot.take_exceeded() else {
            return;
        };
        let exceeded = exceeded.told(self.pilot.predictor().system());
        tracing::warn!("{:.3} s: {exceeded}", self.link.since_first(time));
        if self.exceeded.len() < self.exceeded.capacity() {
            self.exceeded.push((time, exceeded));
        }
    }

    /// Reports mode changes.
    pub(super) fn report_events(&mut self, time: i64) {
        while let Some(event) = self.pilot.take_event() {
            self.report_event(time, event);
        }
    }

    fn report_event(&self, time: i64, event: Event) {
        let at = self.link.since_first(time);
        let gap = seconds(event.gap) * 1e3;
        let why = fmt::from_fn(|f| match event.fault {
            Some(fault) => write!(f, "{}: ", self.describe(fault)),
            None => Ok(()),
        });
        // Holding a command between two slow frames is normal.
        let usual = self.pilot.supervisor().has_slow_frames();
        match (event.from, event.to) {
            (_, Mode::Holding) if usual => {
                tracing::debug!("{at:.3} s: {why}holding the last command");
            }
            (_, Mode::Holding) => tracing::warn!("{at:.3} s: {why}holding the last command"),
            (Mode::Holding | Mode::Paused, Mode::Flying) if usual => {
                tracing::debug!("{at:.3} s: frames are back after {gap:.0} ms");
            }
            (Mode::Holding | Mode::Paused, Mode::Flying) => {
                tracing::warn!("{at:.3} s: frames are back after {gap:.0} ms");
            }
            (_, Mode::Flying) if event.trigger == Some(Trigger::Resume) => {
                tracing::warn!("{at:.3} s: frames are back: resuming");
            }
            (_, Mode::Paused) => {
                tracing::warn!("{at:.3} s: {why}skipping until the recording continues");
            }
            (_, Mode::HoldPosition) => tracing::error!("{at:.3} s: {why}holding position"),
            (_, Mode::Descending) => tracing::error!("{at:.3} s: {why}levelling and descending"),
            (_, Mode::Landing) if event.fault == Some(Fault::Requested) => {
                tracing::info!("{at:.3} s: landing");
            }
            (_, Mode::Landing) if event.trigger == Some(Trigger::Blind) => {
                tracing::error!("{at:.3} s: {why}too long without measurements: landing");
            }
            (_, Mode::Landing) => tracing::error!("{at:.3} s: {why}landing"),
            (_, Mode::Ended) => match event.trigger {
                Some(Trigger::TouchedDown) => tracing::warn!("{at:.3} s: on the ground"),
                Some(Trigger::TakenOver) => {
                    tracing::error!(
                        "{at:.3} s: a pilot, another program or its own failsafe took control: nothing more is sent"
                    );
                }
                Some(Trigger::Terminate) => tracing::error!("{at:.3} s: {why}terminating"),
                Some(Trigger::Landed) => {}
                _ => tracing::error!("{at:.3} s: {why}the flight ends before its first command"),
            },
            (_, Mode::TakingOff) => tracing::info!("{at:.3} s: taking off"),
            (from, _) if from.is_usual() && event.trigger.is_some() => {}
            _ => tracing::warn!("{at:.3} s: {why}flying on"),
        }
    }

    pub(super) fn describe(&self, fault: Fault) -> impl std::fmt::Display {
        fault.describe(
            &self.groups,
            self.pilot.predictor().system().inputs.command_names(),
        )
    }
}
