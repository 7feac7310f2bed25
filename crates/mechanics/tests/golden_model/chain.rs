//! Serial chains that are given by the screw axes of their joints at home, with twists `[omega; v]`.

use fly_lie::SE3;
use fly_mechanics::PseudoInertia;
use fly_mechanics::multibody::{
    BaseMotion, BodyId, EquationOfMotion, ScrewChain, ScrewLink, Workspace,
};
use fly_testing::golden::{File, array, matrix, numbers, only, tolerances, vector};
use nalgebra::{DMatrix, Matrix6xX, Vector3, Vector6};
use serde_json::Value;

use super::{compare, rows};

/// Everything that an `rnea` file expects of its cases.
pub fn chains(file: &mut File, data: &Value) {
    only(
        data,
        "cases[n joint_types S_space M_0i mass inertia_com gravity theta thetadot thetaddot F_tip
         expected{tau M c g Jt_Ftip body_twist_Jacobian_tip_cols}]",
    );
    let [within] = tolerances(data, [1e-9]);
    for case in array(&data["cases"]) {
        let chain = chain(case);
        let model = chain.model().expect("a model");
        let n = model.dof();
        let tool = model.body_id("tool").expect("a tool");
        let read = |what: &str| numbers(&case[what]);
        let (x, xi, xi_dot) = (read("theta"), read("thetadot"), read("thetaddot"));
        let mut workspace = Workspace::new(&model);
        workspace.update(&model, &x, &xi);
        workspace.update_jacobians(&model);
        let mut equation = EquationOfMotion::new(&model);
        equation.update(&model, &workspace);
        // What the tool applies to its surroundings, the joints must raise.
        let mut held = vec![0.0; n];
        workspace.add_wrench(tool, &swapped(&vector(&case["F_tip"])), &mut held);
        let mut J = Matrix6xX::zeros(n);
        workspace.jacobian(BodyId::WORLD, tool, &mut J);
        let columns: Vec<_> = J.column_iter().map(|c| swapped(&c.into_owned())).collect();
        let mut tau = vec![0.0; n];
        model.inverse_dynamics(&mut workspace, &x, &xi, &xi_dot, &mut tau);
        for (tau, held) in tau.iter_mut().zip(&held) {
            *tau += held;
        }
        let tip = swapped(&vector(&case["F_tip"]));
        let forces = chain.inverse_dynamics([&x, &xi, &xi_dot], &BaseMotion::default(), &tip);
        let forces = forces.expect("sizes").joints;

        let mut is = |what: &str, got: &DMatrix<f64>| {
            compare(file, &case["expected"][what], what, got, within);
        };
        is("tau", &rows(&tau));
        is("tau", &rows(forces.as_slice()));
        is("M", &equation.mass_matrix);
        is("c", &rows(equation.coriolis_force.as_slice()));
        is("g", &rows(equation.potential_force.as_slice()));
        is("Jt_Ftip", &rows(&held));
        let columns = DMatrix::from_fn(n, 6, |i, k| columns[i][k]);
        is("body_twist_Jacobian_tip_cols", &columns);
    }
}

fn chain(case: &Value) -> ScrewChain {
    let masses = numbers(&case["mass"]);
    let (homes, screws) = (array(&case["M_0i"]), array(&case["S_space"]));
    let moments = array(&case["inertia_com"]);
    let links = (0..masses.len()).map(|i| {
        let inertia = PseudoInertia::from_center(masses[i], Vector3::zeros(), matrix(&moments[i]));
        ScrewLink {
            home: pose(&homes[i]),
            screw: swapped(&vector(&screws[i])),
            inertia: inertia.expect("an inertia"),
        }
    });
    let tool = pose(homes.last().expect("a tool"));
    ScrewChain::new(links.collect(), tool)
        .and_then(|chain| chain.with_gravity(vector(&case["gravity"])))
        .expect("a chain")
}

fn pose(rows: &Value) -> SE3<f64> {
    SE3::try_from_matrix(&matrix(rows), 1e-12).expect("a pose")
}

/// `[omega; v]` as `[v; omega]`, and the other way.
fn swapped(twist: &Vector6<f64>) -> Vector6<f64> {
    Vector6::from_fn(|i, _| twist[(i + 3) % 6])
}
