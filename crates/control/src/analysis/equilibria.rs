//! Equilibria of the desired closed loop, and the hover trims of least effort.
#![allow(non_snake_case)]

use fly_lie::SO3;
use fly_mechanics::FreeBody;
use fly_mechanics::geometry::{
    CoordinatesError, CriticalPoint, CriticalSearch, Embedded, RotationMatrix,
};
use fly_mechanics::multibody::{Model, Workspace};
use nalgebra::{DMatrix, DVector, Matrix3, Matrix4, RealField, Vector3, convert};
use num_dual::HyperDual64;

use crate::system::SystemPair;

/// All configurations in which the desired closed loop of these pairs rests while its reference rests at `x_R` (nu entries): the critical points of the desired
/// potential `V = sum 1/2 |(G - G_R)^T|^2_K'`, in ascending order of V. They are the same for all approaches.
///
/// The first is the reference. A closed loop on attitudes always has others: at least three half turns. If [`index`](CriticalPoint::index) is positive, the
/// loop leaves that point on its own; another minimum is a trap. Angles should be [`with_cos_sin`](fly_mechanics::multibody::Joint::with_cos_sin), and `bounds`
/// must enclose all configurations.
///
/// ```
/// use fly_control::analysis::desired_equilibria;
/// use fly_control::system::SystemPair;
/// use fly_control::template::Pair;
/// use fly_mechanics::SecondMoment;
/// use fly_mechanics::multibody::{Body, BodyId, Joint, Model};
/// use nalgebra::{Matrix3, Matrix4, Vector3};
///
/// // A body on a ball joint, Konz 5.7.3.
/// let model = Model::builder().body(Body::new("ball", Joint::spherical())).build()?;
/// let b = model.body_id("ball")?;
/// let moments = Matrix3::from_diagonal(&Vector3::new(3.0, 4.0, 5.0));
/// let stiffness = *SecondMoment::from_center(0.0, Vector3::zeros(), moments).matrix4();
/// let pair = SystemPair { a: BodyId::WORLD, b, energies: Pair::new(stiffness, Matrix4::zeros(), Matrix4::zeros()) };
/// let rest = desired_equilibria(&model, &[pair], &model.neutral_configuration(), vec![[-1.0, 1.0]; 9])?;
/// // The reference, and half turns about each axis: 2 Pi_i of energy, and each with one more way down.
/// let found: Vec<_> = rest.iter().map(|point| (point.index, point.value.round())).collect();
/// assert_eq!(found, [(0, 0.0), (1, 6.0), (2, 8.0), (3, 10.0)]);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
///
/// # Errors
/// As [`CriticalSearch::new`] and [`CriticalSearch::find`]; [`CoordinatesError::Size`] if the size of the reference is
/// wrong.
pub fn desired_equilibria(
    model: &Model<f64>,
    pairs: &[SystemPair],
    x_R: &[f64],
    bounds: Vec<[f64; 2]>,
) -> Result<Vec<CriticalPoint>, CoordinatesError> {
    if x_R.len() != model.config_dim() {
        return Err(CoordinatesError::Size {
            what: "the reference",
            expected: (model.config_dim(), 1),
            found: (x_R.len(), 1),
        });
    }
    let mut reference = Workspace::new(model);
    reference.update(model, x_R, &vec![0.0; model.dof()]);
    let wanted = |pair: &SystemPair| -> (Matrix4<HyperDual64>, Matrix4<HyperDual64>) {
        let G_R = reference.pose(pair.a, pair.b).matrix().map(convert);
        (G_R, pair.energies.stiffness().map(convert))
    };
    let wanted: Vec<_> = pairs.iter().map(wanted).collect();
    let system = model.cast::<HyperDual64>();
    let rest = vec![HyperDual64::from(0.0); model.dof()];
    CriticalSearch::new(model, bounds)?.find(|x| {
        let mut workspace = Workspace::new(&system);
        workspace.update(&system, x.as_slice(), &rest);
        let each = pairs.iter().zip(&wanted).map(|(pair, (G_R, K))| {
            let apart = workspace.pose(pair.a, pair.b).matrix() - G_R;
            (apart * K).component_mul(&apart).sum() * 0.5
        });
        each.fold(HyperDual64::from(0.0), |sum, V| sum + V)
    })
}

