//! What bodies look like: from URDF and its meshes, through TOML, to the scene that everybody shows.

use std::f64::consts::{FRAC_PI_2, PI};
use std::path::Path;

use fly_mechanics::System;
use fly_mechanics::description::{MeshFolders, UrdfOptions};
use fly_mechanics::scene::{Part, Scene, Shape};
use fly_mechanics::visual::{MAX_TRIANGLES, Surface, VisualShape};
use nalgebra::Vector3;

/// A binary STL.
fn stl(triangles: &[[Vector3<f64>; 3]]) -> Vec<u8> {
    let mut bytes = vec![0; 80];
    bytes.extend(u32::try_from(triangles.len()).unwrap().to_le_bytes());
    for triangle in triangles {
        bytes.extend([0; 12]);
        #[expect(clippy::cast_possible_truncation)]
        for number in triangle.iter().flatten() {
            bytes.extend((*number as f32).to_le_bytes());
        }
        bytes.extend([0; 2]);
    }
    bytes
}

/// A ball of this radius by rings of triangles, counterclockwise as seen from outside.
fn ball(radius: f64, rings: u32) -> Vec<[Vector3<f64>; 3]> {
    let point = |i: u32, j: u32| {
        let (sin, cos) = (PI * f64::from(i) / f64::from(rings)).sin_cos();
        let (s, c) = (PI * f64::from(j % (2 * rings)) / f64::from(rings)).sin_cos();
        Vector3::new(sin * c, sin * s, cos) * radius
    };
    let mut all = Vec::new();
    for i in 0..rings {
        for j in 0..2 * rings {
            let [a, b, c, d] = [
                point(i, j),
                point(i + 1, j),
                point(i + 1, j + 1),
                point(i, j + 1),
            ];
            all.extend([[a, b, c], [a, c, d]]);
        }
    }
    all
}

fn volume(shape: &Shape) -> f64 {
    let Shape::Mesh {
        vertices,
        triangles,
    } = shape
    else {
        panic!("{shape:?}");
    };
    let tetrahedron = |triangle: &[u32; 3]| {
        let [a, b, c] = triangle.map(|i| Vector3::from(vertices[i as usize]));
        a.dot(&b.cross(&c)) / 6.0
    };
    triangles.iter().map(tetrahedron).sum()
}

/// A robot whose links `base` and `arm` have these visuals.
fn robot(base: &str, arm: &str) -> String {
    format!(
        r#"<robot name="arm">
  <material name="orange"><color rgba="1 0.5 0 0.75"/></material>
  <link name="base">{base}</link>
  <joint name="hinge" type="continuous"><parent link="base"/><child link="arm"/><axis xyz="0 1 0"/></joint>
  <link name="arm">
{arm}
    <inertial><mass value="1"/><inertia ixx="1" iyy="1" izz="1"/></inertial>
  </link>
</robot>"#
    )
}

fn write(path: &Path, bytes: impl AsRef<[u8]>) {
    std::fs::create_dir_all(path.parent().unwrap()).unwrap();
    std::fs::write(path, bytes).unwrap();
}

fn parts(system: &System) -> Vec<Part> {
    Scene::new(system).bodies.last().unwrap().shapes.clone()
}

#[test]
fn solids_and_colours_of_a_urdf_are_shown() {
    let visuals = r#"
    <visual><origin xyz="1 2 3" rpy="0 0 1.5707963267948966"/><geometry><box size="2 4 6"/></geometry><material name="orange"/></visual>
    <visual><origin rpy="1.5707963267948966 0 0"/><geometry><cylinder radius="0.5" length="3"/></geometry></visual>
    <visual><geometry><sphere radius="0.25"/></geometry><material name="own"><color rgba="0 0 1 1"/></material></visual>"#;
    let system = System::from_urdf(&robot("", visuals), &UrdfOptions::default()).unwrap();
    assert_eq!(system.notes, Vec::<String>::new());
    let [cuboid, cylinder, sphere] = parts(&system).try_into().unwrap();
    let Shape::Box { center, edges } = cuboid.shape else {
        panic!("{cuboid:?}");
    };
    assert_eq!(center, [1.0, 2.0, 3.0]);
    // A quarter turn about z: x points along y, y along -x.
    let expected = [[0.0, 1.0, 0.0], [-2.0, 0.0, 0.0], [0.0, 0.0, 3.0]];
    for (edge, expected) in edges.iter().flatten().zip(expected.iter().flatten()) {
        assert!((edge - expected).abs() < 1e-15);
    }
    assert_eq!(cuboid.color, Some([1.0, 0.5, 0.0, 0.75]));
    let Shape::Cylinder {
        axis,
        radius,
        length,
        ..
    } = cylinder.shape
    else {
        panic!("{cylinder:?}");
    };
    // A quarter turn about x: z points along -y.
    assert!((Vector3::from(axis) + Vector3::y()).norm() < 1e-15);
    assert_eq!((radius, length, cylinder.color), (0.5, 3.0, None));
    let expected = Shape::Sphere {
        center: [0.0; 3],
        radius: 0.25,
    };
    assert_eq!(
        (sphere.shape, sphere.color),
        (expected, Some([0.0, 0.0, 1.0, 1.0]))
    );
    // A body without visuals looks as ever.
    let bare = System::from_urdf(&robot("", ""), &UrdfOptions::default()).unwrap();
    assert_eq!(
        Scene::new(&bare).bodies[0].shapes,
        Scene::new(&system).bodies[0].shapes
    );
    let again = System::from_toml(&system.to_toml()).unwrap();
    // But for the rounding of attitudes.
    let digits = |system: &System| format!("{:.9?}", parts(system));
    assert_eq!(digits(&again), digits(&system));
}

