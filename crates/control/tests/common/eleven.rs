//! A free body with a load on a ball joint, and an arm on a hinge that carries a slider: eleven degrees of freedom, four inputs more than a
//! quadcopter has.

use fly_control::system::{JointMap, SystemController, SystemPair, SystemTemplate};
use fly_control::template::{Approach, Pair};
use fly_lie::{SE3, SO3};
use fly_mechanics::multibody::{Body, BodyId, Joint, Model};
use fly_mechanics::{PseudoInertia, SecondMoment};
use nalgebra::{DMatrix, Matrix3, Matrix4, Vector3};

/// The system.
pub fn model() -> Model<f64> {
    let at = |x, y, z| SE3::new(SO3::identity(), Vector3::new(x, y, z));
    let inertia = |mass: f64| {
        let moments = Matrix3::from_diagonal(&Vector3::new(0.03, 0.04, 0.05));
        PseudoInertia::from_center(mass, Vector3::new(0.01, -0.02, 0.03), moments).unwrap()
    };
    Model::builder()
        .body(Body::new("airframe", Joint::free()).inertia(inertia(2.0)))
        .body(
            Body::new("load", Joint::spherical())
                .parent("airframe")
                .placed(at(0.1, -0.2, -0.35))
                .inertia(inertia(0.5)),
        )
        .body(
            Body::new("arm", Joint::revolute(Vector3::x()).unwrap())
                .parent("airframe")
                .placed(at(0.2, 0.35, 0.0))
                .inertia(inertia(0.4)),
        )
        .body(
            Body::new("slider", Joint::prismatic(Vector3::z()).unwrap())
                .parent("arm")
                .placed(at(0.0, 0.05, 0.0))
                .inertia(inertia(0.3)),
        )
        .build()
        .unwrap()
}

/// Energies between every body and the one that carries it.
pub fn controller(approach: Approach) -> SystemController {
    let model = model();
    let moment = |weight: f64| -> Matrix4<f64> {
        let points = [Vector3::x(), Vector3::y(), Vector3::z(), Vector3::zeros()];
        *SecondMoment::from_points(points.map(|h| (weight, h * 0.3))).matrix4()
    };
    let pairs = model.bodies().map(|b| SystemPair {
        a: model.parent(b).unwrap_or(BodyId::WORLD),
        b,
        energies: Pair::new(moment(9.0), moment(6.0), moment(1.0)),
    });
    let template = SystemTemplate::new(&model, approach, pairs.collect(), Box::new(JointMap));
    let inputs = model.dof();
    SystemController::new(model, template, inputs)
}

/// A state or reference: configuration, velocity, acceleration.
pub fn motion(model: &Model<f64>, mut next: impl FnMut() -> f64) -> [Vec<f64>; 3] {
    let n = model.dof();
    let mut numbers = || (0..n).map(|_| next()).collect::<Vec<_>>();
    let mut x = model.neutral_configuration();
    model.integrate(&mut x, &numbers());
    [x, numbers(), numbers()]
}

/// Every coordinate has an input.
pub fn inputs(model: &Model<f64>) -> DMatrix<f64> {
    DMatrix::identity(model.dof(), model.dof())
}
