//! From the section `[controller]` to a system's control strategy.

use fly_mechanics::multibody::{BodyId, Model};
use fly_mechanics::{System, Vehicle};
use nalgebra::{DMatrix, DVector};

use super::moving::{is_free_body, moving};
use super::pair::body;
use super::{
    ApproachSettings, ControllerSettings, GainSettings, Numbers, PoleSettings, SettingsError,
    TransportSettings,
};
use crate::baselines::{DesiredInertia, EuclideanTemplate, RestFeedback};
use crate::design::FeedbackDesign;
use crate::strategy::Strategy;
use crate::system::SystemPair;
use crate::template::{Approach, MatrixTemplate, Template, Transport};
use crate::transport::{JointMap, PairMap, PointMap, TransportMap};

impl ControllerSettings {
    /// The control strategy for this system.
    pub(super) fn strategy(&self, system: &System) -> Result<Strategy, SettingsError> {
        self.validate()?;
        if let Some(template) = self.matrices(system)? {
            return Ok(template.into());
        }
        Ok(match self.approach {
            ApproachSettings::Particle => self.template(system, Approach::Particle)?.into(),
            ApproachSettings::Body => self.template(system, Approach::Body)?.into(),
            ApproachSettings::Energy => self.template(system, Approach::Energy)?.into(),
            ApproachSettings::JointPd
            | ApproachSettings::ComputedTorque
            | ApproachSettings::Linear => self.euclidean(system)?.into(),
            ApproachSettings::StateFeedback => self.feedback(system)?.into(),
            ApproachSettings::Lee
            | ApproachSettings::RotorpySe3
            | ApproachSettings::Cascade
            | ApproachSettings::Indi => self.multirotor(system)?.into(),
        })
    }

    fn template(
        &self,
        system: &System,
        approach: Approach,
    ) -> Result<Template<Model<f64>>, SettingsError> {
        let model = &system.model;
        let pairs = self.system_pairs(system)?;
        let map = self.map(system, &pairs)?;
        Ok(Template::of_system(model, approach, pairs, map))
    }

    /// The template of full-matrix energies; `None` if there are none.
    fn matrices(&self, system: &System) -> Result<Option<MatrixTemplate>, SettingsError> {
        let Some(approach) = self.approach.template().filter(|_| self.has_matrices()) else {
            return Ok(None);
        };
        let pairs = self.pairs.iter().enumerate().map(|(i, pair)| {
            pair.of_matrices(&system.model)
                .map_err(|error| error.inside(&format!("pairs.{i}")))
        });
        // `validate` rejects the approach `energy`.
        Ok(MatrixTemplate::new(
            &system.model,
            approach,
            pairs.collect::<Result<_, _>>()?,
        ))
    }

    fn system_pairs(&self, system: &System) -> Result<Vec<SystemPair>, SettingsError> {
        let Some(PoleSettings::Vehicle(_)) = self.poles else {
            let pairs = self.pairs.iter().enumerate();
            return pairs
                .map(|(i, pair)| {
                    pair.of_system(&system.model)
                        .map_err(|error| error.inside(&format!("pairs.{i}")))
                })
                .collect();
        };
        let vehicle = Vehicle::try_from(system.clone()).map_err(|error| {
            SettingsError::new(
                "poles",
                format!("expected pairs, found poles, from which they follow for a vehicle of one body only: {error}"),
            )
        })?;
        let inputs = vehicle.rotors.input_matrix();
        let energies = self.pair(&vehicle.body_name, &vehicle.body, inputs)?;
        Ok(vec![SystemPair {
            a: BodyId::WORLD,
            b: body(&system.model, "poles", &vehicle.body_name)?,
            energies,
        }])
    }

