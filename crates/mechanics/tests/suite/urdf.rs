//! Robots in URDF become the models that one would build by hand.

use std::fmt::Write;

use fly_lie::{SE3, SO3};
use fly_mechanics::description::{NonPhysicalInertia, UrdfMotors, UrdfOptions, UrdfRoot};
use fly_mechanics::multibody::constraints::Coupling;
use fly_mechanics::multibody::{Body, Damper, Joint, Model};
use fly_mechanics::{PseudoInertia, SecondMoment, System};
use nalgebra::{Matrix3, Vector3};

fn read(text: &str, options: &UrdfOptions) -> System {
    System::from_urdf(text, options).unwrap_or_else(|error| {
        let (line, column) = error.line_column(text);
        panic!("{line}:{column}: {error}\n{text}")
    })
}

/// A link of 2 kg and a joint that carries it.
fn link(name: &str) -> String {
    format!(
        "<link name=\"{name}\"><inertial><mass value=\"2\"/><inertia ixx=\"1\" iyy=\"1\" izz=\"1\"/></inertial></link>\n"
    )
}

/// A robot with the links `base` and `tip`, and this joint between them.
fn robot(joint: &str) -> String {
    let (base, tip) = (link("base"), link("tip"));
    format!("<robot name=\"r\">\n{base}{tip}{joint}\n</robot>\n")
}

fn joint(kind: &str, inside: &str) -> String {
    format!(
        "<joint name=\"j\" type=\"{kind}\"><parent link=\"base\"/><child link=\"tip\"/>{inside}</joint>"
    )
}

const ARM: &str = include_str!("../../testdata/urdf/arm6.urdf");

/// The same arm as in TOML, whose test compares it with one built by hand.
#[test]
fn the_arm_is_the_same_in_both_formats() {
    let path = std::path::Path::new(env!("CARGO_MANIFEST_DIR"));
    let toml = std::fs::read_to_string(path.join("../../configs/systems/arm6.toml")).unwrap();
    let expected = System::from_toml(&toml).unwrap();
    let arm = read(ARM, &UrdfOptions::default());
    assert_eq!(arm.model, expected.model);
    assert_eq!(arm.notes, Vec::<String>::new());
    let names = |system: &System| -> Vec<String> {
        system
            .joints
            .iter()
            .map(|joint| joint.name.clone())
            .collect()
    };
    assert_eq!(names(&arm), names(&expected));
    for (a, b) in arm.joints.iter().zip(&expected.joints) {
        assert_eq!(
            (a.limits.velocity, a.limits.effort),
            (b.limits.velocity, b.limits.effort)
        );
        let (a, b) = (a.limits.position.unwrap(), b.limits.position.unwrap());
        assert!((a[0] - b[0]).abs() < 1e-4 && (a[1] - b[1]).abs() < 1e-4);
    }
    assert_eq!(arm.inputs.limits(), expected.inputs.limits());
}

#[test]
fn types_of_joints() {
    let two = PseudoInertia::from_center(2.0, Vector3::zeros(), Matrix3::identity()).unwrap();
    let (x, z) = (Vector3::x(), Vector3::z());
    let viscous = |linear: f64, angular: f64| {
        SecondMoment::from_center(linear, Vector3::zeros(), Matrix3::identity() * angular)
    };
    let damped = "<axis xyz=\"0 0 1\"/><dynamics damping=\"0.5\"/>";
    let cases = [
        ("fixed", "", Joint::fixed(), None),
        ("fixed", damped, Joint::fixed(), None),
        ("floating", "", Joint::free(), None),
        // The axis of none is x.
        ("revolute", "", Joint::revolute(x).unwrap(), None),
        (
            "continuous",
            "<axis xyz=\"0 0 3\"/>",
            Joint::revolute(z).unwrap(),
            None,
        ),
        (
            "revolute",
            damped,
            Joint::revolute(z).unwrap(),
            Some(viscous(0.0, 0.5)),
        ),
        (
            "prismatic",
            damped,
            Joint::prismatic(z).unwrap(),
            Some(viscous(0.5, 0.0)),
        ),
        (
            "planar",
            "<axis xyz=\"0 0 1\"/>",
            Joint::planar(z).unwrap(),
            None,
        ),
        (
            "floating",
            "<dynamics damping=\"0.5\" friction=\"0\"/>",
            Joint::free(),
            Some(viscous(0.5, 0.5)),
        ),
    ];
    for (kind, inside, expected, damping) in cases {
        let mut by_hand = Model::builder()
            .body(Body::new("base", Joint::fixed()).inertia(two))
            .body(Body::new("tip", expected).parent("base").inertia(two));
        if let Some(damping) = damping {
            let (a, b) = ("base".to_owned(), "tip".to_owned());
            by_hand = by_hand.damper(Damper { a, b, damping });
        }
        let system = read(&robot(&joint(kind, inside)), &UrdfOptions::default());
        assert_eq!(system.model, by_hand.build().unwrap(), "{kind} {inside}");
    }
}

