//! The known keys of the golden files. An unknown key fails, since its data would not be compared.

use fly_testing::golden::array;
use serde_json::Value;

use crate::Family;

/// Of every example.
const EXAMPLE: &str = "Bperp T approaches config controller_parameters example linearisation_at_xR0 named_controller_parameters reference samples \
                       scalars t trajectories x0 xi0";
/// Additional keys of systems.
const SYSTEM: &str = "model_inertias";
/// Additional keys of vehicles.
const VEHICLE: &str = "W l rho u_feasible zoh zoh_trajectories";
const LAW: &str = "control_law example qp";
const PROGRAMS: &str = "conventions equality inequality kind name schema seed source tolerance";
const ELEVEN: &str = "cases constants controller_parameters example inertias";
const SAMPLE: &str = "B M approaches b x xR xi xiR xiRd";
const APPROACH: &str = "G0 H Mbar Q Qdot R S T V W bbar btilde cbar fD fK lam n_active u u0 xidot";
const TRAJECTORY: &str = "V W est_accuracy n_active u u0 ua x xi";

/// The keys of `config`, by the example.
fn config(example: &str) -> &'static str {
    match example {
        "prismatic" => "A T dbar kbar m mbar v0 w x0",
        "revolute" => "A Pizz T Th Thzz Upzz off v0 w x0",
        "orientation" => "A Pi T Th Thb Up ph rotvec0 w w0",
        example if example.starts_with("planar") => {
            "A Piz T Thm Thz Upz a0 a1 a2 a3 alpha0 d h k l m mb ph r0 s sm w xi0"
        }
        "pvtol" => "A T Th beta dx0 l m mbar p ph w xi0",
        "two_masses" => "M12 T dz k m1 m2 p t1 t2 x0",
        example if example.starts_with("scara") => "T l1 l2 model par1 par2 rB t1 t2 thA x0",
        example if example.starts_with("arm") => {
            "A Piw Pj T Thw Tj Uj Upw d k l mw off ph tool_r tool_roty w x0_joint x0_work"
        }
        "quad" => "Fmax Fmin Piz T Th Thz Upz bF constrained l m mbar p r0 ref rho rotvec0 xi0",
        "bicopter" => {
            "Fmax Fmin Piz T Th Thz Upz beta ly lz m mbar nseg p r0 ref rotvec0 thmax xi0"
        }
        "tricopter" => {
            "A Aa Fmax Fmin T Th bF ctrl l m nseg off ph pha psi1 r0 rotvec0 thmax w wa xi0 zeta"
        }
        "freebody" => "A Aa T Thc ctrl m ph pha r0 rotvec0 s w wa xi0",
        other => panic!("unknown example {other}"),
    }
}

/// The first unknown keys.
pub fn check(family: &Family, data: &Value) -> Result<(), Vec<String>> {
    match family {
        Family::Law => return known(data, &[LAW]),
        Family::Programs => return known(data, &[PROGRAMS]),
        Family::Eleven => return known(data, &[ELEVEN]),
        Family::System => known(data, &[EXAMPLE, SYSTEM])?,
        Family::Vehicle => known(data, &[EXAMPLE, VEHICLE])?,
    }
    known(
        &data["config"],
        &[config(data["example"].as_str().unwrap_or_default())],
    )?;
    for sample in array(&data["samples"]) {
        known(sample, &[SAMPLE])?;
        values(&sample["approaches"]).try_for_each(|approach| known(approach, &[APPROACH]))?;
    }
    ["trajectories", "zoh_trajectories"]
        .into_iter()
        .flat_map(|key| values(&data[key]))
        .try_for_each(|trajectory| known(trajectory, &[TRAJECTORY]))
}

fn values(table: &Value) -> impl Iterator<Item = &Value> {
    table
        .as_object()
        .into_iter()
        .flat_map(|table| table.values())
}

fn known(table: &Value, keys: &[&str]) -> Result<(), Vec<String>> {
    let is_known = |key: &str| {
        let mut all = keys.iter().flat_map(|keys| keys.split_whitespace());
        all.any(|known| known == key)
    };
    let keys = table.as_object().into_iter().flat_map(|table| table.keys());
    let unknown: Vec<String> = keys.filter(|key| !is_known(key)).cloned().collect();
    if unknown.is_empty() {
        Ok(())
    } else {
        Err(unknown)
    }
}
