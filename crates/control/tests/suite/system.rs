//! Laws of the control of whole systems, on random trees with random energies.

#![allow(non_snake_case)]

use crate::common::Random;
use crate::solve::solve;
use fly_control::law::Law;
use fly_control::system::{SystemPair, SystemReference};
use fly_control::template::{Approach, DesiredMotion, Pair, Template, Transport};
use fly_control::transport::{JointMap, PairMap, TransportContext, TransportError, TransportMap};
use fly_lie::{SE3, SO3};
use fly_mechanics::PseudoInertia;
use fly_mechanics::multibody::{Body, BodyId, EquationOfMotion, Joint, Model, Workspace};
use nalgebra::{DMatrix, DVector, Dyn, Matrix3, Vector3};

impl Random {
    fn numbers(&mut self, n: usize) -> Vec<f64> {
        (0..n).map(|_| self.next()).collect()
    }

    fn energies(&mut self) -> Pair {
        let [stiffness, damping, inertia] = [1.0; 3].map(|weight| self.moment(weight));
        Pair::new(stiffness, damping, inertia)
    }

    fn inertia(&mut self) -> PseudoInertia<f64> {
        let moments = Matrix3::from_diagonal(&Vector3::new(0.8, 0.9, 1.0));
        let mass = 1.5 + self.next();
        PseudoInertia::from_center(mass, self.vector3(1.0) * 0.3, moments).expect("an inertia")
    }

    fn joint(&mut self, kind: usize) -> Joint<f64> {
        let axis = self.vector3(1.0);
        let joint = match kind % 8 {
            0 => Joint::revolute(axis),
            1 => Ok(Joint::spherical()),
            2 => Joint::prismatic(axis),
            3 => Ok(Joint::free()),
            4 => Joint::planar(axis),
            5 => Joint::schoenflies(axis),
            6 => Joint::cylindrical(axis),
            _ => Joint::universal(axis, self.vector3(1.0)),
        };
        joint.expect("an axis")
    }

    /// A branched tree of bodies on these joints.
    fn tree(&mut self, joints: &[usize]) -> Model<f64> {
        let mut builder = Model::builder();
        for (i, kind) in joints.iter().enumerate() {
            let parent = match i {
                0 => "world".to_owned(),
                // Two bodies hang on every other one.
                _ => ((i - 1) / 2).to_string(),
            };
            let body = Body::new(i.to_string(), self.joint(*kind))
                .parent(parent)
                .placed(SE3::exp(&self.vector6(1.0)))
                .inertia(self.inertia());
            builder = builder.body(body);
        }
        builder.build().expect("a tree")
    }
}

/// Everything of a closed loop at one instant.
struct Case {
    model: Model<f64>,
    template: Template<Model<f64>>,
    x: Vec<f64>,
    xi: Vec<f64>,
    goal: (Vec<f64>, Vec<f64>, Vec<f64>),
}

impl Case {
    fn desired(&mut self) -> Result<DesiredMotion, TransportError> {
        let (mut actual, mut reference) =
            (Workspace::new(&self.model), Workspace::new(&self.model));
        actual.update(&self.model, &self.x, &self.xi);
        actual.update_jacobians(&self.model);
        let mut out = DesiredMotion::new(&self.model);
        let goal = SystemReference {
            configuration: &self.goal.0,
            velocity: &self.goal.1,
            acceleration: &self.goal.2,
        };
        self.template.evaluate(
            &self.model,
            &actual,
            &self.xi,
            &mut reference,
            &goal,
            &mut out,
        )?;
        Ok(out)
    }

    /// The acceleration of the desired closed loop.
    fn acceleration(desired: &DesiredMotion) -> DVector<f64> {
        let factors = desired.mass_matrix.clone().cholesky();
        -factors.expect("a desired mass").solve(&desired.bias)
    }

