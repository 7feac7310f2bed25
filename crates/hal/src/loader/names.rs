//! Names of plugins and of their files.

const PREFIX: &str = "libfly_plugin_";
const SUFFIX: &str = std::env::consts::DLL_SUFFIX;

/// Whether `plugin = "…"` means a file rather than a name: it has a `/` or ends in `.so`.
pub fn is_path(name: &str) -> bool {
    name.contains('/') || name.ends_with(SUFFIX)
}

/// The file name of the plugin `name`: `libfly_plugin_sim.so`.
pub fn file_name(name: &str) -> String {
    format!("{PREFIX}{}{SUFFIX}", name.replace('-', "_"))
}

/// The name of the plugin in a file of this name; `None` if it is not a plugin's file name.
pub fn plugin_name(file: &str) -> Option<&str> {
    file.strip_prefix(PREFIX)?.strip_suffix(SUFFIX)
}
