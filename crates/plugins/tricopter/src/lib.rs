//! A tricopter over MAVLink, as a plugin.
