//! Solids by their surfaces against solids by their volume.

use std::collections::BTreeSet;
use std::fmt::Write as _;
use std::io::Cursor;

use fly_lie::SE3;
use fly_mechanics::description::UrdfOptions;
use fly_mechanics::{MeshError, SecondMoment, System, TriangleMesh};
use nalgebra::{Matrix4, Vector3, Vector6};

use crate::random_tree::Random;

type Cell = [i32; 3];

/// The faces of the cells that have no neighbour, two triangles each.
fn surface(cells: &BTreeSet<Cell>) -> Vec<[Vector3<f64>; 3]> {
    let mut triangles = Vec::new();
    for cell in cells {
        for axis in 0..3 {
            for side in [-1, 1] {
                let mut beside = *cell;
                beside[axis] += side;
                if cells.contains(&beside) {
                    continue;
                }
                let corner = |u: i32, v: i32| {
                    let mut at = *cell;
                    at[axis] += i32::from(side > 0);
                    at[(axis + 1) % 3] += u;
                    at[(axis + 2) % 3] += v;
                    Vector3::from(at).map(f64::from) * 0.1
                };
                let [a, b, c, d] = [corner(0, 0), corner(1, 0), corner(1, 1), corner(0, 1)];
                if side > 0 {
                    triangles.extend([[a, b, c], [a, c, d]]);
                } else {
                    triangles.extend([[a, c, b], [a, d, c]]);
                }
            }
        }
    }
    triangles
}

fn cells(seed: usize) -> BTreeSet<Cell> {
    let mut random = Random::new(seed);
    (0..40)
        .map(|_| [(); 3].map(|()| i32::try_from(random.index(4)).expect("small") - 1))
        .collect()
}

/// The sum of cubes.
fn volume(cells: &BTreeSet<Cell>, density: f64) -> SecondMoment<f64> {
    let cubes = cells.iter().map(|cell| {
        let center = (Vector3::from(*cell).map(f64::from) + Vector3::repeat(0.5)) * 0.1;
        let cube = SecondMoment::solid_box(density * 1e-3, [0.1; 3]);
        cube.placed(&SE3::new(fly_lie::SO3::identity(), center))
    });
    cubes.reduce(|a, b| a + b).expect("cells")
}

#[track_caller]
fn same(found: &SecondMoment<f64>, expected: &SecondMoment<f64>, tolerance: f64) {
    let difference: Matrix4<f64> = found.matrix4() - expected.matrix4();
    assert!(
        difference.amax() <= tolerance * expected.matrix4().amax(),
        "{difference}"
    );
}

/// Heaps of cubes with holes, hollows and cubes that touch at edges only.
#[test]
fn heaps_of_cubes() {
    for seed in 0..30 {
        let cells = cells(seed);
        let mesh = TriangleMesh::from_triangles(surface(&cells)).expect("closed");
        same(&mesh.second_moment(2700.0), &volume(&cells, 2700.0), 1e-13);
        assert!((mesh.volume() - 1e-3 * cells.len() as f64).abs() < 1e-14);

        // Anywhere: 100 m away the moments are those of the moved solid.
        let pose = SE3::exp(&Vector6::new(80.0, -60.0, 10.0, 0.4, 1.0, -0.7));
        let moved = surface(&cells)
            .into_iter()
            .map(|corners| corners.map(|c| pose.act(&c)));
        // Corners that were one are still the same numbers, for they were computed alike.
        let moved = TriangleMesh::from_triangles(moved).expect("closed");
        let back = moved.second_moment(2700.0).in_frame(&pose);
        same(&back, &volume(&cells, 2700.0), 1e-8);
        assert!((moved.center() - pose.act(&mesh.center())).amax() < 1e-12);
    }
}

