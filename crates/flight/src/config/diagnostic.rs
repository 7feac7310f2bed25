//! What is wrong with a configuration, and how it is shown.

use std::fmt;
use std::sync::Arc;

use annotate_snippets::renderer::DecorStyle;
use annotate_snippets::{AnnotationKind, Group, Level, Renderer, Snippet};

use super::source::{Place, Source};

/// One thing that is wrong, where, and what was expected instead.
#[derive(Clone, Debug)]
pub struct Diagnostic {
    /// What is wrong, in one line.
    pub title: String,
    /// Where.
    pub place: Option<Place>,
    /// What stands beside the caret: expected and found.
    pub label: String,
    /// Facts that help to understand it.
    pub notes: Vec<String>,
    /// What to do about it.
    pub help: Vec<String>,
}

/// # Building
impl Diagnostic {
    /// A problem without a place.
    pub fn new(title: impl Into<String>) -> Self {
        Self {
            title: title.into(),
            place: None,
            label: String::new(),
            notes: Vec::new(),
            help: Vec::new(),
        }
    }

    /// Adds where, and what to say beside the caret.
    #[must_use]
    pub fn at(mut self, place: Place, label: impl Into<String>) -> Self {
        self.place = Some(place);
        self.label = label.into();
        self
    }

    /// Adds a fact.
    #[must_use]
    pub fn note(mut self, note: impl Into<String>) -> Self {
        self.notes.push(note.into());
        self
    }

    /// Adds advice.
    #[must_use]
    pub fn help(mut self, help: impl Into<String>) -> Self {
        self.help.push(help.into());
        self
    }

    /// A TOML syntax error in text that begins at `shift` of `source`.
    pub(super) fn syntax(source: &Arc<Source>, shift: usize, error: &toml::de::Error) -> Self {
        let message = error.message().trim().replace('\n', ", ");
        let diagnostic = Self::new(format!("{} is not valid TOML", source.name));
        match error.span() {
            Some(span) => {
                let place = Place {
                    source: Arc::clone(source),
                    span: span.start + shift..span.end + shift,
                };
                diagnostic.at(place, message)
            }
            None => diagnostic.note(message),
        }
    }
}

/// # Showing
impl Diagnostic {
    fn render(&self, renderer: &Renderer) -> String {
        let mut group = Group::with_title(Level::ERROR.primary_title(self.title.as_str()));
        if let Some(place) = &self.place {
            let text = place.source.text.as_str();
            let start = super::source::floor_boundary(text, place.span.start);
            // Only the first line is underlined.
            let end = place.span.end.clamp(start, text.len());
            let end = text[start..]
                .find('\n')
                .map_or(end, |line| end.min(start + line));
            group = group.element(
                Snippet::source(text)
                    .path(place.source.name.as_str())
                    .annotation(
                        AnnotationKind::Primary
                            .span(start..end)
                            .label(self.label.as_str()),
                    ),
            );
            if let Some(by) = &place.source.included_by {
                group = group.element(
                    Level::NOTE.message(format!("{} is named by {by}", place.source.name)),
                );
            }
        }
        for note in &self.notes {
            group = group.element(Level::NOTE.message(note.as_str()));
        }
        for help in &self.help {
            group = group.element(Level::HELP.message(help.as_str()));
        }
        renderer.render(&[group])
    }
}

/// Everything that is wrong with a configuration; never empty.
#[derive(Clone, Debug, thiserror::Error)]
#[error("{}", self.render(false))]
pub struct ConfigError {
    diagnostics: Vec<Diagnostic>,
}

impl ConfigError {
    /// What is wrong.
    pub fn diagnostics(&self) -> &[Diagnostic] {
        &self.diagnostics
    }

    /// All diagnostics as rustc shows them, with or without terminal colours.
    pub fn render(&self, coloured: bool) -> String {
        let renderer = if coloured {
            Renderer::styled()
        } else {
            Renderer::plain()
        };
        let renderer = renderer.decor_style(DecorStyle::Ascii);
        let parts: Vec<String> = self
            .diagnostics
            .iter()
            .map(|one| one.render(&renderer))
            .collect();
        parts.join("\n\n")
    }
}

impl From<Diagnostic> for ConfigError {
    fn from(diagnostic: Diagnostic) -> Self {
        Self {
            diagnostics: vec![diagnostic],
        }
    }
}

/// Collects the problems of several sections, so that one run reports all of them.
#[derive(Debug, Default)]
pub(super) struct Problems(Vec<Diagnostic>);

impl Problems {
    /// The value, or `None` after recording its problems.
    pub fn take<T>(&mut self, result: Result<T, ConfigError>) -> Option<T> {
        match result {
            Ok(value) => Some(value),
            Err(error) => {
                self.0.extend(error.diagnostics);
                None
            }
        }
    }

    pub fn push(&mut self, diagnostic: Diagnostic) {
        self.0.push(diagnostic);
    }

    /// An error if there was any problem.
    pub fn finish(self) -> Result<(), ConfigError> {
        if self.0.is_empty() {
            Ok(())
        } else {
            Err(ConfigError {
                diagnostics: self.0,
            })
        }
    }
}

impl From<Vec<Diagnostic>> for ConfigError {
    fn from(diagnostics: Vec<Diagnostic>) -> Self {
        Self { diagnostics }
    }
}

/// "`a`, `b` or `c`".
pub(super) fn list<S: fmt::Display>(names: &[S]) -> String {
    match names {
        [] => "nothing".to_owned(),
        [one] => format!("`{one}`"),
        [first @ .., last] => {
            let first: Vec<String> = first.iter().map(|name| format!("`{name}`")).collect();
            format!("{} or `{last}`", first.join(", "))
        }
    }
}

/// The name most similar to `name`, if one is similar.
pub(super) fn nearest<'a>(name: &str, names: impl IntoIterator<Item = &'a str>) -> Option<&'a str> {
    names
        .into_iter()
        .map(|candidate| {
            (
                strsim::jaro_winkler(&name.to_lowercase(), candidate),
                candidate,
            )
        })
        .filter(|(similarity, _)| *similarity > 0.8)
        .max_by(|a, b| a.0.total_cmp(&b.0))
        .map(|(_, candidate)| candidate)
}
