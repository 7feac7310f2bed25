//! A quadcopter over MAVLink, as a plugin.
