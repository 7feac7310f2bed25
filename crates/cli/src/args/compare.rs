//! The arguments of `fly compare`.

use std::path::PathBuf;

use clap::Args;

/// Which flights, and where what they come to goes.
#[derive(Debug, Args)]
pub struct CompareArguments {
    /// Configurations: TOML files, or names of shipped ones; --set changes all of them
    #[arg(value_name = "CONFIG")]
    pub configs: Vec<PathBuf>,

    /// Fly each of them with this value, too: controller.approach=particle; may be repeated
    ///
    /// The value is TOML: "controller={ approach='body', transport='centred' }" changes several keys.
    #[arg(long, value_name = "KEY=VALUE")]
    pub with: Vec<String>,

    /// The report; an older page is replaced. Logs go beside it: NAME-1.mcap, NAME-2.mcap, …
    #[arg(short, long, value_name = "FILE", default_value = "compare.html")]
    pub out: PathBuf,

    /// Print JSON instead (docs/compare.md lists its keys)
    #[arg(long)]
    pub json: bool,
}
