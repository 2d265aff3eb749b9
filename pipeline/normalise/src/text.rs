//! Plain text: white space folded, invisible trickery gone, lengths bounded.

/// Characters that change how the rest is shown, or show nothing: controls, bidirectional overrides and isolates,
/// zero-width spaces, byte-order marks, tags and interlinear marks. The joiners stay: Indic scripts and emoji need them.
pub(crate) fn is_hidden(character: char) -> bool {
    character.is_control()
        || matches!(
            character,
            '\u{ad}' | '\u{61c}' | '\u{180e}' | '\u{200b}' | '\u{200e}' | '\u{200f}' | '\u{202a}'..='\u{202e}'
                | '\u{2060}'..='\u{2064}' | '\u{2066}'..='\u{206f}' | '\u{feff}' | '\u{fff0}'..='\u{fffb}'
                | '\u{e0000}'..='\u{e007f}'
        )
}

/// One line: runs of white space become one space, hidden characters go, at most `chars_max` characters are kept.
pub(crate) fn one_line(text: &str, chars_max: usize) -> String {
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

/// [`one_line`] of what was stated; `None` when it was not, or is blank.
pub(crate) fn stated(text: Option<&str>, chars_max: usize) -> Option<String> {
    text.map(|text| one_line(text, chars_max))
        .filter(|line| !line.is_empty())
}
