//! Plain text with folded white space, no hidden characters, and limited length.

/// Returns true for characters that are invisible or change how other text is displayed: controls, bidirectional
/// overrides and isolates, zero-width spaces, byte-order marks, tags and interlinear marks. Joiners are not hidden
/// because Indic scripts and emoji need them.
#[must_use]
pub fn is_hidden(character: char) -> bool {
    character.is_control()
        || matches!(
            character,
            '\u{ad}' | '\u{61c}' | '\u{180e}' | '\u{200b}' | '\u{200e}' | '\u{200f}' | '\u{202a}'..='\u{202e}'
                | '\u{2060}'..='\u{2064}' | '\u{2066}'..='\u{206f}' | '\u{feff}' | '\u{fff0}'..='\u{fffb}'
                | '\u{e0000}'..='\u{e007f}'
        )
}

/// Formats a store's text as one line for an operator, at most `chars_max` characters long. Line ends, other controls
/// and hidden characters become escapes (`
/// `, `\u{202e}`). A truncated text ends with `…`.
#[must_use]
pub fn escaped_line(text: &str, chars_max: usize) -> String {
    let mut line = String::with_capacity(text.len().min(chars_max));
    let mut room = chars_max;
    let mut kept = 0;
    for character in text.chars() {
        let is_plain = character == ' ' || !(character.is_whitespace() || is_hidden(character));
        let needed = if is_plain {
            1
        } else {
            character.escape_default().count()
        };
        if needed > room {
            // The last character is reserved for the `…` of a truncated text.
            line.truncate(kept);
            line.push('…');
            break;
        }
        if is_plain {
            line.push(character);
        } else {
            line.extend(character.escape_default());
        }
        room -= needed;
        if room > 0 {
            kept = line.len();
        }
    }
    line
}

fn one_line(text: &str, chars_max: usize) -> String {
    let plain = |byte: u8| (b'!'..=b'~').contains(&byte) || byte == b' ';
    let trimmed = text.trim();
    if trimmed.len() <= chars_max && trimmed.bytes().all(plain) && !trimmed.contains("  ") {
        return trimmed.to_owned();
    }
    let mut line = String::with_capacity(trimmed.len());
    let (mut gap, mut chars) = (false, 0);
    for character in trimmed.chars() {
        if character.is_whitespace() {
            gap = !line.is_empty();
            continue;
        }
        if is_hidden(character) {
            continue;
        }
        let needed = 1 + usize::from(gap);
        if chars + needed > chars_max {
            break;
        }
        if gap {
            line.push(' ');
        }
        line.push(character);
        (gap, chars) = (false, chars + needed);
    }
    line
}

/// Returns a code verbatim, including spaces, because other systems identify it by its exact text. Returns `None` if it
/// is missing or blank. The text is truncated to `chars_max` characters.
#[must_use]
pub fn stated_code(text: Option<&str>, chars_max: usize) -> Option<String> {
    let text = text.filter(|text| !text.trim().is_empty())?;
    let end = text.char_indices().nth(chars_max).map_or(text.len(), |(end, _)| end);
    text.get(..end).map(str::to_owned)
}

/// Returns a text on one line: runs of white space become one space, and hidden characters are removed. Returns `None`
/// if the text is missing or blank. The text is truncated to `chars_max` characters.
#[must_use]
pub fn stated_line(text: Option<&str>, chars_max: usize) -> Option<String> {
    text.map(|text| one_line(text, chars_max))
        .filter(|line| !line.is_empty())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_code_is_kept_as_it_is_stated() {
        assert_eq!(
            stated_code(Some(" AB  12\u{200b}"), 255).as_deref(),
            Some(" AB  12\u{200b}")
        );
        assert_eq!(stated_code(Some(&"é".repeat(300)), 255), Some("é".repeat(255)));
        assert_eq!((stated_code(Some(" \t"), 255), stated_code(None, 255)), (None, None));
    }

    #[test]
    fn what_an_operator_reads_is_one_line_of_bounded_length_without_hidden_characters() {
        assert_eq!(escaped_line("price: \"₹ 5\"", 500), "price: \"₹ 5\"");
        assert_eq!(
            escaped_line("a\r\nb\tc\u{202e}\u{1b}[31m\u{2028}", 500),
            r"a\r\nb\tc\u{202e}\u{1b}[31m\u{2028}"
        );
        assert_eq!(escaped_line(&"é".repeat(500), 500), "é".repeat(500));
        let cut = escaped_line(&"é".repeat(501), 500);
        assert_eq!(cut, format!("{}…", "é".repeat(499)));
        for text in ["ab\n", "abc\n", "abcd\n", "\n\n\n", "abcde", "abcdef"] {
            let line = escaped_line(text, 5);
            assert!(line.chars().count() <= 5 && !line.contains('\n'), "{line}");
        }
        assert_eq!(
            (escaped_line("abc\n", 5), escaped_line("abcd\n", 5)),
            (r"abc\n".to_owned(), "abcd…".to_owned())
        );
    }
}
