//! Contact between bodies, and capsules on the ground: against closed forms, momentum and energy.

use std::ops::AddAssign;

use fly_lie::operators::join;
use fly_lie::{SE3, SO3};
use fly_mechanics::contact::{BodyContact, Compliance, Friction};
use fly_mechanics::multibody::{BodyId, Workspace};
use fly_mechanics::{Ground, Surroundings, System, contact_frequency, contact_pairs, contact_rate};
use nalgebra::{Vector3, Vector6};

use crate::contact::{Run, place};
use crate::random_tree::Random;

const G: f64 = 9.81;

fn contact(stiffness: f64, exponent: f64, damping: f64, coefficient: f64) -> BodyContact {
    BodyContact {
        compliance: Compliance::new(stiffness, exponent, damping).expect("a compliance"),
        friction: Friction {
            coefficient,
            stiffness: 0.8 * stiffness,
            relaxation: 0.002,
        },
    }
}

/// Free bodies that touch; each starts with this pose and this twist.
fn run(text: &str, step: f64, contact: BodyContact, starts: &[(SE3<f64>, Vector6<f64>)]) -> Run {
    Run::begin(text, step, |system, dynamics, state| {
        for (i, (pose, twist)) in starts.iter().enumerate() {
            place(pose, &mut state.configuration[12 * i..]);
            state.velocity[6 * i..6 * i + 6].copy_from_slice(twist.as_slice());
        }
        dynamics.start_body_contact(system, contact, &contact_pairs(system), state);
    })
}

fn at(x: f64, y: f64, z: f64) -> SE3<f64> {
    SE3::new(SO3::identity(), Vector3::new(x, y, z))
}

fn moving(x: f64, y: f64, z: f64) -> Vector6<f64> {
    join(&Vector3::new(x, y, z), &Vector3::zeros())
}

fn balls(masses: [f64; 2]) -> String {
    let ball = |name: &str, mass: f64| {
        format!(
            "[bodies.{name}]
            mass = {mass}
            shape = {{ sphere = {{ radius = 0.1 }} }}
            contacts = [{{ radius = 0.1 }}]\n"
        )
    };
    let [a, b] = [ball("a", masses[0]), ball("b", masses[1])];
    format!("name = 'balls'\ngravity = [0, 0, 0]\n{a}{b}")
}

/// Momentum and angular momentum about the world's origin.
fn momentum(run: &Run) -> Vector6<f64> {
    let model = &run.system.model;
    let mut workspace = Workspace::new(model);
    let (x, xi) = (&run.state.configuration, &run.state.velocity[..model.dof()]);
    workspace.update(model, x, xi);
    let mut sum = Vector6::zeros();
    for body in model.bodies() {
        let pose = workspace.pose(BodyId::WORLD, body);
        let twist = workspace.twist(BodyId::WORLD, body);
        let inertia = model.inertia(body).expect("an inertia");
        sum += pose.adjoint_inverse().transpose() * (inertia.matrix6() * twist);
    }
    sum
}

/// Two balls meet centrally: they part with the coefficient of restitution of an impact on the ground, whatever their masses.
#[test]
fn balls_part_as_the_law_says() {
    for (exponent, stiffness) in [(1.0, 2e4), (1.5, 1e6)] {
        for masses in [[0.5, 0.5], [0.3, 1.7]] {
            for speed in [0.3, 1.0, 3.0] {
                let contact = contact(stiffness, exponent, 0.6, 0.5);
                let starts = [
                    (at(-0.11, 0.0, 0.0), moving(0.7 * speed, 0.0, 0.0)),
                    (at(0.11, 0.0, 0.0), moving(-0.3 * speed, 0.0, 0.0)),
                ];
                let mut run = run(&balls(masses), 2e-6, contact, &starts);
                run.run(0.04 / speed + 0.03);
                let xi = &run.state.velocity;
                let (parted, e) = (xi[6] - xi[0], contact.compliance.restitution(speed));
                assert!(
                    (parted - e * speed).abs() < 2e-5,
                    "{masses:?} {exponent} {speed}: {parted} m/s, expected {}",
                    e * speed
                );
                let touched: Vec<_> = run.dynamics.touched_bodies().collect();
                assert_eq!(touched.len(), 1);
                assert!((touched[0].1 - speed).abs() < 1e-3, "{touched:?}");
            }
        }
    }
}

