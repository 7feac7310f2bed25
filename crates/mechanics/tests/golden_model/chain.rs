//! Serial chains that are given by the screw axes of their joints at home, with twists `[omega; v]`.

use fly_lie::{SE3, SO3};
use fly_mechanics::PseudoInertia;
use fly_mechanics::multibody::{Body, BodyId, EquationOfMotion, Joint, Model, Workspace};
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
        let model = chain(case);
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

        let mut is = |what: &str, got: &DMatrix<f64>| {
            compare(file, &case["expected"][what], what, got, within);
        };
        is("tau", &rows(&tau));
        is("M", &equation.mass_matrix);
        is("c", &rows(equation.coriolis_force.as_slice()));
        is("g", &rows(equation.potential_force.as_slice()));
        is("Jt_Ftip", &rows(&held));
        let columns = DMatrix::from_fn(n, 6, |i, k| columns[i][k]);
        is("body_twist_Jacobian_tip_cols", &columns);
    }
}

/// Frames of joints lie on their axes and are parallel to the world at home.
fn chain(case: &Value) -> Model<f64> {
    let mut builder = Model::builder().gravity(vector(&case["gravity"]));
    let homes = array(&case["M_0i"]);
    let masses = numbers(&case["mass"]);
    let (mut parent, mut origin) = ("world".to_owned(), Vector3::zeros());
    for (i, screw) in array(&case["S_space"]).iter().enumerate() {
        let screw: Vector6<f64> = vector(screw);
        let (omega, v) = (
            screw.fixed_rows::<3>(0).into_owned(),
            screw.fixed_rows::<3>(3).into_owned(),
        );
        let point = omega.cross(&v);
        let pitch = omega.dot(&v);
        let joint = if omega.norm() < 1e-12 {
            Joint::prismatic(v)
        } else if pitch.abs() < 1e-12 {
            Joint::revolute(omega)
        } else {
            Joint::screw(omega, pitch)
        };
        let inertia = PseudoInertia::from_center(
            masses[i],
            Vector3::zeros(),
            matrix(&array(&case["inertia_com"])[i]),
        );
        let home = pose(&homes[i]);
        let inertia = inertia.expect("an inertia").placed(&(at(-point) * home));
        let body = Body::new(format!("link{i}"), joint.expect("a joint"))
            .parent(parent)
            .placed(at(point - origin))
            .inertia(inertia);
        builder = builder.body(body);
        (parent, origin) = (format!("link{i}"), point);
    }
    let tool = pose(homes.last().expect("a tool"));
    let tool = Body::new("tool", Joint::fixed())
        .parent(parent)
        .placed(at(-origin) * tool);
    builder.body(tool).build().expect("a chain")
}

fn at(point: Vector3<f64>) -> SE3<f64> {
    SE3::new(SO3::identity(), point)
}

fn pose(rows: &Value) -> SE3<f64> {
    SE3::try_from_matrix(&matrix(rows), 1e-12).expect("a pose")
}

/// `[omega; v]` as `[v; omega]`, and the other way.
fn swapped(twist: &Vector6<f64>) -> Vector6<f64> {
    Vector6::from_fn(|i, _| twist[(i + 3) % 6])
}
