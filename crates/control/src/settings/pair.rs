//! The desired energies between two bodies.

use std::fmt;

use fly_mechanics::SecondMoment;
use fly_mechanics::multibody::{BodyId, Joint, JointKind, Model};
use nalgebra::{Matrix4, Matrix6, Vector3};
use serde::Deserialize;
use serde::de::value::MapAccessDeserializer;
use serde::de::{Deserializer, Error, MapAccess, Visitor};

use super::moment::Definite;
use super::{Moment, SecondMomentSettings, SettingsError, finite};
use crate::system::{SystemPair, joint_axis};
use crate::template::general::{GeneralMoment, GeneralPair};
use crate::template::{MatrixPair, Pair};

/// The desired energies of one pair of bodies.
///
/// One number belongs to a revolute or a prismatic joint; a body in the plane has a weight, where that acts, and the moment about its joint's
/// axis.
///
/// ```
/// # use fly_control::settings::ControllerSettings;
/// let settings: ControllerSettings = toml::from_str(
///     r#"
///     [[pairs]]
///     from = "base"
///     to = "arm"
///     stiffness = 25
///     damping = 8
///     inertia = 1
///     [[pairs]]
///     to = "plate"
///     stiffness = { weight = 6, center = [-0.1, 0.15, 0], moment = 3 }
///     damping = { weight = 4, moment = 2 }
///     inertia = { weight = 1, moment = 0.3 }
///     "#,
/// )?;
/// settings.validate()?;
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct PairSettings {
    /// The body, or `world`, relative to which it moves. Default `world`.
    #[serde(default = "world")]
    pub from: String,
    /// The body that moves.
    pub to: String,
    /// K': N/m, N m/rad.
    pub stiffness: EnergySettings,
    /// D': N s/m, N m s/rad.
    pub damping: EnergySettings,
    /// M': kg, kg m^2.
    pub inertia: EnergySettings,
}

/// Entries below this fraction of the largest one count as rounding.
const ROUNDING: f64 = 1e-12;

/// The name of the inertial frame.
pub(super) fn world() -> String {
    "world".into()
}

/// A stiffness, damping or inertia.
#[derive(Clone, Debug, PartialEq)]
pub enum EnergySettings {
    /// One number, for a body on a revolute joint (a moment about its axis) or a prismatic one (a weight).
    Number(f64),
    /// `{ weight, center, moment }`.
    Moments(SecondMomentSettings),
    /// `{ matrix = [..] }`: all numbers of a symmetric, positive definite matrix, 6 x 6, in the order of a twist `[v; omega]`, Konz B.3. For the approaches
    /// `particle` and `body`; see [`GeneralMoment`].
    Matrix(Matrix6<f64>),
}

impl From<SecondMomentSettings> for EnergySettings {
    fn from(moments: SecondMomentSettings) -> Self {
        Self::Moments(moments)
    }
}

impl PairSettings {
    /// This pair in the user's notation: one number per energy of a revolute or prismatic joint.
    pub fn of_pair(model: &Model<f64>, pair: &SystemPair) -> Self {
        let energy = |matrix: &Matrix4<f64>| {
            EnergySettings::of_moment(SecondMoment::from_matrix4(*matrix), model.joint(pair.b))
        };
        Self {
            from: model.name(pair.a).to_owned(),
            to: model.name(pair.b).to_owned(),
            stiffness: energy(pair.energies.stiffness()),
            damping: energy(pair.energies.damping()),
            inertia: energy(pair.energies.inertia()),
        }
    }

    /// Applies a function to all numbers.
    pub(super) fn map(mut self, number: impl Fn(f64) -> f64) -> Self {
        for energy in [&mut self.stiffness, &mut self.damping, &mut self.inertia] {
            match energy {
                EnergySettings::Number(one) => *one = number(*one),
                EnergySettings::Moments(moments) => moments.map(&number),
                EnergySettings::Matrix(matrix) => *matrix = matrix.map(&number),
            }
        }
        self
    }

