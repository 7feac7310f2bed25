//! The invariant filter against a plain extended Kalman filter that shares none of its equations: every Jacobian is a central difference of a
//! nonlinear function, every product is dense, every inverse a general one.

#![allow(non_snake_case)]

use fly_control::estimator::{
    Alignment, Covariance, EstimatorParameters, Imu, InvariantFilter, Measurement, Verdict,
};
use fly_lie::{SE23, SO3};
use nalgebra::{DMatrix, DVector, Matrix3, SMatrix, SVector, Vector3};

use super::estimator::{FIELD, GRAVITY, Random};

/// Of the differences.
const H: f64 = 1e-5;

/// A mean on the group with biases.
#[derive(Clone, Copy)]
struct Mean {
    rotation: Matrix3<f64>,
    velocity: Vector3<f64>,
    position: Vector3<f64>,
    biases: SVector<f64, 6>,
}

/// `Σ A^k / k!`, scaled down and squared up.
fn exponential(A: &SMatrix<f64, 5, 5>) -> SMatrix<f64, 5, 5> {
    let small = A / 64.0;
    let (mut term, mut sum) = (SMatrix::identity(), SMatrix::<f64, 5, 5>::identity());
    for k in 1..20 {
        term = term * small / f64::from(k);
        sum += term;
    }
    (0..6).fold(sum, |power, _| power * power)
}

fn cross(w: &Vector3<f64>) -> Matrix3<f64> {
    Matrix3::new(0.0, -w.z, w.y, w.z, 0.0, -w.x, -w.y, w.x, 0.0)
}

impl Mean {
    /// `exp(e) X`, `b + β`, by the series of the matrix exponential.
    fn plus(&self, e: &SVector<f64, 15>) -> Self {
        let mut A = SMatrix::<f64, 5, 5>::zeros();
        let part = |i: usize| Vector3::new(e[i], e[i + 1], e[i + 2]);
        A.fixed_view_mut::<3, 3>(0, 0).copy_from(&cross(&part(0)));
        A.fixed_view_mut::<3, 1>(0, 3).copy_from(&part(3));
        A.fixed_view_mut::<3, 1>(0, 4).copy_from(&part(6));
        let E = exponential(&A);
        let R = E.fixed_view::<3, 3>(0, 0);
        Self {
            rotation: R * self.rotation,
            velocity: R * self.velocity + E.fixed_view::<3, 1>(0, 3),
            position: R * self.position + E.fixed_view::<3, 1>(0, 4),
            biases: self.biases + e.fixed_rows::<6>(9),
        }
    }

    /// The small `e` with `other = exp(e) self`: to second order, by Newton's method on differences of `plus`.
    fn minus(&self, other: &Self) -> SVector<f64, 15> {
        let mut e = SVector::<f64, 15>::zeros();
        for _ in 0..8 {
            let at = self.plus(&e);
            let turn = other.rotation * at.rotation.transpose();
            let w = Vector3::new(
                turn[(2, 1)] - turn[(1, 2)],
                turn[(0, 2)] - turn[(2, 0)],
                turn[(1, 0)] - turn[(0, 1)],
            ) * 0.5;
            let v = other.velocity - turn * at.velocity;
            let p = other.position - turn * at.position;
            for i in 0..3 {
                e[i] += w[i];
                e[3 + i] += v[i];
                e[6 + i] += p[i];
            }
        }
        e.fixed_rows_mut::<6>(9)
            .copy_from(&(other.biases - self.biases));
        e
    }

    /// After `dt` s, by many small steps of the plain equations.
    fn step(&self, imu: &Imu, dt: f64) -> Self {
        let w = imu.gyro - self.biases.fixed_rows::<3>(0);
        let a = imu.accelerometer - self.biases.fixed_rows::<3>(3);
        let n = 40;
        let h = dt / f64::from(n);
        let mut next = *self;
        // The rotation of half a small step, by its series.
        let W = cross(&(w * (0.5 * h)));
        let half = Matrix3::identity() + W + W * W * 0.5 + W * W * W / 6.0;
        for _ in 0..n {
            let middle = next.rotation * half;
            let force = (next.rotation * a + middle * a * 4.0 + middle * half * a) / 6.0 + GRAVITY;
            // ∫∫ with the force at the start and in the middle: Simpson's rule for (h - t) f(t).
            let twice = (next.rotation * a + middle * a * 2.0) / 6.0 + GRAVITY * 0.5;
            next.position += next.velocity * h + twice * (h * h);
            next.velocity += force * h;
            next.rotation = middle * half;
        }
        next
    }

