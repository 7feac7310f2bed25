//! The command `fly`.
fn main() {}
