//! A recorded flight, as a plugin.
