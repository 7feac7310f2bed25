//! The identities that the sources state for pseudo-inverses, projectors and weighted inner products, over random matrices.

#![allow(non_snake_case)]

use fly_lie::inner_product::{
    distance_squared, inner, norm_squared, twist_energy, twist_energy_gradient,
};
use fly_lie::operators::{double_vee6, vee_matrix6};
use fly_lie::{
    SE3, SO2, SO3, Wahba, kernel_projector, pseudo_inverse, range_projector, weighted_projector,
};
use fly_testing::Random;
use nalgebra::{Matrix2, Matrix3, Matrix4, SMatrix, Vector2, Vector3, Vector6};

/// Random matrices.
struct Matrices(Random);

impl Matrices {
    fn number(&mut self) -> f64 {
        self.0.number()
    }

    fn matrix<const R: usize, const C: usize>(&mut self) -> SMatrix<f64, R, C> {
        SMatrix::from_fn(|_, _| self.number())
    }

    /// Symmetric and well away from singular.
    fn positive<const N: usize>(&mut self) -> SMatrix<f64, N, N> {
        let A: SMatrix<f64, N, N> = self.matrix();
        A * A.transpose() + SMatrix::identity()
    }
}

#[track_caller]
fn close<const R: usize, const C: usize>(
    a: SMatrix<f64, R, C>,
    b: SMatrix<f64, R, C>,
    tolerance: f64,
) {
    let error = (a - b).amax();
    assert!(error <= tolerance, "{a}is not{b}: {error} > {tolerance}");
}

/// Relative to the largest singular value; products of random numbers lose a few digits of sixteen.
const RANK: f64 = 1e-9;

fn pinv<const R: usize, const C: usize>(A: &SMatrix<f64, R, C>) -> SMatrix<f64, C, R> {
    pseudo_inverse(A, RANK).expect("finite")
}

/// Konz (A.23), (g) with the second `+` that its print lacks, for factors of full and of lower rank.
#[test]
fn pseudo_inverses() {
    let mut random = Matrices(Random::new(1));
    for round in 0..300 {
        let mut A: SMatrix<f64, 5, 3> = random.matrix();
        if round % 2 == 0 {
            A.set_column(2, &(A.column(0) - A.column(1) * 2.0));
        }
        let mut B: SMatrix<f64, 3, 4> = random.matrix();
        if round % 3 == 0 {
            B.set_row(1, &(B.row(0) * 0.5));
        }
        let P = pinv(&A);
        let size = (1.0 + P.amax()).powi(2) * 1e-13;
        close(pinv(&A.transpose()), P.transpose(), size);
        let (left, right) = (A.transpose() * A, A * A.transpose());
        // Their singular values are squares, and so are the losses.
        let squared = (1.0 + P.amax()).powi(4) * 1e-13;
        close(A.transpose() * pinv(&right), P, squared);
        close(pinv(&left) * A.transpose(), P, squared);
        if round % 2 == 1 {
            let inverse = left.try_inverse().expect("full rank");
            close(inverse * A.transpose(), P, squared);
        }

        let product = pinv(&(A * B));
        let (first, second) = (P * A * B, A * B * pinv(&B));
        let size = (1.0 + product.amax()).powi(4) * (1.0 + P.amax()).powi(2) * 1e-13;
        close(pinv(&first) * pinv(&second), product, size);
    }
}

/// Konz (A.25): every solution, the least-norm one, and the least-squares one if none exists.
#[test]
fn linear_equations() {
    let mut random = Matrices(Random::new(2));
    for _ in 0..300 {
        let A: SMatrix<f64, 3, 5> = random.matrix();
        let (b, free): (Vector3<f64>, SMatrix<f64, 5, 1>) = (random.matrix(), random.matrix());
        let smallest = pinv(&A) * b;
        let other = smallest + kernel_projector(&A, RANK).expect("finite") * free;
        let size = (1.0 + smallest.amax()).powi(2) * 1e-12;
        close(A * smallest, b, size);
        close(A * other, b, size);
        assert!(other.norm() >= smallest.norm() * (1.0 - 1e-12));

        let tall = A.transpose();
        let nearest = pinv(&tall) * free;
        let moved = nearest + random.matrix::<3, 1>() * 0.1;
        assert!((tall * nearest - free).norm() <= (tall * moved - free).norm());
    }
}