/// Its volume is `l w h`, which the notes on the rigid body print otherwise.
#[test]
fn a_box() {
    let sides = Vector3::new(0.3, 1.2, 0.7);
    let stretched = surface(&[[0, 0, 0]].into())
        .into_iter()
        .map(|corners| corners.map(|corner| corner.component_mul(&sides) * 10.0));
    let mesh = TriangleMesh::from_triangles(stretched).expect("closed");
    assert!((mesh.volume() - 0.3 * 1.2 * 0.7).abs() < 1e-15);
    let exact = SecondMoment::solid_box(2.0, sides.into());
    let found = mesh
        .second_moment(2.0 / mesh.volume())
        .moment_about_center();
    assert!((found - exact.moment_about_center()).amax() < 1e-15);
}

/// A sphere of ever more triangles becomes one.
#[test]
fn a_sphere() {
    let ball = |count: usize| {
        let at = |i: usize, j: usize| {
            let polar = std::f64::consts::PI * i as f64 / count as f64;
            let around = std::f64::consts::TAU * (j % (2 * count)) as f64 / (2 * count) as f64;
            let ring = if i == 0 || i == count {
                0.0
            } else {
                polar.sin()
            };
            Vector3::new(ring * around.cos(), ring * around.sin(), polar.cos()) * 0.5
        };
        let mut triangles = Vec::new();
        for i in 0..count {
            for j in 0..2 * count {
                let [a, b, c, d] = [at(i, j), at(i + 1, j), at(i + 1, j + 1), at(i, j + 1)];
                if i > 0 {
                    triangles.push([a, b, d]);
                }
                if i + 1 < count {
                    triangles.push([b, c, d]);
                }
            }
        }
        TriangleMesh::from_triangles(triangles).expect("closed")
    };
    let exact = SecondMoment::solid_ellipsoid(2.0, [0.5; 3]);
    let error = |count: usize| {
        let mesh = ball(count);
        let found = mesh
            .second_moment(2.0 / mesh.volume())
            .moment_about_center();
        (found - exact.moment_about_center()).amax()
    };
    // It converges with the square of the number of triangles along a meridian.
    let (coarse, fine) = (error(20), error(40));
    assert!(
        fine < 1e-3 && (coarse / fine - 4.0).abs() < 0.1,
        "{coarse} {fine}"
    );
}

#[test]
fn what_encloses_nothing_is_told_with_its_place() {
    let cube: BTreeSet<Cell> = [[0, 0, 0]].into();
    let whole = surface(&cube);
    let fails = |triangles: Vec<[Vector3<f64>; 3]>| {
        TriangleMesh::from_triangles(triangles).expect_err("no solid")
    };
    let mut open = whole.clone();
    let missing = open.remove(5);
    match fails(open) {
        MeshError::Hole { from, to, .. } => {
            for end in [from, to] {
                assert!(missing.iter().any(|corner| *corner == Vector3::from(end)));
            }
        }
        other => panic!("{other}"),
    }
    let mut turned = whole.clone();
    turned[3].swap(0, 1);
    match fails(turned) {
        MeshError::InconsistentWinding { triangles, .. } => assert!(triangles.contains(&3)),
        other => panic!("{other}"),
    }
    let inside_out = whole.iter().map(|[a, b, c]| [*a, *c, *b]).collect();
    let error = fails(inside_out);
    assert!(matches!(error, MeshError::InsideOut { volume } if (volume + 1e-3).abs() < 1e-15));
    assert!(
        error.to_string().contains("Exchange two vertices"),
        "{error}"
    );
    assert_eq!(fails(Vec::new()), MeshError::Empty);
    let mut wrong = whole;
    wrong[0][1].y = f64::NAN;
    assert!(matches!(fails(wrong), MeshError::NotFinite { .. }));
    let error = TriangleMesh::new(vec![Vector3::zeros()], vec![[0, 0, 7]]).expect_err("no vertex");
    assert_eq!(
        error.to_string(),
        "triangle 0 names vertex 7, but there are 1 (counted from 0)"
    );
}