/// A hover trim: an attitude and the inputs that hold it.
#[derive(Clone, Debug, PartialEq)]
pub struct HoverTrim {
    /// The attitude, from body to world.
    pub rotation: SO3<f64>,
    /// u, p entries.
    pub input: DVector<f64>,
    /// `1/2 |u|^2` with its multipliers and its kind: at a minimum no nearby attitude takes less effort. Yaw is free, so the dimension is at
    /// least 1.
    pub effort: CriticalPoint,
}

/// The attitudes in which a body hovers with a stationary effort `1/2 |u|^2` subject to `B u = -f_G`, B 6 x p: the nonlinear program (A.110) in attitude and
/// inputs. Inputs are bounded by `largest` in magnitude; their other limits are ignored.
///
/// ```
/// use fly_control::analysis::hover_trims;
/// use fly_mechanics::{FreeBody, PseudoInertia};
/// use nalgebra::{DMatrix, Matrix3, Vector3};
///
/// // Forces along three axes and torques: along z a newton takes half the input, so that it hovers upright, or upside down.
/// let body = FreeBody::new(PseudoInertia::from_center(1.0, Vector3::zeros(), Matrix3::identity())?, Vector3::new(0.0, 0.0, -9.81));
/// let mut B = DMatrix::identity(6, 6);
/// B[(2, 2)] = 2.0;
/// let trims = hover_trims(&body, &B, 20.0)?;
/// let best = &trims[0];
/// assert!((best.input[2].abs() - 9.81 / 2.0).abs() < 1e-8);
/// assert!(best.rotation.matrix()[(2, 2)].abs() > 1.0 - 1e-9);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
///
/// # Errors
/// [`CoordinatesError::Size`] unless B has six rows; [`CoordinatesError::NotFinite`], also if no attitude can be held.
pub fn hover_trims(
    body: &FreeBody<f64>,
    B: &DMatrix<f64>,
    largest: f64,
) -> Result<Vec<HoverTrim>, CoordinatesError> {
    if B.nrows() != 6 {
        return Err(CoordinatesError::Size {
            what: "B",
            expected: (6, B.ncols()),
            found: B.shape(),
        });
    }
    let weight = -body.gravity() * body.inertia().mass();
    let hover = Hover {
        B,
        weight,
        center: body.inertia().center_of_mass(),
    };
    let mut bounds = vec![[-1.0, 1.0]; 9];
    bounds.extend(vec![[-largest, largest]; B.ncols()]);
    let found = CriticalSearch::new(&hover, bounds)?.find(|x| {
        let squares = x.iter().skip(9).map(|u| *u * *u * 0.5);
        squares.fold(HyperDual64::from(0.0), |sum, square| sum + square)
    })?;
    let trims = found.into_iter().map(|effort| {
        let x = &effort.configuration;
        let R = Matrix3::from_column_slice(&x.as_slice()[..9]);
        HoverTrim {
            rotation: SO3::from_matrix(R),
            input: x.rows(9, B.ncols()).into_owned(),
            effort,
        }
    });
    Ok(trims.collect())
}

/// The constraint manifold of attitudes and the inputs that hold them.
struct Hover<'a> {
    B: &'a DMatrix<f64>,
    /// The force to balance, N, world.
    weight: Vector3<f64>,
    center: Vector3<f64>,
}

impl Embedded for Hover<'_> {
    fn config_dim(&self) -> usize {
        9 + self.B.ncols()
    }

    fn constraint<T: RealField + Copy>(&self, x: &DVector<T>) -> DVector<T> {
        let entries = x.rows(0, 9).into_owned();
        let R = Matrix3::from_column_slice(entries.as_slice());
        let held = R.tr_mul(&self.weight.map(convert));
        let torque = self.center.map(convert::<f64, T>).cross(&held);
        let given = self.B.map(convert::<f64, T>) * x.rows(9, self.B.ncols());
        let mut phi = Embedded::constraint(&RotationMatrix, &entries)
            .as_slice()
            .to_vec();
        phi.extend((0..3).map(|k| given[k] - held[k]));
        phi.extend((0..3).map(|k| given[3 + k] - torque[k]));
        DVector::from_vec(phi)
    }
}
