//! What a system does, whatever coordinates and frames it is described in.

#![allow(non_snake_case)]

use crate::moving;
use crate::random_tree;

use fly_lie::operators::angular;
use fly_lie::{SE3, SO3};
use fly_mechanics::SecondMoment;
use fly_mechanics::multibody::{
    Body, BodyId, Damper, EquationOfMotion, Joint, JointKind, Model, Spring, Workspace,
};
use moving::{error, rebuilt};
use nalgebra::DVector;
use random_tree::{Random, state, tree};

const SIZES: [usize; 6] = [1, 2, 3, 5, 8, 30];

/// One description of a random tree with springs and dampers.
struct Description {
    /// What becomes of a joint.
    joint: fn(Joint<f64>) -> Joint<f64>,
    /// Bodies are described in frames other than those of their joints, at random poses.
    other_frames: bool,
    /// The world's frame of before, seen from that of now.
    world: SE3<f64>,
}

impl Description {
    fn plain() -> Self {
        Self {
            joint: |joint| joint,
            other_frames: false,
            world: SE3::identity(),
        }
    }

    /// The tree of this seed. A body's frame `b` becomes `b'`, which is fixed to the joint's.
    fn model(&self, seed: usize) -> Model<f64> {
        let tree = tree::<f64>(seed, SIZES[seed % SIZES.len()]);
        let mut random = Random::new(seed);
        let mut frames = vec![self.world.inverse()];
        let mut names = vec!["world".to_owned()];
        for body in tree.bodies() {
            let pose: SE3<f64> = random.pose();
            frames.push(if self.other_frames {
                pose
            } else {
                SE3::identity()
            });
            names.push(format!("{}'", tree.name(body)));
        }
        let gravity = self.world.rotation.act(tree.gravity());
        let mut fixed = Vec::new();
        let mut builder = rebuilt(&tree, gravity, |mut body| {
            let id = tree.body_id(&body.name).expect("a body");
            let parent = tree.body_id(&body.parent).expect("a parent").index();
            let mut frame = Body::new(&names[id.index()], Joint::fixed())
                .parent(&body.name)
                .placed(frames[id.index()]);
            frame.inertia = body.inertia.take().map(|i| i.in_frame(&frames[id.index()]));
            fixed.push(frame);
            body.placement = frames[parent].inverse() * body.placement;
            body.parent.clone_from(&names[parent]);
            body.joint = (self.joint)(body.joint);
            body
        });
        for frame in fixed {
            builder = builder.body(frame);
        }
        for i in 0..names.len() {
            let a = random.index(names.len());
            let b = (a + 1 + random.index(names.len() - 1)) % names.len();
            let points = (0..3).map(|_| (random.next().abs(), random.vector3(0.5)));
            // The points are in the frame of b.
            let moment = SecondMoment::from_points(points).in_frame(&frames[b]);
            let rest = frames[a].inverse() * random.pose() * frames[b];
            let (a, b) = (names[a].clone(), names[b].clone());
            builder = if i % 2 == 0 {
                let damping = moment;
                builder.damper(Damper { a, b, damping })
            } else {
                let stiffness = moment * 8.0;
                builder.spring(Spring {
                    a,
                    b,
                    rest,
                    stiffness,
                })
            };
        }
        builder.build().expect("a system")
    }
}

/// What a system has in a state: the equation of motion, energies, and the acceleration when left to itself.
struct Has {
    equation: EquationOfMotion<f64>,
    energies: [f64; 3],
    xi_dot: Vec<f64>,
    workspace: Workspace<f64>,
}

impl Has {
    fn of(model: &Model<f64>, x: &[f64], xi: &[f64]) -> Self {
        let mut workspace = Workspace::new(model);
        let mut xi_dot = vec![0.0; model.dof()];
        let free = vec![0.0; model.dof()];
        let solved = model.forward_dynamics(&mut workspace, x, xi, &free, &mut xi_dot);
        solved.expect("mass everywhere");
        workspace.update(model, x, xi);
        workspace.update_jacobians(model);
        let mut equation = EquationOfMotion::new(model);
        equation.update(model, &workspace);
        let energies = [
            workspace.kinetic_energy(model),
            workspace.spring_energy(model),
            workspace.dissipation(model),
        ];
        Self {
            equation,
            energies,
            xi_dot,
            workspace,
        }
    }

    /// The same in the same velocity coordinates.
    fn assert_is(&self, other: &Self, what: &str) {
        let (a, b) = (&self.equation, &other.equation);
        let pairs = [
            (a.mass_matrix.as_slice(), b.mass_matrix.as_slice()),
            (a.coriolis_force.as_slice(), b.coriolis_force.as_slice()),
            (a.damping.as_slice(), b.damping.as_slice()),
            (a.potential_force.as_slice(), b.potential_force.as_slice()),
            (&self.energies, &other.energies),
        ];
        for (i, (a, b)) in pairs.into_iter().enumerate() {
            assert!(error(a, b) < 1e-11, "{what}: {i}");
        }
        // As exact as the mass matrix is well conditioned.
        assert!(error(&self.xi_dot, &other.xi_dot) < 1e-8, "{what}");
    }
}