/// The inertia's own frame is turned and moved, and so is the joint: roll first, yaw last, about fixed axes.
#[test]
fn origins() {
    let text = robot(&joint(
        "fixed",
        "<origin xyz=\"1 2 3\" rpy=\"1.5707963267948966 0 1.5707963267948966\"/>",
    ))
    .replace(
        "<mass value=\"2\"/><inertia ixx=\"1\" iyy=\"1\" izz=\"1\"/>",
        "<origin xyz=\"0.1 0.2 0.3\" rpy=\"0 1.5707963267948966 0\"/><mass value=\"2\"/>\
             <inertia ixx=\"1\" ixy=\"0.1\" ixz=\"0.2\" iyy=\"2\" iyz=\"0.3\" izz=\"2.5\"/>",
    );
    let model = read(&text, &UrdfOptions::default()).model;
    let tip = model.body_id("tip").unwrap();
    let placement = model.placement(tip).unwrap();
    assert_eq!(placement.translation, Vector3::new(1.0, 2.0, 3.0));
    let cyclic = Matrix3::new(0.0, 0.0, 1.0, 1.0, 0.0, 0.0, 0.0, 1.0, 0.0);
    assert!((placement.rotation.matrix() - cyclic).amax() < 1e-15);

    let inertia = model.inertia(tip).unwrap();
    assert!((inertia.center_of_mass() - Vector3::new(0.1, 0.2, 0.3)).norm() < 1e-15);
    // A quarter turn about y: x of the inertial is -z of the link, z is x.
    let expected = Matrix3::new(2.5, 0.3, -0.2, 0.3, 2.0, -0.1, -0.2, -0.1, 1.0);
    assert!((inertia.inertia_about_center() - expected).amax() < 1e-14);
}

/// URDF 1.1: a quaternion x, y, z, w of any length in the place of the angles.
#[test]
fn quaternions() {
    let text = robot(&joint(
        "fixed",
        "<origin quat_xyzw=\"0 0 8 6\" xyz=\"1 2 3\"/>",
    ));
    for version in ["1.1", "1.2"] {
        let text = text.replace("<robot", &format!("<robot version=\"{version}\""));
        let system = read(&text, &UrdfOptions::default());
        let tip = system.model.body_id("tip").unwrap();
        let placement = system.model.placement(tip).unwrap();
        let expected = Matrix3::new(-0.28, -0.96, 0.0, 0.96, -0.28, 0.0, 0.0, 0.0, 1.0);
        assert!((placement.rotation.matrix() - expected).amax() < 1e-15);
        assert_eq!(placement.translation, Vector3::new(1.0, 2.0, 3.0));
        assert_eq!(system.notes, Vec::<String>::new());
    }
}

#[test]
fn roots() {
    let text = robot(&joint("revolute", ""));
    let free = UrdfOptions {
        root: UrdfRoot::Free,
        ..UrdfOptions::default()
    };
    let system = read(&text, &free);
    assert_eq!((system.model.dof(), system.model.config_dim()), (7, 13));
    assert_eq!(
        system.model.joint(system.model.body_id("base").unwrap()),
        Some(&Joint::free())
    );

    // A root named `world` is the world.
    let on_world = text.replace("\"base\"", "\"world\"");
    let system = read(&on_world, &UrdfOptions::default());
    assert_eq!((system.model.body_count(), system.model.dof()), (1, 1));
    let error = System::from_urdf(&on_world, &free).unwrap_err();
    assert_eq!(
        error.to_string(),
        "link[world]: the root link is `world`, which does not move"
    );
}

