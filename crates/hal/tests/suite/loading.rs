//! A library that cannot be loaded is rejected with one clear message.

use crate::common;

use std::mem::offset_of;
use std::path::Path;

use fly_hal::{Configuration, LoadError, Plugin, SearchPath};

/// The message, with the path of the library shortened.
fn refusal(library: &Path) -> String {
    let error = Plugin::open(library).expect_err("must be refused");
    error.to_string().replace(
        &library.canonicalize().unwrap().display().to_string(),
        "PATH",
    )
}

#[test]
fn tables_that_do_not_fit() {
    // The size in version 3.0.
    let size = offset_of!(fly_hal::abi::Plugin, poll);
    for (spoil, expected) in [
        (
            "spoilt.magic[0] = 'f'",
            r#"`PATH` is not a plugin of fly: expected its table to begin with "FLYPLUG\x00", found "fLYPLUG\x00""#.to_owned(),
        ),
        (
            "spoilt.major = 2; spoilt.minor = 7",
            "the plugin `PATH` was built for another version of fly: expected plugin ABI 3.x (this is 3.4), found 2.7; \
             build it anew"
                .to_owned(),
        ),
        (
            "spoilt.size = 24",
            format!("the plugin `PATH` is broken: expected a table of at least {size} bytes, found 24"),
        ),
        ("spoilt.read = NULL", "the plugin `PATH` is broken: its table has no function `read`".to_owned()),
        (
            "spoilt.clock = 9",
            "the plugin `PATH` is broken: expected clock 0 (stepped) or 1 (real time), found 9".to_owned(),
        ),
        ("spoilt.name.length = 0", "the plugin `PATH` is broken: it has no name".to_owned()),
        (
            r#"spoilt.version = (FlyText)TEXT("\xff")"#,
            "the plugin `PATH` is broken: its version is not UTF-8".to_owned(),
        ),
    ] {
        let folder = tempfile::tempdir().unwrap();
        assert_eq!(refusal(&common::spoilt(spoil, folder.path())), expected);
    }
    let folder = tempfile::tempdir().unwrap();
    assert_eq!(
        refusal(&common::returning("NULL", folder.path())),
        "the plugin `PATH` has no table: `fly_plugin` returned null"
    );
}

/// Mapped as it is, half a library would end the process.
#[test]
fn a_truncated_library_is_refused() {
    let folder = tempfile::tempdir().unwrap();
    let library = common::spoilt("", folder.path());
    let whole = std::fs::read(&library).unwrap();
    for length in [1000, 5000, whole.len() / 2] {
        std::fs::write(&library, &whole[..length]).unwrap();
        let refusal = refusal(&library);
        assert!(
            refusal.starts_with(
                "`PATH` is not a library that can be loaded: it is truncated: expected "
            ) && refusal.ends_with(&format!(" bytes, found {length}")),
            "{refusal}"
        );
    }
}

/// The linker of a machine that can run another one's programs says that the file does not exist.
#[test]
#[cfg(target_arch = "x86_64")]
fn a_library_for_another_machine_is_refused() {
    let folder = tempfile::tempdir().unwrap();
    let library = common::spoilt("", folder.path());
    let whole = std::fs::read(&library).unwrap();
    // The bytes of class, byte order and machine.
    for (class, order, machine, expected) in [
        (2, 1, [183, 0], "AArch64, this program runs on x86-64"),
        (1, 1, [40, 0], "32-bit Arm, this program runs on x86-64"),
        (2, 2, [0, 21], "PowerPC64, this program runs on x86-64"),
        (
            2,
            1,
            [57, 48],
            "machine 12345 of ELF, this program runs on x86-64",
        ),
        (
            1,
            1,
            [62, 0],
            "x86-64 (32 bits, little-endian), this program runs on x86-64 (64 bits, little-endian)",
        ),
    ] {
        let mut foreign = whole.clone();
        (foreign[4], foreign[5]) = (class, order);
        foreign[18..20].copy_from_slice(&machine);
        std::fs::write(&library, foreign).unwrap();
        assert_eq!(
            refusal(&library),
            format!("`PATH` is not a library that can be loaded: it is built for {expected}")
        );
    }
}

