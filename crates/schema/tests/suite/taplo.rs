//! What editors read the schemas with, from PyPI.

use std::fs;
use std::path::Path;
use std::process::Command;

#[test]
fn taplo_accepts_every_shipped_file_and_refuses_an_unknown_key() {
    let python = match fly_testing::python(env!("CARGO_TARGET_TMPDIR"), &["taplo"], "sys") {
        Ok(python) => python,
        Err(why) => {
            println!("skipped, no taplo from PyPI: {why}");
            return;
        }
    };
    let taplo = python.with_file_name("taplo");
    let configs = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../configs");
    let check = |folder: &Path| {
        let output = Command::new(&taplo)
            .arg("check")
            .current_dir(folder)
            .output()
            .unwrap();
        let told = String::from_utf8_lossy(&output.stderr).into_owned();
        (output.status.success(), told)
    };
    let (accepted, told) = check(&configs);
    assert!(accepted, "{told}");
    let found = format!("total={}", fly_flight::config::shipped::SHIPPED.len());
    assert!(told.contains(&found), "{found} in {told}");

    let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join("taplo");
    fs::create_dir_all(folder.join("schema")).unwrap();
    fs::copy(
        configs.join("schema/flight.json"),
        folder.join("schema/flight.json"),
    )
    .unwrap();
    let flight = fs::read_to_string(configs.join("quadcopter.toml")).unwrap();
    fs::write(
        folder.join("wrong.toml"),
        flight.replace("rate_hz = 500", "rate = 500"),
    )
    .unwrap();
    let (accepted, told) = check(&folder);
    assert!(
        !accepted && told.contains("'rate' was unexpected"),
        "{told}"
    );
}
