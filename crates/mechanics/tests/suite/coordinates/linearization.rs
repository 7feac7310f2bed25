//! Small deviations from a motion, against the motion itself.

use fly_mechanics::geometry::{
    self, Coordinates, Linearization, Minimal, Pose, Quaternion, RotationMatrix, WithVelocities,
    commutation_coefficients, connection_coefficients, derivative_along, deviation, deviation_rate,
    directional_derivatives, project,
};
use nalgebra::{DMatrix, DVector, RealField, convert, dvector};
use num_dual::{Dual64, HyperDual64};

use super::examples::*;

/// Equations of motion with a mass matrix that changes, drag and a potential: `M ξ_dot + c + |ξ|² ξ / 5 + ∇V`.
fn forces(
    coordinates: &impl Coordinates,
    x: &DVector<Dual64>,
    xi: &DVector<Dual64>,
    xi_dot: &DVector<Dual64>,
) -> DVector<Dual64> {
    let n = coordinates.dof();
    let Gamma = connection_coefficients(coordinates, metric::<HyperDual64>(n), x).expect("regular");
    let slope = directional_derivatives(coordinates, function::<HyperDual64>, x).expect("sizes");
    metric(n)(x) * xi_dot + Gamma.contract(xi, xi) + xi * (xi.norm_squared() * 0.2) + slope
}

/// Position, velocity, deviation and its rate.
#[derive(Clone)]
struct Motion {
    x: DVector<f64>,
    xi: DVector<f64>,
    e: DVector<f64>,
    e_dot: DVector<f64>,
}

impl Motion {
    fn plus(&self, rate: &Self, h: f64) -> Self {
        Self {
            x: &self.x + &rate.x * h,
            xi: &self.xi + &rate.xi * h,
            e: &self.e + &rate.e * h,
            e_dot: &self.e_dot + &rate.e_dot * h,
        }
    }

    /// The motion, and the deviation that is linear along it.
    fn rate(&self, coordinates: &impl Coordinates) -> Self {
        let f = |x: &DVector<_>, xi: &DVector<_>, xi_dot: &DVector<_>| {
            forces(coordinates, x, xi, xi_dot)
        };
        let divide = |M: &DMatrix<f64>, b: DVector<f64>| M.clone().lu().solve(&b).expect("regular");
        let still = DVector::<f64>::zeros(self.xi.len());
        let free = f(
            &self.x.map(Dual64::from),
            &self.xi.map(Dual64::from),
            &still.map(Dual64::from),
        );
        let M = metric::<f64>(self.xi.len())(&self.x);
        let xi_dot = divide(&M, -free.map(|f| f.re));
        let linear =
            Linearization::new(coordinates, f, &self.x, &self.xi, &xi_dot).expect("regular");
        assert!(
            linear.value.norm() < 1e-12,
            "the motion fulfils its equations"
        );
        let forces = &linear.stiffness * &self.e + &linear.damping * &self.e_dot;
        Self {
            x: coordinates.kinematic_matrix(&self.x) * &self.xi,
            xi: xi_dot,
            e: self.e_dot.clone(),
            e_dot: divide(&linear.inertia, -forces),
        }
    }

    fn run(mut self, coordinates: &impl Coordinates, steps: usize) -> Self {
        let h = 0.5 / steps as f64;
        for _ in 0..steps {
            let a = self.rate(coordinates);
            let b = self.plus(&a, 0.5 * h).rate(coordinates);
            let c = self.plus(&b, 0.5 * h).rate(coordinates);
            let d = self.plus(&c, h).rate(coordinates);
            for (rate, weight) in [(a, 1.0), (b, 2.0), (c, 2.0), (d, 1.0)] {
                self = self.plus(&rate, h * weight / 6.0);
            }
        }
        self
    }
}

