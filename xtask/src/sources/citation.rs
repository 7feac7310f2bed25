//! Equations as they are cited: `(5.86b)`, `(3.16-3.18)`, `(4.103c, d)`, `(5.152)-(5.154)`, `From I (73)`.

use std::fmt;

/// The number of an equation: of Konz with its chapter, of From with the paper (`I`, `II`) in the chapter's place.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Equation {
    rank: usize,
    pub chapter: String,
    pub number: u32,
    /// `b` of `(5.86b)`, or nothing.
    pub part: String,
}

/// Chapters in the order of the index.
const CHAPTERS: [&str; 8] = ["2", "3", "4", "5", "A", "B", "I", "II"];

impl Equation {
    pub fn new(chapter: &str, number: u32, part: &str) -> Self {
        let rank = CHAPTERS.iter().position(|known| *known == chapter);
        Self {
            rank: rank.unwrap_or(CHAPTERS.len()),
            chapter: chapter.to_owned(),
            number,
            part: part.to_owned(),
        }
    }

    /// Whether this is the other one, or the whole of which the other one is a part, or the other way round.
    pub fn covers(&self, other: &Self) -> bool {
        let same = self.chapter == other.chapter && self.number == other.number;
        same && (self.part == other.part || self.part.is_empty() || other.part.is_empty())
    }

    fn of_from(&self) -> bool {
        self.chapter.starts_with('I')
    }
}

impl fmt::Display for Equation {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self {
            chapter,
            number,
            part,
            ..
        } = self;
        if self.of_from() {
            write!(f, "From {chapter} ({number}{part})")
        } else {
            write!(f, "({chapter}.{number}{part})")
        }
    }
}

/// Where an equation is cited.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Citation {
    pub equation: Equation,
    pub file: String,
    pub line: usize,
    /// The item that the comment belongs to; none of a module's own comment, and of documents.
    pub item: Option<String>,
}

/// All citations of a file: of a source in its comments, of other files everywhere.
pub fn of_file(file: &str, text: &str) -> Vec<Citation> {
    let lines: Vec<&str> = text.lines().collect();
    let is_source = std::path::Path::new(file)
        .extension()
        .is_some_and(|kind| kind == "rs");
    let said: Vec<&str> = lines.iter().map(|line| said(line, is_source)).collect();
    let mut found = Vec::new();
    let mut start = 0;
    while start < said.len() {
        // Comments are read block by block, documents line by line: a chain may go on in the next line of a comment.
        let mut end = start + 1;
        while is_source && end < said.len() && !said[start].is_empty() && !said[end].is_empty() {
            end += 1;
        }
        for (offset, equation) in equations(&said[start..end].join("\n")) {
            let block = said[start..end].join("\n");
            let line = start + block[..offset].matches('\n').count();
            found.push(Citation {
                equation,
                file: file.to_owned(),
                line: line + 1,
                item: is_source.then(|| item(&lines, line)).flatten(),
            });
        }
        start = end;
    }
    found
}

/// What a line says outside of code.
fn said(line: &str, is_source: bool) -> &str {
    if !is_source {
        return line;
    }
    line.find("//").map_or("", |at| &line[at..])
}

/// The citations of a text, each with the place where it stands.
pub fn equations(text: &str) -> Vec<(usize, Equation)> {
    let mut found: Vec<(usize, Equation)> = Vec::new();
    // Whom the last list was of, where it ended: what follows after "and" is of the same one.
    let mut last = (String::new(), 0);
    for (open, _) in text.match_indices('(') {
        let before = &text[..open];
        let called = |c: char| c.is_alphanumeric() || "_)]>:'!".contains(c);
        if before.ends_with(called) {
            continue;
        }
        let gap = &text[last.1.min(open)..open];
        let chained = last.1 > 0 && is_conjunction(gap);
        let whose = match author(before) {
            Some(whose) => whose.to_owned(),
            None if chained => last.0.clone(),
            None => mentioned(before).to_owned(),
        };
        let Some((list, close)) = list(&text[open + 1..], &whose) else {
            continue;
        };
        if chained
            && is_range(gap)
            && let (Some((_, from)), Some(to)) = (found.last(), list.first())
        {
            let between = between(from, to);
            found.extend(between.into_iter().map(|equation| (open, equation)));
        }
        last = (whose.clone(), open + 1 + close);
        if whose != "RBDA" {
            found.extend(list.into_iter().map(|equation| (open, equation)));
        }
    }
    found
}

