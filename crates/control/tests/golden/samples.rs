//! Random states and references: everything that enters a control step.

use fly_control::matching::Matching;
use fly_control::settings::AllocationMethod;
use fly_control::transport::Map;
use fly_control::{Controller, ReferencePoint};
use fly_mechanics::State;
use fly_testing::golden::{File, numbers};
use serde_json::Value;

use nalgebra::{Const, Matrix6xX};

use crate::data::{matrix, pose, relative, rows, state, vector6};
use crate::example::Example;

const TOLERANCE: f64 = 1e-10;

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
        let at = (&self.state.into(), self.reference);
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
