//! The crate links into a static library without the standard library: `tests/no_std` is built here, for this machine, and for a
//! microcontroller where that target is installed.

#[test]
fn links_without_the_standard_library() {
    fly_testing::builds_without_std(
        env!("CARGO_MANIFEST_DIR"),
        env!("CARGO_TARGET_TMPDIR"),
        "fly_lie_no_std",
    );
}