    fn map(
        &self,
        system: &System,
        pairs: &[SystemPair],
    ) -> Result<Box<dyn TransportMap>, SettingsError> {
        let model = &system.model;
        let of_pair = |transport: Transport, pair: usize| -> Box<dyn TransportMap> {
            Box::new(PairMap::new(model, transport, pair))
        };
        let seen = |name: &super::BodyPairSettings| {
            Ok((
                body(model, "transport.from", &name.from)?,
                body(model, "transport.of", &name.of)?,
            ))
        };
        Ok(match &self.transport {
            // The default for a vehicle of one body.
            None if is_free_body(system) => of_pair(Transport::default(), 0),
            None | Some(TransportSettings::Joint) => Box::new(JointMap),
            Some(TransportSettings::Pair(transport, None)) => {
                if pairs.len() != 1 {
                    let message = format!(
                        "expected one pair for this map, or its name as in {{ map = \"centred\", of = \"tool\" }}; found {} pairs",
                        pairs.len()
                    );
                    return Err(SettingsError::new("transport", message));
                }
                of_pair(*transport, 0)
            }
            Some(TransportSettings::Pair(transport, Some(name))) => {
                let (a, b) = seen(name)?;
                let index = pairs.iter().position(|pair| (pair.a, pair.b) == (a, b));
                let index = index.ok_or_else(|| {
                    SettingsError::new(
                        "transport.of",
                        format!(
                            "expected one of the pairs, found none from \"{}\" to \"{}\"",
                            name.from, name.of
                        ),
                    )
                })?;
                of_pair(*transport, index)
            }
            Some(TransportSettings::Point(point, name)) => {
                let (a, b) = seen(name)?;
                Box::new(PointMap::new(model, a, b, (*point).into()))
            }
        })
    }
}

/// # The baselines
impl ControllerSettings {
    fn euclidean(&self, system: &System) -> Result<EuclideanTemplate, SettingsError> {
        let model = &system.model;
        let n = model.dof();
        self.check_joints(system)?;
        let stiffness = self.gain(system, "stiffness", |gains| Some(&gains.stiffness))?;
        let damping = self.gain(system, "damping", |gains| Some(&gains.damping))?;
        let inertia = match self.approach {
            ApproachSettings::JointPd => DesiredInertia::Model,
            ApproachSettings::Linear => {
                DesiredInertia::Constant(
                    self.gain(system, "inertia", |gains| gains.inertia.as_ref())?,
                )
            }
            _ => DesiredInertia::Constant(DMatrix::identity(n, n)),
        };
        EuclideanTemplate::new(model, inertia, damping, stiffness).map_err(|error| {
            let message = format!("{} cannot control it: {error}", self.approach.name());
            SettingsError::new("approach", message)
        })
    }

    /// Whether the gains belong to moving joints.
    fn check_joints(&self, system: &System) -> Result<(), SettingsError> {
        let names: Vec<&str> = moving(system).map(|(name, _)| name).collect();
        let known = || format!("`{}`", names.join("`, `"));
        if let Some(unknown) = self
            .gains
            .keys()
            .find(|name| !names.contains(&name.as_str()))
        {
            return Err(SettingsError::unknown(
                format!("gains.{unknown}"),
                format!("expected joints that move: {}; found `{unknown}`", known()),
                unknown,
                names.iter().map(|name| (*name).to_owned()).collect(),
            ));
        }
        if let Some(missing) = names.iter().find(|name| !self.gains.contains_key(**name)) {
            return Err(SettingsError::new(
                "gains",
                format!(
                    "expected gains of every joint: {}; those of `{missing}` are missing",
                    known()
                ),
            ));
        }
        Ok(())
    }

    /// The diagonal matrix of a gain.
    fn gain<'a>(
        &'a self,
        system: &System,
        key: &str,
        of: impl Fn(&'a GainSettings) -> Option<&'a Numbers>,
    ) -> Result<DMatrix<f64>, SettingsError> {
        let mut diagonal = DVector::zeros(system.model.dof());
        for (name, range) in moving(system) {
            let Some(numbers) = self.gains.get(name).and_then(&of) else {
                continue;
            };
            let ways = range.len();
            let each = numbers.expand(ways).ok_or_else(|| {
                let found = numbers.as_slice().len();
                SettingsError::new(
                    format!("gains.{name}.{key}"),
                    format!("expected one number, or one for each of the joint's {ways} degrees of freedom, found {found}"),
                )
            })?;
            diagonal.as_mut_slice()[range].copy_from_slice(&each);
        }
        Ok(DMatrix::from_diagonal(&diagonal))
    }

    fn feedback(&self, system: &System) -> Result<RestFeedback, SettingsError> {
        let (key, design) = match (&self.poles, &self.lqr) {
            (_, Some(lqr)) => {
                let cost = lqr.cost(system).map_err(|error| error.inside("lqr"))?;
                ("lqr", FeedbackDesign::Optimal(cost))
            }
            (Some(PoleSettings::List(poles)), None) => {
                ("poles", FeedbackDesign::Poles(poles.clone()))
            }
            // Rejected by `validate`.
            (Some(PoleSettings::Vehicle(_)) | None, None) => {
                ("poles", FeedbackDesign::Poles(Vec::new()))
            }
        };
        let (n, p) = (system.model.dof(), system.inputs.input_dim());
        RestFeedback::new(n, p, design).map_err(|error| SettingsError::new(key, error.to_string()))
    }
}
