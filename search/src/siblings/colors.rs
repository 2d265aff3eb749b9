use std::ops::Range;
use std::sync::LazyLock;

use data_text::runs;
use rustc_hash::FxHashMap;
use unicode_normalization::char::is_combining_mark;

/// Words that mean only a colour. Other colour words may also name a wood, a scent or a metal, and count only if they
/// are among the product's own colours.
const COLOURS_ALONE: [&str; 22] = [
    "black",
    "white",
    "red",
    "blue",
    "green",
    "yellow",
    "purple",
    "pink",
    "brown",
    "grey",
    "gray",
    "beige",
    "navy",
    "teal",
    "maroon",
    "magenta",
    "fuchsia",
    "khaki",
    "cyan",
    "multicolor",
    "multicolour",
    "multicolored",
];
/// Words before a colour that are part of it.
const SHADES: [&str; 9] = [
    "dark", "light", "pale", "deep", "bright", "dusty", "neon", "pastel", "heather",
];

/// Colour without its first word.
struct Colour {
    rest: Vec<&'static str>,
    is_colour_alone: bool,
}

/// Colours by their first words, longest first.
static COLOURS: LazyLock<FxHashMap<&'static str, Vec<Colour>>> = LazyLock::new(|| {
    let lines = include_str!("../../../data/reference/colours.txt").lines();
    let mut colours: FxHashMap<&'static str, Vec<Colour>> = FxHashMap::default();
    for line in lines.filter(|line| !line.starts_with('#')) {
        let mut words = runs(line);
        let Some(first) = words.next() else { continue };
        let rest: Vec<&str> = words.collect();
        let is_colour_alone = std::iter::once(&first)
            .chain(&rest)
            .any(|word| COLOURS_ALONE.contains(word));
        colours.entry(first).or_default().push(Colour { rest, is_colour_alone });
    }
    let longest_first = |of_word: &mut Vec<Colour>| of_word.sort_by_key(|colour| std::cmp::Reverse(colour.rest.len()));
    colours.values_mut().for_each(longest_first);
    colours
});

/// Reader of colours in titles. Titles share its buffers.
#[derive(Debug, Default)]
pub(super) struct Reader {
    /// Lowercase words, concatenated.
    folded: String,
    /// Range of each word in `folded`, and in the title.
    words: Vec<(Range<usize>, Range<usize>)>,
    key: String,
}

