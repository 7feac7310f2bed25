//! Contacts among many bodies: only those that are near each other are looked at, and none is missed.

use fly_lie::SE3;
use fly_lie::operators::linear;
use fly_mechanics::contact::{BodyContact, Compliance, Friction};
use fly_mechanics::integrate::SystemState;
use fly_mechanics::multibody::{BodyId, Workspace};
use fly_mechanics::{
    ActuatedDynamics, ContactIntegrator, Surroundings, System, contact_frequency, contact_pairs,
};
use nalgebra::Vector3;

use crate::contact::place;
use crate::random_tree::Random;

const RADIUS: f64 = 0.1;
const MASS: f64 = 0.5;

/// Free balls without gravity, among each other or as if each were alone.
struct Balls {
    system: System,
    dynamics: ActuatedDynamics,
    state: SystemState<f64>,
    integrator: ContactIntegrator,
    step: f64,
}

impl Balls {
    /// With these positions (m) and velocities (m/s).
    fn new(stiffness: f64, step: f64, starts: &[[Vector3<f64>; 2]], touch: bool) -> Self {
        let ball = |i: usize| {
            format!(
                "[bodies.b{i}]
                mass = {MASS}
                shape = {{ sphere = {{ radius = {RADIUS} }} }}
                contacts = [{{ radius = {RADIUS} }}]\n"
            )
        };
        let bodies: String = (0..starts.len()).map(ball).collect();
        let text = format!("name = 'balls'\ngravity = [0, 0, 0]\n{bodies}");
        let system = System::from_toml(&text).expect("balls");
        let mut dynamics = ActuatedDynamics::new(&system, step).expect("dynamics");
        let mut state = SystemState::at_rest(&system.model);
        for (i, [position, velocity]) in starts.iter().enumerate() {
            let pose = SE3::new(fly_lie::SO3::identity(), *position);
            place(&pose, &mut state.configuration[12 * i..]);
            state.velocity[6 * i..6 * i + 3].copy_from_slice(velocity.as_slice());
        }
        if touch {
            let contact = BodyContact {
                compliance: Compliance::new(stiffness, 1.0, 0.0).expect("a compliance"),
                friction: Friction {
                    coefficient: 0.4,
                    stiffness: 0.8 * stiffness,
                    relaxation: 0.002,
                },
            };
            dynamics.start_body_contact(&system, contact, &contact_pairs(&system), &mut state);
        }
        Self {
            integrator: ContactIntegrator::new(&system.model),
            system,
            dynamics,
            state,
            step,
        }
    }

    fn step(&mut self) {
        let (system, dynamics) = (&self.system, &mut self.dynamics);
        let (state, step) = (&mut self.state, self.step);
        self.integrator
            .step(system, dynamics, state, step, |dynamics, state, rates| {
                dynamics.rates(system, &[], state, rates);
            });
    }

    /// How many pairs of shapes have bristles in the state.
    fn pairs(&self) -> usize {
        (self.state.velocity.len() - self.system.model.dof()) / 3
    }

    fn position(&self, ball: usize) -> Vector3<f64> {
        Vector3::from_column_slice(&self.state.configuration[12 * ball..12 * ball + 3])
    }

    /// The velocities, m/s, world.
    fn velocities(&self) -> Vec<Vector3<f64>> {
        let (model, mut workspace) = (&self.system.model, Workspace::new(&self.system.model));
        let xi = &self.state.velocity[..model.dof()];
        workspace.update(model, &self.state.configuration, xi);
        let velocity = |body| {
            let twist = workspace.twist(BodyId::WORLD, body);
            let pose = workspace.pose(BodyId::WORLD, body);
            pose.rotation.act(&linear(&twist))
        };
        model.bodies().map(velocity).collect()
    }

    fn momentum(&self) -> Vector3<f64> {
        self.velocities().iter().sum::<Vector3<f64>>() * MASS
    }
}

fn at(x: f64, y: f64) -> Vector3<f64> {
    Vector3::new(x, y, 0.0)
}

/// On a lattice, so far apart that the spheres with their margins do not overlap.
fn lattice(count: u32, apart: f64) -> Vec<[Vector3<f64>; 2]> {
    let start = |i: u32| {
        let (row, column) = (f64::from(i / 6), f64::from(i % 6));
        [at(apart * row, apart * column), at(0.1, 0.05 * column)]
    };
    (0..count).map(start).collect()
}

/// Of 30 balls there are 435 pairs: as long as they are far apart, no step looks at any of them.
#[test]
fn pairs_that_are_far_apart_are_no_states() {
    let mut far = Balls::new(1e4, 1e-3, &lattice(30, 1.0), true);
    assert_eq!(far.pairs(), 435);
    for _ in 0..500 {
        far.step();
        assert_eq!(far.pairs(), 0);
    }
    // In a row 0.25 m apart each is near its neighbours alone.
    let row: Vec<_> = (0..30)
        .map(|i| [at(0.25 * f64::from(i), 0.0), at(0.0, 0.3)])
        .collect();
    let mut row = Balls::new(1e4, 1e-3, &row, true);
    for _ in 0..500 {
        row.step();
        assert_eq!(row.pairs(), 29);
    }
}

