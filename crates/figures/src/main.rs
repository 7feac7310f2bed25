//! Draws the figures of the documentation: `fly-figures FOLDER [--check] [NAME…]`, called by `cargo xtask figures`.

use std::path::Path;

use anyhow::{Result, bail};

fn main() -> Result<()> {
    let mut arguments: Vec<String> = std::env::args().skip(1).collect();
    let flags = arguments.iter().filter(|it| *it == "--check").count();
    arguments.retain(|argument| argument != "--check");
    let [folder, names @ ..] = arguments.as_slice() else {
        bail!("expected the folder of the figures");
    };
    let mut drawings = fly_figures::all();
    if let Some(unknown) = names
        .iter()
        .find(|name| drawings.iter().all(|one| one.name != **name))
    {
        let all: Vec<&str> = drawings.iter().map(|one| one.name.as_str()).collect();
        bail!(
            "there is no figure `{unknown}`; there are {}",
            all.join(", ")
        );
    }
    drawings.retain(|one| names.is_empty() || names.contains(&one.name));
    let pictures = fly_figures::draw(&drawings)?;
    let folder = Path::new(folder);
    if flags > 0 {
        fly_figures::check(folder, &pictures, names.is_empty())?;
        println!("{} figures are what they should be", pictures.len());
    } else {
        fly_figures::write(folder, &pictures)?;
        println!("{} figures in {}", pictures.len(), folder.display());
    }
    Ok(())
}