/// The same heap as STL in both forms and as OBJ in millimetres.
#[test]
fn files() {
    let cells = cells(7);
    let triangles = surface(&cells);
    let expected = volume(&cells, 1000.0);
    let mut text = "solid heap\n".to_owned();
    let mut binary = vec![b' '; 80];
    let count = u32::try_from(triangles.len()).expect("few");
    binary.extend(count.to_le_bytes());
    let (mut obj, mut faces) = (String::new(), String::new());
    for (k, corners) in triangles.iter().enumerate() {
        text += "facet normal 0 0 0\nouter loop\n";
        binary.extend([0; 12]);
        for corner in corners {
            let millimetres = corner.map(|x| (x * 1000.0).round());
            let [x, y, z] = millimetres.into();
            writeln!(text, "vertex {x} {y} {z}").expect("text");
            writeln!(obj, "v {x} {y} {z}").expect("text");
            for number in [x, y, z] {
                #[allow(clippy::cast_possible_truncation)] // whole numbers
                binary.extend((number as f32).to_le_bytes());
            }
        }
        text += "endloop\nendfacet\n";
        binary.extend([0; 2]);
        writeln!(faces, "f {} {} {}", 3 * k + 1, 3 * k + 2, 3 * k + 3).expect("text");
    }
    text += "endsolid heap\n";
    let obj = obj + &faces;
    let stl = |bytes: &[u8]| TriangleMesh::from_stl(&mut Cursor::new(bytes), 1e-3);
    for mesh in [
        stl(text.as_bytes()),
        stl(&binary),
        TriangleMesh::from_obj(&mut Cursor::new(obj.as_bytes()), 1e-3),
    ] {
        same(
            &mesh.expect("closed").second_moment(1000.0),
            &expected,
            1e-13,
        );
    }
    // Faces of four corners.
    let cube = "v 0 0 0\nv 1 0 0\nv 1 1 0\nv 0 1 0\nv 0 0 1\nv 1 0 1\nv 1 1 1\nv 0 1 1\n\
                f 4 3 2 1\nf 5 6 7 8\nf 1 2 6 5\nf 2 3 7 6\nf 3 4 8 7\nf 4 1 5 8\n";
    let cube = TriangleMesh::from_obj(&mut Cursor::new(cube.as_bytes()), 1.0).expect("closed");
    assert!((cube.volume() - 1.0).abs() < 1e-15);

    // Nothing that is read panics.
    for length in 0..binary.len().min(400) {
        assert!(stl(&binary[..length]).is_err());
    }
    assert!(TriangleMesh::from_obj(&mut Cursor::new(b"f 1 2 9\n"), 1.0).is_err());
    let nowhere = TriangleMesh::from_file("/nowhere/at.stl", 1.0).expect_err("no file");
    assert!(
        nowhere.to_string().starts_with("/nowhere/at.stl: "),
        "{nowhere}"
    );
    let other = TriangleMesh::from_file("body.step", 1.0).expect_err("no mesh");
    assert!(
        other.to_string().contains("ends with .stl or .obj"),
        "{other}"
    );
}

/// A box of 0.2 x 0.4 x 0.6 m with a corner at the origin, in millimetres.
const BOX: &str = "v 0 0 0\nv 200 0 0\nv 200 400 0\nv 0 400 0\nv 0 0 600\nv 200 0 600\nv 200 400 600\nv 0 400 600\n\
    f 4 3 2 1\nf 5 6 7 8\nf 1 2 6 5\nf 2 3 7 6\nf 3 4 8 7\nf 4 1 5 8\n";

