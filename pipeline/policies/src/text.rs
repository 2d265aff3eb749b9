//! Splits a page's source into sentences.

use crate::html::{CELL, ROW, heading, shown};
use crate::words::Words;

const BYTES_MAX: usize = 512 << 10;
const SENTENCES_MAX: usize = 2_000;
/// Maximum length of a sentence in bytes. Longer ones do not state terms.
const SENTENCE_BYTES_MAX: usize = 600;
/// Maximum length in bytes of a word that is checked before a full stop.
const WORD_BYTES_MAX: usize = 24;

/// Abbreviations after which a full stop does not end the sentence.
const SHORT: Words = Words(
    "rs, re, nr, min, max, approx, e.g, i.e, eg, ca, inkl, zzgl, inr, st, incl, c.o, mind, bzw, env, aprox, \
     z.b, a.m, p.m, usd, vs, u.s, u.k, u.a.e",
);

const CELLS_MAX: usize = 12;

/// Table headings above the names of goods.
const GOODS: [&str; 8] = [
    "product",
    "categor",
    "item",
    "collection",
    "produit",
    "producto",
    "artikel",
    "kategorie",
];

/// A sentence of a text. Parts that punctuation marks separate, as in a list, stay together.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub(crate) struct Line {
    pub(crate) parts: Vec<String>,
    /// Heading level from the line's tag.
    pub(crate) level: Option<u8>,
    pub(crate) begins: bool,
    pub(crate) is_first: bool,
}

pub(crate) fn lines(source: &str) -> Vec<Line> {
    let source = &source[..source.floor_char_boundary(BYTES_MAX)];
    let (mut lines, mut left, mut begins) = (Vec::new(), SENTENCES_MAX, true);
    for shown in shown(source).lines() {
        if shown.trim().is_empty() {
            begins = true;
            continue;
        }
        let (level, shown) = heading(shown);
        let mut sentences = Vec::new();
        if shown.contains(CELL) {
            table(shown, left, &mut sentences);
        } else {
            split(shown, left, &mut sentences);
        }
        let mut is_first = true;
        for mut parts in sentences {
            parts.truncate(left);
            left -= parts.len();
            if !parts.is_empty() {
                lines.push(Line {
                    parts,
                    level,
                    begins,
                    is_first,
                });
                (begins, is_first) = (false, false);
            }
        }
        if left == 0 {
            break;
        }
    }
    lines
}

/// Combines each table cell with the first cell of its row and the heading of its column, because both apply to the
/// cell.
fn table(text: &str, most: usize, out: &mut Vec<Vec<String>>) {
    let cells = |row: &str| -> Vec<String> {
        let cells = row.split(CELL).skip(1).take(CELLS_MAX);
        cells
            .map(|cell| cell.split_whitespace().collect::<Vec<_>>().join(" "))
            .collect()
    };
    let mut rows = text.split(ROW).map(cells).filter(|row| !row.is_empty()).peekable();
    let is_head =
        |row: &Vec<String>| row.len() > 1 && !row.iter().any(|cell| cell.contains(|char: char| char.is_ascii_digit()));
    let head = rows.next_if(is_head).unwrap_or_default();
    // A fact about some goods does not apply to all.
    let is_of_goods = head.first().is_some_and(|first| {
        let first = first.to_lowercase();
        GOODS.iter().any(|goods| first.contains(goods))
    });
    for row in rows.take(if is_of_goods { 0 } else { most }) {
        let Some((first, others)) = row.split_first() else {
            continue;
        };
        if others.is_empty() {
            split(first, most, out);
            continue;
        }
        let mut parts = Vec::new();
        for (at, cell) in others.iter().enumerate().filter(|(_, cell)| !cell.is_empty()) {
            let above = head.get(at + 1).map_or("", String::as_str);
            if first.len() + above.len() + cell.len() <= SENTENCE_BYTES_MAX {
                push(&format!("{first}: {above} {cell}").replace("  ", " "), &mut parts);
            }
        }
        if !parts.is_empty() {
            out.push(parts);
        }
    }
}