    /// dW/dt by differences along the closed loop, and -2R; and the size of the energies.
    fn power(&mut self) -> (f64, f64, f64) {
        let now = self.desired().expect("a map");
        let xi_dot = Self::acceleration(&now);
        let start = (self.x.clone(), self.xi.clone(), self.goal.clone());
        let h = 1e-4;
        let mut total = |t: f64| {
            // Second order in time is enough: the third differs by h³, the difference quotient of eighth order sees h² of it.
            let half: Vec<f64> = (start.1.iter().zip(&xi_dot))
                .map(|(v, a)| t * (v + 0.5 * t * a))
                .collect();
            self.x.clone_from(&start.0);
            self.model.integrate(&mut self.x, &half);
            self.xi = start
                .1
                .iter()
                .zip(&xi_dot)
                .map(|(v, a)| v + t * a)
                .collect();
            let (x_R, xi_R, xi_dot_R) = &start.2;
            let half: Vec<f64> = xi_R
                .iter()
                .zip(xi_dot_R)
                .map(|(v, a)| t * (v + 0.5 * t * a))
                .collect();
            self.goal.0.clone_from(x_R);
            self.model.integrate(&mut self.goal.0, &half);
            self.goal.1 = xi_R.iter().zip(xi_dot_R).map(|(v, a)| v + t * a).collect();
            self.desired().expect("a map").energies.total
        };
        let rate = (8.0 * (total(h) - total(-h)) - (total(2.0 * h) - total(-2.0 * h))) / (12.0 * h);
        (self.x, self.xi, self.goal) = start;
        (rate, -2.0 * now.energies.dissipation, now.energies.total)
    }
}

const TREES: [&[usize]; 6] = [
    &[3],
    &[1, 0, 2],
    &[3, 1, 0, 2],
    &[4, 6, 7, 0, 1],
    &[5, 0, 0, 2, 1, 7],
    &[0, 1, 2, 4, 5, 6, 7],
];

/// A case for every tree and approach. Pairs stand between bodies and those that carry them, where the map of joints fits.
fn cases(approach: Approach, visit: impl FnMut(Case)) {
    with_pairs(approach, false, visit);
}

/// A universal joint has no map: its potential does not depend on the differences of its angles alone.
const UNIVERSAL: usize = 7;

fn with_pairs(approach: Approach, any: bool, mut visit: impl FnMut(Case)) {
    let mut random = Random::new(2_021);
    let mut count = 0;
    for joints in TREES {
        for _ in 0..5 {
            let joints: Vec<_> = (joints.iter().copied())
                .filter(|kind| any || *kind != UNIVERSAL)
                .collect();
            let model = random.tree(&joints);
            let mut pairs: Vec<_> = (model.bodies())
                .map(|b| SystemPair {
                    a: model.parent(b).expect("a parent"),
                    b,
                    energies: random.energies(),
                })
                .collect();
            if any {
                // And between the world and every body.
                pairs.extend(model.bodies().map(|b| SystemPair {
                    a: BodyId::WORLD,
                    b,
                    energies: random.energies(),
                }));
            }
            let mut configuration = || {
                let mut x = model.neutral_configuration();
                model.integrate(&mut x, &random.numbers(model.dof()));
                x
            };
            let (x, x_R) = (configuration(), configuration());
            let n = model.dof();
            visit(Case {
                template: Template::of_system(&model, approach, pairs, Box::new(JointMap)),
                x,
                xi: random.numbers(n),
                goal: (x_R, random.numbers(n), random.numbers(n)),
                model,
            });
            count += 1;
        }
    }
    assert!(count >= 30, "a law on {count} systems says little");
}

#[test]
fn the_three_approaches_are_one_for_a_reference_at_rest() {
    let mut found: Vec<Vec<DVector<f64>>> = Vec::new();
    for approach in [Approach::Particle, Approach::Body, Approach::Energy] {
        let mut of_approach = Vec::new();
        with_pairs(approach, true, |mut case| {
            let n = case.model.dof();
            case.goal.1 = vec![0.0; n];
            case.goal.2 = vec![0.0; n];
            of_approach.push(case.desired().expect("a map").bias);
        });
        found.push(of_approach);
    }
    for (particle, (body, energy)) in found[0].iter().zip(found[1].iter().zip(&found[2])) {
        let scale = particle.amax();
        assert!((particle - body).amax() < 1e-12 * scale);
        assert!((particle - energy).amax() < 1e-12 * scale);
    }
}