/// Half a second of the nonlinear motion from a start a little to either side, and of the linear one.
fn flow(coordinates: &impl Coordinates, x: &DVector<f64>) {
    let n = coordinates.dof();
    let xi = DVector::from_fn(n, |i, _| 0.9 * (1.0 + 2.0 * i as f64).sin());
    let e = DVector::from_fn(n, |i, _| (0.4 + i as f64).cos());
    let e_dot = DVector::from_fn(n, |i, _| (0.4 - 3.0 * i as f64).sin());
    let start = Motion {
        x: x.clone(),
        xi: xi.clone(),
        e: e.clone(),
        e_dot: e_dot.clone(),
    };
    let reference = start.clone().run(coordinates, 60);

    // ξ = ξ̄ + ε_dot + γ ξ̄ ε at the start, Konz (3.39).
    let gamma = commutation_coefficients(coordinates, x).expect("regular");
    let apart = |h: f64| {
        let away = x + coordinates.kinematic_matrix(x) * &e * h;
        let there = Motion {
            x: project(coordinates, &away).expect("close"),
            xi: &xi + (&e_dot + gamma.contract(&xi, &e)) * h,
            ..start.clone()
        };
        let end = there.run(coordinates, 60);
        let e = deviation(coordinates, &end.x, &reference.x).expect("regular");
        let own = (&end.x, &end.xi);
        let e_dot =
            deviation_rate(coordinates, own, (&reference.x, &reference.xi)).expect("regular");
        (e, e_dot)
    };
    let h = 1e-4;
    let ((a, a_dot), (b, b_dot)) = (apart(h), apart(-h));
    let (e, e_dot) = ((a - b) / (2.0 * h), (a_dot - b_dot) / (2.0 * h));
    assert!((&e - &reference.e).norm() < 1e-6, "{e}{}", reference.e);
    assert!(
        (&e_dot - &reference.e_dot).norm() < 1e-6,
        "{e_dot}{}",
        reference.e_dot
    );
    assert!(
        (reference.e - start.e).norm() > 0.1,
        "this is no test if nothing moves"
    );
}

#[test]
fn linear_motion_is_the_limit_of_the_motion() {
    flow(&Minimal(2), &dvector![0.3, -0.8]);
    flow(&RotationMatrix, &matrix_entries());
    flow(&Quaternion, &quaternion_entries());
    // γ changes with the configuration here: all terms of (3.40) matter.
    flow(&Sphere(1.1), &on_sphere(1.1));
    let turned = WithVelocities {
        coordinates: RotationMatrix,
        basis: Skewed(3),
    };
    flow(&turned, &matrix_entries());
}

#[test]
fn deviations() {
    let (x, reference) = (quaternion_entries(), dvector![0.8, 0.0, 0.6, 0.0]);
    let (xi, reference_velocity) = (dvector![0.3, 1.2, -0.4], dvector![-1.0, 0.2, 0.8]);
    let rate =
        deviation_rate(&Quaternion, (&x, &xi), (&reference, &reference_velocity)).expect("regular");
    let at = |t: f64| {
        let x = &x + Quaternion.kinematic_matrix(&x) * &xi * t;
        let reference =
            &reference + Quaternion.kinematic_matrix(&reference) * &reference_velocity * t;
        deviation(&Quaternion, &x, &reference).expect("regular")
    };
    let difference = (at(1e-5) - at(-1e-5)) / 2e-5;
    assert!((rate - difference).norm() < 1e-9);

    // (3.39) to first order: 1e-4 away it is off by no more than the square.
    let e = dvector![0.6, -0.3, 0.7] * 1e-4;
    let x = &reference + Quaternion.kinematic_matrix(&reference) * &e;
    let x = project(&Quaternion, &x).expect("close");
    let xi = &reference_velocity + dvector![0.2, 0.5, -0.1] * 1e-4;
    let rate =
        deviation_rate(&Quaternion, (&x, &xi), (&reference, &reference_velocity)).expect("regular");
    let gamma = commutation_coefficients(&Quaternion, &reference).expect("regular");
    let linear = &xi - &reference_velocity - gamma.contract(&reference_velocity, &e);
    assert!((rate - linear).norm() < 1e-7);
}

/// About a critical point at rest, F⁰ is the Hessian.
#[test]
fn stiffness_at_rest() {
    fn height<T: RealField + Copy>(x: &DVector<T>) -> T {
        x[0] * convert(-2.0) - x[4] * convert(3.0) - x[8]
    }
    let identity = dvector![1.0, 0.0, 0.0, 0.0, 1.0, 0.0, 0.0, 0.0, 1.0];
    let still = DVector::zeros(3);
    let force = |x: &DVector<Dual64>, _: &DVector<Dual64>, _: &DVector<Dual64>| {
        directional_derivatives(&RotationMatrix, height::<HyperDual64>, x).expect("sizes")
    };
    let linear =
        Linearization::new(&RotationMatrix, force, &identity, &still, &still).expect("regular");
    let hessian = geometry::second_directional_derivatives(&RotationMatrix, height, &identity);
    near("F0", &linear.stiffness, &hessian.expect("sizes"), 1e-15);
    assert!(linear.state_matrix().is_none(), "there is no mass");
}

#[test]
fn deviations_are_tangent() {
    let x = pose_entries();
    let e = DVector::from_fn(6, |i, _| 1e-6 * (1.0 + i as f64));
    let there = &x + Pose.kinematic_matrix(&x) * &e;
    assert!((deviation(&Pose, &there, &x).expect("regular") - &e).norm() < 1e-15);
    let constant = |x: &DVector<Dual64>| Pose.constraint(x);
    let slope = derivative_along(constant, &x, &(Pose.kinematic_matrix(&x) * &e)).1;
    assert!(slope.norm() < 1e-20, "deviations lie in the tangent space");
}