#[test]
fn meshes_are_found_by_every_kind_of_path_and_travel_with_the_description() {
    let folder = tempfile::tempdir().unwrap();
    let at = |path: &str| folder.path().join(path);
    let cube = "v 0 0 0\nv 10 0 0\nv 0 10 0\nv 0 0 10\nf 1 3 2\nf 1 2 4\nf 1 4 3\nf 2 3 4\n";
    write(
        &at("ws/arm_description/meshes/link.STL"),
        stl(&ball(500.0, 8)),
    );
    write(&at("ws/arm_description/urdf/own.obj"), cube);
    write(&at("elsewhere/tool/parts/tool.obj"), cube);
    write(&at("flat/loose.obj"), cube);
    let mesh = |file: &str| {
        format!(
            r#"<visual><geometry><mesh filename="{file}" scale="0.001 0.001 -0.001"/></geometry></visual>"#
        )
    };
    let files = [
        "package://arm_description/meshes/link.STL".to_owned(),
        "own.obj".to_owned(),
        "../meshes/link.STL".to_owned(),
        format!("file://{}", at("flat/loose.obj").display()),
        "package://tool/parts/tool.obj".to_owned(),
        "package://gone/deep/loose.obj".to_owned(),
    ];
    let text = robot("", &files.iter().map(|file| mesh(file)).collect::<String>());
    let path = at("ws/arm_description/urdf/arm.urdf");
    write(&path, &text);
    let options = UrdfOptions {
        meshes: MeshFolders {
            others: vec![at("elsewhere"), at("flat")],
            ..MeshFolders::default()
        },
        ..UrdfOptions::default()
    };
    let system = System::load(&path, &options).unwrap();
    assert_eq!(system.notes, Vec::<String>::new());
    let parts = parts(&system);
    assert_eq!(parts.len(), files.len());
    // Mirrored, and still counterclockwise as seen from outside.
    let sphere = 4.0 / 3.0 * PI * 0.5_f64.powi(3);
    for (part, expected) in parts.iter().zip([
        sphere,
        1e-6 / 6.0,
        sphere,
        1e-6 / 6.0,
        1e-6 / 6.0,
        1e-6 / 6.0,
    ]) {
        let volume = volume(&part.shape);
        assert!(
            volume > 0.9 * expected && volume < 1.001 * expected,
            "{volume} {expected}"
        );
    }
    // The description alone has them, on a machine without the files.
    let text = system.to_toml();
    drop(folder);
    let again = System::from_toml(&text).unwrap();
    assert_eq!(again.visuals, system.visuals);
    assert_eq!(self::parts(&again), parts);
    // Without any folder nothing is read.
    let bare = System::from_urdf(&robot("", &mesh("own.obj")), &UrdfOptions::default()).unwrap();
    assert!(bare.visuals.is_empty() && bare.notes.is_empty());
}

