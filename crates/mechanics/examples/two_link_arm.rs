//! The two-link arm of every textbook: M, C and g by hand and by the recursions, what `M_dot - 2 C` means, and a swing.
//!
//! `cargo run -p fly-mechanics --example two_link_arm`

// The source's symbols are the names here: M, K, V.
#![allow(non_snake_case)]

use std::error::Error;
use std::f64::consts::FRAC_PI_4;

use fly_lie::{SE3, SO3};
use fly_mechanics::PseudoInertia;
use fly_mechanics::integrate::{Adaptive, SystemState, Tolerance, unforced};
use fly_mechanics::multibody::projection;
use fly_mechanics::multibody::{Body, BodyId, EquationOfMotion, Joint, Model, Workspace};
use nalgebra::{DMatrix, Matrix2, Matrix3, Vector2, Vector3};

/// Lengths, distances of the centres of mass from the joints (m), masses (kg), moments about the centres (kg m²).
const L: [f64; 2] = [0.5, 0.4];
const LC: [f64; 2] = [0.2, 0.25];
const MASS: [f64; 2] = [3.0, 2.0];
const MOMENT: [f64; 2] = [0.06, 0.03];

/// Runs the example.
pub fn main() -> Result<(), Box<dyn Error>> {
    // Both hinges turn about z; the arm hangs in the x-y plane, gravity pulls along -y.
    let mut builder = Model::builder().gravity(Vector3::new(0.0, -9.81, 0.0));
    let places = [("upper", "world", 0.0), ("lower", "upper", L[0])];
    for (i, (name, parent, along)) in places.into_iter().enumerate() {
        let moments = Matrix3::from_diagonal(&Vector3::new(0.01, MOMENT[i], MOMENT[i]));
        let inertia = PseudoInertia::from_center(MASS[i], Vector3::x() * LC[i], moments)?;
        let place = SE3::new(SO3::identity(), Vector3::x() * along);
        let link = Body::new(name, Joint::revolute(Vector3::z())?).parent(parent);
        builder = builder.body(link.placed(place).inertia(inertia));
    }
    let model = builder.build()?;
    compare(&model);
    swing(&model)
}

/// `M`, `C`, `g` and the rate of `M`, as the textbooks have them.
fn by_hand(q: [f64; 2], w: [f64; 2]) -> (Matrix2<f64>, Matrix2<f64>, Vector2<f64>, Matrix2<f64>) {
    let ([m1, m2], [i1, i2], [lc1, lc2], l1) = (MASS, MOMENT, LC, L[0]);
    let (sin, cos) = q[1].sin_cos();
    let m12 = i2 + m2 * (lc2 * lc2 + l1 * lc2 * cos);
    let m22 = i2 + m2 * lc2 * lc2;
    let m11 = i1 + m1 * lc1 * lc1 + m22 + m2 * (l1 * l1 + 2.0 * l1 * lc2 * cos);
    let h = m2 * l1 * lc2 * sin;
    let C = Matrix2::new(-h * w[1], -h * (w[0] + w[1]), h * w[0], 0.0);
    let M_dot = Matrix2::new(-2.0 * h * w[1], -h * w[1], -h * w[1], 0.0);
    let lower = m2 * lc2 * 9.81 * (q[0] + q[1]).cos();
    let g = Vector2::new((m1 * lc1 + m2 * l1) * 9.81 * q[0].cos() + lower, lower);
    (Matrix2::new(m11, m12, m12, m22), C, g, M_dot)
}

fn compare(model: &Model<f64>) {
    let (q, w, a) = ([-0.3, 1.1], [0.7, -1.6], [2.0, -1.0]);
    let (M, C, g, M_dot) = by_hand(q, w);
    println!("by hand, at q = {q:?} rad, q' = {w:?} rad/s:\n\nM = {M:.6}C = {C:.6}g = {g:.6}");
    println!(
        "M' - 2C = {:.6}is skew: what C does, no power goes into",
        M_dot - C * 2.0
    );

    let (mut workspace, mut equation) = (Workspace::new(model), EquationOfMotion::new(model));
    workspace.update(model, &q, &w);
    workspace.update_jacobians(model);
    equation.update(model, &workspace);
    let mut coriolis = DMatrix::zeros(2, 2);
    projection::coriolis_matrix(model, &workspace, &mut coriolis);
    let (mut torque, mut back) = ([0.0; 2], [0.0; 2]);
    model.inverse_dynamics(&mut workspace, &q, &w, &a, &mut torque);
    let solved = model.forward_dynamics(&mut workspace, &q, &w, &torque, &mut back);
    solved.expect("mass everywhere");
    let expected = M * Vector2::from(a) + C * Vector2::from(w) + g;
    let checks = [
        ("M", (&equation.mass_matrix - M).amax()),
        ("C, from the connection of M", (coriolis - C).amax()),
        (
            "g, the gradient of the potential",
            (&equation.potential_force - g).amax(),
        ),
        (
            "M q'' + C q' + g, by Newton and Euler's recursion",
            (Vector2::from(torque) - expected).amax(),
        ),
        (
            "q'' back from that, by articulated bodies",
            (Vector2::from(back) - Vector2::from(a)).amax(),
        ),
    ];
    println!("\nthe model's differ from these by");
    for (what, difference) in checks {
        println!("  {difference:8.1e}  {what}");
        assert!(difference < 1e-13, "{what}");
    }
}

fn swing(model: &Model<f64>) -> Result<(), Box<dyn Error>> {
    println!("\nlet go at 45 degrees above the horizontal\n");
    println!("  t [s]    q1 [rad]   q2 [rad]   tip x [m]   tip y [m]   energy [J]");
    let mut motion = SystemState::at_rest(model);
    motion.configuration[0] = FRAC_PI_4;
    let lower = model.body_id("lower")?;
    let mut workspace = Workspace::new(model);
    let mut integrator = Adaptive::new(model, Tolerance::default());
    let mut start = None;
    for step in 0..=300 {
        integrator.advance(model, &mut motion, 0.01 * f64::from(step), unforced(model))?;
        let q = &motion.configuration;
        workspace.update(model, q, &motion.velocity);
        let tip = workspace
            .pose(BodyId::WORLD, lower)
            .act(&(Vector3::x() * L[1]));
        let energy = workspace.energy(model);
        assert!((energy - *start.get_or_insert(energy)).abs() < 1e-7);
        if step % 30 == 0 {
            println!(
                "  {:5.2}   {:9.5}  {:9.5}   {:9.5}   {:9.5}   {energy:10.7}",
                motion.time, q[0], q[1], tip.x, tip.y
            );
        }
    }
    Ok(())
}