#[test]
fn a_table_that_has_grown_is_fine() {
    let folder = tempfile::tempdir().unwrap();
    let library = common::spoilt("spoilt.minor = 9; spoilt.size += 64", folder.path());
    assert_eq!(Plugin::open(&library).unwrap().info().abi, (3, 9));
}

#[test]
fn files_that_are_no_plugins() {
    let folder = tempfile::tempdir().unwrap();
    let text = folder.path().join("text.so");
    std::fs::write(&text, "no library").unwrap();
    let message = refusal(&text);
    assert!(
        message.starts_with("`PATH` is not a library that can be loaded: ")
            && (message.contains("file too short") || message.contains("invalid ELF header")),
        "the linker's reason is there: {message}"
    );

    let source = folder.path().join("other.c");
    std::fs::write(&source, "int other(void);\nint other(void) { return 1; }\n").unwrap();
    let library = common::compile(&source, &[], folder.path());
    assert_eq!(
        refusal(&library),
        "`PATH` is a library, but not a plugin of fly: it does not export `fly_plugin`"
    );

    let missing = Plugin::load("/no/such/plugin.so", &SearchPath::default()).unwrap_err();
    assert!(matches!(missing, LoadError::Unreadable { .. }));
    assert_eq!(
        missing.to_string(),
        "cannot read the plugin `/no/such/plugin.so`: No such file or directory (os error 2)"
    );
}

#[test]
fn what_others_could_have_written_is_not_loaded() {
    use std::os::unix::fs::PermissionsExt;
    let folder = tempfile::tempdir().unwrap();
    let library = common::point_mass(folder.path());
    std::fs::set_permissions(&library, std::fs::Permissions::from_mode(0o757)).unwrap();
    assert_eq!(
        refusal(&library),
        "will not load the plugin `PATH`: everybody can write `PATH`; `chmod o-w 'PATH'` makes it safe"
    );
    std::fs::set_permissions(&library, std::fs::Permissions::from_mode(0o755)).unwrap();
    Plugin::open(&library).unwrap();
}

#[test]
fn a_plugin_in_c_says_what_it_is() {
    let folder = tempfile::tempdir().unwrap();
    let plugin = Plugin::open(&common::point_mass(folder.path())).unwrap();
    let info = plugin.info();
    assert_eq!(
        (info.name.as_str(), info.version.as_str()),
        ("point_mass", "1.0.0")
    );
    assert_eq!(
        info.signals,
        ["pose.position.*", "twist.linear.*", "rotor.0.thrust"]
    );
    assert_eq!(info.abi, (3, 4));
}

#[test]
fn a_library_that_is_loaded_again_is_initialised_once() {
    let folder = tempfile::tempdir().unwrap();
    let counting = "spoilt.init = counting_init, spoilt.configure = counting_configure";
    let library = common::spoilt(counting, folder.path());
    Plugin::open(&library).unwrap();
    let again = Plugin::open(&library).unwrap();
    again
        .configure(&Configuration::new("", "name = \"x\""))
        .unwrap();
}

#[test]
fn descriptions_without_their_arrays_are_refused() {
    for (spoil, expected) in [
        (
            "spoilt.describe = empty_describe",
            "signals, but its array of them is null",
        ),
        (
            "spoilt.describe = endless_describe",
            "groups, expected at most 65536",
        ),
    ] {
        let folder = tempfile::tempdir().unwrap();
        let plugin = Plugin::open(&common::spoilt(spoil, folder.path())).unwrap();
        let error = plugin
            .configure(&Configuration::new("", "name = \"x\""))
            .unwrap_err();
        assert!(error.message.contains(expected), "{error}");
    }
}
