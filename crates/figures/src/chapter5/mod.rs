//! The figures of Konz, chapter 5, that carry data.

mod bicopter;
mod planar;
mod pvtol;
mod revolute;
mod scara;

use crate::Drawing;

/// All of them, in the order of the book.
pub fn drawings() -> Vec<Drawing> {
    vec![
        Drawing::new("phase-portraits", || Ok(revolute::phase_portraits())),
        Drawing::new("revolute", revolute::approaches),
        Drawing::new("planar-spinning", planar::approaches),
        Drawing::new("scara-motion", scara::motion),
        Drawing::new("scara-snapshots", scara::snapshots),
        Drawing::new("scara-potentials", scara::potentials),
        Drawing::new("pvtol", pvtol::interpretation),
        Drawing::new("bicopter-limits", bicopter::limits),
        Drawing::new("bicopter-motion", bicopter::motion),
    ]
}
