//! Quadratic programs with equality constraints, and linearisations.

use fly_mechanics::EqualityQp;
use fly_mechanics::geometry::Linearization;
use fly_mechanics::multibody::{EquationOfMotion, Model, Workspace};
use fly_testing::golden::{File, array, count, numbers, only, tolerances};
use nalgebra::{DMatrix, DVector, RealField};
use num_dual::Dual64;
use serde_json::Value;

use crate::golden_model::{SYSTEM, compare, configuration, model};

fn dynamic(value: &Value) -> DMatrix<f64> {
    let rows = array(value).len();
    let entries = numbers(value);
    DMatrix::from_row_slice(rows, entries.len() / rows.max(1), &entries)
}

/// `kind: qp`, the cases with equality constraints, of full rank and not. They give the multipliers the sign of Konz (A.118).
pub fn quadratic_programs(file: &mut File, data: &Value) {
    only(
        data,
        "equality[M c Z b v lambda_A118 rank constraint_force] inequality[G g A b x active mu objective]",
    );
    let [within] = tolerances(data, [1e-10]);
    for case in array(&data["equality"]) {
        let (M, Z) = (dynamic(&case["M"]), dynamic(&case["Z"]));
        let (c, b) = (numbers(&case["c"]), numbers(&case["b"]));
        let (c, b) = (DVector::from_vec(c), DVector::from_vec(b));
        let mut qp = EqualityQp::new(Z.ncols(), Z.nrows());
        qp.solve(&M, &c, &Z, &b).expect("a solution");
        if !case["rank"].is_null() {
            assert_eq!(qp.rank(), count(&case["rank"]));
        }
        let rank_is_full = !case["lambda_A118"].is_null();
        let mut expected = file.case(case, within);
        expected.is("v", qp.point());
        expected.is("constraint_force", qp.force());
        if rank_is_full {
            expected.is("lambda_A118", &-qp.multipliers());
        }
    }
}

/// `kind: linearization`: F0, F1, F2 of (3.40), which were found by perturbing a path.
pub fn linearizations(file: &mut File, data: &Value) {
    only(
        data,
        &format!("cases[{SYSTEM} parameters{{*}} state{{*}} xi xidot expected{{f F0 F1 F2}}]"),
    );
    let [within] = tolerances(data, [1e-9]);
    for case in array(&data["cases"]) {
        let model = model(&case["system"]);
        let dual = model.cast::<Dual64>();
        let f = |x: &DVector<_>, xi: &DVector<_>, xi_dot: &DVector<_>| forces(&dual, x, xi, xi_dot);
        let x = DVector::from_vec(configuration(&case["system"], &case["state"]));
        let xi = DVector::from_vec(numbers(&case["xi"]));
        let xi_dot = DVector::from_vec(numbers(&case["xidot"]));
        let found = Linearization::new(&model, f, &x, &xi, &xi_dot).expect("a linearisation");
        let value = DMatrix::from_columns(&[found.value]);
        for (name, got) in [
            ("f", value),
            ("F0", found.stiffness),
            ("F1", found.damping),
            ("F2", found.inertia),
        ] {
            compare(file, &case["expected"][name], name, &got, within);
        }
    }
}

/// `M ξ_dot + c + D ξ + ∇V`
fn forces<T: RealField + Copy>(
    model: &Model<T>,
    x: &DVector<T>,
    xi: &DVector<T>,
    xi_dot: &DVector<T>,
) -> DVector<T> {
    let (mut workspace, mut equation) = (Workspace::new(model), EquationOfMotion::new(model));
    workspace.update(model, x.as_slice(), xi.as_slice());
    workspace.update_jacobians(model);
    equation.update(model, &workspace);
    let mut bias = DVector::zeros(model.dof());
    equation.bias(xi.as_slice(), bias.as_mut_slice());
    equation.mass_matrix * xi_dot + bias
}
