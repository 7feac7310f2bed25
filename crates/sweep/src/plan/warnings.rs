//! Warnings about varied values.

use fly_flight::Messages;
use tracing::Level;

/// Number of warnings that are told.
const MOST: usize = 5;

/// What is warned of when values are tried: each text once, with values that give it.
pub struct Warnings {
    messages: Messages,
    /// Those of the fixed configuration, which have been shown.
    shown: Vec<String>,
    found: Vec<Warning>,
    more: bool,
}

struct Warning {
    text: String,
    /// The values that give it, in words.
    by: String,
    /// Whether one value alone gives it.
    alone: bool,
}

impl Warnings {
    /// None yet, beside those of the fixed configuration. What is heard is passed on to the subscriber that is current
    /// at this call.
    pub fn beside(shown: Vec<String>) -> Self {
        Self {
            messages: Messages::new(),
            shown,
            found: Vec::new(),
            more: false,
        }
    }

    /// Tries values; returns the warnings that are not known with a value of their own.
    pub fn hear<T>(&self, flies: impl FnOnce() -> T) -> (T, Vec<String>) {
        let (tried, mut texts) = heard(&self.messages, flies);
        texts.retain(|text| {
            let is_told = |one: &Warning| one.alone && one.text == *text;
            !self.shown.contains(text) && !self.found.iter().any(is_told)
        });
        (tried, texts)
    }

    /// Adds a warning that these values give; those of one value `alone` replace those of several.
    pub fn add(&mut self, text: String, by: String, alone: bool) {
        if let Some(known) = self.found.iter_mut().find(|one| one.text == text) {
            if alone {
                (known.by, known.alone) = (by, alone);
            }
        } else if self.found.len() < MOST {
            self.found.push(Warning { text, by, alone });
        } else {
            self.more = true;
        }
    }

    /// All of them, in words.
    pub fn told(self) -> Vec<String> {
        let found = self.found.into_iter();
        let mut told: Vec<String> = found
            .map(|Warning { text, by, .. }| format!("with {by}: {text}"))
            .collect();
        if self.more {
            told.push("there are more warnings about varied values".to_owned());
        }
        told
    }
}

/// Runs this; returns what it warns of.
pub fn heard<T>(messages: &Messages, flies: impl FnOnce() -> T) -> (T, Vec<String>) {
    let done = {
        let _heard = messages.enter();
        flies()
    };
    let mut texts = Vec::new();
    messages.drain(|message| {
        if message.level <= Level::WARN {
            texts.push(message.text.to_owned());
        }
    });
    (done, texts)
}
