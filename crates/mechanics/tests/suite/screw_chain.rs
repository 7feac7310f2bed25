//! Chains by screws: products of exponentials against the tree of joints, and its dynamics against the notes' own algorithm.

#![allow(non_snake_case)]

use fly_lie::{SE3, SO3, angular_first};
use fly_mechanics::PseudoInertia;
use fly_mechanics::multibody::{
    BaseMotion, BodyId, ScrewChain, ScrewChainError, ScrewLink, Workspace,
};
use nalgebra::{DMatrix, DVector, Matrix3, Matrix6, Matrix6xX, Vector3, Vector6};

use crate::random_tree::Random;

fn vector(random: &mut Random) -> Vector6<f64> {
    Vector6::from_fn(|_, _| random.next())
}

/// A chain of hinges, screws and sliders in any order, with frames anywhere.
fn chain(random: &mut Random, count: usize) -> ScrewChain {
    let links = (0..count).map(|k| {
        let axis = random.vector3::<f64>(1.0).normalize();
        let point: Vector3<f64> = random.vector3(0.5);
        let pitch = if k % 4 == 2 { 0.3 } else { 0.0 };
        let (v, omega) = if k % 4 == 1 {
            (axis, Vector3::zeros())
        } else {
            (point.cross(&axis) + axis * pitch, axis)
        };
        ScrewLink {
            home: random.pose(),
            screw: Vector6::new(v.x, v.y, v.z, omega.x, omega.y, omega.z),
            inertia: random.inertia(),
        }
    });
    ScrewChain::new(links.collect(), random.pose()).expect("a chain")
}

/// Poses of the tree of joints are the product of exponentials, and the Jacobians that of its screws.
#[test]
fn products_of_exponentials() {
    let mut random = Random::new(1);
    for count in 0..8 {
        let chain = chain(&mut random, count);
        let model = chain.model().expect("a tree");
        let q = random.numbers(count, 2.0);
        let mut workspace = Workspace::new(&model);
        workspace.update(&model, &q, &vec![0.0; count]);
        workspace.update_jacobians(&model);
        let poses = chain.poses(&q).expect("sizes");
        for (k, pose) in poses.iter().enumerate() {
            let name = if k == count {
                "tool".to_owned()
            } else {
                format!("link{}", k + 1)
            };
            let body = model.body_id(&name).expect("a link");
            let found = workspace.pose(BodyId::WORLD, body);
            assert!((found.matrix() - pose.matrix()).amax() < 1e-13, "{name}");
        }
        let tool = model.body_id("tool").expect("a tool");
        let mut J = Matrix6xX::zeros(count);
        workspace.jacobian(BodyId::WORLD, tool, &mut J);
        let space = chain.space_jacobian(&q).expect("sizes");
        let body = chain.tool(&q).expect("sizes").adjoint_inverse() * space;
        assert!(count == 0 || (body - J).amax() < 1e-13);
    }
}

/// The algorithm as the notes have it, in their order `[ω; v]`, corrected: section 4 with `T_(i,i-1)` where they print `T_(i,i+1)`, the base case that they leave out, and (6.2).
fn notes(
    links: &[(SE3<f64>, Vector6<f64>, Matrix6<f64>)],
    tool: &SE3<f64>,
    [q, rate, acceleration]: [&[f64]; 3],
    base: (Vector6<f64>, Vector6<f64>),
    tip: Vector6<f64>,
) -> (Vec<f64>, Vector6<f64>) {
    let Ad = |T: &SE3<f64>| angular_first::matrix(&T.adjoint());
    let ad =
        |V: &Vector6<f64>| angular_first::matrix(&fly_lie::operators::ad(&angular_first::twist(V)));
    let n = links.len();
    let (mut V, mut V_dot) = base;
    let (mut A, mut step, mut own) = (Vec::new(), Vec::new(), Vec::new());
    let mut before = SE3::identity();
    for i in 0..n {
        let (M, S, G) = &links[i];
        // Step 1: the screw in the link's frame.
        A.push(Ad(&M.inverse()) * S);
        // Step 2: T_(i,i-1) = exp(-[A_i] theta_i) M_(i,i-1)
        let back = SE3::exp(&(angular_first::twist(&A[i]) * -q[i])) * (M.inverse() * before);
        // Steps 3 and 4
        V = Ad(&back) * V + A[i] * rate[i];
        V_dot = Ad(&back) * V_dot + ad(&V) * A[i] * rate[i] + A[i] * acceleration[i];
        own.push(G * V_dot - ad(&V).transpose() * (G * V));
        step.push(back);
        before = *M;
    }
    // Steps 5 and 6; the tool is fixed to the last link.
    let mut F = Ad(&(tool.inverse() * before)).transpose() * tip;
    let mut tau = vec![0.0; n];
    for i in (0..n).rev() {
        F += own[i];
        tau[i] = F.dot(&A[i]);
        F = Ad(&step[i]).transpose() * F;
    }
    (tau, F)
}

