//! Names of plugins and of their files.

const PREFIX: &str = "libfly_plugin_";
const SUFFIX: &str = std::env::consts::DLL_SUFFIX;

/// Whether `plugin = "…"` is a file rather than a name: it contains a `/` or ends in `.so`.
pub fn is_path(name: &str) -> bool {
    name.contains('/') || name.ends_with(SUFFIX)
}

/// File name of the plugin `name`: `libfly_plugin_sim.so`.
pub fn file_name(name: &str) -> String {
    format!("{PREFIX}{}{SUFFIX}", name.replace('-', "_"))
}

/// Name of the plugin in a file of this name; `None` if it is not a plugin's file name.
pub fn plugin_name(file: &str) -> Option<&str> {
    file.strip_prefix(PREFIX)?.strip_suffix(SUFFIX)
}
