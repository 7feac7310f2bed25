//! Poles, and whether they are stable.

use nalgebra::Complex;

use super::Findings;

/// Poles to the right of this, 1/s, do not come back within any flight.
const SLOWEST: f64 = -1e-3;

/// Tells the slowest and the fastest of them.
pub(super) fn tell(what: &str, mut poles: Vec<Complex<f64>>, findings: &mut Findings) {
    poles.sort_by(|a, b| b.re.total_cmp(&a.re));
    let (Some(slowest), Some(fastest)) = (poles.first(), poles.last()) else {
        return;
    };
    let poles = format!("slowest {}, fastest {} 1/s", show(*slowest), show(*fastest));
    if slowest.re < SLOWEST {
        findings.fine(what, poles);
    } else {
        findings.problem(what, format_args!("{poles}: the closed loop is not stable"));
    }
}

fn show(pole: Complex<f64>) -> String {
    if pole.im.abs() < 0.02 * pole.re.abs() {
        format!("{:.2}", pole.re)
    } else {
        format!("{:.2} +- {:.2}i", pole.re, pole.im.abs())
    }
}