/// Who is named right before a list.
fn author(before: &str) -> Option<&'static str> {
    let before = before.trim_end();
    let ends = |word: &str| before.ends_with(word);
    let known = [
        ("From II", "II"),
        ("From I", "I"),
        ("RBDA", "RBDA"),
        ("Konz", "K"),
    ];
    known
        .into_iter()
        .find_map(|(word, whose)| ends(word).then_some(whose))
}

/// Who was named last: numbers without a chapter are of From where a paper was named.
fn mentioned(before: &str) -> &'static str {
    match (before.rfind("From I"), before.rfind("From II")) {
        (Some(one), two) if two == Some(one) => "II",
        (Some(_), _) => "I",
        _ => "K",
    }
}

fn is_range(gap: &str) -> bool {
    ["-", "–", "to"].contains(&gap.trim())
}

fn is_conjunction(gap: &str) -> bool {
    let joins = ["", "-", "–", "to", "and", "or", ",", "=", ";", "!"];
    // The second line of a comment begins with slashes.
    (gap.split_whitespace()).all(|word| joins.contains(&word.trim_matches('/')))
}

/// A list up to its closing parenthesis, and how long that is.
fn list(text: &str, whose: &str) -> Option<(Vec<Equation>, usize)> {
    let close = text.find(')')?;
    let mut found: Vec<Equation> = Vec::new();
    let mut ranged = false;
    let mut rest = &text[..close];
    loop {
        let (next, after) = label(rest, whose, found.last())?;
        if ranged {
            let from = found.last()?.clone();
            found.extend(between(&from, &next));
        }
        found.push(next);
        if after.is_empty() {
            return Some((found, close + 1));
        }
        let joins = [(", ", false), ("; ", false), ("-", true), ("–", true)];
        let join = joins
            .into_iter()
            .find(|(join, _)| after.starts_with(join))?;
        (rest, ranged) = (&after[join.0.len()..], join.1);
    }
}

/// What is between two equations of a chapter, both left out.
fn between(from: &Equation, to: &Equation) -> Vec<Equation> {
    if from.chapter != to.chapter {
        return Vec::new();
    }
    let numbers = from.number + 1..to.number;
    numbers
        .map(|number| Equation::new(&from.chapter, number, ""))
        .collect()
}

/// `5.86b`, `73` of a paper of From, or `b` after another one; and what follows.
fn label<'a>(text: &'a str, whose: &str, last: Option<&Equation>) -> Option<(Equation, &'a str)> {
    let digits =
        |text: &'a str| text.len() - text.trim_start_matches(|c: char| c.is_ascii_digit()).len();
    let part = |text: &'a str| {
        let is_part = text.starts_with(|c: char| c.is_ascii_lowercase());
        let is_word = text.chars().nth(1).is_some_and(char::is_alphanumeric);
        usize::from(is_part && !is_word)
    };
    if let (Some(last), 1) = (last, part(text)) {
        let (part, after) = text.split_at(1);
        return Some((Equation::new(&last.chapter, last.number, part), after));
    }
    let head = text.chars().next()?;
    let (chapter, rest) = match text[head.len_utf8()..].strip_prefix('.') {
        Some(rest) if "2345AB".contains(head) => (&text[..1], rest),
        None if whose.starts_with('I') => (whose, text),
        _ => return None,
    };
    let n = digits(rest);
    if n == 0 || rest.starts_with('0') {
        return None;
    }
    number(chapter, rest, n, part(&rest[n..]))
}

fn number<'a>(chapter: &str, text: &'a str, n: usize, part: usize) -> Option<(Equation, &'a str)> {
    let number = text[..n].parse().ok()?;
    let (chapter, number) = match chapter {
        // Chapter 2 repeats 3.3: its (2.y) is (3.y+11).
        "2" => ("3", number + 11),
        other => (other, number),
    };
    Some((
        Equation::new(chapter, number, &text[n..n + part]),
        &text[n + part..],
    ))
}