    /// Its energies with their names.
    fn energies(&self) -> [(&'static str, &EnergySettings); 3] {
        [
            ("stiffness", &self.stiffness),
            ("damping", &self.damping),
            ("inertia", &self.inertia),
        ]
    }

    pub(super) fn validate(&self) -> Result<(), SettingsError> {
        for (name, energy) in self.energies() {
            match energy {
                EnergySettings::Number(number) => finite(name, &[*number])?,
                EnergySettings::Moments(moments) => {
                    moments.validate().map_err(|error| error.inside(name))?;
                }
                EnergySettings::Matrix(matrix) => {
                    finite(&format!("{name}.matrix"), matrix.as_slice())?;
                }
            }
        }
        Ok(())
    }

    /// For the world and a free body with this name.
    pub(super) fn of_free_body(&self, name: &str) -> Result<Pair, SettingsError> {
        if self.from != world() {
            let message = format!("expected \"world\", found \"{}\"", self.from);
            return Err(SettingsError::new("from", message));
        }
        if self.to != name {
            let message = format!("expected \"{name}\", found \"{}\"", self.to);
            return Err(SettingsError::new("to", message));
        }
        let [k, d, m] = self.energies().map(|(name, energy)| {
            let definite = match name {
                "inertia" => Definite::Positive,
                _ => Definite::Semi,
            };
            match energy {
                EnergySettings::Number(_) => Err(needs_table(name, &self.to)),
                EnergySettings::Matrix(_) => Err(no_matrix(name)),
                EnergySettings::Moments(moments) => moments
                    .of_free_body(name, definite)
                    .map(|moment| *moment.matrix4())
                    .map_err(|error| error.inside(name)),
            }
        });
        Ok(Pair::new(k?, d?, m?))
    }

    /// Whether one of its energies is a full matrix.
    pub(super) fn has_matrix(&self) -> bool {
        let is_matrix =
            |(_, energy): (_, &EnergySettings)| matches!(energy, EnergySettings::Matrix(_));
        self.energies().into_iter().any(is_matrix)
    }

    /// For two bodies of a system, as matrices.
    pub(super) fn of_matrices(&self, model: &Model<f64>) -> Result<MatrixPair, SettingsError> {
        let (a, b) = self.bodies(model)?;
        let joint = model.joint(b);
        let [stiffness, damping, inertia] = self.energies().map(|(name, energy)| {
            let (key, matrix) = if let EnergySettings::Matrix(matrix) = energy {
                (format!("{name}.matrix"), *matrix)
            } else {
                let moment = energy.matrix(name, &self.to, joint)?;
                let matrix = SecondMoment::from_matrix4(moment).matrix6();
                (name.to_owned(), matrix)
            };
            GeneralMoment::new(&matrix).map_err(|error| {
                let all =
                    "if one energy of a pair is a `matrix`, all energies of the pair must be positive definite";
                let message = match energy {
                    EnergySettings::Matrix(_) => error.to_string(),
                    _ => format!("{error}; {all}"),
                };
                SettingsError::new(key, message)
            })
        });
        let energies = GeneralPair {
            stiffness: stiffness?,
            damping: damping?,
            inertia: inertia?,
        };
        Ok(MatrixPair { a, b, energies })
    }

    /// For two bodies of a system.
    pub(crate) fn of_system(&self, model: &Model<f64>) -> Result<SystemPair, SettingsError> {
        let (a, b) = self.bodies(model)?;
        let joint = model.joint(b);
        let [k, d, m] = self
            .energies()
            .map(|(name, energy)| energy.matrix(name, &self.to, joint));
        Ok(SystemPair {
            a,
            b,
            energies: Pair::new(k?, d?, m?),
        })
    }

    fn bodies(&self, model: &Model<f64>) -> Result<(BodyId, BodyId), SettingsError> {
        let a = body(model, "from", &self.from)?;
        let b = body(model, "to", &self.to)?;
        if b == BodyId::WORLD {
            return Err(SettingsError::new(
                "to",
                "expected a body that moves, found the world",
            ));
        }
        if a == b {
            let message = format!("expected another body than `to`, found \"{}\"", self.from);
            return Err(SettingsError::new("from", message));
        }
        Ok((a, b))
    }
}

impl EnergySettings {
    /// The setting that [`matrix`](Self::matrix) reads as this moment.
    fn of_moment(moment: SecondMoment<f64>, joint: Option<&Joint<f64>>) -> Self {
        let (weight, about) = (moment.weight(), moment.moment_about_center());
        // Remainders of differences of large numbers count as zero.
        let nothing = |x: f64| x.abs() <= ROUNDING * about.amax();
        match (joint.map(Joint::kind), joint.and_then(joint_axis)) {
            (Some(JointKind::Revolute(_)), Some(axis)) => {
                let number = about.trace();
                let rest = about - axis * axis.transpose() * number;
                if weight == 0.0 && rest.iter().all(|x| nothing(*x)) {
                    return Self::Number(number);
                }
            }
            (Some(JointKind::Prismatic), _)
                if about.amax() == 0.0 && moment.center().amax() == 0.0 =>
            {
                return Self::Number(weight);
            }
            _ => {}
        }
        let about = about.map(|x| if nothing(x) { 0.0 } else { x });
        SecondMomentSettings::new(weight, moment.center().into(), Moment::Matrix(about)).into()
    }

