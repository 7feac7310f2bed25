//! Energies that are matrices, from settings to a closed loop.
#![allow(non_snake_case)]

use fly_control::analysis::{ClosedLoop, LyapunovGuarantee};
use fly_control::system::SystemReference;
use fly_control::template::Approach;
use fly_control::{Controller, ControllerSettings, plant::SystemPlant};
use fly_mechanics::System;
use nalgebra::{DMatrix, DVector, Matrix6, Vector6};

const TRICOPTER: &str = include_str!("../../../../configs/vehicles/tricopter.toml");

fn text(stiffness: &str) -> String {
    format!(
        "allocation = 'none'\n[[pairs]]\nto = 'airframe'\nstiffness = {stiffness}\ndamping = {{ weight = 6, moment = [0.144, 0.144, 0.264] }}\n\
         inertia = {{ weight = 1, moment = [0.012, 0.012, 0.022] }}\n"
    )
}

fn build(approach: &str, stiffness: &str) -> Result<Controller<SystemPlant>, String> {
    let settings = format!("approach = '{approach}'\n{}", text(stiffness));
    let settings: ControllerSettings = toml::from_str(&settings).map_err(|e| e.to_string())?;
    let system = System::from_toml(TRICOPTER).expect("a system");
    settings
        .build_for_system(&system)
        .map_err(|e| e.to_string())
}

fn rows(matrix: &Matrix6<f64>) -> String {
    let rows = matrix.row_iter().map(|row| {
        let row: Vec<_> = row.iter().map(|x| format!("{x:?}")).collect();
        format!("[{}]", row.join(", "))
    });
    format!("{{ matrix = [{}] }}", rows.collect::<Vec<_>>().join(", "))
}

#[test]
fn the_ten_numbers_as_a_matrix_are_the_same_controller() {
    let diagonal = Matrix6::from_diagonal(&Vector6::new(9.0, 9.0, 9.0, 0.432, 0.432, 0.792));
    let system = System::from_toml(TRICOPTER).expect("a system");
    let x: Vec<f64> = {
        let mut x = system.model.neutral_configuration();
        system
            .model
            .integrate(&mut x, &[0.3, -0.2, 0.1, 0.4, 0.2, -0.7]);
        x
    };
    let x_r = {
        let mut x = system.model.neutral_configuration();
        system
            .model
            .integrate(&mut x, &[0.1, 0.1, -0.1, -0.1, 0.3, 0.2]);
        x
    };
    let goal = SystemReference {
        configuration: &x_r,
        velocity: &[0.3, 0.1, -0.2, 0.4, -0.5, 0.6],
        acceleration: &[0.2, 0.3, -0.1, 0.5, 0.6, -0.2],
    };
    let xi = [0.5, -0.4, 0.3, -0.2, 0.6, 0.1];
    for approach in ["particle", "body"] {
        let mut ten =
            build(approach, "{ weight = 9, moment = [0.432, 0.432, 0.792] }").expect("ten");
        let mut matrix = build(approach, &rows(&diagonal)).expect("a matrix");
        let expected = ten.step(&x, &xi, &goal).expect("a step").clone();
        let found = matrix.step(&x, &xi, &goal).expect("a step").clone();
        assert!(
            (&found.input - &expected.input).amax() < 1e-11,
            "{approach}"
        );
        let [a, b] = [&found, &expected].map(|step| step.energies.expect("energies").total);
        assert!((a - b).abs() < 1e-12);
        assert!((&matrix.desired().momentum - &ten.desired().momentum).amax() < 1e-12);
        let guarantees = [ten.lyapunov_guarantee(), matrix.lyapunov_guarantee()];
        assert_eq!(guarantees[0], guarantees[1]);
        if approach == "body" {
            assert_eq!(guarantees[1], LyapunovGuarantee::Always);
        } else {
            assert_eq!(guarantees[1], LyapunovGuarantee::AtRest(Approach::Particle));
        }
    }
}

#[test]
fn axes_are_those_of_the_reference_or_of_the_world() {
    // 16 N/m along x, 4 along y; the reference is turned by a quarter.
    let stiffness = Matrix6::from_diagonal(&Vector6::new(16.0, 4.0, 9.0, 0.432, 0.432, 0.792));
    let system = System::from_toml(TRICOPTER).expect("a system");
    let mut turned = system.model.neutral_configuration();
    system.model.integrate(
        &mut turned,
        &[0.0, 0.0, 0.0, 0.0, 0.0, std::f64::consts::FRAC_PI_2],
    );
    for (approach, along_x) in [("body", 16.0), ("particle", 4.0)] {
        let controller = build(approach, &rows(&stiffness)).expect("a controller");
        let closed = ClosedLoop::new(&system, &controller, &turned).expect("rest");
        // Body x is s^2 + 6 s + k, for the mass of 1 kg.
        let expected = |k: f64| nalgebra::Complex::new(9.0 - k, 0.0).sqrt() - 3.0;
        let poles = closed.poles().expect("poles");
        for k in [along_x, 20.0 - along_x, 9.0] {
            let wanted = expected(k);
            let nearest = poles
                .iter()
                .map(|p| (p - wanted).norm())
                .fold(f64::MAX, f64::min);
            // Double ones split by the root of rounding.
            assert!(nearest < 1e-4, "{approach} {k}");
        }
        // Beside the reference by 0.1 m along body x the inputs push so hard.
        let mut own = build(approach, &rows(&stiffness)).expect("a controller");
        let mut beside = turned.clone();
        system
            .model
            .integrate(&mut beside, &[0.1, 0.0, 0.0, 0.0, 0.0, 0.0]);
        let goal = SystemReference {
            configuration: &turned,
            velocity: &[0.0; 6],
            acceleration: &[0.0; 6],
        };
        own.step(&beside, &[0.0; 6], &goal).expect("a step");
        assert!(
            (own.desired().stiffness[0] - 0.1 * along_x).abs() < 1e-12,
            "{approach}"
        );
    }
}

