//! The systems of golden files as models, their kinematics, forces and energies.

mod chain;
mod description;
mod trajectory;

pub use chain::chains;
pub use description::{configuration, model};
pub use trajectory::{gyroscopes, trajectory};

use fly_mechanics::multibody::projection;
use fly_mechanics::multibody::{BodyId, EquationOfMotion, Workspace};
use fly_testing::golden::{File, array, numbers, only, tolerances};
use nalgebra::{DMatrix, DVector, Matrix6xX};
use serde_json::Value;

/// The keys of a system, see [`model`].
pub const SYSTEM: &str = "system{n gravity bodies[id m s Theta] \
    joints[parent child type G_pre axis axes second_axis axis2 axis_2 axis_b pitch dof xi_offset velocity] \
    springs[a b G_R points[k h] K_prime meaning] dampers[a b points[d h] D_prime meaning] joint_map{*}}";

/// Compares with the quantity of this name, if the case has it, relative to its largest entry.
pub fn compare(file: &mut File, expected: &Value, what: &str, got: &DMatrix<f64>, within: f64) {
    if expected.is_null() {
        return;
    }
    let expected = numbers(expected);
    assert_eq!(got.len(), expected.len(), "{what}: length");
    // A quantity that vanishes does so up to the rounding of its terms: an error of 1e-14 is always allowed.
    let floor = 1e-14 / within;
    let scale = expected.iter().fold(floor, |m, e| e.abs().max(m));
    for (g, e) in got.transpose().iter().zip(&expected) {
        file.error(what, (g - e).abs() / scale, within);
    }
}

fn rows(data: &[f64]) -> DMatrix<f64> {
    DMatrix::from_column_slice(data.len(), 1, data)
}

/// Everything that a `system` file expects of its cases.
pub fn system(file: &mut File, data: &Value) {
    // By body: poses, Jacobians, twists and Jacobian rates.
    let of_bodies = "G_0b{*} J_0b{*} xi_0b{*} Jdot_0b{*}";
    only(
        data,
        &format!(
            "{SYSTEM} parameters{{*}}
             cases[state{{*}} xi xidot expected{{M c f_G f_K D T V_G V_K R f_M xidot_free {of_bodies}}}]"
        ),
    );
    let model = model(&data["system"]);
    let [within] = tolerances(data, [1e-9]);
    let mut workspace = Workspace::new(&model);
    let mut equation = EquationOfMotion::new(&model);
    let mut force = DVector::zeros(model.dof());
    for case in array(&data["cases"]) {
        let x = configuration(&data["system"], &case["state"]);
        let xi = numbers(&case["xi"]);
        workspace.update(&model, &x, &xi);
        workspace.update_jacobians(&model);
        equation.update(&model, &workspace);
        kinematics(file, &workspace, &model, &case["expected"], within);

        let expected = &case["expected"];
        let mut is = |what: &str, got: &[f64]| {
            compare(file, &expected[what], what, &rows(got), within);
        };
        is("c", equation.coriolis_force.as_slice());
        workspace.gravity_force(&model, force.as_mut_slice());
        is("f_G", force.as_slice());
        workspace.spring_force(&model, force.as_mut_slice());
        is("f_K", force.as_slice());
        is("T", &[workspace.kinetic_energy(&model)]);
        is("V_G", &[workspace.gravity_energy(&model)]);
        is("V_K", &[workspace.spring_energy(&model)]);
        is("R", &[workspace.dissipation(&model)]);
        if !case["xidot"].is_null() {
            let xi_dot = numbers(&case["xidot"]);
            projection::inertial_force(&model, &workspace, &xi_dot, force.as_mut_slice());
            is("f_M", force.as_slice());
        }
        let mut xi_dot = vec![0.0; model.dof()];
        let free = equation.acceleration(&xi, &vec![0.0; model.dof()], &mut xi_dot);
        free.expect("mass everywhere");
        is("xidot_free", &xi_dot);
        compare(file, &expected["M"], "M", &equation.mass_matrix, within);
        compare(file, &expected["D"], "D", &equation.damping, within);
    }
}

/// Poses, twists, Jacobians and their rates, of all bodies that a case lists.
fn kinematics(
    file: &mut File,
    workspace: &Workspace<f64>,
    model: &fly_mechanics::multibody::Model<f64>,
    expected: &Value,
    within: f64,
) {
    let mut J = Matrix6xX::zeros(model.dof());
    let dynamic = |m: &Matrix6xX<f64>| DMatrix::from_column_slice(6, m.ncols(), m.as_slice());
    for body in model.bodies() {
        let name = model.name(body);
        let mut is = |what: &str, got: DMatrix<f64>| {
            compare(file, &expected[what][name], what, &got, within);
        };
        let G = workspace.pose(BodyId::WORLD, body).matrix();
        is("G_0b", DMatrix::from_column_slice(4, 4, G.as_slice()));
        is(
            "xi_0b",
            rows(workspace.twist(BodyId::WORLD, body).as_slice()),
        );
        workspace.jacobian(BodyId::WORLD, body, &mut J);
        is("J_0b", dynamic(&J));
        workspace.jacobian_rate(BodyId::WORLD, body, &mut J);
        is("Jdot_0b", dynamic(&J));
    }
}