/// Bit for bit, whether the others are there to touch or not, and while some of them come near.
#[test]
fn what_does_not_touch_moves_as_alone() {
    let mut starts = lattice(12, 0.9);
    // This one passes along a row, 5 cm beside its balls.
    starts.push([at(0.25, -2.0), at(0.1, 4.0)]);
    let mut among = Balls::new(1e4, 1e-3, &starts, true);
    let mut alone = Balls::new(1e4, 1e-3, &starts, false);
    let mut most = 0;
    for _ in 0..1500 {
        among.step();
        alone.step();
        most = most.max(among.pairs());
    }
    assert!((1..13).contains(&most), "{most}");
    assert_eq!(among.dynamics.touched_bodies().count(), 0);
    assert_eq!(among.state.configuration, alone.state.configuration);
    let n = among.system.model.dof();
    assert_eq!(among.state.velocity[..n], alone.state.velocity[..]);
}

/// A swarm that flies together: whenever two overlap in a state, the record of contacts has them, and momentum stays.
#[test]
fn a_swarm_misses_no_contact() {
    let mut random = Random::new(11);
    let mut touches = 0;
    for _ in 0..2 {
        let start = |i: u32| {
            let (row, column) = (f64::from(i / 5), f64::from(i % 5));
            let place = Vector3::new(0.5 * row - 1.0, 0.5 * column - 1.0, 0.0);
            let mut random = || Vector3::from_fn(|_, _| random.next());
            [place + random() * 0.1, -place * 4.0 + random() * 3.0]
        };
        let starts: Vec<_> = (0..25).map(start).collect();
        let mut swarm = Balls::new(2e4, 2.5e-4, &starts, true);
        let before = swarm.momentum();
        for _ in 0..2000 {
            swarm.step();
            let known: Vec<_> = (swarm.dynamics.touched_bodies())
                .map(|(pair, _)| pair.map(|body| swarm.system.model.name(body)))
                .collect();
            for b in 0..25 {
                for a in 0..b {
                    let way = swarm.position(b) - swarm.position(a);
                    if way.norm() < 2.0 * RADIUS {
                        let names = [format!("b{a}"), format!("b{b}")];
                        let is_known = known.iter().any(|pair| *pair == names);
                        assert!(is_known, "{names:?} at {} s", swarm.state.time);
                    }
                }
            }
        }
        // The velocities are those of the bodies, which turn: momentum stays but for the error of the scheme.
        let change = (swarm.momentum() - before).amax();
        assert!(change < 1e-6, "{change}");
        touches += swarm.dynamics.touched_bodies().count();
        // Those that are apart again have no bristles.
        assert!(swarm.pairs() < 60, "{}", swarm.pairs());
    }
    assert!(touches > 30, "{touches}");
}

/// In one step these two pass through each other, from a place where they were far apart: the stage in the middle of it finds them in contact.
#[test]
fn two_that_meet_within_a_step_do_not_pass() {
    let speed = 500.0;
    let starts = [
        [at(-0.23, 0.0), at(speed, 0.0)],
        [at(0.23, 0.01), at(-speed, 0.0)],
        [at(5.0, 5.0), at(0.0, 0.0)],
    ];
    let mut fast = Balls::new(1e7, 1e-3, &starts, true);
    for _ in 0..3 {
        fast.step();
    }
    assert_eq!(fast.dynamics.touched_bodies().count(), 1);
    let after = fast.velocities();
    assert!(
        after[0].x < -0.5 * speed && after[1].x > 0.5 * speed,
        "{after:?}"
    );
    assert!(fast.momentum().amax() < 1e-9, "{after:?}");
}

/// The first hits two that lie against each other: all three touch at once, the last leaves, and momentum and energy stay.
#[test]
fn three_in_a_chain_hand_on_the_momentum() {
    let gap = 2.0 * RADIUS;
    let starts = [
        [at(-0.5, 0.0), at(1.0, 0.0)],
        [at(0.0, 0.0), at(0.0, 0.0)],
        [at(gap - 1e-6, 0.0), at(0.0, 0.0)],
        // Far away, and not concerned.
        [at(0.0, 3.0), at(0.2, 0.0)],
    ];
    let mut chain = Balls::new(2e4, 1e-4, &starts, true);
    let mut most = 0;
    while chain.state.time < 0.6 {
        chain.step();
        most = most.max(chain.pairs());
    }
    let after = chain.velocities();
    let touched: Vec<_> = chain.dynamics.touched_bodies().collect();
    assert_eq!(touched.len(), 2, "{touched:?}");
    assert!(most <= 3, "{most} of 6 pairs were near");
    assert!((chain.momentum() - at(1.2 * MASS, 0.0)).amax() < 1e-12);
    let energy: f64 = after[..3].iter().map(Vector3::norm_squared).sum();
    assert!((energy - 1.0).abs() < 1e-4, "{after:?}");
    // Of linear springs the last takes 0.99 of the speed.
    assert!(after[2].x > 0.95 && after[0].x < 0.0, "{after:?}");
    assert_eq!(after[3], at(0.2, 0.0));
}

