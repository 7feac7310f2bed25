use super::*;
use fly_lie::SE3;

const LOOPS: InnerLoop = InnerLoop {
    attitude_gain: 6.5,
    yaw_gain: 2.8,
    response_time: 0.05,
    largest_rate: 4.0,
    largest_tilt: 0.8,
    thrust: [1.0, 28.0],
};

fn demand() -> Demand {
    Demand {
        attitude: SO3::exp(&Vector3::new(0.2, -0.1, 1.2)),
        angular_velocity: Vector3::new(0.3, -0.2, 0.1),
        force: Vector3::new(0.0, 0.0, 9.0),
        angular_acceleration: Vector3::new(10.0, -5.0, 2.0),
        is_fully_actuated: false,
        gravity: Vector3::new(0.0, 0.0, -9.81),
        reference: ReferencePoint::at_rest(SE3::identity()),
    }
}

/// A first-order rate loop with the matching response time realises the desired angular acceleration.
#[test]
fn a_rate_loop_gives_the_angular_acceleration() {
    let demand = demand();
    let told = LOOPS.rates(&demand);
    let given = (told.angular_velocity - demand.angular_velocity) / LOOPS.response_time;
    assert!((given - demand.angular_acceleration).norm() < 1e-12);
    assert_eq!(told.thrust.to_bits(), 9.0_f64.to_bits());
}

/// The rate setpoint of a proportional attitude loop.
fn asked(from: &SO3<f64>, told: &SO3<f64>) -> Vector3<f64> {
    // As in autopilots: first the tilt, by the angle between both z axes; then the remaining rotation about z.
    let error = from.inverse() * *told;
    let z = error.act(&Vector3::z());
    let axis = Vector3::z().cross(&z);
    let sin = axis.norm();
    let tilt = if sin > 0.0 {
        axis * (sin.atan2(z.z) / sin)
    } else {
        axis
    };
    let left = SO3::exp(&-tilt) * error;
    let x = left.act(&Vector3::x());
    Vector3::new(6.5 * tilt.x, 6.5 * tilt.y, 2.8 * x.y.atan2(x.x))
}

/// A matching attitude loop, slower in yaw, demands the same rates.
#[test]
fn an_attitude_loop_asks_for_the_rates() {
    let mut demand = demand();
    for behind in [0.0, 0.3, -1.0] {
        // A turning reference; the heading error of the body is `behind` (rad).
        let heading = demand.attitude * SO3::exp(&Vector3::new(0.0, 0.0, behind));
        demand.reference.pose = SE3::new(heading, Vector3::zeros());
        demand.reference.twist[5] = 0.5;
        let told = LOOPS.attitude(&demand).attitude;
        let asked = asked(&demand.attitude, &told);
        let rates = LOOPS.rates(&demand).angular_velocity;
        assert!((asked - rates).xy().norm() < 1e-12);
        assert!((asked.z - (0.5 + 2.8 * behind)).abs() < 1e-12, "{asked}");
    }
    let told = LOOPS.attitude(&demand).attitude;
    let asked = asked(&demand.attitude, &told);
    // And one that is to be turned by the rate loop alone turns as the attitude loop would.
    let turned = LOOPS.rates_towards(&demand.attitude, &told, 9.0);
    assert!((turned.angular_velocity - asked).norm() < 1e-12);
}

#[test]
fn rates_tilt_and_thrust_have_limits() {
    let mut demand = demand();
    demand.angular_acceleration = Vector3::new(300.0, -400.0, 500.0);
    demand.angular_velocity = Vector3::zeros();
    let told = LOOPS.rates(&demand).angular_velocity;
    // The direction of roll and pitch stays.
    assert!(
        (told - Vector3::new(2.4, -3.2, 4.0)).norm() < 1e-12,
        "{told}"
    );
    for (force, expected) in [(-3.0, 1.0), (40.0, 28.0)] {
        demand.force.z = force;
        assert_eq!(
            LOOPS.rates(&demand).thrust.to_bits(),
            f64::to_bits(expected)
        );
    }
    demand.force.z = f64::NAN;
    assert!(LOOPS.attitude(&demand).thrust.is_nan());
    for tilt in [0.9, 2.0, 3.1, std::f64::consts::PI] {
        demand.attitude =
            SO3::exp(&Vector3::new(0.0, 0.0, 0.7)) * SO3::exp(&Vector3::new(tilt, 0.0, 0.0));
        demand.angular_acceleration = Vector3::zeros();
        let z = LOOPS.attitude(&demand).attitude.act(&Vector3::z());
        assert!((z.z.acos() - 0.8).abs() < 1e-9, "{tilt}: {}", z.z.acos());
        // It leans to the same side.
        let was = demand.attitude.act(&Vector3::z());
        assert!(tilt > 3.1 || z.xy().normalize().dot(&was.xy().normalize()) > 1.0 - 1e-9);
    }
}

