//! The motion of the air, and the height of the ground.

use nalgebra::Vector3;

/// The air around a system: a mean wind that depends on the height, and fluctuations that are uniform in space.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Air {
    /// The mean wind, m/s in the world; with a profile, the wind at its reference height.
    pub wind: Vector3<f64>,
    /// The profile of the mean wind over the height above the ground, or above the world's z = 0 without a ground.
    pub profile: WindProfile,
    /// Gusts and turbulence, m/s in the world: the same at every point of the system.
    pub fluctuation: Vector3<f64>,
    /// The height of the ground, the world's z, m; `None` for no ground effect.
    pub ground: Option<f64>,
}

/// The mean wind by the height above the ground, relative to that at a reference height.
///
/// ```
/// use fly_mechanics::aerodynamics::WindProfile;
///
/// // Over short grass the wind in 10 m is 1.4 times that in 2 m.
/// let profile = WindProfile::logarithmic(0.03, 2.0)?;
/// assert!((profile.factor(10.0) - 1.383).abs() < 1e-3);
/// # Ok::<(), fly_mechanics::aerodynamics::WindProfileError>(())
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub enum WindProfile {
    /// Constant over height.
    #[default]
    Uniform,
    /// `ln(z / z_0) / ln(z_ref / z_0)`, zero below z_0: the surface layer of neutral stability, the shear of MIL-F-8785C 3.7.3.2 with
    /// the reference of 20 ft and the roughness lengths of 0.15 ft (landing, take-off) and 2 ft.
    Logarithmic {
        /// z_0, m.
        roughness: f64,
        /// z_ref, m.
        reference: f64,
    },
    /// `(z / z_ref)^alpha`, zero below the ground; over open land alpha is about 1/7.
    Power {
        /// alpha.
        exponent: f64,
        /// z_ref, m.
        reference: f64,
    },
}

/// Why parameters do not define a profile.
#[derive(Clone, Copy, Debug, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum WindProfileError {
    /// The roughness is not between zero and the reference height.
    #[error(
        "expected a roughness length above 0 and below the reference height of {reference} m, found {found}"
    )]
    Roughness {
        /// m.
        reference: f64,
        /// m.
        found: f64,
    },
    /// The exponent is negative or not finite.
    #[error("expected an exponent of at least 0, found {found}")]
    Exponent {
        /// Its value.
        found: f64,
    },
    /// The reference height is not positive.
    #[error("expected a reference height above 0 m, found {found}")]
    Reference {
        /// m.
        found: f64,
    },
}

impl Air {
    /// A uniform mean wind (m/s, world).
    pub fn with_wind(wind: Vector3<f64>) -> Self {
        Self {
            wind,
            ..Self::default()
        }
    }

    /// The mean wind at a height, the world's z in m: m/s in the world.
    #[inline]
    pub fn mean_at(&self, height: f64) -> Vector3<f64> {
        match self.profile {
            WindProfile::Uniform => self.wind,
            profile => self.wind * profile.factor(height - self.ground.unwrap_or(0.0)),
        }
    }

    /// The velocity of the air at a height, the world's z in m: m/s in the world.
    #[inline]
    pub fn velocity_at(&self, height: f64) -> Vector3<f64> {
        self.mean_at(height) + self.fluctuation
    }

    /// Returns whether the air is at rest everywhere.
    pub fn is_still(&self) -> bool {
        self.wind == Vector3::zeros() && self.fluctuation == Vector3::zeros()
    }
}

impl WindProfile {
    /// From the roughness length and the reference height, m.
    ///
    /// # Errors
    /// [`WindProfileError`].
    pub fn logarithmic(roughness: f64, reference: f64) -> Result<Self, WindProfileError> {
        check_reference(reference)?;
        if !(roughness > 0.0 && roughness < reference) {
            return Err(WindProfileError::Roughness {
                reference,
                found: roughness,
            });
        }
        Ok(Self::Logarithmic {
            roughness,
            reference,
        })
    }

    /// From the exponent and the reference height, m.
    ///
    /// # Errors
    /// [`WindProfileError`].
    pub fn power(exponent: f64, reference: f64) -> Result<Self, WindProfileError> {
        check_reference(reference)?;
        if !(exponent.is_finite() && exponent >= 0.0) {
            return Err(WindProfileError::Exponent { found: exponent });
        }
        Ok(Self::Power {
            exponent,
            reference,
        })
    }

    /// The wind at this height above the ground (m), relative to that at the reference height.
    pub fn factor(&self, height: f64) -> f64 {
        match *self {
            Self::Uniform => 1.0,
            Self::Logarithmic {
                roughness,
                reference,
            } => (height / roughness).max(1.0).ln() / (reference / roughness).ln(),
            Self::Power {
                exponent,
                reference,
            } => (height / reference).max(0.0).powf(exponent),
        }
    }
}

fn check_reference(found: f64) -> Result<(), WindProfileError> {
    if found.is_finite() && found > 0.0 {
        Ok(())
    } else {
        Err(WindProfileError::Reference { found })
    }
}
