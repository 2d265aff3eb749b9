//! Draws charts as inline SVG, for a width of 360 and scalable.

use std::fmt::Write;

use crate::page::text::{count, escape, percent};

/// A value with its label.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Bar {
    /// Label of the bar.
    pub label: String,
    /// Value of the bar.
    pub value: u64,
}

/// A segment of a divided bar.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct BarPart<'a> {
    /// CSS class of the segment's colour.
    pub class: &'a str,
    /// Name of the segment.
    pub name: &'a str,
    /// Value of the segment.
    pub value: u64,
}

/// A share, now and before.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ComparedShare {
    /// Label of the share.
    pub label: String,
    /// Current share.
    pub now: Share,
    /// Earlier share, if known.
    pub before: Option<Share>,
}

const WIDTH: u64 = 360;

/// Scales `part` of `whole` to `length`. A part above zero has a length of at least 1.
fn scaled(part: u64, whole: u64, length: u64) -> u64 {
    let exact = u128::from(part) * u128::from(length) / u128::from(whole.max(1));
    u64::try_from(exact)
        .unwrap_or(length)
        .max(u64::from(part > 0))
        .min(length)
}

fn figure(title: &str, description: &str, height: u64, drawing: &str) -> String {
    format!(
        "<figure><figcaption>{}</figcaption><svg viewBox=\"0 0 {WIDTH} {height}\" role=\"img\" aria-label=\"{}\">{drawing}</svg></figure>",
        escape(title),
        escape(description)
    )
}

/// Draws horizontal bars, one per line. The largest value has the full width.
#[must_use]
pub fn bars(title: &str, unit: &str, bars: &[Bar]) -> String {
    const LABEL: u64 = 104;
    const LINE: u64 = 20;
    let most = bars.iter().map(|bar| bar.value).max().unwrap_or(0);
    let mut drawing = String::new();
    let mut spoken = Vec::new();
    for (line, Bar { label, value }) in (0_u64..).zip(bars) {
        let (top, length) = (line * LINE, scaled(*value, most, WIDTH - LABEL - 56));
        let _ = write!(
            drawing,
            "<text x=\"{}\" y=\"{}\" text-anchor=\"end\">{}</text><rect class=\"plot\" x=\"{LABEL}\" y=\"{}\" width=\"{length}\" height=\"14\" rx=\"2\"/><text class=\"soft\" x=\"{}\" y=\"{}\">{}</text>",
            LABEL - 8,
            top + 14,
            escape(label),
            top + 3,
            LABEL + length + 6,
            top + 14,
            count(*value),
        );
        spoken.push(format!("{label}: {value} {unit}"));
    }
    figure(title, &spoken.join(", "), bars.len() as u64 * LINE + 4, &drawing)
}

/// Draws columns with the labels of the first and the last column and the value of the highest.
#[must_use]
pub fn columns(title: &str, columns: &[Bar], written: impl Fn(u64) -> String) -> String {
    const TOP: u64 = 16;
    const HEIGHT: u64 = 90;
    let most = columns.iter().map(|column| column.value).max().unwrap_or(0);
    let number = (columns.len() as u64).max(1);
    let mut drawing = String::new();
    for (index, Bar { label, value }) in (0_u64..).zip(columns) {
        let (left, right) = (index * WIDTH / number, (index + 1) * WIDTH / number);
        let (width, height) = ((right - left).saturating_sub(1).max(1), scaled(*value, most, HEIGHT));
        let _ = write!(
            drawing,
            "<rect class=\"plot\" x=\"{left}\" y=\"{}\" width=\"{width}\" height=\"{height}\"><title>{}: {}</title></rect>",
            TOP + HEIGHT - height,
            escape(label),
            escape(&written(*value)),
        );
    }
    let base = TOP + HEIGHT;
    let _ = write!(
        drawing,
        "<line x1=\"0\" y1=\"{base}\" x2=\"{WIDTH}\" y2=\"{base}\"/><text class=\"soft\" x=\"0\" y=\"11\">at most {}</text>",
        escape(&written(most))
    );
    if let (Some(first), Some(last)) = (columns.first(), columns.last()) {
        let y = base + 14;
        let _ = write!(
            drawing,
            "<text class=\"soft\" x=\"0\" y=\"{y}\">{}</text><text class=\"soft\" x=\"{WIDTH}\" y=\"{y}\" text-anchor=\"end\">{}</text>",
            escape(&first.label),
            escape(&last.label)
        );
    }
    figure(
        title,
        &format!("{} time steps, at most {} in one step", columns.len(), written(most)),
        base + 20,
        &drawing,
    )
}

