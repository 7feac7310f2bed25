//! Bodies made of particles, bodies about a fixed point, springs, rolling.

use fly_lie::operators::{angular, linear};
use fly_lie::{AttitudePotential, SE3, SO3};
use fly_mechanics::multibody::constraints::Ellipsoid;
use fly_mechanics::{
    FreeBody, PointSpring, PseudoInertia, SecondMoment, State, Stiffness, wrench_of_force,
};
use fly_testing::golden::{File, array, matrix, number, only, tolerances, vector};
use nalgebra::{Matrix4, SMatrix, Vector1, Vector3, Vector6};
use serde_json::Value;

use crate::special_bodies::{FixedPointBody, RollingBody};

/// A body made of particles: every quantity was summed over the particles.
pub fn particles(file: &mut File, data: &Value) {
    only(
        data,
        "cases[particles[m h] G xi xidot a_G particle_forces_world particle_damping G_ab
         expected{m s Theta M_prime M f_M c f_G V_G T S_acceleration_energy f_E D f_D Gamma_ijk frame_b{m s Theta M_prime}}]",
    );
    let [within] = tolerances(data, [1e-11]);
    for case in array(&data["cases"]) {
        let expected = &case["expected"];
        let points = |weights: &dyn Fn(usize, &Value) -> f64| {
            let particles = array(&case["particles"]).iter().enumerate();
            SecondMoment::from_points(particles.map(|(i, p)| (weights(i, p), vector(&p["h"]))))
        };
        let moment = points(&|_, particle| number(&particle["m"]));
        let damping = points(&|i, _| number(&case["particle_damping"][i]));
        let inertia = PseudoInertia::new(moment).expect("a body of particles");
        let body = FreeBody::new(inertia, vector(&case["a_G"]));
        let G: Matrix4<f64> = matrix(&case["G"]);
        let state = State {
            pose: SE3::try_from_matrix(&G, 1e-12).expect("a pose"),
            twist: vector(&case["xi"]),
        };
        let acceleration: Vector6<f64> = vector(&case["xidot"]);
        let inertial = body.mass_matrix() * acceleration;

        // One tolerance for all: the numbers are below a hundred.
        let mut is = file.case(expected, within);
        is.is_number("m", inertia.mass());
        is.is("s", &inertia.center_of_mass());
        is.is("Theta", &inertia.inertia_about_origin());
        is.is("M_prime", inertia.second_moment().matrix4());
        is.is("M", body.mass_matrix());
        is.is("c", &body.coriolis_force(&state.twist));
        is.is("f_M", &(inertial + body.coriolis_force(&state.twist)));
        is.is("f_M", &moment.inertial_force(&state.twist, &acceleration));
        is.is("f_G", &-body.potential_force(&state.pose));
        is.is_number("V_G", body.potential_energy(&state.pose));
        is.is_number("T", body.kinetic_energy(&state.twist));
        is.is_number("T", moment.energy(&state.twist));
        let S = body.acceleration_energy(&state.twist, &acceleration);
        is.is_number("S_acceleration_energy", S);
        is.is("D", &damping.matrix6());
        is.is("f_D", &(damping.matrix6() * state.twist));

        let forces = array(&case["particle_forces_world"]).iter();
        let wrench = forces
            .zip(array(&case["particles"]))
            .map(|(force, particle)| {
                let in_body = state.pose.rotation.inverse().act(&vector(force));
                wrench_of_force(&in_body, &vector(&particle["h"]))
            });
        is.is("f_E", &wrench.sum::<Vector6<f64>>());
        let coefficients = moment.connection_coefficients();
        // Not every case has them.
        for (i, expected) in array(&expected["Gamma_ijk"]).iter().enumerate() {
            file.rows("Gamma_ijk", &coefficients[i], expected, within);
        }
        // The wrench that brings this acceleration about brings it about.
        let wrench = inertial + body.bias(&state);
        let error = (body.acceleration(&state, &wrench) - acceleration).amax();
        file.error("xidot", error, 1e-12);

        let G_ab = SE3::try_from_matrix(&matrix(&case["G_ab"]), 1e-12).expect("a pose");
        let other = *inertia.in_frame(&G_ab).second_moment();
        let mut is = file.case(&expected["frame_b"], within);
        is.is_number("m", other.weight());
        is.is("s", &other.center());
        is.is("Theta", &other.moment_about_origin());
        is.is("M_prime", other.matrix4());
    }
}