/// Konz A.1.7: projectors, orthogonal ones, complementary ones (A.28), (A.29).
#[test]
fn projectors() {
    let mut random = Matrices(Random::new(3));
    for _ in 0..300 {
        let (A, W): (SMatrix<f64, 6, 4>, SMatrix<f64, 6, 6>) = (random.matrix(), random.positive());
        let one = SMatrix::<f64, 6, 6>::identity();
        // B spans what is W-orthogonal to A: the kernel of its transpose, with more columns than dimensions.
        let B = kernel_projector(&(A.transpose() * W), RANK).expect("finite");
        let P_A = weighted_projector(&A, &W, RANK).expect("finite");
        let P_B = weighted_projector(&B, &W, RANK).expect("finite");
        let size = 1e-12 * (1.0 + pinv(&A).amax()).powi(4);
        close(P_A * P_A, P_A, size);
        close(P_A * A, A, size);
        close(W * P_A, P_A.transpose() * W, 10.0 * size);
        close(P_A + P_B, one, size);

        let onto = range_projector(&A, RANK).expect("finite");
        close(
            weighted_projector(&A, &one, RANK).expect("finite"),
            onto,
            size,
        );
        let cokernel = kernel_projector(&A.transpose(), RANK).expect("finite");
        close(
            onto + range_projector(&cokernel, 1e-6).expect("finite"),
            one,
            size,
        );
        close(onto + cokernel, one, size);
    }
    let infinite = Vector2::new(f64::INFINITY, 0.0);
    assert!(weighted_projector(&infinite, &Matrix2::identity(), RANK).is_err());
}

/// Konz (4.60) to (4.65).
#[test]
fn inner_products() {
    let mut random = Matrices(Random::new(4));
    for _ in 0..300 {
        let (A, B, C): (SMatrix<f64, 4, 3>, SMatrix<f64, 4, 3>, SMatrix<f64, 4, 3>) =
            (random.matrix(), random.matrix(), random.matrix());
        let (K, factor): (Matrix4<f64>, f64) = (random.positive(), random.number());
        let ab = inner(&A, &B, &K);
        assert!((ab - (A.transpose() * K * B).trace()).abs() < 1e-13);
        assert!((ab - inner(&B, &A, &K)).abs() < 1e-13);
        assert!((inner(&(A * factor), &B, &K) - factor * ab).abs() < 1e-13);
        assert!((inner(&(A + C), &B, &K) - ab - inner(&C, &B, &K)).abs() < 1e-13);
        assert!(norm_squared(&A, &K) >= A.norm_squared() * (1.0 - 1e-14));
        // (4.62): the sum over the columns.
        let columns = (0..3).map(|j| (A.column(j).transpose() * K * B.column(j)).x);
        assert!((ab - columns.sum::<f64>()).abs() < 1e-13);
        let apart = norm_squared(&A, &K) - 2.0 * ab + norm_squared(&B, &K);
        assert!((distance_squared(&A, &B, &K) - apart).abs() < 1e-12);

        let (R, K3): (SO3<f64>, Matrix3<f64>) =
            (SO3::exp(&(random.matrix() * 2.0)), random.positive());
        let R = R.matrix();
        let (X, Y): (Matrix3<f64>, Matrix3<f64>) = (random.matrix(), random.matrix());
        let between =
            |X: Matrix3<f64>, Y: Matrix3<f64>, K| inner(&X.transpose(), &Y.transpose(), K);
        let xy = between(X, Y, &K3);
        assert!((between(R * X, R * Y, &K3) - xy).abs() < 1e-13);
        let turned = R * K3 * R.transpose();
        assert!((between(X * R, Y * R, &K3) - between(X, Y, &turned)).abs() < 1e-13);

        // Twists have no last row, which (4.65a) needs.
        let G = SE3::exp(&random.matrix()).matrix();
        let (X, Y) = (SE3::hat(&random.matrix()), SE3::hat(&random.matrix()));
        let between =
            |X: Matrix4<f64>, Y: Matrix4<f64>, K| inner(&X.transpose(), &Y.transpose(), K);
        let xy = between(X, Y, &K);
        assert!((between(G * X, G * Y, &K) - xy).abs() < 1e-12);
        let moved = G * K * G.transpose();
        assert!((between(X * G, Y * G, &K) - between(X, Y, &moved)).abs() < 1e-12);
    }
}