    /// What a sensor should say; for directions seen from the body what it says less what it should, in the world.
    fn predicted(&self, measurement: &Measurement, turning: &Vector3<f64>) -> DVector<f64> {
        let at = |arm: &Vector3<f64>| self.position + self.rotation * arm;
        let vector = |v: Vector3<f64>| DVector::from_column_slice(v.as_slice());
        match measurement {
            Measurement::Position { arm, .. } => vector(at(arm)),
            Measurement::Velocity { arm, .. } => {
                let w = turning - self.biases.fixed_rows::<3>(0);
                vector(self.velocity + self.rotation * w.cross(arm))
            }
            Measurement::Height { arm, .. } => DVector::from_element(1, at(arm).z),
            Measurement::Field { known, .. } => vector(self.rotation.transpose() * known),
            Measurement::Attitude { .. } | Measurement::Pose { .. } => {
                panic!("a rotation is no vector")
            }
        }
    }
}

fn log(R: &Matrix3<f64>) -> Vector3<f64> {
    let v = Vector3::new(
        R[(2, 1)] - R[(1, 2)],
        R[(0, 2)] - R[(2, 0)],
        R[(1, 0)] - R[(0, 1)],
    ) * 0.5;
    let sine = v.norm();
    let cosine = (R.trace() - 1.0) * 0.5;
    if sine < 1e-12 {
        v
    } else {
        v * (sine.atan2(cosine) / sine)
    }
}

/// The innovation, were the truth this.
type Seen<'a> = dyn Fn(&Mean) -> DVector<f64> + 'a;

struct Plain {
    mean: Mean,
    P: DMatrix<f64>,
    turning: Vector3<f64>,
    parameters: EstimatorParameters,
}

impl Plain {
    fn predict(&mut self, imu: &Imu, dt: f64) {
        let next = self.mean.step(imu, dt);
        let difference = |change: &dyn Fn(f64) -> Mean| {
            let (up, down) = (next.minus(&change(H)), next.minus(&change(-H)));
            (up - down) / (2.0 * H)
        };
        let mut F = DMatrix::<f64>::zeros(15, 15);
        for j in 0..15 {
            let e = SVector::<f64, 15>::from_fn(|i, _| f64::from(u8::from(i == j)));
            let column = difference(&|h| self.mean.plus(&(e * h)).step(imu, dt));
            F.column_mut(j).copy_from(&column);
        }
        let p = self.parameters;
        let mut Q = DMatrix::<f64>::zeros(15, 15);
        for j in 0..6 {
            let column = difference(&|h| {
                let mut noisy = *imu;
                // A noise of the sensor is subtracted as a bias is.
                if j < 3 {
                    noisy.gyro[j] -= h;
                } else {
                    noisy.accelerometer[j - 3] -= h;
                }
                self.mean.step(&noisy, dt)
            });
            let density = if j < 3 {
                p.gyro_noise
            } else {
                p.accelerometer_noise
            };
            Q += column * column.transpose() * (density * density / dt);
            let walk = if j < 3 {
                p.gyro_bias_walk
            } else {
                p.accelerometer_bias_walk
            };
            Q[(9 + j, 9 + j)] += walk * walk * dt;
        }
        self.P = &F * &self.P * F.transpose() + Q;
        self.turning = imu.gyro;
        self.mean = next;
    }

