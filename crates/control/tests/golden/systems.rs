//! Whole systems: joints, planar bodies, arms, and one of eleven degrees of freedom.

use fly_control::law::Law;
use fly_control::linear::LinearModel;
use fly_control::matching::Matching;
use fly_control::system::{SystemPair, SystemReference};
use fly_control::template::{Approach, DesiredMotion, Pair, Template, Transport};
use fly_control::transport::{JointMap, PairMap, PointMap, TransportContext, TransportMap};
use fly_lie::{SE3, SO3};
use fly_mechanics::multibody::{
    Body, BodyId, EquationOfMotion, Joint, Model, ModelBuilder, Spring, Workspace,
};
use fly_mechanics::{PseudoInertia, SecondMoment};
use fly_testing::golden::{File, array, count, number, numbers};
use nalgebra::{DMatrix, DVector, Dyn, Matrix3, Matrix4, Vector3};
use serde_json::Value;

use crate::data::{characteristic_polynomial, matrix, relative, rows, vector3};
use crate::solve::solve;

const TOLERANCE: f64 = 1e-10;

/// The examples that are systems, by their name in the files.
pub fn is_system(example: &str) -> bool {
    matches!(
        family(example),
        "prismatic"
            | "revolute"
            | "orientation"
            | "planar"
            | "scara"
            | "arm"
            | "two_masses"
            | "pvtol"
    )
}

/// The name of the plant: the same one stands under several controllers.
fn family(example: &str) -> &str {
    match example.split_once('_') {
        Some((plant @ ("scara" | "arm" | "planar"), _)) => plant,
        _ => example,
    }
}

/// A system with the controllers of a file.
pub struct System {
    pub model: Model<f64>,
    pub pairs: Vec<SystemPair>,
    pub example: String,
    pub tool: Option<(BodyId, Vector3<f64>)>,
}

impl System {
    pub fn new(data: &Value) -> Self {
        let example = family(data["example"].as_str().expect("a name")).to_owned();
        let model = model(&example, data);
        let pairs = array(&data["controller_parameters"]).iter().map(|pair| {
            let id = |i: usize| body_id(&model, count(&pair["pair"][i]));
            let moment = |key: &str| Matrix4::from_row_slice(&numbers(&pair[key]));
            SystemPair {
                a: id(0),
                b: id(1),
                energies: Pair::new(moment("Kp"), moment("Dp"), moment("Mp")),
            }
        });
        let pairs: Vec<_> = pairs.collect();
        // SCARA, second parameterisation: one point of the second link counts.
        let tool = (example == "scara" && pairs.len() == 1).then(|| {
            let l2 = number(&data["config"]["l2"]);
            (pairs[0].b, Vector3::new(l2, 0.0, 0.0))
        });
        Self {
            model,
            pairs,
            example,
            tool,
        }
    }

    /// The template of an approach as the files name it.
    pub fn template(&self, name: &str) -> Template<Model<f64>> {
        let approach = match name {
            "particle" => Approach::Particle,
            "body" => Approach::Body,
            "energy" | "energy_alt" => Approach::Energy,
            other => panic!("unknown approach {other}"),
        };
        let kind = match name {
            "energy_alt" => Transport::Centred,
            _ => Transport::Adjoint,
        };
        let one_pair = matches!(self.example.as_str(), "planar" | "pvtol")
            || (self.example == "arm" && self.pairs.len() == 1);
        let map: Box<dyn TransportMap> = match self.tool {
            Some((b, point)) => Box::new(PointMap::new(&self.model, BodyId::WORLD, b, point)),
            None if one_pair => Box::new(PairMap::new(&self.model, kind, 0)),
            None => Box::new(JointMap),
        };
        Template::of_system(&self.model, approach, self.pairs.clone(), map)
    }

    /// The configuration as the files have it.
    pub fn as_in_file(&self, x: &[f64]) -> Vec<f64> {
        match self.example.as_str() {
            "planar" => vec![x[0], x[1], x[2].sin(), x[2].cos()],
            _ => x.to_vec(),
        }
    }

    /// The configuration of the model from that of the files, which have sine and cosine of a planar body's angle.
    pub fn configuration(&self, x: &[f64]) -> Vec<f64> {
        match self.example.as_str() {
            "planar" => vec![x[0], x[1], x[2].atan2(x[3])],
            _ => x.to_vec(),
        }
    }
}

pub fn body_id(model: &Model<f64>, index: usize) -> BodyId {
    match index {
        0 => BodyId::WORLD,
        _ => model.body_id(&index.to_string()).expect("a body"),
    }
}

fn inertia(mass: f64, center: Vector3<f64>, about_center: Matrix3<f64>) -> PseudoInertia<f64> {
    PseudoInertia::from_center(mass, center, about_center).expect("an inertia")
}

fn at(x: f64, y: f64, z: f64) -> SE3<f64> {
    SE3::new(SO3::identity(), Vector3::new(x, y, z))
}

