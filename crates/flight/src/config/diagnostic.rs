//! Problems in a configuration, and how they are shown.

use std::fmt;
use std::sync::Arc;

use annotate_snippets::renderer::DecorStyle;
use annotate_snippets::{AnnotationKind, Group, Level, Renderer, Snippet};

use super::source::{Source, SourceSpan};
use crate::numbers::short_numbers;

/// One problem: what is wrong, where, and what was expected.
#[derive(Clone, Debug)]
pub struct Diagnostic {
    /// The problem, in one line.
    pub title: String,
    /// The place in the source.
    pub place: Option<SourceSpan>,
    /// The text beside the caret: expected and found.
    pub label: Box<str>,
    /// Facts that help to understand the problem.
    pub notes: Vec<String>,
    /// Advice on how to fix it.
    pub help: Vec<String>,
    /// Whether something could not be read or loaded: the cause may be the machine rather than the configuration.
    pub unreadable: bool,
}

/// # Building
impl Diagnostic {
    /// A problem without a place.
    pub fn new(title: impl Into<String>) -> Self {
        Self {
            title: title.into(),
            place: None,
            label: Box::default(),
            notes: Vec::new(),
            help: Vec::new(),
            unreadable: false,
        }
    }

    /// Sets the place and the text beside the caret.
    #[must_use]
    pub fn at(mut self, place: SourceSpan, label: impl Into<String>) -> Self {
        self.place = Some(place);
        self.label = label.into().into();
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

    /// Marks the problem as something that could not be read or loaded.
    #[must_use]
    pub fn unreadable(mut self) -> Self {
        self.unreadable = true;
        self
    }

    /// A TOML syntax error in text that begins at `shift` of `source`.
    pub fn syntax(source: &Arc<Source>, shift: usize, error: &toml::de::Error) -> Self {
        let message = error.message().trim().replace('\n', ", ");
        let diagnostic = Self::new(format!("{} is not valid TOML", source.name));
        match error.span() {
            Some(span) => {
                let place = SourceSpan {
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
        let label = short_numbers(&self.label);
        let mut group = Group::with_title(Level::ERROR.primary_title(short_numbers(&self.title)));
        if let Some(place) = &self.place {
            let text = place.source.text.as_str();
            let start = super::source::floor_boundary(text, place.span.start);
            // Underline only the first line.
            let end = place.span.end.clamp(start, text.len());
            let end = text[start..]
                .find('\n')
                .map_or(end, |line| end.min(start + line));
            // Show only its line: a text may be long, and there may be many problems.
            let line = text[..start].rfind('\n').map_or(0, |newline| newline + 1);
            let after = text[end..]
                .find('\n')
                .map_or(text.len(), |length| end + length);
            group = group.element(
                Snippet::source(&text[line..after])
                    .line_start(text[..line].matches('\n').count() + 1)
                    .path(place.source.name.as_str())
                    .annotation(
                        AnnotationKind::Primary
                            .span(start - line..end - line)
                            .label(label),
                    ),
            );
            if let Some(by) = &place.source.included_by {
                group = group.element(
                    Level::NOTE.message(format!("{} is named by {by}", place.source.name)),
                );
            }
        }
        for note in &self.notes {
            group = group.element(Level::NOTE.message(short_numbers(note)));
        }
        for help in &self.help {
            group = group.element(Level::HELP.message(short_numbers(help)));
        }
        renderer.render(&[group])
    }
}

/// Number of problems shown; the others are counted.
pub(super) const SHOWN: usize = 20;

/// The problems in a configuration; never empty.
#[derive(Clone, Debug, thiserror::Error)]
#[error("{}", self.render(false))]
pub struct ConfigError {
    /// At most [`SHOWN`].
    diagnostics: Vec<Diagnostic>,
    /// Number of further problems.
    more: usize,
}

impl ConfigError {
    /// Keeps the first of these problems and counts the others, with `more`.
    pub(super) fn new(mut diagnostics: Vec<Diagnostic>, more: usize) -> Self {
        let more = more + diagnostics.len().saturating_sub(SHOWN);
        diagnostics.truncate(SHOWN);
        Self { diagnostics, more }
    }

    /// The first 20 problems.
    pub fn diagnostics(&self) -> &[Diagnostic] {
        &self.diagnostics
    }

    /// All diagnostics in the style of rustc, with or without terminal colours.
    pub fn render(&self, coloured: bool) -> String {
        let renderer = if coloured {
            Renderer::styled()
        } else {
            Renderer::plain()
        };
        let renderer = renderer.decor_style(DecorStyle::Ascii);
        let diagnostics = self.diagnostics.iter();
        let mut parts: Vec<String> = diagnostics.map(|one| one.render(&renderer)).collect();
        if self.more > 0 {
            let more = format!("{} more problems are not shown", self.more);
            parts.push(Diagnostic::new(more).render(&renderer));
        }
        parts.join("\n\n")
    }
}

impl From<Diagnostic> for ConfigError {
    fn from(diagnostic: Diagnostic) -> Self {
        Self::new(vec![diagnostic], 0)
    }
}

/// Collects the problems of several sections, so that one run reports all of them.
#[derive(Debug, Default)]
pub(super) struct Problems {
    diagnostics: Vec<Diagnostic>,
    more: usize,
}

impl Problems {
    /// Returns the value, or `None` after recording its problems.
    pub fn take<T>(&mut self, result: Result<T, ConfigError>) -> Option<T> {
        match result {
            Ok(value) => Some(value),
            Err(error) => {
                self.diagnostics.extend(error.diagnostics);
                self.more += error.more;
                None
            }
        }
    }

    pub fn push(&mut self, diagnostic: Diagnostic) {
        self.diagnostics.push(diagnostic);
    }

    /// An error if there was any problem.
    pub fn finish(self) -> Result<(), ConfigError> {
        if self.diagnostics.is_empty() {
            Ok(())
        } else {
            Err(ConfigError::new(self.diagnostics, self.more))
        }
    }
}

impl From<Vec<Diagnostic>> for ConfigError {
    fn from(diagnostics: Vec<Diagnostic>) -> Self {
        Self::new(diagnostics, 0)
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
