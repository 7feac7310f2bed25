//! Mass, centre of mass and inertia of a URDF that is one rigid body.

use std::path::Path;

use fly_mechanics::description::{UrdfOptions, UrdfRoot};
use fly_mechanics::integrate::SystemState;
use fly_mechanics::multibody::{BodyId, Workspace};
use fly_mechanics::visual::Visual;
use nalgebra::{DMatrix, Matrix3, Vector3};

use super::vehicle::Body;
use crate::config;
use crate::exit::{Exit, Failure};

/// All links of a file together.
///
/// # Errors
/// The file cannot be read, or has joints that move.
pub fn body(file: &Path, mesh_dir: Option<&Path>) -> Result<Body, Failure> {
    let mut options = UrdfOptions {
        root: UrdfRoot::Free,
        ..UrdfOptions::default()
    };
    options.meshes.others.extend(mesh_dir.map(Path::to_owned));
    let system = config::system(file, &options)?;
    for note in &system.notes {
        tracing::warn!("{}: {note}", file.display());
    }
    let model = &system.model;
    let n = model.dof();
    if n != 6 {
        return Err(Failure::new(
            Exit::Usage,
            format_args!(
                "`{}` cannot be the body of a multirotor: expected one rigid body, found {n} degrees of freedom\n\n\
                 Make its joints fixed; or write it as a system with `fly system {} --toml` and add [[rotors]]",
                file.display(),
                file.display()
            ),
        ));
    }
    let state = SystemState::at_rest(model);
    let (mut workspace, mut matrix) = (Workspace::new(model), DMatrix::zeros(n, n));
    model.mass_matrix(&mut workspace, &state.configuration, &mut matrix);
    // [m I, -m c^; m c^, I_o] about the origin of the root link.
    let mass = matrix[(0, 0)];
    let moment = matrix.fixed_view::<3, 3>(3, 0);
    let center = Vector3::new(moment[(2, 1)], moment[(0, 2)], moment[(1, 0)]) / mass;
    let about_origin: Matrix3<f64> = matrix.fixed_view::<3, 3>(3, 3).into_owned();
    let inertia = about_origin
        - (Matrix3::identity() * center.norm_squared() - center * center.transpose()) * mass;
    // All links are where they are from the root one, whose frame is the body's.
    workspace.update(model, &state.configuration, &vec![0.0; n]);
    let visuals = system.visuals.iter().map(|visual| {
        let pose = workspace.pose(BodyId::WORLD, visual.body) * visual.pose;
        Visual {
            pose,
            ..visual.clone()
        }
        .to_toml()
    });
    Ok(Body {
        mass,
        center: center.into(),
        inertia: std::array::from_fn(|i| std::array::from_fn(|j| inertia[(i, j)])),
        visuals: visuals.collect(),
        source: format!("from {}: all links as one rigid body", file.display()),
    })
}