/// The moment of inertia about z of a body in the plane; those about x and y play no part.
fn planar_inertia(mass: f64, center: Vector3<f64>, about_origin: f64) -> PseudoInertia<f64> {
    let moment = about_origin - mass * center.norm_squared();
    inertia(mass, center, Matrix3::identity() * moment)
}

fn model(example: &str, data: &Value) -> Model<f64> {
    let config = &data["config"];
    let get = |key: &str| number(&config[key]);
    let free_of_gravity = Model::builder().gravity(Vector3::zeros());
    let z = Vector3::z();
    let slider = |name: &str, mass| {
        Body::new(name, Joint::prismatic(Vector3::x()).expect("an axis")).inertia(inertia(
            mass,
            Vector3::zeros(),
            Matrix3::identity(),
        ))
    };
    let builder = match example {
        "prismatic" => free_of_gravity.body(slider("1", get("m"))),
        "revolute" => free_of_gravity.body(Body::new("1", revolute(z)).inertia(planar_inertia(
            1.0,
            Vector3::zeros(),
            get("Th"),
        ))),
        "orientation" => {
            let Th = Matrix3::from_row_slice(&numbers(&config["Th"]));
            free_of_gravity.body(Body::new("1", Joint::spherical()).inertia(inertia(
                1.0,
                Vector3::zeros(),
                Th,
            )))
        }
        "planar" => {
            let s = numbers(&config["sm"]);
            let body = planar_inertia(get("m"), Vector3::new(s[0], s[1], 0.0), get("Thm"));
            free_of_gravity.body(Body::new("1", Joint::planar(z).expect("an axis")).inertia(body))
        }
        "pvtol" => Model::builder()
            .gravity(Vector3::new(0.0, -9.81, 0.0))
            .body(
                Body::new("1", Joint::planar(z).expect("an axis")).inertia(planar_inertia(
                    get("m"),
                    Vector3::zeros(),
                    get("Th"),
                )),
            ),
        "scara" => {
            let link = |key: &str| number(&config["model"][key]);
            let s2 = Vector3::new(link("s2x"), link("s2y"), 0.0);
            free_of_gravity
                .body(Body::new("1", revolute(z)).inertia(planar_inertia(
                    1.0,
                    Vector3::zeros(),
                    link("Th1"),
                )))
                .body(
                    Body::new("2", revolute(z))
                        .parent("1")
                        .placed(at(get("l1"), 0.0, 0.0))
                        .inertia(planar_inertia(link("m2"), s2, link("Th2"))),
                )
        }
        "two_masses" => free_of_gravity
            .body(slider("1", get("m1")))
            .body(slider("2", get("m2")))
            .spring(Spring {
                a: "1".to_owned(),
                b: "2".to_owned(),
                rest: SE3::identity(),
                stiffness: SecondMoment::from_points([(get("k"), Vector3::zeros())]),
            }),
        "arm" => arm(data),
        other => panic!("unknown example {other}"),
    };
    builder.build().expect("a system")
}

/// The arm of Konz (5.131) with its tool as body 7.
fn arm(data: &Value) -> ModelBuilder<f64> {
    let config = &data["config"];
    let (x, y, z) = (Vector3::x(), Vector3::y(), Vector3::z());
    let l = numbers(&config["l"]);
    let axes = [z, y, y, x, y, x];
    let places = [
        at(0.0, 0.0, 0.0),
        at(l[0], 0.0, 0.0),
        at(0.0, 0.0, l[1]),
        at(l[2], 0.0, 0.0),
        SE3::identity(),
        SE3::identity(),
    ];
    let mut builder = Model::builder();
    for (i, (axis, place)) in axes.into_iter().zip(places).enumerate() {
        let described = &array(&data["model_inertias"])[i];
        let moment =
            SecondMoment::from_matrix4(Matrix4::from_row_slice(&numbers(&described["Mp"])));
        let link = PseudoInertia::from_origin(
            moment.weight(),
            moment.center(),
            moment.moment_about_origin(),
        );
        let parent = if i == 0 {
            "world".to_owned()
        } else {
            i.to_string()
        };
        builder = builder.body(
            Body::new((i + 1).to_string(), revolute(axis))
                .parent(parent)
                .placed(place)
                .inertia(link.expect("an inertia")),
        );
    }
    let turn = SO3::exp(&Vector3::new(0.0, number(&config["tool_roty"]), 0.0));
    let tool = SE3::new(turn, vector3(&config["tool_r"]));
    builder.body(Body::new("7", Joint::fixed()).parent("6").placed(tool))
}

fn revolute(axis: Vector3<f64>) -> Joint<f64> {
    Joint::revolute(axis).expect("an axis")
}