#[test]
fn dynamics_are_those_of_the_notes() {
    let mut random = Random::new(2);
    for count in 1..8 {
        let gravity: Vector3<f64> = random.vector3(9.0);
        let mut links = Vec::new();
        let mut plain = Vec::new();
        for k in 0..count {
            let axis = random.vector3::<f64>(1.0).normalize();
            let point: Vector3<f64> = random.vector3(0.5);
            let (v, omega) = match k % 3 {
                0 => (point.cross(&axis), axis),
                1 => (axis, Vector3::zeros()),
                _ => (point.cross(&axis) - axis * 0.2, axis),
            };
            let screw = Vector6::new(v.x, v.y, v.z, omega.x, omega.y, omega.z);
            let (home, inertia) = (random.pose(), random.inertia::<f64>());
            plain.push((
                home,
                angular_first::twist(&screw),
                angular_first::matrix(&inertia.matrix6()),
            ));
            links.push(ScrewLink {
                home,
                screw,
                inertia,
            });
        }
        let tool = random.pose();
        let arm = ScrewChain::new(links, tool)
            .and_then(|arm| arm.with_gravity(gravity))
            .expect("a chain");
        let numbers = [(); 3].map(|()| random.numbers(count, 2.0));
        let motion = [&numbers[0][..], &numbers[1], &numbers[2]];
        let base = BaseMotion {
            pose: random.pose(),
            twist: vector(&mut random),
            acceleration: vector(&mut random),
        };
        let tip = vector(&mut random);
        let found = arm.inverse_dynamics(motion, &base, &tip).expect("sizes");

        // The base accelerates upward in place of gravity.
        let up = base.pose.rotation.inverse().act(&-gravity);
        let swap = |w: &Vector6<f64>| angular_first::twist(w);
        let lifted = base.acceleration + Vector6::new(up.x, up.y, up.z, 0.0, 0.0, 0.0);
        let (tau, holding) = notes(
            &plain,
            &tool,
            motion,
            (swap(&base.twist), swap(&lifted)),
            swap(&tip),
        );
        for (found, expected) in found.joints.iter().zip(&tau) {
            assert!((found - expected).abs() < 1e-11, "{found} {expected}");
        }
        assert!((found.base - swap(&holding)).amax() < 1e-11);

        // On a base at rest it is the model that stands.
        let rest = BaseMotion::default();
        let found = arm
            .inverse_dynamics(motion, &rest, &Vector6::zeros())
            .expect("sizes");
        let model = arm.model().expect("a tree");
        let mut tau = vec![0.0; count];
        let mut workspace = Workspace::new(&model);
        model.inverse_dynamics(&mut workspace, motion[0], motion[1], motion[2], &mut tau);
        assert!((found.joints - DVector::from_vec(tau)).amax() < 1e-11);
    }
}

