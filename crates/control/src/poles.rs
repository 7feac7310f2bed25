//! Pole placement for matched underactuated vehicles, Konz 5.8.2-5.8.4.
//!
//! A vehicle with thrust along body z and three torques cannot follow an arbitrary template: it must tilt in order to move
//! sideways. With the parameters (5.157), (5.169), (5.173)-(5.175) it can follow the template linearised about hover, and the
//! free parameters are exactly the coefficients of a polynomial `l^4 + p3 l^3 + p2 l^2 + p1 l + p0` of the horizontal motion
//! in a plane, Konz (5.162), (5.163):
//!
//! ```text
//! q = p1 p2 - p0 p3
//! k = m p0 p1/q          d = m p1^2/q             Upsilon = 0
//! h = l = eps + g p3/p1  s = eps + g p1/q
//! Theta = m (h - s)(s - eps)                      Pi = m g (h - s)
//! ```
//!
//! with all centres on the body z axis through the centre of mass and moments about these centres. (5.163) prints `p0 p3` where
//! `p0 p3^2` belongs in Pi. The height obeys `l^2 + d/m l + k/m`; four poles at -a give it -a (0.4 +- 0.2 i).
//!
//! A body with [`Drag`](fly_mechanics::Drag) is matched exactly as well, which is not in the dissertation: with `delta = d_x/m` of the
//! model (1/s) the formulas hold for `q2 = p2 - delta p3 + delta^2`, `q1 = p1 - delta q2`, `q3 = p3 - 2 delta` in place of `p2, p1, p3`,
//! and
//! ```text
//! d' = d + m delta       l = h - (h - s) m delta/d'       Upsilon = m delta (h - s)(l - eps)
//! ```
//!
//! in place of d, l and Upsilon. This is exact for `eps = 0` and equal drag along x and y. If the drags differ, their mean is used; if `eps`
//! is not zero, the rotation of the drag by it is neglected. Both move the poles by a fraction of `delta`;
//! [`ClosedLoop`](crate::analysis::ClosedLoop) computes the actual ones.
//!
//! `eps` is the centre of percussion of the actuators in that plane, where a side force and the torque coupled to it act, (5.176). It is zero
//! for a quadcopter. If the planes differ, the poles are placed in the one with the *larger* eps: placed in the other, `s - eps` can become
//! tiny and with it a pole huge (-496 1/s for a bicopter with poles at -5).
#![allow(non_snake_case)]

use fly_lie::operators::hat3;
use fly_mechanics::{FreeBody, SecondMoment};
use nalgebra::{Complex, ComplexField, Matrix2, Matrix3, Matrix3x2, Matrix6xX, Vector3};

use crate::matching::complement;
use crate::template::Pair;

/// The desired closed loop: a polynomial for the horizontal motion, and the yaw dynamics.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Poles {
    /// `[p0, p1, p2, p3]` of the horizontal motion: 1/s^4, 1/s^3, 1/s^2, 1/s.
    pub polynomial: [f64; 4],
    /// Desired mass, kg. Only ratios affect the motion.
    pub mass: f64,
    /// Desired moment of inertia about z, kg m^2. Small values keep the matching force (5.170) small.
    pub yaw_inertia: f64,
    /// Desired damping about z, N m s.
    pub yaw_damping: f64,
    /// Desired stiffness about z, N m.
    pub yaw_stiffness: f64,
}

/// The parameters that place these poles, about the model's centre of mass. SI units.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct MatchedParameters {
    /// k, N/m.
    pub stiffness: f64,
    /// d, N s/m.
    pub damping: f64,
    /// m, kg.
    pub mass: f64,
    /// h, height of the centre of stiffness, m.
    pub stiffness_height: f64,
    /// l, height of the centre of damping, m: h without drag.
    pub damping_height: f64,
    /// s, height of the centre of the desired mass, m.
    pub mass_height: f64,
    /// Theta about its centre, diagonal, kg m^2.
    pub inertia_moment: Vector3<f64>,
    /// Upsilon about its centre, diagonal, N m s.
    pub damping_moment: Vector3<f64>,
    /// Pi about its centre, diagonal, N m.
    pub stiffness_moment: Vector3<f64>,
}

