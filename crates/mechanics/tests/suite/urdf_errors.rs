//! Mistakes in URDF get one clear message, at the right place: in the text, and by the names of link and joint.

use fly_mechanics::System;
use fly_mechanics::description::UrdfOptions;

const GOOD: &str = r#"<robot name="r">
  <link name="base">
    <inertial><mass value="2"/><inertia ixx="1" iyy="1" izz="1"/></inertial>
  </link>
  <link name="tip">
    <inertial><mass value="2"/><inertia ixx="1" iyy="1" izz="1"/></inertial>
  </link>
  <joint name="j" type="revolute">
    <parent link="base"/><child link="tip"/>
    <axis xyz="0 0 1"/><limit lower="-1" upper="1"/>
  </joint>
</robot>
"#;

/// Expects an error that reads `message`, points at `place` in the text, and helps with `help`.
#[track_caller]
fn check(text: &str, message: &str, place: &str, help: &str) {
    let error = System::from_urdf(text, &UrdfOptions::default()).expect_err("a mistake");
    assert_eq!(error.to_string(), message);
    assert_eq!(
        text.get(error.span.clone()),
        Some(place),
        "span {:?}",
        error.span
    );
    assert_eq!(error.help.as_deref().unwrap_or_default(), help);
}

/// The good robot with `to` in the place of `from`.
#[track_caller]
fn swap(from: &str, to: &str) -> String {
    assert!(GOOD.contains(from), "the good robot has no {from:?}");
    GOOD.replacen(from, to, 1)
}

#[test]
fn the_good_robot_is_good() {
    let system = System::from_urdf(GOOD, &UrdfOptions::default()).expect("no mistake");
    assert_eq!((system.model.dof(), system.notes.len()), (1, 0));
}

#[test]
fn what_a_joint_says() {
    let axis = "xyz=\"0 0 1\"";
    check(
        &swap(axis, "xyz=\"0 0 0\""),
        "joint[j].axis.xyz: a joint's axis must have a length, found [0, 0, 0]",
        "0 0 0",
        "",
    );
    check(
        &swap(axis, "xyz=\"0 1\""),
        "joint[j].axis.xyz: expected an array of 3 numbers, found one of 2",
        "0 1",
        "",
    );
    check(
        &swap(axis, "xyz=\"0 0 z\""),
        "joint[j].axis.xyz: expected a number, found `z`",
        "0 0 z",
        "",
    );
    check(
        &swap(axis, "xyz=\"0 0 nan\""),
        "joint[j].axis.xyz: expected a finite number, found NaN",
        "0 0 nan",
        "",
    );
    check(
        &swap(axis, "xyz=\"${axis}\""),
        "joint[j].axis.xyz: `${axis}` is a macro of xacro, not URDF",
        "${axis}",
        "expand it first: `xacro robot.xacro > robot.urdf`",
    );
    check(
        &swap(axis, ""),
        "joint[j].axis: missing attribute `xyz`",
        "<axis />",
        "",
    );
    check(
        &swap("upper=\"1\"", "upper=\"-2\""),
        "joint[j].limit: expected `lower` not above `upper`, found -1 and -2",
        "<limit lower=\"-1\" upper=\"-2\"/>",
        "",
    );
    check(
        &swap("upper=\"1\"", "upper=\"1\" effort=\"-2\""),
        "joint[j].limit.effort: expected a number of at least 0, found -2",
        "-2",
        "",
    );
    check(
        &swap("type=\"revolute\"", "type=\"revolut\""),
        "joint[j].type: expected a type of joint: `fixed`, `continuous`, `revolute`, `prismatic`, `planar`, `floating`, found `revolut`",
        "revolut",
        "did you mean `revolute`?",
    );
}

#[test]
fn trees() {
    check(
        &swap("parent link=\"base\"", "parent link=\"bsae\""),
        "joint[j].parent.link: there is no link `bsae`",
        "bsae",
        "did you mean `base`?",
    );
    check(
        &swap("<parent link=\"base\"/>", ""),
        "joint[j]: missing element <parent>",
        "<joint name=\"j\" type=\"revolute\">",
        "",
    );
    check(
        &swap("<axis", "<axis xyz=\"1 0 0\"/><axis"),
        "joint[j].axis: a second <axis>",
        "<axis xyz=\"0 0 1\"/>",
        "",
    );
    check(
        &swap("</robot>", "<link name=\"tip\"/></robot>"),
        "link[tip]: two links are named `tip`; names must differ",
        "<link name=\"tip\"/>",
        "",
    );
    check(
        &swap("</robot>", "<link name=\"lost\"/></robot>"),
        "link[lost]: no joint carries link `lost`, and none carries `base`; there must be one root",
        "<link name=\"lost\"/>",
        "",
    );
    check(
        &swap(
            "</robot>",
            "<joint name=\"k\" type=\"fixed\"><parent link=\"base\"/><child link=\"tip\"/></joint></robot>",
        ),
        "joint[k].child.link: link `tip` is the child of joint `j` already",
        "tip",
        "URDF holds trees only; a loop is closed by a constraint",
    );
    check(
        &swap("parent link=\"base\"", "parent link=\"tip\""),
        "joint[j]: the parents of the bodies `tip` form a cycle; close loops with constraints instead",
        "<joint name=\"j\" type=\"revolute\">",
        "",
    );
}

