//! Centre of mass, momentum and centroidal momentum of a whole system, after D. E. Orin, A. Goswami, S.-H. Lee: Centroidal dynamics of a humanoid
//! robot. Autonomous Robots 35 (2013).

use fly_lie::operators::linear;
use nalgebra::{Matrix6xX, RealField, Vector3, Vector6};

use crate::multibody::{BodyId, Model, Workspace};

/// # Momenta and centre of mass
///
/// After [`Workspace::update`]; in world components. The centre of mass of a massless system is NaN.
impl<T: RealField + Copy> Workspace<T> {
    /// The centre of mass, m.
    pub fn center_of_mass(&self, model: &Model<T>) -> Vector3<T> {
        let moments = model.massive().map(|(body, inertia)| {
            let pose = &self.kinematics.body_pose(body);
            pose.act(&inertia.center_of_mass()) * inertia.mass()
        });
        moments.fold(Vector3::zeros(), |sum, moment| sum + moment) / model.mass()
    }

    /// Its velocity, m/s.
    pub fn center_of_mass_velocity(&self, model: &Model<T>) -> Vector3<T> {
        linear(&self.momentum(model)) / model.mass()
    }

    /// Linear momentum and angular momentum about the world's origin, `[p; L]`, kg m/s and kg m²/s: `sum Ad(0G_b^-1)^T M_b 0XI_b`.
    ///
    /// Both are conserved for a system on a free joint without gravity, whatever its joints, springs and dampers do.
    pub fn momentum(&self, model: &Model<T>) -> Vector6<T> {
        let momenta = model.massive().map(|(body, inertia)| {
            let momentum = inertia.matrix6() * self.kinematics.body_twist(body);
            self.kinematics
                .body_pose(body)
                .adjoint_inverse()
                .tr_mul(&momentum)
        });
        momenta.fold(Vector6::zeros(), |sum, momentum| sum + momentum)
    }

    /// `h_G`: the same with the angular momentum about the centre of mass.
    pub fn centroidal_momentum(&self, model: &Model<T>) -> Vector6<T> {
        let to_centroid = self.to_centroid(model);
        let momenta = model.massive().map(|(body, inertia)| {
            to_centroid(body, inertia.matrix6() * self.kinematics.body_twist(body))
        });
        momenta.fold(Vector6::zeros(), |sum, momentum| sum + momentum)
    }

    /// `A_G`, 6 x n: `h_G = A_G xi`, the centroidal momentum matrix, after [`Workspace::update_jacobians`] too.
    ///
    /// ```
    /// use fly_mechanics::PseudoInertia;
    /// use fly_mechanics::multibody::{Body, Joint, Model, Workspace};
    /// use nalgebra::{Matrix3, Matrix6xX, Vector3};
    ///
    /// // A body of 2 kg, 1 m from a revolute joint about z: its centre moves, and it turns.
    /// let bob = PseudoInertia::from_center(2.0, Vector3::x(), Matrix3::identity() * 0.1)?;
    /// let model = Model::builder().body(Body::new("bob", Joint::revolute(Vector3::z())?).inertia(bob)).build()?;
    /// let (mut workspace, mut A) = (Workspace::new(&model), Matrix6xX::zeros(1));
    /// workspace.update(&model, &[0.0], &[3.0]);
    /// workspace.update_jacobians(&model);
    /// workspace.centroidal_momentum_matrix(&model, &mut A);
    /// assert_eq!(A[(1, 0)], 2.0);
    /// assert!((A[(5, 0)] - 0.1_f64).abs() < 1e-15);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Panics
    /// If the matrix does not have n columns.
    pub fn centroidal_momentum_matrix(&self, model: &Model<T>, A: &mut Matrix6xX<T>) {
        assert_eq!(A.ncols(), model.dof(), "columns of the momentum matrix");
        A.fill(T::zero());
        let to_centroid = self.to_centroid(model);
        for (body, inertia) in model.massive() {
            let M = inertia.matrix6();
            for (mut column, J) in A
                .column_iter_mut()
                .zip(self.body_jacobian(body).column_iter())
            {
                column += to_centroid(body, M * J);
            }
        }
    }

    /// `A_G xi_dot + A_G_dot xi`: the rate of the centroidal momentum, N and N m, after [`Workspace::update_jacobians`] too. It equals the sum of
    /// all external wrenches about the centre of mass.
    ///
    /// # Panics
    /// If `xi_dot` does not have length n.
    pub fn centroidal_momentum_rate(&self, model: &Model<T>, xi_dot: &[T]) -> Vector6<T> {
        let to_centroid = self.to_centroid(model);
        let rates = model.massive().map(|(body, inertia)| {
            let acceleration = self.acceleration(body, xi_dot);
            let twist = &self.kinematics.body_twist(body);
            let wrench = inertia.second_moment().inertial_force(twist, &acceleration);
            to_centroid(body, wrench)
        });
        rates.fold(Vector6::zeros(), |sum, rate| sum + rate)
    }

    /// Transforms wrenches on bodies, in their frames, to the world's axes about the centre of mass.
    fn to_centroid(&self, model: &Model<T>) -> impl Fn(BodyId, Vector6<T>) -> Vector6<T> + '_ {
        let center = self.center_of_mass(model);
        move |body, wrench| {
            let mut pose = self.kinematics.body_pose(body);
            pose.translation -= center;
            pose.adjoint_inverse().tr_mul(&wrench)
        }
    }
}
