//! The protobuf messages of a log and their descriptors.
//!
//! The Rust code and the descriptors are generated from `proto/` and committed, so that a build does not need protoc.

use std::collections::BTreeSet;

use prost::Message as _;
use prost_types::FileDescriptorSet;

/// Foxglove's well-known messages, declared by name and field number.
#[allow(clippy::pedantic)]
#[path = "generated/foxglove.rs"]
pub mod foxglove;

/// The messages of this project.
#[allow(clippy::pedantic)]
#[path = "generated/fly.rs"]
pub mod fly;

/// All files of `proto/` and what they import, dependencies first, as a serialised `FileDescriptorSet`.
pub const DESCRIPTORS: &[u8] = include_bytes!("generated/descriptors.bin");

/// The part of [`DESCRIPTORS`] that defines one message, serialised: the content of an MCAP schema record.
///
/// `message` is a full name such as `fly.Frame`. For an unknown name the set is empty.
pub fn descriptor_of(message: &str) -> Vec<u8> {
    let Ok(all) = FileDescriptorSet::decode(DESCRIPTORS) else {
        return Vec::new();
    };
    let mut wanted: BTreeSet<String> = all
        .file
        .iter()
        .filter(|file| {
            file.message_type
                .iter()
                .any(|m| format!("{}.{}", file.package(), m.name()) == message)
        })
        .map(|file| file.name().to_owned())
        .collect();
    // Dependencies come before their users, so one backward pass reaches all of them.
    for file in all.file.iter().rev() {
        if wanted.contains(file.name()) {
            wanted.extend(file.dependency.iter().cloned());
        }
    }
    let file = all
        .file
        .into_iter()
        .filter(|file| wanted.contains(file.name()))
        .collect();
    FileDescriptorSet { file }.encode_to_vec()
}
