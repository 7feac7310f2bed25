//! One page: its links and headings.

use crate::workspace;
use anyhow::{Context, Result};
use pulldown_cmark::{Event, Options, Parser, Tag, TagEnd};
use std::collections::BTreeSet;
use std::fs;
use std::ops::Range;
use std::path::{Component, Path, PathBuf};

/// A page of Markdown.
pub struct Page {
    /// Path from the root of the workspace.
    pub path: PathBuf,
    /// Its links to files of the project.
    pub links: Vec<Link>,
    /// The anchors of its headings.
    pub headings: BTreeSet<String>,
    text: String,
}

/// A link to a file or a folder of the project.
pub struct Link {
    /// Path from the root of the workspace.
    pub file: PathBuf,
    /// The text after `#`.
    pub anchor: Option<String>,
    /// Its line, from 1.
    pub line: usize,
    /// The destination as written.
    written: String,
    /// The bytes of the link, including its text.
    place: Range<usize>,
}

impl Page {
    /// The page at a path from the root of the workspace.
    pub fn read(path: PathBuf) -> Result<Self> {
        let file = workspace::root().join(&path);
        let text = fs::read_to_string(&file).with_context(|| format!("{}", path.display()))?;
        let (mut links, mut headings) = (Vec::new(), BTreeSet::new());
        let mut heading: Option<String> = None;
        let options = Options::ENABLE_TABLES | Options::ENABLE_FOOTNOTES;
        for (event, place) in Parser::new_ext(&text, options).into_offset_iter() {
            match event {
                Event::Start(Tag::Link { dest_url, .. } | Tag::Image { dest_url, .. }) => {
                    let line = 1 + text[..place.start].matches('\n').count();
                    links.extend(Link::new(&path, &dest_url, line, place));
                }
                Event::Start(Tag::Heading { .. }) => heading = Some(String::new()),
                Event::Text(part) | Event::Code(part) => {
                    if let Some(heading) = &mut heading {
                        heading.push_str(&part);
                    }
                }
                Event::End(TagEnd::Heading(_)) => {
                    let mut name = anchor(&heading.take().unwrap_or_default());
                    // Repeated headings are numbered.
                    if headings.contains(&name) {
                        let numbered = (1..).map(|n| format!("{name}-{n}"));
                        name = numbered
                            .into_iter()
                            .find(|n| !headings.contains(n))
                            .unwrap_or(name);
                    }
                    headings.insert(name);
                }
                _ => {}
            }
        }
        Ok(Self {
            path,
            links,
            headings,
            text,
        })
    }

    /// The lines, from 1, that a merge left to be resolved.
    pub fn unmerged(&self) -> impl Iterator<Item = usize> {
        let is_marker = |line: &str| {
            ["<<<<<<< ", ">>>>>>> "]
                .iter()
                .any(|marker| line.starts_with(marker))
        };
        (1..)
            .zip(self.text.lines())
            .filter_map(move |(n, line)| is_marker(line).then_some(n))
    }

    /// The text with its links from the root of the workspace.
    pub fn rooted(&self) -> String {
        self.with_destinations(|link| Some(link.file.display().to_string()))
    }

    /// The text, with links to folders replaced by links to their READMEs.
    pub fn with_folders_read(&self) -> String {
        self.with_destinations(|link| {
            link.folder_page()?;
            Some(format!("{}/README.md", link.written.trim_end_matches('/')))
        })
    }

    fn with_destinations(&self, new: impl Fn(&Link) -> Option<String>) -> String {
        let mut text = self.text.clone();
        // From last to first, so that earlier offsets stay valid.
        for link in self.links.iter().rev() {
            if let Some(new) = new(link) {
                let old = format!("]({})", link.written);
                let changed = text[link.place.clone()].replacen(&old, &format!("]({new})"), 1);
                text.replace_range(link.place.clone(), &changed);
            }
        }
        text
    }
}

impl Link {
    /// `None` for links out of the project, such as `https://…`.
    fn new(page: &Path, destination: &str, line: usize, place: Range<usize>) -> Option<Self> {
        if destination.contains("://") || destination.starts_with("mailto:") {
            return None;
        }
        let (file, anchor) = match destination.split_once('#') {
            Some((file, anchor)) => (file, Some(anchor.to_owned())),
            None => (destination, None),
        };
        let file = match file {
            "" => page.to_owned(),
            _ => normal(&page.parent().unwrap_or(Path::new("")).join(file)),
        };
        Some(Self {
            file,
            anchor,
            line,
            written: destination.to_owned(),
            place,
        })
    }

    /// The README of the linked folder, if there is one.
    pub fn folder_page(&self) -> Option<PathBuf> {
        let readme = self.file.join("README.md");
        workspace::root().join(&readme).is_file().then_some(readme)
    }
}

/// A path without `.` and `..` inside.
fn normal(path: &Path) -> PathBuf {
    let mut normal = PathBuf::new();
    for part in path.components() {
        match part {
            Component::CurDir => {}
            Component::ParentDir if normal.file_name().is_some() => {
                normal.pop();
            }
            _ => normal.push(part),
        }
    }
    normal
}

/// The anchor of a heading.
fn anchor(heading: &str) -> String {
    heading
        .to_lowercase()
        .chars()
        .filter_map(|c| match c {
            ' ' => Some('-'),
            c if c.is_alphanumeric() || "-_".contains(c) => Some(c),
            _ => None,
        })
        .collect()
}