/// The item that a comment belongs to: what follows an outer comment, what encloses any other.
fn item(lines: &[&str], line: usize) -> Option<String> {
    let text = lines[line].trim_start();
    if text.starts_with("//!") {
        return None;
    }
    if text.starts_with("///") {
        let after = lines[line..].iter().find(|line| {
            let line = line.trim_start();
            !(line.is_empty()
                || line.starts_with("//")
                || line.starts_with("#[")
                || line.starts_with(')')
                || line.starts_with(']'))
        });
        if let Some(name) = after.and_then(|line| name(line)) {
            return Some(name);
        }
    }
    let indent = |line: &str| line.len() - line.trim_start().len();
    let mut within = indent(lines[line]) + usize::from(!text.starts_with("//"));
    for above in lines[..line].iter().rev() {
        if above.trim().is_empty()
            || indent(above) >= within
            || above.trim_start().starts_with("//")
        {
            continue;
        }
        within = indent(above);
        if let Some(name) = name(above) {
            return Some(name);
        }
    }
    None
}

/// The name that a line defines.
fn name(line: &str) -> Option<String> {
    let line = line.trim_start();
    let line = match line.strip_prefix("pub") {
        Some(rest) => rest.split_once(' ')?.1,
        None => line,
    };
    let line = line.strip_prefix("const fn ").map_or(line, |_| &line[6..]);
    if let Some(rest) = line.strip_prefix("impl") {
        let head = rest.split('{').next()?.trim();
        let plain = without_generics(head);
        return Some(format!("impl {}", plain.trim()));
    }
    let kinds = [
        "fn", "struct", "trait", "enum", "type", "mod", "const", "static",
    ];
    let rest = kinds
        .into_iter()
        .find_map(|kind| line.strip_prefix(kind)?.strip_prefix(' '))?;
    let end = rest.find(|c: char| !(c.is_alphanumeric() || c == '_'));
    Some(rest[..end.unwrap_or(rest.len())].to_owned())
}

fn without_generics(text: &str) -> String {
    let mut depth = 0;
    let inside = |c: &char| {
        depth += i32::from(*c == '<');
        let keep = depth == 0;
        depth -= i32::from(*c == '>');
        keep
    };
    text.chars().filter(inside).collect()
}

#[cfg(test)]
mod tests {
    use super::{equations, of_file};

    fn found(text: &str) -> Vec<String> {
        let all = equations(text).into_iter();
        all.map(|(_, equation)| equation.to_string()).collect()
    }

    #[test]
    fn lists_and_ranges_are_read() {
        assert_eq!(found("Konz (5.86b), (5.43)"), ["(5.86b)", "(5.43)"]);
        assert_eq!(found("(4.103c, d)"), ["(4.103c)", "(4.103d)"]);
        assert_eq!(found("(A.88-A.90)"), ["(A.88)", "(A.89)", "(A.90)"]);
        let chain = ["(5.152)", "(5.153)", "(5.154)"];
        assert_eq!(found("Konz (5.152)-(5.154)"), chain);
        assert_eq!(found("(5.152) to (5.154)"), chain);
        assert_eq!(found("Konz (2.5)"), ["(3.16)"]);
    }

    #[test]
    fn papers_have_no_chapters() {
        let all = ["From I (73)", "From I (74)"];
        assert_eq!(found("From I (73), with (74) corrected"), all);
        assert_eq!(found("From II (59)"), ["From II (59)"]);
        assert!(found("a list (12)").is_empty());
    }

    #[test]
    fn other_numbers_are_none() {
        for text in [
            "new(2.0)",
            "RBDA (3.9), (3.14)",
            "(5.4 %)",
            "(0.5)",
            "(2.0)",
        ] {
            assert!(found(text).is_empty(), "{text}");
        }
    }

    #[test]
    fn citations_belong_to_items() {
        let text = "//! (3.1)\n\n/// As (3.2).\n#[inline]\npub fn f<T>() {\n    // (3.3)\n}\n\n/// (3.4)\nimpl<T> A<T> for B<T> {}\n";
        let items = of_file("a.rs", text).into_iter().map(|found| found.item);
        let named = ["f", "f", "impl A for B"].map(|name| Some(name.to_owned()));
        assert_eq!(items.collect::<Vec<_>>(), [&[None], &named[..]].concat());
    }
}
