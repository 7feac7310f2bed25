//! Random states and references: everything that enters a control step.

use fly_control::allocation::{ActiveSet, Limited, Limits};
use fly_control::law::Law;
use fly_control::matching::Matching;
use fly_control::pair::{Pair, PairKinematics, Tracking};
use fly_control::settings::AllocationMethod;
use fly_control::template::{DesiredMotion, Template};
use fly_control::transport::Map;
use fly_control::{Controller, ReferencePoint};
use fly_lie::{SE3, SO3};
use fly_mechanics::State;
use fly_testing::golden::{File, numbers};
use serde_json::Value;

use nalgebra::{Const, DVector, Dyn, Matrix6xX, OMatrix, SMatrix, SVector, Vector6};

use crate::data::{matrix, pose, relative, rows, state, vector6};
use crate::example::Example;

const TOLERANCE: f64 = 1e-10;
/// Of single precision.
const SINGLE: f64 = 1e-4;

pub fn compare(example: &Example, file: &Value, report: &mut File) {
    for sample in file["samples"].as_array().into_iter().flatten() {
        let state = state(&sample["x"], &sample["xi"]);
        let reference = ReferencePoint {
            pose: pose(&numbers(&sample["xR"])),
            twist: vector6(&sample["xiR"]),
            acceleration: vector6(&sample["xiRd"]),
        };
        let body = &example.body;
        relative(
            report,
            "model M, b, B",
            &rows(body.mass_matrix()),
            &numbers(&sample["M"]),
            TOLERANCE,
        );
        relative(
            report,
            "model M, b, B",
            body.bias(&state).as_slice(),
            &numbers(&sample["b"]),
            TOLERANCE,
        );
        relative(
            report,
            "model M, b, B",
            &rows(&example.inputs),
            &numbers(&sample["B"]),
            TOLERANCE,
        );
        for (name, given) in sample["approaches"].as_object().into_iter().flatten() {
            let controller = example.controller(name, AllocationMethod::ActiveSet);
            let at = Sample {
                name,
                given,
                state: &state,
                reference: &reference,
            };
            at.template(&controller, report);
            match example.inputs.ncols() {
                3 => at.in_single_precision::<3>(&controller, example, file, report),
                4 => at.in_single_precision::<4>(&controller, example, file, report),
                6 => at.in_single_precision::<6>(&controller, example, file, report),
                p => panic!("a vehicle with {p} inputs"),
            }
            at.law(controller, example, report);
            if let (Some(complement), Some(_)) = (file.get("Bperp"), given.get("lam")) {
                at.matching(example, name, complement, report);
            }
        }
    }
}

struct Sample<'a> {
    name: &'a str,
    given: &'a Value,
    state: &'a State<f64>,
    reference: &'a ReferencePoint,
}