    fn correct(&mut self, measurement: &Measurement) -> f64 {
        let turning = self.turning;
        // The innovation of an estimate, were the truth this.
        let seen = |measurement: &Measurement| -> DVector<f64> {
            match measurement {
                Measurement::Position { value, .. } | Measurement::Velocity { value, .. } => {
                    DVector::from_column_slice(value.as_slice())
                }
                Measurement::Field { value, .. } => DVector::from_column_slice(value.as_slice()),
                Measurement::Height { value, .. } => DVector::from_element(1, *value),
                _ => panic!("a rotation is no vector"),
            }
        };
        let mean = self.mean;
        let turned = |R: &Matrix3<f64>| log(&(R * mean.rotation.transpose()));
        let joined = |a: Vector3<f64>, b: Vector3<f64>| {
            DVector::from_iterator(6, a.iter().chain(b.iter()).copied())
        };
        let (z, truth, N): (DVector<f64>, Box<Seen>, DMatrix<f64>) = match measurement {
            Measurement::Attitude { value, covariance } => (
                DVector::from_column_slice(turned(value.matrix()).as_slice()),
                Box::new(|x| DVector::from_column_slice(turned(&x.rotation).as_slice())),
                DMatrix::from_column_slice(3, 3, covariance.as_slice()),
            ),
            Measurement::Pose {
                attitude,
                position,
                arm,
                attitude_covariance,
                position_covariance,
            } => {
                let point = mean.position + mean.rotation * arm;
                let mut N = DMatrix::zeros(6, 6);
                N.view_mut((0, 0), (3, 3)).copy_from(attitude_covariance);
                N.view_mut((3, 3), (3, 3)).copy_from(position_covariance);
                (
                    joined(turned(attitude.matrix()), position - point),
                    Box::new(move |x| {
                        joined(turned(&x.rotation), x.position + x.rotation * arm - point)
                    }),
                    N,
                )
            }
            other => {
                let expected = mean.predicted(other, &turning);
                let N = match other {
                    Measurement::Height { variance, .. } => DMatrix::from_element(1, 1, *variance),
                    Measurement::Position { covariance, .. }
                    | Measurement::Velocity { covariance, .. }
                    | Measurement::Field { covariance, .. } => {
                        DMatrix::from_column_slice(3, 3, covariance.as_slice())
                    }
                    _ => panic!("a rotation is no vector"),
                };
                (
                    seen(other) - &expected,
                    Box::new(move |x| x.predicted(other, &turning) - &expected),
                    N,
                )
            }
        };
        let mut J = DMatrix::<f64>::zeros(z.len(), 15);
        for j in 0..15 {
            let e = SVector::<f64, 15>::from_fn(|i, _| f64::from(u8::from(i == j)) * H);
            let column = (truth(&mean.plus(&e)) - truth(&mean.plus(&-e))) / (2.0 * H);
            J.column_mut(j).copy_from(&column);
        }
        let S = &J * &self.P * J.transpose() + &N;
        let inverse = S.try_inverse().expect("regular");
        let nis = (z.transpose() * &inverse * &z)[(0, 0)];
        let K = &self.P * J.transpose() * &inverse;
        let d = &K * z;
        let d = SVector::<f64, 15>::from_column_slice(d.as_slice());
        let P = (DMatrix::identity(15, 15) - &K * &J) * &self.P;
        let corrected = mean.plus(&d);
        // The error from the corrected mean as a function of that from the old one.
        let mut G = DMatrix::<f64>::zeros(15, 15);
        for j in 0..15 {
            let e = SVector::<f64, 15>::from_fn(|i, _| f64::from(u8::from(i == j)) * H);
            let (up, down) = (
                corrected.minus(&mean.plus(&(d + e))),
                corrected.minus(&mean.plus(&(d - e))),
            );
            G.column_mut(j).copy_from(&((up - down) / (2.0 * H)));
        }
        self.P = &G * P * G.transpose();
        self.mean = corrected;
        nis
    }
}

/// Every kind of measurement, with arms, one after the other.
fn measurement(i: u32, X: &SE23<f64>, w: &Vector3<f64>, random: &mut Random) -> Measurement {
    let arm = Vector3::new(0.2, -0.3, 0.15);
    let same = |deviation: f64| Matrix3::identity() * deviation.powi(2);
    let attitude = SO3::exp(&random.vector(0.02)) * X.rotation;
    let position = X.position + X.rotation.act(&arm) + random.vector(0.05);
    match i % 6 {
        0 => Measurement::Position {
            value: position,
            arm,
            covariance: same(0.05),
        },
        1 => Measurement::Velocity {
            value: X.velocity + X.rotation.act(&w.cross(&arm)) + random.vector(0.1),
            arm,
            covariance: same(0.1),
        },
        2 => Measurement::Attitude {
            value: attitude,
            covariance: same(0.02),
        },
        3 => Measurement::Pose {
            attitude,
            position,
            arm,
            attitude_covariance: same(0.02),
            position_covariance: same(0.05),
        },
        4 => Measurement::Height {
            value: X.position.z + X.rotation.act(&arm).z + 0.1 * random.normal(),
            arm,
            variance: 0.01,
        },
        _ => Measurement::Field {
            value: X.rotation.inverse().act(&FIELD) + random.vector(0.02),
            known: FIELD,
            covariance: same(0.02),
        },
    }
}

