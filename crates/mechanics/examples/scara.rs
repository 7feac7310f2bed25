//! A SCARA's two arms, Konz 5.7.6: its equation of motion beside the one by hand, and what the two parameterisations of its control ask for.
//!
//! Springs on the same arms have the desired potentials. The first turns the joints like two pendulums; the second pulls at the tool, and
//! then there are two postures to end in, and the desired mass matrix is singular where the arm is stretched or folded.
//!
//! `cargo run -p fly-mechanics --example scara`

#![allow(non_snake_case)]

use std::error::Error;
use std::f64::consts::{FRAC_PI_2, PI, TAU};

use fly_lie::{SE3, SO3};
use fly_mechanics::geometry::{directional_derivatives, second_directional_derivatives};
use fly_mechanics::multibody::{Body, Joint, Model, ModelBuilder, Spring, Workspace};
use fly_mechanics::{PseudoInertia, SecondMoment};
use nalgebra::{DMatrix, DVector, Matrix3, RealField, SymmetricEigen, Vector3, dvector};

/// Lengths of the arms, m; their moments of inertia about the joints, kg m^2; mass and centre of mass of the second one.
const L: [f64; 2] = [0.35, 0.25];
const THETA: [f64; 2] = [0.3, 0.09];
const MASS: f64 = 2.1;
const S: [f64; 2] = [0.11, 0.02];

fn arms() -> Result<ModelBuilder<f64>, Box<dyn Error>> {
    let arm = |mass: f64, center: Vector3<f64>, about_joint: f64| {
        let moment = about_joint - mass * center.norm_squared();
        PseudoInertia::from_center(mass, center, Matrix3::from_diagonal_element(moment))
    };
    let joint = Joint::revolute(Vector3::z())?;
    let upper = Body::new("upper", joint).inertia(arm(4.0, Vector3::x() * 0.15, THETA[0])?);
    let fore = arm(MASS, Vector3::new(S[0], S[1], 0.0), THETA[1])?;
    let fore = Body::new("fore", joint).parent("upper").inertia(fore);
    Ok(Model::builder()
        .body(upper)
        .body(fore.placed(turned(0.0, L[0]))))
}

fn turned(angle: f64, x: f64) -> SE3<f64> {
    SE3::new(SO3::exp(&(Vector3::z() * angle)), Vector3::x() * x)
}

/// A spring of 1 N/m in all at these points of `b`, at rest where `b` has this pose in `a`.
fn spring(a: &str, b: &str, rest: SE3<f64>, points: &[f64]) -> Spring<f64> {
    let each = 1.0 / points.len() as f64;
    let points = points.iter().map(|x| (each, Vector3::x() * *x));
    let (a, b) = (a.to_owned(), b.to_owned());
    Spring {
        a,
        b,
        rest,
        stiffness: SecondMoment::from_points(points),
    }
}

/// The arms with the desired potentials (5.124), (5.128), which are zero at the angles 0 and a quarter turn.
fn desired() -> Result<[Model<f64>; 2], Box<dyn Error>> {
    let shoulder = spring("world", "upper", turned(0.0, 0.0), &[1.0, -1.0]);
    let elbow = spring("upper", "fore", turned(FRAC_PI_2, L[0]), &[1.0, -1.0]);
    let tool = spring("world", "fore", turned(FRAC_PI_2, L[0]), &[L[1]]);
    Ok([
        arms()?.spring(shoulder).spring(elbow).build()?,
        arms()?.spring(tool).build()?,
    ])
}

fn potential<T: RealField + Copy>(model: &Model<f64>, x: &DVector<T>) -> T {
    let model = model.cast::<T>();
    let mut workspace = Workspace::new(&model);
    workspace.update(&model, x.as_slice(), &[T::zero(); 2]);
    workspace.spring_energy(&model)
}

/// Angles, the potential there, and the smallest and largest eigenvalue of its Hessian.
type Stationary = (DVector<f64>, f64, [f64; 2]);

/// Where the springs' potential is stationary: by Newton's method from everywhere.
fn critical_points(model: &Model<f64>) -> Result<Vec<Stationary>, Box<dyn Error>> {
    let mut found: Vec<Stationary> = Vec::new();
    for start in 0..144 {
        let mut x =
            dvector![start / 12, start % 12].map(|k| TAU / 12.0 * (f64::from(k) + 0.37) - PI);
        for _ in 0..20 {
            let gradient = directional_derivatives(model, |x| potential(model, x), &x)?;
            let hessian = second_directional_derivatives(model, |x| potential(model, x), &x)?;
            if gradient.norm() < 1e-13 {
                // Angles in (-pi, pi], whatever the rounding of pi itself.
                x.apply(|angle| *angle = PI - (PI - *angle + 1e-9).rem_euclid(TAU) + 1e-9);
                if !found.iter().any(|(y, ..)| (&x - y).norm() < 1e-6) {
                    let curvature = SymmetricEigen::new(hessian).eigenvalues;
                    found.push((
                        x.clone(),
                        potential(model, &x),
                        [curvature.min(), curvature.max()],
                    ));
                }
                break;
            }
            x -= hessian.lu().solve(&gradient).ok_or("a flat potential")?;
        }
    }
    found.sort_by(|a, b| a.1.total_cmp(&b.1));
    Ok(found)
}

/// Runs the example.
pub fn main() -> Result<(), Box<dyn Error>> {
    let model = arms()?.build()?;
    let mut workspace = Workspace::new(&model);
    let (x, xi) = ([0.4, -1.1_f64], [0.7, 1.3]);
    let (mut M, mut c) = (DMatrix::zeros(2, 2), [0.0; 2]);
    model.mass_matrix(&mut workspace, &x, &mut M);
    model.bias(&mut workspace, &x, &xi, &mut c);
    // (5.121), (5.122)
    let (sin, cos) = x[1].sin_cos();
    let a = MASS * L[0] * (S[0] * cos - S[1] * sin);
    let slope = -MASS * L[0] * (S[0] * sin + S[1] * cos);
    let first = THETA[0] + THETA[1] + MASS * L[0] * L[0] + 2.0 * a;
    println!("angles {x:?} rad, rates {xi:?} rad/s");
    println!(
        "M [kg m^2] {:10.6?}\n   by hand {:10.6?}",
        M.as_slice(),
        [first, THETA[1] + a, THETA[1] + a, THETA[1]]
    );
    let by_hand = [
        slope * (2.0 * xi[0] * xi[1] + xi[1] * xi[1]),
        -slope * xi[0] * xi[0],
    ];
    println!("c    [N m] {c:10.6?}\n   by hand {by_hand:10.6?}");

    println!(
        "\nwith 1 kg at the tool the desired mass matrix has the determinant (l1 l2 sin theta_2)^2"
    );
    for (k, model) in desired()?.iter().enumerate() {
        println!(
            "\nparameterisation {}\n  theta_1    theta_2 [rad]   V [J]        curvature",
            k + 1
        );
        let points = critical_points(model)?;
        assert_eq!(points.len(), [4, 6][k]);
        for (x, value, [least, most]) in points {
            let kind = if least > 0.0 {
                "minimum"
            } else if most > 0.0 {
                "saddle"
            } else {
                "maximum"
            };
            println!(
                "  {:9.6}  {:9.6}      {value:.9}  {least:9.6} {most:9.6}  {kind}",
                x[0], x[1]
            );
        }
    }
    Ok(())
}
