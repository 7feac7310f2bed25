//! A [`Snapshot`] as text on a terminal of any size.

use std::fmt::Write as _;

use ratatui::Frame;
use ratatui::layout::{Constraint, Layout, Rect};
use ratatui::style::{Color, Modifier, Style};
use ratatui::text::{Line, Span};
use ratatui::widgets::{Block, Borders, Paragraph};

use super::snapshot::{ErrorNow, Input, ModeNow, Quantity, Snapshot};

/// From this width on there are two columns.
const WIDE: u16 = 84;
/// Width of a number.
const NUMBER: usize = 8;
/// Fewest lines of messages, if any fit.
const MESSAGES: u16 = 3;
/// Narrower bars say nothing.
const SHORTEST_BAR: usize = 3;

/// Colours, or what is as clear without them: every warning is a word as well.
#[derive(Clone, Copy, Debug)]
pub struct Paint {
    is_coloured: bool,
}

impl Paint {
    pub const fn new(is_coloured: bool) -> Self {
        Self { is_coloured }
    }

    fn color(self, color: Color, modifier: Modifier) -> Style {
        let style = Style::new().add_modifier(modifier);
        if self.is_coloured {
            style.fg(color)
        } else {
            style
        }
    }

    fn alarm(self) -> Style {
        self.color(Color::Red, Modifier::BOLD | Modifier::REVERSED)
    }

    fn error(self) -> Style {
        self.color(Color::Red, Modifier::BOLD)
    }

    fn warning(self) -> Style {
        self.color(Color::Yellow, Modifier::BOLD)
    }

    fn good(self) -> Style {
        self.color(Color::Green, Modifier::empty())
    }

    fn bar(self) -> Style {
        self.color(Color::Cyan, Modifier::empty())
    }
}

const BOLD: Style = Style::new().add_modifier(Modifier::BOLD);
const DIM: Style = Style::new().add_modifier(Modifier::DIM);

/// A heading and the lines below it.
struct Section {
    title: &'static str,
    lines: Vec<Line<'static>>,
}

/// Draws everything that fits, what matters most first.
pub fn draw(frame: &mut Frame, snapshot: &Snapshot, paint: Paint) {
    let area = frame.area();
    let note = snapshot.note.as_ref().filter(|_| area.height >= 10);
    let [head, body, foot] = Layout::vertical([
        Constraint::Length(2),
        Constraint::Fill(1),
        Constraint::Length(u16::from(note.is_some())),
    ])
    .areas(area);
    frame.render_widget(Paragraph::new(header(snapshot, head.width, paint)), head);
    if let Some(note) = note {
        frame.render_widget(Line::styled(note.clone(), DIM), foot);
    }
    let of = |width: u16| sections(snapshot, usize::from(width), paint);
    if body.width < WIDE {
        let [state, errors, inputs, timing] = of(body.width);
        column(
            frame,
            body,
            vec![state, inputs, errors, timing],
            Some((snapshot, paint)),
        );
        return;
    }
    let [left, _, right] = Layout::horizontal([
        Constraint::Fill(1),
        Constraint::Length(2),
        Constraint::Fill(1),
    ])
    .areas(body);
    let [state, errors, _, timing] = of(left.width);
    let [.., inputs, _] = of(right.width);
    column(frame, left, vec![state, errors, timing], None);
    column(frame, right, vec![inputs], Some((snapshot, paint)));
}

/// Sections below each other, and messages in what is left.
fn column(
    frame: &mut Frame,
    mut area: Rect,
    sections: Vec<Section>,
    messages: Option<(&Snapshot, Paint)>,
) {
    // The last warning must be seen even on a small terminal.
    let kept = match messages {
        Some((snapshot, _)) if !snapshot.messages.is_empty() => MESSAGES.min(area.height / 3),
        _ => 0,
    };
    for Section { title, mut lines } in sections {
        if lines.is_empty() {
            continue;
        }
        let height = usize::from(area.height.saturating_sub(kept + 1));
        if height == 0 {
            break;
        }
        if lines.len() > height {
            let left_out = lines.len() - height + 1;
            lines.truncate(height - 1);
            lines.push(Line::styled(format!("… and {left_out} more"), DIM));
        }
        area = section(frame, area, title, lines);
    }
    if let Some((snapshot, paint)) = messages
        && area.height >= 2
    {
        let height = usize::from(area.height - 1);
        let lines = said(snapshot, usize::from(area.width), height, paint);
        section(frame, area, "Messages", lines);
    }
}