/// What is left is of the order of the noise's part that the filter leaves out, dt³ in a step.
#[test]
fn it_is_the_plain_filter_with_differenced_jacobians() {
    let parameters = EstimatorParameters {
        gate: 1.0 - 1e-12,
        ..EstimatorParameters::default()
    };
    let mut random = Random(77);
    let mut truth = SE23::new(
        SO3::exp(&random.vector(0.5)),
        random.vector(1.0),
        random.vector(2.0),
    );
    let start = SE23::new(
        SO3::exp(&random.vector(0.1)) * truth.rotation,
        truth.velocity + random.vector(0.3),
        truth.position + random.vector(0.3),
    );
    let mut filter = InvariantFilter::new(parameters, start, GRAVITY).expect("parameters");
    let mut plain = Plain {
        mean: Mean {
            rotation: *start.rotation.matrix(),
            velocity: start.velocity,
            position: start.position,
            biases: SVector::zeros(),
        },
        P: DMatrix::from_column_slice(15, 15, filter.covariance().as_slice()),
        turning: Vector3::zeros(),
        parameters,
    };
    let dt = 0.002;
    let mut kinds = 0;
    for i in 1..=600_u32 {
        let t = dt * f64::from(i);
        let imu = Imu {
            gyro: Vector3::new((3.0 * t).sin(), (2.0 * t).cos(), 0.5),
            accelerometer: truth
                .rotation
                .inverse()
                .act(&(Vector3::new(2.0 * (4.0 * t).sin(), 1.0, 0.5) - GRAVITY)),
        };
        truth = fly_control::estimator::advance(&truth, &imu, &GRAVITY, dt);
        let seen = Imu {
            gyro: imu.gyro + Vector3::new(0.01, -0.02, 0.005) + random.vector(0.04),
            accelerometer: imu.accelerometer + Vector3::new(0.1, 0.2, -0.1) + random.vector(0.4),
        };
        filter.predict(&seen, dt);
        plain.predict(&seen, dt);
        if i % 5 == 0 {
            let measured = measurement(i / 5, &truth, &imu.gyro, &mut random);
            kinds |= 1 << measured.kind();
            let Verdict::Accepted { nis } = filter.correct(&measured) else {
                panic!("{measured:?}");
            };
            let expected = plain.correct(&measured);
            assert!((nis / expected - 1.0).abs() < 1e-3, "{i}: {nis} {expected}");
        }
        let found = Mean {
            rotation: *filter.pose().rotation.matrix(),
            velocity: filter.pose().velocity,
            position: filter.pose().position,
            biases: SVector::from_fn(|i, _| {
                if i < 3 {
                    filter.gyro_bias()[i]
                } else {
                    filter.accelerometer_bias()[i - 3]
                }
            }),
        };
        let apart = plain.mean.minus(&found);
        // In standard deviations.
        let worst = (0..15).fold(0.0_f64, |worst, i| {
            worst.max(apart[i].abs() / plain.P[(i, i)].sqrt())
        });
        assert!(worst < 2e-3, "{i}: {worst}");
        let P: Covariance = SMatrix::from_column_slice(plain.P.as_slice());
        let difference = (0..15 * 15).fold(0.0_f64, |worst, k| {
            let (i, j) = (k % 15, k / 15);
            let scale = (P[(i, i)] * P[(j, j)]).sqrt();
            worst.max((P[(i, j)] - filter.covariance()[(i, j)]).abs() / scale)
        });
        assert!(difference < 2e-3, "{i}: {difference}");
    }
    assert_eq!(kinds, 0b11_1111, "every kind");
}

