//! Formats numbers and texts for pages.

use std::fmt;

/// A text from a store, escaped for use between tags and inside quoted attributes.
#[derive(Debug, Clone, Copy)]
pub struct EscapedText<'a>(pub &'a str);

impl fmt::Display for EscapedText<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for char in self.0.chars() {
            match char {
                '&' => f.write_str("&amp;")?,
                '<' => f.write_str("&lt;")?,
                '>' => f.write_str("&gt;")?,
                '"' => f.write_str("&quot;")?,
                '\'' => f.write_str("&#39;")?,
                // Characters that change the text direction are replaced, like control characters.
                '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}' => f.write_str("\u{fffd}")?,
                char if char.is_control() && char != '\n' => f.write_str("\u{fffd}")?,
                char => fmt::Write::write_char(f, char)?,
            }
        }
        Ok(())
    }
}

/// Returns the text escaped as in [`EscapedText`].
#[must_use]
pub fn escape(text: &str) -> String {
    EscapedText(text).to_string()
}

/// Formats a count as `12,345`.
#[must_use]
pub fn count(count: u64) -> String {
    let digits = count.to_string();
    let mut grouped = String::with_capacity(digits.len() + digits.len() / 3);
    for (index, digit) in digits.chars().enumerate() {
        if index > 0 && (digits.len() - index).is_multiple_of(3) {
            grouped.push(',');
        }
        grouped.push(digit);
    }
    grouped
}

/// Formats a size as `1.2 MB`.
#[must_use]
pub fn bytes(bytes: u64) -> String {
    const UNITS: [&str; 6] = ["kB", "MB", "GB", "TB", "PB", "EB"];
    if bytes < 1000 {
        return format!("{bytes} B");
    }
    let (mut tenths, mut unit) = (bytes / 100, 0);
    while tenths >= 10_000 && unit + 1 < UNITS.len() {
        tenths /= 1000;
        unit += 1;
    }
    format!("{}.{} {}", tenths / 10, tenths % 10, UNITS[unit])
}

/// Formats a duration as `450 ms`, `4.5 s`, `3 min 20 s` or `2 h 5 min`.
#[must_use]
pub fn duration(ms: u64) -> String {
    let seconds = ms / 1000;
    match ms {
        0..1_000 => format!("{ms} ms"),
        1_000..60_000 => format!("{}.{} s", seconds, ms % 1000 / 100),
        60_000..3_600_000 => format!("{} min {} s", seconds / 60, seconds % 60),
        _ => format!("{} h {} min", seconds / 3600, seconds % 3600 / 60),
    }
}

/// Formats a share as a percentage such as `12.5 %`. Shares from a tenth on have no decimals, and smaller ones have
/// one. A share above zero is never shown as zero.
#[must_use]
pub fn percent(part: u64, whole: u64) -> String {
    let thousandths = u128::from(part) * 1000 / u128::from(whole.max(1));
    match thousandths {
        0 if part > 0 => "< 0.1 %".to_owned(),
        0 => "0 %".to_owned(),
        1..100 => format!("{}.{} %", thousandths / 10, thousandths % 10),
        _ => format!("{} %", (thousandths + 5) / 10),
    }
}

/// Formats an RFC 3339 timestamp to the minute, as `2026-11-23 06:30 UTC`. Any other text is returned verbatim.
#[must_use]
pub fn moment(moment: &str) -> String {
    match (moment.get(..10), moment.get(10..11), moment.get(11..16)) {
        (Some(day), Some("T"), Some(minute)) if moment.ends_with('Z') => format!("{day} {minute} UTC"),
        _ => moment.to_owned(),
    }
}

/// Formats a difference with its sign, such as `+3`, `−1,204` or `±0`.
#[must_use]
pub fn change(before: u64, now: u64) -> String {
    match now.cmp(&before) {
        std::cmp::Ordering::Greater => format!("+{}", count(now - before)),
        std::cmp::Ordering::Less => format!("\u{2212}{}", count(before - now)),
        std::cmp::Ordering::Equal => "\u{b1}0".to_owned(),
    }
}
