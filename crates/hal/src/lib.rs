//! The boundary between fly and what it flies: signals, backends, plugin ABI and loader.