/// Joints stand before their links, children before parents.
#[test]
fn any_order() {
    let mut text = "<robot name=\"r\">\n".to_owned();
    for i in (0..4).rev() {
        let parent = i;
        let child = i + 1;
        writeln!(
            text,
            "<joint name=\"j{child}\" type=\"revolute\"><parent link=\"l{parent}\"/><child link=\"l{child}\"/></joint>"
        )
        .unwrap();
    }
    for i in [2, 4, 0, 3, 1] {
        text += &link(&format!("l{i}"));
    }
    let system = read(&(text + "</robot>"), &UrdfOptions::default());
    let names: Vec<&str> = system
        .joints
        .iter()
        .map(|joint| joint.name.as_str())
        .collect();
    assert_eq!(names, ["l0", "j1", "j2", "j3", "j4"]);
}

#[test]
fn limits() {
    let limits = |kind: &str, inside: &str| {
        let system = read(&robot(&joint(kind, inside)), &UrdfOptions::default());
        system.joints[1].limits
    };
    let all = limits(
        "revolute",
        "<limit lower=\"-1\" upper=\"2\" velocity=\"3\" effort=\"4\"/>",
    );
    assert_eq!(all.position, Some([-1.0, 2.0]));
    assert_eq!((all.velocity, all.effort), (Some(3.0), Some(4.0)));
    // What is not given is zero.
    let half = limits(
        "prismatic",
        "<limit upper=\"2\" effort=\"inf\" velocity=\"1e3\"/>",
    );
    assert_eq!((half.position, half.effort), (Some([0.0, 2.0]), None));
    let none = limits("revolute", "<limit effort=\"4\" velocity=\"1\"/>");
    assert_eq!(none.position, Some([0.0, 0.0]));
    assert_eq!(limits("revolute", "").position, None);
    let turning = limits(
        "continuous",
        "<limit lower=\"0\" upper=\"0\" effort=\"4\"/>",
    );
    assert_eq!((turning.position, turning.effort), (None, Some(4.0)));
}

#[test]
fn motors() {
    let transmission = "<transmission name=\"t\"><type>SimpleTransmission</type>\
        <joint name=\"j\"><hardwareInterface>EffortJointInterface</hardwareInterface></joint>\
        <actuator name=\"m\"><mechanicalReduction>50</mechanicalReduction></actuator></transmission>";
    let limited = joint("continuous", "<limit effort=\"4\"/>");
    let motors = |text: &str, motors| {
        let options = UrdfOptions {
            motors,
            ..UrdfOptions::default()
        };
        let system = read(&robot(text), &options);
        let names = system
            .inputs
            .motors()
            .iter()
            .map(|motor| motor.name.clone());
        let names: Vec<String> = names.collect();
        (names, system.inputs.command_limits().to_vec(), system.notes)
    };
    let none = Vec::<String>::new;
    let four = vec![[-4.0, 4.0]];
    let with = limited.clone() + transmission;
    assert_eq!(
        motors(&with, UrdfMotors::Transmissions),
        (vec!["m".to_owned()], four.clone(), none())
    );
    assert_eq!(
        motors(&limited, UrdfMotors::Transmissions),
        (none(), vec![], none())
    );
    assert_eq!(
        motors(&limited, UrdfMotors::EveryJoint),
        (vec!["j".to_owned()], four, none())
    );
    // Without a transmission, too.
    let idle = joint("continuous", "<limit effort=\"0\"/>");
    let note = "joints whose effort is limited to 0 have no motor: `j`";
    assert_eq!(
        motors(&idle, UrdfMotors::EveryJoint),
        (none(), vec![], vec![note.to_owned()])
    );
    // What cannot be a motor is said.
    for (text, note) in [
        (
            joint("continuous", "<limit effort=\"0\"/>") + transmission,
            "joints whose effort is limited to 0 have no motor: `j`",
        ),
        (
            limited.clone() + &transmission.replace("\"j\"", "\"k\""),
            "transmissions of unknown joints are ignored: `k`",
        ),
        (
            limited.clone() + transmission + &transmission.replace("\"t\"", "\"u\""),
            "transmissions that do not connect one motor with one moving joint are ignored: `t`, `u`",
        ),
        (
            joint("fixed", "") + transmission,
            "transmissions that do not connect one motor with one moving joint are ignored: `t`",
        ),
    ] {
        assert_eq!(
            motors(&text, UrdfMotors::Transmissions),
            (none(), vec![], vec![note.to_owned()])
        );
    }
}