    /// The 4x4 matrix, for a body carried by this joint.
    fn matrix(
        &self,
        name: &str,
        body: &str,
        joint: Option<&Joint<f64>>,
    ) -> Result<Matrix4<f64>, SettingsError> {
        let moments = match (self, joint.map(Joint::kind)) {
            (Self::Moments(moments), _) => moments.clone(),
            (Self::Number(moment), Some(JointKind::Revolute(_))) => {
                let moment = Moment::AboutAxis(*moment);
                SecondMomentSettings::new(0.0, [0.0; 3], moment)
            }
            (Self::Number(weight), Some(JointKind::Prismatic)) => {
                let weight = SecondMoment::from_points([(*weight, Vector3::zeros())]);
                return Ok(*weight.matrix4());
            }
            (Self::Number(_), _) => return Err(needs_table(name, body)),
            (Self::Matrix(_), _) => return Err(no_matrix(name)),
        };
        let moment = moments
            .second_moment(joint.and_then(joint_axis).as_ref())
            .map_err(|error| error.inside(name))?;
        Ok(*moment.matrix4())
    }
}

/// The body of this name.
pub(crate) fn body(model: &Model<f64>, key: &str, name: &str) -> Result<BodyId, SettingsError> {
    if name == world() {
        return Ok(BodyId::WORLD);
    }
    model
        .body_id(name)
        .map_err(|error| SettingsError::new(key, error.to_string()))
}

fn no_matrix(name: &str) -> SettingsError {
    SettingsError::new(
        format!("{name}.matrix"),
        "expected `weight` and `moment`: a matrix is for the approaches particle and body of whole systems",
    )
}

fn needs_table(key: &str, body: &str) -> SettingsError {
    SettingsError::new(
        key,
        format!(
            "expected a table with `weight` and `moment`, found one number, which is for revolute and prismatic joints: the joint of `{body}` is neither"
        ),
    )
}

/// A stiffness, damping or inertia as a table.
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[cfg_attr(feature = "schema", schemars(rename = "Energy"))]
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Table {
    /// k in N/m, d in N s/m, m in kg. A vehicle of one body must have it, >= 0; elsewhere the default is 0.
    weight: Option<f64>,
    /// Its centre in the moving frame, m. Default: the origin.
    center: Option<[f64; 3]>,
    /// N m/rad, N m s/rad, kg m^2, about the centre: `[x, y, z]`, 3 rows, or one number about the axis of the joint that carries the body.
    moment: Option<Moment>,
    /// Instead of `moment`: about the frame's origin.
    moment_about_origin: Option<Moment>,
    /// Instead of all these: a symmetric matrix in the order of a twist, for the approaches `particle` and `body`.
    matrix: Option<[[f64; 6]; 6]>,
}

written_as!(EnergySettings: f64, Table);

impl<'de> Deserialize<'de> for EnergySettings {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        const KEYS: &[&str] = &[
            "weight",
            "center",
            "moment",
            "moment_about_origin",
            "matrix",
        ];
        deserializer.deserialize_struct("energy", KEYS, EnergyVisitor)
    }
}

struct EnergyVisitor;

impl<'de> Visitor<'de> for EnergyVisitor {
    type Value = EnergySettings;

    fn expecting(&self, f: &mut fmt::Formatter) -> fmt::Result {
        f.write_str(
            "a table with `weight`, `center` and `moment`, or one number for a revolute or prismatic joint",
        )
    }

    fn visit_f64<E: Error>(self, value: f64) -> Result<EnergySettings, E> {
        Ok(EnergySettings::Number(value))
    }

    integers_are_numbers!();

    fn visit_map<A: MapAccess<'de>>(self, map: A) -> Result<EnergySettings, A::Error> {
        let table = Table::deserialize(MapAccessDeserializer::new(map))?;
        let moments = SecondMomentSettings {
            weight: table.weight,
            center: table.center.unwrap_or_default(),
            moment: table.moment,
            moment_about_origin: table.moment_about_origin,
        };
        let is_empty = table.center.is_none() && moments == SecondMomentSettings::default();
        match table.matrix {
            None => Ok(EnergySettings::Moments(moments)),
            Some(rows) if is_empty => {
                Ok(EnergySettings::Matrix(Matrix6::from_fn(|i, j| rows[i][j])))
            }
            Some(_) => Err(Error::custom(
                "expected `matrix` alone, or `weight`, `center` and `moment`, found both",
            )),
        }
    }
}
