//! From what an engineer asks of a closed loop to the parameters of the template.
//!
//! Of a fully actuated vehicle position and attitude are two loops of second order, `m s^2 + d s + k` in every direction, with the
//! desired mass and inertia those of the model, about its centre of mass: energies with one common centre, which move errors
//! straight. A vehicle that must tilt to move sideways has four poles for that motion, from which [`poles`] finds
//! the energies that it can follow; its turn about the vertical is free.
//!
//! ```
//! use fly_control::tuning::{PoleSpec, tune};
//! # use fly_control::analysis::{ClosedLoop, modes};
//! # let rotor = |x, y, drag| {
//! #     format!("[[rotors]]\nbody = 'frame'\nposition = [{x}, {y}, 0]\naxis = [0, 0, 1]\ndrag_ratio = {drag}\nthrust = [0.2, 7]\n")
//! # };
//! # let rotors = [rotor(0.18, 0.0, -0.016), rotor(0.0, 0.18, 0.016), rotor(-0.18, 0.0, -0.016), rotor(0.0, -0.18, 0.016)];
//! # let body = "name = 'quadcopter'\n[bodies.frame]\nmass = 0.9\ninertia = [0.006, 0.006, 0.011]\n";
//! # let system = fly_mechanics::System::from_toml(&(body.to_owned() + &rotors.concat()))?;
//! let vehicle = fly_mechanics::Vehicle::try_from(system.clone())?;
//! let settings = tune(&vehicle, &PoleSpec::Bandwidth(2.0), None)?;
//! let controller = settings.build(&vehicle)?;
//! let closed = ClosedLoop::new(&system, &controller, &system.model.neutral_configuration())?;
//! // Four poles at -a have fallen to half the power at 2 rad/s.
//! let a = 2.0 / (2.0_f64.powf(0.25) - 1.0).sqrt();
//! assert!(modes(&closed.poles()?).iter().any(|mode| (mode.pole.re + a).abs() < 0.01 * a && mode.count >= 4));
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

use fly_mechanics::Vehicle;
use nalgebra::Complex;

use crate::matching::fully_actuated;
use crate::poles;
use crate::settings::{
    ControllerSettings, EnergySettings, Moment, PairSettings, PoleSettings, SecondMomentSettings,
    VehiclePoleSettings, YawSettings,
};

/// What the poles of a motion should be.
#[derive(Clone, Debug, PartialEq)]
pub enum PoleSpec {
    /// These poles, 1/s: four horizontal poles of a vehicle that tilts to move sideways, else two; complex ones with conjugates.
    Poles(Vec<Complex<f64>>),
    /// All poles at `-a` with `a^n/(s + a)^n` of half the power at this frequency, rad/s.
    Bandwidth(f64),
}

/// Why there are no such parameters.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
pub enum TuningError {
    /// Too many or too few poles.
    #[error("expected {expected} poles of the {motion}, found {found}")]
    Count {
        /// Whose poles.
        motion: &'static str,
        /// How many it has.
        expected: usize,
        /// How many were given.
        found: usize,
    },
    /// A pole without its conjugate.
    #[error(
        "expected real poles and conjugate pairs of the {0}, such as -2+1i,-2-1i; found a complex pole without its conjugate"
    )]
    Conjugate(&'static str),
    /// A pole that is not stable.
    #[error("expected poles of the {motion} with negative real parts, found {found}")]
    Unstable {
        /// Whose poles.
        motion: &'static str,
        /// The first that is not.
        found: Complex<f64>,
    },
    /// A bandwidth that is none.
    #[error("expected a positive bandwidth of the {motion}, found {found} rad/s")]
    Bandwidth {
        /// Whose bandwidth.
        motion: &'static str,
        /// What was given.
        found: f64,
    },
}

/// Attitude loops are this much faster than that of the position unless asked for otherwise.
const ATTITUDE: f64 = 2.0;