/// Draws one bar divided into segments, each with its colour class, name and count.
#[must_use]
pub fn share_bar(title: &str, shares: &[BarPart<'_>]) -> String {
    let whole: u64 = shares.iter().map(|part| part.value).sum();
    let mut drawing = String::new();
    let mut spoken = Vec::new();
    let (mut before, mut line) = (0_u64, 0_u64);
    for BarPart { class, name, value } in shares.iter().filter(|part| part.value > 0) {
        let left = scaled(before, whole, WIDTH);
        before += value;
        let width = scaled(before, whole, WIDTH).saturating_sub(left).max(1);
        let y = 30 + line * 18;
        let _ = write!(
            drawing,
            "<rect class=\"{class}\" x=\"{left}\" y=\"0\" width=\"{width}\" height=\"18\"/><rect class=\"{class}\" x=\"0\" y=\"{y}\" width=\"10\" height=\"10\" rx=\"2\"/><text x=\"16\" y=\"{}\">{} {}</text>",
            y + 9,
            count(*value),
            escape(name),
        );
        spoken.push(format!("{value} {name}"));
        line += 1;
    }
    if spoken.is_empty() {
        return format!("<p class=\"soft\">{}: no store.</p>", escape(title));
    }
    figure(title, &spoken.join(", "), 30 + line * 18, &drawing)
}

/// Draws two bars per line, the current share above the earlier one. All bars have the same scale, from 0 to `whole`.
#[must_use]
pub fn pairs(title: &str, pairs: &[ComparedShare]) -> String {
    const LABEL: u64 = 120;
    const LINE: u64 = 28;
    let length = WIDTH - LABEL - 52;
    let (mut drawing, mut spoken) = (String::new(), Vec::new());
    for (line, ComparedShare { label, now, before }) in (0_u64..).zip(pairs) {
        let top = line * LINE;
        let of = |share: &Share| scaled(share.part, share.whole, length);
        let written = percent(now.part, now.whole);
        let _ = write!(
            drawing,
            "<text x=\"{}\" y=\"{}\" text-anchor=\"end\">{}</text><rect class=\"rail\" x=\"{LABEL}\" y=\"{}\" width=\"{length}\" height=\"10\" rx=\"2\"/><rect class=\"plot\" x=\"{LABEL}\" y=\"{}\" width=\"{}\" height=\"10\" rx=\"2\"/><text class=\"soft\" x=\"{}\" y=\"{}\">{}</text>",
            LABEL - 8,
            top + 13,
            escape(label),
            top + 4,
            top + 4,
            of(now),
            LABEL + length + 6,
            top + 13,
            escape(&written),
        );
        let was = before.as_ref().map(|before| {
            let _ = write!(
                drawing,
                "<rect class=\"before\" x=\"{LABEL}\" y=\"{}\" width=\"{}\" height=\"4\" rx=\"2\"/>",
                top + 16,
                of(before)
            );
            format!(", before {}", percent(before.part, before.whole))
        });
        spoken.push(format!("{label}: {written}{}", was.unwrap_or_default()));
    }
    figure(title, &spoken.join("; "), pairs.len() as u64 * LINE + 4, &drawing)
}

/// A part of a whole.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Share {
    /// Size of the part.
    pub part: u64,
    /// Size of the whole.
    pub whole: u64,
}

/// Draws a line over the runs, oldest first, from zero to the maximum, with labels for the first and the last run.
#[must_use]
pub fn line(title: &str, points: &[Bar], written: impl Fn(u64) -> String) -> String {
    const TOP: u64 = 18;
    const HEIGHT: u64 = 72;
    let most = points.iter().map(|point| point.value).max().unwrap_or(0);
    let steps = (points.len() as u64).saturating_sub(1).max(1);
    let at = |index: u64, value: u64| {
        (
            4 + index * (WIDTH - 8) / steps,
            TOP + HEIGHT - scaled(value, most, HEIGHT),
        )
    };
    let (mut path, mut dots) = (String::new(), String::new());
    for (index, Bar { label, value }) in (0_u64..).zip(points) {
        let (x, y) = at(index, *value);
        let _ = write!(path, "{}{x} {y}", if index == 0 { "M" } else { "L" });
        let _ = write!(
            dots,
            "<circle class=\"plot\" cx=\"{x}\" cy=\"{y}\" r=\"3\"><title>{}: {}</title></circle>",
            escape(label),
            escape(&written(*value))
        );
    }
    let base = TOP + HEIGHT;
    let mut drawing = format!(
        "<line x1=\"0\" y1=\"{base}\" x2=\"{WIDTH}\" y2=\"{base}\"/><path class=\"trace\" d=\"{path}\"/>{dots}"
    );
    if let (Some(first), Some(last)) = (points.first(), points.last()) {
        let y = base + 14;
        let _ = write!(
            drawing,
            "<text class=\"soft\" x=\"0\" y=\"{y}\">{}</text><text class=\"soft\" x=\"{WIDTH}\" y=\"{y}\" text-anchor=\"end\">{}: {}</text>",
            escape(&first.label),
            escape(&last.label),
            escape(&written(last.value))
        );
    }
    let description = format!("{} runs, at most {}", points.len(), written(most));
    figure(title, &description, base + 20, &drawing)
}