#[test]
fn inertias() {
    check(
        &swap("value=\"2\"", "value=\"-2\""),
        "link[base].inertial.mass.value: the mass must be positive, found -2 kg",
        "-2",
        "",
    );
    check(
        &swap("izz=\"1\"", "izz=\"3\""),
        "link[base].inertial.inertia: the largest principal moment of inertia must not exceed the sum of the two others, but 3 > 1 + 1 kg m^2 about the centre of mass",
        "<inertia ixx=\"1\" iyy=\"1\" izz=\"3\"/>",
        "`fly system --raise-inertias --toml` writes the system with the nearest possible moments, as `UrdfOptions::non_physical_inertia` reads it",
    );
    check(
        &swap("izz=\"1\"", ""),
        "link[base].inertial.inertia: missing attribute `izz`",
        "<inertia ixx=\"1\" iyy=\"1\" />",
        "",
    );
}

#[test]
fn documents() {
    check(
        "<robot name=\"r\"/>",
        "missing element <link>",
        "<robot name=\"r\"/>",
        "",
    );
    check(
        "<sdf version=\"1\"/>",
        "expected <robot>, found <sdf>",
        "<sdf version=\"1\"/>",
        "this is SDF, not URDF",
    );
    check(
        "<mujoco model=\"m\"/>",
        "expected <robot>, found <mujoco>",
        "<mujoco model=\"m\"/>",
        "this is MJCF, not URDF: convert it, or describe the system in TOML",
    );
    check(
        "<robot name=\"r\">\n  <link name=\"a\">\n</robot>",
        "expected 'link' tag, not 'robot'",
        "",
        "",
    );
    let xacro = "<robot xmlns:xacro=\"http://www.ros.org/wiki/xacro\" name=\"r\">\n<xacro:include filename=\"x\"/>\n</robot>";
    check(
        xacro,
        "`xacro:include` is a macro of xacro, not URDF",
        "<xacro:include filename=\"x\"/>",
        "expand it first: `xacro robot.xacro > robot.urdf`",
    );
    check(
        "<robot name=\"r\">\n<xacro:leg/>\n</robot>",
        "`xacro` is a macro of xacro, not URDF",
        "",
        "expand it first: `xacro robot.xacro > robot.urdf`",
    );
    check("", "missing element <robot>", "", "");
    check("<!-- nothing -->\n", "missing element <robot>", "", "");
}

/// Other programs ignore `quat_xyzw` in files of version 1.0, so that it must not be read there, nor be ignored silently.
#[test]
fn versions() {
    let quaternion = |version: &str, origin: &str| {
        swap("<axis", &format!("<origin {origin}/><axis")).replacen(
            "<robot",
            &format!("<robot {version}"),
            1,
        )
    };
    for version in ["", "version=\"1.0\""] {
        check(
            &quaternion(version, "quat_xyzw=\"0 0 0 1\""),
            "joint[j].origin.quat_xyzw: URDF has `quat_xyzw` from version 1.1 on, and the file is of version 1.0",
            "0 0 0 1",
            "write `<robot version=\"1.1\" …>`, or `rpy`",
        );
    }
    let version = "version=\"1.1\"";
    check(
        &quaternion(version, "rpy=\"0 0 0\" quat_xyzw=\"0 0 0 1\""),
        "joint[j].origin.quat_xyzw: give `rpy` or `quat_xyzw`, not both",
        "0 0 0 1",
        "",
    );
    check(
        &quaternion(version, "quat_xyzw=\"0 0 0 0\""),
        "joint[j].origin.quat_xyzw: expected a quaternion x, y, z, w, found `0 0 0 0`",
        "0 0 0 0",
        "",
    );
    check(
        &quaternion(version, "quat_xyzw=\"0 0 1\""),
        "joint[j].origin.quat_xyzw: expected an array of 4 numbers, found one of 3",
        "0 0 1",
        "",
    );
    for version in ["2.0", "1.3", "0.9", "1", "one"] {
        check(
            &swap("<robot", &format!("<robot version=\"{version}\"")),
            &format!(
                "version: expected a version of URDF: `1.0`, `1.1` or `1.2`, found `{version}`"
            ),
            version,
            "",
        );
    }
    check(
        &swap(" upper=\"1\"", "").replacen("<robot", "<robot version=\"1.2\"", 1),
        "joint[j].limit: missing attribute `upper`",
        "<limit lower=\"-1\"/>",
        "",
    );
}

/// What is missing at the end is missed there, not in the first line.
#[test]
fn truncated_documents() {
    for end in ["</robot>", "1\"/>\n  </joint>\n</robot>", "<joint"] {
        let text = &GOOD[..GOOD.find(end).expect("in the good robot")];
        let error = System::from_urdf(text, &UrdfOptions::default()).unwrap_err();
        let line = text.trim_end().lines().count();
        assert_eq!(error.line_column(text).0, line, "{error}");
        assert!(line > 1, "{text}");
    }
}

/// An empty file with the name of one in URDF is no empty TOML.
#[test]
fn files_are_read_by_their_names() {
    let options = UrdfOptions::default();
    for (path, expected) in [
        ("robot.urdf", "missing element <robot>"),
        ("ROBOT.URDF", "missing element <robot>"),
        ("robot.toml", "missing key `name`"),
    ] {
        let error = System::from_file_text(path, "", &options).unwrap_err();
        assert_eq!(error.to_string(), expected);
    }
    assert!(System::from_file_text("robot.xml", GOOD, &options).is_ok());
}

/// A misplaced tag in the third line, after letters that are longer than a byte.
#[test]
fn positions_count_characters() {
    let text = "<robot name=\"é\">\n  <link name=\"ü\">\n  ü</robot>";
    let error = System::from_urdf(text, &UrdfOptions::default()).unwrap_err();
    assert_eq!(error.line_column(text), (3, 4));
}