#[test]
fn the_energy_based_approach_loses_energy_as_it_says() {
    cases(Approach::Energy, |mut case| {
        let (rate, expected, scale) = case.power();
        assert!(
            (rate - expected).abs() < 1e-8 * scale.max(1.0),
            "{rate} {expected}"
        );
    });
}

/// The claim holds for one body only; so a monitor must not expect it of systems.
#[test]
fn the_other_approaches_need_not() {
    for approach in [Approach::Particle, Approach::Body] {
        let mut worst: f64 = 0.0;
        with_pairs(approach, true, |mut case| {
            let (rate, expected, scale) = case.power();
            worst = worst.max((rate - expected).abs() / scale);
        });
        assert!(worst > 0.1, "{approach:?}: {worst}");
    }
}

/// (5.10): for every approach, with or without an admissible map, W changes by the dissipation and by the power of the reference.
#[test]
fn the_energy_changes_by_what_the_reference_takes() {
    for approach in [Approach::Particle, Approach::Body, Approach::Energy] {
        with_pairs(approach, true, |mut case| {
            let now = case.desired().expect("a map");
            let taken = now.reference_power_at(&Case::acceleration(&now));
            let (rate, dissipated, scale) = case.power();
            let expected = dissipated - taken.expect("a power");
            assert!(
                (rate - expected).abs() < 1e-8 * scale.max(1.0),
                "{approach:?}: {rate} {expected}"
            );
            case.goal.1.fill(0.0);
            let resting = case.desired().expect("a map");
            let taken = resting.reference_power_at(&DVector::repeat(case.model.dof(), 1.0));
            assert_eq!(taken, Some(0.0));
        });
    }
}

#[test]
fn the_stiffness_force_is_the_gradient_of_the_potential() {
    with_pairs(Approach::Energy, true, |mut case| {
        let now = case.desired().expect("a map");
        let start = case.x.clone();
        for i in 0..case.model.dof() {
            let h = 1e-4;
            let mut potential = |t: f64| {
                let mut step = vec![0.0; case.model.dof()];
                step[i] = t;
                case.x.clone_from(&start);
                case.model.integrate(&mut case.x, &step);
                case.desired().expect("a map").energies.potential
            };
            let slope = (8.0 * (potential(h) - potential(-h))
                - (potential(2.0 * h) - potential(-2.0 * h)))
                / (12.0 * h);
            let scale = now.stiffness.amax().max(1.0);
            assert!((slope - now.stiffness[i]).abs() < 1e-8 * scale);
        }
    });
}

#[test]
fn a_map_that_does_not_fit_is_found() {
    let mut unfit = 0;
    with_pairs(Approach::Energy, true, |mut case| {
        let desired = case.desired().expect("a map");
        let (mut actual, mut reference) =
            (Workspace::new(&case.model), Workspace::new(&case.model));
        actual.update(&case.model, &case.x, &case.xi);
        actual.update_jacobians(&case.model);
        reference.update(&case.model, &case.goal.0, &case.goal.1);
        reference.update_jacobians(&case.model);
        let at = TransportContext {
            model: &case.model,
            pairs: case.template.pairs(),
            actual: &actual,
            reference: &reference,
        };
        // The map of joints does not suit pairs that span several of them.
        if let Err(error) = at.check(&desired.map, 1e-9) {
            assert!(matches!(error, TransportError::Mismatch { .. }), "{error}");
            unfit += 1;
        }
    });
    assert!(unfit >= 20, "{unfit}");
}