fn split(line: &str, most: usize, out: &mut Vec<Vec<String>>) {
    let line = line.split_whitespace().collect::<Vec<_>>().join(" ");
    let (mut from, mut parts, mut count) = (0, Vec::new(), 0);
    for (at, char) in line.char_indices() {
        let end = at + char.len_utf8();
        let ends = match char {
            '!' | '?' | '।' => true,
            '.' => ends_here(&line[from..at], &line[end..]),
            _ => false,
        };
        if ends || is_mark(char) {
            count += usize::from(push(&line[from..end], &mut parts));
            from = end;
        }
        if ends && !parts.is_empty() {
            out.push(std::mem::take(&mut parts));
        }
        if count >= most {
            break;
        }
    }
    if count < most {
        push(&line[from..], &mut parts);
    }
    if !parts.is_empty() {
        out.push(parts);
    }
}

/// Returns true for a cross symbol that means "no".
pub(crate) fn is_cross(char: char) -> bool {
    matches!(char, '❌' | '❎' | '✗' | '✘' | '✖')
}

/// Returns true for a punctuation mark that separates the parts of a line, as in a banner.
fn is_mark(char: char) -> bool {
    !is_cross(char)
        && matches!(char, ';' | '|' | '•' | '·' | '∙' | '⋅' | '¦' | '‖' | '»' | '›' | '\u{2300}'..='\u{27bf}' | '\u{2b00}'..='\u{2bff}'
        | '\u{1f000}'..='\u{1faff}')
}

fn push(sentence: &str, out: &mut Vec<String>) -> bool {
    let is_edge = |char: char| is_mark(char) && char != ';' || matches!(char, ' ' | '*' | '\u{fe0f}' | CELL | ROW);
    let sentence = sentence.trim_matches(is_edge);
    let is_read = !sentence.is_empty() && sentence.len() <= SENTENCE_BYTES_MAX;
    if is_read {
        out.push(sentence.to_owned());
    }
    is_read
}

/// Returns true if a full stop between these texts ends a sentence.
fn ends_here(before: &str, after: &str) -> bool {
    let next = after.strip_prefix(' ').unwrap_or(after);
    if after.is_empty() || next.is_empty() {
        return true;
    }
    let near = &before[before.floor_char_boundary(before.len().saturating_sub(WORD_BYTES_MAX))..];
    let word = near.rsplit([' ', '(', '/']).next().unwrap_or("").to_lowercase();
    // `No. 5` is a number, but `No. We do not.` is an answer.
    let is_number_sign = word == "no" && next.starts_with(|next: char| next.is_ascii_digit());
    let is_short = is_number_sign || SHORT.has(word.as_str());
    // In `delivery.Free`, the space is missing.
    let begins = next.starts_with(|next: char| next.is_uppercase() || "₹€£$".contains(next));
    let is_spaced = after.starts_with(' ') || word.chars().all(char::is_alphabetic) && word.chars().count() > 2;
    let is_number = after.starts_with(' ') && next.starts_with(|next: char| next.is_ascii_digit());
    !is_short && is_spaced && (begins || is_number || after.starts_with(' '))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_parts_of_a_line_count_as_sentences() {
        let counted = |text: &str| lines(text).iter().map(|line| line.parts.len()).sum::<usize>();
        assert_eq!(counted(&"a;".repeat(5_000)), SENTENCES_MAX);
        assert_eq!(counted(&"Yes! ".repeat(5_000)), SENTENCES_MAX);
        assert_eq!(counted(&"a;b\n".repeat(5_000)), SENTENCES_MAX);
        assert_eq!(
            counted(&format!("<table>{}</table>", "<tr><td>a<td>b<td>c".repeat(3_000))),
            SENTENCES_MAX
        );
    }

    #[test]
    fn headings_have_their_level_and_paragraphs_their_beginning() {
        let lines = lines("<h2>\nShipping\n</h2><p>One. Two.<br>Three</p><p>Four</p>");
        let told: Vec<_> = lines
            .iter()
            .map(|line| (line.parts[0].as_str(), line.level, line.begins))
            .collect();
        assert_eq!(
            told,
            [
                ("Shipping", Some(2), true),
                ("One.", None, true),
                ("Two.", None, false),
                ("Three", None, false),
                ("Four", None, true),
            ]
        );
    }

    #[test]
    fn ends_of_lines_within_a_table_are_spaces() {
        let lines = lines("<table>\n<tr>\n<td>Metro\ncities</td>\n<td>2 days</td>\n</tr>\n</table>");
        assert_eq!(lines[0].parts, ["Metro cities: 2 days"]);
    }
}
