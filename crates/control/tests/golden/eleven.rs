//! A free body with a load on a ball joint, and an arm on a hinge that carries a slider: eleven degrees of freedom.

use fly_control::system::{SystemPair, SystemReference};
use fly_control::template::{Approach, DesiredMotion, Pair, Template};
use fly_control::transport::{JointMap, Map, TransportContext, TransportError, TransportMap};
use fly_lie::{SE3, SO3};
use fly_mechanics::multibody::{Body, Joint, Model, Workspace};
use fly_testing::golden::{File, array, count, number, numbers};
use nalgebra::{DVector, Matrix4, Vector3};
use serde_json::Value;

use crate::data::{matrix, relative, vector3};
use crate::systems::body_id;

const TOLERANCE: f64 = 1e-10;

/// The map that a file gives.
struct Given(Map);

impl TransportMap for Given {
    fn evaluate(&mut self, _: &TransportContext<'_>, map: &mut Map) -> Result<(), TransportError> {
        map.clone_from(&self.0);
        Ok(())
    }
}

fn model(data: &Value) -> Model<f64> {
    let constants = &data["constants"];
    let phi = number(&constants["phi"]);
    let arm = SE3::new(
        SO3::exp(&Vector3::new(0.0, 0.0, phi)),
        Vector3::new(phi.cos(), phi.sin(), 0.0) * number(&constants["l_A"]),
    );
    Model::builder()
        .body(Body::new("1", Joint::free()))
        .body(
            Body::new("2", Joint::spherical())
                .parent("1")
                .placed(SE3::new(SO3::identity(), vector3(&constants["h_L"]))),
        )
        .body(
            Body::new("3", Joint::revolute(Vector3::x()).expect("an axis"))
                .parent("1")
                .placed(arm),
        )
        .body(
            Body::new("4", Joint::prismatic(Vector3::z()).expect("an axis"))
                .parent("3")
                .placed(SE3::new(SO3::identity(), Vector3::new(0.0, 0.05, 0.0))),
        )
        .build()
        .expect("a system")
}

/// The pairs of a list with K', D' and M' under these keys; zero if a key is absent.
fn pairs(model: &Model<f64>, list: &Value, keys: [&str; 3]) -> Vec<SystemPair> {
    let list = array(list).iter();
    list.map(|pair| {
        let moment = |key: &str| match pair.get(key) {
            Some(rows) => Matrix4::from_row_slice(&numbers(rows)),
            None => Matrix4::zeros(),
        };
        SystemPair {
            a: body_id(model, count(&pair["pair"][0])),
            b: body_id(model, count(&pair["pair"][1])),
            energies: Pair::new(moment(keys[0]), moment(keys[1]), moment(keys[2])),
        }
    })
    .collect()
}

/// Pairs between any of the bodies, a given transport map, and the same motion in other coordinates.
pub fn compare(data: &Value, report: &mut File) {
    let model = model(data);
    let (mut actual, mut reference) = (Workspace::new(&model), Workspace::new(&model));
    let mut desired = DesiredMotion::new(&model);
    for case in array(&data["cases"]) {
        let A = &case["A"];
        let (x, xi) = (numbers(&A["x"]), numbers(&A["xi"]));
        let (x_R, xi_R, xi_dot_R) = (numbers(&A["xR"]), numbers(&A["xiR"]), numbers(&A["xiRd"]));
        actual.update(&model, &x, &xi);
        actual.update_jacobians(&model);

        // The model's inertias are arbitrary, not physical: its M and c are those of a desired motion towards rest.
        let mut plant = Template::of_system(
            &model,
            Approach::Particle,
            pairs(&model, &data["inertias"], ["", "", "Mp"]),
            Box::new(JointMap),
        );
        let rest = SystemReference {
            configuration: &x,
            velocity: &[0.0; 11],
            acceleration: &[0.0; 11],
        };
        plant
            .evaluate(&model, &actual, &xi, &mut reference, &rest, &mut desired)
            .expect("a motion");
        relative(
            report,
            "M, c",
            desired.mass_matrix.as_slice(),
            &numbers(&A["M"]),
            TOLERANCE,
        );
        relative(
            report,
            "M, c",
            desired.inertial.as_slice(),
            &numbers(&A["c"]),
            TOLERANCE,
        );

        let goal = SystemReference {
            configuration: &x_R,
            velocity: &xi_R,
            acceleration: &xi_dot_R,
        };
        for (name, given) in A["approaches"].as_object().into_iter().flatten() {
            let map = Given(Map {
                Q: matrix(&A["Q"]),
                Q_dot: matrix(&A["Qdot"]),
            });
            let pairs = pairs(&model, &data["controller_parameters"], ["Kp", "Dp", "Mp"]);
            let mut template = Template::of_system(&model, approach(name), pairs, Box::new(map));
            template
                .evaluate(&model, &actual, &xi, &mut reference, &goal, &mut desired)
                .expect("a motion");
            motion(name, given, case, &desired, report);
        }
    }
}

fn approach(name: &str) -> Approach {
    match name {
        "particle" => Approach::Particle,
        "body" => Approach::Body,
        _ => Approach::Energy,
    }
}

fn motion(name: &str, given: &Value, case: &Value, desired: &DesiredMotion, report: &mut File) {
    let A = &case["A"];
    let factors = desired.mass_matrix.clone().lu();
    let xi_dot = -factors.solve(&desired.bias).expect("an acceleration");
    let M_bar: Vec<f64> = desired.mass_matrix.iter().copied().collect();
    // It is symmetric: rows are columns.
    relative(report, "Mbar", &M_bar, &numbers(&A["Mbar"]), TOLERANCE);
    for (key, found) in [
        ("bbar", desired.bias.as_slice()),
        ("cbar", desired.inertial.as_slice()),
        ("fD", desired.damping.as_slice()),
        ("fK", desired.stiffness.as_slice()),
        ("V", &[desired.energies.potential]),
        ("R", &[desired.energies.dissipation]),
        ("T", &[desired.energies.kinetic]),
        ("xidot", xi_dot.as_slice()),
    ] {
        let what = format!("{name}: {key}");
        relative(report, &what, found, &numbers(&given[key]), TOLERANCE);
    }
    // The same motion in other velocity coordinates: xi_B = Z xi, xi_B_dot = Z xi_dot + Z_dot xi.
    let (Z, Z_dot) = (matrix(&case["Z"]), matrix(&case["Zdot"]));
    let xi = DVector::from_vec(numbers(&A["xi"]));
    let other = Z * xi_dot + Z_dot * xi;
    let expected = numbers(&case["B"]["approaches"][name]["xidot"]);
    let what = format!("{name}: xidot in other coordinates");
    relative(report, &what, other.as_slice(), &expected, TOLERANCE);
}
