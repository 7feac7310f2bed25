//! The detector of failed actuators, against known forces.
#![allow(non_snake_case)]

use fly_control::disturbance::{Failure, FailureDetector};
use nalgebra::{Const, DVector, Matrix6, Matrix6xX, Vector6};

use super::common::{QUADCOPTER, vehicle};

const STEP: f64 = 2e-3;

struct Trial {
    B: Matrix6xX<f64>,
    M: Matrix6<f64>,
    detector: FailureDetector<Const<6>>,
    /// Whether something was unexplained.
    noticed: bool,
}

impl Trial {
    /// With these columns of B after those of the quadcopter, each a separate actuator.
    fn new(more: &[Vector6<f64>]) -> Self {
        let vehicle = vehicle(QUADCOPTER);
        let mut columns: Vec<Vector6<f64>> = (vehicle.rotors.input_matrix().column_iter())
            .map(nalgebra::Matrix::into_owned)
            .collect();
        columns.extend(more);
        let B = Matrix6xX::from_columns(&columns);
        let actuators = (0..B.ncols()).map(|i| i..i + 1).collect();
        Self {
            B,
            M: *vehicle.body.mass_matrix(),
            detector: FailureDetector::new(Const, actuators),
            noticed: false,
        }
    }

    /// Which actuator is found, and when (s after the failure), if `lost` of actuator 2 is lost from 1 s on, under thrusts that change, in a force that is
    /// there before, and one that comes with the failure.
    fn fly(&mut self, lost: f64, before: Vector6<f64>, with: Vector6<f64>) -> Option<(usize, f64)> {
        match self.fly_with(&[(2, lost, 1.0)], before, with)? {
            (Failure::One(found), after) => Some((found, after)),
            (found, _) => panic!("{found:?}"),
        }
    }

    /// The same with these actuators, which lose so much from these times on.
    fn fly_with(
        &mut self,
        lost: &[(usize, f64, f64)],
        before: Vector6<f64>,
        with: Vector6<f64>,
    ) -> Option<(Failure, f64)> {
        for k in 0..1500 {
            let t = STEP * f64::from(k);
            let u = DVector::from_fn(self.B.ncols(), |i, _| {
                2.0 + 0.5 * (7.0 * t + i as f64).sin()
            });
            let mut d = before;
            if t >= 1.0 {
                d += with;
            }
            for (g, lost, from) in lost {
                if t >= *from {
                    d -= self.B.column(*g) * (lost * u[*g]);
                }
            }
            self.noticed |= self.detector.has_unexplained_disturbance();
            if let Some(found) = self.detector.observe(STEP, &d, &u, &self.B, &self.M) {
                return Some((found, t - 1.0));
            }
        }
        None
    }
}

#[test]
fn a_lost_actuator_is_named_soon_whatever_else_there_is() {
    let wind = Vector6::new(0.5, -0.3, -1.0, 0.0, 0.02, 0.0);
    for before in [Vector6::zeros(), wind] {
        let (found, after) = Trial::new(&[]).fly(1.0, before, Vector6::zeros()).unwrap();
        assert_eq!(found, 2);
        // 80 ms that it must last, and the filter before.
        assert!((0.08..0.25).contains(&after), "{after}");
    }
}

/// The columns of an octocopter's rotors, 0.25 m from its centre, alternately turning.
fn octocopter() -> Trial {
    let mut trial = Trial::new(&[]);
    let columns: Vec<_> = (0..8_u32)
        .map(|i| {
            let angle = std::f64::consts::FRAC_PI_4 * (f64::from(i) + 0.5);
            let spin = if i % 2 == 0 { 0.016 } else { -0.016 };
            let (x, y) = (0.25 * angle.cos(), 0.25 * angle.sin());
            Vector6::new(0.0, 0.0, 1.0, y, -x, spin)
        })
        .collect();
    trial.B = Matrix6xX::from_columns(&columns);
    trial.detector = FailureDetector::new(Const, (0..8).map(|i| i..i + 1).collect());
    trial
}

#[test]
fn two_that_fail_at_once_are_named_together() {
    let none = Vector6::zeros();
    for (pair, apart) in [([0, 1], 0.0), ([0, 1], 0.05), ([2, 5], 0.0), ([3, 5], 0.04)] {
        let lost = [(pair[0], 1.0, 1.0), (pair[1], 1.0, 1.0 + apart)];
        let (found, after) = octocopter().fly_with(&lost, none, none).unwrap();
        assert_eq!(found, Failure::Two(pair[0], pair[1]), "{apart}");
        assert!((0.08..0.35).contains(&after), "{after}");
    }
}

/// Three adjacent failures are not a pair, which is detected. If half of their effect is within the usual level, the rest resembles a failure of the
/// middle one, which is not reported.
#[test]
fn what_no_failure_explains_is_noticed() {
    let none = Vector6::zeros();
    let mut trial = octocopter();
    let three = [(0, 1.0, 1.0), (1, 1.0, 1.0), (2, 1.0, 1.0)];
    assert_eq!(trial.fly_with(&three, none, none), None);
    assert!(trial.noticed);
    let mut trial = octocopter();
    assert_eq!(trial.fly_with(&[(1, 0.3, 1.0)], none, none), None);
    assert!(!trial.noticed);
}

#[test]
fn what_one_loss_does_not_explain_is_none() {
    let none = Vector6::zeros();
    // Half is left; a push on the whole vehicle; a blow on it; the loss beside a push that is as strong.
    for (lost, with) in [
        (0.5, none),
        (0.0, Vector6::new(0.0, 0.0, -3.0, 0.0, 0.0, 0.0)),
        (0.0, Vector6::new(2.0, 1.0, 0.0, 0.1, -0.2, 0.0)),
        (1.0, Vector6::new(2.0, -1.0, 0.0, 0.2, 0.3, 0.0)),
    ] {
        assert_eq!(Trial::new(&[]).fly(lost, none, with), None, "{lost} {with}");
    }
}

#[test]
fn of_two_that_are_alike_none_is_named() {
    let like = |factor: f64| {
        let mut column = vehicle(QUADCOPTER)
            .rotors
            .input_matrix()
            .column(2)
            .into_owned();
        column[5] *= factor;
        Vector6::from_column_slice(column.as_slice())
    };
    assert_eq!(
        Trial::new(&[like(1.0)]).fly(1.0, Vector6::zeros(), Vector6::zeros()),
        None
    );
    // A coaxial rotor that turns the other way is another.
    let found = Trial::new(&[like(-1.0)]).fly(1.0, Vector6::zeros(), Vector6::zeros());
    assert_eq!(found.unwrap().0, 2);
}

#[test]
fn what_is_usual_stays_so_after_a_restart() {
    let mut trial = Trial::new(&[]);
    let (wind, u) = (
        Vector6::new(0.5, -0.3, -1.0, 0.0, 0.02, 0.0),
        DVector::from_element(4, 2.0),
    );
    // 2 s are its time constant.
    for k in 0..25_000 {
        if k == 24_900 {
            trial.detector.restart();
        }
        assert_eq!(
            trial.detector.observe(STEP, &wind, &u, &trial.B, &trial.M),
            None
        );
    }
    let rest = trial.detector.nominal_residual() - wind;
    assert!(rest.norm() < 1e-9, "{rest}");
}
