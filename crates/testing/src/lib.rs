//! Test-only helpers: the malloc counter.
