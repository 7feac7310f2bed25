//! A flight that is watched: by pages, by Foxglove's protocol, by many at once, and by those who may not.

mod clients;
mod watching;
