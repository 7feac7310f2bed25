//! Rigid-body mechanics: inertia, forces, energies, actuators, integration on the group.
