//! Values that options of the command line give.

/// A value that another option than `--set` gives. Messages show that option.
#[derive(Clone, Debug)]
pub struct Given {
    /// The option, or the command that takes its value without one.
    pub option: &'static str,
    /// What the user wrote after it; empty for an option without a value.
    pub argument: String,
    /// What it sets.
    pub sets: Sets,
}

/// What an option sets.
#[derive(Clone, Debug)]
pub enum Sets {
    /// Its argument is `KEY=VALUE`, as that of `--set`.
    Assignment,
    /// This key to the argument as text.
    Text(String),
    /// This key to `true`.
    True(String),
}