/// Springs in any constellation: potential, force, Hessian and minimum.
pub fn stiffness(file: &mut File, data: &Value) {
    only(
        data,
        "cases[springs[k h p] G det_Ps expected{V grad hess_djdi G_min V_min hess_min grad_norm_at_min k h p Pi singular_values_Ps}]
         attitude_potential{cases[P R_min V_min hess_min V_max]}",
    );
    let [within] = tolerances(data, [1e-10]);
    for case in array(&data["cases"]) {
        let springs: Vec<_> = array(&case["springs"])
            .iter()
            .map(|spring| PointSpring {
                stiffness: number(&spring["k"]),
                point: vector(&spring["h"]),
                anchor: vector(&spring["p"]),
            })
            .collect();
        let stiffness = Stiffness::from_springs(&springs).expect("springs");
        let pose = SE3::try_from_matrix(&matrix(&case["G"]), 1e-12).expect("a pose");
        let expected = &case["expected"];
        let mut is = file.case(expected, within);
        is.is_number("V", stiffness.energy(&pose));
        is.is("grad", &stiffness.force(&pose));
        is.is("hess_djdi", &stiffness.hessian(&pose));
        is.is_number("V_min", stiffness.residual_energy());
        if expected["G_min"].is_null() {
            // The minimum is not unique; the Hessian there is singular.
            let smallest = stiffness
                .moment()
                .moment_about_center()
                .symmetric_eigenvalues();
            file.error("Pi_s", smallest.amin(), within);
            continue;
        }
        let (G, moment) = (stiffness.minimum(), stiffness.moment());
        is.is("G_min", &G.matrix());
        is.is_number("V_min", stiffness.energy(G));
        is.is_number("grad_norm_at_min", stiffness.force(G).norm());
        is.is("hess_min", &stiffness.hessian(G));
        is.is("hess_min", &moment.matrix6());
        is.is_number("k", moment.weight());
        is.is("h", &moment.center());
        is.is("p", &G.act(&moment.center()));
        is.is("Pi", &moment.moment_about_origin());
        // Of P_s the invariants of the moment about the centre: sums of two of its values, the last with the sign of det P_s.
        let sigma = vector::<3>(&expected["singular_values_Ps"]);
        let last = sigma.z * number(&case["det_Ps"]).signum();
        let moments = Vector3::new(sigma.y + last, last + sigma.x, sigma.x + sigma.y);
        let mut got = moment.moment_about_center().symmetric_eigenvalues();
        got.as_mut_slice().sort_by(f64::total_cmp);
        file.error("singular_values_Ps", (got - moments).amax(), within);
    }
    let attitude = &data["attitude_potential"];
    for case in array(&attitude["cases"]) {
        let potential = AttitudePotential::new(matrix(&case["P"])).expect("finite");
        let minimum = potential.minimum();
        let mut is = file.case(case, within);
        is.is("R_min", minimum.matrix());
        is.is_number("V_min", potential.value(&minimum));
        is.is("hess_min", &potential.hessian(&minimum));
        let highest = potential.critical_sets(1e-12).last().expect("a maximum");
        is.is_number("V_max", highest.value);
    }
}

/// Bodies about a fixed point: torque-free, Lagrange's top, any top. The attitude of the torque-free ones does not depend on the mass,
/// which the file leaves out.
pub fn gyroscopes(file: &mut File, data: &Value) {
    let [within] = tolerances(data, [1e-9]);
    for case in array(&data["cases"]) {
        let mass = number(&case["m"]);
        let mass = if mass == 0.0 { 1.0 } else { mass };
        let inertia = PseudoInertia::from_origin(mass, vector(&case["s"]), matrix(&case["Theta"]));
        let inertia = inertia.expect("an inertia");
        let body = FixedPointBody::new(inertia, Vector3::zeros(), vector(&case["gravity"]));
        let samples = array(&case["samples"]);
        let start = &samples[0];
        let start = body.state(
            SO3::from_matrix(matrix(&start["R"])),
            vector(&start["omega"]),
        );
        let advance = |state: &State<f64>, step| body.step(state, step);
        follow(samples, start, 1e-4, advance, |sample, now| {
            let omega_dot = angular(&body.acceleration(now, &Vector6::zeros()));
            compare(file, within, sample, "R", now.pose.rotation.matrix());
            compare(file, within, sample, "omega", &angular(&now.twist));
            compare(file, within, sample, "omegadot", &omega_dot);
            let momentum = body.angular_momentum_in_world(now);
            compare(file, within, sample, "angular_momentum_world", &momentum);
            compare(
                file,
                within,
                sample,
                "energy",
                &Vector1::new(body.energy(now)),
            );
        });
    }
}