#[test]
fn what_is_left_out_is_noted() {
    let notes = |inside: &str| {
        read(
            &robot(&joint("continuous", inside)),
            &UrdfOptions::default(),
        )
        .notes
    };
    assert_eq!(
        notes("<dynamics damping=\"0\" friction=\"1\"/>"),
        ["the dry friction of joints is ignored: `j`"]
    );
    let planar = read(
        &robot(&joint("planar", "<limit effort=\"1\"/>")),
        &UrdfOptions::default(),
    );
    assert_eq!(
        planar.notes,
        [
            "the <limit> of planar and floating joints is ignored: limits are those of one coordinate: `j`"
        ]
    );
    let controlled = read(
        &robot(&(joint("continuous", "") + "<ros2_control name=\"c\" type=\"system\"/>")),
        &UrdfOptions::default(),
    );
    let [note] = &controlled.notes[..] else {
        panic!("{:?}", controlled.notes)
    };
    assert!(
        note.starts_with("<ros2_control> is ignored in `") && note.contains("<transmission>"),
        "{note}"
    );
    assert_eq!(
        notes("<dinamics/>"),
        ["<dinamics> is ignored in `j`; did you mean `dynamics`?"]
    );
    // Attributes as elements, wherever they are read.
    assert_eq!(
        notes("<dynamics dampping=\"0.1\"/><origin xzy=\"0 0 1\" rpy=\"0 0 0\"/>"),
        [
            "attribute `dampping` of <dynamics> is ignored in `j`; did you mean `damping`?",
            "attribute `xzy` of <origin> is ignored in `j`"
        ]
    );
    let plain = robot(&joint("continuous", ""));
    for (from, to, note) in [
        (
            "<inertia ixx",
            "<inertia ixxx=\"1\" ixx",
            "attribute `ixxx` of <inertia> is ignored in `base`; did you mean `ixx`?",
        ),
        (
            "<robot",
            "<robot vesrion=\"1.1\"",
            "attribute `vesrion` of <robot> is ignored in `r`; did you mean `version`?",
        ),
        (
            "</robot>",
            "<transmision name=\"t\"/><gazebo/></robot>",
            "<transmision> is ignored in `r`; did you mean `transmission`?",
        ),
    ] {
        assert!(plain.contains(from), "{from}");
        let system = read(&plain.replacen(from, to, 1), &UrdfOptions::default());
        assert_eq!(system.notes, [note]);
    }
}

/// URDF's defaults for missing limits may not be intended.
#[test]
fn limits_that_are_not_there_are_noted() {
    for kind in ["revolute", "prismatic"] {
        let notes =
            |inside: &str| read(&robot(&joint(kind, inside)), &UrdfOptions::default()).notes;
        assert_eq!(
            notes(""),
            [
                "revolute and prismatic joints without the <limit> that URDF requires are not limited: `j`"
            ]
        );
        assert_eq!(
            notes("<limit effort=\"4\" velocity=\"1\"/>"),
            [
                "joints whose <limit> has neither `lower` nor `upper` are limited to the position 0, URDF's default: `j`"
            ]
        );
        assert!(notes("<limit upper=\"1\" effort=\"4\" velocity=\"1\"/>").is_empty());
    }
}

