//! Whether a closed loop exists.
#![allow(non_snake_case)]

use fly_mechanics::System;
use fly_mechanics::multibody::constraints::EvaluatedState;
use fly_mechanics::multibody::{BodyId, Joint, JointKind, Model, Workspace};
use nalgebra::{DMatrix, DVector, Matrix6xX};

use crate::constrained::Projection;
use crate::law::{Law, LawError};
use crate::lehmer::Lehmer;
use crate::linear::LinearModel;
use crate::plant::PlantError;
use crate::strategy::Strategy;
use crate::template::{Approach, Template};
use crate::transport::TransportError;

/// The number of configurations tested in addition to the neutral one.
const TRIALS: usize = 8;
/// A direction with less than this fraction of the others' inertia counts as massless.
const SINGULAR: f64 = 1e-9;
/// Entries typed with six digits may miss a semidefinite sum by this fraction.
const TYPED: f64 = 1e-5;
/// Relative tolerance of the match between transport map and potential.
const FIT: f64 = 1e-6;

/// Why a strategy and a system make no closed loop.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
pub enum NoClosedLoop {
    /// An energy or the dissipation of all pairs together is negative in some direction.
    #[error(
        "expected pairs whose {of} together is positive {kind}, found the eigenvalue {eigenvalue:.3e}: a single pair's may be negative only if the others \
         compensate it"
    )]
    Negative {
        /// `inertia`, `damping` or `stiffness`.
        of: &'static str,
        /// `definite` or `semidefinite`.
        kind: &'static str,
        /// The least eigenvalue, in units in which the diagonal is 1.
        eigenvalue: f64,
    },
    /// Some degree of freedom has no desired inertia.
    #[error(
        "expected pairs that give every degree of freedom a desired inertia, found none for the joint of `{body}`: add a pair whose inertia moves with it"
    )]
    Massless {
        /// The body whose joint has none.
        body: String,
    },
    /// The transport map does not fit the stiffness of pairs.
    #[error(
        "expected a map that fits the stiffness of the pairs, or the total energy would not decrease, Konz (5.43); it does not fit {}: {}",
        between(pairs),
        how_to_fit(absolute.as_deref())
    )]
    Misfit {
        /// The bodies of each such pair.
        pairs: Vec<[String; 2]>,
        /// The body of one whose ball joint has the absolute angular velocity, although the pair is not from the world.
        absolute: Option<String>,
    },
    /// A joint moves no mass.
    #[error(
        "the model's mass matrix is not positive definite: expected mass or inertia that every joint moves, found none for the joint of `{body}`; give \
         `{body}`, or a body that it carries, a mass and moments of inertia"
    )]
    NoMass {
        /// The body whose joint moves none.
        body: String,
    },
    /// The transport map does not fit the pairs, or does not exist.
    #[error(transparent)]
    Map(#[from] TransportError),
    /// The inputs cannot act on the motion.
    #[error(transparent)]
    Law(#[from] LawError),
    /// The system cannot be controlled.
    #[error(transparent)]
    Plant(#[from] PlantError),
}

/// The pairs of these bodies, in words.
fn between(pairs: &[[String; 2]]) -> String {
    let shown = pairs.iter().map(|[a, b]| format!("`{a}` to `{b}`"));
    match pairs.len() {
        0 => "them together".to_owned(),
        1 => format!("the pair {}", shown.collect::<String>()),
        _ => format!("the pairs {}", shown.collect::<Vec<_>>().join(", ")),
    }
}

/// Which maps fit.
fn how_to_fit(absolute: Option<&str>) -> String {
    match absolute {
        Some(body) => format!(
            "`{body}` has a ball joint whose velocity is absolute, for which pairs from the world fit alone; write the pair from `world`, or give the \
             joint `velocity = \"relative\"`"
        ),
        None => "`joint` fits pairs of bodies that one joint connects, `adjoint` and `centred` fit one pair with as many degrees of freedom as the \
                 system, { point = [x, y, z], of = \"body\" } fits a pair whose stiffness acts at that point"
            .to_owned(),
    }
}

/// Checks that the strategy defines a motion that the inputs can act on, in at least one of several configurations: a system with
/// singularities is singular in few of them. Properties that must hold everywhere must hold in all of them.
///
/// # Errors
/// What the closed loop lacks.
pub fn check_existence(system: &System, strategy: &mut Strategy) -> Result<(), NoClosedLoop> {
    let mut numbers = Lehmer(20_211_105);
    let model = &system.model;
    let mut trial = Trial::new(system)?;
    let mut failure = None;
    let mut x = model.neutral_configuration();
    for _ in 0..=TRIALS {
        let goal = somewhere(model, &mut numbers);
        trial.place(&x, &goal);
        match trial.run(strategy)? {
            None => failure = Some(None),
            Some(error) if failure.is_none() => failure = Some(Some(error)),
            Some(_) => {}
        }
        x = goal;
    }
    failure.flatten().map_or(Ok(()), Err)
}

fn somewhere(model: &Model<f64>, numbers: &mut Lehmer) -> Vec<f64> {
    let mut x = model.neutral_configuration();
    let along: Vec<f64> = (0..model.dof()).map(|_| 1.5 * numbers.next()).collect();
    model.integrate(&mut x, &along);
    x
}

/// A system at rest in one configuration with its reference in another.
struct Trial<'a> {
    system: &'a System,
    actual: Workspace<f64>,
    reference: Workspace<f64>,
    /// M.
    mass_matrix: DMatrix<f64>,
    /// B.
    inputs: DMatrix<f64>,
    /// `None` unless something rolls.
    projection: Option<Projection>,
}

impl<'a> Trial<'a> {
    fn new(system: &'a System) -> Result<Self, PlantError> {
        let n = system.model.dof();
        Ok(Self {
            projection: Projection::new(system)?,
            actual: Workspace::new(&system.model),
            reference: Workspace::new(&system.model),
            mass_matrix: DMatrix::zeros(n, n),
            inputs: DMatrix::zeros(n, system.inputs.input_dim()),
            system,
        })
    }

    fn place(&mut self, x: &[f64], goal: &[f64]) {
        let model = &self.system.model;
        let rest = vec![0.0; model.dof()];
        for (workspace, x) in [(&mut self.actual, x), (&mut self.reference, goal)] {
            workspace.update(model, x, &rest);
            workspace.update_jacobians(model);
        }
        let mut J = Matrix6xX::zeros(model.dof());
        (self.system.inputs).input_matrix(&self.actual, &mut J, &mut self.inputs);
        model.mass_matrix(&mut self.actual, x, &mut self.mass_matrix);
        if let Some(projection) = &mut self.projection {
            projection.update(&EvaluatedState {
                model,
                workspace: &self.actual,
                configuration: x,
                velocity: &rest,
                time: 0.0,
            });
            projection.mass_matrix(&mut self.mass_matrix);
            projection.columns(&mut self.inputs);
        }
    }

    /// The desired inertia after the projection of rolling constraints.
    fn project(&mut self, mut sum: LinearModel) -> LinearModel {
        if let Some(projection) = &mut self.projection {
            projection.mass_matrix(&mut sum.inertia);
        }
        sum
    }

    /// The failure in this configuration, which may be local.
    ///
    /// # Errors
    /// A failure that must not occur anywhere.
    fn run(&mut self, strategy: &mut Strategy) -> Result<Option<NoClosedLoop>, NoClosedLoop> {
        match strategy {
            Strategy::Template(template) => {
                let sum = LinearModel::of_pairs(&self.system.model, &self.actual, template.pairs());
                let sum = self.project(sum);
                let lacks = match self.energies(&sum)? {
                    None if template.approach() == Approach::Energy => self.map(template)?,
                    lacks => lacks,
                };
                Ok(lacks.or(self.law(&sum.inertia)))
            }
            Strategy::Matrices(template) => {
                let sum = template.linear(&self.system.model, &self.actual);
                let sum = self.project(sum);
                let lacks = self.energies(&sum)?;
                Ok(lacks.or(self.law(&sum.inertia)))
            }
            Strategy::User(_)
            | Strategy::Euclidean(_)
            | Strategy::Feedback(_)
            | Strategy::Multirotor(_) => Ok(self.law(&self.mass_matrix)),
        }
    }

    /// Why there is no law with this desired inertia.
    fn law(&self, M_bar: &DMatrix<f64>) -> Option<NoClosedLoop> {
        let (n, p) = self.inputs.shape_generic();
        let error = Law::new(n, p)
            .update(&self.mass_matrix, M_bar, &self.inputs)
            .err()?;
        if let (LawError::Mass, Sign::Singular(direction)) =
            (error, Sign::of(&self.mass_matrix, SINGULAR))
        {
            let body = self.mover(direction).to_owned();
            return Some(NoClosedLoop::NoMass { body });
        }
        Some(error.into())
    }

    /// What the map does not fit.
    fn misfit(&self, template: &mut Template<Model<f64>>) -> Result<NoClosedLoop, TransportError> {
        let model = &self.system.model;
        let misfits = template.misfits(model, &self.actual, &self.reference, FIT)?;
        let ends = misfits.iter().map(|i| {
            let pair = &template.pairs()[*i];
            [pair.a, pair.b]
        });
        let is_absolute = |body: &BodyId| {
            let kind = model.joint(*body).map(Joint::kind);
            matches!(kind, Some(JointKind::AbsoluteSpherical(_)))
        };
        let mut between = ends.clone().filter(|ends| !ends.contains(&BodyId::WORLD));
        let absolute = between.find_map(|ends| ends.into_iter().rev().find(is_absolute));
        Ok(NoClosedLoop::Misfit {
            pairs: ends
                .map(|ends| ends.map(|body| model.name(body).to_owned()))
                .collect(),
            absolute: absolute.map(|body| model.name(body).to_owned()),
        })
    }

    /// What the sum of the energies lacks.
    fn energies(&self, sum: &LinearModel) -> Result<Option<NoClosedLoop>, NoClosedLoop> {
        for (of, matrix) in [("stiffness", &sum.stiffness), ("damping", &sum.damping)] {
            if let Sign::Negative(eigenvalue) = Sign::of(matrix, TYPED) {
                let kind = "semidefinite";
                return Err(NoClosedLoop::Negative {
                    of,
                    kind,
                    eigenvalue,
                });
            }
        }
        match Sign::of(&sum.inertia, SINGULAR) {
            Sign::Negative(eigenvalue) => {
                return Err(NoClosedLoop::Negative {
                    of: "inertia",
                    kind: "definite",
                    eigenvalue,
                });
            }
            Sign::Singular(direction) => {
                let body = self.mover(direction).to_owned();
                return Ok(Some(NoClosedLoop::Massless { body }));
            }
            Sign::Positive => {}
        }
        Ok(None)
    }

    fn map(
        &self,
        template: &mut Template<Model<f64>>,
    ) -> Result<Option<NoClosedLoop>, NoClosedLoop> {
        let model = &self.system.model;
        match template.check_map(model, &self.actual, &self.reference, FIT) {
            Ok(()) => Ok(None),
            Err(TransportError::Mismatch { .. }) => Err(self.misfit(template)?),
            Err(error) => Ok(Some(error.into())),
        }
    }

    /// The body whose joint moves in this direction.
    fn mover(&self, direction: usize) -> &str {
        let model = &self.system.model;
        let mut bodies = model.bodies();
        let body = bodies.find(|body| model.velocity_range(*body).contains(&direction));
        body.map_or("", |body| model.name(body))
    }
}

/// The definiteness of a symmetric matrix.
enum Sign {
    Positive,
    /// Zero, mainly along this coordinate.
    Singular(usize),
    /// With this least eigenvalue, in units in which the diagonal is 1.
    Negative(f64),
}

impl Sign {
    /// Determined to this fraction of its diagonal.
    fn of(matrix: &DMatrix<f64>, tolerance: f64) -> Self {
        let diagonal = matrix.diagonal();
        let largest = diagonal.amax();
        if let Some(least) = diagonal.iter().find(|x| **x < -tolerance * largest) {
            return Self::Negative(*least);
        }
        if largest == 0.0 {
            return match matrix.iamax_full() {
                (i, j) if matrix[(i, j)] != 0.0 => Self::Negative(-matrix[(i, j)].abs()),
                (i, _) => Self::Singular(i),
            };
        }
        // Scale such that kilograms and kilogram square metres are comparable. A coupling between a direction without energy and
        // another one makes the energy negative somewhere, however small it is relative to the others.
        let floor = 1e-12 * largest;
        let unit = diagonal.map(|x| x.max(floor).sqrt().recip());
        let scaled = DMatrix::from_fn(matrix.nrows(), matrix.ncols(), |i, j| {
            let entry = if i == j {
                diagonal[i].max(0.0)
            } else {
                matrix[(i, j)]
            };
            entry * unit[i] * unit[j]
        });
        let eigen = scaled.symmetric_eigen();
        let mut least = 0;
        for (i, value) in eigen.eigenvalues.iter().enumerate() {
            if *value < eigen.eigenvalues[least] {
                least = i;
            }
        }
        let vector: DVector<f64> = eigen.eigenvectors.column(least).into_owned();
        match eigen.eigenvalues.get(least) {
            Some(value) if *value < -tolerance => Self::Negative(*value),
            Some(value) if *value <= tolerance => Self::Singular(vector.iamax()),
            _ => Self::Positive,
        }
    }
}

#[cfg(test)]
mod tests {
    use nalgebra::dmatrix;

    use super::*;

    fn sign(matrix: &DMatrix<f64>) -> char {
        match Sign::of(matrix, 1e-9) {
            Sign::Positive => '+',
            Sign::Singular(_) => '0',
            Sign::Negative(_) => '-',
        }
    }

    #[test]
    fn the_sign_of_an_energy_is_that_of_its_least_direction() {
        assert_eq!(sign(&dmatrix![4.0, 1.0; 1.0, 1.0]), '+');
        assert_eq!(sign(&dmatrix![4.0, 2.0; 2.0, 1.0]), '0');
        assert_eq!(sign(&dmatrix![4.0, 2.1; 2.1, 1.0]), '-');
        assert_eq!(sign(&dmatrix![1.0, 0.0; 0.0, -1e-3]), '-');
        assert_eq!(sign(&dmatrix![1.0, 0.0; 0.0, -1e-15]), '0', "rounding");
        // Disparate units: a ton, and a gram at a millimetre.
        assert_eq!(sign(&dmatrix![1e3, 1e-7; 1e-7, 1e-9]), '+');
        // No energy along the second direction, and yet a coupling to the first.
        assert_eq!(sign(&dmatrix![1.0, 0.3; 0.3, 0.0]), '-');
        assert_eq!(sign(&dmatrix![1.0, 1e-17; 1e-17, 0.0]), '0', "rounding");
        assert_eq!(sign(&dmatrix![0.0, 1.0; 1.0, 0.0]), '-');
        assert_eq!(sign(&DMatrix::zeros(2, 2)), '0');
        let along = Sign::of(&dmatrix![1.0, 0.0; 0.0, 0.0], 1e-9);
        assert!(matches!(along, Sign::Singular(1)));
    }
}