/// Rolling ellipsoids: motion, contact and energy.
pub fn rolling(file: &mut File, data: &Value) {
    only(
        data,
        "invariants cases[semi_axes Theta m gravity min_normal_force max_friction_ratio
         samples[t R omega r omegadot rdot rddot p_contact_body pdot_contact_body contact_force_world energy]]",
    );
    let [within] = tolerances(data, [1e-9]);
    for case in array(&data["cases"]) {
        let inertia = PseudoInertia::from_center(
            number(&case["m"]),
            Vector3::zeros(),
            matrix(&case["Theta"]),
        );
        let surface = Ellipsoid::new(vector::<3>(&case["semi_axes"]).into()).expect("an ellipsoid");
        let gravity = vector(&case["gravity"]);
        let body = RollingBody::new(inertia.expect("an inertia"), surface, gravity);
        let samples = array(&case["samples"]);
        let start = &samples[0];
        let position = vector::<3>(&start["r"]).xy();
        let rotation = SO3::from_matrix(matrix(&start["R"]));
        let start = body.state(rotation, vector(&start["omega"]), position);
        let advance = |state: &State<f64>, step| body.step(state, step);
        let (mut normal, mut ratio) = (f64::INFINITY, 0.0_f64);
        follow(samples, start, 2.5e-4, advance, |sample, now| {
            let xi_dot = body.acceleration(now, &Vector6::zeros());
            let (v, omega) = (linear(&now.twist), angular(&now.twist));
            let R = now.pose.rotation;
            let contact = body.contact(now, &Vector6::zeros());
            compare(file, within, sample, "R", R.matrix());
            compare(file, within, sample, "r", &now.pose.translation);
            compare(file, within, sample, "omega", &omega);
            compare(file, within, sample, "omegadot", &angular(&xi_dot));
            compare(file, within, sample, "rdot", &R.act(&v));
            compare(
                file,
                within,
                sample,
                "rddot",
                &R.act(&(linear(&xi_dot) + omega.cross(&v))),
            );
            compare(file, within, sample, "p_contact_body", &contact.point);
            compare(
                file,
                within,
                sample,
                "pdot_contact_body",
                &contact.point_rate,
            );
            compare(
                file,
                within,
                sample,
                "contact_force_world",
                &contact.force.0,
            );
            compare(
                file,
                within,
                sample,
                "energy",
                &Vector1::new(body.energy(now)),
            );
            normal = normal.min(contact.force.normal());
            ratio = ratio.max(contact.force.friction_ratio());
        });
        let mut is = file.case(case, within);
        is.is_number("min_normal_force", normal);
        is.is_number("max_friction_ratio", ratio);
    }
}

/// Integrates from the first sample through all others, each reached exactly by an even number of steps of about `step`.
fn follow(
    samples: &[Value],
    mut now: State<f64>,
    step: f64,
    advance: impl Fn(&State<f64>, f64) -> State<f64>,
    mut check: impl FnMut(&Value, &State<f64>),
) {
    let mut t = number(&samples[0]["t"]);
    for sample in samples {
        let until = number(&sample["t"]);
        let steps = ((until - t) / step).ceil();
        let even = (until - t) / steps.max(1.0);
        let mut taken = 0.0;
        while taken < steps {
            now = advance(&now, even);
            taken += 1.0;
        }
        t = until;
        check(sample, &now);
    }
}

/// Compares an array `within` this part of its largest entry, or of a thousandth where all are smaller.
fn compare<const R: usize, const C: usize>(
    file: &mut File,
    within: f64,
    sample: &Value,
    name: &str,
    got: &SMatrix<f64, R, C>,
) {
    let expected: SMatrix<f64, R, C> = matrix(&sample[name]);
    let scale = expected.amax().max(1e-3);
    file.error(name, (got - expected).amax() / scale, within);
}