#[test]
fn mimics_are_couplings() {
    let text = robot(&format!(
        "{}{}<joint name=\"k\" type=\"continuous\"><parent link=\"tip\"/><child link=\"end\"/>\
         <mimic joint=\"j\" multiplier=\"-2\" offset=\"0.5\"/></joint>",
        joint("continuous", ""),
        link("end")
    ));
    let mimic = read(&text, &UrdfOptions::default());
    assert_eq!(
        mimic.notes,
        [
            "joints that mimic others follow them in simulations, and move freely in a controller's model: `k`"
        ]
    );
    assert_eq!(
        mimic.couplings,
        [Coupling::gear("k", "end", "tip", -2.0, 0.5)]
    );
    let constraints = mimic.constraints().build(&mimic.model).unwrap();
    assert_eq!(constraints.equations(), 1);
    let options = UrdfOptions {
        motors: UrdfMotors::EveryJoint,
        ..UrdfOptions::default()
    };
    let driven = read(&text, &options).inputs.motors().to_vec();
    assert_eq!((driven.len(), driven[0].name.as_str()), (1, "j"));

    // Joints that mimic each other stand still, unless they say the same.
    for (multiplier, offset, still) in [(2.0, 0.0, true), (-0.5, 0.25, false)] {
        let back =
            format!("<mimic joint=\"k\" multiplier=\"{multiplier}\" offset=\"{offset}\"/></joint>");
        let mutual = read(&text.replacen("</joint>", &back, 1), &options);
        assert_eq!(mutual.couplings.len(), 2);
        let note = "joints that mimic each other in a circle hold each other still: `j`, `k`";
        assert_eq!(
            mutual.notes.iter().any(|it| it == note),
            still,
            "{:?}",
            mutual.notes
        );
    }

    // What cannot be coupled is said.
    for (from, to, note) in [
        (
            "mimic joint=\"j\"",
            "mimic joint=\"i\"",
            "joint `k` mimics `i`, but there is no joint of this name",
        ),
        (
            "name=\"k\" type=\"continuous\"",
            "name=\"k\" type=\"fixed\"",
            "joint `k` mimics `j`, but they do not both have one degree of freedom",
        ),
    ] {
        assert!(text.contains(from));
        let system = read(&text.replacen(from, to, 1), &options);
        assert_eq!(
            (system.notes, system.couplings.len()),
            (vec![note.to_owned()], 0)
        );
    }
}

/// A link without mass is a frame; a point mass counts on the link that it is fixed to.
#[test]
fn frames_and_point_masses() {
    let sensor = "<inertial><origin xyz=\"0 0 1\"/><mass value=\"0.5\"/><inertia ixx=\"0\" iyy=\"0\" izz=\"0\"/></inertial>";
    let text = format!(
        "<robot name=\"r\">{}<link name=\"frame\"/><link name=\"tip\">{sensor}</link>\
         <joint name=\"i\" type=\"fixed\"><parent link=\"base\"/><child link=\"frame\"/><origin xyz=\"1 0 0\"/></joint>\
         <joint name=\"j\" type=\"fixed\"><parent link=\"frame\"/><child link=\"tip\"/><origin rpy=\"-1.5707963267948966 0 0\"/></joint>\
         </robot>",
        link("base")
    );
    let system = read(&text, &UrdfOptions::default());
    assert_eq!(
        system.notes,
        ["point masses are added to the link to which they are fixed: `tip`"]
    );
    let inertia = |name: &str| system.model.inertia(system.model.body_id(name).unwrap());
    assert_eq!((inertia("frame"), inertia("tip")), (None, None));
    // Turned by -90 degrees about x, z of the tip is y of the base.
    let expected = SecondMoment::from_center(2.0, Vector3::zeros(), Matrix3::identity())
        + SecondMoment::point(0.5, Vector3::new(1.0, 1.0, 0.0));
    let found = inertia("base").unwrap().second_moment();
    assert!((found.matrix4() - expected.matrix4()).amax() < 1e-15);
}