/// Draws a section, and returns the area below it.
fn section(frame: &mut Frame, area: Rect, title: &'static str, lines: Vec<Line>) -> Rect {
    let height = u16::try_from(lines.len() + 1).unwrap_or(u16::MAX);
    let [own, rest] =
        Layout::vertical([Constraint::Length(height), Constraint::Fill(1)]).areas(area);
    let block = Block::new()
        .borders(Borders::TOP)
        .border_style(DIM)
        .title(Span::styled(title, BOLD));
    frame.render_widget(Paragraph::new(lines).block(block), own);
    rest
}

/// Name and mode; time.
fn header(snapshot: &Snapshot, width: u16, paint: Paint) -> Vec<Line<'static>> {
    let width = usize::from(width);
    let mut first = vec![Span::styled(snapshot.name.clone(), BOLD)];
    if let Some(ModeNow {
        name,
        since,
        is_alarm,
    }) = &snapshot.mode
    {
        let (text, style) = if *is_alarm {
            (format!(" {} ", name.to_uppercase()), paint.alarm())
        } else {
            (name.clone(), paint.good())
        };
        let since = format!(" since {since:.1} s");
        // The mode is seen whatever the name is.
        let taken = text.chars().count();
        let columns = width.saturating_sub(taken + 2);
        let name: String = snapshot.name.chars().take(columns).collect();
        let left = columns.saturating_sub(name.chars().count() + since.chars().count());
        first = vec![
            Span::styled(name, BOLD),
            Span::raw("  "),
            Span::styled(text, style),
        ];
        if left > 0 {
            first.push(Span::styled(since, DIM));
        }
    }
    let mut text = match snapshot.duration {
        Some(duration) => format!("{:.1} / {duration:.1} s", snapshot.time),
        None => format!("{:.1} s", snapshot.time),
    };
    if let Some(pace) = snapshot.pace {
        let _ = write!(text, "  {pace:.2} x real time");
    }
    let mut second = vec![Span::raw(text.clone())];
    if let Some(duration) = snapshot.duration {
        let columns = width.saturating_sub(text.chars().count() + 2).min(40);
        second.insert(0, Span::raw("  "));
        second.insert(
            0,
            bar([0.0, snapshot.time / duration], columns, paint.bar()),
        );
    }
    vec![Line::from(first), Line::from(second)]
}

/// State, errors, inputs, timing.
fn sections(snapshot: &Snapshot, width: usize, paint: Paint) -> [Section; 4] {
    let label = (snapshot.state.iter())
        .map(|quantity| quantity.name.chars().count())
        .max()
        .unwrap_or(0)
        .min(width / 3);
    let state = snapshot.state.iter().map(|of| quantity(of, label));
    let errors = (snapshot.errors.iter()).map(|error| self::error(error, width, paint));
    let label = (snapshot.inputs.iter())
        .map(|input| input.name.chars().count())
        .max()
        .unwrap_or(0)
        .min(width / 2);
    let inputs = (snapshot.inputs.iter()).map(|input| self::input(input, width, label, paint));
    let timing = snapshot.timing.iter().map(|[label, text]| {
        Line::from(vec![
            Span::styled(format!("{label:<11}"), DIM),
            Span::raw(text.clone()),
        ])
    });
    [
        Section {
            title: "State (x y z; roll pitch yaw)",
            lines: state.collect(),
        },
        Section {
            title: "Errors (last 10 s)",
            lines: errors.collect(),
        },
        Section {
            title: "Inputs within their limits",
            lines: inputs.collect(),
        },
        Section {
            title: "Timing",
            lines: timing.collect(),
        },
    ]
}

fn quantity(quantity: &Quantity, label: usize) -> Line<'static> {
    let mut text = String::new();
    for value in &quantity.values {
        let _ = write!(text, "{:>NUMBER$} ", fixed(*value));
    }
    text.push_str(quantity.unit);
    Line::from(vec![
        Span::styled(padded(&quantity.name, label), DIM),
        Span::raw(text),
    ])
}

fn error(error: &ErrorNow, width: usize, paint: Paint) -> Line<'static> {
    let mut text = format!("{:>NUMBER$} {}", fixed(error.value), error.unit);
    if let Some(max) = error.max {
        let _ = write!(text, " max {}", fixed(max).trim_start());
    }
    let name = error.name.strip_suffix(" error").unwrap_or(error.name);
    let name = format!("{name:<8}");
    let columns = width.saturating_sub(name.chars().count() + text.chars().count() + 1);
    Line::from(vec![
        Span::styled(name, DIM),
        Span::raw(text),
        Span::raw(" "),
        Span::styled(history(&error.past, columns), paint.bar()),
    ])
}