#[test]
fn what_cannot_be_shown_is_said_and_stops_nothing() {
    let folder = tempfile::tempdir().unwrap();
    let at = |path: &str| folder.path().join(path);
    write(&at("broken.stl"), "solid x\nfacet normal 0 0");
    write(&at("empty.obj"), "v 0 0 0\n");
    std::fs::create_dir(at("folder.obj")).unwrap();
    let mut seen = Vec::new();
    for (inside, problem) in [
        (
            r#"<geometry><mesh filename="package://arm/gone.stl"/></geometry>"#,
            "`package://arm/gone.stl` is not found; searched ",
        ),
        (
            r#"<geometry><mesh filename="arm.dae"/></geometry>"#,
            "`arm.dae` (COLLADA) has an unsupported format; expected .stl or .obj; convert it",
        ),
        (
            r#"<geometry><mesh filename="broken.stl"/></geometry>"#,
            "broken.stl: the STL cannot be read",
        ),
        (
            r#"<geometry><mesh filename="empty.obj"/></geometry>"#,
            "the mesh has no triangles",
        ),
        (
            r#"<geometry><mesh filename="folder.obj"/></geometry>"#,
            "`folder.obj` is not found",
        ),
        (r#"<geometry><box size="1 2"/></geometry>"#, "3 numbers"),
        (
            r#"<geometry><sphere radius="-1"/></geometry>"#,
            "expected lengths above 0, found `-1`",
        ),
        (
            r#"<geometry><capsule radius="1"/></geometry>"#,
            "found <capsule>",
        ),
        ("", "geometry"),
    ] {
        let path = at("arm.urdf");
        write(
            &path,
            robot(
                "",
                &format!(
                    "\n<visual>{inside}</visual><visual><geometry><sphere radius=\"1\"/></geometry></visual>"
                ),
            ),
        );
        let system = System::load(&path, &UrdfOptions::default()).unwrap();
        let [note] = system.notes.as_slice() else {
            panic!("{inside}: {:?}", system.notes);
        };
        assert!(
            note.starts_with("line 7: link `arm` is shown without this visual: "),
            "{note}"
        );
        assert!(note.contains(problem), "{note}");
        assert_eq!(system.visuals.len(), 1, "the other one is shown");
        seen.push(note.clone());
    }
    // Where it was looked for, and what to do.
    let gone = &seen[0];
    for part in [
        at("arm/gone.stl").display().to_string(),
        "`--mesh-dir DIR`".to_owned(),
    ] {
        assert!(gone.contains(&part), "{gone}");
    }
}

#[test]
fn large_meshes_become_small_ones_of_the_same_form() {
    let folder = tempfile::tempdir().unwrap();
    let large = ball(0.1, 110);
    assert_eq!(large.len(), 48_400);
    write(&folder.path().join("large.stl"), stl(&large));
    write(&folder.path().join("small.stl"), stl(&ball(0.05, 6)));
    let mesh =
        |file: &str| format!(r#"<visual><geometry><mesh filename="{file}"/></geometry></visual>"#);
    let path = folder.path().join("arm.urdf");
    write(
        &path,
        robot(
            "",
            &[mesh("large.stl"), mesh("small.stl"), mesh("large.stl")].concat(),
        ),
    );
    let system = System::load(&path, &UrdfOptions::default()).unwrap();
    let [note] = system.notes.as_slice() else {
        panic!("{:?}", system.notes);
    };
    assert!(note.contains("at most 5000"), "{note}");
    let parts = parts(&system);
    let counts: Vec<usize> = (system.visuals.iter())
        .map(|visual| match &visual.shape {
            VisualShape::Mesh(surface) => surface.triangles().len(),
            other => panic!("{other:?}"),
        })
        .collect();
    // The small one is as it was; the large ones use most of what is left.
    assert_eq!(counts[1], 2 * 12 * 5);
    let all: usize = counts.iter().sum();
    assert!(
        all <= MAX_TRIANGLES && all > MAX_TRIANGLES / 2,
        "{counts:?}"
    );
    let Shape::Mesh { vertices, .. } = &parts[0].shape else {
        panic!("a mesh");
    };
    assert!(
        vertices
            .iter()
            .all(|v| (Vector3::from(*v).norm() - 0.1).abs() < 0.002)
    );
    let full = 4.0 / 3.0 * PI * 0.1_f64.powi(3);
    assert!((volume(&parts[0].shape) / full - 1.0).abs() < 0.02);
    assert!(
        system.to_toml().len() < 200_000,
        "{}",
        system.to_toml().len()
    );
}

#[test]
fn a_surface_that_fits_is_left_as_it_is() {
    let surface = Surface::from_triangles(ball(FRAC_PI_2, 5)).unwrap();
    assert_eq!(surface.simplified(80), surface);
    assert!(surface.simplified(79).triangles().len() < 80);
    // Digits that nobody sees are left out; the form is not.
    for vertex in surface.vertices() {
        assert!((Vector3::from(*vertex).norm() - FRAC_PI_2).abs() < 2e-4);
    }
}

#[test]
fn wrong_visuals_of_a_description_are_refused_with_their_place() {
    for (visual, expected) in [
        ("{ box = [1, 0, 1] }", "expected three lengths above 0"),
        ("{ sphere = { radius = 1 }, box = [1, 1, 1] }", "`box`"),
        (
            "{ sphere = { radius = 1 }, color = [1, 1, 1] }",
            "4 numbers",
        ),
        (
            "{ sphere = { radius = 1 }, color = [1, 1, 2, 1] }",
            "each from 0 to 1",
        ),
        ("{ mesh = 'v 0 0 0\\nf 1 2 3' }", "lines of `v x y z`"),
        (
            "{ mesh = '''\nv 0 0 0\nv 1 0 0\nv 0 1 0\nf 1 2 4''' }",
            "names vertex 3",
        ),
        (
            "{ mesh = '''\nv 0 0 nan\nv 1 0 0\nv 0 1 0\nf 1 2 3''' }",
            "expected finite coordinates",
        ),
        ("{ position = [0, 0, 0] }", "mesh"),
        (
            "{ sphere = { radius = 1 }, colour = [1, 1, 1, 1] }",
            "color",
        ),
    ] {
        let text = format!(
            "name = \"x\"\n[bodies.arm]\nmass = 1\ninertia = [1, 1, 1]\nvisuals = [{visual}]"
        );
        let error = System::from_toml(&text).unwrap_err();
        let said = format!("{error} {:?}", error.help);
        assert!(
            said.starts_with("bodies.arm.visuals[0]") && said.contains(expected),
            "{said}"
        );
        assert_eq!(error.line_column(&text).0, 5, "{said}");
    }
}
