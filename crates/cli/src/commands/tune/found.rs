//! The results of a search, in words.

use fly_control::analysis::Margins;
use fly_control::tuning::{Fastest, SCAN};

use crate::telemetry::{Table, significant};

/// The fastest solution of each search.
#[derive(Debug, Default)]
pub struct Found {
    /// The margins to keep.
    pub margins: Option<Margins>,
    /// The motion.
    pub motion: Option<Fastest>,
    /// The attitude, or the rotation about the vertical.
    pub attitude: Option<Fastest>,
    /// The disturbance observer.
    pub observer: Option<Fastest>,
}

impl Found {
    /// One row each; `None` if nothing was searched.
    pub fn table(&self) -> Option<Table> {
        let Margins {
            gain,
            delay,
            damping,
        } = self.margins?;
        let mut table = Table::default();
        table.row(
            "margins kept",
            [format!(
                "{} to {} times the gain, {} ms more delay, damping ratios from {}",
                significant(gain.recip(), 3),
                significant(gain, 3),
                significant(1e3 * delay, 3),
                significant(damping, 3)
            )],
        );
        let most = "the fastest that is tested: one radian per step";
        let poles = "as fast as the fastest pole; a faster observer would mainly amplify noise";
        for (what, found, most) in [
            ("motion", &self.motion, most),
            ("attitude", &self.attitude, most),
            ("observer", &self.observer, poles),
        ] {
            let Some(Fastest { bandwidth, limit }) = found else {
                continue;
            };
            let why = limit.as_ref().map_or_else(
                || most.to_owned(),
                |limit| format!("{SCAN} times as fast: {limit}"),
            );
            table.row(
                what,
                [format!("{} rad/s; {why}", significant(*bandwidth, 3))],
            );
        }
        Some(table)
    }
}