/// Dozens of collisions of balls and capsules that spin and meet anywhere: momentum and angular momentum stay, and what is lost of the energy is what the
/// contacts took.
#[test]
fn momentum_stays_and_energy_is_what_contacts_take() {
    let text = "name = 'thrown'
        gravity = [0, 0, 0]
        [bodies.a]
        mass = 0.4
        inertia = [0.003, 0.002, 0.004]
        contacts = [{ capsule = [[-0.1, 0, 0], [0.1, 0.02, 0.03]], radius = 0.05 }]
        [bodies.b]
        mass = 0.9
        center_of_mass = [0.01, 0.02, -0.01]
        inertia = [0.006, 0.004, 0.005]
        contacts = [{ capsule = [[0, -0.12, 0], [0, 0.1, 0]], radius = 0.04 }, { position = [0.05, 0, 0.06], radius = 0.03 }]
        [bodies.c]
        mass = 0.6
        inertia = [0.002, 0.002, 0.002]
        contacts = [{ radius = 0.09 }, { position = [0.1, 0, 0] }]";
    let mut random = Random::new(5);
    let mut collisions = 0;
    for case in 0..14 {
        let mut start = |x: f64| {
            let turn = SO3::exp(&Vector3::from_fn(|_, _| 3.0 * random.next()));
            let place = Vector3::new(x, 0.05 * random.next(), 0.05 * random.next());
            let mut twist = Vector6::from_fn(|i, _| random.next() * if i < 3 { 0.2 } else { 6.0 });
            let towards = turn.inverse().act(&(Vector3::x() * (-3.0 * x)));
            twist.fixed_rows_mut::<3>(0).add_assign(&towards);
            (SE3::new(turn, place), twist)
        };
        let starts = [start(-0.4), start(0.0), start(0.45)];
        let contact = contact(2e4, if case % 2 == 0 { 1.0 } else { 1.5 }, 0.4, 0.4);
        let mut run = run(text, 2e-5, contact, &starts);
        let (before, energy) = (momentum(&run), run.energy());
        let (mut last, mut steps) = (energy, 0);
        while steps < 25_000 {
            for _ in 0..250 {
                run.step();
            }
            steps += 250;
            let now = run.energy();
            assert!(now < last + 1e-7, "case {case}: {last} J, then {now} J");
            last = now;
        }
        let change = momentum(&run) - before;
        assert!(change.amax() < 1e-9, "case {case}: {change}");
        let lost = energy - last;
        assert!(
            (lost - run.taken).abs() < 3e-6 * energy.max(1.0),
            "case {case}: lost {lost} J, taken {} J",
            run.taken
        );
        collisions += run.dynamics.touched_bodies().count();
    }
    assert!(collisions > 21, "{collisions}");
}

/// On a long capsule, which is fixed, a ball slides with `mu g`, and then rolls with 5/7 of its speed.
#[test]
fn a_ball_slides_along_a_bar_until_it_rolls() {
    let text = "name = 'bar'
        [bodies.ball]
        mass = 0.8
        shape = { sphere = { radius = 0.1 } }
        contacts = [{ radius = 0.1 }]
        [bodies.bar]
        joint = 'fixed'
        contacts = [{ capsule = [[-1, 0, 0], [9, 0, 0]], radius = 0.2 }]";
    let (mu, speed) = (0.3, 2.0);
    let law = contact(5e4, 1.0, 0.5, mu);
    let depth = 0.8 * G / 5e4;
    let starts = [(at(0.0, 0.0, 0.3 - depth), moving(speed, 0.0, 0.0))];
    let mut run = run(text, 1e-4, law, &starts);
    run.run(0.1);
    // Velocities are in the frame of the ball, which turns about y.
    let along = |run: &Run| {
        let (x, xi) = (&run.state.configuration, &run.state.velocity);
        x[3] * xi[0] + x[9] * xi[2]
    };
    let after = along(&run);
    let expected = speed - mu * G * 0.1;
    assert!((after - expected).abs() < 1e-3, "{after} {expected}");
    run.run(0.6);
    let rolling = along(&run);
    assert!((rolling - speed * 5.0 / 7.0).abs() < 1e-3, "{rolling}");
    // The contact is half of the depth below the ball's surface.
    let slip = rolling - run.state.velocity[4] * (0.1 - 0.5 * depth);
    assert!(slip.abs() < 1e-4, "{slip}");
}

