//! The tests of `fly-hal`, in one program so that they link once.

mod common;
mod conformance;
mod instance;
mod layout;
mod loading;
mod page;
mod versions;
