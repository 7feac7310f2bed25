//! Feedforward inputs of a reference.
#![allow(non_snake_case)]

use fly_mechanics::{Polytope, State, System, Vehicle};
use nalgebra::{DMatrix, DVector, DefaultAllocator, Dyn, OVector, Vector6};

use crate::ReferencePoint;
use crate::attainable_force::pseudo_inverse;
pub use crate::attainable_force::{FORCE_TOLERANCE, rank};
use crate::plant::{FreeBodyPlant, Plant, PlantError, SystemPlant};
use crate::redundancy::InputRedundancy;
use crate::sizes::Sizes;
use crate::system::SystemReference;

/// Feedforward inputs `u_R = B^+ (M xidot_R + b_R)` of references, for a vehicle (the default) or a
/// [system](SystemPlant).
pub struct ReferenceInputs<P: Plant = FreeBodyPlant>
where
    DefaultAllocator: Sizes<P::Dof, Dyn>,
{
    plant: P,
    /// B^+, p x n.
    inverse: DMatrix<f64>,
    limits: Polytope,
    /// A point inside the limits.
    interior: Vec<f64>,
    redundancy: InputRedundancy,
}

/// A feedforward input and the force that it cannot produce.
#[derive(Clone, Debug, PartialEq)]
pub struct ReferenceInput {
    /// u_R, p entries: the input whose force is nearest to the required one.
    pub input: DVector<f64>,
    /// The norm of the force that the inputs cannot produce, N and N m; zero for a reference that the system can follow, (5.80).
    pub missing: f64,
    /// The norm of the required force, N and N m.
    pub needed: f64,
}

impl ReferenceInput {
    /// The missing force relative to the required one (or to 1 N if that is smaller).
    pub fn missing_fraction(&self) -> f64 {
        self.missing / self.needed.max(1.0)
    }

    /// Returns whether the missing force is mere rounding error.
    pub fn is_exact(&self) -> bool {
        self.missing_fraction() <= FORCE_TOLERANCE
    }
}

impl<P: Plant> ReferenceInputs<P>
where
    DefaultAllocator: Sizes<P::Dof, Dyn>,
{
    pub(crate) fn of_plant(plant: P, limits: &Polytope, interior: &[f64]) -> Self {
        let B = input_matrix(&plant);
        Self {
            inverse: pseudo_inverse(&B),
            redundancy: InputRedundancy::new(&B, limits, interior),
            limits: limits.clone(),
            interior: interior.to_vec(),
            plant,
        }
    }

    /// The smallest input that produces this force, n entries: a wrench for a vehicle; for a system, the generalised force in the
    /// configuration evaluated last.
    ///
    /// Limits matter only if inputs are redundant and the smallest input violates them: the result is then the [most central](Self::central)
    /// one.
    pub fn of_force(&self, force: &OVector<f64, P::Dof>) -> ReferenceInput {
        let needed = DVector::from_column_slice(force.as_slice());
        let smallest = &self.inverse * &needed;
        let stays = self.redundancy.dim() == 0 || self.limits.contains(smallest.as_slice(), 0.0);
        let input = if stays {
            smallest
        } else {
            self.redundancy.central(&smallest)
        };
        self.judged(input, force)
    }

    /// Of the inputs that produce this force, the one whose least distance from a limit is largest, each distance relative to that of the middle
    /// of the limits; of several, the smallest. Solves a linear program. Without redundant inputs there is only one such input.
    pub fn central(&self, force: &OVector<f64, P::Dof>) -> ReferenceInput {
        let needed = DVector::from_column_slice(force.as_slice());
        let input = self.redundancy.central(&(&self.inverse * needed));
        self.judged(input, force)
    }

    fn judged(&self, input: DVector<f64>, force: &OVector<f64, P::Dof>) -> ReferenceInput {
        let given = self.plant.input_matrix() * &input;
        ReferenceInput {
            missing: (given - force).norm(),
            needed: force.norm(),
            input,
        }
    }

    /// `M xidot + b`.
    fn needed(
        &mut self,
        state: P::State<'_>,
        acceleration: &OVector<f64, P::Dof>,
    ) -> OVector<f64, P::Dof> {
        self.plant.update(state);
        if !P::CONSTANT {
            let B = input_matrix(&self.plant);
            self.inverse = pseudo_inverse(&B);
            self.redundancy = InputRedundancy::new(&B, &self.limits, &self.interior);
        }
        self.plant.mass_matrix() * acceleration + self.plant.bias(state)
    }
}

/// B, n x p.
fn input_matrix<P: Plant>(plant: &P) -> DMatrix<f64>
where
    DefaultAllocator: Sizes<P::Dof, Dyn>,
{
    let B = plant.input_matrix();
    DMatrix::from_column_slice(B.nrows(), B.ncols(), B.as_slice())
}

/// # A vehicle
impl ReferenceInputs {
    /// For a vehicle.
    pub fn new(vehicle: &Vehicle) -> Self {
        let rotors = &vehicle.rotors;
        let plant = FreeBodyPlant::new(&vehicle.body, rotors.input_matrix());
        Self::of_plant(plant, rotors.limits(), rotors.interior())
    }

    /// The input that keeps the vehicle on the reference.
    pub fn at(&mut self, point: &ReferencePoint) -> ReferenceInput {
        let wrench = self.wrench(point);
        self.of_force(&wrench)
    }

    /// The wrench that keeps the vehicle on the reference, `M xidot_R + b_R`.
    pub fn wrench(&mut self, point: &ReferencePoint) -> Vector6<f64> {
        let state = State {
            pose: point.pose,
            twist: point.twist,
        };
        self.needed(&state, &point.acceleration)
    }
}

/// # A system of bodies
impl ReferenceInputs<SystemPlant> {
    /// For a system.
    ///
    /// # Errors
    /// [`PlantError`].
    pub fn of_system(system: &System) -> Result<Self, PlantError> {
        let (limits, interior) = (system.inputs.limits(), system.inputs.interior());
        SystemPlant::new(system).map(|plant| Self::of_plant(plant, limits, interior))
    }

    /// The input that holds the system at rest in this configuration (nu entries), as far inside its limits as possible. Allocates.
    ///
    /// # Panics
    /// If the length of the configuration is not nu.
    pub fn central_at(&mut self, configuration: &[f64]) -> ReferenceInput {
        let rest = DVector::zeros(self.plant.dof().0);
        let force = self.needed((configuration, rest.as_slice()), &rest);
        self.central(&force)
    }

    /// The input that keeps the system on the reference. Allocates.
    ///
    /// # Panics
    /// If the sizes of the reference are not those of the system.
    pub fn at(&mut self, goal: &SystemReference<'_>) -> ReferenceInput {
        let acceleration = DVector::from_column_slice(goal.acceleration);
        let force = self.needed((goal.configuration, goal.velocity), &acceleration);
        self.of_force(&force)
    }
}
