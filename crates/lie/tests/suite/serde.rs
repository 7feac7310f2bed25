//! Serialised groups: a round trip preserves the element, and invalid elements are refused.

#![cfg(feature = "serde")]

use fly_lie::{Cylindrical, LieGroup, Pair, SE2, SE3, SO2, SO3, Schoenflies, UnitQuaternion};
use nalgebra::{Vector1, Vector3, Vector4, Vector6};
use serde::Serialize;
use serde::de::DeserializeOwned;

fn goes_round<X: Serialize + DeserializeOwned + PartialEq + std::fmt::Debug>(x: &X) {
    let text = serde_json::to_string(x).expect("written");
    let back: X = serde_json::from_str(&text).expect("read");
    assert_eq!(&back, x, "{text}");
}

#[test]
fn elements_go_round() {
    let w = Vector3::new(0.3, -0.4, 1.2);
    goes_round(&SO3::<f64>::exp(&w));
    goes_round(&SE3::<f64>::exp(&Vector6::new(
        1.0, 2.0, 3.0, 0.3, -0.4, 1.2,
    )));
    goes_round(&SO2::from_angle(0.0));
    goes_round(&SE2::new(SO2::identity(), nalgebra::Vector2::new(1.0, 2.0)));
    goes_round(&Schoenflies::<f64>::exp(&Vector4::new(1.0, 2.0, 3.0, 0.0)));
    goes_round(&UnitQuaternion::<f64>::identity());
    goes_round(&Cylindrical::<f64>::exp(&Pair(
        Vector1::new(0.0),
        Vector1::new(2.0),
    )));
}

#[test]
fn what_is_no_rotation_is_refused() {
    let error = serde_json::from_str::<SO3<f64>>("[[1,0,0],[0,1,0],[0,0.1,1]]");
    let message = error.expect_err("sheared").to_string();
    assert!(message.contains("not orthonormal"), "{message}");
    let error = serde_json::from_str::<UnitQuaternion<f64>>("[0,0,0,0]");
    assert!(error.expect_err("zero").to_string().contains("zero"));
}
