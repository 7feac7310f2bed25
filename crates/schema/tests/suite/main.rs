//! The tests of `fly-schema`: one program, so that they link once.

mod committed;
mod keys;
mod shipped;
mod taplo;
