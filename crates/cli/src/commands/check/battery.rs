//! Checks that the battery can supply the rotors' largest commands.

use fly_mechanics::{System, sustained_fraction};

use super::Findings;

/// Charges at which this is checked: full, and where many land.
const CHARGES: [(f64, &str); 2] = [(1.0, "when full"), (0.2, "at 20 %")];

/// `hover`: the commands that carry the level vehicle.
pub(super) fn check(system: &System, hover: Option<&[f64]>, findings: &mut Findings) {
    let limits = system.inputs.command_limits().iter();
    let largest: Vec<f64> = limits.map(|[low, high]| high.max(-low)).collect();
    let part = |charge, thrusts: &[f64]| sustained_fraction(system, charge, thrusts);
    let Some(full) = part(1.0, &largest) else {
        return;
    };
    let [(when, at_first), (later, then)] = CHARGES.map(|(charge, when)| {
        let part = part(charge, &largest).unwrap_or(0.0);
        (when, 100.0 * part)
    });
    let finding = format!(
        "all rotors at once reach {at_first:.0} % of their largest thrusts {when}, {then:.0} % {later}"
    );
    if full < 1.0 {
        findings.warning(
            "battery",
            format_args!("{finding}: it sags more than the limits of `thrust` allow for"),
        );
    } else {
        findings.passed("battery", finding);
    }
    for (charge, when) in CHARGES {
        let Some(part) = hover.and_then(|hover| part(charge, hover)) else {
            continue;
        };
        if part < 1.0 {
            let finding = format!(
                "{when} it holds {:.0} % of the thrusts that carry the level vehicle",
                100.0 * part
            );
            if charge == 1.0 {
                findings.problem("", finding);
            } else {
                findings.warning("", finding);
            }
            break;
        }
    }
}
