//! A flight with viewers: pages, Foxglove's protocol, many at once, and unauthorised ones.

mod clients;
mod watching;