/// Damping and desired mass come from the energies: `f_D = dR/dxi`, `Mbar = d²T/dxi²`. T and R are quadratic in xi, so that differences are exact.
#[test]
fn damping_and_mass_are_gradients_of_the_energies() {
    for approach in [Approach::Particle, Approach::Body, Approach::Energy] {
        with_pairs(approach, true, |mut case| {
            let now = case.desired().expect("a map");
            let (start, n) = (case.xi.clone(), case.model.dof());
            let mut energies = |steps: &[(usize, f64)]| {
                case.xi.clone_from(&start);
                for (i, step) in steps {
                    case.xi[*i] += step;
                }
                case.desired().expect("a map").energies
            };
            let h = 0.5;
            let scale = now.energies.kinetic + now.energies.dissipation + now.mass_matrix.amax();
            for i in 0..n {
                let (up, down) = (energies(&[(i, h)]), energies(&[(i, -h)]));
                let slope = (up.dissipation - down.dissipation) / (2.0 * h);
                assert!((slope - now.damping[i]).abs() < 1e-12 * scale);
                for j in 0..n {
                    let mut corner = |a: f64, b: f64| energies(&[(i, a), (j, b)]).kinetic;
                    let mixed = corner(h, h) - corner(h, -h) - corner(-h, h) + corner(-h, -h);
                    let entry = mixed / (4.0 * h * h);
                    assert!((entry - now.mass_matrix[(i, j)]).abs() < 1e-12 * scale);
                }
            }
        });
    }
}

#[test]
fn a_common_factor_of_all_energies_changes_no_input() {
    for approach in [Approach::Particle, Approach::Body, Approach::Energy] {
        let mut random = Random::new(5);
        with_pairs(approach, true, |mut case| {
            let n = case.model.dof();
            let mut workspace = Workspace::new(&case.model);
            workspace.update(&case.model, &case.x, &case.xi);
            workspace.update_jacobians(&case.model);
            let mut equation = EquationOfMotion::new(&case.model);
            equation.update(&case.model, &workspace);
            let mut b = DVector::zeros(n);
            equation.bias(&case.xi, b.as_mut_slice());
            // As many inputs as degrees of freedom, and fewer.
            for inputs in [n, n - 2] {
                let B = DMatrix::from_fn(n, inputs, |_, _| random.next());
                let input = |case: &mut Case| {
                    let desired = case.desired().expect("a map");
                    let mut law = Law::new(Dyn(n), Dyn(inputs));
                    solve(&mut law, &equation.mass_matrix, &b, &B, &desired)
                };
                let u = input(&mut case);
                let pairs = case.template.pairs().to_vec();
                let scaled = pairs.iter().map(|pair| {
                    let [K, D, M] = [
                        pair.energies.stiffness(),
                        pair.energies.damping(),
                        pair.energies.inertia(),
                    ];
                    SystemPair {
                        energies: Pair::new(K * 7.5, D * 7.5, M * 7.5),
                        ..pair.clone()
                    }
                });
                let scaled = scaled.collect();
                case.template =
                    Template::of_system(&case.model, approach, scaled, Box::new(JointMap));
                let difference = (&u - input(&mut case)).amax();
                assert!(difference < 1e-9 * u.amax(), "{approach:?}: {difference:e}");
                case.template =
                    Template::of_system(&case.model, approach, pairs, Box::new(JointMap));
            }
        });
    }
}

/// The tool of an arm: one pair with a Jacobian that can be inverted.
#[test]
fn the_map_of_a_pair_refuses_a_singular_jacobian() {
    let z = Vector3::z();
    let at = |x| SE3::new(SO3::identity(), Vector3::new(x, 0.0, 0.0));
    let link = |name: &str| Body::new(name, Joint::revolute(z).expect("an axis"));
    // Three parallel hinges at the same place move the tool in one way only.
    let model = Model::builder()
        .body(link("a"))
        .body(link("b").parent("a"))
        .body(link("tool").parent("b").placed(at(0.0)))
        .build()
        .expect("a chain");
    let tool = model.body_id("tool").expect("the tool");
    let mut random = Random::new(3);
    let pairs = vec![SystemPair {
        a: BodyId::WORLD,
        b: tool,
        energies: random.energies(),
    }];
    let map: Box<dyn TransportMap> = Box::new(PairMap::new(&model, Transport::Centred, 0));
    let mut case = Case {
        template: Template::of_system(&model, Approach::Energy, pairs, map),
        x: vec![0.1, 0.2, 0.3],
        xi: vec![0.0; 3],
        goal: (vec![0.0; 3], vec![0.0; 3], vec![0.0; 3]),
        model,
    };
    let error = case.desired().expect_err("a singular Jacobian");
    assert_eq!(
        error.to_string(),
        "the transport map needs a Jacobian with independent columns, but that of `tool` relative to `world` is singular here; keep away from \
         this configuration, or use another map"
    );
}
