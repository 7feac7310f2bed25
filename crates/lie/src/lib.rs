//! Lie groups of rigid-body motion: SO(3), SE(3) and their operators.
