//! Notes on what means nothing in URDF, misspelt elements and attributes above all.

use std::collections::BTreeMap;

use super::some;
use super::tree::Tree;
use super::xml::Element;
use crate::description::reader::suggestion;

/// An element that is read: its attributes, and the elements that may be in it.
type Known = (
    &'static str,
    &'static [&'static str],
    &'static [&'static str],
);

const ROBOT: Known = (
    "robot",
    &["name", "version"],
    &[
        "link",
        "joint",
        "transmission",
        "material",
        "gazebo",
        "sensor",
    ],
);

/// Of every other element nothing is read.
const KNOWN: [Known; 13] = [
    (
        "link",
        &["name", "type"],
        &["inertial", "visual", "collision"],
    ),
    ("inertial", &[], &["origin", "mass", "inertia"]),
    ("origin", &["xyz", "rpy", "quat_xyzw"], &[]),
    ("mass", &["value"], &[]),
    ("inertia", &["ixx", "ixy", "ixz", "iyy", "iyz", "izz"], &[]),
    (
        "joint",
        &["name", "type"],
        &[
            "origin",
            "parent",
            "child",
            "axis",
            "calibration",
            "dynamics",
            "limit",
            "mimic",
            "safety_controller",
        ],
    ),
    ("parent", &["link"], &[]),
    ("child", &["link"], &[]),
    ("axis", &["xyz"], &[]),
    ("dynamics", &["damping", "friction"], &[]),
    (
        "limit",
        &[
            "lower",
            "upper",
            "effort",
            "velocity",
            "acceleration",
            "deceleration",
            "jerk",
        ],
        &[],
    ),
    ("mimic", &["joint", "multiplier", "offset"], &[]),
    (
        "safety_controller",
        &[
            "soft_lower_limit",
            "soft_upper_limit",
            "k_position",
            "k_velocity",
        ],
        &[],
    ),
];

/// What is left out, with what it may be meant to be, and the links and joints where it stands.
#[derive(Default)]
struct LeftOut<'a>(BTreeMap<(String, Option<String>), Vec<&'a str>>);

/// One note for each name that means nothing where it stands.
pub(super) fn notes(robot: &Element<'_>, name: &str, tree: &Tree<'_>) -> Vec<String> {
    let mut left_out = LeftOut::default();
    // Robots carry much for other programs: only what looks like a mistake is said.
    let (_, attributes, children) = ROBOT;
    for attribute in robot.attributes().filter(|a| !attributes.contains(a)) {
        if let Some(near) = suggestion(attribute, attributes) {
            left_out.add(
                format!("attribute `{attribute}` of <robot>"),
                Some(near),
                name,
            );
        }
    }
    for child in robot
        .children()
        .filter(|child| !children.contains(&child.tag()))
    {
        if let Some(near) = suggestion(child.tag(), children) {
            left_out.add(format!("<{}>", child.tag()), Some(near), name);
        }
    }
    if robot.children().any(|child| child.tag() == "ros2_control") {
        left_out.add(
            "<ros2_control>".to_owned(),
            Some("motors are those of <transmission>, or one in every joint, and their limits those of <limit>".to_owned()),
            name,
        );
    }
    for (link, element) in &tree.links {
        left_out.element(element, link);
    }
    for (joint, element) in tree.joints() {
        left_out.element(element, joint);
    }
    let notes = left_out.0.into_iter().map(|((what, near), names)| {
        let near = near.map_or(String::new(), |near| format!("; {near}"));
        format!("{what} is ignored in {}{near}", some(&names))
    });
    notes.collect()
}

impl<'a> LeftOut<'a> {
    fn element(&mut self, element: &Element<'_>, owner: &'a str) {
        let tag = element.tag();
        let Some((_, attributes, children)) = KNOWN.iter().find(|(known, ..)| *known == tag) else {
            return;
        };
        for attribute in element.attributes().filter(|a| !attributes.contains(a)) {
            let what = format!("attribute `{attribute}` of <{tag}>");
            self.add(what, suggestion(attribute, attributes), owner);
        }
        for child in element.children() {
            if children.contains(&child.tag()) {
                self.element(&child, owner);
            } else {
                let what = format!("<{}>", child.tag());
                self.add(what, suggestion(child.tag(), children), owner);
            }
        }
    }

    fn add(&mut self, what: String, near: Option<String>, owner: &'a str) {
        self.0.entry((what, near)).or_default().push(owner);
    }
}