/// Quaternions for matrices, cosine and sine for angles: other configuration coordinates with the same velocity coordinates.
#[test]
fn configuration_coordinates_do_not_matter() {
    for seed in 0..24 {
        let model = Description::plain().model(seed);
        let other = Description {
            joint: |joint| match joint.kind() {
                JointKind::Spherical(_) | JointKind::Free(_) => joint.with_quaternion(),
                _ => joint.with_quaternion().with_cos_sin(),
            },
            ..Description::plain()
        };
        let other = other.model(seed);
        let (x, xi) = state(&model, &mut Random::new(seed));
        // The same steps from the neutral configuration.
        let (y, _) = state::<f64>(&other, &mut Random::new(seed));
        Has::of(&other, &y, &xi).assert_is(&Has::of(&model, &x, &xi), &seed.to_string());
    }
}

/// Every body in another body frame, with its springs and dampers.
#[test]
fn frames_of_bodies_do_not_matter() {
    for seed in 0..24 {
        let model = Description::plain().model(seed);
        let other = Description {
            other_frames: true,
            ..Description::plain()
        };
        let (x, xi) = state(&model, &mut Random::new(seed));
        let other = Has::of(&other.model(seed), &x, &xi);
        other.assert_is(&Has::of(&model, &x, &xi), &seed.to_string());
    }
}

/// The whole system seen from another inertial frame, gravity with it.
#[test]
fn the_inertial_frame_does_not_matter() {
    for seed in 0..24 {
        // Attitudes in the world would change.
        let relative: fn(Joint<f64>) -> Joint<f64> = |joint| match joint.kind() {
            JointKind::AbsoluteSpherical(_) => Joint::spherical(),
            _ => joint,
        };
        let model = Description {
            joint: relative,
            ..Description::plain()
        }
        .model(seed);
        let other = Description {
            joint: relative,
            world: Random::new(seed + 100).pose(),
            ..Description::plain()
        };
        let (x, xi) = state(&model, &mut Random::new(seed));
        let other = Has::of(&other.model(seed), &x, &xi);
        other.assert_is(&Has::of(&model, &x, &xi), &seed.to_string());
    }
}

/// Ball joints with angular velocities relative to the parent and relative to the world: with `eta = W xi` it is `M_xi = W^T M_eta W`,
/// forces likewise, and the bodies move alike.
#[test]
fn velocity_coordinates_do_not_matter() {
    let mut balls = 0;
    for seed in 0..24 {
        let relative: fn(Joint<f64>) -> Joint<f64> = |joint| match joint.kind() {
            JointKind::Spherical(_) | JointKind::AbsoluteSpherical(_) => Joint::spherical(),
            _ => joint,
        };
        let absolute: fn(Joint<f64>) -> Joint<f64> = |joint| match joint.kind() {
            JointKind::Spherical(_) | JointKind::AbsoluteSpherical(_) => {
                Joint::absolute_spherical()
            }
            _ => joint,
        };
        let model = Description {
            joint: relative,
            ..Description::plain()
        }
        .model(seed);
        let other = Description {
            joint: absolute,
            ..Description::plain()
        }
        .model(seed);
        let n = model.dof();
        let (x, xi) = state(&model, &mut Random::new(seed));
        let mut has = Has::of(&model, &x, &xi);

        let mut y = x.clone();
        // `eta` of a velocity, linear in it.
        let mut eta_of = |xi: &[f64]| {
            let mut eta = xi.to_vec();
            has.workspace.update(&model, &x, xi);
            for body in model.bodies() {
                if let Some(JointKind::Spherical(_)) = model.joint(body).map(Joint::kind) {
                    let pose = has.workspace.pose(BodyId::WORLD, body);
                    let omega = angular(&has.workspace.twist(BodyId::WORLD, body));
                    y[model.config_range(body)].copy_from_slice(pose.rotation.matrix().as_slice());
                    eta[model.velocity_range(body)].copy_from_slice(omega.as_slice());
                    balls += 1;
                }
            }
            DVector::from_vec(eta)
        };
        let columns: Vec<_> = (0..n).map(|i| eta_of(&moving::unit(n, i))).collect();
        let W = nalgebra::DMatrix::from_columns(&columns);
        let eta = eta_of(&xi);
        has = Has::of(&model, &x, &xi);
        let other_has = Has::of(&other, &y, eta.as_slice());

        let (a, b) = (&has.equation, &other_has.equation);
        let is = |a: &[f64], b: &[f64], tolerance: f64, what: &str| {
            assert!(error(a, b) < tolerance, "{seed}: {what}");
        };
        is(
            (W.transpose() * &b.mass_matrix * &W).as_slice(),
            a.mass_matrix.as_slice(),
            1e-11,
            "M",
        );
        is(
            (W.transpose() * &b.damping * &W).as_slice(),
            a.damping.as_slice(),
            1e-11,
            "D",
        );
        let force = W.transpose() * &b.potential_force;
        is(
            force.as_slice(),
            a.potential_force.as_slice(),
            1e-11,
            "grad V",
        );
        is(&other_has.energies, &has.energies, 1e-11, "energies");
        for (body, same) in model.bodies().zip(other.bodies()) {
            let got = other_has.workspace.acceleration(same, &other_has.xi_dot);
            let expected = has.workspace.acceleration(body, &has.xi_dot);
            is(got.as_slice(), expected.as_slice(), 1e-8, "acceleration");
        }
    }
    assert!(balls > 200, "{balls}");
}

/// A random pose is not the identity, or nothing would be tested.
#[test]
fn frames_differ() {
    let pose: SE3<f64> = Random::new(100).pose();
    assert!((pose.rotation.matrix() - SO3::identity().matrix()).amax() > 0.1);
}
