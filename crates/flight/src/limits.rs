//! The host's check of every command before it is sent.

use super::supervisor::Fault;

/// How far a command may exceed a limit, relative to its range: the allocation's error (2e-7) with a margin. A command
/// further out indicates a defect. It is rejected rather than clamped, which would hide the defect.
pub const TOLERANCE: f64 = 1e-6;

/// Checks that every command is finite and within its limits.
///
/// # Errors
/// [`Fault::Command`] with the index of the first command that fails.
pub fn check(commands: &[f64], limits: &[[f64; 2]]) -> Result<(), Fault> {
    let good = |command: f64, [low, high]: [f64; 2]| {
        let range = high - low;
        // A motor may be unlimited on one side; then there is no range and no tolerance.
        let tolerance = if range.is_finite() {
            TOLERANCE * range
        } else {
            0.0
        };
        // NaN compares false.
        command >= low - tolerance && command <= high + tolerance && command.is_finite()
    };
    match commands
        .iter()
        .zip(limits)
        .position(|(command, limits)| !good(*command, *limits))
    {
        None => Ok(()),
        Some(index) => Err(Fault::Command(index)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_finite_commands_inside_their_limits_pass() {
        let limits = [[0.2, 7.0], [-1.0, 1.0]];
        let check = |commands: [f64; 2]| super::check(&commands, &limits);
        assert_eq!(check([0.2, 1.0]), Ok(()));
        let one_sided = [[0.0, f64::INFINITY], [f64::NEG_INFINITY, f64::INFINITY]];
        assert_eq!(super::check(&[1e9, -1e9], &one_sided), Ok(()));
        assert_eq!(
            super::check(&[-1e-3, 0.0], &one_sided),
            Err(Fault::Command(0))
        );
        assert_eq!(
            super::check(&[0.0, f64::INFINITY], &one_sided),
            Err(Fault::Command(1))
        );
        assert_eq!(check([7.0 + 6e-6, -1.0]), Ok(()));
        assert_eq!(check([7.0 + 8e-6, -1.0]), Err(Fault::Command(0)));
        assert_eq!(check([3.0, -1.1]), Err(Fault::Command(1)));
        for bad in [f64::NAN, f64::INFINITY, f64::NEG_INFINITY] {
            assert_eq!(check([3.0, bad]), Err(Fault::Command(1)));
            assert_eq!(
                super::check(&[bad], &[[f64::NEG_INFINITY, f64::INFINITY]]),
                Err(Fault::Command(0))
            );
        }
    }
}