/// Descriptions name meshes by relative paths: the same bodies as from a box.
#[test]
fn descriptions_name_files() {
    let folder = std::env::temp_dir().join(format!("fly-meshes-{}", std::process::id()));
    std::fs::create_dir_all(folder.join("parts")).expect("a folder");
    std::fs::write(folder.join("parts/box.obj"), BOX).expect("written");
    let open = BOX.replace("f 4 1 5 8\n", "");
    std::fs::write(folder.join("parts/open.obj"), open).expect("written");
    let path = folder.join("system.toml");
    let load = |text: &str| {
        std::fs::write(&path, text).expect("written");
        System::load(&path, &UrdfOptions::default()).map_err(|error| error.to_string())
    };
    let of = |body: &str| format!("name = 'test'\n[bodies.hull]\n{body}\n");
    let inertia = |body: &str| {
        let system = load(&of(body)).expect("a body");
        let hull = system.model.body_id("hull").expect("the hull");
        *system.model.inertia(hull).expect("mass").second_moment()
    };
    let mesh = "mesh = { file = 'parts/box.obj', scale = 0.001 }";
    let plain = "shape = { box = [0.2, 0.4, 0.6] }";
    let turned = "orientation = { rpy_deg = [90, 0, 0] }";
    for (by_mesh, by_box) in [
        (
            format!("mass = 3\nshape = {{ {mesh} }}"),
            format!("mass = 3\ncenter_of_mass = [0.1, 0.2, 0.3]\n{plain}"),
        ),
        (
            format!("density = 500\nshape = {{ {mesh} }}"),
            format!("density = 500\ncenter_of_mass = [0.1, 0.2, 0.3]\n{plain}"),
        ),
        // What was z points along -y.
        (
            format!("mass = 3\nshape = {{ {mesh}, {turned} }}"),
            format!(
                "mass = 3\ncenter_of_mass = [0.1, -0.3, 0.2]\n{}",
                plain.replace(" }", &format!(", {turned} }}"))
            ),
        ),
        (
            format!(
                "parts = [{{ mass = 2, position = [1, 0, 0], shape = {{ {mesh} }} }}, {{ mass = 1 }}]"
            ),
            format!(
                "parts = [{{ mass = 2, position = [1.1, 0.2, 0.3], {plain} }}, {{ mass = 1 }}]"
            ),
        ),
    ] {
        same(&inertia(&by_mesh), &inertia(&by_box), 1e-14);
    }

    let wrong = |body: &str| load(&of(body)).expect_err("a mistake");
    let told = |body: &str, at: &str, what: &str| {
        let error = wrong(body);
        let start = format!("{}:{at}: {what}", path.display());
        assert!(error.starts_with(&start), "{error}\n{start}");
    };
    told(
        "mass = 3\nshape = { mesh = { file = 'parts/none.stl' } }",
        "4:27",
        "bodies.hull.shape.mesh.file: ",
    );
    told(
        "mass = 3\nshape = { mesh = { file = 'parts/open.obj' } }",
        "4:27",
        "bodies.hull.shape.mesh.file: the mesh has a hole: no triangle beside triangle",
    );
    told(
        "mass = 3\nshape = { mesh = { file = 'parts/box.obj', scale = -1 } }",
        "4:52",
        "bodies.hull.shape.mesh.scale: expected a number above 0, found -1",
    );
    told(
        "mass = 3\ncenter_of_mass = [0, 0, 0]\nshape = { mesh = { file = 'parts/box.obj' } }",
        "4:18",
        "bodies.hull.center_of_mass: the mesh says where the centre of mass is",
    );
    told(
        "mass = 3\nshape = { mesh = { file = 'parts/box.obj', volume = 1 } }",
        "4:27",
        "bodies.hull.shape.mesh.file: give the `file` of the mesh, or",
    );
    told(
        "mass = 3\nshape = { mesh = {} }",
        "4:18",
        "bodies.hull.shape.mesh: missing key `file`",
    );
    std::fs::remove_dir_all(&folder).expect("removed");

    let text = of(&format!("mass = 3\nshape = {{ {mesh} }}"));
    let error = System::from_toml(&text).expect_err("no folder");
    assert_eq!(error.line_column(&text), (4, 27));
    assert!(error.to_string().contains("it has no folder"), "{error}");
}