/// A body that could push sideways leans until its thrust does; where it does already, nothing turns.
#[test]
fn a_fully_actuated_body_points_its_thrust_along_the_force() {
    let heading = SO3::exp(&Vector3::new(0.0, 0.0, 0.9));
    let force = Vector3::new(3.0, -2.0, 9.0);
    let at = |attitude: SO3<f64>| Demand {
        attitude,
        angular_velocity: Vector3::zeros(),
        force: attitude.inverse().act(&force),
        is_fully_actuated: true,
        reference: ReferencePoint::at_rest(SE3::new(heading, Vector3::zeros())),
        ..demand()
    };
    // The attitude loop, to its end.
    let mut attitude = heading;
    for _ in 0..2000 {
        let told = LOOPS.attitude(&at(attitude)).attitude;
        let rate = asked(&attitude, &told);
        attitude = attitude * SO3::exp(&(rate * 2e-3));
    }
    let z = attitude.act(&Vector3::z());
    assert!((z - force.normalize()).norm() < 1e-6);
    // The shortest turn from the reference.
    let shortest = (heading.inverse() * attitude).log().norm();
    assert!((shortest - heading.act(&Vector3::z()).angle(&force)).abs() < 1e-6);
    let told = LOOPS.attitude(&at(attitude));
    assert!((told.thrust - force.norm()).abs() < 1e-6);
}

/// Differences of the reference's own motion.
#[test]
fn a_trajectory_is_the_motion_of_the_reference() {
    // A body that turns and moves with constant rates of its twist, from the group's own integration.
    let twist = |t: f64| {
        Vector6::new(1.0, -0.5, 0.2, 0.3, 0.1, -0.4)
            + Vector6::new(0.2, 0.1, -0.3, 0.5, -0.2, 0.6) * t
    };
    let start = SE3::new(
        SO3::exp(&Vector3::new(0.4, 0.3, 2.0)),
        Vector3::new(1.0, 2.0, 3.0),
    );
    let step = 1e-5;
    let at = |n: i32| {
        let mut pose = start;
        for k in 0..n.abs() {
            let sign = f64::from(n.signum());
            let middle = (f64::from(k) + 0.5) * step * sign;
            pose = pose * SE3::exp(&(twist(middle) * (step * sign)));
        }
        let t = f64::from(n) * step;
        ReferencePoint {
            pose,
            twist: twist(t),
            acceleration: (twist(1.0) - twist(0.0)),
        }
    };
    let [before, now, after] = [-100, 0, 100].map(|n| TrajectorySetpoint::new(&at(n), 0.0));
    let h = 100.0 * step;
    let velocity = (after.position - before.position) / (2.0 * h);
    assert!((velocity - now.velocity).norm() < 1e-5);
    let acceleration = (after.velocity - before.velocity) / (2.0 * h);
    assert!((acceleration - now.acceleration).norm() < 1e-5);
    let yaw_rate = (after.yaw - before.yaw) / (2.0 * h);
    assert!((yaw_rate - now.yaw_rate).abs() < 1e-5);
}

#[test]
fn a_heading_that_cannot_be_seen_stays() {
    let nose_up = SO3::exp(&Vector3::new(0.0, -std::f64::consts::FRAC_PI_2, 0.0));
    let mut reference = ReferencePoint::at_rest(SE3::new(nose_up, Vector3::zeros()));
    reference.twist[5] = 3.0;
    let told = TrajectorySetpoint::new(&reference, 0.6);
    assert_eq!([told.yaw, told.yaw_rate], [0.6, 0.0]);
    let level = ReferencePoint::at_rest(SE3::new(
        SO3::exp(&Vector3::new(0.0, 0.0, -2.5)),
        Vector3::zeros(),
    ));
    assert!((TrajectorySetpoint::new(&level, 0.6).yaw + 2.5).abs() < 1e-12);
}

/// On a circle with banking, the acceleration setpoint is the reference's acceleration one lag later.
#[test]
fn the_acceleration_of_a_trajectory_leads_the_lean() {
    let (radius, rate) = (2.0, 1.1);
    let at = |time: f64| {
        let (sin, cos) = f64::sin_cos(rate * time);
        let acceleration = Vector3::new(-cos, -sin, 0.0) * (radius * rate * rate);
        let thrust = acceleration + Vector3::z() * 9.81;
        let attitude = arc(&Vector3::z(), &thrust.normalize());
        (
            acceleration,
            attitude,
            Vector3::new(-sin, cos, 0.0) * (radius * rate),
        )
    };
    let (h, now) = (1e-5, 0.4);
    let ([before, after], (acceleration, attitude, velocity)) =
        ([at(now - h), at(now + h)], at(now));
    let omega = (before.1.inverse() * after.1).log() / (2.0 * h);
    let body_velocity =
        |(_, attitude, velocity): &(_, SO3<f64>, Vector3<f64>)| attitude.inverse().act(velocity);
    let v_rate = (body_velocity(&after) - body_velocity(&before)) / (2.0 * h);
    let v = attitude.inverse().act(&velocity);
    let mut twist = Vector6::zeros();
    twist.fixed_rows_mut::<3>(0).copy_from(&v);
    twist.fixed_rows_mut::<3>(3).copy_from(&omega);
    let mut rates = Vector6::zeros();
    rates.fixed_rows_mut::<3>(0).copy_from(&v_rate);
    let demand = Demand {
        reference: ReferencePoint {
            pose: SE3::new(attitude, Vector3::zeros()),
            twist,
            acceleration: rates,
        },
        ..demand()
    };
    assert!(
        (TrajectorySetpoint::new(&demand.reference, 0.0).acceleration - acceleration).norm() < 1e-6
    );
    let lag = 1.0 / LOOPS.attitude_gain + LOOPS.response_time;
    let jerk = (after.0 - before.0) / (2.0 * h);
    let told = LOOPS.trajectory(&demand, 0.0).acceleration;
    // The thrust is constant on a level circle.
    assert!((told - acceleration - jerk * lag).norm() < 1e-5, "{told}");
}