impl PoleSpec {
    /// `[p0, p1, ...]` of the monic polynomial of degree N with these poles.
    ///
    /// # Errors
    /// [`TuningError`].
    pub fn polynomial<const N: usize>(
        &self,
        motion: &'static str,
    ) -> Result<[f64; N], TuningError> {
        let poles = match self {
            Self::Poles(poles) => poles.clone(),
            Self::Bandwidth(found) if !(found.is_finite() && *found > 0.0) => {
                let found = *found;
                return Err(TuningError::Bandwidth { motion, found });
            }
            Self::Bandwidth(bandwidth) => {
                let a = bandwidth / (2.0_f64.powf(1.0 / N as f64) - 1.0).sqrt();
                vec![Complex::new(-a, 0.0); N]
            }
        };
        if poles.len() != N {
            let found = poles.len();
            return Err(TuningError::Count {
                motion,
                expected: N,
                found,
            });
        }
        let stable = |pole: &Complex<f64>| pole.is_finite() && pole.re < 0.0;
        if let Some(found) = poles.iter().copied().find(|pole| !stable(pole)) {
            return Err(TuningError::Unstable { motion, found });
        }
        let p = poles::polynomial(&poles).ok_or(TuningError::Conjugate(motion))?;
        Ok(std::array::from_fn(|i| rounded(p[i])))
    }
}

/// Settings with parameters for which the vehicle has these poles; everything else is default.
///
/// `position`: four horizontal poles of a vehicle with four independent inputs, two of a fully actuated one.
/// `attitude`: two poles, of all of it where it is free (default: twice as fast as the position), else of the turn about the
/// vertical (default: as fast as the horizontal motion).
///
/// # Errors
/// [`TuningError`]. Whether the vehicle can be matched turns out when the controller is built.
pub fn tune(
    vehicle: &Vehicle,
    position: &PoleSpec,
    attitude: Option<&PoleSpec>,
) -> Result<ControllerSettings, TuningError> {
    let inertia = vehicle.body.inertia();
    let mut settings = ControllerSettings::default();
    if !fully_actuated(vehicle.rotors.input_matrix()) {
        let polynomial = position.polynomial::<4>("horizontal motion")?;
        let usual = PoleSpec::Poles(vec![Complex::new(-polynomial[0].powf(0.25), 0.0); 2]);
        let [p0, p1] = attitude.unwrap_or(&usual).polynomial("turn")?;
        let about_vertical = inertia.inertia_about_center()[(2, 2)];
        let horizontal = match position {
            PoleSpec::Poles(poles) => poles.iter().all(|pole| pole.im == 0.0).then(|| {
                let mut real = [0.0; 4];
                real.iter_mut()
                    .zip(poles)
                    .for_each(|(to, pole)| *to = pole.re);
                real
            }),
            PoleSpec::Bandwidth(_) => Some([rounded(-polynomial[3] / 4.0); 4]),
        };
        settings.poles = Some(PoleSettings::Vehicle(VehiclePoleSettings {
            polynomial: horizontal.is_none().then_some(polynomial),
            horizontal,
            mass: None,
            yaw: YawSettings {
                inertia: rounded(about_vertical),
                damping: rounded(about_vertical * p1),
                stiffness: rounded(about_vertical * p0),
            },
        }));
        return Ok(settings);
    }
    let [k, d] = position.polynomial("position")?;
    let usual = match position {
        PoleSpec::Poles(poles) => {
            PoleSpec::Poles(poles.iter().map(|pole| pole * ATTITUDE).collect())
        }
        PoleSpec::Bandwidth(bandwidth) => PoleSpec::Bandwidth(ATTITUDE * bandwidth),
    };
    let [p0, p1] = attitude.unwrap_or(&usual).polynomial("attitude")?;
    let (mass, center) = (inertia.mass(), inertia.center_of_mass());
    let moment = |weight: f64, factor: f64| {
        EnergySettings::from(SecondMomentSettings::new(
            rounded(mass * weight),
            center.into(),
            Moment::Matrix((inertia.inertia_about_center() * factor).map(rounded)),
        ))
    };
    settings.pairs.push(PairSettings {
        from: "world".into(),
        to: vehicle.body_name.clone(),
        stiffness: moment(k, p0),
        damping: moment(d, p1),
        inertia: moment(1.0, 1.0),
    });
    Ok(settings)
}

/// To nine digits: what is written to a file is what was analysed, and reads well.
fn rounded(number: f64) -> f64 {
    format!("{number:.8e}").parse().unwrap_or(number)
}
