//! Schematic drawings: every example's system, from its description, at the beginning of its flight.

use anyhow::Result;
use fly_flight::config::shipped;
use fly_lie::SE3;
use fly_mechanics::System;
use fly_mechanics::integrate::SystemState;
use fly_mechanics::multibody::{Joint, JointKind, Model};
use fly_mechanics::scene::Scene;
use fly_plot::{Align, Color, Figure, Panel, Text};
use nalgebra::Vector3;

use crate::Drawing;
use crate::flights::{Trace, poses};
use crate::scenery::{Look, View, bodies, ground, springs};

/// Largest number of bodies that are labelled.
const NAMED: usize = 4;

/// A drawing of each example's system at the beginning of its flight, and of all other shipped systems and vehicles at
/// rest. A system used by several examples is drawn once.
pub fn drawings() -> Vec<Drawing> {
    let mut names: Vec<String> = Vec::new();
    let mut drawings = Vec::new();
    for one in shipped::flights().filter(|one| one.name.starts_with("examples/")) {
        let mut lines = one.text.lines();
        let file = lines.find_map(|line| line.trim().strip_prefix("file = "));
        let name = stem(file.unwrap_or(one.name));
        if !names.contains(&name) {
            let drawing = Drawing::new(format!("scheme-{name}"), || flown(one.name));
            drawings.push(drawing);
            names.push(name);
        }
    }
    for one in shipped::systems().filter(|one| !names.contains(&stem(one.name))) {
        let name = format!("scheme-{}", stem(one.name));
        drawings.push(Drawing::new(name, || at_rest(one.text)));
    }
    drawings
}

/// `bicopter` of `"../vehicles/bicopter.toml"`.
fn stem(path: &str) -> String {
    let path = path.trim_matches('"');
    let (_, file) = path.rsplit_once('/').unwrap_or(("", path));
    let (stem, _) = file.split_once('.').unwrap_or((file, ""));
    stem.to_owned()
}

/// At the beginning of a flight if all joints are revolute, since a straight arm shows little; else at rest.
fn flown(name: &str) -> Result<Figure> {
    // The first step contains all poses.
    let trace = Trace::fly(name, &["flight.duration=0.01"])?;
    let system = &trace.configuration.system;
    let hinges = joints(&system.model).all(|joint| matches!(joint.kind(), JointKind::Revolute(_)));
    if hinges {
        return Ok(scheme(system, &trace.ticks[0].poses));
    }
    let state = SystemState::at_rest(&system.model);
    Ok(scheme(system, &trace.poses(&state.configuration)))
}

fn joints(model: &Model<f64>) -> impl Iterator<Item = &Joint<f64>> {
    model.bodies().filter_map(|body| model.joint(body))
}

/// In the configuration of the description.
fn at_rest(text: &str) -> Result<Figure> {
    let system = System::from_toml(text)?;
    let state = SystemState::at_rest(&system.model);
    let poses = poses(&system.model, &state.configuration);
    Ok(scheme(&system, &poses))
}

fn scheme(system: &System, poses: &[SE3<f64>]) -> Figure {
    let scene = Scene::new(system);
    let normal = |i: usize| {
        let model = &system.model;
        let body = model.bodies().nth(i)?;
        let axis = model.joint(body)?.axes().matrix().column(2).into_owned();
        Some(model.placement(body)?.rotation.act(&axis))
    };
    // A planar motion is viewed along its normal.
    let parallel = |to: Vector3<f64>| {
        (0..poses.len()).all(|i| normal(i).is_some_and(|axis| axis.dot(&to).abs() > 0.99))
    };
    let flat = system.model.dof() > 1
        && joints(&system.model).all(|joint| {
            use JointKind::{Planar, Prismatic, Revolute};
            matches!(joint.kind(), Revolute(_) | Planar(_) | Prismatic)
        });
    let view = if flat && parallel(Vector3::z()) {
        View::top()
    } else if flat && parallel(Vector3::y()) {
        View::side()
    } else {
        View::space()
    };
    let look = Look {
        view,
        color: Color::Soft,
        bar: 4.0,
        opacity: 1.0,
    };
    let mut panel = Panel::default().drawing();
    ground(&mut panel, system, poses, scene.size, &view);
    bodies(&mut panel, system, poses, &look);
    springs(&mut panel, system, poses, scene.size, &view);
    if poses.len() <= NAMED {
        for (body, pose) in system.model.bodies().zip(poses) {
            let center = system
                .model
                .inertia(body)
                .map(fly_mechanics::PseudoInertia::center_of_mass);
            let center = pose.rotation.act(&center.unwrap_or_default()) + pose.translation;
            let name = system.model.name(body);
            panel.add(
                Text::new(view.at(&center), name)
                    .color(Color::Ink)
                    .placed(Align::Middle, [0.0, -9.0]),
            );
        }
    }
    Figure {
        width: 360.0,
        ..Figure::of(panel)
    }
}
