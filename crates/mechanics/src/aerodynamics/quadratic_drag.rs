//! Drag proportional to the squared airspeed.

use nalgebra::Vector3;

use crate::DragError;

/// Parasitic drag of a body: `f = -|v| diag(c) v` at its centre of mass, with the airspeed `v` of that point in the axes of the body.
///
/// As in RotorPy (S. Folk, J. Paulos, V. Kumar, *RotorPy: A Python-based Multirotor Simulator with Aerodynamics for Education and
/// Research*, 2023, `c_Dx`, `c_Dy`, `c_Dz`). For an area A with the drag coefficient C in air of density rho, `c = 1/2 rho C A`.
///
/// ```
/// use fly_mechanics::QuadraticDrag;
/// use nalgebra::Vector3;
///
/// let drag = QuadraticDrag::new(Vector3::new(0.005, 0.005, 0.01))?;
/// assert_eq!(drag.force(&Vector3::new(3.0, 0.0, 4.0)), Vector3::new(-0.075, 0.0, -0.2));
/// # Ok::<(), fly_mechanics::DragError<f64>>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct QuadraticDrag {
    coefficients: Vector3<f64>,
}

impl QuadraticDrag {
    /// From the coefficients along the axes of the body, N/(m/s)^2.
    ///
    /// # Errors
    /// [`DragError`] for a number that is negative or not finite.
    pub fn new(coefficients: Vector3<f64>) -> Result<Self, DragError<f64>> {
        DragError::check("quadratic", &coefficients)?;
        Ok(Self { coefficients })
    }

    /// Along the axes of the body, N/(m/s)^2.
    pub fn coefficients(&self) -> &Vector3<f64> {
        &self.coefficients
    }

    /// The force on the body, N, in its axes. `airspeed`: m/s, in its axes.
    #[inline]
    pub fn force(&self, airspeed: &Vector3<f64>) -> Vector3<f64> {
        self.coefficients.component_mul(airspeed) * -airspeed.norm()
    }
}