#[test]
fn the_energy_falls_as_it_should() {
    let mut stiffness = Matrix6::from_diagonal(&Vector6::new(16.0, 4.0, 9.0, 0.9, 0.8, 0.7));
    // Translation coupled to rotation.
    (stiffness[(0, 4)], stiffness[(4, 0)]) = (0.8, 0.8);
    let system = System::from_toml(TRICOPTER).expect("a system");
    let model = &system.model;
    let mut controller = build("body", &rows(&stiffness)).expect("a controller");
    let mut x = model.neutral_configuration();
    model.integrate(&mut x, &[0.5, -0.4, 0.3, 0.5, -0.3, 0.6]);
    let mut xi = DVector::from_row_slice(&[0.3, 0.2, -0.1, 0.4, 0.5, -0.3]);
    let (mut x_r, xi_r) = (
        model.neutral_configuration(),
        [0.4, 0.0, 0.1, 0.0, 0.0, 0.5],
    );
    let h = 1e-4;
    let (mut before, mut power): (Option<f64>, f64) = (None, 0.0);
    let (mut first, mut last) = (None, 0.0);
    for _ in 0..20_000 {
        let goal = SystemReference {
            configuration: &x_r,
            velocity: &xi_r,
            acceleration: &[0.0; 6],
        };
        let step = controller.step(&x, xi.as_slice(), &goal).expect("a step");
        let (input, energies) = (step.input.clone(), step.energies.expect("energies"));
        if let Some(before) = before {
            let rate = (energies.total - before) / h;
            let mean = -(power + energies.dissipation);
            // Euler's steps are of first order.
            assert!(
                (rate - mean).abs() < 2e-2 * power.max(1e-3),
                "{rate} {mean}"
            );
        }
        (before, power, last) = (Some(energies.total), energies.dissipation, energies.total);
        first.get_or_insert(energies.total);
        let M: &DMatrix<f64> = controller.mass_matrix();
        let push = controller.input_matrix() * input - controller.bias();
        let acceleration = M.clone().cholesky().expect("masses").solve(&push);
        let along = &xi * h + &acceleration * (0.5 * h * h);
        model.integrate(&mut x, along.as_slice());
        xi += acceleration * h;
        model.integrate(&mut x_r, &xi_r.map(|v| v * h));
    }
    assert!(last < 1e-2 * first.expect("a first"), "{last}");
}

#[test]
fn what_is_no_energy_is_told() {
    let diagonal = |d: [f64; 6]| rows(&Matrix6::from_diagonal(&Vector6::from(d)));
    let good = diagonal([9.0, 9.0, 9.0, 0.4, 0.4, 0.7]);
    let error = |approach: &str, stiffness: &str| match build(approach, stiffness) {
        Ok(_) => panic!("{approach} {stiffness}"),
        Err(error) => error,
    };
    assert_eq!(
        error("energy", &good),
        "approach: expected particle or body for energies with a `matrix`, found energy, which does not support it"
    );
    assert_eq!(
        error("body", &diagonal([9.0, 9.0, -9.0, 0.4, 0.4, 0.7])),
        "pairs.0.stiffness.matrix: the matrix is not positive definite: its smallest eigenvalue is -9e0"
    );
    assert!(
        error("body", &diagonal([9.0, 9.0, 9.0, 0.4, 0.4, 1.2])).starts_with(
            "pairs.0.stiffness.matrix: the largest principal moment of K_R exceeds the sum of the two others by"
        )
    );
    let beside = good.replace("{ matrix", "{ weight = 1, matrix");
    assert!(
        error("body", &beside)
            .contains("expected `matrix` alone, or `weight`, `center` and `moment`, found both")
    );
    let short = good.replace("[[9.0, 0.0,", "[[9.0,");
    assert!(error("body", &short).contains("invalid length 5"));
    // Beside a matrix the other energies are matrices, too.
    let singular = text(&good).replace("damping = { weight = 6,", "damping = { weight = 0,");
    let settings: ControllerSettings =
        toml::from_str(&format!("approach = 'body'\n{singular}")).expect("readable");
    let system = System::from_toml(TRICOPTER).expect("a system");
    let Err(error) = settings.build_for_system(&system) else {
        panic!("a singular damping")
    };
    let error = error.to_string();
    assert!(
        error.starts_with("pairs.0.damping: ") && error.ends_with("must be positive definite"),
        "{error}"
    );
}