impl Reader {
    /// Returns the title without its colour, and the byte range of the colour. `own` has the product's own folded
    /// colours. If the product `has_look`, words that mean only a colour also count. `None` if the title has no colour,
    /// or nothing else.
    pub(super) fn read<'a>(
        &mut self,
        title: &str,
        own: impl Iterator<Item = &'a str> + Clone,
        has_look: bool,
    ) -> Option<(&str, (u16, u16))> {
        self.split(title);
        let mut color: Option<Range<usize>> = None;
        self.key.clear();
        let (mut at, mut shade) = (0, None);
        while at < self.words.len() {
            let length = self.colour_at(at, own.clone(), has_look);
            let Some(length) = length else {
                self.keep(shade.take());
                if SHADES.contains(&self.word(at)) {
                    shade = Some(at);
                } else {
                    self.keep(Some(at));
                }
                at += 1;
                continue;
            };
            let from = self.words.get(shade.take().unwrap_or(at))?.1.start;
            let to = self.words.get(at + length - 1)?.1.end;
            // Several colours with only joining characters in between are read as one.
            match &mut color {
                Some(color) if is_joint(title.get(color.end..from)?) => color.end = to,
                Some(_) => {}
                none => *none = Some(from..to),
            }
            at += length;
        }
        self.keep(shade);
        let says_more = self
            .key
            .split(' ')
            .any(|word| word.len() > 1 && word.chars().any(char::is_alphabetic));
        let color = color.filter(|_| says_more)?;
        let ends = (u16::try_from(color.start).ok()?, u16::try_from(color.end).ok()?);
        Some((&self.key, ends))
    }

    fn split(&mut self, title: &str) {
        self.folded.clear();
        self.words.clear();
        let mut start = None;
        let mut push = |range: Range<usize>| {
            let from = self.folded.len();
            let word = title.get(range.clone()).unwrap_or_default();
            if word.is_ascii() {
                self.folded.push_str(word);
                if let Some(added) = self.folded.get_mut(from..) {
                    added.make_ascii_lowercase();
                }
            } else {
                self.folded.extend(word.chars().flat_map(char::to_lowercase));
            }
            self.words.push((from..self.folded.len(), range));
        };
        for (at, char) in title.char_indices() {
            // A combining mark belongs to the letter before it.
            let is_inside = char.is_alphanumeric() || (start.is_some() && is_combining_mark(char));
            match (is_inside, start) {
                (true, None) => start = Some(at),
                (false, Some(from)) => {
                    push(from..at);
                    start = None;
                }
                _ => {}
            }
        }
        if let Some(from) = start {
            push(from..title.len());
        }
    }

    fn word(&self, at: usize) -> &str {
        let word = self
            .words
            .get(at)
            .and_then(|(folded, _)| self.folded.get(folded.clone()));
        word.unwrap_or_default()
    }

    fn keep(&mut self, word: Option<usize>) {
        if let Some((folded, _)) = word.and_then(|at| self.words.get(at)) {
            if !self.key.is_empty() {
                self.key.push(' ');
            }
            self.key.push_str(self.folded.get(folded.clone()).unwrap_or_default());
        }
    }

    /// Returns the number of words of the colour that begins at a word.
    fn colour_at<'a>(&self, at: usize, own: impl Iterator<Item = &'a str>, has_look: bool) -> Option<usize> {
        let of_own = own.filter_map(|value| {
            let length = runs(value).count();
            let stands = length > 0 && runs(value).enumerate().all(|(nth, word)| self.word(at + nth) == word);
            stands.then_some(length)
        });
        let of_table = || {
            let colours = COLOURS.get(self.word(at))?;
            let stands = |colour: &&Colour| {
                let mut rest = (at + 1..).zip(&colour.rest);
                colour.is_colour_alone && rest.all(|(at, word)| self.word(at) == *word)
            };
            colours.iter().find(stands).map(|colour| 1 + colour.rest.len())
        };
        of_own.max().max(has_look.then(of_table).flatten())
    }
}

/// Returns true for a text that only joins two colours, such as `/` or `&`.
fn is_joint(text: &str) -> bool {
    let text = text.trim();
    text.is_empty() || matches!(text, "/" | "&" | "+" | "-" | "," | "|")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(title: &str, own: &[&str], has_look: bool) -> Option<(String, String)> {
        let mut reader = Reader::default();
        let (key, (from, to)) = reader.read(title, own.iter().copied(), has_look)?;
        Some((key.to_owned(), title[usize::from(from)..usize::from(to)].to_owned()))
    }

    #[test]
    fn titles_are_the_same_but_for_their_colours() {
        for (title, own, key, color) in [
            ("Oxford Shirt - Navy Blue", &[][..], "oxford shirt", "Navy Blue"),
            ("Oxford Shirt – Light Grey", &[], "oxford shirt", "Light Grey"),
            ("OXFORD SHIRT (Black & White)", &[], "oxford shirt", "Black & White"),
            ("Light Cotton Kurta in red", &[], "light cotton kurta in", "red"),
            (
                "Linen Shirt Aubergine Dream",
                &["aubergine dream"],
                "linen shirt",
                "Aubergine Dream",
            ),
            ("Walnut Desk", &["walnut"], "desk", "Walnut"),
            ("काला Kurta Black", &["black"], "काला kurta", "Black"),
        ] {
            let expected = Some((key.to_owned(), color.to_owned()));
            assert_eq!(read(title, own, true), expected, "{title}");
        }
    }

    #[test]
    fn what_may_be_something_else_is_a_colour_where_the_product_says_so() {
        for (title, own, has_look) in [
            ("Walnut Desk", &[][..], true),
            ("Lavender Soap", &[], true),
            ("Green Tea", &[], false),
            ("Black", &["black"], true),
            ("Plain Shirt", &["red"], true),
        ] {
            assert_eq!(read(title, own, has_look), None, "{title}");
        }
    }
}
