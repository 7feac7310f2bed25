//! The inputs that a reference needs.
#![allow(non_snake_case)]

use fly_mechanics::{State, System, Vehicle};
use nalgebra::{DMatrix, DVector, DefaultAllocator, Dyn, OVector, Vector6};

use crate::ReferencePoint;
use crate::plant::{FreeBodyPlant, Plant, PlantError, SystemPlant};
use crate::reach::pseudo_inverse;
pub use crate::reach::{REACH, rank};
use crate::sizes::Sizes;
use crate::system::SystemReference;

/// From references to inputs, `u_R = B^+ (M xidot_R + b_R)`, of a vehicle (the default) or of a [system](SystemPlant).
pub struct ReferenceInputs<P: Plant = FreeBodyPlant>
where
    DefaultAllocator: Sizes<P::Dof, Dyn>,
{
    plant: P,
    /// B^+, p x n.
    inverse: DMatrix<f64>,
}

/// An input and what it misses.
#[derive(Clone, Debug, PartialEq)]
pub struct ReferenceInput {
    /// u_R, p numbers: the smallest input whose force is nearest to what is needed. Limits are not looked at.
    pub input: DVector<f64>,
    /// The norm of the force that the inputs cannot give, N and N m; it vanishes for a reference that the system can follow, (5.80).
    pub missing: f64,
    /// The norm of the force that is needed, N and N m.
    pub needed: f64,
}

impl ReferenceInput {
    /// What is missing as a part of what is needed (of 1 N where that is less).
    pub fn share(&self) -> f64 {
        self.missing / self.needed.max(1.0)
    }

    /// Whether nothing is missing but rounding errors.
    pub fn reached(&self) -> bool {
        self.share() <= REACH
    }
}

impl<P: Plant> ReferenceInputs<P>
where
    DefaultAllocator: Sizes<P::Dof, Dyn>,
{
    fn of_plant(plant: P) -> Self {
        let inverse = inverse(&plant);
        Self { plant, inverse }
    }

    /// The input that makes this force, n numbers: of a vehicle a wrench, of a system in the configuration that was looked at last.
    pub fn of_force(&self, force: &OVector<f64, P::Dof>) -> ReferenceInput {
        let needed = DVector::from_column_slice(force.as_slice());
        let input = &self.inverse * &needed;
        let given = self.plant.input_matrix() * &input;
        ReferenceInput {
            missing: (given - force).norm(),
            needed: needed.norm(),
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
            self.inverse = inverse(&self.plant);
        }
        self.plant.mass_matrix() * acceleration + self.plant.bias(state)
    }
}

/// B^+.
fn inverse<P: Plant>(plant: &P) -> DMatrix<f64>
where
    DefaultAllocator: Sizes<P::Dof, Dyn>,
{
    let B = plant.input_matrix();
    pseudo_inverse(&DMatrix::from_column_slice(
        B.nrows(),
        B.ncols(),
        B.as_slice(),
    ))
}

/// # A vehicle
impl ReferenceInputs {
    /// For a vehicle.
    pub fn new(vehicle: &Vehicle) -> Self {
        Self::of_plant(FreeBodyPlant::new(
            &vehicle.body,
            vehicle.rotors.input_matrix(),
        ))
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
        SystemPlant::new(system).map(Self::of_plant)
    }

    /// The input that keeps the system on the reference. Allocates.
    ///
    /// # Panics
    /// If the reference has another size than the system.
    pub fn at(&mut self, goal: &SystemReference<'_>) -> ReferenceInput {
        let acceleration = DVector::from_column_slice(goal.acceleration);
        let force = self.needed((goal.configuration, goal.velocity), &acceleration);
        self.of_force(&force)
    }
}