/// Why no parameters place these poles.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
pub enum PoleError {
    /// The polynomial has a root whose real part is not negative.
    #[error(
        "the polynomial l^4 + {p3} l^3 + {p2} l^2 + {p1} l + {p0}: expected all roots with negative real parts",
        p0 = .0[0], p1 = .0[1], p2 = .0[2], p3 = .0[3]
    )]
    Unstable([f64; 4]),
    /// The actuators are not those of a matched vehicle: thrust along body z and three torques.
    #[error(
        "poles are for vehicles with one thrust along body z and three torques (4 independent inputs): {0}"
    )]
    Vehicle(String),
    /// The body's drag alone exceeds the damping that these poles allow.
    #[error(
        "drag of {0:.3} 1/s per mass damps the body more than these poles allow: expected faster poles, or less drag"
    )]
    Drag(f64),
    /// Without gravity nothing is to be carried, and a tilt turns no thrust sideways.
    #[error(
        "without gravity, tilting the vehicle does not move it sideways: expected `gravity`, or a vehicle whose inputs produce every wrench, \
         with the desired energies of each pair"
    )]
    Weightless,
    /// The parameters give no positive definite inertia.
    #[error(
        "the desired moments of inertia would be {0:.3e}, {1:.3e} kg m^2: expected positive numbers; try slower poles"
    )]
    Inertia(f64, f64),
    /// Two masses: the poles need no inertial coupling, so that the desired masses would be infinite.
    #[error(
        "the desired masses would be infinite: with these poles the spring alone couples the two bodies; move one pole a little"
    )]
    Uncoupled,
}

/// The coefficients `[p0, p1, p2, p3]` of the polynomial with these roots.
pub fn polynomial_of_roots(roots: [f64; 4]) -> [f64; 4] {
    let p = product(&roots);
    std::array::from_fn(|i| p[i])
}

/// `[p0, p1, ..]` of the polynomial `s^m + .. + p1 s + p0` with these m roots; `None` unless complex roots come in conjugate pairs.
///
/// ```
/// use fly_control::poles::polynomial;
/// use nalgebra::Complex;
/// let roots = [Complex::new(-1.0, 2.0), Complex::new(-1.0, -2.0), Complex::new(-3.0, 0.0)];
/// assert_eq!(polynomial(&roots), Some(vec![15.0, 11.0, 5.0]));
/// assert_eq!(polynomial(&roots[..1]), None);
/// // In any order, and where coefficients vanish.
/// let undamped = [0.5, 2.0, -0.5, -2.0].map(|im| Complex::new(0.0, im));
/// assert_eq!(polynomial(&undamped), Some(vec![1.0, 0.0, 4.25, 0.0]));
/// ```
pub fn polynomial(roots: &[Complex<f64>]) -> Option<Vec<f64>> {
    let p = product(roots);
    // What the coefficients would be if nothing cancelled.
    let sizes: Vec<f64> = roots.iter().map(|root| -root.norm()).collect();
    let mut pairs = p.iter().zip(product(&sizes));
    let is_real = pairs.all(|(c, size)| c.im.abs() <= 1e-9 * size);
    is_real.then(|| p.iter().map(|c| c.re).collect())
}

/// The product of all `s - root`: coefficients in ascending order, without the leading 1.
fn product<T: ComplexField + Copy>(roots: &[T]) -> Vec<T> {
    let mut p = vec![T::one()];
    for root in roots {
        p.insert(0, T::zero());
        for i in 0..p.len() - 1 {
            let above = p[i + 1];
            p[i] -= above * *root;
        }
    }
    p.pop();
    p
}

