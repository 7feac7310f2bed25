//! The desired motion: the output of a template.

use nalgebra::allocator::Allocator;
use nalgebra::{DefaultAllocator, Dim, OMatrix, OVector, RealField, U1};

use super::PairForces;
use crate::Energies;
use crate::kinematics::Jacobian;
use crate::sizes::{DefaultDim, Sizes};
use crate::transport::Map;

/// The desired motion of a [`Template`](super::Template) at one instant: `Mbar xi_dot + bbar = 0`, with n rows,
/// Konz (5.72).
#[derive(Clone, Debug, PartialEq)]
pub struct DesiredMotion<T: RealField + Copy = f64, N: Dim = DefaultDim>
where
    DefaultAllocator: Allocator<N> + Allocator<N, N>,
{
    /// Mbar, n x n, the same for every approach.
    pub mass_matrix: OMatrix<T, N, N>,
    /// cbar: the inertial force without `Mbar xi_dot`.
    pub inertial: OVector<T, N>,
    /// f_D.
    pub damping: OVector<T, N>,
    /// f_K, the gradient of V-bar.
    pub stiffness: OVector<T, N>,
    /// bbar = cbar + f_D + f_K.
    pub bias: OVector<T, N>,
    /// The gradient of T-bar with respect to the velocity coordinates.
    pub momentum: OVector<T, N>,
    /// The desired energies.
    pub energies: Energies<T>,
    /// The power that the motion of the reference extracts from W-bar at `xi_dot = 0`, W; `None` if the template does not compute it.
    /// For any `xi_dot` see [`reference_power_at`](Self::reference_power_at).
    pub reference_power: Option<T>,
    /// Its derivative with respect to `xi_dot`: `M'(x, x_R) xi_R` for the particle-based approach.
    pub reference_momentum: OVector<T, N>,
    /// Q and its rate, if the approach uses a transport map.
    pub map: Map<T, N>,
}

impl<T: RealField + Copy, N: Dim> DesiredMotion<T, N>
where
    DefaultAllocator: Allocator<N> + Allocator<N, N>,
{
    /// Allocates for n degrees of freedom.
    pub fn of_dof(n: N) -> Self {
        let zero = OVector::zeros_generic(n, U1);
        Self {
            mass_matrix: OMatrix::zeros_generic(n, n),
            inertial: zero.clone(),
            damping: zero.clone(),
            stiffness: zero.clone(),
            momentum: zero.clone(),
            bias: zero.clone(),
            energies: Energies::default(),
            reference_power: None,
            reference_momentum: zero,
            map: Map::new(n),
        }
    }

    /// Resets the sums over the pairs.
    pub(crate) fn clear(&mut self) {
        self.mass_matrix.fill(T::zero());
        self.inertial.fill(T::zero());
        self.damping.fill(T::zero());
        self.stiffness.fill(T::zero());
        self.momentum.fill(T::zero());
        self.reference_momentum.fill(T::zero());
    }

    /// The power P that the motion of the reference extracts from W-bar along this closed loop if the system accelerates with `xi_dot` (n entries), W:
    ///
    /// ```text
    /// d/dt W-bar = -2 R-bar - P                                                               Konz (5.10)
    /// ```
    ///
    /// ```
    /// use fly_control::ReferencePoint;
    /// use fly_control::template::{Approach, DesiredMotion, Pair, PairKinematics, Template, Tracking};
    /// use fly_lie::SE3;
    /// use nalgebra::{Const, Matrix4, Vector6};
    ///
    /// // A particle of 2 kg on a spring of 8 N/m that follows one at 3 m/s: it can on its own, and nothing is left for the reference to do.
    /// let at_origin = |weight| Matrix4::from_diagonal(&[0.0, 0.0, 0.0, weight].into());
    /// let pair = Pair::new(at_origin(8.0), at_origin(3.0), at_origin(2.0));
    /// let mut template = Template::of_body(Approach::Particle, Default::default(), pair);
    /// let mut goal = ReferencePoint::at_rest(SE3::identity());
    /// goal.twist[0] = 3.0;
    /// let motion = PairKinematics { pose: SE3::exp(&Vector6::ith(0, 0.5)), twist: Vector6::ith(0, 1.0), bias_acceleration: Vector6::zeros() };
    /// let mut desired: DesiredMotion<f64, Const<6>> = DesiredMotion::of_dof(Const::<6>);
    /// let Ok(()) = template.form(&Tracking::new(&motion, &goal), &mut desired);
    /// let along = Vector6::ith(0, -(3.0 * (1.0 - 3.0) + 8.0 * 0.5) / 2.0);
    /// assert!(desired.reference_power_at(&along).unwrap().abs() < 1e-14);
    /// // Where it keeps its speed 2 N are left, which pull along what moves at 3 m/s.
    /// assert!((desired.reference_power_at(&Vector6::zeros()).unwrap() + 6.0).abs() < 1e-14);
    /// ```
    ///
    /// Zero at rest, and wherever W-bar is a Lyapunov function along moving references, Konz (5.23), (5.55). `None` if the template does not compute
    /// it.
    pub fn reference_power_at(&self, xi_dot: &OVector<T, N>) -> Option<T> {
        self.reference_power
            .map(|power| power + self.reference_momentum.dot(xi_dot))
    }

    /// Adds the terms of one pair, mapped by its Jacobian, to `kept` times the present ones.
    pub(crate) fn add_forces(&mut self, of_pair: &PairForces<T>, J: &impl Jacobian<T, N>, kept: T)
    where
        DefaultAllocator: Sizes<N, N>,
    {
        J.add_force(&of_pair.stiffness, kept, &mut self.stiffness);
        J.add_force(&of_pair.inertial, kept, &mut self.inertial);
        J.add_force(&of_pair.damping, kept, &mut self.damping);
        J.add_force(&of_pair.momentum, kept, &mut self.momentum);
        J.add_force(
            &of_pair.reference_momentum,
            kept,
            &mut self.reference_momentum,
        );
        self.energies += of_pair.energies;
    }

    /// Sums bbar from its three parts.
    pub(crate) fn sum_up(&mut self) {
        self.bias.copy_from(&self.inertial);
        self.bias += &self.damping;
        self.bias += &self.stiffness;
    }
}
