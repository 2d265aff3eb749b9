#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Word<'a> {
    pub(super) text: &'a str,
    pub(super) low: String,
    /// True if the word belongs to a URL, a colour, an amount or a file name.
    pub(super) is_part: bool,
    /// True if the word is in quotation marks or brackets.
    pub(super) is_quoted: bool,
    /// True if the word starts a section of the line and a dash or colon follows: `TEA10 – 10% off`.
    pub(super) is_label: bool,
}

const QUOTES: [char; 13] = ['"', '\'', '“', '”', '‘', '’', '«', '»', '[', ']', '`', '(', ')'];

pub(super) fn words(line: &str) -> Vec<Word<'_>> {
    let mut words = Vec::new();
    let mut at = 0;
    while let Some(start) = line[at..].find(is_of_word).map(|start| at + start) {
        let end = line[start..]
            .find(|char| !is_of_word(char))
            .map_or(line.len(), |end| start + end);
        // A single dash is not a word.
        if line[start..end].contains(char::is_alphanumeric) {
            words.push(word(line, start, end));
        }
        at = end;
    }
    words
}

fn word(line: &str, start: usize, end: usize) -> Word<'_> {
    let (mut lead, mut behind) = (line[..start].chars().rev(), line[end..].chars());
    let (before, after) = ((lead.next(), lead.next()), (behind.next(), behind.next()));
    let is_word = |char: Option<char>| char.is_some_and(char::is_alphanumeric);
    let glues = |char: Option<char>| char.is_some_and(|char| "@/#=\\₹$€".contains(char));
    // A dot as in `shop.example`, but not at the end of a sentence.
    let dotted = (before.0 == Some('.') && is_word(before.1)) || (after.0 == Some('.') && is_word(after.1));
    let is_quote = |char: Option<char>| char.is_some_and(|char| QUOTES.contains(&char));
    let is_first = line[..start]
        .chars()
        .rfind(|char| !char.is_whitespace() && !QUOTES.contains(char))
        .is_none_or(|char| "|•·!?".contains(char));
    let leads = line[end..]
        .chars()
        .find(|char| !char.is_whitespace() && !QUOTES.contains(char))
        .is_some_and(|char| "-–—:=".contains(char));
    let text = &line[start..end];
    Word {
        is_label: is_first && leads,
        text,
        low: text.to_lowercase(),
        is_part: glues(before.0) || glues(after.0) || after.0 == Some('%') || dotted,
        is_quoted: is_quote(before.0) && is_quote(after.0),
    }
}

fn is_of_word(char: char) -> bool {
    // The Indic marks nukta and virama are not letters by themselves.
    char.is_alphanumeric() || matches!(char, '_' | '-' | '\u{93c}' | '\u{94d}')
}
