//! The C ABI: the exact layout of everything that crosses the boundary.
//!
//! A plugin exports one function, [`FLY_SYMBOL`], that returns a pointer to a static [`Plugin`] table. Its first 16
//! bytes (magic, major, minor) are the same in every version, past and future; `size` gives the length of the table.
//!
//! # Rules
//!
//! - Within a major version the table, [`Host`], [`Configuration`], [`Description`], [`Signal`], [`Frame`] and
//!   [`GroupStatus`] may grow at their ends. Each side accesses only the part of the other's structures that both know,
//!   the shorter of the two sizes, and steps through the other's arrays with the other's element size. Fields unknown
//!   to the other side are zero. The remaining structures are fixed.
//! - Only integers, floats and pointers with lengths cross the boundary. Neither side frees memory that the other has
//!   allocated. Texts are borrowed for the length of the call, except those of the table (for ever) and of the
//!   description (until `destroy`).
//! - Nothing unwinds through the boundary, in either direction.
//! - One thread at a time calls an instance. The exception is `emergency`, which exists for a call that hangs. The
//!   host's callbacks may be called from any thread.
//! - An unknown status or error kind counts as the most general one; an unknown clock, signal class or request is
//!   rejected. No number ever causes undefined behaviour.
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