fn capsule() -> String {
    "name = 'capsule'
    [bodies.capsule]
    mass = 0.8
    inertia = [0.003, 0.009, 0.009]
    contacts = [{ capsule = [[-0.2, 0, 0], [0.2, 0, 0]], radius = 0.05 }]"
        .to_owned()
}

/// A capsule lies on both its ends; across a slope it rolls with `g sin / (1 + I / m r²)`.
#[test]
fn a_capsule_lies_and_rolls() {
    let compliance = Compliance::new(5000.0, 1.0, 2.0).expect("a compliance");
    let ground = |angle: f64| {
        let friction = Friction {
            coefficient: 0.8,
            stiffness: 5000.0,
            relaxation: 0.003,
        };
        // Down along y.
        let normal = Vector3::new(0.0, angle.sin(), angle.cos());
        Ground::new(0.0, normal, compliance, friction).expect("a plane")
    };
    let start = |plane: Ground, height: f64| {
        Run::begin(&capsule(), 1e-4, |system, dynamics, state| {
            place(&at(0.0, 0.0, height), &mut state.configuration);
            dynamics.start_ground(system, plane, state);
        })
    };
    let mut lying = start(ground(0.0), 0.06);
    lying.run(4.0);
    let (height, expected) = (lying.state.configuration[2], 0.05 - 0.8 * G / 1e4);
    assert!((height - expected).abs() < 1e-6, "{height} {expected}");
    let angle: f64 = 0.1;
    let depth = 0.8 * G * angle.cos() / 1e4;
    let mut rolling = start(ground(angle), (0.05 - depth) / angle.cos());
    rolling.run(1.0);
    let speed = rolling.state.velocity[..3]
        .iter()
        .map(|v| v * v)
        .sum::<f64>()
        .sqrt();
    let at_radius = G * angle.sin() / (1.0 + 0.003 / (0.8 * 0.05 * 0.05));
    // The bristle takes up the first motion.
    assert!(
        (speed / at_radius - 1.0).abs() < 2e-3,
        "{speed} {at_radius}"
    );
}

/// `w² = k / m_eff`: at the surface of two balls of mass m the effective mass across the contact is m / 7.
#[test]
fn the_frequency_is_that_of_the_balls() {
    let system = System::from_toml(&balls([0.8, 0.8])).expect("two balls");
    let mut run = run(
        &balls([0.8, 0.8]),
        1e-3,
        contact(5000.0, 1.0, 0.5, 0.5),
        &[
            (at(-0.5, 0.0, 0.0), Vector6::zeros()),
            (at(0.5, 0.2, 0.0), Vector6::zeros()),
        ],
    );
    let mut law = contact(5000.0, 1.0, 0.0, 0.5);
    law.friction.stiffness = 5000.0;
    let among = Surroundings {
        bodies: Some(&law),
        ..Surroundings::default()
    };
    let x = run.state.configuration.clone();
    let found = contact_frequency(&system, among, &x, 5.0).expect("a pair");
    let expected = (7.0 * 5000.0_f64 / 0.8).sqrt();
    assert!((found / expected - 1.0).abs() < 1e-12, "{found} {expected}");
    assert_eq!(
        contact_frequency(&system, Surroundings::default(), &x, 5.0),
        None
    );
    // Steps as long as they may be take energy.
    for damping in [0.0, 0.5, 5.0, 40.0] {
        let law = contact(5000.0, 1.0, damping, 0.5);
        let among = Surroundings {
            bodies: Some(&law),
            ..Surroundings::default()
        };
        let rate = contact_rate(&system, among, &x, 5.0).expect("a pair");
        let starts = [
            (at(-0.5, 0.0, 0.0), moving(2.5, 0.1, 0.0)),
            (at(0.5, 0.1, 0.0), moving(-2.4, 0.0, 0.3)),
        ];
        run = self::run(&balls([0.8, 0.8]), 1.0 / rate, law, &starts);
        let start = run.energy();
        run.run(1.0);
        let end = run.energy();
        assert!(run.dynamics.touched_bodies().count() == 1);
        assert!(
            end.is_finite() && end < start * (1.0 + 1e-3),
            "{damping}: {start} {end}"
        );
    }
}

