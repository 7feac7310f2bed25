//! The arguments of `fly plot`.

use std::path::PathBuf;

use clap::{Args, ValueEnum};
use fly_plot::Theme;

use super::AsData;

/// Colours of a picture.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum ThemeName {
    /// Follows the reader's system (SVG); PNG is light
    Auto,
    /// On white
    Light,
    /// On a dark background
    Dark,
}

impl From<ThemeName> for Theme {
    fn from(name: ThemeName) -> Self {
        match name {
            ThemeName::Auto => Self::Auto,
            ThemeName::Light => Self::Light,
            ThemeName::Dark => Self::Dark,
        }
    }
}

/// Which logs, what of them, and where the picture goes.
#[derive(Debug, Args)]
#[allow(clippy::struct_excessive_bools)] // each is a flag
pub struct PlotArguments {
    /// Logs of this program, or PX4 ULogs
    #[arg(required = true)]
    pub logs: Vec<PathBuf>,

    /// The picture, .svg or .png; an older picture is replaced [default: the log's name with .svg, of several plot.svg]
    #[arg(short, long, value_name = "FILE", value_parser = picture)]
    pub out: Option<PathBuf>,

    /// A panel of these columns over time, instead of the page; * matches anything; may be repeated
    #[arg(long, value_name = "NAME,…", value_parser = names)]
    pub signals: Vec<Names>,

    /// A panel of one column over another: state.position.x,state.position.y; may be repeated
    #[arg(long, value_name = "X,Y", value_parser = two_names)]
    pub xy: Vec<[String; 2]>,

    /// A panel of a column's rate of change over the column: its phase portrait; may be repeated
    #[arg(long, value_name = "NAME")]
    pub phase: Vec<String>,

    /// A panel of the power spectral densities of these columns; may be repeated
    #[arg(long, value_name = "NAME,…", value_parser = names)]
    pub spectrum: Vec<Names>,

    /// The first flight time that is shown, s [default: the beginning]
    #[arg(long, value_name = "S", allow_negative_numbers = true, value_parser = super::not_negative)]
    pub from: Option<f64>,

    /// The last flight time that is shown, s [default: the end]
    #[arg(long, value_name = "S", allow_negative_numbers = true, value_parser = super::not_negative)]
    pub to: Option<f64>,

    /// Colours
    #[arg(long, value_name = "THEME", default_value = "auto")]
    pub theme: ThemeName,

    /// Columns of panels, 1 to 8 [default: 2 for more than two panels, if they fit]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u16).range(1..=8))]
    pub columns: Option<u16>,

    /// Width, px, 200 to 8000, at least 172 N + 6 for N columns; PNG has two dots per px [default: from the columns]
    #[arg(long, value_name = "PX", value_parser = clap::value_parser!(u16).range(200..=8000))]
    pub width: Option<u16>,

    /// Show the intact part of a damaged log
    #[arg(long)]
    pub allow_damaged: bool,

    /// How the result is printed.
    #[command(flatten)]
    pub data: AsData,
}

/// Names with commas between them.
#[derive(Clone, Debug)]
pub struct Names(pub Vec<String>);

fn names(text: &str) -> Result<Names, String> {
    let names: Vec<String> = text.split(',').map(|name| name.trim().to_owned()).collect();
    if names.iter().any(String::is_empty) {
        return Err(
            "expected names of columns with commas between them, found an empty name".to_owned(),
        );
    }
    Ok(Names(names))
}

fn two_names(text: &str) -> Result<[String; 2], String> {
    let Names(names) = names(text)?;
    let count = names.len();
    names.try_into().map_err(|_| {
        let plural = if count == 1 { "" } else { "s" };
        format!("expected two names of columns, found {count} name{plural}")
    })
}

/// The kinds of pictures, by the end of their names.
fn picture(text: &str) -> Result<PathBuf, String> {
    let path = PathBuf::from(text);
    let end = path
        .extension()
        .and_then(|end| end.to_str())
        .map(str::to_lowercase);
    match end.as_deref() {
        Some("svg" | "png") => Ok(path),
        _ => Err("expected a name that ends in .svg or .png".to_owned()),
    }
}
