//! Constrained systems: Z, b, the acceleration and the force of the constraints, dependent ones too.

use std::sync::Arc;

use fly_mechanics::multibody::constraints::{
    Constraint, ConstraintDescription, ConstraintKind, ConstraintSet, ConstraintWorkspace, Custom,
    EvaluatedState, LoopClosure, LoopKind, Rows,
};
use fly_mechanics::multibody::{EquationOfMotion, Model, Workspace};
use fly_testing::golden::{File, array, count, number, numbers, only, tolerances, vector};
use nalgebra::{DMatrix, DVector};
use serde_json::Value;

use crate::golden_model::{SYSTEM, compare, configuration, model};

/// `kind: constraints`. Multipliers have the sign of Konz (3.83).
pub fn accelerations(file: &mut File, data: &Value) {
    only(
        data,
        &format!(
            "cases[{SYSTEM} parameters{{*}} state{{*}} xi
             expected{{M c f_G f_K D psi Z b rank_Z xidot constraint_force lambda_ref}}]"
        ),
    );
    let [within] = tolerances(data, [1e-9]);
    for case in array(&data["cases"]) {
        let expected = &case["expected"];
        let model = model(&case["system"]);
        let x = configuration(&case["system"], &case["state"]);
        let xi = numbers(&case["xi"]);
        let (description, length) = described(case, &model);
        let constraints = ConstraintSet::builder()
            .with(description)
            .build(&model)
            .expect("constraints");

        let mut workspace = Workspace::new(&model);
        let mut constrained = ConstraintWorkspace::new(&constraints);
        let mut equation = EquationOfMotion::new(&model);
        let motion = EvaluatedState::new(&model, &mut workspace, &x, &xi, 0.0);
        constrained.update(&constraints, &motion);
        equation.update(&model, motion.workspace);
        let mut force = DVector::zeros(model.dof());
        equation.bias(&xi, force.as_mut_slice());
        force.neg_mut();
        let solved = constrained.solve(&constraints, &equation.mass_matrix, &force);
        solved.expect("a solution");

        assert_eq!(constrained.rank(), count(&expected["rank_Z"]));
        let column = |v: &DVector<f64>| DMatrix::from_column_slice(v.len(), 1, v.as_slice());
        let mut is = |what: &str, got: DMatrix<f64>| {
            compare(file, &expected[what], what, &got, within);
        };
        is("M", equation.mass_matrix.clone());
        is("c", column(&equation.coriolis_force));
        is("D", equation.damping.clone());
        is("psi", column(constrained.residual()) * length);
        is("Z", constrained.jacobian() * length);
        is("b", column(constrained.bias()) * length);
        is("xidot", column(constrained.acceleration()));
        is("constraint_force", column(constrained.force()));
        is("lambda_ref", column(constrained.multipliers()) / length);
    }
}

/// The constraint of a case, and the factor by which its equations are larger in the file: a rod stands there as `(|r|^2 - L^2) / 2`.
fn described(case: &Value, model: &Model<f64>) -> (Custom<f64>, f64) {
    let parameters = &case["parameters"];
    let named = |keys: &[&str]| {
        let mut found = keys.iter().map(|key| &parameters[*key]);
        found.find(|value| !value.is_null())
    };
    let bodies: Vec<_> = model.bodies().collect();
    let last = bodies.last().expect("a body");
    let name = |k: usize| model.name(bodies[k]).to_owned();
    if let (Some(point), Some(anchor)) =
        (named(&["tip_local", "h_local"]), named(&["anchor_world"]))
    {
        let kind = LoopKind::Spherical;
        let pin = LoopClosure::new("pin", "world", model.name(*last), kind);
        return (
            compiled(&pin.between(vector(anchor), vector(point)), model),
            1.0,
        );
    }
    if let (Some(h1), Some(h2), Some(length)) =
        (named(&["h1"]), named(&["h2"]), named(&["rod_length"]))
    {
        let length = number(length);
        let rod = LoopClosure::new("rod", name(0), name(1), LoopKind::Distance { length });
        return (
            compiled(&rod.between(vector(h1), vector(h2)), model),
            length,
        );
    }
    // Another constraint: quantities that follow from its Z and b remain comparable.
    println!(
        "    {}: parameters not known, Z and b as given",
        case["label"]
    );
    let (Z, b) = (&case["expected"]["Z"], numbers(&case["expected"]["b"]));
    let Z = DMatrix::from_row_slice(b.len(), model.dof(), &numbers(Z));
    let psi = numbers(&case["expected"]["psi"]);
    (Custom::new("rows", Arc::new(AsGiven { psi, Z, b })), 1.0)
}

fn compiled(closure: &LoopClosure<f64>, model: &Model<f64>) -> Custom<f64> {
    let constraint = closure.compile(model).expect("bodies of these names");
    Custom::new(closure.name.clone(), constraint)
}

/// Equations whose values are known in one state.
#[derive(Debug)]
struct AsGiven {
    psi: Vec<f64>,
    Z: DMatrix<f64>,
    b: Vec<f64>,
}

impl Constraint<f64> for AsGiven {
    fn equations(&self) -> usize {
        self.b.len()
    }

    fn kind(&self, _: usize) -> ConstraintKind {
        ConstraintKind::Holonomic
    }

    fn evaluate(&self, _: &EvaluatedState<'_, f64>, rows: &mut Rows<'_, f64>) {
        rows.residual.copy_from_slice(&self.psi);
        rows.jacobian.copy_from(&self.Z);
        rows.bias.copy_from_slice(&self.b);
    }
}