/// Rods, points and inertias without mass are limits of bodies; an invalid inertia may not hide behind a heavier link.
#[test]
fn what_counts_as_a_point_mass() {
    let fixed = |mass: &str, moments: &str| {
        let text = robot(&joint("fixed", ""));
        let (base, tip) = text.split_once("<link name=\"tip\">").unwrap();
        let tip = tip.replacen("value=\"2\"", mass, 1);
        let tip = tip.replacen("ixx=\"1\" iyy=\"1\" izz=\"1\"", moments, 1);
        let text = format!("{base}<link name=\"tip\">{tip}");
        System::from_urdf(&text, &UrdfOptions::default())
    };
    for (mass, moments) in [
        ("value=\"0.5\"", "ixx=\"0\" iyy=\"0\" izz=\"0\""),
        ("value=\"0.5\"", "ixx=\"0\" iyy=\"0.1\" izz=\"0.1\""),
        ("value=\"0\"", "ixx=\"0.1\" iyy=\"0.1\" izz=\"0.1\""),
    ] {
        let system = fixed(mass, moments).unwrap();
        assert_eq!(
            system.notes,
            ["point masses are added to the link to which they are fixed: `tip`"]
        );
    }
    for moments in [
        "ixx=\"-0.1\" iyy=\"0.1\" izz=\"0.1\"",
        "ixx=\"0.1\" iyy=\"0.1\" izz=\"0.3\"",
    ] {
        let error = fixed("value=\"0.5\"", moments).unwrap_err();
        assert_eq!(error.path, "link[tip].inertial.inertia");
    }
}

/// Non-physical inertias are refused or raised, and the change is reported in numbers.
#[test]
fn unphysical_inertias() {
    let raised = |from: &str, note: &str| {
        let text =
            robot(&joint("continuous", "")).replacen("ixx=\"1\" iyy=\"1\" izz=\"1\"", from, 1);
        // A point is raised if that is asked for, but it is no error.
        let is_point = from.contains("ixx=\"0\"");
        let usual = System::from_urdf(&text, &UrdfOptions::default());
        assert_eq!(usual.is_ok(), is_point, "{from}");
        let options = UrdfOptions {
            non_physical_inertia: NonPhysicalInertia::Raise,
            ..UrdfOptions::default()
        };
        let system = read(&text, &options);
        assert_eq!(
            system.notes,
            [format!(
                "the non-physical inertia of link `base` is raised: {note}"
            )]
        );
        let base = system.model.body_id("base").unwrap();
        let moments = system.model.inertia(base).unwrap().inertia_about_center();
        moments.diagonal()
    };
    // The largest moment stays, the others rise by the same amount until the triangle closes.
    let extent = 2.0 * 1e-4 * 1e-4;
    let error = raised(
        "ixx=\"1\" iyy=\"1.5\" izz=\"3\"",
        "principal moments 1, 1.5, 3 -> 1.25, 1.75, 3 kg m^2, at most 25 % more",
    ) - Vector3::new(1.25, 1.75, 3.0);
    assert!(error.amax() < 2.0 * extent, "{error}");
    let point = raised(
        "ixx=\"0\" iyy=\"0\" izz=\"0\"",
        "principal moments 0, 0, 0 -> 0.00000004, 0.00000004, 0.00000004 kg m^2",
    );
    assert!(
        (point - Vector3::repeat(2.0 * extent)).amax() < 1e-12 * extent,
        "{point}"
    );
}

/// An inertia without mass keeps its moments and gets a mass that is as good as none; nothing is dropped.
#[test]
fn inertia_without_mass_is_kept() {
    let text = robot(&joint("continuous", "")).replacen("value=\"2\"", "value=\"0\"", 2);
    assert!(System::from_urdf(&text, &UrdfOptions::default()).is_err());
    let options = UrdfOptions {
        non_physical_inertia: NonPhysicalInertia::Raise,
        ..UrdfOptions::default()
    };
    let system = read(&text, &options);
    let note = |link: &str| {
        format!(
            "the non-physical inertia of link `{link}` is raised: \
             principal moments 1, 1, 1 -> 1, 1, 1 kg m^2; mass 0 -> 0.005 kg"
        )
    };
    assert_eq!(system.notes, [note("base"), note("tip")]);
    let tip = system.model.inertia(system.model.body_id("tip").unwrap());
    let moments = tip.unwrap().inertia_about_center();
    assert!((moments - Matrix3::identity()).amax() < 1e-12);
}

