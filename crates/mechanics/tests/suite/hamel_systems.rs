//! Hamel's equations of whole systems against the constraints with multipliers: two ways to one motion.

#![allow(non_snake_case)]

use crate::constrained;
use crate::random_tree;

use constrained::Simulation;
use fly_lie::SE3;
use fly_mechanics::geometry::{Basis, HamelEquation, WithVelocities};
use fly_mechanics::multibody::constraints::{ConstraintSet, PrescribedVelocity};
use fly_mechanics::multibody::{BodyId, EquationOfMotion, Model, Workspace};
use nalgebra::{DMatrix, DVector, Matrix6xX, RealField, Vector6, convert};
use num_dual::Dual64;
use random_tree::{Random, state, tree_with_springs};

/// A blade on a body: `eta = w . X` with the twist `X` of the body. The free velocities are all of the system's but one.
#[derive(Clone)]
struct Blade {
    model: Model<f64>,
    body: BodyId,
    row: Vector6<f64>,
    /// The velocity coordinate that eta replaces.
    replaced: usize,
}

impl Blade {
    /// `Z` with `eta = Z xi`.
    fn jacobian<T: RealField + Copy>(&self, x: &[T]) -> DVector<T> {
        let model = self.model.cast::<T>();
        let mut workspace = Workspace::new(&model);
        workspace.update(&model, x, &vec![T::zero(); model.dof()]);
        workspace.update_jacobians(&model);
        let mut J = Matrix6xX::zeros(model.dof());
        workspace.jacobian(BodyId::WORLD, self.body, &mut J);
        J.tr_mul(&self.row.map(convert::<f64, T>))
    }

    /// The system's velocity coordinates that stay.
    fn free(&self) -> impl Iterator<Item = usize> + '_ {
        (0..self.model.dof()).filter(|i| *i != self.replaced)
    }
}

/// `xi = W [xi~; eta]`: the replaced one from `eta = Z xi`.
impl Basis for Blade {
    fn matrix<T: RealField + Copy>(&self, x: &DVector<T>) -> DMatrix<T> {
        let n = self.model.dof();
        let Z = self.jacobian(x.as_slice());
        let mut W = DMatrix::zeros(n, n);
        for (column, i) in self.free().enumerate() {
            W[(i, column)] = T::one();
            W[(self.replaced, column)] = -Z[i] / Z[self.replaced];
        }
        W[(self.replaced, n - 1)] = T::one() / Z[self.replaced];
        W
    }
}

/// Accelerations and the force of the blade, on trees with springs and dampers.
#[test]
fn hamel_agrees_with_multipliers() {
    let mut count = 0;
    for seed in 0..30 {
        let mut random = Random::new(seed);
        let model = tree_with_springs::<f64>(seed, 1 + random.index(4));
        let (n, last) = (model.dof(), model.bodies().last().expect("a body"));
        let (x, xi) = state(&model, &mut random);
        let mut blade = Blade {
            model: model.clone(),
            body: last,
            row: Vector6::from_fn(|_, _| random.next()),
            replaced: 0,
        };
        let Z = blade.jacobian(&x);
        if n < 2 || Z.amax() < 0.1 {
            continue;
        }
        blade.replaced = Z.iamax();

        let given = PrescribedVelocity {
            name: "blade".to_owned(),
            a: "world".to_owned(),
            b: model.name(last).to_owned(),
            frame_in_b: SE3::identity(),
            components: vec![(blade.row, 0.0)],
        };
        let set = ConstraintSet::builder().with(given).build(&model);
        let mut simulation = Simulation::new(model, set.expect("a blade"), x, xi);
        simulation.tau = random.numbers(n, 3.0);
        simulation.project().expect("it can be still");
        simulation.solve().expect("a solution");

        let dual = blade.model.cast::<Dual64>();
        let at = |x: &DVector<Dual64>| {
            let mut workspace = Workspace::new(&dual);
            workspace.update(&dual, x.as_slice(), &vec![Dual64::from(0.0); n]);
            workspace
        };
        let mass_matrix = |x: &DVector<Dual64>| {
            let mut M = DMatrix::zeros(n, n);
            dual.mass_matrix(&mut at(x), x.as_slice(), &mut M);
            let W = blade.matrix(x);
            W.tr_mul(&M) * W
        };
        let potential = |x: &DVector<Dual64>| at(x).potential_energy(&dual);
        let x = DVector::from_column_slice(&simulation.x);
        let xi = DVector::from_column_slice(&simulation.xi);
        let free = DVector::from_iterator(n - 1, blade.free().map(|i| xi[i]));
        let coordinates = WithVelocities {
            coordinates: blade.model.clone(),
            basis: blade.clone(),
        };
        let hamel = HamelEquation::new(&coordinates, mass_matrix, potential, &x, &free);
        let hamel = hamel.expect("regular");

        let mut equation = EquationOfMotion::new(&simulation.model);
        simulation.motion();
        equation.update(&simulation.model, &simulation.workspace);
        let tau = DVector::from_column_slice(&simulation.tau);
        let force = blade.matrix(&x).tr_mul(&(tau - &equation.damping * &xi));
        let acceleration = hamel.acceleration(&force).expect("positive definite");
        let expected = simulation.constrained.acceleration();
        let size = 1.0 + expected.amax();
        for (got, i) in acceleration.iter().zip(blade.free()) {
            let error = (got - expected[i]).abs() / size;
            assert!(error < 1e-9, "{seed} {got} {}", expected[i]);
        }
        // Without multipliers and with other matrices: M becomes P M P + I - P.
        let (mut P, mut demanded) = (DMatrix::zeros(n, n), DVector::zeros(n));
        simulation.constrained.split(&mut P, &mut demanded);
        let M = &equation.mass_matrix;
        let mut push = DVector::zeros(n);
        equation.bias(&simulation.xi, push.as_mut_slice());
        push = DVector::from_column_slice(&simulation.tau) - push;
        let mass = &P * M * &P + DMatrix::identity(n, n) - &P;
        let push = &P * (push - M * &demanded) + &demanded;
        let found = mass.cholesky().expect("positive definite").solve(&push);
        let error = (found - simulation.constrained.acceleration()).amax() / size;
        assert!(error < 1e-9, "{seed} {error}");

        let reaction = hamel.reaction(&acceleration, &force).expect("sizes")[0];
        let multiplier = simulation.constrained.multipliers()[0];
        let error = (reaction - multiplier).abs() / (1.0 + multiplier.abs());
        assert!(error < 1e-9, "{seed} {reaction} {multiplier}");
        count += 1;
    }
    assert!(count >= 10, "{count}");
}