/// What the notes' sections 8 to 10 write out for two links is misprinted; what holds, from the compact form: without accelerations of the joints the second link turns faster or slower all
/// the same (9.1), its gyroscopic torque has all three products of rates (10.1), `v_2 x z_2` has `(R_21 b_1) x z_2` (10.2), and
/// `R (z_1 x b_1)` goes with the square of the first rate (10.3).
#[test]
fn two_links_written_out() {
    let mut random = Random::new(5);
    for _ in 0..10 {
        let mut link = || {
            let axis = random.vector3::<f64>(1.0).normalize();
            let v = random.vector3::<f64>(0.5).cross(&axis);
            let screw = Vector6::new(v.x, v.y, v.z, axis.x, axis.y, axis.z);
            let (home, inertia) = (random.pose(), random.inertia::<f64>());
            ScrewLink {
                home,
                screw,
                inertia,
            }
        };
        let links = vec![link(), link()];
        let in_link = |k: usize| {
            let A = links[k].home.adjoint_inverse() * links[k].screw;
            (
                A.fixed_rows::<3>(3).into_owned(),
                A.fixed_rows::<3>(0).into_owned(),
            )
        };
        let ((z1, b1), (z2, b2)) = (in_link(0), in_link(1));
        let I2 = links[1].inertia.inertia_about_origin();
        let chain = ScrewChain::new(links.clone(), SE3::identity()).expect("a chain");
        let (q, rate) = (random.numbers(2, 2.0), random.numbers(2, 2.0));
        let poses = |h: f64| {
            chain
                .poses(&[q[0] + h * rate[0], q[1] + h * rate[1]])
                .expect("sizes")
        };
        let twist = |h: f64| {
            let d = 1e-4;
            let here = poses(h)[1];
            (here.inverse() * poses(h + d)[1]).log() / (2.0 * d)
                - (here.inverse() * poses(h - d)[1]).log() / (2.0 * d)
        };
        let T_21 = poses(0.0)[1].inverse() * poses(0.0)[0];
        let (R, p) = (T_21.rotation, T_21.translation);
        let x = R.act(&z1);

        let omega = x * rate[0] + z2 * rate[1];
        let found = twist(0.0);
        assert!((found.fixed_rows::<3>(3) - omega).amax() < 1e-6);
        let rate_of_omega = (twist(1e-3) - twist(-1e-3)).fixed_rows::<3>(3) / 2e-3;
        assert!((rate_of_omega - x.cross(&z2) * rate[0] * rate[1]).amax() < 1e-4);

        let whole = omega.cross(&(I2 * omega));
        let parts = x.cross(&(I2 * x)) * rate[0] * rate[0]
            + (x.cross(&(I2 * z2)) + z2.cross(&(I2 * x))) * rate[0] * rate[1]
            + z2.cross(&(I2 * z2)) * rate[1] * rate[1];
        assert!((whole - parts).amax() < 1e-12);

        // Only the first joint turns: the frame of the second link accelerates by x × (x × p' + R b_1), with R (z_1 × b_1) in it, and the square of the first rate (10.3).
        let place = |h: f64| {
            let poses = chain.poses(&[q[0] + h * rate[0], q[1]]).expect("sizes");
            poses[1].translation
        };
        let h = 1e-3;
        let second = (place(h) + place(-h) - place(0.0) * 2.0) / (h * h);
        let second = poses(0.0)[1].rotation.inverse().act(&second);
        let velocity = p.cross(&x) + R.act(&b1);
        let turned = x.cross(&p.cross(&x)) + R.act(&z1.cross(&b1));
        assert!((x.cross(&velocity) - turned).amax() < 1e-14);
        assert!((second - turned * rate[0] * rate[0]).amax() < 1e-4);

        let v = (p.cross(&x) + R.act(&b1)) * rate[0] + b2 * rate[1];
        assert!((found.fixed_rows::<3>(0) - v).amax() < 1e-6);
        let product =
            (p.cross(&x).cross(&z2) + R.act(&b1).cross(&z2)) * rate[0] + b2.cross(&z2) * rate[1];
        assert!((found.fixed_rows::<3>(0).cross(&z2) - product).amax() < 1e-6);
    }
}