impl Sample<'_> {
    fn check(&self, report: &mut File, keys: &[(&str, &[f64])]) {
        for (key, found) in keys {
            let Some(expected) = self.given.get(*key) else {
                continue;
            };
            relative(
                report,
                &format!("{}: {key}", self.name),
                found,
                &numbers(expected),
                TOLERANCE,
            );
        }
    }

    fn template(&self, controller: &Controller, report: &mut File) {
        let forces = controller.desired(self.state, self.reference);
        let mut map = Map::new(Const::<6>);
        let motion = self.state.into();
        let at = Tracking::new(&motion, self.reference);
        let Ok(()) = controller.template().clone().transport_map(&at, &mut map);
        let e = forces.energies;
        self.check(
            report,
            &[
                ("Mbar", &rows(controller.template().mass_matrix())),
                ("bbar", forces.bias.as_slice()),
                ("cbar", forces.inertial.as_slice()),
                ("fD", forces.damping.as_slice()),
                ("fK", forces.stiffness.as_slice()),
                ("V", &[e.potential]),
                ("R", &[e.dissipation]),
                ("T", &[e.kinetic]),
                ("W", &[e.total]),
                ("Q", &rows(&map.Q)),
                ("Qdot", &rows(&map.Q_dot)),
            ],
        );
    }

    /// A whole step as firmware has it: `f32`, and numbers of inputs fixed at compile time.
    fn in_single_precision<const P: usize>(
        &self,
        controller: &Controller,
        example: &Example,
        file: &Value,
        report: &mut File,
    ) {
        let pose = |pose: &SE3<f64>| {
            let rotation = SO3::from_matrix(pose.rotation.matrix().cast());
            SE3::new(rotation, pose.translation.cast())
        };
        let motion = PairKinematics {
            pose: pose(&self.state.pose),
            twist: self.state.twist.cast(),
            bias_acceleration: Vector6::zeros(),
        };
        let reference = ReferencePoint {
            pose: pose(&self.reference.pose),
            twist: self.reference.twist.cast(),
            acceleration: self.reference.acceleration.cast(),
        };
        let of_file = controller.template();
        let pair = of_file.pair();
        let energies = [pair.stiffness(), pair.damping(), pair.inertia()];
        let [K, D, M] = energies.map(|energy| energy.cast::<f32>());
        let mut template =
            Template::of_body(of_file.approach(), *of_file.map(), Pair::new(K, D, M));
        let mut desired = DesiredMotion::of_dof(Const::<6>);
        let Ok(()) = template.form(&Tracking::new(&motion, &reference), &mut desired);

        let B = SMatrix::<f64, 6, P>::from_column_slice(example.inputs.as_slice());
        let law = Law::constant(example.body.mass_matrix(), of_file.mass_matrix(), &B);
        let mut law: Law<f32, Const<6>, Const<P>> = law.unwrap().cast();
        let b = example.body.bias(self.state).cast();
        let mut u0 = SVector::zeros();
        law.unconstrained(&b, &desired.bias, &mut u0);
        let mut u: [f32; P] = u0.into();
        if let Some(limits) = example.limits.as_ref().filter(|_| example.constrained) {
            let mut metric = SMatrix::zeros();
            let rho = file["config"]["rho"].as_f64().unwrap_or(0.0);
            law.metric_with_priority([3, 4], nalgebra::convert(rho), &mut metric);
            let rows: OMatrix<f64, Dyn, Const<P>> = limits.rows().fixed_columns(0).into_owned();
            let interior = SVector::<f64, P>::from_column_slice(limits.interior().as_slice());
            let bounds = |bounds: &[f64]| DVector::from_column_slice(bounds).cast();
            let limits = Limits::between(
                rows.cast(),
                &bounds(limits.lower()),
                &bounds(limits.upper()),
                interior.cast(),
            );
            let solver = |limits: &_| ActiveSet::new(limits, &metric);
            let limited = Limited::new(limits.unwrap(), None, solver);
            limited.unwrap().allocate(u0.as_slice(), 0.0, &mut u);
        }
        let of = |what: &str| format!("{}: {what} in f32", self.name);
        for (key, found) in [
            ("bbar", desired.bias.as_slice()),
            ("u0", u0.as_slice()),
            ("u", &u),
        ] {
            if let Some(expected) = self.given.get(key) {
                let found: Vec<f64> = found.iter().map(|x| f64::from(*x)).collect();
                relative(report, &of(key), &found, &numbers(expected), SINGLE);
            }
        }
    }

    fn law(&self, mut controller: Controller, example: &Example, report: &mut File) {
        let metric = rows(controller.law().metric());
        let step = controller.step(self.state, self.reference);
        let wrench = &example.inputs * &step.input;
        let acceleration = example.body.acceleration(self.state, &wrench);
        self.check(
            report,
            &[
                ("H", &metric),
                ("u0", step.unconstrained.as_slice()),
                ("u", step.input.as_slice()),
                ("n_active", &[step.active() as f64]),
                ("xidot", acceleration.as_slice()),
            ],
        );
    }

    fn matching(&self, example: &Example, name: &str, complement: &Value, report: &mut File) {
        let controller = example.controller(name, AllocationMethod::None);
        let given = Matrix6xX::from_row_slice(&numbers(complement));
        assert_eq!(given.ncols(), matrix(complement).ncols());
        let (mass, desired) = (
            example.body.mass_matrix(),
            controller.template().mass_matrix(),
        );
        let matching = Matching::with_complement(mass, desired, given).unwrap();
        let b = example.body.bias(self.state);
        let b_bar = controller.desired(self.state, self.reference).bias;
        let force = matching.force(&b, &b_bar);
        // Neither the force nor the distance depends on the complement: the orthonormal one gives them too.
        let own = controller
            .matching_force(self.state, self.reference)
            .unwrap();
        self.check(
            report,
            &[
                ("lam", force.lambda.as_slice()),
                ("S", &rows(matching.weight())),
                ("btilde", force.force.as_slice()),
                ("btilde", own.force.as_slice()),
                ("G0", &[force.distance]),
                ("G0", &[own.distance]),
            ],
        );
    }
}