fn input(input: &Input, width: usize, label: usize, paint: Paint) -> Line<'static> {
    let at = input.at();
    let value = format!(
        "{:>NUMBER$} {:<3} {:<3}",
        fixed(input.value),
        input.unit,
        at.unwrap_or("")
    );
    let columns = width.saturating_sub(label + 2 + value.chars().count());
    let [low, high] = input.limits;
    let part = |value: f64| (value - low) / (high - low);
    let style = if at.is_some() {
        paint.warning()
    } else {
        paint.bar()
    };
    let bar = if part(input.value).is_finite() {
        bar([part(0.0), part(input.value)], columns, style)
    } else {
        Span::raw(" ".repeat(columns))
    };
    let style = if at.is_some() {
        paint.warning()
    } else {
        Style::new()
    };
    Line::from(vec![
        Span::styled(padded(&input.name, label), DIM),
        Span::raw(" "),
        bar,
        Span::styled(value, style),
    ])
}

/// The last messages that fit into so many lines.
fn said(snapshot: &Snapshot, width: usize, height: usize, paint: Paint) -> Vec<Line<'static>> {
    let mut lines: Vec<Line> = Vec::new();
    for event in snapshot.messages.iter().rev() {
        if lines.len() >= height {
            break;
        }
        let (word, style) = match event.level {
            "error" => ("error: ", paint.error()),
            "warning" => ("warning: ", paint.warning()),
            _ => ("", Style::new()),
        };
        // Many say the time themselves.
        let time = format!("{:.3} s: ", event.time);
        let text = event.text.strip_prefix(&time).unwrap_or(&event.text);
        let text = format!("{time}{word}{text}");
        let wrapped = wrapped(&text, width);
        lines.extend(
            wrapped
                .into_iter()
                .rev()
                .map(|line| Line::styled(line, style)),
        );
    }
    lines.truncate(height);
    lines.reverse();
    lines
}

/// Words in lines; all but the first are indented. Words that are too long are cut.
fn wrapped(text: &str, width: usize) -> Vec<String> {
    const INDENT: &str = "  ";
    let mut lines = vec![String::new()];
    for word in text.split_whitespace() {
        let line = lines.last_mut().expect("there is always a line");
        let used = line.chars().count();
        if used == 0 {
            line.push_str(word);
        } else if used + 1 + word.chars().count() <= width {
            line.push(' ');
            line.push_str(word);
        } else {
            lines.push(format!("{INDENT}{word}"));
        }
    }
    lines
}

/// A name in so many columns; its end is what tells it from others.
fn padded(name: &str, width: usize) -> String {
    let count = name.chars().count();
    if count <= width {
        return format!("{name:<width$}");
    }
    let tail = name.chars().skip(count - width.saturating_sub(1));
    std::iter::once('…').chain(tail).take(width).collect()
}

/// A bar of so many cells, filled between two parts of its length.
fn bar([from, to]: [f64; 2], cells: usize, style: Style) -> Span<'static> {
    if cells < SHORTEST_BAR {
        return Span::raw(" ".repeat(cells));
    }
    #[expect(
        clippy::cast_possible_truncation,
        clippy::cast_sign_loss,
        reason = "a part of the cells, from 0"
    )]
    let cell = |part: f64| (part.clamp(0.0, 1.0) * cells as f64).round() as usize;
    let (first, last) = (cell(from.min(to)), cell(from.max(to)));
    let text = (0..cells).map(|i| {
        if (first..last).contains(&i) {
            '█'
        } else {
            '░'
        }
    });
    Span::styled(text.collect::<String>(), style)
}

/// What came last, as high as it was: a column of the past in each cell, the largest of the values that fall into it.
fn history(past: &[f64], cells: usize) -> String {
    const HEIGHTS: [char; 8] = ['▁', '▂', '▃', '▄', '▅', '▆', '▇', '█'];
    if cells < SHORTEST_BAR || past.is_empty() {
        return String::new();
    }
    let each = past.len().div_ceil(cells);
    let largest = past.iter().copied().fold(0.0, f64::max);
    let columns = past.chunks(each).map(|values| {
        let value = values.iter().copied().fold(f64::NAN, f64::max);
        if value.is_nan() {
            return ' ';
        }
        #[expect(
            clippy::cast_possible_truncation,
            clippy::cast_sign_loss,
            reason = "one of eight"
        )]
        let height = (value / largest * 7.0).round() as usize;
        HEIGHTS[height.min(7)]
    });
    columns.collect()
}

/// A number in [`NUMBER`] columns, with as many decimals as fit.
pub fn fixed(value: f64) -> String {
    if value.is_nan() {
        return "-".to_owned();
    }
    let mut fits = (0..=3).rev().map(|decimals| format!("{value:.decimals$}"));
    fits.find(|text| text.len() <= NUMBER)
        .unwrap_or_else(|| format!("{value:.1e}"))
}