/// A flight that accelerates by up to 2 m/s², with the biases of a start, whose positions (1 cm) alone are measured.
struct Unknown {
    random: Random,
    truth: SE23<f64>,
    gyro: Vector3<f64>,
    accelerometer: Vector3<f64>,
    time: f64,
    moves: f64,
}

impl Unknown {
    fn new(seed: u64, moves: f64) -> Self {
        let mut random = Random(seed);
        // Any attitude.
        let axis = random.vector(1.0).normalize();
        let angle = std::f64::consts::PI * random.uniform();
        Self {
            truth: SE23::new(
                SO3::exp(&(axis * angle)),
                random.vector(1.0),
                random.vector(3.0),
            ),
            gyro: random.vector(0.01),
            accelerometer: random.vector(0.1),
            time: 0.0,
            moves,
            random,
        }
    }

    fn step(&mut self, dt: f64) -> Imu {
        self.time += dt;
        let t = self.time;
        let wanted = Vector3::new(
            2.0 * (1.8 * t).sin(),
            2.0 * (2.4 * t).cos(),
            (0.8 * t).sin(),
        );
        let imu = Imu {
            gyro: Vector3::new(0.5 * (1.3 * t).sin(), 0.4 * (0.9 * t).cos(), 0.3) * self.moves,
            accelerometer: (self.truth.rotation.inverse()).act(&(wanted * self.moves - GRAVITY)),
        };
        self.truth = fly_control::estimator::advance(&self.truth, &imu, &GRAVITY, dt);
        Imu {
            gyro: imu.gyro + self.gyro + self.random.vector(2e-3 / dt.sqrt()),
            accelerometer: imu.accelerometer
                + self.accelerometer
                + self.random.vector(2e-2 / dt.sqrt()),
        }
    }

    fn position(&mut self) -> Vector3<f64> {
        self.truth.position + self.truth.rotation.act(&ARM) + self.random.vector(0.01)
    }
}

const ARM: Vector3<f64> = Vector3::new(0.1, 0.0, 0.05);

/// From any attitude: alignment in motion starts the filter, which then converges.
#[test]
fn turned_by_any_angle_positions_alone_bring_it_back() {
    let dt = 0.005;
    let (mut sum, mut worst, mut longest) = (0.0, 0.0_f64, 0.0_f64);
    for seed in 0..200 {
        let parameters = EstimatorParameters::default();
        let mut flight = Unknown::new(3000 + seed, 1.0);
        let mut alignment = Alignment::new(&parameters, GRAVITY);
        let mut found = None;
        for i in 1..=800 {
            let imu = flight.step(dt);
            alignment.sample(&imu, dt);
            if i % 4 == 0 {
                let value = flight.position();
                let now = *alignment.now();
                alignment.position(&now, &value, &ARM, 0.01);
                found = alignment.aligned().filter(|found| found.deviation < 0.35);
                if found.is_some() {
                    break;
                }
            }
        }
        longest = longest.max(flight.time);
        let aligned = found.unwrap_or_else(|| panic!("{seed}: not aligned"));
        let error = (flight.truth.rotation * aligned.pose.rotation.inverse()).log();
        // What it says of itself holds for its least certain axis.
        assert!(
            error.norm() < 4.0 * aligned.deviation,
            "{seed}: {error} {}",
            aligned.deviation
        );
        sum += (error.norm() / aligned.deviation).powi(2) / 200.0;
        let parameters = EstimatorParameters {
            start_attitude: aligned.deviation,
            ..parameters
        };
        let mut filter =
            InvariantFilter::new(parameters, aligned.pose, GRAVITY).expect("parameters");
        for i in 1..=2000 {
            let imu = flight.step(dt);
            filter.predict(&imu, dt);
            if i % 4 == 0 {
                filter.correct(&Measurement::Position {
                    value: flight.position(),
                    arm: ARM,
                    covariance: Matrix3::identity() * 1e-4,
                });
            }
        }
        let left = (flight.truth.rotation * filter.pose().rotation.inverse())
            .log()
            .norm();
        worst = worst.max(left);
        assert!(
            left.to_degrees() < 2.0,
            "{seed}: {} degrees",
            left.to_degrees()
        );
    }
    println!(
        "aligned within {longest} s, error over deviation {}, at most {} degrees after 10 s",
        sum.sqrt(),
        worst.to_degrees()
    );
    assert!((0.05..1.0).contains(&sum.sqrt()), "{sum}");
}