/// Konz (4.66), whose print has `K` for `Vee(K)`, and (4.67).
#[test]
fn twist_energies() {
    let mut random = Matrices(Random::new(5));
    for _ in 0..300 {
        let (xi, K): (Vector6<f64>, Matrix4<f64>) = (random.matrix(), random.positive());
        let mut X: Matrix4<f64> = random.matrix();
        X.fill_row(3, 0.0);
        let M = vee_matrix6(&K);
        let linear = double_vee6(&(X * K));
        let expected =
            0.5 * xi.dot(&(M * xi)) + xi.dot(&linear) + 0.5 * (X * K * X.transpose()).trace();
        assert!((twist_energy(&xi, &X, &K) - expected).abs() < 1e-12);
        close(twist_energy_gradient(&xi, &X, &K), M * xi + linear, 1e-13);
    }
}

/// No rotation of the plane is nearer; a rotation is its own nearest.
#[test]
fn nearest_rotations_of_the_plane() {
    let mut random = Matrices(Random::new(6));
    for _ in 0..200 {
        let A: Matrix2<f64> = random.matrix();
        let nearest = SO2::nearest(&A).expect("finite");
        let distance = |R: &SO2<f64>| (A - R.matrix()).norm();
        for k in 0..64 {
            let other = SO2::from_angle(0.1 * f64::from(k));
            assert!(distance(&nearest) <= distance(&other) + 1e-15, "{A}");
        }
        close(
            SO2::nearest(&nearest.matrix()).expect("finite").matrix(),
            nearest.matrix(),
            1e-15,
        );
        // Of the largest numbers too.
        let huge = SO2::nearest(&(A / A.amax() * f64::MAX)).expect("finite");
        close(huge.matrix(), nearest.matrix(), 1e-15);
    }
}

/// No rotation fits noisy directions better, and a small rotation away costs at least what the stiffness predicts.
#[test]
fn the_attitude_that_fits_best() {
    let mut random = Matrices(Random::new(7));
    for count in 1..60 {
        let R = SO3::exp(&(random.matrix() * 3.0));
        let noise = if count % 2 == 0 { 0.2 } else { 0.0 };
        let seen: Vec<(f64, Vector3<f64>, Vector3<f64>)> = (0..=count % 5)
            .map(|_| {
                let known: Vector3<f64> = random.matrix();
                let disturbed = known + random.matrix() * noise;
                (
                    0.1 + random.number().abs(),
                    R.inverse().act(&disturbed),
                    known,
                )
            })
            .collect();
        let fit = Wahba::solve(seen.iter().copied()).expect("finite");
        let loss = |R: &SO3<f64>| -> f64 {
            let misses = seen
                .iter()
                .map(|(weight, b, r)| 0.5 * weight * (r - R.act(b)).norm_squared());
            misses.sum()
        };
        assert!((loss(&fit.rotation) - fit.loss).abs() < 1e-14);
        if noise == 0.0 {
            assert!(fit.loss < 1e-14);
            // Two directions fix a rotation, one does not.
            if seen.len() > 1 {
                close(*fit.rotation.matrix(), *R.matrix(), 1e-12 / fit.stiffness);
            } else {
                assert!(fit.stiffness < 1e-14);
            }
        }
        for _ in 0..50 {
            let turn: Vector3<f64> = random.matrix::<3, 1>() * 1e-3;
            let more = loss(&(fit.rotation * SO3::exp(&turn))) - fit.loss;
            let least = 0.5 * fit.stiffness * turn.norm_squared();
            assert!(more > least - 1e-9, "{more} {least}");
            assert!(loss(&SO3::exp(&(random.matrix() * 3.0))) >= fit.loss - 1e-14);
        }
        // About the least certain axis it costs no more: the smallest of many directions comes near it.
        let cheapest = (0..400).map(|_| {
            let turn = random.matrix::<3, 1>().normalize() * 1e-3;
            (loss(&(fit.rotation * SO3::exp(&turn))) - fit.loss) / 0.5e-6
        });
        let cheapest = cheapest.fold(f64::INFINITY, f64::min);
        assert!(
            cheapest < fit.stiffness + 0.1,
            "{cheapest} {}",
            fit.stiffness
        );
    }
}
