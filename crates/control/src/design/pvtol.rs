//! The planar vertical take-off and landing aircraft (PVTOL), Konz 5.8.2.

use fly_mechanics::SecondMoment;
use nalgebra::{Matrix3, Matrix4, Vector3};

use crate::pair::Pair;
use crate::poles::{PoleError, plane};

/// Desired energies of the pair (world, body) of a planar body whose thrust points along its y axis. Centres lie on that axis through the centre
/// of mass, moments are about these centres.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct PvtolEnergies {
    /// k, N/m.
    pub stiffness: f64,
    /// d, N s/m.
    pub damping: f64,
    /// m, kg.
    pub mass: f64,
    /// h = l, height of the centres of stiffness and damping, m.
    pub stiffness_height: f64,
    /// s, height of the centre of the desired mass, m.
    pub mass_height: f64,
    /// Theta about z, kg m^2.
    pub inertia_moment: f64,
    /// Pi about z, N m.
    pub stiffness_moment: f64,
}

impl PvtolEnergies {
    /// The matched parameters (5.157) for the polynomial `s^4 + p3 s^3 + p2 s^2 + p1 s + p0` of `[p0, p1, p2, p3]` of sideways motion, (5.162),
    /// (5.163). The height then obeys `s^2 + d/m s + k/m`.
    ///
    /// `offset` is eps, the height of the flat output above the centre of mass, m: for rotors at +-l whose thrusts are inclined outwards by b,
    /// `Theta tan b / (m l)`. `mass` is the desired mass, kg; only ratios affect the motion. `gravity` is g, m/s^2.
    ///
    /// # Errors
    /// [`PoleError::Unstable`] if a root has a real part that is not negative.
    pub fn place(
        offset: f64,
        gravity: f64,
        mass: f64,
        polynomial: [f64; 4],
    ) -> Result<Self, PoleError> {
        let plane = plane(polynomial, mass, offset, gravity, 0.0)?;
        let lever = plane.stiffness_height - plane.mass_height;
        Ok(Self {
            stiffness: plane.stiffness,
            damping: plane.damping,
            mass,
            stiffness_height: plane.stiffness_height,
            mass_height: plane.mass_height,
            inertia_moment: mass * lever * (plane.mass_height - offset),
            stiffness_moment: plane.stiffness_moment,
        })
    }

    /// The desired energies of the pair (world, body), for a body with its centre of mass at its origin.
    pub fn pair(&self) -> Pair {
        let moment = |weight: f64, height: f64, about_z: f64| -> Matrix4<f64> {
            // A planar mass distribution has no other moments: Wed of diag(P/2, P/2, P) has no extent along z.
            let moments = Vector3::new(about_z / 2.0, about_z / 2.0, about_z);
            let center = Vector3::new(0.0, height, 0.0);
            *SecondMoment::from_center(weight, center, Matrix3::from_diagonal(&moments)).matrix4()
        };
        Pair::new(
            moment(self.stiffness, self.stiffness_height, self.stiffness_moment),
            moment(self.damping, self.stiffness_height, 0.0),
            moment(self.mass, self.mass_height, self.inertia_moment),
        )
    }
}