/// Ten times the links take ten times the work, counted in allocations.
#[test]
fn work_is_proportional_to_length() {
    let chain = |count: usize, kind: &str| {
        let mut text = String::from("<robot name=\"r\">");
        for i in 0..count {
            // Point masses on the first link.
            let moments = u8::from(i == 0 || kind != "fixed");
            write!(
                text,
                "<link name=\"l{i}\"><inertial><mass value=\"1\"/>\
                 <inertia ixx=\"{moments}\" iyy=\"{moments}\" izz=\"{moments}\"/></inertial></link>"
            )
            .unwrap();
        }
        for i in 1..count {
            let parent = i - 1;
            write!(
                text,
                "<joint name=\"j{i}\" type=\"{kind}\"><parent link=\"l{parent}\"/><child link=\"l{i}\"/>\
                 <origin xyz=\"0.001 0 0\"/></joint>"
            )
            .unwrap();
        }
        text + "</robot>"
    };
    let effort = |count: usize, kind: &str| {
        let text = chain(count, kind);
        let mut mass = 0.0;
        let effort = fly_testing::allocations(|| {
            mass = read(&text, &UrdfOptions::default()).model.mass();
        });
        let error = (mass - count as f64).abs();
        assert!(error < 1e-9 * mass, "{mass}");
        effort
    };
    for kind in ["fixed", "continuous"] {
        let (short, long) = (effort(100, kind), effort(1000, kind));
        assert!(long < 11 * short, "{kind}: {short} {long}");
    }
}

/// Visuals and what simulators add change nothing; without a folder no mesh is looked for.
#[test]
fn shapes_mean_nothing_to_the_motion() {
    let plain = robot(&joint("continuous", ""));
    let rich = plain
        .replace("<inertial>", "<visual><geometry><mesh filename=\"package://a/b.dae\"/></geometry></visual><inertial>")
        .replace("</robot>", "<gazebo reference=\"tip\"><mu1>0.2</mu1></gazebo><material name=\"red\"/></robot>");
    let options = UrdfOptions::default();
    assert_eq!(read(&plain, &options), read(&rich, &options));
    let pose = SE3::new(SO3::identity(), Vector3::zeros());
    let model = read(&rich, &options).model;
    assert_eq!(model.placement(model.body_id("tip").unwrap()), Some(&pose));
}

/// Links and joints may have the same names; a joint of the file is found by its own, and the root's has another one.
#[test]
fn a_joint_with_the_name_of_the_root_is_found() {
    let text = robot(&joint("revolute", "<limit effort=\"2\" velocity=\"3\"/>"))
        .replace("\"j\"", "\"base\"");
    for root in [UrdfRoot::Fixed, UrdfRoot::Free] {
        let options = UrdfOptions {
            root,
            ..UrdfOptions::default()
        };
        let system = read(&text, &options);
        let tip = system.model.body_id("tip").unwrap();
        assert_eq!(system.joint_named("base"), Some(tip));
        let again = System::from_toml(&system.to_toml()).expect("what was written");
        assert_eq!(again.joint_named("base"), again.model.body_id("tip").ok());
    }
}

/// A point mass that swings has an inertia about the joint.
#[test]
fn a_pendulum_may_be_a_point() {
    let point = "<link name=\"tip\"><inertial><origin xyz=\"0 0 -0.5\"/><mass value=\"2\"/><inertia ixx=\"0\" iyy=\"0\" izz=\"0\"/></inertial></link>\n";
    let text = robot(&joint("continuous", "<axis xyz=\"0 1 0\"/>")).replace(&link("tip"), point);
    let system = read(&text, &UrdfOptions::default());
    assert!(system.notes.is_empty(), "{:?}", system.notes);
    let model = &system.model;
    let mut workspace = fly_mechanics::multibody::Workspace::new(model);
    // m l^2 q'' = -m g l sin q
    let mut a = [0.0];
    (model.forward_dynamics(&mut workspace, &[0.5], &[0.0], &[0.0], &mut a)).unwrap();
    assert!((a[0] + 9.81 * 0.5_f64.sin() / 0.5).abs() < 1e-12, "{a:?}");
}