/// Bodies on a joint or on each other do not touch, nor do points.
#[test]
fn neighbours_do_not_touch() {
    let text = "name = 'pairs'
        [bodies.base]
        joint = 'fixed'
        contacts = [{ radius = 0.1 }]
        [bodies.wall]
        joint = 'fixed'
        position = [1, 0, 0]
        contacts = [{ radius = 0.1 }]
        [bodies.arm]
        parent = 'base'
        mass = 1
        inertia = [1, 1, 1]
        joint = { type = 'revolute', axis = [0, 0, 1] }
        contacts = [{ radius = 0.1 }]
        [bodies.hand]
        parent = 'arm'
        joint = 'fixed'
        contacts = [{ radius = 0.1 }]
        [bodies.finger]
        parent = 'hand'
        mass = 1
        inertia = [1, 1, 1]
        joint = { type = 'revolute', axis = [0, 0, 1] }
        contacts = [{ radius = 0.1 }, {}]
        [bodies.free]
        mass = 1
        inertia = [1, 1, 1]
        contacts = [{}, { radius = 0.1 }]";
    let system = System::from_toml(text).expect("a system");
    let name = |i: usize| system.model.name(system.contacts[i].body);
    let mut found: Vec<[&str; 2]> = contact_pairs(&system)
        .iter()
        .map(|pair| {
            let mut names = pair.map(name);
            names.sort_unstable();
            names
        })
        .collect();
    found.sort_unstable();
    let count = |a: &str, b: &str| {
        let mut names = [a, b];
        names.sort_unstable();
        found.iter().filter(|pair| **pair == names).count()
    };
    for neighbours in [
        ("base", "wall"),
        ("base", "arm"),
        ("base", "hand"),
        ("arm", "hand"),
        ("hand", "finger"),
        ("arm", "finger"),
        ("free", "free"),
    ] {
        assert_eq!(count(neighbours.0, neighbours.1), 0, "{neighbours:?}");
    }
    // A ball with a point and with a ball; two points do not touch.
    assert_eq!(count("finger", "base"), 2);
    assert_eq!(count("wall", "arm"), 1);
    assert_eq!(count("finger", "free"), 3);
    assert_eq!(count("free", "wall"), 2);
}

/// Bodies that a loop closes, and what is fixed to them, do not touch.
#[test]
fn a_loop_keeps_what_is_fixed_to_its_bodies_apart() {
    let text = "
        name = 'loop'
        bodies = { left = { mass = 1, inertia = [1, 1, 1], joint = { type = 'revolute', axis = [0, 1, 0] } }, \
          right = { mass = 1, inertia = [1, 1, 1], position = [1, 0, 0], joint = { type = 'revolute', axis = [0, 1, 0] }, contacts = [{ radius = 0.1 }] }, \
          tip = { parent = 'left', joint = 'fixed', contacts = [{ radius = 0.1 }] } }
        loops = [{ type = 'distance', length = 1, from = 'right', to = 'left' }]"
        .replace("\\\n", "");
    let system = System::from_toml(&text).expect("a system");
    assert!(contact_pairs(&system).is_empty());
    let open = text.split("loops").next().expect("a part");
    let open = System::from_toml(open).expect("a system");
    assert_eq!(contact_pairs(&open).len(), 1);
}

/// The first is on a long way alone.
#[test]
fn what_does_not_touch_flies_as_alone() {
    let starts = [
        (at(-5.0, 0.0, 0.0), moving(0.3, 0.2, 0.1)),
        (at(5.0, 0.0, 0.0), moving(0.1, 0.0, 0.0)),
    ];
    let mut among = run(
        &balls([0.5, 0.5]),
        1e-3,
        contact(1e4, 1.0, 0.5, 0.5),
        &starts,
    );
    let mut alone = Run::begin(&balls([0.5, 0.5]), 1e-3, |_, _, state| {
        for (i, (pose, twist)) in starts.iter().enumerate() {
            place(pose, &mut state.configuration[12 * i..]);
            state.velocity[6 * i..6 * i + 6].copy_from_slice(twist.as_slice());
        }
    });
    among.run(1.0);
    alone.run(1.0);
    assert_eq!(among.state.configuration, alone.state.configuration);
    assert_eq!(among.state.velocity[..12], alone.state.velocity[..]);
}