/// M and b of the model in a state.
pub fn terms(
    model: &Model<f64>,
    workspace: &Workspace<f64>,
    xi: &[f64],
) -> (DMatrix<f64>, DVector<f64>) {
    let mut equation = EquationOfMotion::new(model);
    equation.update(model, workspace);
    let mut b = DVector::zeros(model.dof());
    equation.bias(xi, b.as_mut_slice());
    (equation.mass_matrix, b)
}

pub fn samples(data: &Value, report: &mut File) {
    let system = System::new(data);
    let model = &system.model;
    let (mut actual, mut reference) = (Workspace::new(model), Workspace::new(model));
    let mut desired = DesiredMotion::new(model);
    for sample in array(&data["samples"]) {
        let (x, xi) = (
            system.configuration(&numbers(&sample["x"])),
            numbers(&sample["xi"]),
        );
        let (x_R, xi_R, xi_dot_R) = (
            system.configuration(&numbers(&sample["xR"])),
            numbers(&sample["xiR"]),
            numbers(&sample["xiRd"]),
        );
        let goal = SystemReference {
            configuration: &x_R,
            velocity: &xi_R,
            acceleration: &xi_dot_R,
        };
        actual.update(model, &x, &xi);
        actual.update_jacobians(model);
        let (M, b) = terms(model, &actual, &xi);
        let B = matrix(&sample["B"]);
        relative(
            report,
            "model M, b",
            &rows(&M),
            &numbers(&sample["M"]),
            TOLERANCE,
        );
        relative(
            report,
            "model M, b",
            b.as_slice(),
            &numbers(&sample["b"]),
            TOLERANCE,
        );

        for (name, given) in sample["approaches"].as_object().into_iter().flatten() {
            let mut template = system.template(name);
            template
                .evaluate(model, &actual, &xi, &mut reference, &goal, &mut desired)
                .expect("a transport map");
            if template.approach() == Approach::Energy {
                let at = TransportContext {
                    model,
                    pairs: &system.pairs,
                    actual: &actual,
                    reference: &reference,
                };
                at.check(&desired.map, 1e-9).expect("a map that fits");
            }
            let mut law = Law::new(Dyn(model.dof()), Dyn(B.ncols()));
            let u = solve(&mut law, &M, &b, &B, &desired);
            let factors = M.clone().cholesky().expect("a mass matrix");
            let xi_dot = factors.solve(&(&B * &u - &b));
            let e = desired.energies;
            let mut check = |keys: &[(&str, &[f64])]| {
                for (key, found) in keys {
                    if let Some(expected) = given.get(*key) {
                        let what = format!("{name}: {key}");
                        relative(report, &what, found, &numbers(expected), TOLERANCE);
                    }
                }
            };
            check(&[
                ("Mbar", &rows(&desired.mass_matrix)),
                ("bbar", desired.bias.as_slice()),
                ("cbar", desired.inertial.as_slice()),
                ("fD", desired.damping.as_slice()),
                ("fK", desired.stiffness.as_slice()),
                ("V", &[e.potential]),
                ("R", &[e.dissipation]),
                ("T", &[e.kinetic]),
                ("W", &[e.total]),
                ("Q", &rows(&desired.map.Q)),
                ("Qdot", &rows(&desired.map.Q_dot)),
                ("H", &rows(law.metric())),
                ("u0", u.as_slice()),
                ("u", u.as_slice()),
                ("xidot", xi_dot.as_slice()),
            ]);
            if let (Some(complement), Some(_)) = (data.get("Bperp"), given.get("lam")) {
                let matching =
                    Matching::with_complement(&M, &desired.mass_matrix, matrix(complement));
                let matching = matching.expect("regular");
                let left = matching.force(&b, &desired.bias);
                check(&[
                    ("lam", left.lambda.as_slice()),
                    ("S", &rows(matching.weight())),
                    ("btilde", left.force.as_slice()),
                    ("G0", &[left.distance]),
                ]);
            }
        }
    }
    linearisation(data, &system, report);
}

fn linearisation(data: &Value, system: &System, report: &mut File) {
    let given = &data["linearisation_at_xR0"];
    if given.is_null() {
        return;
    }
    let model = &system.model;
    let mut reference = Workspace::new(model);
    let x_R = system.configuration(&numbers(&data["reference"]["xR"][0]));
    reference.update(model, &x_R, &vec![0.0; model.dof()]);
    reference.update_jacobians(model);
    let own = LinearModel::of_pairs(model, &reference, &system.pairs);
    for (key, found) in [
        ("M0", &own.inertia),
        ("D0", &own.damping),
        ("K0", &own.stiffness),
    ] {
        relative(report, key, &rows(found), &numbers(&given[key]), TOLERANCE);
    }
    // The characteristic polynomial from the poles; multiple poles themselves are ill conditioned.
    let real = characteristic_polynomial(&own);
    relative(
        report,
        "charpoly",
        &real,
        &numbers(&given["charpoly"]),
        1e-8,
    );
}