/// The centres of percussion `[eps_x, eps_y]` of the actuators, m, Konz (5.176). With the wrenches that the inputs cannot
/// produce written as `[1, 0, 0, 0, t_y, 0]` and `[0, 1, 0, t_x, 0, 0]` about the centre of mass, `eps_x = Theta_y t_y/m`,
/// `eps_y = -Theta_x t_x/m`. Products of inertia do not matter where `t = 0`, as on all vehicles whose rotors point along body z:
/// the side force is missing alone, and turning the body takes the torques that the inputs have.
///
/// # Errors
/// [`PoleError::Vehicle`] if these wrenches do not have this form, or if products of inertia couple them to other axes.
pub fn percussion(body: &FreeBody<f64>, B: &Matrix6xX<f64>) -> Result<[f64; 2], PoleError> {
    let inertia = body.inertia();
    // Torques about the centre of mass.
    let mut about_center = B.clone();
    let shift = hat3(&inertia.center_of_mass()) * B.fixed_rows::<3>(0);
    about_center
        .fixed_rows_mut::<3>(3)
        .copy_from(&(B.fixed_rows::<3>(3) - shift));
    let missing = complement(&about_center);
    if missing.ncols() != 2 {
        let rank = 6 - missing.ncols();
        let span = format!("the inputs span {rank} directions");
        return Err(PoleError::Vehicle(if rank > 4 {
            span + PAIRS
        } else {
            format!("{span}, {}", lack(&about_center))
        }));
    }
    let sides: Matrix2<f64> = missing.fixed_view::<2, 2>(0, 0).into_owned();
    let Some(inverse) = sides.try_inverse() else {
        return Err(PoleError::Vehicle(
            "the inputs can produce a side force without a torque".to_owned() + PAIRS,
        ));
    };
    let form = missing * inverse;
    let foreign = [(2, 0), (2, 1), (3, 0), (4, 1), (5, 0), (5, 1)].map(|at| form[at].abs());
    if foreign.iter().any(|x| *x > 1e-6) {
        return Err(PoleError::Vehicle(
            "a side force is coupled to lift, or to a torque about an axis that is not perpendicular to it".to_owned() + PAIRS,
        ));
    }
    let (m, Theta) = (inertia.mass(), inertia.inertia_about_center());
    let levers: Matrix3x2<f64> = Theta * form.fixed_rows::<3>(3) / m;
    let foreign = [(0, 0), (1, 1), (2, 0), (2, 1)].map(|at| levers[at].abs());
    if foreign
        .iter()
        .any(|x| *x > 1e-6 * (Theta.amax() / m).sqrt())
    {
        return Err(PoleError::Vehicle(
            "a side force is coupled to a torque, and the products of inertia about the centre of mass couple that to other axes"
                .to_owned()
                + PAIRS,
        ));
    }
    Ok([levers[(1, 0)], -levers[(0, 1)]])
}

/// The parameters of one plane for a polynomial, Konz (5.162), (5.163).
pub(crate) struct Plane {
    /// k, N/m.
    pub stiffness: f64,
    /// d, N s/m.
    pub damping: f64,
    /// h, m.
    pub stiffness_height: f64,
    /// s, m.
    pub mass_height: f64,
    /// Pi about its centre, N m.
    pub stiffness_moment: f64,
    /// l, m.
    pub damping_height: f64,
    /// Upsilon about its centre, N m s.
    pub damping_moment: f64,
}

/// `q = p1 p2 - p0 p3` of a polynomial whose roots all have negative real parts, by the Hurwitz criterion.
pub(crate) fn stable(polynomial: [f64; 4]) -> Result<f64, PoleError> {
    let [p0, p1, p2, p3] = polynomial;
    let q = p1 * p2 - p0 * p3;
    let hurwitz = p1 * p2 * p3 - p1 * p1 - p0 * p3 * p3;
    // Written so that NaN fails.
    if [p0, p1, p2, p3, q, hurwitz].iter().all(|x| *x > 0.0) {
        Ok(q)
    } else {
        Err(PoleError::Unstable(polynomial))
    }
}

/// Places the poles of one plane for a desired mass m, an offset eps of the flat output above the centre of mass,
/// gravity g, and drag per mass delta.
pub(crate) fn plane(
    polynomial: [f64; 4],
    m: f64,
    eps: f64,
    g: f64,
    delta: f64,
) -> Result<Plane, PoleError> {
    stable(polynomial)?;
    let [p0, p1, p2, p3] = polynomial;
    // The equivalent polynomial of the vehicle without drag.
    let p2 = p2 - delta * p3 + delta * delta;
    let p1 = p1 - delta * p2;
    let p3 = p3 - 2.0 * delta;
    let q = stable([p0, p1, p2, p3]).map_err(|_| PoleError::Drag(delta))?;
    let h = eps + g * p3 / p1;
    let s = eps + g * p1 / q;
    let damping = m * (p1 * p1 / q + delta);
    let l = h - (h - s) * m * delta / damping;
    Ok(Plane {
        stiffness: m * p0 * p1 / q,
        damping,
        stiffness_height: h,
        mass_height: s,
        stiffness_moment: m * g * (h - s),
        damping_height: l,
        damping_moment: m * delta * (h - s) * (l - eps),
    })
}