/// At rest the tilt is found and the heading is not, and it says so.
#[test]
fn at_rest_no_heading_is_found() {
    let parameters = EstimatorParameters::default();
    let mut flight = Unknown::new(5, 0.0);
    flight.truth.velocity = Vector3::zeros();
    let mut alignment = Alignment::new(&parameters, GRAVITY);
    for i in 1..=600 {
        let imu = flight.step(0.005);
        alignment.sample(&imu, 0.005);
        if i % 4 == 0 {
            let now = *alignment.now();
            alignment.position(&now, &flight.position(), &ARM, 0.01);
        }
    }
    let deviation = alignment
        .aligned()
        .map_or(f64::INFINITY, |found| found.deviation);
    assert!(deviation > 0.5, "{deviation}");
    // Without noise and biases the attitude is exact.
    let mut alignment = Alignment::new(&parameters, GRAVITY);
    let mut truth = SE23::new(
        SO3::exp(&Vector3::new(1.0, -2.0, 0.5)),
        Vector3::new(1.0, 2.0, 3.0),
        Vector3::new(5.0, 0.0, 1.0),
    );
    for i in 1..=400 {
        let t = 0.005 * f64::from(i);
        let imu = Imu {
            gyro: Vector3::new(t.sin(), 0.3, t.cos()),
            accelerometer: Vector3::new(t, 2.0 * t.cos(), 9.0),
        };
        truth = fly_control::estimator::advance(&truth, &imu, &GRAVITY, 0.005);
        alignment.sample(&imu, 0.005);
        let now = *alignment.now();
        alignment.position(
            &now,
            &(truth.position + truth.rotation.act(&ARM)),
            &ARM,
            0.01,
        );
    }
    let found = alignment.aligned().expect("it moves").pose;
    assert!(
        (found.matrix() - truth.matrix()).amax() < 1e-9,
        "{}",
        (found.matrix() - truth.matrix()).amax()
    );
}

/// With motion capture and turns the accelerometer's bias is found, and its deviation says how well.
#[test]
fn the_biases_converge() {
    let mut random = Random(9);
    let parameters = EstimatorParameters::default();
    let mut truth = SE23::identity();
    let mut filter = InvariantFilter::new(parameters, truth, GRAVITY).expect("parameters");
    let (gyro, accelerometer) = (
        Vector3::new(0.03, -0.02, 0.01),
        Vector3::new(0.3, -0.2, 0.25),
    );
    let dt = 0.005;
    for i in 1..=4000 {
        let t = dt * f64::from(i);
        let imu = Imu {
            gyro: Vector3::new((1.3 * t).sin(), (0.9 * t).cos(), 0.5),
            accelerometer: truth
                .rotation
                .inverse()
                .act(&(Vector3::new(t.sin(), t.cos(), 0.0) - GRAVITY)),
        };
        truth = fly_control::estimator::advance(&truth, &imu, &GRAVITY, dt);
        filter.predict(
            &Imu {
                gyro: imu.gyro + gyro + random.vector(2e-3 / dt.sqrt()),
                accelerometer: imu.accelerometer + accelerometer + random.vector(2e-2 / dt.sqrt()),
            },
            dt,
        );
        if i % 4 == 0 {
            filter.correct(&Measurement::Pose {
                attitude: SO3::exp(&random.vector(0.01)) * truth.rotation,
                position: truth.position + random.vector(0.005),
                arm: Vector3::zeros(),
                attitude_covariance: Matrix3::identity() * 1e-4,
                position_covariance: Matrix3::identity() * 25e-6,
            });
        }
    }
    let (g, a) = (
        filter.gyro_bias() - gyro,
        filter.accelerometer_bias() - accelerometer,
    );
    let deviations = filter.deviations();
    for i in 0..3 {
        assert!(
            g[i].abs() < 4.0 * deviations[9 + i] && deviations[9 + i] < 3e-3,
            "{g} {deviations:?}"
        );
        assert!(
            a[i].abs() < 4.0 * deviations[12 + i] && deviations[12 + i] < 0.03,
            "{a} {deviations:?}"
        );
    }
}
