//! The tests of `fly-lie`: one program, so that they link once.

mod adversarial;
mod attitude;
mod exact;
mod groups;
mod identities;
mod laws;
mod pose_fit;
mod serde;
