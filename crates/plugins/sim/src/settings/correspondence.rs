//! Whether a plant of its own has the joints and actuators of the controller's model in the same order.

use fly_mechanics::multibody::{Joint, JointKind};
use fly_mechanics::{Motor, System};

/// What is probably connected to something else: signals are those of numbers, and names are not compared.
pub(super) fn doubts(plant: &System, model: &System) -> Vec<String> {
    let joints = |system: &System| -> Vec<String> {
        let names = system.joints.iter().map(|joint| joint.name.clone());
        names.collect()
    };
    let rotors = |system: &System| -> Vec<String> {
        let all = system.inputs.rotors().as_slice().iter();
        all.map(|rotor| rotor.name.clone()).collect()
    };
    // Motors often have no names of their own: the joints that they move tell them apart.
    let motors = |system: &System| -> Vec<String> {
        let place = |motor: &Motor| system.model.bodies().position(|body| body == motor.joint);
        let joint = |motor| place(motor).and_then(|place| system.joints.get(place));
        let all = system.inputs.motors().iter();
        all.map(|motor| joint(motor).map_or_else(String::new, |joint| joint.name.clone()))
            .collect()
    };
    let swapped = [
        swapped("joint", &joints(plant), &joints(model)),
        swapped("rotor", &rotors(plant), &rotors(model)),
        swapped("motor", &motors(plant), &motors(model)),
    ];
    swapped
        .into_iter()
        .flatten()
        .chain(of_kinds(plant, model))
        .collect()
}

/// The first one that has the name of another one in the model.
fn swapped(what: &str, plant: &[String], model: &[String]) -> Option<String> {
    let pairs = plant.iter().zip(model).enumerate();
    let mut others = pairs.filter(|(_, (ours, theirs))| ours != theirs && model.contains(ours));
    others.next().map(|(index, (ours, theirs))| {
        format!(
            "`{what}.{index}` is `{ours}` in `backend.sim.vehicle` and `{theirs}` in the vehicle: signals are connected by number, not by name; give both the same order"
        )
    })
}

/// The first joint that slides in one of them and turns in the other.
fn of_kinds(plant: &System, model: &System) -> Option<String> {
    let kinds = |system: &System| -> Vec<Option<bool>> {
        let slides = |joint: &Joint<f64>| match joint.kind() {
            JointKind::Prismatic => Some(true),
            JointKind::Revolute(_) => Some(false),
            _ => None,
        };
        let bodies = system.model.bodies();
        bodies
            .map(|body| system.model.joint(body).and_then(slides))
            .collect()
    };
    let mut pairs = kinds(plant).into_iter().zip(kinds(model)).enumerate();
    let words = |slides: bool| if slides { "slides" } else { "turns" };
    pairs.find_map(|(index, pair)| {
        let (ours, theirs) = (pair.0?, pair.1?);
        (ours != theirs).then(|| {
            format!(
                "`joint.{index}` {} in `backend.sim.vehicle` and {} in the vehicle",
                words(ours),
                words(theirs)
            )
        })
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn system(bodies: &[[&str; 2]]) -> System {
        let bodies = bodies.iter().map(|[name, joint]| {
            format!("[bodies.{name}]\njoint = {{ type = '{joint}', axis = [0, 0, 1] }}\nmass = 1\ninertia = [1, 1, 1]\n[[motors]]\njoint = '{name}'\n")
        });
        let text = format!("name = 'arm'\n{}", bodies.collect::<String>());
        System::from_toml(&text).expect("a system")
    }

    #[test]
    fn only_what_has_the_place_of_another_one_is_doubtful() {
        let model = system(&[["a", "revolute"], ["b", "revolute"]]);
        let doubts = |bodies: &[[&str; 2]]| doubts(&system(bodies), &model);
        assert!(doubts(&[["a", "revolute"], ["b", "revolute"]]).is_empty());
        assert!(
            doubts(&[["c", "revolute"], ["d", "revolute"]]).is_empty(),
            "other names"
        );
        assert!(doubts(&[["a", "revolute"], ["b", "revolute"], ["c", "revolute"]]).is_empty());
        let swapped = doubts(&[["b", "revolute"], ["a", "revolute"]]);
        assert_eq!(swapped.len(), 2, "{swapped:?}");
        assert!(swapped[0].starts_with("`joint.0` is `b` in `backend.sim.vehicle` and `a` in"));
        assert!(swapped[1].starts_with("`motor.0` is `b`"));
        let one_more = doubts(&[["x", "revolute"], ["a", "revolute"], ["b", "revolute"]]);
        assert!(one_more[0].starts_with("`joint.1` is `a`"), "{one_more:?}");
        let sliding = doubts(&[["a", "revolute"], ["b", "prismatic"]]);
        assert_eq!(
            sliding,
            ["`joint.1` slides in `backend.sim.vehicle` and turns in the vehicle"]
        );
    }
}