impl Poles {
    /// The parameters for this body and input matrix.
    ///
    /// # Errors
    /// [`PoleError`].
    pub fn place(
        &self,
        body: &FreeBody<f64>,
        B: &Matrix6xX<f64>,
    ) -> Result<MatchedParameters, PoleError> {
        let [eps_x, eps_y] = percussion(body, B)?;
        let gravity = body.gravity().norm();
        if gravity == 0.0 {
            return Err(PoleError::Weightless);
        }
        let m = self.mass;
        let drag = (body.drag()).map_or(0.0, |drag| 0.5 * (drag.linear().x + drag.linear().y));
        let plane = plane(
            self.polynomial,
            m,
            eps_x.max(eps_y),
            gravity,
            drag / body.inertia().mass(),
        )?;
        let (h, s) = (plane.stiffness_height, plane.mass_height);
        let Theta_x = m * (h - s) * (s - eps_y);
        let Theta_y = m * (h - s) * (s - eps_x);
        if !(Theta_x > 0.0 && Theta_y > 0.0) {
            return Err(PoleError::Inertia(Theta_x, Theta_y));
        }
        let (Pi, Upsilon) = (plane.stiffness_moment, plane.damping_moment);
        Ok(MatchedParameters {
            stiffness: plane.stiffness,
            damping: plane.damping,
            mass: m,
            stiffness_height: h,
            damping_height: plane.damping_height,
            mass_height: s,
            inertia_moment: Vector3::new(Theta_x, Theta_y, self.yaw_inertia),
            damping_moment: Vector3::new(Upsilon, Upsilon, self.yaw_damping),
            stiffness_moment: Vector3::new(Pi, Pi, self.yaw_stiffness),
        })
    }
}

impl MatchedParameters {
    /// The desired energies of the pair (world, body), for a body with this centre of mass (m, body coordinates).
    pub fn pair(&self, center_of_mass: &Vector3<f64>) -> Pair {
        let moment = |weight: f64, height: f64, about_center: &Vector3<f64>| {
            let center = center_of_mass + Vector3::new(0.0, 0.0, height);
            *SecondMoment::from_center(weight, center, Matrix3::from_diagonal(about_center))
                .matrix4()
        };
        Pair::new(
            moment(
                self.stiffness,
                self.stiffness_height,
                &self.stiffness_moment,
            ),
            moment(self.damping, self.damping_height, &self.damping_moment),
            moment(self.mass, self.mass_height, &self.inertia_moment),
        )
    }
}

/// What controls a vehicle without such poles.
const PAIRS: &str = "; give the desired energies of each pair instead";

/// What of the thrust along z and the torques about the centre of mass these inputs cannot make, in words, and what would.
fn lack(about_center: &Matrix6xX<f64>) -> String {
    const NAMES: [&str; 4] = [
        "thrust along z",
        "torque about x",
        "torque about y",
        "torque about z",
    ];
    const SLACK: f64 = 1e-6;
    let without = complement(&about_center.fixed_rows::<4>(2).into_owned());
    let parts = [0, 1, 2, 3].map(|axis| without.row(axis).norm());
    let named = |is: fn(f64) -> bool| {
        let names = NAMES.iter().zip(parts).filter(|(_, part)| is(*part));
        let names: Vec<&str> = names.map(|(name, _)| *name).collect();
        (!names.is_empty()).then(|| names.join(", "))
    };
    let missing = named(|part| part > 1.0 - SLACK).map(|names| format!("without {names}"));
    let coupled = named(|part| part > SLACK && part <= 1.0 - SLACK);
    let coupled = coupled.map(|names| format!("not each by itself: {names}"));
    let mut text: Vec<String> = [missing, coupled].into_iter().flatten().collect();
    if parts[3] > SLACK {
        text.push(
            "a torque about z takes rotors whose `drag_ratio` have both signs, or that are tilted"
                .to_owned(),
        );
    }
    if parts[1] > SLACK || parts[2] > SLACK {
        text.push(
            "torques about x and y take rotors on all sides of the centre of mass".to_owned(),
        );
    }
    text.join("; ")
}

#[cfg(test)]
mod tests {
    use super::polynomial_of_roots;

    #[test]
    fn a_polynomial_vanishes_at_its_roots() {
        assert_eq!(polynomial_of_roots([-5.0; 4]), [625.0, 500.0, 150.0, 20.0]);
        let roots = [-1.0, -2.0, -3.5, -0.25];
        let p = polynomial_of_roots(roots);
        for l in roots {
            let value = l.powi(4) + p[3] * l.powi(3) + p[2] * l.powi(2) + p[1] * l + p[0];
            assert!(value.abs() < 1e-12, "{value}");
        }
    }
}
