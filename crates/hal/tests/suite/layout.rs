//! C and Rust agree on every size and offset.

use crate::common;

use std::fmt::Write as _;
use std::mem::offset_of;

use fly_hal::abi::{
    Configuration, Description, Error, Frame, GroupStatus, Host, Plugin, ReportSink, Signal, Text,
};

/// A C file that compiles only if the header's structures have this layout.
#[test]
fn the_header_is_laid_out_as_the_rust_side() {
    let mut source = String::from("#include \"fly_plugin.h\"\n#include <stddef.h>\n");
    let mut count = 0;
    macro_rules! same {
        ($($type:ident { $($field:ident),* })*) => {$(
            writeln!(source, "_Static_assert(sizeof(Fly{0}) == {1}, \"size of {0}\");",
                stringify!($type), size_of::<$type>()).unwrap();
            $(
                writeln!(source, "_Static_assert(offsetof(Fly{0}, {1}) == {2}, \"{0}.{1}\");",
                    stringify!($type), stringify!($field), offset_of!($type, $field)).unwrap();
                count += 1;
            )*
        )*};
    }
    same! {
        Text { data, length }
        GroupStatus { stamp, valid }
        Frame { size, time, values, value_count, groups, group_count, group_size }
        Error { kind, text, start, end, buffer, capacity, message_length, help_length }
        Signal { name, unit, class_, group }
        Description { size, signals, signal_count, signal_size, groups, group_count, wants_reference, configuration, starts_in_motion, control_began,
            has_control_began }
        Configuration { size, text, vehicle, rate_hz, seed, armed, instance, context, resolve_path }
        Host { size, log_enabled, log }
        ReportSink { context, line }
        Plugin {
            magic, major, minor, size, name, version, summary, signals, clock, init, configure, describe, start, read,
            write, stop, arm, disarm, request, report, destroy, poll, emergency, take_off
        }
    }
    assert_eq!(count, 72);
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("layout.c");
    std::fs::write(&file, source).unwrap();
    common::compile(&file, &[], folder.path());
}

/// The layout of version 3.0, which no version may change: a change here is a change of the ABI.
#[test]
fn version_3_0_is_this() {
    assert_eq!(
        (
            offset_of!(Plugin, magic),
            offset_of!(Plugin, major),
            offset_of!(Plugin, minor),
            offset_of!(Plugin, size)
        ),
        (0, 8, 12, 16)
    );
    if cfg!(target_pointer_width = "64") {
        assert_eq!(offset_of!(Plugin, poll), 192);
        assert_eq!(
            (
                size_of::<GroupStatus>(),
                size_of::<Frame>(),
                size_of::<Error>()
            ),
            (16, 56, 56)
        );
        assert_eq!(
            (
                size_of::<Signal>(),
                // Where 3.0 ends.
                offset_of!(Description, starts_in_motion),
                size_of::<Configuration>()
            ),
            (40, 72, 88)
        );
        // Where 3.3 ends, with its padding: plugins of 3.3 may write anything there.
        assert_eq!(offset_of!(Description, control_began), 80);
    }
}

#[test]
fn the_header_compiles_as_cpp() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("use.cpp");
    std::fs::write(&file, "#include \"fly_plugin.h\"\n#include \"fly_plugin.h\"\nconst FlyPlugin *fly_plugin() { return nullptr; }\n")
        .unwrap();
    let built = std::process::Command::new("c++")
        .args([
            "-std=c++17",
            "-Wall",
            "-Wextra",
            "-Werror",
            "-fsyntax-only",
            "-I",
        ])
        .arg(std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("include"))
        .arg(&file)
        .status();
    match built {
        Ok(status) => assert!(status.success()),
        Err(error) => eprintln!("skipped: no C++ compiler ({error})"),
    }
}
