//! The C ABI: what crosses the boundary, byte for byte.
//!
//! A plugin exports one function, [`FLY_SYMBOL`], that returns a pointer to a static [`Plugin`] table. Its first 16 bytes
//! (magic, major, minor) are the same in every version there will ever be; `size` says how much of the table is there.
//!
//! # Rules
//!
//! - Within a major version the table, [`Host`], [`Configuration`], [`Description`], [`Signal`], [`Frame`] and [`GroupStatus`] may
//!   grow at their ends. Each side reads and writes of the other's structures only what both know: the shorter of the two sizes, and
//!   steps through the other's arrays by the other's size of an element. What the other does not know is zero. The remaining
//!   structures are fixed.
//! - Only integers, floats and pointers with lengths cross. Nobody frees what the other side allocated: texts are
//!   borrowed for the length of the call, but for those of the table (for ever) and of the description (until
//!   `destroy`).
//! - Nothing unwinds through the boundary, in either direction.
//! - One thread at a time calls an instance, but for `emergency`, which is for the case that a call does not return. The host's callbacks may be called from any thread.
//! - An unknown status or kind of error counts as the most general one; an unknown clock, class of a signal or request is refused. No
//!   number is ever undefined behaviour.
//!
//! The C header `include/fly_plugin.h` is generated from [`types`] by `cargo xtask generate`.
#![allow(unsafe_code)] // with `loader`, the one place in the workspace: each use says why it is sound

pub(crate) mod code;
#[doc(hidden)]
pub mod export;
mod forward;
pub(crate) mod growth;
pub mod types;

pub use types::*;