/// A satellite whose arm moves: linear and angular momentum stay, and where both are zero the arm's motion alone turns it around.
#[test]
fn a_free_floating_base_keeps_its_momentum() {
    let mut random = Random::new(3);
    let hull = Matrix3::from_diagonal(&Vector3::new(2.0, 3.0, 2.5));
    let hull = PseudoInertia::from_center(20.0, Vector3::new(0.1, 0.0, -0.1), hull);
    let arm = chain(&mut random, 3)
        .with_base(hull.expect("a hull"))
        .and_then(|arm| arm.with_gravity(Vector3::zeros()))
        .expect("a satellite");
    let model = arm.floating_model();
    assert_eq!(model.dof(), 9);
    let mut workspace = Workspace::new(model);
    let mut x = model.neutral_configuration();

    // At first the base moves so that both momenta are zero: M_bb V + M_bq q' = 0.
    let rates = [0.8, -0.2, 0.5];
    workspace.update(model, &x, &[0.0; 9]);
    let mut M = DMatrix::zeros(9, 9);
    model.mass_matrix(&mut workspace, &x, &mut M);
    let own = M.view((0, 0), (6, 6)).into_owned();
    let other = M.view((0, 6), (6, 3)) * DVector::from_column_slice(&rates);
    let twist = -own.lu().solve(&other).expect("regular");
    let mut xi: Vec<f64> = twist.iter().copied().chain(rates).collect();
    workspace.update(model, &x, &xi);
    assert!(workspace.momentum(model).amax() < 1e-12);

    // Torques of the joints alone for two seconds, by the midpoint rule.
    let (start, h) = (x.clone(), 1e-3);
    let mut momentum = 0.0_f64;
    for step in 0..2000 {
        let t = h * f64::from(step);
        let mut tau = vec![0.0; 9];
        for (k, tau) in tau[6..].iter_mut().enumerate() {
            *tau = 0.3 * (2.0 * t + k as f64).sin();
        }
        let rate = |workspace: &mut Workspace<f64>, x: &[f64], xi: &[f64]| {
            let mut xi_dot = vec![0.0; 9];
            model
                .forward_dynamics(workspace, x, xi, &tau, &mut xi_dot)
                .expect("regular");
            xi_dot
        };
        let along = |xi: &[f64], xi_dot: &[f64], h: f64| -> Vec<f64> {
            xi.iter().zip(xi_dot).map(|(v, a)| v + h * a).collect()
        };
        let first = rate(&mut workspace, &x, &xi);
        let middle = along(&xi, &first, 0.5 * h);
        let mut half = x.clone();
        let way: Vec<f64> = xi
            .iter()
            .zip(&first)
            .map(|(v, a)| 0.5 * h * (v + 0.25 * h * a))
            .collect();
        model.integrate(&mut half, &way);
        let second = rate(&mut workspace, &half, &middle);
        let way: Vec<f64> = middle.iter().map(|v| h * v).collect();
        model.integrate(&mut x, &way);
        xi = along(&xi, &second, h);
        workspace.update(model, &x, &xi);
        momentum = momentum.max(workspace.momentum(model).amax());
    }
    assert!(momentum < 1e-6, "{momentum:e}");
    let turned = SO3::from_matrix(Matrix3::from_column_slice(&start[3..12])).inverse()
        * SO3::from_matrix(Matrix3::from_column_slice(&x[3..12]));
    assert!(turned.log().norm() > 0.01, "{}", turned.log().norm());
}

#[test]
fn what_is_no_chain_is_told() {
    let mut random = Random::new(4);
    let link = |screw: [f64; 6], random: &mut Random| ScrewLink {
        home: SE3::identity(),
        screw: screw.into(),
        inertia: random.inertia(),
    };
    for wrong in [
        [0.0, 0.0, 0.0, 0.0, 0.0, 2.0],
        [0.0; 6],
        [0.5, 0.0, 0.0, 0.0, 0.0, 0.0],
        [f64::NAN, 0.0, 0.0, 0.0, 0.0, 1.0],
    ] {
        let good = link([0.0, 0.0, 0.0, 0.0, 0.0, 1.0], &mut random);
        let links = vec![good, link(wrong, &mut random)];
        let error = ScrewChain::new(links, SE3::identity()).expect_err("no unit");
        assert!(
            matches!(error, ScrewChainError::Screw { link: 2, .. }),
            "{error}"
        );
        assert!(error.to_string().contains("screw of link 2"), "{error}");
    }
    let arm = chain(&mut random, 2);
    let error = arm.tool(&[0.0]).expect_err("one number");
    assert_eq!(
        error.to_string(),
        "the chain has 2 joints, found 1 numbers of their positions"
    );
}