/// While two rub against each other, a third comes near and leaves again: their bristles do not notice.
#[test]
fn bristles_stay_when_others_come_and_go() {
    let starts = [
        [at(0.0, 0.0), at(0.0, 0.0)],
        [at(2.0 * RADIUS - 1e-3, 0.0), at(0.0, 0.3)],
        // It is near the first one from 3.4 ms on; they part after 7.9 ms.
        [at(-0.25, -0.3), at(0.0, 40.0)],
    ];
    let run = |count: usize| {
        let mut run = Balls::new(1e4, 1e-4, &starts[..count], true);
        let mut most = 0;
        while run.state.time < 0.1 {
            run.step();
            most = most.max(run.pairs());
        }
        assert_eq!(run.dynamics.touched_bodies().count(), 1);
        (run, most)
    };
    let ((two, one_pair), (three, two_pairs)) = (run(2), run(3));
    assert_eq!((one_pair, two_pairs), (1, 2));
    for ball in 0..2 {
        let apart = two.position(ball) - three.position(ball);
        assert!(apart.amax() < 1e-12, "{apart}");
    }
    assert!(two.velocities()[0].y > 0.01, "friction takes it along");
}

/// On rails at right angles on one carriage, which moves with either: along the stiffest direction `w² = k (1 / m + 1 / (m + M))`.
#[test]
fn the_frequency_of_two_on_one_carrier_is_their_own() {
    let text = "name = 'carriage'
        gravity = [0, 0, 0]
        [bodies.carriage]
        mass = 3
        inertia = [1, 1, 1]
        joint = { type = 'prismatic', axis = [1, 0, 0] }
        [bodies.a]
        parent = 'carriage'
        mass = 0.4
        inertia = [1, 1, 1]
        joint = { type = 'prismatic', axis = [1, 1, 0] }
        contacts = [{ radius = 0.1 }]
        [bodies.b]
        parent = 'carriage'
        position = [1, 0, 0]
        mass = 0.4
        inertia = [1, 1, 1]
        joint = { type = 'prismatic', axis = [1, -1, 0] }
        contacts = [{ radius = 0.1 }]";
    let system = System::from_toml(text).expect("a carriage");
    let law = BodyContact {
        compliance: Compliance::new(5000.0, 1.0, 0.0).expect("a compliance"),
        friction: Friction {
            coefficient: 0.5,
            stiffness: 5000.0,
            relaxation: 0.01,
        },
    };
    let among = Surroundings {
        bodies: Some(&law),
        ..Surroundings::default()
    };
    let found = contact_frequency(&system, among, &[0.0; 3], 5.0).expect("a pair");
    let expected = (5000.0_f64 * (1.0 / 0.4 + 1.0 / 3.4)).sqrt();
    assert!((found / expected - 1.0).abs() < 1e-12, "{found} {expected}");
}

/// With a dozen vehicles of eight shapes each it is that of two of them but for the directions of their distances; dense eigenvalues of all degrees of
/// freedom were infinite.
#[test]
fn the_frequency_does_not_grow_with_the_number_of_vehicles() {
    let law = BodyContact {
        compliance: Compliance::new(5000.0, 1.0, 0.0).expect("a compliance"),
        friction: Friction {
            coefficient: 0.5,
            stiffness: 4000.0,
            relaxation: 0.01,
        },
    };
    let among = Surroundings {
        bodies: Some(&law),
        ..Surroundings::default()
    };
    let frequency = |count: u32| {
        let vehicle = |i: u32| {
            let shapes = [(0.09, -0.07, 0.01), (0.18, 0.03, 0.0)].map(|(x, z, radius)| {
                [[x, 0.0], [0.0, x], [-x, 0.0], [0.0, -x]]
                    .map(|[x, y]| format!("{{ position = [{x}, {y}, {z}], radius = {radius} }}"))
                    .join(", ")
            });
            format!(
                "[bodies.v{i}]
                mass = 0.9
                inertia = [0.006, 0.006, 0.011]
                contacts = [{}]\n",
                shapes.join(", ")
            )
        };
        let bodies: String = (0..count).map(vehicle).collect();
        let system = System::from_toml(&format!("name = 'fleet'\n{bodies}")).expect("vehicles");
        let mut x = system.model.neutral_configuration();
        for (i, pose) in (0..).zip(x.chunks_exact_mut(12)) {
            pose[0] = 3.0 * f64::from(i % 4);
            pose[1] = 3.0 * f64::from(i / 4);
        }
        contact_frequency(&system, among, &x, 5.0).expect("a pair")
    };
    let (two, twelve) = (frequency(2), frequency(12));
    assert!(twelve >= two && twelve < 1.05 * two, "{two} {twelve}");
}
