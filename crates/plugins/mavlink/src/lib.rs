//! MAVLink links, and the one conversion between NED/FRD and z-up/FLU.
